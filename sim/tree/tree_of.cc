#include "sim/tree/tree_of.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "sim/fused_sum.h"
#include "sim/reading.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// Groups of at most `count` consecutive branches.
std::vector<std::vector<Branch>> Cut(std::vector<Branch> all, int count) {
  std::vector<std::vector<Branch>> groups;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % count == 0) groups.emplace_back();
    groups.back().push_back(std::move(all[i]));
  }
  return groups;
}

NodeNan NanOf(NanRule rule) {
  switch (rule) {
    case NanRule::kAllOnes:
      return NodeNan::kAllOnes;
    case NanRule::kQuietPositive:
      return NodeNan::kQuietPositive;
    case NanRule::kPropagate:
      return NodeNan::kPropagate;
    case NanRule::kPropagateBca:
      return NodeNan::kPropagateBca;
  }
  std::abort();
}

class Builder {
 public:
  explicit Builder(const Model& m) : m_(m), alg_(m.algorithm), d_(NodeFormat(m.d.name)) {}

  Tree Build() {
    const Branch root = Root();
    tree_.code = CodeOf(root);
    return std::move(tree_);
  }

 private:
  int Rule(const char* name, const Node& node) {
    tree_.names.push_back(name);
    tree_.nodes.push_back(node);
    return static_cast<int>(tree_.nodes.size()) - 1;
  }
  static Branch Join(int rule, std::vector<Branch> terms) {
    return {Push::kJoin, rule, std::move(terms)};
  }
  static Branch Addend() { return {Push::kAddend}; }
  static Branch Zero() { return {Push::kZero}; }
  static Branch Product(int k) { return {Push::kProduct, k}; }

  // The addend, then a group of terms.
  static Branch Step(int rule, Branch addend, std::vector<Branch> group) {
    group.insert(group.begin(), std::move(addend));
    return Join(rule, std::move(group));
  }

  std::vector<Branch> Products(int first, int stride) const {
    std::vector<Branch> all;
    for (int k = first; k < m_.k; k += stride) all.push_back(Product(k));
    return all;
  }

  Branch Root() {
    out_.to = d_;
    out_.output_fraction_bits = alg_.output_fraction_bits;
    out_.output_rounding = alg_.output_rounding;
    out_.overflow =
        alg_.range_overflow == RangeOverflow::kIeee ? NodeOverflow::kIeee : NodeOverflow::kInfinity;
    out_.output_subnormals = alg_.output_subnormals;
    out_.tininess = alg_.tininess;
    out_.nan_rule = NanOf(alg_.nan_rule);
    switch (alg_.family) {
      case Family::kFmaChain:
        return FmaChain();
      case Family::kPairwiseSum:
        return PairwiseSum();
      case Family::kFusedSum:
        return FusedSum();
      case Family::kScaledSum:
        return ScaledSum();
      case Family::kExactSum:
        return Fold(Rule("step", Sum()), Addend(), Products(0, 1), alg_.terms);
      case Family::kTwoStageSum:
        return TwoStageSum();
      case Family::kIntegerDot:
        return IntegerDot();
      default:
        std::abort();  // programmer error
    }
  }

  // The addend as the steps take it.
  Branch Flushed(Branch word) {
    if (alg_.addend_subnormals == Subnormals::kKeep) return word;
    if (flush_ < 0) {
      Node flush = {.to = d_, .output_subnormals = alg_.addend_subnormals};
      flush.nan_rule = NodeNan::kPropagate;
      flush_ = Rule("flush", flush);
    }
    return Join(flush_, {std::move(word)});
  }

  Branch Fold(int rule, Branch start, std::vector<Branch> terms, int count) {
    for (std::vector<Branch>& group : Cut(std::move(terms), count)) {
      start = Step(rule, std::move(start), std::move(group));
    }
    return start;
  }

  Branch Chain(int rule, Branch start, std::vector<Branch> products) {
    if (alg_.order == Order::kDescending) std::ranges::reverse(products);
    for (Branch& product : products) {
      if (alg_.multiply_add == MultiplyAdd::kSeparate) {
        product = Flushed(Join(rule, {std::move(product)}));
      }
      start = Join(rule, {std::move(product), Flushed(std::move(start))});
    }
    return start;
  }

