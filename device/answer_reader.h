// Parses a program's answers to the dot products of a batch, as their bytes arrive.
#pragma once

#include <regex.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/answers.h"
#include "device/exec_options.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// A POSIX extended regular expression; an empty one matches nothing.
class LinePattern {
 public:
  explicit LinePattern(const std::string& pattern);  // must be valid for regcomp()
  ~LinePattern();
  LinePattern(const LinePattern&) = delete;
  LinePattern& operator=(const LinePattern&) = delete;
  bool Matches(absl::string_view line) const;

 private:
  const bool any_;
  regex_t compiled_ = {};
};

using OtherTexts = std::map<int64_t, std::string>;

class AnswerReader {
 public:
  virtual ~AnswerReader() = default;

  // Whether the bytes contained an answer. kDataLoss: the bytes do not follow the protocol.
  virtual absl::StatusOr<bool> Take(absl::string_view bytes) = 0;
  // Call at the end of the output, or once all answers have arrived. kDataLoss also: too few or too
  // many answers.
  virtual absl::Status Finish() = 0;
  // Bytes after the last answer that have not been read yet; they belong to the next request.
  virtual std::string TakeRest() = 0;

  int64_t answered() const { return answers_.size(); }
  bool complete() const { return answered() >= count_; }
  // Whether every answer so far repeated its operands.
  bool echoed() const { return echoed_; }
  // Whether Finish() was called: then missing answers did not arrive. Otherwise the output could
  // not be read.
  bool at_end() const { return at_end_; }
  // Other text, keyed by the number of answers before it; at most one text for each number. It is
  // not among the failures of TakeAnswers().
  const OtherTexts& texts() const { return texts_; }
  // The answers. After an error, only those before the first other text, because later answers may
  // belong to different inputs.
  Answers TakeAnswers(const absl::Status& status) {
    if (!status.ok() && !texts_.empty()) answers_.Truncate(texts_.begin()->first);
    return std::move(answers_);
  }

 protected:
  explicit AnswerReader(int64_t count) : count_(count) {}

  const int64_t count_;
  Answers answers_;
  bool echoed_ = true, at_end_ = false;
  OtherTexts texts_;
};

// For a request with dot products [first, first + count) of the batch. `op`, `batch` and `skip`
// must outlive the reader.
std::unique_ptr<AnswerReader> ReaderOf(Protocol protocol, const Operation& op, const Batch& batch,
                                       int64_t first, int64_t count, const LinePattern& skip);

}  // namespace mmadiff
