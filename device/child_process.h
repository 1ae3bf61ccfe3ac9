// Runs a shell command: bytes in, bytes out, and every possible failure as a Status. The command
// runs as a filter, or is kept alive for a series of requests.
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
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's own or replacing it
  absl::Duration timeout;  // without progress: input taken, or output that TakeOutput counts
  bool named = true;       // in messages, because a person supplied it
};

// How the command ended on its own, if an error below reports that.
struct ChildEnd {
  int exit_code = 0, signal = 0;  // one is set; neither: it exited with 0, without all answers
};
std::optional<ChildEnd> EndOf(const absl::Status& error);

// The next bytes of the command's stdin, valid until the next call; empty at the end.
using NextInput = absl::FunctionRef<absl::string_view()>;
// Receives bytes of the command's stdout as they arrive, and an empty view once it has exited with
// 0. Returns whether they are progress. An error stops the command and is returned.
using TakeOutput = absl::FunctionRef<absl::StatusOr<bool>(absl::string_view)>;
// True once the answers are no longer wanted; called at least four times a second.
using StopRequest = absl::FunctionRef<bool()>;

// OK when the command closed its stdout and exited with 0. A command that stops reading its stdin
// is not an error here. The command leads its own process group. At the end, the rest of the
// command, its group and its descendants are killed, also when this process ends. Every error
// message includes the end of the command's stderr, control characters escaped:
//   kNotFound          the shell finds no such program, or one that is not executable
//   kInternal          a different exit code
//   kUnavailable       no process could be started, or killed by a signal
//   kDeadlineExceeded  no progress for `timeout`
//   kCancelled         by `stop`
absl::Status RunChild(const ChildCommand& child, NextInput next_input, TakeOutput take_output,
                      StopRequest stop);

// The meaning of the bytes received so far.
enum class Heard { kNothing, kProgress, kAnswer };
using HearAnswer = absl::FunctionRef<absl::StatusOr<Heard>(absl::string_view)>;

// A command that answers requests until its stdin is closed. After an error it is dead. Use each
// object from one thread only.
class KeptChild {
 public:
  virtual ~KeptChild() = default;

  // Writes the request, then reads until `hear` returns kAnswer. Errors as for RunChild();
  // kUnavailable also if the command exits before it has answered. `timeout`: the shorter of this
  // and the command's is used.
  virtual absl::Status Ask(absl::string_view request, HearAnswer hear, StopRequest stop,
                           absl::Duration timeout = absl::InfiniteDuration()) = 0;
  // kDataLoss if it has written more than its answers. `ends`: closes its stdin first and waits up to
  // a second for more.
  virtual absl::Status CheckSilent(bool ends) = 0;
};
absl::StatusOr<std::unique_ptr<KeptChild>> StartKeptChild(ChildCommand command);
// The same for the peer at the other ends of two descriptors, which are duplicated; its answers are
// read from `in`. kUnavailable once the peer closes its end. kInvalidArgument: a descriptor is not
// open.
absl::StatusOr<std::unique_ptr<KeptChild>> AdoptPeer(int in, int out, absl::Duration timeout);

}  // namespace mmadiff
