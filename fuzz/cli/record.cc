// mmadiff record: stores a device's answers for `recorded:` and `replay`, as a folder with raw
// answers and digests or as a block log of answers to generated cases.
#include "fuzz/record/record.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/progress.h"
#include "fuzz/record/record_run.h"

namespace mmadiff {
namespace {

struct RecordFlags {
  std::vector<std::string> instr = {"*"};
  std::string device = "auto", out, strategy = "mixed", max_total_time = "8m";
  std::string regressions = "corpus/regressions";
  std::vector<std::string> runs;
  uint64_t cases = 4096, seed = 1, max_bytes = 8 * kMaxRecordingFileBytes;
  int threads = 0;
};

// The result for a block log or a folder; a folder has more members.
struct RecordResult {
  const RecordFlags& flags;
  std::string device_identity;
  const RecordOutcome& outcome;
  std::optional<size_t> instructions = {};  // nothing for a log

  // A member that only a folder has.
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
      {"instructions", &R::instructions,
       Absent({.what = "number of recorded instructions; only for a folder"})},
      {"dot_products", [](const R& r) { return r.outcome.raw_dot_products; },
       "number of raw answers"},
      {"repeated", [](const R& r) { return r.outcome.repeated; },
       "number of dot products that were queried twice"},
      {"regressions", [](const R& r) { return r.OfFolder(r.outcome.regressions); },
       Absent({.what = "number of recorded regression cases and vectors"})},
      {"digest_dot_products", [](const R& r) { return r.OfFolder(r.outcome.digest_dot_products); },
       Absent()},
      {"digest_units", [](const R& r) { return r.OfFolder(r.outcome.digest_units); }, Absent()},
      {"without_digests", [](const R& r) { return r.OfFolder(r.outcome.without_digests); },
       Absent({.what = "number of instructions left without digests for lack of space"})},
      {"dropped", [](const R& r) { return Messages(r.outcome.dropped); },
       Prose("reasons why instructions were dropped")},
  };
}

std::string Text(const RecordResult& r) {
  const RecordOutcome& o = r.outcome;
  if (!r.flags.runs.empty()) {
    return absl::StrCat(r.flags.out, ": ", CountText(*r.instructions, "instruction"),
                        ", digests of ", o.digest_dot_products,
                        " dot products; device: ", r.device_identity, "\n");
  }
  if (!r.instructions) {
    return absl::StrCat(r.flags.out, ": ", o.raw_dot_products, " dot products, ", o.repeated,
                        " queried twice, with equal answers; device: ", r.device_identity, "\n");
  }
  return absl::StrCat(r.flags.out, ": ", CountText(*r.instructions, "instruction"), ", ",
                      o.raw_dot_products, " dot products, ", o.regressions,
                      " regression cases and vectors, digests of ", o.digest_dot_products,
                      " dot products in ", CountText(o.digest_units, "unit"),
                      "; queried twice, with equal answers: ", o.repeated,
                      " dot products; device: ", r.device_identity, "\n");
}

// Sets the options that only a folder has.
absl::Status SetFolderOptions(const RecordFlags& flags, RecordOptions& options, Console& console) {
  ASSIGN_OR_RETURN(const absl::Duration limit,
                   ParseDuration("--max_total_time", flags.max_total_time));
  const std::string regressions = DataPath(flags.regressions);
  const bool missing = !std::filesystem::exists(regressions);
  if (missing && flags.regressions != RecordFlags().regressions) {
    return absl::InvalidArgumentError(absl::StrCat(flags.regressions, ": no such folder"));
  }
  options.max_bytes = flags.max_bytes;
  options.limit = TimeLimit::After(limit);
  options.regressions = missing ? "" : regressions;
  options.threads = ThreadsOf(flags.threads);
  options.open = OpenerOf(flags.device);
  console.Status(absl::StrCat("raw answers, then digests for ", absl::FormatDuration(limit),
                              " (--max_total_time)"),
                 true);
  return absl::OkStatus();
}

void RecordOfRun(const RecordFlags& flags, Call& call) {
  if (absl::EndsWith(flags.out, ".log")) {
    return call.Say(
        Verdict::kUsage,
        absl::StrCat(flags.out, ": a log has raw answers, and a run has none; choose a ",
                     "name without .log"));
  }
  const auto recorded =
      RecordRun(flags.runs, absl::StrJoin(flags.instr, " "), flags.out, call.ledger());
  if (!recorded.ok()) return call.Say(recorded.status(), Verdict::kNotWritten);
  for (const std::string& what : recorded->damage) call.Say(Verdict::kHarmed, what);
  for (const std::string& what : recorded->warnings) call.console.Warn(what);
  if (recorded->outcome.recorded.empty()) {
    return call.Say(Verdict::kNothing, "the run finished no unit that can be recorded");
  }
  for (const Operation* op : recorded->outcome.recorded) {
    call.ledger().Compare(Thing::kOperation, op->name);
  }
  const RecordResult result = {flags, Name(recorded->manifest.device_identity), recorded->outcome,
                               recorded->outcome.recorded.size()};
  call.PrintWithLeftOut(result, [&] { return Wrap(Text(result), call.console.style().width, 2); });
}

void RunRecord(const RecordFlags& flags, Call& call) {
  if (!flags.runs.empty()) return RecordOfRun(flags, call);
  const EngineOr engine = OpenEngineAndWarn(flags.device, call.console);
  if (!engine.ok()) return call.Say(engine.status());
  const auto ops =
      ChooseOperations(flags.instr, Models::kOptional, &(*engine)->device(), call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  if (flags.cases == 0) return call.Say(Verdict::kUsage, "--cases must be at least 1");
  const bool log = absl::EndsWith(flags.out, ".log");
  RecordOptions options = {.ops = *ops,
                           .cases = flags.cases,
                           .seed = flags.seed,
                           .strategy = FindStrategy(flags.strategy)};
  if (!log) {
    if (absl::Status s = SetFolderOptions(flags, options, call.console); !s.ok()) {
      return call.Say(s);
    }
  }
  HandleStopSignals();
  const auto outcome = (log ? RecordLog : RecordFolder)(options, **engine, flags.out, call.console);
  if (!outcome.ok()) return call.Say(outcome.status(), Verdict::kNotWritten);
  for (const Operation* op : outcome->recorded) call.ledger().Compare(Thing::kOperation, op->name);
  SayDropped(outcome->dropped, !outcome->recorded.empty(), call);
  if (!log && outcome->stopped) {
    call.Say(Verdict::kEarly,
             "stopped by a signal; the recording has all raw answers but fewer digests");
  } else if (!log && outcome->without_digests > 0) {
    call.console.Warn(absl::StrCat(outcome->without_digests, " of ",
                                   CountText(ops->size(), "instruction"),
                                   " without digests: raise --max_bytes"));
  }
  if (log && outcome->raw_dot_products == 0) return call.console.Warn("nothing was recorded");
  RecordResult result = {flags, Name((*engine)->device().identity()), *outcome};
  if (!log) result.instructions = ops->size() - outcome->dropped.size();
  call.PrintWithLeftOut(result, [&] { return Wrap(Text(result), call.console.style().width, 2); });
}

}  // namespace

Action AddRecord(CLI::App& command) {
  const auto flags = std::make_shared<RecordFlags>();
  AddOption(command, "out", flags->out,
            "folder to create, or one block log if the name ends in .log")
      .Required();
  AddInstr(command, flags->instr);
  const Flag of_device[] = {
      AddDevice(command, flags->device, "device to record"),
      AddOption(command, "--cases", flags->cases,
                "cases per instruction; in a folder, at most this many from each strategy")
          .Count(),
      AddSeed(command, flags->seed),
      AddStrategy(command, flags->strategy,
                  "; in a folder, only for its digests, hashes of further answers"),
      AddDuration(command, "--max_total_time", flags->max_total_time,
                  "time for the digests of a folder"),
      AddThreads(command, flags->threads),
      AddOption(command, "--max_bytes", flags->max_bytes, "maximum size of a folder").Count(),
      AddOption(command, "--regressions", flags->regressions,
                "if `out` is a folder: also record the answers to the cases in FOLDER "
                "[corpus/regressions if it exists]")
          .TypeName("FOLDER")};
  Flag run =
      AddOption(command, "--run", flags->runs,
                "do not query a device: record the finished units of a run from its folder, as one "
                "digest per instruction; repeat the flag for all its shards");
  run.TypeName("FOLDER");
  for (const Flag& flag : of_device) run.Excludes(flag);
  return {RunRecord, flags, {SchemaOf<WithLeftOut<RecordResult>>}};
}

}  // namespace mmadiff
