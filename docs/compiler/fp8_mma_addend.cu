// FP8 by inline assembly: each step adds element 0 of the step before to all of D. All operands are 1, so every element
// of D should be 33 after one step. d1 to d3 are 65: nvcc gives s the register of d0, and ptxas writes d0 before it
// adds s to the others.
// Wrong (ptxas 13.0.88, sm_90a):  FADD R2, R12, R2   d0 = (A B)0 + s, and R2 was s
//                                 FADD R7, R13, R2   d1 = (A B)1 + d0; so for d2 and d3
// Seen in machine code, with the PTX of nvcc 13.0.88 assembled by ptxas 12.4.131, 12.5.82, 12.6.85, 12.8.93, 12.9.86,
// 13.0.88 and 13.5.37 for each of sm_90a, sm_100a, sm_103a and sm_110a that the version has. (12.4.131 loses s in d0
// too: fp8_mma_in_place.ptx.) Right on sm_89 and sm_120a, where the instruction is native (QMMA). The 65 follows from
// this code; no GPU has run this program.
// Scan it: ./mmadiff scan docs/compiler/fp8_mma_addend.cu --arch=sm_90a
// See it:  nvcc -arch=sm_90a -cubin fp8_mma_addend.cu -o addend.cubin
//          nvdisasm -c addend.cubin | grep -E 'HMMA|FADD'
// Run it:  nvcc -arch=native fp8_mma_addend.cu -o fp8_mma_addend && ./fp8_mma_addend
// Avoid it: give s a register of its own before the step:
//          float z; asm volatile("mov.f32 %0, %1;" : "=f"(z) : "f"(s));
#include <cstdint>
#include <cstdio>

__global__ void Steps(const uint32_t* ones, float* d, float s, int steps) {
  const uint32_t x = ones[threadIdx.x];
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%5, %5, %5, %5};"
        : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
        : "r"(x), "f"(s));
    s = d0;
  }
  float* const own = d + 4 * threadIdx.x;
  own[0] = d0;
  own[1] = d1;
  own[2] = d2;
  own[3] = d3;
}

int main() {
  uint32_t ones[32];
  for (uint32_t& x : ones) x = 0x38383838;  // 1.0 in e4m3, four times
  float d[128] = {};
  uint32_t* in;
  float* out;
  cudaMalloc(&in, sizeof ones);
  cudaMalloc(&out, sizeof d);
  cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
  Steps<<<1, 32>>>(in, out, 1.0f, 1);
  const cudaError_t error = cudaMemcpy(d, out, sizeof d, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("not run: %s\n", cudaGetErrorString(error));
    return 2;
  }
  int wrong = 0;
  for (float x : d) wrong += x != 33.0f;
  std::printf("%s: %d of 128 elements are not 33; d0 to d3 of lane 0 are %g %g %g %g\n",
              wrong == 0 ? "right" : "WRONG", wrong, d[0], d[1], d[2], d[3]);
  return wrong != 0;
}
