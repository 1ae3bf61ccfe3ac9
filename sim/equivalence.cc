#include "sim/equivalence.h"

#include <algorithm>

#include "sim/absent_addend.h"
#include "sim/format.h"
#include "sim/reading.h"
#include "sim/same_conversion.h"
#include "sim/sparsity.h"
#include "sim/tree/tree.h"

namespace mmadiff {
namespace {

int ScaleLeast(const Model& m) {  // least raw exponent of a scale of A times a scale of B
  return m.scale_block == 0 ? 0 : 2 * LeastExponent(m.scale);
}

int Log2Up(int n) {
  int log = 0;
  while (1 << log < n) ++log;
  return log;
}

// Every sum of a step's products is a multiple of 2^this.
int ProductQuantum(const Model& m) {
  return m.a.min_exponent + m.b.min_exponent - m.a.fraction_bits - m.b.fraction_bits +
         ScaleLeast(m) - 2 * m.scale.fraction_bits;
}

// Every product of finite a, b and scales is below 2^this.
int ProductBound(const Model& m) {
  const int scales = m.scale_block == 0 ? 0 : 2 * MaxExponent(m.scale) + 2;
  return MaxExponent(m.a) + MaxExponent(m.b) + 2 + scales;
}

// The least exponent that a nonzero number of the format contributes to a product's exponent, if
// the product is not normalized.
int LeastOffer(const Model& m, const Format& f) {
  if (m.algorithm.product_exponent != ProductExponent::kAsF16) return f.min_exponent;
  return std::max(f.min_exponent - f.fraction_bits, std::min(f.min_exponent, kF16.min_exponent));
}

// Bounds of the terms of a step and of its result, as exponents of powers of two.
struct Range {
  int least_exponent;  // least exponent that a nonzero term can offer
  int quantum;         // every term is a multiple of 2^quantum, even after it is cut
};

Range RangeOf(const Model& m) {
  const bool scales_alone = m.algorithm.group_exponent == GroupExponent::kScales;
  const int elements = LeastOffer(m, m.a) + LeastOffer(m, m.b);
  const int product = ScaleLeast(m) + (scales_alone ? 0 : elements);
  const int product_quantum = ProductQuantum(m);
  // Steps start from zero, so they add only products and results that are multiples of the same
  // quantum.
  if (m.algorithm.addend_joins != AddendJoins::kFirstStep) return {product, product_quantum};
  int least = std::min(product, m.c.min_exponent);
  const int quantum = std::min(product_quantum, m.c.min_exponent - m.c.fraction_bits);
  if (m.algorithm.terms < m.k) {
    // The addend of a later step has the output's format. It is a multiple of the quantum, because
    // cutting and rounding give multiples of a larger power of two.
    least = std::min(least, std::max(quantum, m.d.min_exponent));
  }
  return {least, quantum};
}

// The largest exponent that a zero product can offer: a zero has the format's least exponent.
int LargestZeroExponent(const Model& m) {
  return std::max(m.a.min_exponent + MaxExponent(m.b), MaxExponent(m.a) + m.b.min_exponent);
}

bool HasOperandExponents(const Model& m) {
  const Algorithm& alg = m.algorithm;
  return (alg.product_exponent != ProductExponent::kNormalized ||
          alg.group_exponent == GroupExponent::kScales) &&
         alg.addend_exponent == AddendExponent::kOwnFormat;
}

bool IsFused(const Model& m) {
  return m.algorithm.family == Family::kFusedSum || m.algorithm.family == Family::kScaledSum;
}

// ---- One function per group of parameters

std::string SameSteps(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  const bool one_step = std::min(changed.terms, m.k) == std::min(alg.terms, m.k);
  if (changed.terms != alg.terms && one_step) return "one step takes all the products";
  if (changed.order != alg.order && m.k == 1) return "a single product has no order";
  if (alg.family == Family::kFusedSum && changed.grouping != alg.grouping && alg.terms >= m.k) {
    return "one step takes all the products";
  }
  return "";
}

bool OnlyGrows(const Model& integers) { return !integers.a.is_signed && !integers.b.is_signed; }

std::string SameIntegers(const Model& m, const Algorithm& changed) {
  if (changed.terms == m.algorithm.terms) return "";
  if (m.algorithm.overflow == Overflow::kWrap) {
    return "an integer sum that wraps is the same in any number of steps";
  }
  return OnlyGrows(m) ? "a sum that only grows never comes back into range" : "";
}

std::string SameFloor(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.exponent_floor == alg.exponent_floor) return "";
  const Range range = RangeOf(m);
  const int floor = std::max(changed.exponent_floor, alg.exponent_floor);
  if (HasOperandExponents(m) && range.least_exponent >= floor) {
    return "every nonzero term is above the floor";
  }
  return range.quantum >= floor - alg.fraction_bits
             ? "no term has bits below those that the floor keeps"
             : "";
}

std::string SameAlignment(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.addend_exponent != alg.addend_exponent && m.c.min_exponent == m.d.min_exponent) {
    return "the addend's and the output's format have the same least exponent";
  }
  if (changed.zero_term != alg.zero_term && alg.family == Family::kFusedSum &&
      HasOperandExponents(m) && RangeOf(m).quantum >= LargestZeroExponent(m) - alg.fraction_bits) {
    return "no zero product has an exponent high enough to cut a bit of another term";
  }
  const auto of_operands = [](ProductExponent e) { return e != ProductExponent::kNormalized; };
  if (changed.product_exponent != alg.product_exponent && of_operands(changed.product_exponent) &&
      of_operands(alg.product_exponent)) {
    if (std::max(m.a.min_exponent, m.b.min_exponent) <= kF16.min_exponent) {
      return "no subnormal operand would be normal in f16";
    }
    if (alg.family == Family::kFusedSum && alg.zero_term == ZeroTerm::kIgnored &&
        RangeOf(m).quantum >= LargestZeroExponent(m) - alg.fraction_bits) {
      return "no product of a subnormal has an exponent high enough to cut a bit of another term";
    }
  }
  if (changed.zero_group != alg.zero_group && alg.group_terms == 1) {
    return "a group of one product adds up to zero only if the product is zero";
  }
  if (changed.product_exponent != alg.product_exponent && alg.family == Family::kScaledSum &&
      alg.group_exponent == GroupExponent::kScales) {
    return "groups are aligned by their scales alone";
  }
  const bool directed =
      alg.sum_rounding != Rounding::kNearestEven && alg.sum_rounding != Rounding::kToOdd;
  if (changed.zero_addend != alg.zero_addend && directed) {
    return "with a zero addend the sum is only rounded to ever coarser units, always in the same "
           "direction";
  }
  return "";
}

