// How a program is asked: `CMD,timeout=5m,batch=64,restart=never,protocol=binary,skip=REGEX` behind
// `exec:`, `IN,OUT,...` behind `fd:`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mmadiff {

enum class Restart : uint8_t {
  kEach,   // a process for each batch; its stdin is closed behind the batch
  kNever,  // one process for all, until it dies
};
enum class Protocol : uint8_t {
  kLines,   // device/line_protocol.h
  kBinary,  // device/binary_protocol.h
};

struct ExecOptions {
  std::string command;     // what is left without the options
  absl::Duration timeout;  // the longest time without an answer or input taken; positive
  // Dot products that are sent before their answers are awaited, at least 1; 0: as many as there are.
  int64_t batch = 0;
  Restart restart = Restart::kEach;
  Protocol protocol = Protocol::kLines;
  // POSIX extended regular expression (grep -E); lines of stdout in which it matches are no answers.
  std::string skip = {};
};

// Options are cut from the end of the text alone, and only those five; each at most once. A regular
// expression cannot hold a comma; `.` matches one. kInvalidArgument names the option and what it may be.
// What the text does not say is `timeout` and `restart`.
absl::StatusOr<ExecOptions> ParseExecOptions(absl::string_view text, absl::Duration timeout,
                                             Restart restart = Restart::kEach);

}  // namespace mmadiff
