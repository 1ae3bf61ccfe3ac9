#include "device/line_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "sim/operation.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Instruction& Find(std::string_view name) { return *FindInstruction(name); }

std::string Error(absl::string_view instruction, absl::string_view line) {
  const absl::StatusOr<ProtocolLine> parsed =
      ParseLine(Find({instruction.data(), instruction.size()}), line);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(LineProtocol, WritesEveryOperandInItsOwnWidth) {
  const DotProductCase bf16 = {{0x3f80, 0x1}, {0xffff, 0}, 0x4b800000};
  EXPECT_EQ(FormatLine(Find("vdpbf16ps"), bf16), "3f80 0001 ffff 0000 4b800000");
  EXPECT_EQ(FormatLine(Find("vdpbf16ps"), bf16, 0xc), "3f80 0001 ffff 0000 4b800000 0000000c");
  const DotProductCase bytes = {{1, 2, 3, 0xab}, {0x80, 5, 6, 7}, 0x80000000};
  EXPECT_EQ(FormatLine(Find("vpdpbusd"), bytes), "01 02 03 ab 80 05 06 07 80000000");
  const DotProductCase f64 = {{0x3ff0000000000000}, {1}, 0x8000000000000000};
  EXPECT_EQ(FormatLine(Find("vfmadd231sd"), f64, ~0ull),
            "3ff0000000000000 0000000000000001 8000000000000000 ffffffffffffffff");
}

TEST(LineProtocol, ReadsEitherCaseBlanksAndLineEnds) {
  const auto line = ParseLine(Find("vdpbf16ps"), "  3F80\t1 fFfF 0  4B800000 \r\n");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->dot.a, ElementsAre(0x3f80, 1));
  EXPECT_THAT(line->dot.b, ElementsAre(0xffff, 0));
  EXPECT_EQ(line->dot.c, 0x4b800000u);
  EXPECT_EQ(line->d, std::nullopt);
}

TEST(LineProtocol, ResultIsOneWordMore) {
  const auto line = ParseLine(Find("vfmadd231ss"), "3f800000 40000000 0 40000000");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->d, 0x40000000u);
}

TEST(LineProtocol, Comments) {
  EXPECT_TRUE(IsComment(""));
  EXPECT_TRUE(IsComment(" \t\r"));
  EXPECT_TRUE(IsComment("# 3f80"));
  EXPECT_TRUE(IsComment("  #"));
  EXPECT_FALSE(IsComment("3f80 #"));
}

constexpr char kScaled[] = "mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x";

// The scales lie behind the elements of a row, and behind c on the line, those of a first.
TEST(LineProtocol, ScalesFollowTheAddend) {
  const Instruction& i = Find(kScaled);
  DotProductCase dot = {std::vector<uint64_t>(68), std::vector<uint64_t>(68), 0x3f800000};
  dot.a[0] = 1;
  dot.a[63] = 2;
  dot.b[0] = 3;
  dot.b[63] = 0xf;
  for (int s = 0; s < 4; ++s) {
    dot.a[64 + s] = 0x38 + s;
    dot.b[64 + s] = 0x40 + s;
  }
  std::string zeros;
  for (int k = 0; k < 62; ++k) zeros += "00 ";
  const std::string line = "01 " + zeros + "02 03 " + zeros + "0f 3f800000 38 39 3a 3b 40 41 42 43";
  EXPECT_EQ(FormatLine(i, dot), line);
  EXPECT_EQ(FormatLine(i, dot, 5), line + " 00000005");
  EXPECT_EQ(ParseLine(i, line)->dot, dot);
  EXPECT_EQ(ParseLine(i, line)->d, std::nullopt);
  EXPECT_EQ(ParseLine(i, line + " 5")->d, 5u);
}

