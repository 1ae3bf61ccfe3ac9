#include "fuzz/cli/race_plans.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/output/shared_fields.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

// A product of the case in which neither operand is 0.
struct TellingTerm {
  int64_t k;
  std::string a, b;
};
Fields<TellingTerm> FieldsOf(const TellingTerm*) {
  using T = TellingTerm;
  return {
      {"k", &T::k},
      {"a", &T::a, HexDigits()},
      {"b", &T::b, HexDigits()},
  };
}

std::vector<TellingTerm> Terms(const PlanPair& pair) {
  std::vector<TellingTerm> terms;
  if (!pair.race.found) return terms;
  const TellingProduct& p = *pair.race.found;
  const Model& m = pair.x.operation->model;
  for (int64_t k = 0; k < p.k; ++k) {
    if (p.a[k] != 0 && p.b[k] != 0)
      terms.push_back({k, HexWord(m.a, p.a[k]), HexWord(m.b, p.b[k])});
  }
  return terms;
}

const char* VerdictOf(const PlanRace& race) {
  if (race.found) return "told_apart";
  return race.equal.empty() ? "undecided" : "equal_orders";
}

}  // namespace

Fields<PlanPair> FieldsOf(const PlanPair*) {
  using P = PlanPair;
  const auto word = [](const P& p, uint64_t TellingProduct::*of) {
    return p.race.found ? std::optional(HexWord(*p.x.epilogue.format, *p.race.found.*of))
                        : std::nullopt;
  };
  return {
      {"x", [](const P& p) { return PlanText(p.x); }},
      {"y", [](const P& p) { return PlanText(p.y); }},
      {"verdict",
       [](const P& p) { return VerdictOf(p.race); },
       {.words = {"told_apart", "equal_orders", "undecided"}}},
      {"text", [](const P& p) { return p.race.equal; }, Prose("reason for equal_orders")},
      {"least_k", [](const P& p) { return p.race.least_k; },
       "least k, of those up to 4096 and a few later ones, for which arithmetic or order may "
       "differ; 0: none"},
      {"k", [](const P& p) { return p.race.found ? std::optional(p.race.found->k) : std::nullopt; },
       "k of the product that distinguishes the plans"},
      {"terms", Terms, "its products; both operands of all others are 0, or one is"},
      {"of_x", [word](const P& p) { return word(p, &TellingProduct::x); }, HexDigits()},
      {"of_y", [word](const P& p) { return word(p, &TellingProduct::y); }, HexDigits()},
      {"tried", [](const P& p) { return p.race.tried; }, "products that were tried"},
  };
}

std::string PlanPairText(const PlanPair& pair) {
  const PlanRace& race = pair.race;
  if (!race.equal.empty()) return absl::StrCat(race.equal, "\n");
  if (!race.found) {
    return absl::StrCat("undecided: arithmetic or order may differ from k = ", race.least_k,
                        " on, but ", race.tried, " products gave equal results\n");
  }
  const Format& d = *pair.x.epilogue.format;
  std::string text = absl::StrCat("k = ", race.found->k,
                                  race.found->k == race.least_k && race.least_k <= kMaxRaceK
                                      ? ", the least for which they differ"
                                      : "",
                                  "\n");
  const Model& m = pair.x.operation->model;
  for (int64_t k = 0; k < race.found->k; ++k) {
    const uint64_t a = race.found->a[k], b = race.found->b[k];
    if (a == 0 || b == 0) continue;
    absl::StrAppend(&text, "  k=", k, "  ", WordText(m.a, a), " x ", WordText(m.b, b), "\n");
  }
  absl::StrAppend(&text, "the first gives ", WordText(d, race.found->x), ", the second ",
                  WordText(d, race.found->y), "\n");
  return text;
}

bool ArePlans(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments,
                             [](const std::string& text) { return absl::StrContains(text, '|'); });
}

absl::StatusOr<PlanPair> RaceTwoPlans(const std::vector<std::string>& texts) {
  if (texts.size() != 2) return absl::InvalidArgumentError("give two plans, each in quotes");
  PlanPair pair;
  for (const auto& [text, plan] : {std::pair(texts[0], &pair.x), {texts[1], &pair.y}}) {
    ASSIGN_OR_RETURN(*plan, TypedPlan(text));
  }
  pair.race = RacePlans(pair.x, pair.y);
  if (pair.race.not_comparable.empty()) return pair;
  return absl::InvalidArgumentError(pair.race.not_comparable);
}

}  // namespace mmadiff
