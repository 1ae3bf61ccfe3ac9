#include "triage/race/pair.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/case_text.h"
#include "triage/explain_text.h"
#include "triage/model_words.h"
#include "triage/number_text.h"
#include "triage/stage_table.h"
#include "triage/typical.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

StageTable Stages(const PairRace& pair) {
  return MakeStageTable({{"x", pair.x.model}, {"y", pair.y.model}}, pair.race.found->dot);
}

// FindSmallest(), whose generator needs a row with the k of both models.
absl::StatusOr<RaceResult> FindSmallestOf(const Racer& x, const Racer& y, RaceOptions options) {
  options.thorough &= x.model.executions == 1 && y.model.executions == 1;  // chains have no vectors
  if (x.op->shape().k == x.model.k) return FindSmallest(x, y, options);
  absl::StatusOr<RaceResult> result = FindSmallest(y, x, options);
  if (result.ok() && result->found) std::swap(result->found->x, result->found->y);
  return result;
}

std::optional<TellingCase> FindTypicalOf(const Racer& x, const Racer& y) {
  const auto tells = [&](const DotProductCase& dot) {
    return Tell(x, Simulate(x.model, dot), y, Simulate(y.model, dot));
  };
  std::optional<DotProductCase> dot = FindTypical(x.model, tells);
  if (!dot) return std::nullopt;
  const int terms = x.model.k + (dot->c == 0 ? 0 : 1);
  return TellingCase{*dot, Simulate(x.model, *dot), Simulate(y.model, *dot), terms};
}

std::string StratumText(const Stratum& s) {
  if (s.terms() == 0) return "+0 alone";
  if (s.products == 0) return "only c";
  return absl::StrCat(s.addend ? "" : "only ", s.products,
                      s.products == 1 ? " product" : " products", s.addend ? " and c" : "");
}

// The name and the model: "4 x sm_70/... (4 in a chain along k)  Every 4 products ...".
std::string RacerText(const Racer& racer) {
  const int executions = racer.model.executions;
  return absl::StrCat(racer.name,
                      executions == 1 ? "" : absl::StrCat(" (", executions, " in a chain along k)"),
                      "  ", DescribeModel(racer.model));
}

std::string Terms(int terms) { return absl::StrCat(terms, terms == 1 ? " term" : " terms"); }

// WhySame() for chains of equal length: a proof for one execution holds for all.
std::optional<std::vector<ProofStep>> WhyChainsSame(const Model& x, const Model& y) {
  if (x.executions != y.executions) return std::nullopt;
  return WhySame(OneExecution(x), OneExecution(y));
}

// WhyChainsSame(); also applies if the models differ only in NaN bits that a row does not promise.
std::optional<std::vector<ProofStep>> Proof(const Racer& x, const Racer& y) {
  const NanRule rule = x.model.algorithm.nan_rule;
  if (CommonNanVerdict(x, y) == NanVerdict::kBits || rule == y.model.algorithm.nan_rule) {
    return WhyChainsSame(x.model, y.model);
  }
  Model same = y.model;
  same.algorithm.nan_rule = rule;
  std::optional<std::vector<ProofStep>> proof = WhyChainsSame(x.model, same);
  if (proof) {
    proof->push_back({ChangesBetween(same.algorithm, y.model.algorithm)->front(),
                      "the row does not promise NaN bits"});
  }
  return proof;
}

}  // namespace

bool AreSame(const Racer& x, const Racer& y) {
  return WhyNotComparable(x.model, y.model).empty() &&
         (SameModel(x.model, y.model) || Proof(x, y).has_value());
}

const char* Name(PairRace::Verdict verdict) {
  switch (verdict) {
    case PairRace::kSame:
      return "same_model";
    case PairRace::kProved:
      return "proved_equal";
    case PairRace::kTold:
      return "told_apart";
    case PairRace::kUndecided:
      return "undecided";
    case PairRace::kNotComparable:
      return "not_comparable";
  }
  return "?";
}

