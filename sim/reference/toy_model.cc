#include "sim/reference/toy_model.h"

#include <bit>
#include <iterator>

#include "sim/parameter.h"
#include "sim/reading.h"
#include "sim/reference/random_word.h"

namespace mmadiff::reference {
namespace {

constexpr Nonfinite kIeee = Nonfinite::kIeee;
constexpr Nonfinite kNan = Nonfinite::kNanAllOnes;
constexpr Nonfinite kNone = Nonfinite::kNone;
constexpr Format kToy = {"1-2-1", 4, 2, 1, 0, 0, kIeee, true};
constexpr Format kLow = {"1-2-1 low", 4, 2, 1, -1, 0, kIeee, true};
constexpr Format kPower = {"1-2-0", 3, 2, 0, 0, 0, kIeee, true};  // no NaN, no subnormals
constexpr Format kPadded = {"1-2-1 padded", 6, 2, 1, 0, 2, kIeee, true};
constexpr Format kAllBits = {"1-2-1 all bits", 5, 2, 1, 0, 1, Nonfinite::kIeeeAllBits, true};
constexpr Format kNanOnly = {"1-2-1 no infinity", 4, 2, 1, 0, 0, kNan, true};
constexpr Format kMinusZeroNan = {"1-2-1 fnuz", 4, 2, 1, 0, 0, Nonfinite::kNanMinusZero, true};
// An operand of conversions, with more digits and a wider range than their results.
constexpr Format kWideToy = {"1-5-8", 14, 5, 8, -14, 0, kIeee, true};
constexpr Format kShifted = {"1-3-1", 5, 3, 1, -4, 0, kIeee, true};
// Finite: 0, 1, 2, 4; 0, 1/2, 1, 3/2; 0, 1/2.
constexpr Format kFinitePower = {"1-2-0 finite", 3, 2, 0, 0, 0, kNone, true};
constexpr Format kFinite = {"1-1-1 finite", 3, 1, 1, 0, 0, kNone, true};
constexpr Format kFiniteHalf = {"1-1-0 finite", 2, 1, 0, -1, 0, kNone, true};
constexpr Format kFloats[] = {kToy,     kPower,        kPadded,  kAllBits,
                              kNanOnly, kMinusZeroNan, kShifted, kFinite};
// Outputs. The first is normal from 4 to 14: sums of toy products, which are multiples of 1/4 up to
// 18, become subnormal, round up to normal, and overflow. The last overflows at 8.
constexpr Format kHigh = {"1-2-2 high", 5, 2, 2, 2, 0, kIeee, true};
constexpr Format kWide = {"1-3-2", 6, 3, 2, -2, 0, kIeee, true};
constexpr Format kMiddle = {"1-2-2", 5, 2, 2, 1, 0, kIeee, true};
constexpr Format kOut[] = {kHigh, kWide, kMiddle};
// Scales: with 0, 1, 2 and NaN; without a zero; with a subnormal and an ignored bit.
constexpr Format kScale = {"0-1-1", 2, 1, 1, 1, 0, kNan, false};
constexpr Format kPowerScale = {"0-2-0", 2, 2, 0, 0, 0, kNan, false, false};
constexpr Format kWideScale = {"0-2-1", 4, 2, 1, -1, 0, kNan, false};
constexpr Format kScales[] = {kScale, kPowerScale, kWideScale};
constexpr Format kConverted[] = {kToy,          kPadded,  kAllBits, kNanOnly,
                                 kMinusZeroNan, kShifted, kFinite,  kHigh};
constexpr Format kS5 = {"s5", 5, 0, 0, 0, 0, kNone, true};
constexpr Format kS3 = {"s3", 3, 0, 0, 0, 0, kNone, true};
constexpr Format kU3 = {"u3", 3, 0, 0, 0, 0, kNone, false};
constexpr Format kS2 = {"s2", 2, 0, 0, 0, 0, kNone, true};
constexpr Format kBit = {"u1", 1, 0, 0, 0, 0, kNone, false};
constexpr Format kIntegers[] = {kS3, kU3, kS2, kBit};

template <size_t count>
const Format& OneOf(const Format (&formats)[count], Random& random) {
  return formats[random() % count];
}

Model WithOtherIntegers(Model m, Random& random) {
  m.k = Between(random, 1, 3);
  if (m.algorithm.bit_operation == BitOperation::kXor) return m;
  m.a = OneOf(kIntegers, random);
  m.b = OneOf(kIntegers, random);
  return m;
}

}  // namespace

Model ToyModel(Family family) {
  const Algorithm algorithm = {.family = family,
                               .terms = 2,
                               .fraction_bits = 4,
                               .sum_fraction_bits = 3,
                               .output_fraction_bits = 2};
  switch (family) {
    case Family::kFmaChain:
      return {kLow, kPower, kHigh, kHigh, 2, algorithm};
    case Family::kFusedSum:
      return {kLow, kPower, kToy, kMiddle, 2, algorithm};
    case Family::kExactSum:
      return {kToy, kFinitePower, kToy, kMiddle, 2, algorithm};
    case Family::kScaledSum:
      return {kFinite, kFiniteHalf, kToy, kMiddle, 2, algorithm, kScale, 2};
    case Family::kIntegerDot:
      return {kS3, kS2, kS5, kS5, 2, algorithm};
    case Family::kPairwiseSum:
    case Family::kTwoStageSum:
      return {kToy, kFinitePower, kMiddle, kMiddle, 2, algorithm};
    case Family::kConversion:
      return {kWideToy, kAbsent, kAbsent, kToy, 1, algorithm};
    case Family::kTree:
    case Family::kNone:
      break;
  }
  std::abort();
}

Model ToyModelOf(const Algorithm& algorithm) {
  Model m = ToyModel(algorithm.family);
  m.algorithm = algorithm;
  if (algorithm.bit_operation == BitOperation::kXor) m.a = m.b = kBit;
  if (algorithm.addend_joins != AddendJoins::kFirstStep) m.c = m.d;
  return m;
}

namespace {

Model OfOtherFormats(const Model& model, Random& random) {
  const Family family = model.algorithm.family;
  if (family == Family::kIntegerDot) return WithOtherIntegers(model, random);
  Model m = model;
  if (family == Family::kConversion) {
    m.a = OneOf(kFloats, random);
    m.d = OneIn(random, 4) ? OneOf(kScales, random) : OneOf(kConverted, random);
    return m;
  }
  m.k = Between(random, 1, 3);
  m.a = OneOf(kFloats, random);
  m.b = OneOf(kFloats, random);
  m.d = m.c = OneOf(kOut, random);
  const bool any_addend =
      family == Family::kExactSum || family == Family::kScaledSum ||
      (family == Family::kFusedSum && m.algorithm.addend_joins == AddendJoins::kFirstStep);
  if (any_addend && OneIn(random, 2)) m.c = kToy;
  if (m.algorithm.grouping == Grouping::kPairsOfFour) m.k = 4 * Between(random, 1, 2);
  if (m.algorithm.addend_joins == AddendJoins::kStepsApart)
    m.k = std::max(m.k, m.algorithm.terms + 1);
  if (family == Family::kPairwiseSum) {
    if (OneIn(random, 3)) m.algorithm.terms = 4;  // a tree of two levels
    m.k = m.algorithm.terms * Between(random, 1, 2);
  }
  if (family == Family::kScaledSum) {
    m.scale = OneOf(kScales, random);
    m.scale_block = m.algorithm.group_terms * Between(random, 1, 2);
    m.k = m.scale_block * Between(random, 1, 2);
  }
  // Two products in each of two groups.
  if (family == Family::kTwoStageSum && OneIn(random, 2)) m.algorithm.terms = m.k = 4;
  return m;
}

}  // namespace

Model WithOtherFormats(const Model& model, Random& random) {
  Model m = OfOtherFormats(model, random);
  const bool as_they_are = OneIn(random, 2);
  for (const Parameter& p : Parameters()) {
    const bool reads = IsReading(p) && FindParameter(m.algorithm.family, p.name) == &p;
    if (!reads || as_they_are || OneIn(random, 2)) continue;
    const auto operand = static_cast<ReadOperand>(std::countr_zero(p.operands));
    const std::vector<Reading> readings = ReadingsOf(FormatOf(m, operand), false);
    if (readings.empty()) continue;
    Model changed = m;
    p.set(changed.algorithm, static_cast<int>(readings[random() % readings.size()]));
    if (WhyInvalid(changed).empty()) m = changed;
  }
  return m;
}

}  // namespace mmadiff::reference
