// A task for a device, as data, and its result. Functions in task.cc execute each kind, those in
// stage.cc the tasks of surveys. Errors are the device's; only the dispatcher
// (fuzz/ask/dispatcher.h) interprets them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "corpus/cases/case_name.h"
#include "corpus/clue.h"
#include "corpus/run_record.h"
#include "corpus/survey_record.h"
#include "fuzz/ask/canary.h"
#include "fuzz/engine/engine.h"
#include "fuzz/verdict/drop.h"
#include "triage/diagnosis/investigate.h"
#include "triage/explain.h"
#include "triage/infer/infer.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// Checks whether the device answers for an operation at all: Engine::Try().
struct TryTask {
  CaseStream stream;
};

// Gets the device's answers to a batch.
struct WordsTask {
  const Operation* op = nullptr;
  Batch inputs;
};

// Gets the digest of the answers to `cases` executions.
struct DigestTask {
  CaseStream stream;
  uint64_t first = 0, cases = 0;
  // Executes the cases again in this many parts, kAborted unless the answers are equal; 0: once
  // only.
  uint64_t parts = 0;
};

// Checks that the generator and the comparison find a fault planted in a simulator.
struct PlantTask {
  CaseStream stream;
};

// Checks, before the units of a row, that the device gives the same answers as in earlier attempts.
struct CanaryTask {
  CaseStream stream;
  uint64_t first_case = 0;               // for a new canary, if there are no earlier ones
  std::vector<Observed> filed = {};      // answers in findings; not every device can repeat them
  std::vector<Observed> earlier = {};    // answers in stored canaries
  size_t least = 0;                      // minimum number of `earlier` to repeat
  std::optional<UnitResult> again = {};  // without canaries: a finished unit
};

// Executes the cases of a unit that are not yet in `counted`, up to `end`. A mismatch ends the
// part: it is investigated before the unit continues or is done.
struct UnitTask {
  CaseStream stream;
  UnitResult counted = {};
  uint64_t end = 0;
  // Mismatching cases to return before the part ends. 0: mismatches are only counted.
  uint64_t most_differing = 1;
};

// Finds out why a case differs.
struct InvestigateTask {
  CaseName name;
  Mismatch mismatch;
  std::vector<Observed> known;    // answers of this device
  std::vector<Observed> earlier;  // from earlier attempts; known once the device repeats them
  bool clues = false;             // ask for clues if no change explains it
};

// Asks questions about an operation. If `tries`, a GPU must first pass its self-test.
struct QuestionsTask {
  const Operation* op = nullptr;
  std::vector<const Question*> questions;
  bool tries = false;
};

// One worker's share of a sweep over all pairs of operands. The sweeper collects the answers.
struct PairsTask {
  const Operation* op = nullptr;
  std::shared_ptr<OperandSweeper> sweep;
};

// Infers the algorithm of an operation, by questions or from a recording.
struct InferTask {
  const Operation* op = nullptr;
  InferOptions options = {};
  std::string recording = {};  // path; empty: query the device
};

// A stage of a survey for one row, which can be sent to another process. Its operation is in the
// tables. The answer is a SurveyResult.
struct StageTask {
  SurveyTask name;
  TaskPart part = {};
};

struct Task {
  size_t row = 0;  // number in the agenda
  std::variant<TryTask, WordsTask, DigestTask, PlantTask, CanaryTask, UnitTask, InvestigateTask,
               QuestionsTask, PairsTask, InferTask, StageTask>
      what;
  bool alone = false;  // set by the dispatcher: last try of a failed task

  const Operation& op() const;
  std::string Text() const;  // one line, for people
};

struct TryAnswer {
  std::string identity;     // IdentityFor() the operation
  bool emulated = false;    // runs as several machine instructions
  uint64_t unit_cases = 0;  // size of a recording's unit
};
struct WordsAnswer {
  std::vector<uint64_t> d;
  std::string identity;
};
struct DigestAnswer {
  Digest digest = 0;
};
struct PlantAnswer {
  std::string found;  // "fraction_bits=24 found in case 3"
};
struct CanaryAnswer {
  Canary canary;
  uint64_t repeated = 0;  // dot products of earlier attempts with the same answers again
  std::optional<CanaryDifference> difference = {};  // between a new canary and the model
};
struct UnitAnswer {
  UnitResult counted;  // `part` until all cases are counted and all mismatches investigated
  std::vector<std::pair<CaseName, Mismatch>> differing;
};
struct InvestigateAnswer {
  std::vector<Observed> known;         // includes earlier answers that the device repeated
  std::optional<Investigation> found;  // empty if the device failed
  std::string device, identity;        // its name, and IdentityFor() the operation
  std::string shared = {};             // common property of the mismatches, a sentence; "" if none
  std::string reason = {};             // Device::Reason()
  std::vector<Clue> clues = {};
};

struct TaskResult {
  Task task;
  absl::Status status;  // the device's
  std::variant<std::monostate, TryAnswer, WordsAnswer, DigestAnswer, PlantAnswer, CanaryAnswer,
               UnitAnswer, InvestigateAnswer, OperationAnswers, Inference, SurveyResult>
      answer;
  bool begun = true;  // false: the device failed to open, which is not the task's fault
  // Set by the dispatcher:
  bool asked_again = false;  // failed and will be retried: only the part already answered counts
  std::string died_of;       // error of the first try, if a retry succeeded; otherwise ""
  std::optional<Drop> drop;  // failed for good
};

// Executes the task on the device of `engine`.
TaskResult Ask(Task task, Engine& engine);

}  // namespace mmadiff
