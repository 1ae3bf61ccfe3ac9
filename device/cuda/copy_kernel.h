// Kernels of tensor copies as PTX text. A launch of one block of 32 threads executes one copy: it fills the
// tile in shared memory, copies, waits, and writes the tile to global memory.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/kernel.h"
#include "sim/copy/tensor_copy.h"

namespace mmadiff {

// Bytes of shared memory for tiles: below the 48 KiB that a kernel of sm_90 may declare.
inline constexpr uint32_t kCopyShared = 45 << 10;

// The arguments of every kernel but kEncodeKernelName, in order.
struct CopyArguments {
  // As cuTensorMapEncode* or the encoding kernel writes it; the kernel sees it by value.
  alignas(64) std::array<uint8_t, 128> map = {};
  uint64_t before = 0;  // address of the bytes that the tile has before the copy, aligned to 16
  uint64_t after = 0;   // address that receives the bytes of the tile after the copy, aligned to 16
  uint64_t status = 0;  // address that receives a CopyStatus, aligned to 8
  std::array<int32_t, kMaxRank> x = {};           // TensorCopy::x
  std::array<uint16_t, kMaxSpatial> offset = {};  // TensorCopy::offset
  uint32_t expected = 0;                          // transaction bytes; loads alone read it
  // Bytes of `before` and `after`, a multiple of 16: the tile, and any after it that should not change.
  uint32_t bytes = 0;
  // Where the tile starts, a multiple of 128; start + bytes <= kCopyShared. Swizzles see the addresses of
  // TensorCopy::shared if the two are equal modulo 1024, for the memory is aligned to 1024.
  uint32_t start = 0;

  std::array<void*, 9> Pointers();  // for cuLaunchKernel
};

// Written last. Stores and reductions always end with {0, 0}, after their writes are complete.
struct CopyStatus {
  static constexpr int32_t kUnknown = std::numeric_limits<int32_t>::min();
  // 1: the transaction bytes of a load were not `expected`; it still ends, after kCopyPolls polls of the
  // barrier. `after` then has what had arrived.
  uint32_t wrong;
  int32_t pending;  // `expected` less the transaction bytes of the copy; kUnknown for -2^16 or less
};
// At most a microsecond apart: an eighth of a second in all.
inline constexpr int kCopyPolls = 1 << 17;

// The transaction bytes of a load: all elements of the tile, also those out of bounds, without the padding
// of rows, of packed types and of the last slice of an interleaved tensor. The PTX ISA does not specify the
// number. Sources: CUTLASS, TmaTransactionBytes of sm120_mma_tma.hpp; DeepGEMM, sm100_fp8_fp4_mega_moe.cuh.
// Both load padded types and neither interleaves. CopyStatus has the true number.
int64_t ExpectedBytes(const TensorCopy& copy);

struct CopyEntry {
  const CopyForm* form;
  Reduction reduction = Reduction::kAdd;  // read by reductions
};
// "load_tile_3d", "reduce_tile_3d_add"; "" if the target does not have the form.
std::string CopyKernelName(const CopyEntry& entry, const PtxTarget& target);

// All kernels of a target: one for each of its forms, or for reductions one for each operation.
std::vector<CopyEntry> CopyEntries(const PtxTarget& target);

// A module with those kernels, all of which the target has, and with the encoding kernel.
std::string CopyModuleOf(const PtxTarget& target, std::span<const CopyEntry> entries);

// The arguments of the kernel that encodes a tiled map with tensormap.replace, in order. One thread.
struct EncodeArguments {
  uint64_t map = 0;  // address that receives the 128 bytes, aligned to 128
  uint64_t base = 0;
  std::array<uint64_t, kMaxRank - 1> stride = {};  // of dimensions 1 and up
  // The kernel ignores those from `rank` on. A dimension of 2^32 is 0: the machine code of ptxas 13.0 stores
  // dimensions, boxes and traversal strides less 1.
  std::array<uint32_t, kMaxRank> dim = {}, box = {}, traversal = {};
  // As PTX ISA 9.7.9.28 numbers the values: types and swizzles differ from TensorType and Swizzle.
  uint32_t rank = 1, type = 0, interleave = 0, swizzle = 0, atom = 0, fill = 0;

  std::array<void*, 12> Pointers();
};
// The caller sets `map`.
EncodeArguments EncodeArgumentsOf(const TensorMap& map);

inline constexpr char kEncodeKernelName[] = "encode_tiled";

}  // namespace mmadiff
