// The algorithms that the lines of sim/numerics.cc name, each built from the formats and the shape
// of an instruction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sim/algorithm.h"
#include "sim/instruction.h"
#include "sim/tree/tree_of.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {

// FMA chain: IEEE 754, except for the operation's changes.
constexpr Algorithm Fma(const Format& d) {
  return {.family = Family::kFmaChain,
          .output_fraction_bits = d.fraction_bits,
          .range_overflow = RangeOverflow::kIeee,
          .nan_rule = NanRule::kQuietPositive};
}

template <Rounding rounding>
Algorithm FmaRounded(const Instruction& i) {
  Algorithm a = Fma(*i.d);
  a.output_rounding = rounding;
  return a;
}

// NVIDIA's f64 on CUDA cores and in matrix instructions: the first NaN of (b, addend, a), quieted;
// invalid operations give the negative default NaN (an H200, corpus/observations/nvidia_h200).
template <Rounding rounding>
Algorithm CudaF64(const Instruction& i) {
  Algorithm a = FmaRounded<rounding>(i);
  a.nan_rule = NanRule::kPropagateBca;
  return a;
}

// A CUDA core's scalar fma: f32 has one canonical NaN.
template <Rounding rounding>
Algorithm CudaFma(const Instruction& i) {
  Algorithm a = FmaRounded<rounding>(i);
  a.nan_rule = NanRule::kAllOnes;
  return a;
}

// x86: the first NaN operand, quieted; invalid operations give the negative default NaN.
inline Algorithm X86Fma(const Instruction& i) {
  Algorithm a = Fma(*i.d);
  a.nan_rule = NanRule::kPropagate;
  return a;
}

// VDPBF16PS: the odd element of a pair comes first; inputs, addend and output are flushed; MXCSR is
// ignored.
inline Algorithm X86Dot(const Instruction& i) {
  Algorithm a = X86Fma(i);
  a.order = Order::kDescending;
  a.input_subnormals = a.addend_subnormals = a.output_subnormals = Subnormals::kFlush;
  return a;
}

// TDPBF16PS: a chain of the even k and one of the odd k from +0; even + odd; then the addend.
inline Algorithm AmxDot(const Instruction& i) {
  Algorithm a = X86Dot(i);
  a.order = Order::kAscending;
  a.grouping = Grouping::kEvenOdd;
  a.addend_joins = AddendJoins::kLastAdd;
  return a;
}

// TDPFP16PS: as TDPBF16PS, but f16 subnormals are kept.
inline Algorithm AmxF16(const Instruction& i) {
  Algorithm a = AmxDot(i);
  a.input_subnormals = Subnormals::kKeep;
  return a;
}

// TMMULTF32PS: one chain from +0, then the addend; subnormal inputs and addends are kept.
inline Algorithm AmxTf32(const Instruction& i) {
  Algorithm a = AmxF16(i);
  a.grouping = Grouping::kConsecutive;
  a.addend_subnormals = Subnormals::kKeep;
  return a;
}

// Arm BFDOT: pairs of products, the addend last, every operation rounded to odd and flushed.
inline Algorithm ArmBfdot(const Instruction& i) {
  return {.family = Family::kPairwiseSum,
          .terms = 2,
          .output_rounding = Rounding::kToOdd,
          .output_fraction_bits = i.d->fraction_bits,
          .input_subnormals = Subnormals::kFlush,
          .addend_subnormals = Subnormals::kFlush,
          .output_subnormals = Subnormals::kFlush,
          .tininess = Tininess::kBeforeRounding,
          .nan_rule = NanRule::kQuietPositive};
}

// With FPCR.EBF = 1: the sum of two exact products is rounded once; subnormals are kept (FZ = FIZ =
// 0).
inline Algorithm ArmExtendedBfdot(const Instruction& i) {
  return {.family = Family::kPairwiseSum,
          .terms = 2,
          .product_rounding = ProductRounding::kExact,
          .output_fraction_bits = i.d->fraction_bits,
          .range_overflow = RangeOverflow::kIeee,
          .nan_rule = NanRule::kQuietPositive};
}

template <Overflow overflow, BitOperation operation = BitOperation::kAnd>
Algorithm Integer(const Instruction& i) {
  return {.family = Family::kIntegerDot,
          .terms = i.products(),
          .bit_operation = operation,
          .overflow = overflow};
}

