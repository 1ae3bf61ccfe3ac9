// Searches the rules of the nodes of a known summation tree, for sums that no family has. First
// each node by the answers in which it and those above it alone add anything, from the root down;
// then all of them together, rules of many nodes before those of one. The tree that is left has
// the fewest rules, conversions and fields that reproduce all answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "sim/operation.h"
#include "triage/explain.h"
#include "triage/infer/summation_tree.h"
#include "triage/infer/unit_tree.h"

namespace mmadiff {

class TreeSearch {
 public:
  TreeSearch(const Operation& op, const SummationTree& tree);

  // The number of answers that the tree found does not give. A later search starts from the tree
  // of the one before. The bits of NaNs do not count. `stop` is polled.
  size_t Find(std::span<const Observed> answers, absl::FunctionRef<bool()> stop);

  // An algorithm of the family kTree, interned.
  Algorithm algorithm() const { return AlgorithmOf(tree_); }
  // The same before all nodes were searched together, which may hide the fault of one in another.
  Algorithm fitted() const { return AlgorithmOf(fitted_); }

 private:
  using Indices = std::vector<uint32_t>;
  struct Scored {
    size_t missed;
    UnitRule rule;
  };

  Algorithm AlgorithmOf(const UnitTree& tree) const;
  bool IsSum(int unit) const { return tree_.units[unit].leaf < 0; }
  int root() const { return static_cast<int>(tree_.units.size()) - 1; }
  bool Fits(const std::vector<int>& units, const UnitRule& rule) const;
  bool IsAbove(int above, int unit) const;
  std::vector<int> UnitsWith(int rule) const;

  // ---- One node after the other.
  void StartAlike();
  bool StartAccumulator();
  void AssignAlike(const UnitRule& sum, const UnitRule& last, const UnitRule& product,
                   const UnitRule& addend);
  std::vector<UnitRule> RootRules(const UnitRule& sum) const;
  void FitSums(bool plain);
  void FitLeaves();
  Indices EvidenceOf(int unit, bool plain) const;
  bool IsEvidence(int unit, bool plain, uint32_t answer) const;
  void FitUnit(int unit, const Indices& evidence);
  bool FitSimply(int unit, const Indices& evidence);
  bool FitTogether();
  bool FitBeside(int unit, const std::vector<int>& others);
  std::vector<UnitRule> KnownRules(int unit) const;
  Scored Descended(int unit, const Indices& evidence, Scored from);
  void TakeBetter(int unit, const Indices& evidence, const std::vector<UnitRule>& rules,
                  Scored& best);
  size_t MissedWith(int unit, const UnitRule& rule, const Indices& evidence, size_t most);
  void Assign(int unit, const UnitRule& rule);

  // ---- All together.
  void Refine();
  bool ImproveGroups(const Indices& missed, const Indices& given, size_t& left, bool rare);
  std::vector<std::vector<int>> GroupsOf(const Indices& missed) const;
  std::vector<UnitRule> CandidatesOf(const std::vector<int>& group, bool rare) const;
  size_t MissedOfGroup(const std::vector<int>& group, const UnitRule& rule, const Indices& missed,
                       const Indices& given, size_t most);
  void SetGroup(const std::vector<int>& group, const UnitRule& rule);

  // ---- Smaller.
  void Simplify();
  enum class Kind : uint8_t { kSum, kProduct, kAddend };
  bool SimplifyRule(int of, Kind kind);
  bool TakeIfAllGiven(const UnitTree& simpler);
  void DropUnusedRules();

  const Operation& op_;
  UnitTree tree_, fitted_;
  UnitAnswers answers_;
  Indices all_;    // the answers are in a mixed order
  Indices first_;  // those that refuted simpler trees, the latest first
  bool together_ = false;
  bool fresh_ = true;  // nothing was searched before
  absl::FunctionRef<bool()>* stop_ = nullptr;
};

}  // namespace mmadiff
