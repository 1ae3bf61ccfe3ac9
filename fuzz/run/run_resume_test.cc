// Nothing is lost by interruption and damage, and a folder belongs to one run.
#include "fuzz/folder/clean.h"
#include "fuzz/folder/merge.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(RunTest, AFolderBelongsToOneShard) {
  RunOptions options = Options("w");
  options.shards = 2;
  Run(options);
  const RunReport again = Run(options);
  EXPECT_EQ(again.attempt->resumed_units, 3u);
  EXPECT_EQ(again.attempt->dot_products, 0u);
  options.shard = 1;
  const absl::Status status = Try(options, [] { return OpenDevice("faulty:none=0"); }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("shard: stored 0, wanted 1"));
}

TEST_F(RunTest, AFinishedRunStartsAnewOnlyIfAsked) {
  RunOptions options = Options("w");
  const std::string digest = Run(options).digest;
  EXPECT_EQ(Run(options).attempt->resumed_units, 5u);
  options.anew = true;
  const RunReport anew = Run(options);
  EXPECT_EQ(anew.attempt->resumed_units, 0u);
  EXPECT_EQ(anew.digest, digest);
}

TEST_F(RunTest, AFolderThatIsTakenAwayDuringTheRunIsNotDurable) {
  for (const char* what : {"w", "w/manifest.txtpb"}) {
    const RunReport outcome = Run(Options("w"), Opener([&](int64_t run) {
                                    if (run == 40) std::filesystem::remove_all(Path(what));
                                    return absl::OkStatus();
                                  }));
    EXPECT_EQ(outcome.attempt->durable.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_THAT(std::string(outcome.attempt->durable.message()), HasSubstr(Path("w/")));
    std::filesystem::remove_all(Path("w"));
  }
}

// In its second unit it waits until it is asked to stop.
class SlowLater : public Scripted {
 public:
  SlowLater() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    answered_ += batch.count;
    while (answered_ > 2048 && !StopRequested()) std::this_thread::yield();
    return Scripted::Execute(op, batch, d);
  }

 private:
  int64_t answered_ = 0;  // cases
};

TEST_F(RunTest, ATimeLimitStopsAndTheSameOptionsResume) {
  const RunOptions options = Options("w");
  const RunReport stopped = RunLimited(
      options, []() -> DeviceOr { return std::make_unique<SlowLater>(); }, 2048 * 128);
  EXPECT_EQ(stopped.attempt->stopped_by.kind, StopCause::kTimeLimit);
  EXPECT_FALSE(stopped.rows[0].finished);
  EXPECT_EQ(stopped.digest, "");
  EXPECT_LT(stopped.rows[0].total.cases, 2u * 2048);
  EXPECT_FALSE(IsComplete(options.workdir));

  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  const RunReport resumed = Run(options, healthy);
  EXPECT_EQ(resumed.attempt->resumed_units, 1u);
  // Nothing is asked twice.
  EXPECT_EQ(resumed.attempt->dot_products, 9000u * 128 - stopped.total.dot_products);
  EXPECT_TRUE(resumed.rows[0].finished);
  EXPECT_EQ(resumed.digest, Run(Options("whole"), healthy).digest);
  EXPECT_EQ(resumed.rows[0].total.counts, Run(Options("other"), healthy).rows[0].total.counts);
  EXPECT_TRUE(IsComplete(options.workdir));
}

TEST_F(RunTest, ADeviceThatDiesLosesNothing) {
  const RunReport dead =
      Run(Options("w"), Opener([](int64_t run) {
            return run < 50 ? absl::OkStatus() : absl::UnavailableError("fell off the bus");
          }));
  EXPECT_EQ(dead.attempt->device.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(dead.attempt->device.message()), HasSubstr("fell off the bus"));
  EXPECT_TRUE(dead.attempt->durable.ok());
  EXPECT_THAT(dead.findings, IsEmpty());
  EXPECT_EQ(dead.rows[0].total.mismatches, 0u);
  EXPECT_FALSE(dead.rows[0].finished);
  // What was compared counts, but the digest covers only the unit that is done.
  EXPECT_EQ(dead.rows[0].total.dot_products, 49u * 64 * 128);
  const std::string manifest = Path("w/manifest.txtpb");
  const auto stored = ReadUnits(Path("w"), *ParseManifest(Get(manifest), manifest));
  EXPECT_TRUE(dead.rows[0].total.device_digest == stored->totals[0].device_digest);
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  const RunReport resumed = Run(Options("w"), healthy);
  EXPECT_EQ(resumed.attempt->resumed_units, 1u);  // 49 runs: 32 of the first unit, 17 of the second
  EXPECT_EQ(resumed.digest, Run(Options("whole"), healthy).digest);
}

