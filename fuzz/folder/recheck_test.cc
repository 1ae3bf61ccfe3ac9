// Finished units again: what was changed in the log, or on the way to it, is found.
#include "fuzz/folder/recheck.h"

#include <set>

#include "fuzz/folder/run_folder.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RecheckTest : public RunTest {
 protected:
  // A run of 5 units, whose units `change` makes others: a log of its own, good in every checksum.
  std::string Planted(const std::function<void(UnitResult&)>& change) {
    const RunOptions options = Options("w");
    Run(options);
    const auto manifest = *ReadManifest(options.workdir);
    std::vector<UnitResult> units;
    EXPECT_TRUE(ReadUnits(options.workdir, manifest, [&](const UnitResult& unit) {
                  units.push_back(unit);
                }).ok());
    EXPECT_THAT(units, SizeIs(5));
    const std::vector<std::string> logs = *UnitLogsIn(options.workdir);
    for (const std::string& path : logs) std::filesystem::remove(path);
    auto log = *UnitLog::Create(options.workdir, RunIdOf(manifest));
    for (UnitResult& unit : units) {
      change(unit);
      EXPECT_TRUE(log->Append(unit).ok());
    }
    EXPECT_TRUE(log->Flush().ok());
    return options.workdir;
  }
  static absl::StatusOr<RecheckOutcome> Try(const std::string& folder, RecheckOptions options = {},
                                            const std::string& device = "faulty:none=0") {
    if (options.units == 0 && options.share == 0) options.share = 1;
    Console console(Color::kNever, true);
    return Recheck(
        folder, options, [&](const std::string&) { return OpenEngine(device); }, console);
  }
  // Units that differ, by number.
  static std::vector<uint64_t> Differing(const RecheckOutcome& outcome) {
    std::vector<uint64_t> numbers;
    for (const Rechecked& unit : outcome.done) {
      if (unit.ModelDiffers() || unit.DeviceDiffers()) numbers.push_back(unit.stored.unit);
    }
    return numbers;
  }
};

TEST_F(RecheckTest, WhatTheRunDidIsEqual) {
  const std::string folder = Planted([](UnitResult&) {});
  RecheckOptions threads;
  threads.threads = 3;
  const auto outcome = Try(folder, threads);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->done, SizeIs(5));
  EXPECT_THAT(Differing(*outcome), testing::IsEmpty());
}

TEST_F(RecheckTest, ALogThatCannotBeReadIsDamageAndTheOthersAreVerified) {
  const std::string folder = Planted([](UnitResult&) {});
  std::filesystem::create_directory(folder + "/units-000000-0.log");
  auto outcome = Try(folder);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->done, SizeIs(5));
  EXPECT_THAT(outcome->damage, testing::ElementsAre(HasSubstr("units-000000-0.log")));
  for (const std::string& path : Files(folder, ".log")) {
    if (std::filesystem::is_regular_file(path)) std::filesystem::remove(path);
  }
  outcome = Try(folder);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->done, SizeIs(0));
  EXPECT_THAT(outcome->damage, SizeIs(1));
}

// Units of a schedule have a class each: their cases are those of the class of the unit's turn.
TEST_F(RecheckTest, AScheduledRunIsExecutedAgainByItsSchedule) {
  RunOptions options = Options("w");
  options.strategy = &Scheduled();
  options.schedules = {ClassSchedule::Plan(*options.ops[0], options.seed)};
  options.max_mismatches = 0;
  options.cases = 20 * options.schedules[0].size();
  Run(options, "faulty:fraction_bits=20");
  const auto outcome = Try(options.workdir, {}, "faulty:fraction_bits=20");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GT(outcome->finished, 5u);
  EXPECT_THAT(outcome->done, SizeIs(outcome->finished));
  EXPECT_THAT(Differing(*outcome), testing::IsEmpty());
  std::set<uint64_t> mismatches;
  for (const Rechecked& unit : outcome->done) mismatches.insert(unit.now.mismatches);
  EXPECT_GT(mismatches.size(), 1u) << "the classes are not alike";
  EXPECT_THAT(Differing(*Try(options.workdir)), testing::Not(testing::IsEmpty()));
}

