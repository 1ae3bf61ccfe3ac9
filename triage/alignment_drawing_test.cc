// What is drawn is what the arithmetic did: the parts of a bar make its product, the kept parts the sum.
#include "triage/alignment_drawing.h"

#include <algorithm>
#include <string>

#include "fuzz/cases/case_name.h"
#include "gtest/gtest.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/stages.h"

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

TEST(AlignmentDrawingTest, IsWhatTheArithmeticDid) {
  int drawn = 0;
  for (const Operation* op : DistinctOperations()) {
    const Model& m = op->model;
    const Family family = m.algorithm.family;
    const bool aligned = family == Family::kFusedSum || family == Family::kScaledSum ||
                         family == Family::kTwoStageSum;
    for (const DotProductCase& dot : Cases(*op)) {
      const std::vector<AlignedStep> steps = AlignedSteps(m, dot);
      if (!aligned) {
        ASSERT_TRUE(steps.empty()) << op->name;
        continue;
      }
      for (const AlignedStep& step : steps) {
        ++drawn;
        __int128 sum = 0;
        for (const AlignedTerm& t : step.terms) {
          CheckTerm(*op, t);
          if (family != Family::kScaledSum && t.k >= 0) {
            const auto exact = static_cast<__int128>(t.magnitude);
            EXPECT_TRUE(Product(m, dot, t.k, t.lsb) == (t.negative ? -exact : exact)) << op->name;
          }
          if (family == Family::kTwoStageSum) continue;
          ASSERT_EQ(t.kept_lsb, step.sum_lsb) << op->name;
          sum += t.negative ? -static_cast<__int128>(t.kept) : static_cast<__int128>(t.kept);
        }
        if (family == Family::kTwoStageSum) continue;
        const auto told = static_cast<__int128>(step.sum);
        EXPECT_TRUE(sum == (step.sum_negative ? -told : told)) << op->name;
      }
      if (!steps.empty() && m.algorithm.addend_joins == AddendJoins::kFirstStep) {
        const std::vector<Event> events = TraceStages(m, dot);
        if (events.back().stage == Stage::kRounded) {
          EXPECT_EQ(steps.back().step <= events.back().step, true);
        }
      }
    }
  }
  EXPECT_GT(drawn, 1000);
}

TEST(AlignmentDrawingTest, Text) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  DotProductCase dot = {std::vector<uint64_t>(16), std::vector<uint64_t>(16), 0xb3000000};
  dot.a[0] = dot.b[0] = 0x3c00;
  EXPECT_EQ(AlignmentText(op.model, dot, {}),
            "aligned, step 0: bits from 2^0 to 2^-25; x, .: cut 1, 0\n"
            "  k=0    1\n"
            "  c    -                          1\n"
            "  sum     1111111111111111111111111\n"
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

TEST(AlignmentDrawingTest, Svg) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32");
  for (const DotProductCase& dot : Cases(op)) {
    const std::string svg = AlignmentSvg(op.model, dot, "<a> & 'b'");
    int terms = 0;
    for (const AlignedStep& step : AlignedSteps(op.model, dot))
      terms += static_cast<int>(step.terms.size());
    EXPECT_EQ(Count(svg, "class=\"bar\""), terms);
    EXPECT_EQ(Count(svg, "<text"), Count(svg, "</text>"));
    EXPECT_EQ(Count(svg, "<g"), Count(svg, "</g>"));
    EXPECT_EQ(Count(svg, "<a>"), 0);
  }
}

}  // namespace
}  // namespace mmadiff
