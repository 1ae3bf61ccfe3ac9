// What a replay and a run make of filed findings, and the list of them.
#include "fuzz/folder/finding_life.h"

#include <gmock/gmock.h>

#include "corpus/case_folder.h"
#include "corpus/testing/folder.h"
#include "fuzz/folder/findings.h"
#include "fuzz/replay/replay.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using enum FindingState;

constexpr char kName[] = "x86/vfmadd231ss";

// 1 * 1 + 1, to which a device said `d`; the model of the time said `model`.
RegressionCase Filed(uint64_t d, uint64_t model = 0x40000000) {
  RegressionCase c;
  c.op = FindOperation(kName);
  c.inputs.Resize(c.op->shape(), 1);
  c.inputs.a = c.inputs.b = c.inputs.c = {0x3f800000};
  c.answers = {{"cuda:0", "", "", {d}}, {"model:1", "", "", {model}}};
  c.slug = "slug";
  c.bucket = ParseBucket(Family::kFusedSum, "bucket");
  return c;
}

RegressionCase In(FindingState state, const std::string& by, uint64_t d = 0x40000001) {
  RegressionCase c = Filed(d);
  c.state = state;
  c.moved_by = ParseMovedBy(by);
  return c;
}

class WrongDevice : public ChangedDevice {
 public:
  WrongDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    for (uint64_t& word : d) word ^= 1;
    return status;
  }
};

class LifeTest : public TestFolder {
 protected:
  std::string File(const RegressionCase& c) { return *WriteCase(c, Path("f"), true); }
  ReplayOutcome Replay(Device* device, bool update = true, const std::string& why = "") {
    const ReplayOptions options = {.subjects = {Path("f")}, .update = update, .why = why};
    const auto report = [](const ReplayReport&) {};
    std::optional<HostEngine> engine;
    if (device != nullptr) engine.emplace(*device);
    auto outcome = ReplaySubjects(options, engine ? &*engine : nullptr, report, console_);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_TRUE(outcome->durable.ok()) << outcome->durable;
    return *outcome;
  }
  FindingState State(const std::string& path) { return ReadCase(path)->state; }
  std::vector<FiledFinding> List() {
    std::vector<std::string> damaged;
    Ledger ledger;
    const auto findings = ListFindings({Path("f")}, damaged, ledger);
    EXPECT_TRUE(findings.ok()) << findings.status();
    EXPECT_THAT(damaged, IsEmpty());
    return *findings;
  }

  Console console_{Color::kNever, /*quiet=*/true};
};

TEST(FindingLife, TheModelThatGivesTheStoredAnswerFixes) {
  for (const FindingState state : {kOpen, kExplained, kFixed, kRegressed}) {
    EXPECT_EQ(NextState(In(state, "model:2"), Replayed::kEqual, ""), kFixed) << Name(state);
  }
  EXPECT_EQ(NextState(In(kOpen, ""), Replayed::kDiffers, ""), kOpen);
  EXPECT_EQ(NextState(In(kExplained, "cuda:0"), Replayed::kDiffers, ""), kExplained);
  EXPECT_EQ(NextState(In(kFixed, "model:2"), Replayed::kDiffers, ""), kRegressed);
}

TEST(FindingLife, StoredAnswersSayNothingOfWhatADeviceSaidSince) {
  EXPECT_EQ(NextState(In(kFixed, "cuda:0"), Replayed::kDiffers, ""), kFixed);
  EXPECT_EQ(NextState(In(kFixed, "cuda:0"), Replayed::kDiffers, "cuda:0"), kRegressed);
  EXPECT_EQ(NextState(In(kRegressed, "cuda:0"), Replayed::kEqual, ""), kRegressed);
  EXPECT_EQ(NextState(In(kRegressed, "run"), Replayed::kEqual, ""), kFixed);
  EXPECT_EQ(NextState(In(kOpen, "cuda:0"), Replayed::kEqual, ""), kFixed);
  EXPECT_EQ(NextState(In(kExplained, "cuda:0"), Replayed::kEqual, ""), kFixed);
}

