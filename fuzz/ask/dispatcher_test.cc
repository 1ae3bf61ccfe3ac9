// What an error means, who is asked what and in which order, and when it ends: by workers and agendas
// of a few lines.
#include "fuzz/ask/dispatcher.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Operation& Op(size_t row) {
  return *FindOperation(row == 0 ? "sm_80/mma.m16n8k8.f32.f16.f16.f32" : "x86/vdpbf16ps");
}

Task Unit(size_t row, uint64_t number) {
  UnitTask unit = {.stream = {&Op(row), &Strategies().front(), 1}};
  unit.counted.unit = number;
  return {row, unit};
}
uint64_t NumberOf(const TaskResult& result) {
  return std::get<UnitTask>(result.task.what).counted.unit;
}

using Script = std::function<absl::Status(const Task&, absl::FunctionRef<bool()> stop)>;

const Hardware kUnit = {.unit = "unit 7", .pci = ""};

class ScriptedWorker : public Worker {
 public:
  explicit ScriptedWorker(const Script& script) : script_(script) {}
  TaskResult Do(Task task, absl::FunctionRef<bool()> stop) override {
    TaskResult result;
    result.status = script_(task, stop);
    result.task = std::move(task);
    return result;
  }
  Hardware hardware() const override { return kUnit; }

 private:
  const Script& script_;
};

// Units 0 to `units` - 1 of two rows in turn.
class Units : public Agenda {
 public:
  explicit Units(uint64_t units) : units_(units) {}
  std::optional<Task> Next(absl::Duration) override {
    if (next_ == 2 * units_) return std::nullopt;
    const Task task = Unit(next_ % 2, next_ / 2);
    ++next_;
    return dropped_.contains(task.row) ? Next({}) : task;
  }
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
    if (result.drop.has_value()) dropped_.insert(result.task.row);
    taken.push_back(10 * result.task.row + NumberOf(result));
    return follow_ups == nullptr ? std::vector<Task>() : follow_ups(result);
  }

  std::vector<uint64_t> taken;  // 10 * row + number
  std::function<absl::StatusOr<std::vector<Task>>(const TaskResult&)> follow_ups;

 private:
  const uint64_t units_;
  uint64_t next_ = 0;
  std::set<size_t> dropped_;
};

class CountingLog : public TaskLog {
 public:
  absl::Status Append(const TaskResult&) override { return ++appended == fails_at ? Full() : Ok(); }
  absl::Status Flush() override {
    ++flushed;
    return Ok();
  }
  static absl::Status Full() { return absl::DataLossError("the disk is full"); }
  static absl::Status Ok() { return absl::OkStatus(); }
  bool full() const override { return is_full; }
  int appended = 0, flushed = 0, fails_at = 0;
  bool is_full = false;
};

class DispatcherTest : public testing::Test {
 protected:
  DispatchOutcome Run(Agenda& agenda, const Script& script, int threads = 1,
                      const DispatchOptions& options = {}) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int t = 0; t < threads; ++t) workers.push_back(std::make_unique<ScriptedWorker>(script));
    return Dispatch(options, workers, agenda, log_, console_);
  }
  CountingLog log_;

 private:
  Console console_{Color::kNever, true};
};

absl::Status Fine(const Task&, absl::FunctionRef<bool()>) { return absl::OkStatus(); }

// The unit 1 of the first row fails.
Script Failing(const absl::Status& status) {
  return [status](const Task& task, absl::FunctionRef<bool()>) {
    const auto* unit = std::get_if<UnitTask>(&task.what);
    const bool fails = task.row == 0 && (unit == nullptr || unit->counted.unit == 1);
    return fails ? status : absl::OkStatus();
  };
}

TEST_F(DispatcherTest, OneThreadTakesResultsInTheOrderOfTheAgenda) {
  Units agenda(3);
  const DispatchOutcome outcome = Run(agenda, Fine);
  EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1, 11, 2, 12));
  EXPECT_FALSE(outcome.stopped_by);
  EXPECT_THAT(outcome.hardware, ElementsAre(kUnit));
  EXPECT_EQ(log_.appended, 6);
  EXPECT_EQ(log_.flushed, 1);
}

