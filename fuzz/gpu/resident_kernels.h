// The bodies of the kernels of a GPU-resident run (resident.cu), the same source for the GPU and
// its twin on the host (resident_test.cc): they generate the cases and pack them for the
// instruction's own kernel. The kernel of resident_compare.h runs after that.
#pragma once

#include <cstdint>

#include "corpus/cases/generate.h"
#include "device/gpu/slot.h"
#include "fuzz/unit/stage_watcher.h"
#include "sim/narrow_row.h"

namespace mmadiff {

// Families of models that only one vendor's instructions have are compiled only for its GPUs.
#if defined(__HIP__)
inline constexpr bool kForNvidia = false, kForAmd = true;
#elif defined(__CUDACC__)
inline constexpr bool kForNvidia = true, kForAmd = false;
#else
inline constexpr bool kForNvidia = true, kForAmd = true;
#endif

inline constexpr int kFlaggedCases = 1024;
inline constexpr int kMultiprocessorWords = 64;  // one bit per number below 4096
inline constexpr int kStageEvents = static_cast<int>(StageEvent::kCount);

// The first differing word found in a case.
struct FlaggedCase {
  uint64_t index, device;  // index of the case, and the instruction's result
  int element;
  uint32_t multiprocessor;
};

// Everything that is copied back from the GPU. Digests are four sums of 32-bit limbs, lowest first.
struct ResidentCounters {
  uint64_t device_digest[4], model_digest[4];
  uint64_t events[kStageEvents], traced;
  uint64_t generated, compared;  // generated cases; compared result words
  uint64_t differing;            // differing result words
  uint64_t flagged;              // cases with differing words
  uint64_t multiprocessors
      [kMultiprocessorWords];        // multiprocessors that executed the instruction, as bits
  uint64_t nowhere;                  // executions that no multiprocessor recorded
  FlaggedCase cases[kFlaggedCases];  // the first flagged cases, in any order
};

// An operand in the words of the kernel: a part of a word is element `element` of the tile, shifted
// left by `shift`, or right if `shift` is negative (the part of an element in the next word).
struct Gather {
  uint16_t element;
  int16_t shift;
};
inline constexpr int kMaxPacked = 1 << 16;  // elements
inline constexpr Gather kNoPart = {0, 32};

// Words are packed four at a time: the first part of all four, then the second of all four, ...
inline constexpr int kPackedWords = 4;
struct alignas(16) Gathers {
  Gather of[kPackedWords];
};
struct alignas(16) PackedWords {
  uint32_t word[kPackedWords];
};
struct PackedOperand {
  uint32_t* words;       // [place][words_per_case]
  const Gathers* parts;  // [words_per_case / kPackedWords, rounded up][parts_per_word]
  int words_per_case, parts_per_word;
};

// Places of cases in the buffers, and of the threads that generate them: neighboring cases are in
// the same class, so that threads branch alike. The classes repeat after `period` cases; place p <
// period * runs has the case p / runs of a class in order, in run p % runs.
struct Places {
  uint32_t period, runs;
  uint64_t
      inverse;  // 2^44 / runs, rounded up beyond: divides exactly below 2^22; periods are short
};
inline constexpr int64_t kMaxPlaces = 1 << 22;

inline Places PlacesOf(int64_t count, int period) {
  const uint64_t runs = count / period;
  return {static_cast<uint32_t>(period), static_cast<uint32_t>(runs),
          runs == 0 ? 0 : (uint64_t{1} << 44) / runs + 1};
}

// The case, from 0, at a place below kMaxPlaces.
MMADIFF_HD inline uint32_t CaseAt(const Places& places, uint32_t place) {
  if (place >= places.period * places.runs) return place;
  const uint32_t number = static_cast<uint32_t>(place * places.inverse >> 44);
  return (place - number * places.runs) * places.period + number;
}

// The place of a case: the inverse.
MMADIFF_HD inline uint32_t PlaceOf(const Places& places, uint32_t number) {
  if (number >= places.period * places.runs) return number;
  return number % places.period * places.runs + number / places.period;
}

// Where word 0 of a tile of `words` words begins; the others follow kInterleaved apart.
MMADIFF_HD inline int64_t TileAt(int64_t place, int words) {
  const uint64_t p = place, group = p / kInterleaved;
  return static_cast<int64_t>(group * kInterleaved * words + p % kInterleaved);
}
MMADIFF_HD inline uint64_t WordAt(const uint64_t* tile, int i) { return tile[i * kInterleaved]; }

// The parameters of the kernels, by value. Pointers are GPU addresses.
struct ResidentJob {
  Model model;
  Shape shape;
  uint64_t seed, first;   // case with index 0 of this launch
  uint64_t counted_from;  // case of bit 0 of `flags`
  uint32_t stream;
  StrategyKind strategy;
  int64_t count;        // number of cases, and of places for them
  Places places;        // the place of each case
  uint64_t *a, *b, *c;  // words of tiles, see WordAt()
  PackedOperand packed[3];
  const uint32_t* d;                              // results of the instruction: [place][d_words]
  const uint32_t* where;                          // the multiprocessor that wrote it: [place]
  uint32_t* flags;                                // one bit per case: has a differing word
  const Slot* d_slots;                            // [shape.d_words()]
  NarrowFormat narrow_a, narrow_b, narrow_scale;  // for a model with HasNarrowRows()
  int d_words;
  bool any_nan;  // two NaNs are equal (NanVerdict::kAnyNan)
  ResidentCounters* counters;

