// A regression case: one execution or one dot product with what devices answered, as a small text
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
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

struct Answer {
  std::string device;    // the device specification, or "model" with its version for a prediction
  std::string identity;  // what really answered: CPU or GPU, driver, toolkit
  std::string date;      // RFC 3339
  std::vector<uint64_t> d;  // shape.d_words() words
  uint64_t age = 0;  // answers that its process had given before, if a fresh one answers otherwise

  bool IsPrediction() const { return device == "model" || device.starts_with("model:"); }
};

// Where a finding is in its life (fuzz/folder/finding_life.h), in the order in which one counts more than
// another where copies of a case differ.
enum class FindingState {
  kOpen,
  kExplained,  // somebody wrote why
  kFixed,      // model and device agree now
  kFlaky,      // the device did not repeat its answer
  kRegressed,  // was fixed, differs again
};
inline constexpr const char* kFindingStates[] = {"open", "explained", "fixed", "flaky",
                                                 "regressed"};
inline const char* Name(FindingState state) { return kFindingStates[static_cast<int>(state)]; }

// Who moved a finding to its state.
struct MovedBy {
  enum Kind : uint8_t {
    kNobody,
    kRun,    // found it again
    kModel,  // a replay of the stored answers
    kDevice,
  };

  Kind kind = kNobody;
  int model_version = 0;    // of kModel
  std::string device = {};  // of kDevice: its specification

  static MovedBy ThisModel();  // of this version
  static MovedBy Device(std::string specification);
  friend auto operator<=>(const MovedBy&, const MovedBy&) = default;
};
std::string Name(const MovedBy& by);  // "", "run", "model:3", the specification; files store it
MovedBy ParseMovedBy(absl::string_view name);

// What a device gave in place of a word.
struct NoWord {
  std::string device, identity, date;  // as in Answer
  InputFailure failure;

  friend bool operator==(const NoWord&, const NoWord&) = default;
};

struct RegressionCase {
  const Operation* op = nullptr;
  Batch inputs;                 // count 1
  std::vector<Answer> answers;  // at least one, but in a question written by hand
  std::string slug;             // for the file name: [a-z0-9_]+; empty reads as "case"
  std::string why;              // what the case shows, in words; no decision reads it
  Bucket bucket;                // of the difference; of a case without one none
  std::string source;           // paper, recording or case name it came from
  Position position;            // of the dot product in the tile it was found in
  FindingState state = FindingState::kOpen;
  MovedBy moved_by = {};
  CaseRole role = CaseRole::kUnknown;  // as it is stored: RoleOf()
  std::optional<NoWord> no_word = {};
  std::string shared = {};  // by what differs where it was found, in words; no decision reads it

  // The specification of the device that it was found with; "" of one that no device was asked.
  std::string device() const;
  // Answers that the device's process had given before its answer or failure.
  uint64_t age() const;
  // Whether the device with this specification answered it, or failed on it.
  bool IsOf(absl::string_view device) const;
};

// Also of a case that was filed before roles were stored.
CaseRole RoleOf(const RegressionCase& c);

// First 12 hex digits of the XXH3-128 of our own canonical bytes (operation name, shape, operand
// words). Answers and texts do not count.
std::string CaseId(const RegressionCase& c);

// "<arch>/<slug>-<id12>.txtpb"
std::string CaseFileName(const RegressionCase& c);

// `folder` is the one the case is to be stored below; its first line says how to replay it from
// there.
std::string FormatCase(const RegressionCase& c, absl::string_view folder = "corpus/regressions");
// kDataLoss names `where` (a file name), the field and its position. A case without a slug takes it
// from `where`. The checksum of all that the case says is verified when it is there, and must be
// there if `sealed`. A case without an answer is an error unless it is a `question`.
absl::StatusOr<RegressionCase> ParseCase(absl::string_view text, absl::string_view where,
                                         bool sealed = false, bool question = false);

}  // namespace mmadiff
