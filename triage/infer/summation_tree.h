// The order in which the terms of a dot product are added together, as far as it can be observed
// from outside without knowing how anything is rounded.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mmadiff {

// A node adds all its children at once; a leaf is a term: product k, or the addend, number K.
struct SummationTree {
  int leaf = -1;                             // -1: a node
  std::vector<SummationTree> children = {};  // nodes: at least two, by their first leaf

  friend bool operator==(const SummationTree&, const SummationTree&) = default;
};

// All leaves below, ascending.
std::vector<int> LeavesOf(const SummationTree& tree);

// "(c + k0..7) + k8..15": the operands of a node are leaves, runs of leaves, and nodes in brackets.
// A chain of steps that add one leaf each is shortened: "c, then k0..15 one by one".
std::string TreeText(const SummationTree& tree, int k);

// The label next to the bar of a node; may be empty.
using NodeLabel = std::function<std::string(const SummationTree& node)>;

// A drawing: leaves from left to right in the order in which the tree joins them, the addend first,
// and a bar for each node. Colors follow the reader's light or dark scheme.
std::string TreeSvg(const SummationTree& tree, int k, const std::string& title,
                    const NodeLabel& label);

}  // namespace mmadiff
