// One digest per instruction of a run, finished or not, verified again in parts.
#include "fuzz/record/record_run.h"

#include "fuzz/engine/recompute.h"
#include "fuzz/testing/run_fixture.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordRunTest : public RunTest {
 protected:
  RecordedRun Record(const std::vector<std::string>& folders, const std::string& globs = "*") {
    auto recorded = RecordRun(folders, globs, Path("recording"), ledger_);
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    return recorded.ok() ? *std::move(recorded) : RecordedRun();
  }
  std::string Why(const std::vector<std::string>& folders, const std::string& globs = "*") {
    const absl::Status s = RecordRun(folders, globs, Path("recording"), ledger_).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_FALSE(std::filesystem::exists(Path("recording")));
    return std::string(s.message());
  }
  std::vector<RecomputedUnit> Verify(const RecomputeOptions& options = {.threads = 2}) {
    std::vector<RecomputedUnit> units;
    const auto add = [&](const RecomputedUnit& unit) {
      units.push_back(unit);
      return absl::OkStatus();
    };
    EXPECT_THAT(VerifyDigests(Path("recording"), options, add).value(), IsEmpty());
    return units;
  }
  void ExpectLeft(const std::vector<std::pair<Reason, const char*>>& expected) {
    std::vector<std::pair<Reason, std::string>> left;
    for (const LeftOutLine& line : ledger_.lines()) {
      for (const std::string& name : line.names) left.emplace_back(line.reason, name);
    }
    EXPECT_THAT(left, testing::ElementsAreArray(expected));
  }

  // The folders of a run of kMma in three shards with units 0 and 3, 1 and 4, 2. The device of shard
  // `lost` is lost after so many batches; a unit has 32.
  std::vector<std::string> Shards(const std::string& name, uint64_t lost, int64_t batches) {
    std::vector<std::string> folders;
    for (uint64_t shard = 0; shard < 3; ++shard) {
      RunOptions options = Options(absl::StrCat(name, shard));
      options.shard = shard;
      options.shards = 3;
      Run(options, Opener([=](int64_t run) {
            return shard == lost && run > batches ? absl::UnavailableError("lost")
                                                  : absl::OkStatus();
          }));
      folders.push_back(options.workdir);
    }
    return folders;
  }

  Ledger ledger_;
};

TEST_F(RecordRunTest, ShardsAreSummed) {
  std::vector<std::string> folders;
  for (uint64_t shard = 0; shard < 3; ++shard) {
    RunOptions options = Options(absl::StrCat("shard", shard), {kMma, kInteger});
    options.shard = shard;
    options.shards = 3;
    Run(options);
    folders.push_back(options.workdir);
  }
  EXPECT_THAT(Why({folders[0], folders[2]}), HasSubstr("shard 1 of 3 is missing"));
  const RecordedRun recorded = Record(folders);
  EXPECT_EQ(recorded.manifest.device, "faulty:none=0");
  const std::vector<RecomputedUnit> units = Verify();
  ASSERT_EQ(units.size(), 2u);
  for (const RecomputedUnit& unit : units) {
    EXPECT_EQ(unit.first, 0u);
    EXPECT_EQ(unit.cases, 9000u);
    EXPECT_EQ(unit.recorded, unit.model) << unit.stream.name();
  }
}

TEST_F(RecordRunTest, AnUnfinishedRunUpToTheFirstMissingUnit) {
  RunOptions options = Options("w");
  Run(options, Opener([](int64_t run) {
        return run > 70 ? absl::UnavailableError("lost") : absl::OkStatus();
      }));
  EXPECT_THAT(Record({options.workdir}).warnings,
              ElementsAre(absl::StrCat(
                  kMma, ": only its first 4096 cases are recorded: unit 2 is not finished")));
  ExpectLeft({});
  const std::vector<RecomputedUnit> units = Verify();
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].cases, 4096u);
  EXPECT_EQ(units[0].recorded, units[0].model);
}

