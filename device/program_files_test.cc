#include "device/program_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// A folder with the files rtl (executable), "my model.py" and data, and a folder `bin` of PATH with
// `tool`.
class ProgramFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(::testing::TempDir(), "program_files_test.", getpid());
    std::filesystem::create_directories(folder_ + "/bin");
    for (const char* name : {"rtl", "my model.py", "data", "run.log", "a.wlf", "bin/tool"})
      Write(name, name);
    chmod((folder_ + "/bin/tool").c_str(), 0755);
    setenv("PATH", (folder_ + "/bin").c_str(), 1);
    setenv("HOME", folder_.c_str(), 1);
    setenv("HERE", folder_.c_str(), 1);
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  static std::string Hash(const std::string& text) {
    return absl::StrFormat("%016x", XXH3_64bits(text.data(), text.size()));
  }

  std::string folder_;
};

TEST_F(ProgramFilesTest, FilesOfACommand) {
  const std::string rtl = "rtl xxh3 " + Hash("rtl"), data = "data xxh3 " + Hash("data"),
                    tool = "tool xxh3 " + Hash("bin/tool"),
                    model = "my model.py xxh3 " + Hash("my model.py");
  const std::pair<const char*, std::string> cases[] = {
      {"./rtl", rtl},
      {"tool 'my model.py' --fast", tool + ", " + model},
      {"tool my\\ model.py", tool + ", " + model},
      {"DATA=data nice ./rtl", data + ", " + rtl},
      {"\"$HERE\"/rtl | tool", rtl + ", " + tool},
      {"cd / && (tool; $HERE/rtl)", tool + ", " + rtl},
      {"sh -c 'tool ./rtl'", tool + ", " + rtl},
      {"tool <data >rtl", tool + ", " + data},
      {"tool -l run.log -wlf a.wlf data", tool + ", " + data},
      {"['tool', '-x', './rtl']", tool + ", " + rtl},
      {"tool 2>> rtl >&2 ./data", tool + ", " + data},
      {"./rtl --weights=data", rtl + ", " + data},
      {"./rtl & ./rtl", rtl},
      {"echo $(tool) `./rtl`", tool + ", " + rtl},
      {"nothing 'unbalanced \" | ; >", ""},
      {"./bin .", ""},
      {"case $l in /*|./*|-*|[a-z]*) ;; *) ./rt? d* '*';; esac", rtl + ", " + data},
      {"./rtl \\", rtl},
      {"", ""}};
  for (const auto& [command, files] : cases) {
    EXPECT_EQ(ProgramFiles(command).Describe(), files) << command;
  }
}

// Each command answers by the file d/model, or wraps/../d/model.
TEST_F(ProgramFilesTest, RoundaboutNames) {
  std::filesystem::create_directories("d");
  std::filesystem::create_directories("wraps");
  Write("d/model", "v1");
  Write("wrap.sh", "#!/bin/none\n# don't\nexec sh -c \"cd d && ./model\"\n");
  Write("wraps/again.sh", "#! /bin/none\n./wrap.sh\n");
  Write("wraps/own.sh", "#!/bin/none\nexec \"$(dirname \"$0\")\"/../d/model\n");
  Write("wraps/cd.sh", "#!/bin/none\ncd ${0%/*}/..\ncd d; ./model >wraps/cd.sh\n");
  const std::string commands[] = {"cd d && ./model",
                                  "sh -c 'cd d; exec ./model'",
                                  "cd . ; cd d; ./model",
                                  "env -C d ./model",
                                  "d/mod?l",
                                  "cd d; ./mode[l]",
                                  "sh -c d/m*",
                                  "./plus.sh +image=d/model",
                                  "x +a=b=d/model",
                                  "RTL=d/model; bash $RTL",
                                  absl::StrCat("env RTL=", folder_, "/d/model bash -c 'bash $RTL'"),
                                  "D=d; ${D}/model",
                                  "~/d/model",
                                  "${D:-d}/model",
                                  "sh -c \"x; $(d/model)\"",
                                  "d/\\\nmodel",
                                  "X='cd d; ./model' sh -c '$X'",
                                  "./wrap.sh",
                                  "wraps/again.sh",
                                  "sh wraps/own.sh",
                                  "wraps/cd.sh"};
  for (const std::string& command : commands) {
    EXPECT_THAT(ProgramFiles(command).Describe(), ::testing::HasSubstr("model xxh3 " + Hash("v1")))
        << command;
  }
}

TEST_F(ProgramFilesTest, NoFilesOfACommand) {
  Write("long.sh", "#!\n./rtl " + std::string(1 << 20, ' '));
  Write("text", "./rtl\n");
  const std::string makes = "#!\ncat >data; ./rtl <data # my\\ model.py\n";
  Write("makes.sh", makes);
  EXPECT_EQ(ProgramFiles("./long.sh").Describe().find("rtl"), std::string::npos);
  EXPECT_EQ(ProgramFiles("./text").Describe().find("rtl"), std::string::npos);
  Write("compiled", "#! /usr/bin/vvp\n:file_names 2; \"rtl\"\n");
  EXPECT_EQ(ProgramFiles("./compiled").Describe().find("rtl"), std::string::npos);
  EXPECT_EQ(ProgramFiles("./makes.sh").Describe(),
            "makes.sh xxh3 " + Hash(makes) + ", rtl xxh3 " + Hash("rtl"));
  std::string doubled = "A=12345678 ";
  for (int i = 0; i < 60; ++i) doubled += "A=$A$A ";
  EXPECT_EQ(ProgramFiles(doubled).Describe(), "");
  for (int i = 0; i < 150; ++i) Write(absl::StrCat("many.", i), "");
  const std::string many = ProgramFiles("./many*").Describe();
  EXPECT_EQ(std::ranges::count(many, ','), 99);
}

TEST_F(ProgramFilesTest, LargeFile) {
  const std::string large(5'000'000, 'x');
  Write("rtl", large);
  EXPECT_EQ(ProgramFiles("./rtl").Describe(), "rtl xxh3 " + Hash(large));
}

TEST_F(ProgramFilesTest, ChangesAreFound) {
  ProgramFiles files("./rtl");
  EXPECT_TRUE(files.CheckUnchanged().ok());
  Write("rtl", "rtl");  // other times, the same contents
  EXPECT_TRUE(files.CheckUnchanged().ok());
  Write("rtl", "rtk");
  EXPECT_EQ(files.CheckUnchanged().code(), absl::StatusCode::kDataLoss);
  Write("rtl", "rtl");
  EXPECT_TRUE(files.CheckUnchanged().ok());
  std::filesystem::remove("rtl");
  EXPECT_THAT(files.CheckUnchanged().message(), ::testing::HasSubstr("rtl changed during the run"));
}

}  // namespace
}  // namespace mmadiff
