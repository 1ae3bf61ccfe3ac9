#include "device/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"

extern char** environ;

namespace mmadiff {
namespace {

constexpr size_t kKeptStderr = 2048;       // bytes
constexpr size_t kReadAtOnce = 64 * 1024;  // bytes: what a pipe holds

constexpr absl::Duration kLongestWait = absl::Milliseconds(50);

// A file descriptor and the duty to close it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }  // -1 when closed, which poll() ignores
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

// Both ends are closed on exec, and lie above stdin, stdout and stderr, which the child's copies
// must not overwrite.
bool OpenPipe(Pipe* pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  for (int& end : ends) {
    if (end > STDERR_FILENO) continue;
    const int moved = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(end);
    end = moved;
  }
  *pipe = {Fd(ends[0]), Fd(ends[1])};
  return pipe->read.open() && pipe->write.open();
}

// A write to a pipe that nobody reads raises SIGPIPE. Keeps it from this thread while alive, and
// leaves the rest of the process's signal handling alone.
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

// This process's environment with `added` (NAME=VALUE) in it.
std::vector<char*> Environment(const std::string& added) {
  const absl::string_view name = absl::string_view(added).substr(0, added.find('=') + 1);
  std::vector<char*> environment = {const_cast<char*>(added.c_str())};
  for (char** e = environ; *e != nullptr; ++e) {
    if (!absl::StartsWith(*e, name)) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  return environment;
}

class Child {
 public:
  explicit Child(const ChildCommand& command) : command_(command) {}
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  absl::Status Start();
  absl::Status Exchange(NextInput next_input, TakeOutput take_output);
  // After Exchange(): waits for the end of the process.
  absl::Status Finish();
  // `error` with the end of stderr, the process group killed.
  absl::Status Fail(const absl::Status& error);

 private:
  void Kill();
  void Write(NextInput next_input);
  absl::Status Read(TakeOutput take_output);
  void ReadStderr();
  absl::Status TimedOut(absl::string_view what);
  absl::Status ExitStatus(int status);
  // Milliseconds until `timeout` after the last progress, for poll(); -1 for no limit.
  int PollTime() const;

  const ChildCommand& command_;
  SigpipeGuard guard_;
  pid_t pid_ = 0;
  Fd stdin_, stdout_, stderr_;
  absl::string_view input_;  // taken from next_input, not yet written
  std::string stderr_text_;  // its end
  absl::Time progress_ = absl::Now();
};

absl::Status Child::Start() {
  Pipe in, out, err;
  if (!OpenPipe(&in) || !OpenPipe(&out) || !OpenPipe(&err)) {
    return absl::UnavailableError(absl::StrCat("cannot open a pipe: ", strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy_actions = [&] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);

  // A process group of its own, and the signals as in an ordinary shell.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const absl::Cleanup destroy_attributes = [&] { posix_spawnattr_destroy(&attributes); };
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &sigpipe);
  posix_spawnattr_setsigmask(&attributes, &guard_.saved());

  const char* const arguments[] = {"sh", "-c", command_.command.c_str(), nullptr};
  std::vector<char*> environment = Environment(command_.environment);
  const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes,
                                const_cast<char**>(arguments), environment.data());
  if (error != 0) {
    pid_ = 0;
    return absl::UnavailableError(absl::StrCat("cannot start /bin/sh: ", strerror(error)));
  }
  stdin_ = std::move(in.write);
  stdout_ = std::move(out.read);
  stderr_ = std::move(err.read);
  fcntl(stdin_.get(), F_SETFL, O_NONBLOCK);
  fcntl(stderr_.get(), F_SETFL, O_NONBLOCK);
  progress_ = absl::Now();
  return absl::OkStatus();
}

void Child::Kill() {
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

int Child::PollTime() const {
  if (command_.timeout == absl::InfiniteDuration()) return -1;
  const absl::Duration left = progress_ + command_.timeout - absl::Now();
  return static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(left) + 1, 0, 1 << 30));
}

void Child::Write(NextInput next_input) {
  if (input_.empty()) input_ = next_input();
  if (input_.empty()) return stdin_.Close();
  const ssize_t written = write(stdin_.get(), input_.data(), input_.size());
  if (written > 0) {
    input_.remove_prefix(written);
    progress_ = absl::Now();
  } else if (errno != EAGAIN && errno != EINTR) {
    stdin_.Close();  // EPIPE: the command wants no more; its answers tell whether that is right
  }
}

absl::Status Child::Read(TakeOutput take_output) {
  char buffer[kReadAtOnce];
  const ssize_t got = read(stdout_.get(), buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return absl::OkStatus();
  progress_ = absl::Now();
  if (got > 0) return take_output(absl::string_view(buffer, got));
  stdout_.Close();
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

absl::Status Child::TimedOut(absl::string_view what) {
  return absl::DeadlineExceededError(
      absl::StrCat(what, " for ", absl::FormatDuration(command_.timeout), "; killed"));
}

absl::Status Child::Exchange(NextInput next_input, TakeOutput take_output) {
  while (stdout_.open()) {
    pollfd fds[] = {
        {stdin_.get(), POLLOUT, 0}, {stdout_.get(), POLLIN, 0}, {stderr_.get(), POLLIN, 0}};
    const int ready = poll(fds, 3, PollTime());
    if (ready < 0 && errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("poll: ", strerror(errno)));
    }
    if (ready > 0) {
      // POLLHUP and POLLERR come without being asked for.
      if (fds[0].revents != 0) Write(next_input);
      if (fds[2].revents != 0) ReadStderr();
      if (fds[1].revents != 0) {
        const absl::Status taken = Read(take_output);
        if (!taken.ok()) return taken;
      }
    }
    if (absl::Now() - progress_ >= command_.timeout) {
      return TimedOut(input_.empty() ? "no answer" : "neither reads its input nor answers");
    }
  }
  stdin_.Close();
  return absl::OkStatus();
}

absl::Status Child::Finish() {
  // It usually ends with its output, so this starts with short waits.
  for (absl::Duration wait = absl::Microseconds(50);; wait = std::min(2 * wait, kLongestWait)) {
    int status;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      pid_ = 0;
      return ExitStatus(status);
    }
    if (absl::Now() - progress_ >= command_.timeout) {
      return TimedOut("closed its output but does not exit");
    }
    pollfd fd = {stderr_.get(), POLLIN, 0};
    const timespec time = absl::ToTimespec(wait);
    if (ppoll(&fd, 1, &time, nullptr) > 0) ReadStderr();
  }
}

absl::Status Child::ExitStatus(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return absl::UnavailableError(
        absl::StrCat("killed by signal ", signal, " (", strsignal(signal), ")"));
  }
  switch (const int code = WEXITSTATUS(status)) {
    case 0:
      return absl::OkStatus();
    case 127:
      return absl::UnavailableError(
          "cannot start: the shell knows no such command (exit code 127); check the path");
    case 126:
      return absl::UnavailableError(
          "cannot start: found, but not executable (exit code 126); check its permissions");
    default:
      if (code > 128) {
        return absl::UnavailableError(absl::StrCat("exit code ", code,
                                                   ": the shell's way to say "
                                                   "killed by signal ",
                                                   code - 128, " (", strsignal(code - 128), ")"));
      }
      return absl::UnavailableError(absl::StrCat("failed with exit code ", code));
  }
}

absl::Status Child::Fail(const absl::Status& error) {
  if (pid_ > 0) Kill();
  // What is left in the pipe. A process that left the group may still write: no waiting for its
  // end.
  pollfd fd = {stderr_.get(), POLLIN, 0};
  for (int i = 0; i < 16 && stderr_.open() && poll(&fd, 1, 0) > 0; ++i) ReadStderr();
  const absl::string_view text = absl::StripAsciiWhitespace(stderr_text_);
  return absl::Status(error.code(),
                      absl::StrCat("command `", command_.command, "`: ", error.message(),
                                   text.empty() ? "" : "; its stderr ends: ", text));
}

}  // namespace

absl::Status RunChild(const ChildCommand& command, NextInput next_input, TakeOutput take_output) {
  Child child(command);
  absl::Status status = child.Start();
  if (status.ok()) status = child.Exchange(next_input, take_output);
  if (status.ok()) status = child.Finish();
  if (status.ok()) status = take_output("");
  return status.ok() ? status : child.Fail(status);
}

}  // namespace mmadiff
