// ELF64 files, as far as needed to read the machine code of kernels.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// Reads the struct at `offset`; false if it is not within the bytes.
template <class T>
bool ReadAt(absl::string_view bytes, uint64_t offset, T* out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

class ElfFile {
 public:
  // `bytes` must outlive the object; kDataLoss if they are not a complete ELF64 file.
  static absl::StatusOr<ElfFile> Read(absl::string_view bytes);

  const Elf64_Ehdr& header() const { return header_; }
  std::optional<absl::string_view> Section(absl::string_view name) const;
  // The bytes of a symbol in section ".symtab" or ".dynsym".
  std::optional<absl::string_view> Symbol(absl::string_view name) const;

 private:
  absl::string_view Part(const Elf64_Shdr& section) const;
  bool SectionAt(unsigned index, Elf64_Shdr* section) const;

  absl::string_view bytes_;
  Elf64_Ehdr header_ = {};
  absl::string_view names_;  // section names
};

}  // namespace mmadiff
