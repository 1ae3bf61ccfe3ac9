#include "triage/infer/summation_tree.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace mmadiff {
namespace {

constexpr int kShortened = 4;  // steps of a chain that are listed one by one

std::string LeafName(int leaf, int k) { return leaf == k ? "c" : absl::StrCat("k", leaf); }

// "k0..7", "k0..6 by 2", "k3": runs of leaves at equal distances.
void AppendRuns(const std::vector<int>& leaves, std::vector<std::string>& names) {
  for (size_t i = 0; i < leaves.size();) {
    size_t end = i + 1;
    const int step = end < leaves.size() ? leaves[end] - leaves[i] : 1;
    while (end < leaves.size() && leaves[end] - leaves[end - 1] == step) ++end;
    if (end - i < 3) end = i + 1;
    names.push_back(end == i + 1 ? absl::StrCat("k", leaves[i])
                                 : absl::StrCat("k", leaves[i], "..", leaves[end - 1],
                                                step == 1 ? "" : absl::StrCat(" by ", step)));
    i = end;
  }
}

// The only child that is a node, if all others are leaves.
const SummationTree* Spine(const SummationTree& tree) {
  const SummationTree* spine = nullptr;
  for (const SummationTree& child : tree.children) {
    if (child.leaf >= 0) continue;
    if (spine != nullptr) return nullptr;
    spine = &child;
  }
  return spine;
}

std::vector<int> OwnLeaves(const SummationTree& tree) {
  std::vector<int> leaves;
  for (const SummationTree& child : tree.children) {
    if (child.leaf >= 0) leaves.push_back(child.leaf);
  }
  return leaves;
}

std::string Text(const SummationTree& tree, int k);

// "(X, then k0..15 one by one)": a chain of at least kShortened steps that add one leaf each, at
// equal distances.
std::string ChainText(const SummationTree& tree, int k) {
  std::vector<int> added;
  const SummationTree* node = &tree;
  int distance = 0;
  while (node->leaf < 0 && node->children.size() == 2) {
    const SummationTree* below = Spine(*node);
    const std::vector<int> own = OwnLeaves(*node);
    if (below == nullptr || own.size() != 1 || own[0] == k) break;
    if (!added.empty()) {
      const int step = added.back() - own[0];
      if (distance != 0 && step != distance) break;
      distance = step;
    }
    added.push_back(own[0]);
    node = below;
  }
  if (added.size() < kShortened) return "";
  std::string start = Text(*node, k);
  if (node->leaf < 0 &&
      node->children.size() == 2) {  // it begins with two leaves; one is the start
    for (const bool second : {false, true}) {
      const int leaf = node->children[second].leaf, other = node->children[!second].leaf;
      if (other < 0 || leaf != added.back() - distance) continue;
      added.push_back(leaf);
      start = LeafName(other, k);
      break;
    }
  }
  const std::string last =
      absl::StrCat("k", added.back(), "..", added.front(),
                   std::abs(distance) == 1 ? "" : absl::StrCat(" by ", std::abs(distance)));
  return absl::StrCat("(", start, ", then ", last, " one by one)");
}

std::string Text(const SummationTree& tree, int k) {
  if (tree.leaf >= 0) return LeafName(tree.leaf, k);
  if (std::string chain = ChainText(tree, k); !chain.empty()) return chain;
  std::vector<std::string> operands;
  std::vector<int> leaves = OwnLeaves(tree);
  if (!leaves.empty() && leaves.back() == k) {
    operands.push_back("c");
    leaves.pop_back();
  }
  for (const SummationTree& child : tree.children) {
    if (child.leaf < 0) operands.push_back(Text(child, k));
  }
  AppendRuns(leaves, operands);
  return absl::StrCat("(", absl::StrJoin(operands, " + "), ")");
}

int Depth(const SummationTree& tree) {
  int depth = 0;
  for (const SummationTree& child : tree.children) depth = std::max(depth, Depth(child) + 1);
  return depth;
}

constexpr int kLeafWidth = 34, kLevel = 30, kMargin = 20, kTitle = 30, kLabelWidth = 200;

// The smallest leaf; the addend comes before all k.
int FirstLeaf(const SummationTree& tree, int k) {
  int first = k;
  for (const int leaf : LeavesOf(tree)) first = std::min(first, leaf == k ? -1 : leaf);
  return first;
}

class Drawing {
 public:
  Drawing(const SummationTree& tree, int k, const NodeLabel& label)
      : k_(k), height_(Depth(tree)), label_(label) {}

