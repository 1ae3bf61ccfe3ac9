// Matrices of words in memory, of any width and layout: how operands enter and leave whole products.
#pragma once

#include <cstdint>
#include <cstring>

namespace mmadiff {

// Element (i, j) is the unsigned integer of `bits` bits, in this machine's byte order, at element
// i * row_stride + j * column_stride. A word is right-aligned: e2m1 in a byte has the value in the
// low bits. Strides are in elements and may be 0 or negative.
template <class Byte>
struct WordMatrix {
  Byte* data = nullptr;
  int64_t row_stride = 0, column_stride = 0;
  int bits = 0;  // 8, 16, 32 or 64

  Byte* At(int64_t i, int64_t j) const {
    return data + (i * row_stride + j * column_stride) * (bits / 8);
  }
  // The matrix that begins at element (i, j).
  WordMatrix From(int64_t i, int64_t j) const {
    return {At(i, j), row_stride, column_stride, bits};
  }
  WordMatrix Transposed() const { return {data, column_stride, row_stride, bits}; }
};
using Words = WordMatrix<const unsigned char>;
using MutableWords = WordMatrix<unsigned char>;

// Calls use.template operator()<Word>(), Word being the unsigned integer of 8, 16, 32 or 64 bits.
template <class Use>
void WithWord(int bits, const Use& use) {
  switch (bits) {
    case 8:
      return use.template operator()<uint8_t>();
    case 16:
      return use.template operator()<uint16_t>();
    case 32:
      return use.template operator()<uint32_t>();
    default:
      return use.template operator()<uint64_t>();
  }
}

inline uint64_t Load(const Words& words, int64_t i, int64_t j) {
  uint64_t loaded = 0;
  WithWord(words.bits, [&, from = words.At(i, j)]<class Word>() {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    loaded = word;
  });
  return loaded;
}

inline void Store(const MutableWords& words, int64_t i, int64_t j, uint64_t word) {
  WithWord(words.bits, [&]<class Word>() {
    const Word narrow = static_cast<Word>(word);
    std::memcpy(words.At(i, j), &narrow, sizeof(narrow));
  });
}

}  // namespace mmadiff
