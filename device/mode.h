// The register of a processor that sets the rounding of arithmetic and its treatment of subnormals.
// Instructions may or may not read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct Mode {
  const char* name;     // "denorm"
  const char* value;    // "flush"
  uint32_t clear, set;  // bits of the register

  uint32_t In(uint32_t bits) const { return (bits & ~clear) | set; }
};

// "denorm=flush"
inline std::string ModeText(const Mode& mode) { return absl::StrCat(mode.name, "=", mode.value); }

// nullptr if no mode has that text.
inline const Mode* FindMode(std::span<const Mode> modes, absl::string_view text) {
  for (const Mode& m : modes) {
    if (ModeText(m) == text) return &m;
  }
  return nullptr;
}

// The texts of the modes that change `bits`.
inline std::vector<std::string> ModesBeside(std::span<const Mode> modes, uint32_t bits) {
  std::vector<std::string> texts;
  for (const Mode& m : modes) {
    if (m.In(bits) != bits) texts.push_back(ModeText(m));
  }
  return texts;
}

}  // namespace mmadiff
