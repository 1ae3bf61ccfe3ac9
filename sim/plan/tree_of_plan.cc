#include "sim/plan/tree_of_plan.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/parameter.h"
#include "sim/plan/convert.h"
#include "sim/plan/order.h"
#include "sim/reading.h"
#include "sim/tree/tree_of.h"

namespace mmadiff {
namespace {

using Ks = std::vector<int64_t>;

Ks KsOf(const Pieces& pieces) {
  Ks ks;
  for (const Piece& piece : pieces) {
    for (int64_t k = piece.first; k < piece.end; ++k) ks.push_back(k);
  }
  return ks;
}

bool SameName(const Format& x, const Format& y) { return std::string_view(x.name) == y.name; }

// Why no tree gives what the model gives; empty if one does.
std::string WhyNoTree(const Model& m) {
  if (m.executions != 1) return "is a chain of instructions itself";
  if (m.algorithm.far_product != FarProduct::kExact) return "has far products";
  if (m.algorithm.pair_sum != PairSum::kExact) return "adds pairs in 16 bits";
  if (!SameName(m.c, m.d)) return "has results that are not in the format of its addend";
  if (m.algorithm.addend_reading != Reading::kAsIs) return "reads its addend by a rule";
  return "";
}

// Whether the word +0 of an operand is read as another number.
bool ChangesZero(const Model& m, ReadOperand operand) {
  const Format& format = FormatOf(m, operand);
  return std::ranges::any_of(kReadingMembers, [&](const ReadingMember& r) {
    const Reading reading = m.algorithm.*r.member;
    if ((r.operands & Bit(operand)) == 0 || reading == Reading::kAsIs) return false;
    return WordRead(reading, format, 0) != 0 || !FormatRead(reading, format).has_zero;
  });
}

bool ReadsScales(const Algorithm& a) {
  return a.scale_reading != Reading::kAsIs || a.a_scale_reading != Reading::kAsIs ||
         a.b_scale_reading != Reading::kAsIs;
}

// Why missing products, +0 times +0 under scales of 1, are not the term +0; empty if they are.
std::string WhyNotZero(const Model& m, const Tree& tree) {
  if (ChangesZero(m, ReadOperand::kA) || ChangesZero(m, ReadOperand::kB)) {
    return "reads +0 as another number";
  }
  if (ReadsScales(m.algorithm)) return "reads scales by a rule";
  const int least = m.a.min_exponent + m.b.min_exponent;  // the exponent of a zero product
  const bool scaled =
      std::ranges::any_of(tree.nodes, [](const Node& n) { return n.scale != NodeScale::kNone; });
  for (const Node& n : tree.nodes) {
    const bool offers = n.zero_product == ZeroOffers::kExponent && n.exponent_floor < least;
    if (offers && (n.fraction_bits != kExact || n.to == nullptr)) {
      return "aligns terms by the exponents of zero products";
    }
    if (!scaled || n.to == nullptr) continue;
    // A group without its missing products must not matter as a zero or a NaN.
    if (n.zero_sign != NodeZero::kPositive) return "keeps the sign of a zero under scales";
    if (n.nan_rule != NodeNan::kAllOnes && n.nan_rule != NodeNan::kQuietPositive) {
      return "has several NaNs under scales";
    }
  }
  return "";
}

// The nodes of a tree under construction. Equal rules are one.
class Rules {
 public:
  explicit Rules(Tree& tree) : tree_(tree) {}