std::string SameProducts(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.product_overflow != alg.product_overflow && ProductBound(m) <= MaxExponent(m.d) + 1) {
    return "no product is that large";
  }
  const bool exact = m.a.fraction_bits + m.b.fraction_bits + 1 <= alg.output_fraction_bits &&
                     ProductQuantum(m) >= m.d.min_exponent &&
                     ProductBound(m) <= MaxExponent(m.d) + 1;
  const bool separate = changed.multiply_add != alg.multiply_add && !Propagates(alg.nan_rule) &&
                        alg.addend_subnormals != Subnormals::kFlushPositive;
  return (changed.product_rounding != alg.product_rounding || separate) && exact
             ? "the output format represents every product exactly"
             : "";
}

// Whether every nonzero result is a normal number.
bool ResultsAreNormal(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const bool joins = alg.addend_joins == AddendJoins::kFirstStep;
  if (IsFused(m)) return joins && RangeOf(m).quantum >= m.d.min_exponent;
  // Addends are zero or normal. One that nearly cancels a sum of products is about as large as the
  // sum, so its last place is at most fraction_bits + 1 below the quantum of the products.
  const bool rounds_often = alg.family == Family::kFmaChain || alg.family == Family::kPairwiseSum;
  return rounds_often && alg.addend_subnormals != Subnormals::kKeep &&
         ProductQuantum(m) - m.d.fraction_bits - 1 >= m.d.min_exponent;
}

// If ResultsAreNormal(): whether the sign of a zero sum of products never reaches a result and no
// result is -0.
bool ZerosArePositive(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (alg.output_rounding == Rounding::kDown) return false;
  if (IsFused(m)) return alg.zero_sign == ZeroSign::kPositive;
  // A sum that starts from +0 stays +0 until a product is not zero.
  return alg.addend_joins != AddendJoins::kFirstStep ||
         (alg.family == Family::kPairwiseSum &&
          alg.addend_subnormals == Subnormals::kFlushPositive);
}

// Whether no addend of a kPairwiseSum step is -0. If a +0 addend and a sum give exactly zero, the
// result is +0; a result that is flushed to zero may be -0.
bool AddendsArePositiveZeros(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const bool positive =
      alg.addend_subnormals == Subnormals::kFlushPositive && alg.output_rounding != Rounding::kDown;
  return positive && (alg.terms >= m.k || alg.addend_flush == AddendFlush::kEveryStep ||
                      alg.output_subnormals == Subnormals::kFlushPositive || ResultsAreNormal(m));
}

std::string SameAddendFlush(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.addend_flush == alg.addend_flush) return "";
  if (alg.terms >= m.k) return "one step takes all the products";
  if (alg.addend_subnormals == Subnormals::kKeep) return "no addend is flushed";
  if (alg.output_subnormals != Subnormals::kKeep &&
      (alg.addend_subnormals == Subnormals::kFlush ||
       alg.output_subnormals == Subnormals::kFlushPositive)) {
    return "each step has already flushed its result";
  }
  return ResultsAreNormal(m) && AddendsArePositiveZeros(m)
             ? "the sum that one step hands to the next is never subnormal or -0"
             : "";
}

