// The registers of a warp, and the values of an instruction's operands in a lane.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/sass/machine.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

inline constexpr uint64_t kLocalWindow = 0x0abc'0000'0000'0000;  // generic local addresses
inline constexpr uint32_t kLocalBytes = 1 << 15;                 // per lane
// Where parameters begin in constant bank 0, by target ("sm_90a").
int ParametersAt(absl::string_view target);
inline constexpr int kSharedAt = 0x400;  // where the kernel's own memory begins

inline constexpr int kWarpsOfGroup = 4;  // a warpgroup

// The lanes whose bits are set, in ascending order: for (const int lane : LanesIn(mask)).
class LanesIn {
 public:
  explicit LanesIn(uint32_t mask) : left_(mask) {}
  LanesIn begin() const { return *this; }
  LanesIn end() const { return LanesIn(0); }
  int operator*() const { return std::countr_zero(left_); }
  LanesIn& operator++() {
    left_ &= left_ - 1;
    return *this;
  }
  friend bool operator==(const LanesIn&, const LanesIn&) = default;

 private:
  uint32_t left_;
};

// Word `index` of an operand of several registers; for the zero register, every word is the zero
// register.
inline Operand WordOf(Operand o, int index) {
  if (o.index != (o.kind == Operand::kUniform ? kZeroUniform : kZeroRegister)) o.index += index;
  return o;
}

// State that the warps of a block share.
struct Block {
  const Program* program;
  const std::vector<uint8_t>* constants;  // bank 0
  std::vector<uint8_t> shared;
  int64_t number;
  Counts* counts;
  const Natives* natives;
  std::span<const MemoryRange> memory;
  uint64_t most_instructions;
  Observer* observer;
  // By warp: the addresses of the warpgroup's instructions that it has executed.
  std::vector<std::vector<int64_t>> group_steps = {};
};

class Lanes {
 public:
  Lanes(Block& block, int first_thread);

  Block& block() { return block_; }
  int number() const { return first_thread_ / 32; }  // of the warp in its block
  // The subset of `lanes` in which the instruction's guard holds.
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
  void SetPredicates(int lane, uint32_t bits, uint32_t mask);  // those in the mask
  // Byte 0 of the local memory of a lane.
  uint8_t* Local(int lane) {
    if (local_.empty()) local_.assign(size_t{32} * kLocalBytes, 0xa5);
    return local_.data() + size_t{kLocalBytes} * lane;
  }

 private:
  Block& block_;
  const int first_thread_;
  // Instructions with operands of several registers may reach beyond the last one.
  static constexpr int kBeyond = 16;
  uint32_t registers_[256 + kBeyond][32] = {};
  uint32_t uniform_[64 + kBeyond] = {};
  uint32_t flags_[8] = {};
  uint32_t uniform_flags_ = 0;
  std::vector<uint8_t> local_;
};

}  // namespace mmadiff::sass
