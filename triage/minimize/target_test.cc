#include "triage/minimize/target.h"

#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"
#include "triage/testing/minimize.h"

namespace mmadiff {
namespace {

const Operation& Hopper() { return *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"); }

Model Change(const char* name) {
  for (const Neighbour& n : SingleChanges(Hopper().model)) {
    if (Name(n) == name) return WithAlgorithm(Hopper(), n.algorithm);
  }
  ADD_FAILURE() << name;
  return Hopper().model;
}

// 1.0 - 2^-25 in one product and the addend; -2^-30 instead with `lost`.
DotProductCase Below(bool lost = false) {
  DotProductCase dot;
  dot.a.assign(Hopper().model.k, 0);
  dot.b.assign(Hopper().model.k, 0);
  dot.a[0] = dot.b[0] = 0x3c00;
  dot.c = lost ? 0xb0800000 : 0xb3000000;
  return dot;
}

TEST(Target, TheExplanationGivesTheWordAndNoRivalDoes) {
  const Model model = Hopper().model, truth = Change("fraction_bits=24"),
              far = Change("fraction_bits=20"), rounding = Change("output_rounding=nearest_even");
  const DotProductCase dot = Below();
  const uint64_t d = Simulate(truth, dot);
  EXPECT_TRUE(Target(Hopper(), truth, {model}).Holds(dot, d));
  EXPECT_FALSE(Target(Hopper(), truth, {model}).Holds(dot, Simulate(model, dot))) << "no mismatch";
  EXPECT_FALSE(Target(Hopper(), truth, {model, far}).Holds(dot, d)) << "20 bits lose it too";
  EXPECT_FALSE(Target(Hopper(), truth, {model, rounding}).Holds(dot, d));
  EXPECT_FALSE(Target(Hopper(), truth, {model}).Holds(dot, d ^ 1)) << "not the explanation's word";
}

TEST(Target, PossibleIsHoldsBeforeTheDeviceIsAsked) {
  const Model model = Hopper().model, truth = Change("fraction_bits=24");
  EXPECT_TRUE(Target(Hopper(), truth, {model}).Possible(Below()));
  EXPECT_FALSE(Target(Hopper(), truth, {model}).Possible(Below(true))) << "both lose it";
  const Target unexplained(Hopper(), std::nullopt, {model});
  EXPECT_TRUE(unexplained.Possible(Below(true))) << "who knows";
}

TEST(Target, WithoutExplanationTheWayInWhichItDiffersRemains) {
  const Model model = Hopper().model;
  const DotProductCase dot = Below();
  const uint64_t word = Simulate(model, dot);
  const Target target(Hopper(), std::nullopt, {model}, DifferenceClass::kOneUlp);
  EXPECT_TRUE(target.Holds(dot, word + 1));
  EXPECT_FALSE(target.Holds(dot, word + 2));
  EXPECT_FALSE(target.Holds(dot, word));
}

TEST(Target, OfAMismatchByItself) {
  const DotProductCase dot = Below();
  const uint64_t d = Simulate(Change("fraction_bits=24"), dot);
  const Target explained = TargetOfMismatch(Hopper(), dot, d);
  EXPECT_TRUE(explained.explained());
  EXPECT_TRUE(explained.Holds(dot, d));
  const Target unexplained = TargetOfMismatch(Hopper(), dot, 0x12345678);
  EXPECT_FALSE(unexplained.explained());
  EXPECT_TRUE(unexplained.Holds(dot, 0x12345678));
}

}  // namespace
}  // namespace mmadiff
