// Decodes the machine code of our kernels for AMD, for tests: anything that our kernels do not
// contain is an error. Encodings were learned from LLVM 19 (gfx950: LLVM 22).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/hip/kernel.h"

namespace mmadiff {

// Registers of lanes: v0 is 0, a0 is 256.
inline constexpr int kFirstAccumulator = 256;

struct FakeMatrix {
  int opcode = 0;                  // as in HipMatrixOpcode()
  int d = 0, a = 0, b = 0, c = 0;  // first registers; c: positions of v_smfmac and v_swmmac
  int scale_a = -1, scale_b = -1;  // -1: none
  int a_format = 0, b_format = 0;  // CBSZ and BLGP of GFX9
  int negated = 0;                 // NEG_LO of GFX11 and GFX12; bit 0 is for A
};

struct FakeStep {
  enum Op : uint8_t {
    kScalar,
    kVector,
    kSetReg,
    kGetReg,
    kNop,
    kWait,
    kWaitLoads,
    kWaitScalars,
    kEnd,
    kLoad4Scalars,
    kLoad8Scalars,
    kLoad,
    kStore,
    kToAccumulator,
    kFromAccumulator,
    kScales,
    kMatrix
  };
  enum class Scc : uint8_t { kKept, kCarry, kNotZero };

  uint32_t at = 0;  // bytes from the start of the code
  Op op = kEnd;
  Scc scc = Scc::kKept;
  uint64_t (*compute)(uint64_t, uint64_t, bool scc) = nullptr;  // for kScalar and kVector
  int d = 0, s0 = 0, s1 = 0;  // registers and constants as encoded
  int saddr = 0;              // of lanes' addresses
  int32_t immediate = 0;      // offset, count, hardware register
  uint32_t literal = 0;       // for source 255
  FakeMatrix matrix;
};

// From the entry in the kernel's descriptor to s_endpgm, and the facts in the descriptor.
struct FakeCode {
  int generation = 0;  // as in HipGenerationOf()
  int lanes = 0;
  int registers = 0, accumulators = 0;  // per lane
  int user_scalars = 0;                 // before the block number
  bool has_block = false;
  uint32_t mode = 0, argument_bytes = 0;
  std::vector<FakeStep> steps;
};
absl::StatusOr<FakeCode> DecodeFake(absl::string_view code_object, absl::string_view kernel,
                                    const HipTarget& target);

}  // namespace mmadiff
