// The properties of a minimisation, for the tests.
#pragma once

#include <string>

#include "gtest/gtest.h"
#include "sim/simulate.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"
#include "triage/minimize/simplicity.h"
#include "triage/testing/device.h"
#include "triage/testing/minimize.h"
#include "triage/verdict.h"

namespace mmadiff {

struct Budget {
  uint64_t seed;
  int tries;   // random dot products in search of a difference
  int starts;  // differences to minimise
};

inline void CheckMinimization(const Mismatch& start, const std::string& change) {
  // Explained differences take some hundreds, others one execution for each proposal.
  constexpr int64_t kMaxExecutions = 20000;
  const Operation& op = *start.op;
  const std::string name = op.name + " " + change;
  ChangedDevice device(change);
  const absl::StatusOr<Minimized> m = Minimize(device, start);
  ASSERT_TRUE(m.ok()) << name << ": " << m.status();
  ASSERT_EQ(m->repeatability, Repeatability::kReproduced) << name;
  EXPECT_LE(m->executions, kMaxExecutions) << name;
  EXPECT_EQ(m->executions, device.executions) << name;

  // It differs still, in the same way, and is what the device and the model say of it.
  const Batch& inputs = m->mismatch.inputs;
  ASSERT_EQ(inputs.dot_products(), 1) << name;
  const DotProductCase dot = Extract(inputs, 0), before = Extract(start.inputs, start.element);
  const uint64_t model = Simulate(op.model, dot);
  EXPECT_EQ(m->mismatch.model, std::vector<uint64_t>{model}) << name;
  EXPECT_EQ(m->mismatch.device, *device.Run(op, inputs)) << name;
  EXPECT_FALSE(SameResult(op, model, m->mismatch.device[0])) << name;
  const Observed after{dot, m->mismatch.device[0]};
  EXPECT_EQ(Name(BucketOf(op, {&after, 1})), Name(m->bucket)) << name;
  const Observed first{before, (*device.Run(op, start.inputs))[start.element]};
  EXPECT_EQ(Name(BucketOf(op, {&first, 1})), Name(m->bucket)) << name;

  // It is no more complex than the start, and minimising it again changes nothing.
  EXPECT_FALSE(Simpler(ComplexityOf(op.model, before), before, ComplexityOf(op.model, dot), dot))
      << name;
  const absl::StatusOr<Minimized> again = Minimize(device, m->mismatch);
  ASSERT_TRUE(again.ok()) << name << ": " << again.status();
  EXPECT_EQ(Extract(again->mismatch.inputs, 0), dot) << name;
}

// Minimises differences that random dot products show; returns how many there were.
inline int CheckMinimizations(const Operation& op, const std::string& change,
                              const Budget& budget) {
  std::mt19937_64 random(budget.seed);
  ChangedDevice device(change);
  int found = 0;
  for (int i = 0; i < budget.tries && found < budget.starts; ++i) {
    const Batch inputs = RandomTile(op, DotProductShape(op.shape()), random);
    const DotProductCase dot = Extract(inputs, 0);
    if (SameResult(op, Simulate(op.model, dot), (*device.Run(op, inputs))[0])) continue;
    ++found;
    CheckMinimization({&op, inputs, 0}, change);
  }
  return found;
}

}  // namespace mmadiff
