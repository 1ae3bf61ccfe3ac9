// Append-only log of records in checksummed blocks of at most 64 KiB. A block is written with one
// write() and fdatasync() before Flush() returns. A reader verifies before it trusts a length, skips
// damage by searching the next magic, and returns only verified records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

inline constexpr size_t kMaxBlockBytes = 64 << 10;

class BlockLogWriter {
 public:
  // Creates a new file; kAlreadyExists if there is one.
  static absl::StatusOr<std::unique_ptr<BlockLogWriter>> Create(const std::string& path);
  ~BlockLogWriter();  // does not flush: unflushed records are not done

  // Buffers one record of at most kMaxBlockBytes - 1 KiB; writes the full block first when it does not
  // fit. kDataLoss when the file could not be made durable: the writer refuses all further calls.
  absl::Status Append(absl::string_view record);
  absl::Status Flush();

 private:
  BlockLogWriter(int fd, std::string path);
  int fd_;
  std::string path_;
  std::string buffer_;
  uint32_t records_ = 0;
  uint64_t sequence_ = 0;
  absl::Status status_;
};

struct Damage {
  uint64_t offset;   // of the first bad byte
  uint64_t bytes;    // skipped
  std::string what;  // "header checksum", "payload checksum", "truncated block", ...
};

struct BlockLogStats {
  uint64_t blocks = 0, records = 0;
  std::vector<Damage> damage;  // a torn last block is damage too
};

// Calls `record` for every verified record in file order. Its error stops the reading.
absl::StatusOr<BlockLogStats> ReadBlockLog(
    const std::string& path, const std::function<absl::Status(absl::string_view)>& record);

// True when the file starts with the block magic.
bool IsBlockLog(const std::string& path);

}  // namespace mmadiff
