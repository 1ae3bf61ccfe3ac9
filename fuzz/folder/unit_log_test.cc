// The durable memory of a run: what is read back after damage, overlap and contradiction.
#include "fuzz/folder/unit_log.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "corpus/durable_file.h"
#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kOperation[] = "x86/vdpbf16ps";  // 16 dot products an execution

// Two operations; units of 100 cases, the tenth of 50.
RunManifest Manifest() {
  RunManifest manifest;
  manifest.instructions = {{kOperation, 950, 100}, {kOperation, 950, 100}};
  return manifest;
}

UnitResult Unit(uint32_t instruction, uint64_t number) {
  UnitResult unit;
  unit.instruction = instruction;
  unit.unit = number;
  unit.first_case = 100 * number;
  unit.cases = 100;
  unit.dot_products = 1600;
  unit.mismatches = 3;
  unit.mismatching_cases = {100 * number, 100 * number + 99};
  unit.device_digest = (Digest{number + 1} << 64) | 17;
  unit.model_digest = Digest{number} << 100;
  unit.counts = {{"class.bits", 25}, {"event.tie", number}};
  unit.seconds = 0.25;
  return unit;
}

class UnitLogTest : public TestFolder {
 protected:
  // One attempt that stores these units, each in a block of its own.
  void Attempt(const std::string& folder, const std::vector<UnitResult>& units,
               const RunManifest& manifest = Manifest()) {
    std::filesystem::create_directories(folder);
    const auto log = UnitLog::Create(folder, RunIdOf(manifest));
    ASSERT_TRUE(log.ok()) << log.status();
    for (const UnitResult& unit : units) {
      ASSERT_TRUE((*log)->Append(unit).ok());
      ASSERT_TRUE((*log)->Flush().ok());
    }
  }
  static std::vector<std::string> Logs(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path().string());
    }
    std::ranges::sort(paths);
    return paths;
  }
  static void FlipByte(const std::string& path, size_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
};

// The numbers in a set, of the first ten.
std::vector<uint64_t> Numbers(const UnitSet& set) {
  std::vector<uint64_t> numbers;
  for (uint64_t n = 0; n < 10; ++n) {
    if (set.Contains(n)) numbers.push_back(n);
  }
  EXPECT_EQ(numbers.size(), set.size());
  return numbers;
}

TEST(UnitSet, HoldsWhatWasAddedInAnyOrder) {
  std::vector<uint64_t> order = {0, 1, 2, 3, 4, 5};
  do {
    UnitSet set, strided(7);
    uint64_t added = 0;
    for (const uint64_t n : order) {
      EXPECT_TRUE(set.Add(n) && strided.Add(7 * n + 3));
      EXPECT_FALSE(set.Add(n) || strided.Add(7 * n + 3));
      added |= 1 << n;
      for (uint64_t m = 0; m < 7; ++m) {
        ASSERT_EQ(set.Contains(m), (added >> m & 1) != 0);
        ASSERT_EQ(strided.Contains(7 * m + 3), (added >> m & 1) != 0);
      }
    }
    EXPECT_EQ(set.size(), 6u);
  } while (std::next_permutation(order.begin(), order.end()));
  UnitSet huge;
  EXPECT_TRUE(huge.Add(uint64_t{1} << 62));
  EXPECT_FALSE(huge.Contains(0));
}

TEST_F(UnitLogTest, AnEmptyFolderHasNoUnits) {
  const auto stored = ReadUnits(Path("."), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->units, 0u);
  EXPECT_EQ(stored->totals.size(), 2u);
  EXPECT_EQ(stored->done.size(), 2u);
  EXPECT_THAT(stored->damage, IsEmpty());
}

