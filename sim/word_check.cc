#include "sim/word_check.h"

#include <cstdio>

namespace mmadiff {
namespace {

std::string Hex(uint64_t word) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(word));
  return text;
}

}  // namespace

std::string WhyNotBits(const std::string& name, const Format& f, bool are_there, int bits) {
  if (!are_there) return "missing: " + name;
  if ((bits == 8 || bits == 16 || bits == 32 || bits == 64) && bits >= f.bits) return "";
  return name + ": words of " + f.name + " have 8, 16, 32 or 64 bits, at least " +
         std::to_string(f.bits) + ", not " + std::to_string(bits);
}

std::string WhyNotWords(const std::string& name, const Format& f, const Words& words, int64_t rows,
                        int64_t columns) {
  if (rows == 0 || columns == 0) return "";
  std::string why = WhyNotBits(name, f, words.data != nullptr, words.bits);
  if (!why.empty() || words.bits == f.bits) return why;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const uint64_t word = Load(words, i, j);
      if (word <= LowBits(f.bits)) continue;
      return name + " has the word " + Hex(word) + " at [" + std::to_string(i) + ", " +
             std::to_string(j) + "], but words of " + f.name + " have " + std::to_string(f.bits) +
             " bits";
    }
  }
  return "";
}

}  // namespace mmadiff
