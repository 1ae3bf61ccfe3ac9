#include "device/answers.h"

#include <string.h>

#include <iterator>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxShown = 400;  // bytes of a program's text
constexpr char kPayload[] = "mmadiff/input_failure";
// Precede the number of a signal and of an exit code.
constexpr const char* kWays[] = {"_signal_", "_exit_"};

struct Meaning {
  const char* name;
  FailureScope scope;
  const char* what;  // for a crash Describe() adds more
};
constexpr Meaning kMeanings[] = {
    {"unknown_bits", FailureScope::kWord, "unknown bits (x or z)"},
    {"width", FailureScope::kWord, "a word of the wrong width"},
    {"text", FailureScope::kOutput,
     "text instead of a word (use skip=REGEX to ignore harmless lines)"},
    {"early_end", FailureScope::kProcess, "the program ended"},
    {"crash", FailureScope::kProcess, "the program "},
    {"hang", FailureScope::kProcess, "the program hung"},
};
static_assert(std::size(kMeanings) == kFailureKinds);

const Meaning& MeaningOf(FailureKind kind) { return kMeanings[static_cast<int>(kind) - 1]; }

}  // namespace

FailureScope ScopeOf(FailureKind kind) { return MeaningOf(kind).scope; }

const char* Name(FailureKind kind) { return MeaningOf(kind).name; }

std::string Name(const InputFailure& failure) {
  std::string name = Name(failure.kind);
  if (failure.signal != 0) absl::StrAppend(&name, kWays[0], failure.signal);
  if (failure.exit_code != 0) absl::StrAppend(&name, kWays[1], failure.exit_code);
  return name;
}

std::optional<InputFailure> ParseFailure(absl::string_view name) {
  for (int kind = 1; kind <= kFailureKinds; ++kind) {
    InputFailure failure;
    failure.kind = static_cast<FailureKind>(kind);
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, Name(failure.kind))) continue;
    bool number = true;
    for (int way = 0; way < 2; ++way) {
      if (!absl::ConsumePrefix(&rest, kWays[way])) continue;
      number = absl::SimpleAtoi(rest, way == 0 ? &failure.signal : &failure.exit_code);
    }
    if (!number) continue;
    if (Name(failure) == name) return failure;
  }
  return std::nullopt;
}

std::string Describe(const InputFailure& failure) {
  std::string text = MeaningOf(failure.kind).what;
  if (failure.kind == FailureKind::kCrash && failure.signal != 0) {
    absl::StrAppend(&text, "was killed by signal ", failure.signal, " (", strsignal(failure.signal),
                    ")");
  } else if (failure.kind == FailureKind::kCrash) {
    absl::StrAppend(&text, "failed with exit code ", failure.exit_code);
  }
  if (failure.age > 0) absl::StrAppend(&text, ", after ", failure.age, " answers");
  if (failure.text.empty()) return text;
  return absl::StrCat(text, ": ", PlainLine(failure.text.substr(0, kMaxShown)),
                      failure.text.size() > kMaxShown ? "..." : "");
}

absl::Status ToStatus(const InputFailure& failure, absl::string_view message) {
  absl::Status s = absl::InternalError(message);
  s.SetPayload(kPayload,
               absl::Cord(absl::StrCat(failure.age, " ", Name(failure), " ", failure.text)));
  return s;
}

std::optional<InputFailure> FailureOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string all(*payload);
  absl::string_view rest = all;
  const auto word = [&rest] {
    const absl::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size() + 1);
    return word;
  };
  uint64_t age = 0;
  if (!absl::SimpleAtoi(word(), &age)) return std::nullopt;
  std::optional<InputFailure> failure = ParseFailure(word());
  if (!failure.has_value()) return failure;
  failure->age = age;
  failure->text = std::string(rest);
  return failure;
}

}  // namespace mmadiff
