// A tensor map, the 128 bytes that describe to a tensor copy a tensor in global memory and a box of it
// (PTX ISA 5.5). Section numbers are those of PTX ISA 9.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace mmadiff {

inline constexpr int kMaxRank = 5, kMaxSpatial = 3;

// In the order of the driver's CUtensorMapDataType.
enum class TensorType : uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
  kB4x16,     // elements of 4 bits, two in a byte
  kB4x16P64,  // 16 of them in 8 bytes, followed in shared memory by 8 bytes that are not written
  kB6x16,  // 16 elements of 6 bits in 12 bytes. In shared memory: loads (.b6x16_p32) leave 4 bytes after
           // them, stores (.b6p2x16) read one element from the low 6 bits of each of 16 bytes.
};

// A cell: the elements that share bytes.
struct TensorTypeInfo {
  const char* name;  // as in PTX; b6x16
  int elements;      // in a cell
  int global_bytes, shared_bytes;
  bool is_float;  // admits FillMode::kNan
};
const TensorTypeInfo& Info(TensorType type);
std::span<const TensorTypeInfo> TensorTypes();  // by the value of TensorType

// The first part of channels that other dimensions enclose, in bytes (5.5.6).
enum class Interleave : uint8_t { kNone, k16B, k32B };

// Which bits of a shared address are flipped by which others (5.5.7).
enum class Swizzle : uint8_t {
  kNone,
  k32B,
  k64B,
  k128B,
  k128BAtom32B,
  k128BAtom32BFlip8B,
  k128BAtom64B,
  k96B,  // sm_103a alone
};
struct SwizzleInfo {
  const char* name;
  int span;           // bytes of a row, after which the pattern repeats within a line; 0: none
  int unit;           // bytes that it permutes among themselves
  uint32_t lines;     // the bits of the line number, address >> 7, that are read
  int shift;          // they are moved up so far and flip bits of the address
  uint32_t flip = 0;  // bits flipped in odd lines in addition
};
const SwizzleInfo& Info(Swizzle swizzle);
std::span<const SwizzleInfo> Swizzles();  // by the value of Swizzle

// The value of elements out of bounds (5.5.3.3).
enum class FillMode : uint8_t { kZero, kNan };

struct TensorMap {
  TensorType type = TensorType::kU8;
  int rank = 1;
  uint64_t base = 0;                           // global address in bytes
  std::array<uint64_t, kMaxRank> dim = {};     // sizes in elements, dense dimension first
  std::array<uint64_t, kMaxRank> stride = {};  // bytes; that of dimension 0 is the element's size
  std::array<uint32_t, kMaxRank> traversal = {};  // traversal strides, in elements
  Interleave interleave = Interleave::kNone;
  Swizzle swizzle = Swizzle::kNone;
  FillMode fill = FillMode::kZero;

  std::array<uint32_t, kMaxRank> box =
      {};  // tile modes: sizes in elements, before traversal strides

  // im2col modes. Spatial dimensions: W, H, D, which are dimensions 1, 2, 3 of the tensor.
  std::array<int32_t, kMaxSpatial> lower = {}, upper = {};  // corners of the bounding box
  uint32_t channels = 0, pixels = 0;                        // per pixel; per column

  int spatial() const { return rank - 2; }

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

constexpr bool IsPacked(TensorType type) { return type >= TensorType::kB4x16; }
// 16 elements take 16 bytes of shared memory.
constexpr bool IsPadded(TensorType type) { return type >= TensorType::kB4x16P64; }
// Bytes of which base and strides are multiples (cuTensorMapEncodeTiled).
constexpr int AlignmentOf(const TensorMap& map) {
  return IsPadded(map.type) || map.interleave == Interleave::k32B ? 32 : 16;
}

}  // namespace mmadiff
