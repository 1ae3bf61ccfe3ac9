#include "device/hip/kernel.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "sim/layout_amd.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

using enum Accumulators;
constexpr HipTarget kTargets[] = {
#define MMADIFF_TARGET(...) {__VA_ARGS__},
#include "device/hip/targets.inc"
#undef MMADIFF_TARGET
};

constexpr Mode kModes[] = {
    {"denorm", "flush", 0x30, 0},    // f32
    {"denorm16", "flush", 0xc0, 0},  // f16 and f64
    {"round", "up", 0xf, 0x5},       // both
    {"round", "down", 0xf, 0xa},    {"round", "zero", 0xf, 0xf},
    {"clamp", "0", 0x100, 0},                                    // DX10_CLAMP
    {"ieee", "0", 0x200, 0},        {"ovfl", "1", 0, 0x800000},  // FP16_OVFL
};

// s[0:1] has the parameters, s2 the number of the block (ttmp9 on gfx12), v0 the lane.
constexpr int kParameters = 48;  // bytes
constexpr int kScalars = 32;     // s registers

// Kernels for waves of 64 lanes (GFX9) and of 32 (GFX11, GFX12) use different names.
class Text {
 public:
  explicit Text(const HipTarget& target)
      : target_(target), gfx12_(absl::StartsWith(target.target, "gfx12")) {}

  template <class... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&text_, "  ", parts..., "\n");
  }

  void Begin() {
    const bool gfx9 = target_.wave == 64;
    Line(gfx9 ? "s_load_dwordx8" : "s_load_b256", " s[8:15], s[0:1], 0x0");    // a, b, c, d
    Line(gfx9 ? "s_load_dwordx4" : "s_load_b128", " s[16:19], s[0:1], 0x20");  // where; mode
    if (gfx12_) Line("s_mov_b32 s2, ttmp9");
    Line("v_and_b32 v0, 0x3ff, v0");
    Line(gfx12_ ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)");
  }

  // Moves an address from the start of an array to this execution's words, in place.
  void SetAddress(int scalar, int words) {
    Line("s_mul_i32 s20, s2, ", 4 * words);
    Line("s_mul_hi_u32 s21, s2, ", 4 * words);
    Line("s_add_u32 s", scalar, ", s", scalar, ", s20");
    Line("s_addc_u32 s", scalar + 1, ", s", scalar + 1, ", s21");
  }

  // Moves each lane's `registers` words, from `first_word` on, to or from v registers.
  void Load(int scalar, int first_word, int v, int registers) {
    Line("v_mul_u32_u24 v1, ", 4 * registers, ", v0");
    for (int r = 0; r < registers; ++r) {
      Line(target_.wave == 64 ? "global_load_dword" : "global_load_b32", " v", v + r, ", v1, s[",
           scalar, ":", scalar + 1, "] offset:", 4 * (first_word + r));
    }
  }
  void Store(int scalar, int v, int registers) {
    Line("v_mul_u32_u24 v1, ", 4 * registers, ", v0");
    for (int r = 0; r < registers; ++r) {
      Line(target_.wave == 64 ? "global_store_dword" : "global_store_b32", " v1, v", v + r, ", s[",
           scalar, ":", scalar + 1, "] offset:", 4 * r);
    }
  }
  void WaitForLoads() { Line(gfx12_ ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)"); }

  // Nothing else separates dependent instructions. 48 states: more than any wait that LLVM inserts
  // there.
  void Wait() {
    if (target_.wave == 64) Line("s_nop 15"), Line("s_nop 15"), Line("s_nop 15");
    if (target_.wave == 32) Line("s_nop 15");
  }

  // Sets MODE from s18. Between two s_setreg of one register GFX9 needs two wait states (LLVM,
  // GCNHazardRecognizer, checkSetRegHazards).
  void SetMode() {
    Line("s_setreg_b32 hwreg(1, 0, ", gfx12_ ? 8 : 10, "), s18");
    Line("s_lshr_b32 s18, s18, 23");
    Line("s_nop 0");
    Line("s_setreg_b32 hwreg(1, 23, 1), s18");
  }

  // Stores where the wave ran; all lanes write the same word: compute unit, shader array and engine
  // of HW_ID, on GFX940 and up with the number of the die in the bits above. On GFX12 a value
  // written to a pair of scalar registers after v_* read the pair may be lost (LLVM,
  // AMDGPUWaitSGPRHazards): s22 and s23 are used only here.
  void StoreWhere() {
    if (target_.wave == 64) {
      Line("s_getreg_b32 s22, hwreg(4, 8, 8)");
      if (absl::StartsWith(target_.target, "gfx94") || absl::StartsWith(target_.target, "gfx95")) {
        Line("s_getreg_b32 s23, hwreg(20, 0, 4)");
        Line("s_lshl_b32 s23, s23, 8");
        Line("s_or_b32 s22, s22, s23");
      }
    } else {
      Line("s_getreg_b32 s22, hwreg(23, 10, 11)");  // HW_ID1
    }
    Line("v_mov_b32 v2, s22");
    Line("v_mov_b32 v1, 0");
    SetAddress(16, 1);
    Line(target_.wave == 64 ? "global_store_dword" : "global_store_b32", " v1, v2, s[16:17]");
  }

  const HipTarget& target() const { return target_; }
  std::string Take() { return std::move(text_); }

 private:
  const HipTarget& target_;
  const bool gfx12_;
  std::string text_;
};

