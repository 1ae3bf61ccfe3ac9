// As toy_test.cc, with every pair of values of every two parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "sim/reference/random_dot.h"
#include "sim/reference/toy.h"

namespace mmadiff::reference {
namespace {

class ToyLong : public testing::TestWithParam<Family> {};

TEST_P(ToyLong, AgreesOnEveryInputWithEveryPairOfValues) {
  int64_t tried = 0;
  const std::vector<Model> models = CoveringModels(GetParam(), 2);
  std::vector<size_t> counts;
  for (const Choice& choice : Choices(GetParam())) counts.push_back(choice.values.size());
  std::ranges::sort(counts, std::greater<>());
  EXPECT_GE(models.size(), counts[0] * counts[1]);
  for (const Model& model : models) EXPECT_EQ(ExhaustiveDisagreement(model, &tried), "");
  std::cout << models.size() << " models, " << tried << " dot products\n";
}

// Forty random inputs (more of the small families) of every combination of all values, over
// changing formats.
TEST_P(ToyLong, AgreesOnTheProductOfAllValues) {
  std::mt19937_64 random(5);
  const int64_t cases = std::max<int64_t>(40 * ProductSize(GetParam()), 1'000'000);
  for (int64_t i = 0; i < cases; ++i) {
    Model model = ToyModel(GetParam());
    model.algorithm = ProductAlgorithm(GetParam(), i % ProductSize(GetParam()));
    model = WithOtherFormats(model, random);
    ASSERT_EQ(Disagreement(model, RandomWords(model, random)), "")
        << model.a.name << " x " << model.b.name << " + " << model.c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ToyLong,
                         testing::Values(Family::kFmaChain, Family::kFusedSum, Family::kIntegerDot),
                         [](const auto& info) { return FamilyName(info.param); });

}  // namespace
}  // namespace mmadiff::reference
