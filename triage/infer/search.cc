#include "triage/infer/search.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "absl/functional/function_ref.h"
#include "sim/equivalence.h"
#include "sim/numerics.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "triage/diagnosis/judge.h"

namespace mmadiff {
namespace {

constexpr size_t kFew = 300;             // answers in a first search
constexpr size_t kStructures = 4;        // searched per family
constexpr int kNear = 2;                 // in pairs, limit for the change of a number
constexpr size_t kAnswersOfPairs = 150;  // missed at most if pairs are tried
constexpr size_t kMissedAdded = 100;     // missed answers added for a candidate's next round
constexpr int kRefinements = 12;         // rounds of these
constexpr int kOfFamily = 4;             // starts per family
constexpr size_t kLong = 6;              // starts that are searched to the end
constexpr size_t kForced = 3;            // families whose best is searched by force
constexpr int kForcedStep = 6;           // step between the numbers that are tried
constexpr int kRestarts = 20;

// All values of a parameter: the values other than one that no parameter has.
std::vector<int> AllValues(const Parameter& p) { return OtherValues(p, kNoFloor - 1); }

// The readings are the operation's. Parameters of faults, which no row of any family has, are left out.
std::vector<Change> FieldsToSearch(const Operation& op, const Algorithm& a) {
  std::vector<Change> fields = SearchedFields(a);
  const Parameter* const selection =
      IsSparse(op.model) ? FindParameter(a.family, "selection") : nullptr;
  std::erase_if(fields, [&](const Change& c) {
    return IsReading(*c.parameter) ||
           (c.parameter->unusual == c.parameter->families && c.parameter != selection);
  });
  return fields;
}

bool IsValid(const Operation& op, const Algorithm& a) {
  return WhyInvalid(WithAlgorithm(op, a)).empty();
}

Algorithm WithChange(const Algorithm& a, const Parameter& p, int value) {
  const Change change = {&p, value};
  return WithChanges(a, {&change, 1});
}

// Takes the algorithm as the best if it is valid and misses fewer answers. Returns whether it did.
bool TakeIfBetter(const Operation& op, Judge& judge, const Algorithm& a, Candidate& best) {
  if (!IsValid(op, a)) return false;
  const size_t missed = judge.Missed(WithAlgorithm(op, a), best.missed - 1);
  if (missed >= best.missed) return false;
  best = {a, missed};
  return true;
}

// A valid algorithm of the family, made from a plain one by changing as few parameters as needed.
std::vector<Algorithm> PlainOf(const Operation& op, Family family) {
  Algorithm plain = {.family = family};
  for (const auto& [p, value] : AlgorithmFields(plain)) {
    if (!p->values.empty() || p->min == kNoFloor) continue;
    p->set(plain, std::clamp(value == 0 ? (p->min + p->max) / 2 : value, p->min, p->max));
  }
  plain.output_fraction_bits = std::max(1, op.model.d.fraction_bits);
  if (IsValid(op, plain)) return {plain};
  std::vector<Algorithm> level = {plain};
  for (int depth = 0; depth < 2; ++depth) {
    std::vector<Algorithm> next;
    for (const Algorithm& from : level) {
      for (const auto& [p, own] : AlgorithmFields(from)) {
        if (p->min == kNoFloor) continue;
        for (const int value : AllValues(*p)) {
          const Algorithm changed = WithChange(from, *p, value);
          if (IsValid(op, changed)) return {changed};
          next.push_back(changed);
        }
      }
    }
    level = std::move(next);
  }
  return {};
}

// Answers spread over all of them, in an order that does not follow the experiments.
std::vector<Observed> Spread(std::span<const Observed> answers, size_t count) {
  std::vector<size_t> order(answers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  std::vector<Observed> spread;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) spread.push_back(answers[order[i]]);
  return spread;
}

// Makes the change of one parameter after which the fewest answers are missed, again and again
// until none improves. Optimizing one parameter after the other would let one width imitate a
// different one. `all`: structural parameters too. `held`: a parameter that stays.
void Descend(const Operation& op, Judge& judge, Candidate& best, bool all,
             absl::FunctionRef<bool()> stop, const Parameter* held = nullptr) {
  for (bool better = true; better && best.missed > 0 && !stop();) {
    better = false;
    const Algorithm from = best.algorithm;
    for (const auto& [p, own] : FieldsToSearch(op, from)) {
      if ((p->structural && !all) || p == held) continue;
      for (const int value : OtherValues(*p, own)) {
        if (best.missed == 0 || stop()) break;
        better |= TakeIfBetter(op, judge, WithChange(from, *p, value), best);
      }
    }
  }
}

// Changes of one parameter: numbers to values at most `near` away, to none, and to every `step`-th
// value.
std::vector<Change> ChoicesOf(const Operation& op, const Algorithm& from, int near, int step) {
  std::vector<Change> choices;
  for (const auto& [p, value] : FieldsToSearch(op, from)) {
    for (const int other : OtherValues(*p, value)) {
      const bool far = p->values.empty() && !p->structural && std::abs(other - value) > near;
      const bool step_of = step > 0 && (other - p->max) % step == 0;
      if (!far || step_of || other == kNoFloor) choices.push_back({p, other});
    }
  }
  return choices;
}

// Whether a change of two parameters at once improved it.
bool DescendByPair(const Operation& op, Judge& judge, Candidate& best,
                   absl::FunctionRef<bool()> stop) {
  const Algorithm from = best.algorithm;
  const std::vector<Change> choices = ChoicesOf(op, from, kNear, 0);
  bool better = false;
  for (size_t i = 0; i < choices.size() && best.missed > 0 && !stop(); ++i) {
    for (size_t j = i + 1; j < choices.size() && best.missed > 0 && !stop(); ++j) {
      if (choices[i].parameter == choices[j].parameter) continue;
      const Change both[] = {choices[i], choices[j]};
      better |= TakeIfBetter(op, judge, WithChanges(from, both), best);
    }
  }
  return better;
}

// Whether a forced change of the candidate, which does not pay by itself, and a descent from there
// improved it. A wrong parameter may imitate another so well that neither change pays alone.
bool DescendByForce(const Operation& op, std::span<const Observed> answers, Candidate& best,
                    absl::FunctionRef<bool()> stop) {
  const std::vector<Observed> all = Spread(answers, answers.size());
  std::vector<Observed> hard;
  const Model model = WithAlgorithm(op, best.algorithm);
  for (const size_t i : Judge(op, all).FirstMissed(model, kFew / 3)) hard.push_back(all[i]);
  for (size_t i = 0; i < std::min(kFew / 3, all.size()); ++i) hard.push_back(all[i]);
  Judge judge(op, hard);
  const size_t before = judge.Missed(model, hard.size());
  for (const Change& choice : ChoicesOf(op, best.algorithm, 0, kForcedStep)) {
    if (stop()) return false;
    const bool floor = choice.parameter->min == kNoFloor && choice.value != kNoFloor;
    if (floor || choice.parameter->structural) continue;
    Candidate forced = best;
    choice.parameter->set(forced.algorithm, choice.value);
    if (!IsValid(op, forced.algorithm)) continue;
    forced.missed = judge.Missed(WithAlgorithm(op, forced.algorithm), hard.size());
    Descend(op, judge, forced, false, stop, choice.parameter);
    if (forced.missed >= before) continue;
    forced = Improve(op, answers, forced, stop);
    if (forced.missed >= best.missed) continue;
    best = forced;
    return true;
  }
  return false;
}

void Downhill(const Operation& op, Judge& judge, Candidate& best, absl::FunctionRef<bool()> stop) {
  Descend(op, judge, best, false, stop);
  do {
    Descend(op, judge, best, true, stop);
  } while (best.missed > 0 && best.missed <= kAnswersOfPairs && !stop() &&
           DescendByPair(op, judge, best, stop));
}

// The structures of a start that agree best with the masks.
std::vector<Algorithm> Agreeing(const Operation& op, const Algorithm& start,
                                const Structure* structure, std::span<const Observed> masks,
                                absl::FunctionRef<bool()> stop) {
  std::vector<Algorithm> all = StructuresOf(op, start);
  if (structure == nullptr || masks.empty()) return {start};
  std::vector<std::pair<size_t, size_t>> scores;
  size_t least = masks.size();
  for (size_t i = 0; i < all.size() && !stop(); ++i) {
    const Model model = WithAlgorithm(op, all[i]);
    size_t wrong = 0;
    for (const Observed& o : masks) {
      wrong += !SameOnes(model, *structure, Simulate(model, o.dot), o.d);
      if (wrong > least + least / 4) break;
    }
    least = std::min(least, wrong);
    scores.push_back({wrong, i});
  }
  std::ranges::sort(scores);
  std::vector<Algorithm> agreeing;
  for (const auto& [wrong, i] : scores) {
    if (agreeing.size() < kStructures && wrong <= least + least / 4) agreeing.push_back(all[i]);
  }
  return agreeing;
}

// How many parameters differ from the family's plain algorithm.
size_t ParametersSet(const Operation& op, const Algorithm& a) {
  const std::vector<Algorithm> plain = PlainOf(op, a.family);
  return plain.empty() ? 0 : ChangesBetween(plain.front(), a)->size();
}

}  // namespace

std::vector<Algorithm> StartsOf(const Operation& op) {
  std::vector<Algorithm> starts;
  const auto add = [&](Algorithm a) {
    CopyReadings(op.model.algorithm, a);
    if (a.family == Family::kNone || !IsValid(op, a)) return;
    if (std::ranges::find(starts, a) == starts.end()) starts.push_back(a);
    // Only sums of families are searched from here.
    a.selection = Selection::kFirstsThenSeconds;
    const bool tree = a.family == Family::kTree && IsValid(op, a);
    if (tree && std::ranges::find(starts, a) == starts.end()) starts.push_back(a);
  };
  add(op.model.algorithm);
  if (const Hypothesis* h = HypothesisOf(op)) add(h->algorithm(*op.instruction));
  for (const NumericsEntry& entry : NumericsEntries()) add(entry.algorithm(*op.instruction));
  for (const Hypothesis& h : Hypotheses()) add(h.algorithm(*op.instruction));
  for (int family = 0; family < kFamilyCount; ++family) {
    const auto has = [&](const Algorithm& a) { return a.family == static_cast<Family>(family); };
    if (std::ranges::any_of(starts, has)) continue;
    for (const Algorithm& a : PlainOf(op, static_cast<Family>(family))) add(a);
  }
  return starts;
}

std::vector<Algorithm> StructuresOf(const Operation& op, const Algorithm& start) {
  std::vector<Algorithm> all = {start};
  for (const auto& [p, own] : FieldsToSearch(op, start)) {
    if (!p->structural) continue;
    std::vector<Algorithm> more;
    for (const Algorithm& from : all) {
      bool whole = false;  // a step of all products is included
      for (const int value : AllValues(*p)) {
        if (p->values.empty() && value >= op.model.k && std::exchange(whole, true)) continue;
        more.push_back(WithChange(from, *p, value));
      }
    }
    all = std::move(more);
  }
  std::erase_if(all, [&](const Algorithm& a) { return !IsValid(op, a); });
  return all;
}

Candidate Improve(const Operation& op, std::span<const Observed> answers, const Candidate& from,
                  absl::FunctionRef<bool()> stop) {
  const std::vector<Observed> all = Spread(answers, answers.size());
  std::vector<Observed> few(all.begin(), all.begin() + std::min(kFew, all.size()));
  Judge every(op, all);
  Candidate best = from, now = from;
  best.missed = every.Missed(WithAlgorithm(op, from.algorithm), all.size());
  for (int round = 0; round < kRefinements && best.missed > 0 && !stop(); ++round) {
    const Model model = WithAlgorithm(op, now.algorithm);
    for (const size_t i : every.FirstMissed(model, kMissedAdded)) few.push_back(all[i]);
    Judge judge(op, few);
    now.missed = judge.Missed(model, few.size());
    Downhill(op, judge, now, stop);
    const size_t missed = every.Missed(WithAlgorithm(op, now.algorithm), all.size());
    if (missed < best.missed) best = {now.algorithm, missed};
    if (now.missed > 0) break;  // this descent has ended
  }
  return best;
}

std::vector<Candidate> FindCandidates(const Operation& op, std::span<const Observed> answers,
                                      const Structure* structure,
                                      std::span<const Observed> mask_answers,
                                      absl::FunctionRef<bool()> stop) {
  const std::vector<Observed> few = Spread(answers, kFew);
  Judge judge(op, few), every(op, answers);
  std::vector<Candidate> begun, fitting;  // fitting: the first of each family
  const std::vector<Algorithm> starts = StartsOf(op);
  for (const Algorithm& start : starts) {
    const auto same = [&](const Candidate& c) { return c.algorithm.family == start.family; };
    if (std::ranges::any_of(fitting, same) || !every.GivesAll(WithAlgorithm(op, start))) continue;
    fitting.push_back({start, 0});
  }
  // The tree of a row is often the sum of a family.
  const auto is_tree = [](const Candidate& c) { return c.algorithm.family == Family::kTree; };
  if (!std::ranges::all_of(fitting, is_tree)) std::erase_if(fitting, is_tree);
  if (!fitting.empty()) return fitting;
  for (const Algorithm& start : starts) {
    if (start.family == Family::kTree) continue;  // tree_search.h searches those
    for (const Algorithm& a : Agreeing(op, start, structure, mask_answers, stop)) {
      if (stop()) break;
      const auto known = [&](const Candidate& c) { return c.algorithm == a; };
      if (std::ranges::any_of(begun, known)) continue;
      begun.push_back({a, judge.Missed(WithAlgorithm(op, a), few.size())});
    }
  }
  std::ranges::stable_sort(begun, {}, &Candidate::missed);
  // A short search from the best of each family, then a long one from the best of all.
  std::vector<Candidate> found;
  int searched[kFamilyCount] = {};
  for (Candidate c : begun) {
    if (searched[static_cast<int>(c.algorithm.family)]++ >= kOfFamily || stop()) continue;
    Descend(op, judge, c, structure == nullptr, stop);
    const auto known = [&](const Candidate& f) { return f.algorithm == c.algorithm; };
    if (std::ranges::none_of(found, known)) found.push_back(c);
  }
  for (Candidate& c : found) Downhill(op, judge, c, stop);
  std::ranges::stable_sort(found, {}, &Candidate::missed);
  bool searched_long[kFamilyCount] = {};
  for (size_t i = 0; i < found.size(); ++i) {
    const bool done = i > 0 && found[0].missed == 0;
    bool& of_family = searched_long[static_cast<int>(found[i].algorithm.family)];
    if (done || (i >= kLong && std::exchange(of_family, true))) {
      found[i].missed = every.Missed(WithAlgorithm(op, found[i].algorithm), answers.size());
    } else {
      found[i] = Improve(op, answers, found[i], stop);
      if (found[i].missed == 0) std::swap(found[0], found[i]);
    }
  }
  // Of those that reproduce all answers, the one with the fewest parameters that are not plain.
  std::ranges::stable_sort(found, {}, [&](const Candidate& c) {
    return std::pair(c.missed, c.missed > 0 || IsModelled(op) ? 0 : ParametersSet(op, c.algorithm));
  });
  return found;
}

void SearchAgain(const Operation& op, std::span<const Observed> answers,
                 std::vector<Candidate>& found, absl::FunctionRef<bool()> stop) {
  std::vector<Candidate> families;  // the best of each
  for (const Candidate& c : found) {
    const auto same = [&](const Candidate& f) { return f.algorithm.family == c.algorithm.family; };
    if (families.size() < kForced && std::ranges::none_of(families, same)) families.push_back(c);
  }
  for (Candidate& c : families) {
    while (c.missed > 0 && DescendByForce(op, answers, c, stop)) {
    }
    found.push_back(c);
    if (c.missed == 0) break;
  }
  std::ranges::stable_sort(found, {}, &Candidate::missed);
  std::mt19937_64 random(1);
  for (int attempt = 0; attempt < kRestarts && found[0].missed > 0 && !stop(); ++attempt) {
    const size_t best = std::min<size_t>(found.size(), 4);
    Candidate& from = found[attempt % 2 == 0 ? 0 : attempt / 2 % best];
    Candidate changed = from;
    for (int left = 1 + attempt / 2 % 4; left > 0;) {
      const Parameter& p = Parameters()[random() % Parameters().size()];
      if (FindParameter(changed.algorithm.family, p.name) == nullptr || p.unusual == p.families)
        continue;
      --left;
      const std::vector<int> values = OtherValues(p, p.get(changed.algorithm));
      Algorithm next = changed.algorithm;
      if (!values.empty()) p.set(next, values[random() % values.size()]);
      if (IsValid(op, next)) changed.algorithm = next;
    }
    changed = Improve(op, answers, changed, stop);
    if (changed.missed >= from.missed) continue;
    from = changed;
    std::ranges::stable_sort(found, {}, &Candidate::missed);
  }
}

std::vector<Neighbour> Rivals(const Operation& op, std::span<const Observed> answers,
                              const Algorithm& believed) {
  const Model model = WithAlgorithm(op, believed);
  const std::vector<Observed> mixed = Spread(answers, answers.size());
  Judge judge(op, mixed);
  std::vector<Neighbour> rivals;
  if (believed.family == Family::kTree) {  // nodes have too many fields for any value or for pairs
    for (Neighbour& n : Neighbours(model)) {
      if (judge.GivesAll(WithAlgorithm(op, n.algorithm))) rivals.push_back(std::move(n));
    }
    return rivals;
  }
  struct Tried {
    Change change;
    size_t refuting = 0;  // an answer that refutes it, alone or with another change
  };
  std::vector<Tried> refuted, others;  // others: reproduce all answers, proved or not
  const bool proofs_hold = judge.GivesAll(model);
  for (const auto& [p, own] : FieldsToSearch(op, believed)) {
    for (const int value : OtherValues(*p, own)) {
      const Algorithm changed = WithChange(believed, *p, value);
      if (!IsValid(op, changed)) {
        refuted.push_back({{p, value}});
      } else if (proofs_hold && !WhyEquivalent(model, changed).empty()) {
        others.push_back({{p, value}});  // most values: a proof is faster than all answers
      } else if (const auto refuting = judge.FindRefuting(WithAlgorithm(op, changed))) {
        refuted.push_back({{p, value}, *refuting});
      } else {
        others.push_back({{p, value}});
        if (!WhyEquivalent(model, changed).empty()) continue;
        rivals.push_back({{{p, value}}, changed});
      }
    }
  }
  // Two at once, of which at least one alone is refuted: the other may make up for it.
  for (size_t i = 0; i < refuted.size(); ++i) {
    for (size_t j = i + 1; j < refuted.size() + others.size(); ++j) {
      Tried& x = refuted[i];
      Tried& y = j < refuted.size() ? refuted[j] : others[j - refuted.size()];
      if (x.change.parameter == y.change.parameter) continue;
      const Change both[] = {x.change, y.change};
      const Algorithm changed = WithChanges(believed, both);
      if (!IsValid(op, changed)) continue;
      const auto refuting =
          judge.FindRefuting(WithAlgorithm(op, changed), {x.refuting, y.refuting});
      if (!refuting) {
        rivals.push_back(NeighbourOf(believed, changed));
      } else if (*refuting != y.refuting) {
        x.refuting = *refuting;
      }
    }
  }
  return rivals;
}

}  // namespace mmadiff
