// mmadiff mutants: seeded faults. Which one-parameter neighbours of a row does the generator tell
// from it, and in how many cases?
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "fuzz/case_name.h"
#include "fuzz/cli/cli.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct MutantsFlags {
  std::vector<std::string> instr = {"*"};
  std::string strategy = "mixed";
  uint64_t cases = 100000, seed = 1;
  bool equivalent = false;
};

struct Mutant {
  const Row* row;
  std::string change;
  uint64_t cases = 0;  // until the first difference; 0 if none was found
};

// Cases until the first result that the mutant gives otherwise, 0 if there is none.
std::vector<Mutant> MutantsOf(const Row& row, const MutantsFlags& flags) {
  std::vector<Mutant> mutants;
  std::vector<Model> alive;
  std::vector<size_t> index;  // of the living ones in `mutants`
  for (const Neighbour& n : Neighbours(row.model)) {
    index.push_back(mutants.size());
    mutants.push_back({&row, n.name});
    alive.push_back(WithAlgorithm(row, n.algorithm));
  }
  const CaseStream stream = {&row, FindStrategy(flags.strategy), flags.seed};
  Batch batch;
  for (uint64_t first = 0; first < flags.cases && !alive.empty(); first += batch.count) {
    // Small portions while mutants die fast, larger ones for the survivors.
    const uint64_t portion = std::min<uint64_t>(std::max<uint64_t>(first, 8), 256);
    Generate(stream, first, std::min(portion, flags.cases - first), batch);
    std::vector<uint64_t> model(batch.dot_products()), d(batch.dot_products());
    Simulate(row.model, batch, model);
    for (size_t i = alive.size(); i-- > 0;) {
      Simulate(alive[i], batch, d);
      const std::vector<int64_t> differences = Differences(row, model, d);
      if (differences.empty()) continue;
      mutants[index[i]].cases = first + differences.front() / batch.shape.d_words() + 1;
      alive.erase(alive.begin() + i);
      index.erase(index.begin() + i);
    }
  }
  return mutants;
}

uint64_t Quantile(const std::vector<uint64_t>& sorted, double q) {
  return sorted.empty() ? 0
                        : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

int RunMutants(const MutantsFlags& flags, const Globals& globals) {
  const absl::StatusOr<std::vector<const Row*>> rows = RowsMatching(flags.instr);
  if (!rows.ok()) return Fail(rows.status());
  Console console = globals.MakeConsole();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<uint64_t> killed;
  uint64_t total = 0, equivalent = 0;
  std::string survivors;
  for (const Row* row : *rows) {
    console.Status(absl::StrFormat("#%d mutants, %s", total, row->name), false);
    for (const EquivalentNeighbour& e : EquivalentNeighbours(row->model)) {
      ++equivalent;
      json.push_back({{"instruction", row->name}, {"change", e.name}, {"equivalent", e.reason}});
      if (flags.equivalent) {
        console.Print(absl::StrFormat("equivalent: %s  %s  %s\n", row->name, e.name, e.reason));
      }
    }
    for (const Mutant& m : MutantsOf(*row, flags)) {
      ++total;
      json.push_back({{"instruction", row->name}, {"change", m.change}, {"cases", m.cases}});
      if (m.cases != 0) {
        killed.push_back(m.cases);
      } else {
        absl::StrAppendFormat(&survivors, "survivor: %s  %s\n", row->name, m.change);
      }
    }
  }
  if (total == 0) return Fail(absl::InternalError("there are no mutants of these instructions"));
  std::sort(killed.begin(), killed.end());
  if (globals.json) {
    console.Print(json.dump(1) + "\n");
    return kClean;
  }
  console.Print(survivors);
  console.Print(absl::StrFormat(
      "%d of %d mutants killed (%.1f%%) in at most %d cases\n"
      "stat::mutants: %d\nstat::equivalent: %d\nstat::killed: %d\nstat::cases_to_kill_median: %d\n"
      "stat::cases_to_kill_p95: %d\nstat::cases_to_kill_max: %d\n",
      killed.size(), total, 100.0 * static_cast<double>(killed.size()) / static_cast<double>(total),
      flags.cases, total, equivalent, killed.size(), Quantile(killed, 0.5), Quantile(killed, 0.95),
      Quantile(killed, 1)));
  return survivors.empty() ? kClean : kMismatch;
}

}  // namespace

std::function<int()> AddMutants(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<MutantsFlags>();
  command.add_option("--instr", flags->instr, "globs, comma separated [*]")->delimiter(',');
  command.add_option("--cases", flags->cases, "cases in which a mutant must die [1e5]")
      ->transform(Count());
  command.add_flag("--equivalent", flags->equivalent,
                   "also list the neighbours that no input can tell, with the reason");
  command.add_option("--seed", flags->seed, "of the generator [1]")->check(Seed());
  std::vector<std::string> names;
  for (const Strategy& s : Strategies()) names.push_back(s.name);
  command.add_option("--strategy", flags->strategy, "[mixed]")->check(CLI::IsMember(names));
  return [flags, &globals] { return RunMutants(*flags, globals); };
}

}  // namespace mmadiff