  int Add(const std::string& name, const Node& node) {
    const auto same = std::ranges::find(tree_.nodes, node);
    if (same != tree_.nodes.end()) return static_cast<int>(same - tree_.nodes.begin());
    std::string unique = name;
    for (int i = 2; std::ranges::find(tree_.names, unique) != tree_.names.end(); ++i) {
      unique = name + std::to_string(i);
    }
    tree_.names.push_back(unique);
    tree_.nodes.push_back(node);
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  // The root of another tree with its rules here; its main rule gets the name, if it is not empty.
  Branch Import(const Tree& from, const std::string& name) {
    Branch root = RootOf(from);
    const int main = root.index;
    std::vector<int> rules;
    for (size_t i = 0; i < from.nodes.size(); ++i) {
      const bool renamed = static_cast<int>(i) == main && !name.empty();
      rules.push_back(Add(renamed ? name : from.names[i], from.nodes[i]));
    }
    Renumber(rules, root);
    return root;
  }

 private:
  static void Renumber(const std::vector<int>& rules, Branch& branch) {
    if (branch.push == Push::kJoin) branch.index = rules[branch.index];
    for (Branch& term : branch.terms) Renumber(rules, term);
  }

  Tree& tree_;
};

const Tree& TreeOfModel(const Model& m) {
  return m.algorithm.family == Family::kTree ? *m.algorithm.tree : *TreeOf(m).algorithm.tree;
}

// Nodes that differ only in fields that cannot change a result become one, with the first name.
Tree Merged(const Tree& tree) {
  Tree merged = NormalTree(tree);
  std::vector<size_t> first(merged.nodes.size(), tree.nodes.size());
  for (size_t i = 0; i < tree.code.size(); ++i) {
    if (tree.code[i].push != Push::kJoin) continue;
    size_t& node = first[merged.code[i].node];
    node = std::min<size_t>(node, tree.code[i].node);
  }
  for (size_t i = 0; i < first.size(); ++i) merged.names[i] = tree.names[first[i]];
  return merged;
}

class Builder {
 public:
  Builder(const Plan& plan, const PlanFactors& factors)
      : plan_(plan),
        factors_(factors),
        one_(plan.operation->model),
        d_(NodeFormat(one_.d.name)),
        adder_(MultiplyAddOf(*plan.operation)),
        rules_(tree_) {}

  std::optional<Model> Build(int k, std::string* why) {
    Begin();
    Branch root = why_.empty() ? Result(SumOf(plan_.stages.size(), {{0, k}})) : Branch();
    if (why_.empty()) {
      tree_.code = CodeOf(root);
      const Model m = ModelOf(k);
      if (why_.empty()) return m;
    }
    *why = why_;
    return std::nullopt;
  }

 private:
  void Fail(const std::string& why) {
    if (why_.empty()) why_ = why;
  }

  // Reads the trees of the operation and of additions.
  void Begin() {
    if (std::string why = WhyNoTree(one_); !why.empty()) {
      return Fail(plan_.operation->name + " " + why);
    }
    const auto unfuses = [](const PlanStage& s) { return s.tail_unfused; };
    const bool tail = std::ranges::any_of(plan_.stages, unfuses);
    why_not_zero_ = WhyNotZero(one_, TreeOfModel(one_));
    operation_ = rules_.Import(TreeOfModel(plan_.unfused ? UnfusedOf(one_) : one_), "");
    unfused_ = tail ? rules_.Import(TreeOfModel(UnfusedOf(one_)), "") : operation_;
    if (IsInteger(one_.d)) return;
    join_ = rules_.Import(TreeOfModel(adder_), "join");
    const Node& join = tree_.nodes[join_.index];
    nan_rule_ = join.nan_rule;
    // Else x * 1 would not be x.
    if (adder_.algorithm.input_subnormals != Subnormals::kKeep ||
        join.output_subnormals != Subnormals::kKeep) {
      Fail("additions flush subnormals");
    }
  }

  Model ModelOf(int k) {
    Model m = one_;
    const bool reads_c = std::ranges::count(tree_.code, Push::kAddend, &TreeCode::push) > 0;
    m.k = k;
    m.c = reads_c ? one_.d : kAbsent;
    m.d = *plan_.epilogue.format;
    m.algorithm = {.family = Family::kTree,
                   .input_subnormals = one_.algorithm.input_subnormals,
                   .bit_operation = one_.algorithm.bit_operation};
    CopyReadings(one_.algorithm, m.algorithm);
    if (tree_.code.size() > kMaxTreeCode) {
      Fail("its tree has " + std::to_string(tree_.code.size()) +
           " terms and sums; a tree has at most " + std::to_string(kMaxTreeCode));
      return m;
    }
    const Tree merged = Merged(tree_);
    if (merged.nodes.size() > kMaxTreeNodes) {
      Fail("its tree has " + std::to_string(merged.nodes.size()) + " kinds of nodes; at most " +
           std::to_string(kMaxTreeNodes) + " are possible");
      return m;
    }
    m.algorithm.tree = InternTree(merged);
    Fail(WhyInvalid(m));
    return m;
  }