TEST_F(DispatcherTest, ErrorsOfARowDropItAndTheOthersGoOn) {
  for (const auto& [status, cause] :
       {std::pair(absl::NotFoundError("x"), DropCause::kLacks),
        std::pair(absl::FailedPreconditionError("x"), DropCause::kLayout),
        std::pair(absl::DataLossError("x"), DropCause::kGarbled),
        std::pair(absl::InternalError("x"), DropCause::kFails),
        std::pair(absl::InvalidArgumentError("x"), DropCause::kFails)}) {
    Units agenda(3);
    const DispatchOutcome outcome = Run(agenda, Failing(status));
    EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1, 11, 12)) << status;
    ASSERT_THAT(outcome.drops, testing::SizeIs(1)) << status;
    EXPECT_EQ(outcome.drops[0].cause, cause) << status;
    EXPECT_EQ(outcome.drops[0].op, &Op(0));
    EXPECT_EQ(outcome.drops[0].status, status);
    EXPECT_FALSE(outcome.stopped_by);
    EXPECT_TRUE(outcome.device.ok());
  }
}

// A layout that is not known excludes nothing.
TEST(CauseOf, AnOpenLayoutDropsNoRow) {
  SurveyResult result;
  result.task.stage = SurveyStage::kLayout;
  SurveyAnswer& answer = result.answers.emplace_back();
  for (const auto& [agreement, cause] :
       {std::pair(Agreement::kAgrees, std::optional<DropCause>()),
        std::pair(Agreement::kOpen, std::optional<DropCause>()),
        std::pair(Agreement::kContradicts, std::optional(DropCause::kLayout))}) {
    answer.agreement = agreement;
    EXPECT_EQ(CauseOf(result), cause);
  }
}

TEST_F(DispatcherTest, ALostDeviceEndsTheWork) {
  for (const absl::Status& status :
       {absl::UnavailableError("died"), absl::DeadlineExceededError("hung")}) {
    Units agenda(3);
    const DispatchOutcome outcome = Run(agenda, Failing(status));
    EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1));
    EXPECT_EQ(outcome.device, status);
    EXPECT_EQ(outcome.stopped_by.kind, StopCause::kDeviceLost);
    EXPECT_THAT(outcome.drops, IsEmpty());
  }
}

TEST_F(DispatcherTest, ASelfTestThatFailsDropsItsRow) {
  class Plants : public Units {
   public:
    Plants() : Units(1) {}
    std::optional<Task> Next(absl::Duration elapsed) override {
      if (begun_++ == 0) return Task{0, PlantTask{{&Op(0), &Strategies().front(), 1}}};
      return Units::Next(elapsed);
    }
    absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
      if (!std::holds_alternative<PlantTask>(result.task.what)) return Units::Take(result);
      return std::vector<Task>();
    }
    int begun_ = 0;
  };
  Plants agenda;
  const DispatchOutcome outcome = Run(agenda, Failing(absl::InternalError("not found")));
  ASSERT_THAT(outcome.drops, testing::SizeIs(1));
  EXPECT_EQ(outcome.drops[0].cause, DropCause::kSelfTest);
}

TEST_F(DispatcherTest, WhatFollowsAResultComesNextAlsoWhenTheWorkMustEnd) {
  Units agenda(2);
  agenda.follow_ups = [](const TaskResult& result) -> absl::StatusOr<std::vector<Task>> {
    if (NumberOf(result) != 1) return std::vector<Task>();
    return std::vector{Unit(result.task.row, 5), Unit(result.task.row, 6)};
  };
  Run(agenda, Fine);
  EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1, 5, 6, 11, 15, 16));
  Units lost(2);
  lost.follow_ups = agenda.follow_ups;
  Run(lost, Failing(absl::UnavailableError("died")));
  EXPECT_THAT(lost.taken, ElementsAre(0, 10, 1, 5, 6));
}

TEST_F(DispatcherTest, WhatCannotBeStoredEndsTheWork) {
  Units agenda(3);
  log_.fails_at = 2;
  const DispatchOutcome outcome = Run(agenda, Fine);
  EXPECT_EQ(outcome.durable, CountingLog::Full());
  EXPECT_EQ(outcome.stopped_by.kind, StopCause::kNotDurable);
  EXPECT_THAT(agenda.taken, ElementsAre(0, 10));

  log_.fails_at = 0;
  Units unfiled(3);
  unfiled.follow_ups = [](const TaskResult&) { return CountingLog::Full(); };
  EXPECT_EQ(Run(unfiled, Fine).durable, CountingLog::Full());
  EXPECT_THAT(unfiled.taken, ElementsAre(0));
}

