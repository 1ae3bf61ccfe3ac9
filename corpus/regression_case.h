// A regression case: one execution or one dot product with the answers of devices, as a small text
// proto for people and git (proto/case.proto). Code uses this struct, never the proto class.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/bucket.h"
#include "corpus/clue.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

struct Answer {
  std::string device;    // the device specification, or "model" with its version for a prediction
  std::string identity;  // the hardware and software that answered: CPU or GPU, driver, toolkit
  std::string date;      // RFC 3339
  std::vector<uint64_t> d;  // shape.d_words() words
  uint64_t age = 0;         // earlier answers of its process, if a fresh one answers differently

  bool IsPrediction() const { return device == "model" || device.starts_with("model:"); }
};

// The state of a finding (fuzz/folder/finding_life.h). Where copies of a case differ, the state
// later in this order wins.
enum class FindingState {
  kOpen,
  kExplained,  // a person wrote down the reason
  kFixed,      // model and device now agree
  kFlaky,      // the device did not repeat its answer
  kRegressed,  // was fixed, now differs again
};
inline constexpr const char* kFindingStates[] = {"open", "explained", "fixed", "flaky",
                                                 "regressed"};
inline const char* Name(FindingState state) { return kFindingStates[static_cast<int>(state)]; }

// The actor that moved a finding to its state.
struct MovedBy {
  enum Kind : uint8_t {
    kNobody,
    kRun,    // found it again
    kModel,  // a replay of the stored answers
    kDevice,
  };

  Kind kind = kNobody;
  int model_version = 0;    // for kModel
  std::string device = {};  // for kDevice: its specification

  static MovedBy ThisModel();  // the model of this version
  static MovedBy Device(std::string specification);
  friend auto operator<=>(const MovedBy&, const MovedBy&) = default;
};
std::string Name(const MovedBy& by);  // "", "run", "model:3", the specification; stored in files
MovedBy ParseMovedBy(absl::string_view name);

// A device failure in place of a result word.
struct NoWord {
  std::string device, identity, date;  // as in Answer
  InputFailure failure;

  friend bool operator==(const NoWord&, const NoWord&) = default;
};

struct RegressionCase {
  const Operation* op = nullptr;
  Batch inputs;                 // count 1
  std::vector<Answer> answers;  // at least one, except in a handwritten question
  std::string slug;             // for the file name: [a-z0-9_]+; empty is read as "case"
  std::string why;              // for people: the point of the case; no decision depends on it
  Bucket bucket;                // bucket of the difference; empty without a difference
  std::string source;           // the paper, recording or case name that the case came from
  Position position;            // position of the dot product in its original tile
  FindingState state = FindingState::kOpen;
  MovedBy moved_by = {};
  CaseRole role = CaseRole::kUnknown;  // as stored; RoleOf() gives the role
  std::optional<NoWord> no_word = {};
  std::string shared = {};  // for people: the common property of the mismatches in the original
                            // run; no decision depends on it
  std::string reason = {};  // for people: why the device's answers differ, as the device says it
  std::vector<Clue> clues = {};  // replies of a device whose answers no change explained

  // The specification of the device that the case was found with; "" if no device was queried.
  std::string device() const;
  // The number of answers that the device's process had given before its answer or failure.
  uint64_t age() const;
  // Whether the device with this specification answered the case or failed on it.
  bool IsOf(absl::string_view device) const;
};

// Also handles cases stored before roles existed.
CaseRole RoleOf(const RegressionCase& c);

// First 12 hex digits of the XXH3-128 of our own canonical bytes: operation name, shape, operand
// words. Independent of answers and texts.
std::string CaseId(const RegressionCase& c);

// "<arch>/<slug>-<id12>.txtpb"
std::string CaseFileName(const RegressionCase& c);

// `folder` is the folder that the case is to be stored below. The first line of the text is the
// command that replays the case from there.
std::string FormatCase(const RegressionCase& c, absl::string_view folder = "corpus/regressions");
// kDataLoss with `where` (a file name), the field and its position. A case without a slug takes its
// slug from `where`. Verifies the checksum of the whole case if it exists; `sealed` requires it. A
// case without an answer is an error unless `question` is set.
absl::StatusOr<RegressionCase> ParseCase(absl::string_view text, absl::string_view where,
                                         bool sealed = false, bool question = false);

}  // namespace mmadiff
