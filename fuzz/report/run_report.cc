#include "fuzz/report/run_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/hex.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/coverage/coverage_counter.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/folder/merge.h"
#include "fuzz/output/progress.h"
#include "fuzz/schedule/class_schedule.h"

namespace mmadiff {
namespace {

void AppendNew(const std::vector<std::string>& lines, std::vector<std::string>& all) {
  for (const std::string& line : lines) {
    if (std::ranges::count(all, line) == 0) all.push_back(line);
  }
}

std::string RateText(const RunReportRow& row, bool narrow) {
  if (row.total.dot_products == 0) return "nothing compared";
  const Numerics& numerics = *row.op->numerics;
  return absl::StrCat(
      narrow ? "< " : "rate < ", absl::StrFormat("%.1e", row.bound),
      narrow ? "" : InProcesses(row.process_dot_products), narrow ? ", " : ", model ", row.Grade(),
      numerics.nan_verdict == NanVerdict::kAnyNan ? ", bits of NaNs not compared" : "",
      row.IsFilled() ? "" : ", incomplete");
}

std::vector<std::string> EmptyClasses(const std::string& strategy, const RunReportRow& row) {
  std::vector<std::string> empty;
  const Strategy* of = StrategyOfRun(strategy);  // nullptr: a different version's
  if (of == nullptr) return empty;
  for (const InputClass* c : ClassesOf(*of, *row.op->instruction)) {
    if (!row.total.counts.contains(absl::StrCat("class.", c->name))) empty.push_back(c->name);
  }
  return empty;
}

}  // namespace

const char* Name(RunReportRow::State state) {
  constexpr const char* kNames[] = {"differs",    "flaky",   "dropped",
                                    "incomplete", "nothing", "agrees"};
  return kNames[state];
}

bool IsDoubted(const RunReportRow& row) {
  return absl::IsAborted(row.dropped) || absl::IsDataLoss(row.dropped);
}

const char* RunReportRow::Grade() const {
  return op == nullptr ? "" : Name(op->numerics->evidence.grade);
}

std::string InProcesses(uint64_t dot_products) {
  return dot_products == 0 ? "" : absl::StrCat(" in processes of at most ", dot_products, " lines");
}

std::string Sentence(const RunReportRow& row, bool narrow) {
  if (row.op == nullptr) return "this version of mmadiff does not support it";
  switch (row.state) {
    case RunReportRow::kUnrepeated:  // no evidence about the model
      return "the device's answers do not repeat";
    case RunReportRow::kDropped:
      return "dropped";
    case RunReportRow::kDiffers:
      if (narrow) return row.stopped() && !row.finished ? "differs; stopped" : "differs";
      return absl::StrCat(
          "the device differs from the model",
          row.at_least ? absl::StrCat(" in at least ", CountText(row.total.mismatches, "case"))
                       : "",
          row.stopped() && !row.finished
              ? absl::StrCat("; stopped at ", CountText(row.mismatch_limit, "mismatching case"),
                             " (--max_mismatches)")
              : "",
          row.dropped.ok() ? "" : "; dropped");
    case RunReportRow::kIncomplete:
    case RunReportRow::kNothing:
    case RunReportRow::kAgrees:
      break;
  }
  const bool unfinished = !row.finished && row.planned_cases > 0;
  return absl::StrCat(unfinished ? "incomplete; " : "", RateText(row, narrow));
}

uint64_t RunReport::Count(RunReportRow::State state) const {
  return std::ranges::count(rows, state, &RunReportRow::state);
}

std::string Sentence(const RunReport& report) {
  const uint64_t differ = report.Count(RunReportRow::kDiffers);
  const uint64_t flaky = report.Count(RunReportRow::kUnrepeated);
  const uint64_t open = report.Count(RunReportRow::kIncomplete);
  std::string text;
  if (differ > 0) {
    text = absl::StrCat("The device differs from the model in ",
                        CountOfText(differ, report.rows.size(), "instruction"));
  } else {
    uint64_t equal = 0, dot_products = 0;  // instructions without a difference
    for (const RunReportRow& row : report.rows) {
      equal += row.bound > 0;
      dot_products += row.bound > 0 ? row.total.dot_products : 0;
    }
    text = equal == 0 ? "Nothing was compared"
                      : absl::StrCat("No difference in ", CountText(dot_products, "dot product"),
                                     " of ", CountText(equal, "instruction"));
    if (equal == 0 && report.total.dot_products > 0) text = "No conclusion is possible";
  }
  if (flaky > 0) {
    absl::StrAppend(&text, "; the answers of ", CountText(flaky, "instruction"), " do not repeat");
  }
  if (open > 0) {
    absl::StrAppend(&text, "; ", CountText(open, "instruction"), open == 1 ? " is" : " are",
                    " incomplete");
  }
  const std::string missing = MissingShardsText(report.seen, report.shards);
  if (!missing.empty()) absl::StrAppend(&text, "; ", missing);
  if (const size_t dropped = DroppedLines(report).size(); dropped > 0) {
    absl::StrAppend(&text, "; ", CountText(dropped, "instruction"), dropped == 1 ? " was" : " were",
                    " dropped");
  }
  if (!report.distrusted.empty()) absl::StrAppend(&text, "; some answers are distrusted");
  if (!report.damage.empty()) absl::StrAppend(&text, "; some data is damaged");
  return text + ".";
}

std::string StoppedText(const RunReport& report) {
  std::set<uint64_t> limits;
  uint64_t stopped = 0, last = 0;
  for (const RunReportRow& row : report.rows) {
    if (!row.stopped() || row.finished) continue;
    ++stopped;
    limits.insert(row.mismatch_limit);
    last = std::max(last, row.stopped_at);
  }
  if (stopped == 0) return "";
  return absl::StrCat(CountOfText(stopped, report.rows.size(), "instruction"), " stopped at ",
                      absl::StrJoin(limits, " or "), " mismatching cases (--max_mismatches)",
                      last == 0 ? "" : ", most recently at ", UtcTime(last));
}

std::vector<uint64_t> MissingShards(const std::vector<uint64_t>& seen, uint64_t shards) {
  std::vector<uint64_t> missing;
  auto next = seen.begin();
  for (uint64_t shard = 0; shard < shards && missing.size() < kMaxMissing; ++shard) {
    if (next != seen.end() && *next == shard) {
      ++next;
    } else {
      missing.push_back(shard);
    }
  }
  return missing;
}

std::string MissingShardsText(const std::vector<uint64_t>& seen, uint64_t shards) {
  constexpr size_t kMaxNamed = 8;
  const uint64_t count = shards - seen.size();
  if (count == 0) return "";
  std::vector<uint64_t> missing = MissingShards(seen, shards);
  missing.resize(std::min(missing.size(), kMaxNamed));
  return absl::StrCat(count == 1 ? "shard " : "shards ", absl::StrJoin(missing, ", "),
                      count > kMaxNamed ? absl::StrCat(" and ", count - kMaxNamed, " more") : "",
                      " of ", shards, count == 1 ? " is missing" : " are missing");
}

std::string MismatchesText(uint64_t mismatches, bool at_least) {
  return absl::StrCat(at_least ? "at least " : "", mismatches,
                      mismatches == 1 ? " mismatch" : " mismatches");
}

std::vector<std::string> DroppedLines(const RunReport& report) {
  std::vector<std::string> lines;
  for (const RunReportRow& row : report.rows) {
    if (row.dropped.ok()) continue;
    lines.push_back(absl::StrCat(row.instruction, ": ", row.dropped.message()));
  }
  return lines;
}

std::vector<const RunReportRow*> ThinRows(const RunReport& report) {
  std::vector<const RunReportRow*> thin;
  for (const RunReportRow& row : report.rows) {
    if (row.total.mismatches > 0 || !row.dropped.ok()) continue;
    if (row.total.dot_products == 0 || !row.IsFilled()) thin.push_back(&row);
  }
  return thin;
}

RunReportBuilder::RunReportBuilder(const RunManifest& manifest)
    : done_cases_(manifest.instructions.size()),
      parts_(manifest.instructions.size()),
      stops_(manifest.instructions.size()) {
  report_.manifest = WholeRun(manifest);
  report_.shards = manifest.shards;
  for (const RunManifest::Instruction& i : manifest.instructions) {
    report_.endless |= i.Endless();
    RunReportRow& row = report_.rows.emplace_back();
    row.instruction = i.name;
    row.op = FindOperation(i.name);
    row.emulated = i.emulated;
  }
}

bool RunReportBuilder::IsOf(const RunManifest& manifest) const {
  return ManifestDifference(WholeRun(manifest), report_.manifest).empty();
}

void RunReportBuilder::AddShard(const RunManifest& manifest, const std::string& folder) {
  mixed_ |= manifest.shards != report_.shards;
  shards_.insert(manifest.shard);
  report_.folders.push_back(folder);
}

absl::StatusOr<RunFolder> RunReportBuilder::AddFolder(const std::string& path,
                                                      const OnUnit& counted) {
  ASSIGN_OR_RETURN(const RunManifest manifest, ReadManifest(path));
  AddShard(manifest, path);
  absl::StatusOr<RunFolder> folder = ReadRunFolder(path, [&](const UnitResult& unit) {
    if (Add(unit)) counted(unit);
  });
  RETURN_IF_ERROR(folder.status());
  for (const UnitParts& parts : folder->stored.parts) {
    for (const auto& [number, part] : parts) AddUnfinished(part);
  }
  for (size_t i = 0; i < report_.rows.size(); ++i) {
    for (const auto& [unit, drop] : folder->stored.drops[i]) {
      report_.rows[i].dropped.Update(*drop.drop);
    }
    for (const auto& [unit, stop] : folder->stored.stops[i]) AddStop(stop);
  }
  Distrust(folder->distrusted);
  Damage(folder->warnings);
  std::vector<Finding> findings;
  for (const FiledCase& filed : folder->findings) AddFiled(filed, findings);
  for (Finding& finding : findings) Add(std::move(finding));
  return folder;
}

bool RunReportBuilder::Add(const UnitResult& unit) {
  const size_t folder = report_.folders.size() - 1;
  const auto [at, added] = seen_.try_emplace({unit.instruction, unit.unit},
                                             Seen{unit.device_digest, unit.mismatches, folder});
  if (!added && at->second.device != unit.device_digest) {
    report_.damage.push_back(absl::StrCat(
        "two different answers to unit ", unit.unit, " of ",
        report_.rows[unit.instruction].instruction, ": ", report_.folders[at->second.folder],
        " (counted) and ", report_.folders[folder], ", done by ", Name(unit.machine)));
  }
  if (!added) return false;
  ++report_.units;
  done_cases_[unit.instruction] += unit.cases;
  Count(unit);
  return true;
}

void RunReportBuilder::Count(const UnitResult& unit) {
  Accumulate(unit, report_.rows[unit.instruction].total);
  if (unit.machine != Machine()) machines_.insert(Name(unit.machine));
}

void RunReportBuilder::AddUnfinished(UnitResult part) {
  part.part = true;
  UnitParts& parts = parts_[part.instruction];
  KeepLarger(std::move(part), parts);
}

void RunReportBuilder::AddStop(const UnitResult& stop) {
  KeepLater(stop, stops_[stop.instruction]);
}

void RunReportBuilder::AddDone(uint64_t units, const std::set<std::string>& machines) {
  report_.units += units;
  machines_.insert(machines.begin(), machines.end());
}

std::vector<UnitResult> RunReportBuilder::CountParts() {
  std::vector<UnitResult> counted;
  for (UnitParts& parts : parts_) {
    for (auto& [number, part] : parts) {
      if (const auto whole = seen_.find({part.instruction, number}); whole != seen_.end()) {
        const std::string why = Contradiction(report_.manifest, part, whole->second.mismatches);
        if (!why.empty()) report_.damage.push_back(why);
        continue;
      }
      Count(part);
      counted.push_back(std::move(part));
    }
    parts.clear();
  }
  return counted;
}

void RunReportBuilder::Add(Finding finding) {
  for (Finding& f : report_.findings) {
    if (f.op != finding.op || f.bucket != finding.bucket) continue;
    f.beside.push_back(finding.path);
    f.beside.insert(f.beside.end(), finding.beside.begin(), finding.beside.end());
    if (f.typical.empty()) f.typical = finding.typical;
    f.unfixed |= finding.unfixed;
    f.state = MoreUrgent(f.state, finding.state);
    return;
  }
  report_.findings.push_back(std::move(finding));
}

void RunReportBuilder::Distrust(const std::vector<std::string>& lines) {
  AppendNew(lines, report_.distrusted);
}

void RunReportBuilder::Damage(const std::vector<std::string>& lines) {
  AppendNew(lines, report_.damage);
}

RunReport RunReportBuilder::Finish(std::optional<RunReport::Attempt> attempt) && {
  CountParts();
  if (mixed_) {  // different shard counts: report the whole run
    report_.shards = 1;
    shards_ = {0};
  }
  report_.seen.assign(shards_.begin(), shards_.end());
  report_.machines.assign(machines_.begin(), machines_.end());
  Digest digest = 0;
  bool all = true;
  for (size_t i = 0; i < report_.rows.size(); ++i) {
    FinishRow(i);
    const RunReportRow& row = report_.rows[i];
    Accumulate(row.total, report_.total);
    report_.at_least |= row.at_least;
    digest += row.total.device_digest;
    all &= row.finished;
  }
  if (all) report_.digest = Hex(digest);
  report_.attempt = std::move(attempt);
  return std::move(report_);
}

void RunReportBuilder::FinishRow(size_t instruction) {
  const RunManifest::Instruction& planned = report_.manifest.instructions[instruction];
  RunReportRow& row = report_.rows[instruction];
  if (!report_.endless) {
    for (const uint64_t shard : shards_) {
      row.planned_cases += planned.CasesOfShard(shard, report_.shards);
      report_.planned_units += planned.UnitsOfShard(shard, report_.shards);
    }
    row.finished |= done_cases_[instruction] >= row.planned_cases;
  }
  for (const auto& [unit, stop] : stops_[instruction]) {
    if (seen_.contains({stop.instruction, unit}) || stop.ended < row.stopped_at) continue;
    row.mismatch_limit = stop.mismatch_limit;
    row.stopped_at = stop.ended;
  }
  if (row.op != nullptr) {
    row.empty_classes = EmptyClasses(report_.manifest.strategy, row);
    if (row.total.dot_products > 0) AddCoverage(row);
  }
  row.state = StateOf(row);
  row.at_least = row.state == RunReportRow::kDiffers && row.total.mismatches == 0;
  if (row.at_least) {
    row.total.mismatches = std::ranges::count_if(report_.findings, [&row](const Finding& f) {
      return f.op == row.instruction && !f.flaky() && (f.unfixed || f.cases > 0);
    });
  }
  const bool equal = row.state == RunReportRow::kAgrees || row.state == RunReportRow::kIncomplete;
  if (equal && row.op != nullptr && row.total.dot_products > 0) {
    row.bound = 3.0 / static_cast<double>(row.total.dot_products);
  }
}

void RunReportBuilder::AddCoverage(RunReportRow& row) {
  const std::vector<Bin> bins = BinsOf(row.op->model);
  if (!row.total.coverage.empty() && row.total.coverage.size() != bins.size()) {
    report_.damage.push_back(row.instruction +
                             ": its stored coverage has a different number of bins");
    row.total.coverage.clear();
  }
  row.total.coverage.resize(bins.size());
  if (row.total.mismatches > 0 || !row.dropped.ok()) return;
  for (const size_t i : ThinBins(bins, row.total.coverage)) row.thin_bins.push_back(bins[i].name());
}

RunReportRow::State RunReportBuilder::StateOf(const RunReportRow& row) const {
  if (row.op == nullptr) return RunReportRow::kIncomplete;
  bool flaky = false, differs = false, unconfirmed = false;
  for (const Finding& f : report_.findings) {
    if (f.op != row.instruction || (!f.unfixed && f.cases == 0)) continue;
    const bool once = f.bucket.repetition == Repetition::kUnconfirmed;
    (f.flaky() ? flaky : once ? unconfirmed : differs) = true;
  }
  const bool confirmed = differs;
  if (!flaky) differs |= unconfirmed;  // not a difference beside flaky answers
  // A finding of an earlier attempt that all units contradict.
  const bool gone = row.finished && row.total.mismatches == 0 && (flaky || differs);
  if (!flaky) differs |= row.total.mismatches > 0;
  if (gone || (flaky && !differs)) return RunReportRow::kUnrepeated;
  if (!row.dropped.ok() && (!confirmed || IsDoubted(row))) return RunReportRow::kDropped;
  if (differs) return RunReportRow::kDiffers;
  if (row.total.dot_products == 0) {
    return row.finished ? RunReportRow::kNothing : RunReportRow::kIncomplete;
  }
  const bool whole = row.finished || report_.endless;
  return whole && row.IsFilled() ? RunReportRow::kAgrees : RunReportRow::kIncomplete;
}

}  // namespace mmadiff
