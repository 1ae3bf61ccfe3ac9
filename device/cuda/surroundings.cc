#include "device/cuda/surroundings.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kNames[] = {"loop", "branch", "chain"};

// A second instruction with results in registers of its own, which replace those of the first one if
// %other holds.
std::string Chain(const AssignedRegisters& registers, int bits, InstructionText instruction) {
  const std::vector<std::string> d =
      absl::StrSplit(registers.d, absl::ByAnyChar("{}, "), absl::SkipEmpty());
  AssignedRegisters next = registers;
  next.c = registers.d;
  std::vector<std::string> results;
  for (size_t i = 0; i < d.size(); ++i) results.push_back(absl::StrCat("%next", i));
  next.d = absl::StrCat("{", absl::StrJoin(results, ", "), "}");
  std::string text = absl::StrCat("  .reg .b", bits, " %next<", d.size(), ">;\n  ",
                                  instruction(registers), ";\n  ", instruction(next), ";\n");
  for (size_t i = 0; i < d.size(); ++i) {
    absl::StrAppend(&text, "  @%other mov.b", bits, " ", d[i], ", ", results[i], ";\n");
  }
  return text;
}

}  // namespace

std::span<const absl::string_view> NamedSurroundings() { return kNames; }

bool IsSurrounding(absl::string_view text) { return absl::c_linear_search(kNames, text); }

absl::Status CheckSurrounding(absl::string_view around, const Instruction& i) {
  if (around == "chain" && i.c != i.d) {
    return absl::NotFoundError("around=chain needs C and D of one format");
  }
  return absl::OkStatus();
}

std::string Surrounded(absl::string_view around, const AssignedRegisters& registers, int bits,
                       InstructionText instruction) {
  if (around.empty()) return absl::StrCat("  ", instruction(registers), ";\n");
  const std::string begin =
      "  .reg .pred %other;\n  .reg .b32 %rounds;\n  mov.u32 %rounds, %ctaid.y;\n";
  if (around == "loop") {
    return absl::StrCat(begin, "AGAIN:\n  ", instruction(registers),
                        ";\n  setp.ne.u32 %other, %rounds, 0;\n  sub.u32 %rounds, %rounds, 1;\n"
                        "  @%other bra AGAIN;\n");
  }
  if (around == "branch") {
    return absl::StrCat(begin, "  setp.eq.u32 %other, %rounds, 0;\n  @%other ",
                        instruction(registers), ";\n");
  }
  return absl::StrCat(begin, "  setp.ne.u32 %other, %rounds, 0;\n",
                      Chain(registers, bits, instruction));
}

}  // namespace mmadiff
