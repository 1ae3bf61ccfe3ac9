// `native on` of every mma, wmma, wgmma, tcgen05 and fma instruction against machine code: that which is in
// the binary, and for what is not in it that which ptxas makes here, for every target that ptxas
// knows. Skipped where the build had no CUDA Toolkit, or where there is no ptxas now.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "device/cuda/cubin.h"
#include "device/cuda/kernel.h"
#include "device/cuda/kernel_images.h"
#include "device/cuda/tcgen05_kernel.h"
#include "device/cuda/testing/ptxas.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

bool HasSourcesOfA(const Instruction& i) {
  return i.layout == Layout::kNvidiaWgmma || i.layout == Layout::kNvidiaTcgen05;
}

// The opcode that does the work of an instruction's formats.
std::string OpcodeOf(const Instruction& i, SourceOfA source) {
  if (i.layout == Layout::kVectorLanes) return i.a->bits == 64 ? "DFMA" : "FFMA";
  if (i.layout == Layout::kNvidiaTcgen05) {  // the code of mxf8f6f4 differs from the other kinds'
    return absl::StrCat("TCGEN05.", source == SourceOfA::kLanes ? "TS" : "SS",
                        absl::StrContains(i.name, "mxf8f6f4") ? ".SF" : "");
  }
  if (i.scale != nullptr) return i.layout == Layout::kNvidiaMmaBytes ? "QMMA.SF" : "OMMA.SF";
  if (i.a->bits == 64) return "DMMA";
  const char* letter = i.a->bits == 1 ? "B" : IsInteger(*i.a) ? "I" : i.a->bits <= 8 ? "Q" : "H";
  return absl::StrCat(letter, i.layout == Layout::kNvidiaWgmma ? "GMMA" : "MMA");
}

bool IsOneInstruction(const ModuleEntry& e, const Opcodes& opcodes) {
  // m8n8k4 of f16 is one instruction in steps: four with an f32 result, two with f16.
  if (e.instruction.layout == Layout::kNvidiaMma884) {
    return opcodes == Opcodes{{"HMMA.884", e.instruction.d->bits == 32 ? 4 : 2}};
  }
  return opcodes == Opcodes{{OpcodeOf(e.instruction, e.variant.a), 1}};
}

bool SaysNative(const Instruction& i, const PtxTarget& target) {
  const std::vector<std::string> archs = absl::StrSplit(i.native_on, ' ');
  return absl::c_linear_search(archs, target.arch);
}

// `found`: nothing if ptxas refuses the entry.
void ExpectNativeOn(const ModuleEntry& e, const PtxTarget& target,
                    const std::optional<Opcodes>& found) {
  std::string text = found.has_value() ? "" : " refused by ptxas";
  for (const auto& [name, count] : found.value_or(Opcodes())) {
    absl::StrAppend(&text, " ", count, " x ", name);
  }
  EXPECT_EQ(found.has_value() && IsOneInstruction(e, *found), SaysNative(e.instruction, target))
      << NameOf(e) << " on " << target.target << ":" << text;
}

// What no image holds: instructions that the target does not have, which ptxas refuses or emulates,
// and two more n, with both sources of A. Of tcgen05 entries that differ in the descriptor alone
// one will do.
std::vector<ModuleEntry> OtherEntries(const PtxTarget& target) {
  std::set<std::string> seen;
  for (const ModuleEntry& e : BuiltEntries(target)) seen.insert(NameOf(e));
  std::vector<ModuleEntry> entries;
  const auto add = [&](const Instruction& i, SourceOfA source) {
    const ModuleEntry entry = {i, {source}};
    if (!seen.insert(NameOf(entry)).second) return;
    if (i.layout == Layout::kNvidiaTcgen05) {
      const std::string descriptor =
          absl::StrCat(i.sparse() ? "[%metadata], " : "%desc_b, ", Tcgen05Descriptor(i), ",");
      const std::string text = Tcgen05Body(i, source);
      EXPECT_TRUE(absl::StrContains(text, descriptor)) << i.name;
      if (!seen.insert(absl::StrReplaceAll(text, {{descriptor, ""}})).second) return;
    }
    entries.push_back(entry);
  };
  for (const Instruction& i : Instructions()) {
    const bool of_a_gpu = absl::StrContains(i.name, "mma.") && i.layout != Layout::kNoLanes;
    if (!of_a_gpu) continue;
    const bool native = SaysNative(i, target);
    if (native && !HasKernel(i, target).ok()) continue;  // of a later PTX
    add(i, SourceOfA::kShared);
    if (!native || !HasSourcesOfA(i)) continue;
    for (const SourceOfA source : {SourceOfA::kShared, SourceOfA::kLanes}) {
      add(WithSize(i, i.shape.m, 64), source);
      add(WithSize(i, i.layout == Layout::kNvidiaWgmma ? 64 : 128, 256), source);
    }
  }
  return entries;
}