  MMADIFF_HD TileKind kind() const {
    return {shape,    &model.d, &model.a,
            &model.b, &model.c, model.scale_block == 0 ? nullptr : &model.scale};
  }
};

static_assert(sizeof(ResidentJob) <= 4096);  // limit of the kernel parameters of every target

MMADIFF_HD inline void AddTo(uint64_t* sum, uint64_t value) {
#if defined(MMADIFF_ON_GPU)
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), value);
#else
  *sum += value;
#endif
}

// Generates the case at place `place`.
MMADIFF_HD inline void GenerateCase(const ResidentJob& job, int64_t place) {
  const TileKind kind = job.kind();
  const int boundary = BoundaryClassCount(kind);
  const uint64_t index = job.first + CaseAt(job.places, static_cast<uint32_t>(place));
  const Shape& s = job.shape;
  const Tile tile = {kind,
                     {job.a + TileAt(place, s.a_words()), kInterleaved},
                     {job.b + TileAt(place, s.b_words()), kInterleaved},
                     {job.c + TileAt(place, s.d_words()), kInterleaved}};
  Random random(job.seed, job.stream, index);
  FillTile(ClassNumber(job.strategy, boundary, index), tile, random);
  AddTo(&job.counters->generated, 1);
}

// Packs the operand of the case at place `place`, whose tile has `elements` elements.
MMADIFF_HD inline void PackOperand(const PackedOperand& to, const uint64_t* from, int elements,
                                   int64_t place) {
  const uint64_t* const tile = from + TileAt(place, elements);
  uint32_t* const words = to.words + place * to.words_per_case;
  const Gathers* parts = to.parts;
  const bool whole = to.words_per_case % kPackedWords == 0;
  for (int first = 0; first < to.words_per_case; first += kPackedWords) {
    PackedWords packed = {};
    for (int p = 0; p < to.parts_per_word; ++p) {
      const Gathers gathers = *parts++;
      for (int i = 0; i < kPackedWords; ++i) {
        const Gather g = gathers.of[i];
        const uint64_t value = WordAt(tile, g.element);
        packed.word[i] |= static_cast<uint32_t>(g.shift < 0 ? value >> -g.shift : value << g.shift);
      }
    }
    if (whole) {
      *reinterpret_cast<PackedWords*>(words + first) = packed;
    } else {
      for (int i = 0; i < to.words_per_case - first && i < kPackedWords; ++i) {
        words[first + i] = packed.word[i];
      }
    }
  }
}

MMADIFF_HD inline void PackCase(const ResidentJob& job, int64_t place) {
  const Shape& s = job.shape;
  PackOperand(job.packed[0], job.a, s.a_words(), place);
  PackOperand(job.packed[1], job.b, s.b_words(), place);
  PackOperand(job.packed[2], job.c, s.d_words(), place);
}

}  // namespace mmadiff
