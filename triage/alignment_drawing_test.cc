// What is drawn is what the arithmetic did: the parts of a bar make its product, the kept parts the sum.
#include "triage/alignment_drawing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "corpus/cases/case_name.h"
#include "gtest/gtest.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/stages.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

std::vector<DotProductCase> Cases(const Operation& op) {
  std::vector<DotProductCase> dots;
  Batch batch;
  for (uint64_t i = 0; i < 60; ++i) {
    Generate({&op, &Strategies().front()}, i, 1, batch);
    dots.push_back(Extract(batch, i % batch.dot_products()));
  }
  return dots;
}

// The exact product of two elements, without scales.
__int128 Product(const Model& m, const DotProductCase& dot, int k, int lsb) {
  const Unpacked a = Decode(m.a, dot.a[k]), b = Decode(m.b, dot.b[k]);
  const int own = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
  EXPECT_EQ(own, lsb);
  const auto magnitude = static_cast<__int128>(a.significand) * b.significand;
  return a.negative != b.negative ? -magnitude : magnitude;
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

void CheckTerm(const Operation& op, const AlignedTerm& t) {
  // Kept is the exact number rounded to a multiple of its unit: less than one unit away.
  const int up = t.lsb - t.kept_lsb;
  if (up >= 0) {
    ASSERT_LT(up, 100) << op.name;
    EXPECT_TRUE(t.magnitude << up == t.kept) << op.name;
  } else if (up > -120) {
    const unsigned __int128 unit = static_cast<unsigned __int128>(1) << -up;
    const unsigned __int128 floor = t.magnitude / unit;
    EXPECT_TRUE(t.kept == floor || t.kept == floor + 1) << op.name;
    EXPECT_TRUE(t.magnitude % unit != 0 || t.kept == floor) << op.name;
  } else {
    EXPECT_TRUE(t.kept <= 1) << op.name;
  }
}

// (-1)^negative * magnitude * 2^lsb in units of 2^unit; nothing if it does not fit.
std::optional<__int128> Units(bool negative, unsigned __int128 magnitude, int lsb, int unit) {
  if (magnitude == 0) return 0;
  while ((magnitude & 1) == 0) {
    magnitude >>= 1;
    ++lsb;
  }
  const int up = lsb - unit;
  if (up < 0 || up > 60 || magnitude >> 64 != 0) return std::nullopt;
  const auto units = static_cast<__int128>(magnitude << up);
  return negative ? -units : units;
}

// What was kept of the terms is the sum that they are said to have; whether that could be checked.
bool CheckSum(const Operation& op, const AlignedStep& step) {
  if (step.sums.empty()) return false;
  const DrawnSum& sum = step.sums.front();
  int unit = sum.magnitude == 0 ? 1000 : sum.lsb;
  for (const AlignedTerm& t : step.terms) unit = std::min(unit, t.kept_lsb);
  __int128 total = 0;
  for (const AlignedTerm& t : step.terms) {
    if (sum.of_products && t.k < 0) continue;
    const std::optional<__int128> units = Units(t.negative, t.kept, t.kept_lsb, unit);
    if (!units) return false;
    total += *units;
  }
  const std::optional<__int128> told = Units(sum.negative, sum.magnitude, sum.lsb, unit);
  if (!told) return false;
  if (total == *told) return true;
  // Of a term far below the last bit is sticky: it says that there is more.
  const __int128 apart = total > *told ? total - *told : *told - total;
  EXPECT_TRUE((sum.magnitude & 1) == 1 && apart < static_cast<__int128>(1) << (sum.lsb - unit))
      << op.name;
  return true;
}

TEST(AlignmentDrawingTest, IsWhatTheArithmeticDid) {
  std::map<Family, int> steps_of, sums_of;
  for (const Operation* op : DistinctOperations()) {
    const Model& m = op->model;
    const Family family = m.algorithm.family;
    for (const DotProductCase& dot : Cases(*op)) {
      for (const AlignedStep& step : AlignedSteps(m, dot)) {
        ++steps_of[family];
        ASSERT_FALSE(step.terms.empty());
        for (const AlignedTerm& t : step.terms) {
          const bool flushed = family == Family::kPairwiseSum && t.kept == 0;
          if (!flushed) CheckTerm(*op, t);
          if (family == Family::kScaledSum || t.k < 0) continue;
          const auto exact = static_cast<__int128>(t.magnitude);
          EXPECT_TRUE(Product(m, dot, t.k, t.lsb) == (t.negative ? -exact : exact)) << op->name;
        }
        // Even and odd k are cut once more where they join.
        const bool apart =
            family == Family::kTwoStageSum && m.algorithm.grouping == Grouping::kEvenOdd;
        if (!apart) sums_of[family] += CheckSum(*op, step);
      }
    }
  }
  for (int f = 0; f < kFamilyCount; ++f) {
    const auto family = static_cast<Family>(f);
    if (family == Family::kIntegerDot || family == Family::kConversion) {
      EXPECT_EQ(steps_of.count(family), 0u);
      continue;
    }
    EXPECT_GT(steps_of[family], 100) << Name(family);
    EXPECT_GT(sums_of[family], steps_of[family] / 4) << Name(family);
  }
}

// The axis ends where the numbers do: nothing has no exponent.
TEST(AlignmentDrawingTest, AxisOfAFewNumbers) {
  for (const Operation* op : DistinctOperations()) {
    if (IsInteger(op->model.a) || op->model.algorithm.family == Family::kTree) continue;
    DotProductCase dot = NeutralDotProduct(op->model);
    uint64_t one_a = 0, one_b = 0;
    if (!EncodePowerOfTwo(op->model.a, false, 0, &one_a) ||
        !EncodePowerOfTwo(op->model.b, false, 0, &one_b))
      continue;
    dot.a[0] = one_a;
    dot.b[0] = one_b;
    ASSERT_TRUE(EncodePowerOfTwo(op->model.c, true, -10, &dot.c));
    const std::string text = AlignmentText(op->model, dot, {});
    EXPECT_FALSE(text.empty()) << op->name;
    EXPECT_EQ(text.find("do not fit"), std::string::npos) << op->name << text;
  }
}

TEST(AlignmentDrawingTest, Text) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  DotProductCase dot = {std::vector<uint64_t>(16), std::vector<uint64_t>(16), 0xb3000000};
  dot.a[0] = dot.b[0] = 0x3c00;
  EXPECT_EQ(AlignmentText(op.model, dot, {}),
            "step 0: bits from 2^0 to 2^-25; cut: x is 1, . is 0\n"
            "  k=0    1\n"
            "  c    -                          1\n"
            "  sum     111111111111111111111111x  1 bit cut\n"
            "  result 0x3f7fffff = 1 - 2^-24\n");
}