TEST_F(DispatcherTest, AllThreadsWorkAndEachTaskIsDoneOnce) {
  Units agenda(5);
  std::atomic<int> at_once = 0, most = 0;
  const Script slow = [&](const Task&, absl::FunctionRef<bool()>) {
    most = std::max<int>(most, ++at_once);
    while (most < 3) std::this_thread::yield();  // until the others are there
    --at_once;
    return absl::OkStatus();
  };
  Run(agenda, slow, 3);
  EXPECT_EQ(most, 3);
  std::ranges::sort(agenda.taken);
  EXPECT_THAT(agenda.taken, ElementsAre(0, 1, 2, 3, 4, 10, 11, 12, 13, 14));
}

// Nothing to do now is not the end while another worker's result may bring more.
TEST_F(DispatcherTest, AnIdleWorkerWaitsForWhatResultsBring) {
  class Waiting : public Units {
   public:
    Waiting() : Units(0) {}
    std::optional<Task> Next(absl::Duration) override {
      if (first_++ == 0) return Unit(0, 0);
      if (!more_) return std::nullopt;
      return next_ < 5 ? std::optional(Unit(1, next_++)) : std::nullopt;
    }
    absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
      more_ = true;
      return Units::Take(std::move(result));
    }
    int first_ = 0;
    bool more_ = false;
    uint64_t next_ = 0;
  };
  Waiting agenda;
  Run(agenda, Fine, 3);
  EXPECT_EQ(agenda.taken.size(), 6u);
}

TEST_F(DispatcherTest, TasksEndByThemselvesOrAfterTheGrace) {
  const auto options = [](absl::Duration grace) {
    return DispatchOptions{TimeLimit::After(absl::ZeroDuration()), grace};
  };
  Units none(3);
  EXPECT_EQ(Run(none, Fine, 2, options(absl::Hours(1))).stopped_by.kind, StopCause::kTimeLimit);
  Units agenda(3);
  const Script until_stopped = [](const Task&, absl::FunctionRef<bool()> stop) {
    while (!stop()) std::this_thread::yield();
    return absl::CancelledError("stopped");
  };
  const DispatchOutcome outcome = Run(agenda, until_stopped, 2, options(absl::Milliseconds(1)));
  EXPECT_EQ(outcome.stopped_by.kind, StopCause::kTimeLimit);
  EXPECT_TRUE(outcome.device.ok());
  EXPECT_LT(agenda.taken.size(), 6u);
}

// A process that may die: what it is asked and how often it was started is kept.
class MortalWorker : public ScriptedWorker {
 public:
  explicit MortalWorker(const Script& script) : ScriptedWorker(script) {}
  TaskResult Do(Task task, absl::FunctionRef<bool()> stop) override {
    asked.push_back(std::get<UnitTask>(task.what).counted.unit);
    alone.push_back(task.alone);
    const bool opens = !gone;
    TaskResult result = ScriptedWorker::Do(std::move(task), stop);
    result.begun = opens;
    return result;
  }
  bool restarts() const override { return true; }
  void Restart() override { ++started; }
  bool Lives(const Task&, absl::FunctionRef<bool()>) override { return lives; }
  KillingInput last_asked() const override {
    std::vector<std::string> lines;
    for (int i = 0; i < 11; ++i) lines.push_back(std::to_string(i));
    return {.kind = KillingInput::kLines, .first = "0", .count = 11, .lines = lines};
  }
  bool Kills(const Task&, const KillingInput& input, absl::FunctionRef<bool()>) override {
    ++tried;
    return std::ranges::count(input.lines, killing) > 0;
  }

  std::vector<uint64_t> asked;
  std::vector<bool> alone;
  std::string killing = "7";  // line
  bool gone = false;          // it does not open
  bool lives = true;
  int started = 0, tried = 0;
};

