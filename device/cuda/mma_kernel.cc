// mma.sync: 32 lanes, operands in registers.
#include "device/cuda/mma_kernel.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/cuda/kernel.h"
#include "device/cuda/lane_words.h"
#include "device/cuda/surroundings.h"

namespace mmadiff {
namespace {

// Loads one operand's registers from its array and, for f64, pairs them.
std::string Loads(absl::string_view name, int registers, bool wide, int words) {
  std::string text = LaneBase(name, words, registers) + LoadLane(name, registers);
  for (int r = 0; wide && r < registers; r += 2) {
    absl::StrAppend(&text, "  mov.b64 %w", name, r, ", {%", name, r, ", %", name, r + 1, "};\n");
  }
  return text;
}

// Loads the lane's scales or metadata, which follow the registers of all lanes.
std::string LoadScale(absl::string_view name, int registers) {
  return absl::StrCat(LaneBase(name, 32 * (registers + 1), 1), "  ld.global.b32 %s", name,
                      ", [%base+", 4 * 32 * registers, "];\n");
}

}  // namespace

// "mma.m16n8k32.mxf8f6f4.f32..." to "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4....".
std::string MmaMnemonic(const Instruction& i, bool ordered) {
  std::vector<std::string> parts = absl::StrSplit(i.name, '.');
  if (i.sparse()) parts.erase(parts.begin() + 1);  // "sp"
  const std::string shape = parts[1];
  parts.erase(parts.begin(), parts.begin() + 2);
  const std::string kind = parts[0];
  std::string prefix = absl::StrCat("mma.",
                                    !i.sparse() ? ""
                                    : ordered   ? "sp::ordered_metadata."
                                                : "sp.",
                                    "sync.aligned.", shape, ".row.col.");
  if (i.scale != nullptr) {
    const char last = parts.back().back();
    if (last == 'x') parts.pop_back();
    parts[0] = absl::StrCat("kind::", kind, ".block_scale.scale_vec::", i.shape.scales, "X");
  } else if (kind == "f8f6f4") {
    parts[0] = "kind::f8f6f4";
  }
  return prefix + absl::StrJoin(parts, ".");
}

bool UsesOrderedMetadata(const PtxTarget& target) {
  return 10 * target.major + target.minor >= 89;  // the PTX versions of targets.inc
}

RegisterCounts MmaRegisters(const Instruction& i) {
  const int per_element = i.d->bits == 64 ? 2 : 1;
  const auto count = [&](Operand operand) { return ExtentOf(i, operand).registers / per_element; };
  return {count(Operand::kA), count(Operand::kB), count(Operand::kC), count(Operand::kD)};
}

std::string MmaBody(const Instruction& i, const Variant& variant, const PtxTarget& target) {
  const bool ordered = UsesOrderedMetadata(target);
  const auto registers = [&i](Operand operand) { return ExtentOf(i, operand).registers; };
  const int a = registers(Operand::kA), b = registers(Operand::kB), c = registers(Operand::kC),
            d = registers(Operand::kD);
  const bool wide = i.d->bits == 64;
  const int scales = i.scale == nullptr ? 0 : 1, metadata = i.sparse() ? 1 : 0;
  // f64 operands pair two 32-bit registers.
  const AssignedRegisters assigned = (variant.copied ? CopiedRegisters : AssignRegisters)(
      variant.overlap, MmaRegisters(i), wide ? "w" : "", wide ? 2 : 1, wide ? 64 : 32);
  std::string text =
      absl::StrCat("  .reg .b32 %a<17>, %b<9>, %c<9>, %d<9>, %sa, %sb, %lane, %execution;\n",
                   "  .reg .b64 %wa<17>, %wb<17>, %wc<9>, %wd<9>, %base;\n",
                   "  mov.u32 %execution, %ctaid.x;\n  mov.u32 %lane, %tid.x;\n",
                   Loads("a", a, wide, 32 * (a + scales + metadata)),
                   Loads("b", b, wide, 32 * (b + scales)), Loads("c", c, wide, 32 * c));
  if (scales + metadata > 0) absl::StrAppend(&text, LoadScale("a", a));
  if (scales > 0) absl::StrAppend(&text, LoadScale("b", b));
  const auto instruction = [&](const AssignedRegisters& r) {
    return absl::StrCat(MmaMnemonic(i, ordered), " ", r.d, ", ", r.a, ", ", r.b, ", ", r.c,
                        scales > 0 ? ", %sa, {0, 0}, %sb, {0, 0}" : "",
                        metadata > 0 ? ", %sa, 0x0" : "");
  };
  absl::StrAppend(&text, Surrounded(variant.around, assigned, wide ? 64 : 32, instruction));
  for (int r = 0; wide && r < d; r += 2) {
    absl::StrAppend(&text, "  mov.b64 {%d", r, ", %d", r + 1, "}, %wd", r, ";\n");
  }
  return text + LaneBase("d", 32 * d, d) + StoreLane("d", d);
}

}  // namespace mmadiff
