// Operations without a model on the stand-in for the driver (fake_driver.cc): each has a kernel that
// is loaded, probed and answers. What hardware answers nobody knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "device/cuda/cuda.h"
#include "device/cuda/kernel.h"
#include "device/one_hot.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

class Unmodelled : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBCUDA", "", 1);
    unsetenv("FAKE_CUDA_SWAPS");
    unsetenv("FAKE_CUDA_NO_JIT");
  }

  // With machine code or without.
  static std::unique_ptr<GpuDevice> Open(const PtxTarget& target, bool image) {
    setenv("FAKE_CUDA_CAPABILITY", absl::StrCat(target.major, ".", target.minor).c_str(), 1);
    auto device = OpenCudaWith("0", [](const PtxTarget&) { return KernelImage{}; });
    if (image) {
      device = OpenCudaWith("0", [](const PtxTarget&) { return KernelImage{"\177ELF", 13000}; });
    }
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

// Integers 0 to 3, in words of the formats; the sum of any of them is exact in f16.
Batch SmallIntegers(const Operation& op, std::vector<uint64_t>& sums) {
  const Shape& s = op.shape();
  Batch values, words;
  values.Resize(s, 3);
  uint64_t state = 1;
  for (const auto operand : {&Batch::a, &Batch::b, &Batch::c}) {
    for (uint64_t& v : values.*operand) v = (state = state * 6364136223846793005u + 1) >> 62;
  }
  words = values;
  for (uint64_t& w : words.a) w = IntegerWord(*op.instruction->a, w);
  for (uint64_t& w : words.b) w = IntegerWord(*op.instruction->b, w);
  for (uint64_t& w : words.c) w = IntegerWord(*op.instruction->c, w);
  for (int64_t i = 0; i < values.dot_products(); ++i) {
    const DotProductCase dot = Extract(values, i);
    uint64_t sum = dot.c;
    for (int k = 0; k < s.k; ++k) sum += dot.a[k] * dot.b[k];
    sums.push_back(IntegerWord(*op.instruction->d, sum));
  }
  return words;
}

// What a device expects in the machine code is there.
TEST(UnmodelledKernels, AreBuilt) {
  for (const PtxTarget& target : PtxTargets()) {
    std::set<std::string> built;
    for (const ModuleEntry& e : BuiltEntries(target)) {
      built.insert(KernelName(e.instruction, e.variant));
    }
    for (const Operation& op : UnmodelledOperations()) {
      if (op.arch() != target.arch) continue;
      ASSERT_TRUE(IsBuiltEntry(*op.instruction));
      for (const Variant& variant : VariantsOf(*op.instruction)) {
        EXPECT_TRUE(built.contains(KernelName(*op.instruction, variant))) << op.name;
      }
    }
  }
}

TEST_F(Unmodelled, EachHasAKernelAndAnswers) {
  std::set<const Operation*> asked;
  for (const PtxTarget& target : PtxTargets()) {
    for (const bool image : {false, true}) {
      image ? setenv("FAKE_CUDA_NO_JIT", "1", 1) : unsetenv("FAKE_CUDA_NO_JIT");
      const std::unique_ptr<GpuDevice> device = Open(target, image);
      ASSERT_NE(device, nullptr);
      for (const Operation& op : UnmodelledOperations()) {
        EXPECT_EQ(device->Supports(op).ok(), op.arch() == target.arch) << op.name;
        if (op.arch() != target.arch) continue;
        asked.insert(&op);
        EXPECT_TRUE(device->Emulates(op));
        EXPECT_TRUE(ProbeLayout(*device, op).ok()) << op.name;
        std::vector<uint64_t> sums;
        const Batch batch = SmallIntegers(op, sums);
        const auto d = device->Run(op, batch);
        ASSERT_TRUE(d.ok()) << op.name << ": " << d.status();
        EXPECT_EQ(*d, sums) << op.name;
      }
    }
  }
  EXPECT_EQ(asked.size(),
            MatchOperations("sm_*", Models::kOptional).size() - MatchOperations("sm_*").size());
}

TEST_F(Unmodelled, AnotherLayoutIsSeen) {
  for (const char* name :
       {"sm_90/mma.m8n8k4.f16.f16.f16.f16", "sm_90/wmma.m32n8k16.f16.f16.f16.f32"}) {
    const Operation& op = *FindUnmodelled(name);
    for (const char* operand : {"A", "B", "C", "D"}) {
      setenv("FAKE_CUDA_SWAPS", operand, 1);
      for (const PtxTarget& target : PtxTargets()) {
        if (op.arch() != target.arch) continue;
        std::vector<uint64_t> sums;
        const absl::Status s = Open(target, false)->Run(op, SmallIntegers(op, sums)).status();
        EXPECT_TRUE(absl::IsFailedPrecondition(s)) << name << " " << operand << ": " << s;
        EXPECT_THAT(std::string(s.message()), HasSubstr("the layout differs from the tables"));
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
