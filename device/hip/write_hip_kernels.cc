// write_hip_kernels TARGET: writes the assembly text of every kernel for which a build generates
// machine code for a target, named as in the compiler ("gfx942"), to standard output.
#include <cstdio>
#include <string>

#include "device/hip/kernel.h"

int main(int argc, char** argv) {
  const mmadiff::HipTarget* target = argc == 2 ? mmadiff::FindHipTarget(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("usage: write_hip_kernels TARGET, for example gfx942\n", stderr);
    return 2;
  }
  const std::string text = HipModuleOf(*target, mmadiff::BuiltHipInstructions(*target));
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
