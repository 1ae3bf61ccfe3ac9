#include "fuzz/schedule/class_schedule.h"

#include <gmock/gmock.h>

#include <set>

#include "corpus/cases/generate.h"
#include "fuzz/schedule/fill.h"
#include "fuzz/schedule/mutants.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

constexpr char kMfma[] = "gfx90a/v_mfma_f32_16x16x16bf16_1k";

const Operation& Op(const char* name) { return *FindOperation(name); }

bool HasLateClasses(const Operation& op) {
  return !IsInteger(*op.instruction->d) && !op.instruction->is_conversion();
}

std::vector<std::string> TurnsOf(const ClassSchedule& schedule) {
  std::vector<std::string> turns;
  for (size_t t = 0; t < schedule.size(); ++t) turns.push_back(schedule.of(t).name);
  return turns;
}

TEST(ClassStrategyTest, HasNothingButItsClass) {
  for (const char* name : {kMma, "sm_90/mma.m16n8k32.s32.s8.s8.s32",
                           "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0"}) {
    const Operation& op = Op(name);
    size_t made = 0;
    for (const Strategy& s : ClassStrategies()) {
      if (!HasClasses(s, *op.instruction)) {
        const auto parsed = ParseCaseName(absl::StrCat(name, "@g3:", s.name, ".1:5"));
        EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("is not a class of this"));
        continue;
      }
      ++made;
      const CaseName of = {{&op, &s, 7}, 5};
      const auto parsed = ParseCaseName(FormatCaseName(of));
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ(parsed->stream.strategy, &s);
      for (const uint64_t index : {0, 1, 63}) {
        EXPECT_STREQ(of.stream.class_of(index).name, s.name);
        // As a GPU numbers it.
        const int number =
            ClassNumber(KindOn(s, *op.instruction), BoundaryClassCount(*op.instruction), index);
        const auto& classes = BoundaryClasses(*op.instruction);
        EXPECT_STREQ(number >= kFirstLateClass ? LateClasses()[number - kFirstLateClass].name
                                               : classes[number - 1].name,
                     s.name);
      }
    }
    const size_t late = HasLateClasses(op) ? LateClasses().size() : 0;
    EXPECT_EQ(made, BoundaryClasses(*op.instruction).size() + late);
  }
}

TEST(ScheduleTest, ReadsWhatItWrites) {
  for (const char* name : {kMma, kMfma, "sm_90/mma.m16n8k32.s32.s8.s8.s32"}) {
    const Operation& op = Op(name);
    const ClassSchedule schedule = ClassSchedule::Plan(op, 1);
    const auto parsed = ParseSchedule(schedule.text(), *op.instruction);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(TurnsOf(*parsed), TurnsOf(schedule)) << schedule.text();
    const size_t late = HasLateClasses(op) ? LateClasses().size() : 0;
    const size_t classes = BoundaryClasses(*op.instruction).size() + 1 + late;
    const std::vector<std::string> turns = TurnsOf(schedule);
    EXPECT_EQ(std::set<std::string>(turns.begin(), turns.end()).size(), classes);
    EXPECT_EQ(turns.size(), 4 * classes);
  }
}

TEST(ScheduleTest, RefusesWhatIsNone) {
  const Instruction& in = *Op(kMma).instruction;
  for (const char* wrong : {"", "tie", "tie 0", "tie -1", "tie 1001", "tie 1, tie 2", "tie  1",
                            "nothing 1", "limit 1", "tie 1,band 1", "mixed 1", "tie 1 2"}) {
    EXPECT_EQ(ParseSchedule(wrong, in).status().code(), absl::StatusCode::kDataLoss) << wrong;
  }
}

TEST(ScheduleTest, EqualModelsHaveOneSchedule) {
  const Operation &x = Op("sm_80/mma.m16n8k8.f32.f16.f16.f32"), *same = nullptr;
  for (const Operation& other : Operations()) {
    if (&other != &x && SameModel(other.model, x.model)) same = &other;
  }
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(ClassSchedule::Plan(x, 3).text(), ClassSchedule::Plan(*same, 3).text());
}

