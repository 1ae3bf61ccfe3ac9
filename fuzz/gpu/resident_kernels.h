// The bodies of the kernels of a GPU-resident run (resident.cu), one text for the GPU and for a
// twin of it on the host (resident_test.cc): make the cases and pack them for the instruction's own
// kernel. When that has run, resident_compare.h.
#pragma once

#include <cstdint>

#include "device/cuda/slot.h"
#include "fuzz/cases/generate.h"
#include "fuzz/observer.h"

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

}  // namespace mmadiff
