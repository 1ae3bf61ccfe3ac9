// What every verb shares: the global flags, exit codes, and helpers for their arguments. One file a
// verb; the table of verbs is in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"
#include "sim/operation.h"

namespace mmadiff {

enum ExitCode : int {
  kClean = 0,
  kMismatch = 1,
  kUsage = 2,
  kInternal = 3,
  kNoDevice = 4,    // or it does not have the instruction
  kDamaged = 5,     // the good records were used
  kNotDurable = 6,  // results could not be written
  kStopped = 75,    // nothing lost, run again
};

// "0 clean", "1 mismatches", ...: what a script may rely on.
struct ExitCodeMeaning {
  ExitCode code = kClean;
  const char* what = nullptr;
};
std::span<const ExitCodeMeaning> ExitCodes();

struct Globals {
  bool json = false;
  bool quiet = false;
  std::string color = "auto";
  std::string workdir;
  int error_exitcode = kMismatch;  // what to exit with instead of 1

  Console MakeConsole() const;
};

// A verb of the program: a line of the table in main.cc.
struct Verb {
  const char* name;
  const char* what;
  // Registers flags on the subcommand; what it returns is called once they are parsed, and gives
  // the exit code.
  std::function<int()> (*add)(CLI::App& command, const Globals& globals);
  const char* example = "";  // what follows "mmadiff "
  const char* codes = "";    // exit codes beside those of all verbs: "1 4 75"
  // What codes mean here, if not what ExitCodes() says; claims separated by "; ". A `what` of
  // nullptr ends them.
  ExitCodeMeaning own[5] = {};
  bool json = false;    // knows --json
  bool hidden = false;  // not for people: no help lists it
};

// The table of verbs, in main.cc.
std::span<const Verb> Verbs();
// nullptr when there is none.
const Verb* FindVerb(absl::string_view name);
// kInvalidArgument, with the nearest verb.
absl::Status NoVerb(const std::string& name);

std::function<int()> AddRun(CLI::App& command, const Globals& globals);
std::function<int()> AddReplay(CLI::App& command, const Globals& globals);
std::function<int()> AddMinimize(CLI::App& command, const Globals& globals);
std::function<int()> AddExplain(CLI::App& command, const Globals& globals);
std::function<int()> AddRace(CLI::App& command, const Globals& globals);
std::function<int()> AddIdentify(CLI::App& command, const Globals& globals);
std::function<int()> AddList(CLI::App& command, const Globals& globals);
std::function<int()> AddGen(CLI::App& command, const Globals& globals);
std::function<int()> AddEval(CLI::App& command, const Globals& globals);
std::function<int()> AddCheck(CLI::App& command, const Globals& globals);
std::function<int()> AddLayout(CLI::App& command, const Globals& globals);
std::function<int()> AddCoverage(CLI::App& command, const Globals& globals);
std::function<int()> AddBench(CLI::App& command, const Globals& globals);
std::function<int()> AddMutants(CLI::App& command, const Globals& globals);
std::function<int()> AddInfer(CLI::App& command, const Globals& globals);
std::function<int()> AddProbe(CLI::App& command, const Globals& globals);
std::function<int()> AddChanges(CLI::App& command, const Globals& globals);
std::function<int()> AddRecord(CLI::App& command, const Globals& globals);
std::function<int()> AddSurvey(CLI::App& command, const Globals& globals);
std::function<int()> AddSurveyAsk(CLI::App& command, const Globals& globals);
std::function<int()> AddMerge(CLI::App& command, const Globals& globals);
std::function<int()> AddClean(CLI::App& command, const Globals& globals);
std::function<int()> AddStatus(CLI::App& command, const Globals& globals);
std::function<int()> AddReport(CLI::App& command, const Globals& globals);
std::function<int()> AddVerify(CLI::App& command, const Globals& globals);
std::function<int()> AddHelp(CLI::App& command, const Globals& globals);

// Prints "mmadiff: MESSAGE", control characters escaped, and returns the exit code for the status:
// usage for kInvalidArgument, kFailedPrecondition and kAlreadyExists, no device for kNotFound,
// damaged for kAborted, damaged or not durable for kDataLoss by `data_loss`, stopped for
// kUnavailable and kDeadlineExceeded, internal for the rest.
int Fail(const absl::Status& status, ExitCode data_loss = kDamaged);

// Of operations that a device left out, where an OK counts for none: no device when all are
// kNotFound and no operation was `answered`, damaged for an answer that cannot be read, else
// internal.
ExitCode CodeOfDropped(const std::vector<absl::Status>& dropped, bool answered);

// "1000000", "1e9", "2^20", "16k", "1.5M", "2G", "1T".
absl::StatusOr<uint64_t> ParseCount(const std::string& text);
// "90", "90s", "30m", "8h", neither negative nor infinite; `flag` is for the message.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text);
// A CLI11 check-and-convert for counts.
CLI::Validator Count();

// Flags that several verbs have. Each returns the option, for more checks. `globs`: each use of
// --instr adds to those before, in place of the default.
CLI::Option* AddInstr(CLI::App& command, std::vector<std::string>& globs);
// `scheduled`: a verb that can also follow a schedule.
CLI::Option* AddStrategy(CLI::App& command, std::string& strategy, const std::string& of = "",
                         bool scheduled = false);
// Digits only (CLI11 alone takes -1 for 2^64 - 1).
CLI::Option* AddSeed(CLI::App& command, uint64_t& seed);
CLI::Option* AddDevice(CLI::App& command, std::string& spec, const std::string& what);
// For ParseDuration().
CLI::Option* AddDuration(CLI::App& command, const std::string& flag, std::string& duration,
                         const std::string& what);
CLI::Option* AddThreads(CLI::App& command, int& threads);
// The instruction of a verb that takes one.
CLI::Option* AddInstruction(CLI::App& command, std::string& name);

// `path` of the repository's data, "corpus/...": as it is if that is there, else below share/mmadiff
// beside an installed program if that is, else as it is.
std::string DataPath(const std::string& path);

// OpenDevice() and OpenEngine(), whose warnings are printed.
DeviceOr OpenDeviceAndWarn(absl::string_view spec, Console& console);
EngineOr OpenEngineAndWarn(absl::string_view spec, Console& console);
// Leaves those that the device has. kNotFound, with what the first one lacks, if that is none.
absl::Status KeepSupported(const Device& device, std::vector<const Operation*>& ops);
// Opens one again, for another thread; its warning was printed.
EngineOpener OpenerOf(const std::string& spec);

// The operation of that name; kInvalidArgument with the nearest names: a name that no machine knows
// is a mistake, not something missing here.
absl::StatusOr<const Operation*> OneOperation(const std::string& name,
                                              Models models = Models::kRequired);
// Operations that match any of the globs, in table order, those without a model last; an error
// names the glob that matches none.
absl::StatusOr<std::vector<const Operation*>> OperationsMatching(
    const std::vector<std::string>& globs, Models models = Models::kRequired);

}  // namespace mmadiff