absl::StatusOr<PairRace> Races::Find(const Racer& x, const Racer& y) {
  const auto same = [&](const PairRace& known) {
    const auto nan = [](const Racer& r) { return r.op->numerics->nan_verdict; };
    return SameModel(known.x.model, x.model) && SameModel(known.y.model, y.model) &&
           nan(known.x) == nan(x) && nan(known.y) == nan(y);
  };
  if (const auto found = std::ranges::find_if(known_, same); found != known_.end()) {
    PairRace pair = *found;
    pair.x = x;
    pair.y = y;
    return pair;
  }
  PairRace pair = {x, y};
  pair.why = WhyNotComparable(x.model, y.model);
  if (!pair.why.empty()) {
    pair.verdict = PairRace::kNotComparable;
  } else if (SameModel(x.model, y.model)) {
    pair.verdict = PairRace::kSame;
  } else {
    if (const auto changes = ChangesBetween(x.model.algorithm, y.model.algorithm)) {
      pair.changes = *changes;
    }
    if (std::optional<std::vector<ProofStep>> proof = Proof(x, y)) {
      pair.verdict = PairRace::kProved;
      pair.proof = *std::move(proof);
    } else {
      ASSIGN_OR_RETURN(RaceResult race, FindSmallestOf(x, y, options_));
      pair.race = std::move(race);
      if (pair.race.found) {
        pair.verdict = PairRace::kTold;
        pair.stage = Stages(pair).parting;
        pair.typical = FindTypicalOf(x, y);
      }
    }
  }
  known_.push_back(pair);
  return pair;
}

std::string VerdictText(const PairRace& pair) {
  switch (pair.verdict) {
    case PairRace::kSame:
    case PairRace::kProved:
      return ProofText(pair.proof);
    case PairRace::kTold:
      return absl::StrCat("distinguished by a case with ", Terms(pair.race.found->terms));
    case PairRace::kUndecided:
      return absl::StrCat("undecided: none of ", pair.race.generated,
                          " dot products of every class distinguishes them, and there is no proof");
    case PairRace::kNotComparable:
      return pair.why;
  }
  return "?";
}

std::string SmallerText(const RaceResult& race) {
  const std::string ones = race.scales ? ", with scales of 1.0" : "";
  if (race.FewestTerms()) {
    uint64_t tried = 0;
    for (const Stratum& s : race.strata) tried += s.tried;
    return absl::StrCat("No case with fewer terms distinguishes them: all ", tried, " were tried",
                        ones, ".");
  }
  if (race.strata.empty()) return "";
  return absl::StrCat(
      race.found ? "No case with fewer terms was found; tried: " : "Tried with few terms: ",
      absl::StrJoin(race.strata, ", ",
                    [](std::string* out, const Stratum& s) {
                      absl::StrAppend(out, s.all ? "all " : "", s.tried,
                                      s.tried == 1 ? " case with " : " cases with ",
                                      StratumText(s));
                    }),
      ones, ".");
}

std::string PairText(const PairRace& pair, const TextStyle& style) {
  const bool other_family = pair.x.model.algorithm.family != pair.y.model.algorithm.family;
  std::string head = absl::StrCat("x  ", RacerText(pair.x), "\ny  ", RacerText(pair.y), "\n");
  if (!pair.changes.empty()) absl::StrAppend(&head, "y differs from x: ", Name(pair.changes), "\n");
  if (other_family) absl::StrAppend(&head, "x and y belong to different families\n");
  absl::StrAppend(&head, VerdictText(pair), "\n");
  std::string text = Wrap(head, style.width, 3);
  const std::string smaller = SmallerText(pair.race);
  if (!pair.race.found) {
    return smaller.empty() ? text : absl::StrCat(text, Wrap(smaller + "\n", style.width, 2));
  }
  const TellingCase& found = *pair.race.found;
  const Format& d = pair.x.model.d;
  absl::StrAppend(&text, CaseText(pair.op(), found.dot, 2, style.width),
                  StagesText(Stages(pair), style));
  const std::string line = FormatLine(*pair.op().instruction, found.dot);
  std::string below =
      absl::StrCat("x gives ", WordText(d, found.x), "\ny gives ", WordText(d, found.y), "\n");
  if (!pair.stage.empty()) absl::StrAppend(&below, "First differing stage: ", pair.stage, ".\n");
  if (!smaller.empty()) absl::StrAppend(&below, smaller, "\n");
  absl::StrAppend(&text, Wrap(below, style.width, 2), Labelled("line  ", line, style.width));
  if (!pair.typical) return text;
  const TellingCase& typical = *pair.typical;
  const std::string gives =
      absl::StrCat("x gives ", WordText(d, typical.x), "\ny gives ", WordText(d, typical.y),
                   HowFar(d, typical.x, typical.y), "\n");
  const std::string of_typical = FormatLine(*pair.op().instruction, typical.dot);
  return absl::StrCat(text, "A typical case with ordinary numbers:\n",
                      CaseText(pair.op(), typical.dot, 2, style.width), Wrap(gives, style.width, 2),
                      Labelled("line  ", of_typical, style.width));
}

}  // namespace mmadiff
