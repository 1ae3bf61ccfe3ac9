#include "corpus/durable_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus/test_folder.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

class DurableFile : public TestFolder {
 protected:
  int Files() const { return std::distance(std::filesystem::directory_iterator(Path("")), {}); }
};

TEST_F(DurableFile, WritesReplacesAndReadsBack) {
  const std::string path = Path("file");
  const std::string bytes("one\0two", 7);
  ASSERT_TRUE(WriteFileDurably(path, bytes).ok());
  EXPECT_EQ(*ReadFile(path), bytes);
  ASSERT_TRUE(WriteFileDurably(path, "").ok());
  EXPECT_EQ(*ReadFile(path), "");
  EXPECT_EQ(Files(), 1) << "temporary files remain";
}

TEST_F(DurableFile, CreatesOnlyWhatIsNotThere) {
  ASSERT_TRUE(CreateFileDurably(Path("file"), "first").ok());
  const absl::Status s = CreateFileDurably(Path("file"), "second");
  EXPECT_EQ(s.code(), absl::StatusCode::kAlreadyExists) << s;
  EXPECT_EQ(*ReadFile(Path("file")), "first");
  EXPECT_EQ(Files(), 1) << "temporary files remain";
  EXPECT_TRUE(SyncFile(Path("file")).ok());
  EXPECT_EQ(SyncFile(Path("none")).code(), absl::StatusCode::kDataLoss);
}

TEST_F(DurableFile, HasTheModeOfOrdinaryFiles) {
  const mode_t mask = umask(027);
  ASSERT_TRUE(WriteFileDurably(Path("file"), "x").ok());
  umask(mask);
  struct stat s;
  ASSERT_EQ(stat(Path("file").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0640u);
}

TEST_F(DurableFile, FailureKeepsTheOldFileAndLeavesNoTemporaryOne) {
  ASSERT_EQ(mkdir(Path("folder").c_str(), 0700), 0);
  const absl::Status s = CreateFileDurably(Path("folder"), "x");
  EXPECT_EQ(s.code(), absl::StatusCode::kAlreadyExists) << s;
  EXPECT_EQ(Files(), 1);
}

// What is no regular file is never replaced by one.
TEST_F(DurableFile, DevicesPipesFoldersAndLinksStay) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(Path("folder").c_str(), 0700), 0);
  for (const std::string& path : {Path("pipe"), Path("folder"), std::string("/dev/null")}) {
    const absl::Status s = WriteFileDurably(path, "x");
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(s.message(), HasSubstr("is no regular file"));
    EXPECT_FALSE(std::filesystem::is_regular_file(path));
  }
  ASSERT_TRUE(WriteFileDurably(Path("file"), "x").ok());
  std::filesystem::create_symlink("file", Path("link"));
  ASSERT_TRUE(WriteFileDurably(Path("link"), "y").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(*ReadFile(Path("file")), "y");
  EXPECT_EQ(Files(), 4) << "temporary files remain";
}

TEST_F(DurableFile, MissingFolderIsDataLossWithThePath) {
  const absl::Status s = WriteFileDurably(Path("none/file"), "x");
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), HasSubstr("none/file"));
  EXPECT_THAT(s.message(), HasSubstr("its folder is not there"));
}

TEST(AppendDurably, FullDiskIsDataLoss) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  const absl::Status s = AppendDurably(fd, "log", "x");
  close(fd);
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), HasSubstr("log: write: No space left"));
}

TEST(AppendDurably, FailedSyncIsDataLoss) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // takes the bytes, but cannot be synced
  const absl::Status s = AppendDurably(ends[1], "log", "x");
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), HasSubstr("log: fdatasync"));
}

TEST_F(DurableFile, ReadsUpToTheLimit) {
  const std::string path = Put("file", std::string(100000, 'x'));
  EXPECT_EQ(ReadFile(path, 100000)->size(), 100000u);
  EXPECT_EQ(ReadFile(path, SIZE_MAX)->size(), 100000u);
  const absl::Status s = ReadFile(path, 99999).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), HasSubstr("99999"));
}

TEST_F(DurableFile, MissingFileIsNotFound) {
  EXPECT_EQ(ReadFile(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(Path("")).status().code(), absl::StatusCode::kDataLoss);  // a folder
}

TEST_F(DurableFile, MakesFoldersWithTheirParents) {
  EXPECT_TRUE(MakeFolder(Path("a/b/c")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(Path("a/b/c")));
  EXPECT_TRUE(MakeFolder(Path("a/b/c")).ok());
  EXPECT_TRUE(MakeFolder(Path("d/e/")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(Path("d/e")));
}

TEST_F(DurableFile, FolderBelowAFileIsAFailedPrecondition) {
  Put("file", "x");
  for (const char* name : {"file", "file/a"}) {
    const absl::Status s = MakeFolder(Path(name));
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << s;
    EXPECT_THAT(s.message(), HasSubstr("file"));
  }
}

TEST_F(DurableFile, FolderWhereNobodyMayWriteIsDenied) {
  const absl::Status s = MakeFolder("/proc/mmadiff");  // also for root
  EXPECT_FALSE(s.ok());
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ASSERT_EQ(mkdir(Path("locked").c_str(), 0500), 0);
  EXPECT_EQ(MakeFolder(Path("locked/a")).code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace mmadiff
