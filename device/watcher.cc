#include "device/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

// The watcher's own descriptors; it has no others.
constexpr int kAlive = 0, kReport = 1, kSignals = 2;

// The code from here to Start() runs in two children of a process with threads, which may have held
// any lock at the fork: async-signal-safe calls only, no allocation.

[[noreturn]] void RunCommand(const WatchedCommand& c) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // in case the watcher is killed
  dup2(c.in, STDIN_FILENO);
  dup2(c.out, STDOUT_FILENO);
  dup2(c.err, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigprocmask(SIG_SETMASK, c.mask, nullptr);
  const char* const arguments[] = {"sh", "-c", c.command, nullptr};
  execve("/bin/sh", const_cast<char* const*>(arguments), c.environment);
  _exit(127);
}

void Report(CommandEnd end) {
  while (write(kReport, &end, sizeof(end)) < 0 && errno == EINTR) {
  }
}

// Reaps orphans of the command that have ended. The command itself is not reaped, so that no other
// process group gets its number: true if it has ended, which is reported.
bool ReapUntil(pid_t command) {
  siginfo_t info;
  while (info.si_pid = 0,
         waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    if (info.si_pid == command) {
      const bool exited = info.si_code == CLD_EXITED;
      Report({exited ? CommandEnd::kExitCode : CommandEnd::kSignal, info.si_status});
      return true;
    }
    waitpid(info.si_pid, nullptr, 0);
  }
  return false;
}

// Watches until the other end of kAlive is closed.
void WatchUntilOrder(pid_t command) {
  for (bool ended = false;;) {
    pollfd fds[] = {{kAlive, POLLIN, 0}, {ended ? -1 : kSignals, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[0].revents != 0) return;
    signalfd_siginfo ignored;
    if (read(kSignals, &ignored, sizeof(ignored)) > 0) ended = ReapUntil(command);
  }
}

// Kills the children of this process. False: the list of them cannot be read.
bool KillChildren() {
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  pid_t pid = 0;
  char bytes[512];  // the numbers, each followed by a space
  for (ssize_t got; (got = read(list, bytes, sizeof(bytes))) > 0;) {
    for (const char* at = bytes; at < bytes + got; ++at) {
      if (*at >= '0' && *at <= '9') {
        pid = 10 * pid + (*at - '0');
      } else if (pid > 0) {
        kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  close(list);
  return true;
}

// Kills the command, its group, and processes that left it: daemons became children of this
// process.
void KillAll(pid_t command) {
  kill(-command, SIGKILL);
  // New orphans appear as long as there are children.
  while (KillChildren()) {
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
  while (waitpid(-command, nullptr, 0) > 0) {
  }
}

// Blocks every signal: a signal sent to this program or its group is not meant for the watcher.
[[noreturn]] void Watch(const WatchedCommand& c, int alive, int report) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "exec-watcher");  // nor is `killall` of this program
  prctl(PR_SET_CHILD_SUBREAPER, 1);    // adopts orphans of the command
  signal(SIGCHLD, SIG_DFL);
  const pid_t command = _Fork();
  if (command == 0) RunCommand(c);
  const int error = errno;
  dup2(alive, kAlive);
  dup2(report, kReport);
  closefrom(kSignals);  // including the ends of other children's pipes
  if (command < 0) {
    Report({CommandEnd::kNotBegun, error});
    _exit(0);
  }
  setpgid(command, command);  // both do this; the first one counts
  sigset_t sigchld;
  sigemptyset(&sigchld);
  sigaddset(&sigchld, SIGCHLD);
  if (signalfd(-1, &sigchld, 0) == kSignals) WatchUntilOrder(command);
  KillAll(command);
  _exit(0);
}

absl::Status NoWatcher(const char* what) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", strerror(errno)));
}

}  // namespace

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

absl::Status Watcher::Start(const WatchedCommand& command) {
  Pipe alive, report;
  if (!OpenPipe(&alive) || !OpenPipe(&report)) return NoWatcher("open a pipe");
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &saved);
  pid_ = fork();
  if (pid_ == 0) Watch(command, alive.read.get(), report.write.get());
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  errno = error;
  if (pid_ < 0) return NoWatcher("start a process");
  alive_ = std::move(alive.write);
  ended_ = std::move(report.read);
  return absl::OkStatus();
}

CommandEnd Watcher::TakeEnd() {
  CommandEnd end;
  ssize_t got;
  while ((got = read(ended_.get(), &end, sizeof(end))) < 0 && errno == EINTR) {
  }
  if (got != sizeof(end)) end = {CommandEnd::kSignal, SIGKILL};  // the watcher itself was killed
  Kill();
  return end;
}

bool Watcher::Stopped() const {
  siginfo_t info;
  info.si_pid = 0;
  return pid_ > 0 && waitid(P_PID, pid_, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

void Watcher::Kill() {
  alive_.Close();
  ended_.Close();
  if (pid_ <= 0) return;
  // A stopped watcher (SIGSTOP) would not see the order.
  for (;;) {
    kill(pid_, SIGCONT);
    siginfo_t info;
    const int failed = waitid(P_PID, pid_, &info, WEXITED | WSTOPPED);
    if (failed != 0 ? errno != EINTR : info.si_code != CLD_STOPPED) break;
  }
  pid_ = 0;
}

}  // namespace mmadiff
