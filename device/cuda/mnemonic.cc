#include "device/cuda/mnemonic.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/cuda/mma_kernel.h"
#include "device/cuda/overlap.h"
#include "device/cuda/wmma_kernel.h"

namespace mmadiff {
namespace {

std::string WithoutDefaults(absl::string_view mnemonic) {
  std::vector<absl::string_view> parts = absl::StrSplit(mnemonic, '.');
  std::erase_if(parts, [](absl::string_view part) { return part == "aligned" || part == "rn"; });
  return absl::StrJoin(parts, ".");
}

// "sm_90a" to "sm_90".
absl::string_view WithoutLetter(absl::string_view target) {
  while (!target.empty() && absl::ascii_isalpha(target.back())) target.remove_suffix(1);
  return target;
}

}  // namespace

absl::StatusOr<const PtxTarget*> TargetNamed(absl::string_view name) {
  for (const PtxTarget& t : PtxTargets()) {
    if (name == t.target) return &t;
  }
  for (const PtxTarget& t : PtxTargets()) {
    if (WithoutLetter(name) == WithoutLetter(t.target)) return &t;
  }
  return absl::NotFoundError(absl::StrCat("no target '", name, "'"));
}

absl::StatusOr<MnemonicKernel> KernelWithMnemonic(absl::string_view mnemonic,
                                                  const PtxTarget& target) {
  const std::string wanted = WithoutDefaults(mnemonic);
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      const Instruction& i = *op.instruction;
      if (op.arch() != target.arch || !HasFragments(i)) continue;
      for (const Variant& v : VariantsOf(i)) {
        const bool wmma = i.layout == Layout::kNvidiaWmma;
        const std::string own =
            wmma ? WmmaMnemonic(i, v) : MmaMnemonic(i, UsesOrderedMetadata(target));
        if (WithoutDefaults(own) != wanted) continue;
        return MnemonicKernel{&op, v};
      }
    }
  }
  return absl::NotFoundError(
      absl::StrCat("no instruction of ", target.arch, " in the tables has this mnemonic",
                   absl::StrContains(mnemonic, ".sp.")
                       ? "; kernels of sparse instructions have mma.sp::ordered_metadata"
                       : ""));
}

}  // namespace mmadiff
