#include "fuzz/page/report_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/status_macros.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/ulp_buckets.h"
#include "fuzz/replay/explainer.h"
#include "fuzz/schedule/class_schedule.h"
#include "fuzz/schedule/mutants.h"
#include "triage/case_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kIntervals = 96;  // intervals of the rate over time
constexpr size_t kMaxSeries = 6;   // machines with their own color; the last may be "others"

// The time span of a unit, and its work.
struct Work {
  double begin = 0, end = 0;
  uint64_t dot_products = 0;
  size_t machine = 0;
};

// One run while its folders are read.
class Gathered {
 public:
  explicit Gathered(const RunManifest& manifest) : builder_(manifest) {}

  bool IsOf(const RunManifest& manifest) const { return builder_.IsOf(manifest); }
  bool Has(const std::string& path) const {
    return std::ranges::any_of(folders_, [&path](const std::string& other) {
      std::error_code ignored;
      return std::filesystem::equivalent(path, other, ignored);
    });
  }

  absl::Status Read(const std::string& path) {
    folders_.push_back(path);
    return builder_.AddFolder(path, [this](const UnitResult& unit) { AddWork(unit); }).status();
  }

  ReportRun Finish(const ReportOptions& options, Console& console) {
    for (const UnitResult& part : builder_.CountParts()) AddWork(part);
    static_cast<RunReport&>(run_) = std::move(builder_).Finish();
    if (run_.seen.size() > 1 && !run_.endless) {  // a missing shard has units too, as in `status`
      run_.planned_units = 0;
      for (const RunManifest::Instruction& i : run_.manifest.instructions) {
        run_.planned_units += i.Units();
      }
    }
    for (const RunReportRow& row : run_.rows) {
      const std::vector<uint64_t>& coverage = row.total.coverage;
      const bool counted = std::ranges::any_of(coverage, [](uint64_t n) { return n > 0; });
      if (row.op == nullptr || !counted) continue;  // stages are not traced for a part of a unit
      AddToCrosses(row.instruction, BinsOf(row.op->model), coverage, run_.crosses);
    }
    std::ranges::stable_sort(run_.rows, {}, &RunReportRow::state);
    MakeRate();
    for (const Finding& finding : run_.findings) {
      const bool explain = run_.explained.size() < options.explained;
      run_.explained.push_back(Explain(finding, explain, console));
    }
    for (const std::string& bucket : UlpBuckets()) {
      uint64_t words = 0;
      for (const RunReportRow& row : run_.rows) {  // integers have no ulps
        const bool is_float = row.op != nullptr && !IsInteger(*row.op->instruction->d);
        const auto count = row.total.counts.find(absl::StrCat(kUlpCount, bucket));
        if (is_float && count != row.total.counts.end()) words += count->second;
      }
      if (words > 0) run_.ulps.push_back({bucket, words});
    }
    return std::move(run_);
  }

 private:
  void AddWork(const UnitResult& unit) {
    const size_t machine =
        machines_.try_emplace(Name(unit.machine), machines_.size()).first->second;
    if (unit.ended == 0) return;
    const double length = std::clamp(unit.seconds, 0., static_cast<double>(unit.ended));
    const auto end = static_cast<double>(unit.ended);
    work_.push_back({end - length, end, unit.dot_products, machine});
  }

