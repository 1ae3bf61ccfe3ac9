#include "fuzz/cli/inferred.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/shared_fields.h"
#include "sim/tree/tree_text.h"
#include "triage/infer/inference_text.h"
#include "triage/infer/stored_products.h"
#include "triage/infer/summation_tree.h"

namespace mmadiff {

Fields<Algorithm> FieldsOf(const Algorithm*) {
  using A = Algorithm;
  return {
      {"family", [](const A& a) { return Name(a.family); }},
      {"parameters", [](const A& a) { return ParametersJson(AlgorithmFields(a)); },
       ParameterValues()},
  };
}

Fields<Fixed> FieldsOf(const Fixed*) {
  using F = Fixed;
  return {
      {"parameter", [](const F& f) { return Name(f.value); }},
      {"experiments", &F::experiments},
  };
}

Fields<UndeterminedValues> FieldsOf(const UndeterminedValues*) {
  using U = UndeterminedValues;
  return {
      {"values", &U::values},
      {"proved", &U::proved},
      {"why", &U::why, Prose()},
  };
}

namespace {

struct RateAtPosition {
  const char* position;  // name
  bool negative;
  RoundingRate rate;
};

std::vector<std::string> PositionNames() {
  std::vector<std::string> names;
  for (const RoundingPosition& p : kRoundingPositions) names.push_back(p.name);
  return names;
}

std::vector<RateAtPosition> RatesOf(const StochasticRounding& s) {
  std::vector<RateAtPosition> rates;
  for (const bool negative : {false, true}) {
    for (size_t i = 0; i < std::size(kRoundingPositions); ++i) {
      rates.push_back(
          {kRoundingPositions[i].name, negative, (negative ? s.negative : s.positive)[i]});
    }
  }
  return rates;
}

Fields<RateAtPosition> FieldsOf(const RateAtPosition*) {
  using R = RateAtPosition;
  return {
      {"position", [](const R& r) { return std::string(r.position); },
       Detail{.what = "of the exact value between its neighbors, from the one nearer to zero",
              .words = PositionNames()}},
      {"negative", &R::negative},
      {"answers", [](const R& r) { return r.rate.answers; }},
      {"farther", [](const R& r) { return r.rate.farther; },
       "answers that are the neighbor farther from zero"},
  };
}

}  // namespace

Fields<StochasticRounding> FieldsOf(const StochasticRounding*) {
  using S = StochasticRounding;
  return {
      {"of", &S::of, Prose("questions that round once")},
      {"terms", &S::terms, "k of the product, in different questions"},
      {"fraction_bits", &S::fraction_bits},
      {"rates", RatesOf},
      {"exact", &S::exact, "answers to exactly representable results; all are exact"},
      {"changed", &S::changed, "answers that were the other neighbor when asked again"},
      {"without_rule", &S::without_rule,
       "least number of answers that a rounding mode does not reproduce"},
  };
}

Fields<SharedExponent> FieldsOf(const SharedExponent*) {
  using S = SharedExponent;
  return {
      {"operand",
       [](const S& s) { return std::string(s.of_b ? "b" : "a"); },
       {.words = {"a", "b"}}},
      {"group", &S::group, "consecutive elements that share an exponent"},
      {"kept_bits", &S::kept_bits,
       "an element that is a power of two is unchanged up to so many bits below the largest of its "
       "group"},
  };
}

Fields<Refuted> FieldsOf(const Refuted*) {
  using R = Refuted;
  return {
      Field<R>::Flat(&R::nearest),
      {"misses", &R::missed, {.least = 1}},
      {"first_experiment", &R::experiment},
  };
}

namespace {

using R = InferredInstruction;

bool Found(const R& r) { return r.inference.algorithm.has_value(); }
bool Near(const R& r) { return !Found(r) && r.inference.nearest.algorithm.family != Family::kNone; }

std::optional<std::string> TreeOfSums(const R& r) {
  if (!r.inference.structure || !r.inference.structure->tree) return std::nullopt;
  return TreeText(*r.inference.structure->tree, StoredProducts(r.op).model.k);
}

std::optional<std::vector<std::string>> LinesOfTree(const R& r) {
  if (!Found(r) || r.inference.algorithm->family != Family::kTree) return std::nullopt;
  return TreeLines(*r.inference.algorithm->tree);
}

std::optional<std::vector<std::string>> NamesOfSameRows(const R& r) {
  if (!Found(r)) return std::nullopt;
  return NamesOf(SameRows(r.op, *r.inference.algorithm));
}

std::optional<std::string> NearRow(const R& r) {
  if (!Found(r)) return std::nullopt;
  return NamesOfSameRows(r)->empty() ? NearestRow(r.op, *r.inference.algorithm) : "";
}

std::optional<DotProductWords> Refuting(const R& r) {
  if (!r.inference.refuting) return std::nullopt;
  return DotProductWords{*r.op.instruction, r.inference.refuting->dot, r.inference.refuting->d};
}

// nullopt unless `there`.
template <class T>
std::optional<T> If(bool there, const T& value) {
  return there ? std::optional(value) : std::nullopt;
}

void SayDecidesNothing(const Operation& op, const Inference& inference, Ending& ending) {
  size_t open = 0;
  for (const UndeterminedValues& u : Summary(inference)) open += u.proved ? 0 : u.values.size();
  ending.Say(Verdict::kNothing,
             absl::StrCat(op.name, ": no parameter is decided by ",
                          CountText(inference.answers.size(), "answer"), ": models of ",
                          inference.also.size() + 1, " families reproduce them. ", open,
                          " values are open; at most that many more well-chosen answers decide "
                          "all that can be decided"));
}

}  // namespace

void SayInferred(const Operation& op, const Inference& inference, Ending& ending) {
  if (!inference.status.ok()) {
    if (inference.flaky > 0) {
      ending.Say(Verdict::kUnrepeated);
    } else if (ContradictsTable(op, inference)) {
      ending.Say(Verdict::kDiffers);
    }
  } else if (inference.answers.empty()) {
    ending.Say(Verdict::kNothing, "nothing was queried: --budget is too small");
  } else if (inference.flaky > 0) {
    ending.Say(Verdict::kUnrepeated);
  } else if (!inference.algorithm || ContradictsTable(op, inference)) {
    ending.Say(Verdict::kDiffers);
  } else if (inference.spent) {
    ending.Say(Verdict::kEarly);
  } else if (inference.fixed.empty() && !inference.also.empty()) {
    SayDecidesNothing(op, inference, ending);
  }
}

std::string RecordingOf(absl::string_view device) {
  return absl::ConsumePrefix(&device, "recorded:") ? std::string(device) : "";
}

std::string InferCommand(const std::string& device, std::span<const Operation* const> ops) {
  constexpr size_t kMaxNamed = 4;
  std::vector<std::string> names;
  for (const Operation* op : ops.first(std::min(kMaxNamed, ops.size()))) names.push_back(op->name);
  return absl::StrCat(Program(), " infer --device=", ShellWord(device),
                      " --instr=", ShellWord(absl::StrJoin(names, ",")));
}

Fields<InferredInstruction> FieldsOf(const InferredInstruction*) {
  return {
      {"instruction", [](const R& r) { return r.op.name; }, InstructionName()},
      {"tree", TreeOfSums, Absent({.what = "summation tree; absent if none was found"})},
      {"row", [](const R& r) { return r.inference.algorithm; },
       Absent({.what = "model that reproduces all answers"})},
      {"model_lines", LinesOfTree,
       Absent({.what = "if `row` is a tree: its nodes and the tree, as lines of a model"})},
      {"same_rows", NamesOfSameRows, Absent(InstructionName())},
      {"near", NearRow,
       Absent({.what = "nearest row if `same_rows` is empty: ROW:NAME=VALUE,..., as `race` accepts "
                       "it; else empty"})},
      {"nan_bits_unknown", [](const R& r) { return If(Found(r), r.inference.nan_unknown); },
       Absent({.what = "whether no rule reproduces the bits of the NaNs"})},
      {"also", [](const R& r) { return If(Found(r), r.inference.also); },
       Absent({.what = "models of other families that also reproduce all answers"})},
      {"nodes",
       [](const R& r) {
         return If(!Found(r), NodeLines(r.inference.nodes, StoredProducts(r.op).model.k));
       },
       Absent(Prose("if there is no row: width and rounding of each node of the tree"))},
      {"nearest", [](const R& r) { return If(Near(r), r.inference.nearest.algorithm); },
       Absent({.what = "if no model was found: the one that misses the fewest answers"})},
      {"nearest_misses", [](const R& r) { return If(Near(r), r.inference.nearest.missed); },
       Absent({.what = "number of answers that `nearest` does not reproduce", .least = 1})},
      {"operands", [](const R& r) { return If(!Found(r), r.inference.operands); },
       Absent(Prose("if no model was found: how operands are read or paired otherwise; empty if "
                    "they are not"))},
      {"stochastic", [](const R& r) { return r.inference.stochastic; },
       "sums or products that are rounded stochastically"},
      {"shared_exponents", [](const R& r) { return r.inference.shared_exponents; },
       "operands whose elements share exponents; `tree` may show their groups"},
      {"refuting", Refuting, Absent({.what = "dot product whose answer rules out the model"})},
      {"fixed", [](const R& r) { return r.inference.fixed; }},
      {"undetermined", [](const R& r) { return Summary(r.inference); }},
      {"refuted", [](const R& r) { return r.inference.refuted; }},
      {"contradicts_table",
       [](const R& r) { return IsModelled(r.op) && ContradictsTable(r.op, r.inference); }},
      {"answers", [](const R& r) { return r.inference.answers.size(); },
       "number of answers that repeated"},
      {"asked", [](const R& r) { return r.inference.asked; }, "number of queried dot products"},
      {"validated", [](const R& r) { return r.inference.validated; },
       "number of generated dot products that the model was validated with"},
      {"abandoned", [](const R& r) { return r.inference.abandoned; },
       "dot products of validations that found a mismatch or ended early"},
      {"flaky", [](const R& r) { return r.inference.flaky; },
       "number of answers that differed when repeated"},
      {"budget_spent", [](const R& r) { return r.inference.spent; }},
      {"ended", [](const R& r) { return std::string(r.inference.status.message()); },
       Prose("reason for an early end; empty if there was none")},
      {"text", [](const R& r) { return InferenceText(r.op, r.inference, {}); },
       Prose("all of this, for people")},
  };
}

}  // namespace mmadiff
