// Damage of a stored file.
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

enum class DamageKind : uint8_t {
  kNoMagic,         // no block of a log begins here
  kTruncatedBlock,  // the file ends inside the block
  kOldVersion,      // a block version that is no longer read
  kUnknownVersion,  // version of a block
  kHeaderChecksum,
  kPayloadChecksum,
  kLength,  // length of a block
  kRecordLengths,
  kOtherRun,        // a good block of a different run
  kAfterEnd,        // a good block after the end mark
  kOutOfOrder,      // a good block
  kMissingBlocks,   // shown only by the sequence numbers of the others
  kNoEnd,           // the log should have an end mark and has none
  kUnfinishedPart,  // part of an execution that needs several records
  kOtherRecords,    // good records that this run cannot have
  kOtherFile,       // a file is missing, unexpected, or not as its folder describes it
  kContradiction,   // good records that cannot all be true
};
inline constexpr int kDamageKinds = static_cast<int>(DamageKind::kContradiction) + 1;
const char* Name(DamageKind kind);

struct Damage {
  DamageKind kind = DamageKind::kNoMagic;
  uint64_t offset = 0;      // first byte skipped
  uint64_t bytes = 0;       // skipped; 0: none
  std::string detail = {};  // for people; printed instead of the kind's name
  std::string file = {};    // for people; "" if the caller names the file
  bool at_end = false;      // in a log: no good block follows

  // Left by a writer that is still running or was killed.
  bool IsTornEnd() const { return kind == DamageKind::kTruncatedBlock && at_end; }
};
// "FILE: payload checksum at byte 64, 300 bytes skipped"
std::string Text(const Damage& damage);

}  // namespace mmadiff
