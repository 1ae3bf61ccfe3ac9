// Trees as text: lines of nodes, then the line of the tree.
//
//   node step fraction_bits=25 exponent_floor=-133 to=f32 output_rounding=toward_zero
//   tree fold step(_ @) over k0..15 /8 from c
//
// A node line names a node and the fields of sim/tree/tree.h whose values are not the defaults;
// nan_rule=FACTOR,INVALID gives the constants of NodeNan::kConstants in hex. The tree line:
//
//   LIST = ITEM ITEM ...
//   ITEM = k3  k0..15  k0..30:2  k7..0  k0..   products; an open end is the last k
//        | c | 0                               the addend, +0
//        | NAME(LIST)                          a node
//        | NAME(LIST /n)                       a list: a node for every n terms
//        | reduce NAME(LIST /n)                n by n, again and again, until one is left
//        | fold ITEM over LIST /n from ITEM    a chain: in the first ITEM, _ is the sum so far and @
//                                              the next n terms of the list (without /n: one)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/tree/tree.h"

namespace mmadiff {

// Line and column count from 1.
struct TextError {
  std::string what;
  int line = 1, column = 1;
};

// Reads the lines of a model (sim/tree/model_text.h) that describe its tree, one by one.
class TreeReader {
 public:
  // False with the error; `line` counts from 1. `k` is that of the model.
  bool ReadNode(std::string_view text, int line, TextError& error);
  bool ReadTree(std::string_view text, int line, int k, TextError& error);

  // Both kinds of lines must have been read.
  const Tree& tree() const { return tree_; }
  bool complete() const { return !tree_.code.empty(); }

 private:
  Tree tree_;
};

// A tree of the text, whose lines begin with "node" and "tree". For tables: aborts if it is wrong.
Tree TreeFromText(std::string_view text, int k);

// Whether the text is a tree for that k.
bool IsTreeOf(std::string_view text, int k);

// "node NAME FIELD=VALUE ...", without defaults.
std::string NodeText(const Tree& tree, int node);
// "tree ...", with runs of k, `fold` and /n where they fit.
std::string ShapeText(const Tree& tree);
// Both: the lines of the nodes, then that of the tree.
std::vector<std::string> TreeLines(const Tree& tree);

// The text of a field's value. ParseField() reads it; false if it is none.
std::string ValueText(const NodeField& field, int value);
bool ParseField(const NodeField& field, std::string_view text, int* value);
const NodeField* FindNodeField(std::string_view name);

}  // namespace mmadiff
