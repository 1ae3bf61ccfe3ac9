#include "triage/minimize/sparse.h"

#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

// Products only below some k, and few of them; often an addend that is cut, flushed or rounded.
DotProductCase RandomSparse(const Operation& op, std::mt19937_64& random) {
  DotProductCase dot = Extract(RandomTile(op, DotProductShape(op.shape()), random), 0);
  const int active = static_cast<int>(random() % 6);
  for (int k = 0; k < op.model.k; ++k) {
    if (k < active && random() % 2 == 0) continue;
    dot.a[k] = dot.b[k] = 0;
  }
  return dot;
}

TEST(SimulateSparse, EqualsTheSimulatorForEveryModelAndNeighbour) {
  std::mt19937_64 random(1);
  for (const Operation* op : DistinctOperations()) {
    std::vector<Model> models = {op->model};
    for (const Neighbour& n : Neighbours(op->model)) {
      models.push_back(WithAlgorithm(*op, n.algorithm));
    }
    for (const Model& model : models) {
      for (int i = 0; i < 50; ++i) {
        const DotProductCase dot = RandomSparse(*op, random);
        ASSERT_EQ(SimulateSparse(model, dot), Simulate(model, dot))
            << op->name << " " << Describe(model.algorithm) << " c " << std::hex << dot.c;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
