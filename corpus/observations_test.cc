// Every row whose evidence says `measured` names a file of recorded hardware answers; the model
// must give every one of them. So the claim can be checked again without the hardware.
#include <gtest/gtest.h>

#include <filesystem>

#include "corpus/line_recording.h"
#include "corpus/recording.h"
#include "sim/row.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

class MeasuredRow : public testing::TestWithParam<const Row*> {};

TEST_P(MeasuredRow, ModelGivesTheRecordedAnswers) {
  const Row& row = *GetParam();
  const auto compare = [&row](const Recording& recording) {
    EXPECT_EQ(recording.row->name, row.name);
    EXPECT_NE(recording.identity, "") << "no '# device:' line";
    std::vector<uint64_t> model(recording.inputs.dot_products());
    Simulate(row.model, recording.inputs, model);
    EXPECT_EQ(model, recording.d) << recording.where;
    return absl::OkStatus();
  };
  const auto stats = ReadRecordings(row.numerics->evidence.file, "", compare);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GE(stats->dot_products, 1000u);
  EXPECT_TRUE(stats->damage.empty());
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