  Branch FmaChain() {
    out_.zero_sign = NodeZero::kIeee754;
    const int fma = Rule("fma", out_);
    if (alg_.addend_joins == AddendJoins::kFirstStep) return Chain(fma, Addend(), Products(0, 1));
    if (alg_.grouping != Grouping::kEvenOdd) {
      return Join(fma, {Flushed(Addend()), Flushed(Chain(fma, Zero(), Products(0, 1)))});
    }
    Branch even = Chain(fma, Zero(), Products(0, 2)), odd = Chain(fma, Zero(), Products(1, 2));
    Branch both = Join(fma, {Flushed(std::move(even)), Flushed(std::move(odd))});
    return Join(fma, {Flushed(Addend()), Flushed(std::move(both))});
  }

  Branch PairwiseSum() {
    out_.zero_sign = NodeZero::kIeee754;
    const int add = Rule("add", out_);
    const int leaf = alg_.product_rounding == ProductRounding::kExact ? 2 : 1;
    Branch sum = Flushed(Addend());
    bool first = true;
    for (std::vector<Branch>& group : Cut(Products(0, 1), alg_.terms)) {
      std::vector<Branch> words;
      for (std::vector<Branch>& products : Cut(std::move(group), leaf)) {
        words.push_back(Join(add, std::move(products)));
      }
      while (words.size() > 1) {
        std::vector<Branch> sums;
        for (std::vector<Branch>& pair : Cut(std::move(words), 2)) {
          sums.push_back(Join(add, std::move(pair)));
        }
        words = std::move(sums);
      }
      const bool flushes = !first && alg_.addend_flush == AddendFlush::kEveryStep;
      sum = Join(add, {flushes ? Flushed(std::move(sum)) : std::move(sum), std::move(words[0])});
      first = false;
    }
    return sum;
  }

  Node Sum() const {
    Node n = out_;
    n.zero_sign = alg_.zero_sign == ZeroSign::kPositive      ? NodeZero::kPositive
                  : alg_.zero_sign == ZeroSign::kSumPositive ? NodeZero::kSumPositive
                                                             : NodeZero::kIeee;
    return n;
  }

  Node Aligned() const {
    Node n = Sum();
    n.fraction_bits = alg_.fraction_bits;
    n.exponent_floor = alg_.exponent_floor;
    n.align_rounding = alg_.align_rounding;
    return n;
  }

  void SetProducts(Node& n) const {
    n.product_exponent = alg_.product_exponent;
    n.zero_product =
        alg_.zero_term == ZeroTerm::kRaises ? ZeroOffers::kExponent : ZeroOffers::kNothing;
  }

  // The addend, normalized if its exponent is that of the output.
  Branch AlignedAddend() {
    const bool own = alg_.addend_exponent == AddendExponent::kOwnFormat;
    if (own || (m_.c.min_exponent == m_.d.min_exponent)) return Addend();
    Node widen = {.to = d_};
    widen.nan_rule = NodeNan::kPropagate;
    return Join(Rule("widen", widen), {Addend()});
  }

  Branch FusedSum() {
    Node step = Aligned();
    SetProducts(step);
    const int rule = Rule("step", step);
    std::vector<Branch> products;
    for (int position = 0; position < m_.k; ++position) {
      products.push_back(Product(GroupedK(m_, position)));
    }
    if (alg_.addend_joins == AddendJoins::kFirstStep) {
      return Fold(rule, AlignedAddend(), std::move(products), alg_.terms);
    }
    Node last = out_;
    last.zero_sign = NodeZero::kIeee754;
    last.output_rounding = Rounding::kNearestEven;
    last.output_fraction_bits = kAllBits;
    const int add = Rule("add", last);
    if (alg_.addend_joins == AddendJoins::kLastAdd) {
      return Join(add, {Addend(), Fold(rule, Zero(), std::move(products), alg_.terms)});
    }
    std::vector<std::vector<Branch>> groups = Cut(std::move(products), alg_.terms);
    Branch sum = Step(rule, Zero(), std::move(groups[0]));
    for (size_t i = 1; i < groups.size(); ++i) {
      sum = Join(add, {std::move(sum), Step(rule, Zero(), std::move(groups[i]))});
    }
    return Join(add, {Addend(), std::move(sum)});
  }