TEST_F(UnitLogTest, WhatCannotBeListedOrOpenedIsNoFreshStart) {
  EXPECT_EQ(ReadUnits(Path("missing"), Manifest()).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadUnits(Put("file", ""), Manifest()).status().code(), absl::StatusCode::kDataLoss);
  Attempt(Path("w"), {Unit(0, 0)});
  std::filesystem::create_symlink("/dev/null", Path("w/units-000001-7.log"));
  const absl::Status s = ReadUnits(Path("w"), Manifest()).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(s.message()), HasSubstr("units-000001-7.log: is a device"));
}

TEST_F(UnitLogTest, SumsTheUnitsOfAllAttempts) {
  Attempt(Path("w"), {Unit(0, 0), Unit(0, 2), Unit(1, 5)});
  Attempt(Path("w"), {Unit(0, 1)});
  EXPECT_EQ(Logs(Path("w")).size(), 2u);
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->units, 4u);
  EXPECT_THAT(Numbers(stored->done[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(Numbers(stored->done[1]), ElementsAre(5));
  const UnitResult& total = stored->totals[0];
  EXPECT_EQ(total.cases, 300u);
  EXPECT_EQ(total.dot_products, 4800u);
  EXPECT_TRUE(total.device_digest == (Digest{1 + 2 + 3} << 64 | 51));
  EXPECT_TRUE(total.model_digest == Digest{0 + 1 + 2} << 100);
  EXPECT_EQ(total.counts.at("event.tie"), 3u);
  EXPECT_EQ(total.counts.at("class.bits"), 75u);
  EXPECT_EQ(total.seconds, 0.75);
  EXPECT_EQ(stored->totals[1].cases, 100u);
}

TEST_F(UnitLogTest, FolderNamesAreNoPatterns) {
  const std::string folder = Path("run[1]*?{a}");
  Attempt(folder, {Unit(0, 0)});
  EXPECT_EQ(ReadUnits(folder, Manifest())->units, 1u);
}

TEST_F(UnitLogTest, OtherFilesAreNoLogs) {
  Attempt(Path("w"), {Unit(0, 0)});
  for (const char* name : {"w/units-000007.log.tmp", "w/other.log", "w/manifest.txtpb"}) {
    Put(name, "not a log");
  }
  const auto stored = ReadUnits(Path("w"), Manifest());
  EXPECT_EQ(stored->units, 1u);
  EXPECT_THAT(stored->damage, IsEmpty());
}

TEST_F(UnitLogTest, AUnitTwiceCountsOnce) {
  Attempt(Path("w"), {Unit(0, 3), Unit(0, 3)});
  Attempt(Path("w"), {Unit(0, 3), Unit(0, 4)});
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->units, 2u);
  EXPECT_EQ(stored->totals[0].cases, 200u);
}

UnitResult Part(uint32_t instruction, uint64_t number, uint64_t cases) {
  UnitResult part = Unit(instruction, number);
  part.part = true;
  part.cases = cases;
  part.dot_products = 16 * cases + 2;
  part.mismatching_cases = {};
  part.device_digest = part.model_digest = 0;
  return part;
}

TEST_F(UnitLogTest, APartCountsUntilItsUnitIsDone) {
  Attempt(Path("w"), {Unit(0, 0), Part(0, 1, 20), Part(1, 2, 30)});
  Attempt(Path("w"), {Part(0, 1, 40), Part(1, 2, 20)});
  const auto begun = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_THAT(begun->damage, IsEmpty());
  EXPECT_EQ(begun->units, 1u);
  EXPECT_FALSE(begun->done[0].Contains(1));
  EXPECT_EQ(begun->parts[0].at(1), Part(0, 1, 40));
  EXPECT_EQ(begun->parts[1].at(2), Part(1, 2, 30));

  Attempt(Path("w"), {Unit(0, 1)});
  const auto done = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->units, 2u);
  EXPECT_THAT(done->parts[0], IsEmpty());
  EXPECT_EQ(done->totals[0].cases, 200u);
}

