#include "fuzz/schedule/mutants.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "corpus/cases/case_name.h"
#include "device/stop.h"
#include "device/threads.h"
#include "fuzz/schedule/class_schedule.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

bool Prefer(const Operation& x, const Operation& y) {
  const bool bits_x = x.numerics->nan_verdict == NanVerdict::kBits;
  const bool bits_y = y.numerics->nan_verdict == NanVerdict::kBits;
  return bits_x != bits_y ? bits_x : x.shape().d_words() < y.shape().d_words();
}

// Pairs of operations of one instruction: the later operation is a mutant of the earlier one. Equal
// pairs of models are tried once. `equal` counts pairs of operations with the same model.
std::vector<OperationMutants> NeighbouringArchitectures(const std::vector<const Operation*>& ops,
                                                        size_t* equal) {
  std::vector<OperationMutants> all;
  std::vector<std::pair<const Model*, const Model*>> tried;
  const std::set<const Operation*> wanted(ops.begin(), ops.end());
  std::map<std::string, std::vector<const Operation*>> by_instruction;
  for (const Operation& op : Operations()) by_instruction[op.instruction->name].push_back(&op);
  for (const auto& [name, same] : by_instruction) {
    for (size_t i = 0; i < same.size(); ++i) {
      OperationMutants work = {same[i], 1, {}, {}};
      for (size_t j = i + 1; j < same.size(); ++j) {
        if (!wanted.count(same[i]) && !wanted.count(same[j])) continue;
        const Model &x = same[i]->model, &y = same[j]->model;
        const bool known = std::ranges::any_of(tried, [&](const auto& pair) {
          return (SameModel(x, *pair.first) && SameModel(y, *pair.second)) ||
                 (SameModel(y, *pair.first) && SameModel(x, *pair.second));
        });
        if (SameModel(x, y)) {
          ++*equal;
        } else if (!known) {
          tried.emplace_back(&x, &y);
          work.mutants.push_back({{}, y, same[j]});
        }
      }
      if (!work.mutants.empty()) all.push_back(std::move(work));
    }
  }
  return all;
}

// Sets Mutant::cases: the executions up to the first result in which the mutant differs.
void Try(const MutantsOptions& options, OperationMutants& work) {
  std::vector<Mutant*> alive;
  for (Mutant& m : work.mutants) alive.push_back(&m);
  CaseStream stream = {work.op, options.strategy, options.seed};
  const bool scheduled = options.strategy == &Scheduled();
  const ClassSchedule schedule =
      scheduled ? ClassSchedule::Plan(*work.op, options.seed) : ClassSchedule();
  Batch batch;
  Comparison comparison;
  for (uint64_t first = 0; first < options.cases && !alive.empty() && StopSignal() == 0;
       first += batch.count) {
    // Small portions while mutants are detected fast, larger ones for the survivors. With a
    // schedule, one turn each.
    const uint64_t portion = scheduled ? 1 : std::clamp<uint64_t>(first, 8, 256);
    if (scheduled) stream.strategy = &schedule.of(first);
    Generate(stream, first, std::min(portion, options.cases - first), batch);
    std::vector<uint64_t> right(batch.dot_products());
    Simulate(work.op->model, batch, right);
    std::erase_if(alive, [&](Mutant* mutant) {
      Compare(*work.op, mutant->model, batch, right, comparison);
      if (comparison.differing.empty()) return false;
      mutant->cases = first + comparison.differing.front() / batch.shape.d_words() + 1;
      return true;
    });
  }
}

void AddTotals(MutantsOutcome& outcome) {
  for (const OperationMutants& of : outcome.ops) {
    outcome.equivalent += of.equivalent.size();
    outcome.mutants += of.mutants.size();
    for (const Mutant& m : of.mutants) {
      outcome.pairs += m.other != nullptr;
      if (m.cases != 0) outcome.killed.push_back(m.cases);
    }
  }
  std::ranges::sort(outcome.killed);
}

}  // namespace

std::string Mutant::name() const {
  return other == nullptr ? Name(change) : "arch=" + std::string(other->arch());
}

OperationMutants NeighboursOf(const OperationsOfModel& by_model) {
  const Operation& op = *by_model.op;
  OperationMutants work = {&op, by_model.operations, {}, EquivalentNeighbours(op.model)};
  for (const Neighbour& n : AllNeighbours(op.model)) {
    Algorithm same_nan = n.algorithm;
    same_nan.nan_rule = op.model.algorithm.nan_rule;
    if (op.numerics->nan_verdict == NanVerdict::kAnyNan && same_nan == op.model.algorithm) {
      work.equivalent.push_back(
          {*n.single(), "the instruction does not specify the bits of a NaN"});
    } else {
      work.mutants.push_back({.change = *n.single(), .model = WithAlgorithm(op, n.algorithm)});
    }
  }
  return work;
}

std::vector<OperationsOfModel> OperationsByModel(const std::vector<const Operation*>& ops) {
  std::vector<OperationsOfModel> models;
  for (const Operation* op : ops) {
    const auto known = std::ranges::find_if(
        models, [op](const OperationsOfModel& m) { return SameModel(m.op->model, op->model); });
    if (known == models.end()) {
      models.push_back({op, 1});
      continue;
    }
    ++known->operations;
    if (Prefer(*op, *known->op)) known->op = op;
  }
  return models;
}

void OverAll(size_t count, int threads, Console& console,
             absl::FunctionRef<const std::string&(size_t)> one) {
  std::atomic<size_t> next = 0;
  InThreads(ThreadsOf(threads), [&](int thread) {
    for (size_t i = next++; i < count; i = next++) {
      const std::string& name = one(i);
      if (thread > 0) continue;
      console.Status(absl::StrFormat("progress: model %d of %d, %s", i + 1, count, name), false);
    }
  });
}

absl::StatusOr<MutantsOutcome> KillMutants(const MutantsOptions& options, Console& console) {
  MutantsOutcome outcome;
  for (const OperationsOfModel& m : OperationsByModel(options.ops))
    outcome.ops.push_back(NeighboursOf(m));
  outcome.models = outcome.ops.size();
  for (OperationMutants& r : NeighbouringArchitectures(options.ops, &outcome.equal_pairs)) {
    outcome.ops.push_back(std::move(r));
  }
  const bool none = std::ranges::all_of(
      outcome.ops, [](const OperationMutants& of) { return of.mutants.empty(); });
  if (none) return absl::OutOfRangeError("these instructions have no mutants");
  OverAll(outcome.ops.size(), options.threads, console, [&](size_t i) -> const std::string& {
    Try(options, outcome.ops[i]);
    return outcome.ops[i].op->name;
  });
  if (StopSignal() != 0) return absl::CancelledError("stopped by a signal; run again");
  AddTotals(outcome);
  return outcome;
}

}  // namespace mmadiff
