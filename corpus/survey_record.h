// What a survey of a device stores, and what passes between it and the processes that ask the
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

// In the order of value for a device that may be gone any minute.
enum class SurveyStage : uint8_t {
  kLayout,     // is every element where the layout says?
  kRepeat,     // has a dot product one answer?
  kQuestions,  // of triage/probe/questions.h
  kVectors,    // of the literature, and regression cases
  kRun,        // a unit of generated cases
  kRecording,  // raw answers and digests
  kPairs,      // every pair of operands, of narrow ones
  kExplain,    // which change of the model gives the device's answers
  kTrap,       // given inputs once, to see whether the device survives them
};
// SurveyTask::detail of a kTrap that is no trial but says: the device was gone after the row was
// asked.
inline constexpr char kDeviceGone[] = "gone";
inline constexpr int kSurveyStages = static_cast<int>(SurveyStage::kTrap) + 1;
const char* Name(SurveyStage stage);

// One thing to do.
struct SurveyTask {
  SurveyStage stage = SurveyStage::kLayout;
  std::string op;       // ARCH/INSTRUCTION; its size may be another than the table's
  std::string variant;  // appended to the device specification
  // kRun: of the unit; kVectors, kRecording: of the part; kExplain: the stage whose answer it
  // explains.
  uint64_t number = 0;
  // kQuestions: one question alone; kExplain: a case name or a line of the line protocol; kTrap:
  // kDeviceGone; kRepeat: lines with what the device answered to earlier attempts
  std::string detail = "";

  // Whether the device that goes on is the one that began: fuzz/ask/canary.h. `number`: how many were asked before.
  bool IsCanary() const { return stage == SurveyStage::kRepeat && !detail.empty(); }

  std::string Text() const;  // one line, for people
  friend auto operator<=>(const SurveyTask&, const SurveyTask&) = default;
};

// What of a task is asked at once: executions [first, first + count) of a unit of a run; of vectors
// and recordings the part from `first` on, which ends after so many seconds (0: at its natural end).
struct TaskPart {
  uint64_t first = 0, count = 0;
  double seconds = 0;
};

// The smallest input on which a device is known to die or hang.
struct KillingInput {
  enum Kind : uint8_t {
    kUnknown,
    kZeros,   // one execution with every operand +0
    kCases,   // `count` cases from `first` on
    kLines,   // `count` dot products
    kOldText  // `first` is what an older program said
  };
  Kind kind = kUnknown;
  std::string first = {};  // case name, or line of the line protocol
  uint64_t count = 0;
  bool tried = false;      // alone, in a fresh process
  bool confirmed = false;  // which it killed
  // Of kLines while they are tried: all of them. They are not stored.
  std::vector<std::string> lines = {};
  friend bool operator==(const KillingInput&, const KillingInput&) = default;
};
inline constexpr int kKillingInputs = KillingInput::kOldText + 1;
std::string Name(const KillingInput& input);  // "3 cases from x86/vfmadd231ss@g3:1:5"

// Of what is stored: pages have stamps since kStampedFormat. Older formats than kOldestSurveyFormat are refused.
inline constexpr uint32_t kSurveyFormat = 3, kStampedFormat = 3, kOldestSurveyFormat = 2;

// The facts of a survey: the first record of its log. A survey with other facts is refused in the
// same folder.
struct SurveyManifest {
  struct Instruction {
    std::string name;                   // ARCH/INSTRUCTION
    bool emulated = false;              // by the device, with several machine instructions
    std::vector<std::string> variants;  // of the device specification: further operand sources
    uint64_t raw_cases = 0;             // executions of each strategy whose answers are recorded
    uint64_t unit_cases = 0;            // executions of the smallest unit of its run
    uint64_t digest_cases = 0;          // executions of a unit of recorded digests

    friend bool operator==(const Instruction&, const Instruction&) = default;
  };

  std::string tool_version, model_version;
  uint32_t generator_version = 0;
  uint64_t seed = 0;
  std::string device;
  Identity device_identity;
  uint64_t cases = 0;       // executions of each instruction's run; 0: no end
  std::string regressions;  // folder of regression cases; empty: none
  uint64_t max_bytes = 0;   // of all files together
  uint64_t kept_lines = 0;  // of an answer to a question
  std::vector<Instruction> instructions;
  uint32_t format = kSurveyFormat;
  std::vector<LeftOutLine> left_out = {};  // that the command line asked for

  friend bool operator==(const SurveyManifest&, const SurveyManifest&) = default;
};

