// What a survey does next: value first, rows in turn, and nothing of a row that cannot answer.
#include "fuzz/survey/agenda.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "sim/operation.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

using enum SurveyStage;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr char kF16[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32",
               kSameModel[] = "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
               kFp8[] = "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
               kWgmma[] = "sm_90/wgmma.m64n8k16.f32.f16.f16";

SurveyManifest Manifest(const std::vector<std::string>& ops, uint64_t cases = 0) {
  SurveyManifest manifest;
  manifest.cases = cases;
  for (const std::string& op : ops) {
    EXPECT_NE(FindOperation(op), nullptr) << op;
    manifest.instructions.push_back({op, false, {}, 3, 10, 5});
    if (op == kWgmma) manifest.instructions.back().variants = {",a=registers"};
  }
  return manifest;
}

SurveyResult Answered(const SurveyTask& task, Agreement agreement = Agreement::kAgrees) {
  SurveyResult result;
  result.task = task;
  result.seconds = 1;
  result.answers.emplace_back().agreement = agreement;
  return result;
}

// Does all until `total` seconds are over, one second each.
std::vector<SurveyTask> DoAll(SurveyAgenda& agenda, double total, size_t most = 10000) {
  std::vector<SurveyTask> done;
  while (done.size() < most) {
    const auto task = agenda.Choose(static_cast<double>(done.size()), total);
    if (!task.has_value()) break;
    SurveyResult result = Answered(*task);
    if (task->stage == kRun) {
      result.first_case = agenda.PartOf(*task).first;
      result.cases = agenda.PartOf(*task).count;
    }
    agenda.Done(result);
    done.push_back(*task);
  }
  return done;
}

std::map<SurveyStage, int> Count(const std::vector<SurveyTask>& tasks) {
  std::map<SurveyStage, int> count;
  for (const SurveyTask& task : tasks) ++count[task.stage];
  return count;
}

TEST(SurveyAgenda, WithAnEndEverythingIsDoneInTheOrderOfValue) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 25);
  SurveyAgenda agenda(manifest);
  const std::vector<SurveyTask> done = DoAll(agenda, 0);
  std::vector<SurveyStage> stages;
  for (const SurveyTask& task : done) stages.push_back(task.stage);
  EXPECT_THAT(stages, ElementsAre(kLayout, kLayout, kRepeat, kRepeat, kQuestions, kQuestions,
                                  kVectors, kVectors, kRun, kRun, kRun, kRun, kRun, kRun,
                                  kRecording, kRecording, kPairs));
  EXPECT_THAT(agenda.Pending(), IsEmpty());
  EXPECT_EQ(done.back().op, kFp8);  // whose operands are narrow
}

TEST(SurveyAgenda, ModelsNotSeenYetComeFirst) {
  const SurveyManifest manifest = Manifest({kF16, kSameModel, kFp8});
  SurveyAgenda agenda(manifest);
  std::vector<std::string> ops;
  for (const SurveyTask& task : DoAll(agenda, 0, 3)) ops.push_back(task.op);
  const bool same = SameModel(FindOperation(kF16)->model, FindOperation(kSameModel)->model);
  EXPECT_EQ(ops, same ? std::vector<std::string>({kF16, kFp8, kSameModel})
                      : std::vector<std::string>({kF16, kSameModel, kFp8}));
}

TEST(SurveyAgenda, OtherSizesAndSourcesHaveALayout) {
  const SurveyManifest manifest = Manifest({kWgmma}, 10);
  SurveyAgenda agenda(manifest);
  std::vector<std::string> layouts;
  for (const SurveyTask& task : DoAll(agenda, 0)) {
    if (task.stage == kLayout) layouts.push_back(task.op.substr(6) + task.variant);
  }
  EXPECT_THAT(
      layouts,
      ElementsAre("wgmma.m64n8k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16,a=registers",
                  "wgmma.m64n16k16.f32.f16.f16", "wgmma.m64n16k16.f32.f16.f16,a=registers",
                  "wgmma.m64n24k16.f32.f16.f16", "wgmma.m64n24k16.f32.f16.f16,a=registers",
                  "wgmma.m64n64k16.f32.f16.f16", "wgmma.m64n64k16.f32.f16.f16,a=registers",
                  "wgmma.m64n128k16.f32.f16.f16", "wgmma.m64n128k16.f32.f16.f16,a=registers",
                  "wgmma.m64n256k16.f32.f16.f16", "wgmma.m64n256k16.f32.f16.f16,a=registers"));
}

