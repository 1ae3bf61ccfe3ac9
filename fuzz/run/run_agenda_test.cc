// What a run asks next, without a device: results are made up here.
#include "fuzz/run/run_agenda.h"

#include <gmock/gmock.h>

#include "corpus/testing/folder.h"
#include "fuzz/ask/canary.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOps[] = {"x86/vdpbf16ps", "x86/vpdpbusd"};  // 16 dot products a case
constexpr uint64_t kUnitCases = 10;

class RunAgendaTest : public TestFolder {
 protected:
  RunAgendaTest() {
    options_.strategy = &Strategies().front();
    options_.cases = 3 * kUnitCases - 2;
    options_.max_mismatches = 3;
    options_.print_findings = false;
    options_.workdir = Path("w");
    for (const char* op : kOps) {
      options_.ops.push_back(FindOperation(op));
      manifest_.instructions.push_back({op, options_.cases, kUnitCases});
    }
  }

  RunAgenda Agenda(StoredUnits stored = {}) {
    stored.totals.resize(2);
    stored.done.resize(2);
    stored.parts.resize(2);
    stored.begun.resize(2);
    stored.failures.resize(2);
    stored.asked.resize(2);
    stored.drops.resize(2);
    stored.stops.resize(2);
    return RunAgenda(options_, manifest_, std::move(stored), console_,
                     [this](uint32_t row, uint64_t unit) {
                       stops_.emplace_back(row, unit);
                       UnitResult stop;
                       stop.instruction = row;
                       stop.unit = unit;
                       stop.mismatch_limit = options_.max_mismatches;
                       stop.ended = 1'700'000'000;
                       return stop;
                     });
  }
  RunReport End(RunAgenda agenda) {
    RunReportBuilder builder(manifest_);
    builder.AddShard(manifest_, "w");
    RunReport::Attempt attempt = std::move(agenda).Finish({}, builder);
    return std::move(builder).Finish(std::move(attempt));
  }
  RunAgenda Planted(StoredUnits stored = {}) {
    RunAgenda agenda = Agenda(std::move(stored));
    for (int i = 0; i < 2; ++i) {
      TaskResult result;
      result.task = *agenda.Next({});
      result.answer = PlantAnswer{"a fault"};
      EXPECT_TRUE(agenda.Take(result).ok());
    }
    for (uint64_t i = 0; i < 2; ++i) Answer(agenda, *agenda.Next({}), {.canary = {0, {i}}});
    return agenda;
  }

  static void Answer(RunAgenda& agenda, const Task& canary, CanaryAnswer answer) {
    ASSERT_TRUE(std::holds_alternative<CanaryTask>(canary.what));
    TaskResult result;
    result.task = canary;
    result.answer = std::move(answer);
    EXPECT_THAT(*agenda.Take(result), IsEmpty());
  }

  // Its cases are all compared; `differing` of them differ from the model, and end the part.
  static TaskResult Done(const Task& task, uint64_t differing = 0) {
    TaskResult result;
    result.task = task;
    const UnitTask& unit = std::get<UnitTask>(task.what);
    UnitAnswer answer = {unit.counted, {}};
    answer.counted.cases = differing > 0 ? 5 : unit.end - unit.counted.first_case;
    answer.counted.dot_products = 16 * answer.counted.cases;
    answer.counted.mismatches += differing;
    answer.counted.part = differing > 0;
    for (uint64_t i = 0; i < differing; ++i) {
      const CaseName name = {unit.stream, unit.counted.first_case + i};
      Mismatch mismatch = {unit.stream.op, {}, 0};
      Generate(unit.stream, name.index, 1, mismatch.inputs);
      mismatch.model = Compare(*unit.stream.op, mismatch.inputs, std::vector<uint64_t>(16)).model;
      mismatch.device = mismatch.model;
      mismatch.device[0] ^= 1;
      answer.differing.emplace_back(name, mismatch);
    }
    result.answer = std::move(answer);
    return result;
  }
  static TaskResult Failed(const Task& task, const absl::Status& status) {
    TaskResult result;
    result.task = task;
    result.status = status;
    result.answer = InvestigateAnswer{.known = {}, .found = {}, .device = "wrong", .identity = "7"};
    return result;
  }
  static std::pair<size_t, uint64_t> Unit(const Task& task) {
    return {task.row, std::get<UnitTask>(task.what).counted.unit};
  }

