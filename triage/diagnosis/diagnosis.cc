#include "triage/diagnosis/diagnosis.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/diagnosis/chooser.h"
#include "triage/diagnosis/judge.h"
#include "triage/probe/decoding_words.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

std::string AllAnswers(size_t answers) {
  return answers == 1 ? "the one answer" : absl::StrCat("all ", answers, " answers");
}

constexpr int64_t kSampled = 512;                        // dot products of whole executions
constexpr int64_t kSampledAtMost = 64;                   // executions
constexpr size_t kPool = 1 << 15;                        // dot products to choose from
constexpr int kOfExecution = 8;                          // dot products per execution
constexpr size_t kFirstPortion = 32, kMaxPortion = 256;  // dot products
constexpr int kCases = 2;                                // that distinguish two changes
constexpr int kRounds = 8;                               // each searches, then asks
constexpr size_t kMaxRivals = 256;                       // other changes that reproduce all answers
constexpr int kFarInPairs = 16;  // in pairs, limit for the distance of numbers from the model's

// Visits every pair of parameters with every pair of their values once, with a number for each of
// the two changes.
template <class Visit>
void ForEachPair(const Operation& op, Visit visit) {
  std::vector<Change> choices;
  for (const auto& [p, value] : SearchedFields(op.model.algorithm)) {
    for (const int other : OtherValues(*p, value)) {
      const bool far = p->values.empty() && p->max < 1024 && std::abs(other - value) > kFarInPairs;
      if (!far || other == kNoFloor || value == kNoFloor) choices.push_back({p, other});
    }
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    for (size_t j = i + 1; j < choices.size(); ++j) {
      if (choices[i].parameter == choices[j].parameter) continue;
      const Change both[] = {choices[i], choices[j]};
      const Model model = WithAlgorithm(op, WithChanges(op.model.algorithm, both));
      if (WhyInvalid(model).empty()) visit(model, i, j);
    }
  }
}

void SearchPairs(const Operation& op, Judge& judge, Diagnosis& d) {
  std::vector<size_t> refuting;  // for each change: the answer that refuted a pair with it
  ForEachPair(op, [&](const Model& model, size_t i, size_t j) {
    ++d.pairs;
    refuting.resize(std::max(refuting.size(), j + 1));
    const auto answer = judge.FindRefuting(model, {refuting[i], refuting[j]});
    if (!answer) {
      d.changes.push_back(NeighbourOf(op.model.algorithm, model.algorithm));
    } else if (*answer != refuting[j]) {
      refuting[i] = *answer;
    }
  });
}

// Starts from the operation's model and repeatedly takes the single change after which the fewest
// answers are missed, the first of equal ones. Changes may be undone.
void SearchNearest(const Operation& op, Judge& judge, Diagnosis& d) {
  d.nearest = {{}, op.model.algorithm};
  d.missed = judge.Missed(op.model, d.observed.size());
  for (bool better = true; better && d.missed > 0;) {
    better = false;
    for (const Neighbour& n : SingleChanges(WithAlgorithm(op, d.nearest.algorithm))) {
      const size_t missed = judge.Missed(WithAlgorithm(op, n.algorithm), d.missed - 1);
      if (missed >= d.missed) continue;
      d.missed = missed;
      d.nearest = NeighbourOf(op.model.algorithm, n.algorithm);
      better = true;
    }
  }
  if (d.missed == 0) d.changes.push_back(d.nearest);
}

void Search(const Operation& op, Diagnosis& d) {
  Judge judge(op, d.observed);
  d.changes.clear();
  d.pairs = d.missed = 0;
  d.nearest = {{}, op.model.algorithm};
  if (judge.GivesAll(op.model)) return;
  const std::vector<Neighbour> singles = SingleChanges(op.model);
  d.singles = singles.size();
  for (const Neighbour& n : singles) {
    if (judge.GivesAll(WithAlgorithm(op, n.algorithm))) d.changes.push_back(n);
  }
  if (d.changes.empty()) SearchPairs(op, judge, d);
  if (d.changes.empty()) SearchNearest(op, judge, d);
}

// The models one change away from `model`, except `believed`. Changes of a number in one direction
// form a chain.
void AppendChains(const Operation& op, const Model& model, const Model& believed,
                  std::vector<CaseChooser::Chain>& chains) {
  std::map<std::pair<const Parameter*, bool>, size_t> of_number;
  for (const Neighbour& n : SingleChanges(model)) {
    if (n.algorithm == believed.algorithm) continue;
    const auto& [p, to] = *n.single();
    const int from = p->get(model.algorithm);
    const bool number = p->values.empty() && from != kNoFloor && to != kNoFloor;
    const auto [at, first] = of_number.try_emplace({p, to > from}, chains.size());
    if (number && !first) {
      chains[at->second].push_back(WithAlgorithm(op, n.algorithm));
    } else {
      if (!number && first) of_number.erase(at);
      chains.push_back({WithAlgorithm(op, n.algorithm)});
    }
  }
}

