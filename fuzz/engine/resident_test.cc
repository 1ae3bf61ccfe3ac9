// GPU-resident runs on libraries that stand for the drivers, with the kernels' own text run on the
// host (fake_resident.cc): every count, digest and mismatch equals that of the host path. What
// hardware answers, and whether nvcc and clang compile the text to the same, is not tested here.
#include "fuzz/gpu/resident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/cuda/cuda.h"
#include "device/gpu/testing/fake_model.h"
#include "device/hip/hip.h"
#include "fuzz/engine/engine.h"
#include "fuzz/unit/devices.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

class ResidentTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBCUDA", "", 1);  // fake_driver.cc
    for (const char* variable : {"CAPABILITY", "FAULT", "FAILS", "RESULT", "FREE"})
      Fake(variable, nullptr);
    setenv("MMADIFF_LIBHIP", "", 1);
    unsetenv("FAKE_HIP_FAULT");
  }

  static void Fake(const std::string& name, const char* value) {
    const std::string variable = "FAKE_CUDA_" + name;
    value == nullptr ? unsetenv(variable.c_str()) : setenv(variable.c_str(), value, 1);
  }

  // The GPU that has the operation.
  static std::unique_ptr<GpuDevice> OpenFor(const Operation& op) {
    if (op.arch().substr(0, 3) == "gfx") {
      setenv("FAKE_HIP_TARGET", std::string(op.arch()).c_str(), 1);
      return *OpenHipWith("0", [](const HipTarget&) { return HipImage{"\177ELF", "clang 0"}; });
    }
    std::string capability(op.arch().substr(3));
    capability.insert(capability.size() - 1, ".");
    Fake("CAPABILITY", capability.c_str());
    return *OpenCuda("0");
  }

  // A runner with the kernels' twins; `device` is its GPU.
  static std::unique_ptr<ResidentRunner> Open(std::unique_ptr<Device>& device) {
    std::unique_ptr<GpuDevice> gpu = *OpenCuda("0");
    auto runner = *ResidentRunner::Create(*gpu, "twin");
    device = std::move(gpu);
    return runner;
  }

  static Next Accept(const CaseName&, const Mismatch&) { return Next::kGoOn; }
};

// A quarter of what is free holds the cases of a launch: one of them, some, or all.
TEST_F(ResidentTest, LaunchesFitTheMemory) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const CaseStream stream = {&op, &Strategies().front(), 1};
  Digest digests[3];
  int i = 0;
  for (const char* free : {"0", "400000", "4000000000"}) {
    Fake("FREE", free);
    std::unique_ptr<Device> device;
    const auto runner = Open(device);
    UnitResult result;
    ASSERT_TRUE(runner->Run(stream, 5, 100, result, Accept).ok()) << free;
    EXPECT_EQ(result.cases, 100u);
    digests[i++] = result.device_digest;
  }
  EXPECT_EQ(digests[0], digests[2]);
  EXPECT_EQ(digests[1], digests[2]);
  Fake("FREE", nullptr);
  std::unique_ptr<Device> device;
  const auto runner = Open(device);
  Fake("FAILS", "cuMemGetInfo_v2");
  Fake("RESULT", "999");
  UnitResult result;
  EXPECT_THAT(std::string(runner->Run(stream, 5, 100, result, Accept).status().message()),
              HasSubstr("querying free memory"));
}

UnitResult Without(UnitResult r) {
  r.seconds = 0;
  return r;
}

// By the division that is avoided, and back.
TEST(Places, AreThoseOfTheClasses) {
  for (const int64_t count :
       {int64_t{1}, int64_t{47}, int64_t{1'000'003}, kMaxPlaces - 1, kMaxPlaces}) {
    for (const int period : {1, 3, 48, 68, 100}) {
      const Places places = PlacesOf(count, period);
      const uint32_t runs = static_cast<uint32_t>(count / period);
      for (uint32_t p = 0; p < count; ++p) {
        const uint32_t expected = p < runs * period ? p % runs * period + p / runs : p;
        ASSERT_EQ(CaseAt(places, p), expected) << p << " of " << count << " in " << period;
        ASSERT_EQ(PlaceOf(places, expected), p) << p << " of " << count << " in " << period;
      }
    }
  }
}