// A run has no end, so every other stage must get its time before it, whatever the total.
TEST(SurveyAgenda, TimeIsSpreadOverStagesAndRows) {
  const SurveyManifest manifest = Manifest({kF16, kSameModel, kFp8});
  for (const double total : {40., 100., 1000.}) {
    SurveyAgenda agenda(manifest);
    const std::vector<SurveyTask> done = DoAll(agenda, total);
    EXPECT_EQ(done.size(), total);
    std::map<SurveyStage, int> count = Count(done);
    for (const SurveyStage stage : {kLayout, kRepeat, kQuestions, kVectors, kRecording}) {
      EXPECT_EQ(count[stage], 3) << Name(stage) << " of " << total;
    }
    EXPECT_EQ(count[kPairs], 1);
    std::map<std::string, int> units;
    for (const SurveyTask& task : done) units[task.op] += task.stage == kRun;
    EXPECT_LE(std::abs(units[kF16] - units[kFp8]), 1);
    EXPECT_THAT(agenda.Pending(), IsEmpty());  // each run has begun
  }
}

TEST(SurveyAgenda, AStageThatTakesTooLongLeavesTimeForTheNext) {
  const SurveyManifest manifest = Manifest({kF16, kSameModel, kFp8});
  SurveyAgenda agenda(manifest);
  const std::vector<SurveyTask> done = DoAll(agenda, 10);  // 3 layouts are over a quarter
  std::map<SurveyStage, int> count = Count(done);
  EXPECT_EQ(count[kLayout], 3);
  EXPECT_GE(count[kRepeat], 1);
  EXPECT_GE(count[kQuestions], 1);
  EXPECT_GE(count[kRun], 1);
  EXPECT_THAT(agenda.Pending(), Not(IsEmpty()));
}

TEST(SurveyAgenda, ARowThatCannotAnswerIsAskedNothingMore) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 10);
  SurveyResult elsewhere = Answered({kLayout, kF16, ""}, Agreement::kContradicts);
  SurveyResult changing = Answered({kRepeat, kF16, ""}, Agreement::kContradicts);
  SurveyResult trapped = Answered({kVectors, kF16, ""}), failed = Answered({kVectors, kF16, ""});
  trapped.trapped = true;
  trapped.status = absl::DeadlineExceededError("hangs");
  failed.status = absl::InternalError("no");
  for (const SurveyResult& result : {elsewhere, changing, trapped, failed}) {
    SurveyAgenda agenda(manifest);
    agenda.Done(result);
    EXPECT_TRUE(agenda.IsExcluded({kRun, kF16, ""}));
    for (const SurveyTask& task : DoAll(agenda, 0)) EXPECT_EQ(task.op, kFp8) << task.Text();
    EXPECT_THAT(agenda.Pending(), IsEmpty());
  }
}

TEST(SurveyAgenda, WhatARowThatFailsWasNotAskedIsSaid) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 10);
  SurveyAgenda agenda(manifest);
  EXPECT_THAT(agenda.GivenUp(), IsEmpty());
  for (const SurveyStage stage : {kLayout, kRepeat}) agenda.Done(Answered({stage, kF16, ""}));
  SurveyResult fails = Answered({kQuestions, kF16, ""});
  fails.status = absl::DataLossError("no answer");
  agenda.Done(fails);
  EXPECT_THAT(agenda.GivenUp(),
              ElementsAre(SurveyTask{kVectors, kF16, ""}, SurveyTask{kRecording, kF16, ""},
                          SurveyTask{kRun, kF16, ""}));
  EXPECT_THAT(agenda.Pending(), Not(Contains(SurveyTask{kVectors, kF16, ""})));
}

TEST(SurveyAgenda, WhatTrapsLeavesTheOthersToTheThird) {
  const SurveyManifest manifest = Manifest({kF16}, 10);
  SurveyAgenda agenda(manifest);
  const std::vector<SurveyTask> single = SingleQuestions({kQuestions, kF16, ""});
  ASSERT_GE(single.size(), 5u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(agenda.IsExcluded(single[0])) << i;
    SurveyResult result = Answered(single[i]);
    result.trapped = true;
    result.status = absl::UnavailableError("signal 11");
    agenda.Done(result);
  }
  EXPECT_TRUE(agenda.IsExcluded(single[0]));
}

