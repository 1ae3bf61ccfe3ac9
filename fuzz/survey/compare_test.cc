// Two surveys compared: from what they stored alone, with the smallest case that shows a difference.
#include "fuzz/survey/compare.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "corpus/survey_log.h"
#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kFma[] = "x86/vfmadd231ss", kDot[] = "x86/vdpbf16ps",
               kF16[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

SurveyResult ResultOf(SurveyStage stage, const std::string& op) {
  SurveyResult result;
  result.task = {stage, op, ""};
  return result;
}

class CompareTest : public TestFolder {
 protected:
  std::string Store(const std::string& name, const std::vector<SurveyResult>& results,
                    uint64_t seed = 1) {
    SurveyManifest manifest;
    manifest.seed = seed;
    manifest.device_identity = Identity::Named(name);
    std::filesystem::create_directory(Path(name));
    auto log = SurveyLog::Create(Path(name), manifest);
    EXPECT_TRUE(log.ok());
    for (const SurveyResult& result : results) EXPECT_TRUE((*log)->Append(result).ok());
    EXPECT_TRUE((*log)->Flush().ok());
    return Path(name);
  }
};

TEST_F(CompareTest, LinesOfTheSameOperandsAreCompared) {
  SurveyResult x = ResultOf(SurveyStage::kVectors, kFma), y = x;
  x.lines = {{"a", "3f800000 3f800000 3f800000 40000000"},
             {"b", "3f800000 00000000 00000000 00000000"},
             {"c", "3f800000 3f800000 00000000 3f800000"},
             {"only here", "00000000 00000000 3f800000 3f800000"}};
  // In another order, under other names; both answers of "b" and "a" differ, "b" is smaller.
  y.lines = {{"e", "3f800000 00000000 00000000 80000000"},
             {"f", "3f800000 3f800000 3f800000 40000001"},
             {"g", "3f800000 3f800000 00000000 3f800000"}};
  const auto d = CompareSurveys(Store("x", {x}), Store("y", {y}));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->compared, 3u);
  ASSERT_THAT(d->rows, SizeIs(1));
  EXPECT_EQ(d->rows[0].differing, 2u);
  EXPECT_EQ(d->rows[0].line, "3f800000 00000000 00000000");
  EXPECT_EQ(d->rows[0].first, "00000000");
  EXPECT_EQ(d->rows[0].second, "80000000");
  EXPECT_THAT(d->Text(), HasSubstr("rows that differ: 1"));
}

TEST_F(CompareTest, RawAnswersNameTheirOperands) {
  SurveyResult x = ResultOf(SurveyStage::kRecording, kFma), y = x;
  x.outputs = {{absl::StrCat(kFma, "@g3:1"), 2, std::string("\1\0\0\0\2\0\0\0", 8)}};
  y.outputs = {{absl::StrCat(kFma, "@g3:1"), 2, std::string("\1\0\0\0\3\0\0\0", 8)}};
  const auto d = CompareSurveys(Store("x", {x}), Store("y", {y}));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->compared, 2u);
  ASSERT_THAT(d->rows, SizeIs(1));
  EXPECT_EQ(d->rows[0].first, "00000002");
  EXPECT_EQ(d->rows[0].second, "00000003");
  EXPECT_THAT(d->rows[0].line, testing::MatchesRegex("[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{8}"));
}

TEST_F(CompareTest, AnswersAndTrapsOfRows) {
  SurveyResult x = ResultOf(SurveyStage::kQuestions, kF16), y = x;
  const auto answer = [](const char* question, const char* said, const char* fact) {
    return SurveyAnswer{question, said, "", Agreement::kAgrees, 1, 0, {}, {}, {fact}};
  };
  x.answers = {answer("width", "25", "fraction_bits=25"), answer("floor", "so", "exponent=-133")};
  y.answers = {answer("width", "24", "fraction_bits=24"), answer("floor", "s", "exponent=-133")};
  SurveyResult trap = ResultOf(SurveyStage::kLayout, kDot);
  trap.trapped = true;
  trap.status = absl::UnavailableError("signal 11");
  const auto d = CompareSurveys(Store("x", {x, ResultOf(SurveyStage::kLayout, kDot)}),
                                Store("y", {y, trap, ResultOf(SurveyStage::kLayout, kFma)}));
  ASSERT_TRUE(d.ok()) << d.status();
  ASSERT_THAT(d->rows, SizeIs(2));
  EXPECT_THAT(d->rows[0].what, ElementsAre("width: 25 | 24"));
  EXPECT_THAT(d->rows[1].what, ElementsAre("layout: answered | traps"));
  EXPECT_EQ(d->only_first, 0u);
  EXPECT_EQ(d->only_second, 1u);
}

