// Reads what a program answers to dot products of a batch, as its bytes come.
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
  explicit LinePattern(const std::string& pattern);  // that regcomp() knows
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

  // Whether an answer was among the bytes. kDataLoss: no program that speaks the protocol says so.
  virtual absl::StatusOr<bool> Take(absl::string_view bytes) = 0;
  // At the end of what came, or once all is answered. kDataLoss also: too few answers or too many.
  virtual absl::Status Finish() = 0;
  // Bytes behind the last answer that are not read yet: of the answers to what is asked next.
  virtual std::string TakeRest() = 0;

  int64_t answered() const { return answers_.size(); }
  bool complete() const { return answered() >= count_; }
  // Whether every answer so far named its question.
  bool echoed() const { return echoed_; }
  // Whether Finish() was called: what is missing did not come. Else what came cannot be read.
  bool at_end() const { return at_end_; }
  // Other text, one for each number of answers that came before it. It is no failure of TakeAnswers().
  const OtherTexts& texts() const { return texts_; }
  // What was answered: on an error what came before other text, for answers behind it may be those to
  // other questions.
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

// Dot products [first, first + count) of the batch are asked, and the reader lives no longer than
// `op`, `batch` and `skip`.
std::unique_ptr<AnswerReader> ReaderOf(Protocol protocol, const Operation& op, const Batch& batch,
                                       int64_t first, int64_t count, const LinePattern& skip);

}  // namespace mmadiff
