// What every device promises (device/device.h), for every device that opens on this machine and
// every operation that it supports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "device/open.h"
#include "device/testing_operations.h"

namespace mmadiff {
namespace {

struct Opened {
  std::string name;  // in the test's name
  std::string spec;
};

class Conformance : public ::testing::TestWithParam<std::tuple<Opened, std::string>> {
 protected:
  void SetUp() override {
    const auto& [opened, op] = GetParam();
    DeviceOr device = OpenBasicDevice(opened.spec);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
    op_ = FindOperation(op);
    ASSERT_NE(op_, nullptr);
    const absl::Status supported = device_->Supports(*op_);
    if (supported.ok()) return;
    EXPECT_EQ(supported.code(), absl::StatusCode::kNotFound) << supported;
    EXPECT_FALSE(supported.message().empty());
    GTEST_SKIP() << supported.message();
  }

  // Half of the words are random, the others numbers near 1.0, so that few results are NaN.
  Batch RandomBatch(const Shape& shape, int64_t executions) const {
    std::mt19937_64 random(1);
    return FillBatch(*op_, shape, executions, [&random](const Format& f) {
      const uint64_t bits = random();
      if (bits & 1 || IsInteger(f)) return bits >> 1 & LowBits(f.bits);
      const uint64_t field = 1 - f.min_exponent - (f.has_zero ? 0 : 1);  // of 1.0
      return (field << f.fraction_bits | (bits >> 1 & LowBits(f.fraction_bits))) << f.ignored_bits;
    });
  }

  std::vector<uint64_t> Answers(const Batch& batch) {
    absl::StatusOr<std::vector<uint64_t>> d = device_->Run(*op_, batch);
    EXPECT_TRUE(d.ok()) << d.status();
    if (!d.ok()) return {};
    EXPECT_EQ(d->size(), static_cast<size_t>(batch.dot_products()));
    for (const uint64_t word : *d) EXPECT_EQ(word & ~LowBits(op_->model.d.bits), 0u);
    return *std::move(d);
  }

  std::unique_ptr<Device> device_;
  const Operation* op_ = nullptr;
};

// The dot products of a batch on their own.
Batch Separated(const Operation& op, const Batch& batch) {
  std::vector<DotProductCase> dots;
  for (int64_t i = 0; i < batch.dot_products(); ++i) dots.push_back(Extract(batch, i));
  return MakeDotProductBatch(op.shape(), dots);
}

TEST_P(Conformance, BothShapesGiveTheSameAnswers) {
  for (const int executions : {1, 3}) {
    const Batch tiles = RandomBatch(op_->shape(), executions);
    EXPECT_EQ(Answers(tiles), Answers(Separated(*op_, tiles)));
  }
}

// Counts around those of the lanes of a vector: the answer depends neither on the count nor on the
// place in the batch.
TEST_P(Conformance, AnyNumberOfDotProducts) {
  const Batch most = RandomBatch(DotProductShape(op_->shape()), 33);
  const std::vector<uint64_t> expected = Answers(most);
  ASSERT_EQ(expected.size(), 33u);
  for (const int count : {1, 15, 16, 17}) {
    std::vector<DotProductCase> last;
    for (int i = 33 - count; i < 33; ++i) last.push_back(Extract(most, i));
    EXPECT_EQ(Answers(MakeDotProductBatch(op_->shape(), last)),
              std::vector<uint64_t>(expected.end() - count, expected.end()))
        << count;
  }
  EXPECT_EQ(Answers(most), expected);  // again: answers are deterministic
}

TEST_P(Conformance, NothingToDo) {
  EXPECT_TRUE(Answers(RandomBatch(op_->shape(), 0)).empty());
  EXPECT_TRUE(Answers(RandomBatch(DotProductShape(op_->shape()), 0)).empty());
}

TEST_P(Conformance, OpensAgainByItsName) {
  EXPECT_EQ(device_->name(), std::get<0>(GetParam()).spec);
  EXPECT_FALSE(device_->identity().empty());
}

// Every model on a device for all architectures; on this CPU, the operations of CPUs; of programs,
// which take their time to start, an operation of each family.
std::vector<std::tuple<Opened, std::string>> DevicesAndOperations() {
  std::vector<std::tuple<Opened, std::string>> all;
  for (const Operation* op : DistinctOperations()) {
    all.emplace_back(Opened{"faulty", "faulty:none=0"}, op->name);
    if (op->arch() == "x86") all.emplace_back(Opened{"host", "host"}, op->name);
  }
  for (const Operation* op : OperationsOfEachFamily(1)) {
    for (const char* mode : {"line", "bare"}) {
      const std::string spec = absl::StrCat("exec:", MMADIFF_EXEC_HELPER, " ", mode);
      all.emplace_back(Opened{absl::StrCat("exec_", mode), spec}, op->name);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance, ::testing::ValuesIn(DevicesAndOperations()),
                         [](const auto& info) {
                           std::string name = absl::StrCat(std::get<0>(info.param).name, "_",
                                                           std::get<1>(info.param));
                           for (char& c : name) c = isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
