#include "fuzz/report/run_report.h"

#include "fuzz/testing/folder_fixture.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunReportTest : public FolderTest {
 protected:
  RunReportTest() { builder_.AddShard(Manifest(), "w"); }

  // All units of both instructions, without a difference.
  void AddAll() {
    for (uint32_t instruction = 0; instruction < 2; ++instruction) {
      for (uint64_t u = 0; u < 10; ++u) builder_.Add(Equal(instruction, u));
    }
  }
  static UnitResult Equal(uint32_t instruction, uint64_t number) {
    UnitResult unit = Unit(instruction, number);
    unit.mismatches = 0;
    return unit;
  }
  static Finding Found(const std::string& bucket, bool flaky) {
    Finding finding;
    finding.op = "x86/vfmadd231ss";
    finding.bucket = ParseBucket(Family::kFusedSum, bucket);
    finding.path = bucket + ".txtpb";
    if (flaky) finding.bucket.repetition = Repetition::kFlaky;
    finding.unfixed = true;
    return finding;
  }

  RunReportBuilder builder_{Manifest()};
};

TEST_F(RunReportTest, AUnitCountsOnce) {
  AddAll();
  EXPECT_FALSE(builder_.Add(Equal(0, 3)));
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(report.units, 20u);
  EXPECT_EQ(report.total.cases, 1900u);
  EXPECT_TRUE(report.rows[0].finished);
  EXPECT_NE(report.digest, "");
  EXPECT_THAT(report.damage, IsEmpty());
}

TEST_F(RunReportTest, TwoAnswersToAUnitAreDamage) {
  UnitResult lie = Equal(0, 3);
  ++lie.device_digest;
  AddAll();
  builder_.AddShard(Manifest(), "v");
  EXPECT_FALSE(builder_.Add(lie));
  EXPECT_THAT(std::move(builder_).Finish().damage,
              ElementsAre("two different answers to unit 3 of x86/vdpbf16ps: w (counted) and v, "
                          "done by node1"));
}

// The first cases of a unit do not have more mismatches than the unit.
TEST_F(RunReportTest, APartThatContradictsItsUnitIsDamage) {
  UnitResult part = Unit(0, 3);
  part.dot_products /= 2;
  builder_.AddUnfinished(part);
  RunReportBuilder more = builder_;
  builder_.Add(Equal(0, 3));
  EXPECT_THAT(
      std::move(builder_).Finish().damage,
      ElementsAre(HasSubstr("two different answers to unit 3 of x86/vdpbf16ps: 3 mismatches")));
  more.Add(Unit(0, 3));
  EXPECT_THAT(std::move(more).Finish().damage, IsEmpty());
}

TEST_F(RunReportTest, ARunOfAnEarlierVersionIsTheSameRun) {
  RunManifest old = Manifest();
  old.id_of_text = true;
  EXPECT_TRUE(builder_.IsOf(old));
  old.seed = 9;
  EXPECT_FALSE(builder_.IsOf(old));
}

TEST_F(RunReportTest, AnUnfinishedUnitIsCountedAndHasNoDigest) {
  builder_.AddUnfinished(Unit(0, 0));
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(report.units, 0u);
  EXPECT_EQ(report.rows[0].total.mismatches, 3u);
  EXPECT_TRUE(report.rows[0].total.device_digest == 0);
  EXPECT_EQ(report.rows[0].state, RunReportRow::kDiffers);
  EXPECT_EQ(report.digest, "");
}

TEST_F(RunReportTest, EnoughCasesOfUnfinishedUnitsFinishNothing) {
  for (uint64_t u = 0; u < 10; ++u) builder_.AddUnfinished(Equal(0, u));
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(report.rows[0].total.cases, 950u);
  EXPECT_FALSE(report.rows[0].finished);
  EXPECT_THAT(Sentence(report.rows[0]), HasSubstr("incomplete; rate < 2.0e-04"));
}

TEST_F(RunReportTest, TheLargestPartOfAUnitCountsUntilItIsDone) {
  UnitResult small = Equal(0, 3);
  small.cases = 7;
  small.dot_products = 7 * 16;
  for (const UnitResult& part : {small, Equal(0, 3), small}) builder_.AddUnfinished(part);
  RunReportBuilder done = builder_;
  EXPECT_EQ(std::move(builder_).Finish().rows[0].total.cases, 100u);
  EXPECT_TRUE(done.Add(Equal(0, 3)));
  EXPECT_THAT(done.CountParts(), IsEmpty());
  EXPECT_EQ(std::move(done).Finish().units, 1u);
}

