#include "triage/infer/inference_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/line_protocol.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/tree/tree_text.h"
#include "triage/case_text.h"
#include "triage/infer/experiments.h"
#include "triage/infer/masks.h"
#include "triage/infer/stored_products.h"
#include "triage/model_device.h"
#include "triage/model_words.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxRows = 4;   // rows of the table that are named
constexpr size_t kFewOf = 200;   // up to one in this many answers counts as few
constexpr size_t kMaxPairs = 8;  // changes of two parameters that are named

// "3, 5..9, none": numbers as ranges.
std::string Ranges(const Parameter& p, std::vector<int> values) {
  std::ranges::sort(values);
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    while (p.values.empty() && end < values.size() && values[end] == values[end - 1] + 1 &&
           values[i] != kNoFloor) {
      ++end;
    }
    parts.push_back(
        end - i < 3 ? ValueText(p, values[i])
                    : absl::StrCat(ValueText(p, values[i]), "..", ValueText(p, values[end - 1])));
    i = end - i < 3 ? i + 1 : end;
  }
  return absl::StrJoin(parts, ", ");
}

std::string TreeLine(const Operation& op, const Inference& inference) {
  const Structure& structure = *inference.structure;
  if (!structure.tree) return absl::StrCat("not observed: ", structure.why_not);
  return absl::StrCat(TreeText(*structure.tree, StoredProducts(op).model.k),
                      structure.sampled ? " (not all pairs of terms were tested)" : "",
                      inference.shared_exponents.empty()
                          ? ""
                          : " (may show the groups that share exponents instead of the additions)");
}

struct ExperimentWords {
  const char *name, *words;
};
constexpr ExperimentWords kOtherExperiments[] = {
    {"masks", "which terms are lost next to large ones"},
    {"nodes", "each addition of the tree on its own"},
    {"tree nodes", "large terms, ties and small terms in each addition"},
    {"tree leaves", "each term with all of its bits"},
    {"tree sums", "some or all terms of any bits"},
    {"tree smaller", "cases that an earlier tree did not give, made smaller"},
    {"rounding", "sums and products that round once"},
    {"shared exponents", "small elements beside a large one that is multiplied by zero"},
    {"recorded", "the recorded answers"}};

// Describes an experiment; a name not listed here is a class of the generator.
std::string InWords(const std::string& experiment) {
  for (const Experiment& e : Experiments()) {
    if (experiment == e.name) return e.shows;
  }
  for (const ExperimentWords& e : kOtherExperiments) {
    if (experiment == e.name) return e.words;
  }
  return absl::StrCat("cases of class ", experiment);
}

std::string AllInWords(const std::vector<std::string>& experiments) {
  return absl::StrJoin(experiments, "; ",
                       [](std::string* out, const std::string& e) { out->append(InWords(e)); });
}

// `Labelled()` lines, one after the other.
class Lines {
 public:
  explicit Lines(size_t width) : width_(width) {}

  void Add(absl::string_view label, absl::string_view text) {
    Append(Labelled(label, text, width_));
  }
  void Append(absl::string_view lines) { absl::StrAppend(&text_, lines); }
  size_t width() const { return width_; }
  const std::string& text() const { return text_; }

 private:
  const size_t width_;
  std::string text_;
};

