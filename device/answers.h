// A device's answers to a batch: a word for each dot product, or the reason why there is no word.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The reason why an answer is not a word. Numbers are stored (proto InputFailure).
enum class FailureKind : uint8_t {
  kUnknownBits = 1,  // a word with x or z among its digits
  kWidth,            // a word whose width is not the result's
  kText,             // other text on stdout, with or without a word
  kEarlyEnd,         // the program ended successfully, but too early
  kCrash,            // it ended with a nonzero exit code, or by a signal
  kHang,             // it did not answer in time
};
inline constexpr int kFailureKinds = static_cast<int>(FailureKind::kHang);

// How much is untrustworthy after a failure.
enum class FailureScope : uint8_t {
  kWord,     // only this word
  kOutput,   // the order: which answer belongs to which input
  kProcess,  // the process, which has ended or must be ended
};
FailureScope ScopeOf(FailureKind kind);

// The device has no word for this input but has words for others. (A failure that is not caused by
// an input is an absl::Status.)
struct InputFailure {
  FailureKind kind = FailureKind::kText;
  int exit_code = 0, signal = 0;  // for kCrash; one of them is nonzero
  // Answers that the process must have given before it fails; 0: it fails on its first input.
  uint64_t age = 0;
  std::string text = {};  // explanation with the program's output, one line, for people

  // Whether a person would call both the same bug.
  bool SameAs(const InputFailure& other) const {
    return kind == other.kind && exit_code == other.exit_code && signal == other.signal &&
           (age == 0) == (other.age == 0);
  }
  friend bool operator==(const InputFailure&, const InputFailure&) = default;
};
// "unknown_bits", "crash_exit_3", "crash_signal_11", "hang", ...; without age and text. Stored in
// files.
std::string Name(const InputFailure& failure);
const char* Name(FailureKind kind);  // "crash"
// nullopt if the text is not such a name.
std::optional<InputFailure> ParseFailure(absl::string_view name);
// For people, one line: "the program was killed by signal 11 (...): ", then its text, shortened if
// it is long.
std::string Describe(const InputFailure& failure);

// kInternal with a message that describes the failure; FailureOf() recovers it.
absl::Status ToStatus(const InputFailure& failure, absl::string_view message);
std::optional<InputFailure> FailureOf(const absl::Status& status);

struct Answers {
  std::vector<uint64_t> d;  // words, in the order of batch.c; meaningless where there is a failure
  std::map<int64_t, InputFailure> failures;  // by index in `d`
  uint64_t age = 0;  // answers that the process had given before the first of these
  // For a device that starts a new process for each request: the largest number of these answers
  // that one process gave.
  uint64_t of_one_process = 0;

  int64_t size() const { return static_cast<int64_t>(d.size()); }
  std::optional<InputFailure> FailureAt(int64_t index) const {
    const auto failed = failures.find(index);
    return failed == failures.end() ? std::nullopt : std::optional(failed->second);
  }
  void Fail(InputFailure failure) {
    failures.emplace(size(), std::move(failure));
    d.push_back(0);
  }
  void Truncate(int64_t size) {
    if (size < this->size()) d.resize(size);
    failures.erase(failures.lower_bound(size), failures.end());
  }
  void Append(Answers other) {
    for (auto& [index, failure] : other.failures) {
      failures.emplace(size() + index, std::move(failure));
    }
    d.insert(d.end(), other.d.begin(), other.d.end());
  }
};

}  // namespace mmadiff
