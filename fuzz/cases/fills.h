// FillWords() in vectors, where a machine has them: most of the bits of a run.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

class Random;

struct Format;

// How a draw becomes a word of FillWords(): four exponents to choose from, and the format.
struct WordRule {
  const Format& format;
  int exponents[4];
  uint64_t largest;  // magnitude
  int fraction_bits, sign_shift, ignored_bits;
  bool zeros;
};

// `count` words, `stride` apart, each of a draw of `bytes` bytes: 2 or 4 for words of up to 4 bytes, else 8.
using MakeWords = void(const WordRule& rule, int bytes, int count, uint64_t* out, int stride,
                       Random& r);

struct FillTarget {
  const char* name;  // of the vectors
  MakeWords* make;
};
// All that this machine has, the best first.
std::span<const FillTarget> FillTargets();
// That of the first one; nullptr if there is none.
MakeWords* BestFill();

}  // namespace mmadiff