TEST(AlignmentDrawingTest, CutBitsAndWidth) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  DotProductCase dot = {std::vector<uint64_t>(8), std::vector<uint64_t>(8), 0x33ffffff};
  dot.a[0] = dot.b[0] = 0x3f80;
  const std::string text = AlignmentText(op.model, dot, {});
  EXPECT_NE(text.find("xxxx"), std::string::npos) << text;
  for (const Operation* each : DistinctOperations()) {
    for (const DotProductCase& wide : Cases(*each)) {
      const std::string narrow = AlignmentText(each->model, wide, {.width = 60});
      for (size_t begin = 0, end; (end = narrow.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        EXPECT_LE(end - begin, 60u) << narrow.substr(begin, end - begin);
      }
    }
  }
}

// What a sum does not keep is counted down to the last bit that was added, and no bar is shorter than nothing.
TEST(AlignmentDrawingTest, DistantTerms) {
  const auto svg = [](const char* name, uint64_t a, uint64_t b, uint64_t c) {
    const Operation& op = *FindOperation(name);
    DotProductCase dot = NeutralDotProduct(op.model);
    dot.a[0] = a;
    dot.b[0] = b;
    dot.c = c;
    return AlignmentSvg({{"", op.model}}, dot);
  };
  // 2^-1000 x 2^-40 + 1.0: from 2^-53 to 2^-1040.
  const std::string fma =
      svg("x86/vfmadd231sd", 0x0170000000000000, 0x3d70000000000000, 0x3ff0000000000000);
  EXPECT_THAT(fma, testing::HasSubstr("988 cut"));
  // 1.0 x 1.0 is all cut beside 2^120.
  const std::string lost = svg("gfx942/v_mfma_f32_16x16x16_f16", 0x3c00, 0x3c00, 0x7b800000);
  EXPECT_THAT(lost, testing::HasSubstr("a&#183;b</text>"));
  EXPECT_THAT(lost, testing::HasSubstr(", 1 cut"));
  for (const std::string& text : {fma, lost}) EXPECT_EQ(Count(text, "width=\"-"), 0) << text;
}

TEST(AlignmentDrawingTest, Svg) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  for (const DotProductCase& dot : Cases(op)) {
    const std::string svg = AlignmentSvg({{"<a> & 'b'", op.model}}, dot);
    int terms = 0;
    for (const AlignedStep& step : AlignedSteps(op.model, dot)) {
      terms += static_cast<int>(step.terms.size() + step.sums.size());
    }
    EXPECT_EQ(Count(svg, "class=\"bar\""), terms);
    EXPECT_EQ(Count(svg, "<text"), Count(svg, "</text>"));
    EXPECT_EQ(Count(svg, "<g"), Count(svg, "</g>"));
    EXPECT_EQ(Count(svg, "<a>"), 0);
  }
}

}  // namespace
}  // namespace mmadiff
