// Instructions of x86-64 and the packing of their operands. Every function that needs a CPU feature
// has it as a target attribute, so the program starts on any x86-64.
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "device/host_amx.h"
#include "device/host_instruction.h"

namespace mmadiff {
namespace {

// Bits of MXCSR (SDM vol. 1, 10.2.3). VDPBF16PS and the integer instructions do not read it.
constexpr Mode kModes[] = {
    {"daz", "1", 0, 0x40},    // subnormal operands are zeros
    {"ftz", "1", 0, 0x8000},  // subnormal results are zeros
    {"round", "down", 0x6000, 0x2000},
    {"round", "up", 0x6000, 0x4000},
    {"round", "zero", 0x6000, 0x6000},
};

constexpr int kLanes = 16;  // 32-bit lanes of a zmm register, one dot product each

// One zmm register from 512 / bits words, truncated to `bits` each, the first in the lowest bits.
template <int bits>
[[gnu::target("avx512f"), gnu::always_inline]] inline __m512i Pack(const uint64_t* words) {
  static_assert(bits == 8 || bits == 16 || bits == 32);
  alignas(64) char packed[64];
  constexpr __mmask8 kAll = 0xff;
  for (int i = 0; i < 512 / bits; i += 8) {
    const __m512i eight = _mm512_loadu_si512(words + i);
    char* to = packed + i * bits / 8;
    if constexpr (bits == 8) _mm512_mask_cvtepi64_storeu_epi8(to, kAll, eight);
    if constexpr (bits == 16) _mm512_mask_cvtepi64_storeu_epi16(to, kAll, eight);
    if constexpr (bits == 32) _mm512_mask_cvtepi64_storeu_epi32(to, kAll, eight);
  }
  return _mm512_load_si512(packed);
}

// The zero-masking form with a full mask avoids a false "may be used uninitialized" of g++ 12.
[[gnu::target("avx512f"), gnu::always_inline]] inline void Unpack(__m512i lanes, uint64_t* words) {
  constexpr __mmask8 kAll = 0xff;
  alignas(64) __m256i halves[2];
  _mm512_store_si512(halves, lanes);
  _mm512_storeu_si512(words, _mm512_maskz_cvtepu32_epi64(kAll, halves[0]));
  _mm512_storeu_si512(words + 8, _mm512_maskz_cvtepu32_epi64(kAll, halves[1]));
}

// The instructions with zmm operands, in assembly: an intrinsic lets the compiler choose which
// operand is which source, and the first source decides about NaNs. AT&T order: src2, src1, dest.
#define MMADIFF_ZMM_INSTRUCTION(Name, mnemonic, element_bits)                              \
  struct Name {                                                                            \
    static constexpr int kElementBits = element_bits;                                      \
    [[gnu::target("avx512f"), gnu::always_inline]] static __m512i Do(__m512i a, __m512i b, \
                                                                     __m512i c) {          \
      asm volatile(mnemonic " %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));                     \
      return c;                                                                            \
    }                                                                                      \
  }
MMADIFF_ZMM_INSTRUCTION(Vdpbf16ps, "vdpbf16ps", 16);
MMADIFF_ZMM_INSTRUCTION(Vpdpbusd, "vpdpbusd", 8);
MMADIFF_ZMM_INSTRUCTION(Vpdpbusds, "vpdpbusds", 8);
MMADIFF_ZMM_INSTRUCTION(Vpdpwssd, "vpdpwssd", 16);
MMADIFF_ZMM_INSTRUCTION(Vpdpwssds, "vpdpwssds", 16);
#undef MMADIFF_ZMM_INSTRUCTION

// 16 dot products per execution; the last one is padded with zeros.
template <class Op>
[[gnu::target("avx512f")]] void RunVectors(const Batch& batch, uint64_t* d) {
  const uint64_t *a = batch.a.data(), *b = batch.b.data(), *c = batch.c.data();
  const int64_t dots = batch.dot_products();
  constexpr int kBits = Op::kElementBits;
  constexpr int k = 32 / kBits;
  int64_t i = 0;
  for (; i + kLanes <= dots; i += kLanes) {
    Unpack(Op::Do(Pack<kBits>(a + i * k), Pack<kBits>(b + i * k), Pack<32>(c + i)), d + i);
  }
  if (i == dots) return;
  uint64_t tail_a[kLanes * k] = {}, tail_b[kLanes * k] = {}, tail_c[kLanes] = {}, tail_d[kLanes];
  std::copy(a + i * k, a + dots * k, tail_a);
  std::copy(b + i * k, b + dots * k, tail_b);
  std::copy(c + i, c + dots, tail_c);
  Unpack(Op::Do(Pack<kBits>(tail_a), Pack<kBits>(tail_b), Pack<32>(tail_c)), tail_d);
  std::copy(tail_d, tail_d + (dots - i), d + i);
}

// dest = src2 * src3 + dest with a = src2, b = src3, c = dest. Volatile, so that it is not moved
// across changes of MXCSR.
[[gnu::target("fma")]] void RunVfmadd231ss(const Batch& batch, uint64_t* d) {
  for (int64_t i = 0; i < batch.dot_products(); ++i) {
    __m128i dest = _mm_cvtsi32_si128(static_cast<int>(batch.c[i]));
    const __m128i src2 = _mm_cvtsi32_si128(static_cast<int>(batch.a[i]));
    const __m128i src3 = _mm_cvtsi32_si128(static_cast<int>(batch.b[i]));
    asm volatile("vfmadd231ss %2, %1, %0" : "+x"(dest) : "x"(src2), "x"(src3));
    d[i] = static_cast<uint32_t>(_mm_cvtsi128_si32(dest));
  }
}

[[gnu::target("fma")]] void RunVfmadd231sd(const Batch& batch, uint64_t* d) {
  for (int64_t i = 0; i < batch.dot_products(); ++i) {
    __m128i dest = _mm_cvtsi64_si128(static_cast<int64_t>(batch.c[i]));
    const __m128i src2 = _mm_cvtsi64_si128(static_cast<int64_t>(batch.a[i]));
    const __m128i src3 = _mm_cvtsi64_si128(static_cast<int64_t>(batch.b[i]));
    asm volatile("vfmadd231sd %2, %1, %0" : "+x"(dest) : "x"(src2), "x"(src3));
    d[i] = static_cast<uint64_t>(_mm_cvtsi128_si64(dest));
  }
}

// Elements of an execution of a conversion. The last execution is padded with zeros.
template <int lanes, class Narrow, class Wide>
void ForExecutions(const Batch& batch, uint64_t* d, void (*convert)(const Wide*, Narrow*)) {
  const int64_t dots = batch.dot_products();
  for (int64_t i = 0; i < dots; i += lanes) {
    const int64_t count = std::min<int64_t>(lanes, dots - i);
    alignas(64) Wide from[lanes] = {};
    alignas(64) Narrow to[lanes];
    std::copy_n(&batch.a[i], count, from);
    convert(from, to);
    std::copy_n(to, count, d + i);
  }
}

template <int rounding>
[[gnu::target("avx,f16c")]] void ConvertToHalves(const uint32_t* from, uint16_t* to) {
  const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  __m128i halves;
  asm volatile("vcvtps2ph %2, %1, %0" : "=x"(halves) : "x"(words), "i"(rounding));
  _mm_store_si128(reinterpret_cast<__m128i*>(to), halves);
}
template <int rounding>
void RunVcvtps2ph(const Batch& batch, uint64_t* d) {
  ForExecutions<8>(batch, d, ConvertToHalves<rounding>);
}

[[gnu::target("avx,f16c")]] void ConvertFromHalves(const uint16_t* from, uint32_t* to) {
  const __m128i halves = _mm_load_si128(reinterpret_cast<const __m128i*>(from));
  __m256i words;
  asm volatile("vcvtph2ps %1, %0" : "=x"(words) : "x"(halves));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), words);
}
void RunVcvtph2ps(const Batch& batch, uint64_t* d) {
  ForExecutions<8>(batch, d, ConvertFromHalves);
}

[[gnu::target("avx512f")]] void ConvertToBf16(const uint32_t* from, uint16_t* to) {
  const __m512i words = _mm512_load_si512(from);
  __m256i narrow;
  asm volatile("vcvtneps2bf16 %1, %0" : "=v"(narrow) : "v"(words));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), narrow);
}
void RunVcvtneps2bf16(const Batch& batch, uint64_t* d) {
  ForExecutions<16>(batch, d, ConvertToBf16);
}

// __builtin_cpu_supports() also checks XGETBV: these are true only if the operating system saves
// the registers.
bool HasFma() { return __builtin_cpu_supports("fma"); }
bool HasBf16() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16"); }
// The operating system saves the registers if it does so for AVX.
bool HasF16c() {
  unsigned eax, ebx, ecx, edx;
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
         (ecx & bit_F16C) != 0;
}
bool HasVnni() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni"); }

constexpr HostInstruction kInstructions[] = {
    {"vdpbf16ps", "AVX512_BF16", HasBf16, RunVectors<Vdpbf16ps>},
    {"vfmadd231ss", "FMA", HasFma, RunVfmadd231ss},
    {"vfmadd231sd", "FMA", HasFma, RunVfmadd231sd},
    {"vpdpbusd", "AVX512_VNNI", HasVnni, RunVectors<Vpdpbusd>},
    {"vpdpbusds", "AVX512_VNNI", HasVnni, RunVectors<Vpdpbusds>},
    {"vpdpwssd", "AVX512_VNNI", HasVnni, RunVectors<Vpdpwssd>},
    {"vpdpwssds", "AVX512_VNNI", HasVnni, RunVectors<Vpdpwssds>},
    {"vcvtps2ph.rn", "F16C", HasF16c, RunVcvtps2ph<0>},
    {"vcvtps2ph.rm", "F16C", HasF16c, RunVcvtps2ph<1>},
    {"vcvtps2ph.rp", "F16C", HasF16c, RunVcvtps2ph<2>},
    {"vcvtps2ph.rz", "F16C", HasF16c, RunVcvtps2ph<3>},
    {"vcvtph2ps", "F16C", HasF16c, RunVcvtph2ps},
    {"vcvtneps2bf16", "AVX512_BF16", HasBf16, RunVcvtneps2bf16},
    {"tdpbf16ps", "AMX_BF16", HasAmxBf16, RunTdpbf16ps},
    {"tdpbssd", "AMX_INT8", HasAmxInt8, RunTdpbssd},
    {"tdpbsud", "AMX_INT8", HasAmxInt8, RunTdpbsud},
    {"tdpbusd", "AMX_INT8", HasAmxInt8, RunTdpbusd},
    {"tdpbuud", "AMX_INT8", HasAmxInt8, RunTdpbuud},
};

// CPUID leaves 0x80000002..4: 48 characters.
std::string BrandString() {
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* w = words + 4 * i;
    if (!__get_cpuid(0x80000002 + i, &w[0], &w[1], &w[2], &w[3])) return "unknown x86-64 CPU";
  }
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  std::string brand = text;
  brand.erase(0, brand.find_first_not_of(' '));
  return brand.erase(brand.find_last_not_of(' ') + 1);
}

