#include "triage/model_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "sim/absent_addend.h"
#include "sim/operation.h"
#include "sim/sparsity.h"
#include "sim/tree/tree.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {
namespace {

// As in "All 32 products are cut".
const char* Rounded(Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return "rounded to nearest even";
    case Rounding::kTowardZero:
      return "cut";
    case Rounding::kDown:
      return "rounded down";
    case Rounding::kUp:
      return "rounded up";
    case Rounding::kToOdd:
      return "rounded to odd";
    case Rounding::kNearestAway:
      return "rounded to nearest, ties away from zero";
  }
  return "?";
}

// The rounding and the width of a step's result.
std::string ToOutput(const Algorithm& alg) {
  return absl::StrCat(Rounded(alg.output_rounding), " to ", alg.output_fraction_bits,
                      " fraction bits");
}

struct Sentence {
  explicit Sentence(const Model& m) : one(OneExecution(m)), alg(one.algorithm) {}

  bool one_step() const { return alg.terms >= one.k; }

  std::string Products() const {
    if (alg.family == Family::kScaledSum && alg.group_terms > 1) {
      const std::string groups =
          absl::StrCat("products, added exactly ", alg.group_terms, " at a time and scaled,");
      return one_step() ? "All " + groups : absl::StrCat("Every ", alg.terms, " ", groups);
    }
    const char* scaled = alg.family == Family::kScaledSum ? "scaled " : "";
    if (one_step() && one.k == 1) return absl::StrCat("The ", scaled, "product");
    if (one_step())
      return absl::StrCat(one.k == 2 ? "Both " : absl::StrCat("All ", one.k, " "), scaled,
                          "products");
    const bool pairs = alg.grouping == Grouping::kPairsOfFour;
    if (alg.terms == 1) return absl::StrCat("Each ", scaled, "product");
    return absl::StrCat("Every ", alg.terms, " ", scaled, "products",
                        pairs ? " (first k = 0, 1, 4, 5, ..., then k = 2, 3, 6, 7, ...)" : "");
  }

  // The operand that joins the products of a step.
  std::string WithAddend() const {
    if (alg.addend_joins == AddendJoins::kStepsApart) return "";
    if (alg.addend_joins == AddendJoins::kLastAdd) return one_step() ? "" : " and the running sum";
    const std::string addend = Addend();
    return addend.empty() ? "" : absl::StrCat(" and ", addend);
  }

  // The addend of a step, or "".
  std::string Addend() const {
    if (no_c) return one_step() ? "" : "the running sum";
    return one_step() ? "c" : "the running sum (initially c)";
  }

  bool one_product() const { return std::min(alg.terms, one.k) == 1; }

  std::string Are() const { return WithAddend().empty() && one_product() ? " is " : " are "; }

  std::string Last() const {
    if (alg.addend_joins == AddendJoins::kStepsApart) {
      return absl::StrCat(" The results of the steps are added in sequence, ",
                          no_c ? "" : "then c, ", "each rounded to nearest even.");
    }
    if (no_c) return "";
    return alg.addend_joins == AddendJoins::kLastAdd ? " c is added last, rounded to nearest even."
                                                     : "";
  }

  std::string FusedSum() const {
    return absl::StrCat(Products(), WithAddend(), Are(), Rounded(alg.align_rounding), " to ",
                        alg.fraction_bits, " bits below the largest exponent, added exactly, and ",
                        ToOutput(alg), ".", Last());
  }

  std::string TwoStageSum() const {
    const bool apart = alg.grouping == Grouping::kEvenOdd;
    const std::string addend = Addend().empty() ? "-0" : Addend();
    return absl::StrCat(Products(), one_product() ? " is " : " are ", Rounded(alg.align_rounding),
                        " to ", alg.fraction_bits, " bits below their largest exponent and added",
                        apart ? ", even and odd k separately" : "", "; this sum and ", addend,
                        " are aligned, ", Rounded(alg.sum_rounding), ", added, ",
                        Rounded(alg.sum_rounding), " to ", alg.sum_fraction_bits,
                        " bits below the leading one, and ", ToOutput(alg), ".");
  }

  std::string FmaChain() const {
    const bool last = alg.addend_joins == AddendJoins::kLastAdd;
    const char* each = one.k == 1 ? "A fused multiply-add, " : "Fused multiply-adds, each ";
    if (one.k == 1 && !last) return absl::StrCat(no_c ? "The product, " : each, ToOutput(alg), ".");
    const bool apart = alg.grouping == Grouping::kEvenOdd;
    const char* order = alg.order == Order::kDescending ? "from the last k to the first"
                                                        : "from the first k to the last";
    return absl::StrCat(each, ToOutput(alg), ", ", order,
                        apart ? ", in one chain for even k and one for odd k" : "",
                        last   ? StartingFromZero(apart)
                        : no_c ? ", starting from -0."
                               : ", starting from c.");
  }

  // The end of a sentence about chains that c, if there is one, joins last.
  std::string StartingFromZero(bool apart) const {
    return absl::StrCat(", starting from +0", apart ? "; the two results are added" : "",
                        no_c    ? "."
                        : apart ? ", then c."
                                : "; c is added last.");
  }

