// Each kind of path is what it is, also where it lies beside another.
#include "corpus/path_kind.h"

#include <sys/stat.h>

#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using PathKindTest = TestFolder;

TEST_F(PathKindTest, OfFiles) {
  Put("a.txtpb", "x");
  Put("a.log", "x");
  ASSERT_EQ(mkfifo(Path("pipe.txtpb").c_str(), 0600), 0);
  EXPECT_EQ(KindOf(Path("a.txtpb")), PathKind::kCase);
  EXPECT_EQ(KindOf(Path("a.log")), PathKind::kFile);
  EXPECT_EQ(KindOf(Path("pipe.txtpb")), PathKind::kOther);
  EXPECT_EQ(KindOf(Path("none")), PathKind::kNothing);
  EXPECT_EQ(KindOf(Path("a.log/below")), PathKind::kNothing);
  EXPECT_EQ(KindOf(""), PathKind::kNothing);
}

TEST_F(PathKindTest, OfFolders) {
  const std::pair<const char*, PathKind> all[] = {{"answers.log", PathKind::kSurvey},
                                                  {"raw-1.log", PathKind::kRecording},
                                                  {"recording.txtpb", PathKind::kRecording},
                                                  {"manifest.txtpb", PathKind::kRun},
                                                  {"other.txtpb", PathKind::kFolder}};
  for (const auto& [file, kind] : all) {
    const std::string name = std::string("of-") + file, folder = Path(name);
    std::filesystem::create_directory(folder);
    EXPECT_EQ(KindOf(folder), PathKind::kFolder);
    EXPECT_TRUE(IsFolder(KindOf(folder)));
    Put(name + "/" + file, "x");
    EXPECT_EQ(KindOf(folder), kind) << file;
    EXPECT_EQ(KindOf(folder + "/"), kind) << file;
    EXPECT_TRUE(IsFolder(kind));
  }
  EXPECT_FALSE(IsFolder(PathKind::kCase));
}

}  // namespace
}  // namespace mmadiff