TEST_F(RecordRunTest, AShardWithoutItsLastUnit) {
  EXPECT_THAT(Record(Shards("s", 1, 40)).warnings,
              ElementsAre(HasSubstr("first 8192 cases are recorded: unit 4 is not finished")));
  const std::vector<RecomputedUnit> units = Verify();
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].cases, 8192u);
  EXPECT_EQ(units[0].recorded, units[0].model);
}

TEST_F(RecordRunTest, WithoutTheFirstUnitNothingIsRecorded) {
  const RecordedRun recorded = Record(Shards("s", 0, 10));
  EXPECT_THAT(recorded.outcome.recorded, IsEmpty());
  EXPECT_THAT(recorded.warnings,
              ElementsAre(absl::StrCat(kMma, ": not recorded: unit 0 is not finished")));
  ExpectLeft({{Reason::kNotReached, kMma}});
  EXPECT_FALSE(std::filesystem::exists(Path("recording")));
}

// In its second unit.
TEST_F(RecordRunTest, AnInstructionThatWasStoppedOrDropped) {
  class WorseLater : public Scripted {
   public:
    explicit WorseLater(absl::Status s)
        : Scripted([](int64_t) { return absl::OkStatus(); }), s_(std::move(s)) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const bool later = !IsCanary(batch) && ++batches_[op.name] > 40;
      if (later && op.name == kHopper) return s_;
      const absl::Status s = Scripted::Execute(op, batch, d);
      if (later && op.name == kMma) d[0] ^= 1;
      return s;
    }

   private:
    const absl::Status s_;
    std::map<std::string, int> batches_;
  };
  const std::string only = "only its first 2048 cases are recorded: ";
  for (const absl::Status& s : {absl::NotFoundError("no layout"), absl::DataLossError("garbled")}) {
    const RunOptions options = Options(std::string(s.message()), {kMma, kHopper, kInteger});
    Run(options, [&s]() -> DeviceOr { return std::make_unique<WorseLater>(s); });
    const RecordedRun recorded = Record({options.workdir});
    const bool doubted = absl::IsDataLoss(s);
    EXPECT_THAT(
        recorded.warnings,
        ElementsAre(absl::StrCat(kMma, ": ", only, "stopped at 20 mismatching cases; ",
                                 "with --max_mismatches=0 a run continues"),
                    absl::StrCat(kHopper, ": ", doubted ? "not recorded: " : only, s.message())));
    EXPECT_EQ(recorded.outcome.recorded.size(), doubted ? 2u : 3u);
    for (const RecomputedUnit& unit : Verify()) {
      EXPECT_EQ(unit.cases, unit.stream.op->name == kInteger ? 9000u : 2048u);
      EXPECT_EQ(unit.recorded, unit.model) << unit.stream.name();
    }
    std::filesystem::remove_all(Path("recording"));
  }
  ExpectLeft({{Reason::kDropped, kHopper}});
}

