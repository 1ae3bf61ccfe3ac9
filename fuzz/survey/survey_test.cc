// Surveys of devices that die, hang, come back, are gone or lie: what is kept, what is asked again,
// what is said, and that a survey that was interrupted ends as one that was not.
#include "fuzz/survey/survey.h"

#include <filesystem>

#include "absl/strings/str_replace.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "corpus/survey_log.h"
#include "fuzz/output/html.h"
#include "fuzz/survey/compare.h"
#include "fuzz/survey/html_page.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/verify.h"
#include "fuzz/testing/survey_fixture.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(SurveyTest, AGoodDeviceIsAllAskedAndRecorded) {
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(outcome.missing, IsEmpty());
  EXPECT_THAT(summary.contradictions, IsEmpty());
  ASSERT_THAT(summary.rows, SizeIs(3));
  for (const SurveyRow& row : summary.rows) ExpectComplete(row);
  EXPECT_EQ(processes, 1);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Path("s"))) {
    if (entry.is_regular_file()) files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, SizeIs(9));
  uint64_t equal = 0;
  const auto stats = ReadRecordings(Path("s/recording"), "", [&](const Recording& r) {
    equal += r.d.size() - Compare(*r.op, *InputsOf(r), r.d).differing.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(stats->damage, IsEmpty());
  EXPECT_EQ(equal, stats->dot_products);
  EXPECT_GT(equal, 1000u);
}

TEST_F(SurveyTest, ThePageIsThereWhileTheSurveyRuns) {
  int pages = 0;
  on_progress = [&](const SurveyOutcome& so_far) {
    ++pages;
    const absl::Status written = WriteSurveyPages(Path("s"), Summarize(so_far));
    for (const char* page : {"s/survey.md", "s/survey.html"}) {
      EXPECT_THAT(Get(Path(page)), HasSubstr("The survey was running"));
    }
    EXPECT_THAT(CheckSurvey(Path("s"), *ReadSurvey(Path("s"))).wrong, IsEmpty());
    return written;
  };
  EXPECT_THAT(Survey().missing, IsEmpty());
  EXPECT_GT(pages, 0);
  for (const char* page : {"s/survey.md", "s/survey.html"}) {
    EXPECT_THAT(Get(Path(page)), testing::Not(HasSubstr("was running")));
  }
}

TEST_F(SurveyTest, ARowThatTrapsTakesNothingWithIt) {
  faults = {{kTf32Mma, [](const Batch&, int) { throw Died("signal 11"); }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ExpectComplete(RowOf(summary, kBf16Mma));
  ExpectComplete(RowOf(summary, kFma));
  ASSERT_THAT(summary.contradictions, SizeIs(1));
  EXPECT_EQ(summary.troubled, 1);
  EXPECT_EQ(summary.contradictions[0].op, kTf32Mma);
  EXPECT_EQ(summary.contradictions[0].what,
            "traps in layout: signal 11; on one execution with every operand +0");
  EXPECT_THAT(outcome.missing, IsEmpty());
  EXPECT_THAT(SurveyPage(summary), HasSubstr("traps in layout"));
  for (const SurveyContradiction& c : summary.contradictions) {
    EXPECT_THAT(SurveyHtml(summary), HasSubstr(Html(c.what)));
  }
  EXPECT_THAT(SurveyHtml(summary), HasSubstr("card verdict warn"));
}

TEST_F(SurveyTest, TheSmallestInputThatTrapsIsFound) {
  faults = {{kBf16Mma, [](const Batch& batch, int) {
               if (HasNan(batch)) throw Died("signal 11");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  const SurveyRow& row = RowOf(summary, kBf16Mma);
  ExpectComplete(RowOf(summary, kTf32Mma));
  EXPECT_EQ(row.layout, "agrees");
  EXPECT_THAT(row.answers, Contains(testing::Field(&SurveyAnswer::question, "zero_sign")));
  EXPECT_THAT(row.troubles, SizeIs(3));
  for (const std::string& trouble : Texts(row)) {
    const std::string line = trouble.substr(trouble.find("; on ") + 5);
    EXPECT_THAT(line, testing::MatchesRegex("([0-9a-f]{4} ){16}[0-9a-f]{8}")) << trouble;
    EXPECT_THAT(line, testing::ContainsRegex("(7f|ff)[89a-f]")) << trouble;
  }
}

TEST_F(SurveyTest, AHangIsNotTriedAgainAndAgain) {
  faults = {{kTf32Mma, [](const Batch& batch, int) {
               const bool zeros = std::ranges::all_of(batch.a, [](uint64_t a) { return a == 0; });
               if (!zeros) throw Died("hangs");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(Texts(RowOf(summary, kTf32Mma)),
              ElementsAre(testing::MatchesRegex(
                  "hangs in layout: hangs; on 1536 dot products, the first .*")));
  // All until it hangs, alone, zeros, all after it.
  EXPECT_EQ(processes, 4);
}

TEST_F(SurveyTest, WhatDiesOnceIsAskedAgainAndSaysSo) {
  bool died = false;
  faults = {{kTf32Mma, [&](const Batch&, int) {
               if (!std::exchange(died, true)) throw Died("signal 7");
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(Texts(RowOf(summary, kTf32Mma)),
              ElementsAre("failed once in layout (signal 7), then answered when retried"));
  EXPECT_EQ(RowOf(summary, kTf32Mma).cases, 600u);
}

// Its questions are asked again one by one.
TEST_F(SurveyTest, WhatDiesOnceInAQuestionSaysSoToo) {
  bool died = false;
  faults = {{kBf16Mma, [&](const Batch& batch, int) {
               if (batch.shape.m == 1 && HasNan(batch) && !std::exchange(died, true)) {
                 throw Died("signal 7");
               }
             }}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(Texts(RowOf(summary, kBf16Mma)),
              ElementsAre("failed once in questions (signal 7), then answered when retried"));
  EXPECT_EQ(summary.troubled, 1);
}

TEST_F(SurveyTest, ADeviceThatIsGoneEndsTheSurveyAndALaterOneGoesOn) {
  const std::string whole = Said(Survey("whole"));
  const int all = calls;
  for (const int last : {all / 8, all / 3, all - 2}) {
    const std::string folder = "gone" + std::to_string(last);
    calls = 0;
    faults = {{kBf16Mma,
               [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }},
              {kTf32Mma,
               [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }},
              {kFma, [&](const Batch&, int call) {
                 if (call > last) throw Died("lost");
               }}};
    gone = [&] { return calls > last; };
    const SurveyOutcome cut = Survey(folder);
    EXPECT_THAT(std::string(cut.device.message()), HasSubstr("lost: no such device")) << last;
    EXPECT_THAT(cut.missing, testing::Not(IsEmpty()));
    EXPECT_EQ(Summarize(cut).troubled, 0) << SurveyPage(Summarize(cut));
    faults.clear();
    gone = nullptr;
    EXPECT_TRUE(Said(Survey(folder)) == whole) << last;
  }
}

TEST_F(SurveyTest, ARowAfterWhichTheDeviceIsGoneTwiceIsAskedNothingMore) {
  bool lost = false;
  faults = {{kTf32Mma, [&](const Batch&, int) {
               lost = true;
               throw Died("lost");
             }}};
  gone = [&] { return lost; };
  for (int attempt = 0; attempt < 2; ++attempt) {
    lost = false;
    EXPECT_TRUE(absl::IsUnavailable(Survey().device)) << attempt;
  }
  lost = false;
  const SurveyOutcome outcome = Survey();
  EXPECT_TRUE(outcome.device.ok()) << outcome.device;
  const SurveySummary summary = Summarize(outcome);
  ExpectComplete(RowOf(summary, kBf16Mma));
  EXPECT_THAT(Texts(RowOf(summary, kTf32Mma)),
              ElementsAre("the device was lost twice after this row was queried"));
}

TEST_F(SurveyTest, ASurveyThatWasKilledEndsAsOneThatWasNot) {
  faults = {{.op = kBf16Mma, .change = "fraction_bits=23"}, {.op = kTf32Mma, .swap = true}};
  const std::string whole = Said(Survey("whole"));
  const std::string bytes = Get(SurveyLogPath(Path("whole")));
  std::filesystem::create_directory(Path("cut"));
  for (size_t i = 1; i < 8; ++i) {
    Put("cut/answers.log", bytes.substr(0, bytes.size() * i / 8));
    EXPECT_TRUE(Said(Survey("cut")) == whole) << i;
  }
}

TEST_F(SurveyTest, AChangeOfTheModelComesFirstWithItsMinimalCase) {
  faults = {{.op = kTf32Mma, .swap = true}, {.op = kBf16Mma, .change = "fraction_bits=23"}};
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ASSERT_THAT(summary.contradictions, SizeIs(2));
  EXPECT_EQ(summary.changed, 1);
  EXPECT_EQ(summary.troubled, 1);
  const SurveyContradiction& first = summary.contradictions[0];
  EXPECT_EQ(first.op, kBf16Mma);
  ASSERT_NE(first.finding, nullptr);
  EXPECT_EQ(Name(first.finding->bucket), "aligned_term:fraction_bits=23");
  ASSERT_THAT(first.finding->cases, SizeIs(testing::Ge(1u)));
  EXPECT_THAT(summary.contradictions[1].what, StartsWith("different layout: "));
  const std::string page = SurveyPage(summary);
  EXPECT_LT(page.find("fraction_bits=23"), page.find("different layout"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("echo '", first.finding->cases[0].line, "'")));
}

TEST_F(SurveyTest, AnswersThatDoNotRepeatAreSaid) {
  int flips = 0;
  faults = {{.op = kBf16Mma}};
  faults[0].before = [&](const Batch&, int) {
    faults[0].change = ++flips % 2 ? "" : "fraction_bits=23";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(Texts(RowOf(summary, kBf16Mma)), ElementsAre(StartsWith("does not repeat: ")));
  EXPECT_EQ(RowOf(summary, kBf16Mma).cases, 0u);
}

TEST_F(SurveyTest, AFullFolderEndsTheSurvey) {
  most_bytes = 20'000;
  const SurveyOutcome outcome = Survey();
  EXPECT_EQ(outcome.stopped_by.kind, StopCause::kFolderFull);
  EXPECT_THAT(outcome.missing, testing::Not(IsEmpty()));
  EXPECT_LT(std::filesystem::file_size(SurveyLogPath(Path("s"))), most_bytes);
}

// What one stage alone sees is a contradiction too: here raw answers of another strategy.
TEST_F(SurveyTest, RecordedAnswersAreComparedToo) {
  faults = {{.op = kFma}};
  faults[0].before = [&](const Batch& batch, int) {
    const bool bits = batch.stream.find(":bits.") != std::string::npos;
    faults[0].change = bits ? "output_rounding=toward_zero" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(summary.contradictions, testing::Not(IsEmpty())) << SurveyPage(summary);
}

// Of cases that nothing but the digests asks about.
TEST_F(SurveyTest, RecordedDigestsAreComparedToo) {
  faults = {{.op = kFma}};
  faults[0].before = [&](const Batch& batch, int) {
    faults[0].change = batch.first > 2000 ? "output_rounding=toward_zero" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  ASSERT_THAT(summary.contradictions, SizeIs(1)) << SurveyPage(summary);
  EXPECT_EQ(summary.contradictions[0].op, kFma);
  EXPECT_THAT(summary.contradictions[0].what,
              testing::MatchesRegex("[1-4] recorded digests differ"));
}

TEST_F(SurveyTest, AnotherDeviceInTheMiddleIsNoticed) {
  faults = {{kFma, [&](const Batch&, int call) {
               if (call > 40 && identity == "test") {
                 identity = "another";
                 throw Died("exchanged");
               }
             }}};
  const SurveyOutcome outcome = Survey();
  EXPECT_THAT(std::string(outcome.device.message()),
              HasSubstr("a different device answers now: another"));
}

// Nothing of another device is added to a row, and the first one may go on.
TEST_F(SurveyTest, ADeviceThatHasChangedBehindItsIdentityDoesNotGoOn) {
  const std::string whole = Said(Survey("whole"));
  calls = 0;
  gone = [&] { return calls > 60; };
  faults = {{kBf16Mma, [&](const Batch&, int) {
               if (calls > 60) throw Died("lost");
             }}};
  Survey();
  gone = nullptr;
  faults = {{.op = kBf16Mma, .change = "fraction_bits=23"}};
  const SurveyOutcome changed = Survey();
  const SurveySummary summary = Summarize(changed);
  EXPECT_THAT(Texts(RowOf(summary, kBf16Mma)),
              ElementsAre(testing::AllOf(HasSubstr("does not repeat"), HasSubstr("has changed"))));
  EXPECT_EQ(RowOf(summary, kBf16Mma).dot_products, 0u);
  ExpectComplete(RowOf(summary, kFma));
  faults.clear();
  EXPECT_EQ(Said(Survey()), whole);
}

// It answers otherwise to whole executions alone, and only the first time.
TEST_F(SurveyTest, WhatDiffersOnceIsNoContradictionOfTheTables) {
  int left = 1;
  faults = {{.op = kBf16Mma}};
  faults[0].before = [&](const Batch& batch, int) {
    const bool unit = batch.count > 1 && !batch.stream.empty() && left > 0;
    faults[0].change = unit && left-- > 0 ? "fraction_bits=23" : "";
  };
  const SurveyOutcome outcome = Survey();
  const SurveySummary summary = Summarize(outcome);
  EXPECT_THAT(Texts(RowOf(summary, kBf16Mma)),
              Contains(HasSubstr("does not repeat: the difference did not repeat")));
  EXPECT_EQ(RowOf(summary, kBf16Mma).recorded, "no");
  EXPECT_EQ(RowOf(summary, kFma).recorded, "yes");
  EXPECT_TRUE(ReadRecordings(Path("s"), "", [](const Recording& r) {
                EXPECT_NE(r.op->name, kBf16Mma);
                return absl::OkStatus();
              }).ok());
  for (const SurveyContradiction& c : summary.contradictions) EXPECT_EQ(c.finding, nullptr);
}

TEST_F(SurveyTest, TheFolderIsARecordedDevice) {
  Survey();
  const DeviceOr folder = OpenRecorded(Path("s")), recording = OpenRecorded(Path("s/recording"));
  ASSERT_TRUE(folder.ok() && recording.ok()) << folder.status();
  EXPECT_EQ((*folder)->ContentsHash(), (*recording)->ContentsHash());
  std::filesystem::remove_all(Path("s/recording"));
  const DeviceOr of_log = OpenRecorded(Path("s"));
  ASSERT_TRUE(of_log.ok()) << of_log.status();
  EXPECT_EQ((*of_log)->ContentsHash(), (*folder)->ContentsHash());
}

TEST_F(SurveyTest, OtherFoldersAreRefused) {
  Survey();
  Console console(Color::kNever, true);
  SurveyOptions options = {.folder = Path("s"),
                           .device = "test",
                           .seed = 2,
                           .cases = 600,
                           .patience = absl::ZeroDuration()};
  EXPECT_EQ(RunSurvey(options, Start(), console).status().code(),
            absl::StatusCode::kFailedPrecondition);
  Put("file", "mine");
  options.folder = Path(".");
  EXPECT_EQ(RunSurvey(options, Start(), console).status().code(),
            absl::StatusCode::kFailedPrecondition);
  options.folder = Path("new");
  options.globs = {"sm_90/*"};
  EXPECT_EQ(RunSurvey(options, Start(), console).status().code(), absl::StatusCode::kNotFound);
  gone = [] { return true; };
  EXPECT_EQ(RunSurvey(options, Start(), console).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace mmadiff
