// Whole numbers in stored bytes, frames and hashes: the lowest byte first.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// The lowest `bytes` bytes, 0 to 8.
inline void AppendLittleEndian(uint64_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

// At most 8 bytes.
inline uint64_t ReadLittleEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  }
  return value;
}

}  // namespace mmadiff
