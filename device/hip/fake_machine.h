// A GPU of AMD that executes the machine code of our kernels, for tests: each instruction as the
// code object of the kernel encodes it, but what a matrix instruction computes, which the caller
// does. It knows what our kernels contain; all else is an error. Encodings were learnt from LLVM 19
// (gfx950: LLVM 22).
//
// Errors, too: memory that nobody allocated; registers that nothing wrote, that a load has yet to
// write, or that the kernel has not; another count of user registers than the descriptor's; too few
// wait states on GFX9, the largest of LLVM's GCNHazardRecognizer (of which it knows each pair of
// instructions; GFX11 and GFX12 wait by themselves):
//   result of a matrix instruction, then read or written again: 20 (16 passes of gfx950; others 19);
//   written by v_*, then read by a matrix instruction or v_accvgpr_write: 3;
//   written by v_accvgpr_read, then stored: 2;
//   s_setreg, then s_setreg of the same register: 2.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/hip/kernel.h"

namespace mmadiff {

// Registers of lanes: v0 is 0, a0 is 256.
inline constexpr int kFirstAccumulator = 256;

struct FakeMatrix {
  int opcode;            // as HipMatrixOpcode()
  int d, a, b, c;        // the first register of each; the positions of v_smfmac, v_swmmac are `c`
  int scale_a, scale_b;  // the first byte; -1: none
  int a_format, b_format;  // CBSZ, BLGP of GFX9
  int negated;             // NEG_LO of GFX11 and GFX12: bit 0 of A
};

class FakeRegisters {
 public:
  virtual ~FakeRegisters() = default;
  // `count` registers from `first` on, lane after lane, behind what `words` has. And from there.
  virtual void Read(int first, int count, std::vector<uint32_t>& words) = 0;
  virtual void Write(int first, int count, const uint32_t* words) = 0;
};

class FakeMachine {
 public:
  // Bytes of each allocation.
  using Memory = std::map<uint64_t, size_t>;
  // What the instruction does while MODE is `mode`.
  using Matrix = std::function<absl::Status(const FakeMatrix&, uint32_t mode, FakeRegisters&)>;

  static absl::StatusOr<FakeMachine> Decode(absl::string_view code_object, absl::string_view kernel,
                                            const HipTarget& target);

  // Blocks of one wave each. `arguments` are those that the kernel takes, in its layout; block x runs
  // on the unit x % units.
  absl::Status Run(unsigned grid, absl::string_view arguments, const Memory& memory, int units,
                   const Matrix& matrix) const;

  enum class Op : uint8_t;
  struct Step {
    Op op;
    uint32_t at;  // bytes from the start of the code
    uint64_t (*compute)(uint64_t, uint64_t, bool) = nullptr;
    int d = 0, s0 = 0, s1 = 0;  // registers and constants as encoded
    int saddr = 0;              // of an address of lanes
    int32_t immediate = 0;      // offset, count or register of the hardware
    uint32_t literal = 0;
    FakeMatrix matrix = {};
  };

 private:
  friend class FakeWave;
  int generation_ = 0, lanes_ = 0;
  int registers_ = 0, accumulators_ = 0;  // that the descriptor asks for
  int user_scalars_ = 0;                  // before the number of the block
  bool has_block_ = false;
  uint32_t mode_ = 0, argument_bytes_ = 0;
  std::vector<Step> steps_;
};

}  // namespace mmadiff
