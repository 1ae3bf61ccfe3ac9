// Packs operands of any width and layout into tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/format.h"
#include "sim/lanes/tile_model.h"
#include "sim/words.h"

namespace mmadiff {

// Words of one format as words of another, which has all its numbers.
class Widening {
 public:
  // Equal formats, or f32 to tf32, need no conversion.
  Widening(const Format& from, const Format& to);

  bool is_same() const { return same_; }
  uint64_t operator()(uint64_t word) const {
    if (same_) return word;
    return table_ == nullptr ? Converted(word) : (*table_)[word & (table_->size() - 1)];
  }

 private:
  uint64_t Converted(uint64_t word) const;
  Format from_, to_;
  bool same_;
  const std::vector<uint64_t>* table_;  // by word, up to 16 bits; this thread's
};

// Where word p of row r of a packed operand is: [panel][word][lane].
struct PackedLayout {
  int lanes;  // rows of a panel
  int words;  // of a row
  int64_t At(int64_t r, int64_t p) const { return (r / lanes * words + p) * lanes + r % lanes; }
};

// Writes element (rows[r], ks[p]) of `words` to word p of row r. Words beyond are +0.
void Pack(const Words& words, const Widening& widening, std::span<const int64_t> rows,
          std::span<const int64_t> ks, const PackedLayout& layout, LaneArray& out);

}  // namespace mmadiff