std::string Range(const char* file, int first, int count) {
  return count == 1 ? absl::StrCat(file, first)
                    : absl::StrCat(file, "[", first, ":", first + count - 1, "]");
}

// The v registers of the operands: each operand begins at a multiple of four. v0 to v3 are the
// kernel's own.
struct Registers {
  int a, b, c, d, scale_a, scale_b, positions;  // first register
  int na, nb, nc, nd;                           // number of registers
  int end;
};

Registers RegistersOf(const Instruction& i) {
  Registers r = {};
  int next = 4;
  const auto place = [&next](int count) {
    const int first = next;
    next = (next + count + 3) / 4 * 4;
    return first;
  };
  r.na = ExtentOf(i, Operand::kA).registers, r.a = place(r.na);
  r.nb = ExtentOf(i, Operand::kB).registers, r.b = place(r.nb);
  r.nc = ExtentOf(i, Operand::kC).registers, r.c = place(r.nc);
  r.nd = ExtentOf(i, Operand::kD).registers, r.d = place(r.nd);
  r.scale_a = place(1), r.scale_b = place(1);
  r.positions = place(1);
  r.end = next;
  return r;
}

// The modifier for signed or unsigned integers (LLVM, builtins of v_wmma_i32).
std::string SignModifiers(const Instruction& i, const HipTarget& target) {
  if (target.wave == 64 || !IsInteger(*i.d)) return "";
  const auto sign = [](const Format& f) { return f.name[0] == 's' ? 1 : 0; };
  return absl::StrCat(" neg_lo:[", sign(*i.a), ",", sign(*i.b), ",0]");
}

std::string Mnemonic(const Instruction& i) { return i.name.substr(0, i.name.find('.')); }

