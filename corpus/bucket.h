// Of a filed difference: whether the device repeats it, and why a case of it was kept.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mmadiff {

enum class Repetition : uint8_t {
  kRepeats,      // every time
  kFlaky,        // it gave another answer
  kUnconfirmed,  // the device could not be asked again
};
inline constexpr int kRepetitions = static_cast<int>(Repetition::kUnconfirmed) + 1;
// What a bucket's name begins with: "", "flaky:", "unconfirmed:".
const char* Prefix(Repetition repetition);
// Of the name of a bucket; "flaky" alone is one too, in surveys.
Repetition RepetitionOf(absl::string_view bucket);

// Numbers are stored (proto CaseRole).
enum class CaseRole : uint8_t {
  kUnknown,   // filed before roles were stored, or written by hand
  kMinimal,   // the simplest mismatch: it names the finding
  kConfirms,  // what no preferred change gives, but the explanation does
  kRefutes,   // refutes other changes; the device may agree with the model
  kAsFound,   // the mismatch before it was made smaller
  kSeenOnce,  // the device did not repeat it, or could not be asked again; it names the finding
};
inline constexpr int kCaseRoles = static_cast<int>(CaseRole::kSeenOnce) + 1;

}  // namespace mmadiff
