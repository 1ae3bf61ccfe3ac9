// The stored data of a differential run, as plain structs: its manifest (text) and the results of
// its units (binary, one block-log record each). Schemas: proto/run.proto.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/block_log.h"
#include "corpus/ledger.h"
#include "device/hardware.h"
#include "device/identity.h"

namespace mmadiff {

// The facts that identify a run. Two attempts with equal facts belong to the same run.
struct RunManifest {
  struct Instruction {
    std::string name;         // ARCH/INSTRUCTION
    uint64_t cases = 0;       // executions in the whole run
    uint64_t unit_cases = 0;  // executions of one unit; the last unit may have fewer
    bool emulated = false;    // the device uses several machine instructions
    std::string schedule =
        {};  // "bits 1, tie 12" (fuzz/schedule/class_schedule.h); empty without a schedule
    // The value of `cases` before each time it was raised: ascending and below `cases`.
    std::vector<uint64_t> earlier_cases = {};

    bool Endless() const { return cases >= uint64_t{1} << 60; }  // more than any run can do
    // The value of `cases` when the run began.
    uint64_t FirstCases() const { return earlier_cases.empty() ? cases : earlier_cases.front(); }
    uint64_t Units() const { return cases / unit_cases + (cases % unit_cases != 0); }
    // Executions of a unit below Units().
    uint64_t CasesOf(uint64_t unit) const {
      return std::min(unit_cases, cases - unit * unit_cases);
    }

    // The number of units u with u % shards == shard.
    uint64_t UnitsOfShard(uint64_t shard, uint64_t shards) const {
      return Units() > shard ? (Units() - shard - 1) / shards + 1 : 0;
    }
    uint64_t CasesOfShard(uint64_t shard, uint64_t shards) const {
      const uint64_t units = UnitsOfShard(shard, shards);
      if (units == 0) return 0;
      return (units - 1) * unit_cases + CasesOf((units - 1) * shards + shard);
    }

    friend bool operator==(const Instruction&, const Instruction&) = default;
  };

  std::string tool_version, model_version;
  uint32_t generator_version = 0;
  uint64_t seed = 0;
  std::string strategy;
  std::string device;  // specification
  Identity device_identity;
  std::vector<Instruction> instructions;
  uint64_t shard = 0, shards = 1;          // covers the units u with u % shards == shard
  std::vector<LeftOutLine> left_out = {};  // requested but left out; not in the id
  bool id_of_text =
      false;  // written by a version whose ids hashed the file header and the device name

  friend bool operator==(const RunManifest&, const RunManifest&) = default;
};

// A sum modulo 2^128 of XXH3-128 values, so the order of the summands does not matter.
using Digest = unsigned __int128;

// Mismatching cases that a result lists. All of them are counted.
inline constexpr size_t kMaxListedCases = 100;

// A device's answers to a few cases at the start of a run. A later attempt uses them to check that
// the device still gives the same answers. `d` has results of cases from `first_case` on;
// fuzz/ask/canary.h defines which. Empty: none.
struct Canary {
  uint64_t first_case = 0;
  std::vector<uint64_t> d;

  friend bool operator==(const Canary&, const Canary&) = default;
};

// The device error after which an attempt stopped querying an instruction. OK: a later attempt
// queried the instruction again and continued.
using RowDrop = absl::Status;

// The result of one unit: consecutive cases of one operation.
struct UnitResult {
  uint32_t instruction = 0;  // index into RunManifest::instructions
  uint64_t unit = 0;         // number among the units of this operation
  uint64_t first_case = 0;
  uint64_t cases = 0;         // executions compared
  uint64_t dot_products = 0;  // result words compared
  uint64_t mismatches = 0;    // result words that differ

  std::vector<uint64_t> mismatching_cases;  // the first kMaxListedCases, by index
  Digest device_digest = 0, model_digest = 0;
  std::map<std::string, uint64_t> counts;  // dot products per operand class or stage event
  double seconds = 0;                      // wall time
  std::vector<uint64_t> coverage;  // indexed by bin number of the model (fuzz/coverage/bins.h)
  uint64_t ended = 0;              // seconds since 1970 UTC; 0: unknown
  Machine machine;
  // The unit is incomplete and has only its first cases; dot_products may include some of a last,
  // incomplete case. A part has no digests if its mismatches were not all examined.
  bool part = false;
  Canary canary = {};  // canary of the attempt that ran the unit
  // Not a result: `part` is set, there are no cases, and `unit` is any unit that the attempt had to
  // run.
  std::optional<RowDrop> drop = {};
  // For a part, which may then be empty: the number of attempts that ended because the device
  // failed in this unit.
  uint64_t failures = 0;
  // Not a result, like a drop. An attempt ended the instruction after this many mismatching cases
  // (--max_mismatches) and left `unit` unfinished. 0: none.
  uint64_t mismatch_limit = 0;

  // Whether a different attempt may continue after this part.
  bool IsBegun() const { return part && (device_digest != 0 || model_digest != 0); }
  // Lists a mismatching case if there is room.
  void List(uint64_t index) {
    const bool listed = !mismatching_cases.empty() && mismatching_cases.back() == index;
    if (!listed && mismatching_cases.size() < kMaxListedCases) mismatching_cases.push_back(index);
  }

  friend bool operator==(const UnitResult&, const UnitResult&) = default;
};

// Text with a checksum as its last line.
std::string FormatManifest(const RunManifest& manifest);
// The bytes whose hash names a run: its facts before cases were raised. The same in all versions of
// this program for equal facts.
std::string CanonicalManifest(const RunManifest& manifest);
// The id in the blocks of the run's logs: XXH3-128 of CanonicalManifest().
RunId RunIdOf(const RunManifest& manifest);
// kDataLoss with `where` (a file name), the position and the field.
absl::StatusOr<RunManifest> ParseManifest(absl::string_view text, absl::string_view where);

// Empty if both are the same run with the same cases. Otherwise every field that differs: "seed:
// stored 1, wanted 2; ...". The number of steps in which cases were raised does not matter.
std::string ManifestDifference(const RunManifest& stored, const RunManifest& wanted);

// The version of the block that holds the unit's record.
uint32_t BlockVersionOf(const UnitResult& unit);
// Equal results give equal bytes: at most kMaxBlockBytes - 1 KiB with at most kMaxListedCases
// mismatching cases and 500 counts with names of at most 80 characters.
std::string SerializeUnit(const UnitResult& unit);
// kDataLoss if the bytes are not a unit.
absl::StatusOr<UnitResult> ParseUnit(absl::string_view bytes);

}  // namespace mmadiff
