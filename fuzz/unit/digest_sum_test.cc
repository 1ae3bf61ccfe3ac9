// Digests against the library of xxHash, in every kind of vectors that this machine has.
#include "fuzz/unit/digest_sum.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <random>
#include <vector>

#include "fuzz/unit/digest.h"

namespace mmadiff {
namespace {

using Sum = unsigned __int128;

// XXH3-128 of a result's word, seeded with the number of its dot product.
TEST(HashOfResult, IsXxh3OfEveryWord) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t word = random() >> random() % 64, number = random() >> random() % 64;
    const XXH128_hash_t hash = XXH3_128bits_withSeed(&word, 8, number);
    EXPECT_TRUE(HashOfResult(word, number) == (static_cast<Sum>(hash.high64) << 64 | hash.low64));
  }
}

// Vectors sum the hashes of one after the other, from any number on.
TEST(SumOfHashes, IsThatOfEachInEveryVector) {
  std::mt19937_64 random(2);
  for (const uint64_t first : {uint64_t{0}, uint64_t{0xfffffffd}, ~uint64_t{6}, random()}) {
    for (const size_t size : {0u, 1u, 7u, 8u, 64u, 1003u}) {
      std::vector<uint64_t> words(size);
      for (uint64_t& word : words) word = random() >> random() % 64;
      Sum sum = 0;
      for (size_t i = 0; i < size; ++i) sum += HashOfResult(words[i], first + i);
      for (const HashTarget& target : HashTargets()) {
        EXPECT_TRUE(target.sum(words, first, {}) == sum) << target.name << ", " << size << " words";
      }
    }
  }
}

// Every word of the small formats, and what lies around infinity in the others.
std::vector<uint64_t> WordsOf(const Format& f) {
  std::vector<uint64_t> words;
  if (f.bits <= 16) {
    for (uint64_t word = 0; word <= LowBits(f.bits); ++word) words.push_back(word);
    return words;
  }
  std::mt19937_64 random(3);
  const uint64_t sign = 1ull << SignBit(f);
  for (int i = 0; i < 3000; ++i) {
    words.push_back(random() >> (64 - f.bits));
    words.push_back((words.back() | (MaxFiniteWord(f) & ~LowBits(f.fraction_bits))) &
                    ~LowBits(random() % f.bits));
  }
  for (const uint64_t s : {uint64_t{0}, sign}) {
    for (uint64_t i = 0; HasInfinity(f) && i < 20000; ++i) {
      words.push_back(s | (InfinityWord(f, false) + i - 10000));
    }
  }
  return words;
}

TEST(NanTest, SaysWhatIsNan) {
  for (const Format* f : kFormats) {
    const NanTest nan(*f);
    for (const uint64_t word : WordsOf(*f)) EXPECT_EQ(nan(word), IsNan(*f, word)) << f->name;
    EXPECT_FALSE(NanTest()(InfinityWord(kF64, false) + 1));
  }
}

TEST(SumOfHashes, HasOneHashForAllNans) {
  for (const Format* f : kFormats) {
    const std::vector<uint64_t> words = WordsOf(*f);
    Sum sum = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      sum += HashOfResult(ComparedWord(*f, true, words[i]), 5 + i);
    }
    for (const HashTarget& target : HashTargets()) {
      EXPECT_TRUE(target.sum(words, 5, NanTest(*f)) == sum) << target.name << ", " << f->name;
    }
  }
}

}  // namespace
}  // namespace mmadiff
