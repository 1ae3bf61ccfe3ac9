#include "fuzz/page/report_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "fuzz/explainer.h"
#include "fuzz/finding_life.h"
#include "fuzz/folder/merge.h"
#include "fuzz/folder/run_status.h"
#include "fuzz/mutants.h"
#include "fuzz/next_command.h"
#include "fuzz/progress.h"
#include "fuzz/report.h"
#include "fuzz/run_folder.h"
#include "fuzz/ulp_buckets.h"
#include "fuzz/unit_log.h"
#include "triage/case_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kIntervals = 96;  // of the rate over time
constexpr size_t kMostSeries = 6;  // machines with a colour of their own; the last may be "others"

// When a unit was at work, and what it did.
struct Work {
  double begin = 0, end = 0;
  uint64_t dot_products = 0;
  size_t machine = 0;
};

// One run while its folders are read.
class Gathered {
 public:
  explicit Gathered(const RunManifest& manifest) {
    run.manifest = WholeRun(manifest);
    run.shards = manifest.shards;
    totals_.resize(manifest.instructions.size());
    done_cases_.resize(manifest.instructions.size());
    parts_.resize(manifest.instructions.size());
    for (const RunManifest::Instruction& i : manifest.instructions) {
      run.endless |= i.cases >= kEndlessCases;
    }
  }

  bool IsOf(const RunManifest& manifest) const { return WholeRun(manifest) == run.manifest; }

  absl::Status Read(const std::string& path, Console& console) {
    const auto each = [&](const UnitResult& unit) { Add(path, unit); };
    absl::StatusOr<RunFolder> folder = ReadRunFolder(path, each);
    if (!folder.ok()) return folder.status();
    for (UnitParts& parts : folder->stored.parts) {
      for (auto& [number, part] : parts) KeepLarger(std::move(part), parts_[part.instruction]);
    }
    const RunManifest& manifest = folder->manifest;
    if (manifest.shards != run.shards) mixed_ = true;
    shards_.insert(manifest.shard);
    run.folders.push_back(path);
    Append(folder->distrusted, run.distrusted);
    Append(folder->warnings, run.damage);
    Findings filed(path + "/findings", 0, false, console);
    filed.LoadEarlier([&manifest](const RegressionCase& c) { return IsOfRun(manifest, c); });
    for (Finding& finding : filed.list()) AddFinding(std::move(finding));
    return absl::OkStatus();
  }

  ReportRun Finish(const ReportOptions& options, Console& console) {
    if (mixed_) {  // shards of different counts: of the whole run
      run.shards = 1;
      shards_ = {0};
    }
    run.seen.assign(shards_.begin(), shards_.end());
    for (const UnitParts& parts : parts_) {
      for (const auto& [number, part] : parts) {
        if (!seen_.contains({part.instruction, number})) Count(part);
      }
    }
    AddRows();
    for (const auto& [machine, index] : machines_) {
      if (!machine.empty()) run.machines.push_back(machine);
    }
    MakeRate();
    for (Finding& finding : found_) {
      const bool explain = run.findings.size() < options.explained;
      run.findings.push_back(Explain(std::move(finding), explain, console));
    }
    for (const std::string& bucket : UlpBuckets()) {
      const auto count = run.total.counts.find(absl::StrCat(kUlpCount, bucket));
      if (count != run.total.counts.end()) run.ulps.emplace_back(bucket, count->second);
    }
    return std::move(run);
  }

  ReportRun run;

 private:
  struct Seen {
    Digest device = 0;
    size_t folder = 0;
  };

  static void Append(const std::vector<std::string>& lines, std::vector<std::string>& all) {
    for (const std::string& line : lines) {
      if (std::ranges::count(all, line) == 0) all.push_back(line);
    }
  }

  void Add(const std::string& path, const UnitResult& unit) {
    const auto [at, added] = seen_.try_emplace({unit.instruction, unit.unit},
                                               Seen{unit.device_digest, run.folders.size()});
    if (!added) {
      if (at->second.device != unit.device_digest) {
        run.damage.push_back(absl::StrCat("two different answers to unit ", unit.unit, " of ",
                                          run.manifest.instructions[unit.instruction].name, ": ",
                                          run.folders[at->second.folder], " (counted) and ", path,
                                          ", done by ", unit.machine));
      }
      return;
    }
    ++run.units;
    done_cases_[unit.instruction] += unit.cases;
    Count(unit);
  }

