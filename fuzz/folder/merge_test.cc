// Merging folders of a run: the result depends on what they hold alone, and nothing that disagrees is
// merged in silence.
#include "fuzz/folder/merge.h"

#include <sys/stat.h>

#include <random>

#include "fuzz/folder/run_folder.h"
#include "fuzz/testing/folder_fixture.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MergeTest : public FolderTest {
 protected:
  absl::StatusOr<Merged> Try(const std::string& out, const std::vector<std::string>& in) {
    return MergeRuns(out, in, not_durable_);
  }
  Merged Merge(const std::string& out, const std::vector<std::string>& in) {
    absl::StatusOr<Merged> merged = Try(out, in);
    EXPECT_TRUE(merged.ok()) << merged.status();
    return merged.ok() ? *std::move(merged) : Merged();
  }
  std::string Why(const std::string& out, const std::vector<std::string>& in,
                  absl::StatusCode code) {
    const absl::Status s = Try(out, in).status();
    EXPECT_EQ(s.code(), code) << s;
    return std::string(s.message());
  }
  std::vector<UnitResult> Shard(uint64_t shard, uint64_t shards) {
    std::vector<UnitResult> units;
    for (uint64_t u = shard; u < 10; u += shards) {
      units.push_back(Unit(0, u));
      units.push_back(Unit(1, u));
    }
    return units;
  }

  bool not_durable_ = false;
};

TEST_F(MergeTest, OfEqualAnswersTheOneWithCoverageStays) {
  UnitResult without = Unit(0, 1);
  without.coverage.clear();
  without.ended = 1;
  Merge(Path("out"), {Attempt("a", {without}), Attempt("b", {Unit(0, 1)})});
  EXPECT_EQ(ReadRunFolder(Path("out"))->stored.totals[0].coverage, Covered(0));
}

TEST_F(MergeTest, StopsOfUnitsThatNoFolderHasStay) {
  const std::string a = Attempt("a", {Stop(0, 1, 7), Stop(1, 2, 7)}),
                    b = Attempt("b", {Unit(0, 1), Stop(1, 2, 9)});
  Merge(Path("ab"), {a, b});
  Merge(Path("ba"), {b, a, Path("ab")});
  EXPECT_EQ(Contents(Path("ab")), Contents(Path("ba")));
  const auto read = ReadRunFolder(Path("ab"));
  EXPECT_THAT(read->warnings, IsEmpty());
  EXPECT_THAT(read->stored.stops[0], IsEmpty());
  EXPECT_EQ(read->stored.stops[1].at(2), Stop(1, 2, 9));
}

TEST_F(MergeTest, AFolderThatIsNoneOfARunHidesNoOther) {
  const std::string a = Attempt("a", {Unit(0, 1)});
  std::filesystem::create_directory(Path("empty"));
  const Merged merged = Merge(Path("out"), {Path("empty"), a, Path("nowhere")});
  EXPECT_EQ(merged.units, 1u);
  EXPECT_EQ(merged.folders, 1u);
  EXPECT_THAT(merged.warnings, ElementsAre(HasSubstr("empty: no run has begun there")));
  EXPECT_THAT(merged.damage, ElementsAre(HasSubstr("nowhere does not exist")));
  EXPECT_THAT(Why(Path("none"), {Path("empty")}, absl::StatusCode::kInvalidArgument),
              HasSubstr("is empty"));
}

TEST_F(MergeTest, RemovesTheTornLogsOfItsOwnNamesAlone) {
  const std::string a = Attempt("a", {Unit(0, 1)});
  Merge(Path("out"), {a});
  Put("out/units-merged.log.tmp0a1b2c", "torn");
  Put("out/units-merged.log.tmp_my_backup", "of the user");
  Merge(Path("out"), {a});
  EXPECT_FALSE(std::filesystem::exists(Path("out/units-merged.log.tmp0a1b2c")));
  EXPECT_TRUE(std::filesystem::exists(Path("out/units-merged.log.tmp_my_backup")));
}

