// The kernels of a GPU-resident run: thin wrappers of resident_kernels.h, resident_compare.h and
// resident_trace.h. Names are C names, looked up by gpu_counter.cc. Compiled by nvcc, and as HIP by clang.
#if defined(__HIP__)
#include "fuzz/gpu/amd.h"
#endif

#include "fuzz/gpu/resident_compare.h"
#include "fuzz/gpu/resident_trace.h"

using namespace mmadiff;  // NOLINT: kernels only

extern "C" __global__ void generate(const __grid_constant__ ResidentJob job) {
  const int64_t t = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= job.count) return;
  GenerateCase(job, t);
  PackCase(job, t);
}

template <Path kPath>
__device__ void Compare(const ResidentJob& job) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* staged = reinterpret_cast<typename Operands<kPath>::Word*>(shared);
  const int t = static_cast<int>(threadIdx.x);
  const StagePlan plan = StagePlanOf<kPath>(job.shape, t);
  const int cases = CasesAtOnce<kPath>(job.shape);
  Tally tally;
  // Loops over cases within patches: most instructions have one patch, so its setup is done once. A
  // block takes adjacent cases, one after the other.
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kInterleaved;
  const int64_t far = static_cast<int64_t>(gridDim.x - 1) * kInterleaved;
  ForEachPatch(job.shape, [&](Patch patch) {
    for (patch.x = first; patch.x < job.count; patch.x += patch.x % kInterleaved == 0 ? far : 0) {
      patch.cases = job.count - patch.x < cases ? static_cast<int>(job.count - patch.x) : cases;
      StagePatch<kPath>(job, patch, plan, staged);
      __syncthreads();
      CompareResults<kPath>(job, patch, t, staged, tally);
      __syncthreads();
      patch.x += cases;
    }
  });
  auto* limbs = reinterpret_cast<uint32_t*>(shared);
  PutTally(tally, t, kPatchThreads, limbs);
  __syncthreads();
  AddTallies(job, t, kPatchThreads, limbs);
}

extern "C" __global__ void trace(const __grid_constant__ ResidentJob job) {
  TraceCase(job, static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
}

#define MMADIFF_COMPARE(name, path)                                         \
  extern "C" __global__ void __launch_bounds__(kPatchThreads, kPatchBlocks) \
      name(const __grid_constant__ ResidentJob job) {                       \
    Compare<path>(job);                                                     \
  }
MMADIFF_COMPARE(compare_fma_chain, Path::kFmaChain)
MMADIFF_COMPARE(compare_integer_dot, Path::kInteger)
#if defined(__HIP__)
MMADIFF_COMPARE(compare_two_stage_sum, Path::kTwoStageSum)
MMADIFF_COMPARE(compare_pairwise_sum, Path::kPairwiseSum)
MMADIFF_COMPARE(compare_exact_sum, Path::kExactSum)
#else
MMADIFF_COMPARE(compare_fused_sum, Path::kFusedSum)
MMADIFF_COMPARE(compare_scaled_sum, Path::kScaledSum)
MMADIFF_COMPARE(compare_narrow_sum, Path::kNarrowSum)
MMADIFF_COMPARE(compare_narrow_f32, Path::kNarrowF32)
MMADIFF_COMPARE(compare_narrow_f16, Path::kNarrowF16)
MMADIFF_COMPARE(compare_group_sum, Path::kGroupSum)
#endif
