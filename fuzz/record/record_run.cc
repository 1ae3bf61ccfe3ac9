#include "fuzz/record/record_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/report/run_report.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

struct Read {
  RunReport report;
  uint64_t ended = 0;  // seconds since 1970 UTC: when the last unit ended
};

absl::StatusOr<Read> ReadRun(const std::vector<std::string>& folders) {
  ASSIGN_OR_RETURN(const NamedRuns named, ReadManifests(folders));
  if (const auto others = NotRead(named); !others.empty()) {
    return absl::InvalidArgumentError(others.front());
  }
  Read read;
  RunReportBuilder builder(named.runs.front().second);
  for (const auto& [path, manifest] : named.runs) {
    if (!builder.IsOf(manifest)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": another run than ", folders.front()));
    }
    const auto note = [&](const UnitResult& unit) {
      read.ended = std::max(read.ended, unit.ended);
    };
    RETURN_IF_ERROR(builder.AddFolder(path, note).status());
  }
  read.report = std::move(builder).Finish();
  const std::string missing = MissingShardsText(read.report.seen, read.report.shards);
  if (!missing.empty()) return absl::InvalidArgumentError(missing);
  return read;
}

// Why the row has no digest to record.
std::optional<LeftOut> WhyLeft(const RunReportRow& row) {
  const auto left = [&](Reason reason, std::string detail = "") {
    return LeftOut{Thing::kOperation, reason, row.instruction, std::move(detail)};
  };
  if (row.op == nullptr) return left(Reason::kUnknownHere);
  if (!row.dropped.ok()) return left(Reason::kDropped, std::string(row.dropped.message()));
  if (row.state == RunReportRow::kUnrepeated) return left(Reason::kDoesNotRepeat);
  if (row.stopped()) return left(Reason::kMismatchLimit);
  if (!row.finished || row.total.cases == 0) return left(Reason::kNotReached);
  return std::nullopt;
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
  for (const RunReportRow& row : run.rows) {
    if (!MatchesAny(globs, row.instruction)) continue;
    any = true;
    ledger.Ask(Thing::kOperation, row.instruction);
    if (const auto left = WhyLeft(row); left.has_value()) {
      ledger.Leave(*left);
      continue;
    }
    const CaseStream stream = {row.op, strategy, run.manifest.seed,
                               static_cast<int>(run.manifest.generator_version)};
    all.push_back({row.op,
                   stream.name(),
                   0,
                   row.total.cases,
                   {row.total.device_digest},
                   Name(run.manifest.device_identity)});
    manifest.instructions.push_back({.name = row.instruction,
                                     .emulated = row.emulated,
                                     .digest_units = 1,
                                     .unit_cases = row.total.cases});
    outcome.recorded.push_back(row.op);
    ++outcome.digest_units;
    outcome.digest_dot_products += row.total.dot_products;
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
