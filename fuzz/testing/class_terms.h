// What the terms of a boundary class's dot products are, read from their operands alone.
#pragma once

#include <algorithm>
#include <vector>

#include "fuzz/testing/class_properties.h"

namespace mmadiff {

// Scale of the block of term k; 0 without scales.
inline int ScaleOf(const Instruction& in, const DotProductCase& dot, int k) {
  if (in.scale == nullptr) return 0;
  const int at = in.shape.k + k / (in.shape.k / in.shape.scales);
  return ExponentOfScale(*in.scale, dot.a[at]) + ExponentOfScale(*in.scale, dot.b[at]);
}

// Sums of the exponents of the factors of each product that is not zero, their scales included.
inline std::vector<int> ProductExponents(const Operation& op, const DotProductCase& dot) {
  const Instruction& in = *op.instruction;
  std::vector<int> all;
  for (int k = 0; k < in.shape.k; ++k) {
    if (ZeroInA(op, dot, k) || ZeroInB(op, dot, k)) continue;
    all.push_back(ExponentOfScale(*in.a, dot.a[k]) + ExponentOfScale(*in.b, dot.b[k]) +
                  ScaleOf(in, dot, k));
  }
  return all;
}

inline int LeastProductOf(const Instruction& in) {
  const int scales = in.scale == nullptr ? 0 : 2 * Lowest(*in.scale);
  return Lowest(*in.a) + Lowest(*in.b) + scales;
}

// One or two products alone, the smaller at most twice the least output, or the least there is.
inline bool IsAtTheFloor(const Operation& op, const DotProductCase& dot) {
  const std::vector<int> products = ProductExponents(op, dot);
  const int floor = std::max(Lowest(D(op)) + 1, LeastProductOf(*op.instruction));
  return IsZero(C(op), dot.c) && !products.empty() && products.size() <= 2 &&
         *std::ranges::min_element(products) <= floor;
}

// All products but one are zeros of A times one of B, of one sign.
inline bool HasZerosInAAlone(const Operation& op, const DotProductCase& dot) {
  const Format& b = *op.instruction->b;
  int others = 0;
  for (int k = 0; k < op.shape().k; ++k) {
    others += dot.a[k] != 0 || (dot.b[k] | 1ull << SignBit(b)) != Compose(b, true, 0, 0);
  }
  return others <= 1;
}

// Products that repeat with the opposite sign of A: of the next k, or k / 2 farther.
inline bool RepeatsNegated(const Operation& op, const DotProductCase& dot) {
  const int k = op.shape().k;
  const uint64_t ones = LowBits(op.instruction->a->bits);
  for (const int distance : {1, std::max(1, k / 2)}) {
    bool all = true;
    for (int i = distance; i < k; ++i) {
      if (i / distance % 2 == 0) continue;
      all &= dot.a[i] == (-dot.a[i - distance] & ones) && dot.b[i] == dot.b[i - distance];
    }
    if (all) return true;
  }
  return false;
}

inline bool HasUnreadBits(const Operation& op, const DotProductCase& dot) {
  const int fields = FieldBits(*op.instruction->scale);
  for (size_t i = op.shape().k; i < dot.a.size(); ++i) {
    if ((dot.a[i] | dot.b[i]) >> fields != 0) return true;
  }
  return false;
}

// No addend, products in half of the terms or more, one at least near the least output.
inline bool IsManyNearTheLeast(const Operation& op, const DotProductCase& dot) {
  const std::vector<int> products = ProductExponents(op, dot);
  const int least = std::max(Lowest(D(op)), LeastProductOf(*op.instruction));
  return IsZero(C(op), dot.c) && 2 * static_cast<int>(products.size()) >= op.shape().k &&
         *std::ranges::min_element(products) <= least + 16;
}

// Some group of 16 products is all zeros or adds up to zero, whatever its scales.
inline bool HasZeroGroup(const Operation& op, const DotProductCase& dot) {
  const std::vector<int64_t> sums = GroupSums(*op.instruction, dot);
  return std::ranges::count(sums, 0) > 0;
}

// A scaled product or the addend lies 20 bits or more below another such term.
inline bool IsSpread(const Operation& op, const DotProductCase& dot) {
  std::vector<int> all = ProductExponents(op, dot);
  if (!IsZero(C(op), dot.c)) all.push_back(ExponentOfScale(C(op), dot.c));
  if (all.empty()) return false;
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  return *high - *low >= 20;
}

}  // namespace mmadiff
