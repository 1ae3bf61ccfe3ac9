// The compare kernel: operands staged once for the results that share them, simulation, comparison,
// digest and counts. The same source for the GPU and its twin on the host; the code between two
// barriers of a block is one function.
#pragma once

#include <cstdint>

#include "fuzz/gpu/resident_stage.h"
#include "fuzz/unit/digest.h"
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
  } else if constexpr (kPath == Path::kTwoStageSum) {
    return TwoStageSum(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kPairwiseSum) {
    return PairwiseSum(m, a, b, c, trace);
  } else if constexpr (kPath == Path::kExactSum) {
    return ExactSum(m, a, b, c, trace);
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

// Results of one thread: the digest of all words of the model, and the difference that the device's
// words add to it.
struct Tally {
  unsigned __int128 model = 0, beyond = 0;
  uint32_t compared = 0, differing = 0;
};

// Sets bits and returns the previous word.
MMADIFF_HD inline uint32_t SetBits(uint32_t* word, uint32_t bits) {
#if defined(MMADIFF_ON_GPU)
  return atomicOr(word, bits);
#else
  const uint32_t before = *word;
  *word |= bits;
  return before;
#endif
}

// Flags each case once, whatever the number of its differing words.
MMADIFF_HD inline void Flag(const ResidentJob& job, const FlaggedCase& found) {
  const uint64_t bit = found.index - job.counted_from;
  const uint32_t mask = 1u << bit % 32;
  if ((SetBits(&job.flags[bit / 32], mask) & mask) != 0) return;
  ResidentCounters& counters = *job.counters;
#if defined(MMADIFF_ON_GPU)
  const uint64_t entry = atomicAdd(reinterpret_cast<unsigned long long*>(&counters.flagged), 1ull);
#else
  const uint64_t entry = counters.flagged++;
#endif
  if (entry < kFlaggedCases) counters.cases[entry] = found;
}

// Records the multiprocessor that executed the case at place `x`.
MMADIFF_HD inline void NoteMultiprocessor(const ResidentJob& job, int64_t x) {
  const uint32_t number = job.where[x];
  if (number >= 64 * kMultiprocessorWords) return AddTo(&job.counters->nowhere, 1);
  uint32_t* word = reinterpret_cast<uint32_t*>(job.counters->multiprocessors) + number / 32;
  const uint32_t mask = 1u << number % 32;
  if ((*word & mask) == 0)
    SetBits(word, mask);  // rarely true: an atomic for each case would be slow
}

// Compares the result of thread `t` of a patch, if it has one, in the staged cases.
template <Path kPath>
MMADIFF_HD void CompareResults(const ResidentJob& job, const Patch& p, int t,
                               const typename Operands<kPath>::Word* staged, Tally& tally) {
  const Shape& s = job.shape;
  const int stride = Operands<kPath>::Stride(s), i = t / kPatchColumns, j = t % kPatchColumns;
  if (i >= p.rows || j >= p.columns) return;
  const int element = (p.block * s.m + p.row + i) * s.n + p.column + j;
  const Slot slot = job.d_slots[element];
  const uint32_t* d = job.d + p.x * job.d_words + slot.word;
  const uint64_t* const c = job.c + TileAt(p.x, s.d_words()) + element * kInterleaved;
  for (int number = 0; number < p.cases; ++number) {
    const typename Operands<kPath>::Word* a = staged + number * CaseStride<kPath>(s) + i * stride;
    const typename Operands<kPath>::Word* b = a + (p.rows + j - i) * stride;
    const uint32_t place = static_cast<uint32_t>(p.x) + number;
    const uint64_t index = job.first + CaseAt(job.places, place);
    NullTrace trace;
    const auto& m = KnownModel<kPath>(job.model);
    uint64_t wrote = d[0] >> slot.bit;
    if (m.d.bits == 64) wrote |= static_cast<uint64_t>(d[1]) << 32;
    wrote &= LowBits(m.d.bits);
    d += job.d_words;
    const uint64_t model =
        ComparedWord(m.d, job.any_nan, SimulateStaged<kPath>(m, a, b, c[number], trace));
    const uint64_t device = ComparedWord(m.d, job.any_nan, wrote);
    const uint64_t result = index * s.d_words() + element;
    const unsigned __int128 hash = HashOfResult(model, result);
    ++tally.compared;
    tally.model += hash;
    if (model != device) {
      ++tally.differing;
      tally.beyond += HashOfResult(device, result) - hash;
      Flag(job, {index, wrote, element, job.where[place]});
    }
    if (element == 0) NoteMultiprocessor(job, place);
  }
}

// The tallies of a block are summed before they are added to the counters: first each thread stores
// its tally as 32-bit limbs, [limb][threads], in the memory of the operands.
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

// Thread `t` sums one limb of all threads.
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

// Bytes of shared memory: for the operands, later reused for the tallies.
template <Path kPath>
MMADIFF_HD inline size_t SharedBytes(const Shape& s) {
  const size_t staged =
      CasesAtOnce<kPath>(s) * CaseStride<kPath>(s) * sizeof(typename Operands<kPath>::Word);
  const size_t limbs = kTallyLimbs * kPatchThreads * sizeof(uint32_t);
  return staged > limbs ? staged : limbs;
}

}  // namespace mmadiff
