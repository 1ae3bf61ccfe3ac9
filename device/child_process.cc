#include "device/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "device/absence.h"
#include "device/clock.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "device/watcher.h"

extern char** environ;

namespace mmadiff {
namespace {

constexpr size_t kKeptStderr = 2048;       // bytes
constexpr size_t kReadAtOnce = 64 * 1024;  // bytes, the capacity of a pipe

constexpr int kLeaveMilliseconds = 1000;

constexpr absl::Duration kQuestions = absl::Milliseconds(200);  // between two calls of `stop`

constexpr char kEnd[] = "mmadiff/child_end";  // payload

absl::Status EndedBy(absl::Status error, ChildEnd end) {
  error.SetPayload(kEnd, absl::Cord(absl::StrCat(end.exit_code, " ", end.signal)));
  return error;
}

// A write to a pipe without a reader raises SIGPIPE. While alive, this object keeps it from this
// thread and leaves the rest of the process's signal handling alone.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE);
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &saved_);
  }
  ~SigpipeGuard() {
    const timespec now = {0, 0};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &saved_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

  const sigset_t& saved() const { return saved_; }

 private:
  sigset_t sigpipe_, saved_;
  bool was_pending_;
};

// This process's environment with `added` (each NAME=VALUE) in it.
std::vector<char*> Environment(const std::vector<std::string>& added) {
  std::vector<char*> environment;
  for (const std::string& one : added) environment.push_back(const_cast<char*>(one.c_str()));
  for (char** e = environ; *e != nullptr; ++e) {
    const bool replaced = std::ranges::any_of(added, [e](const std::string& one) {
      return absl::StartsWith(*e, one.substr(0, one.find('=') + 1));
    });
    if (!replaced) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  return environment;
}

class Child {
 public:
  // `kept`: its stdin stays open.
  Child(const ChildCommand& command, bool kept) : command_(command), kept_(kept) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  absl::Status Start(const SigpipeGuard& guard);
  // Uses a peer instead of starting a command.
  absl::Status Adopt(int in, int out);
  // Runs until the command closes its stdout.
  absl::Status Exchange(NextInput next_input, TakeOutput take_output, StopRequest stop);
  absl::Status Ask(absl::string_view request, HearAnswer hear, StopRequest stop);
  // After Exchange(): waits for the end of the process.
  absl::Status Finish(StopRequest stop);
  // Returns `error` with the end of stderr; kills the process group.
  absl::Status Fail(const absl::Status& error);
  void SetTimeout(absl::Duration timeout) { timeout_ = std::min(timeout, command_.timeout); }
  // Closes the command's stdin and waits a moment for it to end.
  void Leave();
  // Whether output arrives in this time.
  bool Writes(int milliseconds) const;
  void CloseInput() { stdin_.Close(); }

 private:
  // Polls for a while; an error if the answers are no longer wanted or do not arrive.
  absl::Status Wait(absl::Span<pollfd> fds, absl::string_view hang, StopRequest stop);
  void Write(NextInput next_input);
  absl::Status Read(TakeOutput take_output);
  void ReadStderr();
  absl::Status EndStatus(CommandEnd end) const;
  // Waits once, then writes and reads as far as possible.
  absl::Status Step(NextInput next_input, TakeOutput take_output, StopRequest stop);

  const ChildCommand& command_;
  absl::Duration timeout_ = command_.timeout;
  const bool kept_;
  Watcher watcher_;
  Fd stdin_, stdout_, stderr_;
  absl::string_view input_;  // taken from next_input, not yet written
  std::string stderr_text_;  // the end of it
  absl::Duration progress_ = MonotonicNow(), asked_;
  bool overdue_ = false;
  bool adopted_ = false;
};

absl::Status Child::Start(const SigpipeGuard& guard) {
  Pipe in, out, err;
  if (!OpenPipe(&in) || !OpenPipe(&out) || !OpenPipe(&err)) {
    return absl::UnavailableError(absl::StrCat("cannot open a pipe: ", strerror(errno)));
  }
  const std::vector<char*> environment = Environment(command_.environment);
  RETURN_IF_ERROR(watcher_.Start({command_.command.c_str(), environment.data(), in.read.get(),
                                  out.write.get(), err.write.get(), &guard.saved()}));
  stdin_ = std::move(in.write);
  stdout_ = std::move(out.read);
  stderr_ = std::move(err.read);
  fcntl(stdin_.get(), F_SETFL, O_NONBLOCK);
  fcntl(stderr_.get(), F_SETFL, O_NONBLOCK);
  return absl::OkStatus();
}

absl::Status Child::Adopt(int in, int out) {
  stdout_ = Fd(fcntl(in, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  stdin_ = Fd(fcntl(out, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!stdin_.open() || !stdout_.open() || fcntl(stdin_.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptors ", in, " and ", out, ": ", strerror(errno)));
  }
  adopted_ = true;
  return absl::OkStatus();
}

absl::Status Child::Wait(absl::Span<pollfd> fds, absl::string_view hang, StopRequest stop) {
  const absl::Duration now = MonotonicNow();
  const absl::Duration silent = now - progress_;
  // This process itself may have been suspended: output that arrived meanwhile is read first.
  if (silent < timeout_) {
    overdue_ = false;
  } else if (std::exchange(overdue_, true)) {
    return absl::DeadlineExceededError(
        absl::StrCat(hang, " for ", absl::FormatDuration(timeout_),
                     watcher_.Stopped() ? "; the process that watches it was stopped" : "",
                     adopted_ ? "" : "; killed"));
  }
  if (now - asked_ >= kQuestions) {
    if (stop()) return absl::CancelledError("stopped before its last answer");
    asked_ = now;
  }
  const timespec time =
      absl::ToTimespec(std::clamp(timeout_ - silent, absl::ZeroDuration(), kQuestions));
  if (ppoll(fds.data(), fds.size(), &time, nullptr) >= 0) return absl::OkStatus();
  for (pollfd& fd : fds) fd.revents = 0;
  if (errno == EINTR) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("poll: ", strerror(errno)));
}

void Child::Write(NextInput next_input) {
  if (input_.empty()) input_ = next_input();
  if (input_.empty()) return stdin_.Close();
  const ssize_t written = write(stdin_.get(), input_.data(), input_.size());
  if (written > 0) {
    input_.remove_prefix(written);
    progress_ = MonotonicNow();
  } else if (errno != EAGAIN && errno != EINTR) {
    stdin_.Close();  // EPIPE: the command reads no more; its answers show whether that is right
  }
}

absl::Status Child::Read(TakeOutput take_output) {
  char buffer[kReadAtOnce];
  const ssize_t got = read(stdout_.get(), buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool progress, got > 0 ? take_output(absl::string_view(buffer, got))
                                                : absl::StatusOr<bool>(true));
  if (progress) progress_ = MonotonicNow();
  if (got <= 0) stdout_.Close();
  return absl::OkStatus();
}

void Child::ReadStderr() {
  char buffer[kReadAtOnce];
  const ssize_t got = read(stderr_.get(), buffer, sizeof(buffer));
  if (got > 0) {
    stderr_text_.append(buffer, got);
    if (stderr_text_.size() > kKeptStderr) {
      stderr_text_.erase(0, stderr_text_.size() - kKeptStderr);
    }
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    stderr_.Close();
  }
}

absl::Status Child::Step(NextInput next_input, TakeOutput take_output, StopRequest stop) {
  const bool writes = !kept_ || !input_.empty();
  pollfd fds[] = {{writes ? stdin_.get() : -1, POLLOUT, 0},
                  {stdout_.get(), POLLIN, 0},
                  {stderr_.get(), POLLIN, 0}};
  RETURN_IF_ERROR(Wait(absl::MakeSpan(fds),
                       input_.empty() ? "no answer" : "neither read its input nor answered", stop));
  // POLLHUP and POLLERR are reported even if not requested.
  if (fds[0].revents != 0) Write(next_input);
  if (fds[2].revents != 0) ReadStderr();
  return fds[1].revents != 0 ? Read(take_output) : absl::OkStatus();
}

absl::Status Child::Exchange(NextInput next_input, TakeOutput take_output, StopRequest stop) {
  while (stdout_.open()) {
    RETURN_IF_ERROR(Step(next_input, take_output, stop));
  }
  stdin_.Close();
  return absl::OkStatus();
}

absl::Status Child::Ask(absl::string_view request, HearAnswer hear, StopRequest stop) {
  input_ = request;
  progress_ = MonotonicNow();
  bool answered = false;
  const auto nothing = [] { return absl::string_view(); };
  const auto take = [&](absl::string_view bytes) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const Heard heard, hear(bytes));
    answered |= heard == Heard::kAnswer;
    return heard != Heard::kNothing;
  };
  while (stdout_.open() && !answered) {
    RETURN_IF_ERROR(Step(nothing, take, stop));
  }
  if (answered) return absl::OkStatus();
  stdin_.Close();
  if (adopted_) return absl::UnavailableError("it closed its output");
  const absl::Status ended = Finish(stop);
  return ended.ok() ? EndedBy(absl::UnavailableError("it exited without an answer"), {}) : ended;
}

absl::Status Child::Finish(StopRequest stop) {
  for (;;) {
    pollfd fds[] = {{watcher_.ended(), POLLIN, 0}, {stderr_.get(), POLLIN, 0}};
    RETURN_IF_ERROR(Wait(absl::MakeSpan(fds), "closed its output but did not exit", stop));
    if (fds[1].revents != 0) ReadStderr();
    if (fds[0].revents != 0) return EndStatus(watcher_.TakeEnd());
  }
}

absl::Status Child::EndStatus(CommandEnd end) const {
  if (end.kind == CommandEnd::kNotBegun) {
    return absl::UnavailableError(absl::StrCat("cannot start a process: ", strerror(end.value)));
  }
  if (end.kind == CommandEnd::kSignal) {
    return EndedBy(absl::UnavailableError(absl::StrCat("killed by signal ", end.value, " (",
                                                       strsignal(end.value), ")")),
                   {.signal = end.value});
  }
  switch (const int code = end.value) {
    case 0:
      return absl::OkStatus();
    case 127:
      return NotFound(
          Absence::kProgram,
          "cannot start: the shell found no such command (exit code 127); check the path");
    case 126:
      return NotFound(
          Absence::kProgram,
          "cannot start: found, but not executable (exit code 126); check its permissions");
    default:
      if (code > 128) {
        return EndedBy(absl::UnavailableError(absl::StrCat(
                           "exit code ", code, ", the shell's code for killed by signal ",
                           code - 128, " (", strsignal(code - 128), ")")),
                       {.signal = code - 128});
      }
      return EndedBy(absl::InternalError(absl::StrCat("failed with exit code ", code)),
                     {.exit_code = code});
  }
}

absl::Status Child::Fail(const absl::Status& error) {
  watcher_.Kill();
  // Read the rest of the pipe. A process that left the group may still write: do not wait for its
  // end.
  pollfd fd = {stderr_.get(), POLLIN, 0};
  for (int i = 0; i < 16 && stderr_.open() && poll(&fd, 1, 0) > 0; ++i) ReadStderr();
  const absl::string_view text = absl::StripAsciiWhitespace(stderr_text_);
  const std::string of =
      command_.named ? absl::StrCat("command `", PlainLine(command_.command), "`: ") : "";
  absl::Status s(error.code(),
                 absl::StrCat(of, error.message(),
                              text.empty() ? "" : "; its stderr ends with: ", PlainText(text)));
  error.ForEachPayload(
      [&s](absl::string_view type, const absl::Cord& payload) { s.SetPayload(type, payload); });
  return s;
}

void Child::Leave() {
  stdin_.Close();
  pollfd fd = {watcher_.ended(), POLLIN, 0};
  if (fd.fd >= 0) poll(&fd, 1, kLeaveMilliseconds);
}

bool Child::Writes(int milliseconds) const {
  pollfd fd = {stdout_.get(), POLLIN, 0};
  char byte;
  return stdout_.open() && poll(&fd, 1, milliseconds) > 0 && read(fd.fd, &byte, 1) > 0;
}

class KeptCommand : public KeptChild {
 public:
  explicit KeptCommand(ChildCommand command)
      : command_(std::move(command)), child_(command_, true) {}
  ~KeptCommand() override { child_.Leave(); }

  absl::Status Start() { return Checked(child_.Start(SigpipeGuard())); }
  absl::Status Adopt(int in, int out) { return child_.Adopt(in, out); }
  absl::Status Ask(absl::string_view request, HearAnswer hear, StopRequest stop,
                   absl::Duration timeout) override {
    const SigpipeGuard guard;
    child_.SetTimeout(timeout);
    return Checked(child_.Ask(request, hear, stop));
  }
  absl::Status CheckSilent(bool ends) override {
    if (ends) child_.CloseInput();
    if (!child_.Writes(ends ? kLeaveMilliseconds : 0)) return absl::OkStatus();
    return child_.Fail(absl::DataLossError("it wrote more than its answer"));
  }

 private:
  absl::Status Checked(const absl::Status& s) { return s.ok() ? s : child_.Fail(s); }

  const ChildCommand command_;
  Child child_;
};

}  // namespace

std::optional<ChildEnd> EndOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kEnd);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> numbers = absl::StrSplit(std::string(*payload), ' ');
  ChildEnd end;
  if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &end.exit_code) ||
      !absl::SimpleAtoi(numbers[1], &end.signal)) {
    return std::nullopt;
  }
  return end;
}

absl::Status RunChild(const ChildCommand& command, NextInput next_input, TakeOutput take_output,
                      StopRequest stop) {
  const SigpipeGuard guard;
  Child child(command, false);
  absl::Status status = child.Start(guard);
  if (status.ok()) status = child.Exchange(next_input, take_output, stop);
  if (status.ok()) status = child.Finish(stop);
  if (status.ok()) status = take_output("").status();
  return status.ok() ? status : child.Fail(status);
}

absl::StatusOr<std::unique_ptr<KeptChild>> StartKeptChild(ChildCommand command) {
  auto child = std::make_unique<KeptCommand>(std::move(command));
  RETURN_IF_ERROR(child->Start());
  return child;
}

absl::StatusOr<std::unique_ptr<KeptChild>> AdoptPeer(int in, int out, absl::Duration timeout) {
  auto peer = std::make_unique<KeptCommand>(ChildCommand{"", {}, timeout, /*named=*/false});
  RETURN_IF_ERROR(peer->Adopt(in, out));
  return peer;
}

}  // namespace mmadiff
