// The bodies of the kernels of a GPU-resident run (resident.cu), one text for the GPU and for a
// twin of it on the host (resident_test.cc): make the cases, pack them for the instruction's own
// kernel, and, when that has run, simulate, compare, digest and count.
#pragma once

#include <cstdint>

#include "device/cuda/slot.h"
#include "fuzz/cases/generate.h"
#include "fuzz/digest.h"
#include "fuzz/observer.h"
#include "sim/dot_product.h"

namespace mmadiff {

inline constexpr int kFlaggedCases = 1024;
inline constexpr int kMultiprocessorWords = 16;  // a bit for each number below 1024
inline constexpr int kStageEvents = static_cast<int>(StageEvent::kCount);

// The first word of a case that was found to differ.
struct FlaggedCase {
  uint64_t index, device;  // of the case, and what the instruction gave
  int element;
  uint32_t multiprocessor;
};

// All that comes back from the GPU. Digests as four sums of 32-bit limbs, lowest first.
struct ResidentCounters {
  uint64_t device_digest[4], model_digest[4];
  uint64_t events[kStageEvents], traced;
  uint64_t generated, compared;                    // cases made; result words compared
  uint64_t differing;                              // result words
  uint64_t flagged;                                // cases with such
  uint64_t multiprocessors[kMultiprocessorWords];  // those that executed the instruction, as bits
  uint64_t nowhere;                                // executions of which none says that it did
  FlaggedCase cases[kFlaggedCases];                // the first so many flagged, in any order
};

// An operand in the words of the kernel: element `element` of the tile, shifted left by `shift`, or
// right if that is negative (the part of an element that lies in the next word), is part of a word.
struct Gather {
  int element, shift;
};
struct PackedOperand {
  uint32_t* words;      // [case][words_per_case]
  const int* starts;    // of the entries of a word, [words_per_case + 1]
  const Gather* parts;  // by word
  int words_per_case;
};

// What the kernels are given, by value. Pointers are the GPU's.
struct ResidentJob {
  Model model;
  Shape shape;
  uint64_t seed, first;   // case of index 0 of this launch
  uint64_t counted_from;  // case of bit 0 of `flags`
  uint32_t stream;
  StrategyKind strategy;
  int64_t count;        // cases
  uint64_t *a, *b, *c;  // tiles as in a Batch: [count][...]
  PackedOperand packed[3];
  const uint32_t* d;      // what the instruction wrote: [count][d_words]
  const uint32_t* where;  // the multiprocessor that wrote it: [count]
  uint32_t* flags;        // a bit for each case: has a word that differs
  const Slot* d_slots;    // [shape.d_words()]
  int d_words;
  bool any_nan;  // two NaNs are equal (NanVerdict::kAnyNan)
  ResidentCounters* counters;

  MMADIFF_HD TileKind kind() const {
    return {shape,    &model.d, &model.a,
            &model.b, &model.c, model.scale_block == 0 ? nullptr : &model.scale};
  }
};

static_assert(sizeof(ResidentJob) <= 4096);  // kernel parameters of every target

MMADIFF_HD inline void AddTo(uint64_t* sum, uint64_t value) {
#if defined(__CUDA_ARCH__)
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), value);
#else
  *sum += value;
#endif
}

MMADIFF_HD inline void AddDigest(uint64_t (&limbs)[4], unsigned __int128 digest) {
  for (int i = 0; i < 4; ++i) AddTo(&limbs[i], static_cast<uint32_t>(digest >> 32 * i));
}

// Thread `t` of count: neighbours take cases of one class, so that they branch alike.
MMADIFF_HD inline int64_t CaseOfThread(int64_t t, int64_t count, int period) {
  const int64_t whole = count / period * period;
  return t >= whole ? t : t % (count / period) * period + t / (count / period);
}

MMADIFF_HD inline void GenerateCase(const ResidentJob& job, int64_t t) {
  const TileKind kind = job.kind();
  const int boundary = BoundaryClassCount(kind);
  const int64_t x = CaseOfThread(t, job.count, ClassPeriod(job.strategy, boundary));
  const Shape& s = job.shape;
  const Tile tile = {kind, job.a + x * s.a_words(), job.b + x * s.b_words(),
                     job.c + x * s.d_words()};
  Random random(job.seed, job.stream, job.first + x);
  FillTile(ClassNumber(job.strategy, boundary, job.first + x), tile, random);
  AddTo(&job.counters->generated, 1);
}

// Word number `t` of all cases of operand 0 (A), 1 (B) or 2 (C).
MMADIFF_HD inline void PackWord(const ResidentJob& job, int operand, int64_t t) {
  const PackedOperand& to = job.packed[operand];
  const Shape& s = job.shape;
  const uint64_t* const from[3] = {job.a, job.b, job.c};
  const int elements[3] = {s.a_words(), s.b_words(), s.d_words()};
  const int64_t x = t / to.words_per_case;
  const int word = static_cast<int>(t % to.words_per_case);
  const uint64_t* tile = from[operand] + x * elements[operand];
  uint32_t packed = 0;
  for (int p = to.starts[word]; p < to.starts[word + 1]; ++p) {
    const Gather g = to.parts[p];
    const uint64_t value = tile[g.element];
    packed |= static_cast<uint32_t>(g.shift < 0 ? value >> -g.shift : value << g.shift);
  }
  to.words[t] = packed;
}

// The results of a case are compared in patches of at most 16 rows and 8 columns, which share
// decoded operands.
inline constexpr int kPatchRows = 16, kPatchColumns = 8;
inline constexpr int kPatchThreads = kPatchRows * kPatchColumns;

