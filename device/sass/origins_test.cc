#include "device/sass/origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/sass/difference.h"

namespace mmadiff::sass {
namespace {

using testing::HasSubstr;

constexpr char kBegin[] = R"(
	.target	sm_90
	.section	.text.k,"ax",@progbits
.text.k:
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0020*/                   LDC.64 R4, c[0x0][0x218] ;
        /*0030*/                   IMAD.WIDE.U32 R2, R0, 0x4, R2 ;
        /*0040*/                   IMAD.WIDE.U32 R4, R0, 0x4, R4 ;
        /*0050*/                   LDG.E R6, desc[UR8][R2.64] ;
        /*0060*/                   LDG.E R7, desc[UR8][R2.64+0x80] ;
)";
constexpr char kEnd[] = R"(
        /*0800*/                   STG.E desc[UR8][R4.64], R8 ;
        /*0810*/                   EXIT ;
)";

// The error that ends the execution.
absl::Status StatusOf(const std::string& body) {
  Expressions pool;
  const Programs programs = *ParsePrograms(absl::StrCat(kBegin, body, kEnd));
  const Natives natives("sm_90");
  std::vector<uint32_t> in(64, 1), out(32);
  Origins origins(pool, natives, {{"in", {in.data(), 4 * in.size()}}});
  const void* const parameters[] = {in.data(), out.data()};
  Counts counts;
  return Execute(programs.at("k"),
                 {1, 32, 0, parameters, sizeof(parameters), &natives, {}, 1000, &origins}, counts);
}

// A program that stores R8, computed from the words in[lane] (in R6) and in[32 + lane] (in R7).
struct Executed {
  Executed(Expressions& pool, const std::string& body, uint32_t value = 1)
      : programs(*ParsePrograms(absl::StrCat(kBegin, body, kEnd))), in(64, value), out(32) {
    const Natives natives("sm_90");
    origins = std::make_unique<Origins>(
        pool, natives, std::vector<NamedMemory>{{"in", {in.data(), 4 * in.size()}}});
    const void* const parameters[] = {in.data(), out.data()};
    Counts counts;
    const absl::Status s = Execute(
        programs.at("k"),
        {1, 32, 0, parameters, sizeof(parameters), &natives, {}, 1000, origins.get()}, counts);
    EXPECT_TRUE(s.ok()) << s;
  }
  int word(int lane) const { return origins->StoredAt(&out[lane]); }

  const Programs programs;
  std::vector<uint32_t> in, out;
  std::unique_ptr<Origins> origins;
};

TEST(Origins, RegistersMovesAndTheOrderOfASumMakeNoDifference) {
  Expressions pool;
  const Executed x(pool, "/*0100*/ FADD R8, R6, R7 ;\n");
  const Executed y(pool,
                   "/*0100*/ MOV R20, R7 ;\n/*0110*/ IMAD.MOV.U32 R21, RZ, RZ, R20 ;\n"
                   "/*0120*/ FADD R30, R21, R6 ;\n/*0130*/ MOV R8, R30 ;\n");
  const Executed other(pool, "/*0100*/ FADD R8, R6, -R7 ;\n");
  EXPECT_EQ(pool.Text(x.word(3), 3), "FADD(in[3], in[35])");
  EXPECT_EQ(x.word(3), y.word(3));
  EXPECT_NE(x.word(3), x.word(4));
  EXPECT_EQ(pool.Text(other.word(3), 3), "FADD(in[3], -in[35])");
  EXPECT_NE(pool.Digest(x.word(3)), pool.Digest(other.word(3)));
  Expressions fresh;  // in which the numbers are others
  fresh.Constant(7);
  EXPECT_EQ(pool.Digest(x.word(3)),
            fresh.Digest(Executed(fresh, "/*0100*/ FADD R8, R7, R6 ;\n").word(3)));
}

TEST(Origins, ConstantsAreTheirValues) {
  Expressions pool;
  const Executed x(
      pool, "/*0100*/ IADD3 R9, R0, 0x5, RZ ;\n/*0110*/ LOP3.LUT R8, R6, R9, RZ, 0xc0, !PT ;\n");
  EXPECT_EQ(pool.Text(x.word(3), 3), "LOP3.LUT(in[3], 8, 0, 0xc0, 0)");
}

// A guard that depends on data is part of the result, whichever way it goes.
TEST(Origins, GuardsOnDataSelect) {
  Expressions pool;
  const std::string body =
      "/*0100*/ MOV R8, R7 ;\n/*0110*/ ISETP.GE.AND P0, PT, R6, 0x8, PT ;\n/*0120*/ @P0 FADD R8, "
      "R6, R7 ;\n";
  const Executed taken(pool, body, 9), not_taken(pool, body, 1);
  EXPECT_EQ(pool.Text(taken.word(0), 2),
            "?(ISETP.GE.AND(in[0], 8, 1), FADD(in[0], in[32]), in[32])");
  EXPECT_EQ(taken.word(0), not_taken.word(0));
  EXPECT_NE(taken.out[0], not_taken.out[0]);
  EXPECT_FALSE(taken.origins->branches_on_data());
}

