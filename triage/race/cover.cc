#include "triage/race/cover.h"

#include <algorithm>
#include <cstdint>

namespace mmadiff {
namespace {

constexpr int64_t kMaxLooks = 100'000'000;  // limit for lookups of the exact search

using Sets = std::vector<std::vector<bool>>;

size_t Gain(const std::vector<bool>& set, const std::vector<bool>& open) {
  size_t gain = 0;
  for (size_t i = 0; i < set.size(); ++i) gain += set[i] && open[i];
  return gain;
}

void Remove(const std::vector<bool>& set, std::vector<bool>& open) {
  for (size_t i = 0; i < set.size(); ++i) open[i] = open[i] && !set[i];
}

std::vector<size_t> Greedy(const Sets& sets, std::vector<bool> open, size_t most) {
  std::vector<size_t> chosen;
  while (chosen.size() < most) {
    size_t best = 0, gain = 0;
    for (size_t i = 0; i < sets.size(); ++i) {
      const size_t g = Gain(sets[i], open);
      if (g > gain) {
        gain = g;
        best = i;
      }
    }
    if (gain == 0) break;
    chosen.push_back(best);
    Remove(sets[best], open);
  }
  return chosen;
}

// Branches over the sets that contain one open element, the element that the fewest sets contain.
class Exact {
 public:
  explicit Exact(const Sets& sets) : sets_(sets) {}

  bool Find(const std::vector<bool>& open, size_t left) {
    if (std::ranges::find(open, true) == open.end()) return true;
    if (left == 0 || gave_up()) return false;
    std::vector<size_t> fewest;
    for (size_t e = 0; e < open.size(); ++e) {
      if (!open[e]) continue;
      looks_ += sets_.size();
      std::vector<size_t> having;
      for (size_t i = 0; i < sets_.size(); ++i) {
        if (sets_[i][e]) having.push_back(i);
      }
      if (fewest.empty() || having.size() < fewest.size()) fewest = std::move(having);
    }
    for (const size_t i : fewest) {
      std::vector<bool> rest = open;
      Remove(sets_[i], rest);
      chosen.push_back(i);
      if (Find(rest, left - 1)) return true;
      chosen.pop_back();
    }
    return false;
  }
  bool gave_up() const { return looks_ > kMaxLooks; }
  std::vector<size_t> chosen;

 private:
  const Sets& sets_;
  int64_t looks_ = 0;
};

}  // namespace

Cover LeastCover(const Sets& sets, size_t most) {
  if (sets.empty()) return {{}, true};
  std::vector<bool> all(sets[0].size(), false);
  for (const std::vector<bool>& set : sets) {
    for (size_t i = 0; i < set.size(); ++i) all[i] = all[i] || set[i];
  }
  const std::vector<size_t> greedy = Greedy(sets, all, sets.size());
  Exact exact(sets);
  for (size_t size = 0; size < std::min(greedy.size(), most + 1); ++size) {
    if (exact.Find(all, size)) return {std::move(exact.chosen), true};
    if (exact.gave_up()) return {{greedy.begin(), greedy.begin() + std::min(greedy.size(), most)}};
  }
  // No smaller number of sets suffices.
  if (greedy.size() <= most) return {greedy, true};
  return {{greedy.begin(), greedy.begin() + most}};
}

}  // namespace mmadiff
