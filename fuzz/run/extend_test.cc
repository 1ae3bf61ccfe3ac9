// Cases added to the folder of a run: what is done stays, and the result is that of a run that had
// all of them from the beginning.
#include "fuzz/folder/merge.h"
#include "fuzz/folder/recheck.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/report/run_status.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ExtendTest : public RunTest {
 protected:
  RunOptions With(const std::string& folder, uint64_t cases, bool extend = false) {
    RunOptions options = Options(folder);
    options.cases = cases;
    options.extend = extend;
    return options;
  }
  std::string Why(const RunOptions& options, absl::StatusCode code) {
    const absl::Status s = Try(options, [] { return OpenDevice("faulty:none=0"); }).status();
    EXPECT_EQ(s.code(), code) << s;
    return std::string(s.message());
  }
};

TEST_F(ExtendTest, OnlyThePartialUnitRunsAgainAndTheDigestIsThatOfAFreshRun) {
  Run(With("w", 9000));  // four units of 2048 and one of 808
  const RunReport extended = Run(With("w", 13000, true));
  EXPECT_EQ(extended.attempt->resumed_units, 4u);
  EXPECT_EQ(extended.attempt->dot_products, (13000u - 4 * 2048) * 128);
  EXPECT_THAT(extended.attempt->warnings, IsEmpty());
  EXPECT_TRUE(extended.rows[0].finished);
  EXPECT_EQ(extended.rows[0].total.cases, 13000u);
  const RunReport fresh = Run(With("fresh", 13000));
  EXPECT_EQ(extended.digest, fresh.digest);
  EXPECT_EQ(extended.rows[0].total.counts, fresh.rows[0].total.counts);
  // Again, to the end of a unit and past it; twice the same; and without --extend.
  Run(With("w", 8 * 2048, true));
  const RunReport third = Run(With("w", 20000, true));
  EXPECT_EQ(third.attempt->resumed_units, 8u);
  EXPECT_EQ(third.digest, Run(With("fresh3", 20000)).digest);
  EXPECT_EQ(Run(With("w", 20000, true)).attempt->dot_products, 0u);
  EXPECT_EQ(Run(With("w", 20000)).attempt->resumed_units, 10u);
  EXPECT_THAT(ReadManifest(Path("w"))->instructions[0].earlier_cases,
              ElementsAre(9000, 13000, 8 * 2048));
  const RunStatus status = *ReadRunStatus(Path("w"));
  EXPECT_EQ(status.units, 10u);
  EXPECT_EQ(status.planned_units, 10u);
  EXPECT_THAT(status.damage, IsEmpty());
  RecheckOptions everything;
  everything.share = 1;
  Console console(Color::kNever, true);
  const auto verified = Recheck(
      Path("w"), everything,
      [](const std::string& device) -> EngineOr {
        return std::make_unique<HostEngine>(*OpenDevice(device));
      },
      console);
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ(verified->done.size(), 10u);
  for (const Rechecked& unit : verified->done) EXPECT_FALSE(unit.DeviceDiffers());
}

// A run of many cases has larger units than one of few: the folder's stay.
TEST_F(ExtendTest, UnitsStayAsTheyWere) {
  Run(With("w", 9000));
  const uint64_t many = uint64_t{2049} << 17;
  RunOptions options = With("w", many, true);
  options.limit = TimeLimit::After(absl::ZeroDuration());
  EXPECT_EQ(Run(options).attempt->resumed_units, 4u);
  const RunManifest::Instruction extended = ReadManifest(Path("w"))->instructions[0];
  EXPECT_EQ(extended.cases, many);
  EXPECT_EQ(extended.unit_cases, 2048u);
  options.extend = false;
  EXPECT_EQ(Run(options).attempt->resumed_units, 4u);
  options = With("fresh", many);
  options.limit = TimeLimit::After(absl::ZeroDuration());
  Run(options);
  EXPECT_EQ(ReadManifest(Path("fresh"))->instructions[0].unit_cases, 4096u);
  EXPECT_THAT(Why(With("w", uint64_t{1} << 50, true), absl::StatusCode::kFailedPrecondition),
              HasSubstr("can have at most 4294967296 cases"));
}

