// Table 1 of 2: what the vendors' manuals say. What the hardware computes is in sim/numerics.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/format.h"
#include "sim/host_device.h"

namespace mmadiff {

// One execution multiplies `blocks` independent pairs: D(m x n) = A(m x k) B(k x n) + C(m x n).
struct Shape {
  int m, n, k, blocks;
  int scales = 0;  // of each row of A and each column of B; k / scales elements share one

  // Of a row of A or a column of B: scales come last.
  MMADIFF_HD constexpr int row_words() const { return k + scales; }
  MMADIFF_HD constexpr int a_words() const { return blocks * m * row_words(); }
  MMADIFF_HD constexpr int b_words() const { return blocks * n * row_words(); }
  // Also of c; the dot products of one execution.
  MMADIFF_HD constexpr int d_words() const { return blocks * m * n; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// One dot product of an instruction on its own.
inline Shape DotProductShape(const Shape& s) { return {1, 1, s.k, 1, s.scales}; }

// How matrix elements lie in registers (sim/layout.h).
enum class Layout : uint8_t {
  kVectorLanes,  // x86, Arm dot products: block i is 32- or 64-bit lane i, k from low to high bits
  kNvidiaMma,    // mma.sync m16n8kK and m8n8kK fragments
  kNvidiaMmaBytes,  // the same, with each element of A and B in a byte of its own
  kNvidiaMma884,    // mma.sync m8n8k4 f16 on quad pairs
  kNvidiaWmma,      // wmma: matrices in global memory, by rows or by columns
  kNvidiaWgmma,     // wgmma: A and B in shared memory (A also in registers), C and D in registers
  kNvidiaTcgen05,   // tcgen05.mma: shared memory, tensor memory
  kAmdMfma,         // v_mfma_* and v_smfmac_*, 64 lanes
  kAmdWmma11,       // v_wmma_* of gfx11, 32 lanes: A and B once in each half of the wave
  kAmdWmma12,       // v_wmma_* and v_swmmac_* of gfx12, 32 lanes
  kNoLanes,         // tiles; or not described yet
};

// Values of m and n that an instruction has beside those of its line: m, and n from n_min to n_max
// in steps of n_step.
struct Sizes {
  int m, n_min, n_max, n_step;
};

struct Instruction {
  std::string name;  // NVIDIA: field order of PTX, shape.d.a.b.c; others: the vendor's mnemonic,
                     // and behind a dot what its modifiers choose: formats of A and B, of scales
  Shape shape;
  const Format* d;
  const Format* a;
  const Format* b;
  const Format* c;
  const Format* scale;  // nullptr: no scales
  Layout layout;
  const char* native_on;  // architectures whose machine code has it as one instruction
  const char* source;     // manual and section
  std::span<const Sizes> sizes;
  bool sparse = false;  // of each four k of A two are stored, with their positions (sim/sparsity.h)

  // Format of word `index` of a row of A or a column of B.
  const Format& a_format(int index) const { return index < shape.k ? *a : *scale; }
  const Format& b_format(int index) const { return index < shape.k ? *b : *scale; }
};

// One for each name, or for each group of architectures where one name is several instructions; of
// those with several sizes the first.
std::span<const Instruction> Instructions();

// The one that is native on the architecture, else the first of that name; nullptr when there is
// none.
const Instruction* FindInstruction(std::string_view name, std::string_view arch = {});

// Whether the architecture's machine code has it as one matrix instruction.
bool IsNativeOn(const Instruction& instruction, std::string_view arch);

// The instruction with another m and n; `name` changes accordingly.
Instruction WithSize(const Instruction& instruction, int m, int n);

}  // namespace mmadiff
