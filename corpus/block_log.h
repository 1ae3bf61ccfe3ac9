// Append-only log of records in checksummed blocks of at most 64 KiB, each of which names its run.
// A block is written with one write() and fdatasync() before Flush() returns. A reader verifies
// before it trusts a length, skips damage by searching the next magic, and returns only verified
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
// Of blocks, the lowest first. Programs refuse the blocks of later versions than they know: a record
// that an earlier program would misunderstand is in a block of the version that brought it.
inline constexpr uint32_t kPlainBlocks = 2;
inline constexpr uint32_t kBlocksWithParts = 3;  // UnitRecord.part
inline constexpr uint32_t kBlocksWithDrops = 4;  // UnitRecord.drop
inline constexpr uint32_t kBlocksWithBegun =
    5;  // UnitRecord.part with digests, UnitRecord.failures
inline constexpr uint32_t kBlocksWithStops = 6;  // UnitRecord.mismatch_limit

// Of all blocks of one run: the hash of its facts, or random.
using RunId = unsigned __int128;
RunId RandomRunId();
std::string FormatRunId(RunId run);  // 32 hexadecimal digits
std::optional<RunId> ParseRunId(absl::string_view text);

struct BlockLogStats {
  uint64_t blocks = 0, records = 0;  // good ones
  bool ended = false;                // there is an end mark; without it blocks may be missing
  uint64_t good_bytes = 0;           // up to the end of the last good block
  // A torn last block is damage too. The last of kMaxDamage stands for all that follow.
  std::vector<Damage> damage;
};
inline constexpr size_t kMaxDamage = 1000;

class BlockLogWriter {
 public:
  // Creates a new file; kAlreadyExists if there is one, kDataLoss if it cannot be created.
  static absl::StatusOr<std::unique_ptr<BlockLogWriter>> Create(const std::string& path, RunId run);
  // Goes on with the file of a writer that died: `read` are ReadBlockLog()'s statistics of it. A
  // torn end is cut off. kDataLoss for any other damage and for a file that cannot be opened,
  // kFailedPrecondition for one with an end mark.
  static absl::StatusOr<std::unique_ptr<BlockLogWriter>> Continue(const std::string& path,
                                                                  RunId run,
                                                                  const BlockLogStats& read);
  ~BlockLogWriter();  // does not flush: unflushed records are not done

  // Buffers one record of at most kMaxBlockBytes - 1 KiB (else kInvalidArgument); writes the full
  // block first when it does not fit. kDataLoss when the file could not be made durable: the writer
  // cuts it back to its good blocks, if it can, and refuses all further calls.
  absl::Status Append(absl::string_view record, uint32_t version = kPlainBlocks);
  // Returns once everything appended is on the disk, and in the file that `path` names.
  absl::Status Flush();
  // Flushes and writes the end mark. All further calls are kFailedPrecondition.
  absl::Status Finish();

 private:
  BlockLogWriter(int fd, std::string path, RunId run);
  absl::Status Write();  // the block of what is buffered

  int fd_;
  std::string path_;
  RunId run_;
  std::string buffer_;  // payload of the block that is not yet written
  uint32_t records_ = 0;
  uint32_t version_ = kPlainBlocks;  // of that block
  uint64_t sequence_ = 0;
  uint64_t good_bytes_ = 0;  // of the blocks that are on the disk
  absl::Status status_;      // the first failure, for good
};

// Adds kNoEnd to the damage of a log that should have an end mark and has none.
void DemandEnd(BlockLogStats& stats);

// Calls `record` for every verified record in file order. Its error stops the reading. Blocks of
// another run than `run`, or than the first good block's without it, are damage; so are blocks that
// come again, out of order, or after the end mark. Holds two blocks in memory, whatever the size of
// the file. kNotFound for no file, kDataLoss for one that cannot be read.
absl::StatusOr<BlockLogStats> ReadBlockLog(
    const std::string& path, absl::FunctionRef<absl::Status(absl::string_view)> record,
    std::optional<RunId> run = std::nullopt);
// The same with the byte of the file at which the record begins.
using OnRecordAt = std::function<absl::Status(absl::string_view record, uint64_t offset)>;
absl::StatusOr<BlockLogStats> ReadBlockLog(const std::string& path, const OnRecordAt& record,
                                           std::optional<RunId> run = std::nullopt);

// The bytes of one block: magic (8), version (4), payload bytes (4), sequence (8), records (8), run
// (16), XXH3-64 of the payload (8), XXH3-64 of the header up to here (8), all little-endian; then
// the payload, each record after its length as a varint. Payload bytes at most kMaxBlockBytes -
// kBlockHeaderBytes. A block without records is the end mark.
inline constexpr size_t kBlockHeaderBytes = 64;
std::string EncodeBlock(absl::string_view payload, uint64_t records, uint64_t sequence, RunId run,
                        uint32_t version = kPlainBlocks);
// The bytes of a log of these records, one block each, without an end mark.
std::string EncodeRecords(std::span<const std::string> records, RunId run);

// True when the block magic is in the first 2 * kMaxBlockBytes of the file, so that damage at its
// start does not hide the rest.
bool IsBlockLog(const std::string& path);

}  // namespace mmadiff
