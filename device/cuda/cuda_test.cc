// cuda:N on a library that stands for the driver and a GPU: packing, both shapes of batches, every
// architecture, and failures. What hardware answers is not tested here.
#include "device/cuda/cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "absl/strings/match.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBCUDA", "", 1);  // fake_driver.cc
    unsetenv("FAKE_CUDA_FAILS");
    unsetenv("FAKE_CUDA_CAPABILITY");
    unsetenv("FAKE_CUDA_SWAPS");
  }

  static std::unique_ptr<Device> Open() {
    DeviceOr device = OpenCuda("0");
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

Batch RandomBatch(const Row& row, const Shape& shape, int count) {
  std::mt19937_64 random(1);
  Batch batch;
  batch.Resize(shape, count);
  for (uint64_t& w : batch.a) w = random() & LowBits(row.model.a.bits);
  for (uint64_t& w : batch.b) w = random() & LowBits(row.model.b.bits);
  for (uint64_t& w : batch.c) w = random() & LowBits(row.model.c.bits);
  return batch;
}

TEST_F(CudaTest, EveryRowOfEveryArchitecture) {
  const std::pair<const char*, const char*> gpus[] = {
      {"7.0", "sm_70"}, {"7.5", "sm_75"},   {"8.0", "sm_80"},   {"8.6", "sm_86"},  {"8.9", "sm_89"},
      {"9.0", "sm_90"}, {"10.0", "sm_100"}, {"10.3", "sm_103"}, {"12.0", "sm_120"}};
  for (const auto& [capability, arch] : gpus) {
    setenv("FAKE_CUDA_CAPABILITY", capability, 1);
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    EXPECT_THAT(device->identity(), HasSubstr(arch));
    int rows = 0;
    for (const Row& row : Rows()) {
      if (!device->Supports(row).ok()) continue;
      ++rows;
      EXPECT_EQ(row.arch(), arch);
      // One more dot product than fills the diagonals of two executions.
      const int diagonals = 2 * row.shape().blocks * 8 + 1;
      for (const Batch& batch : {RandomBatch(row, row.shape(), 2),
                                 RandomBatch(row, DotProductShape(row.shape()), diagonals),
                                 RandomBatch(row, row.shape(), 0)}) {
        std::vector<uint64_t> model(batch.dot_products());
        Simulate(row.model, batch, model);
        const auto d = device->Run(row, batch);
        ASSERT_TRUE(d.ok()) << row.name << ": " << d.status();
        EXPECT_EQ(*d, model) << row.name;
      }
    }
    EXPECT_GE(rows, 3) << arch;
  }
}

TEST_F(CudaTest, WhatItCannotRun) {
  const std::unique_ptr<Device> device = Open();
  ASSERT_NE(device, nullptr);
  for (const char* name :
       {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "x86/vdpbf16ps", "sm_90/wgmma.m64n8k16.f32.f16.f16"}) {
    EXPECT_EQ(device->Supports(*FindRow(name)).code(), StatusCode::kNotFound) << name;
  }
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(device->Run(row, RandomBatch(row, {1, 1, 8, 1}, 1)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(CudaTest, ADeviceThatIsNotThere) {
  EXPECT_EQ(OpenCuda("1").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(OpenCuda("-1").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenCuda("x").status().code(), StatusCode::kInvalidArgument);
  setenv("FAKE_CUDA_CAPABILITY", "6.1", 1);
  EXPECT_EQ(OpenCuda("0").status().code(), StatusCode::kNotFound);
}

// A failure is a Status that names the step, never a mismatch.
TEST_F(CudaTest, FailuresOfTheDevice) {
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const char* function :
       {"cuModuleLoadDataEx", "cuMemAlloc_v2", "cuLaunchKernel", "cuCtxSynchronize"}) {
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    setenv("FAKE_CUDA_FAILS", function, 1);
    const auto d = device->Run(row, RandomBatch(row, row.shape(), 1));
    EXPECT_EQ(d.status().code(), StatusCode::kUnavailable) << function;
    EXPECT_THAT(std::string(d.status().message()), HasSubstr("fake error (CUDA error "));
    unsetenv("FAKE_CUDA_FAILS");
    EXPECT_TRUE(device->Run(row, RandomBatch(row, row.shape(), 1)).ok()) << function;
  }
}

// A layout that is not the one of the tables disables the instruction, from its first use on.
TEST_F(CudaTest, AWrongLayout) {
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const Batch batch = RandomBatch(row, row.shape(), 1);
  for (const char* operand : {"A", "B", "C", "D"}) {
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    EXPECT_TRUE(device->Supports(row).ok());
    setenv("FAKE_CUDA_SWAPS", operand, 1);
    for (int i = 0; i < 2; ++i) {
      const absl::Status s = device->Run(row, batch).status();
      EXPECT_EQ(s.code(), StatusCode::kNotFound) << operand;
      EXPECT_THAT(std::string(s.message()), HasSubstr("disabled on this device"));
      unsetenv("FAKE_CUDA_SWAPS");  // remembered
    }
    EXPECT_EQ(device->Supports(row).code(), StatusCode::kNotFound) << operand;
    const Row& other = *FindRow("sm_90/mma.m16n8k8.f32.f16.f16.f32");
    EXPECT_TRUE(device->Run(other, RandomBatch(other, other.shape(), 1)).ok());
  }
}

}  // namespace
}  // namespace mmadiff
