// Executes finished units of a run again: silent corruption shows as a different digest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/stop.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"

namespace mmadiff {

struct RecheckOptions {
  double share = 0;    // fraction of the finished units, 0 to 1; at least one unit
  uint64_t units = 0;  // number of units instead; 0: use `share`
  uint64_t seed = 1;
  int threads = 1;
  TimeLimit limit;
  std::string instruction;  // with `unit`: execute only that unit, no sample
  uint64_t unit = 0;
};

// A unit that was executed again.
struct Rechecked {
  UnitResult stored;
  UnitResult now;
  bool ModelDiffers() const { return stored.model_digest != now.model_digest || CoverageDiffers(); }
  bool CoverageDiffers() const {
    return !stored.coverage.empty() && stored.coverage != now.coverage;
  }
  bool DeviceDiffers() const {
    return stored.device_digest != now.device_digest || stored.mismatches != now.mismatches;
  }
};

struct RecheckOutcome {
  RunManifest manifest;
  uint64_t finished = 0;  // finished units in the folder
  uint64_t sampled = 0;   // chosen units
  std::vector<Rechecked> done;
  std::optional<Identity> other_device;  // the device that answered, if it is not the run's
  std::vector<Drop> failed;              // one for each dropped instruction
  absl::Status device;                   // not OK: it was lost
  StopCause stopped_by;                  // kSignal or kTimeLimit
  std::vector<std::string> damage;       // in the folder
};

// Chooses finished units, spread evenly over pairs of instruction and machine. The choice depends
// only on the folder and the seed.
std::vector<UnitResult> Sample(std::vector<UnitResult> finished, uint64_t count, uint64_t seed);

// kFailedPrecondition for a run with a different version of model or generator, kOutOfRange for one
// with no finished unit, kInvalidArgument for a unit that does not exist or is not finished, or if
// the simulator would verify a run of a different device. Other errors are those of ReadRunFolder()
// or the device. An instruction that the device lacks or fails on is dropped.
absl::StatusOr<RecheckOutcome> Recheck(const std::string& folder, const RecheckOptions& options,
                                       absl::FunctionRef<EngineOr(const std::string&)> open,
                                       Console& console);

}  // namespace mmadiff
