// Learns the regions of a result, or of several with different numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/plan/excerpt.h"
#include "sim/plan/find.h"
#include "sim/plan/regions.h"

namespace mmadiff {

// Regions of one result, with few plans. nullopt also if the elements that the first plans do not give
// are in nearly all rows and columns, or if few elements support the regions: those that the commonest
// plan does not give must be more than the bits that name the classes and choose the plans.
std::optional<Regions> FindRegions(const Matrices& matrices, const Words& d, const Format& format,
                                   std::span<const Plan> candidates,
                                   const Execution& execution = {});

inline constexpr size_t kMaxPlanSet = 32;

// Learns the regions of one kind of product, from one result or from several with different numbers.
class RegionFinder {
 public:
  // For results of m x n words of `format`, and plans from `candidates`.
  RegionFinder(int64_t m, int64_t n, const Format& format, std::span<const Plan> candidates,
               const Execution& execution = {}, size_t max_plans = kMaxRegionPlans);

  // Takes the elements of D into account. A and B must stay as long as this. False: an element has no
  // candidate that gives it in this result and all before it, or there are too many plans; or, if
  // `unless_spread`, such elements are in nearly all rows and columns.
  bool Add(const Matrices& matrices, const Words& d, bool unless_spread = false);

  // Before Add(): takes these plans, at most kMaxPlanSet, whether they are needed or not.
  void Take(std::span<const Plan> plans);
  // The sets of plans, as bits, that give an element in all results; each set once, no plan: 0.
  std::set<uint32_t> PlanSets() const { return {masks_.begin(), masks_.end()}; }

  // The regions that all results agree with; nullopt after a false, or if the classes are not
  // much simpler than a plan for each element.
  std::optional<Regions> Find() const;

  // Elements that the commonest plan of the regions does not give.
  int64_t Exceptions(const Regions& regions) const;

  // Elements of the last result that no candidate gives.
  int64_t unexplained() const { return unexplained_; }
  const std::vector<Plan>& plans() const { return plans_; }

 private:
  struct Result {
    Matrices matrices;
    Words d;
  };

  // An element of all results.
  struct SampleElement {
    std::vector<std::unique_ptr<Excerpt>> operands;
    std::vector<uint64_t> words;
  };

  // A plan that gives most of these elements in all results; nullopt if no plan gives any.
  std::optional<Plan> PlanFor(std::span<const int64_t> elements) const;
  Plan OneOf(std::vector<Plan> plans) const;
  int64_t GivenOf(std::span<const SampleElement> sample, const Plan& plan, int64_t best) const;
  void Limit(size_t p, const Result& result);

  const int64_t m_, n_;
  const Format& format_;
  // For a small D: keeps the candidates that gave some element in every result.
  void Prune(const Matrices& matrices, const Words& d);

  std::vector<Plan> candidates_;
  std::vector<uint32_t> given_;  // by them, a bit for each element; only if D is small
  const Execution execution_;
  const size_t max_plans_;
  std::vector<Result> results_;
  std::vector<Plan> plans_;
  std::vector<uint32_t>
      masks_;  // [m][n]: bit p is set if plans_[p] gave every result of the element
  int64_t unexplained_ = 0;
};

}  // namespace mmadiff
