// mmadiff run: runs a device against the model.
#include "fuzz/run/run.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "device/faulty.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/command_text.h"
#include "fuzz/cli/run_verdicts.h"
#include "fuzz/engine/engine.h"
#include "fuzz/folder/shard.h"
#include "fuzz/output/progress.h"
#include "fuzz/report/run_fields.h"
#include "fuzz/report/run_text.h"
#include "fuzz/schedule/class_schedule.h"
#include "sim/equivalence.h"
#include "sim/parameter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mmadiff {
namespace {

struct RunFlags {
  const CLI::App* command;
  std::vector<std::string> instr = {"*"};
  std::string device = "auto";
  std::string strategy = Strategies().front().name;
  std::string max_total_time, stop_at, shard;
  std::optional<uint64_t> cases;
  uint64_t seed = 1, max_mismatches = 20;
  int threads = 0;
  bool forever = false, extend = false, require_coverage = false, dry_run = false, stats = false;
};

absl::Status ParseTimes(const RunFlags& flags, RunOptions& options) {
  if (!flags.max_total_time.empty()) {
    ASSIGN_OR_RETURN(const auto limit, ParseDuration("--max_total_time", flags.max_total_time));
    options.limit = TimeLimit::After(limit);
  }
  if (!flags.stop_at.empty()) {
    absl::Time at;
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, flags.stop_at, &at, &error)) {
      return absl::InvalidArgumentError(absl::StrCat("--stop_at: '", flags.stop_at, "': ", error,
                                                     "; write 2026-01-31T06:00:00Z"));
    }
    options.limit.NotAfter(at);
  }
  return absl::OkStatus();
}

// mmadiff-runs/<hash of the manifest>: the same command line finds the same folder again, even the
// folder of an earlier version.
std::string DefaultWorkdir(RunManifest manifest) {
  const auto folder = [&manifest] {
    const std::string text = CanonicalManifest(manifest);
    const uint64_t hash = XXH3_64bits(text.data(), text.size());
    return absl::StrCat("mmadiff-runs/", absl::Hex(hash, absl::kZeroPad16));
  };
  const std::string now = folder();
  manifest.id_of_text = true;
  const std::string earlier = folder();
  return std::filesystem::exists(earlier) ? earlier : now;
}

// `faulty:` with a change that no input can reveal would look like a clean pass.
void WarnOfEquivalent(const std::string& device, const std::vector<const Operation*>& ops,
                      Console& console) {
  const std::vector<Change> fault = FaultOf(device);
  for (const Operation* op : ops) {
    const std::string why = WhyEquivalent(op->model, WithChanges(op->model.algorithm, fault));
    if (!fault.empty() && !why.empty()) {
      console.Warn(absl::StrCat(op->name, ": no input can reveal ", Name(fault), ", because ", why,
                                "; expect no mismatches"));
    }
  }
}

// A row of the plan that --dry_run prints.
struct PlannedRow {
  std::string instruction;
  std::optional<uint64_t> planned_cases;  // planned cases of this shard; nullopt if endless
  uint64_t dot_products_per_case;
};
struct PlannedRun {
  const RunOptions& options;
  const RunManifest& manifest;
  const Device& device;

  std::vector<PlannedRow> rows() const {
    std::vector<PlannedRow> rows;
    for (size_t i = 0; i < options.ops.size(); ++i) {
      std::optional<uint64_t> cases;
      if (!options.forever) {
        cases = manifest.instructions[i].CasesOfShard(options.shard, options.shards);
      }
      rows.push_back(
          {options.ops[i]->name, cases, static_cast<uint64_t>(options.ops[i]->shape().d_words())});
    }
    return rows;
  }
};

Fields<PlannedRow> FieldsOf(const PlannedRow*) {
  using R = PlannedRow;
  return {
      {"instruction", &R::instruction, InstructionName()},
      {"planned_cases", &R::planned_cases, "planned cases of this shard; null if endless"},
      {"dot_products_per_case", &R::dot_products_per_case},
  };
}

Fields<PlannedRun> FieldsOf(const PlannedRun*) {
  using P = PlannedRun;
  return {
      {"device", [](const P& p) { return p.device.name(); }, "specification"},
      {"device_identity", [](const P& p) { return Name(p.device.identity()); }},
      {"strategy", [](const P& p) { return p.options.strategy->name; }},
      {"seed", [](const P& p) { return p.options.seed; }},
      {"folders", [](const P& p) { return std::vector<std::string>{p.options.workdir}; }},
      {"shard", [](const P& p) { return p.options.shard; }},
      {"shards", [](const P& p) { return p.options.shards; }, {.least = 1}},
      {"endless", [](const P& p) { return p.options.forever; }},
      {"instructions", &P::rows},
  };
}

