#include "device/answer_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "device/binary_protocol.h"
#include "device/line_protocol.h"
#include "device/little_endian.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxLine = 64 * 1024;  // characters
constexpr size_t kShown = 200;          // characters of a bad line shown in a message
// The number of surplus lines counted for the message; a command that never stops is then stopped.
constexpr int64_t kExcessCounted = 1000;

std::string Shortened(absl::string_view line) {
  return absl::StrCat("'", absl::CHexEscape(line.substr(0, kShown)),
                      line.size() > kShown ? "...'" : "'");
}

class LineReader : public AnswerReader {
 public:
  LineReader(const Operation& op, const Batch& batch, int64_t first, int64_t count,
             const LinePattern& skip)
      : AnswerReader(count), op_(op), batch_(batch), first_(first), skip_(skip) {
    answers_.d.reserve(count);
  }

  absl::StatusOr<bool> Take(absl::string_view bytes) override {
    const int64_t before = lines_;
    for (size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
      RETURN_IF_ERROR(Join(bytes.substr(0, end), /*complete=*/true));
    }
    RETURN_IF_ERROR(Join(bytes, /*complete=*/false));
    return lines_ > before;
  }

  absl::Status Finish() override {
    at_end_ = true;
    if (!partial_.empty()) {
      // A truncated word may read as a different word. Comments and other text cannot.
      const bool answers = ParseAnswer(*op_.instruction, partial_).ok();
      if (answers && !EndsInWholeWord(*op_.instruction->d, partial_)) {
        return absl::DataLossError(
            absl::StrCat("its last line is incomplete: ", Shortened(partial_)));
      }
      RETURN_IF_ERROR(Join("", /*complete=*/true));
    }
    if (lines_ != count_) {
      if (!texts_.empty()) return absl::DataLossError(texts_.begin()->second);
      if (answers_.failures.empty()) return WrongCount("");
      return absl::DataLossError(answers_.failures.begin()->second.text);
    }
    return absl::OkStatus();
  }

  std::string TakeRest() override { return std::exchange(partial_, ""); }

 private:
  // One line or, if not `complete`, a part of one.
  absl::Status Join(absl::string_view text, bool complete) {
    if (partial_.size() + text.size() > kMaxLine) {
      return absl::DataLossError(
          absl::StrCat("output line ", line_ + 1, " is longer than ", kMaxLine,
                       " characters: ", Shortened(partial_ + std::string(text.substr(0, kShown)))));
    }
    if (complete && partial_.empty()) return Line(text);
    partial_.append(text.data(), text.size());
    if (!complete) return absl::OkStatus();
    const std::string line = std::exchange(partial_, "");
    return Line(line);
  }

  absl::Status Line(absl::string_view line) {
    ++line_;
    if (IsComment(line) || skip_.Matches(line)) return absl::OkStatus();
    absl::StatusOr<AnswerLine> answer = ParseAnswer(*op_.instruction, line);
    if (!answer.ok()) return OtherText(line, answer.status().message());
    if (complete()) {
      const bool endless = ++lines_ > count_ + kExcessCounted;
      return endless ? WrongCount("at least ") : absl::OkStatus();
    }
    if (answer->dot) {
      DotProductCase asked = Extract(batch_, first_ + answered());
      asked.metadata = StoredMetadata(op_.shape(), asked);
      if (*answer->dot != asked) return OtherOperands(line, asked);
    }
    echoed_ &= answer->dot.has_value();
    ++lines_;
    if (answer->failure) {
      answer->failure->text = Where(line, answer->failure->text);
      answers_.Fail(*std::move(answer->failure));
    } else {
      answers_.d.push_back(answer->d);
    }
    return absl::OkStatus();
  }

  std::string Where(absl::string_view line, absl::string_view why) const {
    return absl::StrCat("output line ", line_, ", ", Shortened(line), ": ", why);
  }

  // Other text may appear beside the answer, or in its place: the number of lines distinguishes the
  // two.
  absl::Status OtherText(absl::string_view line, absl::string_view why) {
    // Explains why only for text that looks like an answer.
    const bool meant = absl::ascii_isxdigit(line[line.find_first_not_of(" \t")]);
    texts_.emplace(answered(), meant ? Where(line, why)
                                     : absl::StrCat("output line ", line_,
                                                    " is not an answer: ", Shortened(line),
                                                    "; an answer ends with the result d in "
                                                    "hexadecimal"));
    return absl::OkStatus();
  }