UnitResult Stop(uint32_t instruction, uint64_t number, uint64_t mismatch_limit, uint64_t ended) {
  UnitResult stop;
  stop.instruction = instruction;
  stop.unit = number;
  stop.first_case = 100 * number;
  stop.part = true;
  stop.mismatch_limit = mismatch_limit;
  stop.ended = ended;
  return stop;
}

TEST_F(UnitLogTest, AStopIsNoResultAndVoidOnceItsUnitIsDone) {
  Attempt(Path("w"), {Part(0, 1, 20), Stop(0, 1, 20, 7), Stop(1, 2, 20, 7)});
  Attempt(Path("w"), {Stop(1, 2, 50, 9), Unit(0, 1)});
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->damage, IsEmpty());
  EXPECT_EQ(stored->units, 1u);
  EXPECT_THAT(stored->parts[1], IsEmpty());
  EXPECT_THAT(stored->stops[0], IsEmpty());
  EXPECT_EQ(stored->stops[1].at(2), Stop(1, 2, 50, 9));
}

UnitResult Begun(uint32_t instruction, uint64_t number, uint64_t cases) {
  UnitResult part = Part(instruction, number, cases);
  part.mismatches = 0;
  part.device_digest = part.model_digest = 7;
  return part;
}

TEST_F(UnitLogTest, AnAttemptGoesOnBehindTheLargestPartWithDigests) {
  Attempt(Path("w"), {Begun(0, 1, 20), Begun(0, 1, 10), Begun(1, 0, 5)});
  Attempt(Path("w"), {Part(0, 1, 40), Unit(1, 0)});
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->damage, IsEmpty());
  EXPECT_EQ(stored->parts[0].at(1), Part(0, 1, 40));
  EXPECT_EQ(stored->begun[0].at(1), Begun(0, 1, 20));
  EXPECT_THAT(stored->begun[1], IsEmpty());  // the unit is done
  EXPECT_TRUE(stored->totals[1].device_digest == Unit(1, 0).device_digest);
}

TEST_F(UnitLogTest, FailuresOfAUnitAreKept) {
  UnitResult failed = Part(0, 1, 0);
  failed.dot_products = failed.mismatches = 0;
  failed.failures = 2;
  UnitResult earlier = failed;
  earlier.failures = 1;
  Attempt(Path("w"), {failed, Unit(0, 1)});
  Attempt(Path("w"), {earlier});
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->damage, IsEmpty());
  EXPECT_THAT(stored->parts[0], IsEmpty());
  EXPECT_THAT(stored->failures[0], testing::ElementsAre(testing::Pair(1, 2)));
  EXPECT_THAT(stored->failures[1], IsEmpty());
}

// They skip blocks of a version that they do not know.
TEST_F(UnitLogTest, EarlierProgramsDoNotTakeAPartForAUnit) {
  Attempt(Path("w"), {Unit(0, 0), Part(0, 1, 20), Unit(0, 2), Begun(0, 3, 20)});
  const auto log = ReadFile(Logs(Path("w")).front());
  ASSERT_TRUE(log.ok());
  std::string versions;
  for (size_t at = 0; (at = log->find("mmalog", at)) != log->npos; ++at)
    versions += '0' + (*log)[at + 7];
  EXPECT_EQ(versions, "2325");
}

TEST_F(UnitLogTest, PartsThatTheRunCannotHave) {
  UnitResult elsewhere = Part(0, 1, 20), large = Part(0, 1, 20);
  elsewhere.first_case += 1;
  large.dot_products = 16 * 21;
  Attempt(Path("w"), {elsewhere, large, Part(0, 9, 51)});
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->parts[0], IsEmpty());
  ASSERT_THAT(stored->damage, testing::SizeIs(1));
  EXPECT_THAT(Text(stored->damage[0]), HasSubstr("3 records that are not part of this run"));
}

