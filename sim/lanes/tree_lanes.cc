#include "sim/lanes/tree_lanes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

#include "sim/exact_sum.h"
#include "sim/lanes/lanes.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {
namespace {

constexpr int kMostBits = 61;

// Bounds of a term for any operands.
struct Bounds {
  TreeTerm::Class kind;
  int bits;       // magnitude < 2^bits
  int headroom;   // the value is below 2^(exponent + headroom)
  int low, high;  // of the unit of a nonzero magnitude
};

Bounds BoundsOf(TreeTerm::Class kind, const Format& f, int headroom) {
  const int low = f.min_exponent - f.fraction_bits, high = MaxExponent(f) - f.fraction_bits;
  return {kind, f.fraction_bits + 1, headroom, low, high};
}

Bounds ProductBounds(const Model& m) {
  const Bounds a = BoundsOf(TreeTerm::kProduct, m.a, 1), b = BoundsOf(TreeTerm::kProduct, m.b, 1);
  return {TreeTerm::kProduct, a.bits + b.bits, 2, a.low + b.low, a.high + b.high};
}

bool HasLaneOperands(const Format& f) {
  return !IsInteger(f) && !IsAbsent(f) && f.fraction_bits < 32;
}

// Whether lanes round to the format.
bool HasLaneResults(const Format& f) {
  return !IsInteger(f) && f.is_signed && f.has_zero && f.ignored_bits == 0 &&
         f.fraction_bits <= 52 && f.bits < 64 + (f.nonfinite == Nonfinite::kIeee) &&
         f.nonfinite != Nonfinite::kIeeeAllBits;
}

// The sum of `terms` as a term of the next node, before rounding; sets step.sum and step.bits.
std::optional<Bounds> SumBounds(const std::vector<Bounds>& terms, TreeLaneStep& step) {
  const Node& n = *step.node;
  const int count_bits = std::bit_width(terms.size());
  Bounds sum = {TreeTerm::kPartial, 0, 0, INT32_MAX, INT32_MIN};
  int kept = 0;
  for (const Bounds& t : terms) {
    const bool value =
        t.kind == TreeTerm::kProduct && n.product_exponent == ProductExponent::kNormalized;
    const int shift = t.kind == TreeTerm::kWord ? n.word_shift : 0;
    const bool own = t.kind == TreeTerm::kPartial && n.partial_fraction_bits != kAsNode;
    sum.bits = std::max(sum.bits, t.bits);
    sum.headroom = std::max(sum.headroom, value ? 1 : t.headroom + shift);
    sum.low = std::min(sum.low, t.low);
    sum.high = std::max(sum.high, t.high);
    kept = std::max(kept, own ? n.partial_fraction_bits : n.fraction_bits);
  }
  if (sum.bits > kMostBits) return std::nullopt;
  if (n.fraction_bits != kExact) {
    step.sum = LaneSum::kAligned;
    step.bits = kept;
    sum.headroom += 1 + count_bits;
    const int shift = std::abs(n.word_shift);
    sum.low = std::max(sum.low - shift, n.exponent_floor) - kept;
    sum.high = std::max(sum.high + sum.bits + shift, n.exponent_floor) - kept;
    sum.bits = kept + sum.headroom;
    return sum.bits <= kMostBits ? std::optional(sum) : std::nullopt;
  }
  if (terms.size() == 1) {
    step.sum = LaneSum::kOne;
    return sum;
  }
  if (n.to == nullptr) return std::nullopt;
  step.sum = terms.size() == 2 && sum.bits <= 53 ? LaneSum::kTwo : LaneSum::kLimbs;
  const bool fits = n.to->fraction_bits <= 27 && terms.size() <= kMaxK &&
                    sum.bits + 31 + count_bits <= 62 && sum.high - sum.low < 32 * LongSum::kLimbs;
  return step.sum == LaneSum::kTwo || fits ? std::optional(sum) : std::nullopt;
}

class Planner {
 public:
  explicit Planner(const Model& m) : m_(m), tree_(*m.algorithm.tree) {}

  std::shared_ptr<const TreeLanePlan> Make() {
    if (!HasLaneOperands(m_.a) || !HasLaneOperands(m_.b) || m_.scale_block != 0 ||
        m_.algorithm.bit_operation == BitOperation::kXor) {
      return nullptr;
    }
    for (const TreeCode& code : tree_.code) {
      plan_.steps.push_back({code.push, code.index});
      if (!Add(code, plan_.steps.back())) return nullptr;
      plan_.depth = std::max(plan_.depth, static_cast<int>(stack_.size()));
    }
    if (plan_.depth > kMaxLaneTerms) return nullptr;
    return std::make_shared<const TreeLanePlan>(std::move(plan_));
  }

 private:
  struct Term {
    Bounds bounds;
    size_t step;
  };

