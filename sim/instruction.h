// Table 1 of 2: what the vendors' manuals say. What the hardware computes is in sim/numerics.h.
#pragma once

#include <span>
#include <string_view>

#include "sim/format.h"

namespace mmadiff {

// One execution multiplies `blocks` independent pairs: D(m x n) = A(m x k) B(k x n) + C(m x n).
struct Shape {
  int m, n, k, blocks;

  int a_words() const { return blocks * m * k; }
  int b_words() const { return blocks * n * k; }
  int d_words() const { return blocks * m * n; }  // also of c; the dot products of one execution
  friend bool operator==(const Shape&, const Shape&) = default;
};

// One dot product of an instruction on its own.
inline Shape DotProductShape(const Shape& s) { return {1, 1, s.k, 1}; }

// How matrix elements lie in registers (sim/layout.h).
enum class Layout : uint8_t {
  kVectorLanes,   // x86: block i is 32- or 64-bit lane i, k from low to high bits
  kNvidiaMma,     // mma.sync m16n8kK and m8n8kK fragments
  kNvidiaMma884,  // mma.sync m8n8k4 f16 on quad pairs
};

struct Instruction {
  const char* name;  // field order of PTX: shape.d.a.b.c
  Shape shape;
  const Format* d;
  const Format* a;
  const Format* b;
  const Format* c;
  Layout layout;
  const char* native_on;  // architectures whose machine code has it as one instruction
  const char* source;     // manual and section
};

std::span<const Instruction> Instructions();

// nullptr when there is none of that name.
const Instruction* FindInstruction(std::string_view name);

}  // namespace mmadiff