struct Patch {
  int64_t x;        // case, from 0
  int block;        // of the instruction
  int row, column;  // of the first result
  int rows, columns;
};

MMADIFF_HD inline int64_t PatchCount(const ResidentJob& job) {
  const Shape& s = job.shape;
  return job.count * s.blocks * ((s.m + kPatchRows - 1) / kPatchRows) *
         ((s.n + kPatchColumns - 1) / kPatchColumns);
}

MMADIFF_HD inline Patch PatchOf(const ResidentJob& job, int64_t number) {
  const Shape& s = job.shape;
  const int across = (s.n + kPatchColumns - 1) / kPatchColumns;
  const int down = (s.m + kPatchRows - 1) / kPatchRows;
  const int column = static_cast<int>(number % across) * kPatchColumns;
  const int row = static_cast<int>(number / across % down) * kPatchRows;
  const int64_t block = number / across / down;
  return {block / s.blocks,
          static_cast<int>(block % s.blocks),
          row,
          column,
          s.m - row < kPatchRows ? s.m - row : kPatchRows,
          s.n - column < kPatchColumns ? s.n - column : kPatchColumns};
}

// What the threads of a patch share: its rows of A, then its columns of B, as the family reads
// them.
template <Family kFamily>
struct Operands {
  using Word = Unpacked;
  MMADIFF_HD static Word Read(const Format& f, uint64_t word) { return Decode(f, word); }
};
template <>
struct Operands<Family::kIntegerDot> {
  using Word = uint64_t;
  MMADIFF_HD static Word Read(const Format&, uint64_t word) { return word; }
};

// The part of thread `t` of `threads`.
template <Family kFamily>
MMADIFF_HD void StagePatch(const ResidentJob& job, const Patch& p, int t, int threads,
                           typename Operands<kFamily>::Word* staged) {
  const Shape& s = job.shape;
  const int words = s.row_words();
  const uint64_t* a = job.a + ((p.x * s.blocks + p.block) * s.m + p.row) * words;
  const uint64_t* b = job.b + ((p.x * s.blocks + p.block) * s.n + p.column) * words;
  const int from_a = p.rows * words, all = from_a + p.columns * words;
  for (int i = t; i < all; i += threads) {
    const bool is_a = i < from_a;
    const bool scale = i % words >= s.k;
    const Format& f = scale ? job.model.scale : is_a ? job.model.a : job.model.b;
    staged[i] = Operands<kFamily>::Read(f, is_a ? a[i] : b[i - from_a]);
  }
}

template <Family kFamily, class Trace>
MMADIFF_HD uint64_t SimulateStaged(const Model& m, const typename Operands<kFamily>::Word* a,
                                   const typename Operands<kFamily>::Word* b, uint64_t c,
                                   Trace& trace) {
  if constexpr (kFamily == Family::kIntegerDot) {
    return IntegerDot(m, a, b, c, trace);
  } else if constexpr (kFamily == Family::kFusedSum) {
    return FusedSum(m, a, b, c, trace);
  } else if constexpr (kFamily == Family::kScaledSum) {
    return ScaledSum(m, a, b, c, trace);
  } else {
    static_assert(kFamily == Family::kFmaChain);
    return FmaChainOf(m, a, b, c, trace);
  }
}

struct Tally {
  unsigned __int128 device = 0, model = 0;
  uint64_t compared = 0, differing = 0;
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

// Result number `t` of a patch.
template <Family kFamily>
MMADIFF_HD void CompareResult(const ResidentJob& job, const Patch& p, int t,
                              const typename Operands<kFamily>::Word* staged, Tally& tally) {
  const Shape& s = job.shape;
  const int words = s.row_words(), i = t / p.columns, j = t % p.columns;
  const typename Operands<kFamily>::Word* a = staged + i * words;
  const typename Operands<kFamily>::Word* b = staged + (p.rows + j) * words;
  const int element = (p.block * s.m + p.row + i) * s.n + p.column + j;
  const int64_t at = p.x * s.d_words() + element;
  const uint64_t index = job.first + p.x, c = job.c[at];
  NullTrace trace;
  const Format& f = job.model.d;
  const uint64_t model =
      ComparedWord(f, job.any_nan, SimulateStaged<kFamily>(job.model, a, b, c, trace));
  const uint64_t device = ComparedWord(f, job.any_nan, DeviceWord(job, p.x, element));
  const uint64_t number = index * s.d_words() + element;
  ++tally.compared;
  tally.model += HashOfResult(model, number);
  tally.device += HashOfResult(device, number);
  if (model != device) {
    ++tally.differing;
    Flag(job, {index, DeviceWord(job, p.x, element), element, job.where[p.x]});
  }
  if (element == 0) NoteMultiprocessor(job, p.x);
  if (IsTraced(index) && TracedElement(index, s.d_words()) == static_cast<uint64_t>(element)) {
    Observer observer(job.model, c);
    SimulateStaged<kFamily>(job.model, a, b, c, observer);
    for (int e = 0; e < kStageEvents; ++e) {
      AddTo(&job.counters->events[e], observer.seen() >> e & 1);
    }
    AddTo(&job.counters->traced, 1);
  }
}

MMADIFF_HD inline void AddTally(const ResidentJob& job, const Tally& tally) {
  AddDigest(job.counters->device_digest, tally.device);
  AddDigest(job.counters->model_digest, tally.model);
  AddTo(&job.counters->compared, tally.compared);
  AddTo(&job.counters->differing, tally.differing);
}

}  // namespace mmadiff
