#include "device/exec.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "device/answer_reader.h"
#include "device/channel.h"
#include "device/child_process.h"
#include "device/clock.h"
#include "device/isolate.h"
#include "device/plain_text.h"
#include "device/program_files.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Pauses before the next attempt to start a program that could not start.
constexpr absl::Duration kPauses[] = {absl::Milliseconds(100), absl::Seconds(1), absl::Seconds(5)};
constexpr int kMaxLooks = 3;          // failed attempts to learn a program's behavior
constexpr size_t kMaxProcesses = 16;  // kept processes, one for each operation
// In a hurry, the timeout is this multiple of the longest wait for an answer so far.
constexpr int kHurry = 10;
constexpr absl::Duration kMinWait = absl::Milliseconds(20);  // a machine may be busy

// Part of stored identities.
constexpr char kNoFiles[] = "no file of it is hashed";

// The failure that the end of a request becomes if it repeats on an input.
std::optional<InputFailure> FailureOfEnd(const absl::Status& s, const AnswerReader& reader) {
  InputFailure failure = {.kind = FailureKind::kEarlyEnd, .text = PlainLine(s.message())};
  if (const std::optional<ChildEnd> end = EndOf(s)) {
    failure.exit_code = end->exit_code;
    failure.signal = end->signal;
    if (failure.exit_code != 0 || failure.signal != 0) failure.kind = FailureKind::kCrash;
  } else if (absl::IsDeadlineExceeded(s)) {
    failure.kind = FailureKind::kHang;
  } else if (!absl::IsDataLoss(s)) {
    return std::nullopt;
  } else if (reader.complete() || !reader.at_end()) {
    failure.kind = FailureKind::kText;
  }
  if (reader.texts().empty()) return failure;
  if (failure.kind != FailureKind::kCrash) failure.kind = FailureKind::kText;
  const std::string last = PlainLine(reader.texts().rbegin()->second);
  if (!absl::StrContains(failure.text, last)) absl::StrAppend(&failure.text, "; ", last);
  return failure;
}

// The common part of commands and descriptors.
class Exec : public Device {
 public:
  bool IsSlow() const override { return true; }
  bool SupportsAny() const override { return true; }
  // A command that does not support the operation reports that by its exit code, at its first
  // batch.
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  void Hurry(bool hurry) override { hurries_ = hurry; }
  std::optional<InputFailure> LookBehind(const Operation& op) override;

 protected:
  explicit Exec(const ExecOptions& options) : options_(options), skip_(options.skip) {}

  virtual absl::StatusOr<Channel*> ChannelOf(const Operation& op) = 0;
  // Held during a request if others use the same peer; nullptr if none do.
  virtual absl::Mutex* turn() { return nullptr; }
  // OK while the answers still come from the same program.
  virtual absl::Status CheckUnchanged() { return absl::OkStatus(); }
  virtual bool restarts() const { return false; }
  // From now on, processes are kept until they fail.
  void ForgetAges() {
    for (auto& [op, habits] : habits_) habits.fails_at_age.reset();
  }

  const ExecOptions options_;

 private:
  friend class Fresh;

  absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers) override {
    const absl::MutexLockMaybe turn_lock(turn());
    ASSIGN_OR_RETURN(Channel* const channel, ChannelOf(op));
    answers.age = channel->age();
    size_t refusals = 0;
    while (answers.size() < batch.dot_products()) {
      if (StopRequested()) return absl::CancelledError("stopped before its last answer");
      const int64_t first = kept_ = answers.size();
      const absl::Status s = AskNext(*channel, op, batch, first, answers);
      if (absl::Status changed = CheckUnchanged(); !changed.ok()) {
        answers = {};
        return changed;
      }
      if (again_ && !s.ok() && refusals < std::size(kPauses)) {
        if (answers.size() == first) Pause(kPauses[refusals++]);
        continue;
      }
      RETURN_IF_ERROR(s);
      refusals = 0;
      // Finding the cause of a process end takes long, and the caller may already have enough.
      const auto last = answers.failures.find(answers.size() - 1);
      if (last == answers.failures.end()) continue;
      if (ScopeOf(last->second.kind) != FailureScope::kWord) break;
    }
    return absl::OkStatus();
  }

  void Pause(absl::Duration pause) const {
    const absl::Duration end = MonotonicNow() + pause;
    while (MonotonicNow() < end && !StopRequested()) absl::SleepFor(absl::Milliseconds(20));
  }
  // The program's behavior learned so far, for one operation.
  struct Habits {
    std::optional<DotProductCase> answered;  // the last one answered
    std::optional<uint64_t> fails_at_age;    // answers that a process gives before it fails
    std::optional<TextPlace> text_place;
    absl::Status talks;  // kDataLoss: it prints something for every input
    int text_looks = 0, end_looks = 0;
    // Appended to every request to a kept process that prints or ends after its answers.
    std::optional<DotProductCase> behind;

    void PlaceTextsOf(Asked& asked) const {
      const TextPlace place = text_place.value_or(TextPlace::kBefore);
      if (asked.status.ok()) return PlaceTexts(asked.texts, place, asked.answers);
      // The answers stop before the first text.
      const bool last = place == TextPlace::kBehind && !asked.texts.empty() &&
                        asked.answers.size() == asked.texts.begin()->first;
      if (last) PlaceTexts({*asked.texts.begin()}, place, asked.answers);
    }
    // Whether a kept process ended because of its last answer: the last of `answers`, if there are
    // any. If the caller already has the answers, the end goes unnoticed this once.
    bool EndedBehind(FreshAsker& fresh, Answers& answers);
  };

  // Requests some of the dot products from `first` on.
  absl::Status AskNext(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                       Answers& answers);
  // One request. It ends at an error, or at a failure that affects more than one word.
  Asked AskOnce(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                int64_t count);
  Asked RequestAnswers(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                       int64_t count);
  // Sends requests until all dot products are sent or one fails. `singly`: one dot product per
  // request, as in FreshAsker.
  Asked AskAll(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
               int64_t count, bool singly);
  // Called once texts have appeared.
  absl::Status LearnTextHabit(Channel& channel, const Operation& op, const Batch& batch,
                              int64_t first, const OtherTexts& texts);
  absl::Status MeaningOf(const Operation& op, const Asked& asked) const;

  const LinePattern skip_;
  int64_t kept_ = 0;  // answers that this Ask() already has
  // Whether a kept process ended and none of the inputs is to blame: it ended before its first
  // answer, perhaps for lack of a license, or after an answer to an earlier request.
  bool again_ = false;
  bool learns_ = false;  // inside LearnTextHabit()
  bool hurries_ = false;
  absl::Duration longest_wait_ = kMinWait;  // for any answer so far
  std::map<const Operation*, Habits> habits_;
};

// The program, restarted for every request if possible.
class Fresh : public FreshAsker {
 public:
  Fresh(Exec& exec, Channel& channel, const Operation& op)
      : exec_(exec), channel_(channel), op_(op) {}

  Asked AskFresh(const Batch& batch, int64_t first, int64_t count, bool singly) override {
    if (exec_.restarts()) channel_.Restart();
    return exec_.AskAll(channel_, op_, batch, first, count, singly);
  }
  bool AnswersSingly() const override { return exec_.options_.restart == Restart::kNever; }
  Batch Neighbours() const override {
    std::vector<DotProductCase> dots = PlainDotProducts(op_);
    if (const auto& answered = exec_.habits_[&op_].answered) dots.insert(dots.begin(), *answered);
    return MakeDotProductBatch(op_.shape(), dots);
  }

 private:
  Exec& exec_;
  Channel& channel_;
  const Operation& op_;
};

Asked Exec::AskOnce(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                    int64_t count) {
  const std::optional<DotProductCase>& behind = habits_[&op].behind;
  Asked asked;
  if (StartsAnew() || !behind) {
    asked = RequestAnswers(channel, op, batch, first, count);
  } else {
    std::vector<DotProductCase> dots;
    for (int64_t i = 0; i < count; ++i) dots.push_back(Extract(batch, first + i));
    dots.push_back(*behind);
    asked = RequestAnswers(channel, op, MakeDotProductBatch(op.shape(), dots), 0, count + 1);
    asked.answers.Truncate(count);
  }
  if (asked.texts.empty()) return asked;
  habits_[&op].talks.Update(LearnTextHabit(channel, op, batch, first, asked.texts));
  return asked;
}

