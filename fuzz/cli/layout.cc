// mmadiff layout: where each matrix element lies. An image in shared or global memory is one lane
// whose registers are its 32-bit words: byte 4 * register + bit / 8.
#include "sim/layout.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"

namespace mmadiff {
namespace {

std::vector<Operand> OperandsOf(const Instruction& i) {
  std::vector<Operand> operands = {Operand::kA, Operand::kB, Operand::kC, Operand::kD};
  if (i.scale != nullptr) operands.insert(operands.end(), {Operand::kScaleA, Operand::kScaleB});
  if (i.sparse) operands.insert(operands.begin() + 1, Operand::kAIndex);
  if (i.layout == Layout::kNvidiaWgmma || i.layout == Layout::kNvidiaTcgen05) {
    operands.insert(operands.begin() + 1, Operand::kALanes);
  }
  if (i.layout == Layout::kNvidiaWmma) {
    operands.insert(operands.end(), {Operand::kCColumns, Operand::kDColumns});
    // Narrower factors lie in one order.
    if (i.a->bits >= 8) {
      operands.insert(operands.end(), {Operand::kAColumns, Operand::kBRows});
    }
  }
  return operands;
}

void PrintLines(const Instruction& instruction, bool csv) {
  const char* header = csv ? "matrix,block,row,column,lane,register,bit\n"
                           : "matrix   block  row  column  lane  register  bit\n";
  const char* line = csv ? "%s,%d,%d,%d,%d,%d,%d\n" : "%-7s  %5d  %3d  %6d  %4d  %8d  %3d\n";
  std::fputs(header, stdout);
  for (const Operand operand : OperandsOf(instruction)) {
    for (const Element& e : Elements(instruction, operand)) {
      for (const Place& p : PlacesOf(instruction, operand, e)) {
        std::printf(line, Name(operand), e.block, e.row, e.column, p.lane, p.reg, p.bit);
      }
    }
  }
}

void PrintJson(const Operation& op) {
  JsonRows rows({{"instruction", op.name}}, "elements");
  size_t count = 0;
  for (const Operand operand : OperandsOf(*op.instruction)) {
    for (const Element& e : Elements(*op.instruction, operand)) {
      for (const Place& p : PlacesOf(*op.instruction, operand, e)) {
        rows.Add({{"matrix", Name(operand)},
                  {"block", e.block},
                  {"row", e.row},
                  {"column", e.column},
                  {"lane", p.lane},
                  {"register", p.reg},
                  {"bit", p.bit}});
        ++count;
      }
    }
  }
  rows.Finish({{"count", count}});
}

void RunLayout(const std::string& name, bool csv, bool json, Ending& ending) {
  const absl::StatusOr<const Operation*> op = OneOperation(name, Models::kOptional);
  if (!op.ok()) return ending.Say(op.status());
  const Instruction& instruction = *(*op)->instruction;
  if (csv && json) return ending.Say(Verdict::kUsage, "either --csv or --json");
  if (instruction.layout == Layout::kNoLanes) {
    return ending.Say(
        absl::InvalidArgumentError(absl::StrCat((*op)->name,
                                                " has no described layout of lanes: its operands "
                                                "lie in tiles, or nobody has described it here")));
  }
  if (json) {
    PrintJson(**op);
  } else {
    PrintLines(instruction, csv);
  }
}

}  // namespace

Action AddLayout(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string op;
    bool csv = false;
  };
  const auto flags = std::make_shared<Flags>();
  AddInstruction(command, flags->op);
  AddFlag(command, "--csv", flags->csv, "comma separated");
  return
      [flags, &globals](Ending& ending) { RunLayout(flags->op, flags->csv, globals.json, ending); };
}

}  // namespace mmadiff
