// The result of a run, finished or not. `run` ends with one, and `report` reads one from folders.
// Screens, pages, JSON, CSV and JUnit only print it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/stop.h"
#include "fuzz/folder/findings.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/folder/unit_log.h"
#include "sim/operation.h"

namespace mmadiff {

// One instruction of a run.
struct RunReportRow {
  enum State : uint8_t { kDiffers, kUnrepeated, kDropped, kIncomplete, kNothing, kAgrees };

  std::string instruction;        // ARCH/INSTRUCTION
  const Operation* op = nullptr;  // nullptr: not in this version
  State state = kNothing;
  UnitResult total;             // over all units; digests over finished units only
  uint64_t planned_cases = 0;   // for the named shards; 0 for a run without an end
  bool finished = false;        // all planned cases are done
  uint64_t mismatch_limit = 0;  // the --max_mismatches that stopped it; 0: none did
  uint64_t stopped_at = 0;      // seconds since 1970 UTC; 0: unknown
  bool at_least = false;        // total.mismatches counts findings; no unit counts them
  bool emulated = false;        // the device runs several machine instructions for it
  absl::Status dropped;         // not OK: failure on this instruction alone, last attempt
  double bound = 0;  // 3/N, bounds the rate of differences (95 %); 0: some differ, or no N
  // For a device that restarts (Device::StartsAnew()): the most dot products that one of its
  // processes answered in this attempt. 0 for other devices.
  uint64_t process_dot_products = 0;
  std::string planted;  // fault that the self-test planted, and when it was found
  std::vector<std::string> empty_classes;  // input classes without a case
  // Coverage bins that too few dot products reached; empty if answers differ.
  std::vector<std::string> thin_bins;

  bool stopped() const { return mismatch_limit > 0; }
  bool IsFilled() const { return empty_classes.empty() && thin_bins.empty(); }
  // Grade of the evidence for its model; "" if `op` is nullptr.
  const char* Grade() const;
};
const char* Name(RunReportRow::State state);  // "differs", "flaky", ...
// Whether the reason for the drop (garbled or unrepeated answers) puts its earlier answers in
// doubt.
bool IsDoubted(const RunReportRow& row);
// "rate < 3.0e-07, model published, incomplete". `narrow`: shorter, for a column with a title.
std::string Sentence(const RunReportRow& row, bool narrow = false);
// " in processes of at most N lines", for a device that restarts, which cannot show faults that
// need more; "" for other devices.
std::string InProcesses(uint64_t dot_products);

inline constexpr size_t kMaxMissing = 10000;  // a file may claim any number of shards
// The shards that are not in `seen`, ascending, at most the first kMaxMissing.
std::vector<uint64_t> MissingShards(const std::vector<uint64_t>& seen, uint64_t shards);
// "shard 7 of 16 is missing"; "" if none is.
std::string MissingShardsText(const std::vector<uint64_t>& seen, uint64_t shards);
// "662 mismatches", "at least 1 mismatch".
std::string MismatchesText(uint64_t mismatches, bool at_least);

struct RunReport {
  RunManifest manifest;  // the whole run's
  std::vector<std::string> folders;
  uint64_t shards = 1;             // all shards of the run; `seen` lists the named ones
  std::vector<uint64_t> seen;      // ascending
  bool endless = false;            // --forever
  std::vector<RunReportRow> rows;  // in the order of the manifest
  UnitResult total;                // sum of all rows
  bool at_least = false;           // as in RunReportRow
  uint64_t units = 0, planned_units = 0;
  std::string digest;  // the device's results, 32 hex digits; empty while a row is unfinished
  std::vector<Finding> findings;
  std::vector<std::string> machines;    // that ran units, sorted
  std::vector<std::string> distrusted;  // "OPERATION: why"
  std::vector<std::string> damage;      // undamaged data was used; also units with two answers

  // Facts about one invocation of `run`; absent in a report read from folders.
  struct Attempt {
    StopCause stopped_by;          // why it ended early
    absl::Status device, durable;  // not OK: why it stopped
    bool damaged_findings = false;
    uint64_t units = 0, resumed_units = 0;
    uint64_t dot_products = 0;
    // Rows of earlier attempts whose device this one did not query again before it ended.
    uint64_t not_asked_again = 0;
    uint64_t repeated = 0;  // dot products of earlier attempts, queried again with the same answers
    double seconds = 0;
    int threads = 1;
    std::vector<Hardware> hardware;  // that answered
    std::vector<std::string> warnings;

