// Stage events: hand-made dot products, each with exactly the events that it must have, so that
// every event is seen where it happens and not seen beside where it happens.
#include "fuzz/unit/events.h"

#include <gmock/gmock.h>

#include "sim/operation.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kF24[] = "sm_75/mma.m16n8k8.f32.f16.f16.f32";  // 8 terms, 24 fraction bits
constexpr char kF25[] = "sm_90/mma.m16n8k8.f32.f16.f16.f32";  // 8 terms, 25 fraction bits
constexpr char kBf16F24[] = "sm_80/mma.m16n8k8.f32.bf16.bf16.f32";
constexpr char kTwoSteps[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32";  // 8 terms a step
constexpr char kHalfOutput[] = "sm_75/mma.m8n8k4.f16.f16.f16.f16";
constexpr char kMixed[] = "sm_75/mma.m8n8k4.f32.f16.f16.f16";
constexpr char kFma[] = "x86/vfmadd231ss";
constexpr char kInteger[] = "x86/vpdpbusds";

// Words of f16 and of f32.
constexpr uint64_t kHalfOne = 0x3c00, kHalfMinusOne = 0xbc00, kHalfTwo = 0x4000;
constexpr uint64_t kHalfInfinity = 0x7c00;
constexpr uint64_t kOne = 0x3f800000, kTwo = 0x40000000, kMinusOne = 0xbf800000;

uint64_t HalfPower(int exponent) { return static_cast<uint64_t>(exponent + 15) << 10; }
uint64_t BfloatPower(int exponent) { return static_cast<uint64_t>(exponent + 127) << 7; }
uint64_t Power(int exponent) { return static_cast<uint64_t>(exponent + 127) << 23; }

// Names of the events of one dot product; a and b are filled up with zeros,
// scales too.
std::vector<std::string> EventsOf(const Model& model, std::vector<uint64_t> a,
                                  std::vector<uint64_t> b, uint64_t c) {
  a.resize(model.k + model.scales());
  b.resize(model.k + model.scales());
  EventCounter counter;
  counter.Count(model, {a, b, c});
  std::map<std::string, uint64_t> counts;
  counter.AddTo(model, counts);
  std::vector<std::string> names;
  EXPECT_EQ(counts.at("event.sampled"), 1u);
  counts.erase("event.sampled");
  for (const auto& [name, count] : counts) {
    EXPECT_LE(count, 1u) << name;  // once a dot product, however many steps have it
    if (count != 0) names.push_back(name.substr(6));
  }
  return names;  // sorted
}

std::vector<std::string> EventsOf(const char* op_name, std::vector<uint64_t> a,
                                  std::vector<uint64_t> b, uint64_t c) {
  return EventsOf(FindOperation(op_name)->model, std::move(a), std::move(b), c);
}

TEST(Events, WhoSetsTheAlignmentExponent) {
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfOne}, 0), ElementsAre("aligned_by_product"));
  EXPECT_THAT(EventsOf(kF24, {kHalfTwo}, {kHalfOne}, kOne), ElementsAre("aligned_by_product"));
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfOne}, kTwo), ElementsAre("aligned_by_addend"));
  // A tie with a product counts for the addend.
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfOne}, kOne),
              ElementsAre("aligned_by_addend", "carry_out"));
  EXPECT_THAT(EventsOf(kF24, {0}, {0}, 0), ElementsAre("aligned_by_floor", "result_zero"));
  // 2^-140 lies below the floor, 2^-132.
  EXPECT_THAT(EventsOf(kBf16F24, {BfloatPower(-70)}, {BfloatPower(-70)}, 0),
              ElementsAre("aligned_by_floor", "result_subnormal"));
}

