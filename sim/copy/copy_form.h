// The forms of cp.async.bulk.tensor and cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.27).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mmadiff {

enum class CopyDirection : uint8_t {
  kLoad,
  kStore,
  kReduce
};  // global to shared; shared to global
enum class CopyMode : uint8_t {
  kTile,
  kGather4,       // loads: four rows of a 2d tensor
  kScatter4,      // stores: the same
  kIm2col,        // loads
  kIm2colNoOffs,  // stores and reductions: im2col with offsets of 0
  kIm2colW,       // loads: a column along W, with a halo
  kIm2colW128,    // loads: 128 pixels, with a halo for every 32
};
// Modes with a box, not a bounding box.
constexpr bool IsTiled(CopyMode mode) { return mode <= CopyMode::kScatter4; }
constexpr bool IsWide(CopyMode mode) { return mode >= CopyMode::kIm2colW; }

enum class Reduction : uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

// A row of the table of forms. Type, swizzle, fill and reduction are fields of a copy.
struct CopyForm {
  std::string name;  // "load.tile.3d"
  CopyDirection direction;
  CopyMode mode;
  int rank;
  const char* native_on;  // architectures, separated by spaces
  const char* section;    // of PTX ISA 9
};
std::span<const CopyForm> CopyForms();
const CopyForm* FindCopyForm(std::string_view name);  // nullptr if it does not exist

}  // namespace mmadiff
