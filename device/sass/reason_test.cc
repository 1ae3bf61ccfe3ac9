// What the device says about the code that ptxas 13.0 makes of overlapping registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/sass_device.h"
#include "device/sass/testing/some_batch.h"
#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

// nullptr: no ptxas 13.0, whose machine code these tests describe, or no nvdisasm.
std::unique_ptr<Device> Open(absl::string_view argument) {
  const auto ptxas = sass::FindAssembler("");
  if (!ptxas.ok() || !sass::FindDisassembler(*ptxas).ok()) return nullptr;
  const auto version = sass::VersionOf(*ptxas);
  if (!version.ok() || !absl::StartsWith(*version, "13.0.")) return nullptr;
  auto device = OpenSass(argument);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

class Reasons : public testing::Test {
 protected:
  void SetUp() override {
    if (Open("arch=sm_90a") == nullptr) GTEST_SKIP() << "no ptxas 13.0 or nvdisasm";
  }
  std::string Of(const char* argument, const char* row) {
    const Operation& op = *FindOperation(row);
    const Batch batch = SomeBatch(op, 1);
    const auto device = Open(argument);
    const auto d = device->Run(op, batch);
    EXPECT_TRUE(d.ok()) << d.status();
    std::vector<uint64_t> model(batch.dot_products());
    Simulate(op.model, batch, model);
    const auto at = std::ranges::mismatch(*d, model);
    return At(*device, row, at.in1 == d->end() ? 0 : at.in1 - d->begin());
  }
  static std::string At(Device& device, const char* row, int64_t element) {
    const Operation& op = *FindOperation(row);
    const auto text = device.Reason(op, SomeBatch(op, 1), element);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
};

constexpr char kFp8[] = "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
               kF16[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32",
               kWmma[] = "sm_90/wmma.m16n16k16.s32.s8.s8.s32";

TEST_F(Reasons, NameTheInstructionThatReadsTheWrongRegister) {
  EXPECT_THAT(
      Of("arch=sm_90a,overlap=c_reversed", kFp8),
      MatchesRegex("with overlap=c2d1 alone, FADD R7, R6, R5 at 0x[0-9a-f]+ reads the result "
                   "of FADD R5, R2, R5 at 0x[0-9a-f]+; it should read c\\[2\\]"));
  EXPECT_THAT(Of("arch=sm_90a,overlap=a0d0", kWmma),
              MatchesRegex("with overlap=a0d0 alone, IMMA.16816.S8.S8 R.* reads the result of "
                           "IMMA.16816.S8.S8 R.*; it should read a\\[0\\]"));
}

// Code without optimization packs halves of registers that nothing reads.
TEST_F(Reasons, FollowValuesThatDiffer) {
  EXPECT_THAT(
      Of("arch=sm_90a,overlap=c1d0,O=0", kFp8),
      MatchesRegex("with overlap=c1d0 alone, FADD .* reads the result of FADD .*; it should "
                   "read c\\[1\\]"));
}

// Registers 2 and 3 of D are rows 8 to 15: the overlap changes nothing in row 0.
TEST_F(Reasons, DoNotBlameAnOverlapThatChangesAnotherAnswer) {
  const auto device = Open("arch=sm_90a,overlap=c3d2");
  EXPECT_THAT(At(*device, kFp8, 0), StartsWith("the machine code computes FADD(c[0], "));
  EXPECT_THAT(At(*device, kFp8, 8 * 8 + 1), StartsWith("with overlap=c3d2 alone, FADD"));
}

TEST_F(Reasons, StateWhatCodeComputes) {
  EXPECT_THAT(Of("arch=sm_90a", kFp8),
              StartsWith("the machine code computes FADD(c[0], HMMA.16816.F32({"
                         "F2FP.F16.E4M3.UNPACK_B(...), ...}, "));
  EXPECT_THAT(Of("arch=sm_90a,overlap=c", kFp8),
              StartsWith("the machine code computes FADD(c[0], "));
}

TEST_F(Reasons, AnyVariantFindsTheFirstThatIsWrong) {
  EXPECT_THAT(Of("arch=sm_90a,overlap=any", kFp8), StartsWith("with overlap=c2d1 alone, FADD"));
  EXPECT_THAT(Of("arch=sm_90a,around=any,overlap=any", kWmma), StartsWith("with overlap=c"));
}

// The device differs from the one without "any" exactly where some variant does.
TEST_F(Reasons, AnyVariantAnswersAsWithoutUnlessOneIsWrong) {
  for (const auto& [row, wrong] : {std::pair(kF16, false), {kFp8, true}, {kWmma, true}}) {
    const Operation& op = *FindOperation(row);
    const auto plain = Open("arch=sm_90a")->Run(op, SomeBatch(op, 1)),
               any = Open("arch=sm_90a,overlap=any,around=any")->Run(op, SomeBatch(op, 1));
    ASSERT_TRUE(plain.ok() && any.ok()) << plain.status() << any.status();
    EXPECT_EQ(*plain != *any, wrong) << row;
  }
}

}  // namespace
}  // namespace mmadiff
