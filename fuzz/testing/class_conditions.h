// Operations that some rows of class_test are for.
#pragma once

#include <algorithm>

#include "fuzz/testing/class_properties.h"
#include "sim/tree/tree.h"

namespace mmadiff {

inline bool IsFused(const Operation& op) { return op.model.algorithm.family == Family::kFusedSum; }

// With 23 fraction bits half an ulp of f32 lies below what alignment keeps: only a carry shows it.
inline bool KeepsHalfAnUlp(const Operation& op) {
  const Algorithm& algorithm = op.model.algorithm;
  return !IsFused(op) || algorithm.fraction_bits > algorithm.output_fraction_bits;
}

inline int LeastProduct(const Instruction& in) { return Lowest(*in.a) + Lowest(*in.b); }

// Not f16 operands and addend with an f32 result: nothing is so small.
inline bool ReachesSubnormals(const Operation& op) {
  return std::min(LeastProduct(*op.instruction), Lowest(C(op))) < D(op).min_exponent;
}
inline bool IsTree(const Operation& op) { return op.model.algorithm.family == Family::kTree; }
inline bool Flushes(const Operation& op) {
  const Algorithm& a = op.model.algorithm;
  const auto flushes = [](const Node& n) { return n.output_subnormals != Subnormals::kKeep; };
  return IsTree(op) ? a.input_subnormals != Subnormals::kKeep ||
                          std::ranges::any_of(a.tree->nodes, flushes)
                    : a.output_subnormals != Subnormals::kKeep;
}
inline bool KeepsSubnormals(const Operation& op) { return ReachesSubnormals(op) && !Flushes(op); }
inline bool FlushesSubnormals(const Operation& op) { return ReachesSubnormals(op) && Flushes(op); }
inline bool DifferencesAreSubnormal(const Operation& op) {
  return LeastProduct(*op.instruction) - C(op).fraction_bits < D(op).min_exponent &&
         !(IsTree(op) && op.model.algorithm.input_subnormals != Subnormals::kKeep);
}

// An f32 addend of the largest size plus products of f16 never carries into the exponent; what is
// infinite then comes from an infinite addend.
inline bool CanOverflow(const Operation& op) {
  const int largest = MaxExponent(*op.instruction->a) + MaxExponent(*op.instruction->b);
  return largest >= MaxExponent(D(op)) - D(op).fraction_bits;
}

inline bool HasThreeProducts(const Operation& op) { return op.shape().k > 2; }
inline bool HasInfiniteElements(const Operation& op) {
  return HasInfinity(*op.instruction->a) || HasInfinity(*op.instruction->b);
}
inline bool HasSpecialElements(const Operation& op) {
  return op.instruction->a->nonfinite != Nonfinite::kNone;
}

inline bool HasSeveralScales(const Operation& op) { return op.shape().scales >= 2; }
inline bool AddsGroups(const Operation& op) {
  return HasSeveralScales(op) && op.model.algorithm.group_terms != 1;
}

// Sums of unsigned products only grow: they never pass the lower limit.
inline bool IsSigned(const Operation& op) {
  return op.instruction->a->is_signed || op.instruction->b->is_signed;
}
inline bool Saturates(const Operation& op) {
  return op.model.algorithm.overflow == Overflow::kSaturate;
}
inline bool SaturatesBelow(const Operation& op) { return Saturates(op) && IsSigned(op); }
inline bool IsXor(const Operation& op) {
  return op.model.algorithm.bit_operation == BitOperation::kXor;
}

inline bool HasTwoProducts(const Operation& op) { return op.shape().k > 1; }
inline bool IsUnsigned(const Operation& op) { return !IsSigned(op); }
inline bool IsNarrow(const Operation& op) { return IsFloat(op) && !IsWide(op); }
inline bool HasScaleBitsUnread(const Operation& op) {
  return FieldBits(*op.instruction->scale) != op.instruction->scale->bits;
}

// Of conversions.
inline bool HasFraction(const Operation& op) { return op.instruction->a->fraction_bits > 0; }
inline bool HasZero(const Operation& op) { return op.instruction->a->has_zero; }
inline bool LosesDigits(const Operation& op) {
  return op.instruction->a->fraction_bits > D(op).fraction_bits + 1;
}
inline bool ConvertsSmallNumbers(const Operation& op) {
  return Lowest(*op.instruction->a) < Lowest(D(op)) && D(op).has_zero;
}
inline bool ConvertsLargeNumbers(const Operation& op) {
  return MaxExponent(*op.instruction->a) > MaxExponent(D(op));
}

inline Condition Not(bool (*condition)(const Operation&)) {
  return [condition](const Operation& op) { return !condition(op); };
}

}  // namespace mmadiff