TEST(LineProtocol, ErrorsNameTheScales) {
  std::string elements;
  for (int k = 0; k < 128; ++k) elements += "0 ";
  EXPECT_EQ(Error(kScaled, elements + "0 38 38 3x 38 38 38 38 38"),
            "word 132 (sa2), column 265: '3x': character 2 is not a hex digit");
  EXPECT_EQ(Error(kScaled, elements + "0 38 38 38 38 380 38 38 38"),
            "word 134 (sb0), column 271: '380' has 3 digits; ue4m3 has 2");
  EXPECT_EQ(Error(kScaled, "10 " + elements + "38 38 38 38 38 38 38 38"),
            "word 1 (a0), column 1: '10' does not fit the 4 bits of e2m1");
  const std::string count = absl::StrCat(" words, but ", kScaled,
                                         " has 137 (a0..a63 b0..b63 c sa0..sa3 sb0..sb3), or 138 "
                                         "with the result d");
  EXPECT_EQ(Error(kScaled, elements + "0"), "129" + count);
  EXPECT_EQ(Error(kScaled, elements + "0 38 38 38 38 38 38 38"), "136" + count);
  EXPECT_EQ(Error(kScaled, elements + "0 38 38 38 38 38 38 38 38 0 0"), "139" + count);
  EXPECT_THAT(Error("mma.m16n8k32.mxf8f6f4.f32.e4m3.e5m2.f32.ue8m0", "0"),
              HasSubstr("has 67 (a0..a31 b0..b31 c sa0 sb0), or 68"));
  EXPECT_THAT(Error("vfmadd231ss", "0"), HasSubstr("has 3 (a0 b0 c), or 4"));
}

// Every operation, so every format: what is written is read back.
TEST(LineProtocol, RoundTripOfEveryInstruction) {
  std::mt19937_64 random(1);
  for (const Instruction& i : Instructions()) {
    DotProductCase dot;
    for (int k = 0; k < i.shape.row_words(); ++k) {
      const int group = i.sparse() ? i.shape.k / i.shape.groups : 1;
      const bool stored = !i.sparse() || IsStored(group, 0xe, k % group);
      dot.a.push_back(stored ? random() & LowBits(i.a_format(k).bits) : 0);
      dot.b.push_back(random() & LowBits(i.b_format(k).bits));
    }
    dot.c = random() & LowBits(i.c->bits);
    dot.metadata.assign(i.shape.groups, 0xe);
    const uint64_t d = random() & LowBits(i.d->bits);
    const auto without = ParseLine(i, FormatLine(i, dot));
    ASSERT_TRUE(without.ok()) << without.status();
    EXPECT_EQ(without->dot, dot) << i.name;
    EXPECT_EQ(without->d, std::nullopt) << i.name;
    const auto with = ParseLine(i, FormatLine(i, dot, d));
    ASSERT_TRUE(with.ok()) << with.status();
    EXPECT_EQ(with->dot, dot) << i.name;
    EXPECT_EQ(with->d, d) << i.name;
  }
}

TEST(LineProtocol, ErrorsNameWordColumnAndRemedy) {
  EXPECT_EQ(Error("vdpbf16ps", "3f80 0000 3g80 0000 00000000"),
            "word 3 (b0), column 11: '3g80': character 2 is not a hex digit");
  EXPECT_EQ(Error("vdpbf16ps", " 3f80 00000 3f80 0000 00000000"),
            "word 2 (a1), column 7: '00000' has 5 digits; bf16 has 4");
  EXPECT_EQ(Error("vdpbf16ps", "0 0 0 0 0x1"),
            "word 5 (c), column 9: '0x1': character 2 is not a hex digit (write words without 0x)");
  EXPECT_EQ(Error("vdpbf16ps", "0 0 0 0 0 -1"),
            "word 6 (d), column 11: '-1': character 1 is not a hex digit");
  EXPECT_EQ(Error("mma.m8n8k4.f32.f16.f16.f16", "0 0 0 0 0 0 0 0 12345"),
            "word 9 (c), column 17: '12345' has 5 digits; f16 has 4");
  const std::string count = " words, but vdpbf16ps has 5 (a0..a1 b0..b1 c), or 6 with the result d";
  EXPECT_EQ(Error("vdpbf16ps", "0 0 0 0"), "4" + count);
  EXPECT_EQ(Error("vdpbf16ps", ""), "0" + count);
  EXPECT_EQ(Error("vdpbf16ps", "0 0 0 0 0 0 0 0"), "8" + count);
  EXPECT_THAT(Error("vdpbf16ps", "0 0 0 0 " + std::string(100000, '1')),
              HasSubstr("100000 digits"));
  EXPECT_LT(Error("vdpbf16ps", "0 0 0 0 " + std::string(100000, 'x')).size(), 200u);
}

