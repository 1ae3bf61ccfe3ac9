#include "sim/copy/legal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/copy/element.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

constexpr char kTiled[] = "cuTensorMapEncodeTiled", kIm2colEncoder[] = "cuTensorMapEncodeIm2col",
               kWideEncoder[] = "cuTensorMapEncodeIm2colWide", kOperands[] = "9.7.9.27.1.2";

using Arch = std::string_view;
using Copy = TensorCopy;

bool Any(Arch arch, std::string_view archs) {
  const std::vector<std::string> all = SplitWords(archs);
  return std::ranges::find(all, arch) != all.end();
}
bool In(int64_t low, int64_t x, int64_t high) { return low <= x && x <= high; }

// Whether it holds for each dimension from `first` on.
template <class F>
bool Each(const Copy& c, int first, F holds) {
  for (int d = first; d < c.map.rank; ++d) {
    if (!holds(d)) return false;
  }
  return true;
}

// The same for each spatial dimension of an im2col form; true for others.
template <class F>
bool EachSpatial(const Copy& c, F holds) {
  for (int s = 0; c.form->mode >= CopyMode::kIm2col && s < c.map.spatial(); ++s) {
    if (!holds(s)) return false;
  }
  return true;
}

// Elements of a row of the box, or of a pixel: they are dense in shared memory.
uint32_t Inner(const Copy& c) { return IsTiled(c.form->mode) ? c.map.box[0] : c.map.channels; }
// Bytes of n elements in global and in shared memory.
int64_t GlobalBytes(const Copy& c, int64_t n) {
  return n * Info(c.map.type).global_bytes / Info(c.map.type).elements;
}
int64_t SharedBytes(const Copy& c, int64_t n) {
  return n * Info(c.map.type).shared_bytes / Info(c.map.type).elements;
}
// Signed bits of a corner of the bounding box, unsigned ones of an offset.
int CornerBits(const Copy& c) {
  constexpr int kBits[] = {16, 8, 5};
  return IsWide(c.form->mode) ? 16 : kBits[c.map.spatial() - 1];
}
int64_t High(const Copy& c, int s) {
  return static_cast<int64_t>(c.map.dim[s + 1]) - 1 + c.map.upper[s];
}