// The promise of a schedule, where cases of `mixed` are thin; the numbers are the same everywhere.
TEST(ScheduleTest, FindsTheLastMutantInFewerCases) {
  Console console(Color::kNever, true);
  uint64_t mixed = 0, scheduled = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MutantsOptions options = {.ops = {&Op("sm_90/mma.m16n8k16.f16.e4m3.e4m3.f16")}, .seed = seed};
    mixed += KillMutants(options, console)->killed.back();
    options.strategy = &Scheduled();
    scheduled += KillMutants(options, console)->killed.back();
  }
  EXPECT_LT(2 * scheduled, mixed);
}

TEST(ScheduleTest, FillsTheLastBinInFewerCases) {
  Console console(Color::kNever, true);
  MutantsOptions options = {.ops = {&Op("sm_90/mma.m16n8k16.f32.f16.f16.f32")}};
  const uint64_t mixed = FillBins(options, console)->front().cases;
  options.strategy = &Scheduled();
  const std::vector<FilledBins> scheduled = *FillBins(options, console);
  EXPECT_TRUE(scheduled.front().thin.empty());
  EXPECT_LT(10 * scheduled.front().cases, mixed);
}

class ScheduledRunTest : public RunTest {
 protected:
  RunOptions Scheduled(const std::string& workdir) {
    RunOptions options = Options(workdir);
    options.cases = 4000;
    options.strategy = &mmadiff::Scheduled();
    for (const Operation* op : options.ops)
      options.schedules.push_back(ClassSchedule::Plan(*op, 1));
    return options;
  }
};

// Every unit is of the stream that the manifest gives it, whichever shard and thread does it.
TEST_F(ScheduledRunTest, ShardsAddUp) {
  const RunReport whole = Run(Scheduled("whole"));
  ASSERT_TRUE(whole.rows[0].finished);
  Digest digest = 0;
  for (uint64_t shard = 0; shard < 3; ++shard) {
    RunOptions options = Scheduled(absl::StrCat("shard", shard));
    options.shard = shard;
    options.shards = 3;
    options.threads = 2;
    digest += Run(options).rows[0].total.device_digest;
  }
  EXPECT_EQ(digest, whole.rows[0].total.device_digest);

  const RunManifest manifest =
      MakeManifest(Scheduled("whole"), HostEngine(*OpenDevice("faulty:none=0")));
  EXPECT_THAT(FormatManifest(manifest), HasSubstr("signed_zeros "));
  Digest again = 0;
  for (uint64_t u = 0; u < manifest.instructions[0].Units(); ++u) {
    const auto stream = StreamOfUnit(manifest, *whole.rows[0].op, manifest.instructions[0], u);
    ASSERT_TRUE(stream.ok()) << stream.status();
    again += *AnswerDigest(*stream, u * manifest.instructions[0].unit_cases,
                           manifest.instructions[0].CasesOf(u), nullptr);
  }
  EXPECT_EQ(again, whole.rows[0].total.model_digest);
}

// A finding is named by the class's own stream, and known again by the next attempt.
TEST_F(ScheduledRunTest, FindingsNeedNoSchedule) {
  const RunOptions options = Scheduled("w");
  const RunReport first = Run(options, "faulty:output_rounding=nearest_even");
  ASSERT_FALSE(first.findings.empty());
  const auto name = ParseCaseName(first.findings[0].case_name);
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(name->stream.strategy->kind, StrategyKind::kOneClass) << first.findings[0].case_name;
  const RunReport second = Run(options, "faulty:output_rounding=nearest_even");
  EXPECT_EQ(second.findings.size(), first.findings.size());
  EXPECT_TRUE(second.attempt->warnings.empty()) << second.attempt->warnings.front();
}

}  // namespace
}  // namespace mmadiff
