// mmadiff mutants: seeded faults. Which one-parameter neighbours of a model, and which models of
// other architectures, does the generator tell from it, and in how many cases?
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "absl/strings/str_format.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/json_text.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct MutantsFlags {
  std::vector<std::string> instr = {"*"};
  std::string strategy = "mixed";
  uint64_t cases = 100000, seed = 1;
  int threads = 0;
  bool equivalent = false, list = false;
};

struct Mutant {
  std::string change;  // NAME=VALUE, or arch=NAME
  Model model;
  uint64_t cases = 0;  // until the first difference; 0 if none was found
};

// The mutants of one row, which stands for every row of its model.
struct Work {
  const Row* row;
  size_t stands_for = 1;
  std::vector<Mutant> mutants;
  std::vector<EquivalentNeighbour> equivalent;
};

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

Work NeighboursOf(const ByModel& by_model) {
  const Row& row = *by_model.row;
  Work work = {&row, by_model.rows, {}, EquivalentNeighbours(row.model)};
  for (const Neighbour& n : Neighbours(row.model)) {
    Algorithm same_nan = n.algorithm;
    same_nan.nan_rule = row.model.algorithm.nan_rule;
    if (row.numerics->nan_verdict == NanVerdict::kAnyNan && same_nan == row.model.algorithm) {
      work.equivalent.push_back({n.name, "the row promises no bits of a NaN"});
    } else {
      work.mutants.push_back({n.name, WithAlgorithm(row, n.algorithm)});
    }
  }
  return work;
}

// Pairs of rows of one instruction: the later row is a mutant of the earlier one. Equal pairs of
// models are tried once; `equal` counts pairs of rows of one model.
std::vector<Work> NeighbouringArchitectures(const std::vector<const Row*>& rows, size_t* equal) {
  std::vector<Work> all;
  std::vector<std::pair<const Model*, const Model*>> tried;
  const std::set<const Row*> wanted(rows.begin(), rows.end());
  std::map<std::string, std::vector<const Row*>> by_instruction;
  for (const Row& row : Rows()) by_instruction[row.instruction->name].push_back(&row);
  for (const auto& [name, same] : by_instruction) {
    for (size_t i = 0; i < same.size(); ++i) {
      Work work = {same[i], 1, {}, {}};
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
          work.mutants.push_back({"arch=" + std::string(same[j]->arch()), y});
        }
      }
      if (!work.mutants.empty()) all.push_back(std::move(work));
    }
  }
  return all;
}