  void Count(const UnitResult& unit) {
    Accumulate(unit, totals_[unit.instruction]);
    const size_t machine = machines_.try_emplace(unit.machine, machines_.size()).first->second;
    if (unit.ended == 0) return;
    const double length = std::clamp(unit.seconds, 0., static_cast<double>(unit.ended));
    const auto end = static_cast<double>(unit.ended);
    work_.push_back({end - length, end, unit.dot_products, machine});
  }

  void AddFinding(Finding finding) {
    for (Finding& f : found_) {
      if (f.op != finding.op || f.signature != finding.signature) continue;
      f.beside.push_back(finding.path);
      f.beside.insert(f.beside.end(), finding.beside.begin(), finding.beside.end());
      f.unfixed |= finding.unfixed;
      f.state = MoreUrgent(f.state, finding.state);
      return;
    }
    found_.push_back(std::move(finding));
  }

  void AddRows() {
    CampaignOutcome outcome;
    std::ranges::copy_if(found_, std::back_inserter(outcome.findings), &Finding::unfixed);
    Digest digest = 0;
    bool all = true;
    for (size_t i = 0; i < totals_.size(); ++i) {
      ReportRow row = MakeRow(i, outcome);
      Accumulate(row.total, run.total);
      digest += row.total.device_digest;
      all &= row.finished;
      run.rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(run.rows, {}, &ReportRow::kind);
    if (all && run.seen.size() == run.shards) run.digest = Hex(digest);
  }

  ReportRow MakeRow(size_t index, CampaignOutcome& outcome) {
    const RunManifest::Instruction& planned = run.manifest.instructions[index];
    ReportRow row;
    row.name = planned.name;
    row.emulated = planned.emulated;
    row.total = totals_[index];
    if (!run.endless) {
      for (const uint64_t shard : shards_) {
        row.planned_cases += planned.CasesOfShard(shard, run.shards);
        run.planned_units += planned.UnitsOfShard(shard, run.shards);
      }
      row.finished = done_cases_[index] >= row.planned_cases;
    }
    OperationOutcome op;
    op.op = FindOperation(planned.name);
    if (op.op == nullptr) {
      row.kind = ReportRow::kIncomplete;
      row.verdict = "this version of mmadiff does not know it";
      return row;
    }
    row.grade = Name(op.op->numerics->evidence.grade);
    CampaignOptions options;
    options.strategy = StrategyOfRun(run.manifest.strategy);  // nullptr: of another version
    Judge(options, op, outcome, row);
    row.empty_classes = EmptyClasses(options, op);
    const std::vector<Bin> bins = BinsOf(op.op->model);
    if (!row.total.coverage.empty() && row.total.coverage.size() != bins.size()) {
      run.damage.push_back(row.name + ": its coverage is not of these bins");
      row.total.coverage.clear();
    }
    if (row.total.dot_products > 0) {
      row.total.coverage.resize(bins.size());
      row.missing_bins = AddToCrosses(row.name, bins, row.total.coverage, run.crosses);
      const bool filled = row.missing_bins.empty() && row.empty_classes.empty();
      if (row.kind == ReportRow::kAgrees && !filled) {
        row.kind = ReportRow::kIncomplete;
      }
    }
    return row;
  }

  void Judge(const CampaignOptions& options, OperationOutcome& op, const CampaignOutcome& outcome,
             ReportRow& row) const {
    bool flaky = false, differs = false;
    for (const Finding& f : found_) {
      if (f.op == row.name && f.unfixed) (f.flaky ? flaky : differs) = true;
    }
    op.total = row.total;
    op.finished = row.finished;
    op.unrepeated = row.finished && row.total.mismatches == 0 && (flaky || differs);
    if (!flaky) differs |= row.total.mismatches > 0;
    row.verdict = EvidenceText(options, outcome, op);
    if (op.unrepeated || (flaky && !differs)) {
      row.kind = ReportRow::kFlaky;
    } else if (differs) {
      row.kind = ReportRow::kDiffers;
      if (row.total.mismatches == 0) {
        row.verdict = "differs from the device, in a unit that is not finished";
      }
    } else if (row.total.dot_products == 0) {
      row.kind = row.finished ? ReportRow::kNothing : ReportRow::kIncomplete;
    } else {
      row.kind = row.finished || run.endless ? ReportRow::kAgrees : ReportRow::kIncomplete;
      row.bound = 3.0 / static_cast<double>(row.total.dot_products);
    }
    if (row.kind == ReportRow::kIncomplete) row.verdict = absl::StrCat("incomplete; ", row.verdict);
  }

  // Spreads what each unit did evenly over the time in which it was at work.
  void MakeRate() {
    if (work_.empty()) return;
    double begin = work_.front().begin, end = 0;
    for (const Work& w : work_) {
      begin = std::min(begin, w.begin);
      end = std::max(end, w.end);
    }
    RateSeries& rate = run.rate;
    rate.begin = static_cast<uint64_t>(begin);
    rate.end = std::max(static_cast<uint64_t>(std::ceil(end)), rate.begin + 1);
    const auto intervals =
        static_cast<size_t>(std::min<uint64_t>(kIntervals, rate.end - rate.begin));
    const double length =
        static_cast<double>(rate.end - rate.begin) / static_cast<double>(intervals);
    const std::vector<size_t> series = NameSeries();
    rate.rates.assign(rate.machines.size(), std::vector<double>(intervals));
    for (const Work& w : work_) {
      std::vector<double>& of = rate.rates[series[w.machine]];
      const auto at = [&](double t) {
        return std::clamp((t - static_cast<double>(rate.begin)) / length, 0.,
                          static_cast<double>(intervals));
      };
      const double from = at(w.begin), to = std::max(at(w.end), from + 1e-9);
      const double density = static_cast<double>(w.dot_products) / (to - from) / length;
      for (auto i = static_cast<size_t>(from); i < intervals && static_cast<double>(i) < to; ++i) {
        const auto x = static_cast<double>(i);
        of[i] += density * (std::min(to, x + 1) - std::max(from, x));
      }
    }
  }

  // The series of each machine's number: the first ones by name, then others.
  std::vector<size_t> NameSeries() {
    std::vector<size_t> series(machines_.size());
    for (const auto& [machine, number] : machines_) {
      std::vector<std::string>& names = run.rate.machines;
      if (names.size() < kMostSeries) {
        const bool rest = names.size() + 1 == kMostSeries && machines_.size() > kMostSeries;
        names.push_back(rest ? absl::StrCat(machines_.size() - kMostSeries + 1, " others")
                        : machine.empty() ? "an unknown machine"
                                          : machine);
      }
      series[number] = names.size() - 1;
    }
    return series;
  }

  static ReportFinding Explain(Finding finding, bool explain, Console& console) {
    ReportFinding f;
    const bool repeats = Repeats(finding.signature);
    f.command = CaseCommand(repeats ? "explain" : "replay", finding.path, kAnyWidth);
    if (finding.flaky) {
      absl::StrAppend(&f.command, " --device=", ShellWord(finding.device));
    }
    f.finding = std::move(finding);
    if (!explain) return f;
    const absl::StatusOr<ExplainedCase> e = ExplainCase(f.finding.path, nullptr, console);
    if (!e.ok()) {
      f.diagnosis = std::string(e.status().message());
      return f;
    }
    const Mismatch& m = e->subject.mismatch;
    const Operation& op = *m.op;
    const Observed& observed = e->observed[e->element];
    f.minimal = CaseText(op, observed.dot, 0);
    if (e->subject.differing.empty()) {
      f.diagnosis = "the model gives the stored answers";
      return f;
    }
    f.difference =
        DescribeDifference(*op.instruction->d, m.model[e->element], m.device[e->element], {});
    f.diagnosis = e->diagnosis.Text();
    if (!repeats) return f;
    std::vector<Neighbour> changes = e->of_answer.changes;
    changes.resize(std::min<size_t>(changes.size(), 1));
    const StageTable table = MakeStageTable(op, changes, observed.dot);
    f.columns = table.columns;
    f.stages = FoldStages(table);
    return f;
  }

  struct UnitHash {
    size_t operator()(const std::pair<uint32_t, uint64_t>& unit) const {
      return std::hash<uint64_t>()(unit.second * 2048 + unit.first);
    }
  };

  std::vector<UnitResult> totals_;  // by instruction
  std::vector<uint64_t> done_cases_;
  std::vector<UnitParts> parts_;
  std::unordered_map<std::pair<uint32_t, uint64_t>, Seen, UnitHash> seen_;
  std::map<std::string, size_t> machines_;
  std::vector<Work> work_;
  std::vector<Finding> found_;
  std::set<uint64_t> shards_;
  bool mixed_ = false;
};

// Some of the run's models, evenly over its rows.
void AddMutants(const ReportOptions& options, ReportRun& run, Console& console) {
  std::vector<const Operation*> models;
  for (const ReportRow& row : run.rows) {
    const Operation* op = FindOperation(row.name);
    const auto same = [&](const Operation* other) { return SameModel(other->model, op->model); };
    if (op != nullptr && row.total.cases > 0 && std::ranges::none_of(models, same)) {
      models.push_back(op);
    }
  }
  ReportMutants& tried = run.mutants;
  tried.of_models = models.size();
  tried.models = std::min(models.size(), options.mutant_models);
  if (tried.models == 0) return;
  const Strategy* strategy = StrategyOfRun(run.manifest.strategy);
  if (strategy == nullptr) {
    tried.models = 0;
    return;
  }
  MutantsOptions mutants;
  for (size_t i = 0; i < tried.models; ++i) {
    mutants.ops.push_back(models[i * models.size() / tried.models]);
  }
  mutants.strategy = strategy;
  mutants.cases = tried.cases = options.mutant_cases;
  mutants.seed = run.manifest.seed;
  const absl::StatusOr<MutantsOutcome> outcome = KillMutants(mutants, console);
  if (!outcome.ok()) {  // no model of them has a neighbour, say
    tried.models = 0;
    return;
  }
  tried.mutants = outcome->mutants;
  for (const OperationMutants& of : outcome->ops) {
    for (const Mutant& m : of.mutants) {
      if (m.cases == 0) tried.survivors.emplace_back(of.op->name, m.name());
    }
  }
}

}  // namespace

