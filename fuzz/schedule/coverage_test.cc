#include <gmock/gmock.h>

#include "fuzz/schedule/fill.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Names(const std::vector<Bin>& bins, const std::vector<size_t>& of) {
  std::vector<std::string> names;
  for (const size_t i : of) names.push_back(bins[i].name());
  return names;
}

// Small models that are counted out: all inputs of one product and an addend of four or six bits, or
// of two products. What is said to be unreachable is, and what must be reached can be.
TEST(BinsTest, ProofsHoldForAllInputsOfSmallModels) {
  const Model base = FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model;
  const Format tiny = {"tiny", 4, 2, 1, 0, 0, Nonfinite::kIeee, true};
  const Format narrow = {"narrow", 5, 3, 1, -2, 0, Nonfinite::kIeee, true};
  int models = 0;
  for (const int k : {1, 2}) {
    for (const int fraction_bits : {1, 2, 4, 7}) {
      for (const int floor : {kNoFloor, 1}) {
        for (const ProductExponent offered :
             {ProductExponent::kRaw, ProductExponent::kNormalized, ProductExponent::kAsF16}) {
          Model m = base;
          m.a = m.b = tiny;
          m.c = m.d = narrow;
          m.k = m.algorithm.terms = k;
          m.algorithm.fraction_bits = fraction_bits;
          m.algorithm.exponent_floor = floor;
          m.algorithm.product_exponent = offered;
          m.algorithm.output_fraction_bits = narrow.fraction_bits;
          CoverageCounter counter(m);
          const uint64_t rows = 1u << (4 * k);
          for (uint64_t a = 0; a < rows; ++a) {
            for (uint64_t b = 0; b < rows; ++b) {
              for (uint64_t c = 0; c < 32; ++c) {
                DotProductCase dot = {{a & 15}, {b & 15}, c};
                if (k == 2) dot = {{a & 15, a >> 4}, {b & 15, b >> 4}, c};
                counter.Count(dot);
              }
            }
          }
          const std::string what = Describe(m.algorithm);
          EXPECT_THAT(Names(counter.bins(), FalseBins(counter.bins(), counter.counts())), IsEmpty())
              << what;
          EXPECT_THAT(Names(counter.bins(), ThinBins(counter.bins(), counter.counts())), IsEmpty())
              << what;
          ++models;
        }
      }
    }
  }
  EXPECT_EQ(models, 48);
}

// Of every model, with the classes of a schedule: no proof is wrong.
TEST(BinsTest, NothingUnreachableIsReached) {
  Console console(Color::kNever, true);
  MutantsOptions options = {.ops = {}, .cases = 40};
  for (const Operation& op : Operations()) options.ops.push_back(&op);
  for (const char* strategy : {"mixed", "boundary", "bits"}) {
    options.strategy = FindStrategy(strategy);
    const auto all = FillBins(options, console);
    ASSERT_TRUE(all.ok());
    for (const FilledBins& filled : *all) {
      EXPECT_THAT(Names(filled.bins, FalseBins(filled.bins, filled.counts)), IsEmpty())
          << filled.op->name;
      EXPECT_LT(filled.bins.size(), 500u);
    }
  }
}

// The counter sees what it is shown: with something missing exactly its bins stay empty.
TEST(CoverageTest, WhatTheInputsLackStaysEmpty) {
  const Operation& op = *FindOperation(kHopper);
  CoverageCounter counter(op.model);
  Batch batch;
  for (uint64_t index = 0; index < 3000; ++index) {
    Generate({&op, &Strategies().front()}, index, 1, batch);
    for (int64_t e = 0; e < 128; ++e) {
      DotProductCase dot = Extract(batch, e);
      bool lacks = true;
      for (const uint64_t b : dot.b) {
        const int kind = KindOf(op.model.b, b);
        lacks &= kind != kSubnormal && kind != kNaN;
      }
      if (lacks) counter.Count(dot);
    }
  }
  for (const std::string& name :
       Names(counter.bins(), ThinBins(counter.bins(), counter.counts()))) {
    const bool expected = name.starts_with("b/subnormal") || name.starts_with("b/nan") ||
                          name == "nan_from/b" || name.ends_with("/subnormal") ||
                          name.ends_with("/nan") || name.starts_with("carry/");
    EXPECT_TRUE(expected) << name;
  }
  std::vector<std::string> empty;
  for (size_t i = 0; i < counter.bins().size(); ++i) {
    if (counter.counts()[i] == 0) empty.push_back(counter.bins()[i].name());
  }
  for (const char* name : {"b/subnormal/k0", "b/nan/k15", "nan_from/b", "pairs/inf/nan"}) {
    EXPECT_THAT(empty, testing::Contains(name));
  }
}

TEST(CoverageTest, BucketsAndKinds) {
  EXPECT_EQ(BucketOf(0), 0);
  EXPECT_EQ(BucketOf(-3), 0);
  EXPECT_EQ(BucketOf(1), 1);
  EXPECT_EQ(BucketOf(3), 2);
  EXPECT_EQ(BucketOf(4), 3);
  EXPECT_EQ(BucketOf(63), 6);
  EXPECT_EQ(BucketOf(64), 7);
  EXPECT_EQ(BucketOf(100000), 7);
  EXPECT_EQ(KindOf(kF16, 0x8000), kMinusZero);
  EXPECT_EQ(KindOf(kF16, 0x0001), kSubnormal);
  EXPECT_EQ(KindOf(kF16, 0x0400), kNormal);
  EXPECT_EQ(KindOf(kF16, 0xfc00), kInf);
  EXPECT_EQ(KindOf(kF16, 0x7c01), kNaN);
  EXPECT_EQ(KindOf(kS8, 0x80), kLowest);
  EXPECT_EQ(KindOf(kS8, 0x7f), kHighest);
  EXPECT_EQ(KindOf(kU8, 0xff), kHighest);
  EXPECT_EQ(KindOf(kU8, 0x00), kZero);
}

class CoveredRunTest : public RunTest {};

// Shards, threads and attempts: one sum.
TEST_F(CoveredRunTest, CoverageOfShardsAddsUp) {
  const RunReport whole = Run(Options("whole"));
  std::vector<uint64_t> sum(whole.rows[0].total.coverage.size());
  ASSERT_THAT(sum, Not(IsEmpty()));
  for (uint64_t shard = 0; shard < 2; ++shard) {
    RunOptions options = Options(absl::StrCat("shard", shard));
    options.shard = shard;
    options.shards = 2;
    options.threads = 2;
    const RunReport part = Run(options);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part.rows[0].total.coverage[i];
  }
  EXPECT_EQ(sum, whole.rows[0].total.coverage);
}

}  // namespace
}  // namespace mmadiff
