// The durable record of a run: finished units and their results, over all attempts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/block_log.h"
#include "corpus/run_record.h"
#include "device/clock.h"
#include "fuzz/folder/unit_set.h"

namespace mmadiff {

// The largest compared part of each unfinished unit, by number. It counts until the unit is done.
using UnitParts = std::map<uint64_t, UnitResult>;
void KeepLarger(UnitResult part, UnitParts& parts);
// Explains why a part contradicts a larger part or the whole unit with `mismatches` mismatches; ""
// if it does not.
std::string Contradiction(const RunManifest& manifest, const UnitResult& part, uint64_t mismatches);

// Everything that earlier attempts left in a work directory.
struct StoredUnits {
  std::vector<UnitResult> totals;  // by instruction of the manifest; sums over finished units
  std::vector<UnitSet> done;       // by instruction; finished units
  std::vector<UnitParts> parts;    // by instruction; parts of unfinished units
  std::vector<UnitParts> begun;    // by instruction; parts that an attempt may continue
  // By instruction and unit: UnitResult::failures, including finished units.
  std::vector<std::map<uint64_t, uint64_t>> failures;
  uint64_t units = 0;              // number of finished units
  std::set<std::string> machines;  // machines that executed them
  // By instruction: the units with a canary, one for each merged folder; without any, the fastest
  // unit.
  std::vector<std::vector<UnitResult>> asked;
  // By instruction and unit: the last record of a drop; OK: the drop was revoked.
  std::vector<std::map<uint64_t, UnitResult>> drops;
  // By instruction and unfinished unit: the last record of an attempt that a mismatch limit ended.
  std::vector<std::map<uint64_t, UnitResult>> stops;
  std::vector<Hardware> hardware;  // hardware that executed units, latest state, ordered by unit
  std::vector<Damage> damage;      // in the logs; the undamaged records were used
};

// Keeps the record of a drop, or of a stop, that ended last.
void KeepLater(UnitResult record, std::map<uint64_t, UnitResult>& records);

// Adds a result to the total of its instruction; the unit number and the first case of the total
// have no meaning. Digests are summed over finished units only.
void Accumulate(const UnitResult& unit, UnitResult& total);

// Whether the unit was the incomplete last unit of its instruction before cases were raised. A
// larger unit has replaced it.
bool IsSuperseded(const RunManifest& manifest, const UnitResult& unit);

// Empty if the unit belongs to this run; otherwise the problem.
std::string WhyNotPlanned(const RunManifest& manifest, const UnitResult& unit);

inline constexpr char kMergedLog[] = "units-merged.log";  // MergeRuns() writes it
// Whether the file name is that of a log.
bool IsUnitLog(const std::string& path);
// The logs of a work directory, in the order of the attempts. kDataLoss if it cannot be listed.
absl::StatusOr<std::vector<std::string>> UnitLogsIn(const std::string& workdir);

// Called once for each finished unit, however many attempts executed it.
using OnUnit = std::function<void(const UnitResult&)>;

// Whether logs are synced before they are trusted, because an earlier sync may have failed. Not
// needed to only read them, or to make a durable copy.
enum class Sync { kFirst, kNever };

// Reads the units of this run. Blocks of other runs, and units that this run does not have, are
// damage. kAborted for two different answers to one unit. kDataLoss if a log cannot be listed, read
// or synced.
absl::StatusOr<StoredUnits> ReadUnits(const std::string& workdir, const RunManifest& manifest,
                                      const OnUnit& each = nullptr, Sync sync = Sync::kFirst);

// The same for reading only: unreadable logs, and answers to a unit that differ from the first
// ones, are also damage, and everything else is read.
StoredUnits ReadGoodUnits(const std::string& workdir, const RunManifest& manifest,
                          const OnUnit& each = nullptr);

// Called for each record of one log that belongs to this run, including parts and repeated units,
// with the unit, its bytes, and their offset in the file. An error ends the reading.
using OnStoredUnit =
    std::function<absl::Status(const UnitResult&, absl::string_view bytes, uint64_t offset)>;
// Damage, blocks of other runs and units that this run does not have are added to `damage`;
// superseded units are skipped. kDataLoss if the log cannot be read.
absl::Status ReadUnitLog(const std::string& path, const RunManifest& manifest,
                         const OnStoredUnit& each, std::vector<Damage>& damage);
// One line for each damage. A torn end is not reported while a `writer` (WriterOf()) is writing.
std::vector<std::string> TextsOf(const std::vector<Damage>& damage, const std::string& writer = "");

// Appends to the log of this attempt. Not thread-safe.
class UnitLog {
 public:
  // kDataLoss if the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<UnitLog>> Create(const std::string& workdir, RunId run);

  // Durable after Flush(), or after the first Append() at least half a second later. kDataLoss also
  // if the log is no longer in its folder.
  absl::Status Append(const UnitResult& unit);
  absl::Status Flush();

 private:
  explicit UnitLog(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

  std::unique_ptr<BlockLogWriter> log_;
  absl::Duration flushed_ = MonotonicNow();
};

}  // namespace mmadiff
