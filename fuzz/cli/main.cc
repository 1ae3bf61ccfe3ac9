// mmadiff VERB: parses the command line and runs one verb.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/activity.h"
#include "device/gpu/driver.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/first_steps.h"
#include "fuzz/cli/help.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/cli/pager.h"
#include "fuzz/cli/version.h"
#include "fuzz/output/next_command.h"

namespace mmadiff {

// Each is defined in the file of its verb.
using AddVerb = Action(CLI::App& command);
AddVerb AddBench, AddChanges, AddCheck, AddClean, AddCopy, AddCoverage, AddEval, AddExplain,
    AddGemm, AddGen, AddHelp, AddIdentify, AddInfer, AddLayout, AddList, AddLowerings, AddMerge,
    AddMinimize, AddMutants, AddPlan, AddProbe, AddRace, AddRecord, AddReplay, AddReport, AddRun,
    AddScan, AddStatus, AddSurvey, AddSurveyAsk, AddVerify;
namespace {

// The groups of verbs, in the order of help. The verbs of a group are consecutive in kVerbs.
constexpr char kTestGroup[] = "Test a device";
constexpr char kLearnGroup[] = "Learn about a device";
constexpr char kFoldersGroup[] = "Folders of runs";
constexpr char kMismatchGroup[] = "One mismatch";
constexpr char kProtocolGroup[] = "Line protocol";
constexpr char kMatrixGroup[] = "Whole matrix products";
constexpr char kCompareGroup[] = "Compare models and devices";
constexpr char kTablesGroup[] = "The tables and the generator";
constexpr char kHelpGroup[] = "Help";

constexpr Verb kVerbs[] = {
    {.name = "run",
     .group = kTestGroup,
     .what = "Test a device against the model with generated inputs",
     .add = AddRun,
     .example = "run --instr='x86/*' --cases=1e9 --max_total_time=8h"},
    {.name = "survey",
     .group = kTestGroup,
     .what = "Run every experiment on a device and store the results in one folder",
     .add = AddSurvey,
     .example = "survey --device=cuda:0 --out=h100 --max_total_time=25m"},
    {.name = "infer",
     .group = kLearnGroup,
     .what = "Infer the model of a black box: its summation tree, then the algorithm and the "
             "parameters that reproduce every answer",
     .add = AddInfer,
     .example = "infer --device=faulty:terms=8 --instr=sm_90/mma.m16n8k16.f32.f16.f16.f32"},
    {.name = "probe",
     .group = kLearnGroup,
     .what = "Ask a device the questions that only hardware can answer",
     .add = AddProbe,
     .example = "probe --device=cuda:0 --all --out=answers"},
    {.name = "record",
     .group = kLearnGroup,
     .what = "Record a device's answers in a folder or log",
     .add = AddRecord,
     .example = "record h100 --device=cuda:0"},
    {.name = "layout",
     .group = kLearnGroup,
     .what = "Show the lane and register of each matrix element",
     .add = AddLayout,
     .example = "layout sm_80/mma.m16n8k16.f32.f16.f16.f32 --csv"},
    {.name = "copy",
     .group = kLearnGroup,
     .what = "Show what a tensor copy (TMA) of NVIDIA puts where in shared memory",
     .add = AddCopy,
     .example = "copy --dim=64,8 --box=64,8 --swizzle=128B"},
    {.name = "scan",
     .group = kLearnGroup,
     .what =
         "Find the mma and wmma in a PTX or CUDA C++ file that ptxas translates wrongly because "
         "operands share registers of the result",
     .add = AddScan,
     .example = "scan kernel.ptx"},
    {.name = "report",
     .group = kFoldersGroup,
     .what = "Report on runs (verdict, findings, coverage, rate) or compare two",
     .add = AddReport,
     .example = "report shard0 shard1 --out=report.html"},
    {.name = "merge",
     .group = kFoldersGroup,
     .what = "Combine the folders of one run, such as its shards, into one",
     .add = AddMerge,
     .example = "merge whole shard0 shard1"},
    {.name = "status",
     .group = kFoldersGroup,
     .what = "Show the progress of runs",
     .add = AddStatus,
     .example = "status shard0 shard1"},
    {.name = "verify",
     .group = kFoldersGroup,
     .what = "Rerun a sample of a run's finished units to detect silent corruption",
     .add = AddVerify,
     .example = "verify whole --sample=1% --device=cuda:1"},
    {.name = "clean",
     .group = kFoldersGroup,
     .what = "List or remove files left in a run's folder by killed attempts and merges",
     .add = AddClean,
     .example = "clean whole --yes"},
    {.name = "replay",
     .group = kMismatchGroup,
     .what =
         "Replay regression cases, vectors, recordings or one named case, with or without a device",
     .add = AddReplay,
     .example = "replay corpus/regressions --device=host"},
    {.name = "explain",
     .group = kMismatchGroup,
     .what = "Show one mismatch stage by stage, and the model changes that reproduce it",
     .add = AddExplain,
     .example = "explain 'sm_90/mma.m16n8k16.f32.f16.f16.f32@g3:1:0' --device=faulty:terms=8"},
    {.name = "minimize",
     .group = kMismatchGroup,
     .what = "Shrink one mismatch to a minimal case",
     .add = AddMinimize,
     .example = "minimize 'sm_90/mma.m16n8k16.f32.f16.f16.f32@g3:1:0' --device=faulty:terms=8"},
    {.name = "gen",
     .group = kProtocolGroup,
     .what = "Print generated cases in the line protocol",
     .add = AddGen,
     .example = "gen x86/vdpbf16ps --cases=10"},
    {.name = "eval",
     .group = kProtocolGroup,
     .what = "Read cases from stdin, simulate them and print them with their results",
     .add = AddEval,
     .example = "gen x86/vdpbf16ps | mmadiff eval x86/vdpbf16ps"},
    {.name = "check",
     .group = kProtocolGroup,
     .what = "Read cases with results from stdin and compare them with the model",
     .add = AddCheck,
     .example = "gen x86/vdpbf16ps | my_rtl | mmadiff check x86/vdpbf16ps"},
    {.name = "gemm",
     .group = kMatrixGroup,
     .what = "Multiply matrices bit for bit as a plan says: instruction, ranges of k, joins",
     .add = AddGemm,
     .example = "gemm 'sm_90/wgmma.m64n8k16.f32.f16.f16 | into 3 of 64: add | f16' a.npy b.npy "
                "--expect=d.npy"},
    {.name = "plan",
     .group = kMatrixGroup,
     .what = "Find the plans that made a matrix product, from A, B and D alone",
     .add = AddPlan,
     .example = "plan a.npy b.npy d.npy --instr='sm_90/*'"},
    {.name = "race",
     .group = kCompareGroup,
     .what = "Find the smallest case that distinguishes two instructions, models or architectures",
     .add = AddRace,
     .example = "race sm_80/mma.m16n8k16.f32.f16.f16.f32 sm_90/mma.m16n8k16.f32.f16.f16.f32"},
    {.name = "identify",
     .group = kCompareGroup,
     .what = "Identify the architecture of a device from at most ten of its answers",
     .add = AddIdentify,
     .example = "identify --device=cuda:0"},
    {.name = "mutants",
     .group = kTablesGroup,
     .what = "Seed faults into the model and show which ones the generator finds",
     .add = AddMutants,
     .example = "mutants --instr='sm_80/*'"},
    {.name = "coverage",
     .group = kTablesGroup,
     .what = "Show which situations in the arithmetic (bins) the generator produces, and how soon",
     .add = AddCoverage,
     .example = "coverage --instr=sm_80/mma.m16n8k16.f32.f16.f16.f32"},
    {.name = "bench",
     .group = kTablesGroup,
     .what = "Measure the time per dot product in the generator, the simulator, the digest and a "
             "whole unit of a run",
     .add = AddBench,
     .example = "bench --instr=sm_90/mma.m16n8k16.f32.f16.f16.f32 --rounds=1"},
    {.name = "changes",
     .group = kTablesGroup,
     .what = "List instructions whose simulated answers differ from the digests (hashes of "
             "answers) in the repository",
     .add = AddChanges,
     .example = "changes"},
    {.name = "lowerings",
     .group = kTablesGroup,
     .what = "List what versions of ptxas make of instructions, and compare it with the models",
     .add = AddLowerings,
     .example = "lowerings 'sm_90/mma.*.e4m3.*' --ptxas=12.4.131,13.0.88"},
    {.name = "list",
     .group = kTablesGroup,
     .what = "List instructions, devices, strategies, formats, vectors, differences, plans or "
             "findings, "
             "one per line",
     .add = AddList,
     .example = "list instructions 'hopper/wgmma*' --evidence"},
    {.name = "help",
     .group = kHelpGroup,
     .what = "Show help for the program or for a verb",
     .add = AddHelp,
     .example = "help run"},
    {.name = "survey-ask",
     .what = "Run a step of `survey` (internal)",
     .add = AddSurveyAsk},  // internal
};

// Whether each verb except the internal last one has a group, and groups are consecutive.
constexpr bool AreGrouped() {
  constexpr size_t kNumber = std::size(kVerbs) - 1;
  for (size_t i = 0; i < kNumber; ++i) {
    if (*kVerbs[i].group == '\0') return false;
    for (size_t j = i + 2; j < kNumber; ++j) {
      if (kVerbs[j].group == kVerbs[i].group && kVerbs[j - 1].group != kVerbs[i].group)
        return false;
    }
  }
  return true;
}
static_assert(AreGrouped());

// "--max-total-time" becomes "--max_total_time"; the text after "=" is unchanged.
std::string WithUnderscores(std::string arg) {
  if (arg.rfind("--", 0) != 0) return arg;
  for (size_t i = 2; i < arg.size() && arg[i] != '='; ++i) {
    if (arg[i] == '-') arg[i] = '_';
  }
  return arg;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestText("; did you mean '", word, candidates, 1);
  return nearest.empty() ? "" : nearest + "'?";
}

std::string WhyNoFlag(const CLI::App& program, const CLI::App* verb, const std::string& word) {
  std::vector<std::string> names = {"--help"};
  for (const CLI::App* app : {&program, verb}) {
    if (app == nullptr) continue;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  const std::string flag = word.substr(0, word.find('='));
  std::string others;  // verbs that have it
  for (const CLI::App* other : program.get_subcommands({})) {
    if (verb == nullptr || other->get_option_no_throw(flag) == nullptr) continue;
    absl::StrAppend(&others, others.empty() ? "; it is a flag of " : ", ", other->get_name());
  }
  if (std::ranges::count(names, flag) > 0) {
    return absl::StrCat("'", flag, "' must come after its verb");
  }
  return absl::StrCat(verb == nullptr ? "mmadiff" : verb->get_name(), " has no flag '", flag, "'",
                      others.empty() ? DidYouMean(flag, names) : others);
}

// The required arguments and flags that were not given: "the argument 'case'", "--device".
std::string MissingOf(const CLI::App& verb) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const std::string name = option->get_name(true);
    missing.push_back(option->get_positional() ? absl::StrCat("the argument '", name, "'") : name);
  }
  return absl::StrJoin(missing, " and ");
}

// Whether a value may be missing of the flag --compare A B.
bool TakesTwo(const CLI::App& verb, const CLI::ParseError& error) {
  const CLI::Option* compare = verb.get_option_no_throw("--compare");
  return compare != nullptr && compare->get_items_expected_min() == 2 &&
         dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
}

// The error for the first word that was not consumed; else CLI11's message.
std::string WhyNotParsed(const CLI::App& program, const CLI::App* verb,
                         const CLI::ParseError& error) {
  const std::vector<std::string> words = program.remaining(true);
  if (!words.empty() && words.front().rfind('-', 0) == 0) {
    return WhyNoFlag(program, verb, words.front());
  }
  if (verb != nullptr && !words.empty()) {
    const bool instruction = words.front().find('/') != std::string::npos;
    const bool named = verb->get_option_no_throw("--instr") != nullptr;
    return absl::StrCat(verb->get_name(), " takes no '", words.front(), "'",
                        instruction && named
                            ? absl::StrCat("; did you mean --instr=", words.front(), "?")
                        : words.size() > 1 ? "; a value with spaces needs quotes"
                                           : "");
  }
  if (verb != nullptr) {
    const std::string missing = MissingOf(*verb);
    return missing.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr
               ? absl::StrCat(verb->get_name(), ": ", error.what(),
                              TakesTwo(*verb, error) ? " (write --compare A B)" : "")
               : absl::StrCat(verb->get_name(), " needs ", missing, "; for example: ", Program(),
                              " ", FindVerb(verb->get_name())->example);
  }
  return words.empty()
             ? absl::StrCat("no verb; `", Program(), " run` tests the best device of this machine")
             : std::string(NoVerb(words.front()).message());
}

// Prints the help or the version, or returns what is wrong with the command line.
std::string HelpOrComplaint(const CLI::App& program, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) {
    PrintPaged(program.help());
    return "";
  }
  if (error.get_exit_code() == 0) {  // --version
    program.exit(error);
    return "";
  }
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const CLI::App* verb = chosen.empty() ? nullptr : chosen.front();
  return absl::StrCat(WhyNotParsed(program, verb, error), "\n`mmadiff help",
                      verb == nullptr ? "" : " " + verb->get_name(), "` shows the usage");
}