// NVIDIA's truncated fused sum of `terms` products with F fraction bits. The exponent floor is
// emin(output) - (F - 18), which gives the values of Khattak & Mikaitis and of MMA-Sim 2.1.1. Every
// zero result is +0 (MMA-Sim 2.1.1).
template <int terms, int fraction_bits>
Algorithm TruncatedFusedSum(const Instruction& i) {
  return {.family = Family::kFusedSum,
          .terms = terms,
          .fraction_bits = fraction_bits,
          .exponent_floor = i.d->min_exponent - (fraction_bits - 18),
          .output_rounding = i.d->bits == 16 ? Rounding::kNearestEven : Rounding::kTowardZero,
          .output_fraction_bits = i.d->fraction_bits,
          .nan_rule = NanRule::kAllOnes,
          .zero_sign = ZeroSign::kPositive};
}

// The same, but an f16 addend is first converted to f32, in which its subnormals are normal.
template <int terms, int fraction_bits>
Algorithm WidenedAddend(const Instruction& i) {
  Algorithm a = TruncatedFusedSum<terms, fraction_bits>(i);
  a.addend_exponent = AddendExponent::kOutputFormat;
  return a;
}

// FP8 sums with F = 13 and f32 results of 13 fraction bits (Ada mma, Hopper wgmma). The floor is
// that of the architecture's other sums, which have `fraction_bits`.
template <int terms, int fraction_bits>
Algorithm NarrowFp8(const Instruction& i) {
  Algorithm a = TruncatedFusedSum<terms, fraction_bits>(i);
  a.fraction_bits = 13;
  if (i.d->bits == 32) a.output_fraction_bits = 13;
  return a;
}

// FP8 that ptxas compiles to f16 instructions: two f16 steps over interleaved k, then one addition.
inline Algorithm EmulatedFp8(const Instruction& i) {
  Algorithm a = TruncatedFusedSum<16, 25>(i);
  a.terms = i.products() / 2;
  a.product_exponent = ProductExponent::kAsF16;
  a.grouping = Grouping::kPairsOfFour;
  a.addend_joins = AddendJoins::kLastAdd;
  return a;
}

// m8n8k4 that ptxas compiles to FFMA: a chain from +0, then the addend.
inline Algorithm EmulatedFfma(const Instruction& i) {
  Algorithm a = CudaFma<Rounding::kNearestEven>(i);
  a.addend_joins = AddendJoins::kLastAdd;
  return a;
}

// Block-scaled products, each aligned by its own exponent and its scales' (ST-FDPA).
inline Algorithm ScaledProducts(const Instruction& i) {
  Algorithm a = TruncatedFusedSum<32, 25>(i);
  a.family = Family::kScaledSum;
  return a;
}

// Exact sums of 16 products, aligned only by their scales' exponents (GST-FDPA).
inline Algorithm ScaledGroups(const Instruction& i) {
  Algorithm a = ScaledProducts(i);
  a.terms = 64;
  a.group_terms = 16;
  a.group_exponent = GroupExponent::kScales;
  a.fraction_bits = 35;
  a.exponent_floor = -139;
  return a;
}

// CDNA1: the exact sum of `terms` products and the addend, rounded once (E-FDPA).
template <int terms>
Algorithm Exact(const Instruction& i) {
  return {.family = Family::kExactSum,
          .terms = terms,
          .output_fraction_bits = i.d->fraction_bits,
          .nan_rule = NanRule::kQuietPositive,
          .zero_sign = ZeroSign::kSumPositive};
}

// CDNA2: operands and addend are flushed to +0 once; every product and every sum is rounded to f32
// and flushed to a zero of its sign (FTZ-AddMul).
template <int terms>
Algorithm Pairwise(const Instruction& i) {
  return {.family = Family::kPairwiseSum,
          .terms = terms,
          .output_fraction_bits = i.d->fraction_bits,
          .range_overflow = RangeOverflow::kIeee,
          .input_subnormals = Subnormals::kFlushPositive,
          .addend_subnormals = Subnormals::kFlushPositive,
          .output_subnormals = Subnormals::kFlush,
          .nan_rule = NanRule::kQuietPositive};
}

