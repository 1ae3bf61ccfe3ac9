#include "corpus/bucket.h"

#include "absl/strings/match.h"

namespace mmadiff {

const char* Prefix(Repetition repetition) {
  constexpr const char* kPrefixes[kRepetitions] = {"", "flaky:", "unconfirmed:"};
  return kPrefixes[static_cast<int>(repetition)];
}

Repetition RepetitionOf(absl::string_view bucket) {
  if (bucket == "flaky") return Repetition::kFlaky;
  for (const Repetition r : {Repetition::kFlaky, Repetition::kUnconfirmed}) {
    if (absl::StartsWith(bucket, Prefix(r))) return r;
  }
  return Repetition::kRepeats;
}

}  // namespace mmadiff
