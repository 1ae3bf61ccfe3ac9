// The CUDA keywords that resident.cu uses, for compiling it with clang as HIP without ROCm's
// headers. Blocks and atomics are as in ROCm's headers (amd_hip_runtime.h, amd_hip_atomic.h). No
// code depends on the lanes of a wave, so waves of 32 and 64 are equivalent.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(threads, blocks) __attribute__((amdgpu_flat_work_group_size(1, threads)))

// Random123 does not support HIP.
#define R123_CUDA_DEVICE __host__ __device__
#define R123_USE_SSE 0
#define R123_ASSERT(condition)

struct AlongX {
  unsigned x;
};
#define threadIdx (AlongX{__builtin_amdgcn_workitem_id_x()})
#define blockIdx (AlongX{__builtin_amdgcn_workgroup_id_x()})
#define blockDim (AlongX{__builtin_amdgcn_workgroup_size_x()})
// Launches consist of whole blocks.
#define gridDim (AlongX{__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()})

__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__device__ inline unsigned long long atomicAdd(unsigned long long* sum, unsigned long long value) {
  return __hip_atomic_fetch_add(sum, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ inline unsigned atomicOr(unsigned* word, unsigned bits) {
  return __hip_atomic_fetch_or(word, bits, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
