// As agreement_test.cc, with 10 million dot products a family, or as many as the environment
// variable MMADIFF_LONG_CASES says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/row.h"

namespace mmadiff {
namespace {

constexpr uint64_t kSeed = 1;

int64_t Cases() {
  const char* text = std::getenv("MMADIFF_LONG_CASES");
  return text == nullptr ? 10'000'000 : std::strtoll(text, nullptr, 10);
}

// One of each model.
std::vector<const Row*> RowsOf(Family family) {
  std::vector<const Row*> rows = DistinctRows();
  std::erase_if(rows, [&](const Row* row) { return row->model.algorithm.family != family; });
  return rows;
}

class AgreementLong : public testing::TestWithParam<Family> {};

// One random stream for all: the printed line is what reproduces a failure.
TEST_P(AgreementLong, OfAllRows) {
  const std::vector<const Row*> rows = RowsOf(GetParam());
  ASSERT_FALSE(rows.empty());
  ASSERT_GE(Cases(), 1) << "MMADIFF_LONG_CASES";
  reference::Random random(kSeed);
  for (int64_t i = 0, failures = 0; i < Cases() && failures < 10; ++i) {
    const Row& row = *rows[i % rows.size()];
    const std::string difference =
        reference::Disagreement(row.model, reference::RandomDot(row.model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << row.name << ", seed " << kSeed << ", dot product " << i << ": " << difference;
    ++failures;
  }
}

// A tenth as many over all neighbours.
TEST_P(AgreementLong, OfAllNeighbours) {
  std::vector<std::pair<std::string, Model>> models;
  for (const Row* row : RowsOf(GetParam())) {
    for (const Neighbour& n : Neighbours(row->model)) {
      models.emplace_back(row->name + " with " + n.name, WithAlgorithm(*row, n.algorithm));
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
