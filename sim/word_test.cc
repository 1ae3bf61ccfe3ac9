#include "sim/word.h"

#include <string>

#include "gtest/gtest.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

using Class = Value::Class;

// Every word of the narrow formats, a lattice of the wide ones.
TEST(Value, PackInvertsUnpack) {
  for (const Format* f : kFormats) {
    const uint64_t step = f->bits <= 16 ? 1 : (LowBits(f->bits) / 99991) | 1;
    // Of unsigned scales with a bit to spare the top one is not read.
    const int read = IsInteger(*f) || f->is_signed ? f->bits : f->exponent_bits + f->fraction_bits;
    for (uint64_t i = 0; i <= LowBits(read) / step; ++i) {
      const uint64_t word = i * step & ~LowBits(f->ignored_bits);
      uint64_t back = ~word;
      ASSERT_TRUE(EncodeValue(*f, DecodeValue(*f, word), &back)) << f->name << " " << word;
      ASSERT_EQ(back, word) << f->name;
    }
  }
}

TEST(Value, Fields) {
  const Value f16 = DecodeValue(kF16, 0xbe00);  // -1.5
  EXPECT_TRUE(f16.negative);
  EXPECT_EQ(f16.exponent, 0);
  EXPECT_EQ(f16.fraction, 1ull << 63);
  EXPECT_EQ(DecodeValue(kF16, 0x0003).exponent, -23);
  const Value s8 = DecodeValue(kS8, 0x80);
  EXPECT_TRUE(s8.negative);
  EXPECT_EQ(s8.exponent, 7);
  EXPECT_EQ(DecodeValue(kF32, 0x7fc00001).fraction, 0x400001u);
}

TEST(Value, PackRefusesWhatTheFormatCannotHold) {
  uint64_t word = 77;
  EXPECT_FALSE(EncodePowerOfTwo(kF16, false, 16, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kF16, false, -25, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kS8, false, 7, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kU8, true, 0, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kS32, false, -1, &word));
  EXPECT_FALSE(EncodeValue(kF16, {Class::kFinite, false, -24, 1ull << 63}, &word));
  EXPECT_FALSE(EncodeValue(kF16, {Class::kFinite, false, 0, 1ull << 53}, &word));
  EXPECT_FALSE(EncodeValue(kE4m3, {Class::kInfinite, false, 0, 0}, &word));
  EXPECT_FALSE(EncodeValue(kE4m3, {Class::kFinite, false, 8, 7ull << 61}, &word));  // its NaN
  EXPECT_FALSE(EncodeValue(kF16, {Class::kNan, false, 0, 0}, &word));
  EXPECT_EQ(word, 77u);
  EXPECT_TRUE(EncodePowerOfTwo(kS8, true, 7, &word));
  EXPECT_EQ(word, 0x80u);
}

// Unsigned scales, NaN at -0, formats without infinity or NaN.
TEST(Value, OddFormats) {
  EXPECT_EQ(DecodeValue(kUe8m0, 0x7f).exponent, 0);
  EXPECT_EQ(DecodeValue(kUe8m0, 0x00).exponent, -127);  // no zero
  EXPECT_EQ(DecodeValue(kUe8m0, 0xff).kind, Class::kNan);
  EXPECT_EQ(DecodeValue(kUe4m3, 0xb8).exponent, 0);  // the top bit is not read
  EXPECT_FALSE(DecodeValue(kUe4m3, 0xb8).negative);
  EXPECT_EQ(DecodeValue(kE5m2fnuz, 0x80).kind, Class::kNan);
  EXPECT_EQ(LowestExponent(kUe8m0), -127);
  EXPECT_EQ(HighestExponent(kUe8m0), 127);
  EXPECT_EQ(LowestExponent(kE2m1), -1);
  uint64_t word = 77;
  EXPECT_FALSE(EncodeValue(kUe8m0, {Class::kZero, false, 0, 0}, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kUe8m0, true, 0, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kUe8m0, false, 128, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kUe8m0, false, -128, &word));
  EXPECT_FALSE(EncodePowerOfTwo(kUe4m3, true, 0, &word));
  EXPECT_FALSE(
      EncodeValue(kE4m3fnuz, {Class::kZero, true, 0, 0}, &word));  // the pattern is its NaN
  for (const Format* f : {&kE2m1, &kE2m3, &kE3m2, &kE4m3fnuz, &kE4m3, &kUe8m0, &kUe4m3}) {
    EXPECT_FALSE(EncodeValue(*f, {Class::kInfinite, false, 0, 0}, &word)) << f->name;
  }
  EXPECT_EQ(word, 77u);
}

TEST(Value, SimplestNanOfEveryFormat) {
  const std::pair<const Format*, uint64_t> nans[] = {{&kF32, 0x7fc00000}, {&kTf32, 0x7fc00000},
                                                     {&kE5m2, 0x7e},      {&kE4m3, 0x7f},
                                                     {&kUe8m0, 0xff},     {&kUe4m3, 0x7f}};
  uint64_t word = 0;
  for (const auto& [format, nan] : nans) {
    EXPECT_TRUE(EncodeNan(*format, false, &word)) << format->name;
    EXPECT_EQ(word, nan) << format->name;
  }
  EXPECT_TRUE(EncodeNan(kE4m3fnuz, true, &word));
  EXPECT_EQ(word, 0x80u);
  EXPECT_FALSE(EncodeNan(kE4m3fnuz, false, &word));
  for (const Format* f : kFormats) {
    if (f->nonfinite != Nonfinite::kNone) continue;
    EXPECT_FALSE(EncodeNan(*f, false, &word)) << f->name;
  }
}

TEST(IntegerWord, KnownWords) {
  EXPECT_EQ(IntegerWord(kF16, 1), 0x3c00u);
  EXPECT_EQ(IntegerWord(kTf32, 3), 0x40400000u);
  EXPECT_EQ(IntegerWord(kUe8m0, 1), 0x7fu);
  EXPECT_EQ(IntegerWord(kUe4m3, 2), 0x40u);
  EXPECT_EQ(IntegerWord(kE2m1, 3), 5u);
  EXPECT_EQ(IntegerWord(kE4m3fnuz, 1), 0x40u);
  EXPECT_EQ(IntegerWord(kF64, 2), 0x4000000000000000u);
  EXPECT_EQ(IntegerWord(kS4, 5), 5u);
}

TEST(NeutralWord, ZerosAndScalesOfOne) {
  const Operation& op = *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  const DotProductCase dot = NeutralDotProduct(op.model);
  const Batch batch = NeutralBatch(op.model, op.shape(), 2);
  ASSERT_EQ(dot.a.size(), 68u);
  for (size_t i = 0; i < batch.a.size(); ++i) {
    EXPECT_EQ(batch.a[i], i % 68 < 64 ? 0u : 0x38u) << i;
    EXPECT_EQ(dot.a[i % 68], batch.a[i]);
  }
  EXPECT_EQ(Extract(batch, batch.dot_products() - 1), dot);
}

}  // namespace
}  // namespace mmadiff
