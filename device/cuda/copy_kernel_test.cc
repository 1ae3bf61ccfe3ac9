// Kernels of tensor copies: their machine code, which no GPU is needed to read, and their arguments.
#include "device/cuda/copy_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <regex>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/cuda/kernel_images.h"
#include "device/cuda/testing/ptxas.h"
#include "device/gpu/elf.h"
#include "device/sass/machine.h"
#include "device/sass/nvdisasm.h"
#include "sim/copy/copy_field.h"
#include "sim/copy/legal.h"

namespace mmadiff {
namespace {

std::vector<PtxTarget> TargetsWithCopies() {
  std::vector<PtxTarget> targets(PtxTargets().begin(), PtxTargets().end());
  std::erase_if(targets, [](const PtxTarget& t) { return CopyEntries(t).empty(); });
  return targets;
}

// "UTMAREDG.3D.IM2COL.ADD".
std::string InstructionOf(const CopyEntry& e) {
  const CopyForm& f = *e.form;
  const auto [opcode, reduction] = [&]() -> std::pair<const char*, std::string> {
    if (f.direction == CopyDirection::kLoad) return {"UTMALDG", ""};
    if (f.direction == CopyDirection::kStore) return {"UTMASTG", ""};
    TensorCopy copy;
    copy.reduction = e.reduction;
    return {"UTMAREDG", "." + absl::AsciiStrToUpper(FindCopyField("reduction")->get(copy))};
  }();
  constexpr const char* kModes[] = {"",        ".GATHER4", ".SCATTER4", ".IM2COL",
                                    ".IM2COL", ".W",       ".W128"};
  return absl::StrCat(opcode, ".", f.rank, "D", kModes[static_cast<int>(f.mode)], reduction);
}

// The copies of a kernel by its name, in the text of a disassembler.
std::map<std::string, std::vector<std::string>> InstructionsIn(const std::string& text) {
  static const std::regex& copy = *new std::regex("\\bU(TMA(LDG|STG|REDG)|BLK)[A-Z0-9.]*");
  std::map<std::string, std::vector<std::string>> instructions;
  std::string kernel;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, ".text.")) kernel = std::string(absl::StripSuffix(line, ":"));
    std::cmatch found;
    if (!std::regex_search(line.begin(), line.end(), found, copy)) continue;
    instructions[kernel].push_back(found.str());
  }
  return instructions;
}

class CopyKernels : public testing::TestWithParam<PtxTarget> {
 protected:
  // The build's, or else that which ptxas makes here.
  void SetUp() override {
    cubin_ = std::string(CopyImageOf(GetParam()).cubin);
    if (!cubin_.empty()) return;
    if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
    std::string messages;
    const auto made =
        Cubin(GetParam(), CopyModuleOf(GetParam(), CopyEntries(GetParam())), &messages);
    ASSERT_TRUE(made.has_value()) << messages;
    cubin_ = *made;
  }

  std::string cubin_;
};

TEST_P(CopyKernels, AllAreInTheMachineCode) {
  const auto file = ElfFile::Read(cubin_);
  ASSERT_TRUE(file.ok()) << file.status();
  std::set<std::string> names = {kEncodeKernelName};
  for (const CopyEntry& e : CopyEntries(GetParam())) {
    EXPECT_TRUE(names.insert(CopyKernelName(e, GetParam())).second) << e.form->name;
  }
  for (const std::string& name : names) {
    EXPECT_TRUE(file->Section(".text." + name).has_value()) << name;
  }
}

class CopyCode : public CopyKernels {
 protected:
  void SetUp() override {
    CopyKernels::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const absl::StatusOr<std::string> tool = sass::FindDisassembler();
    if (!tool.ok()) GTEST_SKIP() << tool.status().message();
    const std::string path = absl::StrCat(testing::TempDir(), "copies_", getpid(), GetParam().arch);
    std::ofstream(path, std::ios::binary) << cubin_;
    const absl::StatusOr<std::string> text = sass::DisassembledText(*tool, path);
    unlink(path.c_str());
    ASSERT_TRUE(text.ok()) << text.status();
    text_ = *text;
  }

  std::string text_;
};

TEST_P(CopyCode, HasOneInstructionPerKernel) {
  std::map<std::string, std::vector<std::string>> expected;
  for (const CopyEntry& e : CopyEntries(GetParam())) {
    expected[CopyKernelName(e, GetParam())] = {InstructionOf(e)};
  }
  EXPECT_EQ(InstructionsIn(text_), expected);
}