class RetryTest : public DispatcherTest {
 protected:
  DispatchOutcome RunMortal(Agenda& agenda, int threads = 1) {
    workers_.clear();
    for (int t = 0; t < threads; ++t) {
      auto own = std::make_unique<MortalWorker>(script_);
      worker_ = own.get();
      worker_->lives = lives_;
      workers_.push_back(std::move(own));
    }
    DispatchOptions options;
    options.patience = absl::ZeroDuration();
    Console console(Color::kNever, true);
    return Dispatch(options, workers_, agenda, log_, console);
  }
  // The first `times` answers to unit 1 of the first row fail.
  void FailTimes(int times, absl::Status status) {
    script_ = [this, times, status](const Task& task, absl::FunctionRef<bool()>) {
      const bool fails = task.row == 0 && std::get<UnitTask>(task.what).counted.unit == 1;
      return fails && failed_++ < times ? status : absl::OkStatus();
    };
  }

  Script script_;
  int failed_ = 0;
  bool lives_ = true;
  MortalWorker* worker_ = nullptr;  // the last
  std::vector<std::unique_ptr<Worker>> workers_;
};

const absl::Status kOnceOrTwice[] = {absl::DataLossError("x"), absl::UnavailableError("x"),
                                     absl::DeadlineExceededError("x")};

TEST_F(RetryTest, WhatFailsOnceIsAskedAgainAloneInAFreshProcess) {
  for (const absl::Status& status : kOnceOrTwice) {
    Units agenda(3);
    std::string died_of;
    agenda.follow_ups = [&](const TaskResult& result) -> absl::StatusOr<std::vector<Task>> {
      if (NumberOf(result) == 1 && result.task.row == 0) died_of = result.died_of;
      return std::vector<Task>();
    };
    failed_ = 0;
    FailTimes(1, status);
    const DispatchOutcome outcome = RunMortal(agenda);
    EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1, 11, 2, 12)) << status;
    EXPECT_THAT(worker_->asked, ElementsAre(0, 0, 1, 1, 1, 2, 2));
    EXPECT_THAT(worker_->alone, ElementsAre(false, false, false, true, false, false, false));
    EXPECT_EQ(worker_->started, 1);
    EXPECT_EQ(died_of, status.message());
    EXPECT_THAT(outcome.drops, IsEmpty());
    EXPECT_FALSE(outcome.stopped_by);
  }
}

TEST_F(RetryTest, WhatFailsTwiceIsDroppedWithItsCauseAndItsInput) {
  const DropCause causes[] = {DropCause::kGarbled, DropCause::kCrashes, DropCause::kHangs};
  for (int i = 0; i < 3; ++i) {
    Units agenda(3);
    failed_ = 0;
    FailTimes(2, kOnceOrTwice[i]);
    const DispatchOutcome outcome = RunMortal(agenda);
    EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 1, 11, 12));
    ASSERT_THAT(outcome.drops, testing::SizeIs(1));
    const Drop& drop = outcome.drops[0];
    EXPECT_EQ(drop.cause, causes[i]);
    EXPECT_EQ(drop.op, &Op(0));
    EXPECT_EQ(drop.status, kOnceOrTwice[i]);
    EXPECT_FALSE(outcome.stopped_by);
    EXPECT_TRUE(outcome.device.ok());
    if (drop.cause == DropCause::kGarbled) {
      EXPECT_EQ(worker_->tried, 0);
      EXPECT_EQ(drop.input, KillingInput());
    } else if (drop.cause == DropCause::kHangs) {
      EXPECT_EQ(worker_->tried, 1);  // zeros
      EXPECT_EQ(Name(drop.input), "11 dot products, the first 0");
    } else {
      EXPECT_EQ(drop.input, (KillingInput{KillingInput::kLines, "7", 1, true, true}));
      EXPECT_EQ(Name(drop.input), "7");
    }
  }
}

TEST_F(RetryTest, ADeviceThatAnswersNothingAfterTheSecondTimeIsLost) {
  lives_ = false;
  for (const absl::Status& status : kOnceOrTwice) {
    Units agenda(3);
    failed_ = 0;
    FailTimes(2, status);
    const DispatchOutcome outcome = RunMortal(agenda);
    const bool garbled = absl::IsDataLoss(status);
    EXPECT_EQ(outcome.drops.size(), garbled ? 1 : 0);
    EXPECT_EQ(outcome.device, garbled ? absl::OkStatus() : status);
    EXPECT_EQ(outcome.stopped_by.kind, garbled ? StopCause::kNone : StopCause::kDeviceLost);
    EXPECT_EQ(worker_->tried, 0);
  }
}