  static Branch Join(int rule, std::vector<Branch> terms) {
    return {Push::kJoin, rule, std::move(terms)};
  }

  // The format of a word; nullptr: +0, which every format has.
  const Format* FormatOf(const Branch& word) const {
    if (word.push == Push::kZero) return nullptr;
    return word.push == Push::kJoin ? tree_.nodes[word.index].to : d_;
  }

  // A sum rounded to a format of joins. It stays a word of that format if sums hold its numbers.
  Branch Rounded(const Format* to, Branch word) {
    const Format* const from = FormatOf(word);
    const bool changes = to != nullptr && !Holds(*to, *d_);
    if (!changes || from == nullptr || SameName(*from, *to)) return word;
    word = Converted(NodeFormat(to->name), std::move(word));
    return Holds(*d_, *to) ? word : Converted(d_, std::move(word));
  }

  // A word of another format, rounded as Convert() does.
  Branch Converted(const Format* to, Branch word) {
    Node node = {.to = to};
    node.nan_rule = nan_rule_;
    if (to->bits == 8) {  // saturates
      node.nan_rule = NodeNan::kAllOnes;
      node.overflow = NodeOverflow::kSaturate;
      if (HasInfinity(*to)) word = Join(rules_.Add("clamp", Clamp()), {std::move(word)});
    }
    return Join(rules_.Add(std::string("to_") + to->name, node), {std::move(word)});
  }

  // Makes infinity a number, before a format that would keep it. Rounding to odd leaves the next
  // rounding as it is.
  static Node Clamp() {
    Node clamp = {.to = NodeFormat("e7m23fn")};
    clamp.output_rounding = Rounding::kToOdd;
    clamp.overflow = NodeOverflow::kSaturate;
    return clamp;
  }

  // The addend of the operation: a word of its format.
  Branch Addend(Branch word) {
    const Format* const from = FormatOf(word);
    if (from != nullptr) return SameName(*from, *d_) ? word : Converted(d_, std::move(word));
    return ZeroWordsOffer() ? Join(rules_.Add("zero", {.to = d_}), {std::move(word)}) : word;
  }

  // Whether a word +0 may offer an exponent, as the leaf 0 never does.
  bool ZeroWordsOffer() const {
    return std::ranges::any_of(tree_.nodes,
                               [](const Node& n) { return n.zero_word == ZeroOffers::kExponent; });
  }
  static bool IsZero(const Branch& term) { return term.push == Push::kZero; }

  // ---- Executions of the operation.

  // Whether the term has only missing products: positions from `count` on in an execution.
  bool IsMissing(const Branch& term, size_t count) const {
    if (term.push == Push::kProduct) return static_cast<size_t>(term.index) >= count;
    if (term.push != Push::kJoin || tree_.nodes[term.index].scale == NodeScale::kNone) return false;
    return std::ranges::all_of(term.terms, [&](const Branch& t) { return IsMissing(t, count); });
  }

  // The number of terms +0 in place of missing products of a node.
  static size_t ZerosFor(const Node& n, size_t missing, size_t terms) {
    if (n.ones_complement) return missing;  // a zero of another sign counts
    if (n.scale != NodeScale::kNone) return 0;
    const bool positive =
        n.zero_sign == NodeZero::kPositive || n.zero_sign == NodeZero::kSumPositive;
    const bool acts = terms == 0 || n.to == nullptr || (!positive && !IsInteger(*n.to));
    return acts ? std::min<size_t>(missing, 1) : 0;
  }

  // One execution: the operation's products are those of these k, its addend is `sum`.
  Branch Executed(const Branch& of, std::span<const int64_t> ks, Branch& sum) {
    if (of.push == Push::kProduct) return {Push::kProduct, static_cast<int>(ks[of.index])};
    if (of.push == Push::kAddend) return std::move(sum);
    if (of.push == Push::kZero) return of;
    const Node& n = tree_.nodes[of.index];
    Branch join = Join(of.index, {});
    size_t missing = 0;
    bool after_missing = false;  // a product comes after a missing one
    for (const Branch& term : of.terms) {
      const bool misses = IsMissing(term, ks.size());
      missing += misses;
      after_missing |= !misses && missing > 0 && term.push == Push::kProduct;
      if (!misses) join.terms.push_back(Executed(term, ks, sum));
    }
    if (after_missing && n.nan_rule == NodeNan::kPropagateBca) {
      Fail("the first product of a node decides which NaN is kept, and one is missing");
    }
    for (size_t zeros = ZerosFor(n, missing, join.terms.size()); zeros > 0; --zeros) {
      join.terms.push_back({Push::kZero});
    }
    // A word that is +0 is the leaf 0, unless it offers an exponent.
    const bool is_zero =
        n.to != nullptr && !ZeroWordsOffer() && std::ranges::all_of(join.terms, IsZero);
    return is_zero ? Branch{Push::kZero} : join;
  }