// CLI11 accepts the next word as the value of "--instr" and "--instr=", even if it is a flag.
void RefuseFlagsAsValues(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_items_expected_min() == 0) continue;
    option->transform(CLI::Validator(
        [](std::string& value) {
          return value.rfind("--", 0) == 0 ? absl::StrCat("needs a value, not '", value, "'") : "";
        },
        ""));
  }
}

// A complaint about an exit code that already has a different meaning.
std::string IsFree(const std::string& code) {
  for (const ExitCode taken : ExitCodes()) {
    if (taken == kMismatch || code != std::to_string(taken)) continue;
    return absl::StrCat(code, " already means: ", MeaningOf(taken));
  }
  return "";
}

void AddGlobals(CLI::App& app, Globals& globals) {
  app.set_version_flag("--version", VersionText(), "version, commit and build options");
  app.add_flag("--json", globals.json, "print results as JSON on stdout");
  app.add_flag("--quiet,-q", globals.quiet, "do not show progress");
  AddOption(app, "--color", globals.color, "when to use color")
      .OneOf({"auto", "always", "never"})
      .TypeName("WHEN");
  app.add_option("--workdir", globals.workdir,
                 "folder for checkpoints and findings [run: a folder in mmadiff-runs; minimize: "
                 "the current folder]")
      ->type_name("FOLDER");
  app.add_option("--model", globals.models,
                 "file of a model of your own (docs/models.md): FILE.model is the instruction "
                 "own/FILE, which a verb takes if none is named; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--shared", globals.shared,
               "allow writing to a folder that a different user created");
  AddOption(app, "--error_exitcode", globals.error_exitcode, "exit code for mismatches")
      .Range(1, 255)
      .Check(IsFree);
}

