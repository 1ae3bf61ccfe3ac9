#include "triage/infer/tree_search.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "sim/reading.h"
#include "triage/infer/rule_changes.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxWork = 300'000'000;  // results of units in one search
constexpr size_t kEvidence = 400;          // answers for one node
constexpr size_t kTogether = 6;            // sums that may change with those next to them
constexpr size_t kOddLeaves = 24;          // leaves that may change with the sum above them
constexpr size_t kStarts = 3;              // searched downhill for one node
constexpr size_t kMissedTogether = 24, kGivenTogether = 600;
constexpr int kWorse = 3;       // rounds that do not improve the tree
constexpr size_t kGroups = 24;  // single units in a round

}  // namespace

TreeSearch::TreeSearch(const Operation& op, const SummationTree& tree)
    : op_(op), tree_(UnitsOf(tree, op.model.d)), fitted_(tree_), answers_(op.model, tree_, true) {}

Algorithm TreeSearch::AlgorithmOf(const UnitTree& tree) const {
  Algorithm a = {.family = Family::kTree};
  CopyReadings(op_.model.algorithm, a);
  a.tree = InternTree(TreeOfUnits(tree, op_.model));
  return a;
}

size_t TreeSearch::Find(std::span<const Observed> answers, absl::FunctionRef<bool()> stop) {
  const auto stops = [&] { return stop() || answers_.work() > kMaxWork; };
  absl::FunctionRef<bool()> either = stops;
  stop_ = &either;
  answers_ = UnitAnswers(op_.model, tree_, true);
  all_.resize(answers.size());
  std::iota(all_.begin(), all_.end(), 0);
  Indices mixed = all_;
  std::ranges::shuffle(mixed, std::mt19937_64(1));
  for (const uint32_t i : mixed) answers_.Add(answers[i]);  // in the order in which they are read
  first_.clear();
  if (answers_.Missed(tree_, all_, all_.size()) > 0) {
    if (std::exchange(fresh_, false)) StartAlike();
    FitSums(true);
    FitLeaves();
    FitSums(false);
    FitLeaves();
    FitSums(false);
    fitted_ = tree_;
    together_ = true;
    while (answers_.Missed(tree_, all_, 0) > 0 && !(*stop_)() && FitTogether()) {
    }
    together_ = false;
    Refine();
  }
  const size_t missed = answers_.Missed(tree_, all_, all_.size());
  if (missed == 0) Simplify();
  DropUnusedRules();
  return missed;
}

bool TreeSearch::Fits(const std::vector<int>& units, const UnitRule& rule) const {
  for (const int unit : units) {
    if (IsSum(unit) && rule.empty()) return false;
    if (unit == root() && rule.back().to != NodeFormat(op_.model.d.name)) return false;
  }
  return true;
}

bool TreeSearch::IsAbove(int above, int unit) const {
  while (unit >= 0 && unit != above) unit = tree_.units[unit].parent;
  return unit == above;
}

std::vector<int> TreeSearch::UnitsWith(int rule) const {
  std::vector<int> units;
  for (int u = 0; u <= root(); ++u) {
    if (tree_.units[u].rule == rule) units.push_back(u);
  }
  return units;
}

// One rule for all sums, another for the root, one for all products, and one for the addend.
void TreeSearch::AssignAlike(const UnitRule& sum, const UnitRule& last, const UnitRule& product,
                             const UnitRule& addend) {
  for (int u = 0; u <= root(); ++u) {
    const bool is_addend = tree_.units[u].leaf == op_.model.k;
    Assign(u, u == root() ? last : IsSum(u) ? sum : is_addend ? addend : product);
  }
}

// The rule of a sum, perhaps with a conversion, as that of the root.
std::vector<UnitRule> TreeSearch::RootRules(const UnitRule& sum) const {
  std::vector<UnitRule> rules = ConvertedRules(op_.model, {sum});
  rules.insert(rules.begin(), sum);
  std::erase_if(rules, [&](const UnitRule& r) { return !Fits({root()}, r); });
  return rules;
}

