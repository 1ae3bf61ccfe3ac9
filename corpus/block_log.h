// Append-only log of records in checksummed blocks of at most 64 KiB. A block is written with one
// write() and fdatasync() before Flush() returns. A reader verifies before it trusts a length,
// skips damage by searching the next magic, and returns only verified records.
#pragma once

#include <cstddef>
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

  // Buffers one record of at most kMaxBlockBytes - 1 KiB (else kInvalidArgument); writes the full
  // block first when it does not fit. kDataLoss when the file could not be made durable: the writer
  // refuses all further calls.
  absl::Status Append(absl::string_view record);
  // Returns once everything appended is on the disk.
  absl::Status Flush();

 private:
  BlockLogWriter(int fd, std::string path);
  int fd_;
  std::string path_;
  std::string buffer_;  // payload of the block that is not yet written
  uint32_t records_ = 0;
  uint64_t sequence_ = 0;
  absl::Status status_;  // the first failure, for good
};

struct Damage {
  uint64_t offset;   // of the first byte skipped
  uint64_t bytes;    // skipped; 0 when whole blocks are missing, which only their sequence shows
  std::string what;  // "header checksum", "payload checksum", "truncated block", ...
};

struct BlockLogStats {
  uint64_t blocks = 0, records = 0;
  std::vector<Damage> damage;  // a torn last block is damage too
};

// Calls `record` for every verified record in file order. Its error stops the reading. Holds two
// blocks in memory, whatever the size of the file. Blocks missing at the very end leave no trace.
absl::StatusOr<BlockLogStats> ReadBlockLog(
    const std::string& path, const std::function<absl::Status(absl::string_view)>& record);

// The bytes of one block: magic (8), version (4), payload bytes (4), sequence (8), records (8),
// XXH3-64 of the payload (8), XXH3-64 of the header up to here (8), all little-endian; then the
// payload, each record after its length as a varint. Payload bytes at most kMaxBlockBytes -
// kBlockHeaderBytes.
inline constexpr size_t kBlockHeaderBytes = 48;
std::string EncodeBlock(absl::string_view payload, uint64_t records, uint64_t sequence);

// True when the block magic is in the first 2 * kMaxBlockBytes of the file, so that damage at its
// start does not hide the rest.
bool IsBlockLog(const std::string& path);

}  // namespace mmadiff
