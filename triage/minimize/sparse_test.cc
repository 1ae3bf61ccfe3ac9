#include "triage/minimize/sparse.h"

#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/testing_device.h"

namespace mmadiff {
namespace {

// Products only below some k, and few of them; often an addend that is cut, flushed or rounded.
DotProductCase RandomSparse(const Row& row, std::mt19937_64& random) {
  DotProductCase dot = Extract(RandomTile(row, DotProductShape(row.shape()), random), 0);
  const int active = static_cast<int>(random() % 6);
  for (int k = 0; k < row.model.k; ++k) {
    if (k < active && random() % 2 == 0) continue;
    dot.a[k] = dot.b[k] = 0;
  }
  return dot;
}

TEST(SimulateSparse, EqualsTheSimulatorForEveryModelAndNeighbour) {
  std::mt19937_64 random(1);
  for (const Row* row : DistinctRows()) {
    std::vector<Model> models = {row->model};
    for (const Neighbour& n : Neighbours(row->model)) {
      models.push_back(WithAlgorithm(*row, n.algorithm));
    }
    for (const Model& model : models) {
      for (int i = 0; i < 50; ++i) {
        const DotProductCase dot = RandomSparse(*row, random);
        ASSERT_EQ(SimulateSparse(model, dot), Simulate(model, dot))
            << row->name << " " << Describe(model.algorithm) << " c " << std::hex << dot.c;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