TEST_F(RunReportTest, AStoppedRowSaysSoUntilItsUnitIsDone) {
  builder_.AddUnfinished(Unit(0, 3));
  builder_.AddStop(Stop(0, 3, 1'700'000'000));
  RunReportBuilder done = builder_;
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(
      StoppedText(report),
      "1 of 2 instructions stopped at 20 mismatching cases (--max_mismatches), most recently at "
      "2023-11-14T22:13:20Z");
  EXPECT_EQ(
      Sentence(report.rows[0]),
      "the device differs from the model; stopped at 20 mismatching cases (--max_mismatches)");
  done.Add(Unit(0, 3));
  EXPECT_EQ(StoppedText(std::move(done).Finish()), "");
}

// Of an attempt that was killed, or of a version that did not store them.
TEST_F(RunReportTest, MismatchesThatNoUnitCountsAreThoseOfTheFindings) {
  builder_.Add(Equal(0, 3));
  builder_.Add(Found("b", false));
  builder_.Add(Found("c", false));
  const RunReport report = std::move(builder_).Finish();
  EXPECT_TRUE(report.at_least);
  EXPECT_FALSE(report.rows[0].at_least);
  EXPECT_EQ(report.rows[1].total.mismatches, 2u);
  EXPECT_EQ(MismatchesText(report.total.mismatches, report.at_least), "at least 2 mismatches");
  EXPECT_EQ(Sentence(report.rows[1]), "the device differs from the model in at least 2 cases");
}

TEST(MissingShards, AreNamed) {
  EXPECT_EQ(MissingShardsText({0, 1}, 2), "");
  EXPECT_EQ(MissingShardsText({0, 2}, 3), "shard 1 of 3 is missing");
  EXPECT_EQ(MissingShardsText({1}, 3), "shards 0, 2 of 3 are missing");
  EXPECT_EQ(MissingShardsText({2}, 11),
            "shards 0, 1, 3, 4, 5, 6, 7, 8 and 2 more of 11 are missing");
  EXPECT_EQ(MissingShards({}, ~uint64_t{0}).size(), kMaxMissing);
}

TEST_F(RunReportTest, ADroppedRowSaysSo) {
  AddAll();
  builder_.row(1).dropped = absl::InternalError("it hangs");
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(report.rows[0].state, RunReportRow::kAgrees);
  EXPECT_EQ(report.rows[1].state, RunReportRow::kDropped);
  EXPECT_EQ(Sentence(report.rows[1]), "dropped");
  EXPECT_THAT(ThinRows(report), IsEmpty());
}

// What an earlier attempt filed, and no unit shows.
TEST_F(RunReportTest, AFindingThatIsGoneDoesNotRepeat) {
  AddAll();
  builder_.Add(Found("b", false));
  builder_.Add(Found("b", false));
  const RunReport report = std::move(builder_).Finish();
  EXPECT_EQ(report.rows[1].state, RunReportRow::kUnrepeated);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings[0].beside, ElementsAre("b.txtpb"));
}

TEST_F(RunReportTest, OneFlakyFindingHidesNoOther) {
  builder_.Add(Unit(1, 0));
  builder_.Add(Found("flaky:b", true));
  EXPECT_EQ(RunReportBuilder(builder_).Finish().rows[1].state, RunReportRow::kUnrepeated);
  builder_.Add(Found("c", false));
  EXPECT_EQ(std::move(builder_).Finish().rows[1].state, RunReportRow::kDiffers);
}

// A difference that could not be asked again is one, but not beside what does not repeat.
TEST_F(RunReportTest, AnUnconfirmedFindingDecidesOnlyByItself) {
  builder_.Add(Unit(1, 1));
  Finding once = Found("unconfirmed:b", false);
  once.bucket.repetition = Repetition::kUnconfirmed;
  builder_.Add(once);
  EXPECT_EQ(RunReportBuilder(builder_).Finish().rows[1].state, RunReportRow::kDiffers);
  builder_.Add(Found("flaky:b", true));
  EXPECT_EQ(std::move(builder_).Finish().rows[1].state, RunReportRow::kUnrepeated);
}

}  // namespace
}  // namespace mmadiff