TEST_F(RetryTest, OtherErrorsHaveNoSecondTime) {
  for (const absl::Status& status :
       {absl::NotFoundError("x"), absl::FailedPreconditionError("x"), absl::InternalError("x")}) {
    Units agenda(3);
    failed_ = 0;
    FailTimes(1, status);
    EXPECT_THAT(RunMortal(agenda).drops, testing::SizeIs(1));
    EXPECT_EQ(failed_, 1) << status;
    EXPECT_EQ(worker_->started, 0);
  }
}

// Three questions in one: the second dies, always.
TEST_F(RetryTest, SeveralQuestionsAreSplit) {
  class Split : public Units {
   public:
    Split() : Units(2) {}
    std::vector<Task> Again(const TaskResult& failed) override {
      EXPECT_TRUE(failed.asked_again);
      return {Unit(0, 21), Unit(0, 22), Unit(0, 23)};
    }
  };
  Split agenda;
  std::vector<uint64_t> died_once;
  agenda.follow_ups = [&](const TaskResult& result) -> absl::StatusOr<std::vector<Task>> {
    if (!result.died_of.empty()) died_once.push_back(NumberOf(result));
    return std::vector<Task>();
  };
  script_ = [](const Task& task, absl::FunctionRef<bool()>) {
    const uint64_t number = std::get<UnitTask>(task.what).counted.unit;
    const bool dies = task.row == 0 && (number == 1 || number == 22);
    return dies ? absl::UnavailableError("x") : absl::OkStatus();
  };
  const DispatchOutcome outcome = RunMortal(agenda);
  EXPECT_THAT(worker_->asked, ElementsAre(0, 0, 1, 21, 22, 22, 23, 1));
  EXPECT_THAT(agenda.taken, ElementsAre(0, 10, 21, 22, 23, 1, 11));
  EXPECT_THAT(died_once, ElementsAre(21, 23, 1));
  EXPECT_THAT(outcome.drops, testing::SizeIs(1));
}

TEST_F(RetryTest, ADeviceThatDoesNotOpenAgainIsGoneAndTheRowThatWasAskedIsNamed) {
  Units agenda(3);
  std::optional<Drop> drop;
  agenda.follow_ups = [&](const TaskResult& result) -> absl::StatusOr<std::vector<Task>> {
    drop = result.drop;
    return std::vector<Task>();
  };
  script_ = [this](const Task& task, absl::FunctionRef<bool()>) {
    if (worker_->gone) return absl::NotFoundError("no such device");
    worker_->gone = task.row == 1;
    return worker_->gone ? absl::UnavailableError("died") : absl::OkStatus();
  };
  const DispatchOutcome outcome = RunMortal(agenda);
  EXPECT_EQ(outcome.stopped_by.kind, StopCause::kDeviceLost);
  EXPECT_EQ(outcome.device, absl::UnavailableError("the device is lost: no such device"));
  EXPECT_THAT(worker_->asked, ElementsAre(0, 0, 0, 0, 0));  // open_tries
  ASSERT_TRUE(drop.has_value());
  EXPECT_EQ(drop->cause, DropCause::kDeviceGone);
  EXPECT_EQ(drop->op, &Op(1));
  EXPECT_THAT(outcome.drops, IsEmpty());  // once is not its fault
}

// The first row's second time lasts until the other row's result has filled the folder.
TEST_F(RetryTest, AStopDuringTheSecondTimeCondemnsNobody) {
  std::atomic<bool> second_time = false, stopped = false;
  absl::Status last;
  Units agenda(1);
  agenda.follow_ups = [&](const TaskResult& result) -> absl::StatusOr<std::vector<Task>> {
    EXPECT_FALSE(result.drop.has_value());
    if (result.task.row == 0) last = result.status;
    stopped = true;
    return std::vector<Task>();
  };
  const auto until = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
  };
  script_ = [&](const Task& task, absl::FunctionRef<bool()>) {
    if (task.row == 1) {
      until(second_time);
      log_.is_full = true;
      return absl::OkStatus();
    }
    second_time = task.alone;
    if (task.alone) until(stopped);
    return absl::UnavailableError("x");
  };
  const DispatchOutcome outcome = RunMortal(agenda, 2);
  EXPECT_EQ(outcome.stopped_by.kind, StopCause::kFolderFull);
  EXPECT_TRUE(absl::IsCancelled(last)) << last;
  EXPECT_THAT(outcome.drops, IsEmpty());
}

}  // namespace
}  // namespace mmadiff
