#include "triage/infer/tree_questions.h"

#include <algorithm>
#include <random>
#include <utility>

#include "sim/absent_addend.h"
#include "sim/word.h"
#include "triage/infer/experiments.h"

namespace mmadiff {
namespace {

constexpr int kStairs = 56;  // the farthest below the large term, and below the second
constexpr uint64_t kHalf = 1ull << 63, kQuarter = 1ull << 62;

// A node and the nodes above it, the root last.
struct Place {
  const SummationTree* node;
  std::vector<const SummationTree*> above;
};

void AddPlaces(const SummationTree& tree, std::vector<const SummationTree*>& above,
               std::vector<Place>& places) {
  if (tree.leaf >= 0) return;
  places.push_back({&tree, {above.rbegin(), above.rend()}});
  above.push_back(&tree);
  for (const SummationTree& child : tree.children) AddPlaces(child, above, places);
  above.pop_back();
}

class Questions {
 public:
  Questions(const Operation& op, const Structure& structure, uint64_t seed)
      : m_(op.model), low_(structure.one), high_(structure.mask - 3), random_(seed) {}

  // A question about a node; empty if the formats have no such terms.
  std::vector<DotProductCase> Of(const Place& place) {
    DotProductCase dot = NeutralDotProduct(m_);
    std::vector<int> own = OwnLeaves(*place.node);
    const int large = Large();
    const bool negative = OneIn(2);
    const uint64_t fraction = OneIn(2) ? 0 : OneIn(2) ? kHalf : kQuarter;
    if (!Put(own[0], negative, large, fraction, dot)) return {};
    size_t used = 1;
    const int gap = Between(0, kStairs);
    if (!Put(own[used++], OneIn(2), large - gap, OneIn(4) ? kHalf : 0, dot)) return {};
    std::vector<int> outside = Outside(place);
    // Terms that are small for the second one too, in the node or later.
    const int more = OneIn(3) ? 0 : OneIn(3) ? Between(1, 6) : 1;
    const int stairs = OneIn(3) ? 0 : Between(1, kStairs);
    for (int i = 0; i < more; ++i) {
      const bool inside = used < own.size() && !OneIn(4);
      if (!inside && outside.empty()) break;
      const int leaf = inside ? own[used++] : Pop(outside);
      if (!Put(leaf, more == 1 && OneIn(2), large - gap - stairs, 0, dot)) return {};
    }
    if (OneIn(3)) return {dot};
    const bool inside = used < own.size() && OneIn(2);
    if (!inside && outside.empty()) return {dot};
    const int leaf = inside ? own[used] : Pop(outside);
    if (!Put(leaf, !negative, large, fraction, dot)) return {};
    return {dot};
  }

  std::vector<DotProductCase> OfLeaf(int leaf, int leaves) {
    DotProductCase dot = NeutralDotProduct(m_);
    const int large = Large();
    if (!PutBits(leaf, large, dot)) return {};
    const int more = leaves == 1 ? 0 : Between(0, 2);
    for (int i = 0; i < more; ++i) {
      const int other = Between(0, leaves - 1);
      if (other == leaf) continue;
      const int exponent = large - (OneIn(3) ? 0 : Between(-3, OneIn(2) ? 24 : kStairs));
      if (!Put(other, OneIn(2), exponent, 0, dot)) return {};
    }
    return {dot};
  }

  std::vector<DotProductCase> Mixed(int leaves) {
    DotProductCase dot = NeutralDotProduct(m_);
    std::vector<int> terms(leaves);
    for (int i = 0; i < leaves; ++i) terms[i] = i;
    std::ranges::shuffle(terms, random_);
    const int style = Between(0, 3);
    if (style > 0) terms.resize(std::min(leaves, Between(1, style == 1 ? 8 : 4)));
    const int base = OneIn(4) ? Between(low_, high_) : Large();
    const int spread = OneIn(2) ? 2 : OneIn(2) ? 12 : kStairs;
    for (size_t i = 0; i < terms.size(); ++i) {
      const int exponent = base - (i == 0 ? 0 : Between(0, spread));
      (void)PutBits(terms[i], exponent, dot);
    }
    if (terms.size() > 1 && OneIn(2)) Cancel(terms[0], terms[1], dot);
    return {dot};
  }

 private:
  int Between(int low, int high) {
    return low >= high ? low : low + static_cast<int>(random_() % (high - low + 1));
  }
  bool OneIn(int n) { return random_() % n == 0; }
  int Pop(std::vector<int>& leaves) {
    const int leaf = leaves.back();
    leaves.pop_back();
    return leaf;
  }

  // Mostly with room below; sometimes near the ends of the range.
  int Large() {
    if (OneIn(8)) return Between(low_, high_ + 2);
    const int middle = std::clamp(0, low_, high_);
    return OneIn(3) || middle - low_ < 2 * kStairs ? high_ : middle;
  }

