// Recorded products of BLAS libraries: their plans give the digests again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "corpus/stored_plans.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {
namespace {

using Json = nlohmann::json;

std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("corpus/plans/recordings")) {
    paths.push_back(entry.path());
  }
  return paths;
}

ProductFactors FactorsOf(const Json& recording) {
  return {recording.value("alpha", 1.0), recording.value("beta", 0.0)};
}

absl::StatusOr<std::string> Predicted(const Json& shape, const Format& format,
                                      const ProductFactors& factors) {
  std::vector<std::pair<std::string, std::string>> plans;
  for (const Json& plan : shape["plans"]) plans.emplace_back(plan["plan"], plan["where"]);
  return PredictedDigest({shape["m"], shape["n"], shape["k"]},
                         {{&format, &format, &format}, factors}, shape["seed"], plans);
}

TEST(PlanRecordings, PlansGiveTheDigests) {
  const auto paths = Recordings();
  ASSERT_FALSE(paths.empty());
  for (const auto& path : paths) {
    const Json recording = Json::parse(std::ifstream(path));
    const std::string device = recording["device"];
    const Format& format = device.find("dgemm") == device.npos ? kF32 : kF64;
    const ProductFactors factors = FactorsOf(recording);
    int same = 0, unexplained = 0;
    for (const Json& shape : recording["shapes"]) {
      if (shape["plans"].empty()) {
        ++unexplained;
        continue;
      }
      const auto digest = Predicted(shape, format, factors);
      ASSERT_TRUE(digest.ok()) << path << ": " << digest.status();
      same += *digest == shape["digest"];
      EXPECT_EQ(*digest == shape["digest"], shape["differing"] == 0) << path << ": " << shape;
    }
    EXPECT_GT(same, 19 * (static_cast<int>(recording["shapes"].size()) - same)) << path;
    EXPECT_LE(unexplained * 20, static_cast<int>(recording["shapes"].size())) << path;
  }
}

// A measured plan is one that its recording shows.
TEST(PlanRecordings, ShowThePlansOfTheTable) {
  int measured = 0;
  for (const StoredPlan& stored : StoredPlans()) {
    if (stored.grade != "measured") continue;
    ++measured;
    const Json recording = Json::parse(std::ifstream(stored.evidence));
    std::set<std::string> plans;
    for (const Json& used : recording["used"]) plans.insert(used["plan"]);
    EXPECT_THAT(plans, testing::Contains(stored.plan)) << stored.name();
  }
  EXPECT_GT(measured, 0);
}

// Plans with C need a product with beta.
TEST(PlanRecordings, FactorsDecide) {
  const Json recording =
      Json::parse(std::ifstream("corpus/plans/recordings/openblas_0.3.21_haswell_alpha_beta.json"));
  const Json& shape = recording["shapes"][0];
  ProductFactors factors = FactorsOf(recording);
  EXPECT_EQ(*Predicted(shape, kF32, factors), shape["digest"]);
  factors.alpha = 1;
  EXPECT_NE(*Predicted(shape, kF32, factors), shape["digest"]);
  EXPECT_EQ(Predicted(shape, kF32, {}).status().code(), absl::StatusCode::kDataLoss);
}

// A wrong plan, region or digest is seen.
TEST(PlanRecordings, SeesPlantedFaults) {
  const Json recording = Json::parse(std::ifstream(Recordings().front()));
  int seen = 0;
  const ProductFactors factors = FactorsOf(recording);
  for (Json shape : recording["shapes"]) {
    if (shape["plans"].size() != 2 || shape["m"].get<int64_t>() * shape["n"].get<int64_t>() < 100)
      continue;
    std::swap(shape["plans"][0]["plan"], shape["plans"][1]["plan"]);
    const auto digest = Predicted(shape, kF32, factors);
    ASSERT_TRUE(digest.ok()) << digest.status();
    EXPECT_NE(*digest, shape["digest"]) << shape;
    shape["plans"].erase(1);
    EXPECT_FALSE(Predicted(shape, kF32, factors).ok());
    if (++seen == 5) break;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace mmadiff
