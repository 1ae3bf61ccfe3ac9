#include "fuzz/survey/agenda.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/ask/canary.h"
#include "fuzz/ask/stage.h"
#include "fuzz/verdict/drop.h"
#include "sim/operation.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/questions.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

// The fraction of the time at which each stage yields to the next ones.
constexpr struct {
  SurveyStage stage;
  double share;
} kShares[] = {{kLayout, .25}, {kRepeat, .32},    {kQuestions, .6}, {kVectors, .66},
               {kRun, .78},    {kRecording, .96}, {kPairs, 1}};

constexpr double kShortUnit = .5, kLongUnit = 2;  // seconds
constexpr uint64_t kMaxUnitDotProducts = 1 << 30;
constexpr double kPartSeconds = 3;  // length of a part on a slow device
constexpr uint64_t kLogShare = 2;   // the log may use --max_bytes / kLogShare
constexpr int kMaxTraps = 3;        // per row
constexpr int kMaxLosses = 2;       // times that the device may be lost after a task of a row

// The first operation of each model comes first: the others likely give the same results.
std::vector<const SurveyManifest::Instruction*> InOrderOfValue(const SurveyManifest& manifest) {
  std::vector<const SurveyManifest::Instruction*> first, others;
  std::vector<const Operation*> seen;
  for (const SurveyManifest::Instruction& i : manifest.instructions) {
    const Operation* op = FindOperation(i.name);
    const bool again = op == nullptr || std::ranges::any_of(seen, [&](const auto* s) {
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

std::vector<SurveyTask> SingleQuestions(const SurveyTask& questions) {
  std::vector<SurveyTask> single;
  for (const Question& q : Questions()) {
    if (IsOfArithmetic(q)) {
      single.push_back({kQuestions, questions.op, questions.variant, 0, q.id});
    }
  }
  return single;
}

std::vector<SurveyResult> StoredOf(const TaskResult& result) {
  const SurveyTask& name = std::get<StageTask>(result.task.what).name;
  SurveyResult whole;
  if (const auto* answer = std::get_if<SurveyResult>(&result.answer)) whole = *answer;
  std::vector<SurveyResult> stored;
  if (whole.unfinished && !result.status.ok()) {
    whole.status = absl::OkStatus();
    stored.push_back(std::exchange(whole, {}));
  }
  whole.task = name;
  const bool ends = result.status.ok() || IsOfOperation(result.status) || result.drop.has_value();
  if (result.asked_again || !ends) return stored;
  whole.died_of = result.died_of;
  whole.status = result.status;
  if (result.drop.has_value()) {
    const DropCause cause = result.drop->cause;
    whole.trapped = cause == DropCause::kCrashes || cause == DropCause::kHangs;
    whole.killing = result.drop->input;
    if (cause == DropCause::kDeviceGone) {
      whole.task = {SurveyStage::kTrap, name.op, name.variant, 0, kDeviceGone};
    }
  }
  stored.push_back(std::move(whole));
  return stored;
}

SurveyAgenda::SurveyAgenda(const SurveyManifest& manifest, absl::Duration total, Console* console)
    : manifest_(manifest), total_(total), console_(console) {
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

void SurveyAgenda::Earlier(const SurveyResult& result) {
  const Row row = {result.task.op, result.task.variant};
  if (result.task.IsCanary()) {
    ++canaries_[row];  // this attempt runs its own canaries
    return;
  }
  Done(result);
  if (!result.status.ok()) return;
  std::vector<std::string>& lines = earlier_[row];
  const auto add = [&lines](const std::string& line) {
    if (lines.size() < kMaxCanaries) lines.push_back(line);
  };
  for (const SurveyAnswer& a : result.answers) std::ranges::for_each(a.lines, add);
  for (const SurveyLine& line : result.lines) add(line.line);
  if (lines.empty()) earlier_.erase(row);
}

void SurveyAgenda::Done(const SurveyResult& result) {
  ++results_;
  const SurveyTask& task = result.task;
  const Row row = {task.op, task.variant};
  if (result.unfinished && !HasParts(task.stage)) return Explain(result);
  done_.insert(task);
  if (result.unfinished) AddPart(result);
  if (task.stage == kLayout && result.pace > kSlowPace) SetSlow(row, result.pace);
  const bool dropped = Drops(result);
  if (dropped) excluded_.insert(row);
  if (dropped && task.IsCanary()) changed_.insert(row);
  if (task.stage == kTrap) return;
  for (auto& [run_row, run] : runs_) {
    if (task.stage == kRun && run_row == row) Count(result, run);
  }
  if (!dropped) Explain(result);
}

// A row survives its first crashes, except a crash in the layout stage, and the first loss of the
// device.
bool SurveyAgenda::Drops(const SurveyResult& result) {
  const std::optional<DropCause> cause = CauseOf(result);
  const Row row = {result.task.op, result.task.variant};
  if (cause == DropCause::kDeviceGone) return ++lost_[row] >= kMaxLosses;
  if (cause != DropCause::kCrashes) return cause.has_value();
  return ++traps_[row] >= kMaxTraps || result.task.stage == kLayout;
}

void SurveyAgenda::SetSlow(const Row& row, double pace) {
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
    // Skipped: this question needs thousands of dot products in one call.
    if (FindQuestion(single.detail)->method == Method::kPayloads) continue;
    all.push_back(std::move(single));
  }
  const auto number = [](const SurveyTask& t) {
    return t.detail.empty() ? 0 : FindQuestion(t.detail) - Questions().data() + 1;
  };
  std::ranges::stable_sort(all, {}, number);
}

// The new part comes after the parts of other rows.
void SurveyAgenda::AddPart(const SurveyResult& result) {
  SurveyTask part = result.task;
  ++part.number;
  begin_[part] = result.next;
  tasks_[static_cast<int>(part.stage)].push_back(std::move(part));
}

void SurveyAgenda::Count(const SurveyResult& result, Run& run) const {
  run.number = std::max(run.number, result.task.number + 1);
  run.first = result.first_case + result.cases;
  run.seconds += result.seconds;
  if (manifest_.cases == 0 && result.seconds > 0) {
    const Operation* op = FindOperation(run.instruction->name);
    const uint64_t most =
        op == nullptr ? 1 : std::max<uint64_t>(1, kMaxUnitDotProducts / op->shape().d_words());
    if (result.seconds < kShortUnit) run.count = std::min(2 * run.count, std::max(most, run.count));
    if (result.seconds > kLongUnit) run.count = std::max<uint64_t>(1, run.count / 2);
  }
  run.ended |= result.trapped || result.mismatches > 0 ||
               (manifest_.cases > 0 && run.first >= manifest_.cases);
}

TaskPart SurveyAgenda::PartOf(const SurveyTask& task) const {
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

void SurveyAgenda::Explain(const SurveyResult& result) {
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
  if (std::ranges::any_of(all, same)) return;
  all.push_back({kExplain, task.op, task.variant, static_cast<uint64_t>(task.stage), subject});
}

std::optional<SurveyTask> SurveyAgenda::NextOf(SurveyStage stage, bool lost) const {
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
    if (changed_.contains({task.op, task.variant})) continue;
    if (lost_.contains({task.op, task.variant}) != lost) continue;
    if (task.stage == kPairs && contradicted_.contains({task.op, task.variant})) continue;
    return task;
  }
  return std::nullopt;
}

std::optional<Task> SurveyAgenda::Next(absl::Duration elapsed) {
  const double total = total_ < absl::InfiniteDuration() ? absl::ToDoubleSeconds(total_) : 0;
  const std::optional<SurveyTask> name = Choose(absl::ToDoubleSeconds(elapsed), total);
  if (!name.has_value()) return std::nullopt;
  const Row row = {name->op, name->variant};
  if (const auto lines = earlier_.find(row); lines != earlier_.end()) {
    const std::string all = absl::StrJoin(lines->second, "\n");
    earlier_.erase(lines);
    return TaskOf({kRepeat, row.first, row.second, canaries_[row]++, all});
  }
  return TaskOf(*name);
}

Task SurveyAgenda::TaskOf(const SurveyTask& name) {
  asked_ = name.Text();
  const size_t row = numbers_.try_emplace({name.op, name.variant}, numbers_.size()).first->second;
  return {row, StageTask{name, PartOf(name)}};
}

absl::StatusOr<std::vector<Task>> SurveyAgenda::Take(TaskResult result) {
  for (const SurveyResult& stored : StoredOf(result)) Done(stored);
  return std::vector<Task>();
}

std::vector<Task> SurveyAgenda::Again(const TaskResult& failed) {
  SurveyTask name = std::get<StageTask>(failed.task.what).name;
  std::vector<Task> again;
  if (name.stage == kQuestions && name.detail.empty()) {
    for (const SurveyTask& single : SingleQuestions(name)) again.push_back(TaskOf(single));
  }
  for (const SurveyResult& part : StoredOf(failed)) {
    Done(part);
    if (HasParts(name.stage)) ++name.number;
  }
  if (again.empty()) again.push_back(TaskOf(name));
  return again;
}

bool SurveyAgenda::GivesUp(const Task& task) const {
  return IsExcluded(std::get<StageTask>(task.what).name);
}

void SurveyAgenda::ShowProgress(uint64_t) {
  if (console_ == nullptr) return;
  console_->Status(absl::StrCat(asked_, ", ", results_, " done"), false);
}

std::optional<SurveyTask> SurveyAgenda::Choose(double elapsed, double total) const {
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

std::vector<SurveyTask> SurveyAgenda::Pending() const {
  std::vector<SurveyTask> pending;
  for (const SurveyTask& task : tasks_[static_cast<int>(kExplain)]) {
    const bool changed = changed_.contains({task.op, task.variant});
    if (!done_.contains(task) && !changed) pending.push_back(task);
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

std::vector<SurveyTask> SurveyAgenda::GivenUp() const {
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

absl::Status SurveyTaskLog::Append(const TaskResult& result) {
  absl::Status durable;
  for (SurveyResult& stored : StoredOf(result)) {
    durable.Update(log_.Append(stored));
    results_.push_back(std::move(stored));
  }
  return durable;
}

bool SurveyTaskLog::full() const { return log_.bytes() > max_bytes_ / kLogShare; }

}  // namespace mmadiff
