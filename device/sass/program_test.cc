// The parser reads no more than the interpreter executes: everything else is an error with its line.
#include "device/sass/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace mmadiff::sass {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<Programs> Parsed(absl::string_view line) {
  return ParsePrograms(
      absl::StrCat("\t.target\tsm_90a\n\t.section\t.text.k,\"ax\",@progbits\n"
                   ".text.k:\n        /*0040*/                   ",
                   line, " ;\n"));
}

TEST(Program, ReadsFormsThatAreExecuted) {
  for (const char* line :
       {"IADD3.X R4, P1, R2, R3, RZ, P0, !PT", "VIADD.S32.ISAT R11, R2, R5", "IADD.64 R4, R2, UR6",
        "IADD R4, R2.reuse, 0x40", "DEPBAR.LE SB1, 0x0",
        "ISETP.GE.U32.AND.EX P4, PT, R32, R49, PT, P4", "HADD2.F32 R21, -RZ, R22.reuse.H0_H0",
        "F2FP.F16.E4M3.UNPACK_B R18, R18.H1", "LDG.E.64.SYS R2, [R10.64+UR4]",
        "PLOP3.LUT P6, PT, R4.SIGN, R3.reuse.SIGN, R8.SIGN, 0x2, 0x0",
        "HMMA.16816.F32 R4, R4, R8, RZ", "@!P0 STG.E desc[UR10][R12.64+0x4], R5",
        "S2R R11, SR_VIRTUALSMID", "FENCE.VIEW.ASYNC.S", "WARPGROUP.ARRIVE",
        "WARPGROUP.DEPBAR.LE gsb0, 0x1", "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0",
        "QGMMA.64x8x32.F16.E4M3.E5M2 R28, R24, gdesc[UR12], R28, !UP0"}) {
    const absl::StatusOr<Programs> programs = Parsed(line);
    ASSERT_TRUE(programs.ok()) << programs.status();
    EXPECT_EQ(programs->at("k").instructions.size(), 1u) << line;
    EXPECT_EQ(programs->at("k").target, "sm_90a");
  }
}

