#include "sim/tree/tree.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "sim/instruction.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {
namespace {

void AppendCode(const Branch& branch, std::vector<TreeCode>& code) {
  for (const Branch& term : branch.terms) AppendCode(term, code);
  const bool join = branch.push == Push::kJoin;
  code.push_back({branch.push, static_cast<uint8_t>(join ? branch.index : 0),
                  static_cast<uint16_t>(join ? branch.terms.size() : branch.index)});
}

template <auto Member>
NodeField Field(const char* name, Stage stage, std::vector<const char*> values) {
  using T = std::remove_reference_t<decltype(std::declval<Node&>().*Member)>;
  return {name,
          [](const Node& n) { return static_cast<int>(n.*Member); },
          [](Node& n, int value) { n.*Member = static_cast<T>(value); },
          std::move(values),
          0,
          0,
          "",
          stage};
}

template <auto Member>
NodeField Number(const char* name, Stage stage, int min, int max, const char* absent) {
  NodeField field = Field<Member>(name, stage, {});
  field.min = min;
  field.max = max;
  field.absent = absent;
  return field;
}

// The kinds of terms of all nodes of one name.
struct Terms {
  bool products = false, words = false, partials = false;
  int most_words = 0;  // of one node
};

constexpr int kNever = 1 << 20;  // an exponent that no term offers

// The terms of all nodes of one name in a model.
struct Met {
  int least = kNever;        // of all terms
  int zero_word = -kNever;   // the largest that a zero word would offer
  bool renames_nans = true;  // every node that takes the result gives NaNs of its own
  bool one_word = true;      // the only term
  bool copies = true;        // a word that is already a number of the node's format
  bool all_ones = true;      // a word of which the only NaN is NodeNan::kAllOnes
};

// Whether every number of `f` is one of `to`.
bool Holds(const Format& to, const Format& f) {
  return to.fraction_bits >= f.fraction_bits && to.min_exponent <= f.min_exponent &&
         MaxExponent(to) >= MaxExponent(f) && HasInfinity(to);
}

std::vector<Terms> TermsOf(const Tree& tree) {
  std::vector<Terms> terms(tree.nodes.size());
  std::vector<TreeTerm::Class> stack;
  for (const TreeCode& code : tree.code) {
    if (code.push != Push::kJoin) {
      stack.push_back(code.push == Push::kProduct ? TreeTerm::kProduct : TreeTerm::kWord);
      continue;
    }
    Terms& of = terms[code.node];
    const auto words = std::ranges::count(stack.end() - code.index, stack.end(), TreeTerm::kWord);
    of.most_words = std::max(of.most_words, static_cast<int>(words));
    for (int i = 0; i < code.index && !stack.empty(); ++i, stack.pop_back()) {
      (stack.back() == TreeTerm::kProduct ? of.products
       : stack.back() == TreeTerm::kWord  ? of.words
                                          : of.partials) = true;
    }
    const bool partial = tree.nodes[code.node].to == nullptr;
    stack.push_back(partial ? TreeTerm::kPartial : TreeTerm::kWord);
  }
  return terms;
}

// Resets the fields that cannot act.
Node NormalNode(Node n, const Terms& terms) {
  const Node plain;
  const bool cuts = n.fraction_bits != kExact;
  const bool offers = cuts || n.to == nullptr;  // an alignment exponent matters
  if (!cuts) {
    n.align_rounding = plain.align_rounding;
    n.ones_complement = false;
    n.small_word = plain.small_word;
  }
  if (!cuts || !terms.partials || n.partial_fraction_bits == n.fraction_bits) {
    n.partial_fraction_bits = kAsNode;
  }
  if (!offers) n.exponent_floor = kNoFloor;
  if (!offers || !terms.products) {
    n.product_exponent = plain.product_exponent;
    n.zero_product = plain.zero_product;
  }
  if (!terms.products) n.product_limit = kNoLimit;
  if (!offers || !terms.words) {
    n.zero_word = plain.zero_word;
    n.word_shift = 0;
    n.small_word = plain.small_word;
  }
  if (!offers || !terms.partials) n.zero_partial = plain.zero_partial;
  if (n.to == nullptr || IsInteger(*n.to)) {
    const bool saturates = n.to != nullptr && n.overflow == NodeOverflow::kSaturate;
    n.output_fraction_bits = kAllBits;
    n.output_rounding = plain.output_rounding;
    n.overflow = saturates ? NodeOverflow::kSaturate : plain.overflow;
    n.output_subnormals = plain.output_subnormals;
    n.tininess = plain.tininess;
    n.zero_sign = plain.zero_sign;
    n.nan_rule = plain.nan_rule;
  } else {
    if (n.output_fraction_bits == n.to->fraction_bits) n.output_fraction_bits = kAllBits;
    const bool nearest =
        n.output_rounding == Rounding::kNearestEven || n.output_rounding == Rounding::kNearestAway;
    if (nearest && n.overflow == NodeOverflow::kIeee) n.overflow = NodeOverflow::kInfinity;
    if (n.output_subnormals == Subnormals::kKeep) n.tininess = plain.tininess;
    if (n.zero_sign == NodeZero::kIeee754 && n.output_rounding != Rounding::kDown) {
      n.zero_sign = NodeZero::kIeee;
    }
  }
  if (n.nan_rule != NodeNan::kConstants) n.factor_nan = n.invalid_nan = 0;
  return n;
}

// Whether NaNs of terms only show as NaNs.
bool ReplacesNans(const Node& n) {
  return n.nan_rule == NodeNan::kAllOnes || n.nan_rule == NodeNan::kQuietPositive;
}

std::vector<Met> MetIn(const Tree& tree, const Model& m) {
  struct Term {
    int least, zero;
    int node;  // that gave it; -1: a leaf
    bool word;
    const Format* format = nullptr;  // of a word
  };
  const auto of_format = [](const Format& f, int node) {
    const int least = IsInteger(f) ? 0 : LeastExponent(f);
    return Term{least, least, node, true, &f};
  };
  std::vector<Met> met(tree.nodes.size());
  std::vector<Term> stack;
  for (const TreeCode& code : tree.code) {
    if (code.push == Push::kProduct) {
      stack.push_back({LeastExponent(m.a) + LeastExponent(m.b), kNever, -1, false});
    } else if (code.push == Push::kAddend) {
      stack.push_back(of_format(IsAbsent(m.c) ? m.d : m.c, -1));
    } else if (code.push == Push::kZero) {
      stack.push_back({kNever, -kNever, -1, true});
    } else {
      const Node& n = tree.nodes[code.node];
      Met& of = met[code.node];
      const Term& first = *(stack.end() - code.index);
      const Node* const from = first.node < 0 ? nullptr : &tree.nodes[first.node];
      of.one_word &= code.index == 1 && first.format != nullptr;
      of.copies &= of.one_word && n.to != nullptr && Holds(*n.to, *first.format);
      of.all_ones &= of.one_word && n.to != nullptr && HasInfinity(*n.to) && from != nullptr &&
                     HasInfinity(*from->to) && from->to->fraction_bits >= n.to->fraction_bits &&
                     from->nan_rule == NodeNan::kAllOnes;
      int least = kNever;
      for (int i = 0; i < code.index; ++i, stack.pop_back()) {
        const Term& t = stack.back();
        const int shift = t.word ? n.word_shift : 0;
        // Normalized exponents of subnormal products are less than these.
        const bool below = !t.word && n.product_exponent != ProductExponent::kRaw;
        least = std::min(least, below ? -kNever : t.least == kNever ? kNever : t.least - shift);
        if (t.word && t.zero != -kNever) of.zero_word = std::max(of.zero_word, t.zero - shift);
        if (t.node >= 0 && !ReplacesNans(n)) met[t.node].renames_nans = false;
        if (t.node >= 0 && n.to == nullptr) met[t.node].renames_nans = false;
      }
      of.least = std::min(of.least, least);
      // Scales move the exponent after the floor has acted.
      const bool scaled = n.scale != NodeScale::kNone;
      least = scaled ? -kNever : std::max(least, n.exponent_floor);
      stack.push_back(n.to == nullptr ? Term{least, kNever, code.node, false}
                                      : of_format(*n.to, code.node));
    }
  }
  met[tree.code.back().node].renames_nans = false;  // of the result
  return met;
}

// Resets the fields that cannot act in the model.
Node NormalNode(Node n, const Terms& terms, const Met& met, const Model& m) {
  const bool as_f16 = n.product_exponent == ProductExponent::kAsF16;
  if (as_f16 && !NormalizesSubnormals(n.product_exponent, m.a) &&
      !NormalizesSubnormals(n.product_exponent, m.b)) {
    n.product_exponent = ProductExponent::kRaw;
  }
  // A zero partial sum offers the floor.
  if (n.to != nullptr) {
    if (met.zero_word <= std::max(met.least, n.exponent_floor)) n.zero_word = ZeroOffers::kNothing;
    if (n.zero_word == ZeroOffers::kNothing && n.exponent_floor <= met.least) {
      n.exponent_floor = kNoFloor;
    }
  }
  // Such a word is cut to zero, and agrees with its own sign.
  const bool cut = n.align_rounding == Rounding::kTowardZero;
  if (cut && (!n.ones_complement || terms.most_words <= 1)) n.small_word = SmallWord::kCut;
  const bool whole = n.to != nullptr && (n.output_fraction_bits == kAllBits ||
                                         n.output_fraction_bits == n.to->fraction_bits);
  if (met.copies && n.fraction_bits == kExact && whole) {
    n.output_rounding = Rounding::kNearestEven;
    n.overflow = NodeOverflow::kInfinity;
    n.tininess = Tininess::kAfterRounding;
  }
  const bool propagates = n.nan_rule == NodeNan::kPropagate || n.nan_rule == NodeNan::kPropagateBca;
  if (met.one_word && propagates) {
    n.nan_rule = met.all_ones ? NodeNan::kAllOnes : NodeNan::kPropagate;
  }
  if (met.renames_nans && n.to != nullptr && n.to->nonfinite != Nonfinite::kNone) {
    n.nan_rule = NodeNan::kAllOnes;
    n.factor_nan = n.invalid_nan = 0;
  }
  return n;
}

const Format* IeeeFormat(std::string_view name) {
  int e = 0, f = 0;
  const char* const end = name.data() + name.size();
  if (!name.starts_with('e')) return nullptr;
  const auto first = std::from_chars(name.data() + 1, end, e);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'm') return nullptr;
  const auto second = std::from_chars(first.ptr + 1, end, f);
  if (second.ec != std::errc() || second.ptr != end) return nullptr;
  if (e < 2 || e > 11 || f < 1 || 1 + e + f > 64) return nullptr;
  struct Named {
    std::string name;
    Format format;
  };
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<int, int>, Named>;
  const std::lock_guard lock(mutex);
  const auto [at, inserted] = known.try_emplace({e, f});
  Named& named = at->second;
  if (inserted) {
    named.name = "e" + std::to_string(e) + "m" + std::to_string(f);
    named.format = {named.name.c_str(), 1 + e + f, e, f, 2 - (1 << (e - 1)), 0,
                    Nonfinite::kIeee,   true};
  }
  return &named.format;
}

