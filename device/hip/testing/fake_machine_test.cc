// What is wrong with a kernel is found: words of the build's machine code are replaced, and either
// the machine of the stand-in (fake_machine.h) or hip:N itself must notice.
#include "device/hip/testing/fake_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "device/gpu/elf.h"
#include "device/gpu/testing/fake_model.h"
#include "device/hip/testing/hip_fixture.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

struct Plant {
  const char *name, *target, *op;
  uint32_t word;  // of the kernel
  std::vector<uint32_t> becomes;
  const char* says;            // on stderr; "": nothing, but the layout or a result is wrong
  const char* argument = "0";  // hip:
  int which = 0;               // of those words; kAll
  const char* symbol = "";     // behind the kernel's name: ".kd", its descriptor
};
constexpr int kAll = -1;

constexpr char kDense[] = "gfx942/v_mfma_f32_16x16x16_f16",
               kSparse[] = "gfx942/v_smfmac_f32_16x16x32_f16",
               kApart[] = "gfx908/v_mfma_f32_16x16x4f32",
               kGfx11[] = "gfx1100/v_wmma_i32_16x16x16_iu4.s4.u4",
               kGfx12[] = "gfx1200/v_wmma_f16_16x16x16_f16";
constexpr uint32_t kNop = 0xbf800000, kNop15 = 0xbf80000f, kMfma = 0xd3cd0010;

const Plant kPlants[] = {
    {"no_wait_for_loads", "gfx942", kDense, 0xbf8c0f70, {kNop}, "a load of v4 is outstanding"},
    {"no_wait_for_loads_11", "gfx1100", kGfx11, 0xbf8903f7, {kNop}, "a load of v4 is outstanding"},
    {"no_wait_for_loads_12", "gfx1200", kGfx12, 0xbfc00000, {kNop}, "a load of v4 is outstanding"},
    {"a_load_too_many", "gfx942", kDense, 0xbf8c0f70, {0xbf8c0f71}, "v15 is outstanding"},
    {"no_wait_for_arguments", "gfx942", kDense, 0xbf8cc07f, {kNop}, "s8 is outstanding"},
    {"no_wait_for_arguments_11", "gfx1100", kGfx11, 0xbf89fc07, {kNop}, "s8 is outstanding"},
    {"no_wait_for_arguments_12", "gfx1200", kGfx12, 0xbfc70000, {kNop}, "s8 is outstanding"},
    {"result_too_early", "gfx942", kDense, kNop15, {kNop}, "v16 needs 20 wait states", "0", kAll},
    {"result_too_early_908", "gfx908", kApart, kNop15, {kNop}, "a4 needs 20", "0", kAll},
    // The instruction once more, in the place of the last nops before it.
    {"moved_too_late",
     "gfx942",
     kSparse,
     kNop15,
     {kNop, 0xd3e20010, 0x04721104},
     "v18 needs 3",
     "0",
     3},
    {"moved_too_late_908", "gfx908", kApart, kNop15, {kNop, 0xd3c50004, 0x04021104}, "a2 needs 3"},
    {"stored_too_early_908",
     "gfx908",
     kApart,
     kNop15,
     {0xdc70800c, 0x000e1301},
     "v19 needs 2",
     "0",
     6},
    {"mode_twice", "gfx942", kDense, kNop, {0xb91205c1, kNop}, "MODE needs 2"},
    {"no_mode", "gfx942", kDense, 0xb9124801, {kNop}, "MODE is 3f0", "0,denorm=flush"},
    {"no_mode_12", "gfx1200", kGfx12, 0xb9123801, {kNop}, "MODE is f0", "0,denorm=flush"},
    {"no_overflow_mode", "gfx942", kDense, 0xb91205c1, {kNop}, "MODE is 3f0", "0,ovfl=1"},
    {"address_of_another_block", "gfx942", kDense, 0x9214ff02, {0x9214ff02, 0x100}, ""},
    {"address_of_nobody", "gfx942", kDense, 0x9214ff02, {0x9214ff02, 0x40000000}, "no allocation"},
    {"unaligned", "gfx942", kDense, 0xdc508004, {0xdc508002}, "no allocation"},
    {"load_of_another_word", "gfx942", kDense, 0xdc508004, {0xdc508000}, ""},
    {"store_to_another_word", "gfx942", kDense, 0xdc708004, {0xdc708008}, ""},
    {"store_of_another_register", "gfx942", kDense, 0xdc708004, {0xdc708004, 0x000e1001}, ""},
    {"source_of_nothing", "gfx942", kDense, kMfma, {kMfma, 0x04321105}, "v6 was never written"},
    {"sources_exchanged", "gfx942", kDense, kMfma, {kMfma, 0x04320908}, ""},
    {"result_elsewhere", "gfx942", kDense, kMfma, {0xd3cd0014}, "v16 was never written"},
    {"accumulators", "gfx942", kDense, kMfma, {0xd3cd8010}, "the kernel has no a12"},
    {"negated", "gfx942", kDense, kMfma, {kMfma, 0x24321104}, "the instruction is not v_mfma"},
    {"another_opcode", "gfx942", kDense, kMfma, {0xd3c90010}, "the instruction is not v_mfma"},
    {"unsigned",
     "gfx1100",
     kGfx11,
     0xcc454014,
     {0xcc454014, 0x1c321104},
     "instruction is not v_wmma"},
    {"half_of_lanes", "gfx942", kDense, 0x87161716, {0x877e1716}, "writes s126"},
    {"no_block_12", "gfx1200", kGfx12, 0xbe820075, {kNop}, "s2 was never written"},
    {"another_unit", "gfx942", kDense, 0xb8963a04, {0xb896f804}, ""},
    {"no_such_hardware", "gfx942", kDense, 0xb8963a04, {0xb8963a05}, "register 5 of the hardware"},
    {"no_end", "gfx942", kDense, 0xbf810000, {kNop}, "the instruction is not v_mfma"},
    {"unknown", "gfx942", kDense, kNop, {0xbf8a0000}, "unknown bf8a0000"},
    {"more_than_the_lane", "gfx942", kDense, 0x260000ff, {0x260000ff, 0x7ff}, "no allocation"},
    {"written_after_lanes_read", "gfx1200", kGfx12, 0x7e040216, {0x7e040214}, "s20 may be lost"},
    {"exec_is_read", "gfx942", kDense, 0x7e040216, {0x7e04027e}, "s126 is none"},
    {"constant", "gfx942", kDense, 0x7e040216, {0x7e0402f2}, "source 242"},
    {"sets_status", "gfx942", kDense, 0xb9124801, {0xb9124802}, "sets register 2"},
    {"too_many_arguments", "gfx942", kDense, 0xc00a0400, {0xc00a0400, 0x24}, "arguments end"},
    {"accumulator_of_constant",
     "gfx908",
     kApart,
     0xd3d94000,
     {0xd3d94000, 0x18000080},
     "no register"},
    {"matrix_of_constants", "gfx942", kDense, kMfma, {kMfma, 0x02021104}, "unknown d3cd0010"},
    {"modified", "gfx1100", kGfx11, 0xcc454014, {0xcc45c014}, "unknown cc45c014"},
    {"no_block", "gfx942", kDense, 0x00000084, {0x00000004}, "s2 was never written", "0", 0, ".kd"},
    {"no_arguments", "gfx942", kDense, 0x00000084, {0x00000080}, "no address", "0", 0, ".kd"},
    {"other_registers",
     "gfx942",
     kDense,
     0x00000008,
     {0x00000009},
     "other registers",
     "0",
     0,
     ".kd"},
    {"too_few_registers", "gfx942", kDense, 0x00000007, {0}, "has no v4", "0", 0, ".kd"},
};

