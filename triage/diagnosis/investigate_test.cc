// Planted changes, from the first mismatch to what is kept of it: of one operation of each family
// and some neighbours. All are in investigate_long_test.cc.
#include <functional>
#include <thread>

#include "device/testing/operations.h"
#include "gmock/gmock.h"
#include "triage/testing/investigate_checks.h"
#include "triage/typical.h"

namespace mmadiff {
namespace {

TEST(Investigate, SomeOfEachFamily) {
  InvestigateFigures figures;
  for (const Operation* op : OperationsOfEachFamily(1)) {
    const std::vector<Batch> dots = CheckedDots(*op, 1), others = CheckedDots(*op, 77);
    const auto plant = [&](const std::vector<Neighbour>& neighbours, size_t every) {
      for (size_t i = 0; i < neighbours.size(); i += every) {
        CheckPlanted(*op, neighbours[i].algorithm, dots, others, figures);
      }
    };
    plant(Neighbours(op->model), op->model.algorithm.family == Family::kTree ? 12 : 3);
    plant(Misreadings(op->model, true), 12);
  }
  Print(figures);
  EXPECT_TRUE(figures.wrong.empty());
  EXPECT_TRUE(figures.unrefuted.empty());
  EXPECT_EQ(figures.undecided, 0);
}

// Every typical answer is that of a or b read as twice as large; the table of scales refutes it.
TEST(Investigate, SingleWordsRefuteAReading) {
  const Operation& op = *FindOperation("sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0");
  ChangedOperands device(op, [&](DotProductCase& dot) {
    for (size_t i = op.model.k; i < dot.b.size(); ++i) {
      dot.b[i] = dot.b[i] < 0xfe ? dot.b[i] + 1 : dot.b[i];
    }
  });
  Mismatch mismatch;
  ASSERT_TRUE(FirstMismatch(op, device, 1, mismatch));
  const auto i = Investigate(device, mismatch, {&op, &Strategies().front(), 1});
  ASSERT_TRUE(i.ok());
  EXPECT_EQ(i->bucket, Bucket::Unexplained(i->bucket.difference)) << i->diagnosis.Text();
}

// Whenever a stop comes: nothing is named or kept, and the device is hardly asked any more.
TEST(Investigate, AStopEndsIt) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm planted = op.model.algorithm;
  planted.fraction_bits -= 1;
  const Model changed = WithAlgorithm(op, planted);
  Mismatch mismatch;
  ASSERT_TRUE(FirstMismatch(op, changed, 1, mismatch));
  const CaseStream cases = {&op, &Strategies().front(), 1};
  ModelDevice whole(changed);
  ASSERT_TRUE(Investigate(whole, mismatch, cases).ok());
  for (int64_t after = 0; after < whole.executions; after += 1 + whole.executions / 20) {
    ModelDevice device(changed);
    device.StopWhen([&] { return device.executions >= after; });
    const auto i = Investigate(device, mismatch, cases);
    EXPECT_TRUE(absl::IsCancelled(i.status())) << after << ": " << i.status();
    EXPECT_LE(device.executions, after + 600) << after;
  }
}

// Which single changes no kept case refutes, though an answer of the investigation does.
std::vector<std::string> Unrefuted(const Operation& op, const Investigation& i) {
  std::vector<std::string> names;
  for (const Neighbour& n : SingleChanges(op.model)) {
    const Model rival = WithAlgorithm(op, n.algorithm);
    const auto kept = [&](const KeptCase& c) {
      const Mismatch& m = c.mismatch;
      return !Gives(op, rival, Extract(m.inputs, m.element), c.mismatch.device[m.element]);
    };
    if (std::ranges::none_of(i.cases, kept) && !Explains(op, rival, i.diagnosis.observed) &&
        (i.diagnosis.changes.empty() || Name(i.diagnosis.changes.front()) != Name(n))) {
      names.push_back(Name(n));
    }
  }
  return names;
}

// Has another bit in one answer of so many, in a way that no change gives.
class FlippedBit : public ModelDevice {
 public:
  FlippedBit(const Model& model, uint64_t every) : ModelDevice(model), every_(every) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ModelDevice::Execute(op, batch, d);
    for (uint64_t& word : d) word ^= word % every_ == 7 ? 2 : 0;
    return status;
  }

