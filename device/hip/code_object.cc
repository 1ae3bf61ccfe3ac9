#include "device/hip/code_object.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "device/gpu/elf.h"

namespace mmadiff {
namespace {

constexpr bool IsLiteral(uint32_t source) { return source == 255; }

// Bytes of a scalar instruction or of a short vector instruction: four, plus a literal after them.
// 0 for any other instruction.
int ShortBytes(uint32_t word, int generation) {
  if (word >> 31 == 0) {  // VOP1, VOP2, VOPC
    const uint32_t source = word & 0x1ff;
    const bool more = generation == 9 ? source == 249 || source == 250  // SDWA, DPP
                                      : source == 233 || source == 234 || source == 250;  // DPP
    return IsLiteral(source) || more ? 8 : 4;
  }
  if (word >> 30 != 2) return 0;
  if (word >> 28 == 0xb) return 4;    // SOPK
  if (word >> 23 == 0x17f) return 4;  // SOPP
  const bool literal =
      IsLiteral(word & 0xff) || (word >> 23 != 0x17d && IsLiteral(word >> 8 & 0xff));
  return literal ? 8 : 4;  // SOP1, SOPC, SOP2
}

absl::Status NoCode(absl::string_view why) {
  return absl::DataLossError(absl::StrCat("bad code object: ", why));
}

absl::Status NoKernel(absl::string_view kernel) {
  return absl::DataLossError(absl::StrCat("the code object has no kernel '", kernel, "'"));
}

}  // namespace

// Uses the low byte (LLVM, BinaryFormat/ELF.h, EF_AMDGPU_MACH).
int HipGenerationOf(uint32_t flags) {
  switch (flags & 0xff) {
    case 0x30:  // gfx908
    case 0x3f:  // gfx90a
    case 0x4c:  // gfx942
    case 0x4f:  // gfx950
      return 9;
    case 0x41:  // gfx1100
    case 0x46:  // gfx1101
    case 0x47:  // gfx1102
    case 0x44:  // gfx1103
    case 0x43:  // gfx1150
    case 0x4a:  // gfx1151
      return 11;
    case 0x48:  // gfx1200
    case 0x4e:  // gfx1201
      return 12;
    default:
      return 0;
  }
}

int HipBytesOf(uint32_t word, int generation) {
  if (const int bytes = ShortBytes(word, generation); bytes > 0) return bytes;
  const bool global_of_gfx12 = generation == 12 && word >> 24 == 0xee;  // VGLOBAL
  return global_of_gfx12 ? 12 : 8;
}

std::optional<int> HipMatrixOpcode(uint32_t word, int generation) {
  const uint32_t vop3p = generation == 9 ? 0xd3800000 : 0xcc000000;
  if ((word & 0xff800000) != vop3p) return std::nullopt;
  const int opcode = word >> 16 & 0x7f;
  // Below 0x2d: packed arithmetic, dot products; 0x2c: the scales of the next instruction; 0x30 to
  // 0x33: packed f32 and moves; 0x58 and 0x59: v_accvgpr_read and _write.
  if (generation != 9) return opcode >= 0x40 ? std::optional(opcode) : std::nullopt;
  const bool other = opcode < 0x2d || opcode >> 2 == 0x30 >> 2 || opcode >> 1 == 0x58 >> 1;
  return other ? std::nullopt : std::optional(opcode);
}

absl::StatusOr<std::vector<int>> HipMatrixOpcodes(absl::string_view code_object,
                                                  absl::string_view kernel) {
  const absl::StatusOr<ElfFile> file = ElfFile::Read(code_object);
  if (!file.ok()) return NoCode(file.status().message());
  const int generation = HipGenerationOf(file->header().e_flags);
  if (file->header().e_machine != EM_AMDGPU || generation == 0) return NoCode("not for these GPUs");
  std::optional<absl::string_view> code = file->Symbol(kernel);
  if (code.has_value() && code->empty()) code = file->Section(".text");  // a symbol without size
  if (!code.has_value()) return NoKernel(kernel);
  std::vector<int> opcodes;
  uint64_t at = 0;
  for (uint32_t word; ReadAt(*code, at, &word); at += HipBytesOf(word, generation)) {
    const std::optional<int> opcode = HipMatrixOpcode(word, generation);
    if (opcode.has_value()) opcodes.push_back(*opcode);
  }
  if (at != code->size()) return NoCode(absl::StrCat("'", kernel, "' ends within an instruction"));
  return opcodes;
}

absl::StatusOr<uint32_t> HipModeOf(absl::string_view code_object, absl::string_view kernel) {
  const absl::StatusOr<ElfFile> file = ElfFile::Read(code_object);
  if (!file.ok()) return NoCode(file.status().message());
  const std::optional<absl::string_view> descriptor = file->Symbol(absl::StrCat(kernel, ".kd"));
  uint32_t resources;
  if (!descriptor.has_value() || !ReadAt(*descriptor, 48, &resources)) return NoKernel(kernel);
  const uint32_t rounds_and_denorms = resources >> 12 & 0xff, clamp = resources >> 21 & 1,
                 ieee = resources >> 23 & 1, overflow = resources >> 26 & 1;
  return rounds_and_denorms | clamp << 8 | ieee << 9 | overflow << 23;
}

}  // namespace mmadiff
