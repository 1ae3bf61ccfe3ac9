// What is explained of a case and of a folder, and what is filed of a case.
#include "fuzz/replay/explainer.h"

#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "corpus/case_folder.h"
#include "corpus/testing/folder.h"
#include "fuzz/folder/finding_text.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kCase[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32@g3:1:0";
constexpr char kBucket[] = "aligned_term:fraction_bits=24";

class ExplainerTest : public TestFolder {
 protected:
  // Files the finding of one case below the folder.
  Finding File(Device& device) {
    const auto subject = LoadSubject(kCase, &device);
    EXPECT_TRUE(subject.ok()) << subject.status();
    const auto minimized = MinimizeCase(*subject, device, 0, Path(""));
    EXPECT_TRUE(minimized.ok()) << minimized.status();
    return minimized->finding;
  }

  const Operation& op_ = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Console console_{Color::kNever, /*quiet=*/true};
};

TEST_F(ExplainerTest, ADeviceThatIsTheModelAgrees) {
  ChangedDevice device("");
  const auto e = ExplainCase(kCase, &device, console_);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_TRUE(e->agrees);
  EXPECT_EQ(Name(e->bucket), "");
  EXPECT_THAT(e->diagnosis.observed, SizeIs(128));
  EXPECT_THAT(e->diagnosis.changes, IsEmpty());
}

TEST_F(ExplainerTest, AFiledCaseIsExplainedWithItsFinding) {
  ChangedDevice device("fraction_bits=24");
  const Finding finding = File(device);
  EXPECT_EQ(Name(finding.bucket), kBucket);
  ASSERT_THAT(finding.beside, Not(IsEmpty()));
  const auto e = ExplainCase(finding.path, nullptr, console_);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_FALSE(e->agrees);
  EXPECT_TRUE(e->stored);
  EXPECT_EQ(Name(e->bucket), kBucket);
  EXPECT_GT(e->diagnosis.observed.size(), e->observed.size());
  ASSERT_THAT(e->of_answer.changes, Not(IsEmpty()));
  EXPECT_EQ(Name(e->of_answer.changes.front()), "fraction_bits=24");
  EXPECT_THAT(e->refuted, Not(IsEmpty()));
  EXPECT_FALSE(e->damaged);
  const auto folder = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  ASSERT_THAT(folder->groups, SizeIs(1));
  const ExplainedGroup& group = folder->groups.front();
  EXPECT_FALSE(group.agrees);
  ASSERT_THAT(group.buckets, SizeIs(1));
  EXPECT_EQ(Name(group.buckets.front().bucket), kBucket);
  EXPECT_FALSE(group.buckets.front().bucket.changes.empty());
  EXPECT_EQ(group.buckets.front().missed, 0);
}

class ReasoningDevice : public ChangedDevice {
 public:
  using ChangedDevice::ChangedDevice;
  absl::StatusOr<std::string> Reason(const Operation&, const Batch&, int64_t) override {
    return "FADD";
  }
};

TEST_F(ExplainerTest, TheReasonOfTheDeviceIsFiled) {
  ReasoningDevice device("fraction_bits=24");
  const Finding finding = File(device);
  EXPECT_EQ(finding.reason, "FADD");
  EXPECT_EQ(ShownName(finding.bucket, finding.reason), kBucket);
  const auto e = ExplainCase(finding.path, nullptr, console_);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(e->subject.reason, "FADD");
  const auto folder = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->groups.front().buckets.front().reason, "FADD");
}

// Its tile has a mismatch before it.
TEST_F(ExplainerTest, AFiledTileIsExplainedAtItsPosition) {
  SwappedLanesDevice device;
  Batch inputs = NeutralBatch(op_.model, op_.shape(), 1);
  inputs.c[3] = 0x3f800000;  // 1.0
  RegressionCase c;
  c.op = &op_;
  c.inputs = inputs;
  c.answers = {{device.name(), "", "2026-11-29T00:00:00Z", *device.Run(op_, inputs)}};
  c.bucket = Bucket::Unexplained();
  c.role = CaseRole::kMinimal;
  c.position = PositionOf(op_.shape(), 20);
  const auto at = [&](const char* folder) {
    const auto e = ExplainCase(*WriteCase(c, Path(folder)), nullptr, console_);
    EXPECT_TRUE(e.ok()) << e.status();
    return e.ok() ? e->element : -1;
  };
  EXPECT_EQ(at("one"), 20);
  c.position = PositionOf(op_.shape(), 5);  // it does not differ there
  EXPECT_EQ(at("other"), 3);
}

