// The kinds of vectors that this machine has and Google Highway compiles for. Only Highway's
// headers are used; with -DMMADIFF_NO_VECTORS there are no vectors. Include before
// <hwy/foreach_target.h>.
#pragma once

#if !defined(MMADIFF_NO_VECTORS)
#if !__has_include(<hwy/highway.h>)
#error \
    "the headers of Highway are missing: add -Isim/third_party/highway, or compile without vectors: -DMMADIFF_NO_VECTORS"
#endif
#define MMADIFF_HAS_HIGHWAY 1
#define HWY_IS_DEBUG_BUILD 0  // Highway's checks are in a library that is not linked
// Not needed.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_F16C
// In Highway, vectors without a fixed length have no operators and cannot be class members, so Arm
// uses NEON. The last x86 processor limited to SSSE3 is from 2008.
#define MMADIFF_NO_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#if defined(MMADIFF_WIDE_LANES)  // vectors of two 64-bit lanes are slower than scalar code
#define HWY_DISABLED_TARGETS (MMADIFF_NO_TARGETS | HWY_SSE4 | HWY_NEON)
#else
#define HWY_DISABLED_TARGETS MMADIFF_NO_TARGETS
#endif
#include <hwy/detect_targets.h>
// With a sanitizer, compiling code that is inlined into every caller would take minutes.
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
// Every machine of that architecture has it.
inline bool HasNEON() { return true; }

}  // namespace mmadiff

// DO(target) for each compiled kind, best first; none without Highway.
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
