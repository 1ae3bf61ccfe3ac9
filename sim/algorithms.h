// The algorithms that the lines of sim/numerics.cc name, each built from the formats and the shape
// of an instruction.
#pragma once

#include "sim/algorithm.h"
#include "sim/instruction.h"

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
          .terms = i.shape.k,
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
  a.terms = i.shape.k / 2;
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

// For each pair of products in turn: two products and the addend are aligned, cut, added and
// rounded to nearest even.
inline Algorithm PairsOfGrid(const Instruction& i) {
  Algorithm a = TruncatedFusedSum<2, 24>(i);
  a.exponent_floor = kNoFloor;
  a.output_rounding = Rounding::kNearestEven;
  a.nan_rule = NanRule::kQuietPositive;
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

// A sparse instruction. Unselected products stay in place as zeros, so a step of twice the terms
// has as many selected products as a dense step has products.
template <Algorithm (*dense)(const Instruction&)>
Algorithm Sparse(const Instruction& i) {
  Algorithm a = dense(i);
  a.terms *= 2;
  return a;
}

}  // namespace mmadiff