// The modifiers for the formats of f8f6f4 (rocjitsu of rocm-systems, mma_exec.h): cbsz for A, blgp
// for B.
std::string FormatModifiers(const Instruction& i) {
  if (!absl::StrContains(i.name, "f8f6f4")) return "";
  constexpr const char* kFormats[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
  const auto code = [&](const Format& f) {
    return std::find(std::begin(kFormats), std::end(kFormats), std::string_view(f.name)) - kFormats;
  };
  return absl::StrCat(" cbsz:", code(*i.a), " blgp:", code(*i.b));
}

void MatrixInstruction(const Instruction& i, const Registers& r, Text& text) {
  const bool only = text.target().accumulators == kOnlyAccumulators;
  for (int n = 0; only && n < r.nc; ++n) text.Line("v_accvgpr_write_b32 a", n, ", v", r.c + n);
  text.Wait();
  const std::string a = Range("v", r.a, r.na), b = Range("v", r.b, r.nb),
                    c = only ? Range("a", 0, r.nc) : Range("v", r.c, r.nc),
                    d = only ? Range("a", r.nc, r.nd) : Range("v", r.d, r.nd);
  const std::string scales =
      i.scale == nullptr ? ""
                         : absl::StrCat(", v", r.scale_a, ", v", r.scale_b, " op_sel_hi:[0,0,0]");
  // A sparse instruction adds to its result.
  const std::string modifiers = FormatModifiers(i) + SignModifiers(i, text.target());
  if (i.sparse()) {
    for (int n = 0; n < r.nc; ++n) text.Line("v_mov_b32 v", r.d + n, ", v", r.c + n);
    text.Wait();
    text.Line(Mnemonic(i), " ", d, ", ", a, ", ", b, ", v", r.positions, modifiers);
  } else {
    text.Line(Mnemonic(i), " ", d, ", ", a, ", ", b, ", ", c, scales, modifiers);
  }
  text.Wait();
  for (int n = 0; only && n < r.nd; ++n) {
    text.Line("v_accvgpr_read_b32 v", r.d + n, ", a", r.nc + n);
  }
  if (only) text.Wait();
}

std::string Body(const Instruction& i, const HipTarget& target) {
  const Registers r = RegistersOf(i);
  const int lanes = target.wave, scales = i.scale == nullptr ? 0 : 1, sparse = i.sparse() ? 1 : 0;
  Text text(target);
  text.Begin();
  text.SetAddress(8, lanes * (r.na + scales + sparse));
  text.SetAddress(10, lanes * (r.nb + scales));
  text.SetAddress(12, lanes * r.nc);
  text.SetAddress(14, lanes * r.nd);
  text.Load(8, 0, r.a, r.na);
  text.Load(10, 0, r.b, r.nb);
  text.Load(12, 0, r.c, r.nc);
  if (scales > 0) text.Load(8, lanes * r.na, r.scale_a, 1);
  if (scales > 0) text.Load(10, lanes * r.nb, r.scale_b, 1);
  if (sparse > 0) text.Load(8, lanes * r.na, r.positions, 1);
  text.WaitForLoads();
  text.SetMode();
  MatrixInstruction(i, r, text);
  text.Store(14, r.d, r.nd);
  text.StoreWhere();
  text.Line("s_endpgm");
  return text.Take();
}

// Everything that affects how the instruction rounds is set explicitly: an assembler's defaults
// differ from a compiler's.
std::string Descriptor(const Instruction& i, const HipTarget& target) {
  const int registers = (RegistersOf(i).end + 7) / 8 * 8;
  std::string text = absl::StrCat(".amdhsa_kernel ", HipKernelName(i), "\n");
  const auto set = [&text](const char* name, int value) {
    absl::StrAppend(&text, "  .amdhsa_", name, " ", value, "\n");
  };
  set("kernarg_size", kParameters);
  set("user_sgpr_kernarg_segment_ptr", 1);
  set("system_sgpr_workgroup_id_x", 1);
  set("system_vgpr_workitem_id", 0);
  set("next_free_vgpr", registers);
  set("next_free_sgpr", kScalars);
  if (target.accumulators == kUnified) set("accum_offset", registers);
  if (target.wave == 32) set("wavefront_size32", 1);
  set("float_round_mode_32", 0);
  set("float_round_mode_16_64", 0);
  set("float_denorm_mode_32", 3);
  set("float_denorm_mode_16_64", 3);
  if (!absl::StartsWith(target.target, "gfx12")) {
    set("dx10_clamp", 1);
    set("ieee_mode", 1);
  }
  set("fp16_overflow", 0);
  return absl::StrCat(text, ".end_amdhsa_kernel\n");
}

std::string Metadata(const Instruction& i, const HipTarget& target) {
  const std::string name = HipKernelName(i);
  const int registers = (RegistersOf(i).end + 7) / 8 * 8;
  std::string text = absl::StrCat(
      "  - .name: ", name, "\n    .symbol: ", name, ".kd\n    .kernarg_segment_size: ", kParameters,
      "\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n",
      "    .private_segment_fixed_size: 0\n    .wavefront_size: ", target.wave,
      "\n    .sgpr_count: ", kScalars, "\n    .vgpr_count: ", registers,
      "\n    .max_flat_workgroup_size: ", target.wave, "\n    .args:\n");
  for (int offset = 0; offset < 40; offset += 8) {
    absl::StrAppend(&text, "      - {.offset: ", offset,
                    ", .size: 8, .value_kind: global_buffer, .address_space: global}\n");
  }
  return absl::StrCat(text, "      - {.offset: 40, .size: 4, .value_kind: by_value}\n");
}

}  // namespace

