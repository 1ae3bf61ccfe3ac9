// The kernel that compares: operands staged once for the results that share them, simulation,
// comparison, digest and counts. One text for the GPU and for its twin on the host; what lies
// between two barriers of a block is one function.
#pragma once

#include <cstdint>

#include "fuzz/digest.h"
#include "fuzz/gpu/resident_stage.h"
#include "fuzz/observer.h"
#include "sim/dot_product.h"

namespace mmadiff {

template <Path kPath, class Trace>
MMADIFF_HD uint64_t SimulateStaged(const Model& m, const typename Operands<kPath>::Word* a,
                                   const typename Operands<kPath>::Word* b, uint64_t c,
                                   Trace& trace) {
  if constexpr (kPath == Path::kInteger) {
    return IntegerDot(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kFusedSum) {
    return FusedSum(m, a, b, c, trace);
  } else if constexpr (IsNarrowSum(kPath)) {
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

// A row that begins at word `first` of a tile, decoded where it is read.
class WordRow {
 public:
  MMADIFF_HD WordRow(const Model& m, const Format& element, const uint64_t* tile, int first)
      : model_(m), element_(element), tile_(tile), first_(first), at_(first) {}
  MMADIFF_HD Unpacked operator[](int i) const {
    return Decode(at_ + i - first_ < model_.k ? element_ : model_.scale, WordAt(tile_, at_ + i));
  }
  MMADIFF_HD WordRow operator+(int i) const {
    WordRow row = *this;
    row.at_ += i;
    return row;
  }

 private:
  const Model& model_;
  const Format& element_;
  const uint64_t* tile_;
  int first_, at_;
};

// What a thread has found. Digests: of all words of the model, and what those of the device add.
struct Tally {
  unsigned __int128 model = 0, beyond = 0;
  uint32_t compared = 0, differing = 0;
};

// What the instruction wrote for an element of the case at place `x`.
MMADIFF_HD inline uint64_t DeviceWord(const ResidentJob& job, const Format& f, int64_t x,
                                      int element) {
  const Slot slot = job.d_slots[element];
  const uint32_t* d = job.d + x * job.d_words + slot.word;
  uint64_t word = d[0] >> slot.bit;
  if (f.bits == 64) word |= static_cast<uint64_t>(d[1]) << 32;
  return word & LowBits(f.bits);
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

// Which multiprocessor executed the case at place `x`.
MMADIFF_HD inline void NoteMultiprocessor(const ResidentJob& job, int64_t x) {
  const uint32_t number = job.where[x];
  if (number >= 64 * kMultiprocessorWords) return AddTo(&job.counters->nowhere, 1);
  uint32_t* word = reinterpret_cast<uint32_t*>(job.counters->multiprocessors) + number / 32;
  const uint32_t mask = 1u << number % 32;
  if ((*word & mask) == 0) SetBits(word, mask);  // seldom: an atomic for each case would be slow
}

// The stage events of a result, sums of floating-point numbers in the wide arithmetic from the words
// themselves. `row` and `column` are those of A and B.
template <Path kPath>
MMADIFF_HD void TraceResult(const ResidentJob& job, int64_t x, int row, int column, uint64_t c,
                            const typename Operands<kPath>::Word* staged_a,
                            const typename Operands<kPath>::Word* staged_b) {
  const Model& m = job.model;
  Observer observer(m, c);
  if constexpr (IsNarrowSum(kPath) || kPath == Path::kGroupSum) {
    const Shape& s = job.shape;
    const WordRow row_a(m, m.a, job.a + TileAt(x, s.a_words()), row * s.row_words());
    const WordRow row_b(m, m.b, job.b + TileAt(x, s.b_words()), column * s.row_words());
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
  const uint64_t index = job.first + CaseAt(job.places, static_cast<uint32_t>(p.x));
  const uint64_t c = WordAt(job.c + TileAt(p.x, s.d_words()), element);
  NullTrace trace;
  const auto& m = KnownModel<kPath>(job.model);
  const uint64_t model = ComparedWord(m.d, job.any_nan, SimulateStaged<kPath>(m, a, b, c, trace));
  const uint64_t device = ComparedWord(m.d, job.any_nan, DeviceWord(job, m.d, p.x, element));
  const uint64_t number = index * s.d_words() + element;
  const unsigned __int128 hash = HashOfResult(model, number);
  ++tally.compared;
  tally.model += hash;
  if (model != device) {
    ++tally.differing;
    tally.beyond += HashOfResult(device, number) - hash;
    Flag(job, {index, DeviceWord(job, m.d, p.x, element), element, job.where[p.x]});
  }
  if (element == 0) NoteMultiprocessor(job, p.x);
  if (IsTraced(index) && TracedElement(index, s.d_words()) == static_cast<uint64_t>(element)) {
    TraceResult<kPath>(job, p.x, row, column, c, a, b);
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