TEST_F(CompareTest, DigestsRunsAndFailuresOfTheSameCases) {
  SurveyResult x = ResultOf(SurveyStage::kRecording, kFma), y = x;
  x.digests = y.digests = {{"s", 5, {1, 2, 3}}};
  y.digests[0].digests[1] = 7;
  SurveyResult run = ResultOf(SurveyStage::kRun, kFma), other = run;
  run.cases = other.cases = 10;
  other.mismatches = 3;
  SurveyResult good = ResultOf(SurveyStage::kRun, kDot), fails = good;
  fails.status = absl::DataLossError("no");
  const auto d = CompareSurveys(Store("x", {x, run, good}), Store("y", {y, other, fails}));
  ASSERT_TRUE(d.ok()) << d.status();
  ASSERT_THAT(d->rows, SizeIs(2));
  EXPECT_THAT(d->rows[0].what, ElementsAre("run: answered | fails"));
  EXPECT_THAT(d->rows[1].what,
              ElementsAre("run, 10 cases from 0: differ from the model: 0 | 3, first ",
                          "1 digest for the same cases differs"));
  EXPECT_THAT(d->Text(), HasSubstr("0 common answers, 0 questions, 3 digests, 2 units in runs;"));
}

// A slow device is asked for dot products alone, and for a sample of the pairs.
TEST_F(CompareTest, WhatWasAskedOfASlowDeviceIsCompared) {
  SurveyResult layout = ResultOf(SurveyStage::kLayout, kF16), repeat = layout, pairs = layout;
  layout.answers = {{"layout", "as the tables say", "agrees", Agreement::kAgrees, 1, 0, {}}};
  repeat.answers = {
      {"repeat", "one answer at 128 places, four times", "agrees", Agreement::kAgrees, 1, 0, {}}};
  pairs.answers = {{"pairs", "5 of 65536 differ", "", Agreement::kContradicts, 65536, 5, {}}};
  SurveyResult layout_alone = layout, repeat_alone = repeat, sample = pairs;
  layout_alone.answers[0].scope = repeat_alone.answers[0].scope = Scope::kDotProducts;
  sample.answers = {{"pairs", "0 of 1000 differ, of 65536", "", Agreement::kAgrees, 1000, 0, {}}};
  const std::string fast = Store("x", {layout, repeat, pairs});
  const auto same = CompareSurveys(fast, Store("y", {layout_alone, repeat_alone, sample}));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->compared, 3u);
  EXPECT_THAT(same->rows, IsEmpty());
  layout_alone.answers[0] = {"layout", "another", "", Agreement::kContradicts, 1, 0, {}};
  repeat_alone.answers[0] = {"repeat", "two answers: 1 and 2", "", Agreement::kContradicts, 1, 0,
                             {}};
  sample.answers = {
      {"pairs", "6 of 1000 differ, of 65536", "", Agreement::kContradicts, 1000, 6, {}}};
  const auto other = CompareSurveys(Store("z", {layout_alone, repeat_alone, sample}), fast);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_THAT(other->rows, SizeIs(1));
  EXPECT_THAT(other->rows[0].what, SizeIs(3));
}

TEST_F(CompareTest, UnitsOfTheSameCasesAreCompared) {
  SurveyResult x = ResultOf(SurveyStage::kRun, kFma), y = x;
  x.cases = y.cases = 10;
  x.mismatches = 1;
  x.first_mismatch = "x86/vfmadd231ss@g3:1:3";
  const std::string first = Store("x", {x}), other_seed = Store("y", {y}, 2);
  const auto seeds = CompareSurveys(first, other_seed);
  ASSERT_TRUE(seeds.ok()) << seeds.status();
  EXPECT_EQ(seeds->compared, 0u);
  EXPECT_THAT(seeds->rows, IsEmpty());
  y = x;
  y.first_mismatch = "x86/vfmadd231ss@g3:1:4";  // as many, but others
  const auto cases = CompareSurveys(first, Store("z", {y}));
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_THAT(cases->rows, SizeIs(1));
  EXPECT_THAT(cases->rows[0].what,
              ElementsAre("run, 10 cases from 0: differ from the model: 1, first "
                          "x86/vfmadd231ss@g3:1:3 | 1, first x86/vfmadd231ss@g3:1:4"));
}

TEST_F(CompareTest, WhatOneDidNotReachIsSaid) {
  const SurveyResult run = ResultOf(SurveyStage::kRun, kFma);
  const SurveyResult layout = ResultOf(SurveyStage::kLayout, kFma);
  SurveyResult trap = run;
  trap.trapped = true;
  trap.status = absl::UnavailableError("signal 11");
  const auto d = CompareSurveys(Store("x", {layout, trap}), Store("y", {layout}));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_THAT(d->rows, IsEmpty());
  EXPECT_EQ(d->only_first_stages, 1u);
  EXPECT_EQ(d->only_second_stages, 0u);
}

// NaNs of an operation whose NaN bits nobody knows are equal, as everywhere.
TEST_F(CompareTest, EqualSurveysHaveNoRows) {
  SurveyResult x = ResultOf(SurveyStage::kVectors, kFma);
  x.lines = {{"a", "3f800000 3f800000 3f800000 40000000"}};
  const auto d = CompareSurveys(Store("x", {x}), Store("y", {x}));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_THAT(d->rows, IsEmpty());
  EXPECT_EQ(d->compared, 1u);
}

TEST_F(CompareTest, WhatIsNoSurveyIsAnError) {
  const std::string good = Store("x", {});
  EXPECT_EQ(CompareSurveys(good, Path("none")).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::create_directory(Path("bad"));
  Put("bad/answers.log", "text");
  EXPECT_EQ(CompareSurveys(Path("bad"), good).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace mmadiff
