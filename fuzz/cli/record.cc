// mmadiff record: a device's answers, for `recorded:` and `replay`: a folder with raw answers and
// digests, or a block log of answers to generated cases.
#include "fuzz/record/record.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/progress.h"

namespace mmadiff {
namespace {

struct RecordFlags {
  std::vector<std::string> instr = {"*"};
  std::string device = "auto", out, strategy = "mixed", max_total_time = "8m";
  std::string regressions = "corpus/regressions";
  uint64_t cases = 4096, seed = 1, max_bytes = 8 * kMaxRecordingFileBytes;
  int threads = 0;
};

// Enters what was recorded and what was dropped.
void Enter(const RecordOutcome& outcome, Ending& ending) {
  for (const Operation* op : outcome.recorded) ending.ledger().Compare(Thing::kOperation, op->name);
  SayDropped(outcome.dropped, !outcome.recorded.empty(), ending);
}

// Of a block log, or of a folder, which has more.
struct RecordResult {
  const RecordFlags& flags;
  std::string device_identity;
  const RecordOutcome& outcome;
  std::optional<size_t> instructions = {};

  // Of a folder.
  template <class T>
  std::optional<T> OfFolder(T value) const {
    return instructions ? std::optional(value) : std::nullopt;
  }
};

Fields<RecordResult> FieldsOf(const RecordResult*) {
  using R = RecordResult;
  return {
      {"out", [](const R& r) { return r.flags.out; }},
      {"device_identity", &R::device_identity},
      {"instructions", &R::instructions, Absent({.what = "of a folder"})},
      {"dot_products", [](const R& r) { return r.outcome.raw_dot_products; }, "raw answers"},
      {"repeated", [](const R& r) { return r.outcome.repeated; },
       "dot products that were asked for twice"},
      {"regressions", [](const R& r) { return r.OfFolder(r.outcome.regressions); },
       Absent({.what = "regression cases and vectors"})},
      {"digest_dot_products", [](const R& r) { return r.OfFolder(r.outcome.digest_dot_products); },
       Absent()},
      {"digest_units", [](const R& r) { return r.OfFolder(r.outcome.digest_units); }, Absent()},
      {"without_digests", [](const R& r) { return r.OfFolder(r.outcome.without_digests); },
       Absent({.what = "instructions for which there was no room"})},
      {"dropped", [](const R& r) { return Messages(r.outcome.dropped); },
       Prose("why instructions were dropped")},
  };
}

void RecordIntoLog(const RecordFlags& flags, Engine& engine,
                   const std::vector<const Operation*>& ops, Call& call) {
  HandleStopSignals();
  const auto outcome = RecordLog({.ops = ops,
                                  .cases = flags.cases,
                                  .seed = flags.seed,
                                  .strategy = FindStrategy(flags.strategy)},
                                 engine, flags.out, call.console);
  if (!outcome.ok()) return call.Say(outcome.status(), Verdict::kNotWritten);
  if (outcome->raw_dot_products == 0) {
    call.console.Warn("nothing was recorded");
    return SayDropped(outcome->dropped, false, call);
  }
  Enter(*outcome, call);
  const std::string identity = Name(engine.device().identity());
  call.PrintWithLeftOut(RecordResult{flags, identity, *outcome}, [&] {
    return Wrap(
        absl::StrCat(outcome->raw_dot_products, " dot products of ", identity, " in ", flags.out,
                     ", ", outcome->repeated, " of them asked twice, and repeated\n"),
        call.console.style().width, 2);
  });
}

void RecordIntoFolder(const RecordFlags& flags, Engine& engine,
                      const std::vector<const Operation*>& ops, Call& call) {
  const absl::StatusOr<absl::Duration> limit =
      ParseDuration("--max_total_time", flags.max_total_time);
  if (!limit.ok()) return call.Say(limit.status());
  const std::string regressions = DataPath(flags.regressions);
  const bool missing = !std::filesystem::exists(regressions);
  if (missing && flags.regressions != RecordFlags().regressions) {
    return call.Say(Verdict::kUsage, absl::StrCat(flags.regressions, ": no such folder"));
  }
  HandleStopSignals();
  const RecordOptions options = {.ops = ops,
                                 .cases = flags.cases,
                                 .seed = flags.seed,
                                 .strategy = FindStrategy(flags.strategy),
                                 .max_bytes = flags.max_bytes,
                                 .limit = TimeLimit::After(*limit),
                                 .regressions = missing ? "" : regressions,
                                 .threads = ThreadsOf(flags.threads),
                                 .open = OpenerOf(flags.device)};
  call.console.Status(absl::StrCat("raw answers, then digests for ", absl::FormatDuration(*limit),
                                   " (--max_total_time)"),
                      true);
  const auto outcome = RecordFolder(options, engine, flags.out, call.console);
  if (!outcome.ok()) return call.Say(outcome.status(), Verdict::kNotWritten);
  if (outcome->stopped) {
    call.Say(Verdict::kEarly,
             "stopped by a signal: the recording has all raw answers and fewer digests");
  }
  if (outcome->without_digests > 0 && !outcome->stopped) {
    call.console.Warn(absl::StrCat(outcome->without_digests, " of ",
                                   CountText(ops.size(), "instruction"),
                                   " without digests: raise --max_bytes"));
  }
  Enter(*outcome, call);
  const size_t instructions = ops.size() - outcome->dropped.size();
  const std::string identity = Name(engine.device().identity());
  call.PrintWithLeftOut(RecordResult{flags, identity, *outcome, instructions}, [&] {
    return Wrap(
        absl::StrCat(CountText(instructions, "instruction"), " of ", identity, " in ", flags.out,
                     ": ", outcome->raw_dot_products, " dot products, ", outcome->regressions,
                     " regression cases and vectors, digests of ", outcome->digest_dot_products,
                     " dot products in ", CountText(outcome->digest_units, "unit"),
                     "; asked twice, and repeated: ", outcome->repeated, " dot products\n"),
        call.console.style().width, 2);
  });
}

void RunRecord(const RecordFlags& flags, Call& call) {
  const EngineOr engine = OpenEngineAndWarn(flags.device, call.console);
  if (!engine.ok()) return call.Say(engine.status());
  const auto ops =
      ChooseOperations(flags.instr, Models::kOptional, &(*engine)->device(), call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger says why
  if (flags.cases == 0) return call.Say(Verdict::kUsage, "--cases must be at least 1");
  const auto record = absl::EndsWith(flags.out, ".log") ? RecordIntoLog : RecordIntoFolder;
  record(flags, **engine, *ops, call);
}

}  // namespace

Action AddRecord(CLI::App& command) {
  const auto flags = std::make_shared<RecordFlags>();
  AddOption(command, "out", flags->out, "folder to create; a name that ends in .log: one block log")
      .Required();
  AddInstr(command, flags->instr);
  AddDevice(command, flags->device, "who answers");
  AddOption(command, "--cases", flags->cases,
            "executions per instruction; in a folder at most, of each strategy")
      .Count();
  AddSeed(command, flags->seed);
  AddStrategy(command, flags->strategy, " of a log, or of the digests of a folder,");
  AddDuration(command, "--max_total_time", flags->max_total_time, "of a folder's digests");
  AddThreads(command, flags->threads);
  AddOption(command, "--max_bytes", flags->max_bytes, "of a folder").Count();
  AddOption(command, "--regressions", flags->regressions,
            "folder of cases whose answers a folder has too [corpus/regressions if there]")
      .TypeName("FOLDER");
  return {RunRecord, flags, {SchemaOf<WithLeftOut<RecordResult>>}};
}

}  // namespace mmadiff