TEST_F(ResidentTest, EqualsTheHostPath) {
  const char* const ops[] = {
      "sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k8.f16.f16.f16.f16",
      "sm_90/mma.m16n8k8.f32.tf32.tf32.f32", "sm_90/mma.m16n8k4.rp.f64.f64.f64.f64",
      "sm_90/mma.m16n8k32.f32.e4m3.e5m2.f32", "sm_90/mma.m16n8k32.satfinite.s32.s8.u8.s32",
      "sm_90/mma.m8n8k128.s32.b1.b1.s32.and.popc", "sm_75/mma.m8n8k4.f32.f16.f16.f32",
      "sm_90/wgmma.m64n24k16.f32.f16.f16", "sm_80/wmma.m8n32k16.f16.f16.f16.f16",
      "sm_80/wmma.m32n8k16.satfinite.s32.u8.u8.s32", "sm_80/fma.rn.f32", "sm_75/fma.rp.f64",
      "sm_100/tcgen05.mma.m64n8k32.f32.e3m2.e4m3",
      "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
      "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "gfx908/v_mfma_f32_16x16x16f16",
      "gfx908/v_mfma_f32_4x4x2bf16", "gfx90a/v_mfma_f32_16x16x4f16",
      "gfx90a/v_mfma_f32_32x32x4bf16", "gfx90a/v_mfma_f32_4x4x4bf16_1k",
      "gfx90a/v_mfma_f64_16x16x4f64", "gfx90a/v_mfma_i32_16x16x16i8",
      "gfx942/v_mfma_f32_16x16x16_f16", "gfx942/v_mfma_f32_32x32x4_2b_bf16",
      "gfx942/v_mfma_f32_16x16x8_xf32", "gfx942/v_mfma_f32_32x32x2_f32",
      "gfx942/v_mfma_f32_16x16x32_fp8_bf8", "gfx942/v_mfma_i32_32x32x16_i8",
      "gfx942/v_mfma_i32_4x4x4_16b_i8", "gfx942/v_mfma_f64_4x4x4_4b_f64",
      // As if they computed what their stand-in does:
      "gfx950/v_mfma_scale_f32_16x16x128_f8f6f4.e4m3.e2m3.ue8m0",
      "gfx1100/v_wmma_i32_16x16x16_iu8.s8.u8", "gfx1200/v_wmma_f32_16x16x16_fp8_bf8"};
  for (const char* name : ops) {
    SCOPED_TRACE(name);
    const Operation* const found = FindOperation(name, Models::kOptional);
    ASSERT_NE(found, nullptr);
    Operation op = *found;
    op.model = FakeModel(op);
    const std::unique_ptr<GpuDevice> device = OpenFor(op);
    const auto resident = ResidentRunner::Create(*device, "twin");
    ASSERT_TRUE(resident.ok()) << resident.status();
    // Slow here: fewer cases. The generator is the same for both vendors: one strategy.
    const bool large = op.shape().d_words() > 512, amd = op.arch().substr(0, 3) == "gfx";
    const uint64_t count = large ? 40 : 333;
    std::vector<const Strategy*> strategies = {&Strategies().front()};
    if (!large && !amd) {
      strategies.insert(strategies.end(), {&Strategies()[1], &Strategies()[2],
                                           FindStrategy("edges"), FindStrategy("cancel")});
    }
    for (const Strategy* strategy : strategies) {
      const CaseStream stream = {&op, strategy, 7};
      ASSERT_TRUE(ResidentRunner::Supports(stream));
      UnitResult host, gpu;
      ASSERT_TRUE(UnitRunner(*device, stream).Run(1000, count, host, Accept).ok());
      const absl::Status s = (*resident)->Run(stream, 1000, count, gpu, Accept).status();
      ASSERT_TRUE(s.ok()) << s;
      EXPECT_EQ(Without(gpu), Without(host)) << strategy->name;
      const absl::StatusOr<Digest> answers = (*resident)->AnswerDigest(stream, 1000, count);
      ASSERT_TRUE(answers.ok());
      EXPECT_TRUE(*answers == host.device_digest);
      EXPECT_GT(gpu.counts["event.sampled"], 2u);
    }
  }
}

class ResidentTestOf : public ResidentTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(BothVendors, ResidentTestOf,
                         testing::Values("sm_90/mma.m16n8k16.f32.f16.f16.f32",
                                         "gfx942/v_mfma_f32_16x16x16_f16",
                                         "gfx90a/v_mfma_f64_4x4x4f64"));

TEST_P(ResidentTestOf, FlagsAndReportsMismatches) {
  // The GPU computes what the table says; the operation that it is held against is another.
  const Operation& op = *FindOperation(GetParam());
  Operation wrong = op;
  wrong.model.algorithm = Neighbours(op.model).front().algorithm;
  const std::unique_ptr<GpuDevice> device = OpenFor(op);
  const auto resident = ResidentRunner::Create(*device, "twin");
  ASSERT_TRUE(resident.ok());
  const CaseStream stream = {&wrong, &Strategies().front(), 1};
  for (const uint64_t count : {64, 4096}) {  // few flagged cases, and more than the GPU lists
    UnitResult host, gpu;
    std::vector<uint64_t> by_host, by_gpu;
    const auto into = [](std::vector<uint64_t>& cases) {
      return [&cases](const CaseName& name, const Mismatch&) {
        cases.push_back(name.index);
        return Next::kGoOn;
      };
    };
    ASSERT_TRUE(UnitRunner(*device, stream).Run(0, count, host, into(by_host)).ok());
    ASSERT_TRUE((*resident)->Run(stream, 0, count, gpu, into(by_gpu)).ok());
    EXPECT_GT(gpu.mismatches, 0u);
    EXPECT_EQ(by_gpu, by_host);
    EXPECT_EQ(Without(gpu), Without(host));
  }
}

