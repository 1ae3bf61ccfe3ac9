// mmadiff minimize: investigates one mismatch and files its minimal cases.
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

struct MinimizeFlags {
  std::string subject, device;
  int64_t max_calls = 0;
};

// Keeps runs from writing to a named folder; the current folder is not locked.
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
       {.what = "equal: the device gives the model's answer; then nothing is filed, and all "
                "members but instruction and first_case are empty",
        .words = {"differs", "flaky", "equal"}}},
      Field<R>::Flat([](const R& r) { return r.finding; }),
      {"state",
       [](const R& r) {
         return r.finding.path.empty() ? std::nullopt : std::optional(Name(r.finding.state));
       },
       Absent(FindingStates("state of the filed case"))},
  };
}

void RunMinimize(const MinimizeFlags& flags, Call& call) {
  const std::string& argument = flags.subject;
  const absl::StatusOr<RegressionCase> stored = ReadCase(argument, true);
  const std::string filed = flags.device.empty() && stored.ok() ? stored->device() : "";
  if (!filed.empty()) {
    return call.Say(
        Verdict::kUsage,
        absl::StrCat(argument,
                     ": name the device; the case was filed with --device=", ShellWord(filed),
                     " (it is not taken from the file, because a file must not start programs)"));
  }
  DeviceOr device = OpenDeviceAndWarn(flags.device.empty() ? "auto" : flags.device, call.console);
  if (!device.ok()) return call.Say(device.status());
  const absl::StatusOr<Subject> subject = LoadSubject(argument, device->get());
  if (!subject.ok()) return call.Say(subject.status());
  if (subject->differing.empty()) {
    call.console.Warn(
        absl::StrCat(argument, ": the device gives the model's answer; nothing to shrink"));
    Finding none;
    none.op = subject->mismatch.op->name;
    none.case_name = argument;
    if (call.globals.json) call.PrintJson(MinimizeResult{"equal", none});
    return;
  }
  std::unique_ptr<FolderLock> lock;
  if (absl::Status s = Lock(call.globals.workdir, call.globals.shared, lock, call.console); !s.ok())
    return call.Say(s, Verdict::kNotWritten);
  const auto minimized = MinimizeCase(*subject, **device, flags.max_calls,
                                      call.globals.workdir.empty() ? "." : call.globals.workdir);
  if (!minimized.ok()) return call.Say(minimized.status(), Verdict::kNotWritten);
  const Finding& finding = minimized->finding;
  call.Print(MinimizeResult{finding.flaky() ? "flaky" : "differs", finding},
             [&] { return DescribeFinding(minimized->cases, finding, call.console.style()); });
  if (!finding.flaky()) return call.Say(Verdict::kDiffers);
  call.Say(Verdict::kUnrepeated,
           "the device's answers do not repeat, so they decide nothing about the model");
}

}  // namespace

Action AddMinimize(CLI::App& command) {
  const auto flags = std::make_shared<MinimizeFlags>();
  AddOption(command, "case", flags->subject,
            "a filed case (*.txtpb) or a case name; the minimal cases are filed as new files in "
            "--workdir [the current folder]")
      .Required();
  AddDevice(command, flags->device, "device that mismatches [auto for a case name]");
  AddOption(command, "--max_calls", flags->max_calls,
            "approximate number of device executions to spend [20000; 500 for a slow device]")
      .Positive()
      .TypeName("N");
  return {RunMinimize, flags, {SchemaOf<MinimizeResult>}};
}

}  // namespace mmadiff