// Fills in the cases until the first result that each mutant gives otherwise.
void Try(const MutantsFlags& flags, Work& work) {
  std::vector<Mutant*> alive;
  for (Mutant& m : work.mutants) alive.push_back(&m);
  const CaseStream stream = {work.row, FindStrategy(flags.strategy), flags.seed};
  Batch batch;
  Comparison comparison;
  for (uint64_t first = 0; first < flags.cases && !alive.empty(); first += batch.count) {
    // Small portions while mutants die fast, larger ones for the survivors.
    const uint64_t portion = std::min<uint64_t>(std::max<uint64_t>(first, 8), 256);
    Generate(stream, first, std::min(portion, flags.cases - first), batch);
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

void TryAll(const MutantsFlags& flags, Console& console, std::vector<Work>& works) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned threads = flags.threads > 0 ? static_cast<unsigned>(flags.threads) : cores;
  std::atomic<size_t> next = 0;
  const auto run = [&](bool shows) {
    for (size_t i = next++; i < works.size(); i = next++) {
      if (shows) {
        console.Status(absl::StrFormat("#%d of %d models, %s", i, works.size(), works[i].row->name),
                       false);
      }
      Try(flags, works[i]);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, false);
  run(true);
  for (std::thread& t : others) t.join();
}

uint64_t Quantile(const std::vector<uint64_t>& sorted, double q) {
  return sorted.empty() ? 0
                        : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

struct Totals {
  size_t rows, models, equal_pairs;
};

int PrintText(const MutantsFlags& flags, Console& console, const std::vector<Work>& works,
              const Totals& totals) {
  std::vector<uint64_t> killed;
  size_t mutants = 0, equivalent = 0, pairs = 0;
  for (const Work& work : works) {
    const std::string rows =
        work.stands_for > 1 ? absl::StrFormat("  (stands for %d rows)", work.stands_for) : "";
    equivalent += work.equivalent.size();
    for (const EquivalentNeighbour& e : work.equivalent) {
      if (!flags.equivalent) break;
      console.Print(absl::StrFormat("equivalent: %s  %s  %s\n", work.row->name, e.name, e.reason));
    }
    for (const Mutant& m : work.mutants) {
      const bool arch = m.change.rfind("arch=", 0) == 0;
      pairs += arch;
      ++mutants;
      if (m.cases != 0) killed.push_back(m.cases);
      if (m.cases == 0) {
        console.Print(absl::StrFormat("survivor: %s  %s%s\n", work.row->name, m.change, rows));
      } else if (arch) {
        console.Print(absl::StrFormat("arch: %s %s %s: %d\n", work.row->arch(), m.change.substr(5),
                                      work.row->instruction->name, m.cases));
      } else if (flags.list) {
        console.Print(absl::StrFormat("killed: %s  %s: %d\n", work.row->name, m.change, m.cases));
      }
    }
  }
  std::sort(killed.begin(), killed.end());
  console.Print(absl::StrFormat(
      "%d of %d mutants killed (%.1f%%) in at most %d cases\n"
      "stat::rows: %d\nstat::models: %d\nstat::mutants: %d\nstat::equivalent: %d\n"
      "stat::killed: %d\nstat::survivors: %d\nstat::arch_pairs: %d\nstat::arch_pairs_equal: %d\n"
      "stat::cases_to_kill_median: %d\nstat::cases_to_kill_p95: %d\nstat::cases_to_kill_max: %d\n",
      killed.size(), mutants,
      100.0 * static_cast<double>(killed.size()) / static_cast<double>(mutants), flags.cases,
      totals.rows, totals.models, mutants, equivalent, killed.size(), mutants - killed.size(),
      pairs, totals.equal_pairs, Quantile(killed, 0.5), Quantile(killed, 0.95),
      Quantile(killed, 1)));
  return killed.size() == mutants ? kClean : kMismatch;
}

int PrintJson(Console& console, const std::vector<Work>& works) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool survivors = false;
  for (const Work& work : works) {
    const std::string& name = work.row->name;
    for (const EquivalentNeighbour& e : work.equivalent) {
      json.push_back({{"instruction", name}, {"change", e.name}, {"equivalent", e.reason}});
    }
    for (const Mutant& m : work.mutants) {
      survivors |= m.cases == 0;
      json.push_back({{"instruction", name},
                      {"rows", work.stands_for},
                      {"change", m.change},
                      {"cases", m.cases}});
    }
  }
  console.Print(JsonText(json, 1) + "\n");
  return survivors ? kMismatch : kClean;
}

int RunMutants(const MutantsFlags& flags, const Globals& globals) {
  const absl::StatusOr<std::vector<const Row*>> rows = RowsMatching(flags.instr);
  if (!rows.ok()) return Fail(rows.status());
  if (flags.cases == 0) return Fail(absl::InvalidArgumentError("--cases must be at least 1"));
  Console console = globals.MakeConsole();
  std::vector<Work> works;
  for (const ByModel& m : ModelsOf(*rows)) works.push_back(NeighboursOf(m));
  Totals totals = {rows->size(), works.size(), 0};
  for (Work& w : NeighbouringArchitectures(*rows, &totals.equal_pairs)) {
    works.push_back(std::move(w));
  }
  const bool none = std::all_of(works.begin(), works.end(),
                                [](const Work& work) { return work.mutants.empty(); });
  if (none) return Fail(absl::InternalError("there are no mutants of these instructions"));
  TryAll(flags, console, works);
  return globals.json ? PrintJson(console, works) : PrintText(flags, console, works, totals);
}

}  // namespace

std::function<int()> AddMutants(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<MutantsFlags>();
  command.add_option("--instr", flags->instr, "globs, comma separated [*]")->delimiter(',');
  command.add_option("--cases", flags->cases, "cases in which a mutant must die [1e5]")
      ->transform(Count());
  command.add_flag("--equivalent", flags->equivalent,
                   "also list the neighbours that no input can tell, with the reason");
  command.add_flag("--list", flags->list, "also list every mutant with its cases");
  command.add_option("--threads", flags->threads, "[all cores]")->check(CLI::Range(1, 1024));
  command.add_option("--seed", flags->seed, "of the generator [1]")->check(Seed());
  std::vector<std::string> names;
  for (const Strategy& s : Strategies()) names.push_back(s.name);
  command.add_option("--strategy", flags->strategy, "[mixed]")->check(CLI::IsMember(names));
  return [flags, &globals] { return RunMutants(*flags, globals); };
}

}  // namespace mmadiff
