// Sends requests to the program and receives its answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "device/answer_reader.h"
#include "device/child_process.h"
#include "device/exec_options.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// Dot products of a batch in the form that the program reads, a few at a time.
class RequestWriter {
 public:
  RequestWriter(Protocol protocol, const Operation& op, const Batch& batch, int64_t first,
                int64_t count);
  // Empty at the end.
  absl::string_view Next();

 private:
  const Instruction& instruction_;
  const Batch& batch_;
  const bool binary_;
  int64_t next_;
  const int64_t end_;
  std::string text_;
};

class Channel {
 public:
  // Called with the number of answers so far, as they arrive.
  using Shown = absl::FunctionRef<void(int64_t answered)>;

  virtual ~Channel() = default;
  // Sends the request and passes the output to the reader, until the reader is complete or the
  // program has ended. Errors are those of the process and of the reader.
  virtual absl::Status Ask(RequestWriter& request, AnswerReader& reader, Shown shown,
                           StopRequest stop, absl::Duration timeout) = 0;
  // Answers that the process has given; 0 if the next request starts a fresh one.
  virtual uint64_t age() const { return 0; }
  virtual void Restart() {}
};

// Starts a new process for each request.
std::unique_ptr<Channel> StartEach(ChildCommand command);

// Sends all requests to one process, until it fails.
using StartKept = std::function<absl::StatusOr<std::unique_ptr<KeptChild>>()>;
std::unique_ptr<Channel> KeepOne(StartKept start);

}  // namespace mmadiff
