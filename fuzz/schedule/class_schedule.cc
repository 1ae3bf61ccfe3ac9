#include "fuzz/schedule/class_schedule.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/coverage/coverage_counter.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kTrialSeed = 0x7472'6961'6c00'0000;   // "trial"; differs from the run's
constexpr size_t kFirstTrial = 256, kLastTrial = 65536;  // dot products per class
constexpr size_t kLastBinTrial = 4096;                   // for bins, because tracing is slow
constexpr size_t kTurnsPerClass = 4, kOwnTurns = 2;

// By class: the number of the trial's dot products that reached one target.
using Hits = std::vector<uint64_t>;

std::vector<const Strategy*> ClassesFor(const Instruction& instruction) {
  std::vector<const Strategy*> classes;
  for (const InputClass* c : ClassesOf(Strategies().front(), instruction)) {
    classes.push_back(FindStrategy(c->name));
  }
  for (const InputClass& c : LateClasses()) {
    const Strategy* late = FindStrategy(c.name);
    if (HasClasses(*late, instruction)) classes.push_back(late);
  }
  return classes;
}

// `count` dot products of the stream's first cases, spread over the elements of each.
std::vector<DotProductCase> TrialDots(const CaseStream& stream, size_t first, size_t count) {
  const size_t words = stream.op->shape().d_words(), each = std::clamp<size_t>(words / 16, 1, 256);
  std::vector<DotProductCase> dots;
  Batch batch;
  for (uint64_t index = first / each; dots.size() < count; ++index) {
    Generate(stream, index, 1, batch);
    for (size_t e = 0; e < each; ++e) {
      dots.push_back(Extract(batch, static_cast<int64_t>((index + e * (words / each)) % words)));
    }
  }
  dots.resize(count);
  return dots;
}

using Trial = std::vector<std::vector<DotProductCase>>;  // by class

bool IsMissed(const Hits& hits) {
  return std::ranges::all_of(hits, [](uint64_t n) { return n == 0; });
}

// Targets of a trial: the neighbors of the model. (Every class reaches its readings.)
class MutantTargets {
 public:
  MutantTargets(const Operation& op, size_t classes) : op_(op) {
    for (const Neighbour& n : Neighbours(op.model))
      mutants_.push_back(WithAlgorithm(op, n.algorithm));
    hits_.assign(mutants_.size(), Hits(classes));
  }

  // Counts hits of the targets that no class had reached before this trial.
  void Try(const Trial& dots) {
    std::vector<size_t> open;
    for (size_t m = 0; m < mutants_.size(); ++m) {
      if (IsMissed(hits_[m])) open.push_back(m);
    }
    Comparison compared;
    for (size_t c = 0; c < dots.size(); ++c) {
      const Batch batch = MakeDotProductBatch(op_.shape(), dots[c]);
      std::vector<uint64_t> right(batch.dot_products());
      Simulate(op_.model, batch, right);
      for (const size_t m : open) {
        Compare(op_, mutants_[m], batch, right, compared);
        hits_[m][c] += compared.differing.size();
      }
    }
  }

  const std::vector<Hits>& hits() const { return hits_; }

 private:
  const Operation& op_;
  std::vector<Model> mutants_;
  std::vector<Hits> hits_;
};

// Targets of a trial: the reachable coverage bins of the model.
class BinTargets {
 public:
  BinTargets(const Operation& op, size_t classes) : counters_(classes, CoverageCounter(op.model)) {}

  void Try(const Trial& dots) {
    for (size_t c = 0; c < dots.size(); ++c) {
      for (const DotProductCase& dot : dots[c]) counters_[c].Count(dot);
    }
  }

  std::vector<Hits> hits() const {
    const std::vector<Bin>& bins = counters_.front().bins();
    std::vector<Hits> all;
    for (size_t b = 0; b < bins.size(); ++b) {
      if (!bins[b].unreachable.empty()) continue;
      Hits hits;
      for (const CoverageCounter& counter : counters_) hits.push_back(counter.counts()[b]);
      all.push_back(std::move(hits));
    }
    return all;
  }

 private:
  std::vector<CoverageCounter> counters_;
};

// Returns the number of turns of each class.
std::vector<int> Share(const std::vector<Hits>& targets, size_t classes) {
  std::vector<int> turns(classes, kOwnTurns);
  std::vector<const Hits*> reached;
  std::vector<uint64_t> expected;
  for (const Hits& hits : targets) {
    uint64_t sum = 0;
    for (const uint64_t n : hits) sum += n;
    if (sum == 0) continue;
    reached.push_back(&hits);
    expected.push_back(sum);
  }
  for (size_t turn = kOwnTurns * classes; turn < kTurnsPerClass * classes && !reached.empty();
       ++turn) {
    const Hits& thin = *reached[std::ranges::min_element(expected) - expected.begin()];
    const size_t best = std::ranges::max_element(thin) - thin.begin();
    ++turns[best];
    for (size_t t = 0; t < reached.size(); ++t) expected[t] += (*reached[t])[best];
  }
  return turns;
}

// The first operation with the same model and classes. One trial serves all of them.
const Operation& Representative(const Operation& op) {
  for (const Operation& other : Operations()) {
    if (SameModel(other.model, op.model) &&
        ClassesFor(*other.instruction) == ClassesFor(*op.instruction)) {
      return other;
    }
  }
  return op;
}

