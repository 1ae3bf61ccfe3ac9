// Which vectors this machine has, of those that Google Highway compiles for. Highway is used as headers
// alone; with -DMMADIFF_NO_VECTORS there are no vectors. Before <hwy/foreach_target.h>.
#pragma once

#if !defined(MMADIFF_NO_VECTORS)
#if !__has_include(<hwy/highway.h>)
#error \
    "the headers of Highway are missing: install libhwy-dev, or compile without vectors: -DMMADIFF_NO_VECTORS"
#endif
#define MMADIFF_HAS_HIGHWAY 1
#define HWY_IS_DEBUG_BUILD 0  // its checks are in a library that is not linked
// Nothing here needs them.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_F16C
// Vectors of no fixed length have no operators there, and no place in a class: Arm has NEON. The last x86
// processor with SSSE3 alone is of 2008.
#define MMADIFF_NO_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#if defined(MMADIFF_WIDE_LANES)  // vectors with two lanes of 64 bits are slower than none
#define HWY_DISABLED_TARGETS (MMADIFF_NO_TARGETS | HWY_SSE4 | HWY_NEON)
#else
#define HWY_DISABLED_TARGETS MMADIFF_NO_TARGETS
#endif
#include <hwy/detect_targets.h>
// A sanitizer takes minutes over what is copied into every caller.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MMADIFF_LANES inline
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MMADIFF_LANES inline
#endif
#endif
#ifndef MMADIFF_LANES
#define MMADIFF_LANES HWY_INLINE
#endif
#else
#define MMADIFF_HAS_HIGHWAY 0
#endif

namespace mmadiff {

#if defined(__x86_64__)
inline bool HasSSE4() {
  return __builtin_cpu_supports("ssse3") != 0 && __builtin_cpu_supports("sse4.1") != 0 &&
         __builtin_cpu_supports("sse4.2") != 0;
}
inline bool HasAVX2() {
  return HasSSE4() && __builtin_cpu_supports("avx") != 0 && __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
         __builtin_cpu_supports("fma") != 0;
}
inline bool HasAVX3() {  // AVX-512
  return HasAVX2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0;
}
#endif
// Every machine of its kind has it.
inline bool HasNEON() { return true; }

}  // namespace mmadiff

// DO(target) of those that are compiled, the best first; none without Highway.
#if MMADIFF_HAS_HIGHWAY
#if HWY_TARGETS & HWY_AVX3
#define MMADIFF_VECTOR_AVX3(DO) DO(AVX3)
#else
#define MMADIFF_VECTOR_AVX3(DO)
#endif
#if HWY_TARGETS & HWY_AVX2
#define MMADIFF_VECTOR_AVX2(DO) DO(AVX2)
#else
#define MMADIFF_VECTOR_AVX2(DO)
#endif
#if HWY_TARGETS & HWY_SSE4
#define MMADIFF_VECTOR_SSE4(DO) DO(SSE4)
#else
#define MMADIFF_VECTOR_SSE4(DO)
#endif
#if HWY_STATIC_TARGET == HWY_NEON
#define MMADIFF_VECTOR_OF_ALL(DO) DO(NEON)
#else
#define MMADIFF_VECTOR_OF_ALL(DO)
#endif
#define MMADIFF_EACH_VECTOR(DO) \
  MMADIFF_VECTOR_AVX3(DO)       \
  MMADIFF_VECTOR_AVX2(DO) MMADIFF_VECTOR_SSE4(DO) MMADIFF_VECTOR_OF_ALL(DO)
#else
#define MMADIFF_EACH_VECTOR(DO)
#endif
