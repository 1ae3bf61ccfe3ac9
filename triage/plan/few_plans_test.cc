#include "triage/plan/few_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mmadiff {
namespace {

using testing::ElementsAre;

Plan PlanOf(const std::string& text) {
  std::string error;
  return ParsePlan(text, &error).value();
}

// Multiplies by one plan, and in the rows from 4 on by a second one.
class TwoPlans : public MatrixDevice {
 public:
  TwoPlans(const std::string& first, const std::string& second)
      : first_(PlanOf(first)), second_(PlanOf(second)) {}

  std::string name() const override { return "two plans"; }
  Identity identity() const override { return Identity::Named("two plans"); }
  MatrixFormats formats() const override { return {&kF32, &kF32, &kF32}; }

 private:
  absl::Status Execute(const MatrixProduct& p) override {
    Matrices m;
    m.m = p.m, m.n = p.n, m.k = p.k, m.a = p.a, m.b = p.b;
    m.a_format = m.b_format = &kF32;
    mmadiff::Execute(first_, m, p.d);
    std::vector<unsigned char> bytes(p.m * p.n * 4);
    mmadiff::Execute(second_, m, {bytes.data(), p.n, 1, 32});
    const Words second = {bytes.data(), p.n, 1, 32};
    for (int64_t i = 4; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) Store(p.d, i, j, Load(second, i, j));
    }
    return absl::OkStatus();
  }

  const Plan first_, second_;
};

std::vector<std::string> Texts(const std::vector<ShapePlans>& asked) {
  std::vector<std::string> texts;
  for (const UsedPlan& used : UsedPlans(asked)) {
    texts.push_back(PlanText(used.plan) + " in " + std::to_string(used.shapes));
  }
  return texts;
}

// Small k and few elements leave many orders possible; all shapes together do not.
TEST(PreferFewPlans, NamesThePlansOfTheDevice) {
  const std::string first = "x86/vfmadd231ss | every 128 halved 8: add | f32";
  const std::string second =
      "x86/vfmadd231ss | strided 2 of 1 unrolled 8: add | every 128 halved 8: add | f32";
  const Operation* op = FindOperation("x86/vfmadd231ss");
  TwoPlans device(first, second);
  std::vector<ShapePlans> asked;
  for (const MatrixShape& shape : {MatrixShape{1, 1, 3},
                                   {2, 3, 40},
                                   {9, 7, 150},
                                   {3, 2, 150},
                                   {6, 4, 200},
                                   {1, 2, 130},
                                   {8, 8, 97}}) {
    asked.push_back(AskPlans(device, shape, {&op, 1}, 1, 6, {}).value());
    ASSERT_TRUE(asked.back().regions) << ShapeText(shape);
  }
  EXPECT_GT(Texts(asked).size(), 2u);
  ASSERT_TRUE(PreferFewPlans(device, 1, 6, {}, asked).ok());
  EXPECT_THAT(Texts(asked), ElementsAre(first + " in 7", second + " in 3"));
  for (const ShapePlans& s : asked) EXPECT_EQ(s.differing, 0) << ShapeText(s.shape);
}

}  // namespace
}  // namespace mmadiff
