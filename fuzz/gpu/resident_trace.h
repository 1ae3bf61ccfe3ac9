// The kernel that counts stage events: one result of every traced case, from the words of its
// operands. The same source for the GPU and its twin on the host.
#pragma once

#include <cstdint>

#include "fuzz/gpu/resident_kernels.h"
#include "sim/dot_product.h"

namespace mmadiff {

// The words of a row of A or a column of B, which begins at word `first` of its tile.
class WordRow {
 public:
  MMADIFF_HD WordRow(const uint64_t* tile, int first) : tile_(tile), first_(first) {}
  MMADIFF_HD uint64_t operator[](int i) const { return WordAt(tile_, first_ + i); }

 private:
  const uint64_t* tile_;
  int first_;
};

// The same, decoded when read. `+` moves to a later element.
class DecodedRow {
 public:
  MMADIFF_HD DecodedRow(const Model& m, const Format& element, const WordRow& words)
      : model_(m), element_(element), words_(words) {}
  MMADIFF_HD Unpacked operator[](int i) const {
    return Decode(at_ + i < model_.k ? element_ : model_.scale, words_[at_ + i]);
  }
  MMADIFF_HD DecodedRow operator+(int i) const {
    DecodedRow row = *this;
    row.at_ += i;
    return row;
  }

 private:
  const Model& model_;
  const Format& element_;
  const WordRow words_;
  int at_ = 0;
};

// Traces case number `n` of the traced cases of a launch, from 0; there may be no such case.
MMADIFF_HD inline void TraceCase(const ResidentJob& job, int64_t n) {
  const uint64_t offset = (job.first + kTraceEvery - 1) / kTraceEvery * kTraceEvery - job.first +
                          static_cast<uint64_t>(n) * kTraceEvery;
  if (offset >= static_cast<uint64_t>(job.count)) return;
  const Shape& s = job.shape;
  const Model& m = job.model;
  const int64_t x = PlaceOf(job.places, static_cast<uint32_t>(offset));
  const int element = static_cast<int>(TracedElement(job.first + offset, s.d_words()));
  const int row = element / s.n, column = row / s.m * s.n + element % s.n;
  const WordRow a(job.a + TileAt(x, s.a_words()), row * s.row_words());
  const WordRow b(job.b + TileAt(x, s.b_words()), column * s.row_words());
  const uint64_t c = WordAt(job.c + TileAt(x, s.d_words()), element);
  StageWatcher watcher(m, c);
  if (m.algorithm.family == Family::kIntegerDot) {
    IntegerDot(m, a, b, c, watcher);
  } else {
    const DecodedRow row_a(m, m.a, a), row_b(m, m.b, b);
    const Family family = m.algorithm.family;
    if (kForNvidia && family == Family::kFusedSum) {
      FusedSum(m, row_a, row_b, c, watcher);
    } else if (kForNvidia && family == Family::kScaledSum) {
      ScaledSum(m, row_a, row_b, c, watcher);
    } else if (kForAmd && family == Family::kTwoStageSum) {
      TwoStageSum(m, row_a, row_b, c, watcher);
    } else if (kForAmd && family == Family::kPairwiseSum) {
      PairwiseSum(m, row_a, row_b, c, watcher);
    } else if (kForAmd && family == Family::kExactSum) {
      ExactSum(m, row_a, row_b, c, watcher);
    } else {
      FmaChainOf(m, row_a, row_b, c, watcher);
    }
  }
  for (int e = 0; e < kStageEvents; ++e) {
    AddTo(&job.counters->events[e], watcher.seen() >> e & 1);
  }
  AddTo(&job.counters->traced, 1);
}

}  // namespace mmadiff