// One rule for all sums, with a conversion of the result, and one for all products, if they give most
// answers.
void TreeSearch::StartAlike() {
  const Indices some(all_.begin(), all_.begin() + std::min(kEvidence, all_.size()));
  const UnitTree open = tree_;
  UnitTree best = open;
  size_t least = some.size() / 4;
  const std::vector<UnitRule> plain = PlainRules(op_.model);
  std::vector<UnitRule> of_products = {{}};
  for (const UnitRule& rule : plain) {
    if (rule[0].output_rounding == Rounding::kNearestEven) of_products.push_back(rule);
  }
  for (const UnitRule& rule : plain) {
    for (const UnitRule& last : RootRules(rule)) {
      for (const UnitRule& product : of_products) {
        if (least == 0 || (*stop_)()) break;
        tree_ = open;
        AssignAlike(rule, last, product, {});
        const size_t missed = answers_.Missed(tree_, some, least - 1);
        if (missed >= least) continue;
        least = missed;
        best = tree_;
      }
    }
  }
  tree_ = open;
  if (!StartAccumulator()) tree_ = best;
}

// An accumulator: every sum is rounded, then to a narrower format, with which it also begins. Whether it
// reproduces all answers.
bool TreeSearch::StartAccumulator() {
  for (const UnitRule& rule : TwiceRoundedRules(op_.model)) {
    const bool nearest = std::ranges::all_of(
        rule, [](const Node& n) { return n.output_rounding == Rounding::kNearestEven; });
    if (!nearest || rule[0].to == rule[1].to) continue;
    for (const UnitRule& last : RootRules(rule)) {
      for (const UnitRule& addend : {UnitRule(), UnitRule{Node{.to = rule[1].to}}}) {
        if ((*stop_)()) return false;
        AssignAlike(rule, last, {}, addend);
        if (answers_.Missed(tree_, all_, 0) == 0) return true;
      }
    }
  }
  return false;
}

// Whether only the unit, if it is a sum, and those above it add anything, and a leaf alone has many
// bits.
bool TreeSearch::IsEvidence(int unit, bool plain, uint32_t answer) const {
  const std::vector<int>& adding = answers_.Adding(answer);
  const std::vector<int>& rough = answers_.Rough(answer);
  if (!IsSum(unit)) {
    if (rough.size() != 1 || rough[0] != unit) return false;
  } else if ((plain && !rough.empty()) || std::ranges::find(adding, unit) == adding.end()) {
    return false;
  }
  return std::ranges::all_of(adding, [&](int u) { return IsAbove(u, unit); });
}

// Those that the tree does not give first, after the first search wherever else they add.
TreeSearch::Indices TreeSearch::EvidenceOf(int unit, bool plain) const {
  Indices missed, given;
  for (const uint32_t i : all_) {
    const bool local = IsEvidence(unit, plain, i);
    const std::vector<int>& adding = answers_.Adding(i);
    if (!local && !(together_ && std::ranges::count(adding, unit) > 0)) continue;
    const bool gives = answers_.Gives(tree_, i);
    if (!local && gives) continue;
    Indices& some = gives ? given : missed;
    if (some.size() < kEvidence / 2) some.push_back(i);
  }
  missed.insert(missed.end(), given.begin(), given.end());
  return missed;
}

void TreeSearch::FitSums(bool plain) {
  std::vector<int> sums;
  for (int u = root(); u >= 0; --u) {
    if (IsSum(u)) sums.push_back(u);
  }
  std::ranges::stable_sort(sums, {}, [&](int u) { return tree_.units[u].depth; });
  for (const int unit : sums) {
    if ((*stop_)()) return;
    FitUnit(unit, EvidenceOf(unit, plain));
  }
}

void TreeSearch::FitLeaves() {
  for (int u = 0; u <= root() && !(*stop_)(); ++u) {
    if (!IsSum(u)) FitUnit(u, EvidenceOf(u, false));
  }
}

