// Every row whose evidence says `measured` names a file of recorded hardware answers; the model
// must give every one of them. So the claim can be checked again without the hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
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
    const auto damage = VerifyDigests(folder, units / kUnits + 1, [](const UnitVerdict& unit) {
      EXPECT_EQ(unit.recorded, unit.model) << unit.stream.name() << ":" << unit.first;
      return absl::OkStatus();
    });
    ASSERT_TRUE(damage.ok()) << damage.status();
    EXPECT_TRUE(damage->empty());
  }
}

// Returns the number of dot products, all of which `answer` must give.
template <typename Function>
uint64_t ExpectRecorded(const std::string& file, const Function& answer) {
  const auto compare = [&](const Recording& recording) {
    EXPECT_NE(recording.identity, "") << file;
    for (size_t i = 0; i < recording.d.size(); ++i) {
      EXPECT_EQ(answer(*recording.row, Extract(recording.inputs, i)), recording.d[i])
          << WhereOf(recording, i);
    }
    return absl::OkStatus();
  };
  const auto stats = ReadRecordings(file, "", compare);
  EXPECT_TRUE(stats.ok()) << stats.status();
  return stats.ok() ? stats->dot_products : 0;
}

uint64_t OfTheModel(const Row& row, const DotProductCase& dot) { return Simulate(row.model, dot); }

constexpr char kGpus[] = "corpus/observations/khattak_mikaitis";

TEST(Gpus, EveryRecordingIsTheModels) {
  const std::vector<std::string> files = *LineRecordingsBelow(kGpus);
  EXPECT_EQ(files.size(), 48u);
  for (const std::string& file : files) EXPECT_EQ(ExpectRecorded(file, OfTheModel), 256u) << file;
}

// The wmma row whose step an mma row of f16, bf16 or tf32 is; nullptr if there is none.
const Row* WmmaOf(const Row& row) {
  const size_t name = row.name.find('/') + 1, types = row.name.find('.', name + 4);
  if (row.model.a.bits == 8 || row.name.compare(name, 4, "mma.") != 0) return nullptr;
  const std::string shape = row.model.a.bits == 32 ? "wmma.m16n16k8" : "wmma.m16n16k16";
  return FindRow(row.name.substr(0, name) + shape + row.name.substr(types));
}

// Those with operands of 16 bits and more were executed as wmma of k = 16, tf32 of k = 8; what
// their lines lack was zero.
TEST(Gpus, RecordingsThroughWmmaAreThoseOfItsRows) {
  int files = 0;
  const auto of_wmma = [](const Row& row, DotProductCase dot) -> uint64_t {
    const Row* wmma = WmmaOf(row);
    if (wmma == nullptr) return ~uint64_t{0};
    dot.a.resize(wmma->shape().k);
    dot.b.resize(wmma->shape().k);
    return Simulate(wmma->model, dot);
  };
  const auto below = LineRecordingsBelow(kGpus);
  for (const std::string& file : *below) {
    if (FactsOfFileName(file).row->model.a.bits == 8) continue;
    ExpectRecorded(file, of_wmma);
    ++files;
  }
  EXPECT_EQ(files, 30);
}

// The evidence of a row names these recordings if and only if there is one of it, under its own
// name or that of the step that was executed through it, and where it says "recorded on" all their
// GPUs.
TEST(Gpus, EvidenceNamesWhatWasRecorded) {
  const std::set<std::string> kNames = {"V100", "T4",    "A100", "A2",    "A10",  "Ada",
                                        "L4",   "L40",   "L40S", "H100",  "H200", "GH200",
                                        "B200", "GB200", "B300", "GB300", "4090", "5090"};
  std::map<const Row*, std::set<std::string>> gpus;
  const auto below = LineRecordingsBelow(kGpus);
  for (const std::string& file : *below) {
    const Row* row = FactsOfFileName(file).row;
    const std::vector<std::string> parts =
        absl::StrSplit(std::filesystem::path(file).filename().string(), '.');
    gpus[row].insert(parts[1]);
    if (const Row* wmma = WmmaOf(*row)) gpus[wmma].insert(parts[1]);
  }
  for (const Row& row : Rows()) {
    const Evidence& evidence = row.numerics->evidence;
    if (evidence.grade == Grade::kContested) continue;
    EXPECT_EQ(evidence.file == std::string_view(kGpus), gpus.contains(&row)) << row.name;
    if (!absl::StrContains(evidence.text, "recorded on")) continue;
    std::set<std::string> named;
    for (const absl::string_view word : absl::StrSplit(evidence.text, absl::ByAnyChar(" ,;"))) {
      if (kNames.contains(std::string(word))) named.insert(std::string(word));
    }
    EXPECT_EQ(named, gpus[&row]) << row.name;
  }
}

// The whole files of the same recordings beside the project, when they are there.
TEST(Silicon, EveryRecordingIsTheModels) {
  const std::string folder = "../shared/silicon";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const std::vector<std::string> files = *LineRecordingsBelow(folder);
  uint64_t dot_products = 0;
  for (const std::string& file : files) dot_products += ExpectRecorded(file, OfTheModel);
  EXPECT_EQ(files.size(), 48u);
  EXPECT_EQ(dot_products, 153'000u);
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
