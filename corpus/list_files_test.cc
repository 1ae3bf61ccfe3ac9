#include "corpus/list_files.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "corpus/case_folder.h"
#include "corpus/regression_case.h"
#include "corpus/stored_files.h"
#include "corpus/testing/folder.h"
#include "corpus/vector_file.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using ListFiles = TestFolder;

TEST_F(ListFiles, InOrderOfPaths) {
  std::filesystem::create_directories(Path("w/b/c"));
  for (const char* name : {"w/b/c/2", "w/b/1", "w/3"}) Put(name, "");
  EXPECT_THAT(*FilesBelow(Path("w")), ElementsAre(Path("w/3"), Path("w/b/1"), Path("w/b/c/2")));
  EXPECT_THAT(*EntriesOf(Path("w")), ElementsAre(Path("w/3"), Path("w/b")));
  EXPECT_EQ(FilesBelow(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(EntriesOf(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(EntriesOf(Path("w/3")).status().code(), absl::StatusCode::kDataLoss);
}

// Who opens a pipe says that it is none of the files.
TEST_F(ListFiles, PipesAndLinksAreListed) {
  ASSERT_EQ(mkfifo(Path("x.txtpb").c_str(), 0600), 0);
  std::filesystem::create_symlink("nowhere", Path("y.txtpb"));
  EXPECT_THAT(*FilesBelow(Path("")), ElementsAre(Path("x.txtpb"), Path("y.txtpb")));
  EXPECT_THAT(ReadCases(Path(""))->damaged,
              ElementsAre(HasSubstr("is a FIFO"), HasSubstr("cannot be opened")));
}

// Without a free file descriptor no folder can be opened, whoever asks.
class NoDescriptors {
 public:
  explicit NoDescriptors(int free) {
    const int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &old_);
    const rlimit limit = {static_cast<rlim_t>(next + free), old_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_;
};

TEST_F(ListFiles, AFolderThatCannotBeReadIsAnErrorAndNotEmpty) {
  std::filesystem::create_directories(Path("w/below"));
  Put("w/below/file", "");
  for (const int free : {0, 1}) {  // the folder itself, the one below it
    absl::Status statuses[3];
    {
      const NoDescriptors none(free);
      statuses[0] = FilesBelow(Path("w")).status();
      statuses[1] = ListCases(Path("w")).status();
      StoredFolders folders;
      statuses[2] = StoredFilesBelow(Path("w"), folders).status();
    }
    for (const absl::Status& s : statuses) {
      EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << free << s;
      EXPECT_THAT(s.message(), HasSubstr("cannot be listed: Too many open files"));
    }
  }
  const NoDescriptors none(0);
  EXPECT_EQ(EntriesOf(Path("w")).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace mmadiff
