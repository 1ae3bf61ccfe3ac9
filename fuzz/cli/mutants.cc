// mmadiff mutants: shows which seeded faults the generator finds, and in how many cases.
#include "fuzz/schedule/mutants.h"

#include "absl/strings/str_format.h"
#include "device/stop.h"
#include "fuzz/cli/cli.h"
#include "fuzz/schedule/class_schedule.h"

namespace mmadiff {
namespace {

struct MutantsFlags {
  std::vector<std::string> instr = {"*"};
  std::string strategy = "mixed";
  uint64_t cases = 100000, seed = 1;
  int threads = 0;
  bool equivalent = false, list = false, stats = false;
};

uint64_t Quantile(const std::vector<uint64_t>& sorted, double q) {
  return sorted.empty() ? 0
                        : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

std::string Text(const MutantsFlags& flags, size_t ops, const MutantsOutcome& outcome, bool stats) {
  std::string text;
  for (const OperationMutants& of : outcome.ops) {
    for (const EquivalentNeighbour& e : of.equivalent) {
      if (!flags.equivalent) break;
      absl::StrAppendFormat(&text, "equivalent: %s  %s  %s\n", of.op->name, Name(e.change),
                            e.reason);
    }
    for (const Mutant& m : of.mutants) {
      if (m.cases == 0) {
        const std::string stands =
            of.stands_for > 1 ? absl::StrFormat("  (represents %d instructions)", of.stands_for)
                              : "";
        absl::StrAppendFormat(&text, "survivor: %s  %s%s\n", of.op->name, m.name(), stands);
      } else if (m.other != nullptr) {
        absl::StrAppendFormat(&text, "arch: %s %s %s: %d\n", of.op->arch(), m.other->arch(),
                              of.op->instruction->name, m.cases);
      } else if (flags.list) {
        absl::StrAppendFormat(&text, "killed: %s  %s: %d\n", of.op->name, m.name(), m.cases);
      }
    }
  }
  const std::vector<uint64_t>& killed = outcome.killed;
  absl::StrAppendFormat(
      &text, "%d of %d mutants killed (%.1f%%) in at most %d cases\n", killed.size(),
      outcome.mutants,
      100.0 * static_cast<double>(killed.size()) / static_cast<double>(outcome.mutants),
      flags.cases);
  if (!stats) return text;
  absl::StrAppendFormat(
      &text,
      "stat::instructions: %d\nstat::models: %d\nstat::mutants: %d\nstat::equivalent: %d\n"
      "stat::killed: %d\nstat::survivors: %d\nstat::arch_pairs: %d\nstat::arch_pairs_equal: %d\n"
      "stat::cases_to_kill_median: %d\nstat::cases_to_kill_p95: %d\nstat::cases_to_kill_max: %d\n",
      ops, outcome.models, outcome.mutants, outcome.equivalent, killed.size(), outcome.survivors(),
      outcome.pairs, outcome.equal_pairs, Quantile(killed, 0.5), Quantile(killed, 0.95),
      Quantile(killed, 1));
  return text;
}

// A mutant, or a neighbor that no input can distinguish from the model.
struct MutantRow {
  const Operation& op;
  std::optional<int> instructions;  // for a mutant
  std::string change;
  Json parameters;
  std::optional<uint64_t> cases;          // for a mutant
  std::optional<std::string> equivalent;  // for the others
};

Fields<MutantRow> FieldsOf(const MutantRow*) {
  using M = MutantRow;
  return {
      {"instruction", [](const M& m) { return m.op.name; }, InstructionName()},
      {"instructions", &M::instructions,
       Absent({.what = "number of instructions that share the mutant"})},
      {"change", &M::change},
      {"parameters", &M::parameters, ParameterValues()},
      {"cases", &M::cases,
       Absent({.what = "number of cases until the mutant was found; 0 if it was not"})},
      {"equivalent", &M::equivalent,
       Absent(Prose("reason why no input can distinguish the mutant"))},
  };
}

struct MutantsResult {
  std::vector<MutantRow> mutants;
};

Fields<MutantsResult> FieldsOf(const MutantsResult*) {
  return {{"mutants", &MutantsResult::mutants}};
}

MutantsResult ResultOf(const MutantsOutcome& outcome) {
  MutantsResult result;
  for (const OperationMutants& of : outcome.ops) {
    for (const EquivalentNeighbour& e : of.equivalent) {
      result.mutants.push_back(
          {*of.op, {}, Name(e.change), ParametersJson({&e.change, 1}), {}, e.reason});
    }
    for (const Mutant& m : of.mutants) {
      Json parameters =
          m.other == nullptr ? ParametersJson({&m.change, 1}) : Json({{"arch", m.other->arch()}});
      result.mutants.push_back(
          {*of.op, of.stands_for, m.name(), std::move(parameters), m.cases, {}});
    }
  }
  return result;
}

void RunMutants(const MutantsFlags& flags, Call& call) {
  const auto ops = ChooseOperations(flags.instr, Models::kRequired, nullptr, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  if (flags.cases == 0) return call.Say(Verdict::kUsage, "--cases must be at least 1");
  HandleStopSignals();
  const auto outcome = KillMutants(
      {*ops, StrategyOfRun(flags.strategy), flags.cases, flags.seed, flags.threads}, call.console);
  if (!outcome.ok()) return call.Say(outcome.status());
  std::vector<const Operation*> tried;
  for (const OperationMutants& of : outcome->ops) tried.push_back(of.op);
  CompareByModel(*ops, tried, call.ledger());
  const bool stats = flags.stats || !call.console.terminal();
  call.PrintWithLeftOut(ResultOf(*outcome),
                        [&] { return Text(flags, ops->size(), *outcome, stats); });
  if (outcome->survivors() > 0) call.Say(Verdict::kDiffers);
}

}  // namespace

Action AddMutants(CLI::App& command) {
  const auto flags = std::make_shared<MutantsFlags>();
  AddInstr(command, flags->instr);
  AddOption(command, "--cases", flags->cases, "number of cases in which each mutant must be found")
      .Count();
  AddFlag(command, "--equivalent", flags->equivalent,
          "also list the neighbors that no input can distinguish, with the reason");
  AddFlag(command, "--list", flags->list, "also list every mutant with its number of cases");
  AddFlag(command, "--stats", flags->stats, "print stat:: lines even on a terminal");
  AddThreads(command, flags->threads);
  AddSeed(command, flags->seed);
  AddStrategy(command, flags->strategy, "", true);
  return {RunMutants, flags, {SchemaOf<WithLeftOut<MutantsResult>>}};
}

}  // namespace mmadiff
