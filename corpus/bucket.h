// The bucket that groups findings by how the device and the model differ, and the reason why a case
// was kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/answers.h"
#include "sim/parameter.h"
#include "sim/trace.h"

namespace mmadiff {

enum class Repetition : uint8_t {
  kRepeats,      // every time
  kFlaky,        // it gave a different answer
  kUnconfirmed,  // the device could not be queried again
  kAged,  // every time in a process that has already given some answers, but not in a fresh process
};
inline constexpr int kRepetitions = static_cast<int>(Repetition::kAged) + 1;

// How two result words differ, least serious first.
enum class DifferenceClass : uint8_t {
  kNone,
  kNanPayload,  // both are NaNs
  kOneUlp,
  kUlps,
  kZeroSign,
  kSign,
  kInfinity,
  kNan,  // only one is a NaN
  kInteger,
};
inline constexpr int kDifferenceClasses = static_cast<int>(DifferenceClass::kInteger) + 1;
const char* Name(DifferenceClass difference);  // "", "1ulp", "ulps", "zero_sign", ...

struct Bucket {
  enum Kind : uint8_t {
    kNone,         // no difference, or not examined
    kExplained,    // `changes` reproduce the device's answers
    kUnexplained,  // no change reproduces them; for a single answer, `difference` is set
    kNoWord,       // the device gave no word: `failure`, without age and text
    kUnknown,      // `unknown`: a name that this version does not write
  };

  Repetition repetition = Repetition::kRepeats;
  Kind kind = kNone;
  std::vector<Change> changes = {};
  DifferenceClass difference = DifferenceClass::kNone;
  InputFailure failure = {};
  std::string unknown = {};

  static Bucket Explained(std::vector<Change> changes);  // at least one
  static Bucket Unexplained(DifferenceClass difference = DifferenceClass::kNone);
  static Bucket NoWord(const InputFailure& failure);  // kAged if the failure has an age

  bool Repeats() const { return repetition == Repetition::kRepeats; }
  explicit operator bool() const { return *this != Bucket(); }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};
// "aligned_term:fraction_bits=24" with the stage at which the first change acts,
// "unexplained:ulps", "unexplained", "crash_exit_3", "flaky:unexplained:ulps", "flaky"; "" if the
// bucket is empty. Stored in files.
std::string Name(const Bucket& bucket);
// Whether the bucket is unexplained, but the device gives a reason (Device::Reason()).
bool OnlyReasonExplains(const Bucket& bucket, absl::string_view reason);
// For people: "machine code" if only the reason explains it (only devices that execute machine code
// give one), otherwise Name().
std::string ShownName(const Bucket& bucket, absl::string_view reason);
// Accepts any text and is exact: Name() returns the same text. `family` is the family of the
// operation's algorithm.
Bucket ParseBucket(Family family, absl::string_view name);

// Numbers are stored (proto CaseRole).
enum class CaseRole : uint8_t {
  kUnknown,   // stored before roles existed, or written by hand
  kMinimal,   // the simplest mismatch: it names the finding
  kConfirms,  // reproduced by the explanation but by no preferred change
  kRefutes,   // rules out other changes; the device may agree with the model
  kAsFound,   // the mismatch before minimization
  kSeenOnce,  // the device did not repeat it or could not be queried again; it names the finding
  kTypical,   // a mismatch of ordinary numbers (triage/typical.h)
};
inline constexpr int kCaseRoles = static_cast<int>(CaseRole::kTypical) + 1;

}  // namespace mmadiff