  bool Add(const TreeCode& code, TreeLaneStep& step) {
    const size_t at = plan_.steps.size() - 1;
    switch (code.push) {
      case Push::kProduct:
        stack_.push_back({ProductBounds(m_), at});
        return true;
      case Push::kAddend:
        if (IsInteger(m_.c) || IsAbsent(m_.c)) return false;
        step.format = &m_.c;
        stack_.push_back({BoundsOf(TreeTerm::kWord, m_.c, 1), at});
        return true;
      case Push::kZero:
        stack_.push_back({{TreeTerm::kWord, 0, 0, 0, 0}, at});
        return true;
      case Push::kJoin:
        step.node = &tree_.nodes[code.node];
        return Join(step, at);
    }
    return false;
  }

  bool Join(TreeLaneStep& step, size_t at) {
    const Node& n = *step.node;
    const bool as_f16 = NormalizesSubnormals(n.product_exponent, m_.a) ||
                        NormalizesSubnormals(n.product_exponent, m_.b);
    const bool to = n.to == nullptr || HasLaneResults(*n.to);
    if (n.scale != NodeScale::kNone || as_f16 || !to) return false;
    std::vector<Bounds> terms;
    for (size_t i = stack_.size() - step.index; i < stack_.size(); ++i) {
      terms.push_back(stack_[i].bounds);
      const bool offers =
          (terms.back().kind == TreeTerm::kProduct ? n.zero_product : n.zero_word) ==
          ZeroOffers::kExponent;
      plan_.steps[stack_[i].step].zero_offers = offers;
      if (terms.back().kind != TreeTerm::kProduct) continue;
      if (any_product_ && plan_.zero_products_offer != offers) return false;
      any_product_ = true;
      plan_.zero_products_offer = offers;
    }
    const std::optional<Bounds> sum = SumBounds(terms, step);
    if (!sum) return false;
    stack_.resize(stack_.size() - step.index);
    stack_.push_back({*sum, at});
    if (n.to == nullptr) return true;
    stack_.back().bounds = BoundsOf(TreeTerm::kWord, *n.to, 1);
    step.format = n.to;
    step.rounding = RoundingOf(n);
    return true;
  }

  const Model& m_;
  const Tree& tree_;
  TreeLanePlan plan_;
  std::vector<Term> stack_;
  bool any_product_ = false;
};

}  // namespace

std::shared_ptr<const TreeLanePlan> MakeTreeLanePlan(const Model& m) { return Planner(m).Make(); }

bool IsFloatTree(const Model& m) {
  if (m.algorithm.family != Family::kTree || MakeTreeLanePlan(m) == nullptr) return false;
  const auto is_float = [](const Format& f) {
    return f.bits == 32 && f.exponent_bits == 8 && f.fraction_bits == 23 &&
           f.min_exponent == -126 && f.nonfinite == Nonfinite::kIeee;
  };
  const auto fits = [](const Format& f) {
    return f.fraction_bits <= 23 && f.min_exponent >= -126 && MaxExponent(f) <= 127;
  };
  if (!is_float(m.d) || !fits(m.a) || !fits(m.b) || (!IsAbsent(m.c) && !fits(m.c))) return false;
  const auto adds = [&](const Node& n) {
    return n.fraction_bits == kExact && n.to != nullptr && is_float(*n.to) &&
           n.output_rounding == Rounding::kNearestEven &&
           (n.output_fraction_bits == kAllBits || n.output_fraction_bits == 23) &&
           n.overflow != NodeOverflow::kSaturate && n.output_subnormals == Subnormals::kKeep &&
           (n.zero_sign == NodeZero::kIeee || n.zero_sign == NodeZero::kIeee754) &&
           n.product_limit == kNoLimit;
  };
  const Tree& tree = *m.algorithm.tree;
  const NodeNan rule = tree.nodes[tree.code.back().node].nan_rule;  // a NaN stays one
  const bool exact = AreProductsFloats(m) && m.a.fraction_bits + m.b.fraction_bits + 2 <= 24;
  int products = 0;  // among the last leaves
  bool two = true;   // at most two terms, and at most one product that floats do not hold
  for (const TreeCode& code : tree.code) {
    if (code.push == Push::kJoin) {
      two &= code.index <= 2 && (products < 2 || exact);
    }
    products = code.push == Push::kProduct ? products + 1 : 0;
  }
  return two && std::ranges::all_of(tree.nodes, adds) &&
         (rule == NodeNan::kAllOnes || rule == NodeNan::kQuietPositive);
}

uint32_t FloatTreeNan(const Model& m) {
  const Tree& tree = *m.algorithm.tree;
  const bool ones = tree.nodes[tree.code.back().node].nan_rule == NodeNan::kAllOnes;
  return static_cast<uint32_t>(DefaultNan(m.d, ones ? NanRule::kAllOnes : NanRule::kQuietPositive));
}

}  // namespace mmadiff