size_t TreeSearch::MissedWith(int unit, const UnitRule& rule, const Indices& evidence,
                              size_t most) {
  if (!Fits({unit}, rule)) return most + 1;
  Unit& of = tree_.units[unit];
  const int before = std::exchange(of.rule, static_cast<int>(tree_.rules.size()));
  tree_.rules.push_back(rule);
  const size_t missed = answers_.Missed(tree_, evidence, most);
  tree_.rules.pop_back();
  of.rule = before;
  return missed;
}

void TreeSearch::TakeBetter(int unit, const Indices& evidence, const std::vector<UnitRule>& rules,
                            Scored& best) {
  for (const UnitRule& rule : rules) {
    if (best.missed == 0) return;
    const size_t missed = MissedWith(unit, rule, evidence, best.missed - 1);
    if (missed < best.missed) best = {missed, rule};
  }
}

TreeSearch::Scored TreeSearch::Descended(int unit, const Indices& evidence, Scored best) {
  for (bool better = true; better && best.missed > 0 && !(*stop_)();) {
    const size_t before = best.missed;
    TakeBetter(unit, evidence, RuleChanges(op_.model, best.rule, IsSum(unit)), best);
    better = best.missed < before;
  }
  return best;
}

// The rules of other units, those of the same kind first.
std::vector<UnitRule> TreeSearch::KnownRules(int unit) const {
  std::vector<UnitRule> rules;
  for (const bool same : {true, false}) {
    for (const Unit& other : tree_.units) {
      const UnitRule& rule = tree_.rules[other.rule];
      if (((other.leaf < 0) == IsSum(unit)) != same || other.rule == kOpenRule) continue;
      if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
    }
  }
  return rules;
}

// Takes a simple rule that reproduces all the evidence, if there is one.
bool TreeSearch::FitSimply(int unit, const Indices& evidence) {
  Scored best = {1, {}};
  const auto takes = [&](const std::vector<UnitRule>& rules) {
    TakeBetter(unit, evidence, rules, best);
    if (best.missed == 0) Assign(unit, best.rule);
    return best.missed == 0;
  };
  const Model& m = op_.model;
  const std::vector<UnitRule> known = KnownRules(unit);
  if (takes(known) || takes(PlainRules(m)) || takes(ConvertedRules(m, known))) return true;
  if (takes(TwiceRoundedRules(m)) || takes(CutRules(m)) || takes(AlignedRules(m))) return true;
  const int own = tree_.units[unit].rule;
  return own != kOpenRule && takes(RuleChanges(m, tree_.rules[own], IsSum(unit)));
}

// A simple rule, otherwise the best of a search downhill from the best ones.
void TreeSearch::FitUnit(int unit, const Indices& evidence) {
  const int own = tree_.units[unit].rule;
  if (own != kOpenRule && MissedWith(unit, tree_.rules[own], evidence, 0) == 0) return;
  if (FitSimply(unit, evidence)) return;
  const std::vector<UnitRule> known = KnownRules(unit), plain = PlainRules(op_.model);
  std::vector<Scored> starts;
  for (const auto& rules : {known, plain}) {
    for (const UnitRule& rule : rules) {
      starts.push_back({MissedWith(unit, rule, evidence, evidence.size()), rule});
    }
  }
  std::ranges::stable_sort(starts, {}, &Scored::missed);
  Scored best = starts[0];
  for (size_t i = 0; i < std::min(kStarts, starts.size()) && best.missed > 0; ++i) {
    const Scored end = Descended(unit, evidence, starts[i]);
    if (end.missed < best.missed) best = end;
  }
  for (const auto& rules : {TwiceRoundedRules(op_.model), AlignedRules(op_.model)}) {
    Scored other = best;
    if (best.missed > 0) TakeBetter(unit, evidence, rules, other);
    if (other.missed < best.missed) best = Descended(unit, evidence, other);
  }
  if (best.missed <= evidence.size()) Assign(unit, best.rule);
}

