// mmadiff eval: the simulator, or a device, as a filter.
#include "device/line_protocol.h"
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
                (*device)->identity().c_str());
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> d(portion.batch.dot_products());
    if (*device == nullptr) {
      Simulate((*row)->model, portion.batch, d);
    } else {
      absl::StatusOr<std::vector<uint64_t>> answer = (*device)->Run(**row, portion.batch);
      if (!answer.ok()) return answer.status();
      d = *std::move(answer);
    }
    for (size_t i = 0; i < d.size(); ++i) {
      const std::string line =
          FormatLine(*(*row)->instruction, Extract(portion.batch, i), d[i]) + "\n";
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
    return absl::OkStatus();
  };
  if (absl::Status s = ReadStdin(**row, false, print); !s.ok()) return Fail(s);
  return kClean;
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
