#include "device/faulty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/operations.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

constexpr char kVdpbf16ps[] = "x86/vdpbf16ps";
constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

std::vector<uint64_t> Simulated(const Model& model, const Batch& batch) {
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(model, batch, d);
  return d;
}

std::unique_ptr<Device> Open(absl::string_view name_value) {
  DeviceOr device = OpenFaulty(name_value);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

std::string Error(absl::string_view name_value) {
  const DeviceOr device = OpenFaulty(name_value);
  EXPECT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument) << name_value;
  return std::string(device.status().message());
}

TEST(Faulty, UnknownNamesGetTheNearestAndTheList) {
  EXPECT_THAT(Error("fraction_bit=24"), AllOf(HasSubstr("nearest: fraction_bits; all: "),
                                              HasSubstr("zero_sign"), HasSubstr("lost_batch")));
  EXPECT_THAT(Error("flaky=2"), HasSubstr("nearest: flaky_bit"));
  EXPECT_THAT(Error("xyzzy=2"), HasSubstr("no such fault; all: "));
  EXPECT_THAT(Error(""), HasSubstr("no such fault"));
  EXPECT_THAT(Error("=3"), HasSubstr("no such fault"));
}

TEST(Faulty, BadValuesGetThoseAllowed) {
  EXPECT_THAT(Error("output_rounding=stochastic"),
              HasSubstr("'stochastic' is not a value of output_rounding; allowed: nearest_even, "
                        "toward_zero, down, up, to_odd"));
  EXPECT_THAT(Error("fraction_bits=38"), HasSubstr("allowed: a number 1..37"));
  EXPECT_THAT(Error("fraction_bits"), HasSubstr("allowed: a number 1..37"));
  EXPECT_THAT(Error("exponent_floor=400"), HasSubstr("allowed: none, or a number -9999..300"));
  EXPECT_THAT(Error("lost_batch=0"), HasSubstr("allowed: a number 1.."));
  EXPECT_THAT(Error("wrong_lane=-1"), HasSubstr("allowed: a number 0.."));
  EXPECT_THAT(Error("dead=2x"), HasSubstr("allowed: a number 1.."));
  EXPECT_THAT(Error("none=1"), HasSubstr("allowed: 0"));
}

TEST(Faulty, NameOpensTheSameDeviceAgain) {
  EXPECT_EQ(Open("exponent_floor=none")->name(), "faulty:exponent_floor=none");
  EXPECT_THAT(Name(Open("dead=3")->identity()), HasSubstr("with dead=3"));
}