void AddFound(const Operation& op, const Inference& inference, Lines& lines) {
  const Algorithm& a = *inference.algorithm;
  std::string parameters = Describe(WithAlgorithm(op, a));
  if (const Parameter* p = FindParameter(a.family, "nan_rule"); inference.nan_unknown && p) {
    parameters =
        absl::StrReplaceAll(parameters, {{Name(Change{p, p->get(a)}), "nan_rule=unknown"}});
  }
  lines.Add("model    ", ModelInWords(WithAlgorithm(op, a)));
  if (a.family == Family::kTree) {
    for (const std::string& line : TreeLines(*a.tree)) lines.Add("tree     ", line);
  } else {
    lines.Add("row      ", parameters);
  }
  lines.Add("         ",
            absl::StrCat(
                inference.answers.size() == 1
                    ? "reproduces the one answer"
                    : absl::StrCat("reproduces all ", inference.answers.size(), " answers"),
                inference.asked == 0       ? ""
                : inference.validated == 0 ? "; not validated on generated cases"
                                           : absl::StrCat(" and ", inference.validated,
                                                          " generated dot products of every class"),
                inference.nan_unknown ? "; except for NaN bits, which no rule reproduces" : ""));
  const std::vector<const Operation*> same = SameRows(op, a);
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(same.size(), kMaxRows); ++i) names.push_back(same[i]->name);
  const std::string more =
      same.size() > kMaxRows ? absl::StrCat(" and ", same.size() - kMaxRows, " more") : "";
  if (!names.empty()) {
    lines.Add("same as  ", absl::StrJoin(names, ", ") + more);
  } else if (const std::string near = NearestRow(op, a); !near.empty()) {
    lines.Add("near     ", near);
  }
  for (const Fixed& f : inference.fixed) {
    const bool proved = std::ranges::any_of(inference.undetermined, [&](const Undetermined& u) {
      return u.changes.front().parameter == f.value.parameter;
    });
    const char* or_below = proved ? " (or an equivalent value listed below)" : "";
    lines.Add("fixed    ",
              absl::StrCat(Name(f.value), or_below, "; shown by: ", AllInWords(f.experiments)));
  }
  for (const Algorithm& other : inference.also) {
    lines.Add("open     ", absl::StrCat("another family also reproduces all answers: ",
                                        Describe(WithAlgorithm(op, other))));
  }
  for (const UndeterminedValues& u : Summary(inference)) {
    lines.Add(
        u.proved ? "equal    " : "open     ",
        absl::StrCat(u.values, u.proved ? ": no input distinguishes them, because " : ": ", u.why));
  }
}

// About the few answers that the nearest does not reproduce.
std::string FewText(const Operation& op, const Inference& inference) {
  if (inference.asked == 0) {
    return "so few misses may be wrong answers of the device or in the recording, not its "
           "arithmetic";
  }
  const char* const few = inference.nearest.missed == 1 ? "one" : "few";
  if (!inference.missed_repeat) {
    return absl::StrCat("the ", few,
                        " that this model misses were not asked again, so they may be "
                        "wrong answers of the device; a larger --budget decides");
  }
  const Model nearest = WithAlgorithm(op, inference.nearest.algorithm);
  const auto has_nan = [&](const ExperimentAnswer& a) {
    const Observed& o = a.observed;
    return Fits(op, nearest, o) || IsNan(nearest.d, o.d) ||
           IsNan(nearest.d, Simulate(nearest, o.dot));
  };
  return absl::StrCat(
      "the device repeats the ", few, " that this model misses: its arithmetic has a special case",
      std::ranges::all_of(inference.answers, has_nan) ? " for NaNs" : "", " or a permanent fault",
      IsModelled(op) ? "; `run` finds what their operands share" : "");
}

void AddNotFound(const Operation& op, const Inference& inference, Lines& lines) {
  const size_t answers = inference.answers.size();
  const bool searched = inference.nearest.algorithm.family != Family::kNone;
  lines.Add("row      ",
            answers == 0                    ? "none: there are no answers"
            : !inference.stochastic.empty() ? "none: no family of algorithms rounds like this"
            : !inference.shared_exponents.empty()
                ? "none: no family of algorithms has shared exponents"
            : !searched ? "none: stopped before the search began"
                        : "none: no algorithm of any family reproduces all answers that repeat");
  for (const std::string& line : NodeLines(inference.nodes, StoredProducts(op).model.k)) {
    lines.Add("node     ", absl::StrCat("sums, ", line));
  }
  for (const StochasticRounding& rounding : inference.stochastic) {
    const char* label = "rounding ";
    for (const std::string& line : StochasticLines(rounding)) {
      lines.Add(std::exchange(label, "         "), line);
    }
  }
  for (const SharedExponent& shared : inference.shared_exponents) {
    lines.Add("exponent ", SharedExponentText(shared));
  }
  if (!inference.operands.empty()) lines.Add("operands ", inference.operands);
  if (!searched) return;
  lines.Add("nearest  ",
            absl::StrCat(Describe(WithAlgorithm(op, inference.nearest.algorithm)), " reproduces ",
                         answers - inference.nearest.missed, " of ", answers));
  if (inference.nearest.missed <= answers / kFewOf) {
    lines.Add("         ", FewText(op, inference));
  }
  if (!inference.refuting) return;
  const Observed& o = *inference.refuting;
  const uint64_t nearest = Simulate(WithAlgorithm(op, inference.nearest.algorithm), o.dot);
  lines.Add(
      "refuted  ",
      absl::StrCat("the nearest model is refuted by this case: the device answers ",
                   HexFloat(op.model.d, o.d), ", this model ", HexFloat(op.model.d, nearest)));
  lines.Append(CaseText(op, o.dot, 9, lines.width()));
  lines.Add("         ", absl::StrCat("as a line: ", FormatLine(*op.instruction, o.dot, o.d)));
}

