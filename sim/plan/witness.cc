#include "sim/plan/witness.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sim/plan/convert.h"
#include "sim/plan/excerpt.h"
#include "sim/plan/find.h"

namespace mmadiff {
namespace {

// 0 within an ulp, up to kMaxRank; no NaN or infinity is near.
int64_t Nearness(const Format& sum, const Format& d, uint64_t word) {
  const uint64_t magnitude = word & (LowBits(SignBit(sum)));
  if (magnitude >= InfinityWord(sum, false)) return kMaxRank;
  const auto result = [&](uint64_t w) { return Convert(sum, d, NanRule::kAllOnes, w); };
  for (int64_t rank = 0; rank < kMaxRank; ++rank) {
    const uint64_t step = 1ull << rank;
    if (result(word - std::min(step, magnitude)) != result(word + step)) return rank;
  }
  return kMaxRank;
}

// `count` of the numbers below `size`, ascending.
std::vector<int64_t> Drawn(int64_t count, int64_t size, std::mt19937_64& random) {
  std::vector<int64_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  for (int64_t i = 0; i < std::min(count, size); ++i) {
    std::swap(all[i], all[i + static_cast<int64_t>(random() % static_cast<uint64_t>(size - i))]);
  }
  all.resize(std::min(count, size));
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::vector<int64_t> RanksOf(const Plan& plan, const Matrices& matrices, const Words& d,
                             bool any_nan, const Execution& execution) {
  const Format &sum = plan.operation->model.d, &format = *plan.epilogue.format;
  const int64_t n = matrices.n, all = matrices.m * n;
  const bool rounds = std::string_view(sum.name) != format.name;
  Plan unrounded = plan;
  unrounded.epilogue.format = &sum;
  std::vector<unsigned char> words(all * 8);
  Execute(unrounded, matrices, {words.data(), n, 1, 64}, execution);
  const NanRule nan_rule = MultiplyAddOf(*plan.operation).algorithm.nan_rule;
  std::vector<int64_t> rank(all);
  for (int64_t i = 0; i < all; ++i) {
    const uint64_t word = Load(Words{words.data(), 1, 0, 64}, i, 0);
    const uint64_t result = rounds ? Convert(sum, format, nan_rule, word) : word;
    const uint64_t of_d = d.data == nullptr ? result : Load(d, i / n, i % n);
    const bool same = any_nan ? SameResult(format, result, of_d) : result == of_d;
    rank[i] = !same ? -1 : rounds ? Nearness(sum, format, word) : kMaxRank;
  }
  return rank;
}

std::vector<MatrixElement> WitnessesOf(const Plan& plan, const Matrices& matrices, const Words& d,
                                       int64_t count, uint64_t seed, bool any_nan,
                                       const Execution& execution) {
  std::mt19937_64 random(seed);
  const int64_t side = static_cast<int64_t>(std::sqrt(static_cast<double>(count * kSampled))) + 1;
  // A few rows need more columns.
  const int64_t few = std::min({side, matrices.m, matrices.n});
  const int64_t others = few == 0 ? 0 : count * kSampled / few + 1;
  const bool wide = matrices.m <= matrices.n;
  const std::vector<int64_t> rows = Drawn(wide ? few : others, matrices.m, random);
  const std::vector<int64_t> columns = Drawn(wide ? others : few, matrices.n, random);
  if (rows.empty() || columns.empty()) return {};
  const Excerpt excerpt(matrices, rows, columns);
  std::vector<unsigned char> bytes;
  Words chosen;
  if (d.data != nullptr) chosen = CopyOf(d, rows, columns, bytes);
  const std::vector<int64_t> ranks = RanksOf(plan, excerpt.matrices(), chosen, any_nan, execution);
  std::vector<int64_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return ranks[i]; });
  order.resize(std::min<size_t>(order.size(), count));
  std::vector<MatrixElement> elements;
  const int64_t n = std::ssize(columns);
  for (const int64_t i : order) elements.push_back({rows[i / n], columns[i % n]});
  return elements;
}

}  // namespace mmadiff
