#include "corpus/damage.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

const char* Name(DamageKind kind) {
  constexpr const char* kNames[kDamageKinds] = {
      "no block magic",
      "truncated block",
      "a block of version 1, which names no run and is not read any more",
      "unknown version of a block",
      "header checksum",
      "payload checksum",
      "length of a block",
      "record lengths",
      "a block of another run",
      "a block after the end",
      "a block again or out of order",
      "missing blocks",
      "ends before its end",
      "an execution without its end",
      "records of another run",
      "another file",
      "answers that contradict each other",
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
