#include "fuzz/cli/protocol.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kPortion = 4096;       // lines
constexpr size_t kMaxLine = 64 * 1024;  // characters

}  // namespace

std::string StreamHeader(const Operation& op, uint64_t lines) {
  return absl::StrCat("# instruction: ", op.name, "\n# lines: ", lines, "\n");
}

absl::Status StdinReader::Read() {
  for (;;) {
    const absl::StatusOr<bool> more = NextLine();
    absl::Status status = more.ok() && *more ? Line() : more.status();
    if (status.ok() && *more) continue;
    absl::Status last = Flush();
    return status.ok() ? last : status;
  }
}

absl::StatusOr<bool> StdinReader::NextLine() {
  line_.clear();
  ++number_;
  int c;
  while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
    line_ += static_cast<char>(c);
    if (line_.size() > kMaxLine) {
      return Error(absl::StrCat("longer than ", kMaxLine, " characters"));
    }
  }
  if (std::ferror(stdin)) return Error(absl::StrCat("cannot be read: ", std::strerror(errno)));
  if (c == EOF && !line_.empty() && announced_.has_value()) {
    return Error("the line was cut off: it has no line end");
  }
  return c == '\n' || !line_.empty();
}

absl::Status StdinReader::Line() {
  if (!IsComment(line_)) return DotProduct();
  return absl::StripAsciiWhitespace(line_).empty() ? absl::OkStatus() : ReadComment();
}

absl::Status StdinReader::ReadComment() {
  if (comment_) {
    RETURN_IF_ERROR(Flush());
    comment_(absl::StripAsciiWhitespace(line_));
  }
  absl::string_view text;
  if (IsLineComment(line_, "instruction", &text)) {
    const std::string name(text);
    const Operation* op = FindOperation(name);
    const bool alike = std::ranges::count(alike_, op) > 0;
    if (op == nullptr || (op->name != op_.name && !alike)) {
      return Error(
          absl::StrCat("from this line on, the stream is for ", name, ", not for ", op_.name));
    }
  } else if (IsLineComment(line_, "lines", &text)) {
    return Announce(text);
  } else if (IsLineComment(line_, "operands", &text)) {
    ++sealed_;
    if (text != operands_.Take()) {
      return Error("the operands before this line differ from those that were sent");
    }
  }
  return absl::OkStatus();
}

absl::Status StdinReader::Announce(absl::string_view count) {
  uint64_t lines, sum;
  bool then_a_hash;  // the hash of the answers in a file
  if (!ParseLineCount(count, &lines, &then_a_hash) ||
      __builtin_add_overflow(lines, announced_.value_or(0), &sum)) {
    return Error(absl::StrCat("'", count, "' is not a number of lines"));
  }
  announced_ = sum;
  --sealed_;
  operands_.Take();
  return absl::OkStatus();
}

absl::Status StdinReader::DotProduct() {
  absl::StatusOr<ProtocolLine> line = ParseLine(*op_.instruction, line_);
  if (line.ok() && with_results_ && !line->d.has_value()) {
    return Error("the result d is missing; check reads a.. b.. c d");
  }
  if (line.ok()) {
    portion_.answers.d.push_back(line->d.value_or(0));
  } else {
    absl::StatusOr<AnswerLine> failed = ParseAnswer(*op_.instruction, line_);
    if (!with_results_ || !failed.ok() || !failed->dot || !failed->failure) {
      return Error(line.status().message());
    }
    line = ProtocolLine{*std::move(failed->dot), std::nullopt};
    portion_.answers.Fail(*std::move(failed->failure));
  }
  operands_.Add(FormatLine(*op_.instruction, line->dot) + "\n");
  dots_.push_back(std::move(line->dot));
  portion_.line.push_back(number_);
  return dots_.size() == kPortion ? Flush() : absl::OkStatus();
}

absl::Status StdinReader::Flush() {
  if (dots_.empty()) return absl::OkStatus();
  portion_.batch = MakeDotProductBatch(op_.shape(), dots_);
  absl::Status status = deliver_(portion_);
  dots_.clear();
  portion_.answers = {};
  portion_.line.clear();
  return status;
}

absl::Status StdinReader::Error(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat("stdin line ", number_, ": ", what));
}

}  // namespace mmadiff
