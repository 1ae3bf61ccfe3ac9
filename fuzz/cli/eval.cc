// mmadiff eval: the simulator as a filter.
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/protocol.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

int RunEval(const std::string& name) {
  const absl::StatusOr<const Row*> row = OneRow(name);
  if (!row.ok()) return Fail(row.status());
  const auto print = [&](const Portion& portion) {
    std::vector<uint64_t> d(portion.batch.dot_products());
    Simulate((*row)->model, portion.batch, d);
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
  const auto name = std::make_shared<std::string>();
  command.add_option("instruction", *name, "ARCH/INSTRUCTION")->required();
  return [name] { return RunEval(*name); };
}

}  // namespace mmadiff