ClassSchedule::Turns PlanTurns(const Operation& op, uint64_t seed) {
  const std::vector<const Strategy*> classes = ClassesFor(*op.instruction);
  MutantTargets mutants(op, classes.size());
  BinTargets bins(op, classes.size());
  // A target with any hit needs no larger trial. The search for a target without a hit continues.
  size_t first = 0;
  for (size_t count = kFirstTrial; count <= kLastTrial; count *= 4) {
    const bool for_bins = count <= kLastBinTrial && std::ranges::any_of(bins.hits(), IsMissed);
    if (!for_bins && std::ranges::none_of(mutants.hits(), IsMissed)) break;
    Trial dots;
    for (const Strategy* c : classes) {
      dots.push_back(TrialDots({&op, c, seed ^ kTrialSeed}, first, count));
    }
    mutants.Try(dots);
    if (for_bins) bins.Try(dots);
    first += count;
  }
  std::vector<Hits> targets = mutants.hits();
  std::ranges::move(bins.hits(), std::back_inserter(targets));
  const std::vector<int> turns = Share(targets, classes.size());
  ClassSchedule::Turns shares;
  for (size_t c = 0; c < classes.size(); ++c) shares.emplace_back(classes[c], turns[c]);
  return shares;
}

}  // namespace

const Strategy& Scheduled() {
  static const Strategy strategy = {"scheduled",
                                    "all classes, weighted toward rarely reached targets",
                                    StrategyKind::kMixed, Strategies().front().class_of};
  return strategy;
}

// The class that is furthest behind comes next.
ClassSchedule::ClassSchedule(const Turns& turns) {
  int all = 0;
  for (const auto& [strategy, n] : turns) all += n;
  std::vector<int> credit(turns.size());
  for (int turn = 0; turn < all; ++turn) {
    for (size_t c = 0; c < turns.size(); ++c) credit[c] += turns[c].second;
    const size_t next = std::ranges::max_element(credit) - credit.begin();
    credit[next] -= all;
    turns_.push_back(turns[next].first);
  }
}

const Strategy* StrategyOfRun(absl::string_view name) {
  return name == Scheduled().name ? &Scheduled() : FindStrategy({name.data(), name.size()});
}

ClassSchedule ClassSchedule::Plan(const Operation& op, uint64_t seed) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto& known = *new std::map<std::pair<const Operation*, uint64_t>, Turns>;
  const std::pair trial = {&Representative(op), seed};
  {
    absl::MutexLock lock(&mutex);
    if (const auto it = known.find(trial); it != known.end()) return ClassSchedule(it->second);
  }
  const Turns turns = PlanTurns(*trial.first, seed);
  absl::MutexLock lock(&mutex);
  return ClassSchedule(known.emplace(trial, turns).first->second);
}

std::string ClassSchedule::text() const {
  Turns turns;
  for (const Strategy* s : turns_) {
    const auto known = std::ranges::find(turns, s, &Turns::value_type::first);
    if (known == turns.end()) {
      turns.emplace_back(s, 1);
    } else {
      ++known->second;
    }
  }
  return absl::StrJoin(turns, ", ", [](std::string* out, const auto& turn) {
    absl::StrAppend(out, turn.first->name, " ", turn.second);
  });
}

absl::StatusOr<ClassSchedule> ParseSchedule(absl::string_view text,
                                            const Instruction& instruction) {
  ClassSchedule::Turns turns;
  for (const Strategy* c : ClassesFor(instruction)) turns.emplace_back(c, 0);
  for (const absl::string_view part : absl::StrSplit(text, ", ")) {
    const std::vector<absl::string_view> words = absl::StrSplit(part, ' ');
    const auto named = [&](const auto& turn) { return words.front() == turn.first->name; };
    const auto turn = std::ranges::find_if(turns, named);
    if (turn == turns.end() || words.size() != 2 || turn->second != 0 ||
        !absl::SimpleAtoi(words[1], &turn->second) || turn->second < 1 || turn->second > 1000) {
      return absl::DataLossError(absl::StrCat("'", PlainLine(part.substr(0, 80)),
                                              "' is not part of a schedule for ",
                                              instruction.name));
    }
  }
  std::erase_if(turns, [](const auto& turn) { return turn.second == 0; });
  return ClassSchedule(turns);
}

absl::StatusOr<CaseStream> StreamOfUnit(const RunManifest& manifest, const Operation& op,
                                        const RunManifest::Instruction& planned, uint64_t unit) {
  CaseStream stream = {&op, FindStrategy(manifest.strategy), manifest.seed};
  if (!planned.schedule.empty()) {
    ASSIGN_OR_RETURN(const ClassSchedule schedule,
                     ParseSchedule(planned.schedule, *op.instruction));
    stream.strategy = &schedule.of(unit);
  }
  if (stream.strategy != nullptr && HasClasses(*stream.strategy, *op.instruction)) return stream;
  return absl::DataLossError(absl::StrCat("this program does not support the run's strategy '",
                                          PlainLine(manifest.strategy), "'"));
}

}  // namespace mmadiff
