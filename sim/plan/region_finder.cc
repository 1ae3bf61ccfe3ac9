#include "sim/plan/region_finder.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

namespace mmadiff {
namespace {

constexpr size_t kSample = 16;  // elements for which a plan is sought
constexpr int64_t kSmall = 16;  // elements of a small D

// One class for all vectors that have a common plan at each place: that of the vector before, if
// possible, so that classes are long runs.
struct Classes {
  std::vector<int> of;                       // [vector]
  std::vector<std::vector<uint32_t>> masks;  // [class][place]
};

Classes Classify(const std::vector<std::vector<uint32_t>>& vectors) {
  Classes classes;
  for (const std::vector<uint32_t>& vector : vectors) {
    const auto joins = [&](const std::vector<uint32_t>& of) {
      return std::ranges::equal(vector, of, [](uint32_t x, uint32_t y) { return (x & y) != 0; });
    };
    const bool joins_last = !classes.of.empty() && joins(classes.masks[classes.of.back()]);
    const auto found = joins_last ? classes.masks.begin() + classes.of.back()
                                  : std::ranges::find_if(classes.masks, joins);
    classes.of.push_back(static_cast<int>(found - classes.masks.begin()));
    if (found == classes.masks.end()) {
      classes.masks.push_back(vector);
    } else {
      std::ranges::transform(*found, vector, found->begin(), std::bit_and());
    }
  }
  return classes;
}

std::vector<std::vector<uint32_t>> Turned(const std::vector<std::vector<uint32_t>>& rows) {
  std::vector<std::vector<uint32_t>> columns(rows.front().size());
  for (const std::vector<uint32_t>& row : rows) {
    for (size_t j = 0; j < row.size(); ++j) columns[j].push_back(row[j]);
  }
  return columns;
}

// Whether the plan gives each element.
std::vector<bool> Given(const Plan& plan, const Format& format, const Matrices& matrices,
                        const Words& d, const Execution& execution) {
  const int64_t m = matrices.m, n = matrices.n;
  std::vector<unsigned char> bytes(m * n * 8);
  Execute(plan, matrices, {bytes.data(), n, 1, 64}, execution);
  const Words words = {bytes.data(), n, 1, 64};
  std::vector<bool> given(m * n);
  for (int64_t i = 0; i < m * n; ++i) {
    given[i] = SameResult(format, Load(words, i / n, i % n), Load(d, i / n, i % n));
  }
  return given;
}

// Whether the elements are in nearly as many rows and columns as any elements, of that number, are.
bool IsSpread(std::span<const int64_t> elements, int64_t m, int64_t n) {
  constexpr double kNearly = 0.9;
  std::set<int64_t> rows, columns;
  for (const int64_t e : elements) rows.insert(e / n), columns.insert(e % n);
  const auto count = static_cast<double>(elements.size());
  const auto expected = [&](double size) { return size * (1 - std::exp(-count / size)); };
  return static_cast<double>(rows.size()) > kNearly * expected(static_cast<double>(m)) &&
         static_cast<double>(columns.size()) > kNearly * expected(static_cast<double>(n));
}

}  // namespace

RegionFinder::RegionFinder(int64_t m, int64_t n, const Format& format,
                           std::span<const Plan> candidates, const Execution& execution,
                           size_t max_plans)
    : m_(m),
      n_(n),
      format_(format),
      candidates_(candidates.begin(), candidates.end()),
      given_(m * n <= kSmall ? candidates.size() : 0, ~uint32_t{0}),
      execution_(execution),
      max_plans_(max_plans),
      masks_(m * n) {}

void RegionFinder::Prune(const Matrices& matrices, const Words& d) {
  size_t kept = 0;
  for (size_t c = 0; c < candidates_.size(); ++c) {
    const std::vector<uint64_t> words = ExecuteAll(candidates_[c], matrices);
    uint32_t given = 0;
    for (int64_t i = 0; i < m_ * n_; ++i) {
      const bool same = SameResult(format_, words[i], Load(d, i / n_, i % n_));
      given |= static_cast<uint32_t>(same) << i;
    }
    given &= given_[c];
    if (given == 0) continue;
    given_[kept] = given;
    if (kept != c) candidates_[kept] = candidates_[c];
    ++kept;
  }
  candidates_.resize(kept);
  given_.resize(kept);
}

std::optional<Plan> RegionFinder::PlanFor(std::span<const int64_t> elements) const {
  if (m_ * n_ <= kSmall) {
    uint32_t wanted = 0;
    for (const int64_t e : elements) wanted |= uint32_t{1} << e;
    const auto most = std::ranges::max_element(
        given_, {}, [&](uint32_t given) { return std::popcount(given & wanted); });
    if (most == given_.end() || (*most & wanted) == 0) return std::nullopt;
    return candidates_[most - given_.begin()];
  }
  std::vector<SampleElement> sample;
  const size_t count = std::min(kSample, elements.size());
  for (size_t i = 0; i < count; ++i) {
    const int64_t e = elements[i * elements.size() / count];
    SampleElement& element = sample.emplace_back();
    // The newest result first: it has the elements that other plans do not give.
    for (auto r = results_.rbegin(); r != results_.rend(); ++r) {
      const int64_t row[] = {e / n_}, column[] = {e % n_};
      element.operands.push_back(std::make_unique<Excerpt>(r->matrices, row, column));
      element.words.push_back(Load(r->d, e / n_, e % n_));
    }
  }
  std::atomic<int64_t> best = 1;  // those that give fewer elements are left early
  std::vector<int64_t> given(candidates_.size());
  ForEachPart(std::ssize(candidates_), execution_.threads, [&](int64_t c, const Poll&) {
    const Plan& plan = candidates_[c];
    if (std::ranges::count(plans_, plan) > 0) return;  // it does not explain these elements
    given[c] = GivenOf(sample, plan, best);
    for (int64_t most = best; given[c] > most && !best.compare_exchange_weak(most, given[c]);) {
    }
  });
  std::vector<Plan> ties;
  for (size_t c = 0; c < given.size(); ++c) {
    if (given[c] == best) ties.push_back(candidates_[c]);
  }
  // By chance, some plan gives one element of many.
  if (ties.empty() || (best == 1 && sample.size() == kSample)) return std::nullopt;
  return OneOf(std::move(ties));
}

// A plan for all elements of all results, if one of these is; else the first.
Plan RegionFinder::OneOf(std::vector<Plan> plans) const {
  const Plan first = plans.front();
  for (auto r = results_.begin(); r != results_.end() && plans.size() > 1; ++r) {
    plans = FindPlans(r->matrices, r->d, format_, plans, execution_).Left();
  }
  return plans.empty() ? first : plans.front();
}

// Counts elements that the plan gives in every result; 0 if it gives none of the first ones, or if
// there cannot be `best`.
int64_t RegionFinder::GivenOf(std::span<const SampleElement> sample, const Plan& plan,
                              int64_t best) const {
  constexpr size_t kFirst = 6;
  const auto gives = [&](const SampleElement& e) {
    for (size_t r = 0; r < e.words.size(); ++r) {
      const std::vector<uint64_t> words = ExecuteAll(plan, e.operands[r]->matrices());
      if (!SameResult(format_, words[0], e.words[r])) return false;
    }
    return true;
  };
  int64_t given = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    // Not neighbors one after the other: these have one plan.
    given += gives(sample[i * 5 % sample.size()]);
    const auto left = static_cast<int64_t>(sample.size() - i - 1);
    if (given + left < best || (given == 0 && i + 1 == kFirst)) return 0;
  }
  return given;
}

