// Shared by all verbs: the global flags and helpers for arguments. Each verb has its own file. The
// table of verbs is in main.cc, the table of their exit codes in fuzz/verdict/verdict_table.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
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
  std::vector<std::string> models;  // files
  bool shared = false;              // folders of other users may be written to
  int error_exitcode = kMismatch;   // exit code for mismatches, instead of 1
};

// One call of a verb: its verdicts, the global flags and the console that it prints to.
struct Call : Ending {
  const Globals& globals;
  Console& console;

  template <class Result>
  void PrintJson(const Result& result, int indent = 1) {
    console.Print(JsonText(JsonOf(result), indent) + "\n");
  }
  // Prints the result: as JSON with --json, else as text. `indent` as for JsonText().
  template <class Result>
  void Print(const Result& result, absl::FunctionRef<std::string()> text, int indent = 1) {
    if (globals.json) return PrintJson(result, indent);
    console.Print(text());
  }
  // The same; the JSON also lists everything that was left out.
  template <class Result>
  void PrintWithLeftOut(const Result& result, absl::FunctionRef<std::string()> text,
                        int indent = 1) {
    Print(WithLeftOut<Result>{result, ledger().lines()}, text, indent);
  }
};

// A kind of result that a verb prints with --json. `when`: the arguments that select it; empty if
// all do.
struct ResultKind {
  ResultKind(Schema (*schema)(), const char* when = "") : schema(schema), when(when) {}
  Schema (*schema)();
  const char* when;
};

// The function that runs a verb once its flags are parsed, and the kinds of its --json results.
struct Action {
  template <class Flags>
  Action(void (*run)(const Flags&, Call&), std::shared_ptr<Flags> flags,
         std::vector<ResultKind> results = {})
      : run([run, flags](Call& call) { run(*flags, call); }), results(std::move(results)) {}

  std::function<void(Call&)> run;
  std::vector<ResultKind> results;
};

// A verb of the program: a row of the table in main.cc.
struct Verb {
  const char* name;
  const char* group = "";  // the heading above it in help; empty for internal verbs
  const char* what;
  Action (*add)(CLI::App& command);  // registers flags on the subcommand
  const char* example = "";          // the arguments after "mmadiff "
};

// The table of verbs in main.cc, without internal ones.
std::span<const Verb> Verbs();
// Their names.
std::vector<std::string> VerbNames();
// Schemas of the verb's --json results, one for each kind; none if it has no --json. Call it in
// Main().
std::vector<Schema> ResultsOf(const Verb& verb);
// nullptr if no verb has the name.
const Verb* FindVerb(absl::string_view name);
// kInvalidArgument, with the nearest verb.
absl::Status NoVerb(const std::string& name);

// Enters the drops and their verdicts into the ledger. `answered`: the device answered for some
// operation.
void SayDropped(std::span<const Drop> drops, bool answered, Ending& ending);

// "1000000", "1e9", "2^20", "16k", "1.5M", "2G", "1T".
absl::StatusOr<uint64_t> ParseCount(const std::string& text);
// "90", "90s", "30m", "8h", neither negative nor infinite; `flag` is for the message.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text);

// Flags that several verbs have. Each function returns the option, so that checks can be added.
// `globs`: the default is replaced; each use of --instr adds to the earlier ones.
Flag AddInstr(
    CLI::App& command, std::vector<std::string>& globs,
    const std::string& what = "comma-separated globs of ARCH/INSTRUCTION; repeated flags add up");
// `of` is appended to the description. `scheduled`: the verb can also follow a schedule.
Flag AddStrategy(CLI::App& command, std::string& strategy, const std::string& of = "",
                 bool scheduled = false);
// Accepts digits only (CLI11 alone reads -1 as 2^64 - 1).
inline constexpr char kMatrixDevice[] =
    "MATRIX_DEVICE";  // value of a --device that multiplies matrices
Flag AddSeed(CLI::App& command, uint64_t& seed);
Flag AddDevice(CLI::App& command, std::string& spec, const std::string& what);
// For ParseDuration().
Flag AddDuration(CLI::App& command, const std::string& flag, std::string& duration,
                 const std::string& what);
Flag AddThreads(CLI::App& command, int& threads);
// For verbs with one instruction argument.
Flag AddInstruction(CLI::App& command, std::string& name);

// The path of the repository's data file `path`, "corpus/...": unchanged if it exists; else below
// share/mmadiff of an installed program if it exists there; else unchanged.
std::string DataPath(const std::string& path);

// OpenDevice() and OpenEngine(), which also print the warnings.
DeviceOr OpenDeviceAndWarn(absl::string_view spec, Console& console);
EngineOr OpenEngineAndWarn(absl::string_view spec, Console& console);
// Opens the engine again, for a different thread; does not repeat its warning.
EngineOpener OpenerOf(const std::string& spec);

// The operation of that name. kNotFound if it has no model. kInvalidArgument, with the nearest
// names, if no table has the name: that is a mistake, not something missing here.
absl::StatusOr<const Operation*> OneOperation(const std::string& name,
                                              Models models = Models::kRequired);
// The operations that match any of the globs, in table order, those without a model last. Leaves
// out operations that `device` (if not null) lacks and, with Models::kRequired, those without a
// model. All are entered into the ledger. The result may be empty: then the ledger has the verdict.
// kInvalidArgument names a glob without a match, and the nearest names. The default "*" does not
// select instructions for a device that supports any: "*/*" selects all of them.
absl::StatusOr<std::vector<const Operation*>> ChooseOperations(
    const std::vector<std::string>& globs, Models models, const Device* device, Ledger& ledger);

std::vector<std::string> NamesOf(const std::vector<const Operation*>& ops);
// The operations with a model. The ledger needs to record which of the others the command line
// names.
Filtered<const Operation*> WithModel(const std::vector<const Operation*>& ops);
// The operations that the device supports. Conversions that are not among the `named` ones have a
// reason of their own, and are left out if Device::SupportsAny().
Filtered<const Operation*> OfDevice(const Device& device, const std::vector<const Operation*>& ops,
                                    const std::set<const Operation*>& named);
// Enters the operations as compared whose model is shared by one of `done`.
void CompareByModel(const std::vector<const Operation*>& ops,
                    const std::vector<const Operation*>& done, Ledger& ledger);

// Whether the line only reports, after a request for all instructions, that other devices and
// architectures have more.
bool IsOfOthers(const LeftOutLine& line);

}  // namespace mmadiff
