// A tensor copy: a form of cp.async.bulk.tensor or cp.reduce.async.bulk.tensor, a tensor map, and the
// operands; and the bytes it leaves (PTX ISA 5.5, 9.7.9.27).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/copy/copy_form.h"
#include "sim/copy/tensor_map.h"

namespace mmadiff {

struct TensorCopy {
  const CopyForm* form = nullptr;
  TensorMap map;
  // Coordinates, dimension 0 first. Gather4 and Scatter4: the column, then the four rows.
  std::array<int32_t, kMaxRank> x = {};
  // kIm2col: added to W, H, D. kIm2colW, kIm2colW128: the halo in pixels, then the offset of W.
  std::array<uint16_t, kMaxSpatial> offset = {};
  Reduction reduction = Reduction::kAdd;
  uint32_t shared = 0;  // address of the tile in shared memory

  friend bool operator==(const TensorCopy&, const TensorCopy&) = default;
};

// Choices that the PTX ISA leaves open or states in an example only; the first value of each is the
// model's. The names are those of `faulty:`.
struct CopyRules {
  // Bytes from row to row of a tile that is narrower than the swizzle's span: the span, or the row.
  enum class Pitch : uint8_t { kSpan, kTight } pitch = {};
  // Where the line number comes from: the address in shared memory, or the offset in the tile.
  enum class Line : uint8_t { kAddress, kOffset } line = {};
  // Each 16 bits of a filled element: 7ff7, 7fff or ffff.
  enum class NanFill : uint8_t { k7ff7, k7fff, kFfff } nan_fill = {};
  enum class Ties : uint8_t { kEven, kAway } tf32_ties = {};     // f32 rounded to tf32 by a load
  enum class Nan : uint8_t { kCanonical, kKept } tf32_nan = {};  // 7fffe000, or cut to tf32
  enum class Tf32Fill : uint8_t { kAsIs, kRounded } tf32_fill = {};  // elements out of bounds
  enum class Ftz : uint8_t { kKept, kFlushed } f32_ftz = {};         // of types .ftz, by a load
  // Whether pixels of a halo of im2col_w stay in the box like others, or continue to its right.
  enum class Halo : uint8_t { kInside, kBeyond } halo = {};
  // Where the halos of im2col_w_128 are: each after its 32 pixels, or all after the 128.
  enum class Halos : uint8_t { kAfterEach, kAfterAll } halos = {};
  // The number of rows of a tile with a traversal stride: the box divided by it, rounded up or down.
  enum class Steps : uint8_t { kRoundedUp, kRoundedDown } steps = {};

  friend bool operator==(const CopyRules&, const CopyRules&) = default;
};

// Memory before a copy: a byte is a hash of its address, so that every byte shows where it came from.
struct CopyMemory {
  uint64_t seed = 0;
  // The 32-bit words as f32: any numbers; numbers halfway between two tf32; subnormals, infinities and NaNs.
  enum class Words : uint8_t { kAny, kTies, kExtremes } words = {};
  uint8_t Global(uint64_t address) const {
    return static_cast<uint8_t>(GlobalWord(address >> 3) >> (address % 8 * 8));
  }
  uint8_t Shared(uint64_t address) const {
    return static_cast<uint8_t>(SharedWord(address >> 3) >> (address % 8 * 8));
  }
  // 8 bytes at once, of the address 8 * index.
  uint64_t GlobalWord(uint64_t index) const { return Hash(2 * index); }
  uint64_t SharedWord(uint64_t index) const { return Hash(2 * index + 1); }

 private:
  uint64_t Hash(uint64_t z) const {
    const uint64_t hash = Mix(z);
    if (words == Words::kTies) return (hash & ~0x00001fff00001fff) | 0x0000100000001000;
    if (words == Words::kAny) return hash;
    constexpr uint64_t kLow = 0x7f800000, kHigh = kLow << 32;  // exponents
    const uint64_t zeros = hash & ~(kLow | kHigh);
    return zeros | ((hash & 1) != 0 ? kLow : 0) | ((hash & 2) != 0 ? kHigh : 0);
  }
  uint64_t Mix(uint64_t z) const {  // splitmix64
    z += seed * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

// The bytes of shared memory from `first` on after a load, of global memory after a store or reduction.
struct CopyResult {
  uint64_t first = 0;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> specified;  // 1 for each byte that is promised, 0 for padding

  friend bool operator==(const CopyResult&, const CopyResult&) = default;
};

// Bytes of the tile in shared memory: every byte that the copy reads or writes is among them, and so are
// the padding of rows and cells. At most 2^20 for a legal copy.
uint64_t TileBytes(const TensorCopy& copy, const CopyRules& rules = {});

// The addresses [first, last) of global memory from the first to the last byte that the copy reads or
// writes; [0, 0) if every element is out of bounds.
struct GlobalRange {
  uint64_t first = 0, last = 0;
};
GlobalRange TouchedRange(const TensorCopy& copy, const CopyRules& rules = {});

// A cell of the tile: an element, or the packed ones that share bytes.
struct CopyElement {
  std::array<int64_t, kMaxRank> at = {};  // coordinates, of the first element; dimension 0 first
  bool inside = false;              // in bounds; others are filled by loads and skipped by stores
  uint64_t global = 0, shared = 0;  // addresses; global only if inside
};
// In the order of the tile before it is swizzled.
std::vector<CopyElement> Elements(const TensorCopy& copy);

// Executes a legal copy. The result covers the tile, or TouchedRange(), of the model's rules.
void Execute(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory,
             CopyResult& result);

}  // namespace mmadiff
