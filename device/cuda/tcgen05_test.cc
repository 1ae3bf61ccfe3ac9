// Kernels of tcgen05.mma: descriptors worked out by hand, words moved as the hardware addresses
// them. Their machine code is native_test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/tcgen05_kernel.h"
#include "device/cuda/testing/fake_tcgen05.h"
#include "device/gpu/fragments.h"
#include "device/testing/operations.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

std::string KernelText(const Instruction& i, const PtxTarget& target, SourceOfA source) {
  return KernelOf(i, target, {source}).text;
}

constexpr SourceOfA kSources[] = {SourceOfA::kShared, SourceOfA::kLanes};

const PtxTarget& Target(std::string_view arch) {
  for (const PtxTarget& target : PtxTargets()) {
    if (target.arch == arch) return target;
  }
  std::abort();  // programmer error
}

std::vector<const Instruction*> Tcgen05() {
  std::vector<const Instruction*> all;
  for (const Instruction& i : Instructions()) {
    if (i.layout == Layout::kNvidiaTcgen05) all.push_back(&i);
  }
  return all;
}

constexpr char kInteger[] = "tcgen05.mma.m64n8k32.s32.s8.s8";

constexpr char kF16Kind[] = "tcgen05.mma.m64n8k16.f32.f16.f16";
constexpr char kScaledKind[] = "tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0";

// D type in bits 4:5, A 7:9, B 10:12, n / 8 in 17:22, m / 16 in 24:28; saturation 3, scale type 23.
TEST(Tcgen05, Descriptors) {
  const auto of = [](const char* name, int m, int n) {
    return Tcgen05Descriptor(WithSize(*FindInstruction(name), m, n));
  };
  EXPECT_EQ(of("tcgen05.mma.m64n8k16.f32.f16.f16", 64, 8), 0x04020010u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k16.f32.bf16.f16", 128, 256), 0x08400090u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k16.f16.f16.f16", 64, 8), 0x04020000u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k8.f32.tf32.tf32", 64, 8), 0x04020910u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k32.f32.e3m2.e2m1", 64, 8), 0x04021610u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k32.f16.e5m2.e2m3", 64, 8), 0x04020c80u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k32.s32.u8.s8", 64, 8), 0x04020420u);
  EXPECT_EQ(of("tcgen05.mma.m64n8k32.satfinite.s32.s8.u8", 64, 32), 0x040800a8u);
  EXPECT_EQ(of("tcgen05.mma.sp.m64n8k32.f32.f16.f16", 64, 8), 0x04020014u);  // 2: sparse
  EXPECT_EQ(of("tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e5m2.ue8m0", 128, 8), 0x08820400u);
  EXPECT_EQ(of("tcgen05.mma.m128n8k64.mxf4.f32.e2m1.e2m1.ue8m0", 128, 8), 0x08820480u);
  EXPECT_EQ(of("tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue8m0.2x", 128, 8), 0x08820480u);
  EXPECT_EQ(of("tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue4m3.4x", 128, 8), 0x08020480u);
}

// Version 1 in bits 46:48, 256 / 16 from bit 32, 128 / 16 from bit 16.
TEST(Tcgen05, SharedMemoryDescriptor) {
  const std::string ptx =
      KernelText(*FindInstruction(kF16Kind), Target("sm_100"), SourceOfA::kShared);
  for (const char* name : {"a", "b"}) {
    EXPECT_TRUE(absl::StrContains(ptx, absl::StrCat("or.b64 %desc_", name, ", %desc_", name, ", ",
                                                    uint64_t{0x401000080000}, ";")));
  }
}

