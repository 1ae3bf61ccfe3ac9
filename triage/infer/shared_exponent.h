// Recognizes operands in block floating point: elements of a row of A or a column of B that share the
// exponent of their largest element. One element is large and the other operand multiplies it by zero; a
// small element then loses its bits although the large product is zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/infer/asker.h"

namespace mmadiff {

struct SharedExponent {
  bool of_b = false;  // the elements of B; else those of A
  int group = 1;      // consecutive k that share an exponent; the last group may be smaller
  // An element that is a power of two is unchanged if it is up to so many bits below the largest element
  // of its group, and changed if it is further below. 0: only if it is as large.
  int kept_bits = 0;
};

// Asks at most `most` questions about A and B. It does not mistake the alignment of products for a shared exponent, even if zero
// products take part in the alignment: the other operand makes the small product at least as large as
// an exponent that the zero product may offer, and its size must not matter. Errors are the device's.
absl::StatusOr<std::vector<SharedExponent>> AskSharedExponents(Asker& asker, int64_t most);

// One sentence.
std::string SharedExponentText(const SharedExponent& shared);

}  // namespace mmadiff
