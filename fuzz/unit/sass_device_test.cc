// The machine code of all kernels of a build, executed: each row equals the simulator, also if it is
// emulated, so that the machine code has conversions, several matrix instructions and sums of its own.
// Skipped without nvdisasm or a CUDA Toolkit.
#include "device/sass/sass_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/cases/case_name.h"
#include "corpus/durable_file.h"
#include "device/cuda/kernel.h"
#include "device/sass/nvdisasm.h"
#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

constexpr int64_t kCases = 20;

void ExpectEqual(Device& device, const Operation& op) {
  Batch batch;
  Generate({&op, &Strategies().front(), 1}, 0, kCases, batch);
  std::vector<uint64_t> d, model(batch.dot_products());
  const absl::Status s = device.Run(op, batch, d);
  ASSERT_TRUE(s.ok()) << op.name << ": " << s;
  Simulate(op.model, batch, model);
  EXPECT_EQ(d, model) << op.name;
}

struct TargetRows {
  const char* target;
  int equal;  // at least: rows that are executed
};

class SassDevice : public testing::TestWithParam<TargetRows> {
 protected:
  void SetUp() override {
    if (!sass::FindDisassembler().ok()) GTEST_SKIP() << "no nvdisasm";
  }
};

TEST_P(SassDevice, RowsEqualTheSimulator) {
  const std::string cubin = absl::StrCat(MMADIFF_CUBINS "/kernels.", GetParam().target, ".cubin");
  if (!std::filesystem::exists(cubin)) GTEST_SKIP() << "built without a CUDA Toolkit";
  const auto device = OpenSass(cubin);
  ASSERT_TRUE(device.ok()) << device.status();
  int equal = 0, native = 0;
  for (const Operation& op : Operations()) {
    if (!(*device)->Supports(op).ok()) continue;
    ExpectEqual(**device, op);
    ++equal;
    native += IsNative(op);
  }
  EXPECT_GE(equal, GetParam().equal);
  EXPECT_LT(native, equal);
}

INSTANTIATE_TEST_SUITE_P(Targets, SassDevice,
                         testing::Values(TargetRows{"sm_75", 50}, TargetRows{"sm_80", 100},
                                         TargetRows{"sm_89", 120}, TargetRows{"sm_90a", 130},
                                         TargetRows{"sm_100a", 130}, TargetRows{"sm_120a", 200}),
                         [](const auto& info) { return info.param.target; });

// All rows of wgmma, with A in shared memory and in registers.
TEST(SassDeviceGroups, EqualTheSimulator) {
  const std::string cubin = MMADIFF_CUBINS "/kernels.sm_90a.cubin";
  const auto tool = sass::FindDisassembler();
  if (!tool.ok() || !std::filesystem::exists(cubin)) GTEST_SKIP() << "no nvdisasm or CUDA Toolkit";
  const auto text = sass::DisassembledText(*tool, cubin);
  ASSERT_TRUE(text.ok()) << text.status();
  for (const SourceOfA a : {SourceOfA::kShared, SourceOfA::kLanes}) {
    const auto device = SassOfText(*text, {.a = a});
    ASSERT_TRUE(device.ok()) << device.status();
    int rows = 0;
    for (const Operation& op : Operations()) {
      if (op.arch() != "sm_90" || op.instruction->layout != Layout::kNvidiaWgmma) continue;
      ++rows;
      ExpectEqual(**device, op);
    }
    EXPECT_GE(rows, 20);
  }
}

// The matrix instruction of one kernel no longer waits for its operands.
TEST(SassDeviceWaits, AMissingWaitIsAnErrorOfTheOperation) {
  const std::string cubin = MMADIFF_CUBINS "/kernels.sm_90a.cubin";
  const auto tool = sass::FindDisassembler();
  if (!tool.ok() || !std::filesystem::exists(cubin)) GTEST_SKIP() << "no nvdisasm or CUDA Toolkit";
  const auto text = sass::DisassembledText(*tool, cubin);
  ASSERT_TRUE(text.ok()) << text.status();
  // "HMMA... ; /* 0x... */", then the upper half of the encoding in the next line.
  size_t at = text->find("HMMA.", text->find(".text.mma_m16n8k16_f32_f16_f16_f32,"));
  uint64_t code[2] = {};
  for (uint64_t& half : code) {
    at = text->find("/* 0x", at + 1);
    ASSERT_NE(at, text->npos);
    half = std::stoull(text->substr(at + 3), nullptr, 16);
  }
  auto bytes = ReadFile(cubin);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::string old(reinterpret_cast<const char*>(code), sizeof(code));
  code[1] &= ~(0x3full << 52);
  const std::string changed(reinterpret_cast<const char*>(code), sizeof(code));
  ASSERT_NE(changed, old);
  const std::string path = testing::TempDir() + "/without_waits.cubin";
  std::ofstream(path, std::ios::binary) << absl::StrReplaceAll(*bytes, {{old, changed}});
  const auto device = OpenSass(path);
  ASSERT_TRUE(device.ok()) << device.status();
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Batch batch;
  Generate({&op, &Strategies().front(), 1}, 0, kCases, batch);
  const absl::Status s = (*device)->Run(op, batch).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(IsOfOperation(s));
  EXPECT_THAT(s.message(), HasSubstr("HMMA.16816.F32 "));
  EXPECT_THAT(s.message(), HasSubstr(" writes, without waiting for it"));
}

