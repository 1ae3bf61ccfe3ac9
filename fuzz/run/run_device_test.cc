// Devices that lie, change, die or fail alone are reported for what they are.
#include "corpus/case_folder.h"
#include "device/status_macros.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(RunTest, AnswersThatDoNotRepeatAreFlaky) {
  for (const char* fault : {"lost_batch=7", "flaky_bit=20000"}) {
    RunOptions options = Options(fault);
    const RunReport outcome = Run(options, std::string("faulty:") + fault);
    ASSERT_FALSE(outcome.findings.empty()) << fault;
    for (const Finding& f : outcome.findings) {
      EXPECT_TRUE(f.flaky()) << fault << " " << Name(f.bucket);
      EXPECT_THAT(Name(f.bucket), StartsWith("flaky:"));
      EXPECT_EQ(f.state, FindingState::kFlaky);
      const auto filed =
          ReadCase(f.path);  // as it was seen, not shrunk, with the device's identity
      ASSERT_TRUE(filed.ok()) << filed.status();
      EXPECT_EQ(filed->inputs.shape, FindOperation(kMma)->shape());
      EXPECT_NE(filed->answers[0].d, filed->answers[1].d);
      EXPECT_THAT(filed->answers[0].identity, HasSubstr(fault));
    }
    size_t files = 1;  // the manifest
    for (const Finding& f : outcome.findings) files += 1 + f.beside.size();
    EXPECT_EQ(Files(options.workdir, ".txtpb").size(), files) << fault;
    EXPECT_TRUE(outcome.attempt->device.ok());
    // The operation is not said to be wrong.
    EXPECT_THAT(FormatReport(outcome),
                testing::Not(HasSubstr("the device differs from the model")));
    EXPECT_THAT(FormatReport(outcome), HasSubstr("answers do not repeat"));
  }
}

// Has `fault` always, and from its process's 40th answer on another bit.
class Aging : public Device {
 public:
  explicit Aging(const std::string& fault) : simulator_(*OpenDevice("faulty:" + fault)) {}
  std::string name() const override { return "aging"; }
  Identity identity() const override { return Identity::Named("aging"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  bool Restart() override {
    answered_ = 0;
    return true;
  }

 private:
  absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers) override {
    RETURN_IF_ERROR(simulator_->Run(op, batch, answers.d));
    answers.age = answered_;
    for (uint64_t& word : answers.d) word ^= uint64_t{++answered_ > 40} << 30;
    return absl::OkStatus();
  }

  std::unique_ptr<Device> simulator_;
  uint64_t answered_ = 0;
};

TEST_F(RunTest, AFaultOfAnOldProcessHidesNoOther) {
  for (const char* fault : {"none=0", "fraction_bits=22"}) {
    RunOptions options = Options(fault);
    options.cases = 300;
    options.max_mismatches = 0;
    const RunReport outcome =
        Run(options, [fault]() -> DeviceOr { return std::make_unique<Aging>(fault); });
    std::vector<std::string> names;
    for (const Finding& f : outcome.findings) names.push_back(Name(f.bucket));
    std::ranges::sort(names);
    const auto aged = testing::StartsWith("aged:");
    if (absl::StrContains(fault, "none")) {
      EXPECT_THAT(names, ElementsAre(aged));
      const auto filed = ReadCase(outcome.findings[0].path);
      ASSERT_TRUE(filed.ok()) << filed.status();
      EXPECT_EQ(filed->answers[0].age, 40u);
    } else {
      // What both faults change depends on the age of the process: it does not repeat.
      EXPECT_THAT(names, ElementsAre(aged, StartsWith("flaky:")));
    }
  }
}

// It answers a case in parts, with a mismatch in each.
class InParts : public Aging {
 public:
  InParts() : Aging("fraction_bits=22") {}
  bool IsSlow() const override { return true; }
  bool Restart() override { return false; }
};

TEST_F(RunTest, ACaseThatIsAskedInPartsIsOneCase) {
  RunOptions options = Options("w");
  options.cases = 40;
  options.max_mismatches = 0;
  const RunReport outcome = Run(options, [] { return DeviceOr(std::make_unique<InParts>()); });
  ASSERT_FALSE(outcome.findings.empty());
  uint64_t cases = 0;
  for (const Finding& f : outcome.findings) cases += f.cases;
  EXPECT_EQ(cases, outcome.rows[0].total.mismatching_cases.size());
}

TEST_F(RunTest, AnUnreadableAnswerWhileShrinkingIsTheDevicesFault) {
  // Right, then one wrong answer, then garbage while it is confirmed.
  class Garbage : public Device {
   public:
    std::string name() const override { return "garbage"; }
    Identity identity() const override { return Identity::Named("garbage"); }
    absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
    absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
      if (!Scripted::IsCanary(batch) && runs_++ > 0) return absl::DataLossError("cannot be read");
      d.assign(batch.dot_products(), 0x12345);
      return absl::OkStatus();
    }
    int runs_ = 0;
  };
  const RunReport outcome =
      Run(Options("w"), []() -> DeviceOr { return std::make_unique<Garbage>(); });
  EXPECT_TRUE(outcome.attempt->durable.ok()) << outcome.attempt->durable;
  EXPECT_TRUE(outcome.attempt->device.ok()) << outcome.attempt->device;
  EXPECT_EQ(outcome.rows[0].dropped, absl::DataLossError("cannot be read"));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_THAT(Name(outcome.findings[0].bucket), StartsWith("unconfirmed:"));
}

