#include "device/gpu/elf.h"

#include "absl/status/status.h"

namespace mmadiff {
namespace {

// The text from `offset` to the next 0.
absl::string_view TextAt(absl::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const absl::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

absl::StatusOr<ElfFile> ElfFile::Read(absl::string_view bytes) {
  ElfFile file;
  file.bytes_ = bytes;
  Elf64_Shdr names;
  if (!ReadAt(bytes, 0, &file.header_) || std::memcmp(file.header_.e_ident, ELFMAG, SELFMAG) != 0 ||
      !file.SectionAt(file.header_.e_shstrndx, &names)) {
    return absl::DataLossError("not a complete ELF64 file");
  }
  file.names_ = file.Part(names);
  return file;
}

bool ElfFile::SectionAt(unsigned index, Elf64_Shdr* section) const {
  return index < header_.e_shnum &&
         ReadAt(bytes_, header_.e_shoff + uint64_t{index} * sizeof(Elf64_Shdr), section);
}

absl::string_view ElfFile::Part(const Elf64_Shdr& section) const {
  if (section.sh_offset > bytes_.size() || bytes_.size() - section.sh_offset < section.sh_size) {
    return {};
  }
  return bytes_.substr(section.sh_offset, section.sh_size);
}

std::optional<absl::string_view> ElfFile::Section(absl::string_view name) const {
  Elf64_Shdr section;
  for (unsigned i = 0; SectionAt(i, &section); ++i) {
    if (TextAt(names_, section.sh_name) == name) return Part(section);
  }
  return std::nullopt;
}

std::optional<absl::string_view> ElfFile::Symbol(absl::string_view name) const {
  Elf64_Shdr table, strings, section;
  for (unsigned i = 0; SectionAt(i, &table); ++i) {
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!SectionAt(table.sh_link, &strings)) continue;
    Elf64_Sym symbol;
    for (uint64_t at = 0; ReadAt(Part(table), at, &symbol); at += sizeof(symbol)) {
      if (TextAt(Part(strings), symbol.st_name) != name) continue;
      if (!SectionAt(symbol.st_shndx, &section)) continue;
      const uint64_t first = symbol.st_value - section.sh_addr;
      const absl::string_view part = Part(section);
      if (first > part.size() || part.size() - first < symbol.st_size) continue;
      return part.substr(first, symbol.st_size);
    }
  }
  return std::nullopt;
}

}  // namespace mmadiff
