// The machine code of the kernels in the program, read back without a disassembler.
#include "device/hip/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "absl/strings/str_replace.h"
#include "device/gpu/elf.h"
#include "device/hip/code_object.h"
#include "device/hip/comgr.h"
#include "device/hip/kernel_images.h"
#include "device/hip/testing/opcodes.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Every kernel of a code object has the one instruction, and starts with the modes of a compiler.
void ExpectKernels(const HipTarget& target, absl::string_view code_object) {
  const uint32_t mode = GenerationOf(target) == 12 ? 0xf0 : kHipModeAtStart;
  for (const Instruction* i : BuiltHipInstructions(target)) {
    const std::string name = HipKernelName(*i);
    const auto opcodes = HipMatrixOpcodes(code_object, name);
    ASSERT_TRUE(opcodes.ok()) << target.target << " " << opcodes.status();
    EXPECT_THAT(*opcodes, ElementsAre(OpcodeOf(target, *i))) << target.target << " " << name;
    const auto at_start = HipModeOf(code_object, name);
    ASSERT_TRUE(at_start.ok()) << at_start.status();
    EXPECT_EQ(*at_start, mode) << target.target << " " << name;
  }
}

// AMD.md counts 20, 27, 32 and 36 dense instructions of CDNA 1 to 4 and 100 forms of f8f6f4; sparse
// are 14 and 28 (LLVM's builtins).
TEST(HipKernel, OfEveryInstruction) {
  const std::map<std::string, size_t> counts = {
      {"gfx908", 20},  {"gfx90a", 27},  {"gfx942", 32 + 14}, {"gfx950", 36 + 100 + 28},
      {"gfx1100", 12}, {"gfx1151", 12}, {"gfx1200", 20 + 20}};
  for (const auto& [target, count] : counts) {
    EXPECT_THAT(BuiltHipInstructions(*FindHipTarget(target)), SizeIs(count)) << target;
  }
}

TEST(HipKernel, MachineCodeOfTheBuild) {
  int images = 0;
  for (const HipTarget& target : HipTargets()) {
    const HipImage image = HipImageOf(target);
    if (image.code_object.empty()) continue;
    ++images;
    EXPECT_THAT(std::string(image.tool), testing::MatchesRegex("clang [0-9.]+"));
    ExpectKernels(target, image.code_object);
  }
  if (images == 0) GTEST_SKIP() << "no compiler here made machine code for AMD";
}

// The text that a machine without our machine code assembles itself.
TEST(HipKernel, MachineCodeOfTheCodeObjectManager) {
  int assembled = 0;
  for (const HipTarget& target : HipTargets()) {
    if (!CanAssemble(target).ok()) continue;
    const auto code = Assemble(target, HipModuleOf(target, BuiltHipInstructions(target)));
    ASSERT_TRUE(code.ok()) << code.status();
    ExpectKernels(target, *code);
    EXPECT_THAT(Assemble(target, ".text\n v_none v0\n").status().message(), HasSubstr("v_none"));
    ++assembled;
  }
  if (assembled == 0) GTEST_SKIP() << CanAssemble(HipTargets().front());
}

// A code object of the build whose kernel has something else in the place of its first s_nop.
class Planted : public testing::Test {
 protected:
  void SetUp() override {
    image_ = std::string(HipImageOf(target_).code_object);
    if (image_.empty()) GTEST_SKIP() << "no machine code for " << target_.target;
  }
  // The word of the kernel at which three s_nop 15 begin.
  char* Nops() {
    const auto file = ElfFile::Read(image_);
    const absl::string_view code = *file->Symbol(kName);
    const absl::string_view nops("\x0f\0\x80\xbf\x0f\0\x80\xbf\x0f\0\x80\xbf", 12);
    return image_.data() + (code.data() - image_.data()) + code.find(nops);
  }

  static constexpr char kName[] = "v_mfma_f32_16x16x16_f16";
  const HipTarget& target_ = *FindHipTarget("gfx942");
  std::string image_;
};

TEST_F(Planted, SecondMatrixInstruction) {
  constexpr uint32_t kMfma[] = {0xd3cd0010, 0x04821104};  // v_mfma_f32_16x16x16_f16
  std::memcpy(Nops(), kMfma, sizeof(kMfma));
  EXPECT_THAT(*HipMatrixOpcodes(image_, kName), ElementsAre(0x4d, 0x4d));
}

TEST_F(Planted, CodeThatEndsWithinAnInstruction) {
  const auto file = ElfFile::Read(image_);
  const absl::string_view code = *file->Symbol(kName);
  constexpr uint32_t kLong = 0xd3cd0010;  // eight bytes
  std::memcpy(const_cast<char*>(code.end()) - 4, &kLong, 4);
  EXPECT_THAT(HipMatrixOpcodes(image_, kName).status().message(), HasSubstr("ends within"));
}

TEST_F(Planted, OtherModes) {
  const auto file = ElfFile::Read(image_);
  const absl::string_view descriptor = *file->Symbol(std::string(kName) + ".kd");
  char* const resources = image_.data() + (descriptor.data() - image_.data()) + 48;
  resources[1] ^= 0x10;  // rounding of f32
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 1);
  resources[2] ^= 0x03;  // subnormals of f32
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 0x31);
  // As the assembler of LLVM 19 changes the word with each directive.
  resources[1] ^= 0x40;  // rounding of f16 and f64
  resources[2] ^= 0x04;  // their subnormals
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 0x75);
  resources[2] ^= 0x20;  // DX10_CLAMP
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 0x175);
  resources[2] ^= 0x80;  // IEEE
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 0x375);
  resources[3] ^= 0x04;  // FP16_OVFL
  EXPECT_EQ(*HipModeOf(image_, kName), kHipModeAtStart ^ 0x800375);
}

TEST(HipCodeObject, Damaged) {
  EXPECT_EQ(HipMatrixOpcodes("", "k").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(HipModeOf("\177ELF", "k").status().code(), absl::StatusCode::kDataLoss);
  const std::string image(HipImageOf(*FindHipTarget("gfx942")).code_object);
  if (image.empty()) GTEST_SKIP() << "no machine code for gfx942";
  EXPECT_THAT(HipMatrixOpcodes(image, "no_kernel").status().message(), HasSubstr("no kernel"));
  const uint64_t sections = ElfFile::Read(image)->header().e_shoff;
  for (size_t bytes = 0; bytes < sections; bytes += 97) {
    const std::string cut = image.substr(0, bytes);
    EXPECT_FALSE(HipMatrixOpcodes(cut, "v_mfma_f32_16x16x16_f16").ok()) << bytes;
  }
}

}  // namespace
}  // namespace mmadiff
