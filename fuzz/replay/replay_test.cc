// Stored answers and devices held against the model: what counts, what is reported, what is left
// out.
#include "fuzz/replay/replay.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/testing/folder.h"
#include "device/host.h"
#include "fuzz/record/record.h"
#include "sim/word.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kCase[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32@g3:1:0";

class ReplayTest : public TestFolder {
 protected:
  absl::StatusOr<ReplayOutcome> Replay(const ReplayOptions& options, Device* device) {
    reports_.clear();
    const auto report = [this](const ReplayReport& r) { reports_.push_back(r.text); };
    if (device == nullptr) return ReplaySubjects(options, nullptr, report, console_);
    HostEngine engine(*device);
    return ReplaySubjects(options, &engine, report, console_);
  }

  Console console_{Color::kNever, /*quiet=*/true};
  std::vector<std::string> reports_;
};

// A digest takes a power of two of calls, so that it does not repeat either.
class UnsteadyDevice : public ChangedDevice {
 public:
  UnsteadyDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    if (++calls_ % 3 == 0) d.front() ^= 1;
    return status;
  }

 private:
  int calls_ = 0;
};

TEST_F(ReplayTest, ADeviceThatIsTheModelAgrees) {
  ChangedDevice device("");
  const auto outcome = Replay({.subjects = {kCase}, .test_results = true}, &device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->compared, 128u);
  EXPECT_EQ(outcome->differing, 0u);
  EXPECT_THAT(reports_, IsEmpty());
  ASSERT_THAT(outcome->test_results, SizeIs(1));
  EXPECT_THAT(outcome->test_results.front().failure, IsEmpty());
}

TEST_F(ReplayTest, ATileIsNotPrintedInFull) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  RegressionCase c;
  c.op = &op;
  c.inputs = NeutralBatch(op.model, op.shape(), 1);
  c.answers = {{"wrong", "", "2026-11-29T00:00:00Z",
                std::vector<uint64_t>(c.inputs.dot_products(), 0x3f800000)}};
  const auto path = WriteCase(c, Path("tiles"));
  ASSERT_TRUE(path.ok()) << path.status();
  const auto outcome = Replay({.subjects = {*path}, .max_reports = 9}, nullptr);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_THAT(reports_, SizeIs(9));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(reports_[i], HasSubstr("MISMATCH"));
  EXPECT_EQ(reports_[3],
            "  and 125 more dot products of this case (--json --max_reports=128 lists all)\n");
  for (int i = 4; i < 9; ++i) EXPECT_THAT(reports_[i], IsEmpty());
}

TEST_F(ReplayTest, ReportsSomeMismatchesAndCountsAll) {
  ChangedDevice device("fraction_bits=24");
  const auto outcome = Replay({.subjects = {kCase, kCase}, .max_reports = 2}, &device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->compared, 256u);
  EXPECT_GT(outcome->differing, 2u);
  EXPECT_THAT(reports_, AllOf(SizeIs(2), Each(HasSubstr("MISMATCH"))));
  EXPECT_THAT(outcome->test_results, IsEmpty());
  ASSERT_THAT(outcome->tallies, SizeIs(1));
  EXPECT_EQ(outcome->tallies.begin()->second.compared, 256u);
  EXPECT_EQ(outcome->tallies.begin()->second.differing, outcome->differing);
}

TEST_F(ReplayTest, WhatDoesNotRepeatIsNoMismatch) {
  FlakyDevice device;
  const auto outcome = Replay({.subjects = {kCase}}, &device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->flaky, 128u);
  EXPECT_EQ(outcome->compared, 0u);
  EXPECT_THAT(reports_, AllOf(SizeIs(20), Each(HasSubstr("FLAKY"))));
}

TEST_F(ReplayTest, AFailingInputIsAMismatch) {
  const CaseName name = *ParseCaseName(kCase);
  Batch inputs;
  Generate(name.stream, name.index, 1, inputs);
  for (const FailureKind kind : {FailureKind::kUnknownBits, FailureKind::kHang}) {
    FailingDevice device({.kind = kind, .text = "its text"}, inputs.c[5]);
    reports_.clear();
    const auto outcome = Replay({.subjects = {kCase}, .test_results = true}, &device);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->compared, 128u);
    EXPECT_EQ(outcome->differing, 1u);
    EXPECT_THAT(outcome->dropped, IsEmpty());
    EXPECT_THAT(reports_, AllOf(SizeIs(1), Each(HasSubstr(": its text\n"))));
    EXPECT_THAT(outcome->test_results.front().failure, HasSubstr("its text"));
  }
}

