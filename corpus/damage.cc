#include "corpus/damage.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

const char* Name(DamageKind kind) {
  constexpr const char* kNames[kDamageKinds] = {
      "no block magic",
      "truncated block",
      "a version 1 block, which names no run and is no longer read",
      "unknown block version",
      "header checksum",
      "payload checksum",
      "block length",
      "record lengths",
      "a block of a different run",
      "a block after the end",
      "a repeated or out-of-order block",
      "missing blocks",
      "has no end mark",
      "an incomplete execution",
      "records of a different run",
      "a different file",
      "contradictory answers",
  };
  return kNames[static_cast<int>(kind)];
}

std::string Text(const Damage& damage) {
  std::string text = damage.file.empty() ? "" : absl::StrCat(damage.file, ": ");
  absl::StrAppend(&text, damage.detail.empty() ? Name(damage.kind) : damage.detail);
  if (damage.bytes == 0) return text;
  return absl::StrCat(text, " at byte ", damage.offset, ", ", damage.bytes, " bytes skipped");
}

}  // namespace mmadiff
