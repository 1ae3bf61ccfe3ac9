#include "triage/infer/rule_changes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mmadiff {
namespace {

constexpr int kWidest = 64;
constexpr int kCostOfNode = 100;
constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero,
                                   Rounding::kDown,        Rounding::kUp,
                                   Rounding::kToOdd,       Rounding::kNearestAway};

UnitRule With(const UnitRule& rule, size_t at, const Node& node) {
  UnitRule changed = rule;
  changed[at] = node;
  return changed;
}

UnitRule Without(UnitRule rule, size_t at) {
  rule.erase(rule.begin() + static_cast<ptrdiff_t>(at));
  return rule;
}

Node Rounded(Node node, const Format* to, Rounding rounding) {
  node.to = to;
  node.output_fraction_bits = kAllBits;
  node.output_rounding = rounding;
  return node;
}

void AddAlignments(const UnitRule& rule, std::vector<UnitRule>& changed) {
  Node node = rule[0];
  node.fraction_bits = kExact;
  node.align_rounding = Rounding::kTowardZero;
  changed.push_back(With(rule, 0, node));
  for (int width = 1; width <= kWidest; ++width) {
    for (const Rounding cut : kRoundings) {
      node.fraction_bits = width;
      node.align_rounding = cut;
      changed.push_back(With(rule, 0, node));
    }
  }
}

void AddBits(const UnitRule& rule, size_t at, std::vector<UnitRule>& changed) {
  for (int bits = 1; bits < rule[at].to->fraction_bits; ++bits) {
    for (const Rounding rounding : kRoundings) {
      Node node = Rounded(rule[at], rule[at].to, rounding);
      node.output_fraction_bits = bits;
      changed.push_back(With(rule, at, node));
    }
  }
}

void AddConversions(const Model& model, const UnitRule& rule, size_t at,
                    std::vector<UnitRule>& changed) {
  for (const Format* to : NodeFormats(model)) {
    for (const Rounding rounding : kRoundings) {
      UnitRule longer = rule;
      longer.insert(longer.begin() + static_cast<ptrdiff_t>(at), Rounded(Node(), to, rounding));
      changed.push_back(std::move(longer));
    }
  }
}

}  // namespace

std::vector<const Format*> NodeFormats(const Model& model) {
  std::vector<const Format*> formats;
  for (const char* name : {model.d.name, IsAbsent(model.c) ? model.d.name : model.c.name, "f32",
                           "f64", "bf16", "f16", "tf32"}) {
    const Format* const format = NodeFormat(name);
    if (format != nullptr && std::ranges::find(formats, format) == formats.end()) {
      formats.push_back(format);
    }
  }
  return formats;
}

std::vector<UnitRule> PlainRules(const Model& model) {
  std::vector<UnitRule> rules;
  AddConversions(model, {}, 0, rules);
  return rules;
}

std::vector<UnitRule> TwiceRoundedRules(const Model& model) {
  std::vector<UnitRule> rules;
  for (const UnitRule& first : PlainRules(model)) {
    for (const UnitRule& second : PlainRules(model)) {
      if (first[0].to->fraction_bits < second[0].to->fraction_bits) continue;
      rules.push_back({first[0], second[0]});
    }
  }
  return rules;
}

std::vector<UnitRule> AlignedRules(const Model& model) {
  std::vector<UnitRule> rules;
  for (const UnitRule& plain : PlainRules(model)) AddAlignments(plain, rules);
  return rules;
}

std::vector<UnitRule> ConvertedRules(const Model& model, const std::vector<UnitRule>& rules) {
  std::vector<UnitRule> converted;
  for (const UnitRule& rule : rules) AddConversions(model, rule, rule.size(), converted);
  return converted;
}

std::vector<UnitRule> CutRules(const Model& model) {
  std::vector<UnitRule> rules;
  for (const Format* to : NodeFormats(model)) AddBits({Node{.to = to}}, 0, rules);
  return rules;
}