TEST_F(UnitLogTest, TwoDifferentAnswersAreAnAlarm) {
  for (const bool device : {true, false}) {
    const std::string folder = Path(device ? "device" : "model");
    UnitResult other = Unit(0, 3);
    (device ? other.device_digest : other.model_digest) += 1;
    Attempt(folder, {Unit(0, 3)});
    Attempt(folder, {other});
    const absl::Status status = ReadUnits(folder, Manifest()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(status.message()), HasSubstr("two different answers for unit 3"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("units-000001"));
  }
}

// Good blocks of the right run, with units that it cannot have: reported, not counted, and however
// large the number, in no time and memory.
TEST_F(UnitLogTest, UnitsThatTheRunCannotHave) {
  const struct {
    const char* why;
    std::function<void(UnitResult&)> change;
  } kCases[] = {
      {"instruction 2", [](UnitResult& u) { u.instruction = 2; }},
      {"instruction 4294967295", [](UnitResult& u) { u.instruction = ~0u; }},
      {"unit 10 of x86/vdpbf16ps, which has 10", [](UnitResult& u) { u = Unit(0, 10); }},
      {"which has 10", [](UnitResult& u) { u.unit = uint64_t{1} << 40; }},
      {"which has 10", [](UnitResult& u) { u.unit = ~uint64_t{0}; }},
      {"100 cases from 101 on", [](UnitResult& u) { u.first_case = 101; }},
      {"99 cases from 100 on", [](UnitResult& u) { u.cases = 99; }},
      {"100 cases from 900 on, not 50", [](UnitResult& u) { u = Unit(0, 9); }},
      {"1599 dot products of 1600", [](UnitResult& u) { u.dot_products = 1599; }},
      {"cases of other units", [](UnitResult& u) { u.mismatching_cases = {200}; }},
      {"cases of other units", [](UnitResult& u) { u.mismatching_cases = {99}; }},
      {"contradict", [](UnitResult& u) { u.mismatches = 0; }},
      {"contradict", [](UnitResult& u) { u.model_digest = u.device_digest; }},
  };
  for (const auto& c : kCases) {
    UnitResult unit = Unit(0, 1);
    c.change(unit);
    std::filesystem::remove_all(Path("w"));
    Attempt(Path("w"), {Unit(0, 0), unit, unit});
    const auto stored = ReadUnits(Path("w"), Manifest());
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_THAT(Numbers(stored->done[0]), ElementsAre(0)) << c.why;
    EXPECT_EQ(stored->totals[0].cases, 100u);
    ASSERT_EQ(stored->damage.size(), 1u) << c.why;
    EXPECT_THAT(Text(stored->damage[0]), HasSubstr("2 records that are not part of this run"));
    EXPECT_THAT(Text(stored->damage[0]), HasSubstr(c.why));
  }
}

TEST_F(UnitLogTest, ARunWithoutEndTakesAnyNumberInBoundedMemory) {
  RunManifest manifest = Manifest();
  manifest.instructions[0].cases = uint64_t{1} << 62;
  const uint64_t last = manifest.instructions[0].Units() - 2;
  Attempt(Path("w"), {Unit(0, last), Unit(0, 0)}, manifest);
  const auto stored = ReadUnits(Path("w"), manifest);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->damage, IsEmpty());
  EXPECT_TRUE(stored->done[0].Contains(last));
  EXPECT_EQ(stored->done[0].size(), 2u);
}