TEST(SurveyAgenda, ARowAfterWhichTheDeviceWasGoneComesLastAndThenNotAtAll) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 10);
  SurveyAgenda agenda(manifest);
  SurveyResult gone;
  gone.task = {kTrap, kF16, "", 0, kDeviceGone};
  agenda.Done(gone);
  std::vector<std::string> ops;
  for (const SurveyTask& task : DoAll(agenda, 0)) ops.push_back(task.op);
  EXPECT_EQ(ops.front(), kFp8);
  EXPECT_EQ(ops.back(), kF16);
  EXPECT_TRUE(std::is_sorted(ops.begin(), ops.end(),
                             [](const auto& x, const auto& y) { return x == kFp8 && y == kF16; }));
  SurveyAgenda again(manifest);
  again.Done(gone);
  again.Done(gone);
  for (const SurveyTask& task : DoAll(again, 0)) EXPECT_EQ(task.op, kFp8);
}

TEST(SurveyAgenda, WhatDiffersIsExplainedNextAndOncePerStage) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 40);
  SurveyAgenda agenda(manifest);
  SurveyResult run = Answered({kRun, kF16, "", 0});
  run.mismatches = 3;
  run.first_mismatch = "a case";
  agenda.Done(run);
  const auto next = agenda.Choose(0, 100);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(*next, (SurveyTask{kExplain, kF16, "", static_cast<uint64_t>(kRun), "a case"}));
  agenda.Done(Answered(*next));
  run.task.number = 1;
  agenda.Done(run);
  EXPECT_EQ(agenda.Choose(0, 100)->stage, kLayout);
  // No more units of a row that differs, and no sweep of all pairs.
  SurveyResult vectors = Answered({kVectors, kFp8, ""});
  vectors.lines = {{"a", "00", false}, {"b", "01", true}};
  agenda.Done(vectors);
  EXPECT_EQ(agenda.Choose(0, 100)->detail, "01");
  std::vector<SurveyTask> rest = DoAll(agenda, 0);
  EXPECT_EQ(Count(rest)[kPairs], 0);
  for (const SurveyTask& task : rest) EXPECT_FALSE(task.stage == kRun && task.op == kF16);
}

SurveyResult LaidOut(const std::string& op, double pace) {
  SurveyResult result = Answered({kLayout, op, ""});
  result.pace = pace;
  return result;
}

// Question by question, the rows in turn; a unit takes a few seconds.
// Not even what explains an answer of the device before.
TEST(SurveyAgenda, ADeviceThatHasChangedIsAskedNothingMoreOfTheRow) {
  const SurveyManifest manifest = Manifest({kF16}, 10);
  SurveyAgenda agenda(manifest);
  const auto result_of = [](const SurveyTask& of) {
    SurveyResult result;
    result.task = of;
    return result;
  };
  SurveyResult differs = result_of({kQuestions, kF16, ""});
  SurveyAnswer& answer = differs.answers.emplace_back();
  answer.question = "width";
  answer.differing = 1;
  answer.lines = {"a line"};
  agenda.Earlier(differs);
  const std::optional<Task> canary = agenda.Next(absl::ZeroDuration());
  ASSERT_TRUE(canary.has_value());
  const SurveyTask& task = std::get<StageTask>(canary->what).name;
  ASSERT_TRUE(task.IsCanary());
  EXPECT_EQ(task.detail, "a line");
  SurveyResult changed = result_of(task);
  changed.status = absl::AbortedError("it has changed");
  agenda.Done(changed);
  EXPECT_FALSE(agenda.Next(absl::ZeroDuration()).has_value());

  SurveyAgenda later(manifest);  // with the first device again
  later.Earlier(differs);
  later.Earlier(changed);
  const std::optional<Task> again = later.Next(absl::ZeroDuration());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(std::get<StageTask>(again->what).name.number, 1u);
  later.Done(result_of(std::get<StageTask>(again->what).name));
  EXPECT_EQ(std::get<StageTask>(later.Next(absl::ZeroDuration())->what).name.stage, kExplain);
}

TEST(SurveyAgenda, ASlowRowIsAskedInSmallPieces) {
  const SurveyManifest manifest = Manifest({kF16, kFp8});
  SurveyAgenda agenda(manifest);
  for (const char* op : {kF16, kFp8}) agenda.Done(LaidOut(op, .02));
  std::vector<SurveyTask> questions;
  for (const SurveyTask& task : DoAll(agenda, 0, 1000)) {
    EXPECT_NE(task.detail, "payloads");
    if (task.stage == kQuestions) questions.push_back(task);
  }
  const size_t single = SingleQuestions({kQuestions, kF16, ""}).size();
  ASSERT_EQ(questions.size(), 2 * single - 2);  // but for payloads
  for (size_t i = 0; i < questions.size(); i += 2) {
    EXPECT_NE(questions[i].op, questions[i + 1].op);
    EXPECT_EQ(questions[i].detail, questions[i + 1].detail);
  }
  // 128 dot products an execution: 2.56 seconds.
  SurveyAgenda slow(manifest), fast(manifest);
  slow.Done(LaidOut(kF16, .02));
  fast.Done(LaidOut(kF16, 1e-4));
  EXPECT_EQ(slow.PartOf({kRun, kF16, ""}).count, 1u);
  EXPECT_EQ(slow.PartOf({kRun, kFp8, ""}).count, 10u);
  EXPECT_EQ(fast.PartOf({kRun, kF16, ""}).count, 10u);
  EXPECT_GT(slow.PartOf({kVectors, kF16, ""}).seconds, 0);
  EXPECT_EQ(fast.PartOf({kVectors, kF16, ""}).seconds, 0);
  for (const SurveyTask& task : DoAll(fast, 0, 20)) EXPECT_EQ(task.detail, "");
}

