// The generator as numbers and one function: the class of a case, and its bits. The host and
// resident.cu share this text.
#pragma once

#include <cstdint>
#include <iterator>

#include "corpus/cases/boundary_float.h"
#include "corpus/cases/boundary_integer.h"
#include "corpus/cases/boundary_scaled.h"
#include "corpus/cases/tile.h"
#if !defined(MMADIFF_ON_GPU)  // no GPU makes operands of conversions
#include "corpus/cases/boundary_conversion.h"
#endif

namespace mmadiff {

// `count` draws of `bits` bits.
MMADIFF_HD inline void FillBits(int bits, TileWords out, int count, Random& r) {
#if !defined(MMADIFF_ON_GPU)
  if (const FillTarget* const fill = BestFill(); fill != nullptr && out.step() == 1) {
    return fill->make_bits(bits, count, &*out, r);
  }
#endif
  for (int i = 0; i < count; ++i) out[i] = r.Bits(bits);
}

// `count` rows of A or columns of B.
MMADIFF_HD inline void FillRows(const Tile& t, const Format& f, TileWords out, int count,
                                Random& r) {
  if (t.scales() == 0) return FillBits(f.bits, out, count * t.k(), r);
  for (int i = 0; i < count; ++i, out += t.stride()) {
    FillBits(f.bits, out, t.k(), r);
    FillBits(FieldBits(*t.instruction.scale), out + t.k(), t.scales(), r);
  }
}

MMADIFF_HD inline void FillUniform(const Tile& t, Random& r) {
  FillRows(t, *t.instruction.a, t.a, t.rows(), r);
  if (t.is_conversion()) return;
  FillRows(t, *t.instruction.b, t.b, t.columns(), r);
  FillBits(t.instruction.c->bits, t.c, t.results(), r);
}

inline constexpr InputClass kUniformBits = {"bits", "uniform bits in every operand", FillUniform};

inline constexpr int kFloatClasses = std::size(float_classes::kClasses);
inline constexpr int kScaledClasses = std::size(scaled_classes::kClasses);
inline constexpr int kIntegerClasses = std::size(integer_classes::kClasses);
// Number of the first class of float_classes::kLateClasses.
inline constexpr int kFirstLateClass = 1 + kFloatClasses + kScaledClasses;

// Number of boundary classes for the formats. For block-scaled instructions, the floating-point
// classes come first. The last scaled class is for scales with unread bits.
MMADIFF_HD inline int BoundaryClassCount(const TileKind& in) {
#if !defined(MMADIFF_ON_GPU)
  if (IsAbsent(*in.b)) return std::size(conversion_classes::kClasses);
#endif
  if (IsInteger(*in.d)) return kIntegerClasses;
  if (in.scale == nullptr) return kFloatClasses;
  return kFloatClasses + kScaledClasses - (FieldBits(*in.scale) == in.scale->bits);
}

// The number in generator version 2, for dot products without scales: the first classes of the
// tables.
inline int BoundaryClassCountOfVersion2(const TileKind& in) { return IsInteger(*in.d) ? 4 : 13; }

// The class of case `index`: 0 is uniform bits, 1 + i is boundary class i of `boundary` classes. A
// pure function, so every class gets its share of any range of indices.
MMADIFF_HD inline int ClassNumber(StrategyKind kind, int boundary, uint64_t index) {
  if (kind == StrategyKind::kBits) return 0;
  if (kind >= StrategyKind::kOneClass) {
    return static_cast<int>(kind) - static_cast<int>(StrategyKind::kOneClass);
  }
  if (kind == StrategyKind::kMixed) {  // one case in four is uniform bits
    if (index % 4 == 0) return 0;
    index = index / 4 * 3 + index % 4 - 1;
  }
  return 1 + static_cast<int>(index % boundary);
}

// The classes repeat after this many cases.
MMADIFF_HD inline int ClassPeriod(StrategyKind kind, int boundary) {
  return kind == StrategyKind::kMixed      ? 4 * boundary
         : kind == StrategyKind::kBoundary ? boundary
                                           : 1;
}

// Calls class number `number` of a table with direct calls, because a GPU has no table of
// functions.
template <const auto& kTable, int kFirst = 0>
MMADIFF_HD inline void FillFromTable(int number, const Tile& t, Random& r) {
  if constexpr (kFirst < static_cast<int>(std::size(kTable))) {
    constexpr auto kFill = kTable[kFirst].fill;
    if (number == kFirst) return kFill(t, r);
    FillFromTable<kTable, kFirst + 1>(number, t, r);
  }
}

// `number` is from ClassNumber().
MMADIFF_HD inline void FillTile(int number, const Tile& t, Random& r) {
  if (number == 0) return FillUniform(t, r);
#if !defined(MMADIFF_ON_GPU)
  if (t.is_conversion()) return FillFromTable<conversion_classes::kClasses>(number - 1, t, r);
#endif
  if (IsInteger(*t.instruction.d)) {
    return FillFromTable<integer_classes::kClasses>(number - 1, t, r);
  }
  if (number <= kFloatClasses) return FillFromTable<float_classes::kClasses>(number - 1, t, r);
  if (number >= kFirstLateClass) {
    return FillFromTable<float_classes::kLateClasses>(number - kFirstLateClass, t, r);
  }
  FillFromTable<scaled_classes::kClasses>(number - 1 - kFloatClasses, t, r);
}

}  // namespace mmadiff