// A subnormal addend offers its format's least exponent, far above its leading one, or its own.
TEST(Events, SubnormalAddendsSetTheAlignmentExponent) {
  EXPECT_THAT(EventsOf(kF24, {0}, {0}, 1), ElementsAre("aligned_by_addend", "result_subnormal"));
  EXPECT_THAT(EventsOf(kHalfOutput, {HalfPower(-8)}, {HalfPower(-7)}, 1),
              ElementsAre("aligned_by_addend", "result_subnormal"));
  EXPECT_THAT(EventsOf(kHalfOutput, {HalfPower(-7)}, {HalfPower(-6)}, 1),
              ElementsAre("aligned_by_product", "inexact", "tie"));
  EXPECT_THAT(EventsOf(kMixed, {HalfPower(-8)}, {HalfPower(-7)}, 1),
              ElementsAre("aligned_by_addend"));
  Model widened = FindOperation(kMixed)->model;
  widened.algorithm.addend_exponent = AddendExponent::kOutputFormat;
  EXPECT_THAT(EventsOf(widened, {HalfPower(-8)}, {HalfPower(-7)}, 1),
              ElementsAre("aligned_by_product"));
  EXPECT_THAT(EventsOf(widened, {0}, {0}, 1), ElementsAre("aligned_by_addend"));
}

TEST(Events, BitsLostInAlignment) {
  EXPECT_THAT(EventsOf(kF24, {HalfPower(-14)}, {HalfPower(-11)}, kOne),  // 2^-25, least kept 2^-24
              ElementsAre("aligned_by_addend", "bits_lost"));
  EXPECT_THAT(EventsOf(kF25, {HalfPower(-14)}, {HalfPower(-12)}, kOne),
              ElementsAre("aligned_by_addend", "bits_lost"));
}

TEST(Events, CarryOut) {
  EXPECT_THAT(EventsOf(kF24, {kHalfOne, kHalfOne}, {kHalfOne, kHalfOne}, 0),
              ElementsAre("aligned_by_product", "carry_out"));
  EXPECT_THAT(EventsOf(kF24, {kHalfTwo, kHalfOne}, {kHalfOne, kHalfOne}, 0),
              ElementsAre("aligned_by_product"));
}

TEST(Events, FullCancellation) {
  EXPECT_THAT(EventsOf(kF24, {kHalfOne, kHalfMinusOne}, {kHalfOne, kHalfOne}, 0),
              ElementsAre("aligned_by_product", "full_cancellation", "result_zero"));
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfOne}, kMinusOne),
              ElementsAre("aligned_by_addend", "full_cancellation", "result_zero"));
  EXPECT_THAT(EventsOf(kF24, {kHalfTwo, kHalfMinusOne}, {kHalfOne, kHalfOne}, 0),
              ElementsAre("aligned_by_product"));
  // 2^-160 is cut to zero below the floor: nothing cancels.
  EXPECT_THAT(EventsOf(kBf16F24, {BfloatPower(-80)}, {BfloatPower(-80)}, 0),
              ElementsAre("aligned_by_floor", "bits_lost", "result_zero"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {kOne}, kMinusOne),
              ElementsAre("full_cancellation", "result_zero"));
  EXPECT_THAT(EventsOf(kFma, {0}, {kOne}, 0), ElementsAre("result_zero"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {kOne}, kOne), IsEmpty());
}

TEST(Events, WhatRoundingDrops) {
  // Of 1 + 2^-24: half an ulp; of 1 + 2^-25: less; of 1 + 2^-24 + 2^-25: more.
  EXPECT_THAT(EventsOf(kF24, {HalfPower(-12)}, {HalfPower(-12)}, kOne),
              ElementsAre("aligned_by_addend", "inexact", "tie"));
  EXPECT_THAT(EventsOf(kF25, {HalfPower(-12)}, {HalfPower(-13)}, kOne),
              ElementsAre("aligned_by_addend", "inexact", "sticky_only"));
  EXPECT_THAT(EventsOf(kF25, {0x0e00}, {HalfPower(-12)}, kOne),
              ElementsAre("aligned_by_addend", "inexact"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {Power(-24)}, kOne), ElementsAre("inexact", "tie"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {Power(-25)}, kOne), ElementsAre("inexact", "sticky_only"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {Power(-25) + 1}, kOne),
              ElementsAre("inexact", "sticky_only"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {Power(-24) + 1}, kOne), ElementsAre("inexact"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {Power(-23)}, kOne), IsEmpty());
}

