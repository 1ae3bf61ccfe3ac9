// Shrinks a mismatch to its essence. Deterministic: the same mismatch and the same device give the
// same minimal case on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/minimize/reducer.h"
#include "triage/minimize/target.h"
#include "triage/mismatch.h"
#include "triage/runner.h"

namespace mmadiff {

// How one execution behaves when it is run several times. kReproduced: the device differs from the
// model at the element each time and gives the same words, also those of the mismatch.
// kNeverDiffers: it never differs. kFlaky: everything else.
enum class Repeatability { kReproduced, kFlaky, kNeverDiffers };

struct Tries {
  Repeatability repeatability = Repeatability::kNeverDiffers;
  bool steady = true;                   // the same words each time, also those of the mismatch
  std::vector<uint64_t> model, device;  // from the last try that differed, else from the last
};

// kInvalidArgument: neither one execution nor one dot product of the operation, or no such element.
absl::Status Check(const Mismatch& mismatch);
bool SameWords(const Batch& x, const Batch& y);  // compares shapes and words, not names
absl::StatusOr<Tries> Repeat(Runner& runner, const Mismatch& mismatch, int tries);
// The smallest case found that holds the target, as the mismatch does. A dot product that holds it
// on its own becomes one of DotProductShape(); one that holds it only in its place in the tile
// keeps the shape, with everything else zero (scales 1.0) if possible. A case that the device
// cannot answer (kNotFound: a recording) is not taken.
absl::StatusOr<Mismatch> Shrink(Runner& runner, const Target& target, const Mismatch& mismatch,
                                Effort effort = Effort::kAll);

}  // namespace mmadiff