Asked Exec::RequestAnswers(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                           int64_t count) {
  RequestWriter request(options_.protocol, op, batch, first, count);
  const std::unique_ptr<AnswerReader> reader =
      ReaderOf(options_.protocol, op, batch, first, count, skip_);
  Asked asked;
  int64_t answers = 0;
  absl::Duration heard = MonotonicNow();
  const auto shown = [&](int64_t answered) {
    ShowAnswered(kept_ + answered);
    if (std::exchange(answers, answered) == answered) return;
    const absl::Duration before = std::exchange(heard, MonotonicNow());
    if (!hurries_) longest_wait_ = std::max(longest_wait_, heard - before);
  };
  const absl::Duration timeout =
      hurries_
          ? std::min(options_.timeout, absl::Ceil(kHurry * longest_wait_, absl::Milliseconds(1)))
          : options_.timeout;
  asked.status = channel.Ask(
      request, *reader, shown, [this] { return StopRequested(); }, timeout);
  // If an answer is missing, the others may belong to other inputs.
  const bool missing = absl::IsDataLoss(asked.status) || absl::IsDeadlineExceeded(asked.status);
  asked.echoed = reader->echoed();
  asked.trusted = !missing || asked.echoed;
  if (!asked.status.ok()) asked.failure = FailureOfEnd(asked.status, *reader);
  asked.answers = reader->TakeAnswers(asked.status);
  asked.texts = reader->texts();
  return asked;
}

Asked Exec::AskAll(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                   int64_t count, bool singly) {
  Asked all;
  while (all.status.ok() && all.answers.size() < count) {
    const int64_t done = all.answers.size();
    Asked some = AskOnce(channel, op, batch, first + done, singly ? 1 : count - done);
    all.status = some.status;
    all.failure = std::move(some.failure);
    all.trusted = some.trusted;
    all.echoed &= some.echoed;
    habits_[&op].PlaceTextsOf(some);
    for (auto& [before, text] : some.texts) all.texts.emplace(done + before, std::move(text));
    if (some.failure && singly) some.answers = {};
    if (some.trusted) all.answers.Append(std::move(some.answers));
  }
  return all;
}

absl::Status Exec::AskNext(Channel& channel, const Operation& op, const Batch& batch, int64_t first,
                           Answers& answers) {
  Habits& habits = habits_[&op];
  if (habits.fails_at_age && channel.age() >= *habits.fails_at_age) channel.Restart();
  const uint64_t age = channel.age();
  uint64_t count = batch.dot_products() - first;
  if (habits.fails_at_age) count = std::min(count, *habits.fails_at_age - age);
  if (options_.batch > 0) count = std::min<uint64_t>(count, options_.batch);
  Asked asked = AskOnce(channel, op, batch, first, static_cast<int64_t>(count));
  if (absl::IsDeadlineExceeded(asked.status) && !habits.talks.ok() && !habits.answered) {
    return absl::InternalError(absl::StrCat(asked.status.message(), "; ", habits.talks.message()));
  }
  // Without the answers that Isolate() adds, which come from several processes.
  const uint64_t of_one = asked.trusted ? asked.answers.size() : 0;
  again_ = restarts() && !StartsAnew() && asked.failure && of_one == 0;
  answers.of_one_process = std::max(answers.of_one_process, of_one);
  Fresh fresh(*this, channel, op);
  if (asked.status.ok() && !asked.texts.empty()) {
    RETURN_IF_ERROR(habits.talks);
    const auto text = asked.texts.begin();
    if (habits.text_place == TextPlace::kBehind && text->first == 0 && answers.size() > 0) {
      PlaceTexts({{answers.size(), text->second}}, TextPlace::kBehind, answers);
      asked.texts.erase(text);
    }
  }
  habits.PlaceTextsOf(asked);
  if (again_ && age > 0) again_ = habits.EndedBehind(fresh, answers);
  if (again_ && age > 0) return asked.status;
  if (asked.failure.has_value() && restarts()) {
    asked = Isolate(fresh, batch, first, static_cast<int64_t>(count), age, std::move(asked));
    again_ &= !asked.status.ok() && !asked.failure && !absl::IsCancelled(asked.status);
  } else if (asked.status.ok() && !habits.answered) {
    asked = CheckOthers(fresh, std::move(asked));
  }
  const absl::Status s = asked.status.ok() ? absl::OkStatus() : MeaningOf(op, asked);
  for (int64_t i = asked.answers.size() - 1; i >= 0 && s.ok(); --i) {
    const auto failure = asked.answers.failures.find(i);
    if (failure == asked.answers.failures.end()) {
      habits.answered = Extract(batch, first + i);
      break;
    }
    const uint64_t age_then = failure->second.age;
    if (age_then > 0)
      habits.fails_at_age = std::min(habits.fails_at_age.value_or(age_then), age_then);
  }
  answers.Append(std::move(asked.answers));
  return s;
}

