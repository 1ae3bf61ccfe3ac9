// Conversions: known words, every operand of narrow formats against the reference, and the proofs
// that two conversions are the same.
#include "sim/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/equivalence.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr Family kFamily = Family::kConversion;

Model ModelOf(const Format& a, const Format& d, Algorithm algorithm = {}) {
  algorithm.family = kFamily;
  return {a, kAbsent, kAbsent, d, 1, algorithm};
}

uint64_t Convert(const Model& m, uint64_t a) { return Simulate(m, DotProductCase{{a}, {0}, 0}); }

std::vector<const Format*> Floats() {
  std::vector<const Format*> floats;
  for (const Format* f : kFormats) {
    if (!IsInteger(*f)) floats.push_back(f);
  }
  return floats;
}

// Formats whose words are few enough to try all.
std::vector<const Format*> NarrowFloats(int most_bits) {
  std::vector<const Format*> narrow = Floats();
  std::erase_if(narrow, [&](const Format* f) { return f->bits > most_bits; });
  return narrow;
}

// Algorithms that together have every value of every parameter.
std::vector<Algorithm> SomeAlgorithms() {
  const Algorithm plain = {.family = kFamily};
  std::vector<Algorithm> some = {plain};
  for (const Parameter& p : Parameters()) {
    if (FindParameter(Family::kConversion, p.name) == nullptr || IsReading(p)) continue;
    for (size_t value = 0; value < p.values.size(); ++value) {
      Algorithm changed = some[value % some.size()];
      p.set(changed, static_cast<int>(value));
      if (WhyInvalid(ModelOf(kF32, kF16, changed)).empty()) some.push_back(changed);
    }
  }
  return some;
}

// Words of OCP OFP8 and MX v1.0 that can be looked up: the largest numbers, halfway points, and what
// lies beyond.
TEST(Conversion, GivesKnownWords) {
  const Model e4m3 = ModelOf(kF32, kE4m3), e5m2 = ModelOf(kF32, kE5m2);
  EXPECT_EQ(Convert(e4m3, 0x43e80000), 0x7eu);  // 464, halfway to 480: even
  EXPECT_EQ(Convert(e4m3, 0x43e88000), 0x7fu);  // 465
  EXPECT_EQ(Convert(e4m3, 0x7f800000), 0x7fu);  // infinity
  EXPECT_EQ(Convert(e4m3, 0xff800000), 0x7fu);  // the sign of a NaN is not kept
  EXPECT_EQ(Convert(e4m3, 0x3a800000), 0x00u);  // 2^-10, half the smallest subnormal
  EXPECT_EQ(Convert(e4m3, 0x3a800001), 0x01u);
  EXPECT_EQ(Convert(e5m2, 0x476fffff), 0x7bu);  // just below 61440
  EXPECT_EQ(Convert(e5m2, 0x47700000), 0x7cu);
  const Model saturating =
      ModelOf(kF32, kE4m3, {.family = kFamily, .saturation = Saturation::kAll});
  EXPECT_EQ(Convert(saturating, 0xff800000), 0xfeu);
  const Model numbers =
      ModelOf(kF32, kE5m2, {.family = kFamily, .saturation = Saturation::kNumbers});
  EXPECT_EQ(Convert(numbers, 0x7f7fffff), 0x7bu);
  EXPECT_EQ(Convert(numbers, 0x7f800000), 0x7cu);
  const Model e2m1 = ModelOf(kF32, kE2m1);
  EXPECT_EQ(Convert(e2m1, 0xc0a00000), 0xeu);  // -5, halfway between -4 and -6
  EXPECT_EQ(Convert(e2m1, 0x7fc00000), 0x7u);  // a NaN becomes 6
  EXPECT_EQ(Convert(e2m1, 0x3e800000), 0x0u);  // 0.25
  const Model fnuz = ModelOf(kF32, kE4m3fnuz);
  EXPECT_EQ(Convert(fnuz, 0x80000000), 0x00u);  // there is no -0
  EXPECT_EQ(Convert(fnuz, 0x80000001), 0x00u);
  EXPECT_EQ(Convert(fnuz, 0x7fc00000), 0x80u);
}