// Else a cluster would begin it again for ever.
TEST_F(RunTest, AUnitInWhichTheDeviceFailsTwiceIsNotAskedAThirdTime) {
  const RunOptions options = Options("w");
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto at = Opener([attempt](int64_t run) {
      return attempt == 0 && run < 5 ? absl::OkStatus() : absl::UnavailableError("off the bus");
    });
    EXPECT_EQ(Run(options, at).attempt->device.code(), absl::StatusCode::kUnavailable) << attempt;
  }
  const RunReport third =
      Run(options, Opener([](int64_t) { return absl::InternalError("asked again"); }));
  EXPECT_TRUE(third.attempt->device.ok());
  EXPECT_EQ(third.attempt->dot_products, 0u);
  EXPECT_EQ(third.rows[0].dropped.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(third.total.dot_products, 4u * 64 * 128);
  EXPECT_THAT(DroppedLines(Stored("w")), SizeIs(1));
}

// Has a process of its own.
class Restartable : public Scripted {
 public:
  using Scripted::Scripted;
  bool Restart() override { return true; }
};

TEST_F(RunTest, WhatWasAnsweredBeforeAFailureCountsAndIsNotAskedAgain) {
  for (const bool recovers : {true, false}) {
    const std::string folder = recovers ? "recovers" : "stays";
    const auto open = [recovers]() -> DeviceOr {
      return std::make_unique<Restartable>([recovers](int64_t run) {
        const bool fails = recovers ? run == 9 : run >= 9;
        return fails ? absl::UnavailableError("fell off the bus") : absl::OkStatus();
      });
    };
    const RunReport outcome = Run(Options(folder), open);
    EXPECT_EQ(outcome.attempt->device.ok(), recovers);
    EXPECT_EQ(outcome.rows[0].finished, recovers);
    EXPECT_EQ(outcome.attempt->dot_products, recovers ? 9000u * 128 : 8u * 64 * 128);
    EXPECT_EQ(outcome.total.dot_products, outcome.attempt->dot_products);
    if (!recovers) continue;
    const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
    EXPECT_EQ(outcome.digest, Run(Options("whole"), healthy).digest);
  }
}

TEST_F(RunTest, AFailureInAnotherUnitIsNoSecondOne) {
  const auto after = [](int64_t runs) {
    return Opener([runs](int64_t run) {
      return run < runs ? absl::OkStatus() : absl::UnavailableError("fell off the bus");
    });
  };
  for (const int64_t runs : {5, 40, 40}) {  // each in a later unit
    EXPECT_EQ(Run(Options("w"), after(runs)).attempt->device.code(),
              absl::StatusCode::kUnavailable);
  }
  const RunReport whole = Run(Options("w"), after(1000));
  EXPECT_TRUE(whole.rows[0].finished);
  EXPECT_EQ(whole.digest, Run(Options("whole"), after(1000)).digest);
}

TEST_F(RunTest, DamageRunsOnlyThoseUnitsAgain) {
  // Two attempts: one unit, then the other four.
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  Run(Options("w"), Opener([](int64_t run) {
        return run < 50 ? absl::OkStatus() : absl::UnavailableError("dead");
      }));
  Run(Options("w"), healthy);
  const std::vector<std::string> logs = Files(Path("w"), ".log");
  ASSERT_THAT(logs, SizeIs(2));
  std::string bytes = Get(logs[1]);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(logs[1], std::ios::binary) << bytes;

  EXPECT_FALSE(IsComplete(Path("w")));
  const RunReport repaired = Run(Options("w"), healthy);
  ASSERT_THAT(repaired.attempt->warnings, SizeIs(1));
  EXPECT_THAT(repaired.attempt->warnings[0], HasSubstr(logs[1]));
  EXPECT_THAT(repaired.attempt->warnings[0], HasSubstr("run again"));
  // A block for each half a second: a slow machine has more of them, and loses fewer units.
  EXPECT_GE(repaired.attempt->resumed_units, 1u);
  EXPECT_LT(repaired.attempt->resumed_units, 5u);
  EXPECT_GT(repaired.attempt->dot_products, 0u);
  EXPECT_EQ(repaired.rows[0].total.cases, 9000u);
  EXPECT_EQ(repaired.digest, Run(Options("whole"), healthy).digest);
}

