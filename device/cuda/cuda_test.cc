// cuda:N on a library that stands for the driver and a GPU: packing, both shapes of batches, every
// architecture, and failures. What hardware answers is not tested here.
#include "device/cuda/cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "absl/algorithm/container.h"
#include "device/cuda/kernel.h"
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

  static std::unique_ptr<Device> Open(absl::string_view argument = "0") {
    DeviceOr device = OpenCuda(argument);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

Batch RandomBatch(const Row& row, const Shape& shape, int count) {
  std::mt19937_64 random(1);
  Batch batch;
  batch.Resize(shape, count);
  const Instruction& i = *row.instruction;
  const size_t words = shape.row_words();
  for (size_t w = 0; w < batch.a.size(); ++w) {
    batch.a[w] = random() & LowBits(i.a_format(w % words).bits);
  }
  for (size_t w = 0; w < batch.b.size(); ++w) {
    batch.b[w] = random() & LowBits(i.b_format(w % words).bits);
  }
  for (uint64_t& w : batch.c) w = random() & LowBits(row.model.c.bits);
  return batch;
}

void ExpectTheModel(Device& device, const Row& row) {
  const Shape& s = row.shape();
  // One more dot product than fills the diagonals of two executions.
  const int diagonals = 2 * s.blocks * std::min(s.m, s.n) + 1;
  for (const Batch& batch :
       {RandomBatch(row, s, 2), RandomBatch(row, DotProductShape(s), diagonals),
        RandomBatch(row, s, 0)}) {
    std::vector<uint64_t> model(batch.dot_products());
    Simulate(row.model, batch, model);
    const auto d = device.Run(row, batch);
    ASSERT_TRUE(d.ok()) << row.name << ": " << d.status();
    EXPECT_EQ(*d, model) << row.name;
  }
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
    int rows = 0, scaled = 0;
    for (const Row& row : Rows()) {
      if (!device->Supports(row).ok()) continue;
      ++rows;
      scaled += row.instruction->scale != nullptr;
      EXPECT_EQ(row.arch(), arch);
      ExpectTheModel(*device, row);
    }
    EXPECT_GE(rows, 3) << arch;
    EXPECT_EQ(scaled, std::string(arch).size() == 6 ? 29 : 0) << arch;
  }
}

// More columns, and A in registers; instructions without that choice run as always.
TEST_F(CudaTest, WgmmaOfOtherSizesAndSources) {
  const std::unique_ptr<Device> shared = Open(), lanes = Open("0,a=registers");
  ASSERT_NE(shared, nullptr);
  ASSERT_NE(lanes, nullptr);
  EXPECT_EQ(lanes->name(), "cuda:0,a=registers");
  int rows = 0;
  for (const Row& row : Rows()) {
    if (!row.name.starts_with("sm_90/wgmma.")) continue;
    ++rows;
    ExpectTheModel(*lanes, row);
    std::string name = row.name;
    // One with 256 columns of each kind is enough: they are slow.
    const bool large = row.name.find("f32.") != row.name.npos || row.name.ends_with("f16.f16.f16");
    for (const char* size : {"n24k", large ? "n256k" : "n32k"}) {
      const Row& other =
          *FindRow(name.replace(name.find('n'), name.find('k') - name.find('n') + 1, size));
      ExpectTheModel(*shared, other);
      ExpectTheModel(*lanes, other);
    }
  }
  EXPECT_EQ(rows, 21);
  ExpectTheModel(*lanes, *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32"));
}

// The order that makes the shared memory and the registers of wgmma visible where they are read
// (PTX ISA 9.0, 9.7.15, wgmma.fence and the asynchronous proxy).
TEST(WgmmaText, OrderOfFences) {
  for (const SourceOfA source : {SourceOfA::kShared, SourceOfA::kLanes}) {
    const std::string text = WgmmaBody(*FindInstruction("wgmma.m64n8k16.f32.f16.f16"), source);
    const size_t steps[] = {text.rfind("st.shared"),
                            text.find("fence.proxy.async.shared::cta;"),
                            text.find("bar.sync 0;"),
                            text.rfind("ld.global"),
                            text.find("wgmma.fence.sync.aligned;"),
                            text.find("wgmma.mma_async.sync.aligned."),
                            text.find("wgmma.commit_group.sync.aligned;"),
                            text.find("wgmma.wait_group.sync.aligned 0;"),
                            text.find("st.global")};
    EXPECT_TRUE(absl::c_is_sorted(steps)) << text;
    EXPECT_NE(steps[8], text.npos);
  }
}

TEST(WgmmaText, OtherTargetsHaveNone) {
  for (const PtxTarget& target : PtxTargets()) {
    const absl::Status s = HasKernel(*FindInstruction("wgmma.m64n8k8.f32.tf32.tf32"), target);
    EXPECT_EQ(s.ok(), target.major == 9) << target.arch;
    if (s.ok()) continue;
    EXPECT_EQ(s.code(), StatusCode::kNotFound);
    EXPECT_THAT(std::string(s.message()), HasSubstr("is an instruction of sm_90, not of sm_"));
  }
}

TEST_F(CudaTest, WhatItCannotRun) {
  const std::unique_ptr<Device> device = Open();
  ASSERT_NE(device, nullptr);
  for (const char* name : {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "x86/vdpbf16ps",
                           "sm_90/wmma.m16n16k16.f32.f16.f16.f32"}) {
    EXPECT_EQ(device->Supports(*FindRow(name)).code(), StatusCode::kNotFound) << name;
  }
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(device->Run(row, RandomBatch(row, {1, 1, 8, 1}, 1)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(CudaTest, ADeviceThatIsNotThere) {
  EXPECT_EQ(OpenCuda("1").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(OpenCuda("-1").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenCuda("0,a=shared").status().code(), StatusCode::kInvalidArgument);
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
