// Machine code of wgmma orders its accesses with the matrix instructions; without one of the
// instructions that do so, it is noticed. Kernels are skipped without nvdisasm or a CUDA Toolkit.
#include "device/sass/group_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/testing/executed.h"
#include "device/sass/waits.h"

namespace mmadiff::sass {
namespace {

using testing::HasSubstr;

constexpr char kMatrix[] = "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0";
const Line kArrival = {"WARPGROUP.ARRIVE"}, kWait = {"WARPGROUP.DEPBAR.LE gsb0, 0x0"},
           kEnd = {"EXIT"};

// With descriptors of matrices at 0x400 and 0xc00 before the lines, EXIT behind them.
std::string Ordered(std::vector<Line> lines) {
  lines.insert(
      lines.begin(),
      {{"UMOV UR4, 0x80040"}, {"UMOV UR5, 0x10"}, {"UMOV UR6, 0x800c0"}, {"UMOV UR7, 0x10"}});
  lines.push_back(kEnd);
  return Missing(lines);
}

TEST(GroupWaits, ForRegisters) {
  const Line matrix = {kMatrix}, read = {"MOV R2, R27"};
  EXPECT_EQ(Ordered({kArrival, matrix, kWait, read}), "");
  EXPECT_EQ(
      Ordered({kArrival, matrix, read}),
      "k: MOV R2, R27 at 0x60 reads R27, which HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0 at "
      "0x50 writes, without waiting for it");
  EXPECT_THAT(Ordered({kArrival, matrix, {"MOV R24, RZ"}}), HasSubstr(" writes R24, which HGMMA"));
  EXPECT_EQ(Ordered({kArrival, matrix, {"MOV R28, RZ"}, {"UMOV UR4, 0x0"}}), "");
  const Line of_registers = {"HGMMA.64x8x16.F32 R24, R28, gdesc[UR4], R24, gsb0"};
  EXPECT_EQ(Ordered({kArrival, of_registers, kWait, {"MOV R31, RZ"}}), "");
  EXPECT_THAT(
      Ordered({kArrival, of_registers, {"MOV R31, RZ"}}),
      HasSubstr(" writes R31, which HGMMA.64x8x16.F32 R24, R28, gdesc[UR4], R24, gsb0 at 0x50 "
                "reads, without waiting for it"));
}

TEST(GroupWaits, ForGroups) {
  const Line one = {"HGMMA.64x8x16.F32 R24, gdesc[UR4], R24"}, last = {kMatrix},
             other = {"HGMMA.64x8x16.F32 R32, gdesc[UR4], R32, gsb0"},
             all_but_one = {"WARPGROUP.DEPBAR.LE gsb0, 0x1"}, read = {"MOV R2, R24"};
  EXPECT_EQ(Ordered({kArrival, one, last, kWait, read}), "");
  EXPECT_THAT(Ordered({kArrival, one, kWait, read}), HasSubstr(" reads R24"));
  EXPECT_EQ(Ordered({kArrival, last, other, all_but_one, read}), "");
  EXPECT_THAT(Ordered({kArrival, other, last, all_but_one, read}), HasSubstr(" reads R24"));
  EXPECT_EQ(Ordered({kArrival, last, other, all_but_one, kWait, {"MOV R2, R32"}}), "");
  EXPECT_THAT(Ordered({kArrival, last, {"HGMMA.64x8x16.F32 R32, R24, gdesc[UR4], R32, gsb0"}}),
              HasSubstr(" reads R24"));
  EXPECT_THAT(Ordered({kArrival, last, {"HGMMA.64x16x16.F16 R24, gdesc[UR4], R24, gsb0"}}),
              HasSubstr(" reads R24"));
}

TEST(GroupWaits, ForTheArrival) {
  const Line matrix = {kMatrix}, zero = {"MOV R25, RZ"};
  EXPECT_EQ(Ordered({matrix}),
            "k: " + std::string(kMatrix) + " at 0x40 comes without WARPGROUP.ARRIVE before it");
  EXPECT_EQ(Ordered({zero, kArrival, matrix, kWait}), "");
  EXPECT_EQ(Ordered({kArrival, zero, matrix}),
            "k: " + std::string(kMatrix) +
                " at 0x60 uses R25, which MOV R25, RZ at 0x50 writes, without WARPGROUP.ARRIVE in "
                "between");
  // A load that has not ended when the warp arrives.
  const Line load = {"LDS R25, [0x400]", {.write_barrier = 1}};
  EXPECT_EQ(Ordered({load, {kArrival.text, {.waits = 2}}, matrix}), "");
  EXPECT_THAT(Ordered({load, kArrival, {kMatrix, {.waits = 2}}}), HasSubstr(" uses R25"));
}

TEST(GroupWaits, ForSharedMemory) {
  const Line store = {"STS [UR8+0x410], R2"}, fence = {"FENCE.VIEW.ASYNC.S", {.write_barrier = 0}},
             barrier = {"BAR.SYNC.DEFER_BLOCKING 0x0", {.waits = 1}}, matrix = {kMatrix};
  const auto error = [](absl::string_view missing) {
    return HasSubstr(absl::StrCat(
        " reads shared memory, which STS [UR8+0x410], R2 at 0x40 writes, without ", missing));
  };
  EXPECT_EQ(Ordered({store, fence, barrier, kArrival, matrix}), "");
  EXPECT_EQ(Ordered({{"STS [UR8+0xd00], R2"}, kArrival, matrix}), "");  // behind B
  EXPECT_THAT(Ordered({store, barrier, kArrival, matrix}), error("FENCE.VIEW.ASYNC in between"));
  EXPECT_THAT(Ordered({store, fence, kArrival, matrix}),
              error("waiting for FENCE.VIEW.ASYNC.S at 0x50"));
  EXPECT_THAT(Ordered({store, fence, {barrier.text}, kArrival, matrix}),
              error("waiting for FENCE.VIEW.ASYNC.S at 0x50"));
  const Line arrival = {kArrival.text, {.waits = 1}};
  EXPECT_EQ(Ordered({store, barrier, fence, arrival, matrix}), "");
  EXPECT_THAT(Ordered({store, fence, arrival, matrix}),
              error("a barrier after FENCE.VIEW.ASYNC.S at 0x50"));
  EXPECT_THAT(Ordered({fence, store, barrier, kArrival, matrix}), HasSubstr(" without FENCE"));
}

TEST(GroupWaits, OtherCodeIsAnError) {
  EXPECT_THAT(Ordered({{"UMOV UR5, 0x40000010"}, kArrival, {kMatrix}}),
              HasSubstr("descriptor 0x4000001000080040 has a swizzle"));
  EXPECT_THAT(Ordered({kArrival, {"HGMMA.64x8x32.F32 R24, gdesc[UR4], R24, gsb0"}}),
              HasSubstr("no row of the architecture"));
  EXPECT_THAT(Ordered({kArrival, {"HGMMA.64x12x16.F32 R24, gdesc[UR4], R24, gsb0"}}),
              HasSubstr("no row of the architecture"));
  EXPECT_THAT(Ordered({{"UMOV UR6, 0x83fff"}, kArrival, {kMatrix}}),
              HasSubstr("reaches outside of shared memory"));
  EXPECT_THAT(Ordered({kArrival, {"HGMMA.64x8x16.F32 R24, R26, gdesc[UR4], R24, gsb0"}}),
              HasSubstr("A has registers of D"));
  EXPECT_THAT(Ordered({kArrival, {"HGMMA.64x8x16.F32 R252, gdesc[UR4], R252, gsb0"}}),
              HasSubstr("registers beyond the last one"));
  const Line thread = {"S2R R2, SR_TID.X", {.write_barrier = 0}};
  const Line of_lanes = {"ISETP.GE.U32.AND P0, PT, R2, 0x8, PT", {.waits = 1}},
             of_warps = {"ISETP.GE.U32.AND P0, PT, R2, 0x20, PT", {.waits = 1}};
  EXPECT_THAT(Ordered({thread, of_lanes, {"@P0 WARPGROUP.ARRIVE"}}),
              HasSubstr("is not executed by all lanes"));
  EXPECT_THAT(Ordered({thread, of_warps, {"@P0 WARPGROUP.ARRIVE"}}),
              HasSubstr("do not execute the same warpgroup instructions"));
}

// The text without `what`: the line of the instruction, or another one there that waits for the same
// and does nothing.
std::string Without(const std::string& what, bool line, std::string text) {
  const size_t at = text.find(what);
  if (!line) return text.replace(at, what.size(), what[0] == ',' ? " ;" : "NOP");
  const size_t begin = text.rfind('\n', at) + 1;
  const size_t end = text.find('\n', text.find('\n', at) + 1);  // the encoding has two lines
  return text.erase(begin, end + 1 - begin);
}

TEST(GroupKernels, WithoutAnInstructionAreNoticed) {
  const std::string cubin = MMADIFF_CUBINS "/kernels.sm_90a.cubin";
  const auto tool = FindDisassembler();
  if (!tool.ok() || !std::filesystem::exists(cubin)) GTEST_SKIP() << "no nvdisasm or CUDA Toolkit";
  const auto all = DisassembledText(*tool, cubin);
  ASSERT_TRUE(all.ok()) << all.status();
  const Natives natives("sm_90");
  const auto missing = [&](absl::string_view text) {
    const auto programs = ParsePrograms(text);
    EXPECT_TRUE(programs.ok()) << programs.status();
    Waits waits("sm_90a", natives);
    return std::string(Executed(programs->begin()->second, natives, waits).message());
  };
  int kernels = 0, noticed = 0, changes = 0;
  for (const absl::string_view part : absl::StrSplit(*all, "\n//---")) {
    // Sparse ones need metadata other than 0, which these runs have.
    if (!absl::StrContains(part, "\n.text.wgmma_m")) continue;
    const std::string text = absl::StrCat("\t.target\tsm_90a\n", part);
    EXPECT_EQ(missing(text), "");
    ++kernels;
    for (const auto& [what, error] :
         {std::pair("WARPGROUP.ARRIVE", ", without WARPGROUP.ARRIVE in between"),
          {"WARPGROUP.DEPBAR.LE gsb0, 0x0", ", without waiting for it"},
          {"FENCE.VIEW.ASYNC.S", ", without FENCE.VIEW.ASYNC in between"},
          {", gsb0 ;", ", without waiting for it"}}) {
      ASSERT_TRUE(absl::StrContains(text, what)) << text;
      const std::string changed = Without(what, false, text);
      EXPECT_FALSE(absl::StrContains(changed, what)) << "more than one: " << text;
      const std::string why = missing(changed);
      EXPECT_THAT(why, HasSubstr(error)) << text << " without " << what;
      ++changes;
      noticed += !why.empty();
      if (what[0] == ',') continue;
      EXPECT_THAT(missing(Without(what, true, text)), HasSubstr(", without ")) << text << what;
    }
  }
  EXPECT_GE(kernels, 40);
  std::printf("%d kernels: noticed %d of %d instructions left out\n", kernels, noticed, changes);
}

}  // namespace
}  // namespace mmadiff::sass