TEST_F(MergeTest, APipeIsNamedAndNotWaitedFor) {
  const std::string folder = Attempt("a", {Unit(0, 1)});
  ASSERT_EQ(mkfifo((folder + "/units-000009-1.log").c_str(), 0600), 0);
  bool not_durable;
  const auto merged = MergeRuns(Path("out"), {folder}, not_durable);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->units, 1u);
  EXPECT_THAT(merged->damage, ElementsAre(HasSubstr("units-000009-1.log")));
  ASSERT_EQ(mkfifo(Path("manifest.txtpb").c_str(), 0600), 0);
  EXPECT_THAT(Why(Path("none"), {Path("")}, absl::StatusCode::kDataLoss), HasSubstr("manifest"));
}

// Folders with random parts of a run and copies of each other, some of shards, merged in random
// nestings: the same bytes, whatever the order.
TEST_F(MergeTest, TheSameSetGivesTheSameBytesInEveryOrderAndNesting) {
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    const std::string base = absl::StrCat("r", round, "/");
    std::vector<std::string> folders;
    for (uint64_t f = 0; f < 6; ++f) {
      const bool shard = random() % 2 == 0;
      const RunManifest manifest = shard ? Manifest(f % 3, 3) : Manifest();
      std::vector<UnitResult> units;
      for (UnitResult unit : Shard(manifest.shard, manifest.shards)) {
        if (random() % 3 == 0) continue;
        unit.machine.host =
            absl::StrCat("node", random() % 4);  // the same answers of another attempt
        unit.ended += random() % 3;
        unit.seconds = static_cast<double>(random() % 5);
        units.push_back(unit);
      }
      std::shuffle(units.begin(), units.end(), random);
      folders.push_back(Attempt(absl::StrCat(base, f), units, manifest));
      File(folders.back(), random() % 4, random() % 2);
      Put(absl::StrCat(base, f, "/distrusted.txt"), absl::StrCat("op: why ", random() % 3, "\n"));
      Put(absl::StrCat(base, f, "/hardware"), absl::StrCat("GPU-", f, "\n"));
    }
    Merge(Path(base + "flat"), folders);
    const auto flat = Contents(Path(base + "flat"));
    ASSERT_TRUE(flat.contains(kMergedLog));
    for (int nesting = 0; nesting < 5; ++nesting) {
      std::vector<std::string> rest = folders;
      for (int step = 0; rest.size() > 1; ++step) {
        std::shuffle(rest.begin(), rest.end(), random);
        const size_t taken = 1 + random() % rest.size();
        std::vector<std::string> some(rest.begin(), rest.begin() + static_cast<long>(taken));
        some.push_back(some.front());  // twice
        const std::string out = Path(absl::StrCat(base, "n", nesting, ".", step));
        Merge(out, some);
        if (random() % 2 == 0) Merge(out, some);  // again
        rest.erase(rest.begin(), rest.begin() + static_cast<long>(taken));
        rest.push_back(out);
        if (taken == 1 && rest.size() > 1) continue;
      }
      const auto nested = Contents(rest.front());
      ASSERT_EQ(nested.at(kMergedLog), flat.at(kMergedLog)) << round << " " << nesting;
      ASSERT_EQ(nested.at("distrusted.txt"), flat.at("distrusted.txt"));
      ASSERT_EQ(nested.at("hardware"), flat.at("hardware"));
      ASSERT_EQ(nested.at("manifest.txtpb"), flat.at("manifest.txtpb"));
      ASSERT_EQ(nested.size(), flat.size());  // findings have their names of their inputs
      for (const auto& [name, text] : flat) ASSERT_TRUE(nested.contains(name)) << name;
    }
  }
}

TEST_F(MergeTest, ShardsOfOtherCountsAreTheWholeRun) {
  const Merged merged = Merge(Path("out"), {Attempt("s0", Shard(0, 2), Manifest(0, 2)),
                                            Attempt("t1", Shard(1, 4), Manifest(1, 4)),
                                            Attempt("t3", Shard(3, 4), Manifest(3, 4))});
  EXPECT_EQ(merged.units, 20u);
  EXPECT_EQ(merged.planned_units, 20u);
  EXPECT_EQ(merged.totals[0].cases, 950u);
  EXPECT_THAT(merged.damage, IsEmpty());
  // A run reads it as its own.
  std::vector<UnitResult> read;
  const auto stored =
      ReadUnits(Path("out"), Manifest(), [&](const UnitResult& unit) { read.push_back(unit); });
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->damage, IsEmpty());
  ASSERT_EQ(read.size(), 20u);
  EXPECT_EQ(read[9], Unit(0, 9));
  EXPECT_EQ(read[10], Unit(1, 0));
}

