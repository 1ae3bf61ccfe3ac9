// The durable memory of a run: what is read back after damage, overlap and contradiction.
#include "fuzz/unit_log.h"

#include <gmock/gmock.h>

#include "corpus/test_folder.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

UnitResult Unit(uint32_t instruction, uint64_t number) {
  UnitResult unit;
  unit.instruction = instruction;
  unit.unit = number;
  unit.first_case = 100 * number;
  unit.cases = 100;
  unit.dot_products = 1600;
  unit.device_digest = (Digest{number + 1} << 64) | 17;
  unit.model_digest = Digest{number} << 100;
  unit.counts = {{"class.bits", 25}, {"event.tie", number}};
  unit.seconds = 0.25;
  return unit;
}

class UnitLogTest : public TestFolder {
 protected:
  // One attempt that stores these units, each in a block of its own.
  void Attempt(const std::string& folder, const std::vector<UnitResult>& units) {
    std::filesystem::create_directories(folder);
    const auto log = UnitLog::Create(folder);
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
    std::sort(paths.begin(), paths.end());
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

TEST_F(UnitLogTest, AnEmptyOrMissingFolderHasNoUnits) {
  for (const std::string& folder : {Path("."), Path("missing")}) {
    const auto stored = ReadUnits(folder, 2);
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(stored->units, 0u);
    EXPECT_EQ(stored->totals.size(), 2u);
    EXPECT_EQ(stored->done.size(), 2u);
    EXPECT_THAT(stored->warnings, IsEmpty());
  }
}

TEST_F(UnitLogTest, SumsTheUnitsOfAllAttempts) {
  Attempt(Path("w"), {Unit(0, 0), Unit(0, 2), Unit(1, 5)});
  Attempt(Path("w"), {Unit(0, 1)});
  EXPECT_EQ(Logs(Path("w")).size(), 2u);
  const auto stored = ReadUnits(Path("w"), 2);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->units, 4u);
  EXPECT_THAT(stored->done[0], ElementsAre(true, true, true));
  EXPECT_THAT(stored->done[1], ElementsAre(false, false, false, false, false, true));
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
  EXPECT_EQ(ReadUnits(folder, 1)->units, 1u);
}

TEST_F(UnitLogTest, OtherFilesAreNoLogs) {
  Attempt(Path("w"), {Unit(0, 0)});
  for (const char* name : {"w/units-000007.log.tmp", "w/other.log", "w/manifest.txtpb"}) {
    Put(name, "not a log");
  }
  const auto stored = ReadUnits(Path("w"), 1);
  EXPECT_EQ(stored->units, 1u);
  EXPECT_THAT(stored->warnings, IsEmpty());
}

TEST_F(UnitLogTest, AUnitTwiceCountsOnce) {
  Attempt(Path("w"), {Unit(0, 3), Unit(0, 3)});
  Attempt(Path("w"), {Unit(0, 3), Unit(0, 4)});
  const auto stored = ReadUnits(Path("w"), 1);
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->units, 2u);
  EXPECT_EQ(stored->totals[0].cases, 200u);
}

TEST_F(UnitLogTest, TwoDifferentAnswersAreAnAlarm) {
  for (const bool device : {true, false}) {
    const std::string folder = Path(device ? "device" : "model");
    UnitResult other = Unit(0, 3);
    (device ? other.device_digest : other.model_digest) += 1;
    Attempt(folder, {Unit(0, 3)});
    Attempt(folder, {other});
    const absl::Status status = ReadUnits(folder, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("two different answers for unit 3"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("units-000001"));
  }
}

TEST_F(UnitLogTest, AUnitOfAnInstructionThatTheRunHasNot) {
  Attempt(Path("w"), {Unit(2, 0)});
  EXPECT_TRUE(ReadUnits(Path("w"), 3).ok());
  const absl::Status status = ReadUnits(Path("w"), 2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("instruction 2"));
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
    const auto stored = ReadUnits(Path("w"), 1);
    ASSERT_TRUE(stored.ok()) << stored.status();
    ASSERT_THAT(stored->done[0], ElementsAre(true, false, true)) << "byte " << offset;
    ASSERT_EQ(stored->warnings.size(), 1u);
    ASSERT_THAT(stored->warnings[0], HasSubstr("at byte " + std::to_string(block)));
    ASSERT_THAT(stored->warnings[0], HasSubstr("those units run again"));
    FlipByte(log, offset);
  }
  EXPECT_THAT(ReadUnits(Path("w"), 1)->warnings, IsEmpty());
}

TEST_F(UnitLogTest, ATornEndCostsOnlyTheLastBlock) {
  Attempt(Path("w"), {Unit(0, 0), Unit(0, 1)});
  const std::string log = Logs(Path("w")).front();
  std::filesystem::resize_file(log, Get(log).size() - 1);
  const auto stored = ReadUnits(Path("w"), 1);
  ASSERT_TRUE(stored.ok());
  EXPECT_THAT(stored->done[0], ElementsAre(true));
  EXPECT_EQ(stored->warnings.size(), 1u);
}

TEST_F(UnitLogTest, NothingIsWrittenBeforeItsTime) {
  std::filesystem::create_directories(Path("w"));
  const auto log = UnitLog::Create(Path("w"));
  ASSERT_TRUE((*log)->Append(Unit(0, 0)).ok());
  ASSERT_TRUE((*log)->Flush().ok());
  EXPECT_EQ(ReadUnits(Path("w"), 1)->units, 1u);
}

TEST_F(UnitLogTest, AFolderThatCannotBeWritten) {
  Put("file", "");
  for (const std::string& folder : {Path("missing"), Path("file"), std::string("/proc")}) {
    EXPECT_EQ(UnitLog::Create(folder).status().code(), absl::StatusCode::kDataLoss) << folder;
  }
}

TEST(Accumulate, KeepsAtMostAHundredCases) {
  UnitResult total, unit;
  for (uint64_t i = 0; i < 70; ++i) unit.mismatching_cases.push_back(i);
  unit.mismatches = 200;
  Accumulate(unit, total);
  Accumulate(unit, total);
  EXPECT_EQ(total.mismatching_cases.size(), 100u);
  EXPECT_EQ(total.mismatching_cases[70], 0u);
  EXPECT_EQ(total.mismatches, 400u);
}

}  // namespace
}  // namespace mmadiff
