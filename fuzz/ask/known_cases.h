// Cases with a known answer: the vectors of the literature and regression cases.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

struct KnownCase {
  const Operation* op;
  Batch inputs;
  std::string name;  // name of the vector or the file
};

// For these operations: the vectors, each dot product once, then the cases in `regressions`, which
// has a folder for each architecture (empty: none). Errors as ListCases() and ReadCase().
absl::StatusOr<std::vector<KnownCase>> KnownCases(const std::vector<const Operation*>& ops,
                                                  const std::string& regressions);

}  // namespace mmadiff
