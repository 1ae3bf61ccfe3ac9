// What every verb shares: the global flags, and helpers for their arguments. One file a verb; the table
// of verbs is in main.cc, that of their exit codes in fuzz/verdict/verdict_table.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "fuzz/cli/flags.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/console.h"
#include "fuzz/output/shared_fields.h"
#include "fuzz/verdict/drop.h"
#include "fuzz/verdict/ending.h"
#include "sim/operation.h"

namespace mmadiff {

struct Globals {
  bool json = false;
  bool quiet = false;
  std::string color = "auto";
  std::string workdir;
  bool shared = false;             // folders of other users are written to
  int error_exitcode = kMismatch;  // what to exit with instead of 1
};

// One call of a verb: what it comes to, the global flags, and where it prints.
struct Call : Ending {
  const Globals& globals;
  Console& console;

  template <class Result>
  void PrintJson(const Result& result, int indent = 1) {
    console.Print(JsonText(JsonOf(result), indent) + "\n");
  }
  // The result: as JSON with --json, else as text. `indent` as JsonText().
  template <class Result>
  void Print(const Result& result, absl::FunctionRef<std::string()> text, int indent = 1) {
    if (globals.json) return PrintJson(result, indent);
    console.Print(text());
  }
  // The same; JSON says also what was left out.
  template <class Result>
  void PrintWithLeftOut(const Result& result, absl::FunctionRef<std::string()> text,
                        int indent = 1) {
    Print(WithLeftOut<Result>{result, ledger().lines()}, text, indent);
  }
};

// A kind of result that a verb prints with --json; `when`: the arguments that ask for it, unless all do.
struct ResultKind {
  ResultKind(Schema (*schema)(), const char* when = "") : schema(schema), when(when) {}
  Schema (*schema)();
  const char* when;
};

// What a verb does once its flags are parsed, and what it prints with --json.
struct Action {
  template <class Flags>
  Action(void (*run)(const Flags&, Call&), std::shared_ptr<Flags> flags,
         std::vector<ResultKind> results = {})
      : run([run, flags](Call& call) { run(*flags, call); }), results(std::move(results)) {}

  std::function<void(Call&)> run;
  std::vector<ResultKind> results;
};

// A verb of the program: a line of the table in main.cc.
struct Verb {
  const char* name;
  const char* group = "";  // the heading above it in help; empty: not for people
  const char* what;
  Action (*add)(CLI::App& command);  // registers flags on the subcommand
  const char* example = "";          // what follows "mmadiff "
};

// The table of verbs, in main.cc: those for people.
std::span<const Verb> Verbs();
// Their names.
std::vector<std::string> VerbNames();
// What it prints with --json, a schema for each kind of result; none: it has no --json. In Main().
std::vector<Schema> ResultsOf(const Verb& verb);
// nullptr when there is none.
const Verb* FindVerb(absl::string_view name);
// kInvalidArgument, with the nearest verb.
absl::Status NoVerb(const std::string& name);

// Enters the drops into the ledger, and their verdicts; `answered`: the device answered for an
// operation.
void SayDropped(std::span<const Drop> drops, bool answered, Ending& ending);

// "1000000", "1e9", "2^20", "16k", "1.5M", "2G", "1T".
absl::StatusOr<uint64_t> ParseCount(const std::string& text);
// "90", "90s", "30m", "8h", neither negative nor infinite; `flag` is for the message.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text);

// Flags that several verbs have. Each returns the option, for more checks. `globs`: each use of
// --instr adds to those before, in place of the default.
Flag AddInstr(
    CLI::App& command, std::vector<std::string>& globs,
    const std::string& what = "comma-separated globs of ARCH/INSTRUCTION; repeated flags add up");
// `scheduled`: a verb that can also follow a schedule.
Flag AddStrategy(CLI::App& command, std::string& strategy, const std::string& of = "",
                 bool scheduled = false);
// Digits only (CLI11 alone takes -1 for 2^64 - 1).
Flag AddSeed(CLI::App& command, uint64_t& seed);
Flag AddDevice(CLI::App& command, std::string& spec, const std::string& what);
// For ParseDuration().
Flag AddDuration(CLI::App& command, const std::string& flag, std::string& duration,
                 const std::string& what);
Flag AddThreads(CLI::App& command, int& threads);
// The instruction of a verb that takes one.
Flag AddInstruction(CLI::App& command, std::string& name);

// `path` of the repository's data, "corpus/...": as it is if that is there, else below share/mmadiff
// beside an installed program if that is, else as it is.
std::string DataPath(const std::string& path);

// OpenDevice() and OpenEngine(), whose warnings are printed.
DeviceOr OpenDeviceAndWarn(absl::string_view spec, Console& console);
EngineOr OpenEngineAndWarn(absl::string_view spec, Console& console);
// Opens one again, for another thread; its warning was printed.
EngineOpener OpenerOf(const std::string& spec);

// The operation of that name. kNotFound if no model of it is known; kInvalidArgument, with the nearest
// names, if no table has the name: that is a mistake, not something missing here.
absl::StatusOr<const Operation*> OneOperation(const std::string& name,
                                              Models models = Models::kRequired);
// The operations that match any of the globs, in table order, those without a model last, each of
// them in the ledger: those that `device`, if there is one, has, and of Models::kRequired those with
// a model. Perhaps none: then the ledger has the verdict. kInvalidArgument names the glob that
// matches none, and the nearest names.
absl::StatusOr<std::vector<const Operation*>> ChooseOperations(
    const std::vector<std::string>& globs, Models models, const Device* device, Ledger& ledger);

std::vector<std::string> NamesOf(const std::vector<const Operation*>& ops);
// Those with a model; which of the others the command line names, a ledger must know.
Filtered<const Operation*> WithModel(const std::vector<const Operation*>& ops);
// Those that the device has.
Filtered<const Operation*> OfDevice(const Device& device, const std::vector<const Operation*>& ops);
// Enters those as compared whose model one of `done` has.
void CompareByModel(const std::vector<const Operation*>& ops,
                    const std::vector<const Operation*>& done, Ledger& ledger);

// Whether the line only tells a user who asked for all instructions that other devices and architectures have more.
bool IsOfOthers(const LeftOutLine& line);

}  // namespace mmadiff