 private:
  const uint64_t every_;
};

// However little may be spent: what refutes a change is kept, made smaller or not.
TEST(Investigate, WithLittleBudgetTheEvidenceIsKept) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm planted = op.model.algorithm;
  planted.fraction_bits -= 1;
  const Model changed = WithAlgorithm(op, planted);
  // One operand never arrives, and the first answer takes so long that the device counts as slow.
  class Stuck : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    bool IsSlow() const override { return true; }
    absl::Status Execute(const Operation& r, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (executions == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      Batch cut = batch;
      for (size_t i = 15; i < cut.a.size(); i += 16) cut.a[i] = 0;
      return ModelDevice::Execute(r, cut, d);
    }
  };
  for (const int64_t most : {0, 30, 400, 5000}) {
    FlippedBit unexplained(changed, 1999);
    ModelDevice explained(changed);
    Stuck stuck(op.model);
    SwappedLanesDevice swapped;
    for (Device* device :
         std::initializer_list<Device*>{&unexplained, &explained, &stuck, &swapped}) {
      Mismatch mismatch;
      ASSERT_TRUE(FirstMismatch(op, *device, 1, mismatch));
      const auto i = Investigate(*device, mismatch, {&op, &Strategies().front(), 1}, {}, most);
      ASSERT_TRUE(i.ok()) << i.status();
      EXPECT_THAT(Unrefuted(op, *i), testing::IsEmpty()) << most;
      EXPECT_GE(i->ordinary, 0);
      EXPECT_LE(i->executions, 2 * (most == 0 ? kMaxExecutions : most) + 300);
    }
  }
}

// Shrinking has half of what is left; if that does not suffice, the case may be larger than possible.
TEST(Investigate, ACaseThatIsNotShrunkToItsEndIsSaid) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const int64_t most : {20000, 100000}) {
    NeighbourOperationDevice device;
    Mismatch mismatch;
    ASSERT_TRUE(FirstMismatch(op, device, 1, mismatch));
    const auto i = Investigate(device, mismatch, {&op, &Strategies().front(), 1}, {}, most);
    ASSERT_TRUE(i.ok()) << i.status();
    EXPECT_LT(i->executions, most);
    EXPECT_EQ(i->spent, most == 20000) << i->executions;
  }
}

// However the others differ, people see first what has the fewest operands.
TEST(Investigate, OfWholeTilesTheSmallestIsFirst) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32");
  std::mt19937_64 random(1);
  for (int n = 0; n < 4; ++n) {
    OtherAddendDevice device;
    Mismatch mismatch = {&op, RandomTile(op, op.shape(), random), 3};
    const auto i = Investigate(device, mismatch, {&op, &Strategies().front(), 1});
    ASSERT_TRUE(i.ok()) << i.status();
    ASSERT_FALSE(i->cases.empty());
    const Batch& first = i->cases.front().mismatch.inputs;
    const auto active = [](const std::vector<uint64_t>& words) {
      return std::ranges::count_if(words, [](uint64_t word) { return word != 0; });
    };
    EXPECT_EQ(active(first.a) + active(first.b) + active(first.c), 1) << i->cases.front().why;
  }
}

