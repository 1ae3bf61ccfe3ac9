// MMADIFF_HD marks the functions that g++, nvcc and clang for AMD compile from the same text.
// Headers that use it contain no containers, no allocation and no library beyond <cstdint>.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define MMADIFF_HD __host__ __device__
#else
#define MMADIFF_HD
#endif
// While the text is compiled for a GPU.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define MMADIFF_ON_GPU
#endif
// Before a loop: how often its body is written out. Compilers for the host decide for themselves.
#if defined(MMADIFF_ON_GPU)
#define MMADIFF_UNROLL(times) _Pragma(MMADIFF_TEXT(unroll times))
#define MMADIFF_TEXT(text) #text
#else
#define MMADIFF_UNROLL(times)
#endif
// A function called from many places: a GPU compiler would spend minutes on copies of it.
#if defined(MMADIFF_ON_GPU)
#define MMADIFF_HD_CALL __host__ __device__ __noinline__
#else
#define MMADIFF_HD_CALL MMADIFF_HD
#endif
// A function for what is rare, as operands that are not finite. The host's compiler would copy it into each caller.
#if defined(__CUDACC__) || defined(__HIP__)
#define MMADIFF_HD_RARE MMADIFF_HD
#else
#define MMADIFF_HD_RARE [[gnu::noinline]]
#endif
