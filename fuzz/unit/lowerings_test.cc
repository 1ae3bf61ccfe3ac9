#include "fuzz/unit/lowerings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "corpus/stored_lowerings.h"
#include "device/sass/kernel_code.h"
#include "device/sass/natives.h"
#include "device/sass/nvdisasm.h"

namespace mmadiff {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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
  const auto& [version, failed] = *operations[0].failed.begin();
  EXPECT_TRUE(failed.rejected);
  EXPECT_THAT(failed.why, StartsWith("ptxas " + version + " rejects it: "));
  EXPECT_THAT(failed.why, Not(AnyOf(HasSubstr("line "), HasSubstr("  "), HasSubstr("error"))));
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
  const auto version = sass::FindToolchain("sm_90a", "", "3")->version;
  const auto of_version = [&](const StoredLowering* l) {
    return absl::c_linear_search(l->ptxas, version);
  };
  std::vector<OperationLowerings> operations;
  std::vector<std::string> names;
  for (const Operation& op : Operations()) {
    if (op.arch() != "sm_90" || IsNative(op)) continue;
    const auto stored = LoweringsOf(op.name);
    const auto own = absl::c_find_if(stored, of_version);
    if (own == stored.end()) continue;
    operations.push_back({&op});
    names.push_back((*own)->name);
  }
  if (operations.empty()) GTEST_SKIP() << "no lowerings of ptxas " << version;
  ASSERT_GT(operations.size(), 40u);
  ASSERT_TRUE(FindLowerings({.cases = 1}, **sass::FindTarget("sm_90a"), operations).ok());
  for (size_t i = 0; i < operations.size(); ++i) {
    ASSERT_EQ(operations[i].found.size(), 1) << operations[i].op->name;
    EXPECT_EQ(operations[i].found[0].lowering.name, names[i]) << operations[i].op->name;
  }
}

// The matrix instructions and fused multiply-adds that a text shows, as nvdisasm prints them.
std::set<std::string> FormsIn(const std::string& computes) {
  static const std::regex form("((?:[HIQOBD]MMA|[FD]FMA)[A-Zx0-9_.]*)\\(");
  std::set<std::string> forms;
  for (std::sregex_iterator at(computes.begin(), computes.end(), form), end; at != end; ++at) {
    forms.insert((*at)[1]);
  }
  return forms;
}

// Whether the operation is made of instructions of other operations, whose results are published.
bool ConsistsOfPublished(const Operation& op, const StoredLowering& lowering) {
  const std::set<std::string> forms = FormsIn(lowering.computes);
  const auto published = [&](const std::string& form) {
    return absl::c_any_of(Operations(), [&](const Operation& other) {
      return &other != &op && other.arch() == op.arch() && IsNative(other) &&
             other.numerics->evidence.grade <= Grade::kPublished &&
             sass::FormOf(*other.instruction, other.arch()) == form;
    });
  };
  // What MOVM.U4TO8 does is published nowhere.
  const bool documented = !absl::StrContains(lowering.computes, "TO8");
  return !forms.empty() && documented && absl::c_all_of(forms, published);
}

TEST(StoredLowerings, AreEvidenceForWhatConsistsOfPublishedInstructions) {
  int compiled = 0;
  for (const Operation& op : Operations()) {
    const std::vector<const StoredLowering*> lowerings = LoweringsOf(op.name);
    const Evidence& e = op.numerics->evidence;
    const bool evidence = e.file == std::string("corpus/lowerings");
    compiled += evidence;
    if (lowerings.size() != 1) {
      EXPECT_FALSE(evidence) << op.name;
      continue;
    }
    const bool consists = ConsistsOfPublished(op, *lowerings[0]);
    EXPECT_TRUE(consists || !evidence) << op.name;
    EXPECT_FALSE(consists && e.grade == Grade::kAssumed) << op.name;
  }
  EXPECT_GT(compiled, 100);
}

}  // namespace
}  // namespace mmadiff
