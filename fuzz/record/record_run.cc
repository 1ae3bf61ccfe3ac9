#include "fuzz/record/record_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/output/progress.h"
#include "fuzz/report/run_report.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

// The finished units of an instruction before the first missing one.
class FirstUnits {
 public:
  void Add(const UnitResult& unit) {
    later_[unit.unit] = {unit.cases, unit.dot_products, unit.device_digest};
    for (auto next = later_.begin(); next != later_.end() && next->first == units_;) {
      total_.cases += next->second.cases;
      total_.dot_products += next->second.dot_products;
      total_.digest += next->second.digest;
      ++units_;
      next = later_.erase(next);
    }
  }

  struct Total {
    uint64_t cases = 0, dot_products = 0;
    Digest digest = 0;
  };
  const Total& total() const { return total_; }
  uint64_t units() const { return units_; }

 private:
  uint64_t units_ = 0;
  Total total_;
  std::map<uint64_t, Total> later_;  // by unit
};

struct Read {
  RunReport report;
  std::vector<FirstUnits> first;  // by row
  uint64_t ended = 0;             // seconds since 1970 UTC: when the last unit ended
};

absl::StatusOr<Read> ReadRun(const std::vector<std::string>& folders) {
  ASSIGN_OR_RETURN(const NamedRuns named, ReadManifests(folders));
  if (const auto others = NotRead(named); !others.empty()) {
    return absl::InvalidArgumentError(others.front());
  }
  Read read;
  RunReportBuilder builder(named.runs.front().second);
  read.first.resize(named.runs.front().second.instructions.size());
  for (const auto& [path, manifest] : named.runs) {
    if (!builder.IsOf(manifest)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": another run than ", folders.front()));
    }
    const auto note = [&](const UnitResult& unit) {
      read.ended = std::max(read.ended, unit.ended);
      read.first[unit.instruction].Add(unit);
    };
    RETURN_IF_ERROR(builder.AddFolder(path, note).status());
  }
  read.report = std::move(builder).Finish();
  const std::string missing = MissingShardsText(read.report.seen, read.report.shards);
  if (!missing.empty()) return absl::InvalidArgumentError(missing);
  return read;
}

// Why the row is recorded only up to unit `next`, or not at all.
LeftOut WhyLeft(const RunReportRow& row, uint64_t next) {
  const auto left = [&](Reason reason, std::string detail = "") {
    return LeftOut{Thing::kOperation, reason, row.instruction, std::move(detail)};
  };
  if (row.op == nullptr) return left(Reason::kUnknownHere);
  if (row.state == RunReportRow::kUnrepeated) return left(Reason::kDoesNotRepeat, Sentence(row));
  if (!row.dropped.ok()) return left(Reason::kDropped, std::string(row.dropped.message()));
  if (row.stopped()) {
    return left(Reason::kMismatchLimit,
                absl::StrCat("stopped at ", CountText(row.mismatch_limit, "mismatching case"),
                             "; with --max_mismatches=0 a run continues"));
  }
  return left(Reason::kNotReached, absl::StrCat("unit ", next, " is not finished"));
}

}  // namespace

absl::StatusOr<RecordedRun> RecordRun(const std::vector<std::string>& folders,
                                      const std::string& globs, const std::string& out,
                                      Ledger& ledger) {
  ASSIGN_OR_RETURN(const Read read, ReadRun(folders));
  const RunReport& run = read.report;
  const Strategy* const strategy = FindStrategy(run.manifest.strategy);
  if (strategy == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("strategy ", run.manifest.strategy,
                     ": earlier answers chose the cases, which no other device would get"));
  }
  RecordedRun recorded;
  recorded.damage = run.damage;
  RecordingManifest& manifest = recorded.manifest;
  RecordOutcome& outcome = recorded.outcome;
  std::vector<RecordedDigests> all;
  bool any = false;
  for (size_t i = 0; i < run.rows.size(); ++i) {
    const RunReportRow& row = run.rows[i];
    if (!MatchesAny(globs, row.instruction)) continue;
    any = true;
    ledger.Ask(Thing::kOperation, row.instruction);
    const FirstUnits& first = read.first[i];
    const FirstUnits::Total& total = first.total();
    const LeftOut left = WhyLeft(row, first.units());
    const auto warn = [&](absl::string_view what) {
      recorded.warnings.push_back(absl::StrCat(row.instruction, ": ", what, ": ", left.detail));
    };
    const bool doubted = left.reason == Reason::kDoesNotRepeat || IsDoubted(row);
    if (row.op == nullptr || doubted || total.cases == 0) {
      ledger.Leave(left);
      if (row.op != nullptr) warn("not recorded");
      continue;
    }
    if (first.units() < run.manifest.instructions[i].Units()) {
      warn(absl::StrCat("only its first ", CountText(total.cases, "case"), " are recorded"));
    }
    const CaseStream stream = {row.op, strategy, run.manifest.seed,
                               static_cast<int>(run.manifest.generator_version)};
    all.push_back({row.op,
                   stream.name(),
                   0,
                   total.cases,
                   {total.digest},
                   Name(run.manifest.device_identity)});
    manifest.instructions.push_back({.name = row.instruction,
                                     .emulated = row.emulated,
                                     .digest_units = 1,
                                     .unit_cases = total.cases});
    outcome.recorded.push_back(row.op);
    ++outcome.digest_units;
    outcome.digest_dot_products += total.dot_products;
  }
  if (!any) return absl::InvalidArgumentError(absl::StrCat("the run has no ", globs));
  if (all.empty()) return recorded;
  manifest.tool_version = run.manifest.tool_version;
  manifest.model_version = run.manifest.model_version;
  manifest.generator_version = run.manifest.generator_version;
  manifest.seed = run.manifest.seed;
  manifest.device = run.manifest.device;
  manifest.device_identity = run.manifest.device_identity;
  manifest.date = UtcTime(read.ended);
  ASSIGN_OR_RETURN(const auto writer, RecordingFolderWriter::Create(out));
  RETURN_IF_ERROR(writer->WriteDigests(all));
  RETURN_IF_ERROR(writer->Commit(manifest));
  return recorded;
}

}  // namespace mmadiff
