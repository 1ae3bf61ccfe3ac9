#include "triage/diagnosis/diagnosis.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "triage/testing/device.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kBf16[] = "sm_80/mma.m16n8k8.f32.bf16.bf16.f32";

// The operation's model with "NAME=VALUE" of its single changes.
Model With(const Operation& op, std::initializer_list<const char*> changes) {
  Model model = op.model;
  for (const std::string change : changes) {
    const auto parsed = ParseChanges(op.model.algorithm.family, change);
    EXPECT_TRUE(parsed.has_value()) << change;
    model.algorithm = WithChanges(model.algorithm, *parsed);
  }
  EXPECT_EQ(WhyInvalid(model), "");
  return model;
}

CaseStream Cases(const Operation& op) { return {&op, &Strategies().front(), 1}; }

// From nothing but what the device is asked.
Diagnosis DiagnosisOf(Device& device, const Operation& op) {
  Runner runner(device, op, 20000);
  const absl::StatusOr<Diagnosis> d = Diagnose(runner, {}, Cases(op));
  EXPECT_TRUE(d.ok()) << d.status();
  return d.ok() ? *d : Diagnosis{};
}

TEST(Diagnosis, SinglesOfAnyDistancePairsAndMore) {
  struct Case {
    const char* op;
    std::initializer_list<const char*> changes;
    const char* name;
  };
  const Case cases[] = {
      {kHopper, {"fraction_bits=24"}, "fraction_bits=24"},
      {kHopper, {"fraction_bits=20"}, "fraction_bits=20"},
      {kHopper, {"zero_term=raises"}, "zero_term=raises"},
      {kHopper, {"fraction_bits=23", "zero_term=raises"}, "fraction_bits=23 zero_term=raises"},
      {kBf16,
       {"output_subnormals=flush_positive", "addend_joins=last_add"},
       "addend_joins=last_add output_subnormals=flush_positive"},
      {kHopper,
       {"fraction_bits=23", "zero_term=raises", "output_rounding=nearest_even"},
       "fraction_bits=23 output_rounding=nearest_even zero_term=raises"},
  };
  for (const Case& c : cases) {
    const Operation& op = *FindOperation(c.op);
    ModelDevice device(With(op, c.changes));
    const Diagnosis d = DiagnosisOf(device, op);
    ASSERT_FALSE(d.changes.empty()) << c.name << ": " << d.Text();
    EXPECT_EQ(Name(d.changes.front()), c.name);
    EXPECT_THAT(Name(d.bucket(op)), HasSubstr(absl::StrCat(":", c.name)));
    EXPECT_THAT(d.Text(), HasSubstr(absl::StrCat(c.name, " reproduces all ")));
  }
}

TEST(Diagnosis, TheModelNeedsNoChange) {
  const Operation& op = *FindOperation(kHopper);
  ModelDevice device(op.model);
  const Diagnosis d = DiagnosisOf(device, op);
  EXPECT_THAT(d.changes, IsEmpty());
  EXPECT_EQ(d.missed, 0u);
  EXPECT_THAT(d.Text(), HasSubstr("the model reproduces all "));
}

TEST(Diagnosis, WhatNothingExplainsSaysWhatWasSearched) {
  const Operation& op = *FindOperation(kHopper);
  CountingDevice device;
  const Diagnosis d = DiagnosisOf(device, op);
  EXPECT_THAT(d.changes, IsEmpty());
  EXPECT_GT(d.missed, 0u);
  EXPECT_GT(d.singles, 100u);
  EXPECT_GT(d.pairs, 1000u);
  EXPECT_EQ(d.bucket(op), Bucket::Unexplained());
  EXPECT_THAT(d.Text(), HasSubstr("no change of one parameter (" + std::to_string(d.singles)));
}

// An answer that agrees with the model refutes what the mismatch alone suggests.
TEST(Diagnosis, AgreeingAnswersAreEvidence) {
  const Operation& op = *FindOperation(kHopper);
  const Model device = With(op, {"zero_term=raises"});
  DotProductCase mismatch{std::vector<uint64_t>(16), std::vector<uint64_t>(16), 0x24800000};
  DotProductCase agreeing = mismatch;
  agreeing.a[0] = agreeing.b[0] = 0x3c00;
  agreeing.c = 0xb3000000;  // 1 - 2^-25
  std::vector<Observed> observed = {{mismatch, Simulate(device, mismatch)}};
  const Diagnosis alone = FindChange(op, observed);
  observed.push_back({agreeing, Simulate(device, agreeing)});
  EXPECT_TRUE(Gives(op, op.model, agreeing, observed[1].d));
  const Diagnosis both = FindChange(op, observed);
  EXPECT_LT(both.changes.size(), alone.changes.size());
}

TEST(Diagnosis, ErrorsAndLimits) {
  const Operation& op = *FindOperation(kHopper);
  DyingDevice dying("fraction_bits=24", 1);
  Runner runner(dying, op, 20000);
  EXPECT_TRUE(absl::IsUnavailable(Diagnose(runner, {}, Cases(op)).status()));

  class Recording : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    absl::Status Execute(const Operation&, const Batch&, std::vector<uint64_t>&) override {
      return absl::NotFoundError("not recorded");
    }
  };
  Recording recording(op.model);
  Runner nothing(recording, op, 20000);
  const DotProductCase dot{std::vector<uint64_t>(16), std::vector<uint64_t>(16), 0x24800000};
  const auto d = Diagnose(nothing, {{dot, 0}}, Cases(op));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->observed.size(), 1u);
  EXPECT_FALSE(d->changes.empty());

  ModelDevice device(With(op, {"fraction_bits=20"}));
  Runner little(device, op, 10);
  const auto cut = Diagnose(little, {}, Cases(op));
  ASSERT_TRUE(cut.ok());
  EXPECT_THAT(cut->Text(),
              HasSubstr("not all cases that distinguish it from other changes could be run"));
  EXPECT_FALSE(little.HasBudget());
  EXPECT_LT(little.executions(), 1000);
}

}  // namespace
}  // namespace mmadiff