// The other changes that reproduced all answers, and the one-parameter changes of the operation's
// model and of the believed model.
std::vector<CaseChooser::Chain> Rivals(const Operation& op, const Diagnosis& d,
                                       const Model& believed) {
  std::vector<CaseChooser::Chain> rivals;
  for (size_t i = 1; i < std::min(d.changes.size(), kMaxRivals); ++i) {
    rivals.push_back({WithAlgorithm(op, d.changes[i].algorithm)});
  }
  AppendChains(op, believed, believed, rivals);
  if (!SameModel(op.model, believed)) {
    rivals.push_back({op.model});
    AppendChains(op, op.model, believed, rivals);
  }
  return rivals;
}

// The model with each of its readings changed.
std::vector<CaseChooser::Chain> ReadingsOf(const Operation& op, const Model& model) {
  std::vector<CaseChooser::Chain> readings;
  for (const Neighbour& n : Misreadings(model, false))
    readings.push_back({WithAlgorithm(op, n.algorithm)});
  return readings;
}

// Asks about dot products on their own, as many as the budget allows. Returns whether those are all
// and the device, which may be a recording, has answers to them.
absl::StatusOr<bool> Ask(Runner& runner, std::vector<DotProductCase> dots,
                         std::vector<Observed>& observed) {
  const bool all = static_cast<int64_t>(dots.size()) <= runner.left();
  if (!all) dots.resize(std::max<int64_t>(0, runner.left()));
  if (dots.empty()) return all;
  const absl::StatusOr<Answers> answers =
      runner.Observe(MakeDotProductBatch(runner.op().shape(), dots));
  if (absl::IsNotFound(answers.status())) return false;
  RETURN_IF_ERROR(answers.status());
  const auto answered = static_cast<size_t>(answers->size());
  for (size_t i = 0; i < answered; ++i) {
    if (!answers->failures.contains(i)) observed.push_back({dots[i], answers->d[i]});
  }
  return all && answered == dots.size();
}

// Asks about the first executions and keeps some of their answers.
absl::Status Sample(Runner& runner, const CaseStream& cases, std::vector<Observed>& observed) {
  const int64_t words = runner.op().shape().d_words();
  Batch batch;
  Generate(cases, 0, std::clamp<int64_t>(kSampled / words, 1, kSampledAtMost), batch);
  const absl::StatusOr<Answers> answers = runner.Observe(batch);
  if (absl::IsNotFound(answers.status())) return absl::OkStatus();
  RETURN_IF_ERROR(answers.status());
  const int64_t step = std::max<int64_t>(1, batch.dot_products() / kSampled);
  for (int64_t i = 0; i < answers->size(); i += step) {
    if (!answers->failures.contains(i)) observed.push_back({Extract(batch, i), answers->d[i]});
  }
  return absl::OkStatus();
}

std::vector<DotProductCase> Choose(const Operation& op, const Runner& runner, const Model& model,
                                   const std::vector<CaseChooser::Chain>& rivals,
                                   const CaseStream& cases) {
  CaseChooser chooser(op, model, rivals, kCases);
  Batch batch;
  std::vector<DotProductCase> dots;
  size_t portion = kFirstPortion;
  for (size_t execution = 0, tried = 0; tried < kPool && !chooser.done(); ++execution) {
    if (runner.StopRequested()) break;
    Generate(cases, execution, 1, batch);
    const int64_t all = batch.dot_products(), count = std::min<int64_t>(all, kOfExecution);
    for (int64_t i = 0; i < count; ++i) {
      dots.push_back(Extract(batch, (i * (all / count) + execution) % all));
    }
    tried += count;
    if (dots.size() < portion) continue;
    chooser.ConsiderEach(MakeDotProductBatch(runner.op().shape(), dots));
    portion = std::min(2 * portion, kMaxPortion);
    dots.clear();
  }
  chooser.ConsiderEach(MakeDotProductBatch(runner.op().shape(), dots));
  const bool done = chooser.done();
  if (!runner.StopRequested()) chooser.ConsiderRelatives();
  std::vector<DotProductCase>& chosen = chooser.chosen();
  if (!done) {  // single words distinguish the remaining readings
    CaseChooser of_words(op, model, ReadingsOf(op, model), kCases);
    of_words.ConsiderEach(
        MakeDotProductBatch(runner.op().shape(), DecodingCases(op, WordsToAsk(op, false))));
    std::ranges::move(of_words.chosen(), std::back_inserter(chosen));
  }
  return std::move(chosen);
}