// CDNA3: products are cut toward zero; their sum and the addend are rounded down (TR-FDPA).
template <int terms>
Algorithm TwoStage(const Instruction& i) {
  return {.family = Family::kTwoStageSum,
          .terms = terms,
          .fraction_bits = 24,
          .sum_fraction_bits = 31,
          .product_overflow = ProductOverflow::kInfinity,
          .output_fraction_bits = i.d->fraction_bits,
          .nan_rule = NanRule::kQuietPositive,
          .zero_sign = ZeroSign::kSumPositive};
}

// CDNA3 FP8: even and odd k are summed separately; a small addend is dropped (GTR-FDPA).
inline Algorithm TwoStageFp8(const Instruction& i) {
  Algorithm a = TwoStage<16>(i);
  a.grouping = Grouping::kEvenOdd;
  a.small_addend = SmallAddend::kDropped;
  return a;
}

// A conversion: rounded once, subnormals kept, NaNs without a payload.
template <Rounding rounding = Rounding::kNearestEven, Saturation saturation = Saturation::kNone,
          Relu relu = Relu::kNone, Ties ties = Ties::kEven>
Algorithm Converted(const Instruction& i) {
  return {.family = Family::kConversion,
          .output_rounding = rounding,
          .output_fraction_bits = i.d->fraction_bits,
          .nan_rule = NanRule::kQuietPositive,
          .ties = ties,
          .saturation = saturation,
          .relu = relu};
}

// NVIDIA's cvt: as above, with one canonical NaN.
template <Rounding rounding, Saturation saturation = Saturation::kNone, Relu relu = Relu::kNone,
          Ties ties = Ties::kEven>
Algorithm Cvt(const Instruction& i) {
  Algorithm a = Converted<rounding, saturation, relu, ties>(i);
  a.nan_rule = NanRule::kAllOnes;
  return a;
}

// x86: a NaN keeps its sign and the upper bits of its payload, and is quieted.
template <Rounding rounding>
Algorithm X86Converted(const Instruction& i) {
  Algorithm a = Converted<rounding>(i);
  a.nan_rule = NanRule::kPropagate;
  return a;
}

// VCVTNEPS2BF16: subnormals are flushed, whatever MXCSR says.
inline Algorithm X86Bf16(const Instruction& i) {
  Algorithm a = X86Converted<Rounding::kNearestEven>(i);
  a.input_subnormals = a.output_subnormals = Subnormals::kFlush;
  return a;
}

// A tree in the text of sim/tree/tree_text.h. `infer` tries it for any instruction: no model if the
// tree does not fit its k.
inline Algorithm OfTree(const Instruction& i, std::string_view text) {
  if (!IsTreeOf(text, i.products())) return {.family = Family::kNone};
  return {.family = Family::kTree, .tree = InternTree(TreeFromText(text, i.products()))};
}

// Steps with f32 results, whatever the addend; then one conversion to f16.
template <Algorithm (*steps)(const Instruction&)>
Algorithm ThenConverted(const Instruction& i) {
  Instruction wide = i;
  wide.d = &kF32;
  Algorithm a = TreeOf({*wide.a, *wide.b, *wide.c, *wide.d, wide.shape.k, steps(wide)}).algorithm;
  Tree tree = *a.tree;
  tree.code.push_back({Push::kJoin, static_cast<uint8_t>(tree.nodes.size()), 1});
  tree.nodes.push_back({.to = i.d});
  tree.names.push_back("half");
  a.tree = InternTree(std::move(tree));
  return a;
}

// m8n8k4 with an f16 addend that ptxas compiles to FFMA: as EmulatedFfma, but c has another format.
inline Algorithm EmulatedFfmaOfF16(const Instruction& i) {
  return OfTree(i,
                "node ffma to=f32 overflow=ieee zero_sign=ieee754\n"
                "tree ffma(c fold ffma(@ _) over k0.. from 0)");
}

// m8n8k4 with f16 results that ptxas compiles to FFMA, and a conversion.
inline Algorithm EmulatedFfmaToF16(const Instruction& i) {
  return OfTree(i,
                "node ffma to=f32 overflow=ieee zero_sign=ieee754\n"
                "node half to=f16\n"
                "tree half(ffma(ffma(ffma(k1 ffma(k0)) c) ffma(k3 ffma(k2))))");
}