  RunOptions options_;
  RunManifest manifest_;
  std::vector<std::pair<uint32_t, uint64_t>> stops_;
  Console console_{Color::kNever, true};
};

TEST_F(RunAgendaTest, UnitsComeAfterAllPlantedFaultsAndCanariesAndTheRowsTakeTurns) {
  RunAgenda agenda = Agenda();
  TaskResult planted[2];
  for (TaskResult& result : planted) {
    result.task = *agenda.Next({});
    ASSERT_TRUE(std::holds_alternative<PlantTask>(result.task.what));
    result.answer = PlantAnswer();
  }
  const Task canaries[] = {*agenda.Next({}), *agenda.Next({})};
  ASSERT_TRUE(agenda.Take(planted[1]).ok());
  Answer(agenda, canaries[0], {.canary = {0, {7}}});
  Answer(agenda, canaries[1], {});
  EXPECT_FALSE(agenda.Next({}).has_value());
  ASSERT_TRUE(agenda.Take(planted[0]).ok());
  std::vector<std::pair<size_t, uint64_t>> units;
  while (const std::optional<Task> task = agenda.Next({})) {
    units.push_back(Unit(*task));
    EXPECT_THAT(*agenda.Take(Done(*task)), IsEmpty());
  }
  using P = std::pair<size_t, uint64_t>;
  EXPECT_THAT(units, ElementsAre(P{0, 0}, P{1, 0}, P{0, 1}, P{1, 1}, P{0, 2}, P{1, 2}));
  const RunReport outcome = End(std::move(agenda));
  EXPECT_TRUE(outcome.rows[0].finished && outcome.rows[1].finished);
  EXPECT_EQ(outcome.rows[0].total.cases, 28u);  // the last unit has eight
  EXPECT_EQ(outcome.attempt->dot_products, 2 * 28 * 16u);
}

// It is stored with the first unit that is done, and only if there is none yet.
TEST_F(RunAgendaTest, ACanaryIsStoredWithOneUnitOfItsRow) {
  StoredUnits stored;
  stored.asked.resize(2);
  stored.asked[0].emplace_back().canary = {5, {1, 2}};
  RunAgenda agenda = Planted(std::move(stored));
  std::map<size_t, int> with;
  while (const std::optional<Task> task = agenda.Next({})) {
    with[task->row] += !std::get<UnitTask>(task->what).counted.canary.d.empty();
    EXPECT_THAT(*agenda.Take(Done(*task)), IsEmpty());
  }
  EXPECT_EQ(with[0], 0);
  EXPECT_EQ(with[1], 1);
}

TEST_F(RunAgendaTest, ARunWithoutCanariesExecutesAQuickUnitAgain) {
  StoredUnits stored;
  stored.asked.resize(2);
  for (std::vector<UnitResult>& units : stored.asked) {
    units.resize(1);
    units[0].first_case = units[0].cases = kUnitCases;
  }
  stored.asked[1][0].seconds = kMaxCanarySeconds + 1;
  RunAgenda agenda = Agenda(std::move(stored));
  for (int i = 0; i < 2; ++i) agenda.Next({});
  const Task again = *agenda.Next({}), none = *agenda.Next({});
  EXPECT_EQ(std::get<CanaryTask>(again.what).again->cases, kUnitCases);
  EXPECT_FALSE(std::get<CanaryTask>(none.what).again.has_value());
  Answer(agenda, again, {.canary = {}, .repeated = 160});
  const RunReport outcome = End(std::move(agenda));
  EXPECT_EQ(outcome.attempt->repeated, 160u);
  EXPECT_THAT(outcome.attempt->warnings,
              ElementsAre(testing::HasSubstr("none was executed again")));
}

