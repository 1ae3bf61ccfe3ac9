// Recomputes the digests of a recording with the model.
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

// A recorded unit of digests, with the digest of a device's answers to all its cases.
struct AnsweredUnit {
  uint64_t first = 0, cases = 0;
  Digest recorded = 0, now = 0;
};

// One recorded unit of digests with its recomputed digest; with RecomputeOptions::also, part of one if it
// has more than kMaxRecordedDotProducts.
struct RecomputedUnit {
  CaseStream stream;
  uint64_t first = 0, cases = 0;
  std::string identity;                 // identity of the recorded device
  std::optional<Digest> recorded = {};  // nothing for a part of a unit
  std::optional<Digest> model = {};     // nothing if the operation has no model
  // The recorded digest is not `model`, but the model's if all NaNs count as the same word: digests
  // were recorded like that before the tables promised NaN bits of the operation.
  bool nans_only = false;
  std::vector<absl::StatusOr<Digest>> answers = {};  // a device's, set by RecomputeOptions::also
  // For the last part of a recorded unit if all answers to the unit repeated.
  std::optional<AnsweredUnit> answered = {};
};

struct RecomputeOptions {
  uint64_t every = 1;  // recompute every N-th unit
  int threads = 1;
  // Whether to skip these digests.
  std::function<bool(const RecordedDigests&)> passes_over = {};
  uint64_t* not_sampled = nullptr;  // grows by the units that `every` leaves out
  // Called for each unit, in the thread that computed it; if it sets no answers, again in thread 0.
  std::function<void(RecomputedUnit&, int thread)> also = {};
};

// Collects units of digests and recomputes them with the model, if there is one.
class Recomputation {
 public:
  // kDataLoss for digests that no recorder writes: for a different operation's cases, or for units
  // that are too large.
  absl::Status Add(const RecordedDigests& digests, const std::string& where);
  // Delivers the units of all added digests, one after the other.
  absl::Status Run(const RecomputeOptions& options,
                   absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver) const;

 private:
  struct Digests {
    RecordedDigests recorded;
    CaseStream stream;
  };

  std::vector<Digests> all_;
};

// Recomputes all digests of a folder. Returns the damage of the folder's digests.
absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, const RecomputeOptions& options,
    absl::FunctionRef<absl::Status(const RecomputedUnit&)> deliver);

}  // namespace mmadiff
