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
  int appended = 0, flushed = 0, fails_at = 0;
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

}  // namespace
}  // namespace mmadiff
