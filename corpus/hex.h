// Text form of 128-bit hashes, digests and ids.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace mmadiff {

// 32 digits.
inline std::string Hex(unsigned __int128 x) {
  return absl::StrFormat("%016x%016x", static_cast<uint64_t>(x >> 64), static_cast<uint64_t>(x));
}

}  // namespace mmadiff