// A model of the user's own is the instruction if none is named.
void MakeInstructionOptional(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) {
    static const std::set<std::string> taken = {"instruction", "case", "rows"};
    if (option->get_positional() && taken.contains(option->get_name())) option->required(false);
  }
}

Color ColorOf(const std::string& when) {
  return when == "always" ? Color::kAlways : when == "never" ? Color::kNever : Color::kAuto;
}

// Schemas by verb.
std::map<std::string, std::vector<ResultKind>>& Results() {
  static auto& results = *new std::map<std::string, std::vector<ResultKind>>;
  return results;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `mmadiff gen X | head` ends quietly
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of write(), like a full disk
  if (argc > 0) SetProgram(argv[0]);
  Globals globals;
  CLI::App app("", "mmadiff");
  app.fallthrough();
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.formatter_fn(
      [](const CLI::App* of, const std::string&, CLI::AppFormatMode) { return HelpText(*of); });
  AddGlobals(app, globals);
  RefuseFlagsAsValues(app);

  std::function<void(Call&)> chosen;
  std::string chosen_name;
  for (const Verb& verb : kVerbs) {
    CLI::App* command = app.add_subcommand(verb.name, verb.what);
    command->fallthrough();
    const Action action = verb.add(*command);
    Results()[verb.name] = action.results;
    command->callback([&, verb = &verb, run = action.run] {
      chosen = run;
      chosen_name = verb->name;
    });
    RefuseFlagsAsValues(*command);
  }
  std::vector<std::string> args;
  bool ours = true;  // until "--"
  for (int i = 1; i < argc; ++i) {
    ours = ours && absl::string_view(argv[i]) != "--";
    args.push_back(ours ? WithUnderscores(argv[i]) : argv[i]);
  }
  if (std::ranges::any_of(args,
                          [](const std::string& arg) { return arg.starts_with("--model"); })) {
    for (CLI::App* verb : app.get_subcommands({})) MakeInstructionOptional(*verb);
  }
  std::ranges::reverse(args);  // as CLI11 takes them
  std::string complaint;
  try {
    app.parse(args);
  } catch (const CLI::ParseError& error) {
    complaint = HelpOrComplaint(app, error);
    chosen = nullptr;
  }
  Console console(ColorOf(globals.color), globals.quiet);
  const ActivityListener steps([&console](absl::string_view step) { console.Step(step); });
  Call call = {Ending(chosen_name), globals, console};
  if (argc <= 1) {
    console.Print(FirstSteps(console));
    call.Say(Verdict::kUsage, "no verb");
  } else if (!complaint.empty()) {
    call.Say(Verdict::kUsage, complaint);
  } else if (chosen != nullptr && globals.json && Results()[chosen_name].empty()) {
    call.Say(Verdict::kUsage, absl::StrCat(chosen_name, " has no --json"));
  } else if (chosen != nullptr) {
    const absl::Status read = ReadModels(globals.models);
    read.ok() ? chosen(call) : call.Say(Verdict::kUsage, std::string(read.message()));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    call.Say(Verdict::kNotWritten, "standard output could not be written");
  }
  call.Close();
  for (const LeftOutLine& line : call.ledger().lines()) {
    if (!IsSaidElsewhere(line) && !IsOfOthers(line)) console.Warn(Text(line));
  }
  for (const Ending::Said& said : call.all()) {
    if (!said.why.empty()) console.Warn(said.why);
  }
  return call.exit_code(globals.error_exitcode);
}

}  // namespace

