// The durable memory of a run: which units are done and what they gave, over all attempts.
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

// Of each unit that is not done the largest part that was compared, by number. It counts until the
// unit is done.
using UnitParts = std::map<uint64_t, UnitResult>;
void KeepLarger(UnitResult part, UnitParts& parts);
// Why a part and the whole unit, which begins with the same cases and has so many mismatches, cannot both be true; "" if
// they can.
std::string Contradiction(const RunManifest& manifest, const UnitResult& part, uint64_t mismatches);

// Everything that earlier attempts left in a work directory.
struct StoredUnits {
  std::vector<UnitResult> totals;  // by instruction of the manifest; of the units that are done
  std::vector<UnitSet> done;       // by instruction
  std::vector<UnitParts> parts;    // by instruction; of units that are not done
  std::vector<UnitParts> begun;    // the same of parts behind which an attempt may go on
  // By instruction and unit: UnitResult::failures, also of units that are done.
  std::vector<std::map<uint64_t, uint64_t>> failures;
  uint64_t units = 0;              // that are done
  std::set<std::string> machines;  // that did them
  // By instruction: the units with a canary, one of each folder that was merged; without any the unit that took least.
  std::vector<std::vector<UnitResult>> asked;
  // By instruction and unit: the last record of a drop; OK: it was taken back.
  std::vector<std::map<uint64_t, UnitResult>> drops;
  // By instruction and unit that is not done: the last record of an attempt that a mismatch limit ended.
  std::vector<std::map<uint64_t, UnitResult>> stops;
  std::vector<Hardware> hardware;  // that did units, each as it was last; ordered by unit
  std::vector<Damage> damage;      // of the logs: the good records were used
};

// Keeps the record of a drop, or of a stop, that ended last.
void KeepLater(UnitResult record, std::map<uint64_t, UnitResult>& records);

// Sum of two results of one instruction; the unit number and the first case lose their meaning. Digests are
// of units that are done.
void Accumulate(const UnitResult& unit, UnitResult& total);

// Whether the unit was the last of its instruction, with a part of its cases, before cases were
// raised: another is in its place.
bool IsSuperseded(const RunManifest& manifest, const UnitResult& unit);

// Empty when the unit is one of this run; else what is wrong with it.
std::string WhyNotPlanned(const RunManifest& manifest, const UnitResult& unit);

inline constexpr char kMergedLog[] = "units-merged.log";  // MergeRuns() writes it
// By its name.
bool IsUnitLog(const std::string& path);
// The logs of a work directory, in the order of the attempts. kDataLoss when it cannot be listed.
absl::StatusOr<std::vector<std::string>> UnitLogsIn(const std::string& workdir);

// For each unit of a run that is done once, whatever the number of attempts that did it.
using OnUnit = std::function<void(const UnitResult&)>;

// Whether logs are synced before they are trusted: an earlier sync may have failed. Not for who only
// looks, or makes a copy durable.
enum class Sync { kFirst, kNever };

// Reads the units of this run. Blocks of other runs, and units that this run does not have, are damage. kAborted for two
// different answers for one unit: an alarm, not a merge. kDataLoss when a log cannot be listed,
// read or synced.
absl::StatusOr<StoredUnits> ReadUnits(const std::string& workdir, const RunManifest& manifest,
                                      const OnUnit& each = nullptr, Sync sync = Sync::kFirst);

// The same for who only looks: logs that cannot be read, and other answers to a unit than the first ones, are
// damage too, and all else is read.
StoredUnits ReadGoodUnits(const std::string& workdir, const RunManifest& manifest,
                          const OnUnit& each = nullptr);

// For each record of one log that this run can have, parts and those that come again too: the unit, its bytes,
// and where in the file they begin. An error ends the reading.
using OnStoredUnit =
    std::function<absl::Status(const UnitResult&, absl::string_view bytes, uint64_t offset)>;
// Damage, blocks of other runs and units that this run does not have go to `damage`; superseded
// units are passed over. kDataLoss when the log cannot be read.
absl::Status ReadUnitLog(const std::string& path, const RunManifest& manifest,
                         const OnStoredUnit& each, std::vector<Damage>& damage);
// What to tell of it, a line each. The end of what `writer` (WriterOf()) is writing is no damage.
std::vector<std::string> TextsOf(const std::vector<Damage>& damage, const std::string& writer = "");

// Appends to the log of this attempt. Not thread-safe.
class UnitLog {
 public:
  // kDataLoss when the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<UnitLog>> Create(const std::string& workdir, RunId run);

  // Durable at the latest half a second and one call later, or after Flush(). kDataLoss also when
  // the log is not in its folder any more.
  absl::Status Append(const UnitResult& unit);
  absl::Status Flush();

 private:
  explicit UnitLog(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

  std::unique_ptr<BlockLogWriter> log_;
  absl::Duration flushed_ = MonotonicNow();
};

}  // namespace mmadiff
