// The simulator against the reference where every input can be tried.
#include "sim/reference/toy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/reference/random_dot.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff::reference {
namespace {

class Toy : public testing::TestWithParam<Family> {
 protected:
  // Its algorithm is number `index` of the product; not always valid.
  static Model ModelAt(int64_t index) {
    return ToyModelOf(ProductAlgorithm(GetParam(), index % ProductSize(GetParam())));
  }
  static Model RandomModel(Random& random) {
    while (true) {
      const Model model = ModelAt(static_cast<int64_t>(random() >> 1));
      if (WhyInvalid(model).empty()) return model;
    }
  }
};

// All inputs of a few models that together take every value of every parameter.
TEST_P(Toy, AgreesOnEveryInputWithEveryValue) {
  int64_t tried = 0;
  const std::vector<Model> models = CoveringModels(GetParam(), 1);
  for (const Choice& choice : Choices(GetParam())) {
    for (int value : choice.values) {
      EXPECT_TRUE(std::ranges::any_of(models, [&](const Model& m) {
        return choice.parameter->get(m.algorithm) == value;
      })) << choice.parameter->name;
    }
  }
  for (const Model& model : models) EXPECT_EQ(ExhaustiveDisagreement(model, &tried), "");
  EXPECT_GE(tried, 30'000);
}

// All inputs of models of one product with every reading.
TEST_P(Toy, AgreesOnEveryInputWithEveryReading) {
  Model toy = ToyModel(GetParam());
  toy.k = toy.algorithm.terms = 1;
  toy.scale_block = std::min(toy.scale_block, 1);
  ASSERT_EQ(WhyInvalid(toy), "");
  for (const Subnormals rule : {Subnormals::kKeep, Subnormals::kFlush}) {
    toy.algorithm.input_subnormals = rule;
    for (const Neighbour& n : Misreadings(toy, false)) {
      Model model = toy;
      model.algorithm = n.algorithm;
      int64_t tried = 0;
      EXPECT_EQ(ExhaustiveDisagreement(model, &tried), "") << Name(n);
    }
  }
}

// One random input of every valid combination of all values, or of a sample of them, over changing
// formats.
TEST_P(Toy, AgreesOnTheProductOfAllValues) {
  const int64_t size = ProductSize(GetParam());
  const int64_t cases = std::clamp<int64_t>(size, 100'000, 200'000);
  Random random(3);
  int64_t tried = 0;
  int failures = 0;
  for (int64_t i = 0; i < cases && failures < 5; ++i) {
    const Model toy = size > cases ? RandomModel(random) : ModelAt(i);
    if (!WhyInvalid(toy).empty()) continue;
    const Model model = WithOtherFormats(toy, random);
    ASSERT_EQ(WhyInvalid(model), "");
    ++tried;
    const std::string difference = Disagreement(model, RandomWords(model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << model.a.name << " x " << model.b.name << " + " << model.c.name << " -> "
                  << model.d.name << ", scale " << (model.scales() ? model.scale.name : "none")
                  << " block " << model.scale_block << ": " << difference;
    ++failures;
  }
  EXPECT_TRUE(failures > 0 || tried >= 50'000) << tried;
}

// What parameter.h says a family does not read must not change a bit.
TEST_P(Toy, IgnoresParametersOfOtherFamilies) {
  Random random(4);
  for (const Parameter& p : Parameters()) {
    if (FindParameter(GetParam(), p.name) != nullptr) continue;
    const int values = p.values.empty() ? 2 : static_cast<int>(p.values.size());
    for (int i = 0; i < 5'000; ++i) {
      Model model = RandomModel(random);
      const DotProductCase dot = RandomWords(model, random);
      const uint64_t word = Simulate(model, dot);
      p.set(model.algorithm, 1 + i % values - (p.values.empty() ? 0 : 1));
      ASSERT_EQ(Simulate(model, dot), word) << p.name << ": " << Line(model, dot);
      ASSERT_EQ(ReferenceDotProduct(model, dot), word) << p.name << ": " << Line(model, dot);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Toy, testing::ValuesIn(AllFamilies()),
                         [](const auto& info) { return FamilyName(info.param); });

}  // namespace
}  // namespace mmadiff::reference