std::string PlanText(const PlannedRun& plan) {
  const RunOptions& options = plan.options;
  std::string text = absl::StrCat(
      "device    ", plan.device.name(), " (", Name(plan.device.identity()), ")\nstrategy  ",
      options.strategy->name, ", seed ", options.seed, "\nworkdir   ", options.workdir, "\n");
  if (options.shards > 1) {
    absl::StrAppend(&text, "shard     ", options.shard, "/", options.shards, "\n");
  }
  for (const PlannedRow& row : plan.rows()) {
    absl::StrAppend(&text, row.instruction, "  ",
                    row.planned_cases ? absl::StrCat(*row.planned_cases, " cases") : "forever",
                    " of ", row.dot_products_per_case, " dot products\n");
  }
  return text;
}

// ", shard 3/16 by SLURM_ARRAY_TASK_ID=3"
std::string ShardText(const Shard& shard) {
  if (shard.from.empty()) return "";
  return absl::StrCat(", shard ", shard.index, "/", shard.count, " by ", shard.from);
}

std::string ReportText(const RunReport& report, const NextCommands& next, bool stats,
                       const Console& console) {
  const bool terminal = console.terminal();
  std::string text = terminal ? "" : FormatReport(report);
  if (stats || !terminal) text += FormatStats(report);
  if (terminal) text += "\n" + FormatScreen(report, next, console.style());
  return text;
}

// A hundred times the cases, in the same folder if the user named one; for an empty shard, the same
// run without shards as a dry run.
NextCommands CommandsAfter(const CLI::App& command, const RunOptions& options,
                           const RunReport& report) {
  if (report.IsEmptyShard()) {
    const std::string whole = CommandText(command, {"--shard", "--workdir", "--dry_run"});
    return {whole + " --dry_run", whole + " --dry_run"};
  }
  return {
      CommandText(command),
      absl::StrCat(CommandText(command, {"--cases", "--extend", "--max_total_time", "--stop_at",
                                         "--dry_run"}),
                   options.anew ? "" : " --extend", " --cases=", ShortCount(options.cases * 100))};
}

// Announces the instructions, the device and the folder.
void Announce(const RunOptions& options, const Device& device, const Shard& shard,
              Console& console) {
  constexpr size_t kMax = 200;  // bytes of an identity that may name many programs
  std::string identity = Name(device.identity());
  if (identity.size() > kMax) identity = PlainLine(identity.substr(0, kMax)) + "...";
  console.Status(absl::StrCat("mmadiff: ", CountText(options.ops.size(), "instruction"), ", ",
                              CountText(options.threads, "thread"), ShardText(shard), ", folder ",
                              options.workdir, ", device: ", identity),
                 true);
}

