#include "device/exec.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "device/child_process.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/program_files.h"

namespace mmadiff {
namespace {

constexpr size_t kLongestLine = 64 * 1024;  // characters
constexpr size_t kShown = 80;               // characters of a bad line that a message repeats
constexpr size_t kInputAtOnce = 32 * 1024;  // characters
// So many lines too many are counted for the message; a command that never ends is then stopped.
constexpr int64_t kExcessCounted = 1000;

std::string Shortened(absl::string_view line) {
  return absl::StrCat("'", absl::CHexEscape(line.substr(0, kShown)),
                      line.size() > kShown ? "...'" : "'");
}

// The lines of a batch, some at a time.
class LineWriter {
 public:
  LineWriter(const Operation& op, const Batch& batch) : op_(op), batch_(batch) {}

  absl::string_view Next() {
    text_.clear();
    for (; next_ < batch_.dot_products() && text_.size() < kInputAtOnce; ++next_) {
      absl::StrAppend(&text_, FormatLine(*op_.instruction, Extract(batch_, next_)), "\n");
    }
    return text_;
  }

 private:
  const Operation& op_;
  const Batch& batch_;
  int64_t next_ = 0;
  std::string text_;
};

// Splits the command's output into lines and reads the results from them.
class AnswerReader {
 public:
  AnswerReader(const Operation& op, const Batch& batch) : op_(op), batch_(batch) {
    d_.reserve(batch.dot_products());
  }

  // Nothing means the end: the last line may lack its end. Whether an answer was among the bytes.
  absl::StatusOr<bool> Take(absl::string_view bytes) {
    const int64_t before = answers_;
    const absl::Status status = bytes.empty() ? Finish() : Split(bytes);
    if (!status.ok()) return status;
    return answers_ > before;
  }

  std::vector<uint64_t> TakeResults() { return std::move(d_); }

 private:
  absl::Status Split(absl::string_view bytes) {
    for (size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
      const absl::Status status = Join(bytes.substr(0, end), /*complete=*/true);
      if (!status.ok()) return status;
    }
    return Join(bytes, /*complete=*/false);
  }

  absl::Status Finish() {
    const absl::Status status = partial_.empty() ? absl::OkStatus() : Join("", /*complete=*/true);
    if (!status.ok()) return status;
    return answers_ == batch_.dot_products() ? absl::OkStatus() : WrongCount("");
  }

  // One line, or, if not `complete`, a part of one.
  absl::Status Join(absl::string_view text, bool complete) {
    if (partial_.size() + text.size() > kLongestLine) {
      return absl::DataLossError(
          absl::StrCat("line ", line_ + 1, " of its output is longer than ", kLongestLine,
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
    if (IsComment(line)) return absl::OkStatus();
    const int64_t index = answers_++;
    if (index >= batch_.dot_products()) {
      const bool endless = answers_ > batch_.dot_products() + kExcessCounted;
      return endless ? WrongCount("at least ") : absl::OkStatus();
    }
    const absl::StatusOr<uint64_t> d = Answer(line, index);
    if (!d.ok()) {
      return absl::DataLossError(absl::StrCat("line ", line_, " of its output, ", Shortened(line),
                                              ": ", d.status().message()));
    }
    d_.push_back(*d);
    return absl::OkStatus();
  }

  // The result of dot product `index` from its line.
  absl::StatusOr<uint64_t> Answer(absl::string_view line, int64_t index) const {
    const Instruction& instruction = *op_.instruction;
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (std::none_of(stripped.begin(), stripped.end(), absl::ascii_isspace)) {
      return ParseHexWord(*instruction.d, stripped);
    }
    absl::StatusOr<ProtocolLine> parsed = ParseLine(instruction, line);
    if (!parsed.ok()) return parsed.status();
    if (!parsed->d.has_value()) {
      return absl::DataLossError("the operands without a result; add d as the last word");
    }
    const DotProductCase sent = Extract(batch_, index);
    if (parsed->dot == sent) return *parsed->d;
    return absl::DataLossError(absl::StrCat("it repeats other operands than dot product ",
                                            index + 1,
                                            " has: ", Shortened(FormatLine(instruction, sent)),
                                            "; answer line by line in the order of the input"));
  }

  absl::Status WrongCount(absl::string_view at_least) const {
    return absl::DataLossError(absl::StrCat(
        "answered ", at_least, answers_, " lines to ", batch_.dot_products(),
        " dot products; print one line for each, and nothing else but comments (#) on stdout"));
  }

  const Operation& op_;
  const Batch& batch_;
  int64_t line_ = 0;     // lines seen
  int64_t answers_ = 0;  // of them no comments
  std::string partial_;  // a line whose end has not come yet
  std::vector<uint64_t> d_;
};

// Part of identities that are stored.
constexpr char kNoFiles[] = "no file of it is hashed";

class Exec : public Device {
 public:
  Exec(absl::string_view command, absl::Duration timeout)
      : command_(command), timeout_(timeout), files_(command) {}

  std::string name() const override { return absl::StrCat("exec:", command_); }
  Identity identity() const override {
    const std::string files = files_.Describe();
    return Identity().Add("command", command_).Add("files", files.empty() ? kNoFiles : files);
  }
  bool IsSlow() const override { return true; }
  bool StartsAnew() const override { return true; }
  // A command that does not know the operation says so by its exit code, at its first batch.
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (batch.dot_products() == 0) return absl::OkStatus();
    LineWriter writer(op, batch);
    AnswerReader reader(op, batch);
    const ChildCommand child = {
        command_, {absl::StrCat("MMADIFF_INSTRUCTION=", op.name)}, timeout_};
    absl::Status status = RunChild(
        child, [&] { return writer.Next(); },
        [&](absl::string_view bytes) { return reader.Take(bytes); },
        [&] { return StopRequested(); });
    if (absl::Status changed = files_.CheckUnchanged(); !changed.ok()) return changed;
    d = reader.TakeResults();
    if (status.ok()) answered_.insert(&op);
    // A command that fails where it has answered before is lost; another never had the operation.
    if (absl::IsInternal(status) && answered_.contains(&op)) {
      status = absl::UnavailableError(status.message());
    }
    return status;
  }

 private:
  const std::string command_;
  const absl::Duration timeout_;
  ProgramFiles files_;
  std::set<const Operation*> answered_;
};

}  // namespace

DeviceOr OpenExec(absl::string_view command, absl::Duration timeout) {
  if (absl::StripAsciiWhitespace(command).empty()) {
    return absl::InvalidArgumentError("exec: needs a command, for instance 'exec:./my_model'");
  }
  if (timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("exec: the timeout must be positive, not ", absl::FormatDuration(timeout)));
  }
  return std::make_unique<Exec>(command, timeout);
}

absl::StatusOr<std::vector<uint64_t>> ReadAnswers(const Operation& op, const Batch& batch,
                                                  absl::string_view output, size_t piece) {
  AnswerReader reader(op, batch);
  for (; !output.empty(); output.remove_prefix(std::min(piece, output.size()))) {
    if (auto taken = reader.Take(output.substr(0, piece)); !taken.ok()) return taken.status();
  }
  if (auto taken = reader.Take(""); !taken.ok()) return taken.status();
  return reader.TakeResults();
}

}  // namespace mmadiff
