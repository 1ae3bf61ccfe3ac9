// mmadiff coverage: shows which bins of the arithmetic the generator fills, and in how many cases.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "device/stop.h"
#include "fuzz/cli/cli.h"
#include "fuzz/schedule/class_schedule.h"
#include "fuzz/schedule/fill.h"

namespace mmadiff {
namespace {

struct CountedBin {
  const Bin& bin;
  uint64_t count;
};

Fields<CountedBin> FieldsOf(const CountedBin*) {
  using B = CountedBin;
  return {
      {"group", [](const B& b) { return b.bin.group; }, "group of bins"},
      {"row", [](const B& b) { return b.bin.row; }},
      {"column", [](const B& b) { return b.bin.column; }, "empty if the group is a list"},
      {"count", &B::count, "dot products that reached the bin"},
      {"least", [](const B& b) { return b.bin.least; },
       "number of dot products that must reach it"},
      {"unreachable", [](const B& b) { return b.bin.unreachable; },
       Prose("reason why no input reaches the bin; empty if the bin must be reached")},
  };
}

std::vector<CountedBin> CountedBins(const FilledBins& filled) {
  std::vector<CountedBin> bins;
  for (size_t i = 0; i < filled.bins.size(); ++i) {
    bins.push_back({filled.bins[i], filled.counts[i]});
  }
  return bins;
}

}  // namespace

Fields<FilledBins> FieldsOf(const FilledBins*) {
  using F = FilledBins;
  return {
      {"instruction", [](const F& f) { return f.op->name; }, InstructionName()},
      {"stands_for", &F::stands_for, "number of instructions that share its model"},
      {"cases", &F::cases,
       "number of generated cases; generation stops when every bin has its required count, or at "
       "--cases"},
      {"dot_products", &F::dot_products, "dot products examined"},
      {"complete", [](const F& f) { return f.thin.empty(); }},
      {"bins", CountedBins},
  };
}

namespace {

struct CoverageFlags {
  std::vector<std::string> instr = {"*"};
  std::string strategy = "mixed";
  uint64_t cases = 20000, seed = 1;
  int threads = 0;
  bool unreachable = false, list = false, stats = false;
};

std::string BinsText(const CoverageFlags& flags, const FilledBins& filled) {
  const std::string& name = filled.op->name;
  std::string text;
  for (const size_t i : FalseBins(filled.bins, filled.counts)) {
    const Bin& bin = filled.bins[i];
    absl::StrAppendFormat(&text, "reached: %s  %s  %d, despite: %s\n", name, bin.name(),
                          filled.counts[i], bin.unreachable);
  }
  for (const size_t i : filled.thin) {
    const Bin& bin = filled.bins[i];
    absl::StrAppendFormat(&text, "thin: %s  %s  %d of %d\n", name, bin.name(), filled.counts[i],
                          bin.least);
  }
  for (size_t i = 0; i < filled.bins.size(); ++i) {
    const Bin& bin = filled.bins[i];
    if (flags.unreachable && !bin.unreachable.empty()) {
      absl::StrAppendFormat(&text, "unreachable: %s  %s  %s\n", name, bin.name(), bin.unreachable);
    } else if (flags.list && bin.unreachable.empty() && filled.counts[i] >= bin.least) {
      absl::StrAppendFormat(&text, "filled: %s  %s  %d\n", name, bin.name(), filled.counts[i]);
    }
  }
  return text;
}

std::string Text(const CoverageFlags& flags, size_t ops, const std::vector<FilledBins>& all,
                 bool stats) {
  std::string text;
  size_t reachable = 0, unreachable = 0, thin = 0, complete = 0;
  uint64_t most = 0;
  for (const FilledBins& filled : all) {
    text += BinsText(flags, filled);
    reachable += filled.reachable();
    unreachable += filled.bins.size() - filled.reachable();
    thin += filled.thin.size();
    complete += filled.thin.empty();
    if (filled.thin.empty()) most = std::max(most, filled.cases);
  }
  absl::StrAppendFormat(
      &text, "%d of %d bins filled (%.1f%%) in at most %d cases\n", reachable - thin, reachable,
      100.0 * static_cast<double>(reachable - thin) / static_cast<double>(reachable), flags.cases);
  if (!stats) return text;
  absl::StrAppendFormat(
      &text,
      "stat::instructions: %d\nstat::models: %d\nstat::bins: %d\nstat::unreachable: %d\n"
      "stat::thin: %d\nstat::models_filled: %d\nstat::cases_to_fill_max: %d\n",
      ops, all.size(), reachable, unreachable, thin, complete, most);
  return text;
}

struct CoverageResult {
  const std::vector<FilledBins>& instructions;
};

Fields<CoverageResult> FieldsOf(const CoverageResult*) {
  return {
      {"instructions", [](const CoverageResult& r) { return r.instructions; }},
  };
}

void Coverage(const CoverageFlags& flags, Call& call) {
  const auto ops = ChooseOperations(flags.instr, Models::kRequired, nullptr, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  HandleStopSignals();
  const absl::StatusOr<std::vector<FilledBins>> all = FillBins(
      {*ops, StrategyOfRun(flags.strategy), flags.cases, flags.seed, flags.threads}, call.console);
  call.console.Clear();
  if (!all.ok()) return call.Say(all.status());
  bool complete = true;
  for (const FilledBins& filled : *all) complete &= filled.thin.empty();
  std::vector<const Operation*> filled_of;
  for (const FilledBins& filled : *all) filled_of.push_back(filled.op);
  CompareByModel(*ops, filled_of, call.ledger());
  const bool stats = flags.stats || !call.console.terminal();
  call.PrintWithLeftOut(CoverageResult{*all},
                        [&] { return Text(flags, ops->size(), *all, stats); });
  for (const FilledBins& filled : *all) {
    const std::vector<size_t> wrong = FalseBins(filled.bins, filled.counts);
    if (wrong.empty()) continue;
    return call.Say(Verdict::kBroken,
                    absl::StrCat(filled.op->name, ": ", filled.bins[wrong.front()].name(),
                                 " was reached although it is listed as unreachable"));
  }
  if (!complete) call.Say(Verdict::kDiffers);
}

}  // namespace

Action AddCoverage(CLI::App& command) {
  const auto flags = std::make_shared<CoverageFlags>();
  AddInstr(command, flags->instr);
  AddStrategy(command, flags->strategy, "", true);
  AddOption(command, "--cases", flags->cases, "number of cases in which all bins must be filled")
      .Count()
      .Positive();
  AddSeed(command, flags->seed);
  AddThreads(command, flags->threads);
  AddFlag(command, "--unreachable", flags->unreachable,
          "also list the bins that no input reaches, with the reason");
  AddFlag(command, "--list", flags->list, "also list the filled bins");
  AddFlag(command, "--stats", flags->stats, "print stat:: lines even on a terminal");
  return {Coverage, flags, {SchemaOf<WithLeftOut<CoverageResult>>}};
}

}  // namespace mmadiff
