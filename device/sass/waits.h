// Whether machine code waits for its instructions of variable latency before it uses their registers.
// The assembler gives such an instruction a scoreboard (0 to 5) that is released once the result is
// written (write barrier), one that is released once the operands are read (read barrier), or both;
// each instruction names the scoreboards that it waits for. The matrix instructions of a warpgroup run
// in groups: the last of a group has "gsb0", and WARPGROUP.DEPBAR.LE gsb0, N waits until at most N groups
// still run. Fixed latencies (stall counts) are not checked.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/sass/group_waits.h"
#include "device/sass/machine.h"
#include "device/sass/natives.h"
#include "device/sass/uses.h"

namespace mmadiff::sass {

// The instructions of one queue read their operands in program order. In an ordered one they also write
// their results in that order: waiting for one is waiting for the earlier ones.
struct Latency {
  bool variable = false, ordered = false;
  absl::string_view queue = "";
};
// By the name of the instruction ("LDG") and the target ("sm_90a").
Latency LatencyOf(absl::string_view name, absl::string_view target);

// Ends the execution with kInternal at the first use without a wait: "FADD R7, R7, R6 at 0x200 reads
// R6, which LDG.E R6, desc[UR8][R2.64] at 0x1a0 writes, without waiting for it". Without encodings in
// the text (Control::known), checks nothing.
class Waits : public Observer {
 public:
  Waits(absl::string_view target, const Natives& natives)
      : target_(target), natives_(natives), groups_(natives) {}

  absl::Status Before(const Instruction& in, uint32_t active, uint32_t guarded,
                      Lanes& warp) override;
  absl::Status After(const Instruction&, Lanes&) override { return absl::OkStatus(); }

 private:
  struct Outstanding {
    const Instruction* in;
    uint32_t lanes;
    Latency latency;
    std::vector<Storage> reads, writes;  // `reads`: those to come
    int64_t group = -1;                  // number of a matrix instruction's group; -1: another's
    bool done = false;
  };
  using Started = std::vector<Outstanding>;  // in program order
  struct WarpState {
    Started started;
    int64_t groups = 0;  // that are complete
  };

  static void Wait(uint32_t scoreboards, Started& started);
  void Start(const Instruction& in, uint32_t lanes, Uses uses, Started& started) const;
  static void StartGroupMatrix(const Instruction& in, Uses uses, WarpState& own);
  absl::Status Check(const Instruction& in, uint32_t active, uint32_t guarded, const Uses& uses,
                     const Outstanding& o) const;

  const std::string target_;
  const Natives& natives_;
  GroupWaits groups_;
  std::map<std::pair<int64_t, const Lanes*>, WarpState> warps_;  // by block and warp
};

}  // namespace mmadiff::sass