// Far below the least subnormal everything is dropped: less than half an ulp, wherever it lies.
TEST(Events, DroppedFarBelowTheLeastSubnormal) {
  for (const int exponent : {-76, -80, -90, -100, -108, -109, -126}) {
    EXPECT_THAT(EventsOf(kFma, {Power(exponent)}, {Power(exponent)}, 0),
                ElementsAre("inexact", "result_zero", "sticky_only"))
        << exponent;
  }
  EXPECT_THAT(EventsOf(kFma, {Power(-75)}, {Power(-75)}, 0),  // half the least subnormal, to even
              ElementsAre("inexact", "result_zero", "tie"));
}

TEST(Events, KindsOfResults) {
  EXPECT_THAT(EventsOf(kFma, {1}, {kOne}, 0), ElementsAre("result_subnormal"));
  EXPECT_THAT(EventsOf(kFma, {Power(-126)}, {kOne}, 0), IsEmpty());
  EXPECT_THAT(EventsOf(kFma, {Power(127)}, {kTwo}, 0), ElementsAre("result_infinite"));
  EXPECT_THAT(EventsOf(kFma, {Power(126)}, {kTwo}, 0), IsEmpty());
  EXPECT_THAT(EventsOf(kBf16F24, {BfloatPower(127)}, {BfloatPower(1)}, 0),
              ElementsAre("aligned_by_product", "result_infinite"));
}

TEST(Events, Specials) {
  EXPECT_THAT(EventsOf(kF24, {kHalfInfinity}, {kHalfOne}, 0), ElementsAre("result_special"));
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfInfinity + 1}, kOne), ElementsAre("result_special"));
  EXPECT_THAT(EventsOf(kF24, {kHalfOne}, {kHalfOne}, 0xff800001), ElementsAre("result_special"));
  EXPECT_THAT(EventsOf(kFma, {kOne}, {kOne}, 0x7f800000), ElementsAre("result_special"));
}

TEST(Events, EveryStepIsWatched) {
  std::vector<uint64_t> a(16), b(16, kHalfOne);
  a[15] = kHalfOne;  // second step: the first gives zero, so the addend offers nothing
  EXPECT_THAT(EventsOf(kTwoSteps, a, b, 0),
              ElementsAre("aligned_by_floor", "aligned_by_product", "result_zero"));
  a[0] = kHalfTwo;  // first step 2, second step 2 + 1
  EXPECT_THAT(EventsOf(kTwoSteps, a, b, 0), ElementsAre("aligned_by_addend", "aligned_by_product"));
  a[15] = HalfPower(1) | 0x8000;  // the second step cancels the first
  EXPECT_THAT(EventsOf(kTwoSteps, a, b, 0), ElementsAre("aligned_by_addend", "aligned_by_product",
                                                        "full_cancellation", "result_zero"));
  a[1] = a[15];  // each step cancels within itself: counted once
  a[14] = kHalfTwo;
  EXPECT_THAT(EventsOf(kTwoSteps, a, b, 0),
              ElementsAre("aligned_by_product", "full_cancellation", "result_zero"));
}

// A first step that is flushed to zero leaves nothing that the second could cancel.
TEST(Events, StepsDoNotLeakIntoEachOther) {
  EXPECT_THAT(EventsOf("x86/vdpbf16ps", {0, BfloatPower(-70)}, {0, BfloatPower(-70)}, 0),
              ElementsAre("result_zero"));
}

