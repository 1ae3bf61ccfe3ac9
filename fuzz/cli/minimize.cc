// mmadiff minimize: shrinks one mismatch and files the minimal case.
#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/subject.h"
#include "fuzz/devices.h"
#include "fuzz/findings.h"
#include "triage/explain.h"

namespace mmadiff {
namespace {

int RunMinimize(const std::string& argument, const std::string& device_spec,
                const Globals& globals) {
  Console console = globals.MakeConsole();
  DeviceOr device = OpenDevice(device_spec);
  if (!device.ok()) return Fail(device.status());
  const absl::StatusOr<Subject> subject = LoadSubject(argument, device->get());
  if (!subject.ok()) return Fail(subject.status());
  if (subject->differing.empty()) {
    console.Warn(
        absl::StrCat(argument, ": the device gives the model's answer; nothing to shrink"));
    return kClean;
  }
  const std::vector<Observed> observed = subject->observed();
  const int64_t element =
      TellingElement(*subject->row, observed, Signature(*subject->row, observed));
  absl::StatusOr<Minimized> minimal =
      Minimize(**device, {subject->row, subject->inputs, element, subject->device});
  if (!minimal.ok()) return Fail(minimal.status());
  const bool flaky = minimal->repeatability != Repeatability::kReproduced;
  if (flaky) {  // what was seen the first time is the evidence
    minimal->model = subject->model;
    minimal->device = subject->device;
    minimal->signature = absl::StrCat("flaky:", Signature(*subject->row, observed));
  }
  Finding finding;
  finding.row = subject->row->name;
  finding.signature = minimal->signature;
  finding.case_name = argument;
  finding.flaky = flaky;
  const std::string folder = globals.workdir.empty() ? "." : globals.workdir;
  const absl::StatusOr<std::string> path =
      WriteCase(ToRegressionCase(*minimal, **device, argument), folder);
  if (!path.ok()) return Fail(absl::DataLossError(path.status().message()), kNotDurable);
  finding.path = *path;
  console.Print(DescribeFinding(*minimal, finding, console.color()));
  if (!flaky) return kMismatch;
  console.Warn("the device's answers do not repeat, so they say nothing of the model");
  return kDamaged;
}

}  // namespace

std::function<int()> AddMinimize(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string subject, device = "auto";
  };
  const auto flags = std::make_shared<Flags>();
  command.add_option("case", flags->subject, "a filed case (*.txtpb) or a case name")->required();
  command.add_option("--device", flags->device, "the device that differs [auto]");
  return [flags, &globals] { return RunMinimize(flags->subject, flags->device, globals); };
}

}  // namespace mmadiff
