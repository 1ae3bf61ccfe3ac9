// One warp: registers, where each lane stands, and who waits for whom.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "fuzz/gpu/sass/compute.h"
#include "fuzz/gpu/sass/machine.h"

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
  std::vector<uint64_t>* executed;
};

class Warp {
 public:
  Warp(Block& block, int first_thread, int threads);

  // Until every lane has ended or waits for the block.
  absl::Status Run();
  bool ended() const { return live_ == 0; }
  // Lanes that wait for the block go on.
  void Release();

 private:
  enum State : uint8_t { kRunning, kAtBarrier, kAtBlock };

  absl::Status Step(const Instruction& in, uint32_t lanes);
  absl::Status Arithmetic(const Instruction& in, uint32_t lanes);
  absl::Status Exchange(const Instruction& in, uint32_t lanes);
  absl::Status Memory(const Instruction& in, uint32_t lanes);
  absl::Status Global(const Instruction& in, uint32_t lanes);
  absl::Status Control(const Instruction& in, uint32_t lanes);
  void Count(const Instruction& in);
  void CountShared(const Instruction& in, uint32_t lanes);
  void CountGlobal(const Instruction& in, uint32_t lanes);
  void ReleaseBarrier(int barrier);

  uint32_t Guard(const Instruction& in, uint32_t lanes) const;
  bool Condition(const Operand& o, int lane) const;
  uint64_t Source(const Operand& o, int lane, bool pair) const;
  uint64_t Address(const Operand& o, int lane) const;
  uint32_t Register(int index, int lane) const {
    return index == kZeroRegister ? 0 : registers_[index][lane];
  }
  void Set(const Operand& o, int lane, uint32_t value);
  void SetFlag(const Operand& o, int lane, bool value);
  uint32_t Special(const Operand& o, int lane) const;
  int SizeOf(const Instruction& in) const;  // bytes of a memory access
  // Where `bytes` at an address of a lane lie here; nullptr: outside.
  uint8_t* Locate(uint64_t address, int lane, int bytes);

  Block& block_;
  const int first_thread_;
  uint32_t live_ = 0;
  uint32_t registers_[256][32] = {};
  uint32_t uniform_[64] = {};
  uint32_t flags_[8] = {};
  uint32_t uniform_flags_ = 0;
  uint32_t barriers_[16][32] = {};  // by lane: those that it waits for
  int position_[32] = {};
  State state_[32] = {};
  int waits_for_[32] = {};
  std::vector<uint8_t> local_;
};

}  // namespace mmadiff::sass