void AddRefuted(const Inference& inference, Lines& lines) {
  for (const Refuted& r : inference.refuted) {
    lines.Add("not      ",
              absl::StrCat(Name(r.nearest.family), ": the best candidate misses ", r.missed, " of ",
                           inference.answers.size(),
                           " answers; experiment of the first one: ", InWords(r.experiment)));
  }
}

// The table's model; if possible, only its difference from the inferred one.
std::string TableText(const Operation& op, const Inference& inference) {
  const Algorithm& own = op.model.algorithm;
  std::vector<Change> changes;
  if (inference.algorithm) changes = ChangesBetween(*inference.algorithm, own).value_or(changes);
  return absl::StrCat("mmadiff's own model of this instruction ", changes.empty() ? "is " : "has ",
                      changes.empty() ? Describe(op.model) : Name(changes));
}

}  // namespace

std::vector<UndeterminedValues> Summary(const Inference& inference) {
  std::vector<UndeterminedValues> all;
  if (!inference.algorithm) return all;
  std::map<std::pair<const Parameter*, std::string>, std::vector<int>> singles;
  std::vector<std::string> pairs;
  for (const Undetermined& u : inference.undetermined) {
    if (u.changes.size() == 1) {
      singles[{u.changes[0].parameter, u.proof}].push_back(u.changes[0].value);
    } else {
      pairs.push_back(Name(u.changes));
    }
  }
  for (const auto& [of, values] : singles) {
    const auto& [p, proof] = of;
    all.push_back({absl::StrCat(p->name, "=", Ranges(*p, values)),
                   !proof.empty() ? proof
                   : inference.asked == 0
                       ? "not distinguished by the recorded answers"
                       : "not distinguished by any case tried, and not proved equivalent",
                   !proof.empty()});
  }
  std::ranges::stable_sort(all, {}, [](const UndeterminedValues& u) { return u.proved; });
  if (!pairs.empty()) {
    const size_t more = pairs.size() > kMaxPairs ? pairs.size() - kMaxPairs : 0;
    pairs.resize(pairs.size() - more);
    all.push_back(
        {absl::StrCat(absl::StrJoin(pairs, "; "),
                      more == 0 ? "" : absl::StrCat(" and ", more, " more")),
         "two changes at once; not distinguished by any case tried, and not proved equivalent",
         false});
  }
  return all;
}

std::vector<const Operation*> SameRows(const Operation& op, const Algorithm& algorithm) {
  const Model model = WithAlgorithm(op, algorithm);
  std::vector<const Operation*> same;
  for (const Operation& other : Operations()) {
    if (SameModel(model, other.model)) same.push_back(&other);
  }
  return same;
}

std::string NearestRow(const Operation& op, const Algorithm& algorithm) {
  if (algorithm.family == Family::kTree) return "";  // nodes of other trees are not its own
  const Model model = WithAlgorithm(op, algorithm);
  std::string nearest;
  size_t least = SIZE_MAX;
  for (const Operation& other : Operations()) {
    if (other.model.algorithm.family != algorithm.family) continue;
    if (!SameModel(model, WithAlgorithm(other, algorithm))) continue;  // other formats
    const std::vector<Change> changes = *ChangesBetween(other.model.algorithm, algorithm);
    if (changes.size() >= least) continue;
    least = changes.size();
    nearest = absl::StrCat(other.name, ":", absl::StrReplaceAll(Name(changes), {{" ", ","}}));
  }
  return nearest;
}

bool ContradictsTable(const Operation& op, const Inference& inference) {
  return IsModelled(op) && !std::ranges::all_of(inference.answers, [&](const ExperimentAnswer& a) {
           return Fits(op, op.model, a.observed);
         });
}

