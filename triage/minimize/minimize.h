// Shrinks a mismatch to its essence. Deterministic: the same mismatch and the same device give the
// same minimal case on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/bucket.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/minimize/reducer.h"
#include "triage/minimize/target.h"
#include "triage/mismatch.h"
#include "triage/runner.h"

namespace mmadiff {

enum class Repeatability { kReproduced, kFlaky, kNeverDiffers };

struct Minimized {
  Mismatch mismatch;                                         // the minimal case, with its words
  Bucket bucket;                                             // the same before and after
  Repeatability repeatability = Repeatability::kReproduced;  // else nothing was shrunk
  int64_t executions = 0;                                    // device executions spent
};

// kReproduced when the device differs from the model at this element in all of `tries` and gives
// the same words each time, those of `mismatch` too; kNeverDiffers when it never differs; else kFlaky. A
// device failure is its Status.
absl::StatusOr<Repeatability> Confirm(Device& device, const Mismatch& mismatch, int tries = 5);

struct Tries {
  Repeatability repeatability = Repeatability::kNeverDiffers;
  bool steady = true;                   // the same words each time, those of the mismatch too
  std::vector<uint64_t> model, device;  // of the last try that differed, else of the last
};

// Steps of Confirm() and Minimize(), for Investigate(). kInvalidArgument: not one execution or dot
// product of the operation, or no such element.
absl::Status Check(const Mismatch& mismatch);
bool SameWords(const Batch& x, const Batch& y);  // of one shape, whatever their names
absl::StatusOr<Tries> Repeat(Runner& runner, const Mismatch& mismatch, int tries);
// The smallest case found that holds the target, as the mismatch does.
absl::StatusOr<Mismatch> Shrink(Runner& runner, const Target& target, const Mismatch& mismatch,
                                Effort effort = Effort::kAll);

// Confirms, then shrinks while the device still differs in the same bucket. A dot product that
// differs on its own becomes one of DotProductShape(); one that only differs in its place in the
// tile keeps the shape, with all else zero (scales 1.0) if possible. What the device cannot answer
// (kNotFound: a recording) is no smaller case.
absl::StatusOr<Minimized> Minimize(Device& device, const Mismatch& mismatch);

}  // namespace mmadiff
