#include "corpus/bucket.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace mmadiff {
namespace {

constexpr const char* kRepetitionNames[kRepetitions] = {"", "flaky", "unconfirmed", "aged"};
constexpr const char* kDifferenceNames[kDifferenceClasses] = {
    "", "nan_payload", "1ulp", "ulps", "zero_sign", "sign", "infinity", "nan", "integer"};
constexpr char kUnexplainedName[] = "unexplained";

std::string NameOfKind(const Bucket& bucket) {
  switch (bucket.kind) {
    case Bucket::kNone:
      return "";
    case Bucket::kExplained:
      return absl::StrCat(Name(bucket.changes.front().parameter->stage), ":", Name(bucket.changes));
    case Bucket::kUnexplained:
      return absl::StrCat(kUnexplainedName, bucket.difference == DifferenceClass::kNone ? "" : ":",
                          Name(bucket.difference));
    case Bucket::kNoWord:
      return Name(bucket.failure);
    case Bucket::kUnknown:
      return bucket.unknown;
  }
  return "";
}

// Parses a name without the repetition.
Bucket ParseKind(Family family, absl::string_view name) {
  const size_t colon = name.find(':');
  if (colon != name.npos) {
    auto changes = ParseChanges(family, std::string(name.substr(colon + 1)));
    if (changes && !changes->empty()) {
      Bucket bucket = Bucket::Explained(*std::move(changes));
      if (Name(bucket) == name)
        return bucket;  // else it has a different stage, or a different
                        // spelling
    }
  }
  for (int i = 0; i < kDifferenceClasses; ++i) {
    Bucket bucket = Bucket::Unexplained(static_cast<DifferenceClass>(i));
    if (Name(bucket) == name) return bucket;
  }
  Bucket bucket;
  if (const std::optional<InputFailure> failure = ParseFailure(name)) {
    bucket.kind = Bucket::kNoWord;
    bucket.failure = *failure;
    return bucket;
  }
  bucket.kind = name.empty() ? Bucket::kNone : Bucket::kUnknown;
  bucket.unknown = std::string(name);
  return bucket;
}

}  // namespace

const char* Name(DifferenceClass difference) {
  return kDifferenceNames[static_cast<int>(difference)];
}

Bucket Bucket::Explained(std::vector<Change> changes) {
  Bucket bucket;
  bucket.kind = kExplained;
  bucket.changes = std::move(changes);
  return bucket;
}

Bucket Bucket::Unexplained(DifferenceClass difference) {
  Bucket bucket;
  bucket.kind = kUnexplained;
  bucket.difference = difference;
  return bucket;
}

Bucket Bucket::NoWord(const InputFailure& failure) {
  Bucket bucket;
  bucket.repetition = failure.age > 0 ? Repetition::kAged : Repetition::kRepeats;
  bucket.kind = kNoWord;
  bucket.failure = {failure.kind, failure.exit_code, failure.signal};
  return bucket;
}

std::string Name(const Bucket& bucket) {
  const std::string repetition = kRepetitionNames[static_cast<int>(bucket.repetition)];
  const std::string kind = NameOfKind(bucket);
  return absl::StrCat(repetition, repetition.empty() || kind.empty() ? "" : ":", kind);
}

bool OnlyReasonExplains(const Bucket& bucket, absl::string_view reason) {
  return bucket.kind == Bucket::kUnexplained && !reason.empty();
}

std::string ShownName(const Bucket& bucket, absl::string_view reason) {
  return OnlyReasonExplains(bucket, reason) ? "machine code" : Name(bucket);
}

Bucket ParseBucket(Family family, absl::string_view name) {
  for (int i = 1; i < kRepetitions; ++i) {
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kRepetitionNames[i])) continue;
    if (!absl::ConsumePrefix(&rest, ":") && !rest.empty()) continue;
    Bucket bucket = ParseKind(family, rest);
    bucket.repetition = static_cast<Repetition>(i);
    if (Name(bucket) == name) return bucket;
  }
  return ParseKind(family, name);
}

}  // namespace mmadiff