TEST(LineProtocol, DenseFactorsOfASparseInstruction) {
  std::string zeros;
  for (int k = 0; k < 60; ++k) zeros += " 0";
  const absl::string_view name = "v_smfmac_f32_16x16x32_f16";
  EXPECT_THAT(Error(name, "1 0 1 1" + zeros + " 0"), HasSubstr("is sparse: at most two"));
  EXPECT_THAT(Error(name, "1 0 1 1" + zeros + " 0 0"), HasSubstr("too many differ: a0 to a3"));
  EXPECT_TRUE(ParseLine(Find("v_smfmac_f32_16x16x32_f16"), "0 0 1 1" + zeros + " 0").ok());
}

// Without e the metadata are what the zeros say; with one group e cannot be left out before d.
TEST(LineProtocol, OneWordOfMetadataIsGivenBeforeD) {
  Instruction in = Find("v_smfmac_f32_16x16x32_f16");
  in.shape.k = 4;
  in.shape.groups = 1;
  const std::string factors = "3c00 0000 0000 3c00 3c00 3c00 3c00 3c00";
  const auto metadata = [&](const std::string& rest) {
    return ParseLine(in, factors + rest)->dot.metadata;
  };
  EXPECT_EQ(metadata(" 00000001"), std::vector<uint64_t>{0xc});
  EXPECT_EQ(metadata(" 00000001 0c 40000000"), std::vector<uint64_t>{0xc});
  EXPECT_THAT(std::string(ParseLine(in, factors + " 00000001 40000000").status().message()),
              HasSubstr("word 10 (e0)"));
}

TEST(LineProtocol, AnyByteButADigitIsRefused) {
  for (int byte = 1; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    EXPECT_EQ(ParseHexWord(kBf16, std::string("0") + c).ok(), digit) << byte;
  }
}

TEST(LineProtocol, WhatAProgramAnswers) {
  const Instruction& i = Find("vfmadd231ss");
  const DotProductCase dot = {{0x3f800000}, {0x40000000}, 1};
  const std::string operands = FormatLine(i, dot);
  for (const std::string& before : {operands + " ", operands + "\t", std::string()}) {
    const auto good = ParseAnswer(i, before + "0000002a\r");
    ASSERT_TRUE(good.ok()) << good.status();
    EXPECT_EQ(good->d, 42u);
    EXPECT_EQ(good->dot, before.empty() ? std::nullopt : std::optional(dot));
    EXPECT_FALSE(good->failure.has_value());
    for (const auto& [word, kind] : std::initializer_list<std::pair<const char*, FailureKind>>{
             {"xxxxxxxx", FailureKind::kUnknownBits},
             {"3fz0?-UW", FailureKind::kUnknownBits},
             {"123456789", FailureKind::kWidth}}) {
      const auto failed = ParseAnswer(i, before + word);
      ASSERT_TRUE(failed.ok()) << failed.status();
      EXPECT_EQ(failed->failure->kind, kind) << word;
      EXPECT_THAT(failed->failure->text, HasSubstr(word));
      EXPECT_EQ(failed->dot, before.empty() ? std::nullopt : std::optional(dot));
    }
    for (const char* text : {"xxxx", "xxxxxxxxx", "error", "3f80000g"}) {
      EXPECT_FALSE(ParseAnswer(i, before + text).ok()) << text;
    }
  }
  EXPECT_THAT(ParseAnswer(i, operands).status().message(), HasSubstr("without a result"));
  EXPECT_FALSE(ParseAnswer(i, operands + " 0 xxxxxxxx").ok());
}

TEST(LineProtocol, HexWords) {
  EXPECT_EQ(HexWord(kE4m3, 0xa), "0a");
  EXPECT_EQ(HexWord(kTf32, 0xabcd), "0000abcd");
  EXPECT_EQ(HexWord(kF64, ~0ull), "ffffffffffffffff");
  EXPECT_EQ(*ParseHexWord(kF64, "FFFFFFFFFFFFFFFF"), ~0ull);
  EXPECT_EQ(*ParseHexWord(kF16, "1"), 1u);
  EXPECT_THAT(ParseHexWord(kF16, "").status().message(), HasSubstr("no digits"));
  EXPECT_THAT(ParseHexWord(kF16, "10000").status().message(), HasSubstr("f16 has 4"));
  // A format whose width is no multiple of four bits.
  constexpr Format kSixBits = {"e3m2", 6, 3, 2, -2, 0, Nonfinite::kNone, true};
  EXPECT_EQ(*ParseHexWord(kSixBits, "3f"), 0x3fu);
  EXPECT_THAT(ParseHexWord(kSixBits, "40").status().message(),
              HasSubstr("does not fit the 6 bits"));
}

}  // namespace
}  // namespace mmadiff
