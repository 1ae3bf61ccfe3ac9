#include "triage/verdict.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace mmadiff {
namespace {

Operation MakeOperation(NanVerdict verdict) {
  static const Numerics bits = {"x", nullptr, {}, {}, NanVerdict::kBits};
  static const Numerics any = {"x", nullptr, {}, {}, NanVerdict::kAnyNan};
  Operation op = Operations()[0];
  op.numerics = verdict == NanVerdict::kBits ? &bits : &any;
  op.model.d = kF32;
  return op;
}

TEST(SameResult, ComparesBits) {
  const Operation op = MakeOperation(NanVerdict::kBits);
  EXPECT_TRUE(SameResult(op, 0x3f800000, 0x3f800000));
  EXPECT_FALSE(SameResult(op, 0x3f800000, 0x3f800001));
  EXPECT_FALSE(SameResult(op, 0x00000000, 0x80000000));
  EXPECT_FALSE(SameResult(op, 0x7fffffff, 0x7fc00000));
}

TEST(SameResult, AnyNanOnlyWhereTheOperationSaysSo) {
  const Operation op = MakeOperation(NanVerdict::kAnyNan);
  EXPECT_TRUE(SameResult(op, 0x7fffffff, 0xffc00000));
  EXPECT_FALSE(SameResult(op, 0x7fffffff, 0x7f800000));
  EXPECT_FALSE(SameResult(op, 0x7f800000, 0x7fffffff));
  EXPECT_FALSE(SameResult(op, 0x00000000, 0x80000000));
}

TEST(Differences, IndicesAscend) {
  const Operation op = MakeOperation(NanVerdict::kAnyNan);
  const std::vector<uint64_t> model = {1, 2, 0x7fffffff, 4}, device = {0, 2, 0x7fc00000, 5};
  EXPECT_EQ(Differences(op, model, device), (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(Differences(op, model, model).empty());
}

struct HexCase {
  const Format* format;
  uint64_t word;
  const char* text;
};

TEST(HexFloat, EveryFormat) {
  const HexCase cases[] = {
      {&kF32, 0x3f800000, "0x1p+0"},
      {&kF32, 0x41400000, "0x1.8p+3"},
      {&kF32, 0x3f800001, "0x1.000002p+0"},
      {&kF32, 0x7f7fffff, "0x1.fffffep+127"},
      {&kF32, 0x00000001, "0x1p-149"},
      {&kF32, 0x80000003, "-0x1.8p-148"},
      {&kF32, 0x007fffff, "0x1.fffffcp-127"},
      {&kF32, 0x00000000, "0x0p+0"},
      {&kF32, 0x80000000, "-0x0p+0"},
      {&kF32, 0x7f800000, "inf"},
      {&kF32, 0xff800000, "-inf"},
      {&kF32, 0x7fc00000, "nan(0x400000)"},
      {&kF32, 0xff800001, "-nan(0x1)"},
      {&kF64, 0x3ff0000000000001, "0x1.0000000000001p+0"},
      {&kF64, 0x8000000000000001, "-0x1p-1074"},
      {&kF64, 0x7fefffffffffffff, "0x1.fffffffffffffp+1023"},
      {&kTf32, 0x3f802000, "0x1.004p+0"},
      {&kTf32, 0x3f801fff, "0x1p+0"},  // the ignored bits are no part of the value
      {&kF16, 0x0001, "0x1p-24"},
      {&kF16, 0xfbff, "-0x1.ffcp+15"},
      {&kBf16, 0x3fc0, "0x1.8p+0"},
      {&kBf16, 0x3f81, "0x1.02p+0"},
      {&kE4m3, 0x7e, "0x1.cp+8"},
      {&kE4m3, 0x7f, "nan(0x7)"},
      {&kE4m3, 0x01, "0x1p-9"},
      {&kE5m2, 0x7c, "inf"},
      {&kS32, 0xffffffff, "-1"},
      {&kS32, 0x80000000, "-2147483648"},
      {&kU8, 0xff, "255"},
      {&kE4m3fnuz, 0x80, "-nan(0x0)"},
      {&kE4m3fnuz, 0x7f, "0x1.ep+7"},
      {&kE2m1, 0x7, "0x1.8p+2"},
      {&kE2m1, 0x9, "-0x1p-1"},
      {&kE3m2, 0x1f, "0x1.cp+4"},
      {&kE2m3, 0x1, "0x1p-3"},
      {&kUe8m0, 0x00, "0x1p-127"},
      {&kUe8m0, 0xfe, "0x1p+127"},
      {&kUe8m0, 0xff, "nan(0x0)"},
      {&kUe4m3, 0xb8, "0x1p+0"},
      {&kS4, 0x8, "-8"},
      {&kU4, 0xf, "15"},
      {&kB1, 0x1, "1"},
  };
  for (const HexCase& c : cases) {
    EXPECT_EQ(HexFloat(*c.format, c.word), c.text) << c.format->name << " " << c.word;
  }
}

struct UlpCase {
  const Format* format;
  uint64_t x, y;
  int64_t distance;
};

TEST(UlpDistance, EveryFormat) {
  const UlpCase cases[] = {
      {&kF32, 0x3f800000, 0x3f800001, 1},
      {&kF32, 0x3f800001, 0x3f800000, 1},
      {&kF32, 0x3f7fffff, 0x3f800000, 1},
      {&kF32, 0x00000001, 0x80000001, 2},
      {&kF32, 0x00000000, 0x80000000, 0},
      {&kF32, 0x7f7fffff, 0x7f800000, 1},
      {&kF32, 0x7fc00000, 0x3f800000, -1},
      {&kF32, 0x3f800000, 0x7fc00000, -1},
      {&kF64, 0x0000000000000000, 0x3ff0000000000000, 0x3ff0000000000000},
      {&kF64, 0xfff0000000000000, 0x7ff0000000000000, 0x7fffffffffffffff},  // saturated
      {&kTf32, 0x3f800000, 0x3f802000, 1},
      {&kF16, 0x8001, 0x0002, 3},
      {&kBf16, 0x3f80, 0x3f90, 16},
      {&kE4m3, 0x7e, 0x7f, -1},
      {&kE4m3, 0x00, 0x7e, 0x7e},
      {&kS32, 0x7fffffff, 0x80000000, 0xffffffff},
      {&kS8, 0xff, 0x01, 2},
      {&kE2m1, 0x9, 0x1, 2},
      {&kUe8m0, 0x00, 0xfe, 0xfe},  // no sign
      {&kUe4m3, 0xb8, 0x38, 0},
  };
  for (const UlpCase& c : cases) {
    EXPECT_EQ(UlpDistance(*c.format, c.x, c.y), c.distance) << c.format->name << " " << c.x;
  }
}

TEST(DescribeDifference, F32) {
  EXPECT_EQ(DescribeDifference(kF32, 0x3f800000, 0xbf800001, {}),
            "model   0|01111111|00000000000000000000000  0x3f800000  0x1p+0  1.0\n"
            "device  1|01111111|00000000000000000000001  0xbf800001  -0x1.000002p+0  -1 - 2^-23\n"
            "        ^                                ^\n"
            "distance: 2130706433 ulps\n");
}

TEST(DescribeDifference, AnUncountableDistanceSaysSo) {
  const std::string text = DescribeDifference(kF64, 0x7fefffffffffffff, 0xffefffffffffffff, {});
  EXPECT_NE(text.find("distance: at least 9223372036854775807 ulps"), std::string::npos) << text;
}

TEST(DescribeDifference, OneUlpOfF16) {
  EXPECT_EQ(DescribeDifference(kF16, 0x3c00, 0x3bff, {}),
            "model   0|01111|0000000000  0x3c00  0x1p+0  1.0\n"
            "device  0|01110|1111111111  0x3bff  0x1.ffcp-1  1 - 2^-11\n"
            "              ^ ^^^^^^^^^^\n"
            "distance: 1 ulp\n");
}

TEST(DescribeDifference, WhatIsTooWideFollowsTheBits) {
  EXPECT_EQ(DescribeDifference(kF16, 0x3c00, 0x3bff, {.width = 50}),
            "model   0|01111|0000000000\n"
            "device  0|01110|1111111111\n"
            "              ^ ^^^^^^^^^^\n"
            "model   0x3c00  0x1p+0  1.0\n"
            "device  0x3bff  0x1.ffcp-1  1 - 2^-11\n"
            "distance: 1 ulp\n");
}

TEST(DescribeDifference, IgnoredBitsAreAField) {
  EXPECT_EQ(DescribeDifference(kTf32, 0x3f800000, 0x3f800001, {}),
            "model   0|01111111|0000000000|0000000000000  0x3f800000  0x1p+0  1.0\n"
            "device  0|01111111|0000000000|0000000000001  0x3f800001  0x1p+0  1.0\n"
            "                                          ^\n"
            "distance: 0 ulps, equal numbers\n");
}

TEST(DescribeDifference, ScalesWithoutSign) {
  EXPECT_EQ(DescribeDifference(kUe8m0, 0x7f, 0x80, {}),
            "model   01111111  0x7f  0x1p+0  1.0\n"
            "device  10000000  0x80  0x1p+1  2.0\n"
            "        ^^^^^^^^\n"
            "distance: 1 ulp\n");
  EXPECT_EQ(DescribeDifference(kE2m1, 0x2, 0x3, {}),
            "model   0|01|0  0x02  0x1p+0  1.0\n"
            "device  0|01|1  0x03  0x1.8p+0  1.5\n"
            "             ^\n"
            "distance: 1 ulp\n");
}

TEST(DescribeDifference, Nan) {
  EXPECT_EQ(DescribeDifference(kE4m3, 0x7f, 0x7e, {}),
            "model   0|1111|111  0x7f  nan(0x7)\n"
            "device  0|1111|110  0x7e  0x1.cp+8  448.0\n"
            "                 ^\n"
            "distance: none, one is a NaN\n");
}

TEST(DescribeDifference, IntegersInDecimal) {
  EXPECT_EQ(DescribeDifference(kS8, 0x7f, 0x80, {}),
            "model   01111111  0x7f  127\n"
            "device  10000000  0x80  -128\n"
            "        ^^^^^^^^\n"
            "difference: -255 (device - model)\n");
}

TEST(DescribeDifference, ColorMarksTheDifferingBits) {
  const std::string text = DescribeDifference(kBf16, 0x3f80, 0x3f81, {.color = true});
  EXPECT_NE(text.find("0|01111111|000000\xfe"
                      "1\xff  0x3f81"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("0|01111111|000000\xfe"
                      "0\xff  0x3f80"),
            std::string::npos)
      << text;
}

TEST(DescribeDifference, EveryFormatHasOneColumnForEachBit) {
  for (const Format* f : kFormats) {
    const std::string text = DescribeDifference(*f, 0, LowBits(f->bits), {});
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    EXPECT_EQ(std::ranges::count(lines[2], '^'), f->bits) << text;
  }
}

}  // namespace
}  // namespace mmadiff