  // Whether the k of each block of scales have one scale.
  void CheckScales(std::span<const int64_t> ks) {
    const size_t block = one_.scale_block;
    for (size_t i = 0; block != 0 && i < ks.size(); ++i) {
      if (ks[i] / one_.scale_block != ks[i / block * block] / one_.scale_block) {
        return Fail("a range takes a block of scales apart");
      }
    }
  }

  // The sum plus the products with these k, execution by execution.
  Branch WithProducts(Branch sum, const Pieces& pieces, bool unfused) {
    const Ks ks = KsOf(pieces);
    const Branch& operation = unfused ? unfused_ : operation_;
    for (size_t i = 0; i < ks.size(); i += one_.k) {
      const size_t count = std::min<size_t>(one_.k, ks.size() - i);
      const std::span<const int64_t> these(ks.data() + i, count);
      if (count < static_cast<size_t>(one_.k) && !why_not_zero_.empty()) {
        Fail(plan_.operation->name + " has missing products, and " + why_not_zero_);
      }
      CheckScales(these);
      Branch addend = Addend(std::move(sum));
      sum = Executed(operation, these, addend);
    }
    return sum;
  }

  Branch ChainOf(const Pieces& ks) {
    Branch sum = {plan_.from_c ? Push::kAddend : Push::kZero};
    const int64_t count = CountOf(ks), residue = plan_.residue;
    int64_t first = 0;
    if (residue != 0) {
      first = std::min(count % residue == 0 ? residue : count % residue, count);
      sum = WithProducts(std::move(sum), Slice(ks, 0, first), false);
    }
    return WithProducts(std::move(sum), Slice(ks, first, count), false);
  }

  // ---- Stages.

  Branch SumOf(size_t stages, const Pieces& ks) {
    if (stages == 0) return ChainOf(ks);
    const PlanStage& stage = plan_.stages[stages - 1];
    if (stage.tail != 0) return WithTail(stages, ks);
    const std::vector<Pieces> ranges = PartsOf(stage.range, ks);
    if (ranges.empty()) return BeginsWithC(stage.join) ? Start(stage.join) : ChainOf(ks);
    std::vector<Branch> parts;
    for (const Pieces& range : ranges) {
      parts.push_back(Rounded(stage.join.as, SumOf(stages - 1, range)));
    }
    if (IsInteger(*d_)) return IntegerSum(std::move(parts));
    if (stage.join.kind == PlanJoin::Kind::kTree || stage.join.kind == PlanJoin::Kind::kPairs) {
      const bool strided = stage.range.kind == PlanRange::Kind::kStrided;
      const int64_t places = strided ? stage.range.count : std::ssize(parts);
      return TreeSum(stage.join, std::move(parts), places);
    }
    return InOrder(stage.join, std::move(parts));
  }

  Branch WithTail(size_t stages, const Pieces& ks) {
    const PlanStage& stage = plan_.stages[stages - 1];
    const int64_t count = CountOf(ks), first = count - count % stage.tail;
    Branch sum = SumOf(stages - 1, Slice(ks, 0, first));
    return WithProducts(std::move(sum), Slice(ks, first, count), stage.tail_unfused);
  }

  // Joins of integers wrap.
  Branch IntegerSum(std::vector<Branch> parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    return Join(rules_.Add("join", {.to = d_}), std::move(parts));
  }

  // x * 1 + y, as the multiply-add of joins does it.
  Branch Sum(Branch x, Branch y) const {
    const auto copy = [&](const auto& self, const Branch& of) -> Branch {
      if (of.push == Push::kProduct) return std::move(x);
      if (of.push == Push::kAddend) return std::move(y);
      Branch join = Join(of.index, {});
      for (const Branch& term : of.terms) join.terms.push_back(self(self, term));
      return join;
    };
    return copy(copy, join_);
  }

