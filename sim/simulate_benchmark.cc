// Dot products per second of the scalar simulator on one core, one line per algorithm and shape.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Finite operands within a few binades of 1: no NaN ends a dot product early, and every term is
// aligned.
uint64_t RandomWord(const Format& f, std::mt19937_64& random) {
  if (IsInteger(f)) return random() & LowBits(f.bits);
  const int largest = static_cast<int>(MaxFiniteWord(f) >> f.ignored_bits >> f.fraction_bits);
  const int one = std::min(1 - f.min_exponent, largest);  // exponent field of 1
  const int low = std::max(one - 4, 0), high = std::min(one + 3, largest - 1);
  const uint64_t field = low + random() % (std::max(high, low) - low + 1);
  const uint64_t sign = f.is_signed ? (random() & 1) << SignBit(f) : 0;
  return sign | (field << f.fraction_bits | (random() & LowBits(f.fraction_bits)))
                    << f.ignored_bits;
}

void BM_Simulate(benchmark::State& state, const Operation* op) {
  std::mt19937_64 random(1);
  const Instruction& instruction = *op->instruction;
  Batch batch;
  batch.Resize(op->shape(), std::max(1, 4096 / op->shape().d_words()));
  const int words = op->shape().row_words();
  for (size_t i = 0; i < batch.a.size(); ++i) {
    batch.a[i] = RandomWord(instruction.a_format(static_cast<int>(i % words)), random);
  }
  for (size_t i = 0; i < batch.b.size(); ++i) {
    batch.b[i] = RandomWord(instruction.b_format(static_cast<int>(i % words)), random);
  }
  for (uint64_t& word : batch.c) word = RandomWord(op->model.c, random);
  std::vector<uint64_t> d(batch.dot_products());
  for (auto _ : state) {
    Simulate(op->model, batch, d);
    benchmark::DoNotOptimize(d.data());
  }
  const double dots = static_cast<double>(d.size());
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["dot_products/s"] = benchmark::Counter(dots, rate);
  state.counters["of_k=16/s"] = benchmark::Counter(dots * op->model.k / 16, rate);
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  for (const char* name : {"x86/vdpbf16ps",
                           "x86/vfmadd231ss",
                           "x86/vfmadd231sd",
                           "x86/vpdpbusd",
                           "x86/tdpbf16ps",
                           "arm/bfdot",
                           "arm/bfdot.ebf",
                           "sm_70/mma.m8n8k4.f32.f16.f16.f32",
                           "sm_80/mma.m16n8k16.f32.f16.f16.f32",
                           "sm_90/mma.m16n8k16.f32.f16.f16.f32",
                           "sm_90/mma.m16n8k16.f16.f16.f16.f16",
                           "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",
                           "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
                           "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
                           "sm_90/mma.m16n8k16.f64.f64.f64.f64",
                           "sm_80/mma.m16n8k256.s32.b1.b1.s32.xor.popc",
                           "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
                           "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x",
                           "gfx908/v_mfma_f32_16x16x16f16",
                           "gfx908/v_mfma_f32_16x16x8bf16",
                           "gfx90a/v_mfma_f32_16x16x16f16",
                           "gfx942/v_mfma_f32_16x16x16_f16",
                           "gfx942/v_mfma_f32_16x16x32_fp8_fp8",
                           "gfx942/v_mfma_f32_16x16x8_xf32"}) {
    benchmark::RegisterBenchmark(name, mmadiff::BM_Simulate, mmadiff::FindOperation(name));
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
