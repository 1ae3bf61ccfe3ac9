// One thing to ask a device, as data, and the result. What comes of each kind is a function of
// task.cc or, of a survey's, of stage.cc; errors are the device's, and only the dispatcher (fuzz/ask/dispatcher.h) says what they
// mean.
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

// Whether the device answers for an operation at all: Engine::Try().
struct TryTask {
  CaseStream stream;
};

// What the device answers to a batch.
struct WordsTask {
  const Operation* op = nullptr;
  Batch inputs;
};

// The digest of the answers to `cases` executions.
struct DigestTask {
  CaseStream stream;
  uint64_t first = 0, cases = 0;
  // Asked again in so many parts, kAborted unless they have the same answers; 0: not again.
  uint64_t parts = 0;
};

// Whether the generator and the comparison find the fault in a sabotaged simulator.
struct PlantTask {
  CaseStream stream;
};

// What the device answers before the units of its row, and whether that is what it answered to earlier
// attempts.
struct CanaryTask {
  CaseStream stream;
  uint64_t first_case = 0;             // of a canary that there is not yet
  std::vector<Observed> filed = {};    // answers of findings; not all devices can be asked for them
  std::vector<Observed> earlier = {};  // answers of stored canaries
  size_t least = 0;                    // of `earlier`
  std::optional<UnitResult> again = {};  // without canaries: a finished unit
};

// The cases of a unit that `counted` does not have yet, up to `end`. Mismatches end the part: then
// they are looked at before the unit continues, and before it is done.
struct UnitTask {
  CaseStream stream;
  UnitResult counted = {};
  uint64_t end = 0;
  // Mismatching cases to return; the others are only counted. 0: all are, and end nothing.
  uint64_t most_differing = 1;
};

// Why a case differs.
struct InvestigateTask {
  CaseName name;
  Mismatch mismatch;
  std::vector<Observed> known;    // answers of this device
  std::vector<Observed> earlier;  // of earlier attempts, known once it gives them again
};

// Questions about an operation. A GPU passes its self-test before them, if `tries`.
struct QuestionsTask {
  const Operation* op = nullptr;
  std::vector<const Question*> questions;
  bool tries = false;
};

// What one worker does of a sweep of all pairs of operands, which has the answers.
struct PairsTask {
  const Operation* op = nullptr;
  std::shared_ptr<OperandSweeper> sweep;
};

// Which algorithm an operation has, by questions or from a recording.
struct InferTask {
  const Operation* op = nullptr;
  InferOptions options = {};
  std::string recording = {};  // path; empty: the device is asked
};

// A stage of a survey of a row, which another process can be told. Its operation is one of the
// tables. The answer is a SurveyResult.
struct StageTask {
  SurveyTask name;
  TaskPart part = {};
};

struct Task {
  size_t row = 0;  // among those of the agenda
  std::variant<TryTask, WordsTask, DigestTask, PlantTask, CanaryTask, UnitTask, InvestigateTask,
               QuestionsTask, PairsTask, InferTask, StageTask>
      what;
  bool alone = false;  // set by the dispatcher: it failed before, and is asked for the last time

  const Operation& op() const;
  std::string Text() const;  // one line, for people
};

struct TryAnswer {
  std::string identity;     // of what answered for the operation
  bool emulated = false;    // by several machine instructions
  uint64_t unit_cases = 0;  // of a unit of a recording
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
  uint64_t repeated = 0;  // dot products of earlier attempts that have the same answers
  std::optional<CanaryDifference> difference = {};  // of a new canary, from the model
};
struct UnitAnswer {
  UnitResult counted;  // `part` until all is counted and nothing is left to be looked at
  std::vector<std::pair<CaseName, Mismatch>> differing;
};
struct InvestigateAnswer {
  std::vector<Observed> known;         // also those of earlier attempts that it gave again
  std::optional<Investigation> found;  // unless the device failed
  std::string device, identity;        // its name, and what answered for the operation
  std::string shared = {};  // what the mismatches have in common, a sentence; "" if nothing
};

struct TaskResult {
  Task task;
  absl::Status status;  // the device's
  std::variant<std::monostate, TryAnswer, WordsAnswer, DigestAnswer, PlantAnswer, CanaryAnswer,
               UnitAnswer, InvestigateAnswer, OperationAnswers, Inference, SurveyResult>
      answer;
  bool begun = true;  // else the device did not open, which is no fault of the task
  // Set by the dispatcher:
  bool asked_again = false;  // it failed: only a part that was answered before counts
  std::string died_of;       // what the device failed of before it answered, asked again; "" if not
  std::optional<Drop> drop;  // it failed for good
};

// Asks the device of `engine`.
TaskResult Ask(Task task, Engine& engine);

}  // namespace mmadiff