// AMX-FP8: the exact sum of all products, rounded once; then an addition whose subnormal results are
// flushed. Every NaN is the negative default NaN.
inline Algorithm AmxFp8(const Instruction& i) {
  return OfTree(i,
                "node sum to=f32 zero_sign=positive nan_rule=ffc00000,ffc00000\n"
                "node add to=f32 overflow=ieee output_subnormals=flush zero_sign=ieee754 "
                "nan_rule=ffc00000,ffc00000\n"
                "tree add(c sum(k0..))");
}

// RDNA3 and RDNA4 (AMD's emulator rocjitsu, whose tests have answers of both): NaN factors give one
// constant, invalid operations another. 16-bit results overflow to infinity, with FP16_OVFL to the
// largest number.

// Two products and the addend, with two more bits for the addend. Terms with the other sign than the
// addend are added as one's complement. f32 and bf16: subnormal bf16 factors and addends are flushed; f16 has a
// least exponent instead. A bf16 result is an f32 result without its low bits.
inline Algorithm Rdna3(const Instruction& i) {
  const std::string step =
      "node step fraction_bits=24 ones_complement=yes word_shift=2 zero_sign=positive to=";
  if (i.d == &kF16) {
    const bool saturates = i.name.ends_with(".ovfl");
    return OfTree(i, step + "f16 exponent_floor=-16 nan_rule=fe3d,fe00" +
                         (saturates ? " overflow=saturate" : "") +
                         "\ntree fold step(_ @) over k0.. /2 from c");
  }
  const bool cuts = i.d == &kBf16;
  Algorithm a = OfTree(
      i,
      "node read to=f32 output_subnormals=flush nan_rule=propagate\n" + step +
          "f32 output_subnormals=flush_positive nan_rule=" +
          (cuts ? "fffd0000,ffc00000\n"
                  "node cut to=bf16 output_rounding=toward_zero overflow=ieee nan_rule=propagate\n"
                  "tree fold cut(step(read(_) @)) over k0.. /2 from c"
                : "ffc00a3d,ffc00000\n"
                  "tree fold step(read(_) @) over k0.. /2 from c"));
  if (i.a == &kBf16) a.input_subnormals = Subnormals::kFlush;
  return a;
}

// Pairs of products are added on a grid of their own, then all pairs of a step and the addend, all
// rounded down. A wave of 64 lanes adds the k in ascending order, one of 32 lanes takes first the
// quads 0 and 2 of k, then the quads 1 and 3.
inline Algorithm Rdna4(const Instruction& i) {
  const bool half = i.d == &kF16, cuts = i.d == &kBf16, fp8 = i.a->bits == 8;
  const bool wave64 = i.name.find(".wave64") != i.name.npos;
  const std::string nan = half   ? "fe3d,fe00"
                          : cuts ? "fffd0000,ffc00000"
                          : fp8  ? "ffc00a3d,ffc00a3d"
                                 : "ffc00a3d,ffc00000";
  const std::string ks = i.products() < 16 || wave64 ? "k0.." : "k0..3 k8..11 k4..7 k12..15";
  const int pairs = i.products() == 2 || fp8 ? 1 : 2;
  std::string text =
      "node pair fraction_bits=24 align_rounding=down\n"
      "node step fraction_bits=24 align_rounding=down word_shift=2 zero_sign=positive "
      "small_word=dropped_above_floor exponent_floor=";
  text += half ? "-16 to=f16" : "-128 to=f32";
  if (i.name.ends_with(".ovfl")) text += " overflow=saturate";
  text += " nan_rule=" + nan + "\n";
  if (cuts) {
    text += "node cut to=bf16 output_rounding=toward_zero overflow=ieee nan_rule=propagate\n";
  }
  return OfTree(i, text + "tree fold " + (cuts ? "cut(step(_ @))" : "step(_ @)") + " over pair(" +
                       ks + (fp8 ? " /4" : " /2") + ") /" + std::to_string(pairs) + " from c");
}

// Integers that saturate after the products of lanes 0 to 15, and again after those of lanes 16 to 31.
inline Algorithm Rdna4Clamp(const Instruction& i) {
  return {
      .family = Family::kIntegerDot, .terms = i.products() / 2, .overflow = Overflow::kSaturate};
}

}  // namespace mmadiff
