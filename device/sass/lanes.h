// The registers of a warp, and what the operands of an instruction are in a lane.
#pragma once

#include <cstdint>
#include <vector>

#include "device/sass/machine.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

inline constexpr uint64_t kLocalWindow = 0x0abc'0000'0000'0000;  // generic addresses of locals
inline constexpr uint32_t kLocalBytes = 1 << 15;                 // of a lane
inline constexpr int kParametersAt = 0x210;                      // in constant bank 0, sm_90
inline constexpr int kSharedAt = 0x400;                          // where the kernel's own begins

// What the warps of a block share.
struct Block {
  const Program* program;
  const std::vector<uint8_t>* constants;  // bank 0
  std::vector<uint8_t> shared;
  int64_t number;
  Counts* counts;
};

class Lanes {
 public:
  Lanes(Block& block, int first_thread);

  Block& block() { return block_; }
  // The lanes of these in which the guard of the instruction holds.
  uint32_t Guard(const Instruction& in, uint32_t lanes) const;
  bool Condition(const Operand& o, int lane) const;
  uint64_t Source(const Operand& o, int lane, bool pair) const;
  uint64_t Address(const Operand& o, int lane) const;
  uint32_t Register(int index, int lane) const {
    return index == kZeroRegister ? 0 : registers_[index][lane];
  }
  uint32_t Special(const Operand& o, int lane) const;
  void Set(const Operand& o, int lane, uint32_t value);
  void SetFlag(const Operand& o, int lane, bool value);
  // The seven predicates of a lane as bits.
  uint32_t Predicates(int lane) const;
  // Byte 0 of the local memory of a lane.
  uint8_t* Local(int lane) { return local_.data() + size_t{kLocalBytes} * lane; }

 private:
  Block& block_;
  const int first_thread_;
  uint32_t registers_[256][32] = {};
  uint32_t uniform_[64] = {};
  uint32_t flags_[8] = {};
  uint32_t uniform_flags_ = 0;
  std::vector<uint8_t> local_;
};

}  // namespace mmadiff::sass
