// FillWords() in the vectors of this machine against the text that makes one word after the other.
#include "fuzz/cases/fills.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fuzz/cases/operands.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Of every operand that has a sign and a fraction.
std::set<const Format*> SignedFloats() {
  std::set<const Format*> formats;
  for (const auto& ops : {Operations(), UnmodelledOperations()}) {
    for (const Operation& op : ops) {
      if (IsInteger(*op.instruction->d)) continue;
      formats.insert({op.instruction->a, op.instruction->b, op.instruction->c});
    }
  }
  return formats;
}

TEST(FillTarget, GivesTheWordsOfTheScalarText) {
  constexpr uint64_t kUntouched = 0xabcdefabcdefabcd;
  ASSERT_TRUE(FillTargets().empty() || BestFill() == FillTargets()[0].make);
  uint32_t tile = 0;
  for (const FillTarget& target : FillTargets()) {
    for (const Format* format : SignedFloats()) {
      const Format& f = *format;
      const int draw = DrawOf(f);
      for (int count = 1; count < 150; count += count < 40 ? 1 : 23) {
        Random expected_random(3, 5, ++tile), random(3, 5, tile);
        const int stride = 1 + count % 5;
        int exponents[4];  // some beyond the format
        for (int& e : exponents) {
          e = expected_random.Between(Lowest(f) - 3, MaxExponent(f) + 3);
          ASSERT_EQ(random.Between(Lowest(f) - 3, MaxExponent(f) + 3), e);
        }
        const bool zeros = expected_random.Coin();
        ASSERT_EQ(random.Coin(), zeros);
        std::vector<uint64_t> expected(count * stride + 64, kUntouched), words = expected;
        const auto scalar = draw == 64 ? FillWordsOf<uint64_t> : FillWordsOf<uint32_t>;
        scalar(f, exponents, zeros, draw, expected.data(), count, stride, expected_random);
        target.make(WordRuleOf(f, exponents, zeros), draw / 8, count, words.data(), stride, random);
        ASSERT_EQ(words, expected) << target.name << ' ' << f.name << ", " << count << " words";
        ASSERT_EQ(random.Bits(64), expected_random.Bits(64)) << "draws taken";
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
