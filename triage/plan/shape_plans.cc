#include "triage/plan/shape_plans.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/cases/random.h"
#include "device/status_macros.h"
#include "sim/plan/candidates.h"
#include "sim/plan/convert.h"
#include "sim/plan/order.h"
#include "sim/plan/random_matrix.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

std::string DigestOf(const std::vector<unsigned char>& words) {
  return absl::StrFormat("%016x", XXH3_64bits(words.data(), words.size()));
}

constexpr int64_t kMaxCandidates = 50000;                 // seconds for a shape
constexpr int64_t kMinElements = 512, kMaxProducts = 32;  // of a small D

UsedFactors UsedFactorsOf(const ProductFactors& factors) {
  return {factors.alpha != 1, factors.beta != 0};
}

// Random operands and the device's product, in rows without gaps.
class AskedProduct {
 public:
  AskedProduct(const MatrixShape& shape, const ProductKind& kind, uint64_t seed)
      : shape_(shape),
        kind_(kind),
        a_(Random(*kind.formats.a, 2 * seed, shape.m * shape.k)),
        b_(Random(*kind.formats.b, 2 * seed + 1, shape.k * shape.n)),
        c_(Random(d_format(), ~seed, kind.factors.beta == 0 ? 0 : shape.m * shape.n)),
        d_(shape.m * shape.n * (StoredBits(d_format()) / 8)) {}

  absl::Status Ask(MatrixDevice& device) {
    return device.Multiply(
        {shape_.m, shape_.n, shape_.k, a(), b(), {d_.data(), shape_.n, 1, d().bits}, c()});
  }
  Matrices matrices() const {
    Matrices m;
    m.m = shape_.m, m.n = shape_.n, m.k = shape_.k;
    m.a = a(), m.b = b(), m.c = c();
    m.a_format = kind_.formats.a, m.b_format = kind_.formats.b;
    m.alpha = WordOf(kind_.factors.alpha), m.beta = WordOf(kind_.factors.beta);
    return m;
  }
  std::string digest() const { return DigestOf(d_); }
  Words d() const { return {d_.data(), shape_.n, 1, StoredBits(d_format())}; }

 private:
  static std::vector<unsigned char> Random(const Format& format, uint64_t seed, int64_t count) {
    return RandomMatrix(format, StoredBits(format), seed, count);
  }
  const Format& d_format() const { return *kind_.formats.d; }
  Words a() const { return {a_.data(), shape_.k, 1, StoredBits(*kind_.formats.a)}; }
  Words b() const { return {b_.data(), shape_.n, 1, StoredBits(*kind_.formats.b)}; }
  Words c() const { return {c_.data(), shape_.n, 1, StoredBits(d_format())}; }
  uint64_t WordOf(double number) const {
    return Convert(kF64, d_format(), NanRule::kAllOnes, std::bit_cast<uint64_t>(number));
  }

  const MatrixShape shape_;
  const ProductKind kind_;
  const std::vector<unsigned char> a_, b_, c_;  // C is empty if beta is 0
  std::vector<unsigned char> d_;
};

// Elements of D that the regions' plans do not give.
int64_t Missed(const Regions& regions, const AskedProduct& asked, const Format& format,
               const Execution& execution) {
  const Matrices m = asked.matrices();
  int64_t missed = 0;
  for (size_t p = 0; p < regions.plans.size(); ++p) {
    std::vector<unsigned char> bytes(m.m * m.n * 8);
    const Words words = {bytes.data(), m.n, 1, 64};
    Execute(regions.plans[p], m, {bytes.data(), m.n, 1, 64}, execution);
    for (int64_t i = 0; i < m.m; ++i) {
      for (int64_t j = 0; j < m.n; ++j) {
        missed += regions.PlanAt(i, j) == static_cast<int>(p) &&
                  !SameResult(format, Load(words, i, j), Load(asked.d(), i, j));
      }
    }
  }
  return missed;
}

}  // namespace

ProductKind KindOf(const MatrixDevice& device) { return {device.formats(), device.factors()}; }

