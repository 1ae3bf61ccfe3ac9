#include "device/cuda/kernel.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "device/cuda/fma_kernel.h"
#include "device/cuda/mma_kernel.h"
#include "device/cuda/surroundings.h"
#include "device/cuda/tcgen05_kernel.h"
#include "device/cuda/wgmma_kernel.h"
#include "device/cuda/wmma_kernel.h"
#include "device/status_macros.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

constexpr PtxTarget kTargets[] = {
#define MMADIFF_TARGET(...) {__VA_ARGS__},
#include "device/cuda/targets.inc"
#undef MMADIFF_TARGET
};

// Every thread of a block stores the same word.
constexpr char kMultiprocessor[] = R"(  {
  .reg .b32 %multiprocessor, %block;
  .reg .b64 %where;
  mov.u32 %multiprocessor, %smid;
  mov.u32 %block, %ctaid.x;
  ld.param.u64 %where, [pm];
  mad.wide.u32 %where, %block, 4, %where;
  st.global.b32 [%where+0], %multiprocessor;
  }
)";

std::string Body(const Instruction& i, const Variant& variant, const PtxTarget& target) {
  switch (i.layout) {
    case Layout::kNvidiaTcgen05:
      return Tcgen05Body(i, variant.a);
    case Layout::kNvidiaWgmma:
      return WgmmaBody(i, variant.a);
    case Layout::kNvidiaWmma:
      return WmmaBody(i, variant);
    case Layout::kVectorLanes:
      return FmaBody(i);
    default:
      return MmaBody(i, variant, target);
  }
}

}  // namespace

std::span<const PtxTarget> PtxTargets() { return kTargets; }

absl::Status HasKernel(const Instruction& i, const PtxTarget& target) {
  if (i.is_conversion()) {
    return absl::NotFoundError(
        absl::StrCat(i.name, " is a conversion; cuda: and sass: do not run conversions yet"));
  }
  switch (i.layout) {
    case Layout::kNvidiaMma:
      // The only mma of the table that PTX 9.0 does not have.
      if (absl::EndsWith(i.name, ".ue8m0.4x")) {
        return absl::NotFoundError(
            absl::StrCat(i.name, " needs PTX 9.1, which this version does not generate"));
      }
      return absl::OkStatus();
    case Layout::kNvidiaMmaBytes:
    case Layout::kNvidiaMma884:
    case Layout::kNvidiaWmma:
      return absl::OkStatus();
    case Layout::kVectorLanes:  // fma; no GPU has the others
    case Layout::kNvidiaTcgen05:
    case Layout::kNvidiaWgmma: {
      const std::vector<std::string> archs = absl::StrSplit(i.native_on, ' ');
      if (absl::c_linear_search(archs, target.arch)) return absl::OkStatus();
      return absl::NotFoundError(absl::StrCat(i.name, " is an instruction of ",
                                              absl::StrJoin(archs, " and "), ", not of ",
                                              target.target));
    }
    default:
      return absl::NotFoundError(absl::StrCat(i.name, " has no kernel on ", target.target));
  }
}

RegisterCounts RegistersOf(const Instruction& i) {
  return i.layout == Layout::kNvidiaWmma ? WmmaRegisters(i) : MmaRegisters(i);
}

absl::Status HasKernel(const Instruction& i, const PtxTarget& target, const Variant& variant) {
  RETURN_IF_ERROR(HasKernel(i, target));
  if (variant.overlap.empty() && variant.around.empty()) return absl::OkStatus();
  if (!HasFragments(i)) {
    return absl::NotFoundError("overlap= and around= are variants of mma and wmma only");
  }
  RETURN_IF_ERROR(CheckSurrounding(variant.around, i));
  return CheckOverlap(variant.overlap, RegistersOf(i));
}

Kernel KernelOf(const Instruction& i, const PtxTarget& target, const Variant& variant) {
  const Variant own = VariantFor(i, variant);
  const ModuleEntry entries[] = {{i, own}};
  Kernel kernel;
  kernel.entry = KernelName(i, own);
  kernel.text = ModuleOf(target, entries);
  // Matrices in memory belong to no lane: those of wmma belong to one warp.
  kernel.threads = std::max(32, ExtentOf(i, Operand::kD).lanes);
  const VariantOperands operands = OperandsOf(own);
  kernel.a = WordsOf(i, operands.a);
  kernel.b = WordsOf(i, operands.b);
  kernel.c = WordsOf(i, operands.c);
  kernel.d = WordsOf(i, operands.d);
  return kernel;
}

std::string KernelName(const Instruction& i, const Variant& variant) {
  const std::string suffix = SuffixOf(VariantFor(i, variant));
  return absl::StrReplaceAll(absl::StrCat(i.name, suffix.empty() ? "" : "_", suffix),
                             {{".", "_"}, {",", "_"}, {"=", "_"}, {"+", "_"}});
}

std::string ModuleOf(const PtxTarget& target, std::span<const ModuleEntry> entries) {
  std::string text = absl::StrCat(".version ", target.version, "\n.target ", target.target,
                                  "\n.address_size 64\n");
  for (const auto& [i, variant] : entries) {
    absl::StrAppend(&text, ".visible .entry ", KernelName(i, variant),
                    "(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, ",
                    ".param .u64 pm)\n{\n", Body(i, variant, target), kMultiprocessor,
                    "  ret;\n}\n");
  }
  return text;
}

std::vector<ModuleEntry> BuiltEntries(const PtxTarget& target) {
  std::vector<ModuleEntry> entries;
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      const Instruction& i = *op.instruction;
      if (op.arch() != target.arch || !HasKernel(i, target).ok()) continue;
      for (const Variant& variant : VariantsOf(i)) entries.push_back({i, variant});
    }
  }
  return entries;
}

bool IsBuiltEntry(const Instruction& i) { return FindInstruction(i.name) != nullptr; }

}  // namespace mmadiff
