// Every operation whose evidence says `measured` names a file of recorded hardware answers; the
// model must give every one of them. So the claim can be checked again without the hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "device/status_macros.h"
#include "fuzz/engine/recompute.h"
#include "sim/operation.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

class MeasuredOperation : public testing::TestWithParam<const Operation*> {};

// Recorded of each operation.
std::map<std::string, uint64_t>& DotProductsOf(const std::string& folder) {
  static auto& all = *new std::map<std::string, std::map<std::string, uint64_t>>;
  if (all.contains(folder)) return all[folder];
  std::map<std::string, uint64_t>& counts = all[folder];
  RecordingStats stats;
  const auto count = [&counts](const Recording& r) {
    counts[r.op->name] += r.inputs.dot_products();
    return absl::OkStatus();
  };
  EXPECT_TRUE(ReadRecordingFolder(folder, count, stats).ok()) << folder;
  return counts;
}

TEST_P(MeasuredOperation, ModelGivesTheRecordedAnswers) {
  const Operation& op = *GetParam();
  const std::string file = op.numerics->evidence.file;
  if (IsRecordingFolder(
          file)) {  // what it says of the operation; EveryFolderIsTheModels verifies it
    EXPECT_GE(DotProductsOf(file)[op.name], 1000u) << file;
    return;
  }
  const auto compare = [&op](const Recording& recording) {
    EXPECT_EQ(recording.op->name, op.name);
    EXPECT_NE(recording.identity, "") << "no '# device:' line";
    std::vector<uint64_t> model(recording.inputs.dot_products());
    Simulate(op.model, recording.inputs, model);
    EXPECT_EQ(model, recording.d) << Name(recording.where);
    return absl::OkStatus();
  };
  const auto stats = ReadRecordings(file, "", compare);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GE(stats->dot_products, 1000u);
  EXPECT_TRUE(stats->damage.empty());
}

// Operations that were recorded before they had models: digests have all their NaNs as one word.
bool HadNoModel(const Operation& op) {
  return op.name.starts_with("sm_90/") &&
         (op.name.ends_with(".f16.f16.f16.f32") ||
          (op.name.find("m8n8k4") != op.name.npos && op.name.ends_with(".f16.f16.f16")));
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
    EXPECT_TRUE(stats.damage.empty()) << Text(stats.damage[0]);
    const auto compare = [&](const Recording& recording) -> absl::Status {
      if (number++ % (records / kRecords + 1) != 0) return absl::OkStatus();
      if (!IsModelled(*recording.op)) return absl::OkStatus();
      ASSIGN_OR_RETURN(const auto inputs, InputsOf(recording));
      std::vector<uint64_t> model(inputs.dot_products());
      Simulate(recording.op->model, inputs, model);
      EXPECT_TRUE(Differences(*recording.op, model, recording.d).empty()) << Name(recording.where);
      return absl::OkStatus();
    };
    const absl::Status read = ReadRecordingFolder(folder, compare, stats);
    EXPECT_TRUE(read.ok()) << read;
    for (const auto& i : manifest->instructions) units += i.digest_units;
    const auto damage =
        VerifyDigests(folder, {.every = units / kUnits + 1}, [](const RecomputedUnit& unit) {
          if (!unit.model.has_value()) return absl::OkStatus();
          const std::string where = absl::StrCat(unit.stream.name(), ":", unit.first);
          if (unit.nans_only) {
            EXPECT_TRUE(HadNoModel(*unit.stream.op)) << where;
          } else {
            EXPECT_EQ(unit.recorded, *unit.model) << where;
          }
          return absl::OkStatus();
        });
    ASSERT_TRUE(damage.ok()) << damage.status();
    EXPECT_TRUE(damage->empty());
  }
}

// All their units, not a share.
TEST(Observations, DigestsFromBeforeTheModels) {
  for (const char* folder :
       {"corpus/observations/nvidia_h100", "corpus/observations/nvidia_h200"}) {
    int units = 0;
    const auto expect = [&](const RecomputedUnit& unit) {
      ++units;
      EXPECT_TRUE(unit.nans_only) << unit.stream.name() << ":" << unit.first;
      return absl::OkStatus();
    };
    RecomputeOptions options;
    options.passes_over = [](const RecordedDigests& d) { return !HadNoModel(*d.op); };
    ASSERT_TRUE(VerifyDigests(folder, options, expect).ok());
    EXPECT_EQ(units, 20) << folder;
  }
}

float OfHalf(uint64_t word) {
  const Unpacked x = Decode(kF16, word);
  if (x.kind == Kind::kNan) return std::nanf("");
  const float magnitude = x.kind == Kind::kInfinite ? HUGE_VALF
                                                    : std::ldexp(static_cast<float>(x.significand),
                                                                 x.exponent - kF16.fraction_bits);
  return x.negative ? -magnitude : magnitude;
}

