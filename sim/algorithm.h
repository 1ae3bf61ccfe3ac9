// An instruction's arithmetic as data: a family and a handful of parameters. One step adds `terms`
// products and one addend; its result is the addend of the next step.
#pragma once

#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

enum class Family : uint8_t {
  kFmaChain,     // d = fma(a_k, b_k, d), one rounding per product
  kPairwiseSum,  // a binary tree of products, then the addend; every operation rounds
  kFusedSum,     // products and addend aligned to one exponent, cut, added exactly, rounded once
  kScaledSum,    // as kFusedSum, over groups of products with one scale per group
  kExactSum,     // products and addend added exactly, rounded once
  kTwoStageSum,  // a fused sum of the products, then a fused sum of that and the addend
  kIntegerDot,   // exact integer sum, reduced to the output once per step
  kConversion,   // a in the output format, rounded once; b and c are absent and k is 1
  kTree,         // any tree of sums, sim/tree/tree.h
  kNone,         // no model: Simulate() aborts
};
inline constexpr int kFamilyCount = 8;  // those with parameters: without kTree and kNone

// kNearestAway: ties away from zero, in trees alone.
enum class Rounding : uint8_t { kNearestEven, kTowardZero, kDown, kUp, kToOdd, kNearestAway };
enum class Order : uint8_t { kAscending, kDescending };  // sequence of k
// Exponent of a product.
enum class ProductExponent : uint8_t {
  kRaw,         // the sum of the operands' exponents
  kNormalized,  // floor(log2 |product|)
  kAsF16,       // kRaw after conversion to f16, in which subnormals of e4m3 and narrower are normal
};
// Whether a zero product can raise the alignment exponent, by the sum of its exponent fields.
enum class ZeroTerm : uint8_t { kIgnored, kRaises };
// Exponent of a subnormal addend: its own format's minimum, or normalized in the output format.
enum class AddendExponent : uint8_t { kOwnFormat, kOutputFormat };
enum class Subnormals : uint8_t {
  kKeep,
  kFlush,          // to zero of the same sign
  kFlushPositive,  // subnormals and zeros to +0
};
// When an output that is flushed is tested for tininess.
enum class Tininess : uint8_t { kBeforeRounding, kAfterRounding };
// kPairwiseSum: whether addend_subnormals applies only to c, or also to the sum passed from one
// step to the next.
enum class AddendFlush : uint8_t { kAtEntry, kEveryStep };
enum class NanRule : uint8_t {
  kAllOnes,        // one canonical NaN: sign 0, all other bits 1 (NVIDIA)
  kQuietPositive,  // one canonical NaN: sign 0, quiet bit only (Arm default NaN)
  kPropagate,  // first NaN of (a, b, addend), quieted; invalid gives the negative quiet NaN (x86)
  kPropagateBca,  // the same with the order (b, addend, a) (NVIDIA f64)
};
MMADIFF_HD constexpr bool Propagates(NanRule rule) {
  return rule == NanRule::kPropagate || rule == NanRule::kPropagateBca;
}
enum class ZeroSign : uint8_t {
  kPositive,     // every zero result is +0
  kSumPositive,  // an exact zero sum is +0; a nonzero sum that rounds to zero keeps its sign
  kIeee,         // -0 when the addend and every product are -0 before alignment
};
// Which products are summed separately.
enum class Grouping : uint8_t {
  kConsecutive,
  // kFusedSum: steps first take every k with k mod 4 in {0, 1}, then the others; m.k is a multiple
  // of 4.
  kPairsOfFour,
  // kFmaChain: one chain of the even k and one of the odd k, both from +0; then even + odd, then
  // the addend, so kLastAdd is required. kTwoStageSum: even and odd k are aligned and cut
  // separately.
  kEvenOdd,
};
enum class AddendJoins : uint8_t {
  kFirstStep,
  // Steps start from +0; a separate final addition computes addend + sum. In kFusedSum it rounds to
  // nearest even with all digits of the output, in kFmaChain as the steps do.
  kLastAdd,
  // kFusedSum of several steps: every step starts from +0. Their results are added in sequence, then
  // the addend is, each addition as in kLastAdd.
  kStepsApart,
};
// A finite result beyond the largest number: infinity in every rounding mode (NVIDIA's truncated
// sums, Arm's round to odd), or IEEE 754's rule by rounding mode, 7.4.
enum class RangeOverflow : uint8_t { kInfinity, kIeee };
// kPairwiseSum: products are rounded to the output, or are exact and only sums of pairs round.
enum class ProductRounding : uint8_t { kRounded, kExact };
// kTwoStageSum: whether products of at least 2^(largest exponent of the output + 1) are infinite.
enum class ProductOverflow : uint8_t { kInfinity, kNone };
// kTwoStageSum: an addend below 2^(alignment exponent - fraction_bits - 1) is cut like any other,
// or dropped before it can round the sum down.
enum class SmallAddend : uint8_t { kCut, kDropped };
// kTwoStageSum: alignment exponent that a zero addend offers: the output's least, or none.
enum class ZeroAddend : uint8_t { kLeastExponent, kIgnored };
// kScaledSum: alignment exponent of a group: its largest product's plus its scales', or only its
// scales'.
enum class GroupExponent : uint8_t { kProducts, kScales };
// kScaledSum: whether a group whose products cancel to zero, without all being zero, offers its
// exponent.
enum class ZeroGroup : uint8_t { kCounts, kIgnored };
// Sparse instructions: which products are added, and in which order. `terms` counts stored products.
enum class Selection : uint8_t {
  kStored,             // those that the metadata select, in ascending k
  kFirstsThenSeconds,  // first the first stored quarter of every group, then the second ones
  kInPlace,            // all, with +0 for the elements of a that are not stored
  kZerosInPlace,       // the same, and with +0 for the elements of b beside those
};
// "Product" of two 1-bit operands.
enum class BitOperation : uint8_t { kAnd, kXor };
enum class Overflow : uint8_t { kWrap, kSaturate };  // kIntegerDot
// kConversion: which of two equally near numbers rounding to nearest takes.
enum class Ties : uint8_t { kEven, kAway };
// kConversion: the result for an operand beyond the largest number.
enum class Saturation : uint8_t {
  kNone,     // IEEE 754, 7.4, by rounding mode; infinity becomes NaN in a format that has only NaN,
             // and the largest number in one that has neither
  kNumbers,  // the largest number of that sign, but an infinite operand as above
  kAll,      // the largest number of that sign
};
// kConversion: whether negative numbers, including -0, become +0.
enum class Relu : uint8_t { kNone, kClamp };
// How an operand's words are read; the rules and their names are in sim/reading.cc.
enum class Reading : uint8_t { kAsIs = 0 };
// kFmaChain: a product and its sum round once, or each of them does.
enum class MultiplyAdd : uint8_t { kFused, kSeparate };
// kFmaChain: a product that is not zero and whose exponent is at least output_fraction_bits + 1 below
// the addend's.
enum class FarProduct : uint8_t {
  kExact,
  kDropped,
  kOneUlp,          // the result is the next number to the addend, toward the product
  kOppositeOneUlp,  // the same if the product's sign is not the addend's
};
// kIntegerDot: products of k = 0 and 1, of 2 and 3, ... are added exactly, or as 16-bit integers.
enum class PairSum : uint8_t { kExact, kWrap16, kSaturate16 };

