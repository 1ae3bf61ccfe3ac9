#include "device/sass/machine.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

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

// Executes the lines, 32 threads with 8 bytes of shared memory.
absl::Status Executed(const std::vector<std::string>& lines) {
  std::string text = "\t.section\t.text.k,\"ax\",@progbits\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::StrAppend(&text, "/*", absl::Hex(16 * i, absl::kZeroPad4), "*/ ", lines[i], " ;\n");
  }
  const absl::StatusOr<Programs> programs = ParsePrograms(text);
  if (!programs.ok()) return programs.status();
  uint8_t byte = 0;
  const uint8_t* const parameters[] = {&byte};
  const MemoryRange memory[] = {{&byte, 1}};
  Counts counts;
  return Execute(programs->at("k"),
                 {1, 32, 8, parameters, sizeof(parameters), nullptr, memory, 1000}, counts);
}

TEST(Machine, RefusesAddressesBesideMemory) {
  EXPECT_TRUE(Executed({"LDS.64 R4, [R0+0x400]", "EXIT"}).ok());
  EXPECT_TRUE(Executed({"LDL R4, [R0+0x7ffc]", "EXIT"}).ok());
  for (const char* line : {"LDS.64 R4, [R0+0x3f8]", "LDS.64 R4, [R0+0x408]", "LDS R4, [R0+-0x4]",
                           "STS.128 [R0+-0x10], R4", "LDL R4, [R0+0x8000]", "STL [R0+-0x4], R4",
                           "LDC R4, c[0x0][R1]", "LDC.U8 R4, c[0x0][R1]"}) {
    const absl::Status s = Executed({"MOV R1, 0xfffffffc", line, "EXIT"});
    EXPECT_TRUE(absl::IsInternal(s)) << line << ": " << s;
  }
  // The last word of a lane's local memory, by its generic address.
  const auto load = [](const char* line) {
    return Executed({"LDC.64 R2, c[0x0][0x20]", line, "EXIT"});
  };
  EXPECT_TRUE(load("LD.E R4, [R2.64+0x7ffc]").ok());
  EXPECT_TRUE(absl::IsInternal(load("LD.E.64 R4, [R2.64+0x7ffc]")));
  EXPECT_TRUE(absl::IsInternal(load("LD.E R4, [R2.64+0x8000]")));
}

TEST(Machine, RefusesWideAccessesThatAreNotAligned) {
  for (const char* line : {"LDS.64 R4, [R0+0x404]", "LDS.64 R5, [R0+0x400]",
                           "STS.64 [R0+0x400], R5", "LDS R4, [R0+0x402]", "STL.128 [R0+0x10], R6",
                           "LDS.U16 R4, [R0+0x401]", "STL.S16 [R0+0x11], R6"}) {
    EXPECT_TRUE(absl::IsInternal(Executed({line, "EXIT"}))) << line;
  }
  EXPECT_TRUE(Executed({"STS.64 [R0+0x400], RZ", "STL.128 [R0+0x10], R8", "STL.S16 [R0+0x12], R6",
                        "LDL.S16 R6, [R0+0x12]", "EXIT"})
                  .ok());
}

TEST(Machine, ReturnsToInstructionsOnly) {
  const auto to = [](const char* low, const char* high) {
    return Executed({absl::StrCat("MOV R4, ", low), absl::StrCat("MOV R5, ", high),
                     "RET.REL.NODEC R4 `(k)", "EXIT"});
  };
  EXPECT_TRUE(to("0x30", "0x0").ok());
  EXPECT_TRUE(absl::IsInternal(to("0x38", "0x0")));
  EXPECT_TRUE(absl::IsInternal(to("0x30", "0x1")));
  EXPECT_TRUE(absl::IsInternal(to("0x40", "0x0")));
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