// No dot product alone shows the fault, and 1.0 as an addend is enough.
TEST_F(ExplainerTest, AFindingOfATileSaysWhatIsKnown) {
  class Reasoning : public OtherAddendDevice {
   public:
    absl::StatusOr<std::string> Reason(const Operation&, const Batch&, int64_t) override {
      return "FADD";
    }
  } reasoning;
  OtherAddendDevice silent;
  Batch inputs = NeutralBatch(op_.model, op_.shape(), 1);
  for (auto* array : {&inputs.a, &inputs.b}) std::ranges::fill(*array, 0x3c00);  // 1.0
  inputs.c[3] = 0x40000000;                                                      // 2.0
  for (Device* device : std::initializer_list<Device*>{&reasoning, &silent}) {
    Subject subject = *AskSubject(op_, inputs, *device);
    subject.name = kCase;
    const auto minimized = MinimizeCase(subject, *device, 0, Path(""));
    ASSERT_TRUE(minimized.ok()) << minimized.status();
    const std::string text = DescribeFinding(minimized->cases, minimized->finding, {});
    EXPECT_THAT(text, AllOf(HasSubstr("  smallest   found at block 0, row "), HasSubstr("  1.0\n"),
                            HasSubstr("  elsewhere  only at this row and column of the tile; all "
                                      "other operands are +0\n"),
                            Not(HasSubstr("minimal "))));
    const bool reason = device == &reasoning;
    EXPECT_EQ(text.find("  reason     FADD\n") < text.find("  first case "), reason) << text;
    EXPECT_EQ(absl::StrContains(text, "no change of one parameter"), !reason) << text;
    EXPECT_THAT(minimized->finding.diagnosis, HasSubstr("no change of one parameter"));  // JSON
  }
}

