// write_kernels TARGET: writes the PTX text of every kernel for which a build generates machine
// code for a target, named as in ptxas ("sm_90a"), to standard output.
#include <cstdio>
#include <cstring>
#include <string>

#include "device/cuda/kernel.h"

int main(int argc, char** argv) {
  for (const mmadiff::PtxTarget& target : mmadiff::PtxTargets()) {
    if (argc != 2 || std::strcmp(argv[1], target.target) != 0) continue;
    const std::string text = ModuleOf(target, BuiltEntries(target));
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return written && std::fflush(stdout) == 0 ? 0 : 1;
  }
  std::fputs("usage: write_kernels TARGET, for example sm_90a\n", stderr);
  return 2;
}
