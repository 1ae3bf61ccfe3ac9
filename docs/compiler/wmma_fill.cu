// WMMA in plain CUDA C++: each step fills the accumulator with an element of the step before. All operands are 1, so
// every element of D should be 17 after one step. Columns 8 to 15 are 33: nvcc gives s the register of c.x[0], ptxas
// makes two matrix instructions of the step, and the second adds the result of the first instead of s.
// Wrong (ptxas 13.0.88, sm_90a):  HMMA.16816.F32 R8, R4, R16, R8
//                                 IMAD.MOV.U32 R12, RZ, RZ, R8        so for R13 to R15: the new d0, not s
//                                 HMMA.16816.F32 R12, R4, R18, R12
// Seen in machine code, with the PTX of nvcc 13.0.88 assembled by ptxas 12.4.131, 12.5.82, 12.6.85, 12.8.93, 12.9.86,
// 13.0.88 and 13.5.37 for each of sm_75, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_110a and sm_120a that the
// version has. On an H100 and an H200 this loop gave 33 in D[0][8], and 128 of 256 elements other than 17
// (driver 580.159.04, 2026-11-27); this program itself was not run.
// Scan it: ./mmadiff scan docs/compiler/wmma_fill.cu --arch=sm_90a
// See it:  nvcc -arch=sm_90a -cubin wmma_fill.cu -o wmma.cubin
//          nvdisasm -c wmma.cubin | grep -E 'HMMA|MOV'
// Run it:  nvcc -arch=native wmma_fill.cu -o wmma_fill && ./wmma_fill
// Avoid it: give s a register of its own before fill_fragment:
//          float z; asm volatile("mov.f32 %0, %1;" : "=f"(z) : "f"(s));
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

__global__ void Steps(const half* a, const half* b, float* d, float s, int steps) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    wmma::fill_fragment(c, s);
    wmma::mma_sync(c, fa, fb, c);
    s = c.x[0];
  }
  wmma::store_matrix_sync(d, c, 16, wmma::mem_row_major);
}

int main() {
  half ones[256];
  for (half& x : ones) x = __float2half(1.0f);
  float d[256] = {};
  half *a, *b;
  float* out;
  cudaMalloc(&a, sizeof ones);
  cudaMalloc(&b, sizeof ones);
  cudaMalloc(&out, sizeof d);
  cudaMemcpy(a, ones, sizeof ones, cudaMemcpyHostToDevice);
  cudaMemcpy(b, ones, sizeof ones, cudaMemcpyHostToDevice);
  Steps<<<1, 32>>>(a, b, out, 1.0f, 1);
  const cudaError_t error = cudaMemcpy(d, out, sizeof d, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("not run: %s\n", cudaGetErrorString(error));
    return 2;
  }
  int wrong = 0;
  for (float x : d) wrong += x != 17.0f;
  std::printf("%s: %d of 256 elements are not 17; D[0][0] is %g, D[0][8] is %g\n",
              wrong == 0 ? "right" : "WRONG", wrong, d[0], d[8]);
  return wrong != 0;
}
