// Random: the published answers of Philox4x32-10, and that its bytes are those blocks in order.
#include "corpus/cases/random.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace mmadiff {
namespace {

using Block = std::array<uint32_t, 4>;

Block Philox(const Block& counter, uint32_t key0, uint32_t key1) {
  const r123::Philox4x32::ctr_type in = {{counter[0], counter[1], counter[2], counter[3]}};
  const auto out = r123::Philox4x32()(in, {{key0, key1}});
  return {out[0], out[1], out[2], out[3]};
}

// Random123 1.09, examples/kat_vectors, the lines "philox4x32 10".
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, kOnes, kOnes),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Counters that run over.
TEST(Philox, EveryVectorGivesTheBlocksOfRandom123) {
  constexpr uint64_t kIndex = 0xfedcba98fffffff0;
  constexpr uint32_t kStream = 0xdeadbeef, kBlock = 0xfffffff5;
  const uint32_t key[2] = {0x89abcdef, 0x01234567};
  const auto block_of = [&](uint64_t index, uint32_t block) {
    return Philox(
        {block, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), kStream}, key[0],
        key[1]);
  };
  ASSERT_EQ(PhiloxTargets().back().name, std::string("Random123"));
  for (const PhiloxTarget& target : PhiloxTargets()) {
    for (const uint32_t of_case : {4u, 8u, 16u, 32u}) {
      for (const uint32_t stride : {0u, 1u, 68u, 0xfffffff0u}) {
        std::vector<uint32_t> words(4 * kPhiloxBlocks);
        target.make({kIndex, kStream, kBlock, of_case, stride}, key, words.data());
        for (uint32_t i = 0; i < kPhiloxBlocks; ++i) {
          const Block block =
              block_of(kIndex + i / of_case * uint64_t{stride}, kBlock + i % of_case);
          for (int word = 0; word < 4; ++word) {
            ASSERT_EQ(words[4 * i + word], block[word])
                << target.name << ", " << of_case << ", stride " << stride;
          }
        }
      }
    }
  }
}

constexpr uint64_t kSeed = 0x0123456789abcdef, kIndex = 0xfedcba9876543210;
constexpr uint32_t kStream = 0xdeadbeef;

// Little-endian bytes of the first `blocks` blocks of the stream, from the library itself.
std::vector<uint8_t> ExpectedBytes(uint32_t blocks) {
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < blocks; ++i) {
    for (const uint32_t word :
         Philox({i, 0x76543210, 0xfedcba98, kStream}, 0x89abcdef, 0x01234567)) {
      for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(word >> 8 * byte));
    }
  }
  return bytes;
}

TEST(Random, FirstWordsFromTheKnownAnswer) {
  Random r(0, 0, 0);  // block 0 is the first known answer
  EXPECT_EQ(r.Bits(64), 0xe169c58d6627e8d5);
  EXPECT_EQ(r.Bits(32), 0xbc57ac4c);
  EXPECT_EQ(r.Bits(16), 0xdbd8);
}

TEST(Random, WholeWordsAreTheBlocksInOrder) {
  const std::vector<uint8_t> expected = ExpectedBytes(64);
  Random r(kSeed, kStream, kIndex);
  for (size_t i = 0; i + 8 <= expected.size(); i += 8) {
    uint64_t word = 0;
    for (int byte = 7; byte >= 0; --byte) word = word << 8 | expected[i + byte];
    ASSERT_EQ(r.Bits(64), word) << "at byte " << i;
  }
}

// Draws of every width: each takes whole bytes; a draw that would begin in the last 7 bytes of a
// group of 64 begins with the next group.
TEST(Random, DrawsOfEveryWidth) {
  const std::vector<uint8_t> expected = ExpectedBytes(256);
  Random r(kSeed, kStream, kIndex);
  size_t position = 0;
  for (int draw = 0; draw < 600; ++draw) {
    const int n = draw * 29 % 65;
    if (position % 64 > 56) position += 64 - position % 64;
    uint64_t word = 0;
    for (int byte = 7; byte >= 0; --byte) {
      word = word << 8 | expected[position + static_cast<size_t>(byte)];
    }
    ASSERT_EQ(r.Bits(n), n == 64 ? word : word & ((uint64_t{1} << n) - 1)) << draw << ": " << n;
    position += (n + 7) / 8;
    ASSERT_LT(position + 64, expected.size());
  }
}

