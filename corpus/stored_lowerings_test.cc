#include "corpus/stored_lowerings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "absl/algorithm/container.h"
#include "corpus/durable_file.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(StoredLowerings, AreLinesOfFiveColumns) {
  const auto stored = ParseLowerings("# sm_90a: ...\nx\tlow:1\t12.4 13.0\tequals\tFADD(c[0])\n");
  ASSERT_TRUE(stored.ok()) << stored.status();
  ASSERT_THAT(*stored, SizeIs(1));
  EXPECT_EQ(stored->front().operation, "x");
  EXPECT_THAT(stored->front().ptxas, ElementsAre("12.4", "13.0"));
  for (const char* text : {"x", "x\t", "\n\tx", "x\tlow:1\t13.0\tequals", "x\tlow:1\t\tequals\ty",
                           "x\tlow:1\t13.0\tequals\ty\tz"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseLowerings(text).status())) << text;
  }
}

TEST(StoredLowerings, NameOperationsOfTheTables) {
  std::set<std::pair<std::string, std::string>> names;
  for (const StoredLowering& l : StoredLowerings()) {
    EXPECT_NE(FindOperation(l.operation), nullptr) << l.operation;
    EXPECT_THAT(l.name, testing::AnyOf(StartsWith("low:"), StartsWith("path:")));
    EXPECT_TRUE(names.emplace(l.operation, l.name).second) << l.operation << " twice";
  }
  EXPECT_GT(names.size(), 700);
}

TEST(StoredLowerings, AreThoseOfTheFiles) {
  size_t lines = 0;
  for (const auto& file : std::filesystem::directory_iterator("corpus/lowerings")) {
    const auto text = ReadFile(file.path().string());
    ASSERT_TRUE(text.ok()) << text.status();
    const auto parsed = ParseLowerings(*text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    lines += parsed->size();
    for (const StoredLowering& l : *parsed) {
      EXPECT_TRUE(absl::c_any_of(LoweringsOf(l.operation), [&](const StoredLowering* embedded) {
        return embedded->name == l.name && embedded->ptxas == l.ptxas &&
               embedded->compared == l.compared && embedded->computes == l.computes;
      })) << l.operation;
    }
  }
  EXPECT_EQ(lines, StoredLowerings().size());
}

TEST(StoredLowerings, AreFoundByOperation) {
  const auto emulated = LoweringsOf("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32");
  ASSERT_THAT(emulated, SizeIs(2));
  EXPECT_THAT(emulated[0]->computes, StartsWith("FADD(c[0], "));
  EXPECT_THAT(LoweringsOf("sm_90/mma"), IsEmpty());
}

}  // namespace
}  // namespace mmadiff
