// Digests of a recording, computed again by the model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/recording_folder.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// One recorded unit of digests, computed again.
struct RecomputedUnit {
  CaseStream stream;
  uint64_t first = 0, cases = 0;
  std::string identity;  // of the recorded device
  Digest recorded = 0;
  std::optional<Digest> model;                       // nothing when the operation has none
  std::vector<absl::StatusOr<Digest>> answers = {};  // of a device, by RecomputeOptions::also
};

struct RecomputeOptions {
  uint64_t every = 1;  // of so many units one
  int threads = 1;
  // Whether to pass over these.
  std::function<bool(const RecordedDigests&)> passes_over = {};
  uint64_t* not_sampled = nullptr;  // grows by the units that `every` leaves out
  // What is asked besides, in the thread that computed the unit.
  std::function<void(RecomputedUnit&, int thread)> also = {};
};

// Units of digests that the model, where there is one, computes again.
class Recomputation {
 public:
  // kDataLoss for digests that no recorder writes: of another operation's cases, or of units too
  // large.
  absl::Status Add(const RecordedDigests& digests, const std::string& where);
  // Delivers the units of all that was added, one after the other.
  absl::Status Run(const RecomputeOptions& options,
                   absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver) const;

 private:
  struct Digests {
    RecordedDigests recorded;
    CaseStream stream;
  };

  std::vector<Digests> all_;
};

// All of a folder. Returns the damage of the folder's digests.
absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, const RecomputeOptions& options,
    absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver);

}  // namespace mmadiff