// Fails on the first dot product every second time.
class HiccupDevice : public ChangedDevice {
 public:
  HiccupDevice() : ChangedDevice("") {}

 private:
  absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, answers.d);
    if (++calls_ % 2 == 1) answers.failures[0] = {FailureKind::kUnknownBits};
    return status;
  }
  int calls_ = 0;
};

TEST_F(ReplayTest, AFailureThatDoesNotRepeatIsFlaky) {
  HiccupDevice device;
  const auto outcome = Replay({.subjects = {kCase}}, &device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->differing, 0u);
  EXPECT_EQ(outcome->flaky, 1u);
  EXPECT_THAT(reports_, AllOf(SizeIs(1), Each(HasSubstr("unknown bits (x or z), then "))));
}

TEST_F(ReplayTest, AFailureOnAVectorIsAMismatch) {
  FailingDevice device({FailureKind::kHang}, 0);
  const auto outcome = Replay({.subjects = {"corpus/vectors"},
                               .instr = "sm_90/mma.m16n8k16.f32.f16.f16.f32",
                               .max_reports = 1000},
                              &device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GT(outcome->differing, 0u);
  EXPECT_THAT(outcome->dropped, IsEmpty());
  EXPECT_THAT(reports_, testing::Contains(
                            AllOf(HasSubstr("MISMATCH"), HasSubstr("device  the program hung\n"))));
}

TEST_F(ReplayTest, StoredAnswersNeedNoDevice) {
  const auto outcome = Replay({.subjects = {"corpus/regressions/x86"}}, nullptr);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GT(outcome->compared, 100u);
  EXPECT_EQ(outcome->differing, 0u);
  EXPECT_FALSE(outcome->damaged);
}

TEST_F(ReplayTest, ADamagedFileOfAFolderDoesNotHideTheOthers) {
  Put("bad.txtpb", "no case");
  const auto outcome = Replay({.subjects = {Path(""), "corpus/regressions/x86"}}, nullptr);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->damaged);
  EXPECT_GT(outcome->compared, 100u);
}

// When a device is asked, a recording folder's raw answers do not count, and its digests are compared
// with the device's.
TEST_F(ReplayTest, OnlyWhatTheDeviceAnswersCounts) {
  const Operation* op = FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  ChangedDevice model(""), before_repair("fraction_bits=24");
  HostEngine recorded(before_repair);
  const RecordOptions recorder = {.ops = {op},
                                  .cases = 3,
                                  .strategy = &Strategies().front(),
                                  .max_bytes = 1'000'000,
                                  .limit = TimeLimit::After(absl::ZeroDuration()),
                                  .regressions = ""};
  ASSERT_TRUE(RecordFolder(recorder, recorded, Path("rec"), console_).ok());
  const ReplayOptions options = {.subjects = {Path("rec")}};
  const auto stored = Replay(options, nullptr);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->units, 1u);
  EXPECT_GT(stored->differing, 0u);
  EXPECT_EQ(stored->differing_units, 1u);
  const auto repaired = Replay(options, &model);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->compared, stored->compared);
  EXPECT_EQ(repaired->units, 1u);
  EXPECT_EQ(repaired->differing + repaired->differing_units, 0u);
  EXPECT_EQ(repaired->unsupported_units, 0u);
  EXPECT_EQ(repaired->digests_answered, 1u);
  EXPECT_EQ(repaired->digests_as_recorded, 0u);
  const std::string changed = absl::StrCat("CHANGED DIGEST ", op->name, "@g3:1:0 to 2047\n");
  EXPECT_THAT(reports_, AllOf(SizeIs(1), Each(testing::StartsWith(changed))));
  const auto unrepaired = Replay(options, &before_repair);
  ASSERT_TRUE(unrepaired.ok()) << unrepaired.status();
  EXPECT_EQ(unrepaired->digests_answered, 1u);
  EXPECT_EQ(unrepaired->digests_as_recorded, 1u);
  EXPECT_THAT(reports_, Each(testing::Not(HasSubstr("CHANGED"))));
  UnsteadyDevice flaky;
  const auto changing = Replay(options, &flaky);
  ASSERT_TRUE(changing.ok()) << changing.status();
  EXPECT_EQ(changing->compared + changing->flaky, stored->compared);
  EXPECT_EQ(changing->units + changing->flaky_units, 1u);
  EXPECT_EQ(changing->flaky_units, 1u);
  EXPECT_EQ(changing->digests_answered, 0u);
  EXPECT_EQ(changing->ledger.tally(Thing::kUnit).asked, 1u);
  EXPECT_TRUE(changing->ledger.Balances());
  const auto host = OpenHost();
  ASSERT_TRUE(host.ok());
  const auto none = Replay(options, host->get());
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->answered(), 0u);
  EXPECT_GT(none->unsupported, 0);
  EXPECT_EQ(none->unsupported_units, 1u);
}

