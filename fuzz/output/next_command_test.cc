#include "fuzz/output/next_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

TEST(ShellWord, IsQuotedWhereItMustBe) {
  EXPECT_EQ(ShellWord("--seed=1"), "--seed=1");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("x86/*"), "'x86/*'");
  EXPECT_EQ(ShellWord("it's $x"), "'it'\\''s $x'");
}

TEST(CaseCommand, ShortenedWhereOneFileMatches) {
  const std::string folder = testing::TempDir() + "next_command_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/a_long_name_of_a_case-0123456789ab.txtpb";
  std::ofstream(path) << "x";
  EXPECT_EQ(CaseCommand("explain", path, 1000), "./mmadiff explain " + path);
  EXPECT_EQ(CaseCommand("explain", path, 20),
            absl::StrCat("./mmadiff explain ", folder, "/*0123456789ab*"));
  std::ofstream(folder + "/other-0123456789ab.txtpb") << "x";
  EXPECT_EQ(CaseCommand("explain", path, 20), "./mmadiff explain " + path);
  std::filesystem::remove_all(folder);
}

TEST(CommandLine, IsBrokenBetweenWords) {
  EXPECT_EQ(CommandLine("next  ", "./mmadiff run", 20), "next  ./mmadiff run\n");
  EXPECT_EQ(CommandLine("next  ", "./mmadiff run --seed=1 --device='exec:a b' --quiet", 30),
            "next\n"
            "  ./mmadiff run --seed=1 \\\n"
            "    --device='exec:a b' \\\n"
            "    --quiet\n");
}

}  // namespace
}  // namespace mmadiff
