// The words of each operand that show how a device reads it, and the dot products that they are in.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/operation.h"
#include "sim/reading.h"

namespace mmadiff {

constexpr size_t kSlowWords = 512;  // of each operand, on a slow device

// The words to ask of an operand: those for k = 0, then `each` for every other k in `ks`. A scale word for
// k = 0 is the scale of all blocks, a later one that of the block which begins at k.
struct DecodingWords {
  ReadOperand operand;
  std::vector<uint64_t> words, each = {};
  std::vector<int> ks = {};
  size_t of = 0;  // the words of a device that is not slow

  size_t count() const { return words.size() + each.size() * ks.size(); }
  std::pair<int, uint64_t> At(size_t i) const {
    if (i < words.size()) return {0, words[i]};
    i -= words.size();
    return {ks[i / each.size()], each[i % each.size()]};
  }
};

std::vector<DecodingWords> WordsToAsk(const Operation& op, bool slow);
// One dot product for each word, in the order of the words.
std::vector<DotProductCase> DecodingCases(const Operation& op,
                                          const std::vector<DecodingWords>& all);

// Products of two random words under random scales, and 1 plus products of words that are not finite, so that
// the widths of a sum hardly matter.
std::vector<DotProductCase> ProductsOfWords(const Operation& op,
                                            const std::vector<DecodingWords>& all, size_t count);
// As DecodingCases(), for all words in a random order, after those at which a class begins or ends: zeros,
// subnormals, the largest binade, infinities, NaNs, signs.
std::vector<DotProductCase> ShuffledDecodingCases(const Operation& op);

// Replaces the operand's word for k, its addend, the scale of the block that begins at k, or for k = 0 all
// of its scales.
void Replace(const Model& m, ReadOperand operand, int k, uint64_t word, DotProductCase& dot);

}  // namespace mmadiff
