// What a folder says of its run.
#include "fuzz/report/run_status.h"

#include <sys/stat.h>

#include "fuzz/testing/folder_fixture.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunStatusTest : public FolderTest {
 protected:
  static RunStatus Read(const std::string& path) {
    absl::StatusOr<RunStatus> status = ReadRunStatus(path);
    EXPECT_TRUE(status.ok()) << status.status();
    return status.ok() ? *std::move(status) : RunStatus();
  }
  // 100 cases of 16 dot products that took so long.
  static UnitResult Timed(uint64_t number, uint64_t ended, double seconds) {
    UnitResult unit = Unit(0, number);
    unit.ended = ended;
    unit.seconds = seconds;
    return unit;
  }
};

TEST_F(RunStatusTest, CountsWhatIsDone) {
  const std::string folder = Attempt("w", {Unit(0, 0), Unit(1, 9, "node2"), Unit(1, 3)});
  Put("w/distrusted.txt", "op: why\n");
  File(folder, 1, 2);
  const RunStatus s = Read(folder);
  EXPECT_EQ(s.units, 3u);
  EXPECT_EQ(s.planned_units, 20u);
  EXPECT_EQ(s.total.cases, 250u);
  EXPECT_EQ(s.total.mismatches, 9u);
  EXPECT_EQ(s.findings.size(), 1u);
  EXPECT_THAT(s.distrusted, ElementsAre("op: why"));
  EXPECT_THAT(s.machines, ElementsAre("node1", "node2"));
  EXPECT_EQ(s.last_ended, 1'700'000'009u);
  EXPECT_EQ(s.writer, "");
  EXPECT_THAT(s.damage, IsEmpty());
}

// Two threads of ten seconds, a stop of a thousand, and a unit of less than a second: 11 + 10 + 1.
TEST_F(RunStatusTest, TheRateIsThatOfTheSecondsAtWork) {
  const RunStatus s = Read(
      Attempt("w", {Timed(0, 1010, 10), Timed(1, 1010, 9), Timed(2, 2019, 9), Timed(3, 3000, 0)}));
  EXPECT_DOUBLE_EQ(s.rate, 4 * 1600 / 22.0);
  const double missing = 950 * 16 + 950 - 4 * 1600;
  EXPECT_DOUBLE_EQ(s.seconds_left, missing / s.rate);
  const RunStatus unknown = Read(Attempt("v", {Timed(0, 0, 5)}));  // of an older version
  EXPECT_EQ(unknown.rate, 0);
  EXPECT_EQ(unknown.seconds_left, 0);
  EXPECT_GT(Read(Attempt("u", {Timed(0, 7, 1e300)})).rate, 0);
}

TEST_F(RunStatusTest, NothingIsLeftOfAStoppedInstruction) {
  const RunStatus s = Read(Attempt("w", {Timed(0, 1010, 9), Stop(0, 1, 1011)}));
  EXPECT_GT(s.rate, 0);
  EXPECT_DOUBLE_EQ(s.seconds_left, 950 / s.rate);  // of the other
  const RunStatus v = Read(Attempt("v", {Timed(0, 1010, 9), Stop(0, 1, 1011), Stop(1, 0, 1012)}));
  EXPECT_EQ(v.seconds_left, 0);
  const auto sum = SumShards({v});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_THAT(StoppedText(*sum), HasSubstr("2 of 2 instructions stopped at 20 mismatching cases"));
}

TEST_F(RunStatusTest, SaysWhoWritesAndDoesNotMindTheEndOfALog) {
  const std::string folder = Attempt("w", {Unit(0, 1), Unit(0, 2)});
  const std::string log = UnitLogsIn(folder)->front();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5);
  std::string warning;
  auto lock = *FolderLock::Take(folder, warning);
  EXPECT_THAT(Read(folder).writer, HasSubstr(absl::StrCat("pid ", getpid())));
  EXPECT_THAT(Read(folder).damage, IsEmpty());
  lock.reset();
  EXPECT_EQ(Read(folder).writer, "");
  EXPECT_THAT(Read(folder).damage, ElementsAre(HasSubstr("truncated block")));
}

TEST_F(RunStatusTest, TwoAnswersToOneUnitAreDamage) {
  const std::string folder = Attempt("w", {Unit(0, 1)});
  UnitResult lie = Unit(0, 1);
  lie.device_digest += 1;
  Attempt("w", {lie});
  EXPECT_THAT(Read(folder).damage, ElementsAre(HasSubstr("two different answers")));
}

