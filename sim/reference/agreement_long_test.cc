// As agreement_test.cc, with 10 million dot products a family, or as many as the environment
// variable MMADIFF_LONG_CASES says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"

namespace mmadiff {
namespace {

constexpr uint64_t kSeed = 1;

int64_t Cases() {
  const char* text = std::getenv("MMADIFF_LONG_CASES");
  return text == nullptr ? 10'000'000 : std::strtoll(text, nullptr, 10);
}

// One of each model.
std::vector<const Operation*> OperationsOf(Family family) {
  std::vector<const Operation*> ops = DistinctOperations();
  std::erase_if(ops, [&](const Operation* op) { return op->model.algorithm.family != family; });
  return ops;
}

class AgreementLong : public testing::TestWithParam<Family> {};

// One random stream for all: the printed line is what reproduces a failure.
TEST_P(AgreementLong, OfAllOperations) {
  const std::vector<const Operation*> ops = OperationsOf(GetParam());
  ASSERT_FALSE(ops.empty());
  ASSERT_GE(Cases(), 1) << "MMADIFF_LONG_CASES";
  reference::Random random(kSeed);
  for (int64_t i = 0, failures = 0; i < Cases() && failures < 10; ++i) {
    const Operation& op = *ops[i % ops.size()];
    const std::string difference =
        reference::Disagreement(op.model, reference::RandomDot(op.model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << op.name << ", seed " << kSeed << ", dot product " << i << ": " << difference;
    ++failures;
  }
}

// A tenth as many over all neighbours.
TEST_P(AgreementLong, OfAllNeighbours) {
  std::vector<std::pair<std::string, Model>> models;
  for (const Operation* op : OperationsOf(GetParam())) {
    for (const Neighbour& n : AllNeighbours(op->model)) {
      models.emplace_back(op->name + " with " + Name(n), WithAlgorithm(*op, n.algorithm));
    }
  }
  ASSERT_FALSE(models.empty());
  reference::Random random(kSeed + 1);
  for (int64_t i = 0, failures = 0; i < Cases() / 10 && failures < 10; ++i) {
    const auto& [name, model] = models[i % models.size()];
    const std::string difference =
        reference::Disagreement(model, reference::RandomDot(model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << name << ", seed " << kSeed + 1 << ", dot product " << i << ": " << difference;
    ++failures;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, AgreementLong, testing::ValuesIn(reference::AllFamilies()),
                         [](const auto& info) { return reference::FamilyName(info.param); });

}  // namespace
}  // namespace mmadiff
