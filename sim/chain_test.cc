#include "sim/chain.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"
#include "sim/stages.h"

namespace mmadiff {
namespace {

constexpr int kExecutions = 2, kCases = 200;

// The models of the tables that can be chained.
std::vector<const Operation*> Chainable() {
  std::vector<const Operation*> ops = DistinctOperations();
  std::erase_if(ops,
                [](const Operation* op) { return !WhyNoChain(op->model, kExecutions).empty(); });
  return ops;
}

// Elements and scales of execution `i` of a chain.
std::vector<uint64_t> Part(const Model& one, const std::vector<uint64_t>& row, int executions,
                           int i) {
  std::vector<uint64_t> part(row.begin() + i * one.k, row.begin() + (i + 1) * one.k);
  const auto scales = row.begin() + executions * one.k + i * one.scales();
  part.insert(part.end(), scales, scales + one.scales());
  return part;
}

std::vector<uint64_t> MetadataPart(const Model& one, const std::vector<uint64_t>& metadata, int i) {
  const auto first = metadata.begin() + i * one.groups();
  return {first, first + one.groups()};
}

TEST(Chain, IsOneExecutionAfterAnother) {
  reference::Random random(1);
  for (const Operation* op : Chainable()) {
    const Model chain = Chain(op->model, kExecutions);
    EXPECT_EQ(WhyInvalid(chain), "") << op->name;
    for (int n = 0; n < kCases; ++n) {
      const DotProductCase dot = reference::RandomDot(chain, random);
      uint64_t d = dot.c;
      for (int i = 0; i < kExecutions; ++i) {
        d = Simulate(op->model, DotProductCase{Part(op->model, dot.a, kExecutions, i),
                                               Part(op->model, dot.b, kExecutions, i), d,
                                               MetadataPart(op->model, dot.metadata, i)});
      }
      EXPECT_EQ(Simulate(chain, dot), d) << op->name << ' ' << reference::Line(chain, dot);
    }
  }
}

TEST(Chain, AgreesWithTheReference) {
  reference::Random random(2);
  for (const Operation* op : Chainable()) {
    const Model chain = Chain(op->model, kExecutions);
    for (int n = 0; n < kCases / 4; ++n) {
      EXPECT_EQ(reference::Disagreement(chain, reference::RandomDot(chain, random)), "")
          << op->name;
    }
  }
}

TEST(Chain, AsOneExecutionWhereItSaysSo) {
  reference::Random random(3);
  int folded = 0;
  std::set<Family> families;
  for (const Operation* op : Chainable()) {
    const Model chain = Chain(op->model, kExecutions);
    const std::optional<Model> one = AsOneExecution(chain);
    if (!one) continue;
    ++folded;
    families.insert(op->model.algorithm.family);
    EXPECT_EQ(one->k, chain.k);
    for (int n = 0; n < kCases; ++n) {
      const DotProductCase dot = reference::RandomDot(chain, random);
      EXPECT_EQ(Simulate(chain, dot), Simulate(*one, dot))
          << op->name << ' ' << reference::Line(chain, dot);
    }
  }
  EXPECT_GT(folded, 100);
  EXPECT_EQ(families.size(), size_t{kFamilyCount - 1});  // a conversion has no addend
}

// An addend that joins last is the kind of model of which a larger k computes something else.
TEST(Chain, IsNotALargerK) {
  reference::Random random(4);
  int last = 0;
  for (const Operation* op : Chainable()) {
    if (op->model.algorithm.addend_joins != AddendJoins::kLastAdd) continue;
    ++last;
    const Model chain = Chain(op->model, kExecutions);
    EXPECT_FALSE(AsOneExecution(chain)) << op->name;
    Model larger = op->model;
    larger.k *= kExecutions;
    bool differs = false;
    for (int n = 0; n < 2000 && !differs; ++n) {
      const DotProductCase dot = reference::RandomDot(chain, random);
      differs = Simulate(chain, dot) != Simulate(larger, dot);
    }
    EXPECT_TRUE(differs) << op->name;
  }
  EXPECT_GT(last, 10);
}

TEST(Chain, Batches) {
  reference::Random random(5);
  const Operation& op = *FindOperation("x86/tdpbf16ps");
  const Model chain = Chain(op.model, kExecutions);
  Batch batch;
  batch.Resize({4, 4, chain.k, 1}, 3);
  for (std::vector<uint64_t>* words : {&batch.a, &batch.b, &batch.c}) {
    for (uint64_t& word : *words) word = random() & LowBits(words == &batch.c ? 32 : 16);
  }
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(chain, batch, d);
  for (size_t i = 0; i < d.size(); ++i) EXPECT_EQ(d[i], Simulate(chain, Extract(batch, i)));
}

// Steps and k of later executions follow those before.
TEST(Chain, Stages) {
  const Model chain =
      Chain(FindOperation("sm_80/mma.m16n8k16.f32.f16.f16.f32")->model, kExecutions);
  DotProductCase dot = {std::vector<uint64_t>(32, 0x3c00), std::vector<uint64_t>(32, 0x3c00), 0};
  std::set<int> ks, steps;
  for (const Event& e : TraceStages(chain, dot)) {
    if (e.stage == Stage::kProduct) ks.insert(e.k);
    steps.insert(e.step);
  }
  EXPECT_EQ(ks.size(), 32u);
  EXPECT_EQ(*ks.rbegin(), 31);
  EXPECT_EQ(steps, std::set({0, 1, 2, 3}));
  EXPECT_EQ(Simulate(chain, dot), 0x42000000u);
}

TEST(Chain, WhatHasNone) {
  EXPECT_EQ(WhyNoChain(FindOperation("sm_70/mma.m8n8k4.f32.f16.f16.f16")->model, 2),
            "its result is f32, but its addend is f16");
  EXPECT_EQ(WhyNoChain(FindOperation("sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc")->model, 2),
            "a chain has 1..256 products");
  EXPECT_NE(WhyNoChain(FindOperation("x86/vfmadd231ss")->model, 0), "");
}

}  // namespace
}  // namespace mmadiff