std::string ShapeText(const MatrixShape& shape) {
  return absl::StrCat(shape.m, " x ", shape.n, " x ", shape.k);
}

std::vector<MatrixShape> RandomShapes(int count, int64_t largest, uint64_t seed) {
  std::vector<MatrixShape> shapes;
  for (int i = 0; i < count; ++i) {
    Random random(seed, 0, i);
    // A power of two, then a size from it to below the next.
    const auto size = [&] {
      const int power = random.Below(std::bit_width(static_cast<uint64_t>(largest)));
      return std::min<int64_t>(largest, (int64_t{1} << power) + random.Bits(power));
    };
    MatrixShape shape;
    for (int64_t* side : {&shape.m, &shape.n, &shape.k}) *side = size();
    shapes.push_back(shape);
  }
  return shapes;
}

namespace {

// Asks for products of one shape until an element has no plan, or `products` were explained: more
// than these if D is small.
class ShapeAsker {
 public:
  ShapeAsker(MatrixDevice& device, const MatrixShape& shape, std::span<const Plan> candidates,
             uint64_t seed, const Execution& execution)
      : device_(device),
        shape_(shape),
        seed_(seed),
        execution_(execution),
        finder_(shape.m, shape.n, *device.formats().d, candidates, execution) {}

  RegionFinder& finder() { return finder_; }

  absl::Status Ask(int products) {
    const int64_t elements = std::max<int64_t>(shape_.m * shape_.n, 1);
    const int64_t count =
        std::max<int64_t>(products, std::min(kMinElements / elements, kMaxProducts));
    for (bool explained = true; explained && std::ssize(asked_) < count;) {
      RETURN_IF_ERROR(AskOne());
      explained = finder_.Add(asked_.back()->matrices(), asked_.back()->d());
    }
    return absl::OkStatus();
  }

  // After Ask(): the regions, and one more product that they predict.
  absl::StatusOr<ShapePlans> Predict() {
    ShapePlans result = {shape_, finder_.Find(), finder_.unexplained()};
    if (result.regions) {
      result.seed = seed_ + asked_.size();
      RETURN_IF_ERROR(AskOne());
      result.digest = asked_.back()->digest();
      result.differing = Missed(*result.regions, *asked_.back(), *device_.formats().d, execution_);
    }
    result.products = std::ssize(asked_);
    return result;
  }

 private:
  absl::Status AskOne() {
    asked_.push_back(
        std::make_unique<AskedProduct>(shape_, KindOf(device_), seed_ + asked_.size()));
    return asked_.back()->Ask(device_);
  }

  MatrixDevice& device_;
  const MatrixShape shape_;
  const uint64_t seed_;
  const Execution execution_;
  RegionFinder finder_;
  std::vector<std::unique_ptr<AskedProduct>> asked_;  // the finder reads them
};

}  // namespace

absl::StatusOr<ShapePlans> AskPlans(MatrixDevice& device, const MatrixShape& shape,
                                    std::span<const Operation* const> operations, uint64_t seed,
                                    int products, const Execution& execution) {
  const std::vector<Plan> candidates =
      CandidatePlans(operations, shape.k, *device.formats().d, UsedFactorsOf(device.factors()));
  if (std::ssize(candidates) > kMaxCandidates) {
    return absl::InvalidArgumentError(absl::StrCat(
        operations.size(), " instructions have ", candidates.size(), " plans for k = ", shape.k,
        ", more than ", kMaxCandidates, ": name those of the device, as --instr='sm_90/*'"));
  }
  ShapeAsker asker(device, shape, candidates, seed, execution);
  RETURN_IF_ERROR(asker.Ask(products));
  return asker.Predict();
}

absl::StatusOr<std::string> AskDigest(MatrixDevice& device, const MatrixShape& shape,
                                      uint64_t seed) {
  AskedProduct asked(shape, KindOf(device), seed);
  RETURN_IF_ERROR(asked.Ask(device));
  return asked.digest();
}

