#include "sim/layout_amd.h"

#include <algorithm>

#include "sim/layout_shared.h"

namespace mmadiff {
namespace {

// A row of A or column of B is spread over `groups` lanes; each lane holds `runs` runs of
// consecutive k. In ascending k, the first runs of all lanes come first, then their second runs.
struct Runs {
  int groups, runs;
};

Runs RunsOf(const Instruction& in, int bits, int words) {
  const Shape& s = in.shape;  // m == n
  switch (in.layout) {
    case Layout::kAmdWmma11:
      return {1, 1};
    case Layout::kAmdWmma12:
      return {2, bits == 16 && in.sparse() ? 2 : 1};
    default:
      break;
  }
  // f8f6f4 with 8 bits (AMD's blog "Matrix Core Programming on AMD CDNA3 and CDNA4"). Contested for
  // gfx950's sparse instructions: assumed here as on gfx942, but AMD's emulator rocjitsu has
  // different runs.
  const int groups = 64 / (s.m * s.blocks);
  return {groups, bits == 8 && words / groups > 16 && !in.sparse() ? 2 : 1};
}

Place Factor(const Instruction& in, Operand operand, const Element& e) {
  const bool column = operand == Operand::kB;
  const int k = column ? e.row : e.column, line = column ? e.column : e.row;
  const Matrix matrix = MatrixOf(in, operand);
  const int words = column ? matrix.rows : matrix.columns;
  const auto [groups, runs] = RunsOf(in, FormatOf(in, operand).bits, words);
  const int run = words / groups / runs, number = k / run;
  const int bit = (number / groups * run + k % run) * FormatOf(in, operand).bits;
  return {line + in.shape.m * (e.block + in.shape.blocks * (number % groups)), bit / 32, bit % 32};
}

Place MfmaResult(const Instruction& in, int bits, const Element& e) {
  const Shape& s = in.shape;
  if (s.m == 32) {
    return {e.row / 4 % 2 * 32 + e.column, e.block * 16 + e.row / 8 * 4 + e.row % 4, 0};
  }
  if (bits == 64 && s.m == 4) return {e.row * 16 + e.block * 4 + e.column, 0, 0};
  if (s.m == 4) return {e.block * 4 + e.column, e.row, 0};
  if (bits == 64) return {e.row % 4 * 16 + e.column, e.row / 4 * 2, 0};
  return {e.row / 4 * 16 + e.column, e.block * 4 + e.row % 4, 0};
}

}  // namespace

bool IsAmd(Layout layout) {
  return layout == Layout::kAmdMfma || layout == Layout::kAmdWmma11 || layout == Layout::kAmdWmma12;
}

Extent AmdExtent(const Instruction& in, Operand operand) {
  int bits = 0;
  for (const Element& e : Elements(in, operand)) {
    const Place p = AmdPlace(in, operand, e);
    bits = std::max(bits, p.reg * 32 + p.bit + FormatOf(in, operand).bits);
  }
  return {in.layout == Layout::kAmdMfma ? 64 : 32, (bits + 31) / 32};
}

// Follows AMD's matrix instruction calculator for CDNA 1 to 3, RDNA 3 and 4.
Place AmdPlace(const Instruction& in, Operand operand, const Element& e) {
  const int bits = FormatOf(in, operand).bits;
  switch (operand) {
    case Operand::kA:
    case Operand::kB:
      return Factor(in, operand, e);
    // Two bits for each stored element, in the order of the elements in the lane.
    case Operand::kMetadata: {
      const Place first = Factor(in, Operand::kA, {e.block, e.row, 2 * e.column});
      const int number = (first.reg * 32 + first.bit) / in.a->bits;
      return {first.lane, number * 2 / 32, number * 2 % 32};
    }
    // Contested. A scale is in the same lane as the elements that it scales, in the byte that
    // op_sel = 0 selects (AMD's blog; Modular). AMD's emulator rocjitsu instead reads the scale in
    // the lane of the result.
    case Operand::kScaleA:
      return {e.row + in.shape.m * e.column, 0, 0};
    case Operand::kScaleB:
      return {e.column + in.shape.n * e.row, 0, 0};
    default:
      break;
  }
  switch (in.layout) {
    case Layout::kAmdWmma11:  // 16-bit results are in the half that OPSEL = 0 selects
      return {e.row % 2 * 16 + e.column, e.row / 2, 0};
    case Layout::kAmdWmma12:
      return {e.row / 8 * 16 + e.column, e.row % 8 * bits / 32, e.row % 8 * bits % 32};
    default:
      return MfmaResult(in, bits, e);
  }
}

}  // namespace mmadiff