TEST(Faulty, RefusesOperationsThatCannotShowTheFault) {
  const absl::Status same = Open("fraction_bits=25")->Supports(*FindOperation(kHopper));
  EXPECT_EQ(same.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      same.message(),
      "fraction_bits is already 25 in sm_90/mma.m16n8k16.f32.f16.f16.f32: this is not a fault");
  const absl::Status family = Open("fraction_bits=25")->Supports(*FindOperation(kVdpbf16ps));
  EXPECT_EQ(family.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(family.message(), HasSubstr("has no parameter fraction_bits: fma_chain("));
  const absl::Status invalid =
      Open("output_fraction_bits=40")->Supports(*FindOperation(kVdpbf16ps));
  EXPECT_EQ(invalid.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(invalid.message(), HasSubstr("output_fraction_bits must be at most 23 for f32"));
  EXPECT_TRUE(Open("output_fraction_bits=40")->Supports(*FindOperation("x86/vfmadd231sd")).ok());
  EXPECT_EQ(Open("wrong_lane=15")->Supports(*FindOperation(kVdpbf16ps)).code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(Open("wrong_lane=14")->Supports(*FindOperation(kVdpbf16ps)).ok());
}

// Every neighbour of every model is a device, and that device computes the neighbour.
TEST(Faulty, RefusesOperationsWithoutAModel) {
  const Operation& op = *FindUnmodelled("unlisted/k4.f32.f16.f16.f16");
  for (const char* fault :
       {"fraction_bits=24", "none=0", "wrong_lane=1", "lost_batch=1", "flaky_bit=1", "dead=9"}) {
    const auto d = Open(fault)->Run(op, RandomBits(op, op.shape(), 1));
    EXPECT_EQ(d.status().code(), absl::StatusCode::kNotFound) << fault;
  }
}

TEST(Faulty, EveryNeighbourOfEveryModel) {
  int neighbours = 0;
  for (const Operation* pointer : DistinctOperations()) {
    const Operation& op = *pointer;
    const Batch batch = RandomBits(op, DotProductShape(op.shape()), 50);
    for (const Neighbour& n : AllNeighbours(op.model)) {
      const std::unique_ptr<Device> device = Open(Name(n));
      ASSERT_TRUE(device->Supports(op).ok()) << op.name << " " << Name(n);
      EXPECT_EQ(*device->Run(op, batch), Simulated(WithAlgorithm(op, n.algorithm), batch))
          << op.name << " " << Name(n);
      ++neighbours;
    }
  }
  EXPECT_GT(neighbours, 4000);
}

TEST(Faulty, NoneIsTheSimulator) {
  const std::unique_ptr<Device> device = Open("none=0");
  for (const Operation* op : DistinctOperations()) {
    const Batch batch = RandomBits(*op, op->shape(), 1);
    ASSERT_TRUE(device->Supports(*op).ok());
    EXPECT_EQ(*device->Run(*op, batch), Simulated(op->model, batch)) << op->name;
  }
}

TEST(Faulty, WrongLaneSwapsTwoResultsOfEveryExecution) {
  const Operation& op = *FindOperation(kHopper);
  const Batch batch = RandomBits(op, op.shape(), 4);
  std::vector<uint64_t> expected = Simulated(op.model, batch);
  for (int i = 0; i < 4; ++i) std::swap(expected[128 * i + 5], expected[128 * i + 6]);
  const std::unique_ptr<Device> device = Open("wrong_lane=5");
  EXPECT_EQ(*device->Run(op, batch), expected);
  EXPECT_NE(*device->Run(op, batch), Simulated(op.model, batch));
  const Batch dots = RandomBits(op, DotProductShape(op.shape()), 40);
  EXPECT_EQ(*device->Run(op, dots), Simulated(op.model, dots));
}

// Scales are operands like others: lanes are those of the results, one for each dot product.
TEST(Faulty, TransportFaultsWithScales) {
  const Operation& op = *FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x");
  const Batch batch = RandomBits(op, op.shape(), 3);
  const std::vector<uint64_t> right = Simulated(op.model, batch);
  std::vector<uint64_t> swapped = right;
  for (int i = 0; i < 3; ++i) std::swap(swapped[128 * i + 126], swapped[128 * i + 127]);
  EXPECT_EQ(*Open("wrong_lane=126")->Run(op, batch), swapped);
  EXPECT_FALSE(Open("wrong_lane=127")->Supports(op).ok());
  EXPECT_THAT(*Open("lost_batch=1")->Run(op, batch), AllOf(SizeIs(3 * 128), Each(0)));
  EXPECT_EQ(*Open("lost_batch=2")->Run(op, batch), right);
  EXPECT_FALSE(Open("dead=1")->Run(op, batch).ok());
  // Every scale is read: another one, no NaN, changes a result.
  for (int s = 64; s < 68; ++s) {
    Batch other = batch;
    std::ranges::fill(other.a, 0x2);
    std::ranges::fill(other.b, 0x2);
    for (uint64_t& c : other.c) c = 0;
    const std::vector<uint64_t> before = *Open("none=0")->Run(op, other);
    other.a[s] ^= 0x10;
    EXPECT_NE(*Open("none=0")->Run(op, other), before) << s;
  }
}

TEST(Faulty, LostBatchAnswersWithOldResultsOrZeros) {
  const Operation& op = *FindOperation(kVdpbf16ps);
  const Shape dot = DotProductShape(op.shape());
  const Batch first = RandomBits(op, dot, 3, 1), second = RandomBits(op, dot, 5, 2);
  std::vector<uint64_t> stale = Simulated(op.model, first);
  stale.resize(5);
  const std::unique_ptr<Device> device = Open("lost_batch=2");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(*device->Run(op, first), Simulated(op.model, first));
    EXPECT_EQ(*device->Run(op, second), stale);
  }
  EXPECT_THAT(*Open("lost_batch=1")->Run(op, second), Each(0));
}

TEST(Faulty, FlakyBitNeverRepeats) {
  const Operation& op = *FindOperation(kVdpbf16ps);
  const Batch batch = RandomBits(op, op.shape(), 1000);  // 16000 results
  const std::vector<uint64_t> right = Simulated(op.model, batch);
  const auto wrong_places = [&](Device& device) {
    std::vector<size_t> places;
    const std::vector<uint64_t> d = *device.Run(op, batch);
    for (size_t i = 0; i < d.size(); ++i) {
      if (d[i] == right[i]) continue;
      EXPECT_EQ(d[i], right[i] ^ 1);
      places.push_back(i);
    }
    EXPECT_NEAR(places.size(), 160, 60);
    return places;
  };
  const std::unique_ptr<Device> device = Open("flaky_bit=100"), other = Open("flaky_bit=100");
  const auto first = wrong_places(*device), again = wrong_places(*device);
  EXPECT_NE(first, again);
  EXPECT_NE(first, wrong_places(*other));
}

TEST(Faulty, DeadFromTheGivenRunOn) {
  const Operation& op = *FindOperation(kVdpbf16ps);
  const Batch batch = RandomBits(op, op.shape(), 1);
  const std::unique_ptr<Device> device = Open("dead=3");
  EXPECT_TRUE(device->Run(op, batch).ok());
  EXPECT_TRUE(device->Run(op, batch).ok());
  EXPECT_EQ(device->Run(op, batch).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(device->Run(op, batch).status().code(), absl::StatusCode::kUnavailable);
}

TEST(Faulty, UsagesAreOfEveryFault) {
  std::vector<std::string> names;
  for (const FaultUsage& usage : FaultUsages()) {
    names.push_back(usage.name);
    EXPECT_THAT(Error(usage.name + "=?"),
                HasSubstr("; allowed: " + usage.values.substr(0, usage.values.find(": "))));
  }
  for (const Parameter& p : Parameters()) EXPECT_THAT(names, Contains(p.name));
  EXPECT_THAT(names, IsSupersetOf({"wrong_lane", "lost_batch", "flaky_bit", "dead", "none"}));
}

// Several parameters at once: all of them are wrong, and each must be one that the operation has.
TEST(Faulty, SeveralParameters) {
  const Operation& op = *FindOperation(kHopper);
  const auto device = Open("fraction_bits=24,terms=8,output_rounding=nearest_even");
  ASSERT_TRUE(device->Supports(op).ok());
  EXPECT_EQ(device->name(), "faulty:fraction_bits=24,terms=8,output_rounding=nearest_even");
  Algorithm changed = op.model.algorithm;
  changed.fraction_bits = 24;
  changed.terms = 8;
  changed.output_rounding = Rounding::kNearestEven;
  const Batch batch = RandomBits(op, op.shape(), 50);
  EXPECT_EQ(*device->Run(op, batch), Simulated(WithAlgorithm(op, changed), batch));
  for (const char* one : {"fraction_bits=24", "terms=8", "output_rounding=nearest_even"}) {
    EXPECT_NE(*device->Run(op, batch), *Open(one)->Run(op, batch)) << one;
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(Open("terms=8,fraction_bits=25")->Supports(op)));
  EXPECT_TRUE(absl::IsNotFound(Open("terms=8,order=descending")->Supports(op)));
  EXPECT_THAT(Error("terms=8,"), HasSubstr("no such fault"));
  EXPECT_THAT(Error("terms=8,terms=4"), HasSubstr("terms is given twice"));
  EXPECT_THAT(Error("terms=8,dead=3"), HasSubstr("dead cannot be combined"));
  EXPECT_THAT(Error("dead=3,terms=8"), HasSubstr("dead cannot be combined"));
}

}  // namespace
}  // namespace mmadiff
