// What a differential run stores, as plain structs: its manifest (text) and the results of its
// units (binary, one record of a block log each). Schemas: proto/run.proto.
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

// The facts that make two attempts the same run.
struct RunManifest {
  struct Instruction {
    std::string name;         // ARCH/INSTRUCTION
    uint64_t cases = 0;       // executions in the whole run
    uint64_t unit_cases = 0;  // executions of one unit; the last may have fewer
    bool emulated = false;    // by the device, with several machine instructions
    std::string schedule =
        {};  // "bits 1, tie 12" (fuzz/schedule/class_schedule.h); empty without one
    // What `cases` was before each time it was raised; ascending, below `cases`.
    std::vector<uint64_t> earlier_cases = {};

    bool Endless() const { return cases >= uint64_t{1} << 60; }  // more than any run can do
    // When the run began.
    uint64_t FirstCases() const { return earlier_cases.empty() ? cases : earlier_cases.front(); }
    uint64_t Units() const { return cases / unit_cases + (cases % unit_cases != 0); }
    // Of a unit below Units().
    uint64_t CasesOf(uint64_t unit) const {
      return std::min(unit_cases, cases - unit * unit_cases);
    }

    // Of the units u with u % shards == shard.
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
  uint64_t shard = 0, shards = 1;          // the run has the units u with u % shards == shard
  std::vector<LeftOutLine> left_out = {};  // that the command line asked for; no part of the id
  bool id_of_text =
      false;  // stored by a version whose ids hashed the header of the file and the device's name

  friend bool operator==(const RunManifest&, const RunManifest&) = default;
};

// A sum modulo 2^128 of XXH3-128 values: the same in any order of the summands.
using Digest = unsigned __int128;

// Mismatching cases that a result lists; all are counted.
inline constexpr size_t kMaxListedCases = 100;

// What a device answered to a few cases when it began a run, so that a later attempt can see whether it still does:
// `d` are results of cases from `first_case` on, of which fuzz/ask/canary.h says which. Empty: none.
struct Canary {
  uint64_t first_case = 0;
  std::vector<uint64_t> d;

  friend bool operator==(const Canary&, const Canary&) = default;
};

// Why an attempt asked nothing more of an instruction: the device's error. OK: a later attempt asked it again and went on.
using RowDrop = absl::Status;

// The result of one unit: consecutive cases of one operation.
struct UnitResult {
  uint32_t instruction = 0;  // index into RunManifest::instructions
  uint64_t unit = 0;         // number among the units of its operation
  uint64_t first_case = 0;
  uint64_t cases = 0;         // executions compared
  uint64_t dot_products = 0;  // result words compared
  uint64_t mismatches = 0;    // result words that differ

  std::vector<uint64_t> mismatching_cases;  // the first kMaxListedCases, by index
  Digest device_digest = 0, model_digest = 0;
  std::map<std::string, uint64_t> counts;  // dot products by name of operand class or stage event
  double seconds = 0;                      // wall time
  std::vector<uint64_t> coverage;  // by number of the bin of the model (fuzz/coverage/bins.h)
  uint64_t ended = 0;              // seconds since 1970 UTC; 0: not known
  Machine machine;
  // The unit is not done: only its first cases; dot_products may include some of a last, incomplete
  // case. Without digests where mismatches were still to be looked at.
  bool part = false;
  Canary canary = {};  // of the attempt that did the unit
  // No result: `part` is set, there are no cases, and `unit` is any that the attempt had to do.
  std::optional<RowDrop> drop = {};
  // Of a part, which may then be empty: attempts that ended because the device failed in this unit.
  uint64_t failures = 0;
  // No result, as of a drop: an attempt ended the instruction after so many mismatching cases (--max_mismatches) and left
  // `unit` unfinished. 0: none.
  uint64_t mismatch_limit = 0;

  // Whether another attempt may go on behind it.
  bool IsBegun() const { return part && (device_digest != 0 || model_digest != 0); }
  // Lists a mismatching case if there is room.
  void List(uint64_t index) {
    const bool listed = !mismatching_cases.empty() && mismatching_cases.back() == index;
    if (!listed && mismatching_cases.size() < kMaxListedCases) mismatching_cases.push_back(index);
  }

  friend bool operator==(const UnitResult&, const UnitResult&) = default;
};

// With a checksum as its last line.
std::string FormatManifest(const RunManifest& manifest);
// The bytes whose hashes name a run: its facts as they were before cases were raised. The same for equal facts in all
// versions of this program.
std::string CanonicalManifest(const RunManifest& manifest);
// What the blocks of the run's logs name: XXH3-128 of CanonicalManifest().
RunId RunIdOf(const RunManifest& manifest);
// kDataLoss names `where` (a file name), the position and the field.
absl::StatusOr<RunManifest> ParseManifest(absl::string_view text, absl::string_view where);

// Empty when both are the same run with the same cases; else every differing field: "seed: stored 1,
// wanted 2; ...". In how many steps cases were raised makes no difference.
std::string ManifestDifference(const RunManifest& stored, const RunManifest& wanted);

// Of the block that has its record.
uint32_t BlockVersionOf(const UnitResult& unit);
// The same bytes for equal results. At most kMaxBlockBytes - 1 KiB with at most kMaxListedCases
// mismatching cases and 500 counts with names of at most 80 characters.
std::string SerializeUnit(const UnitResult& unit);
// kDataLoss when the bytes are no unit.
absl::StatusOr<UnitResult> ParseUnit(absl::string_view bytes);

}  // namespace mmadiff
