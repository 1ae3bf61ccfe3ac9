// An AMD GPU that executes the machine code of our kernels, for tests. The caller computes the
// matrix instruction.
//
// Errors: memory that was not allocated; registers that nothing wrote, that a load has yet to
// write, or that the kernel does not have; on GFX9, too few wait states. It requires the largest of
// the wait states in LLVM's GCNHazardRecognizer (which distinguishes each pair of instructions;
// GFX11 and GFX12 wait by themselves):
//   result of a matrix instruction, then read or written again: 20 (16 passes of gfx950; else 19);
//   written by v_*, then read by a matrix instruction or v_accvgpr_write: 3;
//   written by v_accvgpr_read, then stored: 2;
//   s_setreg, then s_setreg of the same register: 2.
// On GFX12 also a pair of scalar registers that is written after v_* read it, and then read again:
// our kernels do not wait as LLVM's AMDGPUWaitSGPRHazards does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/hip/testing/fake_code.h"

namespace mmadiff {

class FakeRegisters {
 public:
  virtual ~FakeRegisters() = default;
  // Read() appends `count` registers from `first` on, lane after lane, to `words`; Write() sets
  // them from `words`.
  virtual void Read(int first, int count, std::vector<uint32_t>& words) = 0;
  virtual void Write(int first, int count, const uint32_t* words) = 0;
};

// Bytes of each allocation.
using FakeMemory = std::map<uint64_t, size_t>;
// Executes the instruction while MODE is `mode`.
using FakeMatrixFunction =
    std::function<absl::Status(const FakeMatrix&, uint32_t mode, FakeRegisters&)>;

// Runs blocks of one wave each. `arguments` are the kernel's, in its layout; block x runs on unit x
// % units.
absl::Status RunFake(const FakeCode& code, unsigned grid, absl::string_view arguments,
                     const FakeMemory& memory, int units, const FakeMatrixFunction& matrix);

}  // namespace mmadiff