// Leaf 1. SDM vol. 2, CPUID: the extended fields count from family 15 (family) and 6 (model) on.
void AddFamilyModelStepping(Identity& identity) {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return;
  unsigned family = eax >> 8 & 15, model = eax >> 4 & 15;
  if (family == 6 || family == 15) model |= (eax >> 16 & 15) << 4;
  if (family == 15) family += eax >> 20 & 255;
  const bool hypervisor = ecx >> 31;  // which may report any family and model
  identity.Add("family", std::to_string(family))
      .Add("model", std::to_string(model))
      .Add("stepping", std::to_string(eax & 15))
      .Add("hypervisor", hypervisor ? "virtual" : "");
}

// Empty if the operating system does not report it.
std::string Microcode() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("microcode", 0) != 0) continue;
    const size_t value = line.find("0x");
    return value == line.npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace

std::span<const HostInstruction> HostInstructions() { return kInstructions; }

uint32_t FloatingPointControl() { return _mm_getcsr(); }
void SetFloatingPointControl(uint32_t bits) { _mm_setcsr(bits); }
uint32_t DefaultFloatingPointControl() { return 0x1f80; }
std::span<const Mode> HostModes() { return kModes; }

Identity HostIdentity() {
  Identity identity;
  identity.Add("hardware", BrandString());
  AddFamilyModelStepping(identity);
  return identity.Add("microcode", Microcode());
}

}  // namespace mmadiff