// Its identity cannot tell: a module that it imports, an environment, a core.
class Changed : public Scripted {
 public:
  explicit Changed(int64_t every)
      : Scripted([](int64_t) { return absl::OkStatus(); }), every_(every) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    absl::Status s = Scripted::Execute(op, batch, d);
    if (every_ > 0 && runs_++ % every_ == 0) d.back() ^= 1;
    return s;
  }

 private:
  const int64_t every_;
  int64_t runs_ = 0;
};

// A healthy device that passes for another.
class Named : public Scripted {
 public:
  Named(std::string name, Identity identity)
      : Scripted([](int64_t) { return absl::OkStatus(); }),
        name_(std::move(name)),
        identity_(std::move(identity)) {}
  std::string name() const override { return name_; }
  Identity identity() const override { return identity_; }

 private:
  const std::string name_;
  const Identity identity_;
};

TEST_F(RunTest, ADeviceThatHasChangedDoesNotGoOn) {
  const auto device = [](int64_t every) -> DeviceOpener {
    return [every]() -> DeviceOr { return std::make_unique<Changed>(every); };
  };
  Run(Options("w"), device(0));
  const RunReport same = Run(Options("w"), device(0));
  EXPECT_EQ(same.attempt->repeated, 64u);
  EXPECT_TRUE(same.rows[0].dropped.ok());
  const RunReport changed = Run(Options("w"), device(1));
  EXPECT_EQ(changed.rows[0].dropped.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(changed.rows[0].dropped.message()),
              HasSubstr("has changed: use a new folder"));
  EXPECT_EQ(changed.attempt->units, 0u);
  EXPECT_TRUE(absl::IsAborted(Stored("w").rows[0].dropped));
  const RunReport once = Run(Options("w"), device(1000));
  EXPECT_THAT(std::string(once.rows[0].dropped.message()), HasSubstr("does not repeat"));
  const RunReport again = Run(Options("w"), device(0));  // it is as it was
  EXPECT_EQ(again.digest, same.digest);
  EXPECT_TRUE(again.rows[0].dropped.ok());
  EXPECT_TRUE(Stored("w").rows[0].dropped.ok());
}

// What was filed is asked again first: a design is changed where it was wrong.
TEST_F(RunTest, ARepairedDeviceDoesNotGoOnWhereABrokenOneStopped) {
  const RunReport broken = Run(Options("w"), "faulty:fraction_bits=22");
  ASSERT_EQ(broken.rows[0].state, RunReportRow::kDiffers);
  const absl::StatusOr<RunManifest> manifest = ReadManifest(Path("w"));
  const RunReport repaired = Run(Options("w"), [&]() -> DeviceOr {
    return std::make_unique<Named>(manifest->device, manifest->device_identity);
  });
  EXPECT_TRUE(absl::IsAborted(repaired.rows[0].dropped));
  EXPECT_EQ(repaired.rows[0].state, RunReportRow::kDropped);
  EXPECT_EQ(repaired.attempt->dot_products, 0u);
  EXPECT_EQ(Stored("w").rows[0].state, RunReportRow::kDropped);
  const RunReport again = Run(Options("w"), "faulty:fraction_bits=22");
  EXPECT_EQ(again.rows[0].state, RunReportRow::kDiffers);
  EXPECT_EQ(Stored("w").rows[0].state, RunReportRow::kDiffers);
}

// Where the limit is reached with the last case of a unit nothing is left of it.
TEST_F(RunTest, AUnitWhoseLastCaseReachesTheLimitIsDone) {
  RunOptions options = Options("w");
  options.cases = 40;
  options.max_mismatches = 0;
  const RunReport all = Run(options, "faulty:fraction_bits=22");
  const std::vector<uint64_t>& differing = all.rows[0].total.mismatching_cases;
  ASSERT_GE(differing.size(), 2u);
  options.cases = differing.back() + 1;
  options.max_mismatches = differing.size();
  options.workdir = Path("limited");
  const RunReport limited = Run(options, "faulty:fraction_bits=22");
  EXPECT_TRUE(limited.rows[0].finished);
  EXPECT_EQ(Sentence(limited.rows[0]), "the device differs from the model");
  EXPECT_EQ(Stored("limited").units, 1u);
}

// Each of them may have been another device's.
TEST_F(RunTest, TheCanaryOfEachShardIsAskedAgain) {
  RunOptions options = Options("0");
  options.shards = 2;
  const auto device = [](int64_t every) -> DeviceOpener {
    return [every]() -> DeviceOr { return std::make_unique<Changed>(every); };
  };
  Run(options, device(0));
  options.shard = 1;
  options.workdir = Path("1");
  Run(options, device(1));
  bool not_durable;
  for (const auto& in : {std::vector{Path("0"), Path("1")}, std::vector{Path("1"), Path("0")}}) {
    const std::string out = "out" + in.front().substr(in.front().size() - 1);
    ASSERT_TRUE(MergeRuns(Path(out), in, not_durable).ok());
    EXPECT_TRUE(absl::IsAborted(Run(Options(out), device(0)).rows[0].dropped));
    EXPECT_TRUE(absl::IsAborted(Stored(out).rows[0].dropped));
  }
}