absl::StatusOr<std::string> PredictedDigest(
    const MatrixShape& shape, const ProductKind& kind, uint64_t seed,
    std::span<const std::pair<std::string, std::string>> plans) {
  const AskedProduct asked(shape, kind, seed);
  const Matrices m = asked.matrices();
  const int bits = StoredBits(*kind.formats.d), size = bits / 8;
  std::vector<unsigned char> d(shape.m * shape.n * size), part(d.size());
  std::vector<bool> given(shape.m * shape.n);
  for (const auto& [text, where] : plans) {
    std::string error;
    const std::optional<Plan> plan = ParsePlan(text, &error);
    if (!plan) return absl::DataLossError(absl::StrCat(text, ": ", error));
    if (const std::string why = WhyNotMatrices(*plan, m); !why.empty()) {
      return absl::DataLossError(absl::StrCat(text, ": ", why));
    }
    const auto elements = ElementsOf(where, shape.m, shape.n);
    if (!elements) return absl::DataLossError(absl::StrCat("'", where, "' names no elements"));
    Execute(*plan, m, {part.data(), shape.n, 1, bits});
    for (int64_t i = 0; i < shape.m * shape.n; ++i) {
      if (!(*elements)[i]) continue;
      if (given[i]) return absl::DataLossError("two plans for one element");
      given[i] = true;
      std::copy_n(&part[i * size], size, &d[i * size]);
    }
  }
  if (std::ranges::count(given, false) > 0) return absl::DataLossError("elements without a plan");
  return DigestOf(d);
}

namespace {

// At most kMaxPlanSet plans, each of which has the orders of the most shapes that those before it do
// not have.
std::vector<Plan> CoveringPlans(std::span<const ShapePlans> asked, const UsedFactors& factors) {
  // Arithmetic and order for some k.
  using Deed = std::pair<int64_t, std::string>;
  const auto deed = [](const Plan& plan, int64_t k) {
    return Deed(k, absl::StrCat(plan.operation->name, plan.unfused, OrderAt(plan, k)));
  };
  std::map<Deed, int64_t> shapes_of;
  std::set<int64_t> ks;
  std::vector<const Operation*> operations;
  const Format* format = nullptr;
  for (const ShapePlans& s : asked) {
    if (!s.regions) continue;
    ks.insert(s.shape.k);
    for (const Plan& plan : s.regions->plans) {
      ++shapes_of[deed(plan, s.shape.k)];
      format = plan.epilogue.format;
      if (std::ranges::count(operations, plan.operation) == 0) operations.push_back(plan.operation);
    }
  }
  std::vector<Plan> cover;
  if (format == nullptr) return cover;
  const std::vector<Plan> candidates =
      CandidatePlans(operations, std::vector<int64_t>(ks.begin(), ks.end()), *format, factors);
  std::vector<std::vector<Deed>> deeds(candidates.size());
  for (size_t c = 0; c < candidates.size(); ++c) {
    for (const int64_t k : ks) {
      Deed done = deed(candidates[c], k);
      if (shapes_of.contains(done)) deeds[c].push_back(std::move(done));
    }
  }
  while (!shapes_of.empty() && cover.size() < kMaxPlanSet) {
    std::vector<int64_t> adds;
    for (const std::vector<Deed>& of : deeds) {
      int64_t& shapes = adds.emplace_back(0);
      for (const Deed& x : of) {
        const auto found = shapes_of.find(x);
        if (found != shapes_of.end()) shapes += found->second;
      }
    }
    const size_t best = std::ranges::max_element(adds) - adds.begin();
    if (adds[best] == 0) break;
    for (const Deed& x : deeds[best]) shapes_of.erase(x);
    cover.push_back(candidates[best]);
  }
  return cover;
}

}  // namespace

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

absl::Status PreferFewPlans(MatrixDevice& device, uint64_t seed, int products,
                            const Execution& execution, std::vector<ShapePlans>& asked) {
  const std::vector<Plan> cover = CoveringPlans(asked, UsedFactorsOf(device.factors()));
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
