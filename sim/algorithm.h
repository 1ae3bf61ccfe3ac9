// What an instruction computes, as data: an algorithm is a family and a handful of small numbers.
// One step joins `terms` products and one addend; the result of a step is the addend of the next.
#pragma once

#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

enum class Family : uint8_t {
  kFmaChain,    // d = fma(a_k, b_k, d), one rounding per product
  kFusedSum,    // products and addend aligned to one exponent, cut, added exactly, rounded once
  kIntegerDot,  // exact integer sum, reduced to the output once per step
};

enum class Rounding : uint8_t { kNearestEven, kTowardZero, kDown, kUp, kToOdd };
enum class Order : uint8_t { kAscending, kDescending };  // of k
// Exponent of a product: the sum of the operands' exponents, or floor(log2 |product|).
enum class ProductExponent : uint8_t { kRaw, kNormalized };
// A zero product either leaves the alignment exponent alone or raises it by its exponent fields.
enum class ZeroTerm : uint8_t { kIgnored, kRaises };
// Exponent of a subnormal addend: its own format's minimum, or normalised to the output format.
enum class AddendExponent : uint8_t { kOwnFormat, kOutputFormat };
enum class Subnormals : uint8_t { kKeep, kFlush };  // flush: to zero of the same sign
// Where a flushing output decides that a result is tiny.
enum class Tininess : uint8_t { kBeforeRounding, kAfterRounding };
enum class NanRule : uint8_t {
  kAllOnes,        // one canonical NaN: sign 0, all other bits 1 (NVIDIA)
  kQuietPositive,  // one canonical NaN: sign 0, quiet bit only (Arm default NaN)
  kPropagate,  // first NaN of (a, b, addend), quieted; invalid gives the negative quiet NaN (x86)
};
enum class ZeroSign : uint8_t {
  kPositive,     // every zero result is +0
  kSumPositive,  // an exact sum of zero is +0; a nonzero sum that rounds to zero keeps its sign
  kIeee,         // -0 when the addend and every product are -0 before alignment
};
// Which k a step of a fused sum takes.
enum class Grouping : uint8_t {
  kConsecutive,
  kPairsOfFour,  // first every k with k mod 4 in {0, 1}, then the others; k must be a multiple of 4
};
enum class AddendJoins : uint8_t {
  kFirstStep,
  kLastAdd,  // steps start from +0; the addend comes last, in an IEEE addition to nearest even
};
enum class Overflow : uint8_t { kWrap, kSaturate };  // of integers

// "No floor": below the exponent of every product of two supported formats.
inline constexpr int kNoFloor = -10000;

// Largest k of a model; longer ones are refused (Invalid() of sim/parameter.h).
inline constexpr int kMaxK = 256;

struct Algorithm {
  Family family;
  int terms = 1;  // products per step, 1..1024; k must be a multiple, or less than it
  Order order = Order::kAscending;
  Grouping grouping = Grouping::kConsecutive;
  AddendJoins addend_joins = AddendJoins::kFirstStep;
  int fraction_bits = 0;          // kept below the alignment exponent, 1..37
  int exponent_floor = kNoFloor;  // least alignment exponent
  ProductExponent product_exponent = ProductExponent::kRaw;
  ZeroTerm zero_term = ZeroTerm::kIgnored;
  AddendExponent addend_exponent = AddendExponent::kOwnFormat;
  Rounding align_rounding = Rounding::kTowardZero;
  Rounding output_rounding = Rounding::kNearestEven;
  int output_fraction_bits = 0;  // significand bits of the result after the leading one
  Subnormals input_subnormals = Subnormals::kKeep;
  Subnormals output_subnormals = Subnormals::kKeep;
  Tininess tininess = Tininess::kAfterRounding;
  NanRule nan_rule = NanRule::kAllOnes;
  ZeroSign zero_sign = ZeroSign::kIeee;
  Overflow overflow = Overflow::kWrap;

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

// Everything the arithmetic reads: plain data, passed by value to a GPU kernel.
struct Model {
  Format a, b, c, d;
  int k;  // products per dot product
  Algorithm algorithm;
};

}  // namespace mmadiff
