// The kernels of a GPU-resident run: thin wrappers of resident_kernels.h and
// resident_compare.h. Names are C names, looked
// up by resident.cc.
#include "fuzz/gpu/resident_compare.h"

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

template <Path kPath>
__device__ void Compare(const ResidentJob& job) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* staged = reinterpret_cast<typename Operands<kPath>::Word*>(shared);
  const int t = static_cast<int>(threadIdx.x);
  const StagePlan plan = StagePlanOf<kPath>(job.shape, t, kPatchThreads);
  Tally tally;
  // Cases within patches: most instructions have one patch, and what it needs is found out once.
  ForEachPatch(job.shape, [&](Patch patch) {
    for (patch.x = blockIdx.x; patch.x < job.count; patch.x += gridDim.x) {
      StagePatch<kPath>(job, patch, plan, staged);
      __syncthreads();
      CompareResult<kPath>(job, patch, t, staged, tally);
      __syncthreads();
    }
  });
  auto* limbs = reinterpret_cast<uint32_t*>(shared);
  PutTally(tally, t, kPatchThreads, limbs);
  __syncthreads();
  AddTallies(job, t, kPatchThreads, limbs);
}

#define MMADIFF_COMPARE(name, path)                                         \
  extern "C" __global__ void __launch_bounds__(kPatchThreads, kPatchBlocks) \
      name(const __grid_constant__ ResidentJob job) {                       \
    Compare<path>(job);                                                     \
  }
MMADIFF_COMPARE(compare_fma_chain, Path::kFmaChain)
MMADIFF_COMPARE(compare_fused_sum, Path::kFusedSum)
MMADIFF_COMPARE(compare_scaled_sum, Path::kScaledSum)
MMADIFF_COMPARE(compare_narrow_sum, Path::kNarrowSum)
MMADIFF_COMPARE(compare_group_sum, Path::kGroupSum)
MMADIFF_COMPARE(compare_integer_dot, Path::kInteger)