  std::string PairwiseSum() const {
    const bool exact = alg.product_rounding == ProductRounding::kExact;
    const std::string leaf = exact ? "the exact sum of two products" : "each product";
    const std::string addend = Addend();
    return absl::StrCat(Products(), one_product() ? " is " : " are ",
                        alg.terms <= 2 ? "added" : "added in pairs, pairs in pairs",
                        addend.empty() ? ""
                        : no_c         ? " to "
                                       : ", then ",
                        addend, ": ", leaf, " and every sum is ", ToOutput(alg), ".",
                        no_c && alg.addend_subnormals == Subnormals::kFlushPositive
                            ? " The sum starts from +0."
                            : "");
  }

  std::string ExactSum() const {
    return absl::StrCat(Products(), WithAddend(), " are added exactly and ", ToOutput(alg), ".");
  }

  std::string IntegerDot() const {
    const char* bits =
        one.a.bits == 1
            ? (alg.bit_operation == BitOperation::kXor ? ", xors of bits," : ", ands of bits,")
            : "";
    return absl::StrCat(Products(), bits, WithAddend(), " are added exactly; a sum beyond ",
                        one.d.name,
                        alg.overflow == Overflow::kSaturate ? " saturates." : " wraps.");
  }

  std::string Conversion() const {
    const bool away = alg.output_rounding == Rounding::kNearestEven && alg.ties == Ties::kAway;
    return absl::StrCat(
        "a is ", away ? "rounded to nearest, ties away from zero," : Rounded(alg.output_rounding),
        " to ", one.d.fraction_bits, " fraction bits; ", BeyondRange(),
        alg.relu == Relu::kClamp ? "; negative numbers become +0." : ".");
  }

  // The arithmetic of the nodes of a name.
  static std::string OfNode(const Node& n, const std::string& name) {
    const std::string aligned =
        absl::StrCat(" aligns its terms and keeps ", n.fraction_bits, " bits of them");
    std::string text = name + (n.fraction_bits == kExact ? " adds exactly" : aligned);
    if (n.to == nullptr) return text + " and does not round";
    if (IsInteger(*n.to)) {
      const bool saturates = n.overflow == NodeOverflow::kSaturate;
      return absl::StrCat(text, " to ", n.to->name, saturates ? " and saturates" : " and wraps");
    }
    absl::StrAppend(&text, ", the sum is ", Rounded(n.output_rounding), " to ", n.to->name);
    if (n.output_fraction_bits == kAllBits) return text;
    return absl::StrCat(text, " with ", n.output_fraction_bits, " fraction bits");
  }

  // The fields that OfNode() leaves out, unless they have their defaults: " (word_shift=2)".
  static std::string OtherFields(const Node& n) {
    constexpr absl::string_view kSaid[] = {"fraction_bits", "output_rounding",
                                           "output_fraction_bits"};
    std::vector<std::string> others;
    for (const NodeField& field : NodeFields()) {
      if (field.get(n) == field.get(Node()) || absl::c_linear_search(kSaid, field.name)) continue;
      others.push_back(absl::StrCat(field.name, "=", ValueText(field, field.get(n))));
    }
    return others.empty() ? "" : absl::StrCat(" (", absl::StrJoin(others, ", "), ")");
  }

  std::string Tree() const {
    std::vector<std::string> nodes;
    for (size_t i = 0; i < alg.tree->nodes.size(); ++i) {
      const Node& n = alg.tree->nodes[i];
      nodes.push_back(OfNode(n, alg.tree->names[i]) + OtherFields(n));
    }
    return absl::StrCat("The sums form a ", ShapeText(*alg.tree), ": ", absl::StrJoin(nodes, "; "),
                        ".");
  }

  std::string BeyondRange() const {
    if (alg.saturation == Saturation::kAll) {
      return "larger numbers and infinities become the largest number";
    }
    if (alg.saturation == Saturation::kNumbers || one.d.nonfinite == Nonfinite::kNone) {
      return "larger numbers become the largest number";
    }
    return HasInfinity(one.d) ? "larger numbers overflow as in IEEE 754"
                              : "larger numbers become NaN";
  }

  const Model one;
  const Algorithm& alg;
  const bool no_c = HasNoAddend(one);
};

// Parameters that ModelInWords() covers, and the words that Predicate() puts around their value, if
// any.
struct Phrase {
  const char* parameter;
  const char *before = "", *behind = "";
};
constexpr Phrase kPhrases[] = {{"fraction_bits", "keeps ", " bits"},
                               {"terms", "adds ", " at a time"},
                               {"output_rounding", "rounds results ", ""},
                               {"align_rounding", "rounds aligned terms ", ""},
                               {"output_fraction_bits"},
                               {"sum_rounding", "rounds sums ", ""},
                               {"sum_fraction_bits"},
                               {"product_rounding", "has ", " products"},
                               {"overflow", "lets sums ", ""},
                               {"bit_operation", "combines bits by ", ""},
                               {"group_terms"},
                               {"order", "takes k in ", " order"},
                               {"grouping"},
                               {"addend_joins"},
                               {"ties", "rounds ties ", ""},
                               {"saturation", "saturates ", ""},
                               {"relu"}};

