#include "triage/plan/few_plans.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/plan/candidates.h"
#include "sim/plan/order.h"
#include "triage/plan/shape_asker.h"

namespace mmadiff {
namespace {

// Arithmetic and order for some k.
using Deed = std::pair<int64_t, std::string>;
Deed DeedOf(const Plan& plan, int64_t k) {
  return {k, absl::StrCat(plan.operation->name, plan.unfused, OrderAt(plan, k))};
}

// The plans of single shapes.
struct PlansOfShapes {
  std::map<Deed, int64_t> shapes;  // in which some element has it
  std::set<int64_t> ks;
  std::vector<const Operation*> operations;
};

PlansOfShapes Collect(std::span<const ShapePlans> asked) {
  PlansOfShapes all;
  for (const ShapePlans& s : asked) {
    if (!s.regions) continue;
    all.ks.insert(s.shape.k);
    for (const Plan& plan : s.regions->plans) {
      ++all.shapes[DeedOf(plan, s.shape.k)];
      const bool is_new = std::ranges::count(all.operations, plan.operation) == 0;
      if (is_new) all.operations.push_back(plan.operation);
    }
  }
  return all;
}

// Those of the plan that are left.
std::vector<Deed> DeedsOf(const Plan& plan, const PlansOfShapes& left) {
  std::vector<Deed> deeds;
  for (const int64_t k : left.ks) {
    Deed deed = DeedOf(plan, k);
    if (left.shapes.contains(deed)) deeds.push_back(std::move(deed));
  }
  return deeds;
}

// At most kMaxPlanSet candidates, each of which has the orders of the most shapes that those before
// it do not have.
std::vector<Plan> CoveringPlans(PlansOfShapes left, std::span<const Plan> candidates) {
  std::vector<std::vector<Deed>> deeds;
  for (const Plan& plan : candidates) deeds.push_back(DeedsOf(plan, left));
  const auto adds = [&](const std::vector<Deed>& of) {
    int64_t shapes = 0;
    for (const Deed& deed : of) {
      const auto found = left.shapes.find(deed);
      if (found != left.shapes.end()) shapes += found->second;
    }
    return shapes;
  };
  std::vector<Plan> cover;
  while (!left.shapes.empty() && cover.size() < kMaxPlanSet) {
    const auto best = std::ranges::max_element(deeds, {}, adds);
    if (best == deeds.end() || adds(*best) == 0) break;
    for (const Deed& deed : *best) left.shapes.erase(deed);
    cover.push_back(candidates[best - deeds.begin()]);
  }
  return cover;
}

// Drops every plan, the first the least used, without which all elements still have one. The others
// are in the order of the shapes in which they give some element.
std::vector<Plan> NeededPlans(const std::vector<Plan>& plans,
                              const std::vector<std::set<uint32_t>>& sets_of_shapes) {
  const auto shapes_where = [&](auto&& is) {
    return std::ranges::count_if(sets_of_shapes, [&](const std::set<uint32_t>& sets) {
      return std::ranges::any_of(sets, is);
    });
  };
  std::vector<size_t> order(plans.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t p) {
    return -shapes_where([&](uint32_t set) { return (set >> p & 1) != 0; });
  });
  uint32_t kept = static_cast<uint32_t>((uint64_t{1} << plans.size()) - 1);
  for (const size_t p : std::views::reverse(order)) {
    const uint32_t others = kept & ~(uint32_t{1} << p);
    // Sets without a plan are those of shapes without one.
    if (shapes_where([&](uint32_t set) { return (set & kept) != 0 && (set & others) == 0; }) == 0) {
      kept = others;
    }
  }
  std::vector<Plan> needed;
  for (const size_t p : order) {
    if ((kept >> p & 1) != 0) needed.push_back(plans[p]);
  }
  return needed;
}

}  // namespace

absl::Status PreferFewPlans(MatrixDevice& device, uint64_t seed, int products,
                            const Execution& execution, std::vector<ShapePlans>& asked) {
  const PlansOfShapes plans = Collect(asked);
  const std::vector<int64_t> ks(plans.ks.begin(), plans.ks.end());
  const std::vector<Plan> cover = CoveringPlans(
      plans,
      CandidatePlans(plans.operations, ks, *device.formats().d, UsedOperandsOf(device.factors())));
  std::vector<std::set<uint32_t>> sets;
  for (const ShapePlans& s : asked) {
    if (!s.regions) continue;
    ShapeAsker asker(device, s.shape, cover, seed, execution);
    asker.finder().Take(cover);
    RETURN_IF_ERROR(asker.Ask(products));
    sets.push_back(asker.finder().PlanSets());
  }
  const std::vector<Plan> needed = NeededPlans(cover, sets);
  for (ShapePlans& s : asked) {
    if (!s.regions) continue;
    ShapeAsker asker(device, s.shape, needed, seed, execution);
    RETURN_IF_ERROR(asker.Ask(products));
    ASSIGN_OR_RETURN(ShapePlans again, asker.Predict());
    if (again.regions && again.differing <= s.differing) s = std::move(again);
  }
  return absl::OkStatus();
}

std::vector<UsedPlan> UsedPlans(std::span<const ShapePlans> asked) {
  std::vector<UsedPlan> used;
  for (const ShapePlans& s : asked) {
    if (!s.regions) continue;
    for (const Plan& plan : s.regions->plans) {
      const auto found = std::ranges::find(used, plan, &UsedPlan::plan);
      if (found == used.end()) {
        used.push_back({plan, 1});
      } else {
        ++found->shapes;
      }
    }
  }
  std::ranges::stable_sort(used, std::greater(), &UsedPlan::shapes);
  return used;
}

}  // namespace mmadiff