std::string SameSubnormals(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  const auto drops = [](Subnormals x, Subnormals y) {
    return x == Subnormals::kFlushPositive || y == Subnormals::kFlushPositive;
  };
  if (changed.output_subnormals != alg.output_subnormals && ResultsAreNormal(m)) {
    const bool signs = drops(changed.output_subnormals, alg.output_subnormals);
    if (!signs) return "no result is subnormal";
    if (ZerosArePositive(m)) return "no result is subnormal or -0";
  }
  const bool flushes =
      alg.addend_subnormals != Subnormals::kKeep && changed.addend_subnormals != Subnormals::kKeep;
  if (changed.addend_subnormals != alg.addend_subnormals && flushes && ResultsAreNormal(m) &&
      alg.family == Family::kFmaChain && alg.addend_joins == AddendJoins::kLastAdd &&
      alg.output_rounding != Rounding::kDown) {
    return "the sum that joins the addend is never -0";
  }
  if (changed.input_subnormals != alg.input_subnormals &&
      alg.input_subnormals != Subnormals::kKeep && changed.input_subnormals != Subnormals::kKeep &&
      alg.family == Family::kPairwiseSum && AddendsArePositiveZeros(m)) {
    return "the addend is never -0, so the sign of a zero product does not show";
  }
  return "";
}

std::string SameTininess(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.tininess == alg.tininess) return "";
  if (alg.output_subnormals == Subnormals::kKeep) {
    return "tininess matters only if the output is flushed";
  }
  if (alg.output_rounding == Rounding::kTowardZero || alg.output_rounding == Rounding::kToOdd) {
    return "this rounding never carries into the normal range";
  }
  if (ResultsAreNormal(m)) return "no result is subnormal";
  const bool exact = m.a.fraction_bits + m.b.fraction_bits + 1 <= alg.output_fraction_bits &&
                     alg.output_fraction_bits == m.d.fraction_bits;
  if (alg.family == Family::kPairwiseSum && alg.product_rounding == ProductRounding::kRounded &&
      exact) {
    return "a product has no more digits than the output, and a tiny sum of two outputs is exact";
  }
  return "";
}

std::string SameZeroSign(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  // IEEE 754 requires a negative zero if every term is -0; a step that starts from +0 never has
  // only such terms.
  const bool ieee = (changed.zero_sign == ZeroSign::kIeee || alg.zero_sign == ZeroSign::kIeee) &&
                    alg.addend_joins == AddendJoins::kFirstStep;
  if (changed.zero_sign == alg.zero_sign || ieee) return "";
  const Range range = RangeOf(m);
  const int least_cut = std::max(range.least_exponent, alg.exponent_floor) - alg.fraction_bits;
  const int quantum =
      IsFused(m) && HasOperandExponents(m) ? std::max(range.quantum, least_cut) : range.quantum;
  return quantum >= m.d.min_exponent - alg.output_fraction_bits ? "no nonzero sum rounds to zero"
                                                                : "";
}

// Whether the low `bits` of the addend never reach a result: it is the largest term, or it is cut to
// the bits of a larger one.
bool IsAddendCut(const Model& m, int bits) {
  const Algorithm& alg = m.algorithm;
  return bits > 0 && IsFused(m) && alg.align_rounding == Rounding::kTowardZero &&
         bits <= m.c.ignored_bits + m.c.fraction_bits - alg.fraction_bits;
}

std::string SameReading(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  const bool flushes = alg.input_subnormals != Subnormals::kKeep;
  if (flushes && (FlushesSubnormals(changed.a_reading) || FlushesSubnormals(changed.b_reading))) {
    return "subnormals are flushed anyway";
  }
  if (changed.addend_reading != alg.addend_reading &&
      IsAddendCut(m, BitsCut(changed.addend_reading))) {
    return "alignment cuts these bits of the addend anyway";
  }
  return "";
}

std::string SameOverflow(const Model& m, const Algorithm& changed) {
  const Algorithm& alg = m.algorithm;
  if (changed.range_overflow == alg.range_overflow) return "";
  if (alg.output_rounding == Rounding::kNearestEven) {
    return "under both rules, rounding to nearest overflows to infinity";
  }
  // If the addend has the largest exponent, all products are cut to zero. With a smaller addend, or
  // none, all products together do not reach the largest output.
  if (IsFused(m) && alg.align_rounding == Rounding::kTowardZero &&
      ProductBound(m) + Log2Up(m.k) <= MaxExponent(m.d) - alg.fraction_bits) {
    return "products are too small to carry the largest addend out of range";
  }
  return "";
}

