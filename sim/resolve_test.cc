#include "sim/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Algorithm One(const Instruction&) { return {.family = Family::kFmaChain, .terms = 1}; }
Algorithm Two(const Instruction&) { return {.family = Family::kFmaChain, .terms = 2}; }

constexpr Evidence kText = {Grade::kAssumed, "", "text"};
constexpr NanVerdict kBits = NanVerdict::kBits;

// The errors of the table with lines added to it.
std::vector<std::string> ErrorsWith(std::vector<NumericsEntry> added) {
  const std::span<const NumericsEntry> table = NumericsEntries();
  added.insert(added.begin(), table.begin(), table.end());
  return Resolve(added).errors;
}

// The errors of the table with the lines left out that match a condition.
template <class Condition>
std::vector<std::string> ErrorsWithout(Condition leave_out) {
  std::vector<NumericsEntry> kept;
  for (const NumericsEntry& entry : NumericsEntries()) {
    if (!leave_out(entry)) kept.push_back(entry);
  }
  return Resolve(kept).errors;
}

TEST(Resolve, TheTableHasNoErrors) {
  const NumericsTable table = Resolve(NumericsEntries());
  EXPECT_THAT(table.errors, IsEmpty());
  EXPECT_GE(table.numerics.size(), 1371);
}

// The defect that hid the directed roundings of sm_90: a pattern that says too little.
TEST(Resolve, APatternThatSaysTooLittleIsAnError) {
  EXPECT_THAT(ErrorsWith({{"sm_90", "mma.m16n8k4*.f64.f64.f64.f64", One, kText}}),
              testing::Contains("sm_90/mma.m16n8k4.rz.f64.f64.f64.f64: matched by "
                                "'mma.m16n8k{4,8,16}.rz.*' and by 'mma.m16n8k4*.f64.f64.f64.f64', "
                                "neither an exception to the other"));
  EXPECT_THAT(ErrorsWith({{"gfx908", "v_mfma_f32_32x32x2*f16", One, kText}}),
              testing::Contains(HasSubstr("gfx908/v_mfma_f32_32x32x2bf16: matched by")));
}

TEST(Resolve, OrderDecidesNothing) {
  const std::span<const NumericsEntry> table = NumericsEntries();
  const NumericsTable backward = Resolve(std::vector(table.rbegin(), table.rend()));
  const NumericsTable forward = Resolve(table);
  EXPECT_THAT(backward.errors, IsEmpty());
  ASSERT_EQ(backward.numerics.size(), forward.numerics.size());
  for (size_t i = 0; i < forward.numerics.size(); ++i) {
    EXPECT_EQ(backward.numerics[i].instruction, forward.numerics[i].instruction);
    EXPECT_EQ(backward.numerics[i].algorithm, forward.numerics[i].algorithm);
    EXPECT_EQ(backward.numerics[i].evidence.text, forward.numerics[i].evidence.text);
  }
}

TEST(Resolve, MachineCodeReplacesAssumptionsOnly) {
  const std::vector<NumericsEntry> assumed = {
      {"x86", "vdpbf16ps", One, kText, NanVerdict::kAnyNan}};
  const auto with = [](const std::vector<NumericsEntry>& entries, Grade grade) {
    const Measurement m = {"x86", "vdpbf16ps", {grade, "own_xeon", "executed", "", "folder"}};
    return Resolve(entries, Architectures(), std::span(&m, 1));
  };
  for (const Grade grade : {Grade::kPublished, Grade::kMeasured}) {
    const NumericsTable table = with(assumed, grade);
    ASSERT_FALSE(table.numerics.empty());
    EXPECT_EQ(table.numerics[0].evidence.grade, grade);
    EXPECT_STREQ(table.numerics[0].evidence.text, "executed");
    // Only hardware shows the bits of a NaN.
    EXPECT_EQ(table.numerics[0].nan_verdict == kBits, grade == Grade::kMeasured);
  }
  const char* const error = "x86/vdpbf16ps: machine code replaces evidence that is not assumed";
  std::vector<NumericsEntry> published = assumed;
  published[0].evidence.grade = Grade::kPublished;
  EXPECT_THAT(with(published, Grade::kPublished).errors, testing::Contains(error));
  EXPECT_THAT(with(assumed, Grade::kPublished).errors, testing::Not(testing::Contains(error)));
}

