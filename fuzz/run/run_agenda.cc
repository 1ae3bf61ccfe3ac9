#include "fuzz/run/run_agenda.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "fuzz/ask/canary.h"
#include "fuzz/folder/run_folder.h"

namespace mmadiff {
namespace {

// The current time, but later than `ended`, which may come from a machine with a different clock.
uint64_t LaterThan(uint64_t ended) {
  return std::max(ended + 1, static_cast<uint64_t>(absl::ToUnixSeconds(absl::Now())));
}

// The unit that the cases of the task belong to.
uint64_t UnitAskedBy(const Task& task, const RunManifest& manifest) {
  const uint64_t unit_cases = manifest.instructions[task.row].unit_cases;
  if (const auto* unit = std::get_if<UnitTask>(&task.what)) return unit->counted.unit;
  if (const auto* canary = std::get_if<CanaryTask>(&task.what)) {
    return canary->first_case / unit_cases;
  }
  const auto* investigate = std::get_if<InvestigateTask>(&task.what);
  return investigate == nullptr ? manifest.shard : investigate->name.index / unit_cases;
}

absl::Status GivenUp(uint64_t unit) {
  return absl::UnavailableError(
      absl::StrCat("the device failed in unit ", unit, " in ", kMaxFailures,
                   " attempts, so the instruction is skipped in this folder; choose another "
                   "--workdir to retry it"));
}

}  // namespace

RunAgenda::RunAgenda(const RunOptions& options, const RunManifest& manifest, StoredUnits stored,
                     Console& console, OnStop on_stop)
    : options_(options),
      manifest_(manifest),
      rows_(options.ops.size()),
      machines_(std::move(stored.machines)),
      findings_(options.workdir + "/findings", options.max_mismatches, options.print_findings,
                console),
      console_(console),
      on_stop_(std::move(on_stop)) {
  attempt_.threads = options.threads;
  attempt_.resumed_units = stored.units;
  const auto contradicts = [](const Damage& d) { return d.kind == DamageKind::kContradiction; };
  for (const Damage& d : stored.damage) {
    if (contradicts(d)) damage_.push_back(Text(d));
  }
  std::erase_if(stored.damage, contradicts);
  attempt_.warnings = TextsOf(stored.damage);
  std::ranges::move(MisplacedIn(options.workdir), std::back_inserter(attempt_.warnings));
  for (size_t r = 0; r < rows_.size(); ++r) {
    const RunManifest::Instruction& planned = manifest.instructions[r];
    Row& row = rows_[r];
    row.op = options.ops[r];
    row.total = std::move(stored.totals[r]);
    row.units = planned.Units();
    row.unit_cases = planned.unit_cases;
    row.next = options.shard;
    row.done = std::move(stored.done[r]);
    row.parts = std::move(stored.parts[r]);
    row.begun = std::move(stored.begun[r]);
    row.stops = std::move(stored.stops[r]);
    row.asked = std::move(stored.asked[r]);
    for (const auto& [unit, failures] : stored.failures[r]) {
      if (failures < kMaxFailures) continue;
      row.given_up = true;
      row.dropped = GivenUp(unit);
    }
    row.same_asked = row.given_up || (row.asked.empty() && row.parts.empty());
  }
  LoadFindings(manifest);
}

void RunAgenda::LoadFindings(const RunManifest& manifest) {
  const auto own = [&](const RegressionCase& c) {
    const absl::StatusOr<CaseName> name = ParseCaseName(c.source);
    const size_t row = std::ranges::find(options_.ops, c.op) - options_.ops.begin();
    return name.ok() && name->stream.op == c.op && row < rows_.size() &&
           c.device() == manifest.device &&
           name->stream.name() == StreamOf(row, name->index / rows_[row].unit_cases).name();
  };
  for (std::string& wrong : findings_.LoadEarlier(own)) {
    attempt_.warnings.push_back(std::move(wrong));
    attempt_.damaged_findings = true;
  }
}

CaseStream RunAgenda::StreamOf(size_t row, uint64_t unit) const {
  CaseStream stream = {options_.ops[row], options_.strategy, options_.seed};
  if (!options_.schedules.empty()) stream.strategy = &options_.schedules[row].of(unit);
  return stream;
}

uint64_t RunAgenda::EndOf(const Row& row, uint64_t unit) const {
  return std::min((unit + 1) * row.unit_cases, PlannedCases(options_, *row.op));
}

bool RunAgenda::Finished(const Row& row) const {
  if (options_.forever) return false;
  for (uint64_t u = options_.shard; u < row.units; u += options_.shards) {
    if (!row.done.Contains(u)) return false;
  }
  return true;
}

uint64_t RunAgenda::RemainingDotProducts() const {
  uint64_t remaining = 0;
  for (const Row& row : rows_) {
    for (uint64_t u = options_.shard; u < row.units; u += options_.shards) {
      if (row.done.Contains(u)) continue;
      remaining += (EndOf(row, u) - u * row.unit_cases) * row.op->shape().d_words();
      const auto begun = row.begun.find(u);
      if (begun != row.begun.end()) remaining -= begun->second.dot_products;
    }
  }
  return remaining;
}

// The rows take turns, so that a run that is stopped early has covered all of them.
std::optional<Task> RunAgenda::Next(absl::Duration elapsed) {
  if (plants_begun_ < rows_.size()) {
    const size_t row = plants_begun_++;
    return Task{row, PlantTask{{options_.ops[row], options_.strategy, options_.seed}}};
  }
  for (; canaries_begun_ < rows_.size() && rows_[canaries_begun_].given_up; ++canaries_begun_) {
    ++canaries_done_;
  }
  if (canaries_begun_ < rows_.size()) {
    const size_t row = canaries_begun_++;
    return Task{row, CanaryOf(row)};
  }
  if (plants_done_ < rows_.size() || canaries_done_ < rows_.size()) return std::nullopt;
  if (!progress_.has_value()) {
    begun_ = elapsed;
    progress_.emplace(options_.forever ? 0 : RemainingDotProducts(), console_);
  }
  for (size_t tried = 0; tried < rows_.size(); ++tried) {
    const size_t row = turn_++ % rows_.size();
    if (std::optional<UnitTask> unit = NextUnit(row)) return Task{row, *std::move(unit)};
  }
  return std::nullopt;
}

CanaryTask RunAgenda::CanaryOf(size_t r) {
  Row& row = rows_[r];
  std::vector<UnitResult> asked = std::move(row.asked);
  const bool canaries = !asked.empty() && !asked.front().canary.d.empty();
  const uint64_t first = canaries        ? asked.front().canary.first_case
                         : asked.empty() ? options_.shard * row.unit_cases
                                         : asked.front().first_case;
  CanaryTask task = {StreamOf(r, first / row.unit_cases), first};
  const bool anew = options_.anew && row.same_asked;
  if (!anew) task.filed = findings_.Earlier(*row.op, kMinCanaries);
  if (asked.empty()) return task;
  if (!canaries) {
    if (asked.front().seconds <= kMaxCanarySeconds) {
      task.again = std::move(asked.front());
    } else {
      attempt_.warnings.push_back(
          absl::StrCat(row.op->name, ": no unit of earlier attempts took less than ",
                       kMaxCanarySeconds, " s, so none was executed again"));
    }
    return task;
  }
  // A few of each unit first: the units of a merged folder may come from several devices.
  std::vector<Observed> more;
  for (const UnitResult& unit : asked) {
    if (unit.part) row.canaries.push_back(unit.canary);  // a whole unit must store it
    const uint64_t number = unit.canary.first_case / row.unit_cases;
    std::vector<Observed> answers = AnswersOf(StreamOf(r, number), unit.canary);
    const auto few = answers.begin() + std::min<long>(kMinCanaries, std::ssize(answers));
    std::move(answers.begin(), few, std::back_inserter(task.earlier));
    std::move(few, answers.end(), std::back_inserter(more));
  }
  task.least = task.earlier.size();
  std::ranges::move(more, std::back_inserter(task.earlier));
  return task;
}

std::optional<UnitTask> RunAgenda::NextUnit(size_t r) {
  Row& row = rows_[r];
  if (row.stopped || !row.dropped.ok()) return std::nullopt;
  if (row.paused.size() > 1) return std::nullopt;  // bounds the memory
  while (row.next < row.units && row.done.Contains(row.next)) row.next += options_.shards;
  if (row.next >= row.units) return std::nullopt;
  UnitTask task = {.stream = StreamOf(r, row.next),
                   .end = EndOf(row, row.next),
                   .most_differing = findings_.Left(*row.op).value_or(UINT64_MAX)};
  task.counted.instruction = static_cast<uint32_t>(r);
  task.counted.unit = row.next;
  task.counted.first_case = row.next * row.unit_cases;
  if (const auto begun = row.begun.find(row.next); begun != row.begun.end()) {
    task.counted = begun->second;
  }
  if (!row.canaries.empty()) task.counted.canary = row.canaries.back();
  row.next += options_.shards;
  return task;
}

absl::StatusOr<std::vector<Task>> RunAgenda::Take(TaskResult result) {
  Row& row = rows_[result.task.row];
  if (result.drop.has_value()) row.dropped.Update(result.status);
  if (const auto* planted = std::get_if<PlantAnswer>(&result.answer)) {
    ++plants_done_;
    row.planted = planted->found;
    return std::vector<Task>();
  }
  if (auto* canary = std::get_if<CanaryAnswer>(&result.answer)) {
    ++canaries_done_;
    row.same_asked |= result.status.ok() || result.drop.has_value();
    attempt_.repeated += canary->repeated;
    const bool stored = !std::get<CanaryTask>(result.task.what).earlier.empty();
    if (!stored && !canary->canary.d.empty()) row.canaries = {std::move(canary->canary)};
    row.difference = std::move(canary->difference);
    return std::vector<Task>();
  }
  if (auto* unit = std::get_if<UnitAnswer>(&result.answer)) {
    Count(row, std::get<UnitTask>(result.task.what), std::move(*unit), result.status);
  } else {
    row.investigating = false;
    if (!result.status.ok()) {  // the device no longer answers
      row.paused.front().goes_on = false;
      row.paused.front().differing.clear();
    }
    RETURN_IF_ERROR(findings_.File(result));
  }
  return LookAtMismatches(result.task.row);
}

std::vector<Task> RunAgenda::Again(const TaskResult& failed) {
  Task again = failed.task;
  const auto* const answer = std::get_if<UnitAnswer>(&failed.answer);
  if (answer == nullptr || !answer->counted.IsBegun() || !answer->differing.empty()) {
    return {std::move(again)};
  }
  UnitResult& counted = std::get<UnitTask>(again.what).counted;
  attempt_.dot_products += answer->counted.dot_products - counted.dot_products;
  counted = answer->counted;
  KeepLarger(counted, rows_[again.row].parts);
  return {std::move(again)};
}

void RunAgenda::Count(Row& row, const UnitTask& task, UnitAnswer answer,
                      const absl::Status& status) {
  UnitResult& counted = answer.counted;
  attempt_.dot_products += counted.dot_products - task.counted.dot_products;
  if (counted.part) {
    KeepLarger(counted, row.parts);
    UnitTask rest = {task.stream, std::move(counted), task.end};
    row.paused.push_back({std::move(rest), std::move(answer.differing), status.ok()});
  } else if (row.done.Add(counted.unit)) {
    ++attempt_.units;
    if (counted.machine != Machine()) machines_.insert(Name(counted.machine));
    std::erase(row.canaries, counted.canary);
    const auto& wrong = row.difference;
    if (wrong && counted.mismatches == 0 && wrong->index / row.unit_cases == counted.unit) {
      damage_.push_back(absl::StrCat(row.op->name, ": two answers to one input: ", wrong->line,
                                     " alone, but in unit ", counted.unit, " the model's answer"));
    }
    if (const auto part = row.parts.find(counted.unit); part != row.parts.end()) {
      const std::string why = Contradiction(manifest_, part->second, counted.mismatches);
      if (!why.empty()) damage_.push_back(why);
      row.parts.erase(part);
    }
    Accumulate(counted, row.total);
  }
}

absl::StatusOr<std::vector<Task>> RunAgenda::LookAtMismatches(size_t r) {
  Row& row = rows_[r];
  std::vector<Task> next;
  while (!row.investigating && !row.paused.empty()) {
    Paused& part = row.paused.front();
    if (part.next < part.differing.size() && !row.stopped) {
      const auto& [name, mismatch] = part.differing[part.next++];
      ++findings_count_;
      if (std::optional<InvestigateTask> task = findings_.Consider(name, mismatch)) {
        row.investigating = true;
        next.insert(next.begin(), Task{r, *std::move(task)});
      }
      part.rest.most_differing = findings_.Left(*row.op).value_or(UINT64_MAX);
      row.stopped = part.rest.most_differing == 0;
      continue;
    }
    const UnitResult& counted = part.rest.counted;
    const bool all = counted.first_case + counted.cases == part.rest.end;
    if (row.stopped) {
      RETURN_IF_ERROR(NoteStop(r, all ? row.next : counted.unit));
    }
    if (part.goes_on && (all || !row.stopped) && row.dropped.ok()) {
      next.push_back(Task{r, std::move(part.rest)});
    }
    row.paused.pop_front();
  }
  return next;
}

// Stores the stop at the first unfinished unit from `unit` on.
absl::Status RunAgenda::NoteStop(size_t r, uint64_t unit) {
  Row& row = rows_[r];
  while (unit < row.units && row.done.Contains(unit)) unit += options_.shards;
  if (unit >= row.units || on_stop_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(UnitResult stop, on_stop_(static_cast<uint32_t>(r), unit));
  KeepLater(std::move(stop), row.stops);
  return absl::OkStatus();
}

void RunAgenda::ShowProgress(uint64_t answered) {
  if (progress_.has_value()) progress_->Update(attempt_.dot_products + answered, findings_count_);
}

RunReport::Attempt RunAgenda::Finish(DispatchOutcome dispatched, RunReportBuilder& builder) && {
  for (Finding& finding : findings_.list()) builder.Add(std::move(finding));
  builder.Damage(damage_);
  for (const Row& row : rows_) {
    for (const auto& [number, part] : row.parts) {
      if (part.machine != Machine()) machines_.insert(Name(part.machine));
    }
    for (const auto& [unit, stop] : row.stops) {
      if (!row.done.Contains(unit)) builder.AddStop(stop);
    }
  }
  builder.AddDone(attempt_.resumed_units + attempt_.units, machines_);
  for (size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    RunReportRow& reported = builder.row(r);
    reported.finished = Finished(row);
    reported.total = std::move(row.total);
    for (const auto& [number, part] : row.parts) Accumulate(part, reported.total);
    reported.planted = std::move(row.planted);
    reported.dropped = std::move(row.dropped);
    reported.mismatch_limit = row.stopped ? options_.max_mismatches : 0;
  }
  attempt_.not_asked_again = std::ranges::count(rows_, false, &Row::same_asked);
  attempt_.seconds = absl::ToDoubleSeconds(dispatched.time - begun_);
  attempt_.stopped_by = dispatched.stopped_by;
  attempt_.device = std::move(dispatched.device);
  attempt_.durable = std::move(dispatched.durable);
  if (attempt_.dot_products > 0) attempt_.hardware = std::move(dispatched.hardware);
  std::ranges::move(dispatched.warnings, std::back_inserter(attempt_.warnings));
  return std::move(attempt_);
}

RunLog::RunLog(std::unique_ptr<UnitLog> log, const RunManifest& manifest, const StoredUnits& stored,
               bool restarts)
    : log_(std::move(log)),
      manifest_(manifest),
      dropped_(manifest.instructions.size()),
      drops_(stored.drops),
      failures_(stored.failures),
      restarts_(restarts) {
  for (size_t i = 0; i < manifest.instructions.size(); ++i) {
    const uint64_t units = manifest.instructions[i].UnitsOfShard(manifest.shard, manifest.shards);
    finished_.push_back(stored.done[i].size() >= units);
  }
}

absl::Status RunLog::Append(const TaskResult& result) {
  const auto row = static_cast<uint32_t>(result.task.row);
  const bool passed = result.status.ok() && std::holds_alternative<CanaryAnswer>(result.answer);
  if (result.drop.has_value()) {
    RETURN_IF_ERROR(Drop(row, result.status));
  } else if (passed) {
    return TakeBack(row, !finished_[row]);
  }
  const bool lost = result.begun && !result.status.ok() && !absl::IsCancelled(result.status);
  if (lost && !restarts_ && !result.drop.has_value()) {
    RETURN_IF_ERROR(NoteFailure(result));
  }
  const auto* unit = std::get_if<UnitAnswer>(&result.answer);
  if (unit == nullptr) return absl::OkStatus();
  const UnitResult& counted = unit->counted;
  UnitParts& parts = parts_[counted.instruction];
  if (!counted.part) {
    parts.erase(counted.unit);
    looked_at_[counted.instruction].erase(counted.unit);
    RETURN_IF_ERROR(TakeBack(row, false));
    return log_->Append(counted);
  }
  if (counted.dot_products == 0) return absl::OkStatus();
  if (result.status.ok() && unit->differing.empty()) {  // the next part may take long
    return AppendDurably(counted);
  }
  UnitResult part = counted;
  if (!unit->differing.empty()) part.device_digest = part.model_digest = 0;
  KeepLarger(std::move(part), parts);
  return NoteLookedAt(std::get<UnitTask>(result.task.what).counted);
}

absl::Status RunLog::NoteLookedAt(const UnitResult& part) {
  if (!part.IsBegun()) return absl::OkStatus();
  KeepLarger(part, looked_at_[part.instruction]);
  const auto now = MonotonicNow();
  if (now - logged_ < absl::Seconds(1)) return absl::OkStatus();
  logged_ = now;
  return AppendDurably(part);
}

absl::Status RunLog::NoteFailure(const TaskResult& result) {
  UnitResult failed;
  failed.instruction = static_cast<uint32_t>(result.task.row);
  failed.unit = UnitAskedBy(result.task, manifest_);
  failed.first_case = failed.unit * manifest_.instructions[failed.instruction].unit_cases;
  failed.part = true;
  failed.failures = ++failures_[failed.instruction][failed.unit];
  failed.ended = LaterThan(0);
  RETURN_IF_ERROR(AppendDurably(failed));
  if (failed.failures < kMaxFailures) return absl::OkStatus();
  return Drop(failed.instruction, GivenUp(failed.unit));
}

absl::Status RunLog::Drop(uint32_t instruction, const absl::Status& why) {
  const RunManifest::Instruction& planned = manifest_.instructions[instruction];
  if (planned.UnitsOfShard(manifest_.shard, manifest_.shards) == 0) return absl::OkStatus();
  dropped_[instruction] = true;
  UnitResult& drop = drops_[instruction][manifest_.shard];
  drop.instruction = instruction;
  drop.unit = manifest_.shard;
  drop.first_case = manifest_.shard * planned.unit_cases;
  drop.part = true;
  drop.drop = why;
  drop.ended = LaterThan(drop.ended);
  return AppendDurably(drop);
}

absl::StatusOr<UnitResult> RunLog::NoteStop(uint32_t instruction, uint64_t unit,
                                            uint64_t mismatch_limit) {
  for (const auto& [number, part] : std::exchange(parts_[instruction], {})) {
    RETURN_IF_ERROR(log_->Append(part));
  }
  UnitResult stop;
  stop.instruction = instruction;
  stop.unit = unit;
  stop.first_case = unit * manifest_.instructions[instruction].unit_cases;
  stop.part = true;
  stop.mismatch_limit = mismatch_limit;
  stop.ended = LaterThan(0);
  RETURN_IF_ERROR(AppendDurably(stop));
  return stop;
}

absl::Status RunLog::TakeBack(uint32_t instruction, bool canaries_only) {
  if (dropped_[instruction]) return absl::OkStatus();
  for (auto& [unit, drop] : drops_[instruction]) {
    if (drop.drop->ok() || (canaries_only && !absl::IsAborted(*drop.drop))) continue;
    drop.drop = absl::OkStatus();
    drop.ended = LaterThan(drop.ended);
    RETURN_IF_ERROR(AppendDurably(drop));
  }
  return absl::OkStatus();
}

// Flushes at once, because the next record may take long.
absl::Status RunLog::AppendDurably(const UnitResult& record) {
  RETURN_IF_ERROR(log_->Append(record));
  return log_->Flush();
}

absl::Status RunLog::Flush() {
  for (std::map<uint32_t, UnitParts>* const all : {&looked_at_, &parts_}) {
    for (const auto& [instruction, parts] : *all) {
      for (const auto& [number, part] : parts) {
        RETURN_IF_ERROR(log_->Append(part));
      }
    }
    all->clear();
  }
  return log_->Flush();
}

}  // namespace mmadiff
