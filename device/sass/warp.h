// One warp: the position of each lane, and the lanes that each one waits for.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "device/sass/compute.h"
#include "device/sass/lanes.h"

namespace mmadiff::sass {

// The lane that a shuffle takes the lane's word from; nullopt: outside of the warp, its own.
std::optional<int> ShuffledFrom(const Instruction& in, int lane, const Lanes& warp);

class Warp : private Lanes {
 public:
  Warp(Block& block, int first_thread, int threads);

  // Runs until every lane has ended or waits for the block.
  absl::Status Run();
  bool ended() const { return live_ == 0; }
  // Lets lanes that wait for the block continue.
  void Release();

 private:
  enum State : uint8_t { kRunning, kAtBarrier, kAtBlock };

  absl::Status Step(const Instruction& in, uint32_t lanes);
  absl::Status StepGuarded(const Instruction& in, uint32_t lanes);
  absl::Status Arithmetic(const Instruction& in, uint32_t lanes);
  absl::Status Exchange(const Instruction& in, uint32_t lanes);
  absl::Status MoveMatrix(const Instruction& in, uint32_t lanes);
  absl::Status TakePartInGroup(const Instruction& in, uint32_t lanes);
  absl::Status Control(const Instruction& in, uint32_t lanes);
  void ReleaseBarrier(int barrier);

  uint32_t live_ = 0;
  uint32_t barriers_[16][32] = {};  // by lane: the lanes that it waits for
  int position_[32] = {};
  State state_[32] = {};
  int waits_for_[32] = {};
};

}  // namespace mmadiff::sass
