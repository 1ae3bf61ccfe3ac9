#include "sim/plan/search.h"

#include "sim/plan/region_finder.h"

namespace mmadiff {

PlanSearch SearchPlans(const Matrices& matrices, const Words& d, const Format& format,
                       std::span<const Plan> candidates, const Execution& execution) {
  PlanSearch search = {FindPlans(matrices, d, format, candidates, execution), {}, {}};
  if (std::ssize(search.found.Left()) == search.found.tried) {
    search.deciding = WouldDecide(matrices, format, candidates, execution);
  }
  if (search.found.plans.empty()) {
    search.regions = FindRegions(matrices, d, format, candidates, execution);
  }
  return search;
}

}  // namespace mmadiff
