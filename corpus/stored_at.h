// The place where an answer is stored.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace mmadiff {

struct StoredAt {
  std::string file;   // the file, or file and record; for people, never parsed
  uint64_t line = 0;  // counted from 1; 0: not in the line protocol

  StoredAt operator+(int64_t lines) const { return {file, line == 0 ? 0 : line + lines}; }
};

// "FILE:LINE", or the file alone.
inline std::string Name(const StoredAt& place) {
  return place.line == 0 ? place.file : absl::StrCat(place.file, ":", place.line);
}

}  // namespace mmadiff