TEST(FindingLife, WhatDoesNotRepeatIsFlakyUntilADeviceRepeatsIt) {
  RegressionCase flaky = Filed(0x40000001);
  flaky.bucket = ParseBucket(Family::kFusedSum, "flaky:bucket");
  EXPECT_EQ(StateOf(flaky), kFlaky);
  EXPECT_EQ(NextState(flaky, Replayed::kEqual, ""), kFlaky);
  EXPECT_EQ(NextState(flaky, Replayed::kDiffers, ""), kFlaky);
  EXPECT_EQ(NextState(flaky, Replayed::kEqual, "cuda:0"), kFlaky);
  EXPECT_EQ(NextState(flaky, Replayed::kDiffers, "cuda:0"), kOpen);
  flaky.state = kExplained;
  EXPECT_EQ(StateOf(flaky), kExplained);
  flaky.state = kOpen;
  flaky.moved_by = ParseMovedBy("cuda:0");
  EXPECT_EQ(StateOf(flaky), kOpen);
  EXPECT_EQ(NextState(In(kFixed, "cuda:0"), Replayed::kFlaky, "cuda:0"), kFlaky);
}

TEST(FindingLife, WhatAgreedWhenItWasFiledHasNoLife) {
  EXPECT_TRUE(IsFinding(Filed(0x40000001)));
  EXPECT_FALSE(IsFinding(Filed(0x40000000)));
  RegressionCase plain = Filed(0x40000001);
  plain.bucket = {};
  EXPECT_FALSE(IsFinding(plain));
  plain = Filed(0x40000001);
  plain.answers.pop_back();
  EXPECT_FALSE(IsFinding(plain));
  RegressionCase agreed = Filed(0x40000000);
  agreed.answers.push_back({"model:2", "", "", {0x40000001}});  // only a later model differs
  EXPECT_FALSE(IsFinding(agreed));
}

TEST_F(LifeTest, ReplaySaysWhatWouldMoveAndUpdateMovesIt) {
  const std::string path = File(Filed(0x40000000, 0x3f800000));  // today's model agrees
  const std::string before = Get(path);
  const ReplayOutcome would = Replay(nullptr, false);
  ASSERT_THAT(would.moves, SizeIs(1));
  EXPECT_EQ(MovesText(would.moves), "1 from open to fixed");
  EXPECT_EQ(Get(path), before);
  Replay(nullptr);
  EXPECT_EQ(State(path), kFixed);
  EXPECT_EQ(Name(ReadCase(path)->moved_by), "model:4");
  EXPECT_EQ(Get(path).substr(0, Get(path).find("instruction")),
            before.substr(0, before.find("instruction")));
  EXPECT_THAT(Replay(nullptr).moves, IsEmpty());
}

TEST_F(LifeTest, ADeviceFixesRegressesAndIsFlaky) {
  const std::string path = File(Filed(0x40000001));
  ChangedDevice repaired("");
  EXPECT_THAT(Replay(nullptr).moves, IsEmpty());
  Replay(&repaired);
  EXPECT_EQ(State(path), kFixed);
  EXPECT_EQ(Name(ReadCase(path)->moved_by), repaired.name());
  EXPECT_THAT(Replay(nullptr).moves, IsEmpty()) << "the stored answer is the one of before";
  WrongDevice broken;
  Replay(&broken);
  EXPECT_EQ(State(path), kRegressed);
  FlakyDevice flaky;
  Replay(&flaky);
  EXPECT_EQ(State(path), kFlaky);
}

TEST_F(LifeTest, AFailingInputIsFixedByAWordAndRegresses) {
  RegressionCase c = Filed(0);
  c.answers.erase(c.answers.begin());
  const InputFailure hang = {FailureKind::kHang};
  c.no_word = {"cuda:0", "", "", hang};
  c.bucket = Bucket::NoWord(hang);
  const std::string path = File(c);
  EXPECT_THAT(Replay(nullptr).moves, IsEmpty());
  ChangedDevice repaired("");
  Replay(&repaired);
  EXPECT_EQ(State(path), kFixed);
  EXPECT_THAT(Replay(nullptr).moves, IsEmpty()) << "the stored failure is the one of before";
  FailingDevice broken(hang, c.inputs.c[0]);
  Replay(&broken);
  EXPECT_EQ(State(path), kRegressed);
  EXPECT_EQ(List()[0].bucket, "hang");
}