// A device that becomes another one while it is asked is not believed.
TEST(Investigate, ADeviceThatChangesIsFlaky) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm planted = op.model.algorithm;
  planted.fraction_bits -= 1;
  class Changing : public ModelDevice {
   public:
    Changing(const Model& model, int64_t after) : ModelDevice(model), after_(after) {}
    absl::Status Execute(const Operation& r, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status status = ModelDevice::Execute(r, batch, d);
      if (executions > after_) Simulate(r.model, batch, d);
      return status;
    }

   private:
    int64_t after_;
  };
  const Model changed = WithAlgorithm(op, planted);
  Mismatch mismatch;
  ASSERT_TRUE(FirstMismatch(op, changed, 1, mismatch));
  const CaseStream cases = {&op, &Strategies().front(), 1};
  ModelDevice whole(changed);
  ASSERT_TRUE(Investigate(whole, mismatch, cases).ok());
  for (int64_t after = 1; after < whole.executions - 1; after += 1 + whole.executions / 50) {
    Changing device(changed, after);
    const auto i = Investigate(device, mismatch, cases);
    ASSERT_TRUE(i.ok()) << i.status();
    const bool named = i->bucket.Repeats() && !i->diagnosis.changes.empty() &&
                       i->diagnosis.changes.front().algorithm == planted;
    EXPECT_FALSE(named) << after << ": " << i->Text();
  }
}

const KeptCase* TypicalOf(const Investigation& i) {
  const auto typical = std::ranges::find(i.cases, CaseRole::kTypical, &KeptCase::role);
  return typical == i.cases.end() ? nullptr : &*typical;
}

// A device that differs for chosen dot products alone.
class Sometimes : public ModelDevice {
 public:
  Sometimes(const Model& model, std::function<bool(const DotProductCase&)> differs)
      : ModelDevice(model), differs_(std::move(differs)) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ModelDevice::Execute(op, batch, d);
    for (size_t i = 0; i < d.size(); ++i) {
      const DotProductCase dot = Extract(batch, static_cast<int64_t>(i));
      if (!differs_(dot)) d[i] = Simulate(op.model, dot);
    }
    return status;
  }

 private:
  std::function<bool(const DotProductCase&)> differs_;
};

class TypicalTest : public testing::Test {
 protected:
  TypicalTest() {
    Algorithm planted = op_.model.algorithm;
    planted.fraction_bits -= 1;
    changed_ = WithAlgorithm(op_, planted);
    for (uint64_t i = 0; i < kTypicalDotProducts; ++i) {
      typical_.push_back(TypicalDotProduct(op_.model, i));
    }
  }
  bool IsTypical(const DotProductCase& dot) const { return std::ranges::count(typical_, dot) > 0; }
  Investigation Of(Device& device) {
    Mismatch mismatch;
    EXPECT_TRUE(FirstMismatch(op_, device, 1, mismatch));
    auto i = Investigate(device, mismatch, {&op_, &Strategies().front(), 1});
    EXPECT_TRUE(i.ok()) << i.status();
    return *std::move(i);
  }

  const Operation& op_ = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Model changed_;
  std::vector<DotProductCase> typical_;
};

TEST_F(TypicalTest, WhatTheExplanationSaysOfOrdinaryNumbersIsAsked) {
  ModelDevice device(changed_);
  const Investigation i = Of(device);
  const KeptCase* typical = TypicalOf(i);
  ASSERT_NE(typical, nullptr);
  const DotProductCase dot = Extract(typical->mismatch.inputs, 0);
  EXPECT_TRUE(IsTypical(dot));
  EXPECT_EQ(typical->mismatch.device[0], Simulate(changed_, dot));
  EXPECT_NE(typical->mismatch.device[0], Simulate(op_.model, dot));
  EXPECT_EQ(i.ordinary, 0);
}

TEST_F(TypicalTest, AnExplanationThatOrdinaryNumbersRefuteIsNone) {
  Sometimes device(changed_, [&](const DotProductCase& dot) { return !IsTypical(dot); });
  const Investigation i = Of(device);
  EXPECT_EQ(i.bucket.kind, Bucket::kUnexplained) << i.Text();
  for (const KeptCase& kept : i.cases) EXPECT_EQ(kept.bucket, i.bucket) << kept.why;
  EXPECT_EQ(TypicalOf(i), nullptr);
  EXPECT_EQ(i.ordinary, static_cast<int64_t>(kTypicalDotProducts));
}

