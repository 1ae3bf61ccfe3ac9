// Folders of runs that nobody ran, for tests.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/testing/folder.h"
#include "fuzz/coverage/bins.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/folder/workdir.h"

namespace mmadiff {

class FolderTest : public TestFolder {
 protected:
  // Two operations; ten units each of 100 cases, the last of 50.
  static RunManifest Manifest(uint64_t shard = 0, uint64_t shards = 1) {
    RunManifest manifest;
    manifest.device = "faulty:none=0";
    manifest.instructions = {{"x86/vdpbf16ps", 950, 100, false, ""},
                             {"x86/vfmadd231ss", 950, 100, false, ""}};
    manifest.shard = shard;
    manifest.shards = shards;
    return manifest;
  }

  // All that can be reached.
  static std::vector<uint64_t> Covered(uint32_t instruction) {
    std::vector<uint64_t> counts;
    const Operation* op = FindOperation(Manifest().instructions[instruction].name);
    for (const Bin& bin : BinsOf(op->model)) counts.push_back(bin.unreachable.empty() ? 9 : 0);
    return counts;
  }

  static UnitResult Unit(uint32_t instruction, uint64_t number,
                         const std::string& machine = "node1") {
    UnitResult unit;
    unit.instruction = instruction;
    unit.unit = number;
    unit.first_case = 100 * number;
    unit.cases = number == 9 ? 50 : 100;
    unit.dot_products = unit.cases * (instruction == 0 ? 16 : 1);
    unit.mismatches = 3;
    unit.mismatching_cases = {100 * number, 100 * number + 49};
    unit.device_digest = (Digest{number + 1} << 64) | 17;
    unit.model_digest = Digest{number} << 100;
    unit.counts = {{"class.bits", 25}, {"event.tie", number}};
    unit.coverage = Covered(instruction);
    unit.seconds = 0.25;
    unit.ended = 1'700'000'000 + number;
    unit.machine.host = machine;
    return unit;
  }

  // --max_mismatches ended the instruction before the unit was done.
  static UnitResult Stop(uint32_t instruction, uint64_t number, uint64_t ended) {
    UnitResult stop;
    stop.instruction = instruction;
    stop.unit = number;
    stop.first_case = 100 * number;
    stop.part = true;
    stop.mismatch_limit = 20;
    stop.ended = ended;
    return stop;
  }

  // One attempt that stores these units, each in a block of its own; returns the folder.
  std::string Attempt(const std::string& name, const std::vector<UnitResult>& units,
                      const RunManifest& manifest = Manifest()) {
    const std::string folder = Path(name);
    std::filesystem::create_directories(folder);
    EXPECT_TRUE(ClaimManifest(folder, manifest).ok());
    const auto log = UnitLog::Create(folder, RunIdOf(manifest));
    EXPECT_TRUE(log.ok()) << log.status();
    for (const UnitResult& unit : units) {
      EXPECT_TRUE((*log)->Append(unit).ok());
      EXPECT_TRUE((*log)->Flush().ok());
    }
    return folder;
  }

  // Of `answers` devices or more, by what they answered.
  static void File(const std::string& folder, uint64_t a, uint64_t answer,
                   FindingState state = FindingState::kOpen) {
    RegressionCase c;
    c.op = FindOperation("x86/vfmadd231ss");
    c.inputs.Resize(c.op->shape(), 1);
    c.inputs.a[0] = a;
    c.answers = {{"faulty:none=0", "made up", "2026-01-31T06:00:00Z", {answer}},
                 {"model:3", "", "2026-01-31T06:00:00Z", {77}}};
    c.slug = "made";
    c.bucket = ParseBucket(Family::kFusedSum, "unexplained:made");
    c.state = state;
    c.moved_by = ParseMovedBy(state == FindingState::kOpen ? "" : "faulty:none=0");
    const auto written = WriteCase(c, folder + "/findings");
    ASSERT_TRUE(written.ok()) << written.status();
  }

  // An input on which the run's device fails.
  static void FileFailure(const std::string& folder, const InputFailure& failure,
                          const std::string& device = "faulty:none=0", uint64_t a = 0) {
    RegressionCase c;
    c.op = FindOperation("x86/vfmadd231ss");
    c.inputs.Resize(c.op->shape(), 1);
    c.inputs.a[0] = a;
    c.no_word = {device, "made up", "2026-01-31T06:00:00Z", failure};
    c.answers = {{"model:3", "", "2026-01-31T06:00:00Z", {77}}};
    c.slug = "made";
    c.bucket = Bucket::NoWord(failure);
    const auto written = WriteCase(c, folder + "/findings");
    ASSERT_TRUE(written.ok()) << written.status();
  }

  // Every file of a folder but its lock.
  static std::map<std::string, std::string> Contents(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || entry.path().filename() == "writer.lock") continue;
      files[std::filesystem::relative(entry.path(), folder)] = Get(entry.path());
    }
    return files;
  }
};

}  // namespace mmadiff