TEST_F(MergeTest, ALyingUnitIsAnAlarmAndLeavesOutAsItWas) {
  UnitResult lie = Unit(1, 4, "node2, GPU-7");
  lie.device_digest += 1;
  const std::string good = Attempt("good", {Unit(0, 1), Unit(1, 4)}), bad = Attempt("bad", {lie});
  EXPECT_THAT(Why(Path("new"), {good, bad}, absl::StatusCode::kAborted),
              AllOf(HasSubstr("unit 4 of x86/vfmadd231ss, cases 400 to 499"), HasSubstr("node1 ("),
                    HasSubstr("node2, GPU-7 ("), HasSubstr("one of the devices")));
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
  const auto before = Contents(good);
  Why(good, {bad}, absl::StatusCode::kAborted);
  EXPECT_EQ(Contents(good), before);
  // Counts that differ are a lie too.
  lie = Unit(1, 4);
  lie.mismatches += 1;
  Why(Path("new"), {good, Attempt("bad2", {lie})}, absl::StatusCode::kAborted);
}

// The first cases of a unit do not have more mismatches than the unit.
TEST_F(MergeTest, APartThatContradictsItsUnitIsAnAlarm) {
  UnitResult part = Unit(0, 1);
  UnitResult whole = part;
  part.part = true;
  part.cases /= 2;
  part.dot_products /= 2;
  part.mismatching_cases = {};
  part.device_digest = part.model_digest = 0;
  const std::string begun = Attempt("part", {part});
  Merge(Path("good"), {begun, Attempt("same", {whole})});
  whole.mismatches -= 1;
  const std::string other = Attempt("other", {whole});
  for (const std::vector<std::string>& in : {std::vector{begun, other}, {other, begun}}) {
    EXPECT_THAT(Why(Path("new"), in, absl::StatusCode::kAborted),
                HasSubstr("two different answers to unit 1 of"));
  }
}

