// How requests are sent to a program:
// `CMD,timeout=5m,batch=64,restart=never,protocol=binary,skip=REGEX` after `exec:`, `IN,OUT,...`
// after `fd:`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mmadiff {

enum class Restart : uint8_t {
  kEach,   // a process for each batch; its stdin is closed after the batch
  kNever,  // one process for all, until it ends
};
enum class Protocol : uint8_t {
  kLines,   // device/line_protocol.h
  kBinary,  // device/binary_protocol.h
};

struct ExecOptions {
  std::string command;     // the text without the options
  absl::Duration timeout;  // the longest time without an answer or input taken; positive
  // Dot products sent before their answers are awaited, at least 1; 0: all of them.
  int64_t batch = 0;
  Restart restart = Restart::kEach;
  Protocol protocol = Protocol::kLines;
  // POSIX extended regular expression (grep -E); matching lines of stdout are ignored.
  std::string skip = {};
};

// Options are taken only from the end of the text, and only those five, each at most once. A
// regular expression cannot contain a comma; `.` matches one. kInvalidArgument names the option and
// its allowed values. Defaults are `timeout` and `restart`.
absl::StatusOr<ExecOptions> ParseExecOptions(absl::string_view text, absl::Duration timeout,
                                             Restart restart = Restart::kEach);

}  // namespace mmadiff