// The smallest number of a format without a zero, in every direction; the magnitude of a negative
// operand.
TEST(Conversion, RoundsToPowersOfTwo) {
  const Model down =
      ModelOf(kF32, kUe8m0, {.family = kFamily, .output_rounding = Rounding::kTowardZero});
  const Model up = ModelOf(kF32, kUe8m0, {.family = kFamily, .output_rounding = Rounding::kUp});
  EXPECT_EQ(Convert(down, 0x40400000), 0x80u);
  EXPECT_EQ(Convert(up, 0x40400000), 0x81u);
  EXPECT_EQ(Convert(up, 0xc0400000), 0x81u);
  for (const Model& m : {down, up}) {
    EXPECT_EQ(Convert(m, 0), 0x00u);
    EXPECT_EQ(Convert(m, 1), 0x00u);
    EXPECT_EQ(Convert(m, 0x00400000), 0x00u);  // 2^-127
    EXPECT_EQ(Convert(m, 0x7fc00000), 0xffu);
    EXPECT_EQ(Convert(m, 0x7f800000), 0xffu);
  }
  EXPECT_EQ(Convert(down, 0x00400001), 0x00u);
  EXPECT_EQ(Convert(up, 0x00400001), 0x01u);
  EXPECT_EQ(Convert(down, 0x7f7fffff), 0xfeu);
  EXPECT_EQ(Convert(up, 0x7f7fffff), 0xffu);
}

TEST(Conversion, DecidesTiesAsItsParameterSays) {
  const Model away = ModelOf(kF32, kTf32, {.family = kFamily, .ties = Ties::kAway}),
              even = ModelOf(kF32, kTf32);
  EXPECT_EQ(Convert(away, 0x3f801000), 0x3f802000u);
  EXPECT_EQ(Convert(even, 0x3f801000), 0x3f800000u);
  EXPECT_EQ(Convert(away, 0xbf801000), 0xbf802000u);
  EXPECT_EQ(Convert(away, 0x3f800fff), 0x3f800000u);
}

TEST(Conversion, KeepsPayloadsOnlyIfItPropagates) {
  const Model m = ModelOf(kF32, kF16, {.family = kFamily, .nan_rule = NanRule::kPropagate});
  EXPECT_EQ(Convert(m, 0xff802000), 0xfe01u);
  EXPECT_EQ(Convert(m, 0x7f800001), 0x7e00u);
  EXPECT_EQ(Convert(ModelOf(kF32, kF16), 0xff802000), 0x7fffu);
}

// Every operand of every narrow format, in every output format.
TEST(Conversion, AgreesWithTheReferenceOnEveryNarrowOperand) {
  const std::vector<Algorithm> algorithms = SomeAlgorithms();
  for (const Format* a : NarrowFloats(8)) {
    for (const Format* d : Floats()) {
      for (const Algorithm& algorithm : algorithms) {
        const Model m = ModelOf(*a, *d, algorithm);
        for (uint64_t word = 0; word >> a->bits == 0; ++word) {
          ASSERT_EQ(reference::Disagreement(m, {{word}, {0}, 0}), "") << a->name << " " << d->name;
        }
      }
    }
  }
}

// Every 16-bit operand of every modelled conversion.
TEST(Conversion, AgreesWithTheReferenceOnEvery16BitOperandOfTheTable) {
  for (const Operation* op : DistinctOperations()) {
    const Model& m = op->model;
    if (m.algorithm.family != Family::kConversion || m.a.bits != 16) continue;
    for (uint64_t word = 0; word >> 16 == 0; ++word) {
      ASSERT_EQ(reference::Disagreement(m, {{word}, {0}, 0}), "") << op->name;
    }
  }
}