std::string WhyInvalidNode(const Model& m, const Node& n) {
  const bool integers = IsInteger(m.d);
  if (n.to != nullptr && IsInteger(*n.to) != integers) {
    return "its result must be " + std::string(integers ? "an integer" : "a floating-point word");
  }
  if (n.to != nullptr && integers && (!n.to->is_signed || n.to->bits > 32)) {
    return "an integer result must be signed and have at most 32 bits";
  }
  if (n.to != nullptr && !integers && (n.to->exponent_bits > 11 || !n.to->has_zero)) {
    return std::string("no node rounds to ") + n.to->name;
  }
  if (integers && n.fraction_bits != kExact) return "integers are added exactly";
  if (n.to != nullptr && n.output_fraction_bits > n.to->fraction_bits) {
    return "output_fraction_bits must be at most " + std::to_string(n.to->fraction_bits) + " for " +
           n.to->name;
  }
  if (n.nan_rule == NodeNan::kConstants && n.to != nullptr &&
      !(IsNan(*n.to, n.factor_nan) && IsNan(*n.to, n.invalid_nan))) {
    return std::string("the constants of nan_rule must be NaNs of ") + n.to->name;
  }
  if (n.scale == NodeScale::kNone) return "";
  if (m.scale_block == 0) return "there are no scales";
  if (n.to != nullptr) return "a node with scales gives a partial sum: it has no to=";
  const int range = MaxExponent(m.a) - m.a.min_exponent + m.a.fraction_bits + MaxExponent(m.b) -
                    m.b.min_exponent + m.b.fraction_bits;
  return range > 96 ? "products under scales need a narrower range" : "";
}

