// What the folder of a survey says without its device: its log, whatever the copies beside it say.
#include "absl/strings/str_replace.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"
#include "fuzz/replay/replay.h"
#include "fuzz/survey/compare.h"
#include "fuzz/survey/verify.h"
#include "fuzz/testing/survey_fixture.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class FolderTest : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    globs = {kFma, kTf32Mma};  // some blocks of answers
  }

  static size_t BlockAfter(const std::string& bytes, size_t at) {
    const size_t block = bytes.find(bytes.substr(0, 8), at);
    EXPECT_NE(block, bytes.npos);
    return block;
  }

  ReplayOutcome Replay(const std::string& folder = "s") {
    reports.clear();
    Console console(Color::kNever, true);
    const auto replayed = ReplaySubjects(
        {.subjects = {Path(folder)}}, nullptr,
        [this](const ReplayReport& report) { reports.push_back(report.text); }, console);
    EXPECT_TRUE(replayed.ok()) << replayed.status();
    return replayed.ok() ? *replayed : ReplayOutcome();
  }
  SurveyCheck Check() { return CheckSurvey(Path("s"), *ReadSurvey(Path("s"))); }
  // A later attempt, killed before it writes anything else.
  void Append(const SurveyResult& result) {
    auto log = SurveyLog::Continue(Path("s"), *ReadSurvey(Path("s")));
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE((*log)->Append(result).ok() && (*log)->Flush().ok());
  }
  void RemoveCopies() {
    for (const char* name : {"s/recording", "s/survey.html", "s/survey.md", "s/survey.json"}) {
      std::filesystem::remove_all(Path(name));
    }
  }
  void ExpectDamage(const std::string& what) {
    EXPECT_THAT(Check().wrong, Contains(HasSubstr(what)));
    EXPECT_TRUE(Replay().damaged) << what;
    EXPECT_EQ(OpenRecorded(Path("s")).status().code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_EQ(CompareSurveys(Path("s"), Path("s")).status().code(), absl::StatusCode::kAborted);
  }

  std::vector<std::string> reports;
};

TEST_F(FolderTest, WhatWasKilledInItsFirstAttemptIsReplayed) {
  Survey();
  const ReplayOutcome whole = Replay();
  RemoveCopies();
  const ReplayOutcome of_log = Replay();
  EXPECT_EQ(of_log.compared, whole.compared);
  EXPECT_EQ(of_log.units, whole.units);
  const std::string bytes = Get(SurveyLogPath(Path("s")));
  Put("s/answers.log", bytes.substr(0, bytes.size() - 9));  // in a block
  std::filesystem::create_directory(Path("s/recording.tmpabcdef"));
  Put("s/recording.tmpabcdef/raw-1.log", "begun");
  const ReplayOutcome torn = Replay();
  EXPECT_GT(torn.compared, 1000u);
  EXPECT_EQ(torn.differing, 0u);
  EXPECT_FALSE(torn.damaged);
  EXPECT_TRUE(OpenRecorded(Path("s")).ok());
  EXPECT_GT(Replay(".").compared, 1000u);  // also of a folder of folders
}

TEST_F(FolderTest, LaterAnswersCountAndMakeThePagesStale) {
  Survey();
  EXPECT_THAT(Check().stale, IsEmpty());
  SurveyResult wrong;
  wrong.task = {SurveyStage::kVectors, kFma, "", 7};
  wrong.lines = {{"later", "3f800000 3f800000 3f800000 00000000", true}};
  wrong.dot_products = wrong.mismatches = 1;
  Append(wrong);
  EXPECT_THAT(Check().wrong, IsEmpty());
  EXPECT_THAT(Check().stale, ElementsAre(HasSubstr("survey.html: out of date"), HasSubstr("md"),
                                         HasSubstr("json")));
  const ReplayOutcome replayed = Replay();
  EXPECT_EQ(replayed.differing, 1u);
  EXPECT_FALSE(replayed.damaged);
  EXPECT_THAT(reports, Contains(HasSubstr("answers.log, later:1")));
}

TEST_F(FolderTest, ARecordingOfAnotherDeviceIsDamage) {
  Survey();
  identity = "another";
  Survey("other");
  std::filesystem::remove_all(Path("s/recording"));
  std::filesystem::rename(Path("other/recording"), Path("s/recording"));
  ExpectDamage("from a different device: another");
}

TEST_F(FolderTest, ARecordingOfOtherAnswersIsDamage) {
  Survey();
  faults = {{.op = kFma, .change = "output_rounding=toward_zero"}};
  Survey("other");
  std::filesystem::remove_all(Path("s/recording"));
  std::filesystem::rename(Path("other/recording"), Path("s/recording"));
  ExpectDamage("answers are not in ");
  std::filesystem::remove(Path("s/recording/recording.txtpb"));  // killed while it removed it
  EXPECT_THAT(Check().wrong, IsEmpty());
  EXPECT_FALSE(Replay().damaged);
  EXPECT_EQ(Replay().differing, 0u);
}