std::string NodeText(const Inference& inference, const SummationTree& node) {
  const auto measured = std::ranges::find(inference.nodes, node, &NodeWidth::node);
  if (measured != inference.nodes.end() && measured->kept) return WidthText(*measured);
  if (!inference.algorithm || inference.algorithm->family == Family::kTree) return "";
  const Algorithm& a = *inference.algorithm;
  const auto value = [&](const char* name, const char* other) {
    const Parameter* p = FindParameter(a.family, name);
    if (p == nullptr) p = FindParameter(a.family, other);
    return p == nullptr ? "?" : ValueText(*p, p->get(a));
  };
  return absl::StrCat(value("fraction_bits", "output_fraction_bits"), " bits, ",
                      value("align_rounding", "output_rounding"), " (row)");
}

namespace {

// The tree of the table's model, found like a device's.
std::string OwnTree(const Operation& op) {
  ModelDevice device(op.model);
  Asker asker(device, op, InferOptions().budget);
  const absl::StatusOr<Structure> structure = FindStructure(asker);
  return structure.ok() && structure->tree ? TreeText(*structure->tree, StoredProducts(op).model.k)
                                           : "";
}

}  // namespace

std::string InferenceClue(const Operation& op, const Inference& inference) {
  const Algorithm& own = op.model.algorithm;
  std::string text;
  if (inference.structure && inference.structure->tree) {
    const std::string tree = TreeText(*inference.structure->tree, StoredProducts(op).model.k);
    if (tree != OwnTree(op)) text = absl::StrCat("the sum is ", tree);
  }
  const char* const then = text.empty() ? "" : "; ";
  if (!inference.algorithm) {
    if (!inference.stochastic.empty()) {
      const bool changes = std::ranges::any_of(
          inference.stochastic, [](const StochasticRounding& r) { return r.changed > 0; });
      return absl::StrCat(text, then, "the rounding is stochastic",
                          changes ? "" : " or follows an unknown rule");
    }
    if (!inference.shared_exponents.empty()) {
      return absl::StrCat(text, then, "operands share exponents");
    }
    if (!inference.status.ok()) return text;
    return absl::StrCat(text, then, "no algorithm that was tried reproduces all answers",
                        inference.spent ? " within the budget" : "");
  }
  const Algorithm& a = *inference.algorithm;
  const std::optional<std::vector<Change>> changes = ChangesBetween(own, a);
  if (changes && changes->empty()) return "";
  return absl::StrCat(text, then, changes ? Name(*changes) : Describe(WithAlgorithm(op, a)),
                      " reproduces all ", inference.answers.size(), " answers",
                      inference.validated == 0
                          ? ""
                          : absl::StrCat(" and ", inference.validated, " generated ones"));
}

std::string InferenceText(const Operation& op, const Inference& inference, const TextStyle& style) {
  Lines lines(style.width);
  lines.Append(absl::StrCat(op.name, "\n"));
  if (inference.structure) lines.Add("tree     ", TreeLine(op, inference));
  if (inference.algorithm) {
    AddFound(op, inference, lines);
  } else {
    AddNotFound(op, inference, lines);
  }
  AddRefuted(inference, lines);
  if (inference.flaky > 0) {
    lines.Add("FLAKY    ",
              absl::StrCat(inference.flaky, inference.flaky == 1 ? " more answer" : " more answers",
                           " changed when asked again; not counted above"));
  }
  if (IsModelled(op) && !inference.answers.empty()) {
    lines.Add("table    ", ContradictsTable(op, inference)
                               ? absl::StrCat("contradicted: ", TableText(op, inference))
                               : "mmadiff's own model of this instruction reproduces all answers");
  }
  std::string asked = absl::StrCat(
      inference.asked, " dot products to find the model, ",
      inference.validated == 0 ? "none" : absl::StrCat(inference.validated), " to validate it");
  if (inference.abandoned > 0) {
    absl::StrAppend(&asked, ", ", inference.abandoned, " in validations that did not pass");
  }
  if (inference.spent) absl::StrAppend(&asked, "; the budget ran out before the end");
  if (inference.structure || inference.asked > 0) lines.Add("asked    ", asked);
  return lines.text();
}

}  // namespace mmadiff