// Executed on the host: each field has bits of its own, and each of its values different ones.
TEST_P(CopyCode, EncodesEveryField) {
  if (GetParam().major == 12) GTEST_SKIP() << "the code has an f16 immediate that is not executed";
  const absl::StatusOr<sass::Programs> programs = sass::ParsePrograms(text_, kEncodeKernelName);
  ASSERT_TRUE(programs.ok()) << programs.status();
  using Words = std::array<uint64_t, 16>;
  const auto encoded = [&](EncodeArguments a) {
    Words words;
    words.fill(~uint64_t{0});
    a.map = reinterpret_cast<uint64_t>(words.data());
    sass::Counts counts;
    const sass::MemoryRange memory[] = {{words.data(), sizeof(words)}};
    const absl::Status s = sass::Execute(programs->at(kEncodeKernelName),
                                         {.blocks = 1,
                                          .threads = 1,
                                          .shared_bytes = 0,
                                          .parameters = &a,
                                          .parameter_bytes = sizeof(a),
                                          .memory = memory},
                                         counts);
    EXPECT_TRUE(s.ok()) << s;
    return words;
  };
  EncodeArguments plain;
  plain.rank = 5;
  plain.base = 0x123456789ab0;
  plain.dim.fill(1);
  plain.box.fill(1);
  plain.traversal.fill(1);
  const Words base = encoded(plain);
  EXPECT_EQ(base[0], plain.base);
  Words used = {};
  // Each of the values of one field.
  const auto expect_own_bits = [&](auto set, const std::vector<uint64_t>& values) {
    std::set<Words> all = {base};
    Words bits = {};
    for (const uint64_t value : values) {
      EncodeArguments a = plain;
      set(a, value);
      const Words words = encoded(a);
      EXPECT_TRUE(all.insert(words).second) << value;
      for (size_t i = 0; i < words.size(); ++i) bits[i] |= words[i] ^ base[i];
    }
    for (size_t i = 0; i < bits.size(); ++i) {
      EXPECT_EQ(bits[i] & used[i], 0u) << "byte " << 8 * i;
      used[i] |= bits[i];
    }
  };
  for (int d = 0; d < kMaxRank; ++d) {
    expect_own_bits([&](auto& a, uint64_t v) { a.dim[d] = v; }, {2, 3, 0x80000000, 0});
    expect_own_bits([&](auto& a, uint64_t v) { a.box[d] = v; }, {2, 255, 256});
    expect_own_bits([&](auto& a, uint64_t v) { a.traversal[d] = v; }, {2, 3, 8});
    if (d > 0)
      expect_own_bits([&](auto& a, uint64_t v) { a.stride[d - 1] = v; },
                      {16, 32, uint64_t{1} << 39});
  }
  expect_own_bits([](auto& a, uint64_t v) { a.rank = v; }, {1, 2, 3, 4});
  std::vector<uint64_t> types(GetParam().major == 9 ? 12 : 15),
      swizzles(GetParam().minor == 3 ? 4 : 3);
  std::iota(types.begin(), types.end(), 1);
  std::iota(swizzles.begin(), swizzles.end(), 1);
  expect_own_bits([](auto& a, uint64_t v) { a.type = v; }, types);
  expect_own_bits([](auto& a, uint64_t v) { a.swizzle = v; }, swizzles);
  if (GetParam().major > 9) expect_own_bits([](auto& a, uint64_t v) { a.atom = v; }, {1, 2, 3});
  expect_own_bits([](auto& a, uint64_t v) { a.interleave = v; }, {1, 2});
  expect_own_bits([](auto& a, uint64_t v) { a.fill = v; }, {1});
}

constexpr auto kName = [](const auto& info) { return std::string(info.param.arch); };
INSTANTIATE_TEST_SUITE_P(Targets, CopyKernels, testing::ValuesIn(TargetsWithCopies()), kName);
INSTANTIATE_TEST_SUITE_P(Targets, CopyCode, testing::ValuesIn(TargetsWithCopies()), kName);

TEST(CopyKernel, OnlyNativeFormsHaveNames) {
  std::map<std::string, std::set<std::string>> archs;
  for (const PtxTarget& target : PtxTargets()) {
    for (const CopyForm& form : CopyForms()) {
      if (!CopyKernelName({&form, Reduction::kMax}, target).empty())
        archs[form.name].insert(target.arch);
    }
  }
  for (const CopyForm& form : CopyForms()) {
    const std::set<std::string> native = absl::StrSplit(form.native_on, ' ');
    EXPECT_EQ(archs[form.name], native) << form.name;
  }
  const PtxTarget hopper = TargetsWithCopies().front();
  EXPECT_EQ(CopyKernelName({FindCopyForm("reduce.im2col_no_offs.3d"), Reduction::kMax}, hopper),
            "reduce_im2col_no_offs_3d_max");
  EXPECT_EQ(CopyKernelName({FindCopyForm("store.tile.2d"), Reduction::kMax}, hopper),
            "store_tile_2d");
}

