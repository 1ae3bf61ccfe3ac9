// mmadiff explain: one mismatch stage by stage, beside the one-parameter changes that reproduce it.
#include "triage/explain.h"

#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/subject.h"
#include "fuzz/devices.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

int RunExplain(const std::string& argument, const std::string& device_spec,
               const Globals& globals) {
  Console console = globals.MakeConsole();
  std::unique_ptr<Device> device;
  if (!device_spec.empty() || LooksLikeCaseName(argument)) {
    DeviceOr opened = OpenDevice(device_spec.empty() ? "auto" : device_spec);
    if (!opened.ok()) return Fail(opened.status());
    device = *std::move(opened);
  }
  const absl::StatusOr<Subject> s = LoadSubject(argument, device.get());
  if (!s.ok()) return Fail(s.status());
  const std::vector<Observed> observed = s->observed();
  const std::string signature = Signature(*s->row, observed);
  const int64_t element = TellingElement(*s->row, observed, signature);
  console.Print(absl::StrCat(
      s->row->name, "  ", Describe(s->row->model.algorithm), "\ndevice ", s->device_name, ", ",
      s->differing.size(), " of ", observed.size(), " results differ\n",
      s->differing.empty() ? ""
                           : DescribeDifference(*s->row->instruction->d, s->model[element],
                                                s->device[element], console.color()),
      s->differing.empty() ? "" : absl::StrCat("bucket ", signature, "\n"),
      ExplainText(*s->row, observed[element], console.color())));
  return s->differing.empty() ? kClean : kMismatch;
}

}  // namespace

std::function<int()> AddExplain(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string subject, device;
  };
  const auto flags = std::make_shared<Flags>();
  command.add_option("case", flags->subject, "a filed case (*.txtpb) or a case name")->required();
  command.add_option("--device", flags->device,
                     "ask this device instead of the answer in the file [auto for a case name]");
  return [flags, &globals] { return RunExplain(flags->subject, flags->device, globals); };
}

}  // namespace mmadiff
