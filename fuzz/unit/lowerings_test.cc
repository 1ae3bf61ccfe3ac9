#include "fuzz/unit/lowerings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "corpus/durable_file.h"
#include "device/sass/kernel_code.h"
#include "device/sass/nvdisasm.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Lowerings : public testing::Test {
 protected:
  void SetUp() override {
    const auto tools = sass::FindToolchain("sm_90a", "", "3");
    if (!tools.ok()) GTEST_SKIP() << tools.status().message();
  }
  // At two optimization levels, as if they were versions.
  static std::vector<OperationLowerings> Of(const char* target, std::vector<const char*> names) {
    std::vector<OperationLowerings> operations;
    for (const char* name : names) operations.push_back({FindOperation(name)});
    for (const char* level : {"3", "1"}) {
      const absl::Status s =
          FindLowerings({.level = level, .cases = 20}, **sass::FindTarget(target), operations);
      EXPECT_TRUE(s.ok()) << s;
    }
    return operations;
  }
};

TEST_F(Lowerings, AreTheSameForOtherRegistersAndSchedules) {
  for (const OperationLowerings& o :
       Of("sm_90a", {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
                     "sm_90/mma.m8n8k4.f32.f16.f16.f32", "sm_90/fma.rn.f64",
                     "sm_90/wmma.m16n16k16.s32.s8.s8.s32"})) {
    EXPECT_EQ(o.found.size(), 1) << o.op->name;
    EXPECT_THAT(o.failed, IsEmpty());
    for (const FoundLowering& f : o.found) {
      EXPECT_EQ(f.differs, "") << o.op->name;
      EXPECT_GT(f.dot_products, 0u);
      EXPECT_FALSE(f.lowering.branches_on_data) << o.op->name;
      EXPECT_EQ(f.versions.size(), 2) << o.op->name;
    }
  }
}

TEST_F(Lowerings, StateTheStepsOfEmulatedInstructions) {
  const auto operations = Of("sm_90a", {"sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"});
  EXPECT_THAT(operations[0].found[0].lowering.computes,
              HasSubstr("FADD(c[0], HMMA.16816.F32({F2FP.F16.E4M3.UNPACK_B(high(a[0])), ...}, "));
}

// sm_80 has no FP8; the others of the module are assembled all the same.
TEST_F(Lowerings, SayWhatFailed) {
  const auto operations =
      Of("sm_80", {"sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_80/mma.m16n8k8.f32.f16.f16.f32"});
  EXPECT_THAT(operations[0].found, IsEmpty());
  ASSERT_EQ(operations[0].failed.size(), 1);
  EXPECT_THAT(operations[0].failed.begin()->second, HasSubstr("ptxas: line "));
  EXPECT_EQ(operations[1].found.size(), 1);
}

// A disassembler that negates a term of each FADD stands for an assembler that does.
TEST_F(Lowerings, DifferFromTheModelIfTheCodeDoes) {
  const std::string real = *sass::FindDisassembler(), fake = testing::TempDir() + "/negating";
  std::ofstream(fake) << "#!/bin/sh\n'" << real
                      << "' \"$@\" | sed 's/\\(FADD R[0-9]*, R[0-9]*, \\)R/\\1-R/'\n";
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  std::vector<OperationLowerings> operations = {
      {FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32")},
      {FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")}};
  const PtxTarget& target = **sass::FindTarget("sm_90a");
  ASSERT_TRUE(FindLowerings({.cases = 5}, target, operations).ok());
  const char* const set = std::getenv("MMADIFF_NVDISASM");
  const std::string before = set == nullptr ? "" : set;
  setenv("MMADIFF_NVDISASM", fake.c_str(), 1);
  const absl::Status s = FindLowerings({.cases = 5}, target, operations);
  before.empty() ? unsetenv("MMADIFF_NVDISASM") : setenv("MMADIFF_NVDISASM", before.c_str(), 1);
  ASSERT_TRUE(s.ok()) << s;
  ASSERT_EQ(operations[0].found.size(), 2);
  EXPECT_EQ(operations[0].found[0].differs, "");
  EXPECT_EQ(operations[0].found[1].differs, "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32@g3:1:0");
  EXPECT_NE(operations[0].found[0].lowering.name, operations[0].found[1].lowering.name);
  EXPECT_THAT(operations[0].from_first, ElementsAre("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32@g3:1:0"));
  EXPECT_EQ(operations[1].found.size(), 1);  // it has no FADD
}

// A part of the rows: `.ci/night` compares all.
TEST_F(Lowerings, OfTheAssemblerAreStored) {
  const auto text = ReadFile("corpus/lowerings/sm_90.tsv");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto version = sass::FindToolchain("sm_90a", "", "3")->version;
  if (!absl::StrContains(*text, version)) GTEST_SKIP() << "no lowerings of ptxas " << version;
  const auto stored = ParseLowerings(*text);
  ASSERT_TRUE(stored.ok()) << stored.status();
  std::vector<OperationLowerings> operations;
  for (const auto& [name, lowerings] : *stored) {
    const Operation* const op = FindOperation(name);
    ASSERT_NE(op, nullptr) << name;
    if (!IsNative(*op)) operations.push_back({op});
  }
  ASSERT_GT(operations.size(), 40u);
  ASSERT_TRUE(FindLowerings({.cases = 1}, **sass::FindTarget("sm_90a"), operations).ok());
  for (const OperationLowerings& o : operations) {
    ASSERT_EQ(o.found.size(), 1) << o.op->name;
    EXPECT_TRUE(stored->at(o.op->name).contains(o.found[0].lowering.name)) << o.op->name;
  }
}

TEST(StoredLowerings, AreTheFirstTwoColumns) {
  const auto stored = ParseLowerings("# sm_90a: ...\nx\tlow:1\t13.0\ty\nx\tlow:2\nz\tlow:3\n");
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(stored->at("x"), ElementsAre("low:1", "low:2"));
  EXPECT_THAT(stored->at("z"), ElementsAre("low:3"));
  for (const char* text : {"x", "x\t", "\n\tx"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseLowerings(text).status())) << text;
  }
}

}  // namespace
}  // namespace mmadiff
