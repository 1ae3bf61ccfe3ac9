// The kernel that compares: operands staged once for the results that share them, simulation,
// comparison, digest and counts. One text for the GPU and for its twin on the host; what lies
// between two barriers of a block is one function.
#pragma once

#include <cstdint>

#include "fuzz/digest.h"
#include "fuzz/gpu/resident_kernels.h"
#include "fuzz/observer.h"
#include "sim/dot_product.h"

namespace mmadiff {

// The results of a case are compared in patches of at most 16 rows and 8 columns, which share
// decoded operands: one thread for a result.
inline constexpr int kPatchRows = 16, kPatchColumns = 8;
inline constexpr int kPatchThreads = kPatchRows * kPatchColumns;
// Blocks that a multiprocessor holds at once: the grid is one round of them.
inline constexpr int kPatchBlocks = 8;

struct Patch {
  int64_t x;        // case, from 0
  int block;        // of the instruction
  int row, column;  // of the first result
  int rows, columns;
};

// Calls `visit` for the patches of the first case.
template <class Visit>
MMADIFF_HD inline void ForEachPatch(const Shape& s, Visit visit) {
  for (int block = 0; block < s.blocks; ++block) {
    for (int row = 0; row < s.m; row += kPatchRows) {
      for (int column = 0; column < s.n; column += kPatchColumns) {
        visit(Patch{0, block, row, column, s.m - row < kPatchRows ? s.m - row : kPatchRows,
                    s.n - column < kPatchColumns ? s.n - column : kPatchColumns});
      }
    }
  }
}

// How a family's operands lie in shared memory, and so which kernel compares. Host and GPU must
// take the same: PathOf().
enum class Path : uint8_t {
  kFmaChain,
  kFusedSum,   // any model
  kScaledSum,  // any model
  kNarrowSum,  // HasNarrowRows()
  kGroupSum,   // HasNarrowGroups()
  kInteger,    // HasNarrowIntegers()
};

// As the family reads operands: `Word`s, `stride` of them for a row. Rows lie an odd number of
// words apart, so that neighbouring columns are in different banks.
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

template <Path kPath>
MMADIFF_HD inline int StagedWords(const Shape& s) {
  return (kPatchRows + kPatchColumns) * Operands<kPath>::Stride(s);
}

// Where operand k stands in the order of the steps: the inverse of GroupedK().
MMADIFF_HD inline int PositionOfK(const Model& m, int k) {
  if (m.algorithm.grouping == Grouping::kConsecutive) return k;
  return k / 4 * 2 + k % 2 + k / 2 % 2 * (m.k / 2);
}

// Stages word `k` of a row of A or column of B, which begins at `words` and at `staged`.
template <Path kPath>
MMADIFF_HD void StageWord(const Model& m, bool is_a, const uint64_t* words, int k,
                          typename Operands<kPath>::Word* staged) {
  constexpr bool kElements = kPath == Path::kInteger || kPath == Path::kNarrowSum;
  const Format& f = !kElements && k >= m.k ? m.scale : is_a ? m.a : m.b;
  if constexpr (kPath == Path::kInteger) {
    staged[k] = static_cast<int32_t>(DecodeInteger(f, words[k]));
  } else if constexpr (kPath == Path::kNarrowSum) {
    int scale = 0;
    bool nan = false;
    if (m.scale_block != 0) {
      const Unpacked s = Decode(m.scale, words[m.k + k / m.scale_block]);
      scale = s.exponent;
      nan = s.kind == Kind::kNan;
    }
    NarrowOperand x =
        DecodeNarrow(f, static_cast<uint32_t>(words[k]), is_a ? NarrowUp(m) : 0, scale);
    if (nan) x = {0, kNarrowNan};
    staged[PositionOfK(m, k)] = x;
  } else if constexpr (kPath == Path::kGroupSum) {
    const Unpacked x = Decode(f, words[k]);
    if (k < m.k) {
      const int32_t magnitude =
          static_cast<int32_t>(x.significand << (x.exponent - f.min_exponent));
      staged[k] = x.negative ? -magnitude : magnitude;
    } else {
      staged[2 * k - m.k] = static_cast<int32_t>(x.significand);
      staged[2 * k - m.k + 1] = x.kind == Kind::kNan ? kNarrowNan : x.exponent;
    }
  } else {
    staged[k] = Decode(f, words[k]);
  }
}

// Which words of rows a thread stages: word k of row `row`, then those `rows` rows and `rest` words
// further.
struct StagePlan {
  int row, k, rows, rest;
};

template <Path kPath>
MMADIFF_HD StagePlan StagePlanOf(const Shape& s, int t, int threads) {
  const int words = Operands<kPath>::Words(s);
  return {t / words, t % words, threads / words, threads % words};
}

template <Path kPath>
MMADIFF_HD void StageRows(const ResidentJob& job, bool is_a, const uint64_t* from, int count,
                          const StagePlan& plan, typename Operands<kPath>::Word* staged) {
  const Shape& s = job.shape;
  const int row_words = s.row_words(), words = Operands<kPath>::Words(s);
  const int stride = Operands<kPath>::Stride(s);
  for (int row = plan.row, k = plan.k; row < count;) {
    StageWord<kPath>(job.model, is_a, from + row * row_words, k, staged + row * stride);
    row += plan.rows;
    k += plan.rest;
    if (k >= words) {
      k -= words;
      ++row;
    }
  }
}

// A thread's part: rows of A, then columns of B.
template <Path kPath>
MMADIFF_HD void StagePatch(const ResidentJob& job, const Patch& p, const StagePlan& plan,
                           typename Operands<kPath>::Word* staged) {
  const Shape& s = job.shape;
  const int words = s.row_words();
  StageRows<kPath>(job, true, job.a + ((p.x * s.blocks + p.block) * s.m + p.row) * words, p.rows,
                   plan, staged);
  StageRows<kPath>(job, false, job.b + ((p.x * s.blocks + p.block) * s.n + p.column) * words,
                   p.columns, plan, staged + p.rows * Operands<kPath>::Stride(s));
}

template <Path kPath, class Trace>
MMADIFF_HD uint64_t SimulateStaged(const Model& m, const typename Operands<kPath>::Word* a,
                                   const typename Operands<kPath>::Word* b, uint64_t c,
                                   Trace& trace) {
  if constexpr (kPath == Path::kInteger) {
    return IntegerDot(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kFusedSum) {
    return FusedSum(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kNarrowSum) {
    return FusedSteps(m, NarrowRow(a, NarrowUp(m)), NarrowRow(b, 0), c, trace);
  } else if constexpr (kPath == Path::kScaledSum) {
    return ScaledSum(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kGroupSum) {
    return ScaledSum(m, NarrowGroupRow(a), NarrowGroupRow(b), c, trace);
  } else {
    static_assert(kPath == Path::kFmaChain);
    return FmaChainOf(m, a, b, c, trace);
  }
}

// A row of words, decoded where it is read.
class WordRow {
 public:
  MMADIFF_HD WordRow(const Model& m, const Format& element, const uint64_t* words)
      : model_(m), element_(element), words_(words) {}
  MMADIFF_HD Unpacked operator[](int i) const {
    return Decode(at_ + i < model_.k ? element_ : model_.scale, words_[at_ + i]);
  }
  MMADIFF_HD WordRow operator+(int i) const {
    WordRow row = *this;
    row.at_ += i;
    return row;
  }

 private:
  const Model& model_;
  const Format& element_;
  const uint64_t* words_;
  int at_ = 0;
};

// What a thread has found. Digests: of all words of the model, and what those of the device add.
struct Tally {
  unsigned __int128 model = 0, beyond = 0;
  uint32_t compared = 0, differing = 0;
};

// What the instruction wrote for an element of case `x`.
MMADIFF_HD inline uint64_t DeviceWord(const ResidentJob& job, int64_t x, int element) {
  const Slot slot = job.d_slots[element];
  const uint32_t* d = job.d + x * job.d_words + slot.word;
  uint64_t word = d[0] >> slot.bit;
  if (job.model.d.bits == 64) word |= static_cast<uint64_t>(d[1]) << 32;
  return word & LowBits(job.model.d.bits);
}

// Sets bits and returns the word before.
MMADIFF_HD inline uint32_t SetBits(uint32_t* word, uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return atomicOr(word, bits);
#else
  const uint32_t before = *word;
  *word |= bits;
  return before;
#endif
}

// Each case once, whatever the number of its words that differ.
MMADIFF_HD inline void Flag(const ResidentJob& job, const FlaggedCase& found) {
  const uint64_t bit = found.index - job.counted_from;
  const uint32_t mask = 1u << bit % 32;
  if ((SetBits(&job.flags[bit / 32], mask) & mask) != 0) return;
  ResidentCounters& counters = *job.counters;
#if defined(__CUDA_ARCH__)
  const uint64_t entry = atomicAdd(reinterpret_cast<unsigned long long*>(&counters.flagged), 1ull);
#else
  const uint64_t entry = counters.flagged++;
#endif
  if (entry < kFlaggedCases) counters.cases[entry] = found;
}

// Which multiprocessor executed case `x` of the launch.
MMADIFF_HD inline void NoteMultiprocessor(const ResidentJob& job, int64_t x) {
  const uint32_t number = job.where[x];
  if (number >= 64 * kMultiprocessorWords) return AddTo(&job.counters->nowhere, 1);
  uint32_t* word = reinterpret_cast<uint32_t*>(job.counters->multiprocessors) + number / 32;
  const uint32_t mask = 1u << number % 32;
  if ((*word & mask) == 0) SetBits(word, mask);  // seldom: an atomic for each case would be slow
}

// The stage events of a result, in the wide arithmetic from the words themselves.
template <Path kPath>
MMADIFF_HD void TraceResult(const ResidentJob& job, const uint64_t* a, const uint64_t* b,
                            uint64_t c, const typename Operands<kPath>::Word* staged_a,
                            const typename Operands<kPath>::Word* staged_b) {
  const Model& m = job.model;
  Observer observer(m, c);
  if constexpr (kPath == Path::kInteger) {
    IntegerDot(m, a, b, c, observer);
  } else if constexpr (kPath == Path::kNarrowSum || kPath == Path::kGroupSum) {
    const WordRow row_a(m, m.a, a), row_b(m, m.b, b);
    m.algorithm.family == Family::kFusedSum ? FusedSum(m, row_a, row_b, c, observer)
                                            : ScaledSum(m, row_a, row_b, c, observer);
  } else {
    SimulateStaged<kPath>(m, staged_a, staged_b, c, observer);
  }
  for (int e = 0; e < kStageEvents; ++e) {
    AddTo(&job.counters->events[e], observer.seen() >> e & 1);
  }
  AddTo(&job.counters->traced, 1);
}

// The result of thread `t` of a patch, if it has one.
template <Path kPath>
MMADIFF_HD void CompareResult(const ResidentJob& job, const Patch& p, int t,
                              const typename Operands<kPath>::Word* staged, Tally& tally) {
  const Shape& s = job.shape;
  const int stride = Operands<kPath>::Stride(s), i = t / kPatchColumns, j = t % kPatchColumns;
  if (i >= p.rows || j >= p.columns) return;
  const typename Operands<kPath>::Word* a = staged + i * stride;
  const typename Operands<kPath>::Word* b = staged + (p.rows + j) * stride;
  const int row = p.block * s.m + p.row + i, column = p.block * s.n + p.column + j;
  const int element = row * s.n + p.column + j;
  const uint64_t index = job.first + p.x, c = job.c[p.x * s.d_words() + element];
  NullTrace trace;
  const Format& f = job.model.d;
  const uint64_t model =
      ComparedWord(f, job.any_nan, SimulateStaged<kPath>(job.model, a, b, c, trace));
  const uint64_t device = ComparedWord(f, job.any_nan, DeviceWord(job, p.x, element));
  const uint64_t number = index * s.d_words() + element;
  const unsigned __int128 hash = HashOfResult(model, number);
  ++tally.compared;
  tally.model += hash;
  if (model != device) {
    ++tally.differing;
    tally.beyond += HashOfResult(device, number) - hash;
    Flag(job, {index, DeviceWord(job, p.x, element), element, job.where[p.x]});
  }
  if (element == 0) NoteMultiprocessor(job, p.x);
  if (IsTraced(index) && TracedElement(index, s.d_words()) == static_cast<uint64_t>(element)) {
    const int words = s.row_words();
    TraceResult<kPath>(job, job.a + (p.x * s.blocks * s.m + row) * words,
                       job.b + (p.x * s.blocks * s.n + column) * words, c, a, b);
  }
}

// The tallies of a block are added before they join the counters: first each thread's as 32-bit
// limbs, [limb][threads], in the memory of the operands.
inline constexpr int kTallyLimbs = 10;

MMADIFF_HD inline void PutTally(const Tally& tally, int t, int threads, uint32_t* limbs) {
  const unsigned __int128 device = tally.model + tally.beyond;
  for (int i = 0; i < 4; ++i) {
    limbs[i * threads + t] = static_cast<uint32_t>(device >> 32 * i);
    limbs[(4 + i) * threads + t] = static_cast<uint32_t>(tally.model >> 32 * i);
  }
  limbs[8 * threads + t] = tally.compared;
  limbs[9 * threads + t] = tally.differing;
}

// Thread `t` adds one limb of all threads.
MMADIFF_HD inline void AddTallies(const ResidentJob& job, int t, int threads,
                                  const uint32_t* limbs) {
  if (t >= kTallyLimbs) return;
  uint64_t sum = 0;
  for (int i = 0; i < threads; ++i) sum += limbs[t * threads + i];
  ResidentCounters& counters = *job.counters;
  AddTo(t < 4    ? &counters.device_digest[t]
        : t < 8  ? &counters.model_digest[t - 4]
        : t == 8 ? &counters.compared
                 : &counters.differing,
        sum);
}

// Bytes of shared memory: the operands, then the tallies in their place.
template <Path kPath>
MMADIFF_HD inline size_t SharedBytes(const Shape& s) {
  const size_t staged = StagedWords<kPath>(s) * sizeof(typename Operands<kPath>::Word);
  const size_t limbs = kTallyLimbs * kPatchThreads * sizeof(uint32_t);
  return staged > limbs ? staged : limbs;
}

}  // namespace mmadiff
