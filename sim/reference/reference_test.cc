// Results known from outside, against the reference and against the simulator.
#include "sim/reference/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/parameter.h"
#include "sim/reference/golden_vectors.h"
#include "sim/reference/random_dot.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using reference::Golden;

class GoldenVector : public testing::TestWithParam<Golden> {};

TEST_P(GoldenVector, IsValid) { EXPECT_EQ(Invalid(GetParam().model), ""); }

TEST_P(GoldenVector, OfTheReference) {
  EXPECT_EQ(ReferenceDotProduct(GetParam().model, GetParam().dot), GetParam().expected)
      << reference::Line(GetParam().model, GetParam().dot);
}

TEST_P(GoldenVector, OfTheSimulator) {
  EXPECT_EQ(Simulate(GetParam().model, GetParam().dot), GetParam().expected)
      << reference::Line(GetParam().model, GetParam().dot);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenVector, testing::ValuesIn(reference::GoldenVectors()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

// Keeps parameter dumps of failing tests readable.
namespace reference {
void PrintTo(const Golden& golden, std::ostream* out) { *out << Line(golden.model, golden.dot); }
}  // namespace reference

}  // namespace mmadiff
