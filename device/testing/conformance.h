// The guarantees of every device (device/device.h), as parameterized tests. For tests only: include
// it once in a program, instantiate Conformance with OfEachOperation(devices) and DeviceConformance
// with the devices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/open.h"
#include "device/testing/operations.h"

namespace mmadiff {

struct TestedDevice {
  std::string label;                  // in the names of its tests
  std::string spec;                   // its name()
  std::vector<const Operation*> ops;  // those to test; it must support them
  std::function<DeviceOr(absl::string_view spec)> open = OpenBasicDevice;

  friend std::ostream& operator<<(std::ostream& out, const TestedDevice& d) {
    return out << d.spec;
  }
};

struct TestedOperation {
  TestedDevice device;
  const Operation* op = nullptr;

  friend std::ostream& operator<<(std::ostream& out, const TestedOperation& t) {
    return out << t.device << ", " << t.op->name;
  }
};

inline std::vector<TestedOperation> OfEachOperation(const std::vector<TestedDevice>& devices) {
  std::vector<TestedOperation> all;
  for (const TestedDevice& device : devices) {
    for (const Operation* op : device.ops) all.push_back({device, op});
  }
  return all;
}

// The last argument of INSTANTIATE_TEST_SUITE_P.
struct TestName {
  std::string operator()(const testing::TestParamInfo<TestedDevice>& info) const {
    return info.param.label;
  }
  std::string operator()(const testing::TestParamInfo<TestedOperation>& info) const {
    std::string name = absl::StrCat(info.param.device.label, "_", info.param.op->name);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !isalnum(c); }, '_');
    return name;
  }
};

// Half of the words are random, the others are numbers near 1.0, so that few results are NaN.
inline Batch ConformanceBatch(const Operation& op, const Shape& shape, int64_t executions) {
  std::mt19937_64 random(1);
  return FillBatch(op, shape, executions, [&random](const Format& f) {
    const uint64_t bits = random();
    if (bits & 1 || IsInteger(f)) return bits >> 1 & LowBits(f.bits);
    const uint64_t field = 1 - f.min_exponent - (f.has_zero ? 0 : 1);  // of 1.0
    return (field << f.fraction_bits | (bits >> 1 & LowBits(f.fraction_bits))) << f.ignored_bits;
  });
}

// All requests to a device for an operation that it has: these batches and their dot products
// alone. `recorded:` guarantees answers only to recorded requests: it conforms for a recording of
// these.
inline std::vector<Batch> ConformanceBatches(const Operation& op) {
  return {ConformanceBatch(op, op.shape(), 1), ConformanceBatch(op, op.shape(), 3),
          ConformanceBatch(op, DotProductShape(op.shape()), 33)};
}

// The last `count` dot products of a batch, alone.
inline Batch LastOf(const Operation& op, const Batch& batch, int64_t count) {
  std::vector<DotProductCase> dots;
  for (int64_t i = batch.dot_products() - count; i < batch.dot_products(); ++i) {
    dots.push_back(Extract(batch, i));
  }
  return MakeDotProductBatch(op.shape(), dots);
}

