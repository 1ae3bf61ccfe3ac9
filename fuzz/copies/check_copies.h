// Runs tensor copies on a device and compares every promised byte with the model's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/copies/copy_case.h"
#include "device/copy_device.h"

namespace mmadiff {

// A copy on which the device differs: the case, and the simplest copy on which it still does.
struct CopyFinding {
  std::string name;       // the case, or empty for a copy that was described
  std::string minimized;  // FieldsText()
  std::string where;      // Text() of the minimized mismatch
  std::vector<std::string>
      explanations;  // changes of the model that give the device's bytes for all mismatches
};

struct CopyRow {
  std::string form;  // "sm_90/load.tile.3d"
  int64_t cases = 0, mismatches = 0;
  int64_t bytes = 0;  // promised and compared
  std::optional<CopyFinding> first = {};
};

// A form on an architecture, and its cases: generated ones with a seed, or a single copy.
struct CopyTask {
  std::string arch;
  const CopyForm* form = nullptr;
  uint64_t seed = 1;
  int64_t cases = 0;                       // from index 0 on
  std::optional<CopyCase> described = {};  // instead
};

// Stops at the first error of the device. kDataLoss if a mismatch does not repeat.
absl::StatusOr<CopyRow> CheckCopies(CopyDevice& device, const CopyTask& task);

}  // namespace mmadiff