const Phrase* FindPhrase(Family family, const Parameter& parameter) {
  const auto is = [&](const Phrase& p) { return FindParameter(family, p.parameter) == &parameter; };
  const auto* const found = std::ranges::find_if(kPhrases, is);
  return found == std::end(kPhrases) ? nullptr : found;
}

const char* SelectionInWords(Selection selection) {
  switch (selection) {
    case Selection::kStored:
      return "Only the products of stored elements count; k numbers them from 0.";
    case Selection::kFirstsThenSeconds:
      return "Only the products of stored elements count, those that are first in their groups "
             "before the others; k numbers them from 0.";
    case Selection::kInPlace:
      return "Elements of a that are not stored count as +0.";
    case Selection::kZerosInPlace:
      return "Products of elements that are not stored count as +0.";
  }
  return "?";
}

// The most common value in the family.
int UsualValue(Family family, const Parameter& p) {
  static const auto& usual = *[] {
    auto* values = new std::array<std::map<const Parameter*, int>, kFamilyCount>;
    std::array<std::map<const Parameter*, std::map<int, int>>, kFamilyCount> counts;
    for (const Operation& op : Operations()) {
      if (op.model.algorithm.family == Family::kTree) continue;
      if (IsSparse(op.model)) continue;  // as the dense ones
      for (const Change& field : AlgorithmFields(op.model.algorithm)) {
        ++counts[static_cast<int>(op.model.algorithm.family)][field.parameter][field.value];
      }
    }
    for (int f = 0; f < kFamilyCount; ++f) {
      for (const auto& [parameter, of_value] : counts[f]) {
        const auto by_count = [](const auto& x, const auto& y) { return x.second < y.second; };
        (*values)[f][parameter] = std::ranges::max_element(of_value, by_count)->first;
      }
    }
    return values;
  }();
  const auto& of_family = usual[static_cast<int>(family)];
  const auto found = of_family.find(&p);
  return found == of_family.end() ? 0 : found->second;
}

}  // namespace

std::string ModelInWords(const Model& model) {
  if (IsSparse(model)) {
    return absl::StrCat(SelectionInWords(model.algorithm.selection), " ",
                        ModelInWords(SelectedModel(model)));
  }
  const Sentence words(model);
  switch (model.algorithm.family) {
    case Family::kFmaChain:
      return words.FmaChain();
    case Family::kPairwiseSum:
      return words.PairwiseSum();
    case Family::kFusedSum:
    case Family::kScaledSum:
      return words.FusedSum();
    case Family::kExactSum:
      return words.ExactSum();
    case Family::kTwoStageSum:
      return words.TwoStageSum();
    case Family::kIntegerDot:
      return words.IntegerDot();
    case Family::kConversion:
      return words.Conversion();
    case Family::kTree:
      return words.Tree();
    case Family::kNone:
      break;
  }
  return "Its arithmetic is unknown.";
}

std::string DescribeModel(const Model& model) {
  const Family family = model.algorithm.family;
  std::vector<Change> unusual = AlgorithmFields(model.algorithm);
  std::erase_if(unusual, [&](const Change& c) {
    if (family == Family::kTree) return c.parameter->field != nullptr || c.value == 0;
    return FindPhrase(family, *c.parameter) != nullptr ||
           c.value == UsualValue(family, *c.parameter);
  });
  if (unusual.empty()) return ModelInWords(model);
  return absl::StrCat(ModelInWords(model), " Other parameters: ", Name(unusual), ".");
}

std::vector<Change> ReportedFields(const Model& model) {
  const Algorithm& a = model.algorithm;
  const std::vector<Change> usual = AlgorithmFields(a);
  const Parameter* const selection =
      IsSparse(model) ? FindParameter(a.family, "selection") : nullptr;
  std::vector<Change> fields = SearchedFields(a);
  std::erase_if(fields, [&](const Change& c) {
    return c.parameter != selection && !absl::c_linear_search(usual, c);
  });
  return fields;
}

std::string Describe(const Model& model) {
  const Algorithm& a = model.algorithm;
  if (!IsSparse(model) || a.family == Family::kTree) return Describe(a);
  const auto name = [](std::string* out, const Change& c) { out->append(Name(c)); };
  return absl::StrCat(Name(a.family), "(", absl::StrJoin(ReportedFields(model), ", ", name), ")");
}

std::string Predicate(const Algorithm& algorithm, const Parameter& parameter) {
  const std::string value = ValueText(parameter, parameter.get(algorithm));
  if (!HasWords(algorithm.family, parameter))
    return absl::StrCat("has ", parameter.name, "=", value);
  const Phrase& phrase = *FindPhrase(algorithm.family, parameter);
  return absl::StrCat(phrase.before, value, phrase.behind);
}

bool HasWords(Family family, const Parameter& parameter) {
  const Phrase* phrase = FindPhrase(family, parameter);
  return phrase != nullptr && *phrase->before != '\0';
}

}  // namespace mmadiff