TEST_F(LifeTest, WhySomebodyWroteExplainsWhatDiffers) {
  const std::string path = File(Filed(0x40000001));
  EXPECT_THAT(Replay(nullptr, true, "a known erratum").moves, SizeIs(1));
  EXPECT_EQ(State(path), kExplained);
  EXPECT_THAT(ReadCase(path)->why, HasSubstr("a known erratum"));
}

TEST_F(LifeTest, TheMostUrgentStateOfItsCasesIsThatOfAFinding) {
  RegressionCase fixed = In(kFixed, "model:2"), witness = Filed(0x40000000);
  fixed.why = "the device and the model differ";
  witness.inputs.a[0] = 0;
  const std::string path = File(fixed);
  File(witness);
  ASSERT_THAT(List(), SizeIs(1));
  EXPECT_EQ(List()[0].state, kFixed);
  EXPECT_EQ(List()[0].cases, 2u);
  EXPECT_EQ(List()[0].path, path);
  RegressionCase open = Filed(0x40000001);
  open.inputs.a[0] = 1;
  File(open);
  ASSERT_THAT(List(), SizeIs(1));
  EXPECT_EQ(List()[0].state, kOpen);
  EXPECT_EQ(List()[0].path, path) << "the minimal case";
}

// The states in the order of the list, most urgent first; names of buckets are in the other order.
TEST_F(LifeTest, TheMostUrgentFindingsComeFirst) {
  constexpr FindingState kOrder[] = {kRegressed, kOpen, kFlaky, kExplained, kFixed};
  char bucket = 'z';
  for (const FindingState state : kOrder) {
    RegressionCase c = In(state, "cuda:0");
    c.inputs.a[0] = c.inputs.a[0] + bucket;  // another case
    c.bucket = ParseBucket(Family::kFusedSum, std::string(1, bucket--));
    File(c);
  }
  std::vector<FindingState> listed;
  for (const FiledFinding& f : List()) listed.push_back(f.state);
  EXPECT_THAT(listed, testing::ElementsAreArray(kOrder));
  // In one bucket the most urgent of two neighbours counts.
  for (int i = 0; i + 1 < 5; ++i) {
    std::filesystem::remove_all(Path("f"));
    for (const FindingState state : {kOrder[i + 1], kOrder[i]}) {
      RegressionCase c = In(state, "cuda:0");
      c.inputs.a[0] += static_cast<uint64_t>(state);
      File(c);
    }
    ASSERT_THAT(List(), SizeIs(1));
    EXPECT_EQ(List()[0].state, kOrder[i]);
  }
}

TEST_F(LifeTest, WhatIsNoFindingIsNotListedAndDamageIsNamed) {
  RegressionCase witness = Filed(0x40000000), plain = Filed(0x40000001);
  plain.inputs.a[0] = 1;
  plain.bucket = {};
  File(witness);
  const std::string path = File(plain);
  EXPECT_THAT(List(), IsEmpty());
  Put("f/x86/cut.txtpb", Get(path).substr(0, 100));
  std::vector<std::string> damaged;
  Ledger ledger;
  const auto findings = ListFindings({Path("f")}, damaged, ledger);
  ASSERT_TRUE(findings.ok());
  EXPECT_THAT(*findings, IsEmpty());
  EXPECT_THAT(damaged, testing::ElementsAre(HasSubstr("cut.txtpb")));
}

TEST_F(LifeTest, ARunThatFindsAFixedOneAgainRegressesIt) {
  const Operation& op = *FindOperation(kName);
  RegressionCase c = Filed(0x40000001);
  const Mismatch m = {&op, c.inputs, 0, {0x40000001}, {0x40000000}};
  Finding finding;
  finding.device = c.answers.front().device;
  ASSERT_TRUE(
      FileCases({{m, ParseBucket(Family::kNone, "bucket"), "why"}}, "test", Path("f"), finding)
          .ok());
  EXPECT_EQ(State(finding.path), kOpen);
  RegressionCase stored = *ReadCase(finding.path);
  stored.state = kFixed;
  stored.moved_by = ParseMovedBy("model:2");
  ASSERT_TRUE(RewriteCase(finding.path, stored).ok());
  ASSERT_TRUE(
      FileCases({{m, ParseBucket(Family::kNone, "bucket"), "why"}}, "test", Path("f"), finding)
          .ok());
  EXPECT_EQ(State(finding.path), kRegressed);
}

}  // namespace
}  // namespace mmadiff
