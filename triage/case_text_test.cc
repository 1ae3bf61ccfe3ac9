#include "triage/case_text.h"

#include <gtest/gtest.h>

#include "sim/format.h"
#include "sim/word.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

TEST(NumberText, ShortExactForms) {
  EXPECT_EQ(NumberText(kF32, 0x3f800000), "1.0");
  EXPECT_EQ(NumberText(kF32, 0xbec00000), "-0.375");
  EXPECT_EQ(NumberText(kF16, 0x7bff), "65504.0");
  EXPECT_EQ(NumberText(kF32, 0xb3000000), "-2^-25");
  EXPECT_EQ(NumberText(kF32, 0x3f7fffff), "1 - 2^-24");
  EXPECT_EQ(NumberText(kF32, 0xbf7fffff), "-1 + 2^-24");
  EXPECT_EQ(NumberText(kF32, 0x3f800001), "1 + 2^-23");
  EXPECT_EQ(NumberText(kF32, 0x00000005), "5 * 2^-149");
  EXPECT_EQ(NumberText(kF32, 0x7f7fffff), "2^128 - 2^104");
  EXPECT_EQ(NumberText(kF64, 1), "2^-1074");
}

TEST(NumberText, WhatHasNoneIsRounded) {
  EXPECT_EQ(NumberText(kF32, 0x3dcccccd), "~0.100000001");
  EXPECT_EQ(NumberText(kF32, 0xc0490fdb), "~-3.14159274");
  EXPECT_EQ(NumberText(kF64, 0x7fe123456789abcd), "~9.6276454555959567e+307");
}

TEST(NumberText, SpecialsAndIntegers) {
  EXPECT_EQ(NumberText(kF32, 0), "+0");
  EXPECT_EQ(NumberText(kF32, 0x80000000), "-0");
  EXPECT_EQ(NumberText(kF16, 0xfc00), "-inf");
  EXPECT_EQ(NumberText(kF32, 0x7fc00000), "nan(0x400000)");
  EXPECT_EQ(NumberText(kS8, 0x80), "-128");
}

DotProductCase Nothing(const Operation& op) { return NeutralDotProduct(op.model); }

TEST(CaseText, TermsOfZeroAreCounted) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  DotProductCase dot = Nothing(op);
  dot.a[0] = dot.b[0] = 0x3c00;
  dot.c = 0xb3000000;
  EXPECT_EQ(CaseText(op, dot, 2),
            "  k=0  3c00 x 3c00  1.0 x 1.0\n"
            "  c    b3000000     -2^-25\n"
            "  15 terms are +0\n");
}

TEST(OtherOperands, AreNamedOrCounted) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Batch tile = NeutralBatch(op.model, op.shape(), 1);
  const int64_t element = IndexOf(op.shape(), {0, 15, 1});
  EXPECT_EQ(OtherOperandsText(op, tile, element), "");
  DotProductCase dot = Nothing(op);
  dot.a[3] = dot.b[3] = 0x3c00;
  dot.c = 0x3f800000;
  Insert(dot, 0, {0, 15, 1}, tile);
  EXPECT_EQ(OtherOperandsText(op, tile, element), "");
  EXPECT_EQ(
      OtherOperandsText(op, tile, 0),
      "A row 15 k=3: 3c00 = 1.0, B column 1 k=3: 3c00 = 1.0, C row 15 column 1: 3f800000 = 1.0");
  for (int k = 0; k < 5; ++k) tile.b[k] = 0x7c00;
  EXPECT_EQ(OtherOperandsText(op, tile, element), "0 of A, 5 of B and 0 of C are not +0");
}

TEST(OtherOperands, HaveScalesAndBlocks) {
  const Operation& scaled =
      *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  Batch tile = NeutralBatch(scaled.model, scaled.shape(), 1);
  EXPECT_EQ(OtherOperandsText(scaled, tile, 0), "");
  tile.a[2 * (64 + 4) - 1] = 0x40;
  EXPECT_EQ(OtherOperandsText(scaled, tile, 0), "A row 1 scale 3: 40 = 2.0");
  const Operation& blocks = *FindOperation("gfx942/v_mfma_f32_4x4x4_16b_f16");
  tile = NeutralBatch(blocks.model, blocks.shape(), 1);
  tile.c[16 + 5] = 0x40000000;
  EXPECT_EQ(OtherOperandsText(blocks, tile, 5), "block 1 C row 1 column 1: 40000000 = 2.0");
}

TEST(CaseText, EqualNeighboursShareALine) {
  const Operation& op = *FindOperation("x86/vpdpbusd");
  DotProductCase dot = Nothing(op);
  dot.a[1] = dot.a[2] = 0xff;
  dot.b[1] = dot.b[2] = 0xff;
  dot.a[3] = 1;  // times 0: an operand that matters to a device that differs
  EXPECT_EQ(CaseText(op, dot, 0),
            "k=1..2  ff x ff   255 x -1\n"
            "k=3     01 x 00   1 x 0\n"
            "c       00000000  0\n"
            "1 term is +0\n");
}

TEST(CaseText, SumsAreInParentheses) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k8.f32.f16.f16.f32");
  DotProductCase dot = Nothing(op);
  dot.a[0] = 0x0801;
  dot.b[0] = 0x3e00;
  EXPECT_EQ(CaseText(op, dot, 0),
            "k=0  0801 x 3e00  (2^-13 + 2^-23) x 1.5\n"
            "c    00000000     +0\n"
            "7 terms are +0\n");
}

TEST(CaseText, ScalesNameTheirElements) {
  const Operation& op = *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  DotProductCase dot = Nothing(op);
  dot.a[17] = dot.b[17] = 2;
  dot.a[65] = 0x40;
  EXPECT_EQ(CaseText(op, dot, 0),
            "k=17             02 x 02   1.0 x 1.0\n"
            "c                00000000  +0\n"
            "scales k=16..31  40 x 38   2.0 x 1.0\n"
            "63 terms are +0\n"
            "3 pairs of scales are 1.0\n");
}

}  // namespace
}  // namespace mmadiff
