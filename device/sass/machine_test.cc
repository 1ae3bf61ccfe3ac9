#include "device/sass/machine.h"

#include <gtest/gtest.h>

namespace mmadiff::sass {
namespace {

// Threads below 8 add 1 to their number, by way of local memory, and store the sum.
constexpr char kText[] = R"(
	.section	.text.add,"ax",@progbits
.text.add:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   VIADD R1, R1, 0xfffffff8 ;
        /*0020*/                   S2R R0, SR_TID.X ;
        /*0030*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0040*/                   ISETP.GE.AND P0, PT, R0, 0x8, PT ;
        /*0050*/                   STL [R1], R0 ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
        /*0070*/                   LDL R4, [R1] ;
        /*0080*/                   VIADD R4, R4, 0x1 ;
        /*0090*/                   IMAD.WIDE.U32 R2, R0, 0x4, R2 ;
        /*00a0*/                   STG.E desc[UR8][R2.64], R4 ;
.L_x_0:
        /*00b0*/                   EXIT ;
)";

TEST(Machine, ExecutesAndCounts) {
  const absl::StatusOr<Programs> programs = ParsePrograms(kText);
  ASSERT_TRUE(programs.ok()) << programs.status();
  uint32_t words[64] = {};
  const uint32_t* const parameters[] = {words};
  Counts counts;
  const absl::Status s =
      Execute(programs->at("add"), {1, 64, 0, parameters, sizeof(parameters)}, counts);
  ASSERT_TRUE(s.ok()) << s;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], i < 8 ? i + 1 : 0) << i;
  EXPECT_EQ(counts.instructions, 12u + 8u);  // the second warp takes the branch
  EXPECT_EQ(counts.local_accesses, 2u + 1u);
}

TEST(Machine, CountsGenericAccessesOfLocalMemory) {
  std::string text = kText;
  const std::string load = "LDL R4, [R1]";
  // The generic address of [R1]: the window's upper half is in constant bank 0.
  text.replace(text.find(load), load.size(), "LDC R5, c[0x0][0x24] ;\n /*0071*/ LD.E R4, [R4.64]");
  const std::string branch = "STL [R1], R0 ;";
  text.replace(text.find(branch), branch.size(), branch + "\n /*0051*/ MOV R4, R1 ;");
  const absl::StatusOr<Programs> programs = ParsePrograms(text);
  ASSERT_TRUE(programs.ok()) << programs.status();
  uint32_t words[32] = {};
  const uint32_t* const parameters[] = {words};
  Counts counts;
  const absl::Status s =
      Execute(programs->at("add"), {1, 32, 0, parameters, sizeof(parameters)}, counts);
  ASSERT_TRUE(s.ok()) << s;
  EXPECT_EQ(words[7], 8u);
  EXPECT_EQ(counts.local_accesses, 2u);
}

TEST(Machine, StaysInItsMemoryAndEnds) {
  const absl::StatusOr<Programs> programs = ParsePrograms(kText);
  ASSERT_TRUE(programs.ok()) << programs.status();
  uint32_t words[64] = {};
  const uint32_t* const parameters[] = {words};
  Launch launch = {1, 64, 0, parameters, sizeof(parameters)};
  const MemoryRange all[] = {{words, sizeof(words)}}, few[] = {{words, 7 * 4}};
  Counts counts;
  launch.memory = all;
  EXPECT_TRUE(Execute(programs->at("add"), launch, counts).ok());
  launch.memory = few;
  EXPECT_TRUE(absl::IsInternal(Execute(programs->at("add"), launch, counts)));
  launch.memory = {};
  launch.most_instructions = counts.instructions + 5;
  EXPECT_TRUE(absl::IsResourceExhausted(Execute(programs->at("add"), launch, counts)));
}

TEST(Machine, RefusesWhatItDoesNotUnderstand) {
  std::string text = kText;
  text.replace(text.find("VIADD R4"), 5, "FADDX");
  EXPECT_TRUE(absl::IsInvalidArgument(ParsePrograms(text).status()));
  const absl::StatusOr<Programs> programs = ParsePrograms(kText);
  ASSERT_TRUE(programs.ok());
  const uint32_t* const nowhere[] = {nullptr};
  Counts counts;
  EXPECT_TRUE(
      absl::IsInternal(Execute(programs->at("add"), {1, 32, 0, nowhere, sizeof(nowhere)}, counts)));
}

}  // namespace
}  // namespace mmadiff::sass
