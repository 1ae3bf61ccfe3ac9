// Surveys of a device that takes long for a dot product: tasks are cut into parts, and what was
// answered before the time is up or the device fails is kept.
#include "corpus/recordings/recording.h"
#include "fuzz/ask/stage.h"
#include "fuzz/survey/compare.h"
#include "fuzz/testing/survey_fixture.h"

namespace mmadiff {
namespace {

using enum SurveyStage;
using testing::Contains;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;

class SlowTest : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    slow = absl::Microseconds(1200);
    globs = {kFma};
    cases = 4;
  }

  static std::vector<SurveyResult> Of(const SurveyOutcome& outcome, SurveyStage stage) {
    std::vector<SurveyResult> results;
    for (const SurveyResult& r : outcome.results) {
      if (r.task.stage == stage) results.push_back(r);
    }
    return results;
  }
};

TEST_F(SlowTest, EverythingIsAskedInParts) {
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(outcome.missing, IsEmpty());
  EXPECT_THAT(summary.contradictions, IsEmpty());
  ASSERT_THAT(summary.rows, SizeIs(1));
  const SurveyRow& row = summary.rows[0];
  EXPECT_EQ(row.layout + row.repeat, "agreesagrees");
  EXPECT_EQ(row.cases, 4u);
  EXPECT_THAT(row.answers, SizeIs(Ge(4u)));
  for (const SurveyResult& r : Of(outcome, kQuestions)) EXPECT_NE(r.task.detail, "");
  // Three thousand raw answers take more than three seconds, a part about that.
  const std::vector<SurveyResult> recorded = Of(outcome, kRecording);
  ASSERT_THAT(recorded, SizeIs(Ge(2u)));
  EXPECT_TRUE(recorded.front().unfinished);
  EXPECT_FALSE(recorded.back().unfinished);
  std::map<std::string, uint64_t> raw;
  const auto stats = ReadRecordings(Path("s"), "", [&](const Recording& r) {
    EXPECT_THAT(Compare(*r.op, *InputsOf(r), r.d).differing, IsEmpty());
    if (r.inputs.stream.empty()) return absl::OkStatus();
    EXPECT_EQ(r.inputs.first, raw[r.inputs.stream]);
    raw[r.inputs.stream] += r.inputs.count;
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(stats->damage, IsEmpty());
  EXPECT_THAT(raw, SizeIs(Strategies().size()));
  for (const auto& [stream, count] : raw) EXPECT_EQ(count, 1024u) << stream;
  const auto same = CompareSurveys(Path("s"), Path("s"));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_GT(same->compared, 3 * 1024u);
}

// It hangs in a question, is asked again, hangs, and its row is asked nothing more.
TEST_F(SlowTest, WhatWasAnsweredBeforeItHangsIsKept) {
  faults = {{.op = kFma}};
  faults[0].fails = [](const Batch& batch, std::vector<uint64_t>& d) {
    const auto is_nan = [](uint64_t a) { return (a & 0x7fffffff) > 0x7f800000; };
    if (!batch.stream.empty() || std::ranges::none_of(batch.a, is_nan)) return absl::OkStatus();
    d.resize(7);
    return absl::DeadlineExceededError("no answer");
  };
  const SurveyOutcome outcome = Survey();
  uint64_t kept = 0;
  for (const SurveyResult& r : Of(outcome, kQuestions)) {
    if (!r.unfinished) continue;
    EXPECT_THAT(r.lines, SizeIs(r.dot_products));
    EXPECT_TRUE(r.status.ok()) << r.status;
    kept += r.lines.size();
  }
  EXPECT_GE(kept, 7u);
  const SurveySummary summary = Summarize(outcome);
  EXPECT_EQ(summary.rows[0].lines, kept);
  EXPECT_EQ(summary.rows[0].lines_differing, 0u);
  EXPECT_THAT(Texts(summary.rows[0]),
              Contains(testing::MatchesRegex("hangs in questions: no answer; on [0-9]+ dot "
                                             "products, the first ([0-9a-f]{8} ?){3}")));
}

// The page says no more than was asked.
TEST(SlowRow, OfWhichAPartWasAsked) {
  constexpr char kMma[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
  SurveyOutcome outcome;
  outcome.manifest.instructions = {{kMma, false, {}, 3, 10, 5}};
  const auto add = [&outcome](SurveyStage stage, const std::string& question) -> SurveyResult& {
    SurveyResult& result = outcome.results.emplace_back();
    result.task = {stage, kMma, ""};
    result.answers.emplace_back().question = question;
    return result;
  };
  SurveyResult& layout = add(kLayout, "layout");
  layout.answers[0].scope = Scope::kDotProducts;
  layout.pace = .02;
  add(kRepeat, "repeat").answers[0].scope = Scope::kDotProducts;
  add(kQuestions, "width");
  for (const uint64_t part : {30, 4}) {
    SurveyResult& vectors = add(kVectors, "");
    vectors.dot_products = part;
    vectors.of = 267;
    vectors.unfinished = true;
  }
  add(kRecording, "").unfinished = true;
  add(kPairs, "pairs").answers[0].answer = "0 of 10 differ, of 65536";
  const SurveySummary summary = Summarize(outcome);
  const std::string page = SurveyPage(summary);
  EXPECT_THAT(page, testing::ContainsRegex(
                        "agrees, dot products only . agrees, dot products only . all 2 "
                        "agree; pairs: 0 of 10 differ, of 65536; not asked: decoding, output, .*, "
                        "payloads: slow . 34 of 267 asked, all equal . - . - . part"));
  EXPECT_THAT(summary.rows[0].not_asked, testing::Not(Contains("width")));
  add(kVectors, "").dot_products = 233;
  add(kRecording, "");
  EXPECT_THAT(SurveyPage(Summarize(outcome)),
              testing::HasSubstr("| all 267 equal | - | - | yes |"));
}

TEST(SlowRow, PairsAreASample) {
  constexpr char kFp8[] = "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32";
  ChangedDevice device("");
  HostEngine engine(device);
  for (const double seconds : {1e-9, 0.}) {
    SurveyResult result;
    const absl::Status s =
        AskStage({}, {.task = {kPairs, kFp8, ""}, .part = {0, 0, seconds}}, engine, device, result);
    ASSERT_TRUE(s.ok()) << s;
    EXPECT_THAT(result.answers[0].answer,
                testing::MatchesRegex(seconds > 0 ? "0 of [0-9]+ differ, of [0-9]+"
                                                  : "0 of [0-9]+ differ"));
  }
}

}  // namespace
}  // namespace mmadiff
