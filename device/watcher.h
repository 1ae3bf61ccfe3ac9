// A shell command that does not outlive this process, no matter how this process ends.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <utility>

#include "absl/status/status.h"

namespace mmadiff {

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
  int Release() { return std::exchange(fd_, -1); }  // the caller closes it

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

// Both ends are closed on exec and are numbered above stdin, stdout and stderr, which a child's
// copies must not overwrite. False with errno.
bool OpenPipe(Pipe* pipe);

struct WatchedCommand {
  const char* command;       // for /bin/sh -c
  char* const* environment;  // ends with nullptr
  int in, out, err;          // above 2
  const sigset_t* mask;      // blocked signals
};

// How the command ended: by its exit code, by a signal, or not started, with errno.
struct CommandEnd {
  enum Kind { kExitCode, kSignal, kNotBegun } kind;
  int value;
};

// A small process between this process and the command, which leads its own process group. The
// small process waits for the end of the command and for the end of this process. It then kills the
// group and all descendants, daemons too, and reaps them.
class Watcher {
 public:
  Watcher() = default;
  ~Watcher() { Kill(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // kUnavailable: no process or pipe can be created.
  absl::Status Start(const WatchedCommand& command);
  // Becomes readable when the command itself has ended, even if others in its group still run.
  int ended() const { return ended_.get(); }
  // Call once ended() is readable.
  CommandEnd TakeEnd();
  // Whether the small process was stopped (SIGSTOP): then only Kill() ends anything.
  bool Stopped() const;
  // Kills everything that remains of the command; returns when it is dead. A second call does
  // nothing.
  void Kill();

 private:
  pid_t pid_ = 0;
  Fd alive_;  // held by this process alone: closing it is the order to kill
  Fd ended_;
};

}  // namespace mmadiff
