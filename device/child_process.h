// Runs a shell command: bytes in, bytes out, and everything that can go wrong as a Status. As a
// filter, or kept alive for one request after another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mmadiff {

struct ChildCommand {
  std::string command;                   // for /bin/sh -c
  std::vector<std::string> environment;  // NAME=VALUE, added to (or replacing) this process's own
  absl::Duration timeout;  // without progress: stdin taken, or what TakeOutput calls so
  bool named = true;       // in messages: people gave it
};

// How the command ended by itself, if an error below says so.
struct ChildEnd {
  int exit_code = 0, signal = 0;  // one of them; none: it ended well, without all answers
};
std::optional<ChildEnd> EndOf(const absl::Status& error);

// The next bytes of the command's stdin, valid until the next call; empty at the end.
using NextInput = absl::FunctionRef<absl::string_view()>;
// Takes bytes of its stdout as they come, and nothing once it has exited with 0; says whether they
// are progress. An error stops the command and is returned.
using TakeOutput = absl::FunctionRef<absl::StatusOr<bool>(absl::string_view)>;
// Whether the answers are still wanted; asked at least four times a second.
using StopRequest = absl::FunctionRef<bool()>;

// Ok when the command closed its stdout and exited with 0. A command that stops reading its stdin
// is no error here. It is the leader of a process group of its own. What is left of it, of its
// group and of its descendants is killed at the end, when this process dies too. The end of what it wrote to stderr is part of
// every error message, control characters escaped:
//   kNotFound          the shell finds no such program, or one that is not executable
//   kInternal          another exit code
//   kUnavailable       no process to be had, or killed by a signal
//   kDeadlineExceeded  no progress for `timeout`
//   kCancelled         by `stop`
absl::Status RunChild(const ChildCommand& child, NextInput next_input, TakeOutput take_output,
                      StopRequest stop);

// What bytes of an answer are.
enum class Heard { kNothing, kProgress, kAnswer };
using HearAnswer = absl::FunctionRef<absl::StatusOr<Heard>(absl::string_view)>;

// A command that answers requests until its stdin is closed. After an error it is dead. One object
// serves one thread.
class KeptChild {
 public:
  virtual ~KeptChild() = default;

  // Writes the request, then reads until `hear` says that it has the whole answer. Errors as
  // RunChild(); kUnavailable also if the command exits before it has answered. `timeout`: that of the
  // command, or a shorter one.
  virtual absl::Status Ask(absl::string_view request, HearAnswer hear, StopRequest stop,
                           absl::Duration timeout = absl::InfiniteDuration()) = 0;
};
absl::StatusOr<std::unique_ptr<KeptChild>> StartKeptChild(ChildCommand command);
// The same of whoever is at the other ends of two descriptors, copies of which are used: what it
// answers is read from `in`. kUnavailable once it closes its end. kInvalidArgument: not open.
absl::StatusOr<std::unique_ptr<KeptChild>> AdoptPeer(int in, int out, absl::Duration timeout);

}  // namespace mmadiff
