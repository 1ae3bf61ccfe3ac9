// Variants of instructions: which there are, and their names.
#include "device/cuda/variant.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/overlap.h"
#include "device/cuda/surroundings.h"

namespace mmadiff {
namespace {

std::vector<std::string> SuffixesOf(const char* instruction) {
  std::vector<std::string> suffixes;
  for (const Variant& v : VariantsOf(*FindInstruction(instruction))) {
    suffixes.push_back(SuffixOf(v));
  }
  return suffixes;
}

// PTX ISA 9.0, 9.7.14.4.3: wmma.load of 4 bits and one bit is .row of A and .col of B.
TEST(Variants, OfEachKind) {
  using Suffixes = std::vector<std::string>;
  EXPECT_EQ(SuffixesOf("fma.rn.f32"), Suffixes({""}));
  EXPECT_EQ(SuffixesOf("mma.m16n8k16.f32.f16.f16.f32"), Suffixes({""}));
  EXPECT_EQ(SuffixesOf("wgmma.m64n8k16.f32.f16.f16"), Suffixes({"", ",a=registers"}));
  EXPECT_EQ(SuffixesOf("tcgen05.mma.m64n8k16.f32.f16.f16"), Suffixes({"", ",a=registers"}));
  EXPECT_EQ(SuffixesOf("wmma.m8n8k128.s32.b1.b1.s32.xor.popc"), Suffixes({"", ",c=col"}));
  EXPECT_EQ(SuffixesOf("wmma.m8n8k32.s32.u4.u4.s32"), Suffixes({"", ",c=col"}));
  const Suffixes all = {"",
                        ",c=col",
                        ",layout=row.row",
                        ",layout=row.row,c=col",
                        ",layout=col.col",
                        ",layout=col.col,c=col",
                        ",layout=col.row",
                        ",layout=col.row,c=col"};
  EXPECT_EQ(SuffixesOf("wmma.m16n16k16.f32.f16.f16.f32"), all);
  EXPECT_EQ(SuffixesOf("wmma.m32n8k16.s32.u8.u8.s32"), all);
  EXPECT_EQ(SuffixesOf("wmma.m8n8k4.rz.f64.f64.f64.f64"), all);
}

TEST(Variants, SuffixesAreReadAsTheyAreWritten) {
  std::set<std::string> seen;
  for (const SourceOfA a : {SourceOfA::kShared, SourceOfA::kLanes}) {
    for (int bits = 0; bits < 8; ++bits) {
      const Variant v = {a, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      EXPECT_TRUE(seen.insert(SuffixOf(v)).second) << SuffixOf(v);
      EXPECT_EQ(VariantWithSuffix(SuffixOf(v)), v) << SuffixOf(v);
    }
  }
  EXPECT_EQ(VariantWithSuffix(",around=loop,overlap=c,c=col,layout=col.row"),
            VariantWithSuffix(",layout=col.row,c=col,overlap=c,around=loop"));
  for (const char* text : {",", ",a=shared", ",layout=row.col", ",c=row", ",around=if",
                           ",c=col,c=col", "a=registers"}) {
    EXPECT_EQ(VariantWithSuffix(text), std::nullopt) << text;
  }
}

TEST(Variants, Overlaps) {
  for (const char* text : {"c", "a", "b", "c_reversed", "c_rotated", "c3d2", "a0d1+b10d0"}) {
    const auto variant = VariantWithSuffix(absl::StrCat(",c=col,overlap=", text));
    ASSERT_TRUE(variant.has_value()) << text;
    EXPECT_EQ(SuffixOf(*variant), absl::StrCat(",c=col,overlap=", text));
    EXPECT_EQ(VariantFor(*FindInstruction("wgmma.m64n8k16.f32.f16.f16"), *variant).overlap, "");
  }
  for (const char* text : {"", "d", "d0c1", "c3", "c3d", "cd2", "c3d2+", "c-1d2", "c3d2,c1d0",
                           "c100d0", "reversed", "c3d2 "}) {
    EXPECT_EQ(VariantWithSuffix(absl::StrCat(",overlap=", text)), std::nullopt) << text;
  }
  const RegisterCounts counts = {4, 2, 4, 4};
  EXPECT_TRUE(CheckOverlap("c_reversed", counts).ok());
  EXPECT_TRUE(CheckOverlap("c4d0", counts).message().find("does not have") != std::string::npos);
  EXPECT_TRUE(absl::IsNotFound(CheckOverlap("b2d0", counts)));
  EXPECT_TRUE(absl::IsNotFound(CheckOverlap("c1d0+a1d0", counts)));
  EXPECT_TRUE(absl::IsNotFound(CheckOverlap("c1d0+c1d2", counts)));
}

TEST(Variants, RegistersOfOverlaps) {
  const AssignedRegisters reversed = AssignRegisters("c_reversed", {2, 1, 4, 4}, "", 1, 32);
  EXPECT_EQ(reversed.c, "{%d3, %d2, %d1, %d0}");
  EXPECT_EQ(reversed.d, "{%d0, %d1, %d2, %d3}");
  EXPECT_EQ(reversed.moves,
            "  mov.b32 %d3, %c0;\n  mov.b32 %d2, %c1;\n  mov.b32 %d1, %c2;\n  mov.b32 %d0, %c3;\n");
  const AssignedRegisters wide = AssignRegisters("a1d0", {2, 1, 2, 2}, "w", 2, 64);
  EXPECT_EQ(wide.a, "{%wa0, %wd0}");
  EXPECT_EQ(wide.moves, "  mov.b64 %wd0, %wa2;\n");
  EXPECT_EQ(AssignRegisters("c_rotated", {1, 1, 2, 4}, "", 1, 32).c, "{%d1, %d0}");
}

TEST(Variants, OperandsThatShareRegisters) {
  for (const char* text : {"c1c0", "a0b3", "c_broadcast", "c_broadcast+c0d0", "c0d0+c_is_a"}) {
    const auto variant = VariantWithSuffix(absl::StrCat(",overlap=", text));
    ASSERT_TRUE(variant.has_value()) << text;
    EXPECT_TRUE(SharesOperands(variant->overlap)) << text;
  }
  for (const absl::string_view text : NamedOverlaps()) EXPECT_FALSE(SharesOperands(text)) << text;
  for (const absl::string_view text : NamedSharing()) EXPECT_TRUE(SharesOperands(text)) << text;
  for (const char* text : {"d0c0", "c1e0", "c1c", "cc0", "c_is_d", "d_broadcast", "c1c0c0"}) {
    EXPECT_FALSE(IsOverlap(text)) << text;
  }
  const RegisterCounts counts = {4, 1, 4, 4};
  for (const char* text : {"c1c4", "a0b1", "c1c1", "c0a0+a0c0", "c1c0+c1d1", "c1d0+c0d0",
                           "b_broadcast", "c_broadcast+c"}) {
    EXPECT_TRUE(absl::IsNotFound(CheckOverlap(text, counts))) << text;
  }
  EXPECT_EQ(SingleOverlaps("c_is_b", counts), std::vector<std::string>({"c0b0"}));
  EXPECT_EQ(ChainedOverlaps("c_is_b+b0d2", counts), std::vector<std::string>({"c0b0+b0d2"}));
  EXPECT_TRUE(ChainedOverlaps("c", counts).empty());
}

TEST(Variants, RegistersThatOperandsShare) {
  const RegisterCounts counts = {2, 2, 3, 3};
  const AssignedRegisters in_d = AssignRegisters("c_broadcast_d", counts, "", 1, 32);
  EXPECT_EQ(in_d.c, "{%d0, %d0, %d0}");
  EXPECT_EQ(in_d.operand_c, "{%c0, %c0, %c0}");
  EXPECT_EQ(in_d.moves, "  mov.b32 %d0, %c0;\n");
  const AssignedRegisters chain = AssignRegisters("c_is_b+b0a1+a1d2", counts, "w", 2, 64);
  EXPECT_EQ(chain.a, "{%wa0, %wd4}");
  EXPECT_EQ(chain.b, "{%wd4, %wb2}");
  EXPECT_EQ(chain.c, "{%wd4, %wb2, %wc4}");
  EXPECT_EQ(chain.moves, "  mov.b64 %wd4, %wa2;\n");
  const AssignedRegisters copied = CopiedRegisters("c_is_b+b0a1+a1d2", counts, "", 1, 32);
  EXPECT_EQ(copied.a, "{%a0, %a1}");
  EXPECT_EQ(copied.c, "{%c0, %c1, %c2}");
  const size_t moves = copied.moves.find("  @%copied");
  EXPECT_EQ(copied.moves.substr(moves),
            "  @%copied mov.b32 %c0, %a1;\n  @%copied mov.b32 %c1, %b1;\n"
            "  @%copied mov.b32 %b0, %a1;\n");
}

TEST(Variants, SurroundingsThatAccumulateNeedOneFormat) {
  const Instruction &same = *FindInstruction("mma.m16n8k16.f32.f16.f16.f32"),
                    &other = *FindInstruction("wmma.m16n16k16.f32.f16.f16.f16");
  for (const absl::string_view around : NamedSurroundings()) {
    EXPECT_TRUE(CheckSurrounding(around, same).ok()) << around;
    EXPECT_EQ(CheckSurrounding(around, other).ok(), around == "loop" || around == "branch");
  }
}

// What has no meaning to an instruction changes nothing.
TEST(Variants, ForEachInstructionOneOfItsOwn) {
  const Variant all = {SourceOfA::kLanes, true, true, true};
  const auto suffix = [&all](const char* name) {
    return SuffixOf(VariantFor(*FindInstruction(name), all));
  };
  EXPECT_EQ(suffix("mma.m16n8k16.f32.f16.f16.f32"), "");
  EXPECT_EQ(suffix("wgmma.m64n8k16.f32.f16.f16"), ",a=registers");
  EXPECT_EQ(suffix("wmma.m16n16k16.f32.f16.f16.f32"), ",layout=col.row,c=col");
  EXPECT_EQ(suffix("wmma.m8n8k32.s32.s4.s4.s32"), ",c=col");
}

}  // namespace
}  // namespace mmadiff