// Rounded to nearest even.
uint64_t ToHalf(float x) {
  if (std::isnan(x)) return 0x7fff;
  const uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::fabs(x) >= 65520) return sign | 0x7c00;
  const int exponent = x == 0 ? -14 : std::max(std::ilogb(x), -14);
  const auto ulps = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::fabs(x), 10 - exponent)));
  return sign | (ulps + (exponent + 14) * 1024);
}

// What an operation that is made of others gives, by the processor's floats.
uint64_t ByConversion(const Operation& op, const DotProductCase& dot) {
  if (op.model.k == 16) {  // wmma: the step with an f32 result
    const Operation& step = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
    return ToHalf(std::bit_cast<float>(static_cast<uint32_t>(Simulate(step.model, dot))));
  }
  float a[4], b[4];
  for (int k = 0; k < 4; ++k) a[k] = OfHalf(dot.a[k]), b[k] = OfHalf(dot.b[k]);
  const float c = OfHalf(dot.c);
  if (op.model.d.bits == 16) {
    const float half = std::fma(a[1], b[1], a[0] * b[0]) + c;
    return ToHalf(half + std::fma(a[3], b[3], a[2] * b[2]));
  }
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum = std::fma(a[k], b[k], sum);
  sum += c;
  return std::isnan(sum) ? 0x7fffffff : std::bit_cast<uint32_t>(sum);
}

bool HasConversion(const std::string& name) {
  return name == "sm_90/mma.m8n8k4.f32.f16.f16.f16" || name == "sm_90/mma.m8n8k4.f16.f16.f16.f16" ||
         absl::EndsWith(name, ".f16.f16.f16.f32");
}

TEST(Observations, ConversionsInsideAreTheProcessors) {
  std::map<std::string, std::map<std::string, uint64_t>> answers;  // by instruction, by GPU
  std::string gpu;
  const auto compare = [&](const Recording& recording) -> absl::Status {
    const Operation& op = *recording.op;
    if (!HasConversion(op.name)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const auto inputs, InputsOf(recording));
    for (int64_t i = 0; i < inputs.dot_products(); ++i) {
      EXPECT_EQ(ByConversion(op, Extract(inputs, i)), recording.d[i]) << WhereOf(recording, i);
      EXPECT_EQ(Simulate(op.model, Extract(inputs, i)), recording.d[i]) << WhereOf(recording, i);
    }
    answers[op.name][gpu] += inputs.dot_products();
    return absl::OkStatus();
  };
  RecordingStats stats;
  for (const char* name : {"nvidia_h100", "nvidia_h200"}) {
    gpu = name;
    ASSERT_TRUE(
        ReadRecordingFolder(absl::StrCat("corpus/observations/", name), compare, stats).ok());
  }
  // 3c00 + (2^16 - 2^5)^2 - the same: 1 where the last two products are added to each other first.
  gpu = "questions";
  const auto questions = LineRecordingsBelow("corpus/observations/nvidia_h100_questions");
  for (const std::string& file : *questions) {
    ASSERT_TRUE(ReadRecordings(file, "", compare).ok());
  }
  const auto asked = [](uint64_t h100, uint64_t h200, uint64_t questions) {
    std::map<std::string, uint64_t> counts = {{"nvidia_h100", h100}, {"nvidia_h200", h200}};
    if (questions > 0) counts["questions"] = questions;
    return counts;
  };
  EXPECT_THAT(answers,
              testing::UnorderedElementsAre(
                  testing::Pair("sm_90/mma.m8n8k4.f32.f16.f16.f16", asked(2307, 4615, 0)),
                  testing::Pair("sm_90/mma.m8n8k4.f16.f16.f16.f16", asked(2325, 10033, 4)),
                  testing::Pair("sm_90/wmma.m16n16k16.f16.f16.f16.f32", asked(2328, 10040, 3)),
                  testing::Pair("sm_90/wmma.m32n8k16.f16.f16.f16.f32", asked(2328, 10040, 1)),
                  testing::Pair("sm_90/wmma.m8n32k16.f16.f16.f16.f32", asked(2328, 10040, 1))));
}

// Returns the number of dot products, all of which `answer` must give.
template <typename Function>
uint64_t ExpectRecorded(const std::string& file, const Function& answer) {
  const auto compare = [&](const Recording& recording) {
    EXPECT_NE(recording.identity, "") << file;
    for (size_t i = 0; i < recording.d.size(); ++i) {
      EXPECT_EQ(answer(*recording.op, Extract(recording.inputs, i)), recording.d[i])
          << WhereOf(recording, i);
    }
    return absl::OkStatus();
  };
  const auto stats = ReadRecordings(file, "", compare);
  EXPECT_TRUE(stats.ok()) << stats.status();
  return stats.ok() ? stats->dot_products : 0;
}

uint64_t OfTheModel(const Operation& op, const DotProductCase& dot) {
  return Simulate(op.model, dot);
}