absl::Status Exec::LearnTextHabit(Channel& channel, const Operation& op, const Batch& batch,
                                  int64_t first, const OtherTexts& texts) {
  Habits& habits = habits_[&op];
  const bool known = habits.text_place || habits.text_looks >= kMaxLooks;
  if (!restarts() || known || std::exchange(learns_, true)) return absl::OkStatus();
  ++habits.text_looks;
  Fresh fresh(*this, channel, op);
  absl::StatusOr<TextHabit> habit = FindTextHabit(fresh, batch, first, texts);
  learns_ = false;
  RETURN_IF_ERROR(habit.status());
  habits.text_place = habit->place;
  if (habit->place == TextPlace::kBehind) habits.behind = std::move(habit->quiet);
  return absl::OkStatus();
}

bool Exec::Habits::EndedBehind(FreshAsker& fresh, Answers& answers) {
  if (!answered || behind || end_looks++ >= kMaxLooks) return false;
  std::optional<EndBehind> end = FindEndBehind(fresh, *answered);
  if (!end) return false;
  behind = std::move(end->other);
  if (answers.size() > 0) answers.failures[answers.size() - 1] = std::move(end->failure);
  return true;
}

std::optional<InputFailure> Exec::LookBehind(const Operation& op) {
  const absl::StatusOr<Channel*> channel = ChannelOf(op);
  Habits& habits = habits_[&op];
  const bool seen = StartsAnew() || !restarts() || habits.behind || !habits.answered;
  if (seen || !channel.ok() || (*channel)->age() == 0) return std::nullopt;
  const uint64_t age = (*channel)->age();
  const Batch plain = MakeDotProductBatch(op.shape(), {PlainDotProducts(op).front()});
  const Asked asked = AskOnce(**channel, op, plain, 0, 1);
  if (!asked.failure) return std::nullopt;
  Fresh fresh(*this, **channel, op);
  Answers last;
  last.d = {0};
  if (habits.EndedBehind(fresh, last)) return last.FailureAt(0);
  const Asked isolated = Isolate(fresh, plain, 0, 1, age, asked);
  const std::optional<InputFailure> failure = isolated.answers.FailureAt(0);
  return failure && failure->age > 0 ? failure : std::nullopt;
}

// A program that fails for every input never had the operation, or is lost.
absl::Status Exec::MeaningOf(const Operation& op, const Asked& asked) const {
  const absl::Status& s = asked.status;
  if (habits_.at(&op).answered) {
    return absl::IsInternal(s) ? absl::UnavailableError(s.message()) : s;
  }
  const bool ends = absl::IsUnavailable(s) || absl::IsDeadlineExceeded(s);
  if (!asked.failure.has_value() || !ends || !restarts()) return s;
  const bool kept_hangs =
      absl::IsDeadlineExceeded(s) && options_.restart == mmadiff::Restart::kNever;
  return absl::InternalError(absl::StrCat(
      s.message(), "; it does so for every input",
      kept_hangs ? ". Does it flush after each answer? Only restart=never requires that" : ""));
}

class Command : public Exec {
 public:
  Command(const ExecOptions& options, absl::string_view specification)
      : Exec(options), specification_(specification), files_(options.command) {}

  std::string name() const override { return absl::StrCat("exec:", specification_); }
  Identity identity() const override {
    const std::string files = files_.Describe();
    return Identity().Add("command", specification_).Add("files", files.empty() ? kNoFiles : files);
  }
  bool StartsAnew() const override { return options_.restart == mmadiff::Restart::kEach; }
  bool Restart() override {
    channels_.clear();
    ForgetAges();
    return true;
  }

 private:
  absl::StatusOr<Channel*> ChannelOf(const Operation& op) override {
    if (channels_.size() >= kMaxProcesses && !channels_.contains(&op)) channels_.clear();
    std::unique_ptr<Channel>& channel = channels_[&op];
    if (channel == nullptr) {
      ChildCommand command = {
          options_.command, {absl::StrCat("MMADIFF_INSTRUCTION=", op.name)}, options_.timeout};
      if (StartsAnew()) {
        channel = StartEach(std::move(command));
      } else {
        channel = KeepOne([command] { return StartKeptChild(command); });
      }
    }
    return channel.get();
  }
  absl::Status CheckUnchanged() override { return files_.CheckUnchanged(); }
  bool restarts() const override { return true; }

  const std::string specification_;
  ProgramFiles files_;
  std::map<const Operation*, std::unique_ptr<Channel>> channels_;
};