// The neutral addend is a zero, which keeps its sign unless subnormals become +0.
std::string SameWithoutAddend(const Model& m, Algorithm changed) {
  const Algorithm& alg = m.algorithm;
  const auto keeps = [&](const Algorithm& a) {  // and flushes no sum of earlier steps
    const bool alone = a.family == Family::kPairwiseSum
                           ? a.addend_flush == AddendFlush::kAtEntry
                           : m.k == 1 && a.addend_joins == AddendJoins::kFirstStep;
    return alone && a.addend_subnormals != Subnormals::kFlushPositive;
  };
  if (!keeps(alg) || !keeps(changed)) return "";
  changed.addend_subnormals = alg.addend_subnormals;
  return changed == alg ? "there is no addend to flush" : "";
}

std::string WhySameTree(const Model& m, const Algorithm& changed) {
  Model other = m;
  other.algorithm = changed;
  const Tree before = NormalTree(*m.algorithm.tree, m), after = NormalTree(*changed.tree, m);
  const bool same = before.nodes == after.nodes && before.code == after.code &&
                    SameReadings(m, other) && m.algorithm.bit_operation == changed.bit_operation;
  return same ? "no words of these formats make it act" : "";
}

// For a model with readings: proofs hold for the words that are read.
std::string WhyEquivalentRead(const Model& m, const Algorithm& changed) {
  Model other = m;
  other.algorithm = changed;
  if (!SameReadings(m, other)) return "";
  return WhyEquivalent(WithoutReadings(m), WithoutReadings(other).algorithm);
}

// Whether sums do not depend on the order of the products of a step, and on +0 among them.
bool IgnoresOrderAndZeros(const Model& selected) {
  const Algorithm& alg = selected.algorithm;
  if (alg.family == Family::kIntegerDot) return true;
  const bool aligned = alg.family == Family::kFusedSum || alg.family == Family::kExactSum ||
                       alg.family == Family::kTwoStageSum;
  return aligned && alg.grouping == Grouping::kConsecutive && alg.zero_term == ZeroTerm::kIgnored &&
         alg.zero_sign != ZeroSign::kIeee;
}

// The first of the selections that give the same results.
Selection FirstAlike(const Model& m) {
  const Model selected = SelectedModel(m);
  const Selection selection = m.algorithm.selection;
  const bool ignores = IgnoresOrderAndZeros(selected);
  const bool integers = m.algorithm.family == Family::kIntegerDot;
  const bool any_steps = integers && (m.algorithm.overflow == Overflow::kWrap || OnlyGrows(m));
  const bool any_order = ignores && (m.algorithm.terms >= m.k / 2 || any_steps);
  switch (selection) {
    case Selection::kStored:
      return selection;
    case Selection::kFirstsThenSeconds:
      return m.sparse_group < 4 || any_order ? Selection::kStored : selection;
    case Selection::kInPlace:
    case Selection::kZerosInPlace:
      break;
  }
  // Steps of whole groups have the same products as in ascending k.
  const bool same_steps = any_order || 2 * m.algorithm.terms % m.sparse_group == 0;
  const bool numbers = integers || m.b.nonfinite == Nonfinite::kNone;
  const bool zeros = selection == Selection::kZerosInPlace || numbers;
  return ignores && same_steps && zeros ? Selection::kStored : selection;
}

std::string WhyEquivalentSparse(const Model& m, const Algorithm& changed) {
  Model other = m;
  other.algorithm = changed;
  if (changed.selection == m.algorithm.selection) {
    return WhyEquivalent(SelectedModel(m), SelectedModel(other).algorithm);
  }
  return FirstAlike(m) == FirstAlike(other)
             ? "neither the order of a step's products nor zeros among them change its sum"
             : "";
}

}  // namespace

std::string WhyEquivalent(const Model& m, const Algorithm& changed) {
  if (IsSparse(m)) return WhyEquivalentSparse(m, changed);
  if (HasReadings(m)) return WhyEquivalentRead(m, changed);
  if (HasNoAddend(m)) {
    const std::string why = SameWithoutAddend(m, changed);
    return why.empty() ? WhyEquivalent(WithNeutralAddend(m), changed) : why;
  }
  if (m.algorithm.family == Family::kConversion) return WhySameConversion(m, changed);
  if (m.algorithm.family == Family::kTree) return WhySameTree(m, changed);
  if (m.algorithm.family == Family::kIntegerDot) {
    const std::string steps = SameSteps(m, changed);
    return steps.empty() ? SameIntegers(m, changed) : steps;
  }
  for (const auto& same :
       {SameReading, SameSteps, SameFloor, SameAlignment, SameProducts, SameSubnormals,
        SameAddendFlush, SameTininess, SameZeroSign, SameOverflow}) {
    if (std::string why = same(m, changed); !why.empty()) return why;
  }
  return "";
}

}  // namespace mmadiff
