// Dot products a second of the scalar simulator on one core, one line per algorithm and shape.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "sim/row.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Finite operands of a few binades around 1: no early exit through a NaN, every term is aligned.
uint64_t RandomWord(const Format& f, std::mt19937_64& random) {
  if (IsInteger(f)) return random() & LowBits(f.bits);
  const uint64_t sign_and_fraction =
      random() & (LowBits(f.fraction_bits) | 1ull << (f.fraction_bits + f.exponent_bits));
  const uint64_t field = static_cast<uint64_t>(-f.min_exponent - 3) + random() % 8;
  return (sign_and_fraction | field << f.fraction_bits) << f.ignored_bits;
}

void BM_Simulate(benchmark::State& state, const Row* row) {
  std::mt19937_64 random(1);
  Batch batch;
  batch.Resize(row->shape(), std::max(1, 4096 / row->shape().d_words()));
  for (uint64_t& word : batch.a) word = RandomWord(row->model.a, random);
  for (uint64_t& word : batch.b) word = RandomWord(row->model.b, random);
  for (uint64_t& word : batch.c) word = RandomWord(row->model.c, random);
  std::vector<uint64_t> d(batch.dot_products());
  for (auto _ : state) {
    Simulate(row->model, batch, d);
    benchmark::DoNotOptimize(d.data());
  }
  state.counters["dot_products/s"] = benchmark::Counter(
      static_cast<double>(d.size()), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  for (const char* name :
       {"x86/vdpbf16ps", "x86/vfmadd231ss", "x86/vfmadd231sd", "x86/vpdpbusd",
        "sm_70/mma.m8n8k4.f32.f16.f16.f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32",
        "sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k16.f16.f16.f16.f16",
        "sm_90/mma.m16n8k8.f32.tf32.tf32.f32"}) {
    benchmark::RegisterBenchmark(name, mmadiff::BM_Simulate, mmadiff::FindRow(name));
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
