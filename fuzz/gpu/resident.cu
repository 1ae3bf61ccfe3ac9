// The kernels of a GPU-resident run: thin wrappers of resident_kernels.h. Names are C names, looked
// up by resident.cc.
#include "fuzz/gpu/resident_kernels.h"

using namespace mmadiff;  // NOLINT: kernels only

extern "C" __global__ void generate(const __grid_constant__ ResidentJob job) {
  const int64_t t = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t < job.count) GenerateCase(job, t);
}

extern "C" __global__ void pack(const __grid_constant__ ResidentJob job) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int operand = 0; operand < 3; ++operand) {
    const int64_t words = job.count * job.packed[operand].words_per_case;
    int64_t t = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; t < words; t += step) PackWord(job, operand, t);
  }
}

template <Family kFamily>
__device__ void Compare(const ResidentJob& job) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* staged = reinterpret_cast<typename Operands<kFamily>::Word*>(shared);
  const int t = static_cast<int>(threadIdx.x);
  Tally tally;
  const int64_t patches = PatchCount(job);
  for (int64_t number = blockIdx.x; number < patches; number += gridDim.x) {
    const Patch patch = PatchOf(job, number);
    StagePatch<kFamily>(job, patch, t, kPatchThreads, staged);
    __syncthreads();
    if (t < patch.rows * patch.columns) CompareResult<kFamily>(job, patch, t, staged, tally);
    __syncthreads();
  }
  AddTally(job, tally);
}

extern "C" __global__ void __launch_bounds__(kPatchThreads)
    compare_fma_chain(const __grid_constant__ ResidentJob job) {
  Compare<Family::kFmaChain>(job);
}
extern "C" __global__ void __launch_bounds__(kPatchThreads)
    compare_fused_sum(const __grid_constant__ ResidentJob job) {
  Compare<Family::kFusedSum>(job);
}
extern "C" __global__ void __launch_bounds__(kPatchThreads)
    compare_scaled_sum(const __grid_constant__ ResidentJob job) {
  Compare<Family::kScaledSum>(job);
}
extern "C" __global__ void __launch_bounds__(kPatchThreads)
    compare_integer_dot(const __grid_constant__ ResidentJob job) {
  Compare<Family::kIntegerDot>(job);
}
