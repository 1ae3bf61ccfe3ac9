#include "device/cuda/cubin.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

struct Opcode {
  unsigned code;
  const char* name;
  unsigned last = 255;  // compute capability of the last machine code that has it, 75 for 7.5
};

// Those of wgmma were read in cubins that ptxas 13.0 made of kernels that differ in one
// instruction: the low byte goes with the types, and the rest is 9 with A in shared memory, 0xd in
// registers. 0x236 is something else in code for sm_120 (read in wmma of s4 with .satfinite).
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

// The struct at `offset`, if it lies within the bytes.
template <class T>
bool ReadAt(absl::string_view bytes, uint64_t offset, T* out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

absl::string_view Part(absl::string_view bytes, const Elf64_Shdr& section) {
  if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size) {
    return {};
  }
  return bytes.substr(section.sh_offset, section.sh_size);
}

// Compute capability, 75 for 7.5. The header has it elsewhere before CUDA 13 (LLVM, BinaryFormat/ELF.h,
// ELFABIVERSION_CUDA_V1 and EF_CUDA_SM).
unsigned CapabilityOf(const Elf64_Ehdr& header) {
  constexpr unsigned char kCuda13 = 8;
  return header.e_flags >> (header.e_ident[EI_ABIVERSION] < kCuda13 ? 0 : 8) & 255;
}

}  // namespace

absl::StatusOr<std::map<std::string, int>> MatrixOpcodes(absl::string_view cubin,
                                                         absl::string_view kernel) {
  const absl::Status damaged = absl::DataLossError("no cubin: not a whole ELF64 file");
  Elf64_Ehdr header;
  if (!ReadAt(cubin, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return damaged;
  }
  const auto section_at = [&](unsigned index, Elf64_Shdr* section) {
    return ReadAt(cubin, header.e_shoff + uint64_t{index} * sizeof(Elf64_Shdr), section);
  };
  Elf64_Shdr names;
  if (!section_at(header.e_shstrndx, &names)) return damaged;
  const absl::string_view name_bytes = Part(cubin, names);
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr section;
    if (!section_at(index, &section)) return damaged;
    if (section.sh_name >= name_bytes.size()) continue;
    const absl::string_view rest = name_bytes.substr(section.sh_name);
    if (rest.substr(0, rest.find('\0')) != absl::StrCat(".text.", kernel)) continue;
    const absl::string_view text = Part(cubin, section);
    std::map<std::string, int> counts;
    uint64_t word;
    for (uint64_t at = 0; ReadAt(text, at, &word); at += 16) {
      for (const Opcode& o : kOpcodes) {
        counts[o.name] += (word & 0xfff) == o.code && CapabilityOf(header) <= o.last;
      }
    }
    std::erase_if(counts, [](const auto& count) { return count.second == 0; });
    return counts;
  }
  return absl::DataLossError(absl::StrCat("the cubin has no kernel '", kernel, "'"));
}

}  // namespace mmadiff
