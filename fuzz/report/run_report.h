// The result of a run, finished or not: `run` ends with one, and `report` reads one from folders.
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
  const Operation* op = nullptr;  // nullptr: this version does not have it
  State state = kNothing;
  UnitResult total;             // over all units; digests only over finished ones
  uint64_t planned_cases = 0;   // of the shards that are named; 0 of a run without an end
  bool finished = false;        // all of them are done
  uint64_t mismatch_limit = 0;  // that stopped it (--max_mismatches); 0: none did
  uint64_t stopped_at = 0;      // seconds since 1970 UTC; 0: not known
  bool at_least = false;        // total.mismatches is that of the findings; no unit counts them
  bool emulated = false;        // by the device, with several machine instructions
  absl::Status dropped;  // not OK: what failed on this instruction alone, in the last attempt
  double bound = 0;      // 3/N: the rate of differences is below it (95 %); 0: some, or no N
  // Dot products that one process of a device that starts anew answered in this attempt, at most; 0: it
  // goes on.
  uint64_t process_dot_products = 0;
  std::string planted;  // the fault that the self-test planted, and when it was found
  std::vector<std::string> empty_classes;  // of inputs that no case had
  // Of coverage, reached less often than they must be; of none where answers differ.
  std::vector<std::string> thin_bins;

  bool stopped() const { return mismatch_limit > 0; }
  bool IsFilled() const { return empty_classes.empty() && thin_bins.empty(); }
  // The evidence for its model; "" if this version has none.
  const char* Grade() const;
};
const char* Name(RunReportRow::State state);  // "differs", "flaky", ...
// Whether it was dropped for what puts its earlier answers in doubt, too: garbled, or not repeated.
bool IsDoubted(const RunReportRow& row);
// "rate < 3.0e-07, model published, incomplete". `narrow`: in fewer words,
// where a column has a title.
std::string Sentence(const RunReportRow& row, bool narrow = false);
// ", in processes of at most N lines": what a device that starts anew cannot
// show; "" for others.
std::string InProcesses(uint64_t dot_products);

inline constexpr size_t kMaxMissing = 10000;  // a file may say that there are any number
// The shards that are not among those seen, ascending; the first kMaxMissing.
std::vector<uint64_t> MissingShards(const std::vector<uint64_t>& seen, uint64_t shards);
// "shard 7 of 16 is missing"; "" if none is.
std::string MissingShardsText(const std::vector<uint64_t>& seen, uint64_t shards);
// "662 mismatches", "at least 1 mismatch".
std::string MismatchesText(uint64_t mismatches, bool at_least);

struct RunReport {
  RunManifest manifest;  // of the whole run
  std::vector<std::string> folders;
  uint64_t shards = 1;             // that the run has; `seen` of them are named
  std::vector<uint64_t> seen;      // ascending
  bool endless = false;            // of --forever
  std::vector<RunReportRow> rows;  // in the order of the manifest
  UnitResult total;                // of all rows
  bool at_least = false;           // total.mismatches, as of a row
  uint64_t units = 0, planned_units = 0;
  std::string digest;  // of the device's results, 32 hex digits; empty while a row is unfinished
  std::vector<Finding> findings;
  std::vector<std::string> machines;    // that did units, sorted
  std::vector<std::string> distrusted;  // "OPERATION: why"
  std::vector<std::string> damage;      // the good was read; two answers to one unit, too

  // What `run` knows besides; absent in a report of folders.
  struct Attempt {
    StopCause stopped_by;          // why it ended before its end
    absl::Status device, durable;  // not OK: why it stopped
    bool damaged_findings = false;
    uint64_t units = 0, resumed_units = 0;
    uint64_t dot_products = 0;
    uint64_t not_asked_again = 0;  // rows of earlier attempts; this one ended before
    uint64_t repeated = 0;  // dot products of earlier attempts that were asked for again, the same
    double seconds = 0;
    int threads = 1;
    std::vector<Hardware> hardware;  // that answered
    std::vector<std::string> warnings;

    double DotProductsPerSecond() const {
      return seconds > 0 ? static_cast<double>(dot_products) / seconds : 0;
    }
    // All that there was to do had been done before.
    bool NothingExecuted() const { return dot_products == 0 && resumed_units > 0; }
  };
  std::optional<Attempt> attempt;

  uint64_t Count(RunReportRow::State state) const;
  // Whether the other shards have all units of the row.
  bool IsOfOtherShards(const RunReportRow& row) const {
    return shards > 1 && !endless && row.planned_cases == 0;
  }
  // Whether they have all units of all rows.
  bool IsEmptyShard() const { return shards > 1 && !endless && planned_units == 0; }
};
// What came of it, one sentence or two.
std::string Sentence(const RunReport& report);
// "14 of 14 instructions stopped at 20 mismatches (--max_mismatches), the last at TIME"; "" if none did.
std::string StoppedText(const RunReport& report);
// "INSTRUCTION: why", of each row that was dropped.
std::vector<std::string> DroppedLines(const RunReport& report);
// Rows without a mismatch whose classes or bins are not all reached, also those of which nothing was
// compared: no pass to rely on.
std::vector<const RunReportRow*> ThinRows(const RunReport& report);

// Builds a report from units and findings in any order, counting each unit once, so that `run` and
// `report` cannot disagree.
class RunReportBuilder {
 public:
  explicit RunReportBuilder(const RunManifest& manifest);

  // Whether it is a manifest of the same run.
  bool IsOf(const RunManifest& manifest) const;
  // Names a shard of the run. The units that follow are from its folder.
  void AddShard(const RunManifest& manifest, const std::string& folder);
  // All of a folder of the run; `counted` sees each unit that counts. Errors as ReadRunFolder().
  absl::StatusOr<RunFolder> AddFolder(const std::string& path, const OnUnit& counted);
  // False for a unit that was counted before; two different answers to one unit are damage.
  bool Add(const UnitResult& unit);
  // A part of a unit. It counts, without digests, if no folder has the whole unit or a larger part.
  void AddUnfinished(UnitResult part);
  // Keeps the later of two stops; it is void if some folder has the unit.
  void AddStop(const UnitResult& stop);
  // Units whose results the rows have already, and who did them, or parts.
  void AddDone(uint64_t units, const std::set<std::string>& machines);
  // Counts them, and returns those that count; Finish() does it else.
  std::vector<UnitResult> CountParts();
  void Add(Finding finding);
  void Distrust(const std::vector<std::string>& lines);
  void Damage(const std::vector<std::string>& lines);
  // For what else is known about an instruction of the manifest: dropped, stopped, planted, ...
  RunReportRow& row(size_t instruction) { return report_.rows[instruction]; }

  // `attempt`: of `run`.
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
  std::vector<uint64_t> done_cases_;                   // by instruction: of finished units
  std::vector<UnitParts> parts_;                       // by instruction
  std::vector<std::map<uint64_t, UnitResult>> stops_;  // by instruction and unit
  std::unordered_map<std::pair<uint32_t, uint64_t>, Seen, UnitHash> seen_;
  std::set<std::string> machines_;
  std::set<uint64_t> shards_;
  bool mixed_ = false;  // shards of different counts
};

}  // namespace mmadiff
