// hip:N on a library that stands for HIP and a GPU: packing, both shapes of batches, every target,
// modes and failures. What hardware answers is not tested here.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/hip/driver.h"
#include "device/hip/testing/hip_fixture.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

TEST_F(HipTest, AnotherLayoutIsSeen) {
  const struct {
    const char *target, *op, *operands;
  } kCases[] = {
      {"gfx908", "gfx908/v_mfma_f32_32x32x8f16", "ABD"},
      {"gfx942", "gfx942/v_mfma_f64_16x16x4_f64", "ABD"},
      {"gfx942", "gfx942/v_smfmac_f32_16x16x32_f16", "ABDk"},
      {"gfx950", "gfx950/v_mfma_scale_f32_16x16x128_f8f6f4.e4m3.e2m1.ue8m0", "ABD"},
      {"gfx1100", "gfx1100/v_wmma_f32_16x16x16_f16", "D"},
      {"gfx1200", "gfx1200/v_swmmac_f32_16x16x32_f16", "ABDk"},
  };
  for (const auto& c : kCases) {
    const Operation& op = *FindOperation(c.op, Models::kOptional);
    for (const char* operand = c.operands; *operand != '\0'; ++operand) {
      Fake("SWAPS", std::string(1, *operand).c_str());
      const std::unique_ptr<GpuDevice> device = Open(c.target);
      const absl::Status s = device->Run(op, RandomBits(op, op.shape(), 1)).status();
      EXPECT_EQ(s.code(), StatusCode::kFailedPrecondition) << c.op << " " << *operand << ": " << s;
      EXPECT_THAT(std::string(s.message()), HasSubstr("the layout differs from the tables"));
      EXPECT_EQ(device->Supports(op).code(), StatusCode::kNotFound);
    }
  }
}

TEST_F(HipTest, DenseFactorsOfASparseInstruction) {
  const Operation& op = *FindOperation("gfx942/v_smfmac_f32_16x16x32_f16", Models::kOptional);
  Batch batch = RandomBits(op, op.shape(), 1);
  std::fill_n(&batch.a[36], 3, 0x3c00);
  std::ranges::fill(batch.metadata, 0);
  const absl::Status s = Open("gfx942")->Run(op, batch).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("too many differ: a4 to a7 in row 1"));
}

TEST_F(HipTest, Identity) {
  const std::unique_ptr<GpuDevice> device = Open("gfx942:sramecc+:xnack-");
  EXPECT_EQ(device->name(), "hip:0");
  EXPECT_THAT(
      Name(device->identity()),
      testing::MatchesRegex("Fake, 14 compute units, 2100 MHz, gfx942:sramecc.:xnack-, amdgpu.*"
                            ", HIP 6.3.42134, machine code of clang 0"));
  EXPECT_EQ(Name(device->hardware()),
            "GPU-01020304-0506-0708-090a-0b0c0d0e0f10 at PCI 0000:c1:00.0, 0 of 14 compute units "
            "answered");
}

// Modes reach the kernel: a GPU that reads them answers otherwise, one that does not the same.
TEST_F(HipTest, Modes) {
  const Operation& op = *FindOperation("gfx942/v_mfma_f32_16x16x16_f16");
  Batch batch;
  batch.Resize(op.shape(), 1);
  batch.a[0] = 1, batch.b[0] = 0x3c00;  // 2^-24 1
  for (const bool reads : {false, true}) {
    Fake("READS_MODE", reads ? "1" : nullptr);
    std::set<uint64_t> answers;
    for (const char* argument : {"0", "0,denorm16=flush", "0,round=zero,denorm16=flush"}) {
      const std::unique_ptr<GpuDevice> device = Open("gfx942", argument);
      ASSERT_NE(device, nullptr);
      EXPECT_EQ(device->name(), absl::StrCat("hip:", argument));
      answers.insert(device->Run(op, batch)->front());
    }
    EXPECT_EQ(answers.size(), reads ? 2u : 1u);
  }
  // gfx12 has neither.
  EXPECT_THAT(Open("gfx942")->Modes(), testing::Contains("ieee=0"));
  EXPECT_THAT(Open("gfx1200")->Modes(),
              testing::AllOf(testing::SizeIs(6), testing::Contains("ovfl=1")));
  EXPECT_EQ(Error("0,ieee=0").code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Name(Open("gfx942", "0,ieee=0")->identity()), HasSubstr(", with hip:0,ieee=0"));
  for (const char* argument : {"", "x", "-1", "0,", "0,denorm=keep", "0,a=registers"}) {
    EXPECT_EQ(Error(argument).code(), StatusCode::kInvalidArgument) << argument;
  }
}

