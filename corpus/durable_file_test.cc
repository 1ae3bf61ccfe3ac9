#include "corpus/durable_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "corpus/testing/folder.h"

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
    EXPECT_THAT(s.message(), HasSubstr("not a regular file"));
    EXPECT_FALSE(std::filesystem::is_regular_file(path));
  }
  ASSERT_TRUE(WriteFileDurably(Path("file"), "x").ok());
  std::filesystem::create_symlink("file", Path("link"));
  ASSERT_TRUE(WriteFileDurably(Path("link"), "y").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(*ReadFile(Path("file")), "y");
  EXPECT_EQ(Files(), 4) << "temporary files remain";
}

TEST_F(DurableFile, OpensRegularFilesAlone) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(Path("folder").c_str(), 0700), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  Path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(listener);
  const std::pair<std::string, const char*> kinds[] = {{Path("pipe"), "is a FIFO"},
                                                       {Path("folder"), "is a folder"},
                                                       {Path("socket"), "is a socket"},
                                                       {"/dev/null", "is a device"}};
  for (const auto& [path, kind] : kinds) {
    for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_APPEND | O_CREAT}) {
      const absl::Status s = OpenStored(path, flags).status();
      EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(s.message(), HasSubstr(path + ": " + kind));
    }
  }
  const auto file = OpenStored(Path("new"), O_WRONLY | O_APPEND | O_CREAT);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(fcntl(file->get(), F_GETFL) & (O_NONBLOCK | O_APPEND), O_APPEND);
  EXPECT_EQ(fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(OpenStored(Path("none")).status().code(), absl::StatusCode::kNotFound);
}

// A file with a hole takes no room, and none is taken for it.
TEST_F(DurableFile, SizesComeBeforeReading) {
  Put("file", "");
  ASSERT_EQ(truncate(Path("file").c_str(), off_t{1} << 40), 0);
  EXPECT_TRUE(OpenStored(Path("file")).ok());
  EXPECT_THAT(OpenStored(Path("file"), O_RDONLY, 1000).status().message(), HasSubstr("1000 bytes"));
  EXPECT_EQ(ReadFile(Path("file"), (size_t{1} << 40) - 1).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(DurableFile, OwnLinksAreReadAndNotWrittenThrough) {
  Put("file", "x");
  std::filesystem::create_symlink("file", Path("link"));
  std::filesystem::create_symlink("loop", Path("loop"));
  EXPECT_EQ(*ReadFile(Path("link")), "x");
  EXPECT_EQ(OpenStored(Path("loop")).status().code(), absl::StatusCode::kDataLoss);
  for (const int flags : {O_RDWR, O_WRONLY | O_CREAT}) {
    const absl::Status s = OpenStored(Path("link"), flags).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(s.message(), HasSubstr("is a link"));
  }
}

TEST_F(DurableFile, LinksOfStrangersAreFollowedWhereNobodyElseWrites) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes links of others";
  Put("file", "x");
  ASSERT_EQ(mkdir(Path("folder").c_str(), 0700), 0);
  std::filesystem::create_symlink(Path("file"), Path("folder/link"));
  std::filesystem::create_symlink(".", Path("folder/dot"));
  std::filesystem::create_symlink("folder/link", Path("own"));  // leads to the stranger's
  for (const char* name : {"folder/link", "folder/dot"}) {
    ASSERT_EQ(lchown(Path(name).c_str(), 65534, 65534), 0);
  }
  const auto all = {Path("folder/link"), Path("folder/dot/link"), Path("own")};
  for (const mode_t mode : {0755, 0775, 0757, 01777}) {
    ASSERT_EQ(chmod(Path("folder").c_str(), mode), 0);
    for (const std::string& path : all) {
      const bool follows = mode == 0755;
      EXPECT_EQ(ReadFile(path).ok(), follows) << path << " " << mode;
      EXPECT_EQ(WriteFileDurably(path, "x").ok(), follows) << path << " " << mode;
      EXPECT_EQ(MakeFolder(Path("folder/dot/a")).ok(), follows);
    }
  }
  ASSERT_EQ(chown(Path("folder").c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(Path("folder").c_str(), 0755), 0);
  for (const std::string& path : all) {
    EXPECT_THAT(ReadFile(path).status().message(), HasSubstr("belongs to another user (65534)"));
    EXPECT_EQ(WriteFileDurably(path, "y").code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(*ReadFile(Path("file")), "x");
  EXPECT_TRUE(ReadFile(Path("folder/../file")).ok());
}

TEST_F(DurableFile, MissingFolderIsDataLossWithThePath) {
  const absl::Status s = WriteFileDurably(Path("none/file"), "x");
  EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(s.message(), HasSubstr("none/file"));
  EXPECT_THAT(s.message(), HasSubstr("its folder does not exist"));
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