TEST_F(UnitLogTest, UnitsOfAnotherShardOrRun) {
  RunManifest shard = Manifest();
  shard.shard = 1;
  shard.shards = 2;
  Attempt(Path("w"), {Unit(0, 1), Unit(0, 2)}, shard);
  auto stored = ReadUnits(Path("w"), shard);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_TRUE(stored->done[0].Contains(1));
  EXPECT_EQ(stored->units, 1u);
  ASSERT_EQ(stored->damage.size(), 1u);
  EXPECT_THAT(Text(stored->damage[0]), HasSubstr("unit 2 of x86/vdpbf16ps in shard 1 of 2"));
  RunManifest other = Manifest();
  other.seed = 2;
  Attempt(Path("other"), {Unit(0, 3)}, other);
  std::filesystem::copy(Logs(Path("other"))[0], Path("w/units-000001-1.log"));
  stored = ReadUnits(Path("w"), other);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(Numbers(stored->done[0]), ElementsAre(3));
  ASSERT_EQ(stored->damage.size(), 1u);
  EXPECT_THAT(Text(stored->damage[0]), HasSubstr("units-000000"));
  EXPECT_THAT(Text(stored->damage[0]), HasSubstr("a block of a different run"));
}

// Every byte of the middle block, flipped: that unit is missing, the others are not.
TEST_F(UnitLogTest, DamageCostsOnlyItsBlock) {
  Attempt(Path("w"), {Unit(0, 0)});
  const std::string path = Logs(Path("w")).front();
  const size_t block = Get(path).size();
  std::filesystem::remove_all(Path("w"));
  Attempt(Path("w"), {Unit(0, 0), Unit(0, 1), Unit(0, 2)});
  const std::string log = Logs(Path("w")).front();
  for (size_t offset = block; offset < 2 * block; ++offset) {
    FlipByte(log, offset);
    const auto stored = ReadUnits(Path("w"), Manifest());
    ASSERT_TRUE(stored.ok()) << stored.status();
    ASSERT_THAT(Numbers(stored->done[0]), ElementsAre(0, 2)) << "byte " << offset;
    ASSERT_EQ(stored->damage.size(), 1u);
    ASSERT_THAT(Text(stored->damage[0]), HasSubstr("at byte " + std::to_string(block)));
    ASSERT_THAT(TextsOf(stored->damage)[0], HasSubstr("the lost units will run again"));
    FlipByte(log, offset);
  }
  EXPECT_THAT(ReadUnits(Path("w"), Manifest())->damage, IsEmpty());
}

TEST_F(UnitLogTest, ATornEndCostsOnlyTheLastBlock) {
  Attempt(Path("w"), {Unit(0, 0), Unit(0, 1)});
  const std::string log = Logs(Path("w")).front();
  std::filesystem::resize_file(log, Get(log).size() - 1);
  const auto stored = ReadUnits(Path("w"), Manifest());
  ASSERT_TRUE(stored.ok());
  EXPECT_THAT(Numbers(stored->done[0]), ElementsAre(0));
  EXPECT_EQ(stored->damage.size(), 1u);
}

TEST_F(UnitLogTest, NothingIsWrittenBeforeItsTime) {
  std::filesystem::create_directories(Path("w"));
  const auto log = UnitLog::Create(Path("w"), RunIdOf(Manifest()));
  ASSERT_TRUE((*log)->Append(Unit(0, 0)).ok());
  ASSERT_TRUE((*log)->Flush().ok());
  EXPECT_EQ(ReadUnits(Path("w"), Manifest())->units, 1u);
}

TEST_F(UnitLogTest, AFolderThatCannotBeWritten) {
  Put("file", "");
  for (const std::string& folder : {Path("missing"), Path("file"), std::string("/proc")}) {
    EXPECT_EQ(UnitLog::Create(folder, 1).status().code(), absl::StatusCode::kDataLoss) << folder;
  }
}

TEST(Accumulate, KeepsAtMostAHundredCases) {
  UnitResult total, unit;
  for (uint64_t i = 0; i < 70; ++i) unit.mismatching_cases.push_back(i);
  unit.mismatches = 200;
  Accumulate(unit, total);
  Accumulate(unit, total);
  EXPECT_EQ(total.mismatching_cases.size(), kMaxListedCases);
  EXPECT_EQ(total.mismatching_cases[70], 0u);
  EXPECT_EQ(total.mismatches, 400u);
}

}  // namespace
}  // namespace mmadiff