std::span<const HipTarget> HipTargets() { return kTargets; }

const HipTarget* FindHipTarget(absl::string_view name) {
  const absl::string_view plain = name.substr(0, name.find(':'));
  const auto at = std::ranges::find(kTargets, plain, &HipTarget::target);
  return at == std::end(kTargets) ? nullptr : at;
}

std::span<const Mode> HipModes() { return kModes; }

std::vector<Mode> HipModes(const HipTarget& target) {
  const bool gfx12 = absl::StartsWith(target.target, "gfx12");
  std::vector<Mode> modes;
  for (const Mode& m : kModes) {
    if (!gfx12 || ((m.clear | m.set) & 0x300) == 0) modes.push_back(m);
  }
  return modes;
}

absl::Status HasHipKernel(const Instruction& i, const HipTarget& target) {
  if (i.is_conversion()) {
    return absl::NotFoundError(
        absl::StrCat(i.name, " is a conversion; hip: does not run conversions yet"));
  }
  if (absl::EndsWith(i.name, ".clamp")) {
    return absl::NotFoundError(
        absl::StrCat(i.name, " needs the bit CLAMP; hip: does not set it yet"));
  }
  const std::vector<std::string> archs = absl::StrSplit(i.native_on, ' ');
  if (!IsAmd(i.layout)) {
    return absl::NotFoundError(absl::StrCat(i.name, " has no kernel on ", target.target));
  }
  if (absl::c_linear_search(archs, target.arch)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      i.name, " is an instruction of ", absl::StrJoin(archs, " and "), ", not of ", target.target));
}

Kernel HipKernelOf(const Instruction& i, const HipTarget& target) {
  const Instruction* const one[] = {&i};
  return {.entry = HipKernelName(i),
          .text = HipModuleOf(target, one),
          .threads = target.wave,
          .a = WordsOf(i, Operand::kA),
          .b = WordsOf(i, Operand::kB),
          .c = WordsOf(i, Operand::kC),
          .d = WordsOf(i, Operand::kD)};
}

std::string HipKernelName(const Instruction& i) {
  return absl::StrReplaceAll(i.name, {{".", "_"}});
}

std::string HipModuleOf(const HipTarget& target, std::span<const Instruction* const> instructions) {
  std::string text = absl::StrCat(".amdgcn_target \"amdgcn-amd-amdhsa--", target.target, "\"\n");
  std::string metadata;
  for (const Instruction* i : instructions) {
    const std::string name = HipKernelName(*i);
    absl::StrAppend(&text, ".text\n.protected ", name, "\n.globl ", name, "\n.p2align 8\n.type ",
                    name, ",@function\n", name, ":\n", Body(*i, target), ".size ", name, ", .-",
                    name, "\n.section .rodata,\"a\"\n", ".p2align 6\n", Descriptor(*i, target));
    absl::StrAppend(&metadata, Metadata(*i, target));
  }
  return absl::StrCat(text, ".amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.kernels:\n",
                      metadata, "...\n.end_amdgpu_metadata\n");
}

std::vector<const Instruction*> BuiltHipInstructions(const HipTarget& target) {
  std::vector<const Instruction*> built;
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (op.arch() == target.arch && HasHipKernel(*op.instruction, target).ok()) {
        built.push_back(op.instruction);
      }
    }
  }
  return built;
}

}  // namespace mmadiff
