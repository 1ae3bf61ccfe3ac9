#include "sim/reference/random_tree.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace mmadiff::reference {
namespace {

constexpr int kMostTerms = 16, kMostDepth = 4;

template <class Enum>
Enum Choose(Random& random, Enum last) {
  return static_cast<Enum>(Between(random, 0, static_cast<int>(last)));
}

// The default in most cases, which leaves rules that resemble hardware.
template <class Enum>
Enum Sometimes(Random& random, Enum last) {
  return OneIn(random, 3) ? Choose(random, last) : Enum{};
}

bool IsExactPartial(const Node& node) { return node.to == nullptr && node.fraction_bits == kExact; }

uint64_t RandomNan(const Format& f, Random& random) {
  if (f.nonfinite == Nonfinite::kNanMinusZero) return uint64_t{1} << (f.bits - 1);
  uint64_t fraction = Ones(f.fraction_bits);
  if (HasInfinity(f)) fraction = std::max<uint64_t>(random() & fraction, 1);
  const uint64_t magnitude = (Ones(f.exponent_bits) << f.fraction_bits) | fraction;
  const bool negative = f.is_signed && OneIn(random, 2);
  return magnitude << f.ignored_bits | (negative ? uint64_t{1} << (f.bits - 1) : 0);
}

class RandomTreeBuilder {
 public:
  RandomTreeBuilder(const Model& model, Random& random) : m_(model), random_(random) {}

  mmadiff::Tree Build() {
    DrawRules();
    std::vector<Branch> leaves = Leaves();
    // The length of code is limited.
    converts_ = leaves.size() <= 256;
    int depth = converts_ ? Between(random_, 1, kMostDepth) : 1;
    while (Most(depth) < static_cast<int>(leaves.size())) ++depth;
    tree_.code = CodeOf(Joined(std::move(leaves), depth, 0, false));
    return std::move(tree_);
  }

 private:
  // ---- Rules. Rule 0 is that of the root.

  void DrawRules() {
    AddRule(IsInteger(m_.a) ? IntegerRule(m_.d) : WordRule(m_.d));
    // A rule that every node can have.
    AddRule(IsInteger(m_.a) ? IntegerRule(InnerInteger()) : WordRule(InnerFormat()));
    const int more = Between(random_, 0, 4);
    for (int i = 0; i < more; ++i) {
      if (IsInteger(m_.a)) {
        AddRule(IntegerRule(InnerInteger()));
      } else {
        AddRule(OneIn(random_, 2) ? PartialRule() : WordRule(InnerFormat()));
      }
    }
    conversion_ = static_cast<int>(tree_.nodes.size());
    AddRule(IsInteger(m_.a) ? IntegerRule(InnerInteger()) : ConversionRule());
    if (m_.scale_block > 0) {
      AddRule(ScaledRule());
    } else if (!IsInteger(m_.a)) {
      AddRule(ConversionRule());
    }
  }

  void AddRule(const Node& node) {
    tree_.names.push_back("r" + std::to_string(tree_.nodes.size()));
    tree_.nodes.push_back(node);
  }

  const Format& InnerFormat() {
    constexpr const char* kNames[] = {"f32", "f16", "bf16", "tf32", "f64", "e5m2"};
    return *NodeFormat(OneIn(random_, 3) ? "f32" : kNames[random_() % std::size(kNames)]);
  }

  const Format& InnerInteger() {
    constexpr const char* kNames[] = {"s32", "s16", "s8"};
    return *NodeFormat(kNames[random_() % std::size(kNames)]);
  }

  Node IntegerRule(const Format& to) {
    Node node = {.to = NodeFormat(to.name)};
    node.overflow = OneIn(random_, 2) ? NodeOverflow::kSaturate : NodeOverflow::kInfinity;
    return node;
  }

  Node PartialRule() {
    Node node;
    SetAlignment(node);
    return node;
  }

  Node WordRule(const Format& to) {
    Node node;
    SetAlignment(node);
    SetResult(to, node);
    if (node.ones_complement) return node;
    node.small_word = Sometimes(random_, SmallWord::kDroppedAboveFloor);
    return node;
  }

  Node ScaledRule() {
    Node node = PartialRule();
    if (OneIn(random_, 2)) node.fraction_bits = kExact;
    node.scale = OneIn(random_, 2) ? NodeScale::kAdded : NodeScale::kAlone;
    return node;
  }

  Node ConversionRule() {
    Node node;
    SetResult(InnerFormat(), node);
    return node;
  }

  void SetAlignment(Node& node) {
    // Scaled sums are often exact; then they cannot be terms of exact nodes.
    if (m_.scale_block > 0 || !OneIn(random_, 3)) node.fraction_bits = Between(random_, 8, 53);
    node.product_exponent = Sometimes(random_, ProductExponent::kAsF16);
    node.zero_product = Sometimes(random_, ZeroOffers::kExponent);
    node.zero_word = Sometimes(random_, ZeroOffers::kExponent);
    node.zero_partial = OneIn(random_, 4) ? ZeroOffers::kNothing : ZeroOffers::kExponent;
    if (OneIn(random_, 4)) node.exponent_floor = Between(random_, -160, 8);
    if (OneIn(random_, 4)) node.word_shift = Between(random_, 1, 4);
    if (OneIn(random_, 6)) node.product_limit = Limit();
    if (node.fraction_bits == kExact) return;
    node.align_rounding = Choose(random_, Rounding::kNearestAway);
    node.ones_complement = OneIn(random_, 8);
    if (!node.ones_complement && OneIn(random_, 4)) {
      node.partial_fraction_bits = Between(random_, std::max(1, node.fraction_bits - 8),
                                           std::min(64, node.fraction_bits + 8));
    }
  }

