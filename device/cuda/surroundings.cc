#include "device/cuda/surroundings.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kNames[] = {"loop", "branch", "chain", "rounds", "third"};

// The registers of "{%a0, %d2}".
std::vector<std::string> NamesIn(const std::string& vector) {
  return absl::StrSplit(vector, absl::ByAnyChar("{}, "), absl::SkipEmpty());
}

// For each register of C and D a new one, %NAME0, ...
AssignedRegisters WithResultsIn(const char* name, const AssignedRegisters& registers) {
  AssignedRegisters with = registers;
  std::vector<std::string> results;
  for (size_t i = 0; i < NamesIn(registers.d).size(); ++i) {
    results.push_back(absl::StrCat("%", name, i));
  }
  with.d = absl::StrCat("{", absl::StrJoin(results, ", "), "}");
  with.c = registers.d;
  return with;
}

// The moves from one vector to the other, each with the guard "@%p " or none.
std::string Moves(absl::string_view guard, int bits, const std::string& to,
                  const std::string& from) {
  const std::vector<std::string> x = NamesIn(to), y = NamesIn(from);
  std::string text;
  for (size_t i = 0; i < x.size(); ++i) {
    absl::StrAppend(&text, "  ", guard, "mov.b", bits, " ", x[i], ", ", y[i], ";\n");
  }
  return text;
}

// A second instruction with results in registers of its own, which replace those of the first one if
// %other holds.
std::string Chain(const AssignedRegisters& registers, int bits, InstructionText instruction) {
  const AssignedRegisters next = WithResultsIn("next", registers);
  return absl::StrCat("  .reg .b", bits, " %next<", NamesIn(next.d).size(), ">;\n  ",
                      instruction(registers), ";\n  ", instruction(next), ";\n",
                      Moves("@%other ", bits, registers.d, next.d));
}

// The addend of the third is the second's result if %other holds.
std::string Third(const AssignedRegisters& registers, int bits, InstructionText instruction) {
  const AssignedRegisters next = WithResultsIn("next", registers);
  return absl::StrCat("  .reg .b", bits, " %next<", NamesIn(next.d).size(), ">;\n  ",
                      instruction(registers), ";\n  ", instruction(next), ";\n",
                      Moves("@%other ", bits, registers.operand_c, next.d), registers.moves, "  ",
                      instruction(registers), ";\n");
}

// %rounds more rounds after the first two. Before the last one, C is again as it was.
std::string Rounds(const AssignedRegisters& registers, int bits, InstructionText instruction) {
  const AssignedRegisters kept = WithResultsIn("kept", registers);
  return absl::StrCat(
      "  .reg .b", bits, " %kept<", NamesIn(kept.d).size(), ">;\n  add.u32 %rounds, %rounds, 2;\n",
      Moves("", bits, kept.d, registers.operand_c), "AGAIN:\n", registers.moves, "  ",
      instruction(registers), ";\n", Moves("", bits, registers.operand_c, registers.d),
      "  setp.eq.u32 %other, %rounds, 1;\n", Moves("@%other ", bits, registers.operand_c, kept.d),
      "  setp.ne.u32 %other, %rounds, 0;\n  sub.u32 %rounds, %rounds, 1;\n"
      "  @%other bra AGAIN;\n");
}

}  // namespace

std::span<const absl::string_view> NamedSurroundings() { return kNames; }

bool IsSurrounding(absl::string_view text) { return absl::c_linear_search(kNames, text); }

absl::Status CheckSurrounding(absl::string_view around, const Instruction& i) {
  const bool accumulates = around == "chain" || around == "rounds" || around == "third";
  if (accumulates && i.c != i.d) {
    return absl::NotFoundError(absl::StrCat("around=", around, " needs C and D of one format"));
  }
  return absl::OkStatus();
}

std::string Surrounded(absl::string_view around, const AssignedRegisters& registers, int bits,
                       InstructionText instruction) {
  if (around.empty()) return absl::StrCat(registers.moves, "  ", instruction(registers), ";\n");
  const std::string begin =
      "  .reg .pred %other;\n  .reg .b32 %rounds;\n  mov.u32 %rounds, %ctaid.y;\n";
  if (around == "rounds") return absl::StrCat(begin, Rounds(registers, bits, instruction));
  if (around == "loop") {
    return absl::StrCat(begin, registers.moves, "AGAIN:\n  ", instruction(registers),
                        ";\n  setp.ne.u32 %other, %rounds, 0;\n  sub.u32 %rounds, %rounds, 1;\n"
                        "  @%other bra AGAIN;\n");
  }
  if (around == "branch") {
    return absl::StrCat(begin, registers.moves, "  setp.eq.u32 %other, %rounds, 0;\n  @%other ",
                        instruction(registers), ";\n");
  }
  return absl::StrCat(begin, registers.moves, "  setp.ne.u32 %other, %rounds, 0;\n",
                      around == "chain" ? Chain(registers, bits, instruction)
                                        : Third(registers, bits, instruction));
}

}  // namespace mmadiff
