// Runs a shell command as a filter: bytes in, bytes out, and everything that can go wrong as a
// Status.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mmadiff {

struct ChildCommand {
  std::string command;      // for /bin/sh -c
  std::string environment;  // one NAME=VALUE added to (or replacing one of) this process's own
  absl::Duration timeout;   // without one byte of stdin taken or of stdout given
};

// The next bytes of the command's stdin, valid until the next call; empty at the end.
using NextInput = absl::FunctionRef<absl::string_view()>;
// Takes bytes of its stdout as they come, and nothing once it has exited with 0. An error stops the
// command and is returned.
using TakeOutput = absl::FunctionRef<absl::Status(absl::string_view)>;

// Ok when the command closed its stdout and exited with 0. A command that stops reading its stdin
// is no error here. It is the leader of a process group of its own, which is killed on any error.
// The end of what it wrote to stderr is part of every error message:
//   kUnavailable       it could not be started, exited with another code, or was killed by a signal
//   kDeadlineExceeded  no progress for `timeout`
absl::Status RunChild(const ChildCommand& child, NextInput next_input, TakeOutput take_output);

}  // namespace mmadiff