inline std::unique_ptr<Device> OpenTested(const TestedDevice& tested) {
  DeviceOr device = tested.open(tested.spec);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

class DeviceConformance : public testing::TestWithParam<TestedDevice> {
 protected:
  void SetUp() override { ASSERT_NE(device_, nullptr); }

  const std::unique_ptr<Device> device_ = OpenTested(GetParam());
};

TEST_P(DeviceConformance, OpensAgainByItsName) {
  EXPECT_EQ(device_->name(), GetParam().spec);
  EXPECT_NE(Name(device_->identity()), "");
  const std::unique_ptr<Device> again = OpenTested(GetParam());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(Name(again->identity()), Name(device_->identity()));
  EXPECT_EQ(again->ContentsHash(), device_->ContentsHash());
}

TEST_P(DeviceConformance, WhatItLacksIsNotFound) {
  for (const Operation* op : MatchOperations("*", Models::kOptional)) {
    const absl::Status s = device_->Supports(*op);
    if (s.ok()) continue;
    EXPECT_EQ(s.code(), absl::StatusCode::kNotFound) << op->name << ": " << s;
    EXPECT_FALSE(s.message().empty()) << op->name;
    for (const Shape& shape : {op->shape(), DotProductShape(op->shape())}) {
      EXPECT_EQ(device_->Run(*op, ConformanceBatch(*op, shape, 1)).status(), s) << op->name;
    }
  }
}

class Conformance : public testing::TestWithParam<TestedOperation> {
 protected:
  void SetUp() override {
    ASSERT_NE(device_, nullptr);
    const absl::Status supported = device_->Supports(op_);
    ASSERT_TRUE(supported.ok()) << supported;
  }

  std::vector<uint64_t> AnswersOf(Device& device, const Batch& batch) {
    absl::StatusOr<std::vector<uint64_t>> d = device.Run(op_, batch);
    EXPECT_TRUE(d.ok()) << d.status();
    if (!d.ok()) return {};
    EXPECT_EQ(d->size(), static_cast<size_t>(batch.dot_products()));
    for (const uint64_t word : *d) EXPECT_EQ(word & ~LowBits(op_.instruction->d->bits), 0u);
    return *std::move(d);
  }
  std::vector<uint64_t> Answers(const Batch& batch) { return AnswersOf(*device_, batch); }

  const Operation& op_ = *GetParam().op;
  const std::vector<Batch> batches_ = ConformanceBatches(op_);
  const Batch &one_ = batches_[0], &three_ = batches_[1], &dots_ = batches_[2];
  const std::unique_ptr<Device> device_ = OpenTested(GetParam().device);
};

TEST_P(Conformance, BothShapesGiveTheSameAnswers) {
  for (const Batch* batch : {&one_, &three_}) {
    EXPECT_EQ(Answers(*batch), Answers(LastOf(op_, *batch, batch->dot_products())));
  }
}

// Counts near the number of lanes of a vector: the answer depends neither on the count nor on the
// place in the batch.
TEST_P(Conformance, AnyNumberOfDotProducts) {
  const std::vector<uint64_t> expected = Answers(dots_);
  ASSERT_EQ(expected.size(), 33u);
  for (const int count : {1, 15, 16, 17}) {
    EXPECT_EQ(Answers(LastOf(op_, dots_, count)),
              std::vector<uint64_t>(expected.end() - count, expected.end()))
        << count;
  }
  EXPECT_EQ(Answers(dots_), expected);  // again: answers are deterministic
}

TEST_P(Conformance, NothingToDo) {
  EXPECT_TRUE(Answers(ConformanceBatch(op_, op_.shape(), 0)).empty());
  EXPECT_TRUE(Answers(ConformanceBatch(op_, DotProductShape(op_.shape()), 0)).empty());
}

TEST_P(Conformance, AnotherOpeningAnswersTheSame) {
  const std::unique_ptr<Device> again = OpenTested(GetParam().device);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(IdentityFor(*again, op_), IdentityFor(*device_, op_));
  EXPECT_EQ(AnswersOf(*again, three_), Answers(three_));
}

// Stopped from the start: kCancelled with answers to the first dot products, or the whole batch. A
// device that may be slow has to check for the stop.
TEST_P(Conformance, EndsWhenToldToStop) {
  const std::vector<uint64_t> expected = Answers(three_);
  ASSERT_FALSE(expected.empty());
  int asked = 0;
  device_->StopWhen([&asked] { return ++asked > 0; });
  std::vector<uint64_t> d;
  const absl::Status s = device_->Run(op_, three_, d);
  EXPECT_TRUE(s.ok() || absl::IsCancelled(s)) << s;
  EXPECT_TRUE(asked > 0 || (s.ok() && !device_->IsSlow())) << asked;
  EXPECT_EQ(s.ok(), d.size() == expected.size());
  ASSERT_LE(d.size(), expected.size());
  EXPECT_TRUE(std::equal(d.begin(), d.end(), expected.begin()));
  device_->StopWhen(nullptr);
  EXPECT_EQ(Answers(three_), expected);
}

}  // namespace mmadiff