// The code of the join that is step `step` of an evaluation.
// The steps of an execution are the joins of the tree, in a chain of executions again and again.
const TreeCode& JoinOf(const Tree& tree, int step) {
  const int joins = static_cast<int>(std::ranges::count(tree.code, Push::kJoin, &TreeCode::push));
  step %= joins;
  const auto is_it = [&](const TreeCode& c) { return c.push == Push::kJoin && step-- == 0; };
  return *std::ranges::find_if(tree.code, is_it);
}

}  // namespace

std::vector<TreeCode> CodeOf(const Branch& root) {
  std::vector<TreeCode> code;
  AppendCode(root, code);
  return code;
}

Branch RootOf(const Tree& tree) {
  std::vector<Branch> stack;
  for (const TreeCode& code : tree.code) {
    Branch branch = {code.push, code.push == Push::kJoin ? code.node : code.index};
    if (code.push == Push::kJoin) {
      const auto first = stack.end() - code.index;
      branch.terms.assign(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
      stack.erase(first, stack.end());
    }
    stack.push_back(std::move(branch));
  }
  return std::move(stack.back());
}

const std::vector<NodeField>& NodeFields() {
  using N = Node;
  using S = Stage;
  const std::vector<const char*> roundings = {"nearest_even", "toward_zero", "down",
                                              "up",           "to_odd",      "nearest_away"};
  const std::vector<const char*> offers = {"ignored", "raises"};
  static const std::vector<NodeField>& fields = *new std::vector<NodeField>{
      Number<&N::fraction_bits>("fraction_bits", S::kAlignedTerm, 1, 64, "exact"),
      Field<&N::output_rounding>("output_rounding", S::kRounded, roundings),
      Field<&N::align_rounding>("align_rounding", S::kAlignedTerm, roundings),
      Field<&N::ones_complement>("ones_complement", S::kAlignedTerm, {"no", "yes"}),
      Number<&N::partial_fraction_bits>("partial_fraction_bits", S::kAlignedTerm, 1, 64, "as_node"),
      Field<&N::product_exponent>("product_exponent", S::kAlignExponent,
                                  {"raw", "normalized", "as_f16"}),
      Field<&N::zero_product>("zero_product", S::kAlignExponent, offers),
      Field<&N::zero_word>("zero_word", S::kAlignExponent, offers),
      Field<&N::zero_partial>("zero_partial", S::kAlignExponent, offers),
      Number<&N::word_shift>("word_shift", S::kAlignExponent, 0, 8, ""),
      Number<&N::exponent_floor>("exponent_floor", S::kAlignExponent, -2200, 1024, "none"),
      Number<&N::output_fraction_bits>("output_fraction_bits", S::kRounded, 1, 63, "all"),
      Field<&N::overflow>("overflow", S::kRounded, {"infinity", "ieee", "saturate"}),
      Field<&N::output_subnormals>("output_subnormals", S::kRounded,
                                   {"keep", "flush", "flush_positive"}),
      Field<&N::tininess>("tininess", S::kRounded, {"before_rounding", "after_rounding"}),
      Field<&N::small_word>("small_word", S::kAlignedTerm,
                            {"cut", "dropped", "dropped_above_floor"}),
      Number<&N::product_limit>("product_limit", S::kProduct, -2200, 2048, "none"),
      Field<&N::scale>("scale", S::kAlignExponent, {"none", "added", "alone"}),
      Field<&N::zero_sign>("zero_sign", S::kRounded,
                           {"ieee", "ieee754", "sum_positive", "positive"}),
      Field<&N::nan_rule>(
          "nan_rule", S::kSpecial,
          {"all_ones", "quiet_positive", "propagate", "propagate_bca", "constants"}),
  };
  return fields;
}

bool Acts(const Tree& tree, int node, const NodeField& field) {
  const Terms terms = TermsOf(tree)[node];
  // It acts if the normal form keeps a different value.
  const int value = field.get(tree.nodes[node]);
  const auto kept = [&](int other) {
    Node changed = tree.nodes[node];
    field.set(changed, other);
    return NormalNode(changed, terms) != NormalNode(tree.nodes[node], terms);
  };
  if (field.values.empty()) {
    return kept(value == field.min ? field.min + 1 : field.min);
  }
  for (size_t v = 0; v < field.values.size(); ++v) {
    if (static_cast<int>(v) != value && kept(static_cast<int>(v))) return true;
  }
  return false;
}

const Format* NodeFormat(std::string_view name) {
  const Format* const format = FindFormat(name);
  return format != nullptr ? format : IeeeFormat(name);
}

const Format* ResultFormat(const Model& m, int step) {
  if (m.algorithm.family != Family::kTree) return &m.d;
  return m.algorithm.tree->nodes[JoinOf(*m.algorithm.tree, step).node].to;
}

std::string NodeAt(const Model& m, int step) {
  if (m.algorithm.family != Family::kTree) return "";
  return m.algorithm.tree->names[JoinOf(*m.algorithm.tree, step).node];
}

bool DifferInFieldsOnly(const Tree& x, const Tree& y) {
  const auto fixed = [](const Node& n, const Node& other) {
    return n.to == other.to && n.factor_nan == other.factor_nan &&
           n.invalid_nan == other.invalid_nan;
  };
  return x.code == y.code && x.names == y.names && std::ranges::equal(x.nodes, y.nodes, fixed);
}

const Tree* InternTree(Tree tree) {
  std::string key;
  const auto add = [&key](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const TreeCode& c : tree.code) add(c.push), add(c.node), add(c.index);
  for (const Node& n : tree.nodes) {
    for (const NodeField& field : NodeFields()) add(field.get(n));
    add(n.to), add(n.factor_nan), add(n.invalid_nan);
  }
  for (const std::string& name : tree.names) key += name + " ";
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::unordered_map<std::string, Tree>;
  const std::lock_guard lock(mutex);
  return &known.try_emplace(std::move(key), std::move(tree)).first->second;
}

namespace {

// The tree of these nodes, each once and in the order of their use.
Tree Merged(const Tree& tree, const std::vector<Node>& nodes) {
  Tree normal;
  for (TreeCode code : tree.code) {
    if (code.push == Push::kJoin) {
      const Node& node = nodes[code.node];
      const size_t at = std::ranges::find(normal.nodes, node) - normal.nodes.begin();
      if (at == normal.nodes.size()) {
        normal.nodes.push_back(node);
        normal.names.push_back("n" + std::to_string(at));
      }
      code.node = static_cast<uint8_t>(at);
    }
    normal.code.push_back(code);
  }
  return normal;
}

}  // namespace

Tree NormalTree(const Tree& tree) {
  const std::vector<Terms> terms = TermsOf(tree);
  std::vector<Node> nodes;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    nodes.push_back(NormalNode(tree.nodes[i], terms[i]));
  }
  return Merged(tree, nodes);
}

