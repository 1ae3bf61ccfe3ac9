#include "triage/plan/shape_plans.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "corpus/cases/random.h"
#include "device/status_macros.h"
#include "sim/plan/candidates.h"
#include "triage/plan/shape_asker.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxCandidates = 50000;  // seconds for a shape

}  // namespace

UsedOperands UsedOperandsOf(const ProductFactors& factors) {
  return {factors.alpha != 1, factors.beta != 0, factors.beta == 1};
}

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

absl::StatusOr<ShapePlans> AskPlans(MatrixDevice& device, const MatrixShape& shape,
                                    std::span<const Operation* const> operations, uint64_t seed,
                                    int products, const Execution& execution) {
  const std::vector<Plan> candidates =
      CandidatePlans(operations, shape.k, *device.formats().d, UsedOperandsOf(device.factors()));
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

}  // namespace mmadiff