TEST(Conversion, AgreesWithTheReferenceOnWideOperands) {
  reference::Random random(1);
  const std::vector<Algorithm> algorithms = SomeAlgorithms();
  for (const Format* a : Floats()) {
    for (const Format* d : Floats()) {
      for (int i = 0; i < 2000; ++i) {
        const Model m = ModelOf(*a, *d, algorithms[i % algorithms.size()]);
        ASSERT_EQ(reference::Disagreement(m, reference::RandomDot(m, random)), "")
            << a->name << " " << d->name;
      }
    }
  }
}

// For every change of one parameter: it is called the same exactly if every operand agrees.
TEST(Conversion, ProofsAreExact) {
  int same = 0, different = 0;
  for (const Format* a : NarrowFloats(8)) {
    for (const Format* d : Floats()) {
      for (const Algorithm& algorithm : SomeAlgorithms()) {
        const Model m = ModelOf(*a, *d, algorithm);
        std::vector<Change> fields = AlgorithmFields(algorithm);
        fields.push_back({FindParameter(kFamily, "a_reading"), 0});
        for (const Change& field : fields) {
          for (const int value : OtherValues(*field.parameter, field.value)) {
            const Change change = {field.parameter, value};
            Model other = m;
            other.algorithm = WithChanges(algorithm, {&change, 1});
            if (!WhyInvalid(other).empty()) continue;
            bool agree = true;
            for (uint64_t w = 0; agree && w >> a->bits == 0; ++w)
              agree = Convert(m, w) == Convert(other, w);
            ASSERT_EQ(WhyEquivalent(m, other.algorithm).empty(), !agree)
                << a->name << " to " << d->name << ", " << Describe(algorithm) << ", "
                << Name(change);
            ++(agree ? same : different);
          }
        }
      }
    }
  }
  EXPECT_GT(same, 1000);
  EXPECT_GT(different, 1000);
}

// The same for f16 and bf16, with every 16-bit word, for the changes of plain conversions.
TEST(Conversion, ProofsAreExactFor16Bits) {
  for (const Format* a : {&kF16, &kBf16}) {
    for (const Format* d : Floats()) {
      const Model m = ModelOf(*a, *d);
      std::vector<Change> fields = AlgorithmFields(m.algorithm);
      fields.push_back({FindParameter(kFamily, "a_reading"), 0});
      for (const Change& field : fields) {
        for (const int value : OtherValues(*field.parameter, field.value)) {
          const Change change = {field.parameter, value};
          Model other = m;
          other.algorithm = WithChanges(m.algorithm, {&change, 1});
          if (!WhyInvalid(other).empty()) continue;
          bool agree = true;
          for (uint64_t w = 0; agree && w >> 16 == 0; ++w)
            agree = Convert(m, w) == Convert(other, w);
          EXPECT_EQ(WhyEquivalent(m, other.algorithm).empty(), !agree)
              << a->name << " to " << d->name << ", " << Name(change);
        }
      }
    }
  }
}

TEST(Conversion, RejectsOtherShapes) {
  Model m = ModelOf(kF32, kF16);
  EXPECT_EQ(WhyInvalid(m), "");
  m.k = 2;
  EXPECT_EQ(WhyInvalid(m), "a conversion has k = 1");
  m = ModelOf(kF32, kF16);
  m.b = kF32;
  EXPECT_EQ(WhyInvalid(m), "a conversion has no operands b and c");
  EXPECT_EQ(WhyInvalid(ModelOf(kS8, kF16)), "conversion needs floating-point formats");
  m = ModelOf(kF32, kF32);
  m.algorithm = {.family = Family::kFmaChain, .output_fraction_bits = 23};
  EXPECT_EQ(WhyInvalid(m), "only c can be absent, or both b and c of a conversion");
}

}  // namespace
}  // namespace mmadiff