uint64_t ReportRun::Count(ReportRow::Kind kind) const {
  return std::ranges::count(rows, kind, &ReportRow::kind);
}

std::string ReportRun::Verdict() const {
  const uint64_t differ = Count(ReportRow::kDiffers), flaky = Count(ReportRow::kFlaky);
  const uint64_t open = Count(ReportRow::kIncomplete);
  std::string text;
  if (differ > 0) {
    text = absl::StrCat(differ, " of ", CountText(rows.size(), "instruction"),
                        differ == 1 ? " differs" : " differ", " from the model");
  } else {
    uint64_t equal = 0, dot_products = 0;  // of instructions without a difference
    for (const ReportRow& row : rows) {
      equal += row.bound > 0;
      dot_products += row.bound > 0 ? row.total.dot_products : 0;
    }
    text = equal == 0 ? "Nothing was compared"
                      : absl::StrCat("No difference in ", CountText(dot_products, "dot product"),
                                     " of ", CountText(equal, "instruction"));
    if (equal == 0 && flaky > 0) text = "Nothing can be said";
  }
  if (flaky > 0) absl::StrAppend(&text, "; ", flaky, " gave answers that do not repeat");
  if (open > 0) absl::StrAppend(&text, "; ", open, open == 1 ? " is" : " are", " incomplete");
  if (seen.size() < shards) {
    absl::StrAppend(&text, "; ", shards - seen.size(), " of ", shards,
                    shards - seen.size() == 1 ? " shards is not here" : " shards are not here");
  }
  if (!distrusted.empty()) absl::StrAppend(&text, "; some answers are distrusted");
  if (!damage.empty()) absl::StrAppend(&text, "; some data is damaged");
  return text + ".";
}

bool ReportData::Damaged() const {
  return std::ranges::any_of(runs, [](const ReportRun& run) { return !run.damage.empty(); });
}

absl::StatusOr<ReportData> GatherReport(const ReportOptions& options, Console& console) {
  std::vector<Gathered> runs;
  for (const std::string& folder : options.folders) {
    const std::string path(folder == "/" ? folder : std::string(absl::StripSuffix(folder, "/")));
    const absl::StatusOr<RunManifest> manifest = ReadManifest(path);
    if (!manifest.ok()) return manifest.status();
    auto run = std::ranges::find_if(runs, [&](const Gathered& g) { return g.IsOf(*manifest); });
    if (run == runs.end()) run = runs.insert(run, Gathered(*manifest));
    const auto same = [&path](const std::string& other) {
      std::error_code ignored;
      return std::filesystem::equivalent(path, other, ignored);
    };
    if (std::ranges::any_of(run->run.folders, same)) continue;
    if (absl::Status s = run->Read(path, console); !s.ok()) return s;
  }
  ReportData data;
  for (Gathered& gathered : runs) {
    data.runs.push_back(gathered.Finish(options, console));
    AddMutants(options, data.runs.back(), console);
  }
  return data;
}

}  // namespace mmadiff
