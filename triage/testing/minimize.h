// The minimizer on its own, without a diagnosis, for the tests.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "corpus/bucket.h"
#include "device/device.h"
#include "device/status_macros.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"
#include "triage/verdict.h"

namespace mmadiff {

struct Minimized {
  Mismatch mismatch;                                         // the minimal case, with its words
  Bucket bucket;                                             // the same before and after
  Repeatability repeatability = Repeatability::kReproduced;  // else nothing was shrunk
  int64_t executions = 0;                                    // device executions spent
};

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();  // executions

// A device failure is its Status.
inline absl::StatusOr<Repeatability> Confirm(Device& device, const Mismatch& mismatch,
                                             int tries = 5) {
  RETURN_IF_ERROR(Check(mismatch));
  Runner runner(device, *mismatch.op, kUnlimited);
  ASSIGN_OR_RETURN(const Tries result, Repeat(runner, mismatch, tries));
  return result.repeatability;
}

// Of a mismatch by itself: its first explaining neighbour explains, the model and the neighbours
// that are preferred do not; without one no neighbour does.
inline Target TargetOfMismatch(const Operation& op, const DotProductCase& dot, uint64_t device) {
  std::vector<Model> rivals = {op.model};
  for (const Neighbour& n : Neighbours(op.model)) {
    Model neighbour = WithAlgorithm(op, n.algorithm);
    if (Gives(op, neighbour, dot, device)) return {op, neighbour, std::move(rivals)};
    rivals.push_back(std::move(neighbour));
  }
  return {op, std::nullopt, std::move(rivals),
          ClassOf(op.model.d, Simulate(op.model, dot), device)};
}

// Confirms, then shrinks while the device still differs in the same bucket.
inline absl::StatusOr<Minimized> Minimize(Device& device, const Mismatch& mismatch) {
  constexpr int kTries = 5;
  RETURN_IF_ERROR(Check(mismatch));
  const Operation& op = *mismatch.op;
  Runner runner(device, op, kUnlimited);
  ASSIGN_OR_RETURN(Tries tries, Repeat(runner, mismatch, kTries));
  Minimized result{mismatch, {}, tries.repeatability, 0};
  result.mismatch.inputs.stream.clear();
  result.mismatch.device = tries.device;
  result.mismatch.model = tries.model;
  const Observed found{Extract(mismatch.inputs, mismatch.element), tries.device[mismatch.element]};
  const Target target = TargetOfMismatch(op, found.dot, found.d);
  result.bucket = BucketOf(op, {&found, 1});
  result.executions = runner.executions();
  if (result.repeatability != Repeatability::kReproduced) return result;

  ASSIGN_OR_RETURN(Mismatch minimal, Shrink(runner, target, result.mismatch));
  // A recording knows what could not be shrunk by its name alone.
  ASSIGN_OR_RETURN(
      tries,
      Repeat(runner, (SameWords(minimal.inputs, mismatch.inputs) ? mismatch : minimal), kTries));
  result.executions = runner.executions();
  if (tries.repeatability != Repeatability::kReproduced) {
    // It held while it was shrunk and no longer does: the original is not to be trusted either.
    result.repeatability = Repeatability::kFlaky;
    return result;
  }
  result.mismatch = std::move(minimal);
  result.mismatch.device = std::move(tries.device);
  result.mismatch.model = std::move(tries.model);
  return result;
}

}  // namespace mmadiff
