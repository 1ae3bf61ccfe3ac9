// The bucket of a difference between a device and the model, by which findings are grouped; and why a
// case of it was kept.
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
  kFlaky,        // it gave another answer
  kUnconfirmed,  // the device could not be asked again
  kAged,  // every time in a process that has given some answers before, and not in a fresh one
};
inline constexpr int kRepetitions = static_cast<int>(Repetition::kAged) + 1;

// How two result words differ, the later the graver.
enum class DifferenceClass : uint8_t {
  kNone,
  kNanPayload,  // both are NaNs
  kOneUlp,
  kUlps,
  kZeroSign,
  kSign,
  kInfinity,
  kNan,  // one of them
  kInteger,
};
inline constexpr int kDifferenceClasses = static_cast<int>(DifferenceClass::kInteger) + 1;
const char* Name(DifferenceClass difference);  // "", "1ulp", "ulps", "zero_sign", ...

struct Bucket {
  enum Kind : uint8_t {
    kNone,         // nothing differs, or nobody looked
    kExplained,    // `changes` give what the device answered
    kUnexplained,  // no change does; of one answer `difference` says how it differs
    kNoWord,       // the device gave no word: `failure`, without age and text
    kUnknown,      // `unknown`: the name, which this version does not write
  };

  Repetition repetition = Repetition::kRepeats;
  Kind kind = kNone;
  std::vector<Change> changes = {};
  DifferenceClass difference = DifferenceClass::kNone;
  InputFailure failure = {};
  std::string unknown = {};

  static Bucket Explained(std::vector<Change> changes);  // at least one
  static Bucket Unexplained(DifferenceClass difference = DifferenceClass::kNone);
  static Bucket NoWord(const InputFailure& failure);  // kAged if it has an age

  bool Repeats() const { return repetition == Repetition::kRepeats; }
  explicit operator bool() const { return *this != Bucket(); }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};
// "aligned_term:fraction_bits=24" with the stage at which the first change acts, "unexplained:ulps",
// "unexplained", "crash_exit_3", "flaky:unexplained:ulps", "flaky"; "" for none. Files store it.
std::string Name(const Bucket& bucket);
// Of any text, and exactly: Name() gives it back. `family`: of the operation's algorithm.
Bucket ParseBucket(Family family, absl::string_view name);

// Numbers are stored (proto CaseRole).
enum class CaseRole : uint8_t {
  kUnknown,   // filed before roles were stored, or written by hand
  kMinimal,   // the simplest mismatch: it names the finding
  kConfirms,  // what no preferred change gives, but the explanation does
  kRefutes,   // refutes other changes; the device may agree with the model
  kAsFound,   // the mismatch before it was made smaller
  kSeenOnce,  // the device did not repeat it, or could not be asked again; it names the finding
  kTypical,   // a mismatch of ordinary numbers (triage/typical.h)
};
inline constexpr int kCaseRoles = static_cast<int>(CaseRole::kTypical) + 1;

}  // namespace mmadiff
