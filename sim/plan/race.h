// The smallest product that distinguishes two plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/parts.h"
#include "sim/plan/plan.h"

namespace mmadiff {

// One element of D: a row of A and a column of B, of k words each, in the formats of the first plan's
// operation, and the results of both plans.
struct TellingProduct {
  int64_t k = 0;
  std::vector<uint64_t> a, b;
  uint64_t x = 0, y = 0;
};

struct PlanRace {
  // That no product distinguishes the plans, and why, or none of so many k; empty if one may.
  std::string equal;
  // Why they cannot be compared: other formats of operands or of results; empty if they can.
  std::string not_comparable;
  std::optional<TellingProduct> found;
  // The least k, among those up to kMaxRaceK and a few later ones, for which the texts of arithmetic
  // and order differ; 0: for none.
  int64_t least_k = 0;
  int64_t tried = 0;  // products of that many k
};
inline constexpr int64_t kMaxRaceK = 1 << 12;

// Searches the least k for which the plans differ, then products of that many k: few operands that are
// not 0, numbers of very different size, and ordinary numbers. In a product that distinguishes them,
// as many operands as possible become 0. Plans with scales, C or a bias are compared without them.
PlanRace RacePlans(const Plan& x, const Plan& y, const Threads& threads = {});

}  // namespace mmadiff
