// Tensor copies for tests of the reference.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "sim/reference/copy.h"

namespace mmadiff::reference {

using Coordinates = std::array<int64_t, kMaxRank>;

inline constexpr CopyMemory kMemory = {.seed = 7};

inline CopyForm Form(CopyDirection direction, CopyMode mode, int rank) {
  return {.name = "",
          .direction = direction,
          .mode = mode,
          .rank = rank,
          .native_on = "",
          .section = ""};
}
inline CopyForm LoadForm(CopyMode mode, int rank) { return Form(CopyDirection::kLoad, mode, rank); }
inline CopyForm StoreForm(CopyMode mode, int rank) {
  return Form(CopyDirection::kStore, mode, rank);
}

// A dense tensor; `bits` are those of an element.
inline TensorMap Dense(TensorType type, int bits, const std::vector<uint64_t>& dims) {
  TensorMap map;
  map.type = type;
  map.rank = static_cast<int>(dims.size());
  map.base = 0x10000;
  uint64_t stride = dims[0] * bits / 8;
  for (size_t d = 0; d < dims.size(); ++d) {
    map.dim[d] = dims[d];
    map.stride[d] = d == 0 ? bits / 8 : stride;
    if (d > 0) stride *= dims[d];
    map.traversal[d] = map.box[d] = 1;
  }
  return map;
}

inline bool InBounds(const TensorMap& map, const Coordinates& c) {
  for (int d = 0; d < map.rank; ++d) {
    if (c[d] < 0 || c[d] >= static_cast<int64_t>(map.dim[d])) return false;
  }
  return true;
}

inline uint64_t AddressOf(const TensorMap& map, const Coordinates& c) {
  uint64_t address = map.base;
  for (int d = 0; d < map.rank; ++d) address += c[d] * map.stride[d];
  return address;
}

// Each row of the tile holds elements that start at these coordinates, or zeros; no swizzle, no padding.
inline void ExpectRows(const TensorCopy& copy, const CopyRules& rules,
                       const std::vector<Coordinates>& rows, int columns) {
  const CopyResult result = ReferenceCopy(copy, rules, kMemory);
  const uint64_t size = copy.map.stride[0];
  ASSERT_EQ(result.first, copy.shared);
  ASSERT_EQ(result.bytes.size(), rows.size() * columns * size);
  ASSERT_EQ(result.specified, std::vector<uint8_t>(result.bytes.size(), 1));
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int column = 0; column < columns; ++column) {
      Coordinates c = rows[row];
      c[0] += column;
      for (uint64_t n = 0; n < size; ++n) {
        const uint8_t expected =
            InBounds(copy.map, c) ? kMemory.Global(AddressOf(copy.map, c) + n) : 0;
        ASSERT_EQ(result.bytes[(row * columns + column) * size + n], expected)
            << row << " " << column;
      }
    }
  }
}

inline TensorCopy Im2col(const CopyForm& form, const TensorMap& map, uint32_t channels,
                         uint32_t pixels) {
  TensorCopy copy;
  copy.form = &form;
  copy.map = map;
  copy.map.channels = channels;
  copy.map.pixels = pixels;
  return copy;
}

// CUTLASS's Swizzle<bits, base, shift>: `bits` bits from base + shift on flip those from base on.
inline uint64_t CutlassSwizzle(int bits, int base, int shift, uint64_t address) {
  const uint64_t selecting = ((uint64_t{1} << bits) - 1) << (base + shift);
  return address ^ (address & selecting) >> shift;
}

}  // namespace mmadiff::reference