Tree NormalTree(const Tree& tree, const Model& m) {
  Tree in_model = tree;
  const std::vector<Terms> terms = TermsOf(tree);
  const std::vector<Met> met = MetIn(tree, m);
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    in_model.nodes[i] = NormalNode(tree.nodes[i], terms[i], met[i], m);
  }
  return NormalTree(in_model);
}

std::string WhyInvalidTree(const Model& m, const Tree& tree) {
  std::vector<int> seen(m.k);
  int depth = 0, addends = 0;
  std::vector<const Node*> stack;  // the node that gave the term; nullptr: a leaf
  std::vector<int> product;        // its k if it is a product, else -1
  for (const TreeCode& code : tree.code) {
    const Node* node = nullptr;
    int k = -1;
    if (code.push == Push::kProduct) {
      k = code.index;
      if (k >= m.k) return "there are only " + std::to_string(m.k) + " products";
      if (++seen[k] > 1) return "k" + std::to_string(k) + " is added twice";
    } else if (code.push == Push::kAddend) {
      if (++addends > 1) return "the addend c is added twice";
    } else if (code.push == Push::kJoin) {
      node = &tree.nodes[code.node];
      if (std::string why = WhyInvalidNode(m, *node); !why.empty()) {
        return "node " + tree.names[code.node] + ": " + why;
      }
      for (int i = 0; i < code.index; ++i) {
        const Node* const term = *(stack.end() - code.index + i);
        const int of = *(product.end() - code.index + i);
        const bool exact = term != nullptr && term->to == nullptr && term->fraction_bits == kExact;
        if (exact && node->fraction_bits == kExact) {
          return "node " + tree.names[code.node] +
                 ": an exact sum of exact sums is one node with all their terms";
        }
        if (node->scale == NodeScale::kNone) continue;
        const int first = *(product.end() - code.index);
        if (of < 0 || of / m.scale_block != first / m.scale_block) {
          return "node " + tree.names[code.node] +
                 ": its terms must be products that share their scales";
        }
      }
      stack.resize(stack.size() - code.index);
      product.resize(product.size() - code.index);
      depth -= code.index;
    }
    stack.push_back(node);
    product.push_back(k);
    if (++depth > kMaxTreeDepth) return "it has too many terms at once";
  }
  for (int k = 0; k < m.k; ++k) {
    if (seen[k] == 0) return "k" + std::to_string(k) + " is nowhere";
  }
  if (addends == 0 && !IsAbsent(m.c)) return "the addend c is nowhere";
  const Node* const root = stack.back();
  if (root == nullptr || root->to == nullptr)
    return "the last node needs to=" + std::string(m.d.name);
  return std::string_view(root->to->name) == m.d.name
             ? ""
             : "the last node has to=" + std::string(root->to->name) + ", but d is " + m.d.name;
}

}  // namespace mmadiff
