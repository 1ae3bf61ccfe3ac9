// mmadiff survey: runs every experiment on a device and stores the results in one folder, or
// compares two such folders.
#include "fuzz/survey/survey.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "device/plain_text.h"
#include "device/stop.h"
#include "fuzz/ask/child_worker.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/inferred.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "fuzz/survey/compare.h"
#include "fuzz/survey/fields.h"
#include "fuzz/survey/files.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/summary.h"

namespace mmadiff {
namespace {

constexpr char kAskVerb[] = "survey-ask";

struct SurveyFlags {
  std::vector<std::string> instr = {"*"}, compare;
  std::string device = "auto", out, max_total_time = "25m", timeout = "60s";
  std::string regressions = "corpus/regressions";
  uint64_t cases = 0, seed = 1, max_bytes = 64'000'000;
};

// Whether no program or device gave any of the answers.
bool NobodyAnswered(const SurveyOutcome& outcome) {
  return !outcome.results.empty() &&
         std::ranges::all_of(outcome.results,
                             [](const SurveyResult& r) { return absl::IsNotFound(r.status); });
}

// The operations that answered but have neither a model nor a hypothesis.
std::vector<const Operation*> SurveyedUnknown(const SurveyOutcome& outcome) {
  std::vector<const Operation*> unknown;
  for (const SurveyResult& result : outcome.results) {
    const Operation* const op = FindOperation(result.task.op, Models::kOptional);
    const bool known = op == nullptr || IsModelled(*op) || HypothesisOf(*op) != nullptr;
    if (known || !result.status.ok() || std::ranges::count(unknown, op) > 0) continue;
    unknown.push_back(op);
  }
  return unknown;
}

void SayVerdicts(const SurveyOutcome& outcome, const SurveySummary& summary,
                 const std::string& device, Call& call) {
  if (NobodyAnswered(outcome)) {
    call.Say(Verdict::kNotHere);
  } else if (summary.troubled > 0) {
    call.Say(Verdict::kRowFailed);
  }
  if (summary.changed > 0) call.Say(Verdict::kDiffers);
  const std::vector<const Operation*> unknown = SurveyedUnknown(outcome);
  if (!summary.HasModel()) {
    call.Say(Verdict::kNothing,
             absl::StrCat("no instruction has a model, so nothing was compared",
                          unknown.empty() ? "" : "; next: " + InferCommand(device, unknown)));
  } else if (!unknown.empty()) {
    call.console.Warn(absl::StrCat(CountText(unknown.size(), "instruction"),
                                   " without a model; next: ", InferCommand(device, unknown)));
  }
  const bool stopped = outcome.stopped_by && outcome.stopped_by.kind != StopCause::kTimeLimit;
  if (outcome.stopped_by.kind == StopCause::kFolderFull) {
    call.Say(Verdict::kEarly,
             "the folder is full; a survey with a larger --max_bytes needs a different --out");
  } else if (!outcome.device.ok() || stopped || !outcome.missing.empty()) {
    call.Say(Verdict::kEarly,
             absl::StrCat("the survey is incomplete",
                          outcome.stopped_by ? ": " + Name(outcome.stopped_by) : "",
                          "; nothing is lost; the same command line continues"));
  }
}

// Enters the outcome of each operation: its own result, or the reason why it has no result.
void Enter(const std::vector<const Operation*>& asked, const std::vector<std::string>& typed,
           const SurveyOutcome& outcome, Ledger& ledger) {
  for (const SurveyResult& result : outcome.results) {
    const bool own = std::ranges::count(asked, result.task.op, &Operation::name) > 0;
    if (!own || !result.task.variant.empty()) continue;  // a different size or operand source
    if (result.status.ok()) {
      ledger.Compare(Thing::kOperation, result.task.op);
    } else {
      ledger.Leave({Thing::kOperation, Reason::kDropped, result.task.op,
                    std::string(result.status.message())});
    }
  }
  for (const Operation* op : asked) {
    const auto& has = outcome.manifest.instructions;
    const bool lacks = std::ranges::count(has, op->name, &SurveyManifest::Instruction::name) == 0;
    const bool glob = op->instruction->is_conversion() && std::ranges::count(typed, op->name) == 0;
    const Reason reason = glob ? Reason::kConversion : Reason::kDeviceLacks;
    if (lacks) ledger.Leave({Thing::kOperation, reason, op->name});
  }
  for (const SurveyTask& task : outcome.missing) {
    const bool own = std::ranges::count(asked, task.op, &Operation::name) > 0;
    if (own) ledger.Leave({Thing::kOperation, Reason::kNotReached, task.op});
  }
}

void RunSurvey(const SurveyFlags& flags, Call& call) {
  const absl::StatusOr<absl::Duration> time =
      ParseDuration("--max_total_time", flags.max_total_time);
  if (!time.ok()) return call.Say(time.status());
  if (flags.cases == 0 && *time <= absl::ZeroDuration()) {
    return call.Say(Verdict::kUsage, "--max_total_time=0 needs --cases: runs have no end");
  }
  const absl::StatusOr<absl::Duration> timeout = ParseDuration("--timeout", flags.timeout);
  if (!timeout.ok()) return call.Say(timeout.status());
  if (*timeout < absl::Seconds(1)) {
    return call.Say(Verdict::kUsage, "--timeout must be at least one second");
  }
  if (PlainLine(flags.device) != flags.device) {
    return call.Say(Verdict::kUsage, "--device is not plain text: " + flags.device);
  }
  if (flags.max_bytes < 1'000'000) {
    return call.Say(Verdict::kUsage, "--max_bytes must be at least 1e6");
  }
  Ledger& ledger = call.ledger();
  const auto asked = ChooseOperations(flags.instr, Models::kOptional, nullptr, ledger);
  if (!asked.ok()) return call.Say(asked.status());
  if (asked->empty()) return;  // the ledger has the reason
  const std::string regressions = DataPath(flags.regressions);
  const bool missing = !std::filesystem::exists(regressions);
  if (missing && flags.regressions != SurveyFlags().regressions) {
    return call.Say(Verdict::kUsage, absl::StrCat(flags.regressions, ": no such folder"));
  }
  HandleStopSignals();
  SurveyOptions options = {.folder = flags.out,
                           .device = flags.device,
                           .shared = call.globals.shared,
                           .globs = ReadOperations().empty() ? flags.instr : NamesOf(*asked),
                           .asked = ledger,
                           .seed = flags.seed,
                           .cases = flags.cases,
                           .max_bytes = flags.max_bytes,
                           .regressions = missing ? "" : regressions};
  if (*time > absl::ZeroDuration()) options.time = *time;
  options.on_progress = [&flags](const SurveyOutcome& so_far) {
    return WriteSurveyPages(flags.out, Summarize(so_far));
  };
  const auto outcome =
      RunSurvey(options, InChild(kAskVerb + ProgramFlags(), *timeout), call.console);
  if (!outcome.ok()) return call.Say(outcome.status(), Verdict::kNotWritten);
  Enter(*asked, flags.instr, *outcome, ledger);
  for (const std::string& warning : outcome->warnings) call.console.Warn(warning);
  const SurveySummary summary = Summarize(*outcome);
  std::string note;
  absl::Status durable = outcome->durable;
  durable.Update(WriteSurveyFiles(flags.out, summary, note));
  if (!note.empty()) call.console.Warn(note);
  call.Print(summary, [&] {
    return call.console.terminal() ? SurveyScreen(summary, flags.out, call.console.style())
                                   : SurveyPage(summary);
  });
  if (!durable.ok()) return call.Say(durable, Verdict::kNotWritten);
  if (!outcome->device.ok()) call.console.Warn(outcome->device.message());
  SayVerdicts(*outcome, summary, flags.device, call);
}

void CompareFolders(const SurveyFlags& flags, Call& call) {
  std::error_code ignored;
  if (std::filesystem::equivalent(flags.compare[0], flags.compare[1], ignored)) {
    return call.Say(Verdict::kUsage, absl::StrCat(flags.compare[0], " and ", flags.compare[1],
                                                  " are the same; name two surveys"));
  }
  const auto difference = CompareSurveys(flags.compare[0], flags.compare[1]);
  if (!difference.ok()) return call.Say(difference.status());
  for (const std::string& warning : difference->warnings) call.console.Warn(warning);
  call.Print(*difference, [&] { return difference->Text(call.console.style().width); });
  if (!difference->rows.empty()) return call.Say(Verdict::kDiffers);
  if (difference->compared == 0) {
    call.Say(Verdict::kNothing, "the two have nothing in common; this is not a pass");
  }
}

void SurveyOrCompare(const SurveyFlags& flags, Call& call) {
  if (!flags.compare.empty()) return CompareFolders(flags, call);
  if (flags.out.empty()) return call.Say(Verdict::kUsage, "use --out=FOLDER, or --compare A B");
  RunSurvey(flags, call);
}

void ServeSurvey(const SurveyFlags&, Call& call) {
  if (absl::Status s = ServeTasks(); !s.ok()) {
    call.Say(Verdict::kBroken, std::string(s.message()));
  }
}

}  // namespace

Action AddSurvey(CLI::App& command) {
  const auto flags = std::make_shared<SurveyFlags>();
  AddDevice(command, flags->device, "device to query");
  AddOption(command, "--out", flags->out, "output folder; an existing survey is resumed")
      .TypeName("FOLDER");
  AddDuration(command, "--max_total_time", flags->max_total_time, "total time; 0: no limit");
  AddInstr(command, flags->instr);
  AddOption(command, "--cases", flags->cases,
            "cases per instruction in the stage that compares generated inputs, as `run` does "
            "[until the time is up]")
      .Count();
  AddSeed(command, flags->seed);
  AddDuration(command, "--timeout", flags->timeout,
              "treat the device as hung after this time without a response");
  AddOption(command, "--max_bytes", flags->max_bytes, "maximum size of all files").Count();
  AddOption(command, "--regressions", flags->regressions,
            "also query the cases of this folder [corpus/regressions if it exists]")
      .TypeName("FOLDER");
  AddOption(command, "--compare", flags->compare,
            "compare the answers of two survey folders: --compare A B")
      .Expected(2)
      .TypeName("FOLDER");
  return {
      SurveyOrCompare, flags, {SchemaOf<SurveySummary>, {SchemaOf<SurveyDifference>, "--compare"}}};
}

Action AddSurveyAsk(CLI::App&) { return {ServeSurvey, std::make_shared<SurveyFlags>()}; }

}  // namespace mmadiff
