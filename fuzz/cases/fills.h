// FillWords() in vectors, where a machine has them: most of the bits of a run.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

// How a draw becomes a word of FillWords(): four exponents to choose from, and the format.
struct WordRule {
  int exponents[4];
  int lowest, highest, min_exponent;  // of the format
  uint64_t largest;                   // magnitude
  int fraction_bits, sign_shift, ignored_bits;
  bool zeros;
};

// `count` words, `stride` apart, from draws that lie side by side: of `bytes` bytes each, 2 or 4 for words
// of up to 4 bytes, else 8. 64 bytes behind them may be read.
using MakeWords = void(const WordRule& rule, const void* draws, int bytes, int count, uint64_t* out,
                       int stride);

struct FillTarget {
  const char* name;  // of the vectors
  MakeWords* make;
};
// All that this machine has, the best first.
std::span<const FillTarget> FillTargets();
// That of the first one; nullptr if there is none.
MakeWords* BestFill();

}  // namespace mmadiff
