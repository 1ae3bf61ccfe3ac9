#include "triage/infer/nodes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "triage/infer/experiments.h"
#include "triage/infer/stored_products.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

constexpr int kFirstGap = 2;     // 1.5 + 2^-2 carries nowhere
constexpr size_t kMaxNamed = 3;  // nodes of one kind

// In quarters of the last kept bit: the amounts added to a large even number of that sign, and the
// amounts left of them.
constexpr int kAdded[] = {2, 3, 6, -2, -3, -6};
struct NodeRounding {
  const char* name;
  int (*rounded)(int added, bool negative);
};

int Floor(int x) { return x & ~3; }
int Ceiling(int x) { return -Floor(-x); }
int Nearest(int x, bool ties_up) { return Floor(x + (ties_up ? 2 : 1)); }

constexpr NodeRounding kNodeRoundings[] = {
    {"operands cut toward zero", [](int x, bool) { return x < 0 ? Ceiling(x) : Floor(x); }},
    {"toward zero", [](int x, bool negative) { return negative ? Ceiling(x) : Floor(x); }},
    {"away from zero", [](int x, bool negative) { return negative ? Floor(x) : Ceiling(x); }},
    {"downward", [](int x, bool) { return Floor(x); }},
    {"upward", [](int x, bool) { return Ceiling(x); }},
    {"to nearest even", [](int x, bool) { return Nearest(x, (Floor(x) & 4) != 0); }},
    {"to nearest, ties away", [](int x, bool negative) { return Nearest(x, !negative); }},
    {"to nearest, ties toward zero", [](int x, bool negative) { return Nearest(x, negative); }},
    {"operands to nearest, ties away", [](int x, bool) { return Nearest(x, x > 0); }},
};

void AppendNodes(const SummationTree& tree, std::vector<NodeWidth>& nodes) {
  if (tree.leaf >= 0) return;
  for (const SummationTree& child : tree.children) AppendNodes(child, nodes);
  nodes.push_back({.node = tree});
}

class Nodes {
 public:
  Nodes(Asker& asker, const Structure& structure)
      : asker_(asker),
        m_(StoredProducts(asker.op()).model),
        all_(LeavesOf(*structure.tree)),
        top_(structure.mask),
        gaps_(structure.mask - LowestExponent(m_.d)) {}

  int64_t questions() const { return gaps_ + 2 * std::size(kAdded); }

  absl::Status Measure(NodeWidth& node) {
    std::vector<DotProductCase> dots;
    std::vector<long double> wanted;
    for (int gap = kFirstGap; gap <= gaps_; ++gap) {
      if (!Put(node, false, 4, top_ - gap - 2, dots)) break;
      wanted.push_back(std::ldexp(1.0L, top_ - gap));
    }
    ASSIGN_OR_RETURN(const auto left, Left(node, false, dots));
    const size_t kept = std::ranges::mismatch(left, wanted).in1 - left.begin();
    if (kept == 0) return absl::OkStatus();
    node.kept = kFirstGap + static_cast<int>(kept) - 1;
    node.at_least = kept == wanted.size();
    return node.at_least ? absl::OkStatus() : MeasureRounding(node);
  }

