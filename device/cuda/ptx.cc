#include "device/cuda/ptx.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mmadiff {
namespace {

// PTX ISA 9.0, release notes and ".target".
constexpr PtxTarget kTargets[] = {
    {7, 0, "sm_70", "sm_70", "6.4"},     {7, 5, "sm_75", "sm_75", "7.0"},
    {8, 0, "sm_80", "sm_80", "7.1"},     {8, 6, "sm_86", "sm_86", "7.1"},
    {8, 9, "sm_89", "sm_89", "8.7"},     {9, 0, "sm_90", "sm_90a", "8.7"},
    {10, 0, "sm_100", "sm_100a", "8.7"}, {10, 3, "sm_103", "sm_103a", "8.8"},
    {12, 0, "sm_120", "sm_120a", "8.7"},
};

// Bits that an element takes in a register: kinds f8f6f4 and mxf8f6f4 hold every type in a byte
// (PTX ISA, "Alternate floating-point data formats": e2m1 in bits 5:2, 6-bit types in bits 5:0).
int ContainerBits(const Instruction& i, const Format& f) {
  const bool bytes = i.name.find("f8f6f4") != i.name.npos;
  return bytes && f.bits < 8 ? 8 : f.bits;
}

// "mma.m16n8k32.mxf8f6f4.f32..." to "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4....".
std::string Mnemonic(const Instruction& i) {
  std::vector<std::string> parts = absl::StrSplit(i.name, '.');
  const std::string shape = parts[1];
  parts.erase(parts.begin(), parts.begin() + 2);
  const std::string kind = parts[0];
  std::string prefix = absl::StrCat("mma.sync.aligned.", shape, ".row.col.");
  if (i.scale != nullptr) {
    const char last = parts.back().back();
    if (last == 'x') parts.pop_back();
    parts[0] = absl::StrCat("kind::", kind, ".block_scale.scale_vec::", i.shape.scales, "X");
  } else if (kind == "f8f6f4") {
    parts[0] = "kind::f8f6f4";
  }
  return prefix + absl::StrJoin(parts, ".");
}

// "{%a0, %a1}"; f64 operands pair two 32-bit registers.
std::string Vector(char operand, int registers, bool wide) {
  std::vector<std::string> names;
  for (int r = 0; r < registers; r += wide ? 2 : 1) {
    names.push_back(absl::StrCat("%", wide ? "w" : "", std::string(1, operand), r));
  }
  return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

// Loads of one operand's registers from its array, and for f64 their pairing.
std::string Loads(char operand, int registers, bool wide, int stride) {
  std::string text = absl::StrCat("  ld.param.u64 %base, [p", std::string(1, operand),
                                  "];\n  mad.wide.u32 %base, %lane, ", 4 * stride, ", %base;\n");
  for (int r = 0; r < registers; ++r) {
    absl::StrAppend(&text, "  ld.global.b32 %", std::string(1, operand), r, ", [%base+", 4 * r,
                    "];\n");
  }
  for (int r = 0; wide && r < registers; r += 2) {
    absl::StrAppend(&text, "  mov.b64 %w", std::string(1, operand), r, ", {%",
                    std::string(1, operand), r, ", %", std::string(1, operand), r + 1, "};\n");
  }
  return text;
}

}  // namespace

std::span<const PtxTarget> PtxTargets() { return kTargets; }

MmaRegisters RegistersOf(const Instruction& i) {
  const Shape& s = i.shape;
  const auto registers = [&s](int elements, int bits) {
    return s.blocks * elements * bits / (32 * 32);
  };
  return {registers(s.m * s.k, ContainerBits(i, *i.a)),
          registers(s.n * s.k, ContainerBits(i, *i.b)), registers(s.m * s.n, i.c->bits),
          registers(s.m * s.n, i.d->bits)};
}

std::string MmaKernel(const Instruction& i, const PtxTarget& target) {
  if (!absl::StartsWith(i.name, "mma.")) return "";
  const MmaRegisters regs = RegistersOf(i);
  const bool wide = i.d->bits == 64;
  const int scales = i.scale == nullptr ? 0 : 2;
  std::string text = absl::StrCat(
      ".version ", target.version, "\n.target ", target.target, "\n.address_size 64\n",
      ".visible .entry mma(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{\n",
      "  .reg .b32 %a<17>, %b<9>, %c<11>, %d<9>, %lane, %block, %size;\n",
      "  .reg .b64 %wa<17>, %wb<17>, %wc<9>, %wd<9>, %base;\n",
      "  mov.u32 %block, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n  mov.u32 %lane, %tid.x;\n",
      "  mad.lo.u32 %lane, %block, %size, %lane;\n", Loads('a', regs.a, wide, regs.a),
      Loads('b', regs.b, wide, regs.b), Loads('c', regs.c + scales, wide, regs.c + scales), "  ",
      Mnemonic(i), " ", Vector('d', regs.d, wide), ", ", Vector('a', regs.a, wide), ", ",
      Vector('b', regs.b, wide), ", ", Vector('c', regs.c, wide));
  if (scales > 0) {
    absl::StrAppend(&text, ", %c", regs.c, ", {0, 0}, %c", regs.c + 1, ", {0, 0}");
  }
  absl::StrAppend(&text, ";\n");
  for (int r = 0; wide && r < regs.d; r += 2) {
    absl::StrAppend(&text, "  mov.b64 {%d", r, ", %d", r + 1, "}, %wd", r, ";\n");
  }
  absl::StrAppend(&text, "  ld.param.u64 %base, [pd];\n  mad.wide.u32 %base, %lane, ", 4 * regs.d,
                  ", %base;\n");
  for (int r = 0; r < regs.d; ++r) {
    absl::StrAppend(&text, "  st.global.b32 [%base+", 4 * r, "], %d", r, ";\n");
  }
  return text + "  ret;\n}\n";
}

}  // namespace mmadiff