TEST(SassDeviceOpens, AssemblesWithPtxas) {
  const auto ptxas = sass::FindAssembler("");
  if (!ptxas.ok() || !sass::FindDisassembler(*ptxas).ok()) GTEST_SKIP() << "no ptxas or nvdisasm";
  const auto device = OpenSass("arch=sm_90a,O=1");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(Name((*device)->identity()), HasSubstr(" -O1 -arch=sm_90a executed on the host"));
  const Operation& op = *FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32");
  Batch batch;
  Generate({&op, &Strategies().front(), 1}, 0, kCases, batch);
  std::vector<uint64_t> d, model(batch.dot_products());
  ASSERT_TRUE((*device)->Run(op, batch, d).ok());
  Simulate(op.model, batch, model);
  EXPECT_EQ(d, model);
}

// Results that differ from the model, of all rows in 20 cases. nullopt: no ptxas 13.0, whose machine
// code these tests describe, or no nvdisasm.
std::optional<int64_t> Differing(const std::string& argument, const char* row) {
  const auto ptxas = sass::FindAssembler("");
  if (!ptxas.ok() || !sass::FindDisassembler(*ptxas).ok()) return std::nullopt;
  const auto version = sass::VersionOf(*ptxas);
  if (!version.ok() || !absl::StartsWith(*version, "13.0.")) return std::nullopt;
  const auto device = OpenSass(argument);
  EXPECT_TRUE(device.ok()) << device.status();
  const Operation& op = *FindOperation(row);
  Batch batch;
  Generate({&op, &Strategies().front(), 1}, 0, kCases, batch);
  std::vector<uint64_t> d, model(batch.dot_products());
  const absl::Status s = (*device)->Run(op, batch, d);
  EXPECT_TRUE(s.ok()) << s;
  Simulate(op.model, batch, model);
  int64_t differ = 0;
  for (size_t i = 0; i < model.size(); ++i) differ += d[i] != model[i];
  return differ;
}

// ptxas makes several instructions of these and reads a word of an operand after it has written the
// result that shares its register: docs/compiler.md.
TEST(Overlaps, OfEmulatedAndComposedInstructionsAreWrong) {
  constexpr char kFp8[] = "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
                 kWmma[] = "sm_90/wmma.m16n16k16.s32.s8.s8.s32";
  for (const auto& [overlap, row, wrong] : {std::tuple("c", kFp8, false),
                                            {"c2d3", kFp8, false},
                                            {"c3d2", kFp8, true},
                                            {"c_reversed", kFp8, true},
                                            {"a", kFp8, false},
                                            {"c", kWmma, false},
                                            {"c0d5", kWmma, false},
                                            {"c5d0", kWmma, true},
                                            {"a0d0", kWmma, true}}) {
    const auto differ = Differing(absl::StrCat("arch=sm_90a,overlap=", overlap), row);
    if (!differ.has_value()) GTEST_SKIP() << "no ptxas 13.0 or nvdisasm";
    EXPECT_EQ(*differ > 0, wrong) << overlap << " of " << row;
  }
}

TEST(Overlaps, OfNativeInstructionsAreRight) {
  for (const char* overlap : {"c", "c_reversed", "c_rotated", "a", "b", "c1d0+a3d2+b0d3"}) {
    for (const auto& [target, row] : {std::pair("sm_90a", "sm_90/mma.m16n8k16.f32.f16.f16.f32"),
                                      {"sm_89", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                      {"sm_90a", "sm_90/mma.m16n8k16.f64.f64.f64.f64"}}) {
      const auto differ = Differing(absl::StrCat("arch=", target, ",overlap=", overlap), row);
      if (!differ.has_value()) GTEST_SKIP() << "no ptxas 13.0 or nvdisasm";
      EXPECT_EQ(*differ, 0) << overlap << " of " << row;
    }
  }
}

// -O0 computes the address, condition and descriptor of each step; the table has 8 columns.
TEST(SassDeviceGroups, OfOtherCodeEqualTheSimulator) {
  for (const auto& [argument, row] :
       {std::pair("arch=sm_90a,O=0", "sm_90/wgmma.m64n8k32.f32.e4m3.e5m2"),
        {"arch=sm_90a,O=0,a=registers", "sm_90/wgmma.m64n8k256.s32.b1.b1.and.popc"},
        {"arch=sm_90a", "sm_90/wgmma.m64n40k16.f32.f16.f16"},
        {"arch=sm_90a,a=registers", "sm_90/wgmma.m64n256k16.f16.f16.f16"}}) {
    const auto differ = Differing(argument, row);
    if (!differ.has_value()) GTEST_SKIP() << "no ptxas 13.0 or nvdisasm";
    EXPECT_EQ(*differ, 0) << row << " by " << argument;
  }
}

TEST(SassDeviceOpens, ComplainsClearly) {
  const auto why = [](absl::string_view argument) {
    return std::string(OpenSass(argument).status().message());
  };
  EXPECT_THAT(why("arch=sm_99"), HasSubstr("no target 'sm_99'; choose from: sm_75, "));
  EXPECT_THAT(why("arch=sm_90a,O=4"), HasSubstr("must be 0 to 3"));
  EXPECT_THAT(why("arch=sm_90a,o=1"), HasSubstr("'o=1': write arch=sm_90a,ptxas=PATH,O=3"));
  EXPECT_THAT(why("/none.cubin"), HasSubstr("/none.cubin: no such file"));
  EXPECT_TRUE(absl::IsNotFound(OpenSass("arch=sm_90a,ptxas=/none/ptxas").status()));
}

}  // namespace
}  // namespace mmadiff
