#include "triage/explain.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {

DifferenceClass ClassOf(const Format& f, uint64_t model, uint64_t device) {
  if (IsInteger(f)) return DifferenceClass::kInteger;
  const Unpacked x = Decode(f, model), y = Decode(f, device);
  if (x.kind == Kind::kNan && y.kind == Kind::kNan) return DifferenceClass::kNanPayload;
  if (x.kind == Kind::kNan || y.kind == Kind::kNan) return DifferenceClass::kNan;
  if (x.kind == Kind::kInfinite || y.kind == Kind::kInfinite) return DifferenceClass::kInfinity;
  if (x.significand == 0 && y.significand == 0) return DifferenceClass::kZeroSign;
  // A nonzero value on one side and a zero on the other is a lost value, whatever the sign of the
  // zero.
  const bool zero = x.significand == 0 || y.significand == 0;
  if (x.negative != y.negative && !zero) return DifferenceClass::kSign;
  return UlpDistance(f, model, device) == 1 ? DifferenceClass::kOneUlp : DifferenceClass::kUlps;
}

bool Fits(const Operation& op, const Observed& o, uint64_t word) {
  return o.nan_bits ? word == o.d : SameResult(op, word, o.d);
}

std::string NameAndMeaning(const Neighbour& neighbour) {
  const Change* const change = neighbour.single();
  std::vector<const char*> operands;
  for (const ReadOperand operand : kReadOperands) {
    if (change != nullptr && (change->parameter->operands & Bit(operand))) {
      operands.push_back(Name(operand));
    }
  }
  const std::string name = Name(neighbour);
  return operands.empty() ? name
                          : absl::StrCat(name, " (", absl::StrJoin(operands, " and "), ": ",
                                         TextOf(static_cast<Reading>(change->value)), ")");
}

bool Fits(const Operation& op, const Model& model, const Observed& o) {
  return Fits(op, o, Simulate(model, o.dot));
}

bool Explains(const Operation& op, const Model& model, std::span<const Observed> observed) {
  return std::ranges::all_of(observed, [&](const Observed& o) { return Fits(op, model, o); });
}

std::vector<Neighbour> ExplainingNeighbours(const Operation& op,
                                            std::span<const Observed> observed) {
  std::vector<Neighbour> explaining;
  for (Neighbour& n : Neighbours(op.model)) {
    if (Explains(op, WithAlgorithm(op, n.algorithm), observed)) explaining.push_back(std::move(n));
  }
  return explaining;
}

DifferenceClass GravestClass(const Operation& op, std::span<const Observed> observed) {
  DifferenceClass gravest = DifferenceClass::kNone;
  for (const Observed& o : observed) {
    const uint64_t model = Simulate(op.model, o.dot);
    if (SameResult(op, model, o.d)) continue;
    gravest = std::max(gravest, ClassOf(op.model.d, model, o.d));
  }
  return gravest;
}

Bucket BucketOf(const Operation& op, std::span<const Observed> observed,
                const Neighbour* explanation) {
  for (const Observed& o : observed) {
    const uint64_t model = Simulate(op.model, o.dot);
    if (SameResult(op, model, o.d)) continue;
    return explanation == nullptr ? Bucket::Unexplained(ClassOf(op.model.d, model, o.d))
                                  : Bucket::Explained(explanation->changes);
  }
  return {};
}

Bucket BucketOf(const Operation& op, std::span<const Observed> observed) {
  const std::vector<Neighbour> explaining = ExplainingNeighbours(op, observed);
  return BucketOf(op, observed, explaining.empty() ? nullptr : &explaining.front());
}

int64_t ElementInBucket(const Operation& op, std::span<const Observed> observed,
                        const Bucket& bucket) {
  int64_t first = -1;
  for (size_t i = 0; i < observed.size(); ++i) {
    if (Gives(op, op.model, observed[i].dot, observed[i].d)) continue;
    if (first < 0) first = static_cast<int64_t>(i);
    if (BucketOf(op, observed.subspan(i, 1)) == bucket) return static_cast<int64_t>(i);
  }
  return std::max<int64_t>(first, 0);
}

}  // namespace mmadiff