TEST_F(ReplayTest, UnitsAreTheSameWhateverTheThreads) {
  UnevenDevice device("fraction_bits=24");
  RecordOptions recorder = {.ops = {},
                            .cases = 3,
                            .strategy = &Strategies().front(),
                            .max_bytes = 4'000'000,
                            .limit = TimeLimit::After(absl::ZeroDuration()),
                            .regressions = ""};
  for (const char* arch : {"sm_90", "sm_100"}) {
    for (const char* shape : {"m16n8k16", "m16n8k8"}) {
      recorder.ops.push_back(FindOperation(absl::StrCat(arch, "/mma.", shape, ".f32.f16.f16.f32")));
      ASSERT_NE(recorder.ops.back(), nullptr);
    }
  }
  ChangedDevice other("fraction_bits=26");
  HostEngine recorded(other);
  ASSERT_TRUE(RecordFolder(recorder, recorded, Path("rec"), console_).ok());
  ReplayOptions options = {.subjects = {Path("rec")}, .test_results = true};
  options.open = [] {
    return std::make_unique<HostEngine>(std::make_unique<UnevenDevice>("fraction_bits=24"));
  };
  for (Device* const asked : {static_cast<Device*>(nullptr), static_cast<Device*>(&device)}) {
    options.threads = 1;
    const auto one = Replay(options, asked);
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ(one->units, 4u);
    EXPECT_EQ(one->differing_units, one->units);
    const std::vector<std::string> reports = reports_;
    for (options.threads = 2; options.threads <= 3; ++options.threads) {
      const auto many = Replay(options, asked);
      ASSERT_TRUE(many.ok()) << many.status();
      EXPECT_EQ(reports_, reports);
      EXPECT_EQ(many->units, one->units);
      EXPECT_EQ(many->answered(), one->answered());
      ASSERT_EQ(many->test_results.size(), one->test_results.size());
      for (size_t i = 0; i < one->test_results.size(); ++i) {
        EXPECT_EQ(many->test_results[i].name, one->test_results[i].name);
        EXPECT_EQ(many->test_results[i].failure, one->test_results[i].failure);
      }
    }
  }
  DyingDevice dying("", 0);
  options.threads = 3;
  EXPECT_TRUE(absl::IsUnavailable(Replay(options, &dying).status()));
}

TEST_F(ReplayTest, OnlyAnswersOfSelectedInstructionsCount) {
  const auto all = Replay({.subjects = {"corpus/regressions/x86"}}, nullptr);
  const auto one = Replay({.subjects = {"corpus/regressions/x86"}, .instr = "x86/vdp*"}, nullptr);
  ASSERT_TRUE(all.ok() && one.ok()) << one.status();
  EXPECT_GT(one->compared, 0u);
  EXPECT_LT(one->compared, all->compared);
  for (const Thing thing : {Thing::kCase, Thing::kFile}) {
    EXPECT_EQ(one->ledger.tally(thing).asked, all->ledger.tally(thing).asked);
    EXPECT_GT(one->ledger.tally(thing).left, 0u);
  }
  EXPECT_TRUE(one->ledger.Balances()) << one->ledger.Unbalanced();
  for (const char* subject : {"corpus/regressions/x86", kCase}) {
    const absl::Status none =
        Replay({.subjects = {subject}, .instr = "sm_80/mma.m16n8k8.f32.f16.f16.f32"}, nullptr)
            .status();
    EXPECT_TRUE(absl::IsInvalidArgument(none)) << subject << " " << none;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      Replay({.subjects = {"corpus/regressions/x86"}, .instr = "no/such"}, nullptr).status()));
}

TEST_F(ReplayTest, ALostDeviceAndAMissingFileAreErrors) {
  DyingDevice device("", 0);
  EXPECT_TRUE(absl::IsUnavailable(Replay({.subjects = {kCase}}, &device).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Replay({.subjects = {Path("missing")}}, nullptr).status()));
}

}  // namespace
}  // namespace mmadiff
