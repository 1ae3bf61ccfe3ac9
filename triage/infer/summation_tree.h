// Which terms of a dot product are added together, before which others: what can be seen from
// outside without knowing how anything is rounded.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mmadiff {

// A node adds all its children at once; a leaf is a term: product k, or the addend, number K.
struct SummationTree {
  int leaf = -1;                             // -1: a node
  std::vector<SummationTree> children = {};  // of a node, at least two, by their first leaf

  friend bool operator==(const SummationTree&, const SummationTree&) = default;
};

// Leaves below, ascending.
std::vector<int> LeavesOf(const SummationTree& tree);

// "(c + k0..7) + k8..15": the operands of a node are leaves, runs of them, and nodes in brackets. A
// chain whose steps add as many terms each is shortened: "c, then each of k0..15, ascending".
std::string TreeText(const SummationTree& tree, int k);

// What stands beside the bar of a node; may be empty.
using NodeLabel = std::function<std::string(const SummationTree& node)>;

// A drawing: leaves from left to right in the order in which the tree joins them, the addend first; a bar for each node.
// Colours follow the reader's light or dark scheme.
std::string TreeSvg(const SummationTree& tree, int k, const std::string& title,
                    const NodeLabel& label);

}  // namespace mmadiff