// Which attempt was the last is for the records to say, whatever is merged in which order.
TEST_F(RunTest, ADropIsMergedAndTakenBack) {
  RunOptions options = Options("0");
  options.shards = 2;
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  const auto dead = Opener([](int64_t) { return absl::InternalError("a trap"); });
  const auto merge = [&](const std::string& out) {
    bool not_durable;
    const auto merged = MergeRuns(Path(out), {Path("0")}, not_durable);
    EXPECT_TRUE(merged.ok()) << merged.status();
    EXPECT_EQ(merged->dropped.size(), Stored(out).rows[0].dropped.ok() ? 0u : 1u);
    return Stored(out).rows[0].dropped;
  };
  Run(options, dead);
  EXPECT_EQ(merge("out").message(), "a trap");
  EXPECT_EQ(merge("out").message(), "a trap");
  EXPECT_TRUE(Run(options, healthy).rows[0].finished);
  EXPECT_TRUE(merge("out").ok());
  EXPECT_TRUE(merge("out").ok());
  EXPECT_TRUE(merge("new").ok());
  for (int i = 0; i < 3; ++i) {  // within a second
    Run(options, [] { return std::make_unique<Changed>(1); });
    EXPECT_TRUE(absl::IsAborted(Stored("0").rows[0].dropped));
    EXPECT_TRUE(absl::IsAborted(merge("out")));
    Run(options, healthy);
    EXPECT_TRUE(merge("out").ok());
  }
}

// Where nothing is left to execute, too.
TEST_F(RunTest, AnAttemptThatEndsBeforeItAsksAgainSaysSo) {
  RunOptions options = Options("w");
  Run(options);
  EXPECT_EQ(Run(options).attempt->not_asked_again, 0u);
  options.limit = TimeLimit::After(absl::ZeroDuration());
  EXPECT_EQ(Run(options).attempt->not_asked_again, 1u);
}

// The first attempt did a part of a unit alone; its log is needed no more once another did it.
TEST_F(RunTest, TheCanaryOfAPartIsKept) {
  const auto device = [](int64_t every) -> DeviceOpener {
    return [every]() -> DeviceOr { return std::make_unique<Changed>(every); };
  };
  const auto stops = Opener(
      [](int64_t run) { return run < 9 ? absl::OkStatus() : absl::UnavailableError("dead"); });
  Run(Options("w"), stops);
  EXPECT_EQ(Run(Options("w"), device(0)).attempt->resumed_units, 0u);
  bool not_durable;
  ASSERT_TRUE(MergeRuns(Path("merged"), {Path("w")}, not_durable).ok());
  const auto cleaned = RemoveLeftovers(Path("w"), not_durable);
  ASSERT_TRUE(cleaned.ok()) << cleaned.status();
  EXPECT_THAT(cleaned->files, SizeIs(1));
  for (const char* folder : {"w", "merged"}) {
    const auto stored = ReadUnits(Path(folder), *ReadManifest(Path(folder)));
    ASSERT_THAT(stored->asked[0], SizeIs(1));
    EXPECT_FALSE(stored->asked[0][0].part);
    EXPECT_FALSE(stored->asked[0][0].canary.d.empty());
    EXPECT_TRUE(absl::IsAborted(Run(Options(folder), device(1)).rows[0].dropped));
  }
}

// Logs of programs that stored no canary: the quickest unit is executed again.
TEST_F(RunTest, AChangedDeviceIsNoticedInAFolderWithoutCanaries) {
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  Run(Options("w"), healthy);
  const std::vector<std::string> logs = Files(Path("w"), ".log");
  const std::string manifest = Path("w/manifest.txtpb");
  const RunManifest facts = *ParseManifest(Get(manifest), manifest);
  std::vector<UnitResult> units;
  ASSERT_TRUE(ReadUnits(Path("w"), facts, [&](const UnitResult& unit) {
                units.push_back(unit);
                units.back().canary = {};
              }).ok());
  std::filesystem::remove(logs.front());
  {
    const auto log = *UnitLog::Create(Path("w"), RunIdOf(facts));
    for (const UnitResult& unit : units) ASSERT_TRUE(log->Append(unit).ok());
    ASSERT_TRUE(log->Flush().ok());
  }
  EXPECT_GE(Run(Options("w"), healthy).attempt->repeated, 808u * 128);  // the last unit
  const RunReport changed =
      Run(Options("w"), []() -> DeviceOr { return std::make_unique<Changed>(1); });
  EXPECT_EQ(changed.rows[0].dropped.code(), absl::StatusCode::kAborted);
}

