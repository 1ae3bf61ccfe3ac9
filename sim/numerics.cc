#include "sim/numerics.h"

namespace mmadiff {
namespace {

// FMA chain of x86: IEEE binary, round to nearest even, NaN propagated and quieted.
constexpr Algorithm X86Fma(const Format& d) {
  return {.family = Family::kFmaChain,
          .output_fraction_bits = d.fraction_bits,
          .nan_rule = NanRule::kPropagate};
}

// VDPBF16PS: the odd element of a pair first, subnormals flushed on both sides, MXCSR ignored.
constexpr Algorithm X86Dot() {
  Algorithm a = X86Fma(kF32);
  a.order = Order::kDescending;
  a.input_subnormals = Subnormals::kFlush;
  a.output_subnormals = Subnormals::kFlush;
  return a;
}

constexpr Algorithm Integer(int terms, Overflow overflow) {
  return {.family = Family::kIntegerDot, .terms = terms, .overflow = overflow};
}

// NVIDIA's truncated fused sum of `terms` products with F fraction bits. The exponent floor follows
// one rule, emin(output) - (F - 18): the values of Khattak & Mikaitis and of MMA-Sim 2.1.1. Every
// zero result is +0 (MMA-Sim 2.1.1).
constexpr Algorithm Truncated(int terms, int fraction_bits, const Format& d) {
  return {.family = Family::kFusedSum,
          .terms = terms,
          .fraction_bits = fraction_bits,
          .exponent_floor = d.min_exponent - (fraction_bits - 18),
          .output_rounding = d.bits == 16 ? Rounding::kNearestEven : Rounding::kTowardZero,
          .output_fraction_bits = d.fraction_bits,
          .nan_rule = NanRule::kAllOnes,
          .zero_sign = ZeroSign::kPositive};
}

// FP8 on Ada: F = 13, f32 results of 13 fraction bits; the floor is that of its other sums.
constexpr Algorithm AdaFp8(const Format& d) {
  Algorithm a = Truncated(16, 24, d);
  a.fraction_bits = 13;
  if (d.bits == 32) a.output_fraction_bits = 13;
  return a;
}

// FP8 where ptxas makes f16 instructions of it: two f16 steps over interleaved k, then one
// addition.
constexpr Algorithm EmulatedFp8(const Format& d) {
  Algorithm a = Truncated(16, 25, d);
  a.grouping = Grouping::kPairsOfFour;
  a.addend_joins = AddendJoins::kLastAdd;
  return a;
}

// `mmadiff run`, strategy mixed, seed 1, 2026-11-20. The file of a row holds recorded answers.
constexpr char kDots[] =
    "0 of 1.6e9 dot products differ on an Intel Xeon with AVX512_BF16, model 167";
constexpr char kFmas[] =
    "0 of 2e7 dot products differ on an Intel Xeon with AVX512_BF16, model 167";
constexpr char kIntegers[] = "0 of 3.2e8 dot products differ on an Intel Xeon, model 167";
constexpr Evidence kRecorded = {
    Grade::kPublished,
    "recorded by Khattak & Mikaitis (MATLAB-tensor-core, model_validation), normal values only; "
    "4000 of 4000 recorded dot products equal in `mmadiff check`. Floor, zero sign, NaN: MMA-Sim "
    "2.1.1"};
// Rows with f16, bf16 and tf32 inputs equal MMA-Sim 2.1.1 on at least 40960 dot products of all
// classes each, native FP8 rows on 16384 (`mmadiff run --device=exec:`, 2026-11-20). That is
// agreement of models, not of hardware.
constexpr Evidence kMmaSim = {Grade::kPublished,
                              "MMA-Sim 2.1.1 (arXiv 2511.10909v2): claimed bit-accurate against "
                              "hardware on 10^6 random tests; "
                              "this model equals it, no recording was replayed here"};
constexpr Evidence kMixedAddend = {
    Grade::kPublished,
    "MMA-Sim 2.1.1: an f16 addend is aligned with its own exponent (version 1 widened it to f32 "
    "first; "
    "they differ for subnormal addends); no recording was replayed here"};
constexpr Evidence kTuring884 = {Grade::kPublished,
                                 "MMA-Sim 2.1.1: Turing runs m8n8k4 with Volta's numbers (version "
                                 "1 said F=24); no recording was "
                                 "replayed here"};
// Emulation belongs to ptxas, not to the chip: recordings and recipe are of one version of it.
constexpr Evidence kEmulated = {Grade::kPublished,
                                "emulated by ptxas with f16 steps; recorded by Khattak & Mikaitis, "
                                "all recorded dot products equal "
                                "in `mmadiff check`"};
constexpr Evidence kLikeEmulated = {
    Grade::kAssumed,
    "emulated by ptxas with f16 steps; the recipe of the recorded e4m3 and e5m2 forms"};
constexpr Evidence kLikeSm80 = {Grade::kAssumed, "as sm_80 (GA10x shares its tensor core ISA)"};
constexpr Evidence kLikeSm100 = {Grade::kAssumed, "as sm_100; nobody has published sm_103"};

// architecture, instruction, algorithm, evidence
constexpr Numerics kNumerics[] = {
    {"x86",
     "vdpbf16ps",
     X86Dot(),
     {Grade::kMeasured, kDots,
      "corpus/observations/intel_avx512_bf16_model167/x86.vdpbf16ps.txt.gz"}},
    {"x86",
     "vfmadd231ss",
     X86Fma(kF32),
     {Grade::kMeasured, kFmas,
      "corpus/observations/intel_avx512_bf16_model167/x86.vfmadd231ss.txt.gz"}},
    {"x86",
     "vfmadd231sd",
     X86Fma(kF64),
     {Grade::kMeasured, kFmas,
      "corpus/observations/intel_avx512_bf16_model167/x86.vfmadd231sd.txt.gz"}},
    {"x86",
     "vpdpbusd",
     Integer(4, Overflow::kWrap),
     {Grade::kMeasured, kIntegers,
      "corpus/observations/intel_avx512_bf16_model167/x86.vpdpbusd.txt.gz"}},
    {"x86",
     "vpdpbusds",
     Integer(4, Overflow::kSaturate),
     {Grade::kMeasured, kIntegers,
      "corpus/observations/intel_avx512_bf16_model167/x86.vpdpbusds.txt.gz"}},
    {"x86",
     "vpdpwssd",
     Integer(2, Overflow::kWrap),
     {Grade::kMeasured, kIntegers,
      "corpus/observations/intel_avx512_bf16_model167/x86.vpdpwssd.txt.gz"}},
    {"x86",
     "vpdpwssds",
     Integer(2, Overflow::kSaturate),
     {Grade::kMeasured, kIntegers,
      "corpus/observations/intel_avx512_bf16_model167/x86.vpdpwssds.txt.gz"}},
    {"sm_70", "mma.m8n8k4.f32.f16.f16.f32", Truncated(4, 23, kF32), kRecorded},
    {"sm_70", "mma.m8n8k4.f32.f16.f16.f16", Truncated(4, 23, kF32), kMixedAddend},
    {"sm_70", "mma.m8n8k4.f16.f16.f16.f16", Truncated(4, 23, kF16), kRecorded},
    {"sm_75", "mma.m8n8k4.f32.f16.f16.f32", Truncated(4, 23, kF32), kTuring884},
    {"sm_75", "mma.m8n8k4.f32.f16.f16.f16", Truncated(4, 23, kF32), kMixedAddend},
    {"sm_75", "mma.m8n8k4.f16.f16.f16.f16", Truncated(4, 23, kF16), kTuring884},
    {"sm_75", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 24, kF32), kMmaSim},
    {"sm_75", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 24, kF16), kMmaSim},
    {"sm_80", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 24, kF32), kRecorded},
    {"sm_80", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 24, kF16), kRecorded},
    {"sm_80", "mma.m16n8k16.f32.f16.f16.f32", Truncated(8, 24, kF32), kMmaSim},
    {"sm_80", "mma.m16n8k16.f16.f16.f16.f16", Truncated(8, 24, kF16), kMmaSim},
    {"sm_80", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kRecorded},
    {"sm_80", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kMmaSim},
    {"sm_80", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kRecorded},
    {"sm_80", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kMmaSim},
    {"sm_86", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 24, kF32), kLikeSm80},
    {"sm_86", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 24, kF16), kLikeSm80},
    {"sm_86", "mma.m16n8k16.f32.f16.f16.f32", Truncated(8, 24, kF32), kLikeSm80},
    {"sm_86", "mma.m16n8k16.f16.f16.f16.f16", Truncated(8, 24, kF16), kLikeSm80},
    {"sm_86", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kLikeSm80},
    {"sm_86", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kLikeSm80},
    {"sm_86", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kLikeSm80},
    {"sm_86", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kLikeSm80},
    {"sm_89", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 24, kF32), kRecorded},
    {"sm_89", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 24, kF16), kRecorded},
    {"sm_89", "mma.m16n8k16.f32.f16.f16.f32", Truncated(8, 24, kF32), kMmaSim},
    {"sm_89", "mma.m16n8k16.f16.f16.f16.f16", Truncated(8, 24, kF16), kMmaSim},
    {"sm_89", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kRecorded},
    {"sm_89", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(8, 24, kF32), kMmaSim},
    {"sm_89", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kRecorded},
    {"sm_89", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(4, 24, kF32), kMmaSim},
    {"sm_90", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_90", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 25, kF16), kMmaSim},
    {"sm_90", "mma.m16n8k16.f32.f16.f16.f32", Truncated(16, 25, kF32), kRecorded},
    {"sm_90", "mma.m16n8k16.f16.f16.f16.f16", Truncated(16, 25, kF16), kRecorded},
    {"sm_90", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_90", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(16, 25, kF32), kRecorded},
    {"sm_90", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 25, kF32), kRecorded},
    {"sm_90", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 25, kF16), kMmaSim},
    {"sm_100", "mma.m16n8k16.f32.f16.f16.f32", Truncated(16, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k16.f16.f16.f16.f16", Truncated(16, 25, kF16), kMmaSim},
    {"sm_100", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(16, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 25, kF32), kMmaSim},
    {"sm_100", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_103", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 25, kF32), kLikeSm100},
    {"sm_103", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 25, kF16), kLikeSm100},
    {"sm_103", "mma.m16n8k16.f32.f16.f16.f32", Truncated(16, 25, kF32), kLikeSm100},
    {"sm_103", "mma.m16n8k16.f16.f16.f16.f16", Truncated(16, 25, kF16), kLikeSm100},
    {"sm_103", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 25, kF32), kLikeSm100},
    {"sm_103", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(16, 25, kF32), kLikeSm100},
    {"sm_103", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 25, kF32), kLikeSm100},
    {"sm_103", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(8, 25, kF32), kLikeSm100},
    {"sm_120", "mma.m16n8k8.f32.f16.f16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k8.f16.f16.f16.f16", Truncated(8, 25, kF16), kMmaSim},
    {"sm_120", "mma.m16n8k16.f32.f16.f16.f32", Truncated(16, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k16.f16.f16.f16.f16", Truncated(16, 25, kF16), kMmaSim},
    {"sm_120", "mma.m16n8k8.f32.bf16.bf16.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k16.f32.bf16.bf16.f32", Truncated(16, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k4.f32.tf32.tf32.f32", Truncated(4, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k8.f32.tf32.tf32.f32", Truncated(8, 25, kF32), kMmaSim},
    {"sm_89", "mma.m16n8k32.f32.e4m3.e4m3.f32", AdaFp8(kF32), kRecorded},
    {"sm_89", "mma.m16n8k32.f32.e4m3.e5m2.f32", AdaFp8(kF32), kMmaSim},
    {"sm_89", "mma.m16n8k32.f32.e5m2.e4m3.f32", AdaFp8(kF32), kMmaSim},
    {"sm_89", "mma.m16n8k32.f32.e5m2.e5m2.f32", AdaFp8(kF32), kRecorded},
    {"sm_89", "mma.m16n8k32.f16.e4m3.e4m3.f16", AdaFp8(kF16), kRecorded},
    {"sm_89", "mma.m16n8k32.f16.e4m3.e5m2.f16", AdaFp8(kF16), kMmaSim},
    {"sm_89", "mma.m16n8k32.f16.e5m2.e4m3.f16", AdaFp8(kF16), kMmaSim},
    {"sm_89", "mma.m16n8k32.f16.e5m2.e5m2.f16", AdaFp8(kF16), kRecorded},
    {"sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f32.e4m3.e5m2.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f32.e5m2.e4m3.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f32.e5m2.e5m2.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16", EmulatedFp8(kF16), kEmulated},
    {"sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f16.e5m2.e4m3.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_90", "mma.m16n8k32.f16.e5m2.e5m2.f16", EmulatedFp8(kF16), kEmulated},
    {"sm_100", "mma.m16n8k32.f32.e4m3.e4m3.f32", EmulatedFp8(kF32), kEmulated},
    {"sm_100", "mma.m16n8k32.f32.e4m3.e5m2.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_100", "mma.m16n8k32.f32.e5m2.e4m3.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_100", "mma.m16n8k32.f32.e5m2.e5m2.f32", EmulatedFp8(kF32), kEmulated},
    {"sm_100", "mma.m16n8k32.f16.e4m3.e4m3.f16", EmulatedFp8(kF16), kEmulated},
    {"sm_100", "mma.m16n8k32.f16.e4m3.e5m2.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_100", "mma.m16n8k32.f16.e5m2.e4m3.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_100", "mma.m16n8k32.f16.e5m2.e5m2.f16", EmulatedFp8(kF16), kEmulated},
    {"sm_103", "mma.m16n8k32.f32.e4m3.e4m3.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f32.e4m3.e5m2.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f32.e5m2.e4m3.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f32.e5m2.e5m2.f32", EmulatedFp8(kF32), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f16.e4m3.e4m3.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f16.e4m3.e5m2.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f16.e5m2.e4m3.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_103", "mma.m16n8k32.f16.e5m2.e5m2.f16", EmulatedFp8(kF16), kLikeEmulated},
    {"sm_120", "mma.m16n8k32.f32.e4m3.e4m3.f32", Truncated(32, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k32.f32.e4m3.e5m2.f32", Truncated(32, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k32.f32.e5m2.e4m3.f32", Truncated(32, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k32.f32.e5m2.e5m2.f32", Truncated(32, 25, kF32), kMmaSim},
    {"sm_120", "mma.m16n8k32.f16.e4m3.e4m3.f16", Truncated(32, 25, kF16), kMmaSim},
    {"sm_120", "mma.m16n8k32.f16.e4m3.e5m2.f16", Truncated(32, 25, kF16), kMmaSim},
    {"sm_120", "mma.m16n8k32.f16.e5m2.e4m3.f16", Truncated(32, 25, kF16), kMmaSim},
    {"sm_120", "mma.m16n8k32.f16.e5m2.e5m2.f16", Truncated(32, 25, kF16), kMmaSim},
};

}  // namespace

std::span<const Numerics> AllNumerics() { return kNumerics; }

const char* Name(Grade grade) {
  switch (grade) {
    case Grade::kMeasured:
      return "measured";
    case Grade::kPublished:
      return "published";
    case Grade::kAssumed:
      return "assumed";
  }
  return "?";
}

}  // namespace mmadiff
