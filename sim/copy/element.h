// The arithmetic of tensor copies: loads of f32 types convert, reductions combine.
#pragma once

#include <cstdint>

#include "sim/copy/tensor_copy.h"

namespace mmadiff {

// The element that a load of an f32, f32.ftz, tf32 or tf32.ftz map writes for `word`.
uint32_t Loaded(TensorType type, uint32_t word, const CopyRules& rules);
// False if Loaded() is the identity.
bool Converts(TensorType type, const CopyRules& rules);

// Each 16 bits of an element out of bounds, for FillMode::kNan.
uint16_t NanFillWord(const CopyRules& rules);

// Whether the ISA has the reduction for the type (9.7.9.27.2).
bool HasReduction(TensorType type, Reduction reduction);

// Whether the result of several reductions of one place depends on their order.
bool OrderMatters(TensorType type, Reduction reduction);

struct Reduced {
  uint64_t word;
  bool specified;  // false if an operand or the result is a NaN, or a subnormal of f32.ftz
};
// The element that replaces `global`. Aborts unless HasReduction().
Reduced Reduce(TensorType type, Reduction reduction, uint64_t global, uint64_t shared);

// The low 6 bits of each of 16 bytes, in 12 bytes. The ranges may overlap if `to` <= `from`.
void PackSixBits(const uint8_t* from, uint8_t* to);

}  // namespace mmadiff