bool RegionFinder::Add(const Matrices& matrices, const Words& d, bool unless_spread) {
  if (m_ * n_ <= kSmall) Prune(matrices, d);
  results_.push_back({matrices, d});
  for (size_t p = 0; p < plans_.size(); ++p) Limit(p, results_.back());
  while (true) {
    std::vector<int64_t> missing;
    for (int64_t i = 0; i < m_ * n_; ++i) {
      if (masks_[i] == 0) missing.push_back(i);
    }
    unexplained_ = std::ssize(missing);
    if (missing.empty()) return true;
    if (plans_.size() >= max_plans_) return false;
    if (unless_spread && !plans_.empty() && IsSpread(missing, m_, n_)) return false;
    const std::optional<Plan> plan = PlanFor(missing);
    if (!plan) return false;
    const size_t p = plans_.size();
    plans_.push_back(*plan);
    for (uint32_t& mask : masks_) mask |= uint32_t{1} << p;
    for (const Result& result : results_) Limit(p, result);
  }
}

void RegionFinder::Take(std::span<const Plan> plans) {
  plans_.assign(plans.begin(), plans.end());
  std::ranges::fill(masks_, static_cast<uint32_t>((uint64_t{1} << plans_.size()) - 1));
}

// Drops plan `p` where it does not give the result.
void RegionFinder::Limit(size_t p, const Result& result) {
  const std::vector<bool> given = Given(plans_[p], format_, result.matrices, result.d, execution_);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) masks_[i] &= ~(uint32_t{1} << p);
  }
}