TEST(SurveyAgenda, PartsFollowEachOtherBehindThoseOfOtherRows) {
  const SurveyManifest manifest = Manifest({kF16, kFp8}, 10);
  SurveyAgenda agenda(manifest);
  std::vector<std::pair<std::string, uint64_t>> parts;  // operation, where it begins
  for (int i = 0; i < 1000; ++i) {
    const auto task = agenda.Choose(i, 0);
    if (!task.has_value()) break;
    SurveyResult result = Answered(*task);
    result.first_case = agenda.PartOf(*task).first;
    result.cases = agenda.PartOf(*task).count;
    if (task->stage == kVectors) {
      parts.emplace_back(task->op, result.first_case);
      result.unfinished = task->number < 2;
      result.next = result.first_case + 7;
    }
    agenda.Done(result);
  }
  EXPECT_THAT(parts, ElementsAre(std::pair(kF16, 0), std::pair(kFp8, 0), std::pair(kF16, 7),
                                 std::pair(kFp8, 7), std::pair(kF16, 14), std::pair(kFp8, 14)));
  EXPECT_THAT(agenda.Pending(), IsEmpty());
}

TEST(SurveyAgenda, WhatIsLeftOfAQuestionIsNoAnswer) {
  const SurveyManifest manifest = Manifest({kF16}, 10);
  SurveyAgenda agenda(manifest);
  SurveyResult result = Answered({kQuestions, kF16, ""});
  result.answers.clear();
  result.unfinished = true;
  result.lines = {{"questions", "00", true}};
  agenda.Done(result);
  EXPECT_THAT(agenda.Pending(), Contains(SurveyTask{kQuestions, kF16, ""}));
  EXPECT_EQ(agenda.Choose(0, 0)->stage, kExplain);
}

TEST(SurveyAgenda, ARunThatTrappedIsNotBegunAgain) {
  const SurveyManifest manifest = Manifest({kF16}, 35);
  SurveyAgenda agenda(manifest);
  SurveyResult result = Answered({kRun, kF16, ""});
  result.trapped = true;
  result.status = absl::UnavailableError("signal 11");
  agenda.Done(result);
  EXPECT_FALSE(agenda.IsExcluded({kRun, kF16, ""}));
  EXPECT_EQ(Count(DoAll(agenda, 0))[kRun], 0);
}

TEST(SurveyAgenda, UnitsOfARunWithAnEndFollowEachOther) {
  const SurveyManifest manifest = Manifest({kF16}, 35);
  SurveyAgenda agenda(manifest);
  const SurveyTask task = {kRun, kF16, ""};
  uint64_t next = 0;
  for (const uint64_t count : {10, 10, 10, 5, 0}) {
    EXPECT_EQ(agenda.PartOf(task).first, next);
    EXPECT_EQ(agenda.PartOf(task).count, count);
    SurveyResult result = Answered(task);
    result.first_case = next;
    result.cases = count;
    agenda.Done(result);
    next += count;
  }
}

// One that takes too long would leave no time for the others.
TEST(SurveyAgenda, UnitsOfARunWithoutAnEndTakeASecond) {
  const SurveyManifest manifest = Manifest({kF16});
  SurveyAgenda agenda(manifest);
  const SurveyTask task = {kRun, kF16, ""};
  uint64_t next = 0, last = 0;
  for (int i = 0; i < 40; ++i) {
    const TaskPart part = agenda.PartOf(task);
    EXPECT_EQ(part.first, next);
    last = part.count;
    SurveyResult result = Answered(task);
    result.first_case = part.first;
    result.cases = part.count;
    result.seconds = static_cast<double>(part.count) / (i < 20 ? 1000 : 100);
    agenda.Done(result);
    next += part.count;
    if (i == 19) {
      EXPECT_EQ(last, 640u);
    }
  }
  EXPECT_EQ(last, 160u);
}

}  // namespace
}  // namespace mmadiff