// Whether a rule for the unit pays together with one rule for the others.
bool TreeSearch::FitBeside(int unit, const std::vector<int>& others) {
  if (others.empty()) return false;
  const size_t least = answers_.Missed(tree_, all_, all_.size());
  const UnitTree before = tree_;
  std::vector<UnitRule> rules = KnownRules(others.front());
  if (!IsSum(others.front())) rules.insert(rules.begin(), UnitRule());
  for (const UnitRule& rule : rules) {
    if ((*stop_)()) break;
    if (!Fits(others, rule)) continue;
    SetGroup(others, rule);
    const Indices evidence = EvidenceOf(unit, false);
    if (FitSimply(unit, evidence) && answers_.Missed(tree_, all_, least) < least) return true;
    tree_ = before;
  }
  return false;
}

// Changes two neighboring rules: that of a sum of missed answers, and that of the leaves, the sums or
// the sum next to it.
bool TreeSearch::FitTogether() {
  Indices missed;
  for (const uint32_t i : all_) {
    if (!answers_.Gives(tree_, i)) missed.push_back(i);
  }
  std::ranges::stable_sort(missed, {}, [&](uint32_t i) { return answers_.Touched(i).size(); });
  std::vector<int> sums, touched;  // leaves that may be converted too
  for (const uint32_t i : missed) {
    for (const int u : answers_.Touched(i)) {
      const bool known = IsSum(u) || std::ranges::find(touched, u) != touched.end();
      if (!known && touched.size() < kOddLeaves) touched.push_back(u);
    }
    for (const int u : answers_.Adding(i)) {
      const bool known = std::ranges::find(sums, u) != sums.end();
      if (!known && sums.size() < kTogether) sums.push_back(u);
    }
  }
  for (const int unit : sums) {
    std::vector<int> leaves, below;
    for (const int child : tree_.units[unit].children) {
      (IsSum(child) ? below : leaves).push_back(child);
    }
    if (FitBeside(unit, leaves) || FitBeside(unit, below)) return true;
    for (const int leaf : leaves) {
      const bool odd = tree_.units[leaf].rule != kLeafRule;
      if (odd && FitBeside(unit, {leaf})) return true;
    }
    for (const int sum : below) {
      if (FitBeside(unit, {sum})) return true;
    }
    if (unit != root() && FitBeside(unit, {tree_.units[unit].parent})) return true;
  }
  for (const int leaf : touched) {
    if (std::ranges::count(sums, tree_.units[leaf].parent) == 0) continue;
    if (FitBeside(tree_.units[leaf].parent, {leaf})) return true;
  }
  return false;
}

void TreeSearch::Assign(int unit, const UnitRule& rule) {
  const auto at = std::ranges::find(tree_.rules, rule);
  const int index = static_cast<int>(at - tree_.rules.begin());
  if (at == tree_.rules.end()) tree_.rules.push_back(rule);
  tree_.units[unit].rule = index;
}

// ---- All together.

void TreeSearch::SetGroup(const std::vector<int>& group, const UnitRule& rule) {
  for (const int unit : group) Assign(unit, rule);
}

size_t TreeSearch::MissedOfGroup(const std::vector<int>& group, const UnitRule& rule,
                                 const Indices& missed, const Indices& given, size_t most) {
  if (!Fits(group, rule)) return most + 1;
  std::vector<int> before;
  for (const int unit : group) {
    before.push_back(std::exchange(tree_.units[unit].rule, static_cast<int>(tree_.rules.size())));
  }
  tree_.rules.push_back(rule);
  size_t left = answers_.Missed(tree_, missed, std::min(most, missed.size()));
  const bool pays = left < missed.size();
  if (!pays) left = most + 1;
  if (left <= most) left += answers_.Missed(tree_, given, most - left);
  tree_.rules.pop_back();
  for (size_t i = 0; i < group.size(); ++i) tree_.units[group[i]].rule = before[i];
  return left;
}

