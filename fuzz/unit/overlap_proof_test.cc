// Verdicts on what ptxas 13.0 makes of overlaps, from PTX text on. Skipped without it or nvdisasm.
#include "fuzz/unit/overlap_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/sass/nvdisasm.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kFp8[] = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
constexpr char kF16[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr char kBytes[] = "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32";

OverlapProof Proof(absl::string_view mnemonic, absl::string_view operands,
                   absl::string_view target = "sm_90a") {
  const auto read =
      ReadPtx(absl::StrCat(".version 9.0\n.target ", target, "\n", mnemonic, " ", operands, ";"));
  EXPECT_TRUE(read.ok()) << read.status();
  OverlapProver prover({.cases = 40});
  const OverlapProof& proof = prover.Prove(read->matrix[0], read->matrix[0].target);
  EXPECT_EQ(&prover.Prove(read->matrix[0], read->matrix[0].target), &proof);
  return proof;
}

class OverlapProofs : public testing::Test {
 protected:
  void SetUp() override {
    const auto ptxas = sass::FindAssembler("");
    const auto version = ptxas.ok() ? sass::VersionOf(*ptxas) : ptxas;
    if (!version.ok() || !absl::StartsWith(*version, "13.0.") ||
        !sass::FindDisassembler(*ptxas).ok()) {
      GTEST_SKIP() << "no ptxas 13.0 or nvdisasm";
    }
  }
};

TEST_F(OverlapProofs, FindWrongMachineCode) {
  const OverlapProof fp8 = Proof(kFp8, "{d0,d1,d2,d3},{a0,a1,a2,a3},{b0,b1},{d0,c1,d3,d2}");
  EXPECT_EQ(fp8.verdict, OverlapVerdict::kWrong) << fp8.reason;
  EXPECT_EQ(fp8.instruction, "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32");
  EXPECT_EQ(fp8.device, "sass:arch=sm_90a");
  EXPECT_THAT(fp8.tried, ElementsAre("c0d0+c2d3+c3d2"));
  EXPECT_THAT(fp8.suffice, ElementsAre("c3d2"));
  EXPECT_EQ(fp8.dot_products, 40 * 16 * 8);
  EXPECT_GT(fp8.differing, 0);
  EXPECT_LE(fp8.differing, 40 * 16 * 8 / 4);  // one of four words
  const OverlapProof bytes =
      Proof(kBytes, "{d0,d1,d2,d3,d4,d5,d6,d7},{a0,a1},{b0,b1},{c0,c1,c2,c3,c4,d0,c6,c7}", "sm_90");
  EXPECT_EQ(bytes.verdict, OverlapVerdict::kWrong) << bytes.reason;
  EXPECT_THAT(bytes.suffice, ElementsAre("c5d0"));
}

// A register of D that is two words of C has no kernel: each overlap is tried alone.
TEST_F(OverlapProofs, TryRegistersUsedTwiceAlone) {
  const OverlapProof fp8 = Proof(kFp8, "{d0,d1,d2,d3},{a0,a1,a2,a3},{b0,b1},{d0,d0,d0,d0}");
  EXPECT_EQ(fp8.verdict, OverlapVerdict::kWrong) << fp8.reason;
  EXPECT_THAT(fp8.tried, ElementsAre("c1d0", "c2d0", "c3d0"));
  EXPECT_EQ(fp8.suffice, fp8.tried);
}

TEST_F(OverlapProofs, FindRightMachineCode) {
  for (const auto& [mnemonic, c] :
       {std::pair(kFp8, "{d0,d1,d2,d3}"), {kFp8, "{d1,d2,d3,c3}"}, {kF16, "{d3,d2,d1,d0}"}}) {
    const OverlapProof proof =
        Proof(mnemonic, absl::StrCat("{d0,d1,d2,d3},{a0,a1,a2,a3},{b0,b1},", c));
    EXPECT_EQ(proof.verdict, OverlapVerdict::kRight) << c << proof.reason;
    EXPECT_EQ(proof.differing, 0);
    EXPECT_EQ(proof.dot_products, 40 * 16 * 8);
    EXPECT_THAT(proof.suffice, ElementsAre());
  }
}

TEST_F(OverlapProofs, SayWhyNothingWasTried) {
  const auto reason = [](absl::string_view mnemonic, absl::string_view operands,
                         absl::string_view target) {
    const OverlapProof proof = Proof(mnemonic, operands, target);
    EXPECT_EQ(proof.verdict, OverlapVerdict::kNotTried);
    return proof.reason;
  };
  EXPECT_THAT(reason("mma.sp.sync", "d,a,b,{c,d},m,0", "sm_90a"), HasSubstr("sparse"));
  EXPECT_THAT(reason(kFp8, "d,a,b,{c,d}", "sm_75"), HasSubstr("has this mnemonic"));
  EXPECT_THAT(reason(kFp8, "d,a,b,{c,d}", "sm_999"), HasSubstr("no target 'sm_999'"));
  EXPECT_THAT(reason(kFp8, "d,a,b,{c,c,c,c,d}", "sm_90"), HasSubstr("does not have"));
}

}  // namespace
}  // namespace mmadiff
