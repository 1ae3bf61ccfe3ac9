// What a device answers to a batch: a word for each dot product, or why there is none.
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

// What came in place of a word. Numbers are stored (proto InputFailure).
enum class FailureKind : uint8_t {
  kUnknownBits = 1,  // a word with x or z among its digits
  kWidth,            // a word of another width than the result has
  kText,             // other text on stdout, beside the word or without one
  kEarlyEnd,         // the program ended well, too early
  kCrash,            // it ended with another exit code, or by a signal
  kHang,             // it did not answer in time
};
inline constexpr int kFailureKinds = static_cast<int>(FailureKind::kHang);

// What cannot be trusted after a failure.
enum class FailureScope : uint8_t {
  kWord,     // nothing else
  kOutput,   // which answer belongs to which input
  kProcess,  // it has ended, or must be ended
};
FailureScope ScopeOf(FailureKind kind);

// A device has no word for one input, and has words for others. (A failure that is not of an input
// is an absl::Status.)
struct InputFailure {
  FailureKind kind = FailureKind::kText;
  int exit_code = 0, signal = 0;  // of kCrash, one of them
  // Answers that the process must have given before; 0: it fails when it is asked first.
  uint64_t age = 0;
  std::string text = {};  // what the program said, one line, for people

  // Whether both are what people would call one bug.
  bool SameAs(const InputFailure& other) const {
    return kind == other.kind && exit_code == other.exit_code && signal == other.signal &&
           (age == 0) == (other.age == 0);
  }
  friend bool operator==(const InputFailure&, const InputFailure&) = default;
};
// "unknown_bits", "crash_exit_3", "crash_signal_11", "hang", ...; without age and text. Files store it.
std::string Name(const InputFailure& failure);
const char* Name(FailureKind kind);  // "crash"
// Nothing if the text is no such name.
std::optional<InputFailure> ParseFailure(absl::string_view name);
// For people, one line: "the program was killed by signal 11 (...): ", then its text, cut if it is long.
std::string Describe(const InputFailure& failure);

// kInternal. The message says what failed; FailureOf() gives it back.
absl::Status ToStatus(const InputFailure& failure, absl::string_view message);
std::optional<InputFailure> FailureOf(const absl::Status& status);

struct Answers {
  std::vector<uint64_t>
      d;  // words, in the order of batch.c; of no meaning where there is a failure
  std::map<int64_t, InputFailure> failures;  // by index in `d`
  uint64_t age = 0;  // answers that the process had given before the first of these
  // Of a device that starts anew: so many of these the process gave that gave most.
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
