// FillWords() in the vectors of this machine against the text that makes one word after the other.
#include "corpus/cases/fills.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "corpus/cases/operands.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Of every operand that has a sign and a fraction.
std::set<const Format*> SignedFloats() {
  std::set<const Format*> formats;
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (IsInteger(*op.instruction->d) || op.instruction->is_conversion()) continue;
      formats.insert({op.instruction->a, op.instruction->b, op.instruction->c});
    }
  }
  return formats;
}

constexpr uint64_t kUntouched = 0xabcdefabcdefabcd;

// Two streams with the same bits, at any place of a group.
struct TwoStreams {
  explicit TwoStreams(uint32_t number) : made(3, 5, number), scalar(3, 5, number) {
    for (uint32_t i = 0; i < number % 61; ++i) made.Bits(8), scalar.Bits(8);
  }
  Random made, scalar;
};

// `make` and `scalar` fill `size` words with the same words and take the same draws.
template <class Make, class Scalar>
void ExpectSame(uint32_t number, int size, Make make, Scalar scalar, const std::string& what) {
  TwoStreams r(number);
  std::vector<uint64_t> words(size, kUntouched), expected = words;
  scalar(expected.data(), r.scalar);
  make(words.data(), r.made);
  ASSERT_EQ(words, expected) << what;
  ASSERT_EQ(r.made.Bits(64), r.scalar.Bits(64)) << what << ", draws taken";
}

TEST(FillTarget, GivesTheWordsOfTheScalarText) {
  ASSERT_TRUE(FillTargets().empty() || BestFill() == &FillTargets()[0]);
  uint32_t number = 0;
  for (const FillTarget& target : FillTargets()) {
    for (const Format* format : SignedFloats()) {
      const Format& f = *format;
      const WordFormat words(f);
      const auto scalar = DrawOf(f) == 64 ? FillWordsOf<uint64_t> : FillWordsOf<uint32_t>;
      for (int count = 1; count < 150; count += count < 40 ? 1 : 23) {
        Random random(3, 6, ++number);
        const int stride = 1 + count % 5, size = count * stride + 64;
        const std::string what =
            std::string(target.name) + ' ' + f.name + ", " + std::to_string(count) + " words";
        int exponents[4];  // some beyond the format
        for (int& e : exponents) e = random.Between(Lowest(f) - 3, MaxExponent(f) + 3);
        const bool zeros = random.Coin();
        ExpectSame(
            number, size,
            [&](uint64_t* out, Random& r) {
              target.make(words, exponents, zeros, count, out, stride, r);
            },
            [&](uint64_t* out, Random& r) {
              scalar(f, exponents, zeros, DrawOf(f), out, count, stride, r);
            },
            what);
        const int e = exponents[0], near[4] = {e, e, e, e - 1};
        ExpectSame(
            number, size,
            [&](uint64_t* out, Random& r) { target.make_near(words, e, count, out, stride, r); },
            [&](uint64_t* out, Random& r) {
              scalar(f, near, false, DrawOf(f), out, count, stride, r);
            },
            what + " near");
      }
    }
  }
}

TEST(FillTarget, GivesWordsOfEitherSign) {
  uint32_t number = 0;
  for (const FillTarget& target : FillTargets()) {
    for (int count = 1; count < 150; ++count) {
      const int up = count % 64, stride = 1 + count % 3;
      const uint64_t sign = count % 7 == 0 ? 0 : 1ull << up,
                     word = LowBits(up) & 0x5b5b5b5b5b5b5b5b;
      ExpectSame(
          ++number, count * stride + 64,
          [&](uint64_t* out, Random& r) {
            target.make_signed(word, sign, up >= 32, count, out, stride, r);
          },
          [&](uint64_t* out, Random& r) {
            for (int i = 0; i < count; ++i) out[i * stride] = word | (r.Coin() ? sign : 0);
          },
          target.name);
    }
  }
}

TEST(FillTarget, GivesBits) {
  uint32_t number = 0;
  for (const FillTarget& target : FillTargets()) {
    for (int bits = 1; bits <= 64; ++bits) {
      for (int count = 0; count < 300; count += 1 + count / 3) {
        ExpectSame(
            ++number, count + 8,
            [&](uint64_t* out, Random& r) { target.make_bits(bits, count, out, r); },
            [&](uint64_t* out, Random& r) {
              for (int i = 0; i < count; ++i) out[i] = r.Bits(bits);
            },
            target.name);
      }
    }
  }
}

TEST(FillTarget, GivesAnyNumbersOrNone) {
  uint32_t number = 0;
  for (const FillTarget& target : FillTargets()) {
    int made = 0;
    for (const Format* format : SignedFloats()) {
      const RandomWords any(*format);
      for (int round = 0; round < 600; ++round) {
        const int count = 1 + round % 5;
        TwoStreams r(++number);
        uint64_t words[5 + 16];
        if (target.make_any(WordFormat(*format), count, words, r.made)) {
          ++made;
          for (int i = 0; i < count; ++i) {
            ASSERT_EQ(words[i], any(r.scalar)) << target.name << ' ' << format->name;
          }
        }
        ASSERT_EQ(r.made.Bits(64), r.scalar.Bits(64)) << target.name << ' ' << format->name;
      }
    }
    EXPECT_EQ(made > 1000, std::string(target.name) == "AVX3") << target.name;
  }
}

}  // namespace
}  // namespace mmadiff