  // False for numbers that may not pass through every sum as they are.
  bool Put(int leaf, bool negative, int exponent, uint64_t fraction, DotProductCase& dot) {
    if (exponent < low_) return false;
    return PutTerm(m_, leaf, {Value::Class::kFinite, negative, exponent, fraction}, dot);
  }

  // A fraction of at most that many bits; many have fewer.
  uint64_t Fraction(int bits) {
    if (bits == 0 || OneIn(3)) return 0;
    const int own = OneIn(2) ? bits : Between(1, bits);
    const uint64_t ones = ~0ull << (64 - own), last = 1ull << (64 - own);
    if (OneIn(3)) return OneIn(2) ? ones : last;
    return (random_() & ones) | last;
  }

  // A term of any bits; both operands of a product may have them.
  bool PutBits(int leaf, int exponent, DotProductCase& dot) {
    const bool negative = OneIn(2);
    if (leaf == m_.k) {
      const uint64_t fraction = Fraction(std::min(m_.c.fraction_bits, 52));
      return EncodeValue(m_.c, {Value::Class::kFinite, negative, exponent, fraction}, &dot.c);
    }
    const int low = m_.a.min_exponent, high = MaxExponent(m_.a);
    const int even = (exponent + m_.a.min_exponent - m_.b.min_exponent) / 2;
    const int of_a = std::clamp(even + (OneIn(2) ? 0 : Between(-3, 3)), low, high);
    const int of_b = std::clamp(exponent - of_a, m_.b.min_exponent, MaxExponent(m_.b));
    return EncodeValue(m_.a, {Value::Class::kFinite, negative, of_a, Fraction(m_.a.fraction_bits)},
                       &dot.a[leaf]) &&
           EncodeValue(m_.b, {Value::Class::kFinite, OneIn(2), of_b, Fraction(m_.b.fraction_bits)},
                       &dot.b[leaf]);
  }

  // Makes a product the negative of another; their last bits may differ.
  void Cancel(int from, int to, DotProductCase& dot) {
    if (from == m_.k || to == m_.k) return;
    dot.a[to] = dot.a[from];
    dot.b[to] = dot.b[from] ^ 1ull << SignBit(m_.b);
    if (OneIn(2)) dot.a[to] ^= 1ull << m_.a.ignored_bits;
  }

  // A leaf of every operand of the node, in random order.
  std::vector<int> OwnLeaves(const SummationTree& node) {
    std::vector<int> own;
    for (const SummationTree& child : node.children) own.push_back(AnyOf(LeavesOf(child)));
    std::ranges::shuffle(own, random_);
    return own;
  }

  int AnyOf(const std::vector<int>& leaves) { return leaves[random_() % leaves.size()]; }

  // A leaf that joins in each node above, the first one last.
  std::vector<int> Outside(const Place& place) {
    std::vector<int> outside;
    const SummationTree* below = place.node;
    for (const SummationTree* node : place.above) {
      std::vector<int> leaves;
      for (const SummationTree& child : node->children) {
        if (&child == below) continue;
        const std::vector<int> more = LeavesOf(child);
        leaves.insert(leaves.end(), more.begin(), more.end());
      }
      below = node;
      outside.push_back(AnyOf(leaves));
    }
    if (OneIn(2)) std::ranges::reverse(outside);
    if (!outside.empty() && OneIn(3))
      std::swap(outside.back(), outside[random_() % outside.size()]);
    return outside;
  }

  const Model& m_;
  const int low_, high_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<DotProductCase> NodeQuestions(const Operation& op, const Structure& structure,
                                          int each) {
  std::vector<Place> places;
  std::vector<const SummationTree*> above;
  AddPlaces(*structure.tree, above, places);
  Questions questions(op, structure, 1);
  std::vector<DotProductCase> dots;
  for (const Place& place : places) {
    for (int i = 0; i < each; ++i) {
      for (DotProductCase& dot : questions.Of(place)) dots.push_back(std::move(dot));
    }
  }
  return dots;
}

std::vector<DotProductCase> LeafQuestions(const Operation& op, const Structure& structure,
                                          int each) {
  Questions questions(op, structure, 2);
  const int leaves = static_cast<int>(LeavesOf(*structure.tree).size());
  std::vector<DotProductCase> dots;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int i = 0; i < each; ++i) {
      for (DotProductCase& dot : questions.OfLeaf(leaf, leaves)) dots.push_back(std::move(dot));
    }
  }
  return dots;
}

std::vector<DotProductCase> MixedQuestions(const Operation& op, const Structure& structure,
                                           int count, uint64_t seed) {
  Questions questions(op, structure, seed);
  const int leaves = static_cast<int>(LeavesOf(*structure.tree).size());
  std::vector<DotProductCase> dots;
  for (int i = 0; i < count; ++i) {
    for (DotProductCase& dot : questions.Mixed(leaves)) dots.push_back(std::move(dot));
  }
  return dots;
}

}  // namespace mmadiff
