// mmadiff minimize: investigates one mismatch and files what is worth keeping of it.
#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/subject.h"
#include "fuzz/findings.h"
#include "fuzz/report.h"
#include "triage/diagnosis/investigate.h"

namespace mmadiff {
namespace {

int RunMinimize(const std::string& argument, const std::string& device_spec, int64_t most_calls,
                const Globals& globals) {
  Console console = globals.MakeConsole();
  DeviceOr device = OpenDeviceAndWarn(device_spec, console);
  if (!device.ok()) return Fail(device.status());
  const absl::StatusOr<Subject> subject = LoadSubject(argument, device->get());
  if (!subject.ok()) return Fail(subject.status());
  if (subject->differing.empty()) {
    console.Warn(
        absl::StrCat(argument, ": the device gives the model's answer; nothing to shrink"));
    return kClean;
  }
  const CaseStream stream = subject->stream
                                ? *subject->stream
                                : CaseStream{subject->mismatch.op, &Strategies().front(), 1};
  absl::StatusOr<Investigation> i =
      Investigate(**device, subject->mismatch, stream, {}, most_calls);
  if (!i.ok()) return Fail(i.status());
  const bool flaky = i->repeatability != Repeatability::kReproduced;
  if (flaky) {  // what was seen the first time is the evidence
    i->bucket = absl::StrCat(kFlaky, i->bucket);
    i->cases = {{subject->mismatch, i->bucket, "the device and the model differ, once"}};
  }
  Finding finding;
  finding.op = subject->mismatch.op->name;
  finding.signature = i->bucket;
  finding.case_name = argument;
  finding.diagnosis = i->Text();
  finding.flaky = flaky;
  const std::string folder = globals.workdir.empty() ? "." : globals.workdir;
  if (absl::Status s = FileCases(i->cases, **device, folder, finding); !s.ok()) {
    return Fail(s, kNotDurable);
  }
  finding.cases = 1;
  console.Print(globals.json
                    ? FormatJsonFinding(finding)
                    : DescribeFinding(i->cases.front().mismatch, finding, console.color()));
  if (!flaky) return kMismatch;
  console.Warn("the device's answers do not repeat, so they say nothing of the model");
  return kDamaged;
}

}  // namespace

std::function<int()> AddMinimize(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string subject, device = "auto";
    int64_t max_calls = 0;
  };
  const auto flags = std::make_shared<Flags>();
  command.add_option("case", flags->subject, "a filed case (*.txtpb) or a case name")->required();
  command.add_option("--device", flags->device, "the device that differs [auto]");
  command
      .add_option("--max_calls", flags->max_calls,
                  "executions of the device to spend, about [20000; of a slow device 500]")
      ->check(CLI::PositiveNumber);
  return [flags, &globals] {
    return RunMinimize(flags->subject, flags->device, flags->max_calls, globals);
  };
}

}  // namespace mmadiff
