// The operands of whole matrix products.
#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/plan.h"
#include "sim/words.h"

namespace mmadiff {

// The scale of row i of A, or column i of B, at k is words(i / rows_each, k / k_each).
struct ScaleMatrix {
  Words words;
  int64_t rows_each = 1, k_each = 1;
};

// The operands of D = A B.
struct Matrices {
  int64_t m = 0, n = 0, k = 0;
  // A: m rows of k words of `a_format`. B: k rows of n words of `b_format`. A format other than the operation's
  // must have only numbers that the operation's has too; f32 words are tf32 words.
  Words a, b;
  const Format *a_format = nullptr, *b_format = nullptr;
  // Block scales of the operation, in its own scale format; scales of joins, in the format of sums.
  ScaleMatrix block_scale_a, block_scale_b;
  ScaleMatrix scale_a, scale_b;
  // m rows of n, in the format of the operation's addend ("from c") or of sums (in joins and results).
  Words c;
  Words bias;                    // one row of n, in the format of sums
  uint64_t alpha = 0, beta = 0;  // in the format of sums
};

// The smallest power of two that divides so many rows or k into so many blocks, the last one perhaps
// shorter; one block has all of them. 0 if no power of two does.
int64_t ScaleBlock(int64_t size, int64_t blocks);

// Why the operation cannot take A and B in these formats; empty if it can.
std::string WhyNotFormats(const Operation& operation, const Format& a, const Format& b);

// Why the plan cannot take the operands; empty if it can.
std::string WhyNotMatrices(const Plan& plan, const Matrices& matrices);

// Why the scales are not those of whole parts, whole sums or whole blocks of the operation; empty if
// they are. (Plans take that of the first k.)
std::string WhyNotScales(const Plan& plan, const Matrices& matrices);

}  // namespace mmadiff
