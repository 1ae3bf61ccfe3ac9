// MatrixOpcodes() survives any bytes and counts no more instructions than fit.
#include "device/cuda/cubin.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto counts = mmadiff::MatrixOpcodes(Text(data, size), "k");
  if (!counts.ok()) return 0;
  size_t all = 0;
  for (const auto& [name, count] : *counts) {
    Check(count > 0);
    all += count;
  }
  Check(all <= size / 16 + 1);
  return 0;
}
