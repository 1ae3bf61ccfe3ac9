// tcgen05.mma and tcgen05.mma.sp with cta_group::1, without .ws (PTX ISA 9.0, 9.7.16.10). For every
// kind, the k elements of a row of A or a column of B take 32 bytes: two core matrices of shared
// memory, or eight columns of tensor memory. With a sparse A, of which half is stored, a column of B
// takes 64 bytes.
#include "sim/layout_tcgen05.h"

#include "sim/layout.h"
#include "sim/layout_shared.h"

namespace mmadiff {
namespace {

constexpr int kRowBytes = 32;
int BytesOfB(const Instruction& in) { return in.sparse() ? 2 * kRowBytes : kRowBytes; }

// Shared memory: each 16 bytes hold k / 2 elements, packed from the low bits up. The kinds f8f6f4
// and mxf8f6f4 leave the rest of the 16 bytes empty: 8 bytes after 4-bit elements, 4 bytes after
// 6-bit ones (9.7.16.10.4.4; cuda.h, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, _16U6_ALIGN16B).
Place InShared(int row, int k, int bits, int all_k, int row_bytes = kRowBytes) {
  const int per_chunk = all_k * 16 / row_bytes;
  const int bit = k % per_chunk * bits;
  Place place = CoreMatrixPlace(row, k / per_chunk * 16 + bit / 8, row_bytes);
  place.bit += bit % 8;
  return place;
}

// M = 128: each row of A and D is a lane (layout D). M = 64: each warp has 16 rows, in the lower
// half of its 32 lanes (layout F with lane alignment 0; A must use the same).
int LaneOf(int row, int m) { return m == 64 ? row / 16 * 32 + row % 16 : row; }

// Tensor memory: an element takes 256 / k bits. The kinds f8f6f4 and mxf8f6f4 store 4- and 6-bit
// elements in bytes (9.7.16.10.4.3): 6 bits in bits 5:0, 4 bits in bits 5:2, as in fragments of
// mma. Only figures 199 to 201 of the manual show the position within the byte: to be confirmed by
// a one-hot probe on hardware.
Place InTensorMemory(int lane, int k, int bits, int all_k) {
  const int container = 8 * kRowBytes / all_k;
  const int bit = k * container + (bits == 4 && container == 8 ? 2 : 0);
  return {lane, bit / 32, bit % 32};
}

// Selector 0: a word of 16-bit and 32-bit kinds has four groups of rows r and r + 8, one of 8-bit kinds
// eight groups of a row (9.7.16.10.8; CUTLASS, sm1xx_sparse_config.inl, has the case M = 128).
Place OfMetadata(int row, int group, int bits, int m) {
  if (bits == 8) return {LaneOf(row, m), group / 8, 4 * (group % 8)};
  return {LaneOf(row / 16 * 16 + row % 8 + group / 4 * 8, m), 0,
          row / 8 % 2 * 16 + 4 * (group % 4)};
}

// Scale `index` of a row of A or a column of B, with scale id 0: byte `index` of a word; one column
// of words holds 32 rows (9.7.16.10.7.2 and .3).
Place OfScale(int row, int index) { return {row % 32, row / 32, 8 * index}; }

}  // namespace

Extent Tcgen05Extent(const Instruction& in, Operand operand) {
  const Shape& s = in.shape;
  switch (operand) {
    case Operand::kA:
      return {1, s.m * kRowBytes / 4};
    case Operand::kB:
      return {1, s.n * BytesOfB(in) / 4};
    case Operand::kALanes:
      return {128, kRowBytes / 4};
    case Operand::kMetadata:  // in an even column; kernels write four
      return {128, 4};
    case Operand::kC:
    case Operand::kD:
      return {128, s.n};
    case Operand::kScaleA:
      return {32, 4 * ((s.m + 127) / 128)};
    default:  // kScaleB
      break;
  }
  return {32, 4 * ((s.n + 127) / 128)};
}

Place Tcgen05Place(const Instruction& in, Operand operand, const Element& e) {
  const Shape& s = in.shape;
  switch (operand) {
    case Operand::kA:
      return InShared(e.row, e.column, in.a->bits, in.products());
    case Operand::kB:
      return InShared(e.column, e.row, in.b->bits, s.k, BytesOfB(in));
    case Operand::kALanes:
      return InTensorMemory(LaneOf(e.row, s.m), e.column, in.a->bits, in.products());
    case Operand::kMetadata:
      return OfMetadata(e.row, e.column, in.a->bits, s.m);
    case Operand::kC:
    case Operand::kD:  // 16-bit elements are not packed: each is in the low half of a word
      return {LaneOf(e.row, s.m), e.column, 0};
    case Operand::kScaleA:
      return OfScale(e.row, e.column);
    default:  // kScaleB
      break;
  }
  return OfScale(e.column, e.row);
}

}  // namespace mmadiff
