#include "triage/plan/shape_plans.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/cases/random.h"
#include "device/status_macros.h"
#include "sim/plan/candidates.h"
#include "sim/plan/random_matrix.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

std::string DigestOf(const std::vector<unsigned char>& words) {
  return absl::StrFormat("%016x", XXH3_64bits(words.data(), words.size()));
}

constexpr int64_t kMinElements = 512, kMaxProducts = 32;  // of a small D

// Random operands and the device's product, in rows without gaps.
class AskedProduct {
 public:
  AskedProduct(const MatrixShape& shape, const Format& format, uint64_t seed)
      : shape_(shape),
        format_(format),
        a_(RandomMatrix(format, format.bits, 2 * seed, shape.m * shape.k)),
        b_(RandomMatrix(format, format.bits, 2 * seed + 1, shape.k * shape.n)),
        d_(shape.m * shape.n * (format.bits / 8)) {}

  absl::Status Ask(MatrixDevice& device) {
    return device.Multiply(
        {shape_.m, shape_.n, shape_.k, a(), b(), {d_.data(), shape_.n, 1, format_.bits}});
  }
  Matrices matrices() const {
    Matrices m;
    m.m = shape_.m, m.n = shape_.n, m.k = shape_.k;
    m.a = a(), m.b = b();
    m.a_format = m.b_format = &format_;
    return m;
  }
  std::string digest() const { return DigestOf(d_); }
  Words d() const { return {d_.data(), shape_.n, 1, format_.bits}; }

 private:
  Words a() const { return {a_.data(), shape_.k, 1, format_.bits}; }
  Words b() const { return {b_.data(), shape_.n, 1, format_.bits}; }

  const MatrixShape shape_;
  const Format& format_;
  const std::vector<unsigned char> a_, b_;
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

absl::StatusOr<ShapePlans> AskPlans(MatrixDevice& device, const MatrixShape& shape,
                                    std::span<const Operation* const> operations, uint64_t seed,
                                    int products, const Execution& execution) {
  const Format& format = device.format();
  const std::vector<Plan> candidates = CandidatePlans(operations, shape.k, format);
  RegionFinder finder(shape.m, shape.n, format, candidates, execution);
  ShapePlans result;
  result.shape = shape;
  const int64_t elements = std::max<int64_t>(shape.m * shape.n, 1);
  const int count =
      std::max<int>(products, static_cast<int>(std::min(kMinElements / elements, kMaxProducts)));
  std::vector<std::unique_ptr<AskedProduct>> asked;  // the finder reads them
  for (int i = 0; i < count; ++i) {
    asked.push_back(std::make_unique<AskedProduct>(shape, format, seed + i));
    RETURN_IF_ERROR(asked.back()->Ask(device));
    ++result.products;
    if (!finder.Add(asked.back()->matrices(), asked.back()->d())) break;
  }
  result.unexplained = finder.unexplained();
  result.regions = finder.Find();
  if (!result.regions) return result;
  AskedProduct last(shape, format, seed + count);
  RETURN_IF_ERROR(last.Ask(device));
  ++result.products;
  result.seed = seed + count;
  result.digest = last.digest();
  result.differing = Missed(*result.regions, last, format, execution);
  return result;
}

absl::StatusOr<std::string> PredictedDigest(
    const MatrixShape& shape, const Format& format, uint64_t seed,
    std::span<const std::pair<std::string, std::string>> plans) {
  const AskedProduct asked(shape, format, seed);
  const Matrices m = asked.matrices();
  std::vector<unsigned char> d(shape.m * shape.n * (format.bits / 8)), part(d.size());
  std::vector<bool> given(shape.m * shape.n);
  for (const auto& [text, where] : plans) {
    std::string error;
    const std::optional<Plan> plan = ParsePlan(text, &error);
    if (!plan) return absl::DataLossError(absl::StrCat(text, ": ", error));
    const auto elements = ElementsOf(where, shape.m, shape.n);
    if (!elements) return absl::DataLossError(absl::StrCat("'", where, "' names no elements"));
    Execute(*plan, m, {part.data(), shape.n, 1, format.bits});
    const int64_t size = format.bits / 8;
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

std::vector<CoveringPlan> CoverPlans(std::span<const ShapePlans> asked,
                                     std::span<const Operation* const> operations) {
  // Arithmetic and order for some k.
  using Deed = std::pair<int64_t, std::string>;
  const auto deed = [](const Plan& plan, int64_t k) {
    return Deed(k, absl::StrCat(plan.operation->name, plan.unfused, OrderAt(plan, k)));
  };
  std::map<Deed, std::set<size_t>> shapes_of;
  std::set<int64_t> ks;
  const Format* format = nullptr;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i].regions) continue;
    ks.insert(asked[i].shape.k);
    for (const Plan& plan : asked[i].regions->plans) {
      shapes_of[deed(plan, asked[i].shape.k)].insert(i);
      format = plan.epilogue.format;
    }
  }
  std::vector<CoveringPlan> cover;
  if (format == nullptr) return cover;
  // Plans differ most for a k that no range divides.
  const std::vector<Plan> candidates = CandidatePlans(operations, 8 * *ks.rbegin() + 1, *format);
  std::vector<std::vector<Deed>> deeds(candidates.size());
  for (size_t c = 0; c < candidates.size(); ++c) {
    for (const int64_t k : ks) {
      Deed done = deed(candidates[c], k);
      if (shapes_of.contains(done)) deeds[c].push_back(std::move(done));
    }
  }
  while (!shapes_of.empty()) {
    std::vector<int64_t> left;
    for (const std::vector<Deed>& of : deeds) {
      left.push_back(
          std::ranges::count_if(of, [&](const Deed& x) { return shapes_of.contains(x); }));
    }
    const size_t best = std::ranges::max_element(left) - left.begin();
    if (left[best] == 0) break;
    std::set<size_t> shapes;
    for (const Deed& x : deeds[best]) {
      const auto found = shapes_of.find(x);
      if (found == shapes_of.end()) continue;
      shapes.insert(found->second.begin(), found->second.end());
      shapes_of.erase(found);
    }
    cover.push_back({candidates[best], std::ssize(shapes)});
  }
  return cover;
}

}  // namespace mmadiff