struct SurveyAnswer {
  std::string question, answer, decides;  // the last two are for people
  Agreement agreement = Agreement::kAgrees;
  uint64_t cases = 0, differing = 0;      // dot products; from the model of the tables
  std::vector<std::string> lines;         // some with the device's answers, those that differ first
  Scope scope = Scope::kWholeExecutions;  // of layout and repeat
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
  std::vector<Digest> digests;  // of consecutive units, from case 0 on
  friend bool operator==(const SurveyDigests&, const SurveyDigests&) = default;
};

// Why the device differs from the model.
struct SurveyFinding {
  struct Case {
    std::string line;   // line protocol, with the device's answer
    std::string model;  // the model's word
    std::string why;    // what the case shows
    friend bool operator==(const Case&, const Case&) = default;
  };
  Bucket bucket;
  std::string text;
  std::vector<Case> cases;  // the minimal one first
  friend bool operator==(const SurveyFinding&, const SurveyFinding&) = default;
};

struct SurveyResult {
  SurveyTask task;
  absl::Status status;   // what failed
  double seconds = 0;    // wall time
  std::string hardware;  // Device::Hardware() so far
  std::vector<SurveyAnswer> answers;
  std::vector<SurveyLine> lines;
  uint64_t first_case = 0, cases = 0, dot_products = 0, mismatches = 0;  // of a run, or of lines
  std::string first_mismatch;                                            // case name
  uint64_t differing_units = 0;  // of digests, from the model
  std::vector<SurveyOutputs> outputs;
  std::vector<SurveyDigests> digests;
  std::vector<SurveyFinding> findings;
  KillingInput killing;  // of what trapped
  bool trapped = false;  // the device died or hung in it, twice
  std::string died_of;   // it died or hung of this, was asked again, and answered; "" if not
  // The task is not done: what it had answered until its time was over or the device failed. Its
  // next part goes on at `next`; a task that has no parts is asked again.
  bool unfinished = false;
  uint64_t next = 0;
  uint64_t of = 0;  // of vectors: dot products of all parts; 0: unknown
  double pace = 0;  // seconds for a dot product, of the fastest batch; 0: unknown
};

// Rows (ARCH/INSTRUCTION, variant) some of whose answers did not repeat: nothing of them is evidence. A canary says
// nothing of the answers before it.
std::set<std::pair<std::string, std::string>> UnrepeatedRows(
    const std::vector<SurveyResult>& results);

// Whether tasks of a slow device are cut into parts.
bool HasParts(SurveyStage stage);

// Why an attempt ended, before it wrote its pages.
struct SurveyEnd {
  StopCause stopped_by;
  std::string device;  // why it is gone; empty if it is not
  friend bool operator==(const SurveyEnd&, const SurveyEnd&) = default;
};

// What a process that asks a device is told: to say who the device is, or to do a task.
struct AskRequest {
  std::optional<SurveyManifest> manifest = {};  // of the first request to a process
  // Not empty: who the device is, and which instructions with these globs it has.
  std::vector<std::string> identify = {};
  SurveyTask task = {};
  TaskPart part = {};
  KillingInput input = {};  // kTrap: the inputs
  bool announce = false;    // each batch, before the device is asked
  double seconds = 0;       // after which the task must end; 0: no limit
};

// What it says; to every request the last is an identity, a result or kNotOpened. kBegun: the device
// is open, and the task begins.
struct AskReply {
  enum Kind { kAlive, kBegun, kAsked, kIdentity, kResult, kNotOpened };
  Kind kind = kAlive;
  SurveyManifest identity = {};         // device, its identity and its instructions
  std::vector<std::string> asked = {};  // kAsked: lines, the first so many
  SurveyResult result = {};             // its status is any error of the device
  absl::Status status = {};             // kNotOpened: why the device does not open
};

std::string SerializeManifest(const SurveyManifest& manifest);
std::string SerializeResult(const SurveyResult& result);
std::string SerializeEnd(const SurveyEnd& end);
std::string SerializeRequest(const AskRequest& request);
std::string SerializeReply(const AskReply& reply);
// kDataLoss when the bytes are no such thing.
absl::StatusOr<SurveyManifest> ParseSurveyManifest(absl::string_view bytes);
absl::StatusOr<SurveyResult> ParseSurveyResult(absl::string_view bytes);
absl::StatusOr<SurveyEnd> ParseSurveyEnd(absl::string_view bytes);
absl::StatusOr<AskRequest> ParseAskRequest(absl::string_view bytes);
absl::StatusOr<AskReply> ParseAskReply(absl::string_view bytes);

// Empty when both are the same survey; else what differs, in words.
std::string ManifestDifference(const SurveyManifest& stored, const SurveyManifest& wanted);

}  // namespace mmadiff