  // Near the ends of a format's range, or small.
  int Limit() {
    const int ends[] = {MaxExponent(InnerFormat()), MaxExponent(m_.a) + MaxExponent(m_.b), 0};
    return std::clamp(ends[random_() % std::size(ends)] + Between(random_, -8, 2), -1000, 2000);
  }

  void SetResult(const Format& to, Node& node) {
    node.to = NodeFormat(to.name);
    if (to.fraction_bits > 0 && OneIn(random_, 4)) {
      node.output_fraction_bits = Between(random_, 1, to.fraction_bits);
    }
    node.output_rounding = Choose(random_, Rounding::kNearestAway);
    node.overflow = Choose(random_, NodeOverflow::kSaturate);
    node.output_subnormals = Sometimes(random_, Subnormals::kFlushPositive);
    node.tininess = Choose(random_, Tininess::kAfterRounding);
    node.zero_sign = Choose(random_, NodeZero::kPositive);
    const bool has_nan = to.nonfinite != Nonfinite::kNone;
    node.nan_rule = Choose(random_, has_nan ? NodeNan::kConstants : NodeNan::kPropagateBca);
    if (node.nan_rule != NodeNan::kConstants) return;
    node.factor_nan = RandomNan(to, random_);
    node.invalid_nan = RandomNan(to, random_);
  }

  // ---- Shape.

  // Terms of a tree with that many joins above one another.
  static int Most(int depth) {
    int most = 1;
    for (int i = 0; i < depth; ++i) most *= kMostTerms;
    return most;
  }

  // With scales, most products are in sums under the scales of one block.
  std::vector<Branch> Leaves() {
    std::vector<Branch> leaves;
    for (int k = 0; k < m_.k;) {
      const int count = m_.scale_block > 0 ? Run(k) : 0;
      if (count == 0) {
        leaves.push_back({Push::kProduct, k++});
        continue;
      }
      Branch sum = {Push::kJoin, conversion_ + 1};
      for (int end = k + count; k < end; ++k) sum.terms.push_back({Push::kProduct, k});
      leaves.push_back(std::move(sum));
    }
    if (!IsAbsent(m_.c)) leaves.insert(leaves.begin(), {Push::kAddend});
    const int zeros = OneIn(random_, 4) ? Between(random_, 1, 2) : 0;
    for (int i = 0; i < zeros; ++i) leaves.push_back({Push::kZero});
    if (OneIn(random_, 2)) std::shuffle(leaves.begin(), leaves.end(), random_);
    return leaves;
  }

  // The number of products from k on that are added under their scales; 0: k is a leaf.
  int Run(int k) {
    const int most = std::min(kMostTerms, m_.scale_block - k % m_.scale_block);
    return OneIn(random_, 16) ? 0 : OneIn(random_, 2) ? most : Between(random_, 1, most);
  }

  // Sizes of consecutive parts: at most kMostTerms, each from 1 to `largest`.
  std::vector<int> Parts(int size, int largest) {
    const int least = (size + largest - 1) / largest;
    const int count = Between(random_, least, std::min(size, kMostTerms));
    std::vector<int> parts;
    for (int left = count; left > 0; --left) {
      const int most = std::min(largest, size - (left - 1));
      parts.push_back(Between(random_, std::max(1, size - (left - 1) * largest), most));
      size -= parts.back();
    }
    return parts;
  }

  // A node over the leaves; `in_exact`: it must not be an exact partial sum.
  Branch Joined(std::vector<Branch> leaves, int depth, int level, bool in_exact) {
    const int rule = level == 0 ? 0 : Rule(in_exact);
    const bool exact = tree_.nodes[rule].fraction_bits == kExact;
    Branch node = {Push::kJoin, rule};
    auto leaf = std::make_move_iterator(leaves.begin());
    for (int part : Parts(static_cast<int>(leaves.size()), Most(depth - 1))) {
      std::vector<Branch> own(leaf, leaf + part);
      leaf += part;
      const bool stays = part == 1 && (depth == 1 || !OneIn(random_, 4));
      Branch term = stays ? std::move(own[0]) : Joined(std::move(own), depth - 1, level + 1, exact);
      node.terms.push_back(Converted(std::move(term)));
    }
    return node;
  }

  int Rule(bool in_exact) {
    std::vector<int> rules;
    for (int i = 1; i < conversion_; ++i) {
      if (!(in_exact && IsExactPartial(tree_.nodes[i]))) rules.push_back(i);
    }
    return rules[random_() % rules.size()];
  }

  // A third of the nodes and some leaves.
  Branch Converted(Branch term) {
    const bool join = term.push == Push::kJoin;
    if (!converts_ || !OneIn(random_, join ? 3 : 8)) return term;
    if (join && IsExactPartial(tree_.nodes[term.index])) return term;
    const int last = static_cast<int>(tree_.nodes.size()) - 1;
    const int rule = m_.scale_block > 0 ? conversion_ : Between(random_, conversion_, last);
    return {Push::kJoin, rule, {std::move(term)}};
  }

  const Model& m_;
  Random& random_;
  mmadiff::Tree tree_;
  int conversion_ = 0;  // the first rule of conversions; with scales, the scaled rule follows it
  bool converts_ = false;
};

}  // namespace

mmadiff::Tree RandomTree(const Model& model, Random& random) {
  return RandomTreeBuilder(model, random).Build();
}

}  // namespace mmadiff::reference