// More dot products than one unit of digests has.
TEST_F(RecordRunTest, ALongDigestIsVerifiedInParts) {
  RunOptions options = Options("w", {kMma, kInteger});
  options.cases = 140'000;
  options.max_mismatches = 0;
  Run(options, "faulty:fraction_bits=20");  // not a parameter of kInteger
  EXPECT_THAT(Record({options.workdir}).outcome.recorded, ElementsAre(FindOperation(kMma)));
  ExpectLeft({{Reason::kDropped, kInteger}});
  const std::vector<RecomputedUnit> whole = Verify();
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].cases, 140'000u);
  EXPECT_NE(whole[0].recorded, whole[0].model);
  EXPECT_FALSE(whole[0].nans_only);
  const auto device = OpenDevice("faulty:fraction_bits=20").value();
  RecomputeOptions asks;
  asks.also = [&](RecomputedUnit& unit, int) {
    unit.answers = {AnswerDigest(unit.stream, unit.first, unit.cases, device.get())};
  };
  uint64_t next = 0;
  Digest model = 0, answers = 0;
  for (const RecomputedUnit& part : Verify(asks)) {
    EXPECT_EQ(part.first, next);
    next += part.cases;
    EXPECT_EQ(part.recorded, std::nullopt);
    EXPECT_NE(*part.model, *part.answers.front());
    ASSERT_EQ(part.answered.has_value(), next == 140'000);
    if (part.answered.has_value()) {
      EXPECT_EQ(part.answered->first, 0u);
      EXPECT_EQ(part.answered->cases, 140'000u);
      EXPECT_EQ(part.answered->recorded, part.answered->now);
    }
    model += *part.model;
    answers += *part.answers.front();
  }
  EXPECT_EQ(next, 140'000u);
  EXPECT_EQ(model, whole[0].model);
  EXPECT_EQ(answers, whole[0].recorded);
}

// As recorded before the tables promised the NaN of the operation.
TEST_F(RecordRunTest, ALongDigestOfAnyNan) {
  const CaseStream stream = {FindOperation(kMma), &Strategies().front()};
  Numerics numerics = *stream.op->numerics;
  ASSERT_NE(numerics.nan_verdict, NanVerdict::kAnyNan);
  numerics.nan_verdict = NanVerdict::kAnyNan;
  Operation op = *stream.op;
  op.numerics = &numerics;
  CaseStream any_nan = stream;
  any_nan.op = &op;
  const auto device = OpenDevice("faulty:none=0").value();
  for (const Digest wrong : {0, 1}) {
    const Digest digest = *AnswerDigest(any_nan, 0, 140'000, nullptr) + wrong;
    Recomputation units;
    ASSERT_TRUE(units.Add({stream.op, stream.name(), 0, 140'000, {digest}, "x"}, "x").ok());
    int delivered = 0;
    const absl::Status s = units.Run({.threads = 2}, [&](const RecomputedUnit& unit) {
      ++delivered;
      EXPECT_EQ(unit.nans_only, wrong == 0);
      return absl::OkStatus();
    });
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(delivered, 1);
    RecomputeOptions asks;
    asks.also = [&](RecomputedUnit& unit, int) {
      unit.answers = {AnswerDigest(unit.stream, unit.first, unit.cases, device.get())};
    };
    const absl::Status asked = units.Run(asks, [&](const RecomputedUnit& unit) {
      if (!unit.answered.has_value()) return absl::OkStatus();
      ++delivered;
      EXPECT_EQ(unit.answered->recorded == unit.answered->now, wrong == 0);
      return absl::OkStatus();
    });
    EXPECT_TRUE(asked.ok()) << asked;
    EXPECT_EQ(delivered, 2);
  }
}

TEST_F(RecordRunTest, NothingIsWrittenWithoutADigest) {
  const RunOptions options = Options("w", {kMma, kInteger});
  Run(options, "faulty:fraction_bits=20");
  const RecordedRun recorded = Record({options.workdir});
  EXPECT_THAT(recorded.outcome.recorded, IsEmpty());
  EXPECT_THAT(recorded.warnings, testing::SizeIs(2));
  EXPECT_FALSE(std::filesystem::exists(Path("recording")));
  ExpectLeft({{Reason::kDropped, kInteger}, {Reason::kMismatchLimit, kMma}});
}

TEST_F(RecordRunTest, SaysWhatIsWrong) {
  const RunOptions options = Options("w"), other = Options("other", {kInteger});
  Run(options);
  Run(other);
  EXPECT_EQ(Why({options.workdir, other.workdir}),
            other.workdir + ": another run than " + options.workdir);
  EXPECT_EQ(Why({options.workdir}, "x86/* sm_90/*"), "the run has no x86/* sm_90/*");
  EXPECT_THAT(Why({Path("none")}), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace mmadiff
