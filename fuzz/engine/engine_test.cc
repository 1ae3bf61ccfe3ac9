#include "fuzz/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/unit/devices.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

constexpr char kMma[] = "sm_80/mma.m16n8k8.f32.f16.f16.f32";  // 128 dot products

CaseStream Stream() { return {FindOperation(kMma), &Strategies().front(), 1}; }

// Answers as the model does, but the second time, and takes its time if asked.
class Changeable : public Device {
 public:
  std::string name() const override { return "changeable"; }
  Identity identity() const override { return Identity::Named("changeable"); }
  bool IsSlow() const override { return slow; }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    if (++runs == flips) d[0] ^= 1;
    return absl::OkStatus();
  }
  bool slow = false;
  int runs = 0, flips = 0;
};

TEST(HostEngine, RunsAndDigestsTheSameCases) {
  Changeable device;
  HostEngine engine(device);
  UnitResult unit;
  const auto none = [](const CaseName&, const Mismatch&) {
    ADD_FAILURE();
    return Next::kStop;
  };
  ASSERT_EQ(*engine.Run(Stream(), 10, 50, unit, none), 60u);
  EXPECT_EQ(unit.cases, 50u);
  EXPECT_EQ(unit.dot_products, 50u * 128);
  EXPECT_EQ(unit.device_digest, unit.model_digest);
  EXPECT_EQ(*engine.AnswerDigest(Stream(), 10, 50), unit.device_digest);
  EXPECT_NE(*engine.AnswerDigest(Stream(), 11, 50), unit.device_digest);
  device.flips = device.runs + 1;
  EXPECT_NE(*engine.AnswerDigest(Stream(), 10, 50), unit.device_digest);
}

TEST(HostEngine, AFailedInputCountsInAUnitAsInADigest) {
  Batch inputs;
  Generate(Stream(), 12, 1, inputs);
  for (const FailureKind kind : {FailureKind::kUnknownBits, FailureKind::kCrash}) {
    FailingDevice device({kind}, inputs.c[5]);
    HostEngine engine(device);
    UnitResult unit;
    const auto count = [](const CaseName&, const Mismatch& m) {
      EXPECT_TRUE(m.failure.has_value());
      return Next::kGoOn;
    };
    ASSERT_EQ(*engine.Run(Stream(), 10, 50, unit, count), 60u);
    EXPECT_GT(unit.mismatches, 0u);
    EXPECT_NE(unit.device_digest, unit.model_digest);
    EXPECT_EQ(*engine.AnswerDigest(Stream(), 10, 50), unit.device_digest);
    FailingDevice mended({kind}, ~uint64_t{0});
    EXPECT_EQ(*HostEngine(mended).AnswerDigest(Stream(), 10, 50), unit.model_digest);
  }
}

TEST(HostEngine, AOperationThatDoesNotRepeatFailsItsTry) {
  Changeable device;
  HostEngine engine(device);
  EXPECT_TRUE(engine.Try(Stream()).ok());
  device.flips = device.runs + 2;
  const absl::Status s = engine.Try(Stream());
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(std::string(s.message()), HasSubstr("has two answers"));
}

TEST(HostEngine, UnitsAreForTheirPurpose) {
  Changeable device;
  HostEngine engine(device);
  EXPECT_EQ(engine.UnitCases(Stream(), UnitOf::kRun), 2048u);
  EXPECT_EQ(engine.UnitCases(Stream(), UnitOf::kRecording), 2048u);
  EXPECT_GT(engine.UnitCases(Stream(), UnitOf::kEndlessRun), 2048u);
  device.slow = true;
  EXPECT_EQ(engine.UnitCases(Stream(), UnitOf::kRun), 32u);
  EXPECT_EQ(engine.UnitCases(Stream(), UnitOf::kEndlessRun), 32u);
  EXPECT_FALSE(engine.resident());
  EXPECT_EQ(engine.warning(), "");
}

TEST(OpenEngine, ErrorsAreThoseOfTheDevice) {
  EXPECT_TRUE(absl::IsInvalidArgument(OpenEngine("nonesuch").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(OpenEngine("cuda").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(OpenEngine("cuda:x").status()));
  EXPECT_EQ(OpenEngine("recorded:/none").status(), OpenDevice("recorded:/none").status());
  const EngineOr engine = OpenEngine("faulty:fraction_bits=24");
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ((*engine)->device().name(), "faulty:fraction_bits=24");
}

}  // namespace
}  // namespace mmadiff