TEST_F(RunTest, AWrongNumberOfAnswersDropsTheOperation) {
  class Short : public Device {
   public:
    std::string name() const override { return "short"; }
    Identity identity() const override { return Identity::Named("short"); }
    absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
    absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
      d.resize(batch.dot_products() - 1);
      return absl::OkStatus();
    }
  };
  const RunReport outcome =
      Run(Options("w"), []() -> DeviceOr { return std::make_unique<Short>(); });
  EXPECT_EQ(outcome.rows[0].dropped.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(outcome.attempt->durable.ok());
  EXPECT_THAT(outcome.findings, IsEmpty());
}

TEST_F(RunTest, TheErrorLimitStopsAOperationButNotTheOthers) {
  class OneWrongOperation : public Scripted {
   public:
    OneWrongOperation() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      return op.name == kHopper ? wrong_->Run(op, batch, d) : Scripted::Execute(op, batch, d);
    }
    std::unique_ptr<Device> wrong_ = *OpenDevice("faulty:wrong_lane=100");
  };
  RunOptions options = Options("w", {kHopper, kInteger});
  options.max_mismatches = 7;
  const RunReport outcome =
      Run(options, []() -> DeviceOr { return std::make_unique<OneWrongOperation>(); });
  const RunReportRow &stopped = outcome.rows[0], &other = outcome.rows[1];
  EXPECT_EQ(stopped.mismatch_limit, 7u);
  EXPECT_FALSE(stopped.finished);
  EXPECT_THAT(stopped.total.mismatching_cases, SizeIs(7));
  EXPECT_LT(stopped.total.cases, 2048u);
  EXPECT_FALSE(other.stopped());
  EXPECT_TRUE(other.finished);
  uint64_t cases = 0;
  for (const Finding& f : outcome.findings) cases += f.cases;
  EXPECT_EQ(cases, 7u);
  EXPECT_EQ(outcome.digest, "");
}

// The answers of what is dropped, flaky or stopped.

TEST_F(RunTest, AOperationThatFailsAloneIsDropped) {
  class OneBadOperation : public Scripted {
   public:
    explicit OneBadOperation(absl::Status s)
        : Scripted([](int64_t) { return absl::OkStatus(); }), s_(s) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      return op.name == kHopper && ++runs_ > 3 ? s_ : Scripted::Execute(op, batch, d);
    }
    const absl::Status s_;
    int runs_ = 0;
  };
  for (const absl::Status& s :
       {absl::NotFoundError("no layout"), absl::DataLossError("not confirmed"),
        absl::InternalError("the self-test failed")}) {
    const RunOptions options = Options(std::string(s.message()), {kMma, kHopper, kInteger});
    const RunReport outcome =
        Run(options, [&s]() -> DeviceOr { return std::make_unique<OneBadOperation>(s); });
    EXPECT_TRUE(outcome.rows[0].finished && outcome.rows[2].finished);
    EXPECT_FALSE(outcome.rows[1].finished);
    EXPECT_EQ(outcome.rows[1].dropped, s);
    EXPECT_TRUE(outcome.attempt->device.ok());
    const std::string report = FormatReport(outcome) + FormatStats(outcome);
    EXPECT_THAT(report, HasSubstr("stat::dropped: 1\n"));
    EXPECT_THAT(report, HasSubstr(absl::StrCat("dropped:  ", kHopper, ": ", s.message())));
    EXPECT_THAT(report, testing::Not(HasSubstr("stat::digest")));
  }
}