// A launch may have millions of cases that differ: the part ends with the one that was reported.
TEST_P(ResidentTestOf, APauseEndsThePartWithItsCase) {
  const Operation& op = *FindOperation(GetParam());
  Operation wrong = op;
  wrong.model.algorithm = Neighbours(op.model).front().algorithm;
  const std::unique_ptr<GpuDevice> device = OpenFor(op);
  const auto resident = ResidentRunner::Create(*device, "twin");
  ASSERT_TRUE(resident.ok());
  const CaseStream stream = {&wrong, &Strategies().front(), 1};
  UnitResult whole, parts;
  ASSERT_TRUE((*resident)->Run(stream, 0, 64, whole, Accept).ok());
  std::vector<uint64_t> paused;
  for (uint64_t next = 0; next < 64;) {
    const auto pause = [&](const CaseName& name, const Mismatch&) {
      paused.push_back(name.index);
      return Next::kPause;
    };
    const size_t before = paused.size();
    const auto end = (*resident)->Run(stream, next, 64 - next, parts, pause);
    ASSERT_TRUE(end.ok()) << end.status();
    next = *end;
    EXPECT_LE(paused.size(), before + 1);
  }
  EXPECT_EQ(paused, whole.mismatching_cases);
  EXPECT_EQ(Without(parts), Without(whole));
}

constexpr char kOperation[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

// What goes wrong in silence, after a self-test that saw nothing of it: never a clean unit.
TEST_F(ResidentTest, WhatIsNotConfirmedIsDataLoss) {
  const CaseStream stream = {FindOperation(kOperation), &Strategies().front(), 1};
  for (const auto& [fault, text] :
       {std::pair("large", "4096 cases were flagged, on multiprocessors 0 1 2 3 4 5 6 7 ..."),
        std::pair("once", "on multiprocessor 1), but not when it was repeated"),
        std::pair("multiprocessor", "cases were flagged, on multiprocessors 5"),
        std::pair("unwritten", "4096 executions without a trace"),
        std::pair("generate_nothing", "its operands on the GPU differ from those of its name"),
        std::pair("generate_part", "the GPU generated 4095 cases"),
        std::pair("generate_wrong", "its operands on the GPU differ from those of its name"),
        std::pair("compare_part", "compared 262144 words, not 524288"),
        std::pair("counters", "the GPU generated 0 cases and compared 0 words"),
        std::pair("unwritten_d", "4096 cases were flagged")}) {
    SCOPED_TRACE(fault);
    std::unique_ptr<Device> device;
    const auto resident = Open(device);
    UnitResult first, unit;
    ASSERT_TRUE(resident->Run(stream, 0, 64, first, Accept).ok());
    EXPECT_EQ(first.mismatches, 0u);
    Fake("FAULT", fault);
    int reported = 0;
    const absl::Status s = resident
                               ->Run(stream, 0, 4096, unit,
                                     [&reported](const CaseName&, const Mismatch&) {
                                       ++reported;
                                       return Next::kGoOn;
                                     })
                               .status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << s;
    const bool unwritten_d = fault == std::string("unwritten_d");  // asking again finds it first
    EXPECT_THAT(std::string(s.message()), HasSubstr(unwritten_d ? "wrote no result" : text));
    EXPECT_EQ(reported, 0);
    Fake("FAULT", fault);  // "once" is over
    EXPECT_FALSE(resident->AnswerDigest(stream, 0, 4096).ok());
    Fake("FAULT", nullptr);
  }
}

// The self-test sees it, and the operation stays out of use.
TEST_F(ResidentTest, TheSelfTestSeesLaterLaunches) {
  const CaseStream stream = {FindOperation("sm_90/mma.m16n8k8.f32.f16.f16.f32"),
                             &Strategies().front(), 1};
  std::unique_ptr<Device> device;
  const auto resident = Open(device);
  ASSERT_TRUE(device
                  ->Run(*stream.op,
                        [&] {
                          Batch batch;  // the layout is confirmed
                          Generate(stream, 0, 1, batch);
                          return batch;
                        }())
                  .ok());
  Fake("FAULT", "alternating");  // every second launch is wrong
  UnitResult unit;
  const absl::Status s = resident->Run(stream, 0, 64, unit, Accept).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("for the 64 cases"));
  Fake("FAULT", nullptr);
  EXPECT_EQ(resident->Run(stream, 0, 64, unit, Accept).status(), s);
  const CaseStream other = {FindOperation(kOperation), &Strategies().front(), 1};
  EXPECT_TRUE(resident->Run(other, 0, 64, unit, Accept).ok());
}

