#include "sim/reference/copy_element.h"

#include <cstdlib>

#include "sim/reference/number.h"
#include "sim/reference/step.h"

namespace mmadiff::reference {
namespace {

uint64_t Mask(int bits) { return ~uint64_t{0} >> (64 - bits); }

bool IsSigned(TensorType type) { return type == TensorType::kS32 || type == TensorType::kS64; }
bool IsFtz(TensorType type) { return type == TensorType::kF32Ftz || type == TensorType::kTf32Ftz; }
bool IsTf32(TensorType type) { return type == TensorType::kTf32 || type == TensorType::kTf32Ftz; }

// The format in which a reduction computes; nullptr: integers.
const Format* FloatFormat(TensorType type) {
  switch (type) {
    case TensorType::kF16:
      return &kF16;
    case TensorType::kBf16:
      return &kBf16;
    case TensorType::kF32:
    case TensorType::kF32Ftz:
      return &kF32;
    default:
      return nullptr;
  }
}

// PTX ISA 9.7.9.27, the table of cp.reduce.async.bulk.tensor. Its b32 and b64 are types of that size; it has
// add for u64 alone, and s64 gives the same bits.
bool IsDefined(Reduction reduction, TensorType type) {
  const CellLayout cell = CellLayoutOf(type, CopyDirection::kReduce);
  const bool wide = cell.bits == 32 || cell.bits == 64;
  const bool integer = type >= TensorType::kU32 && type <= TensorType::kS64;
  const bool half = type == TensorType::kF16 || type == TensorType::kBf16;
  switch (reduction) {
    case Reduction::kAdd:
      return integer || FloatFormat(type) != nullptr;
    case Reduction::kMin:
    case Reduction::kMax:
      return integer || half;
    case Reduction::kInc:
    case Reduction::kDec:
      return type == TensorType::kU32;
    case Reduction::kAnd:
    case Reduction::kOr:
    case Reduction::kXor:
      return wide;
  }
  std::abort();
}

// PTX ISA: add of f16, bf16 and f32 rounds to nearest even. The only NaN is the canonical one. Subnormals are
// kept, but flushed in .ftz maps. (Of cp.reduce.async.bulk, without tensor, PTX says that f32 is flushed.)
uint64_t FloatSum(TensorType type, uint64_t x, uint64_t y) {
  const Format& format = *FloatFormat(type);
  const Subnormals flush = IsFtz(type) ? Subnormals::kFlush : Subnormals::kKeep;
  Model model = {};
  model.d = format;
  model.algorithm.output_fraction_bits = format.fraction_bits;
  model.algorithm.output_subnormals = flush;
  Step step;
  step.addends = {Flushed(flush, Read(format, x)), Flushed(flush, Read(format, y))};
  return IeeeWord(model, step);
}

// Neither is a NaN. -0 is less than +0.
bool IsLess(const Number& x, const Number& y) {
  if (IsZero(x) && IsZero(y)) return x.negative && !y.negative;
  const auto value = [](const Number& n) {
    return IsInfinite(n) ? Dyadic{n.negative ? -1 : 1, 10000} : n.value();
  };
  const Dyadic minus_y = {-value(y).significand, value(y).exponent};
  return Sign(value(x) + minus_y) < 0;
}

// PTX ISA, min and max without .NaN: a single NaN is ignored, two give the canonical one.
uint64_t FloatExtreme(Reduction reduction, const Format& format, uint64_t x, uint64_t y) {
  const Number a = Read(format, x), b = Read(format, y);
  if (IsNan(a) && IsNan(b)) return DefaultNan(format, NanRule::kAllOnes);
  if (IsNan(a) || IsNan(b)) return IsNan(a) ? y : x;
  return IsLess(a, b) == (reduction == Reduction::kMin) ? x : y;
}

uint64_t IntegerExtreme(Reduction reduction, TensorType type, uint64_t x, uint64_t y) {
  const uint64_t half = uint64_t{1} << (CellLayoutOf(type, CopyDirection::kReduce).bits - 1);
  const auto place = [&](uint64_t word) {  // the least number has place 0
    return IsSigned(type) ? (word >= half ? word - half : word + half) : word;
  };
  return (place(x) < place(y)) == (reduction == Reduction::kMin) ? x : y;
}

}  // namespace

CellLayout CellLayoutOf(TensorType type, CopyDirection direction) {
  switch (type) {
    case TensorType::kU8:
      return {8, 1, 1, 8};
    case TensorType::kU16:
    case TensorType::kF16:
    case TensorType::kBf16:
      return {16, 1, 2, 16};
    case TensorType::kU32:
    case TensorType::kS32:
    case TensorType::kF32:
    case TensorType::kF32Ftz:
    case TensorType::kTf32:
    case TensorType::kTf32Ftz:
      return {32, 1, 4, 32};
    case TensorType::kU64:
    case TensorType::kS64:
    case TensorType::kF64:
      return {64, 1, 8, 64};
    // 5.5.1.1.1: 64 bits; with 64 bits of padding; 96 bits with 32 of padding, or 16 bytes of 6 bits each.
    case TensorType::kB4x16:
      return {4, 16, 8, 4};
    case TensorType::kB4x16P64:
      return {4, 16, 16, 4};
    case TensorType::kB6x16:
      return {6, 16, 16, direction == CopyDirection::kLoad ? 6 : 8};
  }
  std::abort();
}

uint64_t FillWord(TensorType type, FillMode fill, const CopyRules& rules) {
  if (fill == FillMode::kZero) return 0;
  uint64_t half = 0x7ff7;
  if (rules.nan_fill == CopyRules::NanFill::k7fff) half = 0x7fff;
  if (rules.nan_fill == CopyRules::NanFill::kFfff) half = 0xffff;
  return half * 0x0001000100010001 & Mask(CellLayoutOf(type, CopyDirection::kLoad).bits);
}

uint64_t LoadedWord(TensorType type, uint64_t word, const CopyRules& rules) {
  if (!IsFtz(type) && !IsTf32(type)) return word;
  const Number x = Read(kF32, word);
  if (IsFtz(type) && rules.f32_ftz == CopyRules::Ftz::kFlushed && x.kind == Class::kSubnormal) {
    return ZeroWord(kF32, x.negative);
  }
  if (!IsTf32(type)) return word;
  if (IsNan(x)) {
    // Cut: a NaN with its payload in the last 13 bits becomes an infinity.
    const bool canonical = rules.tf32_nan == CopyRules::Nan::kCanonical;
    return canonical ? 0x7fffe000 : word - word % (1 << kTf32.ignored_bits);
  }
  if (IsInfinite(x) || IsZero(x)) return word;
  const bool away = rules.tf32_ties == CopyRules::Ties::kAway;
  Algorithm algorithm = {};
  algorithm.output_fraction_bits = kTf32.fraction_bits;
  algorithm.output_rounding = away ? Rounding::kNearestAway : Rounding::kNearestEven;
  bool zero = false;
  return RoundedWord(kTf32, algorithm, x.value(), &zero);
}

uint64_t ReducedWord(Reduction reduction, TensorType type, uint64_t old, uint64_t operand) {
  if (!IsDefined(reduction, type)) std::abort();
  const Format* format = FloatFormat(type);
  switch (reduction) {
    case Reduction::kAdd:
      if (format != nullptr) return FloatSum(type, old, operand);
      return (old + operand) & Mask(CellLayoutOf(type, CopyDirection::kReduce).bits);
    case Reduction::kMin:
    case Reduction::kMax:
      if (format != nullptr) return FloatExtreme(reduction, *format, old, operand);
      return IntegerExtreme(reduction, type, old, operand);
    // The result is in [0, operand] (9.7.9.25), as that of atom.inc and atom.dec.
    case Reduction::kInc:
      return old >= operand ? 0 : old + 1;
    case Reduction::kDec:
      return old == 0 || old > operand ? operand : old - 1;
    case Reduction::kAnd:
      return old & operand;
    case Reduction::kOr:
      return old | operand;
    case Reduction::kXor:
      return old ^ operand;
  }
  std::abort();
}

bool OrderMatters(Reduction reduction, TensorType type) {
  return reduction == Reduction::kInc || reduction == Reduction::kDec ||
         (reduction == Reduction::kAdd && FloatFormat(type) != nullptr);
}

}  // namespace mmadiff::reference
