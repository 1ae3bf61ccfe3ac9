// `native on` of every mma instruction against the machine code that ptxas makes of it, for every
// target that this ptxas knows. Skipped where there is no ptxas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
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

// The matrix opcode that does the work of an instruction's formats.
std::string OpcodeOf(const Instruction& i) {
  if (i.name.find("mxf4") != i.name.npos) return "OMMA.SF";
  if (i.name.find("mxf8f6f4") != i.name.npos) return "QMMA.SF";
  if (i.a->bits == 1) return "BMMA";
  if (IsInteger(*i.a)) return "IMMA";
  if (i.a->bits == 64) return "DMMA";
  return i.a->bits <= 8 ? "QMMA" : "HMMA";
}

bool IsNative(const Instruction& i, const std::map<std::string, int>& opcodes) {
  // m8n8k4 of f16 is one instruction in steps: four with an f32 result, two with f16.
  if (i.layout == Layout::kNvidiaMma884) {
    return opcodes == std::map<std::string, int>{{"HMMA.884", i.d->bits == 32 ? 4 : 2}};
  }
  return opcodes == std::map<std::string, int>{{OpcodeOf(i), 1}};
}

// PTX 9.1, which the ptxas of CUDA 13.0 refuses: here its row is the manual's word alone.
bool IsLaterPtx(const Instruction& i) { return absl::EndsWith(i.name, "ue8m0.4x"); }

class Native : public testing::TestWithParam<PtxTarget> {};

TEST_P(Native, MachineCodeHasTheInstruction) {
  const std::string ptxas = Ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas (CUDA Toolkit) here";
  const std::string stem = absl::StrCat(testing::TempDir(), "native_", getpid(), GetParam().arch);
  const std::string ptx = stem + ".ptx", cubin = stem + ".cubin";
  int accepted = 0;
  for (const Instruction& i : Instructions()) {
    if (!absl::StartsWith(i.name, "mma.")) continue;
    const std::string text = MmaKernel(i, GetParam());
    SCOPED_TRACE(i.name);
    std::ofstream(ptx) << text;
    const std::string command =
        absl::StrCat(ptxas, " -arch ", GetParam().target, " ", ptx, " -o ", cubin, " 2>/dev/null");
    const bool assembles = std::system(command.c_str()) == 0;
    if (!assembles && IsLaterPtx(i)) continue;
    bool native = false;
    std::string found = assembles ? "" : " refused by ptxas";
    if (assembles) {
      ++accepted;
      std::ostringstream bytes;
      bytes << std::ifstream(cubin, std::ios::binary).rdbuf();
      const auto opcodes = MatrixOpcodes(bytes.str(), "execute");
      ASSERT_TRUE(opcodes.ok()) << opcodes.status();
      native = IsNative(i, *opcodes);
      for (const auto& [name, count] : *opcodes) found += absl::StrCat(" ", count, " x ", name);
    }
    const std::vector<std::string> listed = absl::StrSplit(i.native_on, ' ');
    const bool says = std::find(listed.begin(), listed.end(), GetParam().arch) != listed.end();
    EXPECT_EQ(native, says) << GetParam().target << ":" << found;
  }
  EXPECT_GE(accepted, 17);
  std::remove(ptx.c_str());
  std::remove(cubin.c_str());
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