constexpr CopyRule kLimits[] = {
    {"target", "9.7.9.27", "the form is native on the architecture",
     [](const Copy& c, Arch arch) { return Any(arch, c.form->native_on); }},
    {"rank", "5.5.1", "the map has the rank of the form",
     [](const Copy& c, Arch) { return c.map.rank == c.form->rank; }},
    {"packed_target", "5.5.1.1", "packed types: sm_100 and sm_103",
     [](const Copy& c, Arch arch) { return !IsPacked(c.map.type) || Any(arch, "sm_100 sm_103"); }},
    {"packed_direction", "5.5.1.1", "b4x16_p64 is loaded only; packed types are not reduced",
     [](const Copy& c, Arch) {
       const CopyDirection d = c.form->direction;
       return !IsPacked(c.map.type) || d == CopyDirection::kLoad ||
              (d == CopyDirection::kStore && c.map.type != TensorType::kB4x16P64);
     }},
    {"reduction", "9.7.9.27.2", "the type has the reduction",
     [](const Copy& c, Arch) {
       return c.form->direction != CopyDirection::kReduce || HasReduction(c.map.type, c.reduction);
     }},
    {"swizzle_target", "9.7.9.28", "swizzles with atoms: not sm_90; 96B: sm_103",
     [](const Copy& c, Arch arch) {
       if (c.map.swizzle == Swizzle::k96B) return Any(arch, "sm_103");
       return c.map.swizzle <= Swizzle::k128B || !Any(arch, "sm_90");
     }},
    {"fill", kTiled, "NaN fills elements of floating-point types",
     [](const Copy& c, Arch) {
       return c.map.fill == FillMode::kZero || Info(c.map.type).is_float;
     }},
    {"interleave_form", "5.5.6",
     "interleaved tensors have 3 to 5 dimensions, no packed type, and neither gather4, scatter4 "
     "nor "
     "im2col_w",
     [](const Copy& c, Arch) {
       return c.map.interleave == Interleave::kNone ||
              (c.map.rank >= 3 && !IsPacked(c.map.type) && !IsWide(c.form->mode));
     }},
    {"interleave_swizzle", kTiled, "interleave 32B: swizzle 32B; 16B: none",
     [](const Copy& c, Arch) {
       const Swizzle needed = c.map.interleave == Interleave::k32B ? Swizzle::k32B : Swizzle::kNone;
       return c.map.interleave == Interleave::kNone || c.map.swizzle == needed;
     }},
    {"base", kTiled, "base: a multiple of 16, or of 32 for interleave 32B and padded types",
     [](const Copy& c, Arch) { return c.map.base % AlignmentOf(c.map) == 0; }},
    {"dim", kTiled, "dimensions: 1 to 2^32",
     [](const Copy& c, Arch) {
       return Each(c, 0, [&](int d) { return c.map.dim[d] - 1 < uint64_t{1} << 32; });
     }},
    {"packed_dim", kTiled, "dimension 0: a multiple of 2 for b4x16, of 128 for padded types",
     [](const Copy& c, Arch) {
       return c.map.dim[0] % (IsPadded(c.map.type) ? 128 : IsPacked(c.map.type) ? 2 : 1) == 0;
     }},
    {"stride", kTiled, "strides: multiples of 16, or of 32 as the base, below 2^40",
     [](const Copy& c, Arch) {
       return Each(c, 1, [&](int d) {
         return c.map.stride[d] % AlignmentOf(c.map) == 0 && c.map.stride[d] < uint64_t{1} << 40;
       });
     }},
    {"traversal", kTiled, "traversal strides: 1 to 8; 1 in dimension 0",
     [](const Copy& c, Arch) {
       return c.map.traversal[0] == 1 &&
              Each(c, 1, [&](int d) { return In(1, c.map.traversal[d], 8); });
     }},
    {"box_size", kTiled, "box: 1 to 256 elements in each dimension",
     [](const Copy& c, Arch) {
       return !IsTiled(c.form->mode) || Each(c, 0, [&](int d) { return In(1, c.map.box[d], 256); });
     }},
    {"rows", "5.5.3.4.1", "gather4 and scatter4: the box has one row",
     [](const Copy& c, Arch) {
       return c.form->mode == CopyMode::kTile || !IsTiled(c.form->mode) || c.map.box[1] == 1;
     }},
    {"channels", kIm2colEncoder, "channels: 1 to 256",
     [](const Copy& c, Arch) { return IsTiled(c.form->mode) || In(1, c.map.channels, 256); }},
    {"pixels", kIm2colEncoder, "pixels: 1 to 1024",
     [](const Copy& c, Arch) { return IsTiled(c.form->mode) || In(1, c.map.pixels, 1024); }},
    {"inner_bytes", "5.5.3.1",
     "a row of the box, or a pixel: a multiple of 16 bytes; padded types: 128 elements",
     [](const Copy& c, Arch) {
       if (IsPadded(c.map.type)) return Inner(c) == 128;
       return c.map.interleave != Interleave::kNone ||
              (Inner(c) % Info(c.map.type).elements == 0 && GlobalBytes(c, Inner(c)) % 16 == 0);
     }},
    {"swizzle_span", kTiled, "a row, or a pixel, is at most as long as the swizzle's span",
     [](const Copy& c, Arch) {
       const int span = Info(c.map.swizzle).span;
       return c.map.interleave != Interleave::kNone || span == 0 ||
              SharedBytes(c, Inner(c)) <= span;
     }},
    {"packed_swizzle", kTiled, "padded types: swizzle none or 128B without flip",
     [](const Copy& c, Arch) {
       const Swizzle s = c.map.swizzle;
       return !IsPadded(c.map.type) || s == Swizzle::kNone ||
              (Info(s).span == 128 && s != Swizzle::k128BAtom32BFlip8B);
     }},
    {"wide_swizzle", kWideEncoder, "im2col_w: swizzle 64B, 128B or 128B_atom_32B",
     [](const Copy& c, Arch) {
       const Swizzle s = c.map.swizzle;
       return !IsWide(c.form->mode) || s == Swizzle::k64B || s == Swizzle::k128B ||
              s == Swizzle::k128BAtom32B;
     }},
    {"corners", "5.5.4.1", "corners: signed, 16 bits for 3d, 8 for 4d, 5 for 5d",
     [](const Copy& c, Arch) {
       return EachSpatial(c, [&](int s) {
         const int64_t end = IsWide(c.form->mode) && s > 0 ? 0 : int64_t{1} << (CornerBits(c) - 1);
         const int64_t high = std::max<int64_t>(end - 1, 0);
         return In(-end, c.map.lower[s], high) && In(-end, c.map.upper[s], high);
       });
     }},
    {"corners_of_stores", "9.7.9.27.1.1",
     "im2col_no_offs: the lower corner is not below 0, the upper one not above",
     [](const Copy& c, Arch) {
       return c.form->mode != CopyMode::kIm2colNoOffs ||
              EachSpatial(c, [&](int s) { return c.map.lower[s] >= 0 && c.map.upper[s] <= 0; });
     }},
    {"bounding_box", kIm2colEncoder, "the bounding box is not empty",
     [](const Copy& c, Arch) {
       return EachSpatial(c, [&](int s) { return c.map.lower[s] <= High(c, s); });
     }},
    {"start", "5.5.4.1",
     "im2col: the coordinates are in the bounding box, or for im2col_w left of it in W",
     [](const Copy& c, Arch) {
       return EachSpatial(c, [&](int s) {
         const bool left = IsWide(c.form->mode) && s == 0;
         return c.x[s + 1] <= High(c, s) && (left || c.x[s + 1] >= c.map.lower[s]);
       });
     }},
    {"offsets", "5.5.4.1", "im2col offsets: unsigned, 16 bits for 3d, 8 for 4d, 5 for 5d",
     [](const Copy& c, Arch) {
       return c.form->mode != CopyMode::kIm2col ||
              EachSpatial(c, [&](int s) { return c.offset[s] >> CornerBits(c) == 0; });
     }},
    {"halo", "5.5.5", "halo: at most 511 pixels, with im2col_w_128 31; its offset: at most 31",
     [](const Copy& c, Arch) {
       const int most = c.form->mode == CopyMode::kIm2colW ? 511 : 31;
       return !IsWide(c.form->mode) || (c.offset[0] <= most && c.offset[1] <= 31);
     }},
    {"box_start", "5.5.3.1",
     "the box starts at a multiple of 16 bytes in dimension 0, or of 32 as the base; for padded "
     "types at one of 128 elements",
     [](const Copy& c, Arch) {
       const int elements = IsPadded(c.map.type) ? 128 : Info(c.map.type).elements;
       return c.x[0] % elements == 0 &&
              (IsPadded(c.map.type) || GlobalBytes(c, c.x[0]) % AlignmentOf(c.map) == 0);
     }},
    {"store_start", "9.7.9.27.1.1", "im2col_no_offs: coordinates are not negative",
     [](const Copy& c, Arch) {
       return c.form->mode != CopyMode::kIm2colNoOffs ||
              Each(c, 0, [&](int d) { return c.x[d] >= 0; });
     }},
    {"tile_bytes", "CUDA Programming Guide, compute capabilities",
     "the tile has at most the shared memory of a block: 227 KiB, 99 KiB on sm_120",
     [](const Copy& c, Arch arch) {
       return TileBytes(c) <= (Any(arch, "sm_120") ? 99U : 227U) << 10;
     }},
    {"shared", kOperands, "the tile starts at a multiple of 128 bytes",
     [](const Copy& c, Arch) { return c.shared % 128 == 0; }},
};

}  // namespace

std::span<const CopyRule> CopyLimits() { return kLimits; }

const CopyRule* BrokenLimit(const TensorCopy& copy, std::string_view arch) {
  const auto broken = std::ranges::find_if_not(
      kLimits, [&](const CopyRule& rule) { return rule.holds(copy, arch); });
  return broken == std::end(kLimits) ? nullptr : broken;
}

}  // namespace mmadiff