  absl::Status OtherOperands(absl::string_view line, const DotProductCase& asked) const {
    return absl::DataLossError(Where(
        line,
        absl::StrCat("its operands differ from those of dot product ", first_ + answered() + 1,
                     ": ", Shortened(FormatLine(*op_.instruction, asked)),
                     "; answer line by line in the order of the input")));
  }

  absl::Status WrongCount(absl::string_view at_least) const {
    return absl::DataLossError(absl::StrCat(
        "answered with ", at_least, lines_, " lines for ", count_,
        " dot products; print one line for each, and nothing else on stdout except comments (#)"));
  }

  const Operation& op_;
  const Batch& batch_;
  const int64_t first_;
  const LinePattern& skip_;
  int64_t line_ = 0;     // lines read
  int64_t lines_ = 0;    // answers among them
  std::string partial_;  // a line whose end has not arrived yet
};

class FrameReader : public AnswerReader {
 public:
  FrameReader(const Operation& op, int64_t count)
      : AnswerReader(count), format_(*op.instruction->d), bytes_(HexDigits(format_) / 2) {
    echoed_ = false;
    answers_.d.reserve(count);
  }

  absl::StatusOr<bool> Take(absl::string_view bytes) override {
    buffer_.append(bytes.data(), bytes.size());
    const int64_t before = answered();
    absl::string_view rest = buffer_;
    while (left_ > 0 ? rest.size() >= bytes_ : rest.size() >= kFrameHeadBytes) {
      if (left_ == 0) {
        left_ = ReadLittleEndian(rest.substr(0, kFrameHeadBytes));
        rest.remove_prefix(kFrameHeadBytes);
        if (left_ % bytes_ != 0 || left_ > kMaxFrameBytes) {
          return absl::DataLossError(absl::StrCat(
              "a frame of ", left_, " bytes after answer ", answered(), "; bytes in a word of ",
              format_.name, ": ", bytes_, ". Does the program use protocol=lines?"));
        }
        continue;
      }
      if (complete()) return WrongCount("more than ", answered());
      const uint64_t d = ReadLittleEndian(rest.substr(0, bytes_));
      if ((d & ~LowBits(format_.bits)) == 0) {
        answers_.d.push_back(d);
      } else {
        answers_.Fail({.kind = FailureKind::kWidth,
                       .text = absl::StrCat("0x", absl::Hex(d), " does not fit the ", format_.bits,
                                            " bits of ", format_.name)});
      }
      rest.remove_prefix(bytes_);
      left_ -= bytes_;
    }
    buffer_.erase(0, buffer_.size() - rest.size());
    return answered() > before;
  }

  absl::Status Finish() override {
    at_end_ = true;
    if (!complete()) return WrongCount("", answered());
    return left_ == 0 ? absl::OkStatus() : WrongCount("more than ", answered());
  }

  std::string TakeRest() override { return std::exchange(buffer_, ""); }

 private:
  absl::Status WrongCount(absl::string_view more, int64_t answers) const {
    return absl::DataLossError(absl::StrCat("answered with ", more, answers, " words for ", count_,
                                            " dot products; send one for each"));
  }

  const Format& format_;
  const size_t bytes_;
  std::string buffer_;
  uint64_t left_ = 0;  // unread bytes of the frame
};

}  // namespace

LinePattern::LinePattern(const std::string& pattern) : any_(!pattern.empty()) {
  if (any_) regcomp(&compiled_, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
}

LinePattern::~LinePattern() {
  if (any_) regfree(&compiled_);
}

bool LinePattern::Matches(absl::string_view line) const {
  return any_ && regexec(&compiled_, std::string(line).c_str(), 0, nullptr, 0) == 0;
}

std::unique_ptr<AnswerReader> ReaderOf(Protocol protocol, const Operation& op, const Batch& batch,
                                       int64_t first, int64_t count, const LinePattern& skip) {
  if (protocol == Protocol::kBinary) return std::make_unique<FrameReader>(op, count);
  return std::make_unique<LineReader>(op, batch, first, count, skip);
}

}  // namespace mmadiff
