// cuda:N on a library that stands for the driver and a GPU: packing, both shapes of batches, every
// architecture, and failures. What hardware answers is not tested here.
#include "device/cuda/cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/driver.h"
#include "device/cuda/kernel.h"
#include "device/cuda/wgmma_kernel.h"
#include "device/testing/operations.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::EndsWith;
using testing::HasSubstr;

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBCUDA", "", 1);  // fake_driver.cc
    for (const char* variable :
         {"FAILS", "RESULT", "CAPABILITY", "NAME", "DRIVER", "GPUS", "SWAPS", "NO_JIT", "FAULT"}) {
      Fake(variable, nullptr);
    }
  }

  // The environment variable FAKE_CUDA_<name> of fake_driver.cc; nullptr: none.
  static void Fake(const std::string& name, const char* value) {
    const std::string variable = "FAKE_CUDA_" + name;
    value == nullptr ? unsetenv(variable.c_str()) : setenv(variable.c_str(), value, 1);
  }

  static KernelImage None(const PtxTarget&) { return {}; }
  static KernelImage OfCuda130(const PtxTarget&) { return {"\177ELF", 13000}; }

  static std::unique_ptr<Device> Open(absl::string_view argument = "0",
                                      KernelImages images = None) {
    DeviceOr device = OpenCudaWith(argument, images);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

void ExpectTheModel(Device& device, const Operation& op) {
  const Shape& s = op.shape();
  // One more dot product than fills the diagonals of two executions.
  const int diagonals = 2 * s.blocks * std::min(s.m, s.n) + 1;
  for (const Batch& batch : {RandomBits(op, s, 2), RandomBits(op, DotProductShape(s), diagonals),
                             RandomBits(op, s, 0)}) {
    std::vector<uint64_t> model(batch.dot_products());
    Simulate(op.model, batch, model);
    const auto d = device.Run(op, batch);
    ASSERT_TRUE(d.ok()) << op.name << ": " << d.status();
    EXPECT_EQ(*d, model) << op.name;
  }
}

TEST_F(CudaTest, EveryOperationOfEveryArchitecture) {
  const std::pair<const char*, const char*> gpus[] = {
      {"7.0", "sm_70"}, {"7.5", "sm_75"},   {"8.0", "sm_80"},   {"8.6", "sm_86"},  {"8.9", "sm_89"},
      {"9.0", "sm_90"}, {"10.0", "sm_100"}, {"10.3", "sm_103"}, {"12.0", "sm_120"}};
  std::set<const Instruction*> seen;
  for (const auto& [capability, arch] : gpus) {
    Fake("CAPABILITY", capability);
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    EXPECT_THAT(Name(device->identity()), HasSubstr(arch));
    int ops = 0, scaled = 0;
    for (const Operation& op : Operations()) {
      if (!device->Supports(op).ok()) continue;
      ++ops;
      scaled += op.instruction->scale != nullptr;
      EXPECT_EQ(op.arch(), arch);
      // Once each instruction, then one in ten: what differs is the model.
      // Those of tcgen05, which are slow, are sampled: tcgen05_test has all their words.
      const bool first = seen.insert(op.instruction).second;
      const bool slow = op.instruction->layout == Layout::kNvidiaTcgen05;
      if (slow ? first && ops % 4 == 0 : first || ops % 10 == 0) ExpectTheModel(*device, op);
    }
    EXPECT_GE(ops, 3) << arch;
    // On sm_120 all but ue8m0.4x, which is of PTX 9.1.
    const std::map<std::string, int> expected = {{"sm_100", 29}, {"sm_103", 29}, {"sm_120", 28}};
    EXPECT_EQ(scaled, expected.contains(arch) ? expected.at(arch) : 0) << arch;
  }
}

// More columns, and A in registers; instructions without that choice run as always.
TEST_F(CudaTest, WgmmaOfOtherSizesAndSources) {
  const std::unique_ptr<Device> shared = Open(), lanes = Open("0,a=registers");
  ASSERT_NE(shared, nullptr);
  ASSERT_NE(lanes, nullptr);
  EXPECT_EQ(lanes->name(), "cuda:0,a=registers");
  int ops = 0;
  for (const Operation& op : Operations()) {
    if (!op.name.starts_with("sm_90/wgmma.")) continue;
    ++ops;
    ExpectTheModel(*lanes, op);
    std::string name = op.name;
    // The sources of A take turns, for this is slow; 256 columns are the slowest.
    Device *one = shared.get(), *two = lanes.get();
    if (ops % 2 == 0) std::swap(one, two);
    for (const auto& [size, device] :
         {std::pair("n24k", one), std::pair(ops % 10 == 0 ? "n256k" : "n32k", two)}) {
      const Operation& other =
          *FindOperation(name.replace(name.find('n'), name.find('k') - name.find('n') + 1, size));
      ExpectTheModel(*device, other);
    }
  }
  EXPECT_EQ(ops, 21 + 20);
  ExpectTheModel(*lanes, *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"));
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

TEST(KernelText, NoneOfConversions) {
  for (const PtxTarget& target : PtxTargets()) {
    const absl::Status s = HasKernel(*FindInstruction("cvt.rn.f16.f32"), target);
    EXPECT_EQ(s.code(), StatusCode::kNotFound);
    EXPECT_THAT(std::string(s.message()), HasSubstr("is a conversion"));
  }
}

TEST_F(CudaTest, WhatItCannotRun) {
  const std::unique_ptr<Device> device = Open();
  ASSERT_NE(device, nullptr);
  for (const char* name : {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "x86/vdpbf16ps", "arm/bfdot"}) {
    EXPECT_EQ(device->Supports(*FindOperation(name)).code(), StatusCode::kNotFound) << name;
  }
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(device->Run(op, RandomBits(op, {1, 1, 8, 1}, 1)).status().code(),
            StatusCode::kInvalidArgument);
  Fake("CAPABILITY", "12.0");
  const absl::Status later =
      Open()->Supports(*FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue8m0.4x"));
  EXPECT_EQ(later.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(later.message()), HasSubstr("needs PTX 9.1"));
}

TEST_F(CudaTest, ADeviceThatIsNotThere) {
  const auto expect = [](const char* index, StatusCode code, const char* text) {
    const absl::Status s = OpenCuda(index).status();
    EXPECT_EQ(s.code(), code) << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr(text));
  };
  expect("-1", StatusCode::kInvalidArgument, "write cuda:N");
  expect("x", StatusCode::kInvalidArgument, "write cuda:N");
  expect("0,a=shared", StatusCode::kInvalidArgument, "write cuda:N");
  expect("0,layout=row.col", StatusCode::kInvalidArgument, "layout=row.row, col.row or col.col");
  expect("0,overlap=c1c0", StatusCode::kInvalidArgument,
         "only sass: checks registers that operands share");
  expect("7", StatusCode::kNotFound, "no GPU 7; GPUs found: 1");
  Fake("CAPABILITY", "6.1");
  expect("0", StatusCode::kNotFound, "6.1, which is too old; there are kernels for 7.0, 7.5, ");
  Fake("CAPABILITY", "13.7");
  expect("0", StatusCode::kNotFound, "compute capability 13.7; there are kernels for 7.0");
  Fake("GPUS", "0");
  expect("0", StatusCode::kNotFound, "CUDA_VISIBLE_DEVICES");
  Fake("FAILS", "cuDeviceGetCount");
  Fake("RESULT", "100");
  expect("0", StatusCode::kNotFound, "in MIG mode, create an instance");
}

// Known before anything runs, from the versions alone.
TEST_F(CudaTest, ADriverThatIsTooOld) {
  for (const auto& [capability, driver, text] :
       {std::tuple("9.0", "12040", "PTX 8.7, which needs a driver for CUDA 12.8 or newer"),
        std::tuple("10.3", "12080", "PTX 8.8, which needs a driver for CUDA 12.9 or newer"),
        std::tuple("8.0", "11000", "PTX 7.1, which needs a driver for CUDA 11.1 or newer")}) {
    Fake("CAPABILITY", capability);
    Fake("DRIVER", driver);
    for (const KernelImages images : {None, OfCuda130}) {
      const absl::Status s = OpenCudaWith("0", images).status();
      EXPECT_EQ(s.code(), StatusCode::kNotFound);
      EXPECT_THAT(std::string(s.message()), HasSubstr(text));
    }
  }
  Fake("DRIVER", "11010");
  EXPECT_TRUE(OpenCudaWith("0", None).ok());
}

// Where there is machine code, the driver assembles only what is not in it.
TEST_F(CudaTest, MachineCodeOfTheBuild) {
  const Operation& op = *FindOperation("sm_90/wgmma.m64n8k16.f32.f16.f16");
  const Operation& other = *FindOperation("sm_90/wgmma.m64n16k16.f32.f16.f16");
  const std::string ptx = "PTX 8.7 assembled by the driver";
  for (const char* argument : {"0", "0,a=registers", "0,layout=col.row,c=col"}) {
    Fake("NO_JIT", "1");
    const std::unique_ptr<Device> device = Open(argument, OfCuda130);
    ASSERT_NE(device, nullptr);
    EXPECT_THAT(Name(device->identity()), EndsWith(", machine code of ptxas of CUDA 13.0"));
    EXPECT_EQ(IdentityFor(*device, op), Name(device->identity()));
    EXPECT_EQ(IdentityFor(*device, other),
              Name(device->identity()) + ", but this instruction: " + ptx);
    ExpectTheModel(*device, op);
    ExpectTheModel(*device, *FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"));
    ExpectTheModel(*device, *FindOperation("sm_90/wmma.m16n16k8.f32.tf32.tf32.f32"));
    ExpectTheModel(*device, *FindOperation("sm_90/fma.rz.f32"));
    const absl::Status s = device->Run(other, RandomBits(other, other.shape(), 1)).status();
    EXPECT_EQ(s.code(), StatusCode::kNotFound);
    EXPECT_THAT(std::string(s.message()), HasSubstr("ptxjitcompiler"));
    Fake("NO_JIT", nullptr);
    ExpectTheModel(*device, other);
  }
}

TEST_F(CudaTest, ADriverOlderThanTheToolkitAssembles) {
  Fake("DRIVER", "12090");
  const std::unique_ptr<Device> device = Open("0", OfCuda130);
  ASSERT_NE(device, nullptr);
  EXPECT_THAT(Name(device->identity()), EndsWith("CUDA 12.9, PTX 8.7 assembled by the driver"));
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(IdentityFor(*device, op), Name(device->identity()));
  ExpectTheModel(*device, op);
  Fake("NO_JIT", "1");
  EXPECT_FALSE(Open("0", OfCuda130)->Run(op, RandomBits(op, op.shape(), 1)).ok());
}

// Machine code that cannot be loaded is an error that names it, and is asked for again.
TEST_F(CudaTest, FailureToLoadMachineCode) {
  const std::unique_ptr<Device> device = Open("0", OfCuda130);
  ASSERT_NE(device, nullptr);
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Fake("FAILS", "cuModuleLoadDataEx");
  Fake("RESULT", "209");
  const absl::Status s = device->Run(op, RandomBits(op, op.shape(), 1)).status();
  EXPECT_EQ(s.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()), HasSubstr("loading the machine code for sm_90a"));
  Fake("FAILS", nullptr);
  ExpectTheModel(*device, op);
}

// All kernels of a target are entries of one module.
TEST(KernelText, NamesAreDistinct) {
  for (const PtxTarget& target : PtxTargets()) {
    std::set<std::string> names;
    for (const ModuleEntry& e : BuiltEntries(target)) {
      const std::string name = KernelName(e.instruction, e.variant);
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), name.npos) << name;
    }
  }
}

TEST_F(CudaTest, IdentitySaysWhatReallyAnswers) {
  EXPECT_EQ(Name(Open()->identity()),
            "Fake, 14 multiprocessors, sm_90a, driver of CUDA 13.0, PTX 8.7 assembled by the "
            "driver");
  Fake("NAME", "NVIDIA H100 80GB HBM3 MIG 1g.10gb");
  const std::unique_ptr<Device> device = Open();
  EXPECT_THAT(Name(device->identity()),
              HasSubstr("MIG 1g.10gb, MIG instance with 14 multiprocessors"));
  EXPECT_EQ(IdentityFor(*device, *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")),
            Name(device->identity()));
  EXPECT_EQ(IdentityFor(*device, *FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32")),
            Name(device->identity()) + ", instruction emulated by ptxas");
  EXPECT_EQ(IdentityFor(*device, *FindOperation("sm_90/wmma.m16n16k16.f32.f16.f16.f32")),
            Name(device->identity()) + ", instruction emulated by ptxas");
  EXPECT_EQ(IdentityFor(*device, *FindOperation("sm_90/wmma.m8n8k4.f64.f64.f64.f64")),
            Name(device->identity()));
}

TEST(DriverReleaseTest, OfTheModuleOrTheLibrary) {
  const std::string folder = testing::TempDir() + "/driver_release";
  std::filesystem::create_directories(folder);
  const std::string module = folder + "/version", library = folder + "/libcuda.so.580.65.06";
  std::ofstream(library) << "";
  std::filesystem::remove(folder + "/libcuda.so.1");
  std::filesystem::create_symlink(library, folder + "/libcuda.so.1");
  EXPECT_EQ(DriverRelease(module, folder + "/libcuda.so.1"), "580.65.06");
  EXPECT_EQ(DriverRelease(module, folder), "");
  std::ofstream(module) << "575.51.03\n";
  EXPECT_EQ(DriverRelease(module, folder + "/libcuda.so.1"), "575.51.03");
  std::filesystem::remove_all(folder);
}

TEST_F(CudaTest, SaysWhichGpuAnswered) {
  const std::unique_ptr<Device> device = Open();
  ASSERT_NE(device, nullptr);
  const std::string serial = "GPU-01020304-0506-0708-090a-0b0c0d0e0f10 at PCI 0000:17:00.0, ";
  EXPECT_EQ(Name(device->hardware()), serial + "0 of 14 multiprocessors answered");
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  ASSERT_TRUE(device->Run(op, RandomBits(op, op.shape(), 100)).ok());
  EXPECT_EQ(Name(device->hardware()), serial + "14 of 14 multiprocessors answered");
}

// Stale or untouched memory is no answer, even if it holds the right one.
TEST_F(CudaTest, AKernelThatWritesNothing) {
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/wgmma.m64n8k16.f16.f16.f16"}) {
    const Operation& op = *FindOperation(name);
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    ExpectTheModel(*device, op);
    for (const auto& [fault, text] : {std::pair("unwritten", "wrote no result in execution 0 of 3"),
                                      std::pair("unwritten_d", "wrote no result in execution 0")}) {
      Fake("FAULT", fault);
      const absl::Status s = device->Run(op, RandomBits(op, op.shape(), 3)).status();
      EXPECT_EQ(s.code(), StatusCode::kDataLoss) << fault;
      EXPECT_THAT(std::string(s.message()), HasSubstr(text));
    }
    Fake("FAULT", nullptr);
    ExpectTheModel(*device, op);
  }
}

// A failure is a Status that names the step, never a mismatch. After most the object can be used
// again.
TEST_F(CudaTest, FailuresOfTheDevice) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const auto& [function, result, code, text] :
       {std::tuple("cuModuleLoadDataEx", "218", StatusCode::kUnavailable, "assembling mma"),
        std::tuple("cuModuleLoadDataEx", "222", StatusCode::kNotFound, "too old for the PTX"),
        std::tuple("cuModuleLoadDataEx", "209", StatusCode::kNotFound, "cannot make machine code"),
        std::tuple("cuModuleLoadDataEx", "221", StatusCode::kNotFound, "ptxjitcompiler"),
        std::tuple("cuMemAlloc_v2", "2", StatusCode::kUnavailable, "allocating"),
        std::tuple("cuLaunchKernel", "701", StatusCode::kUnavailable, "launching a kernel")}) {
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    Fake("FAILS", function);
    Fake("RESULT", result);
    const auto d = device->Run(op, RandomBits(op, op.shape(), 1));
    EXPECT_EQ(d.status().code(), code) << result;
    EXPECT_THAT(std::string(d.status().message()),
                HasSubstr(absl::StrCat("fake error (CUDA error ", result, ")")));
    EXPECT_THAT(std::string(d.status().message()), HasSubstr(text));
    Fake("FAILS", nullptr);
    EXPECT_TRUE(device->Run(op, RandomBits(op, op.shape(), 1)).ok()) << function;
  }
}

