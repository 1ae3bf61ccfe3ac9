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

// Forty random inputs (more of the small families) of every valid combination of all values, over
// changing formats; of the largest families a sample of the combinations.
TEST_P(ToyLong, AgreesOnTheProductOfAllValues) {
  Random random(5);
  const int64_t size = ProductSize(GetParam());
  const int64_t cases = std::clamp<int64_t>(40 * size, 1'000'000, 20'000'000);
  int64_t tried = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const int64_t index = size > cases ? static_cast<int64_t>(random() >> 1) : i;
    Model model = ToyModelOf(ProductAlgorithm(GetParam(), index % size));
    if (!WhyInvalid(model).empty()) continue;
    model = WithOtherFormats(model, random);
    ASSERT_EQ(Disagreement(model, RandomWords(model, random)), "")
        << model.a.name << " x " << model.b.name << " + " << model.c.name << " -> " << model.d.name
        << ", scale_block " << model.scale_block;
    ++tried;
  }
  EXPECT_GE(tried, cases / 4);
}

INSTANTIATE_TEST_SUITE_P(Families, ToyLong, testing::ValuesIn(AllFamilies()),
                         [](const auto& info) { return FamilyName(info.param); });

}  // namespace
}  // namespace mmadiff::reference
