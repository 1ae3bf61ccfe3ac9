// The opcodes of the matrix instructions, for tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "device/hip/kernel.h"

namespace mmadiff {

// The generation of the instruction set: 9, 11 or 12.
inline int GenerationOf(const HipTarget& target) {
  return absl::StartsWith(target.target, "gfx12")   ? 12
         : absl::StartsWith(target.target, "gfx11") ? 11
                                                    : 9;
}

// As in HipMatrixOpcode().
inline int OpcodeOf(const HipTarget& target, const Instruction& i) {
  static const auto& known = *new std::map<std::pair<int, std::string>, int>{
#define MMADIFF_OPCODE(generation, mnemonic, opcode) {{generation, mnemonic}, opcode},
#include "device/hip/testing/opcodes.inc"
#undef MMADIFF_OPCODE
  };
  return known.at({GenerationOf(target), i.name.substr(0, i.name.find('.'))});
}

}  // namespace mmadiff
