// The stored data of a device survey, and the messages between it and the processes that query the
// device, as plain structs. Schema: proto/survey.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/agreement.h"
#include "corpus/bucket.h"
#include "corpus/ledger.h"
#include "corpus/run_record.h"
#include "device/identity.h"
#include "device/stop.h"

namespace mmadiff {

// Ordered by value, for a device that may be lost any minute.
enum class SurveyStage : uint8_t {
  kLayout,     // is every element where the layout puts it?
  kRepeat,     // does a dot product always get the same answer?
  kQuestions,  // questions from triage/probe/questions.h
  kVectors,    // vectors from the literature, and regression cases
  kRun,        // a unit of generated cases
  kRecording,  // raw answers and digests
  kPairs,      // every pair of operands, for narrow formats
  kExplain,    // which change of the model reproduces the device's answers
  kTrap,       // given inputs once, to check that the device survives them
};
// SurveyTask::detail of a kTrap that is not a trial: it reports that the device was lost after the
// row was queried.
inline constexpr char kDeviceGone[] = "gone";
inline constexpr int kSurveyStages = static_cast<int>(SurveyStage::kTrap) + 1;
const char* Name(SurveyStage stage);

// One task.
struct SurveyTask {
  SurveyStage stage = SurveyStage::kLayout;
  std::string op;       // ARCH/INSTRUCTION; its size may differ from the table's
  std::string variant;  // appended to the device specification
  // kRun: number of the unit. kVectors, kRecording: number of the part. kExplain: the stage whose
  // answer is explained.
  uint64_t number = 0;
  // kQuestions: a single question. kExplain: a case name or a line of the line protocol. kTrap:
  // kDeviceGone. kRepeat: lines with the device's answers to earlier attempts.
  std::string detail = "";

  // Whether the task checks that the device that continues is the one that began
  // (fuzz/ask/canary.h). `number` is then the
  // number of earlier canaries of the row.
  bool IsCanary() const { return stage == SurveyStage::kRepeat && !detail.empty(); }

  std::string Text() const;  // one line, for people
  friend auto operator<=>(const SurveyTask&, const SurveyTask&) = default;
};

// The piece of a task that is sent in one request: executions [first, first + count) of a unit of a
// run. For vectors and recordings: the part that starts at `first` and ends after so many seconds
// (0: at its natural end).
struct TaskPart {
  uint64_t first = 0, count = 0;
  double seconds = 0;
};

// The smallest input known to crash or hang the device.
struct KillingInput {
  enum Kind : uint8_t {
    kUnknown,
    kZeros,   // one execution with every operand +0
    kCases,   // `count` cases from `first` on
    kLines,   // `count` dot products
    kOldText  // `first` is the text of an older program
  };
  Kind kind = kUnknown;
  std::string first = {};  // case name, or line of the line protocol
  uint64_t count = 0;
  bool tried = false;      // run alone, in a fresh process
  bool confirmed = false;  // it killed that process
  // For kLines while they are tried: all of them. Not stored.
  std::vector<std::string> lines = {};
  friend bool operator==(const KillingInput&, const KillingInput&) = default;
};
inline constexpr int kKillingInputs = KillingInput::kOldText + 1;
std::string Name(const KillingInput& input);  // "3 cases from x86/vfmadd231ss@g3:1:5"

// Stored format numbers. Pages have stamps since kStampedFormat. Formats older than
// kOldestSurveyFormat are refused.
inline constexpr uint32_t kSurveyFormat = 3, kStampedFormat = 3, kOldestSurveyFormat = 2;

// The facts of a survey: the first record of its log. A survey with different facts is refused in
// the same folder.
struct SurveyManifest {
  struct Instruction {
    std::string name;                   // ARCH/INSTRUCTION
    bool emulated = false;              // the device uses several machine instructions
    std::vector<std::string> variants;  // suffixes of the device: more operand sources
    uint64_t raw_cases = 0;             // executions of each strategy whose answers are recorded
    uint64_t unit_cases = 0;            // executions of the smallest unit of its run
    uint64_t digest_cases = 0;          // executions per unit of recorded digests

    friend bool operator==(const Instruction&, const Instruction&) = default;
  };

  std::string tool_version, model_version;
  uint32_t generator_version = 0;
  uint64_t seed = 0;
  std::string device;
  Identity device_identity;
  uint64_t cases = 0;       // executions in each instruction's run; 0: no end
  std::string regressions;  // folder of regression cases; empty: none
  uint64_t max_bytes = 0;   // limit for all files together
  uint64_t kept_lines = 0;  // lines kept per answer to a question
  std::vector<Instruction> instructions;
  uint32_t format = kSurveyFormat;
  std::vector<LeftOutLine> left_out = {};  // requested on the command line but left out

