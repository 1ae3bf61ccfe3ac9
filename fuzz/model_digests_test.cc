// The digests in the repository are those of the models; and every kind of change is named.
#include "fuzz/model_digests.h"

#include <gmock/gmock.h>

#include "corpus/durable_file.h"
#include "sim/row.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

std::vector<std::string> Changes(std::span<const ModelDigest> stored,
                                 std::span<const ModelDigest> now) {
  std::vector<std::string> texts;
  for (const ModelChange& c : CompareModelDigests(stored, now)) {
    texts.push_back(std::string(Name(c.kind)) + " " + c.row);
  }
  return texts;
}

// When a change is meant: ./mmadiff changes --update, and the new file goes into the same commit.
TEST(ModelDigests, NothingChanges) {
  const absl::StatusOr<std::string> text = ReadFile("corpus/model_digests.txt");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto stored = ParseModelDigests(*text, "corpus/model_digests.txt");
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->size(), Rows().size());
  EXPECT_THAT(Changes(*stored, ComputeModelDigests()), testing::IsEmpty())
      << "see ./mmadiff changes";
}

TEST(ModelDigests, EveryKindOfChange) {
  const std::vector<ModelDigest> stored = {{"a", 1, 2}, {"b", 3, 4}, {"c", 5, 6}, {"d", 7, 8}};
  const std::vector<ModelDigest> now = {{"a", 1, 2}, {"b", 3, 5}, {"c", 6, 7}, {"e", 9, 9}};
  EXPECT_THAT(Changes(stored, now),
              testing::ElementsAre("answers changed b", "inputs changed c", "new e", "gone d"));
  EXPECT_THAT(Changes(stored, stored), testing::IsEmpty());
}

TEST(ModelDigests, AreReadAsWritten) {
  const std::vector<ModelDigest> digests = {{"x/y", 1, ~0ull}, {"x/z", 2, 3}};
  const auto read = ParseModelDigests(FormatModelDigests(digests), "f");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(Changes(digests, *read), testing::IsEmpty());
  for (const char* bad : {"x/y 1 2\n", "x/y\n", "x/y 000000000000000g 0000000000000000\n",
                          "x/y 0000000000000000 0000000000000000 \n", "\x1b\n"}) {
    const absl::Status s = ParseModelDigests(bad, "f").status();
    EXPECT_THAT(std::string(s.message()), HasSubstr("f:1: '"));
    EXPECT_THAT(std::string(s.message()), testing::Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace mmadiff