void RunRun(const RunFlags& flags, Call& call) {
  RunOptions options;
  options.strategy = StrategyOfRun(flags.strategy);
  options.seed = flags.seed;
  options.forever = flags.forever;
  options.extend = flags.extend;
  if (flags.extend && call.globals.workdir.empty()) {
    return call.Say(Verdict::kUsage, "--extend needs --workdir, the folder of the run to extend");
  }
  options.max_mismatches = flags.max_mismatches;
  options.print_findings = !call.globals.json;
  if (absl::Status s = ParseTimes(flags, options); !s.ok()) return call.Say(s);
  const absl::StatusOr<Shard> shard = ParseShard(flags.shard, std::getenv);
  if (!shard.ok()) return call.Say(shard.status());
  options.shard = shard->index;
  options.shards = shard->count;
  if (flags.cases == 0) return call.Say(Verdict::kUsage, "--cases must be at least 1");

  const EngineOr engine = OpenEngineAndWarn(flags.device, call.console);
  if (!engine.ok()) return call.Say(engine.status());
  const bool resident = (*engine)->resident();
  const Device& device = (*engine)->device();
  // The default is a quick run: a million executions, but at most sixteen million dot products; on
  // a GPU, 1e9 dot products.
  if (!flags.cases) options.dot_products = resident ? 1'000'000'000 : 16'000'000;
  options.cases = flags.cases.value_or(resident ? options.dot_products : options.cases);
  options.threads = flags.threads == 0 && resident ? 1 : ThreadsOf(flags.threads);
  const auto ops = ChooseOperations(flags.instr, Models::kRequired, &device, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  options.ops = *ops;
  options.left_out = call.ledger().lines();
  if (options.strategy == &Scheduled()) {
    for (const Operation* op : options.ops) {
      call.console.Status(absl::StrCat("planning a schedule for ", op->name), false);
      options.schedules.push_back(ClassSchedule::Plan(*op, options.seed));
    }
  }
  options.workdir = call.globals.workdir;
  options.shared = call.globals.shared;
  const RunManifest manifest = MakeManifest(options, **engine);
  if (call.globals.workdir.empty()) {
    options.workdir = DefaultWorkdir(manifest);
    options.anew = true;  // a finished run starts over; only its findings are kept
  }
  if (flags.dry_run) {
    const PlannedRun plan = {options, manifest, device};
    for (const PlannedRow& row : plan.rows()) {
      if (row.planned_cases == 0u) {
        call.ledger().Leave({Thing::kOperation, Reason::kOtherShard, row.instruction});
      } else {
        call.ledger().Compare(Thing::kOperation, row.instruction);
      }
    }
    return call.PrintWithLeftOut(
        plan, [&] { return Wrap(PlanText(plan), call.console.style().width, 2); });
  }
  HandleStopSignals();
  WarnOfEquivalent(flags.device, options.ops, call.console);
  if (!call.globals.quiet) Announce(options, device, *shard, call.console);
  const absl::StatusOr<RunReport> report =
      ExecuteRun(options, OpenerOf(flags.device), call.console);
  if (!report.ok()) return call.Say(report.status(), Verdict::kNotWritten);
  for (const std::string& warning : report->attempt->warnings) {
    if (warning != (*engine)->warning())
      call.console.Warn(warning);  // otherwise it was already printed
  }
  EnterRows(*report, call.ledger());
  SayVerdicts(*report, flags.require_coverage, call);
  call.PrintWithLeftOut(
      *report,
      [&] {
        return ReportText(*report, CommandsAfter(*flags.command, options, *report), flags.stats,
                          call.console);
      },
      -1);
}

}  // namespace

Action AddRun(CLI::App& command) {
  const auto flags = std::make_shared<RunFlags>();
  flags->command = &command;
  AddInstr(command, flags->instr);
  AddDevice(command, flags->device, "device to test");
  AddOption(command, "--cases", flags->cases,
            "cases per instruction; a case is one execution, for example of 128 dot products [1e6 "
            "cases or 16e6 dot products, whichever is fewer; if the GPU generates the cases: 1e9 "
            "dot products]")
      .Count();
  AddStrategy(command, flags->strategy, "", true);
  AddSeed(command, flags->seed);
  AddThreads(command, flags->threads);
  AddOption(command, "--max_mismatches", flags->max_mismatches,
            "stop an instruction after this many mismatching cases; 0: never")
      .Count();
  AddOption(
      command, "--shard", flags->shard,
      "run only every N-th unit (a range of cases), starting at unit I, counted from 0; auto: take "
      "I and N from Slurm, MPI or Kubernetes; auto/N: take only I from them")
      .TypeName("I/N");
  AddDuration(command, "--max_total_time", flags->max_total_time,
              "stop after this time; the run can be resumed");
  AddOption(command, "--stop_at", flags->stop_at, "stop at this time, such as 2026-01-31T06:00:00Z")
      .TypeName("TIME");
  const Flag forever =
      AddFlag(command, "--forever", flags->forever, "run until a time limit or a signal");
  AddFlag(command, "--extend", flags->extend,
          "raise the number of cases of the run in --workdir; its finished work stays valid")
      .Excludes(forever);
  AddFlag(command, "--require_coverage", flags->require_coverage,
          "exit with 3 if too few cases exercised a kind of input (class) or a situation in the "
          "arithmetic (bin)");
  AddFlag(command, "--dry_run", flags->dry_run, "print the planned run without running it");
  AddFlag(command, "--stats", flags->stats, "print stat:: lines even on a terminal");
  return {RunRun,
          flags,
          {SchemaOf<WithLeftOut<RunReport>>, {SchemaOf<WithLeftOut<PlannedRun>>, "--dry_run"}}};
}

}  // namespace mmadiff
