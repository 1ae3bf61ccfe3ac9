#include "triage/race/identify.h"

#include <algorithm>
#include <filesystem>

#include "corpus/list_files.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recorded_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/race/recorded_pool.h"
#include "triage/race/same.h"
#include "triage/testing/device.h"
#include "triage/testing/rows.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kTen = 10;

const Operation* Mma() { return FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"); }

Identification Ask(Device& device, const Operation* op, size_t most = kTen) {
  absl::StatusOr<Identification> id = Identify(device, {op}, {}, most);
  EXPECT_TRUE(id.ok()) << id.status();
  return id.ok() ? *std::move(id) : Identification();
}

// Those that have the model of a row, or one that is proved to be equal.
TEST(Identify, EveryArchitectureOfTenInstructions) {
  for (const char* instruction : kTenInstructions) {
    for (const Racer& row : RowsNamed(instruction)) {
      ModelDevice device(row.model);
      const Identification id = Ask(device, row.op);
      EXPECT_LE(id.asked.size(), kTen);
      EXPECT_EQ(device.executions, 2 * static_cast<int64_t>(id.asked.size()));
      std::vector<std::string> wanted;
      for (const Racer& other : RowsNamed(instruction)) {
        if (WhyNotComparable(row.model, other.model).empty() && WhySame(row.model, other.model)) {
          wanted.push_back(std::string(other.op->arch()));
        }
      }
      EXPECT_EQ(id.Identified(), wanted) << row.name;
      EXPECT_EQ(id.indistinct.size(), wanted.size() * (wanted.size() - 1) / 2) << row.name;
    }
  }
}

// Each answer is the device's, and each verdict is what the models say to the answers.
void CheckVerdicts(const Identification& id) {
  EXPECT_FALSE(id.asked.empty());
  for (const ArchVerdict& v : id.archs) {
    size_t given = 0;
    for (const AskedCase& c : id.asked) {
      const Operation* row = FindOperation(v.arch + "/" + c.op->instruction->name);
      given += row != nullptr && SameResult(*row, Simulate(row->model, c.dot), c.d);
    }
    EXPECT_EQ(v.given, given) << v.arch;
    EXPECT_EQ(v.kind == ArchVerdict::kGives, given == id.asked.size()) << v.arch;
    if (v.kind != ArchVerdict::kRefuted) continue;
    const AskedCase& c = id.asked[v.asked];
    EXPECT_NE(v.word, c.d) << v.arch;
  }
}

// A device with one parameter changed is no architecture, unless the report names the change among
// those that its answers do not refute.
TEST(Identify, ALieIsNotIdentifiedInSilence) {
  size_t lies = 0, refuted = 0;
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "x86/vdpbf16ps", "sm_80/mma.m16n8k16.f16.f16.f16.f16",
        "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3"}) {
    const Operation* op = FindOperation(name);
    for (const Neighbour& n : Neighbours(op->model)) {
      ModelDevice device(WithAlgorithm(*op, n.algorithm));
      const Identification id = Ask(device, op);
      CheckVerdicts(id);
      ++lies;
      const std::string arch(op->arch());
      if (std::ranges::count(id.Identified(), arch) == 0) {
        ++refuted;
      } else {
        EXPECT_THAT(id.unrefuted, Contains(op->name + ":" + Name(n)));
      }
    }
  }
  EXPECT_GT(refuted * 10, lies * 8) << refuted << " of " << lies;
}

TEST(Identify, AFlakyDeviceIsNotIdentified) {
  FlakyDevice device;
  const absl::StatusOr<Identification> id = Identify(device, {Mma()}, {}, kTen);
  EXPECT_EQ(id.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(id.status().message()), HasSubstr("flaky"));
}

TEST(Identify, ErrorsOfTheDevice) {
  DyingDevice device("", 3);
  EXPECT_TRUE(absl::IsUnavailable(Identify(device, {Mma()}, {}, kTen).status()));
}

TEST(Identify, NoMoreQuestionsThanAllowed) {
  ModelDevice device(Mma()->model);
  const Identification id = Ask(device, Mma(), 1);
  EXPECT_EQ(id.asked.size(), 1u);
  EXPECT_THAT(id.Identified(), Contains("sm_90"));
}