TEST(Program, RefusesEverythingElse) {
  for (const char* line : {"IADD3.SAT R4, R2, R3, RZ",
                           "VIADD.ISAT R11, R2, R5",
                           "MOV.64 R4, R2",
                           "MOV.FOO R4, R2",
                           "FADD.FTZ R4, R2, R3",
                           "FADD R4, |R2|, R3",
                           "FADD R4, R2, 1.5",
                           "FADD R4, R2, +INF",
                           "IADD3 R4, R2.B1, R3, RZ",
                           "IADD3 R4, R2.U32, R3, RZ",
                           "HADD2 R4, R2.H1_H0, R3",
                           "S2R R4, SR_CLOCKLO",
                           "S2R R4, SR_TID.Y",
                           "LDG.E R4, [R2.U32+UR4]",
                           "LDG.E.S8 R4, [R2.64]",
                           "ISETP.GE.F.AND P0, PT, R1, R2, PT",
                           "ISETP.GEU.AND P0, PT, R1, R2, PT",
                           "SHF.R.S64 R33, R2, R34, R3",
                           "LDSM.16.M88.4 R4, [R2]",
                           "FADDX R4, R2, R3",
                           "FADD R4, R2",
                           "FADD R4, R2, R3, R5",
                           "MOV R4, -R2",
                           "PRMT R4, R2.H1, 0x5410, R3",
                           "VIMNMX R9, PT, PT, R2, R5, !PT",
                           "IADD.64 R8, R8, -0x1",
                           "LEA R5, R0, -R5, 0x4",
                           "SHFL.DOWN PT, R9, R27, R25, 0x201f",
                           "SHFL.DOWN PT, R9, R27, R25, R4",
                           "R2UR P0, UR6, R5",
                           "MOV R4, c[0x0][0x7fffff0]",
                           "MOV R4, c[0x0][0x210",
                           "MOV R4, 010",
                           "MOV R4, 0x100000005",
                           "MOV P3, R5",
                           "MOV R20, B3",
                           "MOV R4, SR_TID.X",
                           "MOV R255, R2",
                           "MOV R4, R255",
                           "SEL R4, R2, R3, R5.SIGN",
                           "PLOP3.LUT P6, PT, -R4.SIGN, R3.SIGN, R8.SIGN, 0x2, 0x0",
                           "MOV R4, [R5]",
                           "PLOP3.LUT R200.SIGN, PT, PT, PT, PT, 0x2, 0x0",
                           "ISETP.GE.AND UP0, PT, R1, R2, PT",
                           "LDG.E R4, [R2.64+R6]",
                           "LDG.E R4, [R2.64+UR6+UR8]",
                           "LDG.E R4, [P3+0x4]",
                           "LDG.E R4, [R45",
                           "LDG.E R4, ~[R2.64]",
                           "LDG.E R4, desc[UR4",
                           "LDG.E R4, desc[UR4]R6",
                           "LDG.E R4, [R2.64+0x7fffffffffffffff+0x1]",
                           "LDC R4, R5",
                           "S2R R4, R5",
                           "S2R R4, PR",
                           "P2R R4, R5, RZ, 0x7f",
                           "MOVM.16.MT88 R4, UR5",
                           "RET.REL.NODEC 0x10 `(k)",
                           "BSSY R0, `(k)",
                           "BRA R4",
                           "CALL.REL.NOINC R4",
                           "HMMA.16816.F32 R4, R4.COL, R18.ROW, R8",
                           "HMMA.16816.F32 R4, R4, R18, R8, P3",
                           "BAR.SYNC.DEFER_BLOCKING 0x1",
                           "DEPBAR.LE SB1, 0x1",
                           "DEPBAR.LE SB6, 0x0",
                           "DEPBAR SB0",
                           "MOV R4, SB0",
                           "ISETP.GE.AND P0, PT, R1, -R2, PT",
                           "@P0",
                           "STG.E [R2.64], -R4",
                           "SEL R4, R2, R3",
                           "STG.E [R2.64]",
                           "IADD3 R4",
                           "MOV R256, R2",
                           "MOV R4, UR64",
                           "LDC R1, c[0x3][0x28]",
                           "WARPGROUP.DEPBAR.LE gsb1, 0x0",
                           "WARPGROUP.DEPBAR.LE SB0, 0x0",
                           "WARPGROUP.DEPBAR.LE gsb0",
                           "WARPGROUP.ARRIVE gsb0",
                           "FENCE.VIEW.ASYNC.G",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR60], R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[R4], R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR4].tnspB, R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR4], -R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, -R28, gdesc[UR4], R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, P0, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0, gsb0",
                           "HGMMA.64x8x16.F32 R24, gdesc[UR4], gdesc[UR8], R24, gsb0",
                           "HGMMA.64x8x16.F32 R24, R28, R32, R24, gsb0",
                           "HGMMA.64x8x16.F32 UR24, gdesc[UR4], R24, gsb0",
                           "MOV R4, gsb0",
                           "MOV R4, gdesc[UR4]",
                           "SHFL.IDX.WRAP PT, R9, R27, R25, 0x1f"}) {
    EXPECT_THAT(
        std::string(Parsed(line).status().message()),
        AllOf(HasSubstr(absl::StrCat("k: '", line, "' at 0x40: ")), HasSubstr("is not supported")))
        << line;
  }
}

TEST(Program, RefusesTextThatIsCutOrTooLong) {
  const auto why = [](absl::string_view line) {
    const absl::StatusOr<Programs> programs =
        ParsePrograms(absl::StrCat("\t.section\t.text.k,\"ax\",@progbits\n", line));
    return std::string(programs.status().message());
  };
  for (const char* line : {"/*", "/*0", "/*0040*", "  /*0040 MOV R4, R5 ;"}) {
    EXPECT_THAT(why(line), HasSubstr("k: '")) << line;
    EXPECT_THAT(why(line), HasSubstr("the comment has no end")) << line;
  }
  EXPECT_THAT(why("/*0040*/"), HasSubstr("k: '' at 0x40"));
  EXPECT_THAT(why(std::string(kMaxTextBytes, '\n')), HasSubstr("bytes, more than 67108864"));
}

// Cubins of ptxas before 13.0 have no line ".target".
TEST(Program, NamesItsTarget) {
  constexpr char kOld[] =
      ".headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS %EF_CUDA_SM90 "
      "EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n";
  const auto old = [&](const char* flag) { return absl::StrReplaceAll(kOld, {{"%", flag}}); };
  EXPECT_EQ(TargetIn("\t.target\tsm_90a\n"), "sm_90a");
  EXPECT_EQ(TargetIn(old("EF_CUDA_ACCELERATORS ")), "sm_90a");
  EXPECT_EQ(TargetIn(old("")), "sm_90");
  EXPECT_EQ(TargetIn("\t.section\t.text.k\n"), "");
}

}  // namespace
}  // namespace mmadiff::sass
