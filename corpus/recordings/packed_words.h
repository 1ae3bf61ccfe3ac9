// Words of a format as bytes: each little-endian in ceil(bits / 8) bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/format.h"

namespace mmadiff {

inline int WordBytes(const Format& f) { return (f.bits + 7) / 8; }

inline std::string PackWords(const Format& f, std::span<const uint64_t> words) {
  std::string packed;
  packed.reserve(words.size() * WordBytes(f));
  for (uint64_t word : words) {
    for (int i = 0; i < WordBytes(f); ++i) packed.push_back(static_cast<char>(word >> (8 * i)));
  }
  return packed;
}

// Word number `index`; (index + 1) * WordBytes(f) <= packed.size().
inline uint64_t UnpackWord(const Format& f, absl::string_view packed, int64_t index) {
  const char* bytes = packed.data() + index * WordBytes(f);
  uint64_t word = 0;
  for (int i = 0; i < WordBytes(f); ++i) {
    word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

inline std::vector<uint64_t> UnpackWords(const Format& f, absl::string_view packed) {
  std::vector<uint64_t> words(packed.size() / WordBytes(f));
  for (size_t i = 0; i < words.size(); ++i) words[i] = UnpackWord(f, packed, i);
  return words;
}

}  // namespace mmadiff
