// Staging of operands in shared memory, once for the results that share them. The same source for
// the GPU and its twin on the host.
#pragma once

#include <cstdint>

#include "fuzz/gpu/resident_kernels.h"
#include "sim/dot_product.h"

namespace mmadiff {

// The results of a case are compared in patches of at most 16 rows and 8 columns, which share
// decoded operands: one thread per result.
inline constexpr int kPatchRows = 16, kPatchColumns = 8;
inline constexpr int kPatchThreads = kPatchRows * kPatchColumns;
// Blocks that a multiprocessor holds at once: the grid is one round of them. The generator kernel
// uses the four blocks that its 116 registers allow: the local memory of its threads fills the
// cache, and with 5, 6, 8 and 12 blocks its time was 1.05, 1.14, 1.31 and 1.91 times the time with
// four on an H200.
inline constexpr int kPatchBlocks = 8;
inline constexpr int kGenerateThreads = 128;

struct Patch {
  int64_t x;        // place of the first case
  int cases;        // number of cases staged together, in consecutive places
  int block;        // block of the instruction
  int row, column;  // row and column of the first result
  int rows, columns;
};

// Calls `visit` for each patch, with no cases set.
template <class Visit>
MMADIFF_HD inline void ForEachPatch(const Shape& s, Visit visit) {
  for (int block = 0; block < s.blocks; ++block) {
    for (int row = 0; row < s.m; row += kPatchRows) {
      for (int column = 0; column < s.n; column += kPatchColumns) {
        visit(Patch{0, 0, block, row, column, s.m - row < kPatchRows ? s.m - row : kPatchRows,
                    s.n - column < kPatchColumns ? s.n - column : kPatchColumns});
      }
    }
  }
}

// The layout of a family's operands in shared memory, and so the compare kernel. Host and GPU must
// use the same: PathOf().
enum class Path : uint8_t {
  kFmaChain,
  kFusedSum,   // any model
  kScaledSum,  // any model
  kTwoStageSum,
  kPairwiseSum,
  kExactSum,
  kNarrowSum,  // HasNarrowRows()
  kNarrowF32,  // HasNarrowRows(), and SetKnown() does not change it: f32 cut toward zero
  kNarrowF16,  // the same: f16 rounded to nearest
  kGroupSum,   // HasNarrowGroups()
  kInteger,    // HasNarrowIntegers()
};

constexpr bool IsNarrowSum(Path path) {
  return path == Path::kNarrowSum || path == Path::kNarrowF32 || path == Path::kNarrowF16;
}

// For the most frequent models, the parameters that they share are constants of their kernel. A
// format keeps its name, which is host memory.
template <Path kPath>
MMADIFF_HD constexpr void SetKnown(Model& m) {
  constexpr bool kF16Out = kPath == Path::kNarrowF16;
  for (Format* f : {&m.c, &m.d}) {
    const char* const name = f->name;
    *f = kF16Out ? kF16 : kF32;
    f->name = name;
  }
  m.algorithm.addend_joins = AddendJoins::kFirstStep;
  m.algorithm.addend_exponent = AddendExponent::kOwnFormat;
  m.algorithm.align_rounding = Rounding::kTowardZero;
  m.algorithm.output_rounding = kF16Out ? Rounding::kNearestEven : Rounding::kTowardZero;
  m.algorithm.range_overflow = RangeOverflow::kInfinity;
  m.algorithm.output_subnormals = Subnormals::kKeep;
}

// The model as the kernel of a path uses it.
template <Path kPath>
MMADIFF_HD decltype(auto) KnownModel(const Model& m) {
  if constexpr (kPath == Path::kNarrowF32 || kPath == Path::kNarrowF16) {
    Model known = m;
    SetKnown<kPath>(known);
    return known;
  } else {
    return (m);
  }
}

// Operands as the family reads them: `Word`s, `stride` of them per row. Rows are an odd number of
// words apart, so that neighboring columns are in different banks.
template <Path kPath>
struct Operands {
  using Word = Unpacked;
  MMADIFF_HD static int Words(const Shape& s) { return s.row_words(); }
  MMADIFF_HD static int Stride(const Shape& s) { return Words(s) | 1; }
};
template <>
struct Operands<Path::kNarrowSum> {
  using Word = NarrowOperand;
  MMADIFF_HD static int Words(const Shape& s) { return s.k; }
  MMADIFF_HD static int Stride(const Shape& s) { return Words(s) | 1; }
};
template <>
struct Operands<Path::kNarrowF32> : Operands<Path::kNarrowSum> {};
template <>
struct Operands<Path::kNarrowF16> : Operands<Path::kNarrowSum> {};
template <>
struct Operands<Path::kGroupSum> {
  using Word = int32_t;
  MMADIFF_HD static int Words(const Shape& s) { return s.k + s.scales; }
  MMADIFF_HD static int Stride(const Shape& s) { return (s.k + 2 * s.scales) | 1; }
};
template <>
struct Operands<Path::kInteger> {
  using Word = int32_t;
  MMADIFF_HD static int Words(const Shape& s) { return s.k; }
  MMADIFF_HD static int Stride(const Shape& s) { return Words(s) | 1; }
};

// Bytes that a block stages at once: eight blocks fit a multiprocessor of capability 9.0.
inline constexpr int kStagedBytes = 27 << 10;

// Distance from the words of a staged case to those of the next. The same word of neighboring cases
// is in different banks of shared memory, which span 128 bytes in total.
template <Path kPath>
MMADIFF_HD inline int CaseStride(const Shape& s) {
  constexpr int kBanks = 128 / sizeof(typename Operands<kPath>::Word);
  const int words = (kPatchRows + kPatchColumns) * Operands<kPath>::Stride(s);
  return (words + kBanks - 1) / kBanks * kBanks + kBanks / kInterleaved;
}

// Number of cases staged together: adjacent cases, or fewer if they have many words.
template <Path kPath>
MMADIFF_HD inline int CasesAtOnce(const Shape& s) {
  const int bytes = CaseStride<kPath>(s) * static_cast<int>(sizeof(typename Operands<kPath>::Word));
  int cases = kInterleaved;
  while (cases > 1 && cases * bytes > kStagedBytes) cases /= 2;
  return cases;
}

// Position of operand k in the order of the steps: the inverse of GroupedK().
MMADIFF_HD inline int PositionOfK(const Model& m, int k) {
  if (m.algorithm.grouping == Grouping::kConsecutive) return k;
  return k / 4 * 2 + k % 2 + k / 2 % 2 * (m.k / 2);
}

// Stages word `k` of a row of A or column of B, which begins at word `first` of its tile and at
// `staged`.
template <Path kPath>
MMADIFF_HD void StageWord(const ResidentJob& job, bool is_a, const uint64_t* tile, int first, int k,
                          typename Operands<kPath>::Word* staged) {
  const Model& m = job.model;
  constexpr bool kElements = kPath == Path::kInteger || IsNarrowSum(kPath);
  const Format& f = !kElements && k >= m.k ? m.scale : is_a ? m.a : m.b;
  if constexpr (kPath == Path::kInteger) {
    staged[k] = static_cast<int32_t>(DecodeInteger(f, WordAt(tile, first + k)));
  } else if constexpr (IsNarrowSum(kPath)) {
    int scale = 0;
    if (m.scale_block != 0) {
      const uint64_t word = WordAt(tile, first + m.k + k / m.scale_block);
      scale = DecodeNarrow(job.narrow_scale, static_cast<uint32_t>(word), 0).exponent;
    }
    NarrowOperand x = DecodeNarrow(is_a ? job.narrow_a : job.narrow_b,
                                   static_cast<uint32_t>(WordAt(tile, first + k)), scale);
    if (scale == kNarrowNan) x = {0, kNarrowNan};
    staged[PositionOfK(m, k)] = x;
  } else if constexpr (kPath == Path::kGroupSum) {
    const Unpacked x = Decode(f, WordAt(tile, first + k));
    if (k < m.k) {
      const int32_t magnitude =
          static_cast<int32_t>(x.significand << (x.exponent - f.min_exponent));
      staged[k] = x.negative ? -magnitude : magnitude;
    } else {
      staged[2 * k - m.k] = static_cast<int32_t>(x.significand);
      staged[2 * k - m.k + 1] = x.kind == Kind::kNan ? kNarrowNan : x.exponent;
    }
  } else {
    staged[k] = Decode(f, WordAt(tile, first + k));
  }
}

// The words of rows that a thread stages: word k of row `row` of one of the cases staged together,
// then the words `rows` rows and `rest` words further on.
struct StagePlan {
  int number, row, k, rows, rest;
};

template <Path kPath>
MMADIFF_HD StagePlan StagePlanOf(const Shape& s, int t) {
  const int cases = CasesAtOnce<kPath>(s), words = Operands<kPath>::Words(s);
  const int first = t / cases, threads = kPatchThreads / cases;
  return {t % cases, first / words, first % words, threads / words, threads % words};
}

template <Path kPath>
MMADIFF_HD void StageRows(const ResidentJob& job, bool is_a, const uint64_t* tile, int first,
                          int count, const StagePlan& plan,
                          typename Operands<kPath>::Word* staged) {
  const Shape& s = job.shape;
  const int row_words = s.row_words(), words = Operands<kPath>::Words(s);
  const int stride = Operands<kPath>::Stride(s);
  for (int row = plan.row, k = plan.k; row < count;) {
    StageWord<kPath>(job, is_a, tile, (first + row) * row_words, k, staged + row * stride);
    row += plan.rows;
    k += plan.rest;
    if (k >= words) {
      k -= words;
      ++row;
    }
  }
}

// A thread's part: rows of A, then columns of B. Tiles hold whole groups of kInterleaved cases, so
// that every thread has something to read.
template <Path kPath>
MMADIFF_HD void StagePatch(const ResidentJob& job, const Patch& p, const StagePlan& plan,
                           typename Operands<kPath>::Word* staged) {
  const Shape& s = job.shape;
  const int64_t x = p.x + plan.number;
  staged += plan.number * CaseStride<kPath>(s);
  StageRows<kPath>(job, true, job.a + TileAt(x, s.a_words()), p.block * s.m + p.row, p.rows, plan,
                   staged);
  StageRows<kPath>(job, false, job.b + TileAt(x, s.b_words()), p.block * s.n + p.column, p.columns,
                   plan, staged + p.rows * Operands<kPath>::Stride(s));
}

}  // namespace mmadiff