std::vector<UnitRule> RuleChanges(const Model& model, const UnitRule& rule, bool sum) {
  std::vector<UnitRule> changed;
  for (size_t i = 0; i < rule.size(); ++i) {
    for (const Format* to : NodeFormats(model)) {
      for (const Rounding rounding : kRoundings) {
        changed.push_back(With(rule, i, Rounded(rule[i], to, rounding)));
      }
    }
    if (i > 0 || !sum) changed.push_back(Without(rule, i));
  }
  for (size_t at = sum ? 1 : 0; at <= rule.size(); ++at) AddConversions(model, rule, at, changed);
  if (sum) AddAlignments(rule, changed);
  if (sum && rule[0].to != nullptr) {  // another rounding before its own
    for (const UnitRule& first : PlainRules(model)) {
      UnitRule longer = rule;
      longer.insert(longer.begin(), Rounded(rule[0], first[0].to, first[0].output_rounding));
      longer[1].fraction_bits = kExact;
      longer[1].align_rounding = Rounding::kTowardZero;
      longer[1].exponent_floor = kNoFloor;
      changed.push_back(std::move(longer));
    }
  }
  for (size_t i = 0; i < rule.size(); ++i) {
    if (rule[i].to != nullptr) AddBits(rule, i, changed);
  }
  std::erase(changed, rule);
  return changed;
}

std::vector<UnitRule> RareChanges(const UnitRule& rule, bool sum) {
  std::vector<UnitRule> changed;
  for (size_t i = 0; i < rule.size(); ++i) {
    const auto add = [&](auto member, auto value) {
      Node node = rule[i];
      node.*member = value;
      changed.push_back(With(rule, i, node));
    };
    for (int v = 0; v <= static_cast<int>(NodeZero::kPositive); ++v) {
      add(&Node::zero_sign, static_cast<NodeZero>(v));
    }
    for (int v = 0; v <= static_cast<int>(NodeOverflow::kSaturate); ++v) {
      add(&Node::overflow, static_cast<NodeOverflow>(v));
    }
    for (int v = 0; v <= static_cast<int>(Subnormals::kFlushPositive); ++v) {
      for (const Tininess tininess : {Tininess::kBeforeRounding, Tininess::kAfterRounding}) {
        Node node = rule[i];
        node.output_subnormals = static_cast<Subnormals>(v);
        node.tininess = tininess;
        changed.push_back(With(rule, i, node));
      }
    }
    if (i > 0 || !sum || rule[i].fraction_bits == kExact) continue;
    add(&Node::exponent_floor, kNoFloor);
    for (int floor = -320; floor <= 16; ++floor) add(&Node::exponent_floor, floor);
  }
  std::erase(changed, rule);
  return changed;
}

int CostOf(const UnitRule& rule) {
  int cost = 0;
  const Node plain;
  for (const Node& node : rule) {
    cost += kCostOfNode;
    for (const NodeField& field : NodeFields()) cost += field.get(node) != field.get(plain);
  }
  return cost;
}

std::vector<UnitRule> SimplerRules(const UnitRule& rule, bool sum) {
  std::vector<UnitRule> simpler;
  for (size_t i = sum ? 1 : 0; i < rule.size(); ++i) simpler.push_back(Without(rule, i));
  if (sum && rule.size() > 1) {  // the next conversion in place of the sum's own rounding
    UnitRule joined = Without(rule, 0);
    joined[0].fraction_bits = rule[0].fraction_bits;
    joined[0].align_rounding = rule[0].align_rounding;
    joined[0].exponent_floor = rule[0].exponent_floor;
    simpler.push_back(std::move(joined));
  }
  const Node plain;
  for (size_t i = 0; i < rule.size(); ++i) {
    for (const NodeField& field : NodeFields()) {
      if (field.get(rule[i]) == field.get(plain)) continue;
      Node node = rule[i];
      field.set(node, field.get(plain));
      simpler.push_back(With(rule, i, node));
    }
  }
  return simpler;
}

}  // namespace mmadiff
