// Whether machine code orders its accesses with the matrix instructions of a warpgroup (wgmma), which
// run asynchronously. Before one of them, WARPGROUP.ARRIVE orders the registers that were written, and
// FENCE.VIEW.ASYNC with a barrier of the block the shared memory (PTX ISA 9.0, 9.7.15: wgmma.fence and
// fence.proxy.async).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "device/sass/lanes.h"
#include "device/sass/natives.h"
#include "device/sass/uses.h"

namespace mmadiff::sass {

class GroupWaits {
 public:
  explicit GroupWaits(const Natives& natives) : natives_(natives) {}

  // For each instruction in the order of execution. `pending`: whether this earlier instruction of the
  // warp may still run, for all that the warp has waited for. kInternal names the first matrix
  // instruction whose operands are not ordered.
  absl::Status Before(const Instruction& in, uint32_t lanes, const Uses& uses, Lanes& warp,
                      absl::FunctionRef<bool(const Instruction&)> pending);

 private:
  struct Fence {
    const Instruction* in;
    uint32_t lanes;
    int64_t begun_after;      // barriers
    int64_t done_after = -1;  // barriers; -1: not yet
  };
  struct WarpState {
    bool arrived = false;
    std::map<int, const Instruction*> written;  // registers, since it arrived, by number
    std::vector<Fence> fences;
    int64_t barriers = 0;  // of the block
  };
  struct SharedWrite {
    const Instruction* in;
    WarpState* warp;
    int lane;
    int64_t after;  // barriers
    size_t fences;  // of the warp before it
  };
  using Memory = std::map<uint32_t, SharedWrite>;  // by word

  // The missing step that would order a warp's matrix instructions behind a write; "" if none is.
  static std::string MissingAfter(const SharedWrite& write, const WarpState& reader);
  absl::Status CheckRegisters(const Instruction& in, const Uses& uses, const WarpState& own) const;
  absl::Status CheckShared(const Instruction& in, const WarpState& own, const Memory& memory,
                           Lanes& warp) const;

  const Natives& natives_;
  std::map<std::pair<int64_t, const Lanes*>, WarpState> warps_;  // by block and warp
  std::map<int64_t, Memory> memories_;                           // by block
};

}  // namespace mmadiff::sass
