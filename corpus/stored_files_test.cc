#include "corpus/stored_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "corpus/block_log.h"
#include "corpus/testing/folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr char kVectors[] = "source: made\n\nvector: one\nabout: x\n";
constexpr char kCase[] = "# proto-file: x\n# proto-message: mmadiff.proto.RegressionCase\n\n";
constexpr char kLines[] = "# anything\n# instruction: x86/vfmadd231ss\n0 0 0 0\n";

class StoredFilesTest : public TestFolder {
 protected:
  FileKind Kind(const std::string& name, const std::string& contents) {
    Put(name, contents);
    return KindOfFile(Path(name));
  }
};

TEST_F(StoredFilesTest, AHeaderDecidesWhateverTheName) {
  const std::string log = EncodeRecords({}, RunId{1}) + EncodeBlock("", 0, 0, RunId{1});
  for (const char* const name : {"a", "a.md", "a.txt", "a.log", "a.txtpb", "a.gz", "A.LOG"}) {
    EXPECT_EQ(Kind(name, kVectors), FileKind::kVectors) << name;
    EXPECT_EQ(Kind(name, kCase), FileKind::kCase) << name;
    EXPECT_EQ(Kind(name, kLines), FileKind::kLines) << name;
    EXPECT_EQ(Kind(name, "\n\n" + log), FileKind::kLog) << name;
  }
}

TEST_F(StoredFilesTest, ElseTheEndOfTheName) {
  for (const std::string& text :
       {std::string("See the README.\n"), std::string(300, '\0'), std::string()}) {
    EXPECT_EQ(Kind("README.md", text), FileKind::kOther);
    EXPECT_EQ(Kind("LICENSE", text), FileKind::kOther);
    EXPECT_EQ(Kind("a.txt", text), FileKind::kNotUnderstood);
    EXPECT_EQ(Kind("A.TXTPB", text), FileKind::kCase);
    EXPECT_EQ(Kind("one.LOG", text), FileKind::kNotUnderstood);
    EXPECT_EQ(Kind("a.txt.gz", text), FileKind::kNotUnderstood);
    EXPECT_EQ(Kind("a.txt.tmpX1y2Z3", text), FileKind::kOther);  // of a killed process
  }
  EXPECT_EQ(Kind("night3", "# comment\n0 0 0 0\n"), FileKind::kLines);
  EXPECT_EQ(Kind("night3", "\xef\xbb\xbf" + std::string(kLines)), FileKind::kLines);
  EXPECT_EQ(Kind("VERSION", "12\n"), FileKind::kOther);
  EXPECT_EQ(Kind("poem", "add a bad face now\n"), FileKind::kOther);
  // By itself it is no recording that was read.
  EXPECT_EQ(Kind("copy.txtpb", "# proto-message: mmadiff.proto.RecordingManifest\n"),
            FileKind::kOfRun);
  EXPECT_EQ(Kind("a.txt", "# lines\n00 11\n"), FileKind::kLines);
  EXPECT_EQ(Kind("a.dat", "00 11\n"), FileKind::kOther);
  EXPECT_EQ(Kind("x86.vfmadd231ss.txt", "damaged\n"), FileKind::kLines);
  EXPECT_EQ(Kind("config.yaml", "source: elsewhere\n"), FileKind::kOther);
}

TEST_F(StoredFilesTest, EveryFileBelowAFolderIsKeptOrInTheLedger) {
  for (const char* const name :
       {"run/manifest.txtpb", "run/units-000001-7.log", "run/distrusted.txt", "run/writer.lock",
        "rec/recording.txtpb", "rec/raw-1.log", "sur/answers.log", "sur/survey.html",
        "sur/recording/digests.log"}) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    Put(name, "");
  }
  std::filesystem::create_directories(Path("deep/er"));
  Put("a.txt", kLines);
  Put("b.txt", kVectors);
  Put("deep/er/c.txtpb", kCase);
  Put("deep/LICENSE", "");
  Put("rec/notes.txt", "");  // not of the recording
  Put("rec/raw-6.log", kLines);
  ASSERT_EQ(mkfifo(Path("pipe.log").c_str(), 0600), 0);
  std::filesystem::create_symlink(Path("deep"), Path("link"));
  std::filesystem::create_symlink(Path("none"), Path("lost.txt"));
  StoredFolders folders;
  Ledger ledger;
  auto below = StoredFilesBelow(Path(""), folders);
  ASSERT_TRUE(below.ok());
  std::map<std::string, FileKind> kept;
  for (const StoredFile& file : ledger.Keep(*std::move(below))) {
    kept[std::filesystem::relative(file.path, Path("")).string()] = file.kind;
    ledger.Compare(Thing::kFile, file.path);
  }
  EXPECT_THAT(kept,
              UnorderedElementsAre(std::pair("a.txt", FileKind::kLines),
                                   std::pair("b.txt", FileKind::kVectors),
                                   std::pair("deep/er/c.txtpb", FileKind::kCase),
                                   std::pair("rec/raw-1.log", FileKind::kOfRecording),
                                   std::pair("rec/raw-6.log", FileKind::kLines),
                                   std::pair("rec/recording.txtpb", FileKind::kOfRecording),
                                   std::pair("sur/answers.log", FileKind::kOfRecording),
                                   std::pair("sur/recording/digests.log", FileKind::kOfRecording),
                                   std::pair("sur/survey.html", FileKind::kOfRecording)));
  EXPECT_THAT(folders.surveys, ElementsAre(Path("sur")));
  EXPECT_THAT(folders.recordings, ElementsAre(Path("rec")));
  EXPECT_TRUE(ledger.Balances()) << ledger.Unbalanced();
  std::map<std::string, uint64_t> left;
  for (const LeftOutLine& line : ledger.lines()) left[Name(line.reason)] = line.count;
  EXPECT_THAT(left,
              UnorderedElementsAre(std::pair("other_file", 1), std::pair("no_answers", 4),
                                   std::pair("not_followed", 1), std::pair("not_understood", 3)));
}

}  // namespace
}  // namespace mmadiff
