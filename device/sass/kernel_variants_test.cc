// The machine code of surroundings, and of operands that share registers. Skipped without nvdisasm or
// ptxas 13.0, whose machine code these tests describe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/kernel.h"
#include "device/cuda/surroundings.h"
#include "device/sass/kernel_code.h"
#include "device/sass/natives.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/sass_device.h"
#include "device/sass/testing/some_batch.h"
#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::MatchesRegex;

constexpr char kFp8[] = "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
               kF16[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32",
               kWmma[] = "sm_90/wmma.m16n16k16.s32.s8.s8.s32";

std::vector<uint64_t> ModelOf(const Operation& op, const Batch& batch) {
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(op.model, batch, d);
  return d;
}

// Exchanges the text of an instruction of a kernel, found by its beginning.
void Replace(std::string& text, const std::string& kernel, const std::string& instruction,
             const std::string& with) {
  const size_t section = text.find(absl::StrCat(".text.", kernel, ","));
  ASSERT_NE(section, text.npos) << kernel;
  const size_t at = text.find(instruction, section);
  ASSERT_NE(at, text.npos) << instruction;
  text.replace(at, instruction.size(), with);
}

class KernelVariants : public testing::Test {
 protected:
  void SetUp() override {
    auto tools = sass::FindToolchain("sm_90a", "", "3");
    if (!tools.ok() || !absl::StartsWith(tools->version, "13.0.")) {
      GTEST_SKIP() << "no ptxas 13.0 or nvdisasm: " << tools.status();
    }
    tools_ = *std::move(tools);
  }

  std::string TextOf(const char* row, const std::vector<Variant>& variants) {
    std::vector<ModuleEntry> entries;
    for (const Variant& v : variants) entries.push_back({*FindOperation(row)->instruction, v});
    const auto text = sass::AssembledText(tools_, entries);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
  absl::StatusOr<std::vector<uint64_t>> Run(absl::StatusOr<std::unique_ptr<Device>> device,
                                            const char* row) {
    if (!device.ok()) return device.status();
    const Operation& op = *FindOperation(row);
    return (*device)->Run(op, SomeBatch(op, 32));
  }

  sass::Toolchain tools_;
};

// Whatever the surroundings, the code computes the same expressions, so it is also not refused.
TEST_F(KernelVariants, SurroundingsChangeNoExpression) {
  const sass::Natives natives("sm_90");
  for (const char* row : {kFp8, kF16, kWmma}) {
    const Operation& op = *FindOperation(row);
    const Batch batch = SomeBatch(op, 32);
    std::vector<Variant> variants(1);
    for (const absl::string_view around : NamedSurroundings()) {
      for (const char* overlap : {"", "c"}) {
        Variant& v = variants.emplace_back();
        v.around = std::string(around);
        v.overlap = overlap;
      }
    }
    const std::string text = TextOf(row, variants);
    sass::Expressions pool;
    std::vector<int> plain;
    for (const Variant& v : variants) {
      const auto code = sass::Find(text, *tools_.target, *op.instruction, v);
      ASSERT_TRUE(code.ok()) << row << SuffixOf(v) << code.status();
      const auto followed = sass::Follow(*code, *op.instruction, natives, batch, pool);
      ASSERT_TRUE(followed.ok()) << row << SuffixOf(v) << followed.status();
      EXPECT_FALSE(followed->origins->branches_on_data()) << row << SuffixOf(v);
      if (plain.empty()) plain = followed->d;
      EXPECT_EQ(followed->d, plain) << row << SuffixOf(v);
    }
  }
}

// A register of A that the loop's code overwrites is right in the first round only.
TEST_F(KernelVariants, RoundsNoticeAnOperandThatIsOverwritten) {
  Variant rounds;
  rounds.around = "rounds";
  std::string text = TextOf(kF16, {rounds});
  const Operation& op = *FindOperation(kF16);
  EXPECT_EQ(Run(SassOfText(text, rounds), kF16).value(), ModelOf(op, SomeBatch(op, 32)));
  Replace(text, KernelName(*op.instruction, rounds), "VIADD R20, R20, 0xffffffff ;",
          "VIADD R7, R20, 0xffffffff ;");
  EXPECT_NE(Run(SassOfText(text, rounds), kF16).value_or(std::vector<uint64_t>()),
            ModelOf(op, SomeBatch(op, 32)));
}

TEST_F(KernelVariants, NativeInstructionsAreRightIfOperandsShareRegisters) {
  const Operation& op = *FindOperation(kF16);
  const auto d = Run(OpenSass("arch=sm_90a,overlap=any"), kF16);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, ModelOf(op, SomeBatch(op, 32)));
}

TEST_F(KernelVariants, WrongCodeOfSharedRegistersIsAnErrorOfTheOperation) {
  const auto wrong = Run(OpenSass("arch=sm_90a,overlap=c_broadcast_d"), kFp8).status();
  EXPECT_TRUE(absl::IsInternal(wrong)) << wrong;
  EXPECT_THAT(std::string(wrong.message()),
              MatchesRegex("with overlap=c1c0\\+c0d0 alone, FADD R.* reads the result of FADD "
                           "R.*; it should read c\\[0\\]"));
  const Operation& op = *FindOperation(kFp8);
  const auto right = Run(OpenSass("arch=sm_90a,overlap=c_broadcast"), kFp8);
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(*right, ModelOf(op, SomeBatch(op, 32)));
}

TEST_F(KernelVariants, PlantedFaultOfSharedRegistersIsAnErrorOfTheOperation) {
  const Operation& op = *FindOperation(kF16);
  Variant sharing, copied;
  sharing.overlap = copied.overlap = "c1c0";
  copied.copied = true;
  std::string text = TextOf(kF16, {Variant(), sharing, copied});
  const auto right = Run(SassOfText(text, sharing), kF16);
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(*right, ModelOf(op, SomeBatch(op, 32)));
  Replace(text, KernelName(*op.instruction, sharing), "IMAD.MOV.U32 R9, RZ, RZ, R8 ;",
          "IMAD.MOV.U32 R9, RZ, RZ, RZ ;");
  EXPECT_THAT(std::string(Run(SassOfText(text, sharing), kF16).status().message()),
              MatchesRegex("with overlap=c1c0 alone, HMMA.16816.F32 R4, R4, R18, R8 at 0x[0-9a-f]+ "
                           "reads 0; it should read c\\[[0-9]+\\]"));
}

}  // namespace
}  // namespace mmadiff
