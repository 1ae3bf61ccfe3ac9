// Recorded products of BLAS libraries: their plans give the digests again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "corpus/stored_plans.h"
#include "sim/plan/order.h"
#include "triage/plan/recording.h"

namespace mmadiff {
namespace {

std::vector<std::string> Recordings() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("corpus/plans/recordings")) {
    paths.push_back(entry.path());
  }
  return paths;
}

absl::StatusOr<std::string> Predicted(const RecordedShape& shape, const ProductKind& kind) {
  return PredictedDigest(shape.shape, kind, shape.seed, shape.plans);
}

TEST(PlanRecordings, PlansGiveTheDigests) {
  ASSERT_FALSE(Recordings().empty());
  for (const std::string& path : Recordings()) {
    const auto recording = ReadPlanRecording(path);
    ASSERT_TRUE(recording.ok()) << recording.status();
    const int count = static_cast<int>(recording->shapes.size());
    int same = 0, unexplained = 0;
    for (const RecordedShape& shape : recording->shapes) {
      if (shape.plans.empty()) {
        ++unexplained;
        continue;
      }
      const auto digest = Predicted(shape, recording->kind);
      ASSERT_TRUE(digest.ok()) << path << ": " << digest.status();
      same += *digest == shape.digest;
      EXPECT_EQ(*digest == shape.digest, shape.differing == 0) << path << ShapeText(shape.shape);
    }
    EXPECT_GT(same, 19 * (count - same)) << path;
    EXPECT_LE(unexplained * 20, count) << path;
  }
}

// Every measured row of corpus/plans has the order of plans of its recording, also for a long k.
TEST(PlanRecordings, HaveThePlansOfTheTable) {
  constexpr int64_t kLong = 250;
  for (const StoredPlan& row : StoredPlans()) {
    if (row.grade != "measured") continue;
    const auto recording = ReadPlanRecording(row.evidence);
    ASSERT_TRUE(recording.ok()) << recording.status();
    std::string error;
    const Plan plan = *ParsePlan(row.plan, &error);
    const bool is_there = std::ranges::any_of(recording->shapes, [&](const RecordedShape& s) {
      return s.shape.k >= kLong && std::ranges::any_of(s.plans, [&](const auto& of) {
               const Plan recorded = *ParsePlan(of.first, &error);
               return recorded.operation == plan.operation && recorded.unfused == plan.unfused &&
                      OrderAt(recorded, s.shape.k) == OrderAt(plan, s.shape.k);
             });
    });
    EXPECT_TRUE(is_there) << row.name() << ": " << row.plan;
  }
}

// Plans with C need a product with beta.
TEST(PlanRecordings, FactorsDecide) {
  const auto recording =
      ReadPlanRecording("corpus/plans/recordings/openblas_0.3.21_haswell_alpha_beta.json");
  ASSERT_TRUE(recording.ok()) << recording.status();
  const RecordedShape& shape = recording->shapes[0];
  ProductKind kind = recording->kind;
  EXPECT_EQ(*Predicted(shape, kind), shape.digest);
  kind.factors.alpha = 1;
  EXPECT_NE(*Predicted(shape, kind), shape.digest);
  kind.factors = {};
  EXPECT_EQ(Predicted(shape, kind).status().code(), absl::StatusCode::kDataLoss);
}

// A wrong plan, region or digest is seen.
TEST(PlanRecordings, SeesPlantedFaults) {
  const auto recording = ReadPlanRecording("corpus/plans/recordings/openblas_0.3.21_haswell.json");
  ASSERT_TRUE(recording.ok()) << recording.status();
  int seen = 0;
  const ProductKind& kind = recording->kind;
  for (RecordedShape shape : recording->shapes) {
    if (shape.plans.size() != 2 || shape.shape.m * shape.shape.n < 100) continue;
    std::swap(shape.plans[0].first, shape.plans[1].first);
    const auto digest = Predicted(shape, kind);
    ASSERT_TRUE(digest.ok()) << digest.status();
    EXPECT_NE(*digest, shape.digest) << ShapeText(shape.shape);
    shape.plans.pop_back();
    EXPECT_FALSE(Predicted(shape, kind).ok());
    if (++seen == 5) break;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace mmadiff