TEST_F(RunStatusTest, ALogThatCannotBeReadHidesNoOther) {
  const std::string folder = Attempt("w", {Unit(0, 0), Unit(0, 1)});
  Attempt("w", {Unit(1, 2)});
  for (const char* first_middle_last :
       {"units-000000-0.log", "units-000000-x.log", "units-999999-1.log"}) {
    const std::string log = folder + "/" + first_middle_last;
    std::filesystem::create_directory(log);
    const RunStatus s = Read(folder);
    EXPECT_EQ(s.units, 3u) << log;
    EXPECT_EQ(s.total.cases, 300u) << log;
    EXPECT_THAT(s.damage, ElementsAre(HasSubstr(log)));
    std::filesystem::remove(log);
  }
}

TEST_F(RunStatusTest, APipeInPlaceOfALogHidesNoOther) {
  const std::string folder = Attempt("w", {Unit(0, 0)}), pipe = folder + "/units-000000-0.log";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const RunStatus s = Read(folder);
  EXPECT_EQ(s.units, 1u);
  EXPECT_THAT(s.damage, ElementsAre(HasSubstr(pipe)));
}

// What is not read is said.
TEST_F(RunStatusTest, FilesUnderNamesThatNoRunGivesAreNamed) {
  const std::string folder = Attempt("w", {Unit(0, 0)});
  File(folder, 1, 2);
  std::filesystem::create_directory(Path("elsewhere"));
  Put("w/notes.log", "a log of somebody else");
  EXPECT_THAT(Read(folder).damage, IsEmpty());
  const std::string log = UnitLogsIn(folder)->front(), finding = Read(folder).findings[0].path;
  std::filesystem::rename(log, folder + "/old.log");
  Put("w/units-000001-1.log.gz", "packed");
  std::filesystem::rename(finding, finding + ".bak");
  std::filesystem::create_symlink(Path("elsewhere"), folder + "/findings/more");
  const RunStatus s = Read(folder);
  EXPECT_EQ(s.units, 0u);
  EXPECT_THAT(s.damage, ElementsAre(HasSubstr("old.log"), HasSubstr(".log.gz"),
                                    HasSubstr("findings/more"), HasSubstr(".txtpb.bak")));
}

TEST_F(RunStatusTest, AFindingOfAnotherDeviceIsDamage) {
  RunManifest manifest = Manifest();
  manifest.device = "faulty:terms=8";
  const std::string folder = Attempt("w", {Unit(0, 1)}, manifest);
  File(folder, 1, 2);
  EXPECT_THAT(Read(folder).damage, ElementsAre(HasSubstr("a finding of a different run")));
  EXPECT_THAT(Read(folder).findings, IsEmpty());
}

TEST_F(RunStatusTest, FailingInputsAreFindingsOfTheirRun) {
  const std::string folder = Attempt("w", {Unit(0, 1)});
  FileFailure(folder, {FailureKind::kHang});
  EXPECT_THAT(Read(folder).damage, IsEmpty());
  EXPECT_EQ(Read(folder).findings.size(), 1u);
  const std::string other = Attempt("v", {Unit(0, 1)});
  FileFailure(other, {FailureKind::kHang}, "faulty:terms=8");
  EXPECT_THAT(Read(other).damage, ElementsAre(HasSubstr("a finding of a different run")));
}

TEST_F(RunStatusTest, NothingIsWritten) {
  const std::string folder = Attempt("w", {Unit(0, 1)});
  const auto before = std::filesystem::last_write_time(folder);
  Read(folder);
  EXPECT_EQ(std::filesystem::last_write_time(folder), before);
  EXPECT_FALSE(std::filesystem::exists(folder + "/writer.lock"));
}

TEST_F(RunStatusTest, ShardsAddUpAndTheMissingOnesAreNamed) {
  const RunStatus s0 = Read(Attempt("0", {Unit(0, 0), Unit(0, 3)}, Manifest(0, 3))),
                  s2 = Read(Attempt("2", {Unit(1, 2)}, Manifest(2, 3)));
  const auto sum = SumShards({s0, s2});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->units, 3u);
  EXPECT_EQ(sum->planned_units, 20u);
  EXPECT_EQ(sum->total.cases, 300u);
  EXPECT_EQ(MissingShardsText(sum->seen, sum->shards), "shard 1 of 3 is missing");
  EXPECT_EQ(s0.planned_units, 8u);
  EXPECT_TRUE(absl::IsInvalidArgument(SumShards({s0, s0}).status()));
  const RunStatus other = Read(Attempt("4", {}, Manifest(1, 4)));
  EXPECT_THAT(std::string(SumShards({s0, other}).status().message()),
              HasSubstr("shards: stored 3, wanted 4"));
}

}  // namespace
}  // namespace mmadiff
