// How a run cuts its work does not matter: threads, shards, units; and what its digest is of.
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(RunTest, TheNumberOfThreadsDoesNotMatter) {
  std::string digest;
  for (const int threads : {1, 2, 3}) {
    RunOptions options = Options("t" + std::to_string(threads), {kMma, kInteger});
    options.threads = threads;
    const RunReport outcome = Run(options);
    ASSERT_THAT(outcome.rows, SizeIs(2));
    EXPECT_TRUE(outcome.rows[0].finished && outcome.rows[1].finished);
    EXPECT_EQ(outcome.rows[0].total.cases, 9000u);
    EXPECT_EQ(outcome.rows[0].total.dot_products, 9000u * 128);
    EXPECT_EQ(outcome.rows[1].total.dot_products, 9000u * 16);
    EXPECT_TRUE(outcome.rows[0].total.device_digest == outcome.rows[0].total.model_digest);
    if (digest.empty()) digest = outcome.digest;
    EXPECT_THAT(digest, SizeIs(32));
    EXPECT_EQ(outcome.digest, digest) << threads;
  }
}

// So that an accidental change of the digest itself is noticed too.
TEST_F(RunTest, TheDigestDependsOnSeedStrategyDeviceAndCases) {
  const auto digest = [&](const char* folder, uint64_t seed, const char* strategy, uint64_t cases,
                          const char* device) {
    RunOptions options = Options(folder);
    options.seed = seed;
    options.strategy = FindStrategy(strategy);
    options.cases = cases;
    options.max_mismatches = 0;
    return Run(options, device).digest;
  };
  const std::set<std::string> all = {
      digest("0", 1, "mixed", 500, "faulty:none=0"), digest("1", 2, "mixed", 500, "faulty:none=0"),
      digest("2", 1, "bits", 500, "faulty:none=0"), digest("3", 1, "mixed", 501, "faulty:none=0"),
      digest("4", 1, "mixed", 500, "faulty:wrong_lane=3")};
  EXPECT_EQ(all.size(), 5u);
}

TEST(DigestOf, CountsEveryWordAtItsCase) {
  using WordList = std::vector<uint64_t>;
  const Operation& op = *FindOperation(kInteger);
  Batch batch;
  batch.Resize({1, 2, 1, 1}, 2);  // two executions of two results
  batch.first = 10;
  const Digest digest = DigestOf(op, batch, WordList{1, 2, 3, 4});
  EXPECT_TRUE(digest == DigestOf(op, batch, WordList{1, 2, 3, 4}));
  EXPECT_FALSE(digest ==
               DigestOf(op, batch, WordList{3, 4, 1, 2}));  // the answers of two cases swapped
  EXPECT_FALSE(digest == DigestOf(op, batch, WordList{2, 1, 3, 4}));
  EXPECT_FALSE(digest == DigestOf(op, batch, WordList{1, 2, 3, 5}));
  batch.first = 11;
  EXPECT_FALSE(digest == DigestOf(op, batch, WordList{1, 2, 3, 4}));
  Batch one = batch;
  one.Resize({1, 2, 1, 1}, 1);
  one.first = 10;
  Digest sum = DigestOf(op, one, WordList{1, 2});
  one.first = 11;
  sum += DigestOf(op, one, WordList{3, 4});
  EXPECT_TRUE(sum == digest);
}

TEST_F(RunTest, ShardsAddUpToTheWhole) {
  const RunReport whole = Run(Options("whole"));
  Digest digest = 0;
  uint64_t cases = 0, planned = 0;
  for (uint64_t shard = 0; shard < 3; ++shard) {
    RunOptions options = Options("shard" + std::to_string(shard));
    options.shard = shard;
    options.shards = 3;
    const RunReport outcome = Run(options);
    EXPECT_TRUE(outcome.rows[0].finished);
    EXPECT_TRUE(IsComplete(options.workdir));
    EXPECT_EQ(outcome.rows[0].total.cases, outcome.rows[0].planned_cases);
    digest += outcome.rows[0].total.device_digest;
    cases += outcome.rows[0].total.cases;
    planned += outcome.rows[0].planned_cases;
  }
  EXPECT_TRUE(digest == whole.rows[0].total.device_digest);
  EXPECT_EQ(cases, 9000u);
  EXPECT_EQ(planned, 9000u);
  EXPECT_TRUE(IsComplete(Path("whole")));
}

TEST_F(RunTest, MoreShardsThanUnits) {
  RunOptions options = Options("w");
  options.shard = 7;
  options.shards = 8;
  const RunReport outcome = Run(options);
  EXPECT_EQ(outcome.attempt->dot_products, 0u);
  EXPECT_EQ(outcome.rows[0].planned_cases, 0u);
}

TEST_F(RunTest, NoFaultIsCleanOnEveryModel) {
  RunOptions options = Options("w");
  options.ops = SmallestOperations();
  options.cases = 200;
  options.threads = 2;
  const RunReport outcome = Run(options);
  for (const RunReportRow& op : outcome.rows) {
    EXPECT_EQ(op.total.mismatches, 0u) << op.op->name;
    EXPECT_EQ(op.total.cases, 200u) << op.op->name;
    EXPECT_TRUE(op.finished) << op.op->name;
    EXPECT_THAT(op.planted, HasSubstr(" found in case ")) << op.op->name;
  }
  const RunReport report = outcome;
  for (const RunReportRow& row : report.rows) {
    EXPECT_THAT(row.empty_classes, IsEmpty()) << row.instruction;
  }
  EXPECT_THAT(outcome.findings, IsEmpty());
}

TEST_F(RunTest, ThisCpuAgreesWithTheModel) {
  const DeviceOr host = OpenDevice("host");
  ASSERT_TRUE(host.ok());
  RunOptions options = Options("w");
  options.ops.clear();
  for (const Operation& op : Operations()) {
    if ((*host)->Supports(op).ok()) options.ops.push_back(&op);
  }
  if (options.ops.empty()) GTEST_SKIP() << "this CPU has none of the instructions";
  options.threads = 2;
  const RunReport outcome = Run(options, "host");
  for (const RunReportRow& op : outcome.rows) {
    EXPECT_EQ(op.total.mismatches, 0u) << op.op->name;
    EXPECT_TRUE(op.finished) << op.op->name;
  }
}

TEST(PlannedCases, StopAtTheDotProducts) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");  // 128 an execution
  RunOptions options;
  options.cases = 1000;
  EXPECT_EQ(PlannedCases(options, op), 1000u);
  options.dot_products = 1280;
  EXPECT_EQ(PlannedCases(options, op), 10u);
  options.dot_products = 1281;
  EXPECT_EQ(PlannedCases(options, op), 11u);
  options.cases = 3;
  EXPECT_EQ(PlannedCases(options, op), 3u);
}

}  // namespace
}  // namespace mmadiff
