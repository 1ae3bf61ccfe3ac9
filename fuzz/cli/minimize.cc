// mmadiff minimize: investigates one mismatch and files what is worth keeping of it.
#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/folder/workdir.h"
#include "fuzz/output/next_command.h"
#include "fuzz/replay/explainer.h"
#include "fuzz/report/run_fields.h"

namespace mmadiff {
namespace {

// Keeps runs from writing to a folder that is named; the current one is nobody's.
absl::Status Lock(const std::string& folder, bool shared, std::unique_ptr<FolderLock>& lock,
                  Console& console) {
  if (folder.empty()) return absl::OkStatus();
  if (absl::Status s = MakeFolder(folder); !s.ok()) return absl::DataLossError(s.message());
  std::string warning;
  ASSIGN_OR_RETURN(auto taken, FolderLock::Take(folder, warning, shared));
  lock = std::move(taken);
  if (!warning.empty()) console.Warn(warning);
  return absl::OkStatus();
}

struct MinimizeResult {
  const char* verdict;
  const Finding& finding;
};

Fields<MinimizeResult> FieldsOf(const MinimizeResult*) {
  using R = MinimizeResult;
  return {
      {"verdict",
       &R::verdict,
       {.what = "equal: to the model; then nothing is filed, and all but instruction and "
                "first_case is empty",
        .words = {"differs", "flaky", "equal"}}},
      Field<R>::Flat([](const R& r) { return r.finding; }),
      {"state",
       [](const R& r) {
         return r.finding.path.empty() ? std::nullopt : std::optional(Name(r.finding.state));
       },
       Absent(FindingStates("of what is filed"))},
  };
}

void RunMinimize(const std::string& argument, const std::string& device_spec, int64_t most_calls,
                 const Globals& globals, Ending& ending) {
  Console console = globals.MakeConsole();
  const absl::StatusOr<RegressionCase> stored = ReadCase(argument, true);
  const std::string filed = device_spec.empty() && stored.ok() ? stored->device() : "";
  if (!filed.empty()) {
    return ending.Say(
        Verdict::kUsage,
        absl::StrCat(argument, ": give --device=", ShellWord(filed),
                     ", the device that it was filed with: no file starts a program by itself"));
  }
  DeviceOr device = OpenDeviceAndWarn(device_spec.empty() ? "auto" : device_spec, console);
  if (!device.ok()) return ending.Say(device.status());
  const absl::StatusOr<Subject> subject = LoadSubject(argument, device->get());
  if (!subject.ok()) return ending.Say(subject.status());
  if (subject->differing.empty()) {
    console.Warn(
        absl::StrCat(argument, ": the device gives the model's answer; nothing to shrink"));
    Finding none;
    none.op = subject->mismatch.op->name;
    none.case_name = argument;
    if (globals.json) PrintJson(JsonOf(MinimizeResult{"equal", none}), console);
    return;
  }
  std::unique_ptr<FolderLock> lock;
  if (absl::Status s = Lock(globals.workdir, globals.shared, lock, console); !s.ok())
    return ending.Say(s, Verdict::kNotWritten);
  const auto minimized =
      MinimizeCase(*subject, **device, most_calls, globals.workdir.empty() ? "." : globals.workdir);
  if (!minimized.ok()) return ending.Say(minimized.status(), Verdict::kNotWritten);
  const Finding& finding = minimized->finding;
  if (globals.json) {
    PrintJson(JsonOf(MinimizeResult{finding.flaky() ? "flaky" : "differs", finding}), console);
  } else {
    console.Print(DescribeFinding(minimized->cases, finding, console.style()));
  }
  if (!finding.flaky()) return ending.Say(Verdict::kDiffers);
  ending.Say(Verdict::kUnrepeated,
             "the device's answers do not repeat, so they say nothing of the model");
}

}  // namespace

Action AddMinimize(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string subject, device;
    int64_t max_calls = 0;
  };
  const auto flags = std::make_shared<Flags>();
  AddOption(command, "case", flags->subject, "a filed case (*.txtpb) or a case name").Required();
  AddDevice(command, flags->device, "the device that differs [auto for a case name]");
  AddOption(command, "--max_calls", flags->max_calls,
            "executions of the device to spend, about [20000; of a slow device 500]")
      .Positive()
      .TypeName("N");
  return {[flags, &globals](Ending& ending) {
            RunMinimize(flags->subject, flags->device, flags->max_calls, globals, ending);
          },
          {SchemaOf<MinimizeResult>}};
}

}  // namespace mmadiff