// A layout that is not the one of the tables disables the instruction, from its first use on.
TEST_F(CudaTest, AWrongLayout) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const Batch batch = RandomBits(op, op.shape(), 1);
  for (const char* operand : {"A", "B", "C", "D"}) {
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    EXPECT_TRUE(device->Supports(op).ok());
    setenv("FAKE_CUDA_SWAPS", operand, 1);
    for (int i = 0; i < 2; ++i) {
      const absl::Status s = device->Run(op, batch).status();
      EXPECT_EQ(s.code(), i == 0 ? StatusCode::kFailedPrecondition : StatusCode::kNotFound);
      EXPECT_THAT(std::string(s.message()), HasSubstr("disabled on this device"));
      unsetenv("FAKE_CUDA_SWAPS");  // remembered
    }
    EXPECT_EQ(device->Supports(op).code(), StatusCode::kNotFound) << operand;
    const Operation& other = *FindOperation("sm_90/mma.m16n8k8.f32.f16.f16.f32");
    EXPECT_TRUE(device->Run(other, RandomBits(other, other.shape(), 1)).ok());
  }
}

// After these the driver has destroyed the context: the object says so from then on.
TEST_F(CudaTest, FailuresThatKillTheContext) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  for (const auto& [function, result, code, text] :
       {std::tuple("cuLaunchKernel", "719", StatusCode::kUnavailable, "run the same command again"),
        std::tuple("cuCtxSynchronize", "700", StatusCode::kUnavailable, "dmesg for Xid"),
        std::tuple("cuCtxSynchronize", "226", StatusCode::kUnavailable, "dmesg for Xid"),
        std::tuple("cuCtxSynchronize", "721", StatusCode::kUnavailable, "dmesg for Xid"),
        std::tuple("cuCtxSynchronize", "999", StatusCode::kUnavailable, "nvidia-smi"),
        std::tuple("cuCtxSynchronize", "702", StatusCode::kDeadlineExceeded, "long kernels")}) {
    const std::unique_ptr<Device> device = Open();
    ASSERT_NE(device, nullptr);
    Fake("FAILS", function);
    Fake("RESULT", result);
    const absl::Status first = device->Run(op, RandomBits(op, op.shape(), 1)).status();
    EXPECT_EQ(first.code(), code) << result;
    EXPECT_THAT(std::string(first.message()), HasSubstr(text));
    Fake("FAILS", nullptr);
    const absl::Status later = device->Run(op, RandomBits(op, op.shape(), 1)).status();
    EXPECT_EQ(later.code(), StatusCode::kUnavailable) << result;
    EXPECT_THAT(std::string(later.message()), HasSubstr("cuda:0 is unusable in this process"));
    EXPECT_THAT(std::string(later.message()), HasSubstr(std::string(first.message())));
  }
}

}  // namespace
}  // namespace mmadiff
