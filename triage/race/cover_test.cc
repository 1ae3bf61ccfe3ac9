#include "triage/race/cover.h"

#include <bit>
#include <random>

#include "gtest/gtest.h"

namespace mmadiff {
namespace {

using Sets = std::vector<std::vector<bool>>;

unsigned Mask(const std::vector<bool>& set) {
  unsigned mask = 0;
  for (size_t i = 0; i < set.size(); ++i) mask |= unsigned{set[i]} << i;
  return mask;
}

// The least number of sets with the union of all, by trying every choice.
int LeastByForce(const Sets& sets) {
  unsigned all = 0;
  for (const auto& set : sets) all |= Mask(set);
  int least = static_cast<int>(sets.size());
  for (unsigned choice = 0; choice < 1u << sets.size(); ++choice) {
    unsigned covered = 0;
    for (size_t i = 0; i < sets.size(); ++i) covered |= choice >> i & 1 ? Mask(sets[i]) : 0;
    if (covered == all) least = std::min(least, std::popcount(choice));
  }
  return least;
}

TEST(Cover, IsTheLeast) {
  std::mt19937 random(1);
  int better_than_greedy = 0;
  for (int round = 0; round < 200; ++round) {
    Sets sets(8, std::vector<bool>(10));
    unsigned all = 0;
    for (auto& set : sets) {
      for (size_t i = 0; i < set.size(); ++i) set[i] = random() % 4 == 0;
      all |= Mask(set);
    }
    const Cover cover = LeastCover(sets, sets.size());
    unsigned covered = 0;
    for (const size_t i : cover.chosen) covered |= Mask(sets[i]);
    EXPECT_EQ(covered, all);
    EXPECT_TRUE(cover.least);
    EXPECT_EQ(static_cast<int>(cover.chosen.size()), LeastByForce(sets));
    // With one set fewer it covers what it can and does not claim to be the least.
    if (cover.chosen.size() < 2) continue;
    const Cover fewer = LeastCover(sets, cover.chosen.size() - 1);
    EXPECT_LE(fewer.chosen.size(), cover.chosen.size() - 1);
    EXPECT_FALSE(fewer.least);
    better_than_greedy += 1;
  }
  EXPECT_GT(better_than_greedy, 100);
}

TEST(Cover, GreedyIsNotEnough) {
  // Greedy takes the set of four first and needs three.
  const Sets sets = {{1, 1, 1, 1, 0, 0}, {1, 1, 0, 0, 1, 0}, {0, 0, 1, 1, 0, 1}};
  const Cover cover = LeastCover(sets, 3);
  EXPECT_EQ(cover.chosen, (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(cover.least);
}

TEST(Cover, OfNothing) {
  EXPECT_TRUE(LeastCover({}, 5).chosen.empty());
  EXPECT_TRUE(LeastCover({{false, false}}, 5).chosen.empty());
}

}  // namespace
}  // namespace mmadiff