std::span<const Verb> Verbs() { return std::span(kVerbs).first(std::size(kVerbs) - 1); }

std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  for (const Verb& verb : Verbs()) names.push_back(verb.name);
  return names;
}

std::vector<Schema> ResultsOf(const Verb& verb) {
  std::vector<Schema> schemas;
  for (const ResultKind& kind : Results()[verb.name]) {
    schemas.push_back(kind.schema());
    schemas.back().when = kind.when;
  }
  return schemas;
}

const Verb* FindVerb(absl::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return &verb;
  }
  return nullptr;
}

absl::Status NoVerb(const std::string& name) {
  return absl::InvalidArgumentError(
      absl::StrCat("no verb '", name, "'", DidYouMean(name, VerbNames())));
}

}  // namespace mmadiff

// Out of memory, a bug in a library.
static int InternalError(const std::exception& error) {
  std::fprintf(stderr, "mmadiff: internal error: %s\n", mmadiff::PlainText(error.what()).c_str());
  return mmadiff::kInternal;
}

// InternalError() for an exception that ends a different thread.
[[noreturn]] static void EndOfThread() {
  try {
    if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    _exit(InternalError(error));
  } catch (...) {
  }
  std::abort();
}

int main(int argc, char** argv) {
  std::set_terminate(EndOfThread);
  try {
    const int code = mmadiff::Main(argc, argv);
    if (mmadiff::AKernelHangs()) _exit(code);  // Main() has written everything
    return code;
  } catch (const std::exception& error) {
    return InternalError(error);
  }
}
