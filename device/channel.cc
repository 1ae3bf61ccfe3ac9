#include "device/channel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/binary_protocol.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kInputAtOnce = 32 * 1024;  // characters

class Filter : public Channel {
 public:
  explicit Filter(ChildCommand command) : command_(std::move(command)) {}

  absl::Status Ask(RequestWriter& request, AnswerReader& reader, Shown shown, StopRequest stop,
                   absl::Duration timeout) override {
    const auto take = [&](absl::string_view bytes) -> absl::StatusOr<bool> {
      if (!bytes.empty()) {
        const absl::StatusOr<bool> progress = reader.Take(bytes);
        shown(reader.answered());
        return progress;
      }
      const absl::Status finished = reader.Finish();
      return finished.ok() ? absl::StatusOr<bool>(true) : finished;
    };
    ChildCommand command = command_;
    command.timeout = timeout;
    return RunChild(
        command, [&] { return request.Next(); }, take, stop);
  }

 private:
  const ChildCommand command_;
};

class Kept : public Channel {
 public:
  explicit Kept(StartKept start) : start_(std::move(start)) {}

  absl::Status Ask(RequestWriter& request, AnswerReader& reader, Shown shown, StopRequest stop,
                   absl::Duration timeout) override {
    if (child_ == nullptr) {
      ASSIGN_OR_RETURN(std::unique_ptr<KeptChild> started, start_());
      child_ = std::move(started);
    }
    std::string all;
    for (absl::string_view part; !(part = request.Next()).empty();) absl::StrAppend(&all, part);
    const auto hear = [&](absl::string_view bytes) -> absl::StatusOr<Heard> {
      ASSIGN_OR_RETURN(const bool progress, reader.Take(bytes));
      shown(reader.answered());
      return reader.complete() ? Heard::kAnswer : progress ? Heard::kProgress : Heard::kNothing;
    };
    absl::Status s = reader.Take(std::exchange(rest_, "")).status();
    if (s.ok()) s = child_->Ask(all, hear, stop, timeout);
    rest_ = reader.TakeRest();
    if (s.ok()) s = reader.Finish();
    age_ += reader.answered();
    if (!s.ok()) Restart();
    return s;
  }

  uint64_t age() const override { return age_; }
  void Restart() override {
    child_ = nullptr;
    rest_.clear();
    age_ = 0;
  }

 private:
  const StartKept start_;
  std::unique_ptr<KeptChild> child_;  // nullptr: not started
  std::string rest_;                  // unread output
  uint64_t age_ = 0;
};

}  // namespace

RequestWriter::RequestWriter(Protocol protocol, const Operation& op, const Batch& batch,
                             int64_t first, int64_t count)
    : instruction_(*op.instruction),
      batch_(batch),
      binary_(protocol == Protocol::kBinary),
      next_(first),
      end_(first + count) {}

absl::string_view RequestWriter::Next() {
  text_.clear();
  if (binary_) {
    const int64_t at_once = kInputAtOnce / RequestBytes(instruction_) + 1;
    const int64_t count = std::min(at_once, end_ - next_);
    if (count > 0) text_ = RequestFrame(instruction_, batch_, next_, count);
    next_ += count;
    return text_;
  }
  for (; next_ < end_ && text_.size() < kInputAtOnce; ++next_) {
    absl::StrAppend(&text_, FormatLine(instruction_, Extract(batch_, next_)), "\n");
  }
  return text_;
}

std::unique_ptr<Channel> StartEach(ChildCommand command) {
  return std::make_unique<Filter>(std::move(command));
}

std::unique_ptr<Channel> KeepOne(StartKept start) {
  return std::make_unique<Kept>(std::move(start));
}

}  // namespace mmadiff
