// What is wrong with a stored file.
#pragma once

#include <cstdint>
#include <string>

namespace mmadiff {

enum class DamageKind : uint8_t {
  kNoMagic,         // no block of a log begins here
  kTruncatedBlock,  // the file ends inside it
  kOldVersion,      // of a block, not read any more
  kUnknownVersion,  // of a block
  kHeaderChecksum,
  kPayloadChecksum,
  kLength,  // of a block
  kRecordLengths,
  kOtherRun,        // a good block of it
  kAfterEnd,        // a good block
  kOutOfOrder,      // a good block
  kMissingBlocks,   // which only the sequence of the others shows
  kNoEnd,           // of a log that should have an end mark
  kUnfinishedPart,  // of an execution that takes several records
  kOtherRecords,    // good records, which this run cannot have
  kOtherFile,       // a file is missing, too much, or not what its folder says of it
  kContradiction,   // good records that cannot all be true
};
inline constexpr int kDamageKinds = static_cast<int>(DamageKind::kContradiction) + 1;
const char* Name(DamageKind kind);

struct Damage {
  DamageKind kind = DamageKind::kNoMagic;
  uint64_t offset = 0;      // of the first byte skipped
  uint64_t bytes = 0;       // skipped; 0: none
  std::string detail = {};  // for people, instead of the name of the kind
  std::string file = {};    // for people; "" where the reader of the damage names it
  bool at_end = false;      // of a log: nothing good follows

  // What a writer at work, or one that was killed, leaves.
  bool IsTornEnd() const { return kind == DamageKind::kTruncatedBlock && at_end; }
};
// "FILE: payload checksum at byte 64, 300 bytes skipped"
std::string Text(const Damage& damage);

}  // namespace mmadiff