// Lost answers are remembered: the next attempt is not clean either.
TEST_F(RunTest, LostAnswersAreRemembered) {
  const RunOptions options = Options("w");
  const auto lose = [](int64_t run) {
    return run == 2 ? absl::DataLossError("differed once\n") : absl::OkStatus();
  };
  EXPECT_FALSE(Run(options, Opener(lose)).rows[0].dropped.ok());
  const RunReport again = Run(options, Opener([](int64_t) { return absl::OkStatus(); }));
  EXPECT_TRUE(again.rows[0].finished);
  EXPECT_THAT(again.distrusted, ElementsAre(std::string(kMma) + ": differed once\\x0a"));
  EXPECT_THAT(FormatReport(again), HasSubstr("distrusted: " + std::string(kMma)));
}

// The canary of a run is asked alone, its unit in executions.
TEST_F(RunTest, ADeviceThatIsWrongOnlyInShortBatchesDoesNotPass) {
  class Short : public Scripted {
   public:
    Short() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(op, batch, d);
      for (uint64_t& word : d) word ^= batch.dot_products() <= kMaxCanaries ? 1 : 0;
      return s;
    }
  };
  const RunReport outcome =
      Run(Options("w", {kInteger}), []() -> DeviceOr { return std::make_unique<Short>(); });
  EXPECT_EQ(outcome.total.mismatches, 0u);
  ASSERT_THAT(outcome.damage, SizeIs(1));
  EXPECT_THAT(outcome.damage[0], HasSubstr("two answers to one input"));
}

TEST_F(RunTest, AnotherWrongWordEachTimeIsFlaky) {
  class Random : public Scripted {
   public:
    Random() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(op, batch, d);
      for (uint64_t& word : d) word = random_() & LowBits(op.model.d.bits);
      return s;
    }
    std::mt19937_64 random_;
  };
  const RunOptions options = Options("w");
  const RunReport outcome = Run(options, []() -> DeviceOr { return std::make_unique<Random>(); });
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) EXPECT_TRUE(f.flaky()) << Name(f.bucket);
}

// It answers five dot products, the last two wrong, and waits until it is asked to stop.
class Slow : public Scripted {
 public:
  Slow() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    absl::Status s = Scripted::Execute(op, batch, d);
    if (IsCanary(batch)) return s;
    if (s.ok()) d.resize(std::min<size_t>(d.size(), 5));
    for (size_t i = 3; i < d.size(); ++i) d[i] ^= wrong_;
    while (!StopRequested()) std::this_thread::yield();
    return absl::CancelledError("stopped");
  }
  uint64_t wrong_ = 0;
};

TEST_F(RunTest, AStopIsSeenInsideAUnitAndWhatWasAnsweredCounts) {
  const RunOptions options = Options("w");
  const RunReport outcome =
      RunLimited(options, []() -> DeviceOr { return std::make_unique<Slow>(); });
  EXPECT_EQ(outcome.attempt->stopped_by.kind, StopCause::kTimeLimit);
  EXPECT_TRUE(outcome.attempt->device.ok());
  EXPECT_EQ(outcome.attempt->dot_products, 5u);
  EXPECT_EQ(outcome.attempt->units, 0u);
  EXPECT_EQ(outcome.rows[0].total.mismatches, 0u);
  EXPECT_EQ(Run(options, Opener([](int64_t) { return absl::OkStatus(); })).attempt->resumed_units,
            0u);
}

TEST_F(RunTest, AMismatchThatCannotBeAskedAgainIsFiledAsSeen) {
  const RunReport outcome = RunLimited(Options("w"), []() -> DeviceOr {
    auto slow = std::make_unique<Slow>();
    slow->wrong_ = 1;
    return slow;
  });
  EXPECT_EQ(outcome.rows[0].total.mismatches, 2u);
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_THAT(Name(outcome.findings[0].bucket), StartsWith("unconfirmed:"));
  EXPECT_TRUE(ReadCase(outcome.findings[0].path).ok());
}

// What repeats is found behind a hiccup with the same signature.
TEST_F(RunTest, OneHiccupDoesNotHideWhatRepeats) {
  class Hiccup : public Scripted {
   public:
    Hiccup() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(op, batch, d);
      if (IsCanary(batch)) return s;
      const int run = ++runs_;
      for (uint64_t& word : d) word ^= run >= 2 && run <= 6 ? 0 : 4;
      return s;
    }
    int runs_ = 0;
  };
  RunOptions options = Options("w", {kInteger});
  options.cases = 100;
  options.max_mismatches = 0;
  const RunReport outcome = Run(options, []() -> DeviceOr { return std::make_unique<Hiccup>(); });
  EXPECT_TRUE(std::ranges::any_of(outcome.findings, [](const Finding& f) { return !f.flaky(); }));
}

}  // namespace
}  // namespace mmadiff