// Other processes took what was said to be free: half as much is tried, and half of that.
TEST_F(ResidentTest, LaunchesGrowSmallerWhereThereIsNoRoom) {
  const CaseStream stream = {FindOperation(kOperation), &Strategies().front(), 1};
  UnitResult results[2];
  for (UnitResult& result : results) {
    std::unique_ptr<Device> device;
    const auto runner = Open(device);
    ASSERT_TRUE(runner->Run(stream, 5, 9000, result, Accept).ok());
    EXPECT_EQ(result.cases, 9000u);
    Fake("ROOM", "9000000");
  }
  EXPECT_EQ(results[0].device_digest, results[1].device_digest);
  Fake("ROOM", "1000");
  std::unique_ptr<Device> device;
  const auto runner = Open(device);
  UnitResult result;
  EXPECT_THAT(std::string(runner->Run(stream, 5, 9000, result, Accept).status().message()),
              HasSubstr("allocating"));
  Fake("ROOM", nullptr);
  EXPECT_TRUE(runner->Run(stream, 5, 9000, result, Accept).ok());
}

TEST_F(ResidentTest, AFailedAllocationLeavesNothingBehind) {
  const CaseStream stream = {FindOperation(kOperation), &Strategies().front(), 1};
  std::unique_ptr<Device> device;
  const auto resident = Open(device);
  UnitResult unit;
  ASSERT_TRUE(resident->Run(stream, 0, 64, unit, Accept).ok());
  Fake("FAILS", "cuMemAlloc_v2");
  Fake("RESULT", "2");
  for (int i = 0; i < 2; ++i) {  // more room is needed than the self-test had
    const absl::Status s = resident->Run(stream, 0, 9000, unit, Accept).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kUnavailable) << s;
  }
  Fake("FAILS", nullptr);
  UnitResult again, host;
  ASSERT_TRUE(resident->Run(stream, 0, 9000, again, Accept).ok());
  ASSERT_TRUE(UnitRunner(*device, stream).Run(0, 9000, host, Accept).ok());
  EXPECT_EQ(Without(again), Without(host));
}

TEST_F(ResidentTest, SaysWhichMultiprocessorsAnswered) {
  std::unique_ptr<Device> device;
  const auto resident = Open(device);
  UnitResult unit;
  ASSERT_TRUE(
      resident->Run({FindOperation(kOperation), &Strategies().front(), 1}, 0, 64, unit, Accept)
          .ok());
  EXPECT_THAT(Name(device->hardware()), HasSubstr("14 of 14 multiprocessors answered"));
}

TEST_F(ResidentTest, TimesEachKernel) {
  auto gpu = OpenCuda("0");
  ASSERT_TRUE(gpu.ok());
  const auto counter = GpuCounter::Create(**gpu, "twin");
  std::map<std::string, double> seconds;
  (*counter)->set_seconds(&seconds);
  const CaseStream stream = {FindOperation(kOperation), &Strategies().front(), 1};
  Counted counted;
  ASSERT_TRUE((*counter)->Count(stream, stream.op->model, 0, 64, 32, counted).ok());
  std::vector<std::string> kernels;
  for (const auto& [kernel, passed] : seconds) {
    EXPECT_GT(passed, 0) << kernel;
    kernels.push_back(kernel);
  }
  EXPECT_THAT(kernels, testing::ElementsAre("before", "compare_narrow_f32", "fill", "generate",
                                            "instruction", "trace"));
}

TEST_F(ResidentTest, WhereItDoesNotRun) {
  const EngineOr faulty = OpenEngine("faulty:none=0");
  ASSERT_TRUE(faulty.ok());
  EXPECT_FALSE((*faulty)->resident());
  auto gpu = OpenCuda("0");
  ASSERT_TRUE(gpu.ok());
  const absl::Status none = ResidentRunner::Create(**gpu, "").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.message()), HasSubstr("the test has taken them away"));
  const auto supports = [](const Operation& op) {
    return ResidentRunner::Supports({&op, &Strategies().front(), 1});
  };
  Operation sparse = *FindOperation("gfx942/v_smfmac_f32_16x16x32_f16", Models::kOptional);
  EXPECT_FALSE(supports(sparse));  // nobody knows what it computes
  sparse.model = FakeModel(sparse);
  EXPECT_FALSE(supports(sparse));
}

}  // namespace
}  // namespace mmadiff
