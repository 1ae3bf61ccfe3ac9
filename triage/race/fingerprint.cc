#include "triage/race/fingerprint.h"

#include <algorithm>
#include <map>

#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/minimize/simplicity.h"
#include "triage/race/cover.h"
#include "triage/race/pair.h"

namespace mmadiff {
namespace {

constexpr uint64_t kGenerated = 4096;  // dot products

using Pairs = std::vector<bool>;  // in the order (0, 1), (0, 2), ..., (1, 2), ...

// For each set of pairs that some case distinguishes, the simplest such case.
class CasePool {
 public:
  explicit CasePool(const std::vector<Racer>& rows) : rows_(rows) {}

  void Add(const DotProductCase& dot) {
    ++size_;
    std::vector<uint64_t> words;
    for (const Racer& row : rows_) words.push_back(Simulate(row.model, dot));
    Pairs told;
    for (size_t x = 0; x < rows_.size(); ++x) {
      for (size_t y = x + 1; y < rows_.size(); ++y) {
        told.push_back(Tell(rows_[x], words[x], rows_[y], words[y]));
      }
    }
    if (std::ranges::find(told, true) == told.end()) return;
    const Complexity complexity = ComplexityOf(rows_[0].model, dot);
    const auto [it, added] = cases_.try_emplace(told, complexity, dot);
    auto& [known, simplest] = it->second;
    if (!added && Simpler(complexity, dot, known, simplest)) it->second = {complexity, dot};
  }

  // Ordered by simplicity.
  void Ordered(std::vector<Pairs>& sets, std::vector<DotProductCase>& dots) const {
    std::vector<const std::pair<const Pairs, Case>*> all;
    for (const auto& entry : cases_) all.push_back(&entry);
    std::ranges::sort(all, [](const auto* x, const auto* y) { return x->second < y->second; });
    for (const auto* entry : all) {
      sets.push_back(entry->first);
      dots.push_back(entry->second.second);
    }
  }
  size_t size() const { return size_; }

 private:
  using Case = std::pair<Complexity, DotProductCase>;
  const std::vector<Racer>& rows_;
  std::map<Pairs, Case> cases_;
  size_t size_ = 0;
};

}  // namespace

absl::StatusOr<Fingerprint> FindFingerprint(const std::vector<Racer>& rows) {
  CasePool pool(rows);
  Races races;
  Fingerprint result;
  for (size_t x = 0; x < rows.size(); ++x) {
    for (size_t y = x + 1; y < rows.size(); ++y) {
      ASSIGN_OR_RETURN(const PairRace pair, races.Find(rows[x], rows[y]));
      if (pair.verdict == PairRace::kTold) {
        pool.Add(pair.race.found->dot);
      } else {
        result.indistinct.push_back({x, y, VerdictText(pair)});
      }
    }
  }
  ForEachGenerated(*rows[0].op, kGenerated, [&](const DotProductCase& dot) {
    pool.Add(dot);
    return false;
  });
  std::vector<Pairs> sets;
  std::vector<DotProductCase> dots;
  pool.Ordered(sets, dots);
  const Cover cover = LeastCover(sets, sets.size());
  for (const size_t i : cover.chosen) result.cases.push_back(dots[i]);
  result.least = cover.least;
  result.pool = pool.size();
  return result;
}

}  // namespace mmadiff
