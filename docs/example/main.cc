// One dot product as the tensor cores of an H100 compute it: 1 * 1 - 2^-25 is cut to 1 - 2^-24.
#include <cinttypes>
#include <cstdio>

#include "sim/operation.h"
#include "sim/simulate.h"
#include "sim/word.h"

int main() {
  const mmadiff::Operation* op = mmadiff::FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  mmadiff::DotProductCase dot = mmadiff::NeutralDotProduct(op->model);  // all +0
  dot.a[0] = dot.b[0] = 0x3c00;                                         // 1.0 in f16
  dot.c = 0xb3000000;                                                   // -2^-25 in f32
  std::printf("%08" PRIx64 "\n", mmadiff::Simulate(op->model, dot));
}