  // Spreads the work of each unit evenly over its time span.
  void MakeRate() {
    if (work_.empty()) return;
    double begin = work_.front().begin, end = 0;
    for (const Work& w : work_) {
      begin = std::min(begin, w.begin);
      end = std::max(end, w.end);
    }
    RateSeries& rate = run_.rate;
    rate.begin = static_cast<uint64_t>(begin);
    rate.end = std::max(static_cast<uint64_t>(std::ceil(end)), rate.begin + 1);
    const auto intervals =
        static_cast<size_t>(std::min<uint64_t>(kIntervals, rate.end - rate.begin));
    const double length =
        static_cast<double>(rate.end - rate.begin) / static_cast<double>(intervals);
    const std::vector<size_t> series = NameSeries();
    for (RateSeries::Machine& machine : rate.machines) machine.rates.resize(intervals);
    for (const Work& w : work_) {
      std::vector<double>& of = rate.machines[series[w.machine]].rates;
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

  // The series of each machine number: the first machines by name, then "others".
  std::vector<size_t> NameSeries() {
    std::vector<size_t> series(machines_.size());
    for (const auto& [machine, number] : machines_) {
      std::vector<RateSeries::Machine>& named = run_.rate.machines;
      if (named.size() < kMaxSeries) {
        const bool rest = named.size() + 1 == kMaxSeries && machines_.size() > kMaxSeries;
        named.push_back({rest ? absl::StrCat(machines_.size() - kMaxSeries + 1, " others")
                         : machine.empty() ? "an unknown machine"
                                           : machine});
      }
      series[number] = named.size() - 1;
    }
    return series;
  }

  static ReportFinding Explain(Finding finding, bool explain, Console& console) {
    ReportFinding f;
    const bool repeats = finding.bucket.Repeats();
    f.command = CaseCommand(repeats ? "explain" : "replay", finding.path, kAnyWidth);
    if (finding.flaky()) {
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
    f.minimal = CaseText(op, e->dot(), 0);
    f.tile = !(m.inputs.shape == DotProductShape(op.shape()));
    if (e->subject.differing.empty()) {
      f.diagnosis = "the model reproduces the stored answers";
      return f;
    }
    const auto typical = LoadSubject(f.finding.typical, nullptr);
    if (typical.ok() && !typical->differing.empty()) f.typical = ResultText(typical->mismatch);
    f.difference = DescribeResult(m, e->element, {});
    if (!m.failure) {
      const std::string narrow = DescribeDifference(*op.instruction->d, m.model[e->element],
                                                    m.device[e->element], {.width = 1});
      const std::vector<absl::string_view> lines = absl::StrSplit(narrow, '\n'),
                                           wide = absl::StrSplit(f.difference, '\n');
      f.bits = absl::StrJoin(lines.begin(), lines.begin() + 3, "\n");
      f.values = absl::StrCat(absl::StrJoin(lines.begin() + 3, lines.begin() + 5, "\n"), "\n",
                              absl::StrJoin(wide.begin() + 3, wide.end(), "\n"));
    }
    f.failure = m.failure;
    f.age = m.failure ? m.failure->age : m.age;
    if (!m.failure) f.diagnosis = e->diagnosis.Text();
    if (!repeats) return f;
    std::vector<Neighbour> changes = e->of_answer.changes;
    changes.resize(std::min<size_t>(changes.size(), 1));
    const StageTable table = MakeStageTable(op, changes, e->dot());
    f.columns = table.columns;
    f.stages = FoldStages(table);
    return f;
  }

  RunReportBuilder builder_;
  ReportRun run_;
  std::vector<std::string> folders_;
  std::map<std::string, size_t> machines_;
  std::vector<Work> work_;
};

// Some of the run's models, evenly over its rows.
void AddMutants(const ReportOptions& options, ReportRun& run, Console& console) {
  std::vector<const Operation*> models;
  for (const RunReportRow& row : run.rows) {
    const Operation* op = row.op;
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
  if (!outcome.ok()) {  // for example, none of the models has a neighbor
    tried.models = 0;
    return;
  }
  tried.mutants = outcome->mutants;
  for (const OperationMutants& of : outcome->ops) {
    for (const Mutant& m : of.mutants) {
      if (m.cases == 0) tried.survivors.push_back({of.op->name, m.name()});
    }
  }
}

}  // namespace

std::vector<FindingGroup> GroupFindings(const ReportRun& run) {
  std::vector<FindingGroup> groups;
  for (size_t i = 0; i < run.explained.size(); ++i) {
    const Bucket& bucket = run.explained[i].finding.bucket;
    const std::string change = bucket.Repeats() ? Name(bucket.changes) : std::string();
    auto group =
        change.empty() ? groups.end() : std::ranges::find(groups, change, &FindingGroup::change);
    if (group == groups.end()) group = groups.insert(group, {change, {}, 0});
    const auto same_op = [&](size_t other) {
      return run.explained[other].finding.op == run.explained[i].finding.op;
    };
    group->instructions += std::ranges::none_of(group->findings, same_op);
    group->findings.push_back(i);
  }
  std::ranges::stable_sort(groups, std::greater(), &FindingGroup::instructions);
  return groups;
}

std::string Sentence(const FindingGroup& group, const ReportRun& run) {
  if (group.change.empty() || group.instructions < 2) return "";
  const uint64_t differ = std::max(run.Count(RunReportRow::kDiffers), group.instructions);
  return absl::StrCat(group.change, " explains ",
                      group.findings.size() == run.explained.size()
                          ? absl::StrCat("all ", differ)
                          : absl::StrCat(group.instructions, " of ", differ),
                      " instructions");
}

bool ReportData::Damaged() const {
  return damage ||
         std::ranges::any_of(runs, [](const ReportRun& run) { return !run.damage.empty(); });
}

absl::StatusOr<ReportData> GatherReport(const ReportOptions& options, Console& console) {
  ASSIGN_OR_RETURN(NamedRuns named, ReadManifests(options.folders));
  std::vector<Gathered> runs;
  for (const auto& named_run : named.runs) {
    const auto& [path, manifest] = named_run;
    auto run =
        std::ranges::find_if(runs, [&](const Gathered& g) { return g.IsOf(named_run.second); });
    if (run == runs.end()) run = runs.insert(run, Gathered(manifest));
    if (run->Has(path)) continue;
    RETURN_IF_ERROR(run->Read(path));
  }
  ReportData data = {{}, NotRead(named), !named.damage.empty()};
  for (Gathered& gathered : runs) {
    data.runs.push_back(gathered.Finish(options, console));
    AddMutants(options, data.runs.back(), console);
  }
  return data;
}

}  // namespace mmadiff
