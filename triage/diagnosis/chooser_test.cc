#include "triage/diagnosis/chooser.h"

#include "corpus/cases/case_name.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

const Operation& Hopper() { return *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"); }

Model With(const char* name, int value) {
  Model model = Hopper().model;
  FindParameter(model.algorithm.family, name)->set(model.algorithm, value);
  EXPECT_EQ(WhyInvalid(model), "");
  return model;
}

// 1.0 * 1.0 in `terms` products, then the addend.
DotProductCase Ones(int terms, uint64_t addend) {
  const Model& m = Hopper().model;
  DotProductCase dot;
  dot.a.assign(m.k, 0);
  dot.b.assign(m.k, 0);
  std::fill_n(dot.a.begin(), terms, 0x3c00);
  std::fill_n(dot.b.begin(), terms, 0x3c00);
  dot.c = addend;
  return dot;
}

constexpr uint64_t kMinus2To25 = 0xb3000000;  // what 24 fraction bits below 1.0 lose

int Distinguishing(const Model& x, const Model& y, const std::vector<DotProductCase>& dots) {
  return static_cast<int>(std::ranges::count_if(dots, [&](const DotProductCase& dot) {
    return !SameResult(Hopper(), Simulate(x, dot), Simulate(y, dot));
  }));
}

TEST(CaseChooser, ChoosesWhatTellsAndNoMore) {
  const Model model = Hopper().model;
  const Model other = With("fraction_bits", 24);
  CaseChooser chooser(Hopper(), model, {{other}}, 2);
  chooser.Consider(Ones(1, 0));
  EXPECT_TRUE(chooser.chosen().empty());
  chooser.Consider(Ones(1, 0), true);
  EXPECT_EQ(chooser.chosen().size(), 1u) << "kept, though it distinguishes nothing";
  chooser.Consider(Ones(1, kMinus2To25));
  EXPECT_FALSE(chooser.done());
  chooser.Consider(Ones(1, kMinus2To25));
  EXPECT_TRUE(chooser.done());
  chooser.Consider(Ones(1, kMinus2To25));
  EXPECT_EQ(chooser.chosen().size(), 3u);
}

TEST(CaseChooser, AChainIsToldFromItsFarEnd) {
  const Model model = Hopper().model, near = With("fraction_bits", 24),
              far = With("fraction_bits", 20);
  CaseChooser chooser(Hopper(), model, {{near, far}}, 1);
  chooser.Consider(Ones(1, 0xb5000000));  // -2^-21: 24 bits keep it
  ASSERT_EQ(chooser.chosen().size(), 1u);
  EXPECT_EQ(Distinguishing(model, far, chooser.chosen()), 1);
  EXPECT_EQ(Distinguishing(model, near, chooser.chosen()), 0);
  EXPECT_FALSE(chooser.done());
  chooser.Consider(Ones(1, kMinus2To25));
  EXPECT_TRUE(chooser.done());
}

TEST(CaseChooser, OfABatchWhatTells) {
  const Model model = Hopper().model, other = With("fraction_bits", 24);
  std::vector<DotProductCase> dots(100, Ones(1, 0));
  for (const int telling : {7, 50, 99}) dots[telling] = Ones(telling % 3 + 1, kMinus2To25);
  CaseChooser chooser(Hopper(), model, {{other}, {model}}, 2);
  chooser.ConsiderTelling(MakeDotProductBatch(Hopper().shape(), dots));
  EXPECT_EQ(chooser.chosen(), (std::vector<DotProductCase>{dots[7], dots[50]}));
  EXPECT_EQ(chooser.open(), 1u) << "the model itself";
}

// Each of a batch is chosen as if it came alone, chains shrink alike.
TEST(CaseChooser, EachOfABatchAsAlone) {
  const Model model = Hopper().model;
  std::vector<CaseChooser::Chain> chains;
  for (const char* name : {"fraction_bits", "exponent_floor", "terms"}) {
    const Parameter* p = FindParameter(model.algorithm.family, name);
    for (int first = 1; first <= 4; first *= 2) {
      CaseChooser::Chain& chain = chains.emplace_back();
      for (int n = 0; n < 4; ++n) chain.push_back(With(name, p->get(model.algorithm) - first - n));
    }
  }
  for (const int cases : {1, 2, 5}) {
    CaseChooser alone(Hopper(), model, chains, cases), together(Hopper(), model, chains, cases);
    for (uint64_t first = 0; first < 2000; first += 50) {
      Batch batch;
      Generate({&Hopper(), &Strategies().front(), 1}, first, 1, batch);
      std::vector<DotProductCase> dots;
      for (int i = 0; i < 50; ++i) dots.push_back(Extract(batch, i));
      for (const DotProductCase& dot : dots) alone.Consider(dot);
      together.ConsiderEach(MakeDotProductBatch(Hopper().shape(), dots));
      ASSERT_EQ(alone.chosen(), together.chosen()) << cases << " " << first;
      ASSERT_EQ(alone.open(), together.open()) << cases << " " << first;
    }
    EXPECT_GE(alone.chosen().size(), size_t(cases));
    alone.ConsiderRelatives();
    together.ConsiderRelatives();
    EXPECT_EQ(alone.chosen(), together.chosen());
  }
}

// Floors that differ by one: random inputs with so small a sum are rare, a shift finds them.
TEST(CaseChooser, RelativesTellWhatTheOthersDoNot) {
  const Model model = With("exponent_floor", -60);
  CaseChooser::Chain chain;
  for (int floor = -61; floor >= -100; --floor) chain.push_back(With("exponent_floor", floor));
  CaseChooser chooser(Hopper(), model, {chain}, 1);
  chooser.Consider(Ones(0, 0x0d800000));  // 2^-100: cut by floors above -75
  EXPECT_FALSE(chooser.done());
  chooser.ConsiderRelatives();
  for (const Model& other : chain) EXPECT_GE(Distinguishing(model, other, chooser.chosen()), 1);
  EXPECT_TRUE(chooser.done());
}

// A chain of which no case has distinguished any is left alone: perhaps none can.
TEST(CaseChooser, NothingTellsEqualModels) {
  const Model model = Hopper().model;
  CaseChooser chooser(Hopper(), model, {{model}}, 1);
  chooser.Consider(Ones(1, kMinus2To25));
  chooser.ConsiderRelatives();
  EXPECT_FALSE(chooser.done());
  EXPECT_TRUE(chooser.chosen().empty());
}

}  // namespace
}  // namespace mmadiff