TEST_F(MergeTest, FailuresAndPartsThatAnAttemptGoesOnBehindAreKept) {
  UnitResult begun = Unit(0, 1);
  begun.part = true;
  begun.cases /= 2;
  begun.dot_products /= 2;
  begun.mismatches = 0;
  begun.mismatching_cases = {};
  begun.device_digest = begun.model_digest;
  UnitResult once = begun, twice = begun;
  once.cases = once.dot_products = twice.cases = twice.dot_products = 0;
  once.device_digest = once.model_digest = twice.device_digest = twice.model_digest = 0;
  once.failures = 1;
  twice.failures = 2;
  Merge(Path("merged"), {Attempt("x", {twice}), Attempt("y", {once, begun})});
  const auto stored = ReadUnits(Path("merged"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->failures[0], ElementsAre(testing::Pair(1, 2)));
  EXPECT_EQ(stored->begun[0].at(1), begun);
}

TEST_F(MergeTest, OfAnOldAndANewVersionTheNewIdStays) {
  RunManifest old = Manifest(0, 2);
  old.id_of_text = true;
  const std::string x = Attempt("x", Shard(0, 2), old),
                    y = Attempt("y", Shard(1, 2), Manifest(1, 2));
  Merge(Path("xy"), {x, y});
  Merge(Path("yx"), {y, x});
  EXPECT_EQ(Contents(Path("xy")), Contents(Path("yx")));
}

TEST_F(MergeTest, AnotherRunIsRefusedWithTheDifference) {
  RunManifest other = Manifest();
  other.seed = 9;
  const std::string good = Attempt("good", {Unit(0, 1)}), bad = Attempt("bad", {}, other);
  EXPECT_THAT(Why(Path("new"), {good, bad}, absl::StatusCode::kFailedPrecondition),
              HasSubstr("seed: stored 0, wanted 9"));
  const std::string shard = Attempt("shard", {}, Manifest(1, 2));
  EXPECT_THAT(Why(shard, {good}, absl::StatusCode::kFailedPrecondition),
              HasSubstr("is shard 1 of 2"));
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
}

TEST_F(MergeTest, OutAmongTheInputsAndAnInputTwiceAreReadOnce) {
  const std::string a = Attempt("a", {Unit(0, 1)}), b = Attempt("b", {Unit(0, 2)});
  Attempt("a", {Unit(0, 3)});  // a second log
  const Merged merged = Merge(a, {a, b, Path("./b")});
  EXPECT_EQ(merged.folders, 2u);
  EXPECT_EQ(merged.units, 3u);
  EXPECT_THAT(merged.warnings, ElementsAre(HasSubstr("is named twice")));
  EXPECT_THAT(*UnitLogsIn(a), ElementsAre(HasSubstr(kMergedLog)));
  const auto before = Contents(a);
  Merge(a, {a});
  EXPECT_EQ(Contents(a), before);
}

TEST_F(MergeTest, DamageIsNamedAndTheRestIsMerged) {
  const std::string a = Attempt("a", {Unit(0, 1), Unit(0, 2), Unit(0, 3)}),
                    b = Attempt("b", {Unit(1, 1)}), c = Attempt("c", {Unit(1, 2)});
  const std::string log = UnitLogsIn(a)->front(), bytes = Get(log);
  std::string damaged = bytes;
  damaged[bytes.size() / 2] ^= 1;
  Put("a/" + std::filesystem::path(log).filename().string(), damaged);
  File(b, 1, 2);
  for (auto& [name, text] : Contents(b)) {
    if (name.starts_with("findings/")) Put("b/" + name, text + "x");
  }
  Put("c/manifest.txtpb", "no manifest");
  const Merged merged = Merge(Path("out"), {a, b, c});
  EXPECT_EQ(merged.units, 3u);
  EXPECT_THAT(merged.damage,
              AllOf(testing::SizeIs(3), Contains(HasSubstr(log)), Contains(HasSubstr("findings")),
                    Contains(HasSubstr("the folder was skipped"))));
}

TEST_F(MergeTest, AFolderThatIsBeingWrittenIsReadButNotWritten) {
  const std::string live = Attempt("live", {Unit(0, 1), Unit(0, 2)});
  const std::string log = UnitLogsIn(live)->front();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5);  // in the middle of one
  std::string warning;
  auto lock = *FolderLock::Take(live, warning);
  EXPECT_NE(WriterOf(live), "");
  const Merged merged = Merge(Path("out"), {live});
  EXPECT_EQ(merged.units, 1u);
  EXPECT_THAT(merged.damage, IsEmpty());
  EXPECT_THAT(Why(live, {Path("out")}, absl::StatusCode::kFailedPrecondition),
              HasSubstr("another process is writing to"));
  lock.reset();
  EXPECT_EQ(WriterOf(live), "");
  EXPECT_THAT(Merge(Path("out2"), {live}).damage, ElementsAre(HasSubstr("truncated block")));
}

TEST_F(MergeTest, FindingsOfAnotherDeviceAreLeftOut) {
  RunManifest manifest = Manifest();
  manifest.device = "faulty:terms=8";
  const std::string a = Attempt("a", {Unit(0, 1)}, manifest);
  File(a, 1, 5);
  const Merged merged = Merge(Path("out"), {a});
  EXPECT_EQ(merged.findings, 0u);
  EXPECT_THAT(merged.damage, ElementsAre(HasSubstr("a finding of a different run")));
}

TEST_F(MergeTest, FailingInputsAreKept) {
  const InputFailure crash = {.kind = FailureKind::kCrash, .exit_code = 3, .text = "assertion"};
  const std::string a = Attempt("a", {Unit(0, 1)});
  FileFailure(a, crash);
  const Merged merged = Merge(Path("out"), {a});
  EXPECT_EQ(merged.findings, 1u);
  EXPECT_THAT(merged.damage, testing::IsEmpty());
  const auto files = ListCases(Path("out/findings"));
  ASSERT_TRUE(files.ok());
  ASSERT_THAT(*files, testing::SizeIs(1));
  EXPECT_EQ(ReadCase(files->front())->no_word->failure, crash);
}

TEST_F(MergeTest, FindingsGainTheAnswersOfAll) {
  const std::string a = Attempt("a", {}), b = Attempt("b", {});
  File(a, 1, 5);
  File(b, 1, 6);
  File(b, 2, 6);
  EXPECT_EQ(Merge(Path("out"), {a, b}).findings, 1u);  // of one bucket
  std::vector<size_t> answers;
  const auto files = ListCases(Path("out/findings"));
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) answers.push_back(ReadCase(file)->answers.size());
  EXPECT_THAT(answers, testing::UnorderedElementsAre(1 + 1, 2 + 1));  // and the model's
}

}  // namespace
}  // namespace mmadiff