// Units that may change together: those of one rule, leaves of one kind, a rule's units at one
// depth, single units that the missed answers have in common.
std::vector<std::vector<int>> TreeSearch::GroupsOf(const Indices& missed) const {
  std::vector<size_t> counts(tree_.units.size());
  for (const uint32_t i : missed) {
    for (const int unit : answers_.Touched(i)) ++counts[unit];
  }
  std::vector<std::vector<int>> groups;
  const auto add = [&](const std::vector<int>& group) {
    const bool touched = std::ranges::any_of(group, [&](int u) { return counts[u] > 0; });
    if (touched && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  };
  std::vector<int> addend, products;
  for (int u = 0; u <= root(); ++u) {
    if (IsSum(u)) continue;
    (tree_.units[u].leaf == op_.model.k ? addend : products).push_back(u);
  }
  for (size_t r = 0; r < tree_.rules.size(); ++r) {
    const std::vector<int> units = UnitsWith(static_cast<int>(r));
    if (!units.empty() && IsSum(units.back()) && IsSum(units.front())) add(units);
  }
  add(products);
  add(addend);
  for (size_t r = 0; r < tree_.rules.size(); ++r) {
    for (int depth = 0; depth < 8; ++depth) {
      std::vector<int> level = UnitsWith(static_cast<int>(r));
      std::erase_if(level, [&](int u) { return tree_.units[u].depth != depth || !IsSum(u); });
      if (!level.empty()) add(level);
    }
  }
  std::vector<int> single;
  for (int u = 0; u <= root(); ++u) {
    if (counts[u] > 0) single.push_back(u);
  }
  std::ranges::stable_sort(single, std::greater{}, [&](int u) { return counts[u]; });
  if (single.size() > kGroups) single.resize(kGroups);
  for (const int unit : single) add({unit});
  return groups;
}

std::vector<UnitRule> TreeSearch::CandidatesOf(const std::vector<int>& group, bool rare) const {
  const bool sum = IsSum(group.front());
  const UnitRule& own = tree_.rules[tree_.units[group.front()].rule];
  if (rare) return RareChanges(own, sum);
  std::vector<UnitRule> rules;
  for (const Unit& unit : tree_.units) {
    const UnitRule& rule = tree_.rules[unit.rule];
    const bool known = rule == own || std::ranges::find(rules, rule) != rules.end();
    if (!known && (unit.leaf < 0) == sum) rules.push_back(rule);
  }
  std::ranges::move(RuleChanges(op_.model, own, sum), std::back_inserter(rules));
  return rules;
}

bool TreeSearch::ImproveGroups(const Indices& missed, const Indices& given, size_t& left,
                               bool rare) {
  bool better = false;
  for (const std::vector<int>& group : GroupsOf(missed)) {
    if (left == 0 || (*stop_)()) break;
    UnitRule best;
    const size_t before = left;
    for (const UnitRule& rule : CandidatesOf(group, rare)) {
      if (left == 0) break;
      const size_t now = MissedOfGroup(group, rule, missed, given, left - 1);
      if (now >= left) continue;
      left = now;
      best = rule;
    }
    if (left == before) continue;
    SetGroup(group, best);
    better = true;
  }
  return better;
}

void TreeSearch::Refine() {
  size_t least = all_.size() + 1;
  UnitTree best = tree_;
  int worse = 0;
  for (int round = 0; worse < kWorse && !(*stop_)(); ++round) {
    Indices missed, given;
    for (const uint32_t i : all_) (answers_.Gives(tree_, i) ? given : missed).push_back(i);
    if (missed.size() < least) {
      least = missed.size();
      best = tree_;
      worse = 0;
    } else {
      ++worse;
    }
    if (missed.empty()) break;
    std::ranges::stable_sort(missed, {}, [&](uint32_t i) { return answers_.Adding(i).size(); });
    if (missed.size() > kMissedTogether) {  // half of them with few sums
      std::shuffle(missed.begin() + kMissedTogether / 2, missed.end(), std::mt19937_64(round));
      missed.resize(kMissedTogether);
    }
    std::ranges::shuffle(given, std::mt19937_64(round));
    if (given.size() > kGivenTogether) given.resize(kGivenTogether);
    size_t left = missed.size();
    if (ImproveGroups(missed, given, left, false)) continue;
    if (ImproveGroups(missed, given, left, true)) continue;
    break;
  }
  tree_ = best;
}

// ---- Smaller.

bool TreeSearch::TakeIfAllGiven(const UnitTree& simpler) {
  for (const uint32_t i : first_) {
    if (!answers_.Gives(simpler, i)) return false;
  }
  for (const uint32_t i : all_) {
    if (answers_.Gives(simpler, i)) continue;
    first_.insert(first_.begin(), i);
    if (first_.size() > 64) first_.pop_back();
    return false;
  }
  tree_ = simpler;
  return true;
}

void TreeSearch::DropUnusedRules() {
  UnitTree used = {.units = tree_.units, .rules = {tree_.rules.begin(), tree_.rules.begin() + 3}};
  for (Unit& unit : used.units) {
    if (unit.rule < 3 && tree_.rules[unit.rule] == used.rules[unit.rule]) continue;
    const UnitRule& rule = tree_.rules[unit.rule];
    const auto at = std::ranges::find(used.rules, rule);
    unit.rule = static_cast<int>(at - used.rules.begin());
    if (at == used.rules.end()) used.rules.push_back(rule);
  }
  tree_ = std::move(used);
}

void TreeSearch::Simplify() {
  DropUnusedRules();
  for (bool better = true; better && !(*stop_)();) {
    better = false;
    for (size_t r = 0; r < tree_.rules.size(); ++r) {  // two rules become one
      const std::vector<int> units = UnitsWith(static_cast<int>(r));
      for (size_t other = 0; other < tree_.rules.size() && !units.empty(); ++other) {
        const std::vector<int> others = UnitsWith(static_cast<int>(other));
        const bool alike = !others.empty() && IsSum(others.front()) == IsSum(units.front());
        if (other == r || !alike || !Fits(units, tree_.rules[other])) continue;
        UnitTree simpler = tree_;
        for (const int unit : units) simpler.units[unit].rule = static_cast<int>(other);
        if (!TakeIfAllGiven(simpler)) continue;
        better = true;
        break;
      }
    }
    for (size_t r = 0; r < tree_.rules.size(); ++r) {
      for (const Kind kind : {Kind::kAddend, Kind::kProduct, Kind::kSum}) {
        better |= SimplifyRule(static_cast<int>(r), kind);
      }
    }
  }
}

// Simplifies the rule's units of one kind.
bool TreeSearch::SimplifyRule(int of, Kind kind) {
  const bool sums = kind == Kind::kSum;
  std::vector<int> units = UnitsWith(of);
  std::erase_if(units, [&](int u) {
    const Kind own = IsSum(u)                             ? Kind::kSum
                     : tree_.units[u].leaf == op_.model.k ? Kind::kAddend
                                                          : Kind::kProduct;
    return own != kind;
  });
  if (units.empty()) return false;
  const UnitRule own = tree_.rules[of];
  for (const UnitRule& rule : SimplerRules(own, sums)) {
    if (CostOf(rule) >= CostOf(own) || !Fits(units, rule)) continue;
    UnitTree simpler = tree_;
    const auto at = std::ranges::find(simpler.rules, rule);
    const int index = static_cast<int>(at - simpler.rules.begin());
    if (at == simpler.rules.end()) simpler.rules.push_back(rule);
    for (const int unit : units) simpler.units[unit].rule = index;
    if (TakeIfAllGiven(simpler)) return true;
  }
  return false;
}

}  // namespace mmadiff
