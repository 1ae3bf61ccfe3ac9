// A tree while it is searched: the shape stays, the rules of its units change. A unit is a leaf or a
// node of the summation tree together with the conversions of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "sim/tree/tree.h"
#include "sim/tree/tree_sum.h"
#include "triage/explain.h"
#include "triage/infer/summation_tree.h"

namespace mmadiff {

// Nodes applied one after the other. In a unit with children the first adds them, the others
// convert; in a leaf all convert.
using UnitRule = std::vector<Node>;

struct Unit {
  int leaf = -1;                   // product k, or k of the model for the addend; -1: a sum
  std::vector<int> children = {};  // units
  int parent = -1;
  int depth = 0;  // of the root: 0
  int rule = 0;   // index in UnitTree::rules
};

struct UnitTree {
  std::vector<Unit> units = {};  // children before their parents, so that the root is last
  std::vector<UnitRule> rules = {};
};

// Rule 0, exact sums rounded to `d`, for the root; rule 1, exact partial sums, for other sums; rule
// 2, none, for leaves.
inline constexpr int kRootRule = 0, kOpenRule = 1, kLeafRule = 2;
UnitTree UnitsOf(const SummationTree& tree, const Format& d);

// The same as a model's tree. Equal nodes have one name.
Tree TreeOfUnits(const UnitTree& units, const Model& model);

// Answers, decoded for the units of one shape.
class UnitAnswers {
 public:
  // Only the shape of `tree` counts. `any_nan`: the bits of NaNs do not.
  UnitAnswers(const Model& model, const UnitTree& tree, bool any_nan);
  UnitAnswers(UnitAnswers&&) = default;  // not copied: terms point to operands
  UnitAnswers& operator=(UnitAnswers&&) = default;

  void Add(const Observed& observed);
  size_t size() const { return questions_.size(); }
  int64_t work() const { return work_; }  // results of units that were computed

  bool Gives(const UnitTree& tree, size_t answer) const;
  // How many of the answers the tree does not give; most + 1 if more than `most`.
  size_t Missed(const UnitTree& tree, std::span<const uint32_t> answers, size_t most) const;

  // Units that add at least two terms other than +0.
  const std::vector<int>& Adding(size_t answer) const { return questions_[answer].adding; }
  // Units that have a term other than +0.
  const std::vector<int>& Touched(size_t answer) const { return questions_[answer].touched; }
  // Leaves whose terms have more than three bits, so that a conversion may change them.
  const std::vector<int>& Rough(size_t answer) const { return questions_[answer].rough; }

 private:
  struct Leaf {
    TreeTerm term;
    Unpacked a, b;
  };
  struct Step {
    int unit;
    int terms;   // live ones
    bool zeros;  // it has others, which are +0
  };
  struct Question {
    std::vector<Leaf> leaves;  // in the order of their units
    std::vector<Step> steps;
    std::vector<int> adding, touched, rough;
    uint64_t d = 0;
  };

  Leaf LeafOf(int leaf, const DotProductCase& dot) const;

  Model model_;
  std::vector<Unit> shape_;
  bool any_nan_;
  std::deque<Question> questions_;
  mutable int64_t work_ = 0;
  mutable std::vector<TreeTerm> stack_;  // to initialize it takes longer than most questions
};

}  // namespace mmadiff
