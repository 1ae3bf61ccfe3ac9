#include "sim/sparsity.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace mmadiff {
namespace {

// All sixteen choices of words that are not +0; -0 is none of these.
TEST(Sparsity, StoredPositions) {
  constexpr uint64_t kNegativeZero = 0x8000;
  std::set<std::array<int, 2>> all;
  for (unsigned choice = 0; choice < 16; ++choice) {
    std::array<uint64_t, 4> words = {};
    int count = 0;
    for (int p = 0; p < 4; ++p) {
      if (choice >> p & 1) words[p] = kNegativeZero, ++count;
    }
    const auto positions = StoredPositions(words);
    ASSERT_EQ(positions.has_value(), count <= 2) << choice;
    if (count > 2) continue;
    const auto [first, second] = *positions;
    EXPECT_LT(first, second) << choice;
    all.insert(*positions);
    const unsigned stored = 1u << first | 1u << second;
    EXPECT_EQ(choice & ~stored, 0u) << choice;
    // What fills up is the lowest that is free.
    for (unsigned lower = 1; lower < 16; lower <<= 1) {
      const unsigned fill = stored & ~choice;
      EXPECT_TRUE(fill <= lower || (stored & lower) != 0) << choice;
    }
  }
  EXPECT_EQ(all.size(), 6u);
}

TEST(Sparsity, ByHand) {
  using Words = std::array<uint64_t, 4>;
  using Pair = std::array<int, 2>;
  EXPECT_EQ(StoredPositions(Words{0, 0, 0, 0}), (Pair{0, 1}));
  EXPECT_EQ(StoredPositions(Words{0, 0, 0, 7}), (Pair{0, 3}));
  EXPECT_EQ(StoredPositions(Words{7, 0, 0, 0}), (Pair{0, 1}));
  EXPECT_EQ(StoredPositions(Words{0, 0, 7, 7}), (Pair{2, 3}));
  EXPECT_EQ(StoredPositions(Words{7, 7, 0, 7}), std::nullopt);
}

TEST(Sparsity, OfRows) {
  const Instruction& sparse = *FindInstruction("v_smfmac_f32_16x16x32_f16");
  std::vector<uint64_t> rows(64);
  rows[36] = rows[39] = rows[63] = 1;
  EXPECT_EQ(WhyNotSparse(sparse, rows), "");
  rows[37] = 1;
  const std::string why =
      "v_smfmac_f32_16x16x32_f16 is sparse: at most two of each group of four elements of A may "
      "differ from +0; too many differ: a4 to a7";
  EXPECT_EQ(WhyNotSparse(sparse, rows), why + " in row 1");
  EXPECT_EQ(WhyNotSparse(sparse, std::span(rows).last(32)), why);
  EXPECT_EQ(WhyNotSparse(*FindInstruction("v_mfma_f32_16x16x32_f16"), rows), "");
}

}  // namespace
}  // namespace mmadiff
