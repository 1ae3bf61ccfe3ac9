// MMADIFF_HD marks functions that g++, nvcc and clang for AMD compile from the same source. Headers
// that use it contain no containers, no allocation and no library beyond <cstdint>.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define MMADIFF_HD __host__ __device__
#else
#define MMADIFF_HD
#endif
// Defined while compiling for a GPU.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define MMADIFF_ON_GPU
#endif
// Goes before a loop: its unroll factor. Host compilers choose their own.
#if defined(MMADIFF_ON_GPU)
#define MMADIFF_UNROLL(times) _Pragma(MMADIFF_TEXT(unroll times))
#define MMADIFF_TEXT(text) #text
#else
#define MMADIFF_UNROLL(times)
#endif
// For functions that are called from many places: a GPU compiler would spend minutes on copies.
#if defined(MMADIFF_ON_GPU)
#define MMADIFF_HD_CALL __host__ __device__ __noinline__
#else
#define MMADIFF_HD_CALL MMADIFF_HD
#endif
// For functions that handle rare cases, such as operands that are not finite: the host compiler
// would otherwise inline them into each caller.
#if defined(__CUDACC__) || defined(__HIP__)
#define MMADIFF_HD_RARE MMADIFF_HD
#else
#define MMADIFF_HD_RARE [[gnu::noinline]]
#endif