// A copy of the form with the default fields but these.
TensorCopy CopyOf(const char* form, TensorType type, std::array<uint64_t, kMaxRank> dim) {
  TensorCopy copy;
  copy.form = FindCopyForm(form);
  copy.map.type = type;
  copy.map.rank = copy.form->rank;
  copy.map.dim = dim;
  SetDefaults(copy);
  return copy;
}

TEST(ExpectedBytes, OfEachMode) {
  TensorCopy tile = CopyOf("load.tile.2d", TensorType::kF16, {64, 128});
  EXPECT_EQ(ExpectedBytes(tile), 64 * 128 * 2);
  tile.map.box = {8, 7};
  tile.map.swizzle = Swizzle::k128B;  // pads rows
  tile.map.traversal[1] = 2;
  tile.x = {-4, 126};  // partly out of bounds
  EXPECT_EQ(ExpectedBytes(tile), 8 * 4 * 2);
  EXPECT_EQ(ExpectedBytes(CopyOf("load.tile_gather4.2d", TensorType::kF32, {64, 9})), 4 * 64 * 4);
  EXPECT_EQ(ExpectedBytes(CopyOf("load.tile.2d", TensorType::kB4x16P64, {128, 3})), 3 * 64);
  EXPECT_EQ(ExpectedBytes(CopyOf("load.tile.2d", TensorType::kB6x16, {128, 3})), 3 * 96);
  TensorCopy column = CopyOf("load.im2col_w.3d", TensorType::kU8, {64, 9, 2});
  column.map.swizzle = Swizzle::k64B;
  column.map.pixels = 5;
  column.offset = {3, 1};
  EXPECT_EQ(ExpectedBytes(column), 64 * 8);
  column.form = FindCopyForm("load.im2col.3d");
  EXPECT_EQ(ExpectedBytes(column), 64 * 5);
  column.form = FindCopyForm("load.im2col_w_128.3d");
  EXPECT_EQ(ExpectedBytes(column), 64 * (128 + 4 * 3));
}

// The model makes a cell of each.
TEST(ExpectedBytes, AreThoseOfTheModelsElements) {
  for (const CopyForm& form : CopyForms()) {
    for (const TensorType type : {TensorType::kU16, TensorType::kF64, TensorType::kB4x16}) {
      TensorCopy copy = CopyOf(form.name.c_str(), type, {32, 5, 3, 4, 2});
      copy.map.pixels = 6;
      copy.offset[0] = 1;
      copy.map.traversal = {1, 2, 1, 3, 1};
      const auto cells = static_cast<int64_t>(Elements(copy).size());
      EXPECT_EQ(ExpectedBytes(copy), cells * Info(type).global_bytes) << form.name;
    }
  }
}

TEST(EncodeArguments, HaveTheCodesOfPtx) {
  const auto of = [](TensorType type, Swizzle swizzle) {
    TensorMap map;
    map.type = type;
    map.swizzle = swizzle;
    const EncodeArguments a = EncodeArgumentsOf(map);
    return std::array<uint32_t, 3>{a.type, a.swizzle, a.atom};
  };
  using testing::ElementsAre;
  EXPECT_THAT(of(TensorType::kU8, Swizzle::kNone), ElementsAre(0, 0, 0));
  EXPECT_THAT(of(TensorType::kF32, Swizzle::k32B), ElementsAre(7, 1, 0));
  EXPECT_THAT(of(TensorType::kF32Ftz, Swizzle::k64B), ElementsAre(8, 2, 0));
  EXPECT_THAT(of(TensorType::kF64, Swizzle::k128B), ElementsAre(9, 3, 0));
  EXPECT_THAT(of(TensorType::kBf16, Swizzle::k128BAtom32B), ElementsAre(10, 3, 1));
  EXPECT_THAT(of(TensorType::kTf32, Swizzle::k128BAtom32BFlip8B), ElementsAre(11, 3, 2));
  EXPECT_THAT(of(TensorType::kTf32Ftz, Swizzle::k128BAtom64B), ElementsAre(12, 3, 3));
  EXPECT_THAT(of(TensorType::kB6x16, Swizzle::k96B), ElementsAre(15, 4, 0));
}

}  // namespace
}  // namespace mmadiff
