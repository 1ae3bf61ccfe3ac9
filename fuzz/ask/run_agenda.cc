#include "fuzz/ask/run_agenda.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace mmadiff {

RunAgenda::RunAgenda(const CampaignOptions& options, const RunManifest& manifest,
                     StoredUnits stored, Console& console)
    : options_(options),
      rows_(options.ops.size()),
      findings_(options.workdir + "/findings", options.max_mismatches, options.print_findings,
                console),
      console_(console) {
  outcome_.manifest = manifest;
  outcome_.workdir = options.workdir;
  outcome_.threads = options.threads;
  outcome_.resumed_units = stored.units;
  outcome_.warnings = TextsOf(stored.damage);
  for (size_t r = 0; r < rows_.size(); ++r) {
    const RunManifest::Instruction& planned = manifest.instructions[r];
    Row& row = rows_[r];
    row.outcome.op = options.ops[r];
    row.outcome.total = std::move(stored.totals[r]);
    row.outcome.emulated = planned.emulated;
    row.units = planned.Units();
    row.unit_cases = planned.unit_cases;
    row.next = options.shard;
    row.done = std::move(stored.done[r]);
    row.parts = std::move(stored.parts[r]);
    if (options.forever) continue;
    row.outcome.planned_cases = planned.CasesOfShard(options.shard, options.shards);
    outcome_.units += planned.UnitsOfShard(options.shard, options.shards);
  }
  LoadFindings(manifest);
}

void RunAgenda::LoadFindings(const RunManifest& manifest) {
  const auto own = [&](const RegressionCase& c) {
    const absl::StatusOr<CaseName> name = ParseCaseName(c.source);
    const size_t row = std::ranges::find(options_.ops, c.op) - options_.ops.begin();
    return name.ok() && name->stream.op == c.op && row < rows_.size() &&
           c.answers.front().device == manifest.device &&
           name->stream.name() == StreamOf(row, name->index / rows_[row].unit_cases).name();
  };
  for (std::string& wrong : findings_.LoadEarlier(own)) {
    outcome_.warnings.push_back(std::move(wrong));
    outcome_.damaged_findings = true;
  }
}

CaseStream RunAgenda::StreamOf(size_t row, uint64_t unit) const {
  CaseStream stream = {options_.ops[row], options_.strategy, options_.seed};
  if (!options_.schedules.empty()) stream.strategy = &options_.schedules[row].of(unit);
  return stream;
}

uint64_t RunAgenda::EndOf(const Row& row, uint64_t unit) const {
  return std::min((unit + 1) * row.unit_cases, PlannedCases(options_, *row.outcome.op));
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
      remaining += (EndOf(row, u) - u * row.unit_cases) * row.outcome.op->shape().d_words();
    }
  }
  return remaining;
}