 private:
  absl::Status MeasureRounding(NodeWidth& node) {
    const int quarter = top_ - *node.kept - 2;
    std::vector<long double> quarters;  // that are left
    for (const bool negative : {false, true}) {
      std::vector<DotProductCase> dots;
      for (const int added : kAdded) {
        if (!Put(node, negative, added, quarter, dots)) return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(const auto left, Left(node, negative, dots));
      for (const long double x : left) quarters.push_back(std::ldexp(x, -quarter));
    }
    for (const NodeRounding& r : kNodeRoundings) {
      std::vector<long double> rounded;
      for (const bool negative : {false, true}) {
        for (const int added : kAdded) rounded.push_back(r.rounded(added, negative));
      }
      if (rounded == quarters) node.rounding = r.name;
    }
    node.unknown_rounding = node.rounding.empty();
    if (node.unknown_rounding) node.rounding = "in an unknown way";
    return absl::OkStatus();
  }

  // Puts x, `added` * 2^exponent and, if there is a term for it, -x. False if the formats cannot.
  bool Put(const NodeWidth& node, bool negative, int added, int exponent,
           std::vector<DotProductCase>& dots) const {
    const int width = std::ilogb(std::abs(added));
    const uint64_t fraction = std::abs(added) == 1 << width ? 0 : 1ull << 63;  // 1.0 or 1.5
    DotProductCase dot = NeutralDotProduct(m_);
    bool fits =
        PutTerm(m_, Leaf(node, 0), {Value::Class::kFinite, negative, top_, 1ull << 63}, dot) &&
        PutTerm(m_, Leaf(node, 1), {Value::Class::kFinite, added < 0, exponent + width, fraction},
                dot);
    if (const std::optional<int> later = Later(node)) {
      fits &= PutTerm(m_, *later, {Value::Class::kFinite, !negative, top_, 1ull << 63}, dot);
    }
    if (fits) dots.push_back(std::move(dot));
    return fits;
  }

  // For each answer the rest without x.
  absl::StatusOr<std::vector<long double>> Left(const NodeWidth& node, bool negative,
                                                const std::vector<DotProductCase>& dots) {
    ASSIGN_OR_RETURN(const auto words, asker_.Ask("nodes", AsSparse(asker_.op(), dots)));
    const long double x = std::ldexp(negative ? -1.5L : 1.5L, top_);
    std::vector<long double> left;
    for (const uint64_t word : words) {
      left.push_back(NumberOf(m_.d, word) - (Later(node) ? 0 : x));
    }
    return left;
  }

  static int Leaf(const NodeWidth& node, int child) {
    return LeavesOf(node.node.children[child]).front();
  }

  // A term that joins later.
  std::optional<int> Later(const NodeWidth& node) const {
    const std::vector<int> own = LeavesOf(node.node);
    for (const int leaf : all_) {
      if (!std::ranges::binary_search(own, leaf)) return leaf;
    }
    return std::nullopt;
  }

  Asker& asker_;
  const Model m_;
  const std::vector<int> all_;
  const int top_, gaps_;
};

}  // namespace

absl::StatusOr<std::vector<NodeWidth>> MeasureNodes(Asker& asker, const Structure& structure,
                                                    int64_t most) {
  std::vector<NodeWidth> all, measured;
  AppendNodes(*structure.tree, all);
  Nodes nodes(asker, structure);
  const auto count = static_cast<int64_t>(all.size());
  const int64_t every = count * nodes.questions() / std::max<int64_t>(1, most) + 1;
  for (int64_t i = count - 1; i >= 0; i -= every) {  // includes the root
    RETURN_IF_ERROR(nodes.Measure(all[i]));
    measured.push_back(all[i]);
  }
  std::ranges::reverse(measured);
  return measured;
}

std::string WidthText(const NodeWidth& node) {
  if (!node.kept) return "not observed";
  return absl::StrCat(node.at_least ? "at least " : "", *node.kept, " bits",
                      node.rounding.empty() ? "" : ", ", node.rounding);
}

std::vector<std::string> NodeLines(const std::vector<NodeWidth>& nodes, int k) {
  std::map<std::tuple<std::optional<int>, bool, std::string>, std::vector<const NodeWidth*>> alike;
  for (const NodeWidth& n : nodes) alike[{n.kept, n.at_least, n.rounding}].push_back(&n);
  const auto name = [k](std::string* out, const NodeWidth* n) {
    absl::StrAppend(out, "(", TreeText(n->node, k), ")");
  };
  std::vector<std::string> lines;
  for (const auto& [kind, named] : alike) {
    const size_t shown = std::min(kMaxNamed, named.size());
    lines.push_back(absl::StrCat(
        WidthText(*named.front()), ": ",
        absl::StrJoin(named.begin(), named.begin() + shown, ", ", name),
        shown < named.size() ? absl::StrCat(" and ", named.size() - shown, " more") : ""));
  }
  return lines;
}

}  // namespace mmadiff