TEST(Origins, BranchesOnDataAreNoticed) {
  Expressions pool;
  const Executed x(pool,
                   "/*0100*/ ISETP.GE.AND P0, PT, R6, 0x8, PT ;\n/*0110*/ MOV R8, R7 ;\n"
                   "/*0120*/ @P0 BRA `(.L_x_0) ;\n/*0130*/ MOV R8, R6 ;\n.L_x_0:\n");
  EXPECT_TRUE(x.origins->branches_on_data());
  EXPECT_EQ(pool.Text(x.word(0), 2), "in[0]");
}

// Two programs that differ only in data that decides these would have one expression.
TEST(Origins, RefuseAddressesStoresAndLanesThatDependOnData) {
  for (const char* body :
       {"/*0100*/ ISETP.GE.AND P0, PT, R6, 0x8, PT ;\n/*0110*/ @P0 STG.E desc[UR8][R4.64], R6 ;\n",
        "/*0100*/ IMAD.WIDE.U32 R2, R6, 0x4, R2 ;\n/*0110*/ LDG.E R8, desc[UR8][R2.64] ;\n",
        "/*0100*/ LDC R8, c[0x0][R6] ;\n", "/*0100*/ SHFL.IDX PT, R8, R6, R7, 0x1f ;\n"}) {
    EXPECT_TRUE(absl::IsUnimplemented(StatusOf(body))) << body << StatusOf(body);
  }
}

TEST(Origins, TheWordsOfASumOf64BitsDoNotCommute) {
  Expressions pool;
  const Executed x(pool, "/*0100*/ IADD.64 R8, R6, UR4 ;\n"),
      y(pool, "/*0100*/ MOV R20, R7 ;\n/*0110*/ MOV R21, R6 ;\n/*0120*/ IADD.64 R8, R20, UR4 ;\n");
  EXPECT_NE(x.word(0), y.word(0));
}

TEST(Origins, ShufflesTakeTheWordOfTheOtherLane) {
  Expressions pool;
  const Executed x(pool, "/*0100*/ SHFL.BFLY PT, R8, R6, 0x1, 0x1f ;\n");
  EXPECT_EQ(pool.Text(x.word(6), 2), "in[7]");
}

// Lane 6, in segments of 4 lanes; beyond its end, a lane keeps its own word (PTX ISA, shfl).
TEST(Origins, ShufflesStayInTheirSegment) {
  Expressions pool;
  for (const auto& [form, other, limits, from] :
       std::vector<std::tuple<std::string, int, std::string, int>>{{"IDX", 3, "0x1c03", 7},
                                                                   {"IDX", 9, "0x1c03", 5},
                                                                   {"IDX", 3, "0x1c02", 6},
                                                                   {"DOWN", 1, "0x1c03", 7},
                                                                   {"DOWN", 2, "0x1c03", 6},
                                                                   {"DOWN", 1, "0x1f00", 6},
                                                                   {"BFLY", 4, "0x1c03", 2},
                                                                   {"BFLY", 8, "0x1c03", 6},
                                                                   {"UP", 2, "0x1c00", 4},
                                                                   {"UP", 3, "0x1c00", 6},
                                                                   {"UP", 3, "RZ", 3}}) {
    const std::string shuffle = absl::StrCat("SHFL.", form, " PT, R8, R6, ", other, ", ", limits);
    const Executed x(pool, absl::StrCat("/*0100*/ ", shuffle, " ;\n"));
    EXPECT_EQ(pool.Text(x.word(6), 2), absl::StrCat("in[", from, "]")) << shuffle;
  }
}

TEST(Differences, NameTheReaderAndBothWords) {
  Expressions pool;
  const Executed wanted(pool, "/*0100*/ FMUL R9, R6, R6 ;\n/*0110*/ FADD R8, R9, R7 ;\n");
  const Executed got(pool, "/*0100*/ FMUL R7, R6, R6 ;\n/*0110*/ FADD R8, R7, R7 ;\n");
  EXPECT_EQ(DifferenceText(pool, *got.origins, got.word(0), *wanted.origins, wanted.word(0)),
            "FADD R8, R7, R7 at 0x0110 reads the result of FMUL R7, R6, R6 at 0x0100; it should "
            "read in[32]");
  const Executed stores(pool, "/*0100*/ MOV R8, R6 ;\n");
  EXPECT_THAT(
      DifferenceText(pool, *stores.origins, stores.word(0), *wanted.origins, wanted.word(0)),
      HasSubstr("the code stores in[0]; it should store the result of FADD"));
}

}  // namespace
}  // namespace mmadiff::sass
