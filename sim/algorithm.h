// What an instruction computes, as data: an algorithm is a family and a handful of small numbers.
// One step joins `terms` products and one addend; the result of a step is the addend of the next.
#pragma once

#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

enum class Family : uint8_t {
  kFmaChain,     // d = fma(a_k, b_k, d), one rounding per product
  kPairwiseSum,  // products added in pairs, pairs in pairs, then the addend; every operation rounds
  kFusedSum,     // products and addend aligned to one exponent, cut, added exactly, rounded once
  kScaledSum,    // as kFusedSum, over groups of products with a scale each
  kExactSum,     // products and addend added exactly, rounded once
  kTwoStageSum,  // a fused sum of the products, then a fused sum of that and the addend
  kIntegerDot,   // exact integer sum, reduced to the output once per step
  kNone,         // nobody knows what it computes: Simulate() ends the program
};
inline constexpr int kFamilyCount = 7;  // of those that compute

enum class Rounding : uint8_t { kNearestEven, kTowardZero, kDown, kUp, kToOdd };
enum class Order : uint8_t { kAscending, kDescending };  // of k
// Exponent of a product.
enum class ProductExponent : uint8_t {
  kRaw,         // the sum of the operands' exponents
  kNormalized,  // floor(log2 |product|)
  kAsF16,  // kRaw once the operands are f16, where subnormals of e4m3 and narrower formats are normal
};
// A zero product either leaves the alignment exponent alone or raises it by its exponent fields.
enum class ZeroTerm : uint8_t { kIgnored, kRaises };
// Exponent of a subnormal addend: its own format's minimum, or normalised to the output format.
enum class AddendExponent : uint8_t { kOwnFormat, kOutputFormat };
enum class Subnormals : uint8_t {
  kKeep,
  kFlush,          // to zero of the same sign
  kFlushPositive,  // subnormals and zeros to +0
};
// Where a flushing output decides that a result is tiny.
enum class Tininess : uint8_t { kBeforeRounding, kAfterRounding };
// kPairwiseSum: whether addend_subnormals acts on c alone, or also on the sum that one step hands
// to the next.
enum class AddendFlush : uint8_t { kAtEntry, kEveryStep };
enum class NanRule : uint8_t {
  kAllOnes,        // one canonical NaN: sign 0, all other bits 1 (NVIDIA)
  kQuietPositive,  // one canonical NaN: sign 0, quiet bit only (Arm default NaN)
  kPropagate,  // first NaN of (a, b, addend), quieted; invalid gives the negative quiet NaN (x86)
  kPropagateBca,  // the same of (b, addend, a) (NVIDIA f64)
};
MMADIFF_HD constexpr bool Propagates(NanRule rule) {
  return rule == NanRule::kPropagate || rule == NanRule::kPropagateBca;
}
enum class ZeroSign : uint8_t {
  kPositive,     // every zero result is +0
  kSumPositive,  // an exact sum of zero is +0; a nonzero sum that rounds to zero keeps its sign
  kIeee,         // -0 when the addend and every product are -0 before alignment
};
// Which products are summed apart.
enum class Grouping : uint8_t {
  kConsecutive,
  // kFusedSum: steps take first every k with k mod 4 in {0, 1}, then the others; k a multiple of 4.
  kPairsOfFour,
  // kFmaChain: one chain of the even k and one of the odd k, both from +0; then even + odd, then
  // the addend: implies kLastAdd. kTwoStageSum: even and odd k are aligned and cut apart.
  kEvenOdd,
};
enum class AddendJoins : uint8_t {
  kFirstStep,
  // Steps start from +0; the addend comes last, in an addition of its own, addend + sum. That of
  // kFusedSum rounds to nearest even with all digits of the output, that of kFmaChain as its steps.
  kLastAdd,
};
// A finite result beyond the largest number: infinity in every rounding mode (NVIDIA's truncated
// sums, Arm's round to odd), or IEEE 754's rule by rounding mode, 7.4.
enum class RangeOverflow : uint8_t { kInfinity, kIeee };
// Products of kPairwiseSum: each rounded to the output, or exact so that only sums of pairs round.
enum class ProductRounding : uint8_t { kRounded, kExact };
// Products of kTwoStageSum of 2^(largest exponent of the output + 1) or more: infinite, or not.
enum class ProductOverflow : uint8_t { kInfinity, kNone };
// Addend of kTwoStageSum below 2^(alignment exponent - fraction_bits - 1): cut like any, or dropped
// before it can round the sum down.
enum class SmallAddend : uint8_t { kCut, kDropped };
// Alignment exponent offered by a zero addend of kTwoStageSum: the output's least, or none.
enum class ZeroAddend : uint8_t { kLeastExponent, kIgnored };
// Alignment exponent of a group of kScaledSum: that of its largest product plus its scales', or its
// scales' alone.
enum class GroupExponent : uint8_t { kProducts, kScales };
// A group of kScaledSum whose products are not all zero but add up to zero: offers its exponent, or
// not.
enum class ZeroGroup : uint8_t { kCounts, kIgnored };
// "Product" of two 1-bit operands.
enum class BitOperation : uint8_t { kAnd, kXor };
enum class Overflow : uint8_t { kWrap, kSaturate };  // of integers