TEST_F(ExtendTest, MismatchesOfTheUnitThatIsReplacedCountOnce) {
  const std::string lame = "faulty:fraction_bits=22";
  RunOptions options = With("w", 300);
  options.max_mismatches = 0;
  ASSERT_GT(Run(options, lame).rows[0].total.mismatches, 0u);
  options = With("w", 500, true);
  options.max_mismatches = 0;
  const RunReport extended = Run(options, lame);
  options = With("fresh", 500);
  options.max_mismatches = 0;
  const RunReport fresh = Run(options, lame);
  EXPECT_EQ(extended.rows[0].total.mismatches, fresh.rows[0].total.mismatches);
  EXPECT_EQ(extended.digest, fresh.digest);
}

TEST_F(ExtendTest, ShardsInAnyNumberOfStepsMergeToTheWholeRun) {
  for (const uint64_t shard : {0, 1}) {
    const std::string folder = absl::StrCat("s", shard);
    for (const uint64_t cases : {5000, 9000, 13000}) {
      if (shard == 1 && cases == 9000) continue;
      RunOptions options = With(folder, cases, cases > 5000);
      options.shard = shard;
      options.shards = 2;
      Run(options);
    }
  }
  bool not_durable;
  for (const auto& [out, first, second] :
       {std::tuple("whole", "s0", "s1"), std::tuple("other", "s1", "s0")}) {
    const auto merged = MergeRuns(Path(out), {Path(first), Path(second)}, not_durable);
    ASSERT_TRUE(merged.ok()) << merged.status();
    EXPECT_EQ(merged->units, 7u);
    EXPECT_THAT(merged->damage, IsEmpty());
  }
  EXPECT_EQ(Get(Path("whole/manifest.txtpb")), Get(Path("other/manifest.txtpb")));
  EXPECT_EQ(Get(Path("whole/units-merged.log")), Get(Path("other/units-merged.log")));
  EXPECT_TRUE(SumShards({*ReadRunStatus(Path("s0")), *ReadRunStatus(Path("s1"))}).ok());
  const RunReport whole = Run(With("whole", 20000, true));
  EXPECT_EQ(whole.attempt->resumed_units, 6u);
  EXPECT_EQ(whole.digest, Run(With("fresh", 20000)).digest);
  // One that has not all cases yet is another run.
  const auto behind = MergeRuns(Path("x"), {Path("whole"), Path("s0")}, not_durable).status();
  EXPECT_EQ(behind.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(behind.message()),
              HasSubstr("13000 cases in units of 2048, at first 5000"));
}

TEST_F(ExtendTest, WhatCannotBeExtended) {
  const auto usage = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(
      Why(With("w", 9000, true), absl::StatusCode::kInvalidArgument),
      AllOf(HasSubstr(Path("w") + " is not the folder of a run"), HasSubstr("remove --extend")));
  EXPECT_FALSE(std::filesystem::exists(Path("w")));
  Run(With("w", 9000));
  const std::string before = Get(Path("w/manifest.txtpb"));
  EXPECT_THAT(Why(With("w", 13000), usage), HasSubstr("add --extend to raise its cases"));
  EXPECT_THAT(Why(With("w", 5000), usage), Not(HasSubstr("--extend")));
  EXPECT_THAT(Why(With("w", 5000, true), usage),
              AllOf(HasSubstr("9000 cases"), HasSubstr("5000 cases"), HasSubstr("only raises")));
  RunOptions other = With("w", 13000, true);
  other.seed = 2;
  EXPECT_THAT(Why(other, usage), AllOf(HasSubstr("seed: stored 1"), HasSubstr("only raises")));
  other = With("w", 13000);
  other.forever = true;
  EXPECT_THAT(Why(other, usage), Not(HasSubstr("--extend")));
  EXPECT_EQ(Get(Path("w/manifest.txtpb")), before);
  Run(With("w", 13000, true));
  EXPECT_THAT(Why(With("w", 9000), usage), Not(HasSubstr("--extend")));
}

}  // namespace
}  // namespace mmadiff
