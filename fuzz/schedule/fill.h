// Which bins the generator fills, and in how many cases.
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
  size_t stands_for = 1;  // operations of its model
  std::vector<Bin> bins;
  std::vector<uint64_t> counts;  // by bin, of the dot products looked at
  uint64_t dot_products = 0;     // looked at
  uint64_t cases = 0;            // made: until all bins had their least count, else all
  std::vector<size_t> thin;      // bins below it at the end

  size_t reachable() const;
};

// Of a case at most so many dot products are looked at, evenly spread.
inline constexpr uint64_t kLookedAtOfCase = 128;

// For each model one of its operations; the same whatever the number of threads. kCancelled: a
// signal came.
absl::StatusOr<std::vector<FilledBins>> FillBins(const MutantsOptions& options, Console& console);

}  // namespace mmadiff