// "No floor": below the exponent of every product of two supported formats.
inline constexpr int kNoFloor = -10000;

// Largest k of a model; longer ones are refused (WhyInvalid() of sim/parameter.h).
inline constexpr int kMaxK = 256;
// Largest k with Grouping::kPairsOfFour.
inline constexpr int kMaxGroupedK = 64;

struct Algorithm {
  Family family;
  int terms = 1;  // products per step, 1..1024; k must be a multiple, or less than it
  Order order = Order::kAscending;
  Grouping grouping = Grouping::kConsecutive;
  AddendJoins addend_joins = AddendJoins::kFirstStep;
  int group_terms = 1;            // kScaledSum: consecutive products added exactly before alignment
  int fraction_bits = 0;          // kept below the alignment exponent, 1..37
  int sum_fraction_bits = 0;      // kTwoStageSum: kept of its final sum, 1..37
  int exponent_floor = kNoFloor;  // least alignment exponent
  ProductExponent product_exponent = ProductExponent::kRaw;
  ZeroTerm zero_term = ZeroTerm::kIgnored;
  AddendExponent addend_exponent = AddendExponent::kOwnFormat;
  GroupExponent group_exponent = GroupExponent::kProducts;
  ZeroGroup zero_group = ZeroGroup::kCounts;
  ZeroAddend zero_addend = ZeroAddend::kLeastExponent;
  SmallAddend small_addend = SmallAddend::kCut;
  ProductOverflow product_overflow = ProductOverflow::kNone;
  ProductRounding product_rounding = ProductRounding::kRounded;
  Rounding align_rounding = Rounding::kTowardZero;  // of products, at the alignment
  Rounding sum_rounding = Rounding::kDown;          // of everything later in kTwoStageSum
  Rounding output_rounding = Rounding::kNearestEven;
  int output_fraction_bits = 0;  // significand bits of the result after the leading one
  RangeOverflow range_overflow = RangeOverflow::kInfinity;
  Subnormals input_subnormals = Subnormals::kKeep;   // of a and b
  Subnormals addend_subnormals = Subnormals::kKeep;  // of c and of the result of an earlier step
  AddendFlush addend_flush = AddendFlush::kAtEntry;
  Subnormals output_subnormals = Subnormals::kKeep;
  Tininess tininess = Tininess::kAfterRounding;
  NanRule nan_rule = NanRule::kAllOnes;
  ZeroSign zero_sign = ZeroSign::kIeee;
  BitOperation bit_operation = BitOperation::kAnd;
  Overflow overflow = Overflow::kWrap;

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

// Whether subnormal factors of the format are aligned as the normal numbers that they are in f16.
MMADIFF_HD constexpr bool NormalizesSubnormals(ProductExponent rule, const Format& f) {
  return rule == ProductExponent::kAsF16 && f.min_exponent > kF16.min_exponent;
}

// Everything the arithmetic reads: plain data, passed by value to a GPU kernel.
struct Model {
  Format a, b, c, d;
  int k;  // products per dot product
  Algorithm algorithm;
  Format scale = {};    // of kScaledSum
  int scale_block = 0;  // consecutive k that share a scale, for a and for b; 0: no scales
  // Of a chain (sim/chain.h): k / executions products each, the result of one is the addend of the next.
  int executions = 1;

  // Scales of a row of A, and of a column of B; they follow its k elements.
  MMADIFF_HD constexpr int scales() const { return scale_block == 0 ? 0 : k / scale_block; }
};

// The model of one execution of a chain.
MMADIFF_HD constexpr Model OneExecution(const Model& m) {
  Model one = m;
  one.k /= m.executions;
  one.executions = 1;
  return one;
}

}  // namespace mmadiff