constexpr char kGpus[] = "corpus/observations/khattak_mikaitis";

TEST(Gpus, EveryRecordingIsTheModels) {
  const std::vector<std::string> files = *LineRecordingsBelow(kGpus);
  EXPECT_GE(files.size(), 48u);
  for (const std::string& file : files) EXPECT_EQ(ExpectRecorded(file, OfTheModel), 256u) << file;
}

// What AMD's tests have of RDNA3 and RDNA4.
TEST(AmdGpus, EveryRecordingIsTheModels) {
  const std::vector<std::string> files = *LineRecordingsBelow("corpus/observations/amd_rdna");
  uint64_t dot_products = 0;
  for (const std::string& file : files) dot_products += ExpectRecorded(file, OfTheModel);
  EXPECT_EQ(files.size(), 19u);
  EXPECT_EQ(dot_products, 7899u);
}

// The wmma operation whose step an mma operation of f16, bf16 or tf32 is; nullptr if there is none.
const Operation* WmmaOf(const Operation& op) {
  const size_t name = op.name.find('/') + 1, types = op.name.find('.', name + 4);
  if (op.model.a.bits == 8 || op.name.compare(name, 4, "mma.") != 0) return nullptr;
  const std::string shape = op.model.a.bits == 32 ? "wmma.m16n16k8" : "wmma.m16n16k16";
  return FindOperation(op.name.substr(0, name) + shape + op.name.substr(types));
}

// Those with operands of 16 bits and more were executed as wmma of k = 16, tf32 of k = 8; what
// their lines lack was zero.
TEST(Gpus, RecordingsThroughWmmaAreThoseOfItsOperations) {
  int files = 0;
  const auto of_wmma = [](const Operation& op, DotProductCase dot) -> uint64_t {
    const Operation* wmma = WmmaOf(op);
    if (wmma == nullptr) return ~uint64_t{0};
    dot.a.resize(wmma->shape().k);
    dot.b.resize(wmma->shape().k);
    return Simulate(wmma->model, dot);
  };
  const auto below = LineRecordingsBelow(kGpus);
  for (const std::string& file : *below) {
    if (FactsOfFileName(file).op->model.a.bits == 8) continue;
    ExpectRecorded(file, of_wmma);
    ++files;
  }
  EXPECT_EQ(files, 30);
}

// The evidence of an operation, unless it is this project's own, names these recordings if and only if there is one of it, under its
// own name or that of the step that was executed through it, and where it names GPUs, all of theirs.
TEST(Gpus, EvidenceNamesWhatWasRecorded) {
  std::map<const Operation*, std::set<std::string>> gpus;
  const auto below = LineRecordingsBelow(kGpus);
  for (const std::string& file : *below) {
    const Operation* op = FactsOfFileName(file).op;
    const std::vector<std::string> parts =
        absl::StrSplit(std::filesystem::path(file).filename().string(), '.');
    gpus[op].insert(parts[1]);
    if (const Operation* wmma = WmmaOf(*op)) gpus[wmma].insert(parts[1]);
  }
  for (const Operation& op : Operations()) {
    const Evidence& evidence = op.numerics->evidence;
    if (evidence.grade == Grade::kContested) continue;
    const bool others = evidence.grade != Grade::kMeasured && gpus.contains(&op);
    const bool replaced = evidence.grade != Grade::kMeasured && evidence.others != nullptr;
    EXPECT_EQ(evidence.file == std::string_view(kGpus) || replaced, others) << op.name;
    if (*evidence.gpus == '\0') continue;
    std::set<std::string> named;
    for (const absl::string_view gpu : absl::StrSplit(evidence.gpus, ", ")) {
      named.insert(std::string(absl::StripPrefix(gpu, "RTX 1000 ")));
    }
    EXPECT_EQ(named, gpus[&op]) << op.name;
  }
}

// The whole files of the same recordings beside the project, when they are there.
TEST(Silicon, EveryRecordingIsTheModels) {
  const std::string folder = "../shared/silicon";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const std::vector<std::string> files = *LineRecordingsBelow(folder);
  uint64_t dot_products = 0;
  for (const std::string& file : files) dot_products += ExpectRecorded(file, OfTheModel);
  EXPECT_GE(files.size(), 48u);
  EXPECT_EQ(dot_products, 153'000u);
}

std::vector<const Operation*> MeasuredOperations() {
  std::vector<const Operation*> ops;
  for (const Operation& op : Operations()) {
    if (op.numerics->evidence.grade == Grade::kMeasured) ops.push_back(&op);
  }
  return ops;
}

std::string TestName(const testing::TestParamInfo<const Operation*>& info) {
  std::string name = info.param->name;
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, MeasuredOperation, testing::ValuesIn(MeasuredOperations()),
                         TestName);

}  // namespace
}  // namespace mmadiff
