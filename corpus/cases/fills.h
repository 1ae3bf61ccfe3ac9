// Makes words with vector instructions where the machine has them. These are most of the bits of a
// run.
#pragma once

#include <cstdint>
#include <span>

#include "corpus/cases/composer.h"

namespace mmadiff {

class Random;

// Functions that make `count` words, `stride` apart.
struct FillTarget {
  const char* name;  // name of the vector target
  // Words with one of four exponents, as FillWordsOf() makes them. If `zeros`, one word in eight is
  // zero.
  void (*make)(const WordFormat& words, const int (&exponents)[4], bool zeros, int count,
               uint64_t* out, int stride, Random& r);
  // The same without zeros; the fourth exponent is one less than the others.
  void (*make_near)(const WordFormat& words, int exponent, int count, uint64_t* out, int stride,
                    Random& r);
  // `word`, with the bits of `sign` set or not by a draw of one byte. Words have at most 32 bits
  // unless `wide`.
  void (*make_signed)(uint64_t word, uint64_t sign, bool wide, int count, uint64_t* out, int stride,
                      Random& r);
  // At most 5 adjacent words of any exponent of the format. May overwrite up to one vector of words
  // after them. False: nothing was made or drawn.
  bool (*make_any)(const WordFormat& words, int count, uint64_t* out, Random& r);
  // Adjacent words of `bits` random bits.
  void (*make_bits)(int bits, int count, uint64_t* out, Random& r);
};
// All targets that this machine supports, best first.
std::span<const FillTarget> FillTargets();
// The first of FillTargets(); nullptr if the list is empty.
const FillTarget* BestFill();

}  // namespace mmadiff
