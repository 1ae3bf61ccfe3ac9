// A shell command that does not outlive this process, however this process ends.
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

// Both ends are closed on exec, and lie above stdin, stdout and stderr, which a child's copies must
// not overwrite. False with errno.
bool OpenPipe(Pipe* pipe);

struct WatchedCommand {
  const char* command;       // for /bin/sh -c
  char* const* environment;  // ends with nullptr
  int in, out, err;          // above 2
  const sigset_t* mask;      // of blocked signals
};

// How the command ended: by its exit code, by a signal, or not begun, with errno.
struct CommandEnd {
  enum Kind { kExitCode, kSignal, kNotBegun } kind;
  int value;
};

// Between this process and the command, which leads a process group of its own, stands a small
// process that waits for the command's end and for the end of this process, and then kills the
// group and all descendants, daemons too, and reaps them.
class Watcher {
 public:
  Watcher() = default;
  ~Watcher() { Kill(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // kUnavailable: no process or pipe to be had.
  absl::Status Start(const WatchedCommand& command);
  // Becomes readable when the command has ended, whatever others of its group do.
  int ended() const { return ended_.get(); }
  // To be called once ended() is readable.
  CommandEnd TakeEnd();
  // Whether somebody has stopped the small process (SIGSTOP): nothing ends then but by Kill().
  bool Stopped() const;
  // Kills what is left of the command; returns when it is dead. Does nothing the second time.
  void Kill();

 private:
  pid_t pid_ = 0;
  Fd alive_;  // held by this process alone: its closing is the order to kill
  Fd ended_;
};

}  // namespace mmadiff