TEST(Events, Integers) {
  EXPECT_THAT(EventsOf(kInteger, {1}, {1}, 0), IsEmpty());
  EXPECT_THAT(EventsOf(kInteger, {0}, {1}, 0), ElementsAre("result_zero"));
  EXPECT_THAT(EventsOf(kInteger, {1, 1}, {1, 0xff}, 0),
              ElementsAre("full_cancellation", "result_zero"));
  EXPECT_THAT(EventsOf(kInteger, {1}, {1}, 0xffffffff),
              ElementsAre("full_cancellation", "result_zero"));
  EXPECT_THAT(EventsOf(kInteger, {1}, {1}, 0x7ffffffe), IsEmpty());
  EXPECT_THAT(EventsOf(kInteger, {1}, {1}, 0x7fffffff), ElementsAre("integer_overflow"));
  EXPECT_THAT(EventsOf(kInteger, {1}, {0xff}, 0x80000001), IsEmpty());
  EXPECT_THAT(EventsOf(kInteger, {1}, {0xff}, 0x80000000), ElementsAre("integer_overflow"));
  EXPECT_THAT(EventsOf("x86/vpdpbusd", {1}, {1}, 0x7fffffff), ElementsAre("integer_overflow"));
}

// The counts of a family: every event that it can have, also those that never happened.
std::vector<std::string> CountedNames(const char* op) {
  std::map<std::string, uint64_t> counts;
  EventCounter().AddTo(FindOperation(op)->model, counts);
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(count, 0u) << name;
    names.push_back(name);
  }
  return names;
}

TEST(Events, EventsOfTheFamily) {
  EXPECT_EQ(CountedNames(kF24).size(), 14u);  // all but integer_overflow, and "sampled"
  EXPECT_THAT(CountedNames(kFma),
              ElementsAre("event.full_cancellation", "event.inexact", "event.result_infinite",
                          "event.result_special", "event.result_subnormal", "event.result_zero",
                          "event.sampled", "event.sticky_only", "event.tie"));
  EXPECT_THAT(CountedNames(kInteger),
              ElementsAre("event.full_cancellation", "event.integer_overflow", "event.result_zero",
                          "event.sampled"));
}

// Groups of products and the addend align to one exponent, scales included.
TEST(Events, ScaledSums) {
  const Model& m = FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x")->model;
  const auto events = [&m](int ones, uint64_t scale, uint64_t c) {
    std::vector<uint64_t> row(m.k + m.scales());
    for (int i = 0; i < ones; ++i) row[16 * i] = 2;            // 1.0, one in each group
    for (int s = 0; s < m.scales(); ++s) row[m.k + s] = 0x38;  // 1.0
    std::vector<uint64_t> scaled = row;
    scaled[m.k] = scale;
    return EventsOf(m, scaled, row, c);
  };
  EXPECT_THAT(events(1, 0x38, kTwo), ElementsAre("aligned_by_addend"));
  EXPECT_THAT(events(1, 0x48, kTwo), ElementsAre("aligned_by_product"));  // 4.0
  EXPECT_THAT(events(2, 0x38, 0), ElementsAre("aligned_by_product", "carry_out"));
}

// 1.0 + 2^-24 is a tie of f32, but only the sum with the addend is rounded.
TEST(Events, FirstSumOfTwoStagesIsNotRounded) {
  const char* op = "gfx942/v_mfma_f32_32x32x4_2b_f16";
  const std::vector<uint64_t> a = {kHalfOne, HalfPower(-12)};
  EXPECT_THAT(EventsOf(op, a, a, Power(-24)), IsEmpty());
  EXPECT_THAT(EventsOf(op, a, a, 0), ElementsAre("inexact", "tie"));
}

TEST(Events, CountsAddUp) {
  const Operation& op = *FindOperation(kFma);
  EventCounter counter;
  for (int i = 0; i < 5; ++i) counter.Count(op.model, {{kOne}, {kOne}, kMinusOne});
  for (int i = 0; i < 3; ++i) counter.Count(op.model, {{kOne}, {kOne}, kOne});
  std::map<std::string, uint64_t> counts = {{"event.sampled", 100}};
  counter.AddTo(op.model, counts);
  EXPECT_EQ(counts["event.sampled"], 108u);
  EXPECT_EQ(counts["event.full_cancellation"], 5u);
}

}  // namespace
}  // namespace mmadiff
