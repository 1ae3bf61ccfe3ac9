// What every device promises (device/device.h), for every device that opens on this machine and
// every row that it supports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "device/open.h"

namespace mmadiff {
namespace {

struct Opened {
  const char* name;  // in the test's name
  std::string spec;
};

class Conformance : public ::testing::TestWithParam<std::tuple<Opened, std::string>> {
 protected:
  void SetUp() override {
    const auto& [opened, row] = GetParam();
    DeviceOr device = OpenBasicDevice(opened.spec);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
    row_ = FindRow(row);
    ASSERT_NE(row_, nullptr);
    const absl::Status supported = device_->Supports(*row_);
    if (supported.ok()) return;
    EXPECT_EQ(supported.code(), absl::StatusCode::kNotFound) << supported;
    EXPECT_FALSE(supported.message().empty());
    GTEST_SKIP() << supported.message();
  }

  // Half of the words are random, the others small numbers, so that few results are NaN.
  Batch RandomBatch(const Shape& shape, int64_t executions) const {
    std::mt19937_64 random(1);
    const auto fill = [&](const Format& format, std::vector<uint64_t>& words) {
      const uint64_t small = format.exponent_bits > 1 ? 3ull << (format.bits - 4) : 0;
      for (uint64_t& w : words) {
        const uint64_t bits = random();
        w = (bits & 1 ? small | (bits >> 1 & LowBits(format.bits - 6)) : bits) &
            LowBits(format.bits);
      }
    };
    Batch batch;
    batch.Resize(shape, executions);
    fill(row_->model.a, batch.a);
    fill(row_->model.b, batch.b);
    fill(row_->model.c, batch.c);
    return batch;
  }

  std::vector<uint64_t> Answers(const Batch& batch) {
    absl::StatusOr<std::vector<uint64_t>> d = device_->Run(*row_, batch);
    EXPECT_TRUE(d.ok()) << d.status();
    if (!d.ok()) return {};
    EXPECT_EQ(d->size(), static_cast<size_t>(batch.dot_products()));
    for (const uint64_t word : *d) EXPECT_EQ(word & ~LowBits(row_->model.d.bits), 0u);
    return *std::move(d);
  }

  std::unique_ptr<Device> device_;
  const Row* row_ = nullptr;
};

// The dot products of a batch on their own.
Batch Separated(const Row& row, const Batch& batch) {
  std::vector<DotProductCase> dots;
  for (int64_t i = 0; i < batch.dot_products(); ++i) dots.push_back(Extract(batch, i));
  return MakeDotProductBatch(row.shape(), dots);
}

TEST_P(Conformance, BothShapesGiveTheSameAnswers) {
  for (const int executions : {1, 3}) {
    const Batch tiles = RandomBatch(row_->shape(), executions);
    EXPECT_EQ(Answers(tiles), Answers(Separated(*row_, tiles)));
  }
}

// Counts around those of the lanes of a vector: the answer depends neither on the count nor on the
// place in the batch.
TEST_P(Conformance, AnyNumberOfDotProducts) {
  const Batch most = RandomBatch(DotProductShape(row_->shape()), 33);
  const std::vector<uint64_t> expected = Answers(most);
  ASSERT_EQ(expected.size(), 33u);
  for (const int count : {1, 15, 16, 17}) {
    std::vector<DotProductCase> last;
    for (int i = 33 - count; i < 33; ++i) last.push_back(Extract(most, i));
    EXPECT_EQ(Answers(MakeDotProductBatch(row_->shape(), last)),
              std::vector<uint64_t>(expected.end() - count, expected.end()))
        << count;
  }
  EXPECT_EQ(Answers(most), expected);  // again: answers are deterministic
}

TEST_P(Conformance, NothingToDo) {
  EXPECT_TRUE(Answers(RandomBatch(row_->shape(), 0)).empty());
  EXPECT_TRUE(Answers(RandomBatch(DotProductShape(row_->shape()), 0)).empty());
}

TEST_P(Conformance, OpensAgainByItsName) {
  EXPECT_EQ(device_->name(), std::get<0>(GetParam()).spec);
  EXPECT_FALSE(device_->identity().empty());
}

// Every row, on a device for all architectures; on this CPU, those of CPUs.
std::vector<std::tuple<Opened, std::string>> DevicesAndRows() {
  const Opened devices[] = {{"host", "host"},
                            {"faulty", "faulty:none=0"},
                            {"exec", absl::StrCat("exec:", MMADIFF_EXEC_HELPER, " line")},
                            {"exec_bare", absl::StrCat("exec:", MMADIFF_EXEC_HELPER, " bare")}};
  std::vector<std::tuple<Opened, std::string>> all;
  for (const Opened& opened : devices) {
    for (const Row& row : Rows()) {
      const bool cpu = row.arch() == "x86";
      if (opened.spec != "host" || cpu) all.emplace_back(opened, row.name);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance, ::testing::ValuesIn(DevicesAndRows()),
                         [](const auto& info) {
                           std::string name = absl::StrCat(std::get<0>(info.param).name, "_",
                                                           std::get<1>(info.param));
                           for (char& c : name) c = isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
