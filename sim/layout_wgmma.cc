// wgmma (PTX ISA 9.0, 9.7.15): A and B in shared memory, A also in the registers of the 128 lanes
// of four warps, C and D in registers.
#include "sim/layout_wgmma.h"

#include "sim/layout_shared.h"

namespace mmadiff {
namespace {

bool InSharedMemory(Operand operand) { return operand == Operand::kA || operand == Operand::kB; }

}  // namespace

Extent WgmmaExtent(const Instruction& in, Operand operand, int elements) {
  if (operand == Operand::kMetadata) return {128, 1};
  const int lanes = InSharedMemory(operand) ? 1 : 128;
  return {lanes, elements * FormatOf(in, operand).bits / (32 * lanes)};
}

Place WgmmaPlace(const Instruction& in, Operand operand, const Element& e) {
  const int bits = FormatOf(in, operand).bits;
  if (InSharedMemory(operand)) {
    const int row = operand == Operand::kA ? e.row : e.column;
    const int k = operand == Operand::kA ? e.column : e.row;
    const int stored = operand == Operand::kA ? in.products() : in.shape.k;
    Place p = CoreMatrixPlace(row, k * bits / 8, stored * bits / 8);
    p.bit += k * bits % 8;
    return p;
  }
  // Warp w holds rows 16w to 16w + 15, in the layout of mma.m16n8.
  if (operand == Operand::kMetadata) {
    Place p = MmaMetadata(in, e);
    p.lane += e.row / 16 * 32;
    return p;
  }
  const bool a = operand == Operand::kALanes;
  const Element in_warp = {0, e.row % 16, a ? e.column : e.column % 8};
  Place p = MmaFragment(a ? Operand::kA : operand, 16, bits, in_warp);
  p.lane += e.row / 16 * 32;
  if (!a) p.reg += e.column / 8 * (bits == 16 ? 2 : 4);
  return p;
}

}  // namespace mmadiff