TEST_F(FolderTest, ALogThatEndsBeforeItsCopiesIsDamage) {
  Survey();
  const std::string bytes = Get(SurveyLogPath(Path("s")));
  Put("s/answers.log", bytes.substr(0, BlockAfter(bytes, bytes.size() / 2)));
  EXPECT_TRUE(ReadSurvey(Path("s"))->stats.damage.empty());
  ExpectDamage("answers are not in ");
  std::filesystem::remove_all(Path("s/recording"));
  EXPECT_THAT(Check().wrong, ElementsAre(HasSubstr("survey.html: does not match"), HasSubstr("md"),
                                         HasSubstr("json")));
}

TEST_F(FolderTest, AChangedByteOfTheLogIsDamageWithoutPages) {
  Survey();
  RemoveCopies();
  std::string bytes = Get(SurveyLogPath(Path("s")));
  bytes[BlockAfter(bytes, bytes.size() / 2) - 100] ^= 1;
  Put("s/answers.log", bytes);
  ExpectDamage("answers.log: ");
}

TEST_F(FolderTest, WhatOnlyTheRunSaysCounts) {
  Survey();
  SurveyResult run;
  run.task = {SurveyStage::kRun, kFma, "", 9};
  run.first_case = 1'000'000;
  run.cases = run.dot_products = 5;
  run.mismatches = 2;
  Append(run);
  const ReplayOutcome replayed = Replay();
  EXPECT_EQ(replayed.differing, 0u);
  EXPECT_EQ(replayed.contradictions, 1);
  EXPECT_EQ(replayed.troubled, 0);
  EXPECT_THAT(reports, ElementsAre("SURVEY x86/vfmadd231ss: run: 2 of 5 dot products differ\n"));
}

TEST_F(FolderTest, RowsInTroubleAreSaid) {
  faults = {{kTf32Mma, [](const Batch&, int) { throw Died("signal 11"); }}};
  Survey();
  const ReplayOutcome replayed = Replay();
  EXPECT_EQ(replayed.troubled, 1);
  EXPECT_EQ(replayed.contradictions, 0);
  EXPECT_THAT(reports, ElementsAre(HasSubstr("f32: traps in layout: signal 11")));
}

// The folder has eight files, whatever may be recorded.
TEST_F(FolderTest, RawAnswersOfAllInstructionsFitOneFile) {
  most_bytes = 1'000'000'000;
  has_all = true;
  globs = {"sm_90/mma.*"};
  time = absl::ZeroDuration();
  uint64_t bytes = 0;
  for (const auto& i : Survey().manifest.instructions) {
    EXPECT_GT(i.raw_cases, 0u);
    const Operation& op = *FindOperation(i.name, Models::kOptional);
    bytes +=
        i.raw_cases * Strategies().size() * op.shape().d_words() * WordBytes(*op.instruction->d);
  }
  EXPECT_GT(bytes, kMaxRecordingFileBytes / 2);
  EXPECT_LT(bytes, kMaxRecordingFileBytes);
}

TEST_F(FolderTest, PagesThatWereEditedAreDamage) {
  globs = {kFma, kTf32Mma, kBf16Mma};
  faults = {{.op = kBf16Mma, .change = "fraction_bits=23"}};
  int last = 100;  // calls, after which the device is gone
  gone = [&] { return calls > last; };
  faults.push_back({kFma, [&](const Batch&, int call) {
                      if (call > last) throw Died("lost");
                    }});
  Survey();
  const std::string gone_page = Get(Path("s/survey.md"));
  EXPECT_THAT(CheckSurvey(Path("s"), *ReadSurvey(Path("s"))).wrong, IsEmpty());
  last = 1'000'000;
  Survey();
  const std::string page = Get(Path("s/survey.md")), json = Get(Path("s/survey.json"));
  EXPECT_NE(page, gone_page);
  const auto wrong = [this] { return CheckSurvey(Path("s"), *ReadSurvey(Path("s"))).wrong; };
  EXPECT_THAT(wrong(), IsEmpty());
  Put("s/survey.md", gone_page);  // killed before it wrote the later one
  EXPECT_THAT(wrong(), IsEmpty());
  std::filesystem::remove(Path("s/survey.md"));
  EXPECT_THAT(wrong(), IsEmpty());
  Put("s/survey.html", absl::StrReplaceAll(Get(Path("s/survey.html")), {{"agrees", "differs"}}));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("survey.html: does not match ")));
  std::filesystem::remove(Path("s/survey.html"));
  Put("s/survey.md", absl::StrReplaceAll(page, {{"agrees", "contradicts"}}));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("survey.md: does not match ")));
  Put("s/survey.json", json.substr(0, json.size() / 2));
  EXPECT_THAT(wrong(), SizeIs(2));
  EXPECT_EQ(CompareSurveys(Path("s"), Path("s")).status().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(Replay().damaged);
  Put("s/survey.md", page);
  Put("s/survey.json", json);
  EXPECT_FALSE(Replay().damaged);
}

}  // namespace
}  // namespace mmadiff