// No floor: below the exponent of every product of two supported formats.
inline constexpr int kNoFloor = -10000;

// Largest k of a model; WhyInvalid() of sim/parameter.h rejects larger ones.
inline constexpr int kMaxK = 256;
// Whether parameters are simulated that no instruction of their family has (Parameter::unusual). On a GPU
// they would cost registers.
#ifdef MMADIFF_ON_GPU
inline constexpr bool kSimulatesUnusual = false;
#else
inline constexpr bool kSimulatesUnusual = true;
#endif
// Largest k with Grouping::kPairsOfFour.
inline constexpr int kMaxGroupedK = 64;

struct Tree;

struct Algorithm {
  Family family;
  int terms = 1;  // products per step, 1..1024; k must be a multiple of it, or less
  Order order = Order::kAscending;
  Grouping grouping = Grouping::kConsecutive;
  AddendJoins addend_joins = AddendJoins::kFirstStep;
  int group_terms = 1;            // kScaledSum: consecutive products added exactly before alignment
  int fraction_bits = 0;          // kept below the alignment exponent, 1..37
  int sum_fraction_bits = 0;      // kTwoStageSum: kept in the final sum, 1..37
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
  Rounding align_rounding = Rounding::kTowardZero;  // when products are aligned
  Rounding sum_rounding = Rounding::kDown;          // kTwoStageSum: everything after that
  Rounding output_rounding = Rounding::kNearestEven;
  int output_fraction_bits = 0;  // bits of the result after the leading one
  RangeOverflow range_overflow = RangeOverflow::kInfinity;
  Reading operand_reading = Reading::kAsIs;  // of a and b, sim/reading.h
  Reading a_reading = Reading::kAsIs, b_reading = Reading::kAsIs;
  Reading addend_reading = Reading::kAsIs, scale_reading = Reading::kAsIs;
  Reading a_scale_reading = Reading::kAsIs, b_scale_reading = Reading::kAsIs;
  Subnormals input_subnormals = Subnormals::kKeep;   // in a and b
  Subnormals addend_subnormals = Subnormals::kKeep;  // in c and in the result of an earlier step
  AddendFlush addend_flush = AddendFlush::kAtEntry;
  Subnormals output_subnormals = Subnormals::kKeep;
  Tininess tininess = Tininess::kAfterRounding;
  NanRule nan_rule = NanRule::kAllOnes;
  ZeroSign zero_sign = ZeroSign::kIeee;
  BitOperation bit_operation = BitOperation::kAnd;
  PairSum pair_sum = PairSum::kExact;
  Overflow overflow = Overflow::kWrap;
  MultiplyAdd multiply_add = MultiplyAdd::kFused;
  FarProduct far_product = FarProduct::kExact;
  Selection selection = Selection::kStored;
  Ties ties = Ties::kEven;
  Saturation saturation = Saturation::kNone;
  Relu relu = Relu::kNone;
  const Tree* tree = nullptr;  // kTree: never deleted

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

// Whether subnormal factors of the format are aligned by the exponents that they have in f16, where
// they are normal.
MMADIFF_HD constexpr bool NormalizesSubnormals(ProductExponent rule, const Format& f) {
  return rule == ProductExponent::kAsF16 && f.min_exponent > kF16.min_exponent;
}

// All inputs of the arithmetic except operands: plain data, passed by value to a GPU kernel.
struct Model {
  Format a, b, c, d;
  int k;  // products per dot product
  Algorithm algorithm;
  Format scale = {};    // kScaledSum only
  int scale_block = 0;  // consecutive k that share a scale, for a and for b; 0: no scales
  // Executions in a chain (sim/chain.h), each with k / executions products; the result of one is
  // the addend of the next.
  int executions = 1;
  int sparse_group = 0;  // consecutive k of A that share a metadata word; 0: not sparse

  MMADIFF_HD constexpr int groups() const { return sparse_group == 0 ? 0 : k / sparse_group; }
  // Scales per row of A and per column of B; they follow its k elements.
  MMADIFF_HD constexpr int scales() const { return scale_block == 0 ? 0 : k / scale_block; }
};

// The model of a single execution in a chain.
MMADIFF_HD constexpr Model OneExecution(const Model& m) {
  Model one = m;
  one.k /= m.executions;
  one.executions = 1;
  return one;
}

}  // namespace mmadiff
