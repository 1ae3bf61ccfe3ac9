#include "triage/infer/testing/hidden_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/unlisted.h"

namespace mmadiff {
namespace {

constexpr int kMostTerms = 16, kMostDepth = 4;
constexpr const char* kInner[] = {"f32", "f64", "bf16", "tf32", "f16"};

class Builder {
 public:
  Builder(const Model& model, std::mt19937_64& random) : m_(model), random_(random) {}

  Tree Build() {
    AddRule(SumRule(m_.d.name));
    const int sums = Between(1, 3);
    for (int i = 0; i < sums; ++i) AddRule(SumRule(Inner()));
    conversion_ = static_cast<int>(tree_.nodes.size());
    for (int i = 0; i < 2; ++i) {
      Node node = {.to = NodeFormat(Inner())};
      SetResult(node);
      AddRule(node);
    }
    std::vector<Branch> leaves = {{Push::kAddend}};
    for (int k = 0; k < m_.k; ++k) leaves.push_back({Push::kProduct, k});
    if (Between(0, 1) == 0) std::ranges::shuffle(leaves, random_);
    int depth = Between(1, kMostDepth);
    while (Most(depth) < static_cast<int>(leaves.size())) ++depth;
    tree_.code = CodeOf(Joined(std::move(leaves), depth, 0));
    return std::move(tree_);
  }

 private:
  int Between(int low, int high) { return low + static_cast<int>(random_() % (high - low + 1)); }
  const char* Inner() { return Between(0, 2) == 0 ? "f32" : kInner[random_() % std::size(kInner)]; }
  Rounding AnyRounding() { return static_cast<Rounding>(Between(0, 4)); }  // without ties away

  void AddRule(const Node& node) {
    tree_.names.push_back("r" + std::to_string(tree_.nodes.size()));
    tree_.nodes.push_back(node);
  }

  Node SumRule(const char* to) {
    Node node = {.to = NodeFormat(to)};
    if (Between(0, 1) == 0) {
      node.fraction_bits = Between(8, 53);
      node.align_rounding = AnyRounding();
    }
    SetResult(node);
    return node;
  }

  void SetResult(Node& node) {
    node.output_rounding = Between(0, 1) == 0 ? Rounding::kNearestEven : AnyRounding();
    if (Between(0, 5) == 0) node.output_fraction_bits = Between(5, node.to->fraction_bits);
  }

  static int Most(int depth) {
    int most = 1;
    for (int i = 0; i < depth; ++i) most *= kMostTerms;
    return most;
  }

  // Sizes of consecutive parts: at most kMostTerms, each from 1 to `largest`.
  std::vector<int> Parts(int size, int largest) {
    const int least = (size + largest - 1) / largest;
    const int count = Between(least, std::min(size, kMostTerms));
    std::vector<int> parts;
    for (int left = count; left > 0; --left) {
      const int most = std::min(largest, size - (left - 1));
      parts.push_back(Between(std::max(1, size - (left - 1) * largest), most));
      size -= parts.back();
    }
    return parts;
  }

  Branch Joined(std::vector<Branch> leaves, int depth, int level) {
    Branch node = {Push::kJoin, level == 0 ? 0 : Between(1, conversion_ - 1)};
    auto leaf = std::make_move_iterator(leaves.begin());
    for (const int part : Parts(static_cast<int>(leaves.size()), Most(depth - 1))) {
      std::vector<Branch> own(leaf, leaf + part);
      leaf += part;
      if (part == 1 && (depth == 1 || Between(0, 3) > 0)) {
        node.terms.push_back(std::move(own[0]));
        continue;
      }
      Branch sum = Joined(std::move(own), depth - 1, level + 1);
      if (Between(0, 2) == 0) {
        Branch converted = {Push::kJoin, Between(conversion_, conversion_ + 1)};
        converted.terms.push_back(std::move(sum));
        sum = std::move(converted);
      }
      node.terms.push_back(std::move(sum));
    }
    return node;
  }

  const Model& m_;
  std::mt19937_64& random_;
  Tree tree_;
  int conversion_ = 0;
};

}  // namespace

const Operation& RandomOperation(int most, std::mt19937_64& random) {
  constexpr const char* kFormats[] = {"f32.f16.f16.f32",    "f32.bf16.bf16.f32",
                                      "f32.f16.f16.f32",    "f64.bf16.bf16.f64",
                                      "bf16.bf16.bf16.f32", "f32.bf16.bf16.bf16"};
  const int k = 1 + static_cast<int>(random() % most);
  return *FindUnlisted("unlisted/k" + std::to_string(k) + "." +
                       kFormats[random() % std::size(kFormats)]);
}

Tree HiddenTree(const Operation& op, std::mt19937_64& random) {
  return Builder(op.model, random).Build();
}

}  // namespace mmadiff