template <class T>
void ExpectEachIsOneDrawAfterTheOther() {
  Random each(kSeed, kStream, kIndex), one(kSeed, kStream, kIndex);
  for (int count = 0; count < 200; ++count) {
    int next = 0;
    each.Each<T>(count, [&](int i, T draw) {
      ASSERT_EQ(i, next++);
      ASSERT_EQ(draw, one.Bits(8 * sizeof(T))) << i << " of " << count;
    });
    ASSERT_EQ(next, count);
    ASSERT_EQ(each.Bits(24), one.Bits(24));  // from any byte on
  }
}

TEST(Random, EachIsOneDrawAfterTheOther) {
  ExpectEachIsOneDrawAfterTheOther<uint8_t>();
  ExpectEachIsOneDrawAfterTheOther<uint16_t>();
  ExpectEachIsOneDrawAfterTheOther<uint32_t>();
  ExpectEachIsOneDrawAfterTheOther<uint64_t>();
}

TEST(Random, SeedStreamAndIndexAllCount) {
  const uint64_t base = Random(kSeed, kStream, kIndex).Bits(64);
  EXPECT_EQ(Random(kSeed, kStream, kIndex).Bits(64), base);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(Random(kSeed ^ 1ull << bit, kStream, kIndex).Bits(64), base) << bit;
    EXPECT_NE(Random(kSeed, kStream, kIndex ^ 1ull << bit).Bits(64), base) << bit;
  }
  for (int bit = 0; bit < 32; ++bit) {
    EXPECT_NE(Random(kSeed, kStream ^ 1u << bit, kIndex).Bits(64), base) << bit;
  }
}

// Below() is a function of 16 bits, so its counts over all of them are exact: each value has
// floor or ceil of 65536 / n of them. Below() must give those values, in the order of the draws.
TEST(Random, BelowReachesEveryValueAndNoOther) {
  for (const int n : {1, 2, 3, 5, 7, 8, 10, 73, 100, 128, 1000, 4095, 4096}) {
    std::vector<int> preimages(n);
    for (uint64_t bits = 0; bits < 65536; ++bits) ++preimages[bits * n >> 16];
    for (const int count : preimages) {
      ASSERT_GE(count, 65536 / n) << n;
      ASSERT_LE(count, 65536 / n + 1) << n;
    }
    Random r(1, 2, 3), bits(1, 2, 3);
    std::vector<int> seen(n);
    for (int draw = 0; draw < 100000; ++draw) {
      const int value = r.Below(n);
      ASSERT_EQ(value, static_cast<int>(bits.Bits(16) * n >> 16));
      ASSERT_GE(value, 0);
      ASSERT_LT(value, n);
      ++seen[value];
    }
    // Deterministic: these counters reach every value of every n here.
    for (int value = 0; value < n; ++value) EXPECT_GT(seen[value], 0) << value << " of " << n;
  }
}

TEST(Random, BetweenIncludesBothEnds) {
  Random r(7, 7, 7);
  std::vector<int> seen(8);
  for (int draw = 0; draw < 1000; ++draw) {
    const int value = r.Between(-3, 4);
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 4);
    ++seen[value + 3];
  }
  for (const int count : seen) EXPECT_GT(count, 0);
  EXPECT_EQ(r.Between(5, 5), 5);
  EXPECT_EQ(r.Between(-1000, -1000), -1000);
}

TEST(Random, OneInAndCoin) {
  Random r(1, 1, 1);
  int ones = 0, heads = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    ones += r.OneIn(4);
    heads += r.Coin();
    ASSERT_TRUE(r.OneIn(1));
  }
  // Exact for these counters; 1000 and 2000 are expected.
  EXPECT_GT(ones, 900);
  EXPECT_LT(ones, 1100);
  EXPECT_GT(heads, 1900);
  EXPECT_LT(heads, 2100);
}

}  // namespace
}  // namespace mmadiff
