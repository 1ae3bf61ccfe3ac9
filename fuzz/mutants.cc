#include "fuzz/mutants.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "fuzz/cases/case_name.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct ByModel {
  const Row* row;  // the one with the fewest dot products
  size_t rows = 0;
};

bool Prefer(const Row& x, const Row& y) {
  const bool bits_x = x.numerics->nan_verdict == NanVerdict::kBits;
  const bool bits_y = y.numerics->nan_verdict == NanVerdict::kBits;
  return bits_x != bits_y ? bits_x : x.shape().d_words() < y.shape().d_words();
}

std::vector<ByModel> ModelsOf(const std::vector<const Row*>& rows) {
  std::vector<ByModel> models;
  for (const Row* row : rows) {
    const auto known = std::find_if(models.begin(), models.end(), [row](const ByModel& m) {
      return SameModel(m.row->model, row->model);
    });
    if (known == models.end()) {
      models.push_back({row, 1});
      continue;
    }
    ++known->rows;
    if (Prefer(*row, *known->row)) known->row = row;
  }
  return models;
}

RowMutants NeighboursOf(const ByModel& by_model) {
  const Row& row = *by_model.row;
  RowMutants work = {&row, by_model.rows, {}, EquivalentNeighbours(row.model)};
  for (const Neighbour& n : Neighbours(row.model)) {
    Algorithm same_nan = n.algorithm;
    same_nan.nan_rule = row.model.algorithm.nan_rule;
    if (row.numerics->nan_verdict == NanVerdict::kAnyNan && same_nan == row.model.algorithm) {
      work.equivalent.push_back({n.name, "the row promises no bits of a NaN"});
    } else {
      work.mutants.push_back({.change = n.name, .model = WithAlgorithm(row, n.algorithm)});
    }
  }
  return work;
}

// Pairs of rows of one instruction: the later row is a mutant of the earlier one. Equal pairs of
// models are tried once; `equal` counts pairs of rows of one model.
std::vector<RowMutants> NeighbouringArchitectures(const std::vector<const Row*>& rows,
                                                  size_t* equal) {
  std::vector<RowMutants> all;
  std::vector<std::pair<const Model*, const Model*>> tried;
  const std::set<const Row*> wanted(rows.begin(), rows.end());
  std::map<std::string, std::vector<const Row*>> by_instruction;
  for (const Row& row : Rows()) by_instruction[row.instruction->name].push_back(&row);
  for (const auto& [name, same] : by_instruction) {
    for (size_t i = 0; i < same.size(); ++i) {
      RowMutants work = {same[i], 1, {}, {}};
      for (size_t j = i + 1; j < same.size(); ++j) {
        if (!wanted.count(same[i]) && !wanted.count(same[j])) continue;
        const Model &x = same[i]->model, &y = same[j]->model;
        const bool known = std::any_of(tried.begin(), tried.end(), [&](const auto& pair) {
          return (SameModel(x, *pair.first) && SameModel(y, *pair.second)) ||
                 (SameModel(y, *pair.first) && SameModel(x, *pair.second));
        });
        if (SameModel(x, y)) {
          ++*equal;
        } else if (!known) {
          tried.emplace_back(&x, &y);
          work.mutants.push_back({"arch=" + std::string(same[j]->arch()), y, same[j]});
        }
      }
      if (!work.mutants.empty()) all.push_back(std::move(work));
    }
  }
  return all;
}

// Fills in the cases until the first result that each mutant gives otherwise.
void Try(const MutantsOptions& options, RowMutants& work) {
  std::vector<Mutant*> alive;
  for (Mutant& m : work.mutants) alive.push_back(&m);
  const CaseStream stream = {work.row, options.strategy, options.seed};
  Batch batch;
  Comparison comparison;
  for (uint64_t first = 0; first < options.cases && !alive.empty(); first += batch.count) {
    // Small portions while mutants die fast, larger ones for the survivors.
    const uint64_t portion = std::min<uint64_t>(std::max<uint64_t>(first, 8), 256);
    Generate(stream, first, std::min(portion, options.cases - first), batch);
    std::vector<uint64_t> right(batch.dot_products());
    Simulate(work.row->model, batch, right);
    std::erase_if(alive, [&](Mutant* mutant) {
      Compare(*work.row, mutant->model, batch, right, comparison);
      if (comparison.differing.empty()) return false;
      mutant->cases = first + comparison.differing.front() / batch.shape.d_words() + 1;
      return true;
    });
  }
}

void TryAll(const MutantsOptions& options, Console& console, std::vector<RowMutants>& works) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned threads = options.threads > 0 ? static_cast<unsigned>(options.threads) : cores;
  std::atomic<size_t> next = 0;
  const auto run = [&](bool shows) {
    for (size_t i = next++; i < works.size(); i = next++) {
      if (shows) {
        console.Status(absl::StrFormat("#%d of %d models, %s", i, works.size(), works[i].row->name),
                       false);
      }
      Try(options, works[i]);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, false);
  run(true);
  for (std::thread& t : others) t.join();
}

void AddTotals(MutantsOutcome& outcome) {
  for (const RowMutants& of : outcome.rows) {
    outcome.equivalent += of.equivalent.size();
    outcome.mutants += of.mutants.size();
    for (const Mutant& m : of.mutants) {
      outcome.pairs += m.other != nullptr;
      if (m.cases != 0) outcome.killed.push_back(m.cases);
    }
  }
  std::sort(outcome.killed.begin(), outcome.killed.end());
}

}  // namespace

absl::StatusOr<MutantsOutcome> KillMutants(const MutantsOptions& options, Console& console) {
  MutantsOutcome outcome;
  for (const ByModel& m : ModelsOf(options.rows)) outcome.rows.push_back(NeighboursOf(m));
  outcome.models = outcome.rows.size();
  for (RowMutants& r : NeighbouringArchitectures(options.rows, &outcome.equal_pairs)) {
    outcome.rows.push_back(std::move(r));
  }
  const bool none = std::all_of(outcome.rows.begin(), outcome.rows.end(),
                                [](const RowMutants& of) { return of.mutants.empty(); });
  if (none) return absl::InternalError("there are no mutants of these instructions");
  TryAll(options, console, outcome.rows);
  AddTotals(outcome);
  return outcome;
}

}  // namespace mmadiff
