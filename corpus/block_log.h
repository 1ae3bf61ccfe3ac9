// Append-only log of records in checksummed blocks of at most 64 KiB. Each block names its run.
// Flush() returns after one write() of the block and fdatasync(). A reader verifies a block before
// it trusts a length, skips damage by searching for the next magic, and returns only verified
// records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/damage.h"

namespace mmadiff {

inline constexpr size_t kMaxBlockBytes = 64 << 10;
// Block versions, lowest first. A program refuses blocks of versions newer than its own. A record
// that an older program would misunderstand goes into a block of the version that introduced it.
inline constexpr uint32_t kPlainBlocks = 2;
inline constexpr uint32_t kBlocksWithParts = 3;  // UnitRecord.part
inline constexpr uint32_t kBlocksWithDrops = 4;  // UnitRecord.drop
inline constexpr uint32_t kBlocksWithBegun =
    5;  // UnitRecord.part with digests, UnitRecord.failures
inline constexpr uint32_t kBlocksWithStops = 6;  // UnitRecord.mismatch_limit

// Names all blocks of one run: the hash of the run's facts, or random.
using RunId = unsigned __int128;
RunId RandomRunId();
std::string FormatRunId(RunId run);  // 32 hexadecimal digits
std::optional<RunId> ParseRunId(absl::string_view text);

struct BlockLogStats {
  uint64_t blocks = 0, records = 0;  // good blocks and their records
  bool ended = false;                // the log has an end mark; without one, blocks may be missing
  uint64_t good_bytes = 0;           // up to the end of the last good block
  // A torn last block counts as damage. After kMaxDamage entries, the last one also covers all
  // later damage.
  std::vector<Damage> damage;
};
inline constexpr size_t kMaxDamage = 1000;

class BlockLogWriter {
 public:
  // Creates a new file. kAlreadyExists if the file exists, kDataLoss if it cannot be created.
  static absl::StatusOr<std::unique_ptr<BlockLogWriter>> Create(const std::string& path, RunId run);
  // Continues the file of a writer that was killed; `read` is the result of ReadBlockLog() for that
  // file. Cuts off a torn end. kDataLoss for any other damage and for a file that cannot be opened,
  // kFailedPrecondition for a file with an end mark.
  static absl::StatusOr<std::unique_ptr<BlockLogWriter>> Continue(const std::string& path,
                                                                  RunId run,
                                                                  const BlockLogStats& read);
  ~BlockLogWriter();  // does not flush: unflushed records are lost

  // Buffers one record of at most kMaxBlockBytes - 1 KiB (else kInvalidArgument). If the record
  // does not fit, writes the full block first. kDataLoss if the file could not be made durable: the
  // writer then truncates the file to its good blocks, if it can, and refuses all further calls.
  absl::Status Append(absl::string_view record, uint32_t version = kPlainBlocks);
  // Returns once all appended records are on disk, in the file that `path` names.
  absl::Status Flush();
  // Flushes and writes the end mark. All further calls return kFailedPrecondition.
  absl::Status Finish();

 private:
  BlockLogWriter(int fd, std::string path, RunId run);
  absl::Status Write();  // writes the buffered block

  int fd_;
  std::string path_;
  RunId run_;
  std::string buffer_;  // payload of the block not yet written
  uint32_t records_ = 0;
  uint32_t version_ = kPlainBlocks;  // version of the buffered block
  uint64_t sequence_ = 0;
  uint64_t good_bytes_ = 0;  // size of the blocks on disk
  absl::Status status_;      // the first failure; permanent
};

// Adds kNoEnd to the damage of a log that has no end mark but should have one.
void DemandEnd(BlockLogStats& stats);

// Calls `record` for every verified record in file order; an error from `record` stops the reading.
// These blocks are damage: blocks of a run other than `run` (if not given, the run of the first
// good block), repeated or out-of-order blocks, and blocks after the end mark. Holds two blocks in
// memory, whatever the file size. kNotFound if the file does not exist, kDataLoss if it cannot be
// read.
absl::StatusOr<BlockLogStats> ReadBlockLog(
    const std::string& path, absl::FunctionRef<absl::Status(absl::string_view)> record,
    std::optional<RunId> run = std::nullopt);
// The same, and passes the byte offset of the record in the file.
using OnRecordAt = std::function<absl::Status(absl::string_view record, uint64_t offset)>;
absl::StatusOr<BlockLogStats> ReadBlockLog(const std::string& path, const OnRecordAt& record,
                                           std::optional<RunId> run = std::nullopt);

// Encodes one block: magic (8), version (4), payload bytes (4), sequence (8), records (8), run
// (16), XXH3-64 of the payload (8), XXH3-64 of the header up to here (8), all little-endian; then
// the payload, in which each record follows its length as a varint. The payload has at most
// kMaxBlockBytes - kBlockHeaderBytes bytes. A block without records is the end mark.
inline constexpr size_t kBlockHeaderBytes = 64;
std::string EncodeBlock(absl::string_view payload, uint64_t records, uint64_t sequence, RunId run,
                        uint32_t version = kPlainBlocks);
// Encodes a log of these records, one block each, without an end mark.
std::string EncodeRecords(std::span<const std::string> records, RunId run);

// True if the block magic occurs in the first 2 * kMaxBlockBytes of the file, so damage at the
// start does not hide the rest.
bool IsBlockLog(const std::string& path);

}  // namespace mmadiff
