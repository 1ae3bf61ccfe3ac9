// `native on` of every mma and wgmma instruction against the machine code that ptxas makes of it,
// for every target that this ptxas knows. Skipped where there is no ptxas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/cuda/cubin.h"
#include "device/cuda/kernel.h"

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

// What ptxas makes of each entry; nothing where it refuses the text. They make one module, for a
// start of ptxas costs more than a kernel; what it refuses is taken out until the rest assembles.
std::vector<std::optional<Opcodes>> Assemble(const PtxTarget& target,
                                             const std::vector<ModuleEntry>& entries) {
  const std::string stem = absl::StrCat(testing::TempDir(), "native_", getpid(), target.arch);
  const std::string ptx = stem + ".ptx", cubin = stem + ".cubin", messages = stem + ".txt";
  const std::string command = absl::StrCat(Ptxas(), " -arch ", target.target, " ", ptx, " -o ",
                                           cubin, " >/dev/null 2>", messages);
  std::vector<std::optional<Opcodes>> all(entries.size());
  std::vector<ModuleEntry> left = entries;
  bool assembles = false;
  while (!assembles && !left.empty()) {
    const std::string text = ModuleOf(target, left);
    std::ofstream(ptx) << text;
    assembles = std::system(command.c_str()) == 0;
    if (assembles) break;
    const std::set<size_t> refused = EntriesWithErrors(text, Contents(messages));
    EXPECT_FALSE(refused.empty()) << Contents(messages);
    if (refused.empty()) break;
    for (auto at = refused.rbegin(); at != refused.rend(); ++at) left.erase(left.begin() + *at);
  }
  const std::string code = assembles ? Contents(cubin) : "";
  for (size_t x = 0, y = 0; assembles && y < left.size(); ++x) {
    if (entries[x].name != left[y].name) continue;
    const auto opcodes = MatrixOpcodes(code, left[y++].name);
    EXPECT_TRUE(opcodes.ok()) << opcodes.status();
    if (opcodes.ok()) all[x] = *opcodes;
  }
  for (const std::string& path : {ptx, cubin, messages}) std::remove(path.c_str());
  return all;
}

bool IsWgmma(const Instruction& i) { return i.layout == Layout::kNvidiaWgmma; }

// The matrix opcode that does the work of an instruction's formats.
std::string OpcodeOf(const Instruction& i) {
  if (i.scale != nullptr) return i.layout == Layout::kNvidiaMmaBytes ? "QMMA.SF" : "OMMA.SF";
  if (i.a->bits == 64) return "DMMA";
  const char* letter = i.a->bits == 1 ? "B" : IsInteger(*i.a) ? "I" : i.a->bits <= 8 ? "Q" : "H";
  return absl::StrCat(letter, IsWgmma(i) ? "GMMA" : "MMA");
}

bool IsNative(const Instruction& i, const Opcodes& opcodes) {
  // m8n8k4 of f16 is one instruction in steps: four with an f32 result, two with f16.
  if (i.layout == Layout::kNvidiaMma884) {
    return opcodes == Opcodes{{"HMMA.884", i.d->bits == 32 ? 4 : 2}};
  }
  return opcodes == Opcodes{{OpcodeOf(i), 1}};
}

bool SaysNative(const Instruction& i, const PtxTarget& target) {
  const std::vector<std::string> archs = absl::StrSplit(i.native_on, ' ');
  return absl::c_linear_search(archs, target.arch);
}

// PTX 9.1, which the ptxas of CUDA 13.0 refuses: here its row is the manual's word alone.
bool IsLaterPtx(const Instruction& i) { return absl::EndsWith(i.name, "ue8m0.4x"); }

// Every mma instruction; every wgmma instruction with the least, a middle and the largest n and
// both sources of A, but once alone where all must be refused.
std::vector<ModuleEntry> Entries(const PtxTarget& target) {
  std::vector<ModuleEntry> entries;
  const auto add = [&entries](const Instruction& i, SourceOfA source) {
    entries.push_back({absl::StrCat("kernel", entries.size()), i, source});
  };
  for (const Instruction& i : Instructions()) {
    if (absl::StartsWith(i.name, "mma.")) add(i, SourceOfA::kShared);
    if (!IsWgmma(i)) continue;
    add(i, SourceOfA::kShared);
    if (!SaysNative(i, target)) continue;
    add(i, SourceOfA::kLanes);
    for (const int n : {64, 256}) {
      add(WithSize(i, 64, n), SourceOfA::kShared);
      add(WithSize(i, 64, n), SourceOfA::kLanes);
    }
  }
  return entries;
}

class Native : public testing::TestWithParam<PtxTarget> {};

TEST_P(Native, MachineCodeHasTheInstruction) {
  if (Ptxas().empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  const std::vector<ModuleEntry> entries = Entries(GetParam());
  const std::vector<std::optional<Opcodes>> found = Assemble(GetParam(), entries);
  ASSERT_EQ(found.size(), entries.size());
  int accepted = 0, wgmma = 0;
  for (size_t x = 0; x < entries.size(); ++x) {
    const Instruction& i = entries[x].instruction;
    if (!found[x].has_value() && IsLaterPtx(i)) continue;
    accepted += found[x].has_value();
    wgmma += found[x].has_value() && IsWgmma(i);
    std::string text = found[x].has_value() ? "" : " refused by ptxas";
    for (const auto& [name, count] : found[x].value_or(Opcodes())) {
      absl::StrAppend(&text, " ", count, " x ", name);
    }
    EXPECT_EQ(found[x].has_value() && IsNative(i, *found[x]), SaysNative(i, GetParam()))
        << i.name << (entries[x].source == SourceOfA::kLanes ? ", A in registers" : "") << " on "
        << GetParam().target << ":" << text;
  }
  EXPECT_GE(accepted, 17);
  // 21 instructions, three sizes, two sources; refused, not emulated, by every other target.
  EXPECT_EQ(wgmma, GetParam().major == 9 ? 21 * 3 * 2 : 0);
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
