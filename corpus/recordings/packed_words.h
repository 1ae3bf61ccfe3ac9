// Packs the words of a format into bytes, each little-endian in ceil(bits / 8) bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/little_endian.h"
#include "sim/format.h"

namespace mmadiff {

inline int WordBytes(const Format& f) { return (f.bits + 7) / 8; }

// Calls use(T()), where T is the unsigned integer whose bytes in memory are a packed word. False if
// no such integer type exists.
template <class Use>
bool AsIntegers(const Format& f, const Use& use) {
  if (std::endian::native != std::endian::little) return false;
  switch (WordBytes(f)) {
    case 1:
      return use(uint8_t()), true;
    case 2:
      return use(uint16_t()), true;
    case 4:
      return use(uint32_t()), true;
    case 8:
      return use(uint64_t()), true;
  }
  return false;
}

inline std::string PackWords(const Format& f, std::span<const uint64_t> words) {
  std::string packed(words.size() * WordBytes(f), '\0');
  char* to = packed.data();
  const bool done = AsIntegers(f, [&]<class T>(T) {
    for (const uint64_t word : words) {
      const T narrow = static_cast<T>(word);
      std::memcpy(to, &narrow, sizeof narrow);
      to += sizeof narrow;
    }
  });
  for (size_t i = 0; !done && i < packed.size(); ++i) {
    packed[i] = static_cast<char>(words[i / WordBytes(f)] >> 8 * (i % WordBytes(f)));
  }
  return packed;
}

// Word number `index`; (index + 1) * WordBytes(f) <= packed.size().
inline uint64_t UnpackWord(const Format& f, absl::string_view packed, int64_t index) {
  return ReadLittleEndian(packed.substr(index * WordBytes(f), WordBytes(f)));
}

// The first words.size() words; words.size() * WordBytes(f) <= packed.size().
inline void UnpackWords(const Format& f, absl::string_view packed, std::span<uint64_t> words) {
  const char* from = packed.data();
  const bool done = AsIntegers(f, [&]<class T>(T narrow) {
    for (uint64_t& word : words) {
      std::memcpy(&narrow, from, sizeof narrow);
      from += sizeof narrow;
      word = narrow;
    }
  });
  for (size_t i = 0; !done && i < words.size(); ++i) words[i] = UnpackWord(f, packed, i);
}

inline std::vector<uint64_t> UnpackWords(const Format& f, absl::string_view packed) {
  std::vector<uint64_t> words(packed.size() / WordBytes(f));
  UnpackWords(f, packed, words);
  return words;
}

}  // namespace mmadiff
