#include "fuzz/survey/schedule.h"

#include <algorithm>

#include "sim/operation.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/questions.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

// The part of the time after which a stage leaves the rest to the next ones.
constexpr struct {
  SurveyStage stage;
  double share;
} kShares[] = {{kLayout, .25}, {kRepeat, .32},    {kQuestions, .6}, {kVectors, .66},
               {kRun, .78},    {kRecording, .96}, {kPairs, 1}};

constexpr double kShortUnit = .5, kLongUnit = 2;  // seconds
constexpr uint64_t kMostUnitDotProducts = 1 << 30;
constexpr double kPartSeconds = 3;  // of a slow device
constexpr int kMostTraps = 3;       // of a row
constexpr int kMostLosses = 2;      // of the device, after a row was asked

// Operations with a model that none before has come first: what they say, the others likely say.
std::vector<const SurveyManifest::Instruction*> InOrderOfValue(const SurveyManifest& manifest) {
  std::vector<const SurveyManifest::Instruction*> first, others;
  std::vector<const Operation*> seen;
  for (const SurveyManifest::Instruction& i : manifest.instructions) {
    const Operation* op = FindOperation(i.name);
    const bool again = op == nullptr || std::any_of(seen.begin(), seen.end(), [&](const auto* s) {
                         return SameModel(s->model, op->model);
                       });
    (again ? others : first).push_back(&i);
    if (!again) seen.push_back(op);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

// The other sizes of an instruction that has several.
std::vector<std::string> OtherSizes(const std::string& name) {
  std::vector<std::string> names;
  const Operation* op = FindOperation(name);
  if (op == nullptr || op->instruction->sizes.empty()) return names;
  for (const int n : kSurveySizes) {
    for (const Sizes& s : op->instruction->sizes) {
      const bool legal =
          s.m == op->shape().m && n >= s.n_min && n <= s.n_max && (n - s.n_min) % s.n_step == 0;
      if (!legal || n == op->shape().n) continue;
      names.push_back(std::string(op->arch()) + "/" + WithSize(*op->instruction, s.m, n).name);
      break;
    }
  }
  return names;
}

bool HasPairs(const std::string& name) {
  const Operation* op = FindOperation(name);
  return op != nullptr && HasOperandSweep(*op) && op->instruction->a->bits <= 8 &&
         op->instruction->b->bits <= 8;
}

}  // namespace

bool NeedsModel(SurveyStage stage) {
  return stage == kVectors || stage == kRun || stage == kPairs || stage == kExplain;
}

std::vector<SurveyTask> SingleQuestions(const SurveyTask& questions) {
  std::vector<SurveyTask> single;
  for (const Question& q : Questions()) {
    if (IsOfArithmetic(q)) {
      single.push_back({kQuestions, questions.op, questions.variant, 0, q.id});
    }
  }
  return single;
}

SurveySchedule::SurveySchedule(const SurveyManifest& manifest) : manifest_(manifest) {
  const auto instructions = InOrderOfValue(manifest);
  const auto add = [this](SurveyStage stage, const std::string& op, const std::string& variant) {
    if (NeedsModel(stage) && FindUnmodelled(op) != nullptr) return;
    tasks_[static_cast<int>(stage)].push_back({stage, op, variant});
  };
  const auto add_run = [this](const SurveyManifest::Instruction& i, const std::string& variant) {
    if (FindUnmodelled(i.name) != nullptr) return;
    runs_.push_back({{i.name, variant}, {.instruction = &i, .count = i.unit_cases}});
  };
  for (const auto* i : instructions) {
    for (const SurveyStage stage : {kLayout, kRepeat, kQuestions, kVectors})
      add(stage, i->name, "");
    if (i->raw_cases > 0) add(kRecording, i->name, "");
    if (HasPairs(i->name)) add(kPairs, i->name, "");
    add_run(*i, "");
  }
  for (const auto* i : instructions) {
    for (const std::string& variant : i->variants) {
      for (const SurveyStage stage : {kLayout, kRepeat, kVectors}) add(stage, i->name, variant);
      add_run(*i, variant);
    }
  }
  for (const auto* i : instructions) {
    for (const std::string& name : OtherSizes(i->name)) {
      add(kLayout, name, "");
      for (const std::string& variant : i->variants) add(kLayout, name, variant);
    }
  }
}

void SurveySchedule::Done(const SurveyResult& result) {
  const SurveyTask& task = result.task;
  const Row row = {task.op, task.variant};
  if (result.unfinished && !HasParts(task.stage)) return Explain(result);
  done_.insert(task);
  if (result.unfinished) AddPart(result);
  if (task.stage == kLayout && result.pace > kSlowPace) SetSlow(row, result.pace);
  if (task.stage == kTrap) {
    if (task.detail == kDeviceGone && ++lost_[row] >= kMostLosses) excluded_.insert(row);
    return;
  }
  const bool elsewhere = task.stage == kLayout && !result.answers.empty() &&
                         result.answers.front().agreement != Agreement::kAgrees;
  const bool changing = task.stage == kRepeat && !result.answers.empty() &&
                        result.answers.front().agreement != Agreement::kAgrees;
  const bool hangs = absl::IsDeadlineExceeded(result.status);
  if (result.trapped) ++traps_[row];
  const bool lost = result.trapped && (task.stage == kLayout || hangs || traps_[row] >= kMostTraps);
  if (elsewhere || changing || lost || (!result.status.ok() && !result.trapped)) {
    excluded_.insert(row);
  }
  for (auto& [run_row, run] : runs_) {
    if (task.stage == kRun && run_row == row) Count(result, run);
  }
  if (!elsewhere && !changing) Explain(result);
}

void SurveySchedule::SetSlow(const Row& row, double pace) {
  slow_.insert(row);
  for (auto& [run_row, run] : runs_) {
    const Operation* op = FindOperation(run.instruction->name);
    if (run_row != row || run.number > 0 || op == nullptr) continue;
    const double each = pace * static_cast<double>(op->shape().d_words());
    const auto most = static_cast<double>(run.count);
    run.count = static_cast<uint64_t>(std::clamp(kPartSeconds / each, 1., std::max(1., most)));
  }
  std::vector<SurveyTask>& all = tasks_[static_cast<int>(kQuestions)];
  const SurveyTask whole = {kQuestions, row.first, row.second};
  if (done_.contains(whole) || std::erase(all, whole) == 0) return;
  for (SurveyTask& single : SingleQuestions(whole)) {
    // Thousands of dot products in one call: not asked.
    if (FindQuestion(single.detail)->method == Method::kPayloads) continue;
    all.push_back(std::move(single));
  }
  const auto number = [](const SurveyTask& t) {
    return t.detail.empty() ? 0 : FindQuestion(t.detail) - Questions().data() + 1;
  };
  std::ranges::stable_sort(all, {}, number);
}

// After the parts of other rows.
void SurveySchedule::AddPart(const SurveyResult& result) {
  SurveyTask part = result.task;
  ++part.number;
  begin_[part] = result.next;
  tasks_[static_cast<int>(part.stage)].push_back(std::move(part));
}

void SurveySchedule::Count(const SurveyResult& result, Run& run) const {
  run.number = std::max(run.number, result.task.number + 1);
  run.first = result.first_case + result.cases;
  run.seconds += result.seconds;
  if (manifest_.cases == 0 && result.seconds > 0) {
    const Operation* op = FindOperation(run.instruction->name);
    const uint64_t most =
        op == nullptr ? 1 : std::max<uint64_t>(1, kMostUnitDotProducts / op->shape().d_words());
    if (result.seconds < kShortUnit) run.count = std::min(2 * run.count, std::max(most, run.count));
    if (result.seconds > kLongUnit) run.count = std::max<uint64_t>(1, run.count / 2);
  }
  run.ended |= result.trapped || result.mismatches > 0 ||
               (manifest_.cases > 0 && run.first >= manifest_.cases);
}

SurveyUnit SurveySchedule::UnitOf(const SurveyTask& task) const {
  if (task.stage != kRun) {
    const auto begin = begin_.find(task);
    const bool slow = slow_.contains({task.op, task.variant});
    return {begin == begin_.end() ? 0 : begin->second, 0, slow ? kPartSeconds : 0};
  }
  for (const auto& [row, run] : runs_) {
    if (row != Row(task.op, task.variant)) continue;
    if (manifest_.cases == 0) return {run.first, run.count};
    const uint64_t left = manifest_.cases - std::min(manifest_.cases, run.first);
    return {run.first, std::min(run.count, left)};
  }
  return {};
}

void SurveySchedule::Explain(const SurveyResult& result) {
  const SurveyTask& task = result.task;
  std::string subject = result.first_mismatch;
  for (const SurveyLine& line : result.lines) {
    if (line.differs && subject.empty()) subject = line.line;
  }
  for (const SurveyAnswer& a : result.answers) {
    if (a.differing > 0 && subject.empty() && !a.lines.empty()) subject = a.lines.front();
  }
  if (subject.empty() || task.stage == kExplain) return;
  contradicted_.insert({task.op, task.variant});
  std::vector<SurveyTask>& all = tasks_[static_cast<int>(kExplain)];
  const auto same = [&](const SurveyTask& t) {
    return t.op == task.op && t.variant == task.variant &&
           t.number == static_cast<uint64_t>(task.stage);
  };
  if (std::any_of(all.begin(), all.end(), same)) return;
  all.push_back({kExplain, task.op, task.variant, static_cast<uint64_t>(task.stage), subject});
}

std::optional<SurveyTask> SurveySchedule::NextOf(SurveyStage stage, bool lost) const {
  if (stage == kRun) {
    const std::pair<Row, Run>* next = nullptr;
    for (const auto& entry : runs_) {
      if (entry.second.ended || excluded_.contains(entry.first)) continue;
      if (lost_.contains(entry.first) != lost) continue;
      if (next == nullptr || entry.second.seconds < next->second.seconds) next = &entry;
    }
    if (next == nullptr) return std::nullopt;
    return SurveyTask{kRun, next->first.first, next->first.second, next->second.number};
  }
  for (const SurveyTask& task : tasks_[static_cast<int>(stage)]) {
    if (done_.contains(task)) continue;
    if (stage != kExplain && IsExcluded(task)) continue;
    if (lost_.contains({task.op, task.variant}) != lost) continue;
    if (task.stage == kPairs && contradicted_.contains({task.op, task.variant})) continue;
    return task;
  }
  return std::nullopt;
}

std::optional<SurveyTask> SurveySchedule::Next(double elapsed, double total) const {
  if (total > 0 && elapsed >= total) return std::nullopt;
  for (const bool lost : {false, true}) {
    if (std::optional<SurveyTask> task = NextOf(kExplain, lost)) return task;
    for (const bool late : {false, true}) {
      for (const auto& [stage, share] : kShares) {
        if (!late && total > 0 && elapsed >= share * total) continue;
        if (std::optional<SurveyTask> task = NextOf(stage, lost)) return task;
      }
    }
  }
  return std::nullopt;
}

std::vector<SurveyTask> SurveySchedule::Pending() const {
  std::vector<SurveyTask> pending;
  for (const SurveyTask& task : tasks_[static_cast<int>(kExplain)]) {
    if (!done_.contains(task)) pending.push_back(task);
  }
  for (const auto& [stage, share] : kShares) {
    for (const SurveyTask& task : tasks_[static_cast<int>(stage)]) {
      const bool skipped = task.stage == kPairs && contradicted_.contains({task.op, task.variant});
      if (!done_.contains(task) && !IsExcluded(task) && !skipped) pending.push_back(task);
    }
  }
  for (const auto& [row, run] : runs_) {
    const bool begun = run.number > 0 && manifest_.cases == 0;
    if (run.ended || begun || excluded_.contains(row)) continue;
    pending.push_back({kRun, row.first, row.second, run.number});
  }
  return pending;
}

std::vector<SurveyTask> SurveySchedule::GivenUp() const {
  std::vector<SurveyTask> given_up;
  for (const auto& [stage, share] : kShares) {
    for (const SurveyTask& task : tasks_[static_cast<int>(stage)]) {
      if (!done_.contains(task) && IsExcluded(task)) given_up.push_back(task);
    }
  }
  for (const auto& [row, run] : runs_) {
    if (run.ended || run.number > 0 || !excluded_.contains(row)) continue;
    given_up.push_back({kRun, row.first, row.second, run.number});
  }
  return given_up;
}

}  // namespace mmadiff