  friend bool operator==(const SurveyManifest&, const SurveyManifest&) = default;
};

struct SurveyAnswer {
  std::string question, answer, decides;  // the last two are for people
  Agreement agreement = Agreement::kAgrees;
  uint64_t cases = 0, differing = 0;      // dot products; `differing` of them differ from the
                                          // tables' model
  std::vector<std::string> lines;         // some with the device's answers; differing ones first
  Scope scope = Scope::kWholeExecutions;  // for layout and repeat
  std::vector<std::string> facts = {};    // ProbeAnswer::facts
  friend bool operator==(const SurveyAnswer&, const SurveyAnswer&) = default;
};

struct SurveyLine {
  std::string name, line;
  bool differs = false;  // from the model
  friend bool operator==(const SurveyLine&, const SurveyLine&) = default;
};

struct SurveyOutputs {
  std::string stream;
  uint64_t count = 0;  // executions
  std::string d;       // PackWords() of their results
  uint64_t first = 0;  // case
  friend bool operator==(const SurveyOutputs&, const SurveyOutputs&) = default;
};

struct SurveyDigests {
  std::string stream;
  uint64_t unit_cases = 0;
  std::vector<Digest> digests;  // consecutive units, from case 0 on
  friend bool operator==(const SurveyDigests&, const SurveyDigests&) = default;
};

// The reason why the device differs from the model.
struct SurveyFinding {
  struct Case {
    std::string line;   // line protocol, with the device's answer
    std::string model;  // the model's word
    std::string why;    // the point of the case
    friend bool operator==(const Case&, const Case&) = default;
  };
  Bucket bucket;
  std::string text;
  std::vector<Case> cases;  // the minimal one first
  friend bool operator==(const SurveyFinding&, const SurveyFinding&) = default;
};

struct SurveyResult {
  SurveyTask task;
  absl::Status status;   // the error
  double seconds = 0;    // wall time
  std::string hardware;  // Device::Hardware() so far
  std::vector<SurveyAnswer> answers;
  std::vector<SurveyLine> lines;
  uint64_t first_case = 0, cases = 0, dot_products = 0, mismatches = 0;  // for a run, or for lines
  std::string first_mismatch;                                            // case name
  uint64_t differing_units = 0;  // units whose digest differs from the model's
  std::vector<SurveyOutputs> outputs;
  std::vector<SurveyDigests> digests;
  std::vector<SurveyFinding> findings;
  KillingInput killing;  // the input that trapped
  bool trapped = false;  // the device crashed or hung in this task, twice
  std::string
      died_of;  // the crash or hang of a first try whose second try was answered; "" if none
  // The task is incomplete: these are the answers until its time was over or the device failed. Its
  // next part continues at `next`. A task without parts is run again.
  bool unfinished = false;
  uint64_t next = 0;
  uint64_t of = 0;  // for vectors: dot products of all parts; 0: unknown
  double pace = 0;  // seconds per dot product, fastest batch; 0: unknown
};

// Rows (ARCH/INSTRUCTION, variant) with some answers that did not repeat. No answer of these rows
// is evidence. A canary does not affect the answers before it.
std::set<std::pair<std::string, std::string>> UnrepeatedRows(
    const std::vector<SurveyResult>& results);

// Whether tasks of this stage are split into parts on a slow device.
bool HasParts(SurveyStage stage);

// The reason why an attempt ended. Written before its pages.
struct SurveyEnd {
  StopCause stopped_by;
  std::string device;  // why the device is lost; empty if it is not
  friend bool operator==(const SurveyEnd&, const SurveyEnd&) = default;
};

// A request to a process that queries a device: identify the device, or run a task.
struct AskRequest {
  std::optional<SurveyManifest> manifest = {};  // in the first request to a process
  // If not empty: identify the device and list its instructions that match these globs.
  std::vector<std::string> identify = {};
  SurveyTask task = {};
  TaskPart part = {};
  KillingInput input = {};  // kTrap: the inputs
  bool announce = false;    // announce each batch before it is sent to the device
  double seconds = 0;       // time limit of the task; 0: no limit
};

// A reply. The last reply to every request is an identity, a result or kNotOpened. kBegun: the
// device is open and the task begins.
struct AskReply {
  enum Kind { kAlive, kBegun, kAsked, kIdentity, kResult, kNotOpened };
  Kind kind = kAlive;
  SurveyManifest identity = {};         // device, its identity and its instructions
  std::vector<std::string> asked = {};  // kAsked: the first lines of the batch
  SurveyResult result = {};             // its status is any error of the device
  absl::Status status = {};             // kNotOpened: why the device failed to open
};

std::string SerializeManifest(const SurveyManifest& manifest);
std::string SerializeResult(const SurveyResult& result);
std::string SerializeEnd(const SurveyEnd& end);
std::string SerializeRequest(const AskRequest& request);
std::string SerializeReply(const AskReply& reply);
// kDataLoss if the bytes are not such a message.
absl::StatusOr<SurveyManifest> ParseSurveyManifest(absl::string_view bytes);
absl::StatusOr<SurveyResult> ParseSurveyResult(absl::string_view bytes);
absl::StatusOr<SurveyEnd> ParseSurveyEnd(absl::string_view bytes);
absl::StatusOr<AskRequest> ParseAskRequest(absl::string_view bytes);
absl::StatusOr<AskReply> ParseAskReply(absl::string_view bytes);

// Empty if both are the same survey. Otherwise the differences, in words.
std::string ManifestDifference(const SurveyManifest& stored, const SurveyManifest& wanted);

}  // namespace mmadiff
