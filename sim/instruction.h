// Table 1 of 2: instructions as the vendors' manuals describe them. Table 2, sim/numerics.h, has
// their arithmetic.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/format.h"
#include "sim/host_device.h"

namespace mmadiff {

// One execution multiplies `blocks` independent pairs: D(m x n) = A(m x k) B(k x n) + C(m x n). A
// conversion has `blocks` elements; its B and C are absent.
struct Shape {
  int m, n, k, blocks;
  int scales = 0;  // per row of A and per column of B; k / scales elements share one
  // Metadata words per row of a sparse A, whose k is that of B: one for each group of k / groups
  // elements, of which half are stored (sim/sparsity.h).
  int groups = 0;

  // Words of a row of A or a column of B; scales come last.
  MMADIFF_HD constexpr int row_words() const { return k + scales; }
  MMADIFF_HD constexpr int a_words() const { return blocks * m * row_words(); }
  MMADIFF_HD constexpr int b_words() const { return blocks * n * row_words(); }
  // Also the words of c, and the dot products of one execution.
  MMADIFF_HD constexpr int d_words() const { return blocks * m * n; }
  MMADIFF_HD constexpr int metadata_words() const { return blocks * m * groups; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// The shape of a single dot product of an instruction.
inline Shape DotProductShape(const Shape& s) { return {1, 1, s.k, 1, s.scales, s.groups}; }

// Arrangement of matrix elements in registers (sim/layout.h).
enum class Layout : uint8_t {
  kVectorLanes,  // x86, Arm dot products: block i is 32- or 64-bit lane i, k from low to high bits
  kNvidiaMma,    // mma.sync m16n8kK and m8n8kK fragments
  kNvidiaMmaBytes,  // the same, but each element of A and B has its own byte
  kNvidiaMma884,    // mma.sync m8n8k4 f16 on quad pairs
  kNvidiaWmma,      // wmma: matrices in global memory, by rows or by columns
  kNvidiaWgmma,     // wgmma: A and B in shared memory (A also in registers), C and D in registers
  kNvidiaTcgen05,   // tcgen05.mma: shared memory, tensor memory
  kAmdMfma,         // v_mfma_* and v_smfmac_*, 64 lanes
  kAmdWmma11,       // v_wmma_* of gfx11, 32 lanes: each half of the wave has a copy of A and B
  kAmdWmma12,       // v_wmma_* and v_swmmac_* of gfx12, 32 lanes
  kNoLanes,         // tiles, or not described yet
};

// Further values of m and n that an instruction allows besides those in its line: m, and n from
// n_min to n_max in steps of n_step.
struct Sizes {
  int m, n_min, n_max, n_step;
};

// A metadata word of a sparse instruction (sim/sparsity.h).
inline constexpr Format kMetadataFormat = {"metadata", 4, 0, 0, 0, 0, Nonfinite::kNone, false};

struct Instruction {
  std::string name;  // NVIDIA: field order of PTX, shape.d.a.b.c; others: the vendor's mnemonic,
                     // then, after dots, the formats of A, B and scales that its modifiers select
  Shape shape;
  const Format* d;
  const Format* a;
  const Format* b;
  const Format* c;
  const Format* scale;  // nullptr: no scales
  Layout layout;
  // Architectures on which it is one machine instruction; for NVIDIA's conversions, those whose
  // assembler accepts it.
  const char* native_on;
  const char* source;  // manual and section
  std::span<const Sizes> sizes;
  // Whether it converts A to D and has no B and no C.
  bool is_conversion() const { return IsAbsent(*b); }
  // Whether half of the elements of A are stored, with metadata that says which (sim/sparsity.h).
  bool sparse() const { return shape.groups > 0; }
  // Products that a dot product adds.
  int products() const { return sparse() ? shape.k / 2 : shape.k; }
  // Format of word `index` of a row of A or a column of B.
  const Format& a_format(int index) const { return index < shape.k ? *a : *scale; }
  const Format& b_format(int index) const { return index < shape.k ? *b : *scale; }
};

enum class InstructionType : uint8_t {
  kMatrix,
  kDotProduct,   // one result, or one per block
  kMultiplyAdd,  // a dot product with k = 1
  kConversion,
};
inline constexpr int kInstructionTypes = 4;
InstructionType TypeOf(const Instruction& instruction);
const char* Name(InstructionType type);  // "multiply_add"

// One per name, or one per group of architectures where a name means several instructions. An
// instruction with several sizes appears once, with its first size.
std::span<const Instruction> Instructions();

// The instruction of that name that is native on the architecture, else the first of that name;
// nullptr if no instruction has the name.
const Instruction* FindInstruction(std::string_view name, std::string_view arch = {});

// The format of that name, in the tables or described by it (sim/described_format.h); "-" is an
// absent operand. nullptr for any other name.
const Format* FindFormat(std::string_view name);

// Whether the architecture's machine code has it as a single instruction.
bool IsNativeOn(const Instruction& instruction, std::string_view arch);

// The instruction with a different m and n; `name` changes accordingly.
Instruction WithSize(const Instruction& instruction, int m, int n);

}  // namespace mmadiff