TEST_F(HipTest, Failures) {
  Fake("GPUS", "2");
  EXPECT_THAT(std::string(Error("2").message()), HasSubstr("no GPU 2; GPUs found: 2"));
  Fake("GPUS", "0");
  EXPECT_EQ(Error().code(), StatusCode::kNotFound);
  Fake("GPUS", nullptr);
  Fake("TARGET", "gfx900");
  EXPECT_THAT(std::string(Error().message()),
              HasSubstr("this GPU is gfx900; there are kernels for gfx908"));
  Fake("TARGET", "gfx942");
  setenv("MMADIFF_LIBCOMGR", "/none/libamd_comgr.so", 1);
  EXPECT_THAT(std::string(Error("0", None).message()),
              testing::AllOf(HasSubstr("no machine code for gfx942"), HasSubstr("install ROCm")));
  unsetenv("MMADIFF_LIBCOMGR");

  const Operation& op = *FindOperation("gfx942/v_mfma_f32_16x16x16_f16");
  const Batch batch = RandomBits(op, op.shape(), 1);
  const struct {
    const char *function, *result;
    StatusCode code;
    const char* says;
    bool sticky;
  } kCases[] = {
      {"hipMalloc", "2", StatusCode::kUnavailable, "memory is full", false},
      {"hipModuleLoadData", "209", StatusCode::kNotFound, "no machine code for this GPU", false},
      {"hipDeviceSynchronize", "719", StatusCode::kUnavailable, "run the same command again", true},
      {"hipDeviceSynchronize", "702", StatusCode::kDeadlineExceeded, "run the same command again",
       true},
      {"hipModuleLaunchKernel", "999", StatusCode::kUnavailable, "HIP error 999", true},
  };
  for (const auto& c : kCases) {
    Fake("FAILS", c.function);
    Fake("RESULT", c.result);
    const std::unique_ptr<GpuDevice> device = Open("gfx942");
    const absl::Status s = device->Run(op, batch).status();
    EXPECT_EQ(s.code(), c.code) << c.function << ": " << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr(c.says));
    Fake("FAILS", nullptr);
    EXPECT_EQ(device->Run(op, batch).ok(), !c.sticky) << c.function;
  }
  for (const std::string fault : {"unwritten", "partly", "partly_once", "alternating"}) {
    Fake("FAULT", fault.c_str());
    const auto device = Open("gfx942");
    const absl::Status s = device->Run(op, batch).status();
    EXPECT_FALSE(s.ok()) << fault;
    EXPECT_TRUE(fault == "alternating" || s.code() == StatusCode::kDataLoss) << s;
  }
}

TEST(WhyNoGpu, SaysWhatToDo) {
  for (const char* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    unsetenv(name);
  }
  EXPECT_THAT(WhyNoGpu("/none/kfd"), HasSubstr("amdgpu is not loaded"));
  const std::string closed = testing::TempDir() + "/closed_kfd";
  ASSERT_EQ(close(open(closed.c_str(), O_CREAT | O_RDWR, 0)), 0);
  const auto ask = [&closed] {  // not as root, who may open all
    setuid(65534);
    const bool says =
        absl::StrContains(WhyNoGpu(closed), "add the user to the groups render and video");
    std::_Exit(says ? 0 : 1);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(WhyNoGpu("/dev/null"), "");
  setenv("HIP_VISIBLE_DEVICES", "3", 1);
  EXPECT_THAT(WhyNoGpu("/dev/null"), HasSubstr("HIP_VISIBLE_DEVICES='3' hides"));
  unsetenv("HIP_VISIBLE_DEVICES");
  EXPECT_EQ(HipVersion(60342134), "6.3.42134");
}

}  // namespace
}  // namespace mmadiff
