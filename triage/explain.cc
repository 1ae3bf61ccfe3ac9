#include "triage/explain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simulate.h"
#include "triage/divergence.h"
#include "triage/verdict.h"

namespace mmadiff {
std::string DifferenceClass(const Format& f, uint64_t model, uint64_t device) {
  if (IsInteger(f)) return "integer";
  const Unpacked x = Decode(f, model), y = Decode(f, device);
  if (x.kind == Kind::kNan || y.kind == Kind::kNan) return "nan";
  if (x.kind == Kind::kInfinite || y.kind == Kind::kInfinite) return "infinity";
  if (x.significand == 0 && y.significand == 0) return "zero_sign";
  // A value against a zero is a lost value, whatever the sign of the zero.
  const bool zero = x.significand == 0 || y.significand == 0;
  if (x.negative != y.negative && !zero) return "sign";
  return UlpDistance(f, model, device) == 1 ? "1ulp" : "ulps";
}

bool Fits(const Operation& op, const Model& model, const Observed& o) {
  return o.nan_bits ? Simulate(model, o.dot) == o.d : Gives(op, model, o.dot, o.d);
}

bool Explains(const Operation& op, const Model& model, std::span<const Observed> observed) {
  return std::all_of(observed.begin(), observed.end(),
                     [&](const Observed& o) { return Fits(op, model, o); });
}

std::vector<Neighbour> ExplainingNeighbours(const Operation& op,
                                            std::span<const Observed> observed) {
  std::vector<Neighbour> explaining;
  for (Neighbour& n : Neighbours(op.model)) {
    if (Explains(op, WithAlgorithm(op, n.algorithm), observed)) explaining.push_back(std::move(n));
  }
  return explaining;
}

std::string GravestClass(const Operation& op, std::span<const Observed> observed) {
  constexpr std::string_view kByWeight[] = {"",     "1ulp",     "ulps", "zero_sign",
                                            "sign", "infinity", "nan",  "integer"};
  const auto weight = [&](const std::string& name) { return std::ranges::find(kByWeight, name); };
  std::string gravest;
  for (const Observed& o : observed) {
    const uint64_t model = Simulate(op.model, o.dot);
    if (SameResult(op, model, o.d)) continue;
    const std::string own = DifferenceClass(op.model.d, model, o.d);
    if (weight(own) > weight(gravest)) gravest = own;
  }
  return gravest;
}

std::string SignatureOf(const Operation& op, std::span<const Observed> observed,
                        const Neighbour* explanation) {
  for (const Observed& o : observed) {
    const uint64_t model = Simulate(op.model, o.dot);
    if (SameResult(op, model, o.d)) continue;
    if (explanation == nullptr) {
      return absl::StrCat("unexplained:", DifferenceClass(op.model.d, model, o.d));
    }
    const Stage stage = explanation->changes.front().parameter->stage;
    return absl::StrCat(StageName(stage), ":", Name(*explanation));
  }
  return "none";
}

std::string Signature(const Operation& op, std::span<const Observed> observed) {
  const std::vector<Neighbour> explaining = ExplainingNeighbours(op, observed);
  return SignatureOf(op, observed, explaining.empty() ? nullptr : &explaining.front());
}

int64_t ElementInBucket(const Operation& op, std::span<const Observed> observed,
                        const std::string& signature) {
  int64_t first = -1;
  for (size_t i = 0; i < observed.size(); ++i) {
    if (Gives(op, op.model, observed[i].dot, observed[i].d)) continue;
    if (first < 0) first = static_cast<int64_t>(i);
    if (Signature(op, observed.subspan(i, 1)) == signature) return static_cast<int64_t>(i);
  }
  return std::max<int64_t>(first, 0);
}

}  // namespace mmadiff