// `op` is the runner's operation, but may differ in whether NaN bits count.
absl::StatusOr<Diagnosis> DiagnoseAs(const Operation& op, Runner& runner,
                                     std::vector<Observed> observed, const CaseStream& cases) {
  Diagnosis d = FindChange(op, std::move(observed));
  d.cut = !d.changes.empty();
  for (int round = 0; round < kRounds && runner.HasBudget(); ++round) {
    if (runner.StopRequested()) return absl::CancelledError("stopped");
    const Neighbour& change = d.changes.empty() ? d.nearest : d.changes.front();
    const Model believed = WithAlgorithm(op, change.algorithm);
    const size_t before = d.observed.size();
    ASSIGN_OR_RETURN(
        const bool all,
        Ask(runner, Choose(op, runner, believed, Rivals(op, d, believed), cases), d.observed));
    const std::span<const Observed> asked = std::span(d.observed).subspan(before);
    const bool holds = Explains(op, believed, asked);
    if (!holds || !d.changes.empty()) {
      std::erase_if(d.changes, [&](const Neighbour& n) {
        return !Explains(op, WithAlgorithm(op, n.algorithm), asked);
      });
    }
    if (d.changes.empty()) {
      const Algorithm nearest = d.nearest.algorithm;
      Search(op, d);
      d.cut = !d.changes.empty();
      if (d.changes.empty() && d.nearest.algorithm == nearest) break;
    } else if (holds) {
      d.cut = !all;
      break;
    }
  }
  return d;
}

}  // namespace

Bucket Diagnosis::bucket(const Operation& op) const {
  return changes.empty() || refuted ? Bucket::Unexplained()
                                    : BucketOf(op, observed, &changes.front());
}

std::string Diagnosis::Text() const {
  if (!changes.empty() && refuted) {
    return absl::StrCat(
        "when this was filed, no change of one or two parameters reproduced all "
        "of the device's answers; ",
        Name(changes.front()), " reproduces the ", observed.size(), " considered here");
  }
  if (!changes.empty()) {
    return absl::StrCat(
        NameAndMeaning(changes.front()), " reproduces ", AllAnswers(observed.size()),
        other_nans == 0 ? "" : absl::StrCat(" except for the bits of ", other_nans, " NaNs"),
        changes.size() == 1 ? "" : absl::StrCat("; so does ", Name(changes[1])),
        changes.size() <= 2 ? "" : absl::StrCat(" and ", changes.size() - 2, " more"),
        cut ? "; not all cases that distinguish it from other changes could be run" : "");
  }
  if (nearest.changes.empty() && missed == 0) {
    return absl::StrCat("the model reproduces ", AllAnswers(observed.size()));
  }
  return absl::StrCat("no change of one parameter (", singles, " tried) or of two (", pairs,
                      " tried, numbers at most ", kFarInPairs, " from the model's) reproduces ",
                      AllAnswers(observed.size()), "; ",
                      nearest.changes.empty() ? "the unchanged model" : Name(nearest),
                      " comes closest: it does not reproduce ", missed, " of them");
}

Diagnosis FindChange(const Operation& op, std::vector<Observed> observed) {
  Diagnosis d;
  d.observed = std::move(observed);
  Search(op, d);
  return d;
}

absl::StatusOr<Diagnosis> Diagnose(Runner& runner, std::vector<Observed> observed,
                                   const CaseStream& cases, bool sampled, bool free_nans) {
  const Operation& op = runner.op();
  if (!runner.IsSlow() && !sampled) {
    RETURN_IF_ERROR(Sample(runner, cases, observed));
  }
  ASSIGN_OR_RETURN(Diagnosis strict, DiagnoseAs(op, runner, std::move(observed), cases));
  if (!strict.changes.empty() || !free_nans) return strict;
  const WithNanVerdict free(op, op.model, NanVerdict::kAnyNan);
  const auto other_nans = [&](const Model& model) {
    return std::ranges::count_if(strict.observed, [&](const Observed& o) {
      return Fits(free.op, model, o) && !Fits(op, model, o);
    });
  };
  if (other_nans(op.model) == 0) return strict;
  ASSIGN_OR_RETURN(Diagnosis d, DiagnoseAs(free.op, runner, strict.observed, cases));
  if (d.changes.empty()) return strict;
  strict.observed = d.observed;
  d.other_nans = other_nans(WithAlgorithm(op, d.changes.front().algorithm));
  return d;
}

}  // namespace mmadiff
