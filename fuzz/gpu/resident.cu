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
  // A warp packs the same words of 32 cases.
  const int64_t place = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x % 32;
  if (place < job.count) PackCase(job, place, threadIdx.x / 32);
}

template <Path kPath>
__device__ void Compare(const ResidentJob& job) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* staged = reinterpret_cast<typename Operands<kPath>::Word*>(shared);
  const int t = static_cast<int>(threadIdx.x);
  const StagePlan plan = StagePlanOf<kPath>(job.shape, t, kPatchThreads);
  Tally tally;
  // Cases within patches: most instructions have one patch, and what it needs is found out once. A
  // block takes the cases that lie together, one after the other.
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kInterleaved;
  const int64_t far = static_cast<int64_t>(gridDim.x - 1) * kInterleaved;
  ForEachPatch(job.shape, [&](Patch patch) {
    for (patch.x = first; patch.x < job.count; patch.x += patch.x % kInterleaved == 0 ? far : 0) {
      StagePatch<kPath>(job, patch, plan, staged);
      __syncthreads();
      CompareResult<kPath>(job, patch, t, staged, tally);
      __syncthreads();
      ++patch.x;
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
MMADIFF_COMPARE(compare_narrow_f32, Path::kNarrowF32)
MMADIFF_COMPARE(compare_group_sum, Path::kGroupSum)
MMADIFF_COMPARE(compare_integer_dot, Path::kInteger)