TEST_F(RunAgendaTest, AUnitGoesOnBehindItsPart) {
  StoredUnits stored;
  stored.begun.resize(2);
  UnitResult& begun = stored.begun[1][1];
  begun.instruction = 1;
  begun.unit = 1;
  begun.first_case = begun.cases = kUnitCases;
  begun.cases = 3;
  begun.dot_products = 3 * 16 + 5;
  begun.part = true;
  begun.device_digest = begun.model_digest = 9;
  RunAgenda agenda = Planted(std::move(stored));
  uint64_t continued = 0, asked = 0;
  while (const std::optional<Task> task = agenda.Next({})) {
    const UnitResult& counted = std::get<UnitTask>(task->what).counted;
    const bool second = Unit(*task) == std::pair(size_t{1}, uint64_t{1});
    EXPECT_EQ(counted.dot_products, second ? 53u : 0u);
    continued += second;
    asked += 16 * kUnitCases;
    EXPECT_THAT(*agenda.Take(Done(*task)), IsEmpty());
  }
  EXPECT_EQ(continued, 1u);
  EXPECT_EQ(End(std::move(agenda)).attempt->dot_products, (6 * kUnitCases - 4) * 16 - 53);
}

// Else a run that is stopped again and again does not get behind its mismatches.
TEST_F(RunAgendaTest, APartWhoseMismatchesWereLookedAtIsInTheLog) {
  std::filesystem::create_directories(Path("w"));
  auto log = UnitLog::Create(Path("w"), RunIdOf(manifest_));
  ASSERT_TRUE(log.ok()) << log.status();
  StoredUnits stored;
  stored.done.resize(2);
  stored.drops.resize(2);
  stored.failures.resize(2);
  RunLog run_log(*std::move(log), manifest_, stored);
  RunAgenda agenda = Planted();
  Task task = *agenda.Next({});
  UnitResult& looked_at = std::get<UnitTask>(task.what).counted;
  looked_at.cases = 3;
  looked_at.dot_products = 3 * 16;
  looked_at.mismatches = 1;
  looked_at.part = true;
  looked_at.device_digest = 1;
  looked_at.model_digest = 2;
  ASSERT_TRUE(run_log.Append(Done(task, 2)).ok());
  ASSERT_TRUE(run_log.Flush().ok());
  const auto read = ReadUnits(Path("w"), manifest_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->damage, IsEmpty());
  EXPECT_EQ(read->begun[0].at(0), looked_at);
  EXPECT_EQ(read->parts[0].at(0).cases, 5u);
}

// Also if the process is killed later.
TEST_F(RunAgendaTest, WhatAStoppedRowComparedIsStoredAtOnce) {
  std::filesystem::create_directories(Path("w"));
  auto log = UnitLog::Create(Path("w"), RunIdOf(manifest_));
  ASSERT_TRUE(log.ok()) << log.status();
  StoredUnits stored;
  stored.done.resize(2);
  stored.drops.resize(2);
  stored.failures.resize(2);
  RunLog run_log(*std::move(log), manifest_, stored);
  RunAgenda agenda = Planted();
  const Task task = *agenda.Next({});
  ASSERT_TRUE(run_log.Append(Done(task, 2)).ok());
  EXPECT_THAT(ReadUnits(Path("w"), manifest_)->parts[0], IsEmpty());
  ASSERT_TRUE(run_log.NoteStop(0, 0, 20).ok());
  const auto read = ReadUnits(Path("w"), manifest_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->parts[0].at(0).mismatches, 2u);
  EXPECT_EQ(read->stops[0].at(0).mismatch_limit, 20u);
  EXPECT_THAT(read->done[0].size(), 0u);
}

TEST_F(RunAgendaTest, ARowWhoseUnitFailedAgainAndAgainIsGivenUp) {
  StoredUnits stored;
  stored.failures.resize(2);
  stored.failures[0][1] = kMaxFailures - 1;
  stored.failures[1][2] = kMaxFailures;
  RunAgenda agenda = Agenda(std::move(stored));
  for (int i = 0; i < 2; ++i) {
    TaskResult result;
    result.task = *agenda.Next({});
    result.answer = PlantAnswer{"a fault"};
    EXPECT_TRUE(agenda.Take(result).ok());
  }
  const Task canary = *agenda.Next({});
  EXPECT_EQ(canary.row, 0u);
  Answer(agenda, canary, {.canary = {0, {1}}});
  while (const std::optional<Task> task = agenda.Next({})) {
    EXPECT_EQ(task->row, 0u);
    EXPECT_TRUE(agenda.Take(Done(*task)).ok());
  }
  const RunReport outcome = End(std::move(agenda));
  EXPECT_TRUE(outcome.rows[0].dropped.ok());
  EXPECT_THAT(std::string(outcome.rows[1].dropped.message()),
              testing::HasSubstr("failed in unit 2"));
  EXPECT_EQ(outcome.attempt->not_asked_again, 0u);
}

