// Shared by the fuzz targets.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "corpus/block_log.h"

namespace mmadiff::fuzz {

inline absl::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A property of a parser.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

// Checks that the target's prerequisites hold; otherwise prints the error and ends.
inline void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::abort();
}

// A file in memory with these bytes, until the next call.
inline std::string FileOf(absl::string_view bytes) {
  static const int fd = memfd_create("input", MFD_CLOEXEC);
  Check(ftruncate(fd, 0) == 0);
  Check(pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return absl::StrCat("/proc/self/fd/", fd);
}

// A block log of a run with one record and valid checksums; the record is truncated to fit a block.
inline std::string LogOf(absl::string_view record, RunId run = 1) {
  record = record.substr(0, 16000);  // its length takes two bytes
  const std::string length = {static_cast<char>(record.size() | 0x80),
                              static_cast<char>(record.size() >> 7)};
  return EncodeBlock(absl::StrCat(length, record), 1, 0, run);
}

}  // namespace mmadiff::fuzz