  Branch C() { return {Push::kAddend}; }

  void CheckFactors(bool alpha, bool beta) {
    constexpr char kNoNode[] = ", and no node multiplies a sum";
    if (alpha && !factors_.alpha) Fail(std::string("alpha multiplies sums") + kNoNode);
    if (beta && !factors_.beta) Fail(std::string("beta multiplies c") + kNoNode);
  }

  void CheckJoin(const PlanJoin& join) {
    using enum PlanJoin::Kind;
    using enum PlanJoin::Start;
    if (IsScaled(join)) Fail("scales multiply sums, and no node does");
    CheckFactors(join.kind == kAlpha || join.kind == kFusedAlpha,
                 join.start == kBetaC || join.start == kFusedBetaC);
  }

  Branch Start(const PlanJoin& join) {
    CheckJoin(join);
    return BeginsWithC(join) ? Rounded(join.held, C()) : Branch{Push::kZero};
  }

  Branch InOrder(const PlanJoin& join, std::vector<Branch> parts) {
    const bool from_first =
        join.kind == PlanJoin::Kind::kAdd && join.start == PlanJoin::Start::kDefault;
    const bool fused = join.start == PlanJoin::Start::kFusedBetaC;
    Branch total = Start(join);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0 && from_first) {
        total = std::move(parts[0]);
      } else if (i == 0 && fused) {
        total = Sum(C(), std::move(parts[0]));
      } else {
        total = Sum(std::move(parts[i]), std::move(total));
      }
      total = Rounded(join.held, std::move(total));
    }
    return total;
  }

  Branch TreeSum(const PlanJoin& join, std::vector<Branch> parts, int64_t places) {
    const std::vector<TreeStep> steps = TreeStepsOf(join, places);
    const int64_t count = std::ssize(parts);
    const auto node = [&](const auto& self, size_t level, int64_t i) -> Branch {
      if (level == 0) return std::move(parts[i]);
      Branch sum = self(self, level - 1, i);
      const int64_t right = i + steps[level - 1].distance;
      if (right >= std::min(steps[level - 1].places, count)) return sum;
      return Rounded(join.held, Sum(std::move(sum), self(self, level - 1, right)));
    };
    return node(node, steps.size(), 0);
  }

  // ---- From the sum to D.

  Branch Result(Branch sum) {
    const Epilogue& e = plan_.epilogue;
    if (e.scales != Epilogue::Scales::kNone) Fail("scales multiply the sum, and no node does");
    if (e.bias) Fail("a bias is a second addend");
    CheckFactors(e.alpha, e.beta);
    if (e.beta) {
      sum = e.fused == Epilogue::Fused::kBeta ? Sum(C(), std::move(sum)) : Sum(std::move(sum), C());
    }
    const Format* const from = FormatOf(sum);
    if (from == nullptr || SameName(*from, *e.format)) return sum;
    return Converted(NodeFormat(e.format->name), std::move(sum));
  }

  const Plan& plan_;
  const PlanFactors factors_;
  const Model& one_;
  const Format* const d_;  // of sums
  const Model adder_;
  Tree tree_;
  Rules rules_;
  Branch operation_, unfused_, join_;  // of one execution, of one addition
  NodeNan nan_rule_ = NodeNan::kAllOnes;
  std::string why_not_zero_;  // of missing products
  std::string why_;
};

}  // namespace

std::optional<Model> TreeOfPlan(const Plan& plan, int64_t k, std::string* why,
                                const PlanFactors& factors) {
  const int64_t kept = plan.cut == 0 ? k : k / plan.cut * plan.cut;
  const int64_t block = plan.operation->model.scale_block;
  if (kept < 1) {
    *why = "it has no products";
  } else if (kept > kMaxK) {
    *why =
        "it has " + std::to_string(kept) + " products; a tree has at most " + std::to_string(kMaxK);
  } else if (block != 0 && kept % block != 0) {
    *why = std::to_string(block) + " products share a scale, and k is not a multiple of it";
  } else {
    return Builder(plan, factors).Build(static_cast<int>(kept), why);
  }
  return std::nullopt;
}

}  // namespace mmadiff
