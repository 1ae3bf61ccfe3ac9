// mmadiff layout: where each matrix element lies.
#include "sim/layout.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"

namespace mmadiff {
namespace {

int RunLayout(const std::string& name, bool csv) {
  const absl::StatusOr<const Row*> row = OneRow(name);
  if (!row.ok()) return Fail(row.status());
  const Instruction& instruction = *(*row)->instruction;
  if (instruction.layout == Layout::kNoLanes) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        (*row)->name,
        " has no described layout of lanes: its operands lie in tiles, shared or tensor "
        "memory, or in fragments that the manual leaves open")));
  }
  const char* header = csv ? "matrix,block,row,column,lane,register,bit\n"
                           : "matrix  block  row  column  lane  register  bit\n";
  const char* line = csv ? "%s,%d,%d,%d,%d,%d,%d\n" : "%-6s  %5d  %3d  %6d  %4d  %8d  %3d\n";
  std::fputs(header, stdout);
  for (const Operand operand : {Operand::kA, Operand::kB, Operand::kC, Operand::kD}) {
    for (const Element& e : Elements(instruction, operand)) {
      const Place p = PlaceOf(instruction, operand, e);
      std::printf(line, Name(operand), e.block, e.row, e.column, p.lane, p.reg, p.bit);
    }
  }
  return kClean;
}

}  // namespace

std::function<int()> AddLayout(CLI::App& command, const Globals&) {
  struct Flags {
    std::string row;
    bool csv = false;
  };
  const auto flags = std::make_shared<Flags>();
  command.add_option("instruction", flags->row, "ARCH/INSTRUCTION")->required();
  command.add_flag("--csv", flags->csv, "comma separated");
  return [flags] { return RunLayout(flags->row, flags->csv); };
}

}  // namespace mmadiff