TEST_F(RunAgendaTest, ADroppedRowIsAskedNothingMore) {
  RunAgenda agenda = Planted();
  TaskResult failed = Done(*agenda.Next({}));
  failed.status = absl::NotFoundError("no");
  failed.drop = {options_.ops[0], DropCause::kLacks, failed.status};
  std::get<UnitAnswer>(failed.answer).counted.part = true;
  EXPECT_THAT(*agenda.Take(failed), IsEmpty());
  while (const std::optional<Task> task = agenda.Next({})) EXPECT_EQ(task->row, 1u);
}

// One at a time: the next mismatch may be one that this explains.
TEST_F(RunAgendaTest, MismatchesAreInvestigatedInTheirOrderAndTheUnitGoesOnAfterThem) {
  RunAgenda agenda = Planted();
  const Task first = *agenda.Next({});
  const std::vector<Task> one = *agenda.Take(Done(first, 2));
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(std::get<InvestigateTask>(one[0].what).name.index, 0u);
  // Another thread's part of the row waits, and no third is begun.
  ASSERT_EQ(agenda.Next({})->row, 1u);
  const Task second = *agenda.Next({});
  ASSERT_EQ(Unit(second), std::pair(size_t{0}, uint64_t{1}));
  EXPECT_THAT(*agenda.Take(Done(second, 1)), IsEmpty());
  while (const std::optional<Task> task = agenda.Next({})) EXPECT_EQ(task->row, 1u);

  TaskResult flaky = Failed(one[0], absl::OkStatus());
  std::get<InvestigateAnswer>(flaky.answer).found.emplace().bucket.repetition = Repetition::kFlaky;
  const std::vector<Task> two = *agenda.Take(flaky);
  ASSERT_THAT(two, SizeIs(1));
  EXPECT_EQ(std::get<InvestigateTask>(two[0].what).name.index, 1u);
  flaky.task = two[0];
  const std::vector<Task> three = *agenda.Take(flaky);
  ASSERT_THAT(three, SizeIs(2));  // the other part's mismatch, the third; the rest of the first
  EXPECT_EQ(std::get<InvestigateTask>(three[0].what).name.index, kUnitCases);
  EXPECT_EQ(Unit(three[1]), std::pair(size_t{0}, uint64_t{0}));
  EXPECT_EQ(std::get<UnitTask>(three[1].what).counted.cases, 5u);
  flaky.task = three[0];
  EXPECT_THAT(stops_, IsEmpty());
  EXPECT_THAT(*agenda.Take(flaky), IsEmpty());  // --max_mismatches
  EXPECT_THAT(stops_, ElementsAre(std::pair(uint32_t{0}, uint64_t{1})));
  const RunReport outcome = End(std::move(agenda));
  EXPECT_TRUE(outcome.rows[0].stopped());
  EXPECT_EQ(outcome.rows[0].stopped_at, 1'700'000'000u);
  EXPECT_FALSE(outcome.rows[0].finished);
  EXPECT_EQ(outcome.rows[0].total.mismatches, 3u);
  EXPECT_EQ(outcome.rows[0].total.cases, 10u);  // both parts count
  EXPECT_THAT(outcome.findings, testing::Not(IsEmpty()));
}

TEST_F(RunAgendaTest, AMismatchThatCannotBeAskedAgainIsFiledAndEndsThePart) {
  RunAgenda agenda = Planted();
  const std::vector<Task> one = *agenda.Take(Done(*agenda.Next({}), 2));
  EXPECT_THAT(*agenda.Take(Failed(one[0], absl::UnavailableError("died"))), IsEmpty());
  const RunReport outcome = End(std::move(agenda));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_THAT(Name(outcome.findings[0].bucket), testing::StartsWith("unconfirmed:"));
}

}  // namespace
}  // namespace mmadiff
