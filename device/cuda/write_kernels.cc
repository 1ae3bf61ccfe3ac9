// write_kernels kernels|copies TARGET: writes the PTX text of every kernel of an instruction, or of a tensor
// copy, for which a build generates machine code for a target, named as in ptxas ("sm_90a"), to standard
// output.
#include <cstdio>
#include <cstring>
#include <string>

#include "device/cuda/copy_kernel.h"
#include "device/cuda/kernel.h"

int main(int argc, char** argv) {
  for (const mmadiff::PtxTarget& target : mmadiff::PtxTargets()) {
    if (argc != 3 || std::strcmp(argv[2], target.target) != 0) continue;
    const std::string text = std::strcmp(argv[1], "copies") == 0
                                 ? CopyModuleOf(target, CopyEntries(target))
                                 : ModuleOf(target, BuiltEntries(target));
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
  }
  std::fputs("usage: write_kernels kernels|copies TARGET, for example sm_90a\n", stderr);
  return 2;
}