TEST_F(RunTest, AnotherRunsFolderIsRefusedWithTheDifference) {
  RunOptions options = Options("w");
  options.cases = 100;
  Run(options);
  const auto refused = [&](const RunOptions& other, const std::string& device) {
    const absl::Status status = Try(other, [&] { return OpenDevice(device); }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("belongs to a different run"));
    return std::string(status.message());
  };
  RunOptions other = options;
  other.seed = 2;
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("seed: stored 1, wanted 2"));
  other = options;
  other.strategy = FindStrategy("bits");
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("strategy: stored mixed, wanted bits"));
  other = options;
  other.cases = 101;
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("101 cases"));
  other = options;
  other.ops.push_back(FindOperation(kInteger));
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("instruction[1]: stored (none)"));
  EXPECT_THAT(refused(options, "faulty:dead=9"), HasSubstr("device: stored faulty:none=0"));
  // What may differ: threads, error limit, time limit.
  other = options;
  other.threads = 2;
  other.max_mismatches = 3;
  EXPECT_EQ(Run(other).attempt->resumed_units, 1u);
}

TEST_F(RunTest, AFolderWhoseContentsContradictThemselves) {
  RunOptions options = Options("w");
  options.cases = 100;
  Run(options);
  const auto open = [] { return OpenDevice("faulty:none=0"); };
  const std::string manifest = options.workdir + "/manifest.txtpb", good = Get(manifest);
  std::string changed = good;
  changed[good.find("seed: 1") + 6] = '2';
  std::ofstream(manifest) << changed;
  absl::Status status = Try(options, open).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("manifest.txtpb"));
  std::ofstream(manifest) << good;

  UnitResult other = Run(options).rows[0].total;
  other.device_digest += 1;
  other.mismatches = 1;
  {
    const auto log =
        UnitLog::Create(options.workdir, RunIdOf(*ParseManifest(good, "manifest.txtpb")));
    ASSERT_TRUE((*log)->Append(other).ok());
    ASSERT_TRUE((*log)->Flush().ok());
  }
  status = Try(options, open).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("two different answers"));
}

TEST_F(RunTest, FoldersThatCannotBeWritten) {
  const auto open = [] { return OpenDevice("faulty:none=0"); };
  RunOptions options = Options("w");
  Put("file", "");
  for (const std::string& folder : {Path("file"), Path("file/below"), std::string("/proc/none")}) {
    options.workdir = folder;
    EXPECT_EQ(Try(options, open).status().code(), absl::StatusCode::kDataLoss) << folder;
  }
}

// What a killed attempt leaves is its log: the GPU that answered in it is named all the same.
TEST_F(RunTest, TheHardwareOfAKilledAttemptIsThatOfItsUnits) {
  RunOptions options = Options("whole");
  Run(options);
  std::vector<UnitResult> units;
  const RunManifest manifest = *ReadManifest(options.workdir);
  const OnUnit each = [&](const UnitResult& unit) { units.push_back(unit); };
  ASSERT_TRUE(ReadUnits(options.workdir, manifest, each).ok());
  options = Options("killed");
  std::filesystem::create_directory(options.workdir);
  auto log = *UnitLog::Create(options.workdir, RunIdOf(manifest));
  const Hardware seven = {"GPU-7", "1", Hardware::kMultiprocessors, 14, 14};
  units[0].machine = units[1].machine = {"node2", seven};
  units[0].machine.hardware.answered = 3;
  units[1].ended = units[0].ended + 1;
  for (const size_t i : {1, 0}) ASSERT_TRUE(log->Append(units[i]).ok());
  ASSERT_TRUE(log->Flush().ok());
  Put("killed/hardware", "GPU-1 at PCI 2\nGPU-7 at PCI 1, old\n");  // of an older version
  const RunReport outcome = Run(options);
  EXPECT_EQ(outcome.attempt->resumed_units, 2u);
  EXPECT_THAT(outcome.attempt->hardware,
              testing::ElementsAre(seven, Hardware{"GPU-1", "2", Hardware::kNone, 0, 0}));
  EXPECT_THAT(Run(options).attempt->hardware, testing::SizeIs(2));
}

}  // namespace
}  // namespace mmadiff
