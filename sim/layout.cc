#include "sim/layout.h"

#include "sim/layout_amd.h"
#include "sim/layout_shared.h"
#include "sim/layout_tcgen05.h"
#include "sim/layout_wgmma.h"
#include "sim/layout_wmma.h"

namespace mmadiff {
namespace {

// The bits that hold one element of A or B. Instructions of kind f8f6f4 and mxf8f6f4 use a whole
// byte: e2m1 in bits 5 to 2, six-bit elements in bits 5 to 0 (PTX ISA 9.0, 9.7.14.5 mma). In others
// an element takes just its own bits.
struct Container {
  int bits, shift;
};

Container ContainerOf(const Instruction& in, Operand operand) {
  const int bits = FormatOf(in, operand).bits;
  const bool factor = operand == Operand::kA || operand == Operand::kB;
  if (!factor || in.layout != Layout::kNvidiaMmaBytes) return {bits, 0};
  return {8, bits == 4 ? 2 : 0};
}

Place NvidiaMma(const Instruction& in, Operand operand, const Element& e) {
  // Thread-id 0 and byte-id 0. In group g, thread 0 has the scales of row g of A, thread 1 those of
  // row g + 8, and thread 0 those of column g of B; in bytes, from the lowest on.
  if (operand == Operand::kScaleA) return {e.row % 8 * 4 + e.row / 8, 0, e.column * 8};
  if (operand == Operand::kScaleB) return {e.column * 4, 0, e.row * 8};
  if (operand == Operand::kMetadata) return MmaMetadata(in, e);
  const Container container = ContainerOf(in, operand);
  Place p = MmaFragment(operand, in.shape.m, container.bits, e);
  p.bit += container.shift;
  return p;
}

// mma.sync m8n8k4 with f16 (PTX ISA, "Matrix fragments for mma.m8n8k4 with .f16"). Quad pair b
// consists of lanes 4b..4b+3 and 4b+16..4b+19.
Place NvidiaMma884(const Instruction& in, Operand operand, const Element& e) {
  const auto lane = [&e](int upper, int thread) { return e.block * 4 + upper * 16 + thread; };
  if (operand == Operand::kA) return {lane(e.row / 4, e.row % 4), e.column / 2, e.column % 2 * 16};
  if (operand == Operand::kB) return {lane(e.column / 4, e.column % 4), e.row / 2, e.row % 2 * 16};
  if (FormatOf(in, operand).bits == 16) {
    return {lane(e.row / 4, e.row % 4), e.column / 2, e.column % 2 * 16};
  }
  // f32: row = (lane & 1) + (i & 2) [+ 4 in the upper lanes], column = (i & 4) + (lane & 2) + (i &
  // 1).
  const int value = (e.column & 4) | (e.row & 2) | (e.column & 1);
  return {lane(e.row / 4, (e.row & 1) | (e.column & 2)), value, 0};
}

// x86: one dot product per lane, k from the low bits up.
Place VectorLane(const Instruction& in, Operand operand, const Element& e) {
  const int k = operand == Operand::kA ? e.column : operand == Operand::kB ? e.row : 0;
  return {e.block, 0, k * FormatOf(in, operand).bits};
}

}  // namespace

const char* Name(Operand operand) {
  constexpr const char* kNames[] = {"A",       "B",     "C",     "D",     "SA",    "SB",
                                    "A_lanes", "A_col", "B_row", "C_col", "D_col", "metadata"};
  return kNames[static_cast<int>(operand)];
}

Extent ExtentOf(const Instruction& instruction, Operand operand) {
  if (instruction.layout == Layout::kNvidiaTcgen05) return Tcgen05Extent(instruction, operand);
  if (instruction.layout == Layout::kNvidiaWmma) return WmmaExtent(instruction, operand);
  if (IsAmd(instruction.layout)) return AmdExtent(instruction, operand);
  const Matrix matrix = MatrixOf(instruction, operand);
  const int elements = instruction.shape.blocks * matrix.rows * matrix.columns;
  if (instruction.layout == Layout::kNvidiaWgmma) {
    return WgmmaExtent(instruction, operand, elements);
  }
  if (operand == Operand::kScaleA || operand == Operand::kScaleB || operand == Operand::kMetadata) {
    return {32, 1};
  }
  return {32, elements * ContainerOf(instruction, operand).bits / (32 * 32)};
}

std::vector<Element> Elements(const Instruction& instruction, Operand operand) {
  const Matrix matrix = MatrixOf(instruction, operand);
  std::vector<Element> elements;
  for (int block = 0; block < instruction.shape.blocks; ++block) {
    for (int row = 0; row < matrix.rows; ++row) {
      for (int column = 0; column < matrix.columns; ++column) {
        elements.push_back({block, row, column});
      }
    }
  }
  return elements;
}

Place PlaceOf(const Instruction& instruction, Operand operand, const Element& element) {
  switch (instruction.layout) {
    case Layout::kVectorLanes:
      return VectorLane(instruction, operand, element);
    case Layout::kNvidiaMma:
    case Layout::kNvidiaMmaBytes:
      return NvidiaMma(instruction, operand, element);
    case Layout::kNvidiaMma884:
      return NvidiaMma884(instruction, operand, element);
    case Layout::kAmdMfma:
    case Layout::kAmdWmma11:
    case Layout::kAmdWmma12:
      return AmdPlace(instruction, operand, element);
    case Layout::kNvidiaWmma:
      return WmmaPlace(instruction, operand, element);
    case Layout::kNvidiaWgmma:
      return WgmmaPlace(instruction, operand, element);
    case Layout::kNvidiaTcgen05:
      return Tcgen05Place(instruction, operand, element);
    case Layout::kNoLanes:
      break;
  }
  return {};
}

std::vector<Place> PlacesOf(const Instruction& instruction, Operand operand,
                            const Element& element) {
  const Place first = PlaceOf(instruction, operand, element);
  const bool factor = operand == Operand::kA || operand == Operand::kB;
  if (instruction.layout != Layout::kAmdWmma11 || !factor) return {first};
  return {first, {first.lane + 16, first.reg, first.bit}};
}

}  // namespace mmadiff
