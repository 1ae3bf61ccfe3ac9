#include "corpus/stored_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace mmadiff {
namespace {

using ::testing::HasSubstr;

constexpr char kLine[] =
    "split-K\tNVIDIA/cutlass\t7107b055\tsm_80\t3 slices\t"
    "sm_80/mma.m16n8k16.f32.f16.f16.f32 | into 3 of 64: add | f16\tsource\tgemm.h:1\n";

TEST(StoredPlans, OfKernelsInEveryLibraryOfTheTable) {
  std::set<std::string> libraries, lines;
  for (const StoredPlan& p : StoredPlans()) {
    libraries.insert(p.library);
    EXPECT_TRUE(lines.insert(p.name() + p.when + p.plan).second) << p.name() << ": " << p.plan;
    EXPECT_TRUE(p.grade != "measured" || std::filesystem::exists(p.evidence)) << p.evidence;
  }
  for (const char* library :
       {"NVIDIA/cutlass", "deepseek-ai/DeepGEMM", "OpenMathLib/OpenBLAS", "ROCm/hipBLASLt",
        "facebookexperimental/triton", "vllm-project/vllm"}) {
    EXPECT_TRUE(libraries.contains(library)) << library;
  }
}

TEST(StoredPlans, ALine) {
  const auto plans = ParsePlans(std::string("# a comment\n") + kLine);
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_EQ(plans->size(), 1u);
  EXPECT_EQ((*plans)[0].name(), "NVIDIA/cutlass@7107b055 split-K");
  EXPECT_EQ((*plans)[0].evidence, "gemm.h:1");
}

TEST(StoredPlans, BadLines) {
  const std::string line = kLine;
  const std::pair<std::string, const char*> bad[] = {
      {absl::StrReplaceAll(line, {{"\tsource", ""}}), "columns"},
      {absl::StrReplaceAll(line, {{"3 slices", ""}}), "columns"},
      {absl::StrReplaceAll(line, {{"source", "guessed"}}), "grade"},
      {absl::StrReplaceAll(line, {{"into 3", "onto 3"}}), "range"},
      {absl::StrReplaceAll(line, {{"into 3", "into  3"}}), "write"},
      {absl::StrReplaceAll(line, {{"\tsm_80\t", "\tsm_90\t"}}), "sm_80"},
  };
  for (const auto& [text, why] : bad) {
    const auto plans = ParsePlans(text);
    EXPECT_EQ(plans.status().code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(std::string(plans.status().message()), HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace mmadiff
