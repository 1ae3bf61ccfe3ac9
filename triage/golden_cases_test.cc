// The named cases below corpus/regressions, observed on hardware: the reference gives every stored
// answer (`mmadiff replay` asks the simulator), none is lost, and each says what it is worth.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/regression_case.h"
#include "sim/reference/reference.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr char kFolder[] = "corpus/regressions";

struct Stored {
  std::string path;
  RegressionCase c;
};

const std::vector<Stored>& Cases() {
  static const std::vector<Stored>& all = *[] {
    auto* cases = new std::vector<Stored>;
    const auto paths = ListCases(kFolder);
    EXPECT_TRUE(paths.ok()) << paths.status();
    if (!paths.ok()) return cases;
    for (const std::string& path : *paths) {
      absl::StatusOr<RegressionCase> c = ReadCase(path);
      EXPECT_TRUE(c.ok()) << c.status();
      if (c.ok()) cases->push_back({path, *std::move(c)});
    }
    return cases;
  }();
  return all;
}

TEST(GoldenCases, ReferenceGivesEveryAnswer) {
  for (const auto& [path, c] : Cases()) {
    std::vector<uint64_t> model(c.inputs.dot_products());
    for (size_t i = 0; i < model.size(); ++i) {
      model[i] = ReferenceDotProduct(c.op->model, Extract(c.inputs, i));
    }
    for (const Answer& answer : c.answers) {
      for (const int64_t i : Differences(*c.op, model, answer.d)) {
        ADD_FAILURE() << path << "  " << answer.device << "\n"
                      << DescribeDifference(*c.op->instruction->d, model[i], answer.d[i], {});
      }
    }
  }
}

// A lost or unread folder passes every other test. Raise the number when cases are added.
TEST(GoldenCases, NoneIsLost) { EXPECT_GE(Cases().size(), 250u); }

TEST(GoldenCases, AreFoundByTheirSlug) {
  std::set<std::string> slugs;
  for (const auto& [path, c] : Cases()) {
    EXPECT_TRUE(slugs.insert(absl::StrCat(std::string(c.op->arch()), "/", c.slug)).second)
        << path << ": its slug is taken";
    EXPECT_EQ(path, absl::StrCat(kFolder, "/", CaseFileName(c)));
    EXPECT_NE(c.why, "") << path;
  }
}

// A case's source, and the devices that its answers may come from. Predictions are computed, and
// what others publish is a vector: neither is stored here.
TEST(GoldenCases, SourceSaysWhatTheAnswersAreWorth) {
  constexpr std::pair<const char*, const char*> kGrades[] = {
      {"measured on this project's own run of the CPU", "host"},
      {"measured on this project's own run of a GPU", "cuda:0"},
      {"recorded on ", "recorded:"}};
  for (const auto& [path, c] : Cases()) {
    const auto grade =
        std::find_if(std::begin(kGrades), std::end(kGrades),
                     [&c = c](const auto& g) { return absl::StartsWith(c.source, g.first); });
    ASSERT_NE(grade, std::end(kGrades)) << path << ": source \"" << c.source << "\"";
    EXPECT_THAT(c.answers[0].device, testing::StartsWith(grade->second)) << path;
    for (const Answer& answer : c.answers) EXPECT_NE(answer.identity, "") << path;
  }
}

}  // namespace
}  // namespace mmadiff