// The peer at the other ends of two descriptors, shared by all devices on them.
class Peer {
 public:
  Peer(int in, int out, absl::Duration timeout)
      : kept_(KeepOne([=, this]() -> absl::StatusOr<std::unique_ptr<KeptChild>> {
          if (!std::exchange(adopted_, true)) return AdoptPeer(in, out, timeout);
          return absl::UnavailableError("it has already failed");
        })) {}

  static absl::StatusOr<std::shared_ptr<Peer>> Of(int in, int out, absl::Duration timeout) {
    static absl::Mutex mutex(absl::kConstInit);
    static std::map<std::pair<int, int>, std::weak_ptr<Peer>> all;
    if (fcntl(in, F_GETFD) < 0 || fcntl(out, F_GETFD) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("descriptors ", in, " and ", out, " are not both open"));
    }
    absl::MutexLock lock(&mutex);
    std::weak_ptr<Peer>& of = all[{in, out}];
    std::shared_ptr<Peer> peer = of.lock();
    if (peer == nullptr) of = peer = std::make_shared<Peer>(in, out, timeout);
    return peer;
  }

  absl::Mutex& mutex() { return mutex_; }
  // Call only while holding the mutex.
  absl::StatusOr<Channel*> Serve(const Operation& op) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (served_.empty()) served_ = op.name;
    if (served_ == op.name) return kept_.get();
    return absl::NotFoundError(absl::StrCat("the peer serves only one instruction, ", served_,
                                            "; select one with --instr"));
  }

 private:
  absl::Mutex mutex_;
  std::string served_ ABSL_GUARDED_BY(mutex_);  // the operation's name, under any model
  bool adopted_ = false;
  const std::unique_ptr<Channel> kept_;
};

class Descriptors : public Exec {
 public:
  Descriptors(const ExecOptions& options, absl::string_view specification,
              std::shared_ptr<Peer> peer)
      : Exec(options), specification_(specification), peer_(std::move(peer)) {}

  std::string name() const override { return absl::StrCat("fd:", specification_); }
  Identity identity() const override { return Identity().Add("descriptors", specification_); }

 private:
  // Only called while turn() is held, which the thread-safety analysis cannot detect.
  absl::StatusOr<Channel*> ChannelOf(const Operation& op) override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return peer_->Serve(op);
  }
  absl::Mutex* turn() override { return &peer_->mutex(); }

  const std::string specification_;
  const std::shared_ptr<Peer> peer_;
};

}  // namespace

DeviceOr OpenExec(absl::string_view text, absl::Duration timeout) {
  ASSIGN_OR_RETURN(const ExecOptions options, ParseExecOptions(text, timeout));
  if (absl::StripAsciiWhitespace(options.command).empty()) {
    return absl::InvalidArgumentError("exec: needs a command, for example 'exec:./my_model'");
  }
  if (options.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("exec: the timeout must be positive, not ",
                                                   absl::FormatDuration(options.timeout)));
  }
  return std::make_unique<Command>(options, text);
}

DeviceOr OpenDescriptors(absl::string_view text, absl::Duration timeout) {
  ASSIGN_OR_RETURN(const ExecOptions options, ParseExecOptions(text, timeout, Restart::kNever));
  const std::vector<std::string> ends = absl::StrSplit(options.command, ',');
  int in = -1, out = -1;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &in) || !absl::SimpleAtoi(ends[1], &out)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fd:", text, ": write fd:IN,OUT, the numbers of two open file descriptors"));
  }
  if (options.restart != Restart::kNever) {
    return absl::InvalidArgumentError(
        "fd: cannot restart a process; only restart=never is allowed");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Peer> peer, Peer::Of(in, out, options.timeout));
  return std::make_unique<Descriptors>(options, text, std::move(peer));
}

absl::StatusOr<Answers> ReadAnswers(const Operation& op, const Batch& batch,
                                    const ExecOptions& options, absl::string_view output,
                                    size_t piece) {
  const int64_t count = batch.dot_products();
  const LinePattern skip(options.skip);
  const std::unique_ptr<AnswerReader> reader =
      ReaderOf(options.protocol, op, batch, 0, count, skip);
  absl::Status s;
  for (; s.ok() && !output.empty(); output.remove_prefix(std::min(piece, output.size()))) {
    s = reader->Take(output.substr(0, piece)).status();
  }
  if (s.ok()) s = reader->Finish();
  RETURN_IF_ERROR(s);
  Answers answers = reader->TakeAnswers(s);
  PlaceTexts(reader->texts(), TextPlace::kBefore, answers);
  return answers;
}

}  // namespace mmadiff