TEST_F(TypicalTest, WithoutAnExplanationTheDeviceIsAsked) {
  FlippedBit device(op_.model, 61);
  const Investigation i = Of(device);
  EXPECT_EQ(i.bucket.kind, Bucket::kUnexplained);
  const KeptCase* typical = TypicalOf(i);
  ASSERT_NE(typical, nullptr);
  EXPECT_TRUE(IsTypical(Extract(typical->mismatch.inputs, 0)));
}

// A device that gives ordinary numbers rightly from the third time on.
TEST_F(TypicalTest, WhatDoesNotRepeatIsNoTypicalCase) {
  int asked = 0;
  Sometimes device(changed_,
                   [&](const DotProductCase& dot) { return !IsTypical(dot) || ++asked % 5 < 3; });
  const Investigation i = Of(device);
  EXPECT_EQ(TypicalOf(i), nullptr) << i.Text();
  EXPECT_FALSE(i.bucket.Repeats());
}

// Very small results differ alone.
TEST_F(TypicalTest, NoneIsSaidWhereOrdinaryNumbersAreEqual) {
  Algorithm planted = op_.model.algorithm;
  planted.output_subnormals = Subnormals::kFlush;
  ModelDevice device(WithAlgorithm(op_, planted));
  const Investigation i = Of(device);
  EXPECT_EQ(TypicalOf(i), nullptr);
  EXPECT_EQ(i.ordinary, static_cast<int64_t>(kTypicalDotProducts));
  EXPECT_THAT(i.Text(), testing::HasSubstr("none of 2000 dot products of ordinary numbers"));
}

// A changed model whose NaNs have bits of their own, which no rule gives.
class OddNans : public ModelDevice {
 public:
  using ModelDevice::ModelDevice;
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status s = ModelDevice::Execute(op, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      if (IsNan(op.model.d, d[i])) d[i] = 0x7fc00000 | (Extract(batch, i).a[0] & 0xfff);
    }
    return s;
  }
};

TEST(Investigate, AWrongNumberHasItsNameBesideOddNans) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm planted = op.model.algorithm;
  planted.fraction_bits -= 1;
  const Model changed = WithAlgorithm(op, planted);
  Mismatch mismatch;
  ASSERT_TRUE(FirstMismatch(op, changed, 1, mismatch));
  OddNans device(changed);
  ASSERT_TRUE(device.Execute(op, mismatch.inputs, mismatch.device).ok());
  const auto i = Investigate(device, mismatch, {&op, &Strategies().front(), 1});
  ASSERT_TRUE(i.ok()) << i.status();
  ASSERT_FALSE(i->diagnosis.changes.empty()) << i->Text();
  EXPECT_EQ(i->diagnosis.changes.front().algorithm, planted);
  EXPECT_THAT(i->Text(), testing::HasSubstr("except for the bits of"));
  EXPECT_EQ(Name(i->bucket), "aligned_term:fraction_bits=24");
}

// Far from the table's value: one case in hundreds distinguishes one of them from the next.
TEST(Investigate, AFloorAnywhere) {
  InvestigateFigures figures;
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_80/mma.m16n8k8.f32.bf16.bf16.f32"}) {
    const Operation& op = *FindOperation(name);
    const std::vector<Batch> dots = CheckedDots(op, 1), others = CheckedDots(op, 77);
    for (const int floor : {-100, -61, -60, -33, 7}) {
      Algorithm planted = op.model.algorithm;
      FindParameter(planted.family, "exponent_floor")->set(planted, floor);
      CheckPlanted(op, planted, dots, others, figures);
    }
  }
  EXPECT_EQ(figures.right, figures.planted);
  EXPECT_TRUE(figures.unrefuted.empty());
  EXPECT_TRUE(figures.rare.empty());
}

}  // namespace
}  // namespace mmadiff