// Both digests alike, as if a word had been changed on its way to both.
TEST_F(RecheckTest, AUnitWithConsistentlyChangedDigestsIsFound) {
  const std::string folder = Planted([](UnitResult& unit) {
    if (unit.unit == 3) unit.device_digest = unit.model_digest += 1;
  });
  const auto outcome = Try(folder);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Differing(*outcome), testing::ElementsAre(3));
  EXPECT_TRUE(outcome->done[3].ModelDiffers());
}

// Coverage that a unit only says it has is found; what it does not say is not missed.
TEST_F(RecheckTest, AUnitWithOtherCoverageIsFound) {
  const std::string folder = Planted([](UnitResult& unit) {
    if (unit.unit == 2) unit.coverage.assign(unit.coverage.size(), 500);
    if (unit.unit == 3) unit.coverage.clear();
  });
  const auto outcome = Try(folder);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Differing(*outcome), testing::ElementsAre(2));
  EXPECT_TRUE(outcome->done[2].ModelDiffers());
}

TEST_F(RecheckTest, AnotherDeviceDigestIsTheDevices) {
  const std::string folder = Planted([](UnitResult& unit) {
    if (unit.unit != 1) return;
    unit.device_digest += 1;
    unit.mismatches = 1;
    unit.mismatching_cases = {unit.first_case};
  });
  const auto outcome = Try(folder);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Differing(*outcome), testing::ElementsAre(1));
  EXPECT_FALSE(outcome->done[1].ModelDiffers());
  EXPECT_TRUE(outcome->done[1].DeviceDiffers());
  RecheckOptions one;
  one.instruction = kMma;
  one.unit = 1;
  EXPECT_THAT(Try(folder, one)->done, SizeIs(1));
  one.unit = 7;
  EXPECT_THAT(std::string(Try(folder, one).status().message()), HasSubstr("no finished unit 7"));
}

TEST_F(RecheckTest, AnotherDeviceIsHeldAgainstTheStoredOne) {
  const std::string folder = Planted([](UnitResult&) {});
  RecheckOptions two;
  two.units = 2;
  const auto outcome = Try(folder, two, "faulty:fraction_bits=20");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->done, SizeIs(2));
  EXPECT_THAT(Differing(*outcome), SizeIs(2));
  ASSERT_TRUE(outcome->other_device.has_value());
  EXPECT_THAT(Name(*outcome->other_device), HasSubstr("fraction_bits=20"));
}

TEST_F(RecheckTest, NothingFinishedIsNoPass) {
  RunOptions options = Options("none");
  options.limit = TimeLimit::After(absl::ZeroDuration());
  Run(options);
  EXPECT_EQ(Try(options.workdir).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(RecheckTest, ALostDeviceAndALimitAreNoPass) {
  const std::string folder = Planted([](UnitResult&) {});
  EXPECT_FALSE(Try(folder, {}, "faulty:dead=2")->device.ok());
  RecheckOptions options;
  options.limit = TimeLimit::After(absl::ZeroDuration());
  const auto outcome = Try(folder, options);
  EXPECT_EQ(outcome->stopped_by.kind, StopCause::kTimeLimit);
  EXPECT_THAT(outcome->done, SizeIs(0));
}

// A sample of as many units as there are pairs of instruction and machine has one of each; a larger
// one contains it; a seed of its own chooses others.
TEST(Sample, IsSpreadOverInstructionsAndMachines) {
  std::vector<UnitResult> units;
  for (uint64_t u = 0; u < 300; ++u) {
    UnitResult unit;
    unit.unit = u;
    unit.instruction = u < 290 ? 0 : 1;  // few of the second
    unit.machine.host = u % 10 == 0 ? "rare" : "node";
    units.push_back(unit);
  }
  std::set<std::pair<uint32_t, std::string>> pairs;
  const auto four = Sample(units, 4, 1);
  for (const UnitResult& unit : four) pairs.emplace(unit.instruction, unit.machine.host);
  EXPECT_EQ(pairs.size(), 4u);
  const auto forty = Sample(units, 40, 1);
  EXPECT_TRUE(std::equal(four.begin(), four.end(), forty.begin()));
  EXPECT_NE(Sample(units, 40, 2), forty);
  std::ranges::reverse(units);
  EXPECT_EQ(Sample(units, 40, 1), forty);
  EXPECT_THAT(Sample(units, 1000, 1), SizeIs(300));
}

}  // namespace
}  // namespace mmadiff
