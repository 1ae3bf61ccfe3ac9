// One model on tiles of a matrix product, in lanes where this machine has them for the model.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "sim/algorithm.h"
#include "sim/lanes/lanes.h"
#include "sim/words.h"

namespace mmadiff {

// Words of 32 or 64 bits, aligned for vectors, with arbitrary contents at first.
class LaneArray {
 public:
  LaneArray() = default;
  LaneArray(int64_t count, int bits)
      : count_(count), bits_(bits), data_(::operator new(count*(bits / 8) + 64, kAlignment)) {}

  int64_t count() const { return count_; }
  int bits() const { return bits_; }
  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }
  template <class Word>
  Word* As() {
    return static_cast<Word*>(data());
  }
  template <class Word>
  const Word* As() const {
    return static_cast<const Word*>(data());
  }
  uint64_t at(int64_t i) const { return bits_ == 32 ? As<uint32_t>()[i] : As<uint64_t>()[i]; }
  void set(int64_t i, uint64_t word) {
    bits_ == 32 ? As<uint32_t>()[i] = static_cast<uint32_t>(word) : As<uint64_t>()[i] = word;
  }
  void Fill(uint64_t word);

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(void* data) const { ::operator delete(data, kAlignment); }
  };
  int64_t count_ = 0;
  int bits_ = 32;
  std::unique_ptr<void, Delete> data_;
};

class TileModel {
 public:
  TileModel(const Model& m, bool lanes);  // whether it may use lanes

  const Model& model() const { return m_; }
  int lanes() const { return lanes_; }  // rows of A in a panel; 1: not in lanes
  int bits() const { return bits_; }    // of a word in a tile

  // lanes() rows of words become words [count][lane] of bits(), `step` apart, where `count` words of a row
  // follow one another; and back, from words without gaps.
  void Turn(const Words& rows, int count, int64_t step, void* to) const;
  void TurnBack(const void* from, int count, const MutableWords& rows) const;

  // Adds to tiles of that many panels of lanes() rows, by model() with `k` products, at most kMaxK.
  // With `own`, each row of A has its own column of B.
  std::unique_ptr<LaneTiles> Tiles(int k, int panels, int columns, bool own) const;

 private:
  Model m_;
  const LaneTarget* target_ = nullptr;
  int lanes_ = 1, bits_ = 64;
};

// d = a * b + d for each of `count` words, a multiple of the lanes; the model has one product.
class MultiplyAdder {
 public:
  MultiplyAdder(const TileModel& model, int64_t count)
      : model_(model), panels_(static_cast<int>(count / model.lanes())) {}
  void Add(const LaneArray& a, const LaneArray& b, LaneArray& d);
  void Add(const LaneArray& a, uint64_t b, LaneArray& d);

 private:
  const TileModel& model_;
  const int panels_;
  std::unique_ptr<LaneTiles> own_, shared_;  // made when first used
};

}  // namespace mmadiff
