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

// A failure of the device is a Status and never a mismatch:
//   kNotFound            the device has no such instruction, or no answer for a case
//   kUnavailable         the device is gone (died, lost); the caller may stop and resume later
//   kDeadlineExceeded    no answer in time
//   kDataLoss            an answer that cannot be read
//   kInvalidArgument     a batch of neither shape, with too few words or a dense A (sim/sparsity.h)
//   kCancelled           the caller wanted no more (StopWhen)
//   others               this operation cannot be had from the device
// A failure that repeats on one input and not on its neighbours is an InputFailure (device/answers.h).
// After kNotFound, kDataLoss and `others` the device can go on with other operations
// (IsOfOperation).
// One object serves one thread; open another for a second thread.
class Device {
 public:
  virtual ~Device() = default;

  // The specification that opens this device again: "host", "faulty:fraction_bits=24".
  virtual std::string name() const = 0;
  virtual Identity identity() const = 0;
  // Which piece of hardware that was, and which parts of it have answered so far. Another one of the
  // same identity() gives the same answers.
  virtual Hardware hardware() const { return {}; }
  // What else must be the same for a run to go on: the hash of a recording; "" if nothing.
  virtual std::string ContentsHash() const { return ""; }
  // What is otherwise for this operation than identity() says of the whole device; "" if nothing.
  virtual std::string IdentityNote(const Operation&) const { return ""; }
  // Whether it may take a second for one dot product.
  virtual bool IsSlow() const { return false; }
  // Whether every Run() is a process of its own, which knows nothing of those before.
  virtual bool StartsAnew() const { return false; }
  // Begins a fresh process, which knows nothing of what was asked before. False: it cannot.
  virtual bool Restart() { return false; }
  // How a kept process ends because of what it answered last to the operation, or of its age: seen
  // when it is asked one more, and that is done here. Nothing if it does not.
  virtual std::optional<InputFailure> LookBehind(const Operation&) { return std::nullopt; }
  // From now on, or no longer, an answer that takes many times as long as any before is one that does
  // not come: for whoever asks again what an error of kDeadlineExceeded, or a hang, comes to.
  virtual void Hurry(bool) {}
  // Whether several machine instructions stand in for the operation's one on this device.
  virtual bool Emulates(const Operation&) const { return false; }
  // What instructions may read besides their operands, each set otherwise than name() says
  // (device/mode.h): "denorm=flush". From SetMode() on Run() is under that one; "": as name() says.
  virtual std::vector<std::string> Modes() const { return {}; }
  virtual void SetMode(absl::string_view) {}
  // Ok when Run() can serve the operation; otherwise kNotFound saying what is missing.
  virtual absl::Status Supports(const Operation& op) const = 0;

  // The result words of `batch`, batch.dot_products() of them, in the order of batch.c. Accepts the
  // instruction's own shape and DotProductShape(). What a device answers is checked here, for all:
  // other than one word for each dot product, each within the bits of its format, is kDataLoss.
  absl::StatusOr<std::vector<uint64_t>> Run(const Operation& op, const Batch& batch);
  // The same. On an error `d` holds what was answered before it, from the first dot product on. An
  // InputFailure is an error (FailureOf()), of dot product d.size().
  absl::Status Run(const Operation& op, const Batch& batch, std::vector<uint64_t>& d);
  // The same for whoever goes on after an InputFailure. Where it was OK, fewer answers than dot
  // products end with a failure: the rest is to be asked again.
  absl::Status Ask(const Operation& op, const Batch& batch, Answers& answers);

  // Dot products that Ask() has answered since the device was opened: also by the one that runs now, if
  // it may take long. Any thread may call this.
  int64_t answered() const { return answered_; }

  // Once `stop` says true, Run() ends soon, with kCancelled if the batch is not done.
  void StopWhen(std::function<bool()> stop) { stop_ = std::move(stop); }

  // For whoever waits: ask it at least twice a second.
  bool StopRequested() const { return stop_ && stop_(); }

 protected:
  // For answered(), of an Ask() that runs: so many of its answers are there.
  void ShowAnswered(int64_t in_this_ask) { answered_ = before_ + in_this_ask; }

 private:
  // Ask() of a supported operation with a batch of one of its two shapes; what is answered comes
  // empty. One of the two is overridden, the second where inputs may fail.
  virtual absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d);
  virtual absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers);

  std::function<bool()> stop_;
  std::atomic<int64_t> answered_ = 0;
  int64_t before_ = 0;
};

// Whether an error of a device is of one operation, so that it can go on with others.
inline bool IsOfOperation(const absl::Status& s) {
  return !s.ok() && !absl::IsUnavailable(s) && !absl::IsDeadlineExceeded(s) &&
         !absl::IsCancelled(s);
}

// What must be the same for a run to go on.
inline Identity IdentityOfRun(const Device& device) {
  return device.identity().Add("contents", device.ContentsHash());
}

// What really answers for one operation: identity(), IdentityNote(), and whether the operation is
// emulated.
inline std::string IdentityFor(const Device& device, const Operation& op) {
  const std::string note = device.IdentityNote(op);
  return Name(device.identity()) + (note.empty() ? "" : ", but this instruction: " + note) +
         (device.Emulates(op) ? ", emulated by ptxas" : "");
}

using DeviceOr = absl::StatusOr<std::unique_ptr<Device>>;

}  // namespace mmadiff
