// `native on` of every mma, wgmma and tcgen05 instruction against machine code: that which is in
// the binary, and for what is not in it that which ptxas makes here, for every target that ptxas
// knows. Skipped where the build had no CUDA Toolkit, or where there is no ptxas now.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "device/cuda/cubin.h"
#include "device/cuda/kernel.h"
#include "device/cuda/kernel_images.h"
#include "device/cuda/tcgen05_kernel.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Those that the ptxas of CUDA 13 knows: it has no sm_70.
std::vector<PtxTarget> Targets() { return {PtxTargets().begin() + 1, PtxTargets().end()}; }

std::string Ptxas() {
  for (const char* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

std::string NameOf(const ModuleEntry& e) { return KernelName(e.instruction, e.source); }

using Opcodes = std::map<std::string, int>;

std::string Contents(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

// Positions in the module of the entries with an error: "ptxas FILE, line 12; error   : ...".
std::set<size_t> EntriesWithErrors(const std::string& ptx, const std::string& messages) {
  std::vector<size_t> entry_of_line = {0};  // lines count from 1
  size_t entries = 0;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    entries += absl::StartsWith(line, ".visible .entry");
    entry_of_line.push_back(entries);
  }
  std::set<size_t> with_errors;
  for (const absl::string_view message : absl::StrSplit(messages, '\n')) {
    const size_t at = message.find(", line ");
    size_t line = 0;
    if (!absl::StrContains(message, "; error") || at == message.npos) continue;
    const absl::string_view rest = message.substr(at + 7);
    if (!absl::SimpleAtoi(rest.substr(0, rest.find(';')), &line)) continue;
    if (line < entry_of_line.size() && entry_of_line[line] > 0) {
      with_errors.insert(entry_of_line[line] - 1);
    }
  }
  return with_errors;
}

// The machine code of a module; nothing if ptxas refuses it, and its messages then.
std::optional<std::string> Cubin(const PtxTarget& target, const std::string& text,
                                 std::string* messages = nullptr) {
  const std::string stem = absl::StrCat(testing::TempDir(), "native_", getpid(), target.arch);
  const std::string ptx = stem + ".ptx", cubin = stem + ".cubin", said = stem + ".txt";
  std::ofstream(ptx) << text;
  const bool made = std::system(absl::StrCat(Ptxas(), " -arch ", target.target, " ", ptx, " -o ",
                                             cubin, " >/dev/null 2>", said)
                                    .c_str()) == 0;
  const std::optional<std::string> code = made ? std::optional(Contents(cubin)) : std::nullopt;
  if (messages != nullptr) *messages = Contents(said);
  for (const std::string& path : {ptx, cubin, said}) std::remove(path.c_str());
  return code;
}

// What ptxas makes of each entry; nothing where it refuses the text. They make one module, for a
// start of ptxas costs more than a kernel; what it refuses is taken out until the rest assembles.
std::vector<std::optional<Opcodes>> Assemble(const PtxTarget& target,
                                             const std::vector<ModuleEntry>& entries) {
  std::vector<std::optional<Opcodes>> all(entries.size());
  std::vector<ModuleEntry> left = entries;
  std::optional<std::string> code;
  while (!code.has_value() && !left.empty()) {
    const std::string text = ModuleOf(target, left);
    std::string messages;
    code = Cubin(target, text, &messages);
    if (code.has_value()) break;
    const std::set<size_t> refused = EntriesWithErrors(text, messages);
    EXPECT_FALSE(refused.empty()) << messages;
    if (refused.empty()) break;
    for (auto at = refused.rbegin(); at != refused.rend(); ++at) left.erase(left.begin() + *at);
  }
  for (size_t x = 0, y = 0; code.has_value() && y < left.size(); ++x) {
    if (NameOf(entries[x]) != NameOf(left[y])) continue;
    const auto opcodes = MatrixOpcodes(*code, NameOf(left[y++]));
    EXPECT_TRUE(opcodes.ok()) << opcodes.status();
    if (opcodes.ok()) all[x] = *opcodes;
  }
  return all;
}

// The matrix opcode that does the work of an instruction's formats.
std::string OpcodeOf(const Instruction& i, SourceOfA source) {
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
  return opcodes == Opcodes{{OpcodeOf(e.instruction, e.source), 1}};
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
    const ModuleEntry entry = {i, source};
    if (!seen.insert(NameOf(entry)).second) return;
    if (i.layout == Layout::kNvidiaTcgen05) {
      const std::string descriptor = absl::StrCat("%desc_b, ", Tcgen05Descriptor(i), ",");
      const std::string text = Tcgen05Body(i, source);
      EXPECT_TRUE(absl::StrContains(text, descriptor)) << i.name;
      if (!seen.insert(absl::StrReplaceAll(text, {{descriptor, ""}})).second) return;
    }
    entries.push_back(entry);
  };
  for (const Instruction& i : Instructions()) {
    if (!absl::StartsWith(i.name, "mma.") && !HasSourcesOfA(i)) continue;
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
  int entries = 0, sources = 0;
  for (const ModuleEntry& e : BuiltEntries(GetParam())) {
    const auto opcodes = MatrixOpcodes(image.cubin, NameOf(e));
    ASSERT_TRUE(opcodes.ok()) << opcodes.status();
    ExpectNativeOn(e, GetParam(), *opcodes);
    ++entries;
    sources += HasSourcesOfA(e.instruction);
  }
  EXPECT_GE(entries, 17);
  // 21 of wgmma; 93 of tcgen05, 8 of them integer.
  const int major = GetParam().major, with_sources = GetParam().minor == 3 ? 85 : 93;
  EXPECT_EQ(sources, major == 9 ? 2 * 21 : major == 10 ? 2 * with_sources : 0);
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
  // Two sizes with two sources of 21 instructions; of 8 kinds and scale counts, one integer.
  const int major = GetParam().major, kinds = GetParam().minor == 3 ? 7 : 8;
  EXPECT_EQ(sizes, major == 9 ? 2 * 2 * 21 : major == 10 ? 2 * 2 * kinds : 0);
}

// One wmma.mma with its loads and stores (PTX ISA, wmma: registers of a fragment).
std::string WmmaEntry(const Operation& op, const std::string& entry) {
  const Instruction& i = *op.instruction;
  const std::string shape = absl::StrCat("m", i.shape.m, "n", i.shape.n, "k", i.shape.k);
  const auto registers = [](const char* letter, int count) {
    std::string list = absl::StrCat("{%", letter, "0");
    for (int x = 1; x < count; ++x) absl::StrAppend(&list, ", %", letter, x);
    return list + "}";
  };
  const auto operand = [&i](int rows) {  // f16 fragments hold every element twice
    return i.a->bits == 32 ? 4 : std::string_view(i.a->name) == "f16" ? 8 : rows * i.shape.k / 64;
  };
  const std::string a = registers("a", operand(i.shape.m)), b = registers("b", operand(i.shape.n));
  const bool half_c = i.c->bits == 16, half_d = i.d->bits == 16;
  const std::string c = registers(half_c ? "h" : "f", half_c ? 4 : 8);
  const std::string d = registers(half_d ? "p" : "q", half_d ? 4 : 8);
  const std::string types =
      std::string_view(i.a->name) == "f16"
          ? absl::StrCat(i.d->name, ".", i.c->name)
          : absl::StrCat(i.d->name, ".", i.a->name, ".", i.b->name, ".", i.c->name);
  return absl::StrCat(".visible .entry ", entry,
                      "(.param .u64 address) {\n.reg .b32 %a<8>, %b<8>, %h<8>, %p<8>;\n",
                      ".reg .f32 %f<8>, %q<8>;\n.reg .u64 %at;\nld.param.u64 %at, [address];\n",  //
                      "wmma.load.a.sync.aligned.row.", shape, ".", i.a->name, " ", a, ", [%at];\n",
                      "wmma.load.b.sync.aligned.col.", shape, ".", i.b->name, " ", b,
                      ", [%at+4096];\n", "wmma.load.c.sync.aligned.row.", shape, ".", i.c->name,
                      " ", c, ", [%at+8192];\n", "wmma.mma.sync.aligned.row.col.", shape, ".",
                      types, " ", d, ", ", a, ", ", b, ", ", c, ";\nwmma.store.d.sync.aligned.row.",
                      shape, ".", i.d->name, " [%at+12288], ", d, ";\nret;\n}\n");
}

// The numerics of wmma are those of the instructions that ptxas makes of it: no step of an
// operation's model joins more products than one of them does.
TEST_P(Native, StepsOfWmmaAreNoLongerThanItsInstructions) {
  if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  std::vector<const Operation*> ops;
  std::string ptx = ModuleOf(GetParam(), {});
  for (const Operation* op : MatchOperations(absl::StrCat(GetParam().arch, "/wmma.*"))) {
    if (IsInteger(op->model.d) || op->model.d.bits == 64) continue;
    absl::StrAppend(&ptx, WmmaEntry(*op, absl::StrCat("w", ops.size())));
    ops.push_back(op);
  }
  EXPECT_GE(ops.size(), GetParam().major == 7 ? 9u : 13u);
  const std::string code = Cubin(GetParam(), ptx).value_or("");
  for (size_t x = 0; x < ops.size(); ++x) {
    const auto opcodes = MatrixOpcodes(code, absl::StrCat("w", x));
    ASSERT_TRUE(opcodes.ok()) << opcodes.status();
    ASSERT_EQ(opcodes->size(), 1u);
    const Shape& s = ops[x]->shape();
    // Each makes 16 x 8 results.
    const int products = s.k * s.m * s.n / (16 * 8) / opcodes->at("HMMA");
    const int terms = std::min(s.k, ops[x]->model.algorithm.terms);
    EXPECT_EQ(products % terms, 0) << ops[x]->name << ": steps of " << products;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Native, testing::ValuesIn(Targets()),
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
