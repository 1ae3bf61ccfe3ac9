// Anything that can execute a case for real.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/answers.h"
#include "device/hardware.h"
#include "device/identity.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// A device failure is a Status, never a mismatch:
//   kNotFound            the device has no such instruction, or no answer for a case
//   kUnavailable         the device is lost; the caller may stop and resume later
//   kDeadlineExceeded    no answer in time
//   kDataLoss            an answer that cannot be read
//   kInvalidArgument     a batch of neither shape, with too few words or a dense A (sim/sparsity.h)
//   kCancelled           the caller asked to stop (StopWhen)
//   others               the device cannot execute this operation
// A failure that repeats on one input and not on its neighbors is an InputFailure
// (device/answers.h).
// After kNotFound, kDataLoss and `others` the device can continue with other operations
// (IsOfOperation).
// Use each object from one thread only; open another for a second thread.
class Device {
 public:
  virtual ~Device() = default;

  // The specification that opens this device again: "host", "faulty:fraction_bits=24".
  virtual std::string name() const = 0;
  virtual Identity identity() const = 0;
  // The hardware behind the device, and how many of its parts have answered so far. Different
  // hardware with the same identity() gives the same answers.
  virtual Hardware hardware() const { return {}; }
  // Whatever else must be unchanged for a run to resume: the hash of a recording; "" if nothing.
  virtual std::string ContentsHash() const { return ""; }
  // How this operation differs from identity(), which describes the whole device; "" if it does
  // not.
  virtual std::string IdentityNote(const Operation&) const { return ""; }
  // Whether one dot product may take a second.
  virtual bool IsSlow() const { return false; }
  // Whether every Run() uses a new process, with no state from earlier ones.
  virtual bool StartsAnew() const { return false; }
  // Starts a fresh process, with no state from earlier requests. False: not possible.
  virtual bool Restart() { return false; }
  // How a kept process ends because of its last answer for the operation, or because of its age.
  // This shows only on one more request, which this function sends. nullopt if the process does not
  // end.
  virtual std::optional<InputFailure> LookBehind(const Operation&) { return std::nullopt; }
  // While on, an answer that takes many times longer than any before counts as missing. For callers
  // that repeat a request to learn what a kDeadlineExceeded error, or a hang, amounts to.
  virtual void Hurry(bool) {}
  // Whether this device executes several machine instructions in place of the operation's one.
  virtual bool Emulates(const Operation&) const { return false; }
  // Modes that instructions may read besides their operands and that differ from name()
  // (device/mode.h): "denorm=flush". After SetMode() Run() uses that mode; "": the one of name().
  virtual std::vector<std::string> Modes() const { return {}; }
  virtual void SetMode(absl::string_view) {}
  // For people: the reason why the device's answer to this dot product of an execution differs from
  // the model, as a sentence; "" if unknown. Errors as Run().
  virtual absl::StatusOr<std::string> Reason(const Operation&, const Batch&, int64_t) { return ""; }
  // Whether Supports() accepts all operations because it cannot list the ones that the program
  // computes.
  virtual bool SupportsAny() const { return false; }
  // OK if Run() supports the operation; otherwise kNotFound with the reason.
  virtual absl::Status Supports(const Operation& op) const = 0;

  // The result words of `batch`, batch.dot_products() of them, in the order of batch.c. Accepts the
  // instruction's own shape and DotProductShape(). Checks the answers of every device: kDataLoss
  // unless there is one word for each dot product, each within the bits of its format.
  absl::StatusOr<std::vector<uint64_t>> Run(const Operation& op, const Batch& batch);
  // The same. On an error `d` holds the answers received before it, from the first dot product on.
  // An InputFailure is an error (FailureOf()), for dot product d.size().
  absl::Status Run(const Operation& op, const Batch& batch, std::vector<uint64_t>& d);
  // The same for callers that continue after an InputFailure. If OK but with fewer answers than dot
  // products, the last answer is a failure: ask again for the rest.
  absl::Status Ask(const Operation& op, const Batch& batch, Answers& answers);

  // Dot products that Ask() has answered since the device was opened, including those of a running
  // Ask() if it may take long. May be called from any thread.
  int64_t answered() const { return answered_; }

  // Once `stop` returns true, Run() ends soon, with kCancelled if the batch is not done.
  void StopWhen(std::function<bool()> stop) { stop_ = std::move(stop); }
  const std::function<bool()>& stop() const { return stop_; }

  // For code that waits: call it at least twice a second.
  bool StopRequested() const { return stop_ && stop_(); }

 protected:
  // For answered(): the number of answers that the running Ask() has so far.
  void ShowAnswered(int64_t in_this_ask) { answered_ = before_ + in_this_ask; }

 private:
  // Ask() for a supported operation with a batch of one of its two shapes; the answers are empty at
  // the call. Override one of the two, the second if inputs may fail.
  virtual absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d);
  virtual absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers);

  std::function<bool()> stop_;
  std::atomic<int64_t> answered_ = 0;
  int64_t before_ = 0;
};

// Whether an error concerns one operation only, so that the device can continue with others.
inline bool IsOfOperation(const absl::Status& s) {
  return !s.ok() && !absl::IsUnavailable(s) && !absl::IsDeadlineExceeded(s) &&
         !absl::IsCancelled(s);
}

// Whatever must be unchanged for a run to resume.
inline Identity IdentityOfRun(const Device& device) {
  return device.identity().Add("contents", device.ContentsHash());
}

// Stored with answers to an operation that the device emulates.
inline constexpr char kEmulatedNote[] = ", instruction emulated by ptxas";

// The device that really answers for one operation: identity(), IdentityNote(), and whether the
// operation is emulated.
inline std::string IdentityFor(const Device& device, const Operation& op) {
  const std::string note = device.IdentityNote(op);
  return Name(device.identity()) + (note.empty() ? "" : ", but this instruction: " + note) +
         (device.Emulates(op) ? kEmulatedNote : "");
}

using DeviceOr = absl::StatusOr<std::unique_ptr<Device>>;

}  // namespace mmadiff