    double DotProductsPerSecond() const {
      return seconds > 0 ? static_cast<double>(dot_products) / seconds : 0;
    }
    // Earlier attempts had already done all the work.
    bool NothingExecuted() const { return dot_products == 0 && resumed_units > 0; }
  };
  std::optional<Attempt> attempt;

  uint64_t Count(RunReportRow::State state) const;
  // Whether all units of the row belong to other shards.
  bool IsOfOtherShards(const RunReportRow& row) const {
    return shards > 1 && !endless && row.planned_cases == 0;
  }
  // Whether all units of all rows belong to other shards.
  bool IsEmptyShard() const { return shards > 1 && !endless && planned_units == 0; }
};
// The verdict, in one sentence.
std::string Sentence(const RunReport& report);
// "14 of 14 instructions stopped at 20 mismatches (--max_mismatches), most recently at TIME"; "" if none
// did.
std::string StoppedText(const RunReport& report);
// "INSTRUCTION: why", for each dropped row.
std::vector<std::string> DroppedLines(const RunReport& report);
// Rows without a mismatch whose classes or bins are not all reached, or of which nothing was
// compared: their pass is not reliable.
std::vector<const RunReportRow*> ThinRows(const RunReport& report);

// Builds a report from units and findings in any order. Counts each unit once, so that `run` and
// `report` cannot disagree.
class RunReportBuilder {
 public:
  explicit RunReportBuilder(const RunManifest& manifest);

  // Whether `manifest` describes the same run.
  bool IsOf(const RunManifest& manifest) const;
  // Names a shard of the run. The next units are from its folder.
  void AddShard(const RunManifest& manifest, const std::string& folder);
  // Adds a whole folder of the run. Calls `counted` for each unit that counts. Errors as
  // ReadRunFolder().
  absl::StatusOr<RunFolder> AddFolder(const std::string& path, const OnUnit& counted);
  // False if the unit was counted before. Two different answers to one unit are damage.
  bool Add(const UnitResult& unit);
  // Adds a part of a unit. It counts, without digests, if no folder has the whole unit or a larger
  // part.
  void AddUnfinished(UnitResult part);
  // Keeps the later of two stops. A stop is void if some folder has the unit.
  void AddStop(const UnitResult& stop);
  // Adds units whose results the rows already have, and the machines that ran them or parts of
  // them.
  void AddDone(uint64_t units, const std::set<std::string>& machines);
  // Counts the parts and returns those that count. Otherwise Finish() counts them.
  std::vector<UnitResult> CountParts();
  void Add(Finding finding);
  void Distrust(const std::vector<std::string>& lines);
  void Damage(const std::vector<std::string>& lines);
  // To set other facts about an instruction of the manifest: dropped, stopped, planted, ...
  RunReportRow& row(size_t instruction) { return report_.rows[instruction]; }

  // `attempt`: set by `run` only.
  RunReport Finish(std::optional<RunReport::Attempt> attempt = std::nullopt) &&;

 private:
  struct Seen {
    Digest device;
    uint64_t mismatches;
    size_t folder;
  };
  struct UnitHash {
    size_t operator()(const std::pair<uint32_t, uint64_t>& unit) const {
      return std::hash<uint64_t>()(unit.second * 2048 + unit.first);
    }
  };
  void Count(const UnitResult& unit);
  void FinishRow(size_t instruction);
  void AddCoverage(RunReportRow& row);
  RunReportRow::State StateOf(const RunReportRow& row) const;

  RunReport report_;
  std::vector<uint64_t> done_cases_;                   // by instruction; in finished units
  std::vector<UnitParts> parts_;                       // by instruction
  std::vector<std::map<uint64_t, UnitResult>> stops_;  // by instruction and unit
  std::unordered_map<std::pair<uint32_t, uint64_t>, Seen, UnitHash> seen_;
  std::set<std::string> machines_;
  std::set<uint64_t> shards_;
  bool mixed_ = false;  // the shard counts differ
};

}  // namespace mmadiff