TEST(Resolve, AnExceptionSaysToWhat) {
  const char* const pattern = "v_mfma_i32_*";
  const auto errors = [](const char* instructions, const char* except_from) {
    return ErrorsWith({{"gfx908", instructions, Two, kText, kBits, except_from}});
  };
  EXPECT_THAT(errors("v_mfma_i32_4x4x4i8", pattern), IsEmpty());
  EXPECT_THAT(errors("v_mfma_i32_4x4x4i8", "v_mfma_*"),
              testing::Contains(HasSubstr("neither an exception")));
  EXPECT_THAT(errors("v_mfma_i32_4x4x4i8 v_mfma_i32_4x4*i8", pattern),
              testing::Contains(HasSubstr("neither an exception")));
  // Where nothing else matches, an exception to something is a mistake.
  const std::vector<NumericsEntry> alone = {{"x86", "vdpbf16ps", Two, kText, kBits, "vpdp*"}};
  EXPECT_THAT(
      Resolve(alone).errors,
      testing::Contains(
          "x86/vdpbf16ps: 'vdpbf16ps' is an exception to 'vpdp*', which does not match it"));
}

TEST(Resolve, WhatWinsNothingIsAnError) {
  EXPECT_THAT(ErrorsWith({{"sm_90", "mma.m16n8k15.*", One, kText}}),
              ElementsAre("sm_90: pattern 'mma.m16n8k15.*' of 'mma.m16n8k15.*' gives no "
                          "instruction its numerics"));
  // One choice of a pattern, and one architecture of a line.
  EXPECT_THAT(
      ErrorsWith({{"gfx908 gfx942", "v_mfma_i32_4x4x{4,5}i8", Two, kText, kBits, "v_mfma_i32_*"}}),
      ElementsAre(HasSubstr("gfx942: pattern 'v_mfma_i32_4x4x4i8'"),
                  HasSubstr("gfx908: pattern 'v_mfma_i32_4x4x5i8'"),
                  HasSubstr("gfx942: pattern 'v_mfma_i32_4x4x5i8'")));
}

TEST(Resolve, AnArchitectureThatNoTableKnowsIsAnError) {
  EXPECT_THAT(ErrorsWith({{"sm_91", "mma.m16n8k16.*", One, kText}}),
              ElementsAre("pattern 'mma.m16n8k16.*': no table has the architecture 'sm_91'",
                          HasSubstr("sm_91: pattern")));
}

TEST(Resolve, ANativeInstructionWithoutAOperationIsAnError) {
  EXPECT_THAT(ErrorsWithout([](const NumericsEntry& e) {
                return std::string_view(e.instructions) == "vdpbf16ps";
              }),
              ElementsAre("x86/vdpbf16ps: native, but without numerics"));
}

TEST(Resolve, AnInstructionWithoutAnyOperationIsAnError) {
  EXPECT_THAT(ErrorsWithout([](const NumericsEntry& e) {
                return std::string_view(e.instructions) == "wmma.m16n16k8.f32.tf32.tf32.f32";
              }),
              ElementsAre("wmma.m16n16k8.f32.tf32.tf32.f32: no architecture has numerics for it"));
}

TEST(Resolve, ARelativeWithoutOperationsIsAnError) {
  const std::span<const Architecture> known = Architectures();
  std::vector<Architecture> all(known.begin(), known.end());
  all.push_back({.name = "elsewhere", .emulates = true, .like = "sm_80"});
  EXPECT_THAT(Resolve(NumericsEntries(), all).errors, IsEmpty());
  all.back().like = "sm_81";
  EXPECT_THAT(Resolve(NumericsEntries(), all).errors,
              ElementsAre("elsewhere: no table has the architecture 'sm_81'",
                          "elsewhere: like 'sm_81', but no instruction has numerics there"));
  all.back() = {.name = "nowhere", .like = "gfx942"};  // in no `native_on`
  EXPECT_THAT(Resolve(NumericsEntries(), all).errors,
              ElementsAre("nowhere: like 'gfx942', but no instruction has numerics there"));
}

// A relative's numbers are those of the other architecture, so their sources are too.
TEST(Resolve, ARelativeHasTheSourcesAndOpenQuestionsOfItsNumbers) {
  const Architecture all[] = {{"sm_80", "", true},
                              {"sm_86", "", true, "sm_80", {Grade::kAssumed, "x y", "like"}}};
  const NumericsEntry line[] = {
      {"sm_80", "mma.m8n8k4.f64.f64.f64.f64", One, {Grade::kPublished, "y z", "text", "which"}}};
  const NumericsTable table = Resolve(line, all);
  ASSERT_EQ(table.numerics.size(), 2);
  EXPECT_STREQ(table.numerics[0].evidence.sources, "y z");
  EXPECT_STREQ(table.numerics[1].evidence.sources, "x y z");
  EXPECT_STREQ(table.numerics[1].evidence.open, "which");
}

// sm_86 has the operations of sm_80 by assumption, and lines of its own where it was recorded.
TEST(Resolve, ARelativesLineGivesWayToAnOwnOne) {
  int own = 0;
  for (const Numerics& n : AllNumerics()) {
    own += n.arch == std::string_view("sm_86") && *n.evidence.file != '\0';
  }
  EXPECT_EQ(own, 8);
}

}  // namespace
}  // namespace mmadiff
