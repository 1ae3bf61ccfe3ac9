#include "triage/infer/tree_finder.h"

#include <algorithm>
#include <utility>

#include "device/status_macros.h"
#include "sim/simulate.h"
#include "sim/word.h"
#include "triage/infer/tree_questions.h"

namespace mmadiff {
namespace {

constexpr int64_t kShare = 3;  // questions about nodes and leaves get 1/N of the budget left
constexpr int kOfNode = 200, kOfLeaf = 100, kMixed = 2000;
constexpr int kRounds = 12, kIdle = 6;
constexpr size_t kShrunk = 16;  // missed questions that are made smaller in a round
constexpr int kSteps = 120;     // of making them smaller
constexpr int kQuiet = 2;       // rounds of fresh questions without a miss

// The terms that are not absent: -0 is one, because nodes add it.
std::vector<int> TermsOf(const Model& m, const DotProductCase& dot) {
  const DotProductCase neutral = NeutralDotProduct(m);
  std::vector<int> terms;
  for (int k = 0; k < m.k; ++k) {
    if (dot.a[k] != neutral.a[k] || dot.b[k] != neutral.b[k]) terms.push_back(k);
  }
  if (dot.c != neutral.c) terms.push_back(m.k);
  return terms;
}

// The bits of NaNs do not count.
bool Gives(const Model& model, const DotProductCase& dot, uint64_t d) {
  const uint64_t word = Simulate(model, dot);
  return word == d || (IsNan(model.d, word) && IsNan(model.d, d));
}

// Keeps the sign and exponent of a finite word.
uint64_t WithoutFraction(const Format& f, uint64_t word) {
  const Value v = DecodeValue(f, word);
  if (v.kind == Value::Class::kFinite) (void)EncodePowerOfTwo(f, v.negative, v.exponent, &word);
  return word;
}

}  // namespace

std::vector<Observed> TreeFinder::Answers() const {
  std::vector<Observed> answers;
  for (const ExperimentAnswer& a : asker_.answers()) {
    answers.push_back({StoredOf(op_, a.observed.dot), a.observed.d});
  }
  return answers;
}

absl::Status TreeFinder::AskFirst() {
  if (std::exchange(asked_, true)) return absl::OkStatus();
  const int64_t leaves = static_cast<int64_t>(LeavesOf(*structure_.tree).size());
  const int64_t all = leaves * (kOfNode + kOfLeaf) + kMixed;
  const int64_t most = std::max<int64_t>(1, asker_.left() / kShare);
  const double part = std::min(1.0, static_cast<double>(most) / static_cast<double>(all));
  const auto some = [&](int count) { return std::max(1, static_cast<int>(part * count)); };
  ASSIGN_OR_RETURN(
      const auto nodes,
      asker_.Ask("tree nodes", AsSparse(op_, NodeQuestions(stored_, structure_, some(kOfNode)))));
  ASSIGN_OR_RETURN(
      const auto of_leaves,
      asker_.Ask("tree leaves", AsSparse(op_, LeafQuestions(stored_, structure_, some(kOfLeaf)))));
  ASSIGN_OR_RETURN(const auto mixed,
                   asker_.Ask("tree sums", AsSparse(op_, MixedQuestions(stored_, structure_,
                                                                        some(kMixed), seed_++))));
  return absl::OkStatus();
}

std::vector<DotProductCase> TreeFinder::Smaller(const Shrinking& from) const {
  const Model& m = op_.model;
  const std::vector<int> terms = TermsOf(m, from.dot);
  std::vector<DotProductCase> smaller;
  const DotProductCase neutral = NeutralDotProduct(m);
  for (size_t first = 0; from.chunk > 0 && first < terms.size(); first += from.chunk) {
    DotProductCase dot = from.dot;
    for (size_t i = first; i < std::min(terms.size(), first + from.chunk); ++i) {
      const int term = terms[i];
      if (term == m.k) {
        dot.c = neutral.c;
      } else {
        dot.a[term] = neutral.a[term];
        dot.b[term] = neutral.b[term];
      }
    }
    smaller.push_back(std::move(dot));
  }
  for (size_t i = 0; from.chunk == 0 && i < terms.size(); ++i) {
    const int term = terms[i];
    DotProductCase dot = from.dot;
    if (term == m.k) {
      dot.c = WithoutFraction(m.c, dot.c);
      smaller.push_back(dot);
      continue;
    }
    for (const bool of_b : {false, true}) {
      dot = from.dot;
      uint64_t& word = of_b ? dot.b[term] : dot.a[term];
      word = WithoutFraction(of_b ? m.b : m.a, word);
      smaller.push_back(dot);
    }
  }
  std::erase(smaller, from.dot);
  return smaller;
}

absl::Status TreeFinder::Shrink(const Model& model, std::vector<DotProductCase> missed) {
  std::ranges::stable_sort(
      missed, {}, [&](const DotProductCase& dot) { return TermsOf(op_.model, dot).size(); });
  std::vector<Shrinking> all;  // of all sizes
  const size_t every = std::max<size_t>(1, missed.size() / kShrunk);
  for (size_t i = 0; i < missed.size(); i += every) {
    const int terms = static_cast<int>(TermsOf(op_.model, missed[i]).size());
    all.push_back({std::move(missed[i]), std::max(1, terms / 2)});
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<DotProductCase> dots;
    std::vector<size_t> ends;
    for (const Shrinking& s : all) {
      if (!s.done) std::ranges::move(Smaller(s), std::back_inserter(dots));
      ends.push_back(dots.size());
    }
    if (std::ranges::all_of(all, [](const Shrinking& s) { return s.done; })) break;
    ASSIGN_OR_RETURN(const auto words, asker_.Ask("tree smaller", dots));
    for (size_t i = 0, at = 0; i < all.size(); at = ends[i++]) {
      size_t hit = at;
      while (hit < ends[i] && Gives(model, dots[hit], words[hit])) ++hit;
      if (hit < ends[i]) {
        all[i].dot = dots[hit];
        continue;
      }
      all[i].done = all[i].chunk == 0;
      all[i].chunk /= 2;
    }
  }
  return absl::OkStatus();
}

std::vector<DotProductCase> TreeFinder::Missed(const Model& model) const {
  std::vector<DotProductCase> missed;
  for (const ExperimentAnswer& a : asker_.answers()) {
    if (!Gives(model, a.observed.dot, a.observed.d)) missed.push_back(a.observed.dot);
  }
  return missed;
}

absl::StatusOr<size_t> TreeFinder::AskMissed() {
  const Model model = WithAlgorithm(op_, search_.algorithm());
  std::vector<DotProductCase> missed = Missed(model);
  if (!missed.empty()) {
    const Model fitted = WithAlgorithm(op_, search_.fitted());
    RETURN_IF_ERROR(Shrink(fitted, Missed(fitted)));
  } else {
    const auto fresh = AsSparse(op_, MixedQuestions(stored_, structure_, kMixed, seed_++));
    ASSIGN_OR_RETURN(const auto words, asker_.Ask("tree sums", fresh));
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (!Gives(model, fresh[i], words[i])) missed.push_back(fresh[i]);
    }
  }
  const size_t count = missed.size();
  RETURN_IF_ERROR(Shrink(model, std::move(missed)));
  return count;
}

absl::StatusOr<bool> TreeFinder::Find(absl::FunctionRef<bool()> stop) {
  RETURN_IF_ERROR(AskFirst());
  size_t missed = search_.Find(Answers(), stop);
  size_t least = missed;
  int idle = 0;  // rounds in which the tree did not become better
  for (int round = 0, quiet = 0; round < kRounds && quiet < kQuiet && !stop(); ++round) {
    ASSIGN_OR_RETURN(const size_t wrong, AskMissed());
    quiet = wrong == 0 ? quiet + 1 : 0;
    if (wrong > 0) missed = search_.Find(Answers(), stop);
    idle = missed == 0 || missed < least ? 0 : idle + 1;
    least = std::min(least, missed);
    if (idle == kIdle) break;
  }
  return missed == 0;
}

}  // namespace mmadiff
