#include "device/cuda/cubin.h"

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "device/gpu/elf.h"

namespace mmadiff {
namespace {

struct Opcode {
  unsigned code;
  const char* name;
  unsigned last = 255;  // last compute capability whose machine code has it, 75 for 7.5
};

// The codes of wgmma were read in cubins that ptxas 13.0 made from kernels that differ in one
// instruction: the low byte depends on the types, and the rest is 9 with A in shared memory, 0xd in
// registers. In code for sm_120, 0x236 means something else (read in wmma of s4 with .satfinite).
constexpr Opcode kOpcodes[] = {
    {0x223, "FFMA"},          {0x22b, "DFMA"},       {0x23c, "HMMA"},
    {0x236, "HMMA.884", 75},  {0x237, "IMMA"},       {0x23d, "BMMA"},
    {0x23f, "DMMA"},          {0x27a, "QMMA"},       {0x47a, "QMMA.SF"},
    {0x47f, "OMMA.SF"},       {0x9f0, "HGMMA"},      {0xdf0, "HGMMA"},
    {0x9f1, "IGMMA"},         {0xdf1, "IGMMA"},      {0x9f2, "BGMMA"},
    {0xdf2, "BGMMA"},         {0x9f3, "QGMMA"},      {0xdf3, "QGMMA"},
    {0x5ea, "TCGEN05.SS"},    {0x9ea, "TCGEN05.TS"}, {0xdea, "TCGEN05.SS.SF"},
    {0xfea, "TCGEN05.TS.SF"},
};

// Compute capability, 75 for 7.5. Before CUDA 13 it is in a different place in the header (LLVM,
// BinaryFormat/ELF.h, ELFABIVERSION_CUDA_V1 and EF_CUDA_SM).
unsigned CapabilityOf(const Elf64_Ehdr& header) {
  constexpr unsigned char kCuda13 = 8;
  return header.e_flags >> (header.e_ident[EI_ABIVERSION] < kCuda13 ? 0 : 8) & 255;
}

}  // namespace

absl::StatusOr<std::map<std::string, int>> MatrixOpcodes(absl::string_view cubin,
                                                         absl::string_view kernel) {
  const absl::StatusOr<ElfFile> file = ElfFile::Read(cubin);
  if (!file.ok())
    return absl::DataLossError(absl::StrCat("not a cubin: ", file.status().message()));
  const std::optional<absl::string_view> text = file->Section(absl::StrCat(".text.", kernel));
  if (!text.has_value()) {
    return absl::DataLossError(absl::StrCat("the cubin has no kernel '", kernel, "'"));
  }
  std::map<std::string, int> counts;
  uint64_t word;
  for (uint64_t at = 0; ReadAt(*text, at, &word); at += 16) {
    for (const Opcode& o : kOpcodes) {
      counts[o.name] += (word & 0xfff) == o.code && CapabilityOf(file->header()) <= o.last;
    }
  }
  std::erase_if(counts, [](const auto& count) { return count.second == 0; });
  return counts;
}

}  // namespace mmadiff