// Nothing that only one architecture has can be refuted by another one's model.
TEST(Identify, OneArchitectureAlone) {
  const Operation* op = FindOperation("sm_90/wgmma.m64n8k32.f32.e4m3.e4m3");
  ModelDevice device(op->model);
  const Identification id = Ask(device, op);
  EXPECT_THAT(id.Identified(), ElementsAre("sm_90"));
  EXPECT_EQ(id.archs.size(), 1u);
  EXPECT_GT(id.changes, id.unrefuted.size());
}

TEST(Identify, WhatNobodyKnows) {
  const Operation* op = FindUnmodelled("gfx950/v_mfma_f32_16x16x32_f16");
  ASSERT_NE(op, nullptr);
  ModelDevice device(Mma()->model);
  EXPECT_TRUE(absl::IsOutOfRange(Identify(device, {op}, {}, kTen).status()));
}

// What may be another one that nobody has a model of is neither identified nor refuted.
TEST(Identify, AnArchitectureWithoutAModel) {
  const Operation* op = FindOperation("gfx942/v_mfma_f32_16x16x16_f16");
  ModelDevice device(op->model);
  const Identification id = Ask(device, op);
  EXPECT_THAT(id.Identified(), ElementsAre("gfx942"));
  EXPECT_THAT(id.Named(ArchVerdict::kNoModel), ElementsAre("gfx950"));
}

// ---- Recordings

Identification Recorded(const std::string& path, const Operation* op, bool flip) {
  absl::StatusOr<std::vector<PoolCase>> pool = RecordedPool(path, {op});
  EXPECT_TRUE(pool.ok()) << pool.status();
  if (!pool.ok()) return {};
  if (flip) {
    for (PoolCase& c : *pool) *c.answer ^= 1;
  }
  ModelDevice nobody(op->model);
  absl::StatusOr<Identification> id = Identify(nobody, {op}, *pool, kTen);
  EXPECT_TRUE(id.ok()) << path << ": " << id.status();
  EXPECT_EQ(nobody.executions, 0);
  return id.ok() ? *std::move(id) : Identification();
}

// The architecture that the name of the file says, or several with it whose models do not differ
// on anything recorded; an answer with another last bit is nobody's.
int CheckFolder(const std::string& folder) {
  const auto files = LineRecordingsBelow(folder);
  EXPECT_TRUE(files.ok()) << files.status();
  for (const std::string& file : *files) {
    const bool few = file.find("questions") != file.npos || file.find(".ovfl") != file.npos;
    if (few) continue;
    const Operation* op = FactsOfFileName(file).op;
    const Identification id = Recorded(file, op, false);
    CheckVerdicts(id);
    EXPECT_EQ(id.asked.size(), kTen) << file;
    EXPECT_THAT(id.Identified(), Contains(std::string(op->arch()))) << file;
    EXPECT_THAT(Recorded(file, op, true).Identified(), ElementsAre()) << file;
  }
  return static_cast<int>(files->size());
}

TEST(Identify, EveryRecordedFileOfTheCorpus) { EXPECT_GE(CheckFolder("corpus/observations"), 60); }

TEST(Identify, EveryRecordedFolderOfTheCorpus) {
  for (const char* folder :
       {"corpus/observations/amd_epyc_zen3", "corpus/observations/amd_epyc_zen4"}) {
    for (const char* name : {"x86/vfmadd231ss", "x86/vfmadd231sd"}) {
      const Operation* op = FindOperation(name);
      EXPECT_THAT(Recorded(folder, op, false).Identified(), ElementsAre("x86")) << folder;
      EXPECT_THAT(Recorded(folder, op, true).Identified(), ElementsAre()) << folder;
    }
  }
}

TEST(Identify, EveryRecordingBesideTheProject) {
  const char* folder = "../shared/silicon";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  EXPECT_GE(CheckFolder(folder), 40);
}

// What tells architectures apart: FP8 of Ada is one step, that of Hopper two of f16.
TEST(Identify, TheArchitectureAlone) {
  const std::string file =
      "corpus/observations/khattak_mikaitis/sm_89.L40S.mma.m16n8k32.f32.e4m3.e4m3.f32.txt.gz";
  EXPECT_THAT(Recorded(file, FactsOfFileName(file).op, false).Identified(), ElementsAre("sm_89"));
}

}  // namespace
}  // namespace mmadiff