class Native : public testing::TestWithParam<PtxTarget> {};

TEST_P(Native, MachineCodeInTheBinary) {
  const KernelImage image = KernelImageOf(GetParam());
  if (image.cubin.empty()) GTEST_SKIP() << "this build had no CUDA Toolkit to make it";
  Elf64_Ehdr header;
  ASSERT_GE(image.cubin.size(), sizeof(header));
  std::memcpy(&header, image.cubin.data(), sizeof(header));
  if (image.toolkit >= 13000) {  // as read in cubins of CUDA 13.0
    EXPECT_EQ(header.e_flags >> 8 & 255u, 10u * GetParam().major + GetParam().minor);
  }
  int entries = 0, sources = 0, scalars = 0;
  for (const ModuleEntry& e : BuiltEntries(GetParam())) {
    const auto opcodes = MatrixOpcodes(image.cubin, NameOf(e));
    ASSERT_TRUE(opcodes.ok()) << opcodes.status();
    ExpectNativeOn(e, GetParam(), *opcodes);
    ++entries;
    sources += HasSourcesOfA(e.instruction);
    scalars += e.instruction.layout == Layout::kVectorLanes;
  }
  EXPECT_GE(entries, 17);
  EXPECT_EQ(scalars, 8);
  // 21 of wgmma and 20 of wgmma.sp; 93 of tcgen05, 8 of them integer, and 11 of tcgen05.mma.sp.
  const int major = GetParam().major, with_sources = (GetParam().minor == 3 ? 85 : 93) + 11;
  EXPECT_EQ(sources, major == 9 ? 2 * (21 + 20) : major == 10 ? 2 * with_sources : 0);
}

TEST_P(Native, MachineCodeOfAllElse) {
  if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  std::vector<ModuleEntry> entries = OtherEntries(GetParam());
  if (KernelImageOf(GetParam()).cubin.empty())
    absl::c_move(BuiltEntries(GetParam()), std::back_inserter(entries));
  const std::vector<std::optional<Opcodes>> found = Assemble(GetParam(), entries);
  ASSERT_EQ(found.size(), entries.size());
  int refused = 0, sizes = 0;
  for (size_t x = 0; x < entries.size(); ++x) {
    ExpectNativeOn(entries[x], GetParam(), found[x]);
    refused += !found[x].has_value();
    sizes += found[x].has_value() && !IsBuiltEntry(entries[x].instruction);
  }
  EXPECT_GE(refused, 8);
  // Two sizes with two sources of 21 instructions and 20 sparse ones; of 8 kinds and scale counts, one
  // integer, and of 3 sparse kinds.
  const int major = GetParam().major, kinds = (GetParam().minor == 3 ? 7 : 8) + 3;
  EXPECT_EQ(sizes, major == 9 ? 2 * 2 * (21 + 20) : major == 10 ? 2 * 2 * kinds : 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, Native, testing::ValuesIn(TargetsOfPtxas()),
                         [](const auto& info) { return std::string(info.param.arch); });

TEST(Cubin, DamagedBytesAreRefused) {
  EXPECT_EQ(MatrixOpcodes("", "mma").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(MatrixOpcodes(std::string(100, 'x'), "mma").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(MatrixOpcodes(std::string("\177ELF") + std::string(200, '\xff'), "mma").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace mmadiff
