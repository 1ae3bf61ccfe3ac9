// Words in vectors, where a machine has them: most of the bits of a run.
#pragma once

#include <cstdint>
#include <span>

#include "corpus/cases/composer.h"

namespace mmadiff {

class Random;

// What makes `count` words, `stride` apart.
struct FillTarget {
  const char* name;  // of the vectors
  // Words of one of four exponents, one in eight zero if `zeros`, as FillWordsOf() makes them.
  void (*make)(const WordFormat& words, const int (&exponents)[4], bool zeros, int count,
               uint64_t* out, int stride, Random& r);
  // The same without zeros, where the fourth exponent is one less than the others.
  void (*make_near)(const WordFormat& words, int exponent, int count, uint64_t* out, int stride,
                    Random& r);
  // `word`, in which a draw of a byte sets the bits of `sign` or does not; of up to 32 bits if not `wide`.
  void (*make_signed)(uint64_t word, uint64_t sign, bool wide, int count, uint64_t* out, int stride,
                      Random& r);
  // Words of any exponent of the format, at most 5, side by side. Behind them as many words may be written as make
  // a vector. False: none was made, nothing drawn.
  bool (*make_any)(const WordFormat& words, int count, uint64_t* out, Random& r);
  // `bits` random bits; side by side.
  void (*make_bits)(int bits, int count, uint64_t* out, Random& r);
};
// All that this machine has, the best first.
std::span<const FillTarget> FillTargets();
// The first one; nullptr if there is none.
const FillTarget* BestFill();

}  // namespace mmadiff
