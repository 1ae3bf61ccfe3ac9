// mmadiff layout: shows the place of each matrix element. An image in shared or global memory is
// one lane whose registers are its 32-bit words: byte 4 * register + bit / 8.
#include "sim/layout.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"

namespace mmadiff {
namespace {

struct LayoutFlags {
  std::string op;
  bool csv = false;
};

std::vector<Operand> OperandsOf(const Instruction& i) {
  std::vector<Operand> operands = {Operand::kA, Operand::kB, Operand::kC, Operand::kD};
  if (i.scale != nullptr) operands.insert(operands.end(), {Operand::kScaleA, Operand::kScaleB});
  if (i.sparse()) operands.insert(operands.begin() + 1, Operand::kMetadata);
  if (i.layout == Layout::kNvidiaWgmma || i.layout == Layout::kNvidiaTcgen05) {
    operands.insert(operands.begin() + 1, Operand::kALanes);
  }
  if (i.layout == Layout::kNvidiaWmma) {
    operands.insert(operands.end(), {Operand::kCColumns, Operand::kDColumns});
    // Narrower factors have a single order.
    if (i.a->bits >= 8) {
      operands.insert(operands.end(), {Operand::kAColumns, Operand::kBRows});
    }
  }
  return operands;
}

struct PlacedElement {
  Operand operand;
  Element element;
  Place place;
};

Fields<PlacedElement> FieldsOf(const PlacedElement*) {
  using P = PlacedElement;
  return {
      {"matrix",
       [](const P& p) { return Name(p.operand); },
       {.words = {"A", "B", "C", "D", "SA", "SB", "A_lanes", "metadata", "A_col", "B_row", "C_col",
                  "D_col"}}},
      {"block", [](const P& p) { return p.element.block; }},
      {"row", [](const P& p) { return p.element.row; }},
      {"column", [](const P& p) { return p.element.column; }},
      {"lane", [](const P& p) { return p.place.lane; }},
      {"register", [](const P& p) { return p.place.reg; }},
      {"bit", [](const P& p) { return p.place.bit; }},
  };
}

struct LayoutResult {
  const Operation& op;
  size_t count = 0;
};

Fields<LayoutResult> FieldsOf(const LayoutResult*) {
  using R = LayoutResult;
  return {
      {"instruction", [](const R& r) { return r.op.name; }, InstructionName()},
      {"elements", [](const R&) { return std::vector<PlacedElement>(); }},
      {"count", &R::count},
  };
}

// Calls `print` for each place of each element.
template <class Print>
void ForEachPlace(const Instruction& instruction, Print print) {
  for (const Operand operand : OperandsOf(instruction)) {
    for (const Element& e : Elements(instruction, operand)) {
      for (const Place& p : PlacesOf(instruction, operand, e)) print(PlacedElement{operand, e, p});
    }
  }
}

void PrintRows(const Operation& op) {
  LayoutResult result = {op};
  JsonRows rows(JsonOf(result), "elements");
  ForEachPlace(*op.instruction, [&](const PlacedElement& p) {
    rows.Add(JsonOf(p));
    ++result.count;
  });
  rows.Finish(JsonOf(result));
}

void PrintCsv(const Instruction& instruction) {
  const Schema schema = SchemaOf<PlacedElement>();
  std::fputs(CsvHead(schema).c_str(), stdout);
  ForEachPlace(instruction, [&](const PlacedElement& p) {
    std::fputs(CsvLine(schema, JsonOf(p)).c_str(), stdout);
  });
}

void PrintText(const Instruction& instruction) {
  const Schema schema = SchemaOf<PlacedElement>();
  TextTable table = TextTableOf(schema);
  ForEachPlace(instruction, [&](const PlacedElement& p) { AddRow(schema, JsonOf(p), table); });
  std::fputs(table.Text({}).c_str(), stdout);
}

void RunLayout(const LayoutFlags& flags, Call& call) {
  const absl::StatusOr<const Operation*> op = OneOperation(flags.op, Models::kOptional);
  if (!op.ok()) return call.Say(op.status());
  const Instruction& instruction = *(*op)->instruction;
  if (flags.csv && call.globals.json)
    return call.Say(Verdict::kUsage, "use either --csv or --json");
  if (instruction.layout == Layout::kNoLanes) {
    return call.Say(
        absl::InvalidArgumentError(absl::StrCat((*op)->name,
                                                " has no layout of lanes in the tables: its "
                                                "operands are tiles, or its layout is missing")));
  }
  if (call.globals.json) return PrintRows(**op);
  (flags.csv ? PrintCsv : PrintText)(instruction);
}

}  // namespace

Action AddLayout(CLI::App& command) {
  const auto flags = std::make_shared<LayoutFlags>();
  AddInstruction(command, flags->op);
  AddFlag(command, "--csv", flags->csv, "print CSV");
  return {RunLayout, flags, {SchemaOf<LayoutResult>}};
}

}  // namespace mmadiff
