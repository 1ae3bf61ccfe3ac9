// The digests in the repository are those of the models; and every kind of change is named.
#include "fuzz/replay/model_digests.h"

#include <gmock/gmock.h>

#include "corpus/durable_file.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

std::vector<std::string> Changes(std::span<const ModelDigest> stored,
                                 std::span<const ModelDigest> now) {
  std::vector<std::string> texts;
  for (const ModelChange& c : CompareModelDigests(stored, now)) {
    texts.push_back(std::string(Name(c.kind)) + " " + c.op + (c.what.empty() ? "" : ": ") + c.what);
  }
  return texts;
}

// When a change is meant: ./mmadiff changes --update, and the new file goes into the same commit.
TEST(ModelDigests, NothingChanges) {
  const absl::StatusOr<std::string> text = ReadFile("corpus/model_digests.txt");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto stored = ParseModelDigests(*text, "corpus/model_digests.txt");
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->size(), Operations().size());
  EXPECT_THAT(Changes(*stored, ComputeModelDigests()), testing::IsEmpty())
      << "see ./mmadiff changes";
}

TEST(ModelDigests, EveryKindOfChange) {
  const std::vector<ModelDigest> stored = {{"a", 1, 2, "m"},
                                           {"b", 3, 4, "x(n=1)"},
                                           {"c", 5, 6, "m"},
                                           {"d", 7, 8, "m"},
                                           {"f", 1, 1, "x(n=1)"}};
  const std::vector<ModelDigest> now = {{"a", 1, 2, "m"},
                                        {"b", 3, 5, "x(n=2)"},
                                        {"c", 6, 7, "m"},
                                        {"e", 9, 9, "m"},
                                        {"f", 1, 1, "x(n=2)"}};
  EXPECT_THAT(Changes(stored, now),
              testing::ElementsAre("answers changed b: n=1 -> n=2", "inputs changed c", "new e",
                                   "model changed f: n=1 -> n=2", "gone d"));
  EXPECT_THAT(Changes(stored, stored), testing::IsEmpty());
}

// Whether the sample shows it or not.
TEST(ModelDigests, NoChangeOfAParameterIsSilent) {
  for (const Operation* op : DistinctOperations()) {
    const std::string before = ModelText(*op);
    for (const Neighbour& n : Neighbours(op->model)) {
      Operation changed = *op;
      changed.model.algorithm = n.algorithm;
      EXPECT_NE(ModelText(changed), before) << op->name << " " << Name(n);
    }
  }
}

TEST(ModelDigests, AreReadAsWritten) {
  const std::vector<ModelDigest> digests = {{"x/y", 1, ~0ull, "m"}, {"x/z", 2, 3, "m n"}};
  const std::string text = FormatModelDigests(digests);
  const auto read = ParseModelDigests(text, "f");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(Changes(digests, *read), testing::IsEmpty());
  const std::string last = text.substr(text.rfind("x/z"));
  for (const std::string& bad :
       {text + last, text + "\x1b\n", text + "x/y\n", text + "x\x1b/a" + last.substr(3),
        text + "x/a 0" + last.substr(4), text + last.substr(0, last.size() - 2) + "\n",
        text + "model 0123456789abcdef m\n"}) {
    const absl::Status s = ParseModelDigests(bad, "f").status();
    EXPECT_THAT(std::string(s.message()), HasSubstr("f:8: '")) << bad;
    EXPECT_THAT(std::string(s.message()), testing::Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace mmadiff
