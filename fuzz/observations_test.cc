// Every row whose evidence says `measured` names a file of recorded hardware answers; the model
// must give every one of them. So the claim can be checked again without the hardware.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "corpus/line_recording.h"
#include "corpus/recording.h"
#include "corpus/recording_folder.h"
#include "fuzz/recorder.h"
#include "sim/row.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

class MeasuredRow : public testing::TestWithParam<const Row*> {};

TEST_P(MeasuredRow, ModelGivesTheRecordedAnswers) {
  const Row& row = *GetParam();
  const std::string file = row.numerics->evidence.file;
  if (IsRecordingFolder(file)) {  // what it says of the row; EveryFolderIsTheModels verifies it
    const auto manifest = ReadRecordingManifest(file);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    const auto& all = manifest->instructions;
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&row](const auto& i) {
      return i.name == row.name && i.raw_cases * row.shape().d_words() >= 1000;
    })) << file;
    return;
  }
  const auto compare = [&row](const Recording& recording) {
    EXPECT_EQ(recording.row->name, row.name);
    EXPECT_NE(recording.identity, "") << "no '# device:' line";
    std::vector<uint64_t> model(recording.inputs.dot_products());
    Simulate(row.model, recording.inputs, model);
    EXPECT_EQ(model, recording.d) << recording.where;
    return absl::OkStatus();
  };
  const auto stats = ReadRecordings(file, "", compare);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GE(stats->dot_products, 1000u);
  EXPECT_TRUE(stats->damage.empty());
}

// Of every folder of recordings a share of the records and of the units of digests that takes
// seconds; `mmadiff replay` does all.
constexpr uint64_t kRecords = 300, kUnits = 20;

TEST(Observations, EveryFolderIsTheModels) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator("corpus/observations")) {
    const std::string folder = entry.path().string();
    if (!entry.is_directory() || !IsRecordingFolder(folder)) continue;
    SCOPED_TRACE(folder);
    const auto manifest = ReadRecordingManifest(folder);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    uint64_t records = 0, units = 0, number = 0;
    RecordingStats stats;
    const auto count = [&records](const Recording&) { return ++records, absl::OkStatus(); };
    ASSERT_TRUE(ReadRecordingFolder(folder, count, stats).ok());
    EXPECT_TRUE(stats.damage.empty()) << stats.damage[0].what;
    const auto compare = [&](const Recording& recording) -> absl::Status {
      if (number++ % (records / kRecords + 1) != 0) return absl::OkStatus();
      const auto inputs = InputsOf(recording);
      if (!inputs.ok()) return inputs.status();
      std::vector<uint64_t> model(inputs->dot_products());
      Simulate(recording.row->model, *inputs, model);
      EXPECT_TRUE(Differences(*recording.row, model, recording.d).empty()) << recording.where;
      return absl::OkStatus();
    };
    const absl::Status read = ReadRecordingFolder(folder, compare, stats);
    EXPECT_TRUE(read.ok()) << read;
    for (const auto& i : manifest->instructions) units += i.digest_units;
    const auto damage =
        VerifyDigests(folder, nullptr, units / kUnits + 1, [](const UnitVerdict& unit) {
          EXPECT_EQ(unit.recorded, unit.model) << unit.stream.name() << ":" << unit.first;
          return absl::OkStatus();
        });
    ASSERT_TRUE(damage.ok()) << damage.status();
    EXPECT_TRUE(damage->empty());
  }
}

// Recordings of real GPUs beside the project, when they are there: every file whose row there is.
TEST(Silicon, EveryRecordingIsTheModels) {
  const std::filesystem::path folder = "../shared/silicon";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto compare = [&entry](const Recording& recording) {
      std::vector<uint64_t> model(recording.inputs.dot_products());
      Simulate(recording.row->model, recording.inputs, model);
      EXPECT_EQ(model, recording.d) << entry.path();
      return absl::OkStatus();
    };
    if (FactsOfFileName(entry.path().string()).row == nullptr) continue;
    const auto stats = ReadRecordings(entry.path().string(), "", compare);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_GE(stats->dot_products, 2500u) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 26);
}

std::vector<const Row*> MeasuredRows() {
  std::vector<const Row*> rows;
  for (const Row& row : Rows()) {
    if (row.numerics->evidence.grade == Grade::kMeasured) rows.push_back(&row);
  }
  return rows;
}

std::string TestName(const testing::TestParamInfo<const Row*>& info) {
  std::string name = info.param->name;
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, MeasuredRow, testing::ValuesIn(MeasuredRows()), TestName);

}  // namespace
}  // namespace mmadiff