void PrintTo(const Plant& p, std::ostream* out) { *out << p.op; }

std::string image;
HipImage Planted(const HipTarget&) { return {image, "clang 0"}; }

class FakeMachineTest : public HipTest, public testing::WithParamInterface<Plant> {};

TEST_P(FakeMachineTest, Finds) {
  const Plant& p = GetParam();
  const Operation& op = *FindOperation(p.op, Models::kOptional);
  image = std::string(HipImageOf(*FindHipTarget(p.target)).code_object);
  if (image.empty()) GTEST_SKIP() << "no machine code for " << p.target;
  const auto file = ElfFile::Read(image);
  const absl::string_view code = *file->Symbol(HipKernelName(*op.instruction) + p.symbol);
  int found = 0;
  for (size_t at = 0; at + 4 * p.becomes.size() <= code.size(); at += 4) {
    if (std::memcmp(&code[at], &p.word, 4) != 0) continue;
    if (p.which != kAll && p.which != found++) continue;
    std::memcpy(&image[code.data() - image.data() + at], p.becomes.data(), 4 * p.becomes.size());
  }
  ASSERT_NE(image, HipImageOf(*FindHipTarget(p.target)).code_object) << "no such word";

  Fake("TARGET", p.target);
  auto device = OpenHipWith(p.argument, Planted);
  ASSERT_TRUE(device.ok()) << device.status();
  const Batch batch = RandomBits(op, op.shape(), 3);
  std::vector<uint64_t> wanted(batch.dot_products());
  Simulate(FakeModel(op), batch, wanted);
  testing::internal::CaptureStderr();
  const auto d = (*device)->Run(op, batch);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(!d.ok() || *d != wanted);
  EXPECT_THAT(said, testing::HasSubstr(p.says));
  EXPECT_EQ(said.empty(), *p.says == '\0') << said;
}

TEST(FakeCode, OfEveryTarget) {
  int decoded = 0;
  for (const HipTarget& target : HipTargets()) {
    const HipImage built = HipImageOf(target);
    for (const Instruction* i : BuiltHipInstructions(target)) {
      if (built.code_object.empty()) break;
      ++decoded;
      const auto code = DecodeFake(built.code_object, HipKernelName(*i), target);
      ASSERT_TRUE(code.ok()) << target.target << " " << code.status();
      EXPECT_EQ(std::ranges::count(code->steps, FakeStep::kMatrix, &FakeStep::op), 1) << i->name;
    }
  }
  if (decoded == 0) GTEST_SKIP() << "no compiler here made machine code for AMD";
}

INSTANTIATE_TEST_SUITE_P(, FakeMachineTest, testing::ValuesIn(kPlants),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mmadiff