// The rows take turns, so that a run that is stopped early has seen them all.
std::optional<Task> RunAgenda::Next(absl::Duration elapsed) {
  if (plants_begun_ < rows_.size()) {
    const size_t row = plants_begun_++;
    return Task{row, PlantTask{{options_.ops[row], options_.strategy, options_.seed}}};
  }
  if (plants_done_ < rows_.size()) return std::nullopt;
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

std::optional<UnitTask> RunAgenda::NextUnit(size_t r) {
  Row& row = rows_[r];
  if (row.outcome.stopped || !row.outcome.dropped.ok()) return std::nullopt;
  if (row.paused.size() > 1) return std::nullopt;  // enough wait: bounds the memory
  while (row.next < row.units && row.done.Contains(row.next)) row.next += options_.shards;
  if (row.next >= row.units) return std::nullopt;
  UnitTask task = {.stream = StreamOf(r, row.next),
                   .end = EndOf(row, row.next),
                   .most_differing = findings_.Left(*row.outcome.op)};
  task.counted.instruction = static_cast<uint32_t>(r);
  task.counted.unit = row.next;
  task.counted.first_case = row.next * row.unit_cases;
  row.next += options_.shards;
  return task;
}

absl::StatusOr<std::vector<Task>> RunAgenda::Take(TaskResult result) {
  Row& row = rows_[result.task.row];
  if (result.drop.has_value()) row.outcome.dropped.Update(result.status);
  if (const auto* planted = std::get_if<PlantAnswer>(&result.answer)) {
    ++plants_done_;
    row.outcome.planted = planted->found;
    return std::vector<Task>();
  }
  if (auto* unit = std::get_if<UnitAnswer>(&result.answer)) {
    Count(row, std::get<UnitTask>(result.task.what), std::move(*unit), result.status);
  } else {
    row.investigating = false;
    if (!result.status.ok()) {  // the device answers no more
      row.paused.front().goes_on = false;
      row.paused.front().differing.clear();
    }
    if (absl::Status s = findings_.File(result); !s.ok()) return s;
  }
  return LookAtMismatches(result.task.row);
}

void RunAgenda::Count(Row& row, const UnitTask& task, UnitAnswer answer,
                      const absl::Status& status) {
  UnitResult& counted = answer.counted;
  outcome_.attempt_dot_products += counted.dot_products - task.counted.dot_products;
  if (counted.part) {
    KeepLarger(counted, row.parts);
    UnitTask rest = {task.stream, std::move(counted), task.end};
    row.paused.push_back({std::move(rest), std::move(answer.differing), status.ok()});
  } else if (row.done.Add(counted.unit)) {
    ++outcome_.attempt_units;
    row.parts.erase(counted.unit);
    Accumulate(counted, row.outcome.total);
  }
}

std::vector<Task> RunAgenda::LookAtMismatches(size_t r) {
  Row& row = rows_[r];
  std::vector<Task> next;
  while (!row.investigating && !row.paused.empty()) {
    Paused& part = row.paused.front();
    if (part.next < part.differing.size() && !row.outcome.stopped) {
      const auto& [name, mismatch] = part.differing[part.next++];
      ++findings_count_;
      if (std::optional<InvestigateTask> task = findings_.Consider(name, mismatch)) {
        row.investigating = true;
        next.insert(next.begin(), Task{r, *std::move(task)});
      }
      part.rest.most_differing = findings_.Left(*row.outcome.op);
      row.outcome.stopped = part.rest.most_differing == 0;
      continue;
    }
    if (part.goes_on && !row.outcome.stopped && row.outcome.dropped.ok()) {
      next.push_back(Task{r, std::move(part.rest)});
    }
    row.paused.pop_front();
  }
  return next;
}

void RunAgenda::ShowProgress() {
  if (progress_.has_value()) progress_->Update(outcome_.attempt_dot_products, findings_count_);
}

CampaignOutcome RunAgenda::Finish(DispatchOutcome dispatched) && {
  outcome_.findings = findings_.list();
  for (Row& row : rows_) {
    OperationOutcome& op = row.outcome;
    op.finished = Finished(row);
    for (const auto& [number, part] : row.parts) Accumulate(part, op.total);
    outcome_.ops.push_back(std::move(op));
  }
  outcome_.seconds = absl::ToDoubleSeconds(dispatched.time - begun_);
  outcome_.stopped_by = dispatched.stopped_by;
  outcome_.device = std::move(dispatched.device);
  outcome_.durable = std::move(dispatched.durable);
  if (outcome_.attempt_dot_products > 0) outcome_.hardware = std::move(dispatched.hardware);
  std::ranges::move(dispatched.warnings, std::back_inserter(outcome_.warnings));
  return std::move(outcome_);
}

absl::Status RunLog::Append(const TaskResult& result) {
  const auto* unit = std::get_if<UnitAnswer>(&result.answer);
  if (unit == nullptr) return absl::OkStatus();
  const UnitResult& counted = unit->counted;
  UnitParts& parts = parts_[counted.instruction];
  if (!counted.part) {
    parts.erase(counted.unit);
    return log_->Append(counted);
  }
  if (counted.dot_products > 0) KeepLarger(counted, parts);
  return absl::OkStatus();
}

absl::Status RunLog::Flush() {
  for (const auto& [instruction, parts] : parts_) {
    for (const auto& [number, part] : parts) {
      if (absl::Status s = log_->Append(part); !s.ok()) return s;
    }
  }
  parts_.clear();
  return log_->Flush();
}

}  // namespace mmadiff