// What is stored are fewer answers than refuted every change.
TEST_F(ExplainerTest, WhatWasUnexplainedStaysSo) {
  ChangedDevice device("fraction_bits=24");
  RegressionCase c = *ReadCase(File(device).path);
  c.slug = "unexplained";
  c.bucket = Bucket::Unexplained();
  const std::string path = *WriteCase(c, Path("unexplained"));
  for (Device* asked : {static_cast<Device*>(nullptr), static_cast<Device*>(&device)}) {
    const auto e = ExplainCase(path, asked, console_);
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_EQ(Name(e->bucket), "unexplained");
    EXPECT_THAT(e->diagnosis.Text(), AllOf(StartsWith("when this was filed, no change "),
                                           HasSubstr("fraction_bits=24 reproduces the ")));
    EXPECT_THAT(e->refuted, Not(IsEmpty()));
    EXPECT_THAT(e->of_answer.changes, IsEmpty());
    EXPECT_TRUE(e->of_answer.refuted);
  }
  const auto folder = ExplainFolder(Path("unexplained"), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(folder->groups.front().diagnosis.refuted);
  c.answers[0].device = "another";
  const auto e = ExplainCase(*WriteCase(c, Path("another")), &device, console_);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(Name(e->bucket), kBucket);
}

// A device that is there is asked for the other cases of the finding too.
TEST_F(ExplainerTest, ADeviceIsAskedForAllOfTheFinding) {
  ChangedDevice device("fraction_bits=24");
  const Finding finding = File(device);
  const auto stored = ExplainCase(finding.path, nullptr, console_);
  const auto asked = ExplainCase(finding.path, &device, console_);
  ASSERT_TRUE(stored.ok() && asked.ok());
  EXPECT_FALSE(asked->stored);
  EXPECT_EQ(asked->diagnosis.observed.size(), stored->diagnosis.observed.size());
  EXPECT_EQ(Name(asked->bucket), kBucket);
}

TEST_F(ExplainerTest, ADamagedFileOfTheFindingIsSaid) {
  ChangedDevice device("fraction_bits=24");
  const Finding finding = File(device);
  ASSERT_THAT(finding.beside, Not(IsEmpty()));
  std::filesystem::resize_file(finding.beside.front(), 100);
  const auto e = ExplainCase(finding.path, nullptr, console_);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_TRUE(e->damaged);
  EXPECT_EQ(Name(e->bucket), kBucket);
  const auto folder = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(folder->damaged);
}

TEST_F(ExplainerTest, WhatDoesNotRepeatIsNoEvidence) {
  FlakyDevice device;
  const Finding finding = File(device);
  EXPECT_TRUE(finding.flaky());
  EXPECT_THAT(Name(finding.bucket), StartsWith("flaky:"));
  const auto folder = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  ASSERT_THAT(folder->groups, SizeIs(1));
  EXPECT_THAT(folder->groups.front().diagnosis.observed, IsEmpty());
  EXPECT_FALSE(folder->groups.front().agrees);
}

// The addend of one dot product of the case.
uint64_t SomeAddend() {
  const CaseName name = *ParseCaseName(kCase);
  Batch inputs;
  Generate(name.stream, name.index, 1, inputs);
  return inputs.c[5];
}

TEST_F(ExplainerTest, AFailingInputIsMinimizedFiledAndExplained) {
  FailingDevice device({.kind = FailureKind::kUnknownBits, .text = "xx"}, SomeAddend());
  const Finding finding = File(device);
  EXPECT_EQ(Name(finding.bucket), "unknown_bits");
  EXPECT_THAT(finding.diagnosis, IsEmpty());
  ASSERT_THAT(finding.beside, SizeIs(1));
  RegressionCase minimal = *ReadCase(finding.path);
  EXPECT_EQ(minimal.inputs.c, std::vector<uint64_t>{SomeAddend()});
  EXPECT_THAT(minimal.inputs.a, testing::Each(0u));
  ChangedDevice mended("");
  for (Device* asked : {static_cast<Device*>(nullptr), static_cast<Device*>(&device),
                        static_cast<Device*>(&mended)}) {
    const auto e = ExplainCase(finding.path, asked, console_);
    ASSERT_TRUE(e.ok()) << e.status();
    EXPECT_EQ(e->agrees, asked == &mended);
    EXPECT_EQ(e->subject.mismatch.failure.has_value(), asked != &mended);
    EXPECT_EQ(Name(e->bucket), asked == &mended ? "" : "unknown_bits");
    EXPECT_EQ(e->stored, asked == nullptr);
    EXPECT_EQ(e->dot(), Extract(minimal.inputs, 0));
  }
  minimal.no_word->failure.text = "small";
  ASSERT_TRUE(RewriteCase(finding.path, minimal).ok());
  const auto folder = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  ASSERT_THAT(folder->groups, SizeIs(1));
  EXPECT_FALSE(folder->groups.front().agrees);
  EXPECT_EQ(folder->groups.front().cases, 2u);
  ASSERT_THAT(folder->groups.front().buckets, SizeIs(1));
  const ExplainedBucket& bucket = folder->groups.front().buckets.front();
  EXPECT_EQ(Name(bucket.bucket), "unknown_bits");
  EXPECT_EQ(bucket.failed, 2u);
  EXPECT_EQ(bucket.answers, 0u);
  EXPECT_EQ(bucket.said, "unknown bits (x or z): small");
  // Other answers of the device are the model's.
  RegressionCase good = minimal;
  good.no_word.reset();
  good.bucket = {};
  good.inputs.c[0] ^= 1;
  const uint64_t d = Simulate(good.op->model, Extract(good.inputs, 0));
  good.answers = {{minimal.no_word->device, minimal.no_word->identity, "", {d}}};
  ASSERT_TRUE(WriteCase(good, Path("")).ok());
  const auto mixed = ExplainFolder(Path(""), console_);
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  ASSERT_THAT(mixed->groups, SizeIs(1));
  EXPECT_TRUE(mixed->groups.front().agrees);
  EXPECT_TRUE(mixed->groups.front().differs());
}

TEST_F(ExplainerTest, Errors) {
  EXPECT_TRUE(absl::IsInvalidArgument(ExplainCase(kCase, nullptr, console_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ExplainCase(Path("none"), nullptr, console_).status()));
  EXPECT_FALSE(ExplainFolder(Path("none"), console_).ok());
}

}  // namespace
}  // namespace mmadiff
