// Kernels of wmma and fma: their text, and every variant on the stand-in for the driver
// (fake_driver.cc). Their machine code is native_wmma_test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "device/cuda/cuda.h"
#include "device/cuda/fma_kernel.h"
#include "device/cuda/wmma_kernel.h"
#include "device/testing/operations.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

// As the PTX ISA writes them (9.7.14.4.3 to 9.7.14.4.5), with the leading dimensions of
// sim/layout_wmma.h.
TEST(WmmaText, LoadsMmaAndStore) {
  const auto text = [](const char* name, const Variant& variant) {
    return WmmaBody(*FindInstruction(name), variant);
  };
  const std::string half = text("wmma.m8n32k16.f16.f16.f16.f16", {.a_columns = true});
  const std::string eight = "{%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}";
  EXPECT_THAT(half, HasSubstr(absl::StrCat("  wmma.load.a.sync.aligned.col.m8n32k16.global.f16 ",
                                           eight, ", [%base], 16;\n")));
  EXPECT_THAT(half, HasSubstr(absl::StrCat("  wmma.mma.sync.aligned.col.col.m8n32k16.f16.f16 "
                                           "{%d0, %d1, %d2, %d3}, ",
                                           eight, ", ")));
  EXPECT_THAT(half, HasSubstr("  wmma.store.d.sync.aligned.row.m8n32k16.global.f16 [%base], "
                              "{%d0, %d1, %d2, %d3}, 32;\n"));
  const std::string bytes =
      text("wmma.m32n8k16.satfinite.s32.u8.u8.s32", {.b_rows = true, .c_columns = true});
  EXPECT_THAT(bytes, HasSubstr("  wmma.load.b.sync.aligned.row.m32n8k16.global.u8 {%b0}, "
                               "[%base], 32;\n"));
  EXPECT_THAT(bytes, HasSubstr("  wmma.load.c.sync.aligned.col.m32n8k16.global.s32 {%c0, "));
  EXPECT_THAT(bytes, HasSubstr("  wmma.mma.sync.aligned.row.row.m32n8k16.s32.u8.u8.s32.satfinite "
                               "{%d0, "));
  EXPECT_THAT(text("wmma.m8n8k128.s32.b1.b1.s32.and.popc", {}),
              HasSubstr("  wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
                        "{%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};\n"));
  const std::string wide = text("wmma.m8n8k4.rz.f64.f64.f64.f64", {});
  EXPECT_THAT(wide, HasSubstr("  .reg .b64 %a<8>, %b<8>, %c<8>, %d<8>;\n"));
  EXPECT_THAT(wide, HasSubstr("  wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 "
                              "{%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};\n"));
}

TEST(FmaText, OneOfEachLane) {
  const std::string text = FmaBody(*FindInstruction("fma.rm.f64"));
  EXPECT_THAT(text, HasSubstr("  mad.lo.u32 %index, %index, 32, %lane;\n"));
  EXPECT_THAT(text, HasSubstr("  mad.wide.u32 %base, %index, 8, %base;\n"));
  EXPECT_THAT(text, HasSubstr("  fma.rm.f64 %d, %a, %b, %c;\n"));
}

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBCUDA", "", 1);
    setenv("FAKE_CUDA_CAPABILITY", "8.0", 1);
    unsetenv("FAKE_CUDA_SWAPS");
  }

  static std::unique_ptr<GpuDevice> Open(const Variant& variant) {
    auto device = OpenCuda("0" + SuffixOf(variant));
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

// Both shapes of batches. The first answer of each is behind a probe of its layout.
TEST_F(Launch, EveryVariantGivesTheModel) {
  int kernels = 0;
  std::vector<const Operation*> ops = MatchOperations("sm_80/wmma.*");
  for (const Operation* op : MatchOperations("sm_80/fma.*")) ops.push_back(op);
  for (const Operation* op : ops) {
    for (const Variant& variant : VariantsOf(*op->instruction)) {
      const std::unique_ptr<GpuDevice> device = Open(variant);
      ASSERT_NE(device, nullptr);
      EXPECT_EQ(device->name(), "cuda:0" + SuffixOf(variant));
      const auto loaded = device->Load(*op);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      EXPECT_EQ((*loaded)->kernel.entry, KernelName(*op->instruction, variant));
      const int diagonal = op->shape().blocks * std::min(op->shape().m, op->shape().n);
      for (const Batch& batch : {RandomBits(*op, op->shape(), 2, 1),
                                 RandomBits(*op, DotProductShape(op->shape()), diagonal + 1, 2)}) {
        std::vector<uint64_t> model(batch.dot_products());
        Simulate(op->model, batch, model);
        const auto d = device->Run(*op, batch);
        ASSERT_TRUE(d.ok()) << op->name << SuffixOf(variant) << ": " << d.status();
        EXPECT_EQ(*d, model) << op->name << SuffixOf(variant);
      }
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 32 * 8 + 6 * 2 + 8);
}

// Two rows, columns or lanes of one operand that have changed places are seen by the probe.
TEST_F(Launch, AnotherLayoutIsSeen) {
  for (const char* name :
       {"sm_80/wmma.m16n16k16.f32.f16.f16.f32", "sm_80/wmma.m32n8k16.s32.s8.s8.s32",
        "sm_80/wmma.m8n8k32.s32.s4.s4.s32", "sm_80/fma.rz.f64"}) {
    const Operation& op = *FindOperation(name);
    for (const Variant& variant : VariantsOf(*op.instruction)) {
      for (const char* operand : {"A", "B", "C", "D"}) {
        setenv("FAKE_CUDA_SWAPS", operand, 1);
        const auto device = Open(variant);
        ASSERT_NE(device, nullptr);
        const absl::Status s = device->Run(op, RandomBits(op, op.shape(), 1, 1)).status();
        EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition)
            << name << SuffixOf(variant) << operand;
        EXPECT_THAT(std::string(s.message()), HasSubstr("the layout differs from the tables"));
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
