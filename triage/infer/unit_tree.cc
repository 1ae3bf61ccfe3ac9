#include "triage/infer/unit_tree.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "sim/absent_addend.h"

namespace mmadiff {
namespace {

constexpr int kPlainBits = 3;

int AddUnits(const SummationTree& tree, int depth, std::vector<Unit>& units) {
  Unit unit = {.leaf = tree.leaf, .depth = depth};
  unit.rule = tree.leaf >= 0 ? kLeafRule : depth == 0 ? kRootRule : kOpenRule;
  for (const SummationTree& child : tree.children) {
    unit.children.push_back(AddUnits(child, depth + 1, units));
  }
  const int index = static_cast<int>(units.size());
  for (const int child : unit.children) units[child].parent = index;
  units.push_back(std::move(unit));
  return index;
}

Branch BranchOf(const UnitTree& tree, int index, const Model& model,
                const std::vector<std::vector<int>>& nodes) {
  const Unit& unit = tree.units[index];
  const std::vector<int>& of_rule = nodes[unit.rule];
  Branch branch;
  size_t next = 0;
  if (unit.leaf >= 0) {
    const bool addend = unit.leaf == model.k;
    branch = {addend ? Push::kAddend : Push::kProduct, addend ? 0 : unit.leaf};
  } else {
    branch = {Push::kJoin, of_rule[next++]};
    for (const int child : unit.children) {
      branch.terms.push_back(BranchOf(tree, child, model, nodes));
    }
  }
  for (; next < of_rule.size(); ++next) {
    Branch converted = {Push::kJoin, of_rule[next]};
    converted.terms.push_back(std::move(branch));
    branch = std::move(converted);
  }
  return branch;
}

int BitsOf(unsigned __int128 magnitude) {
  if (magnitude == 0) return 0;
  int low = 0;
  while (((magnitude >> low) & 1) == 0) ++low;
  return BitWidth(magnitude) - low;
}

bool IsPlusZero(const TreeTerm& t) { return t.special == 0 && t.magnitude == 0 && !t.negative; }

}  // namespace

UnitTree UnitsOf(const SummationTree& tree, const Format& d) {
  UnitTree units = {.rules = {{Node{.to = NodeFormat(d.name)}}, {Node{}}, {}}};
  AddUnits(tree, 0, units.units);
  return units;
}

Tree TreeOfUnits(const UnitTree& units, const Model& model) {
  Tree tree;
  std::vector<std::vector<int>> nodes(units.rules.size());
  std::vector<bool> used(units.rules.size()), adds(units.rules.size());
  for (const Unit& unit : units.units) {
    used[unit.rule] = true;
    adds[unit.rule] = adds[unit.rule] || unit.leaf < 0;
  }
  int sums = 0, conversions = 0;
  for (size_t r = 0; r < units.rules.size(); ++r) {
    if (!used[r]) continue;
    for (size_t i = 0; i < units.rules[r].size(); ++i) {
      const Node& node = units.rules[r][i];
      const size_t at = std::ranges::find(tree.nodes, node) - tree.nodes.begin();
      nodes[r].push_back(static_cast<int>(at));
      if (at < tree.nodes.size()) continue;
      bool sum = false;  // it adds in some unit
      for (size_t other = 0; other < units.rules.size(); ++other) {
        sum |= adds[other] && units.rules[other][0] == node;
      }
      const int number = sum ? ++sums : ++conversions;
      tree.nodes.push_back(node);
      tree.names.push_back((sum ? "add" : "round") + (number == 1 ? "" : std::to_string(number)));
    }
  }
  const int root = static_cast<int>(units.units.size()) - 1;
  tree.code = CodeOf(BranchOf(units, root, model, nodes));
  return tree;
}

UnitAnswers::UnitAnswers(const Model& model, const UnitTree& tree, bool any_nan)
    : model_(model), shape_(tree.units), any_nan_(any_nan), stack_(kMaxTreeDepth) {}

UnitAnswers::Leaf UnitAnswers::LeafOf(int leaf, const DotProductCase& dot) const {
  Leaf of;
  if (leaf == model_.k) {
    of.term = WordTerm(model_.c, DecodeAny(model_.c, dot.c));
    return of;
  }
  of.a = DecodeAny(model_.a, dot.a[leaf]);
  of.b = DecodeAny(model_.b, dot.b[leaf]);
  of.term = ProductTerm(model_, of.a, of.b);
  of.term.a = of.term.b = nullptr;  // not yet at their place
  return of;
}

void UnitAnswers::Add(const Observed& observed) {
  Question q;
  q.d = observed.d;
  std::vector<int> live(shape_.size());
  for (size_t u = 0; u < shape_.size(); ++u) {
    const Unit& unit = shape_[u];
    int terms = 0;
    for (const int child : unit.children) terms += live[child];
    if (unit.leaf >= 0) {
      Leaf leaf = LeafOf(unit.leaf, observed.dot);
      const TreeTerm& t = leaf.term;
      if (IsPlusZero(t)) continue;
      const bool normal = t.lsb + BitWidth(t.magnitude) - 1 == t.exponent;
      const bool plain = t.special == 0 && normal && BitsOf(t.magnitude) <= kPlainBits;
      if (!plain) q.rough.push_back(static_cast<int>(u));
      q.leaves.push_back(leaf);
      terms = 1;
    } else if (terms > 1) {
      q.adding.push_back(static_cast<int>(u));
    }
    const bool root = u + 1 == shape_.size();
    if (terms == 0 && !root) continue;
    live[u] = 1;
    q.touched.push_back(static_cast<int>(u));
    const bool zeros = terms < static_cast<int>(unit.children.size());
    q.steps.push_back({static_cast<int>(u), unit.leaf >= 0 ? 0 : terms, zeros});
  }
  questions_.push_back(std::move(q));
  for (Leaf& leaf : questions_.back().leaves) {
    if (leaf.term.kind != TreeTerm::kProduct) continue;
    leaf.term.a = &leaf.a;
    leaf.term.b = &leaf.b;
  }
}

bool UnitAnswers::Gives(const UnitTree& tree, size_t answer) const {
  const Question& q = questions_[answer];
  TreeTerm* const stack = stack_.data();
  NullTrace trace;
  work_ += static_cast<int64_t>(q.steps.size());
  uint64_t word = 0;
  int depth = 0;
  size_t leaf = 0;
  const auto apply = [&](const Node& node, int terms) {
    depth -= terms;
    stack[depth] = NodeResult(model_, node, {stack + depth, terms}, {}, 0, &word, trace);
    ++depth;
  };
  for (const Step& step : q.steps) {
    const Unit& unit = shape_[step.unit];
    const UnitRule& rule = tree.rules[tree.units[step.unit].rule];
    size_t next = 0;
    if (unit.leaf >= 0) {
      stack[depth++] = q.leaves[leaf++].term;
    } else {
      if (step.zeros) stack[depth++] = {};
      apply(rule[next++], step.terms + step.zeros);
    }
    for (; next < rule.size(); ++next) apply(rule[next], 1);
  }
  if (word == q.d) return true;
  return any_nan_ && IsNan(model_.d, word) && IsNan(model_.d, q.d);
}

size_t UnitAnswers::Missed(const UnitTree& tree, std::span<const uint32_t> answers,
                           size_t most) const {
  size_t missed = 0;
  for (const uint32_t i : answers) {
    missed += !Gives(tree, i);
    if (missed > most) break;
  }
  return missed;
}

}  // namespace mmadiff
