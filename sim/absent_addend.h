// Dot products without an addend: c is kAbsent, and no device receives a word for it. Their models
// add -0, the neutral element of IEEE 754's addition: -0 + x is x, zeros included.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"

namespace mmadiff {

// False for a conversion, which adds nothing.
MMADIFF_HD constexpr bool HasNoAddend(const Model& m) { return IsAbsent(m.c) && !IsAbsent(m.b); }

// The same model with an addend of the output format, which must be NeutralAddend().
MMADIFF_HD constexpr Model WithNeutralAddend(const Model& m) {
  Model with = m;
  with.c = m.d;
  return with;
}
MMADIFF_HD constexpr uint64_t NeutralAddend(const Model& m) {
  return IsInteger(m.d) ? 0 : 1ull << SignBit(m.d);
}

}  // namespace mmadiff