  // Draws the part below `tree`; returns the x of its own line.
  double Draw(const SummationTree& tree) {
    if (tree.leaf >= 0) {
      const double x = kMargin + (drawn_++ + 0.5) * kLeafWidth;
      absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x, Level(0) + 16,
                            LeafName(tree.leaf, k_));
      return x;
    }
    const int y = Level(Depth(tree));
    double low = 1e9, high = -1e9;
    std::vector<SummationTree> children = tree.children;
    std::ranges::stable_sort(children, {}, [&](const auto& child) { return FirstLeaf(child, k_); });
    for (const SummationTree& child : children) {
      const double x = Draw(child);
      low = std::min(low, x);
      high = std::max(high, x);
      absl::StrAppendFormat(&svg, "<path d=\"M%.1f %dV%d\"/>\n", x, Level(Depth(child)), y);
    }
    absl::StrAppendFormat(&svg, "<path class=\"node\" d=\"M%.1f %dH%.1f\"/>\n", low, y, high);
    if (const std::string label = label_(tree); !label.empty()) {
      labels_.insert(label);
      labeled_.push_back({label, high, y});
    }
    return (low + high) / 2;
  }

  // Labels beside their nodes. If all are the same, the nodes get a dot, and a legend has the label.
  void DrawLabels() {
    const bool legend = labels_.size() == 1 && labeled_.size() > 1;
    for (const auto& [label, x, y] : labeled_) {
      if (legend) {
        absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%d\" r=\"5\"/>\n", x, y);
      } else {
        absl::StrAppendFormat(&svg, "<text class=\"label\" x=\"%.1f\" y=\"%d\">%s</text>\n", x + 6,
                              y - 4, label);
      }
    }
    if (!legend) return;
    absl::StrAppendFormat(&svg,
                          "<circle cx=\"%d\" cy=\"40\" r=\"5\"/>\n"
                          "<text class=\"label\" x=\"%d\" y=\"44\">%s</text>\n",
                          kMargin + 5, kMargin + 16, *labels_.begin());
  }

  int Level(int depth) const { return kTitle + kMargin + (height_ - depth) * kLevel; }
  std::string svg;

 private:
  const int k_, height_;
  const NodeLabel& label_;
  int drawn_ = 0;  // leaves
  struct Labeled {
    std::string label;
    double x;
    int y;
  };
  std::vector<Labeled> labeled_;
  std::set<std::string> labels_;
};

}  // namespace

std::vector<int> LeavesOf(const SummationTree& tree) {
  if (tree.leaf >= 0) return {tree.leaf};
  std::vector<int> leaves;
  for (const SummationTree& child : tree.children) {
    const std::vector<int> below = LeavesOf(child);
    leaves.insert(leaves.end(), below.begin(), below.end());
  }
  std::ranges::sort(leaves);
  return leaves;
}

std::string TreeText(const SummationTree& tree, int k) {
  std::string text = Text(tree, k);
  if (text.starts_with('(')) text = text.substr(1, text.size() - 2);
  return text;
}

std::string TreeSvg(const SummationTree& tree, int k, const std::string& title,
                    const NodeLabel& label) {
  const int height = Depth(tree);
  const int wide = 2 * kMargin + std::max(k + 1, 8) * kLeafWidth + kLabelWidth,
            high = kTitle + 2 * kMargin + (height + 1) * kLevel;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
      "role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">%s</title>\n"
      "<style>text{font:12px sans-serif;text-anchor:middle;fill:#222}path{stroke:#667;fill:none}"
      ".node{stroke:#1668b8;stroke-width:4;stroke-linecap:round}circle{fill:#1668b8}"
      ".title,.label{text-anchor:start}.label{font-size:11px}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}path{stroke:#99a}.node{stroke:#6cb2f2}"
      "circle{fill:#6cb2f2}}"
      "</style>\n<text class=\"title\" x=\"%d\" y=\"22\">%s</text>\n",
      wide, high, wide, high, title, kMargin, title);
  Drawing drawing(tree, k, label);
  const double root = drawing.Draw(tree);
  drawing.DrawLabels();
  svg += drawing.svg;
  absl::StrAppendFormat(&svg, "<path d=\"M%.1f %dV%d\"/>\n</svg>\n", root, kTitle + kMargin,
                        kTitle + kMargin - 14);
  return svg;
}

}  // namespace mmadiff