// D takes n columns, A 8, the scales 4 for each 128 rows.
TEST(Tcgen05, TensorMemory) {
  const auto allocated = [](const char* name, int n, SourceOfA source) {
    const std::string ptx =
        KernelText(WithSize(*FindInstruction(name), 128, n), Target("sm_100"), source);
    int columns = 0;
    std::sscanf(&ptx[ptx.find("[address], ")], "[address], %d;", &columns);
    return columns;
  };
  EXPECT_EQ(allocated(kF16Kind, 16, SourceOfA::kShared), 32);
  EXPECT_EQ(allocated(kF16Kind, 64, SourceOfA::kShared), 64);
  EXPECT_EQ(allocated(kF16Kind, 64, SourceOfA::kLanes), 128);
  EXPECT_EQ(allocated(kF16Kind, 256, SourceOfA::kShared), 256);
  EXPECT_EQ(allocated("tcgen05.mma.sp.m64n8k32.f32.f16.f16", 32, SourceOfA::kShared), 64);
  EXPECT_EQ(allocated(kScaledKind, 24, SourceOfA::kShared), 32);
  EXPECT_EQ(allocated(kScaledKind, 24, SourceOfA::kLanes), 64);
  EXPECT_EQ(allocated(kScaledKind, 256, SourceOfA::kLanes), 512);
}

TEST(Tcgen05, KernelsOnlyWhereTheInstructionIs) {
  for (const Instruction* i : Tcgen05()) {
    EXPECT_TRUE(HasKernel(*i, Target("sm_100")).ok()) << i->name;
    EXPECT_EQ(HasKernel(*i, Target("sm_103")).ok(), !IsInteger(*i->a)) << i->name;
    EXPECT_EQ(HasKernel(*i, Target("sm_90")).code(), absl::StatusCode::kNotFound) << i->name;
    EXPECT_EQ(HasKernel(*i, Target("sm_120")).code(), absl::StatusCode::kNotFound) << i->name;
  }
  EXPECT_THAT(std::string(HasKernel(*FindInstruction(kInteger), Target("sm_103")).message()),
              testing::HasSubstr("is an instruction of sm_100, not of sm_103a"));
}

// The text finds the words of an execution where the maps have them.
void ExpectWordsOf(const Kernel& kernel) {
  const std::pair<const char*, int> operands[] = {
      {"a", kernel.a.words}, {"b", kernel.b.words}, {"c", kernel.c.words}, {"d", kernel.d.words}};
  for (const auto& [name, words] : operands) {
    EXPECT_TRUE(absl::StrContains(
        kernel.text, absl::StrCat("[p", name, "];\n  mad.wide.u32 %base, %execution, ", 4 * words,
                                  ", %base;\n")))
        << name;
  }
}

void ExpectModelFromWords(const Operation& op, SourceOfA source) {
  SCOPED_TRACE(op.name);
  const Kernel kernel = KernelOf(*op.instruction, Target(op.arch()), {source});
  EXPECT_EQ(kernel.threads, 128);
  ExpectWordsOf(kernel);
  const Fragments fragments(*op.instruction, kernel);
  const Batch batch = RandomBits(op, op.shape(), 2);
  const PackedOperands in = fragments.Pack(batch, 0, 2);
  std::vector<uint32_t> out(2 * kernel.d.words);
  for (int x = 0; x < 2; ++x) {
    ExecuteTcgen05(op, source, &in.a[x * kernel.a.words], &in.b[x * kernel.b.words],
                   &in.c[x * kernel.c.words], &out[x * kernel.d.words]);
  }
  std::vector<uint64_t> d(batch.dot_products()), model(batch.dot_products());
  fragments.Unpack(batch, 0, 2, out, d.data());
  Simulate(op.model, batch, model);
  EXPECT_EQ(d, model) << (source == SourceOfA::kLanes ? "A in tensor memory" : "");
}

TEST(Tcgen05, WordsOfEveryInstruction) {
  for (const Instruction* i : Tcgen05()) {
    for (const SourceOfA source : kSources) {
      ExpectModelFromWords(*FindOperation("sm_100/" + i->name), source);
    }
  }
}

TEST(Tcgen05, WordsOfOtherSizes) {
  for (const char* name : {"m128n16k16.f32.bf16.f16", "m128n128k32.f16.e3m2.e2m1",
                           "m64n256k8.f32.tf32.tf32", "m128n136k64.mxf4nvf4.f32.e2m1.e2m1.ue4m3.4x",
                           "m128n200k32.mxf8f6f4.f32.e2m3.e2m1.ue8m0"}) {
    const Operation* op = FindOperation(absl::StrCat("sm_103/tcgen05.mma.", name));
    ASSERT_NE(op, nullptr) << name;
    for (const SourceOfA source : kSources) ExpectModelFromWords(*op, source);
  }
}

}  // namespace
}  // namespace mmadiff