std::optional<Regions> RegionFinder::Find() const {
  if (unexplained_ > 0 || plans_.empty()) return std::nullopt;
  const uint32_t all = static_cast<uint32_t>((uint64_t{1} << plans_.size()) - 1);
  std::vector<std::vector<uint32_t>> rows(m_);
  for (int64_t i = 0; i < m_ * n_; ++i) rows[i / n_].push_back(masks_[i] & all);
  const Classes row_classes = Classify(rows);
  const Classes column_classes = Classify(Turned(row_classes.masks));
  Regions regions = {row_classes.of, column_classes.of, {}, {}};
  std::vector<int> index_of(plans_.size(), -1);
  uint32_t used = 0;
  for (const std::vector<uint32_t>& row : Turned(column_classes.masks)) {
    std::vector<int>& line = regions.plan.emplace_back();
    for (const uint32_t mask : row) {
      const int plan = std::countr_zero(mask);
      if (index_of[plan] < 0) {
        index_of[plan] = static_cast<int>(regions.plans.size());
        regions.plans.push_back(plans_[plan]);
        used |= uint32_t{1} << plan;
      }
      line.push_back(index_of[plan]);
    }
  }
  // The classes must have fewer bits than the elements that exclude one of the plans, which each result
  // confirms.
  const int64_t decided =
      std::ranges::count_if(masks_, [&](uint32_t mask) { return (mask & used) != used; });
  const double evidence = static_cast<double>(decided * std::ssize(results_)) / 4;
  return ClassBits(regions) > evidence ? std::nullopt : std::optional(regions);
}

int64_t RegionFinder::Exceptions(const Regions& regions) const {
  std::vector<int64_t> elements(regions.plans.size());
  for (int64_t i = 0; i < m_ * n_; ++i) ++elements[regions.PlanAt(i / n_, i % n_)];
  const Plan& commonest = regions.plans[std::ranges::max_element(elements) - elements.begin()];
  const size_t p = std::ranges::find(plans_, commonest) - plans_.begin();
  return std::ranges::count_if(masks_, [&](uint32_t mask) { return (mask >> p & 1) == 0; });
}

std::optional<Regions> FindRegions(const Matrices& matrices, const Words& d, const Format& format,
                                   std::span<const Plan> candidates, const Execution& execution) {
  constexpr size_t kMaxPlans = 4;
  RegionFinder finder(matrices.m, matrices.n, format, candidates, execution, kMaxPlans);
  if (!finder.Add(matrices, d, true)) return std::nullopt;
  std::optional<Regions> regions = finder.Find();
  if (!regions) return std::nullopt;
  const double choices = static_cast<double>(regions->plans.size()) *
                         std::log2(static_cast<double>(candidates.size()));
  const auto exceptions = static_cast<double>(finder.Exceptions(*regions));
  if (exceptions < ClassBits(*regions) + choices) return std::nullopt;
  return regions;
}

}  // namespace mmadiff
