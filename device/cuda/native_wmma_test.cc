// The machine code that ptxas makes of wmma, for every target that it knows and every variant: that
// in the binary, and for what is not in it that which ptxas makes here.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/cuda/cubin.h"
#include "device/cuda/kernel_images.h"
#include "device/cuda/testing/ptxas.h"
#include "sim/operation.h"
#include "sim/tree/tree.h"

namespace mmadiff {
namespace {

// Whatever shape, addend, saturation, rounding and variant: all of a wmma is as many instructions.
struct MachineCode {
  const char* operands;  // format of A and B; of b1 with the operation
  const char* archs;
  const char* opcode;
  int count;
};

// One HMMA makes 16 x 8 results, one IMMA 8 x 8 on sm_75 and 16 x 8 later; DMMA and BMMA, and IMMA
// of 4 bits where it is alone, all 8 x 8.
constexpr MachineCode kMachineCode[] = {
    {"f16", "sm_75", "HMMA", 4},  // m16n8k8
    {"f16", "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120", "HMMA", 2},
    {"bf16", "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120", "HMMA", 2},
    {"tf32", "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120", "HMMA", 4},  // m16n8k4
    {"f64", "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120", "DMMA", 1},
    {"s8 u8", "sm_75", "IMMA", 4},
    {"s8 u8", "sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120", "IMMA", 2},
    {"s4 u4", "sm_75 sm_80 sm_86 sm_89", "IMMA", 1},
    {"s4 u4", "sm_90 sm_100 sm_103 sm_120", "IMMA", 2},  // 4 bits as 8
    {"b1.xor", "sm_75 sm_80 sm_86 sm_89", "BMMA", 1},
    {"b1.xor", "sm_90", "BMMA", 2},  // from counts of and
    {"b1.and", "sm_80 sm_86 sm_89 sm_90", "BMMA", 1},
    {"b1.xor b1.and", "sm_100 sm_103 sm_120", "IMMA", 4},  // bits as 8 bits
};

// Nothing where ptxas refuses the instruction.
std::optional<Opcodes> CodeOf(const Instruction& i, absl::string_view arch) {
  std::string operands = i.a->name;
  if (i.a->bits == 1)
    absl::StrAppend(&operands, absl::StrContains(i.name, "xor") ? ".xor" : ".and");
  for (const MachineCode& code : kMachineCode) {
    const std::vector<absl::string_view> names = absl::StrSplit(code.operands, ' ');
    const std::vector<absl::string_view> archs = absl::StrSplit(code.archs, ' ');
    if (absl::c_linear_search(names, operands) && absl::c_linear_search(archs, arch)) {
      return Opcodes{{code.opcode, code.count}};
    }
  }
  return std::nullopt;
}

std::string TextOf(const std::optional<Opcodes>& opcodes) {
  std::string text = opcodes.has_value() ? "" : "refused";
  for (const auto& [name, count] : opcodes.value_or(Opcodes())) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " x ", name);
  }
  return text;
}

class NativeWmma : public testing::TestWithParam<PtxTarget> {};

TEST_P(NativeWmma, MachineCode) {
  if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  const KernelImage image = KernelImageOf(GetParam());
  std::set<std::string> in_image;
  if (!image.cubin.empty()) {
    for (const ModuleEntry& e : BuiltEntries(GetParam())) in_image.insert(NameOf(e));
  }
  std::vector<ModuleEntry> others;
  int found = 0;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kNvidiaWmma) continue;
    for (const Variant& variant : VariantsOf(i)) {
      const ModuleEntry entry = {i, variant};
      if (!in_image.contains(NameOf(entry))) {
        others.push_back(entry);
        continue;
      }
      const auto opcodes = MatrixOpcodes(image.cubin, NameOf(entry));
      ASSERT_TRUE(opcodes.ok()) << opcodes.status();
      EXPECT_EQ(TextOf(*opcodes), TextOf(CodeOf(i, GetParam().arch))) << NameOf(entry);
      ++found;
    }
  }
  const std::vector<std::optional<Opcodes>> made = Assemble(GetParam(), others);
  for (size_t x = 0; x < others.size(); ++x) {
    EXPECT_EQ(TextOf(made[x]), TextOf(CodeOf(others[x].instruction, GetParam().arch)))
        << NameOf(others[x]);
    found += made[x].has_value();
  }
  // Of f16, s8 and u8 in eight variants, of 4 bits and one bit in two; then bf16, tf32, f64, .and.
  EXPECT_EQ(found, GetParam().major == 7 ? 8 * (12 + 12) + 2 * 5 : 8 * (12 + 12 + 8) + 2 * 6);
}

// The most products that a step adds, to an addend.
int StepOf(const Model& m) {
  if (m.algorithm.family != Family::kTree) return std::min(m.k, m.algorithm.terms);
  int most = 1;
  for (const TreeCode& code : m.algorithm.tree->code) {
    if (code.push == Push::kJoin) most = std::max(most, code.index - 1);
  }
  return most;
}

// The numerics of wmma are those of the instructions that ptxas makes of it: no step of an
// operation's model joins more products than one of them does.
TEST_P(NativeWmma, StepsAreNoLongerThanItsInstructions) {
  int ops = 0;
  for (const Operation* op : MatchOperations(absl::StrCat(GetParam().arch, "/wmma.*"))) {
    if (IsInteger(op->model.d) || op->model.d.bits == 64) continue;
    ++ops;
    const std::optional<Opcodes> opcodes = CodeOf(*op->instruction, GetParam().arch);
    ASSERT_TRUE(opcodes.has_value()) << op->name;
    const Shape& s = op->shape();
    // Each makes 16 x 8 results.
    const int products = s.k * s.m * s.n / (16 * 8) / opcodes->at("HMMA");
    EXPECT_EQ(products % StepOf(op->model), 0) << op->name << ": steps of " << products;
  }
  EXPECT_EQ(ops, GetParam().major == 7 ? 12 : 16);
}

INSTANTIATE_TEST_SUITE_P(Targets, NativeWmma, testing::ValuesIn(TargetsOfPtxas()),
                         [](const auto& info) { return std::string(info.param.arch); });

// No ptxas from CUDA 13 on has sm_70; but it reads text for sm_70.
TEST(Volta, TextAssemblesForTuring) {
  if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  const PtxTarget volta = PtxTargets()[0];
  ASSERT_EQ(std::string(volta.target), "sm_70");
  const std::vector<ModuleEntry> entries = BuiltEntries(volta);
  EXPECT_EQ(absl::c_count_if(
                entries,
                [](const ModuleEntry& e) { return e.instruction.layout == Layout::kNvidiaWmma; }),
            8 * 12);
  std::string messages;
  EXPECT_TRUE(Cubin(TargetsOfPtxas()[0], ModuleOf(volta, entries), &messages).has_value())
      << messages;
}

}  // namespace
}  // namespace mmadiff