  Branch ScaledSum() {
    Node group;
    group.scale =
        alg_.group_exponent == GroupExponent::kScales ? NodeScale::kAlone : NodeScale::kAdded;
    SetProducts(group);
    Node step = Aligned();
    step.zero_partial =
        alg_.zero_group == ZeroGroup::kCounts ? ZeroOffers::kExponent : ZeroOffers::kNothing;
    const int rule = Rule("step", step), groups = Rule("group", group);
    std::vector<Branch> sums;
    for (std::vector<Branch>& products : Cut(Products(0, 1), alg_.group_terms)) {
      sums.push_back(Join(groups, std::move(products)));
    }
    return Fold(rule, AlignedAddend(), std::move(sums), alg_.terms / alg_.group_terms);
  }

  Branch TwoStageSum() {
    Node part = {.fraction_bits = alg_.fraction_bits, .align_rounding = alg_.align_rounding};
    SetProducts(part);
    if (alg_.product_overflow == ProductOverflow::kInfinity) {
      part.product_limit = MaxExponent(m_.d) + 1;
    }
    Node sum = Sum();
    if (sum.zero_sign != NodeZero::kIeee) sum.zero_sign = NodeZero::kPositive;
    sum.fraction_bits = alg_.fraction_bits;
    sum.partial_fraction_bits = alg_.sum_fraction_bits + 1;
    sum.align_rounding = sum.output_rounding = alg_.sum_rounding;
    sum.small_word =
        alg_.small_addend == SmallAddend::kDropped ? SmallWord::kDropped : SmallWord::kCut;
    sum.zero_word = alg_.zero_addend == ZeroAddend::kLeastExponent ? ZeroOffers::kExponent
                                                                   : ZeroOffers::kNothing;
    sum.to = NodeFormat("e" + std::to_string(m_.d.exponent_bits) + "m" +
                        std::to_string(alg_.sum_fraction_bits));
    sum.output_fraction_bits = kAllBits;
    sum.output_subnormals = Subnormals::kKeep;
    sum.overflow = NodeOverflow::kInfinity;
    Node out = Sum();
    if (out.zero_sign == NodeZero::kSumPositive) out.zero_sign = NodeZero::kIeee;
    const bool apart = alg_.grouping == Grouping::kEvenOdd;
    const int parts = Rule(apart ? "half" : "products", part);
    const int both = apart ? Rule("both", {.fraction_bits = alg_.fraction_bits,
                                           .align_rounding = alg_.sum_rounding})
                           : 0;
    const int sums = Rule("sum", sum), outs = Rule("out", out);
    Branch d = Addend();
    for (std::vector<Branch>& group : Cut(Products(0, 1), alg_.terms)) {
      Branch dot;
      if (apart) {
        std::vector<Branch> halves[2];
        for (Branch& product : group) halves[product.index % 2].push_back(std::move(product));
        std::vector<Branch> terms;
        for (std::vector<Branch>& half : halves) {
          if (!half.empty()) terms.push_back(Join(parts, std::move(half)));
        }
        dot = Join(both, std::move(terms));
      } else {
        dot = Join(parts, std::move(group));
      }
      d = Join(outs, {Join(sums, {std::move(dot), std::move(d)})});
    }
    return d;
  }

  Branch IntegerDot() {
    Node sum = {.to = d_};
    sum.overflow =
        alg_.overflow == Overflow::kSaturate ? NodeOverflow::kSaturate : NodeOverflow::kInfinity;
    return Fold(Rule("sum", sum), Addend(), Products(0, 1), alg_.terms);
  }

  const Model& m_;
  const Algorithm& alg_;
  const Format* const d_;  // of the output, never deleted
  Tree tree_;
  Node out_;
  int flush_ = -1;
};

}  // namespace

Model TreeOf(const Model& m) {
  if (IsSparse(m)) {
    Model sparse = m;
    sparse.algorithm = TreeOf(SelectedModel(m)).algorithm;
    sparse.algorithm.selection = m.algorithm.selection;
    return sparse;
  }
  Model tree = m;
  tree.algorithm = {.family = Family::kTree,
                    .input_subnormals = m.algorithm.input_subnormals,
                    .bit_operation = m.algorithm.bit_operation};
  CopyReadings(m.algorithm, tree.algorithm);
  tree.algorithm.tree = InternTree(Builder(m).Build());
  return tree;
}

}  // namespace mmadiff
