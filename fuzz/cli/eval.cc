// mmadiff eval: the simulator, or a device, as a filter.
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/protocol.h"
#include "fuzz/devices.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

int RunEval(const std::string& name, const std::string& device_spec) {
  const absl::StatusOr<const Row*> row = OneRow(name);
  if (!row.ok()) return Fail(row.status());
  DeviceOr device = std::unique_ptr<Device>();
  if (!device_spec.empty()) {
    device = OpenDevice(device_spec);
    if (!device.ok()) return Fail(device.status());
    if (absl::Status s = (*device)->Supports(**row); !s.ok()) return Fail(s);
    std::printf("# instruction: %s\n# device: %s\n", (*row)->name.c_str(),
                PlainLine((*device)->identity()).c_str());
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> d(portion.batch.dot_products());
    absl::Status answered;
    if (*device == nullptr) {
      Simulate((*row)->model, portion.batch, d);
    } else {
      answered = (*device)->Run(**row, portion.batch, d);
    }
    for (size_t i = 0; i < d.size(); ++i) {
      const std::string line =
          FormatLine(*(*row)->instruction, Extract(portion.batch, i), d[i]) + "\n";
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
    return std::ferror(stdout) ? absl::CancelledError() : answered;
  };
  const auto pass_on = [](absl::string_view comment) {
    std::printf("%s\n", PlainLine(comment).c_str());
    return absl::OkStatus();
  };
  const absl::Status status = StdinReader(**row, false, print, pass_on).Read();
  if (std::ferror(stdout)) return kNotDurable;  // main.cc says so
  return status.ok() ? kClean : Fail(status);
}

}  // namespace

std::function<int()> AddEval(CLI::App& command, const Globals&) {
  struct Flags {
    std::string row, device;
  };
  const auto flags = std::make_shared<Flags>();
  command.add_option("instruction", flags->row, "ARCH/INSTRUCTION")->required();
  command.add_option("--device", flags->device, "who answers [the simulator]");
  return [flags] { return RunEval(flags->row, flags->device); };
}

}  // namespace mmadiff
