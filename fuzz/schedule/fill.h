// Measures which bins the generator fills, and in how many cases.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/coverage/coverage_counter.h"
#include "fuzz/output/console.h"
#include "fuzz/schedule/mutants.h"

namespace mmadiff {

struct FilledBins {
  const Operation* op = nullptr;
  size_t stands_for = 1;  // number of operations with its model
  std::vector<Bin> bins;
  std::vector<uint64_t> counts;  // by bin, over the examined dot products
  uint64_t dot_products = 0;     // examined dot products
  uint64_t cases = 0;            // generated until all bins had their least count, else all cases
  std::vector<size_t> thin;      // bins below their least count at the end

  size_t reachable() const;
};

// Maximum number of dot products examined per case, evenly spread.
inline constexpr uint64_t kLookedAtOfCase = 128;

// Uses one operation per model. The result does not depend on the number of threads. kCancelled: a
// signal came.
absl::StatusOr<std::vector<FilledBins>> FillBins(const MutantsOptions& options, Console& console);

}  // namespace mmadiff
