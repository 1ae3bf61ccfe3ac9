// Each limit is broken by a copy that breaks nothing else before it.
#include "sim/copy/legal.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace mmadiff {
namespace {

TensorCopy Legal(const char* form) {
  TensorCopy c;
  c.form = FindCopyForm(form);
  c.map.type = TensorType::kF16;
  c.map.rank = c.form->rank;
  uint64_t stride = 2;
  for (int d = 0; d < c.map.rank; ++d) {
    c.map.dim[d] = 64;
    c.map.stride[d] = stride;
    c.map.traversal[d] = 1;
    c.map.box[d] = d == 0 ? 32 : c.form->mode == CopyMode::kTile ? 2 : 1;
    stride *= 64;
  }
  c.map.channels = 32;
  c.map.pixels = 8;
  if (c.form->mode >= CopyMode::kIm2colW) c.map.swizzle = Swizzle::k64B;
  return c;
}

struct Plant {
  const char *rule, *form, *arch;
  std::function<void(TensorCopy&)> change;
};

const Plant kPlants[] = {
    {"target", "load.tile_gather4.2d", "sm_90", [](TensorCopy&) {}},
    {"target", "store.tile_scatter4.2d", "sm_120", [](TensorCopy&) {}},
    {"target", "load.im2col_w_128.4d", "sm_120", [](TensorCopy&) {}},
    {"rank", "load.tile.3d", "sm_90", [](TensorCopy& c) { c.map.rank = 2; }},
    {"packed_target", "load.tile.2d", "sm_90",
     [](TensorCopy& c) { c.map.type = TensorType::kB4x16; }},
    {"packed_target", "load.tile.2d", "sm_120",
     [](TensorCopy& c) { c.map.type = TensorType::kB6x16; }},
    {"packed_direction", "store.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.type = TensorType::kB4x16P64; }},
    {"packed_direction", "reduce.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.type = TensorType::kB4x16; }},
    {"reduction", "reduce.tile.2d", "sm_90", [](TensorCopy& c) { c.reduction = Reduction::kXor; }},
    {"reduction", "reduce.tile.2d", "sm_90", [](TensorCopy& c) { c.map.type = TensorType::kF64; }},
    {"swizzle_target", "load.tile.2d", "sm_90",
     [](TensorCopy& c) { c.map.swizzle = Swizzle::k128BAtom32B; }},
    {"swizzle_target", "load.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.swizzle = Swizzle::k96B; }},
    {"fill", "load.tile.2d", "sm_90",
     [](TensorCopy& c) { c.map.type = TensorType::kU16, c.map.fill = FillMode::kNan; }},
    {"interleave_form", "load.tile.2d", "sm_90",
     [](TensorCopy& c) { c.map.interleave = Interleave::k16B; }},
    {"interleave_form", "load.im2col_w.4d", "sm_100",
     [](TensorCopy& c) { c.map.interleave = Interleave::k16B; }},
    {"interleave_swizzle", "load.tile.3d", "sm_90",
     [](TensorCopy& c) { c.map.interleave = Interleave::k32B; }},
    {"base", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.base = 8; }},
    {"base", "load.tile.3d", "sm_90",
     [](TensorCopy& c) {
       c.map.interleave = Interleave::k32B, c.map.swizzle = Swizzle::k32B, c.map.base = 16;
     }},
    {"dim", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.dim[1] = 0; }},
    {"dim", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.dim[1] = (uint64_t{1} << 32) + 1; }},
    {"packed_dim", "load.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.type = TensorType::kB4x16, c.map.dim[0] = 63; }},
    {"packed_dim", "load.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.type = TensorType::kB6x16, c.map.dim[0] = 64; }},
    {"stride", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.stride[1] = 24; }},
    {"stride", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.stride[1] = uint64_t{1} << 40; }},
    {"traversal", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.traversal[1] = 9; }},
    {"traversal", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.traversal[1] = 0; }},
    {"traversal", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.traversal[0] = 2; }},
    {"box_size", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.box[1] = 257; }},
    {"box_size", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.box[1] = 0; }},
    {"rows", "load.tile_gather4.2d", "sm_100", [](TensorCopy& c) { c.map.box[1] = 2; }},
    {"channels", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.map.channels = 257; }},
    {"pixels", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.map.pixels = 1025; }},
    {"pixels", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.map.pixels = 0; }},
    {"inner_bytes", "load.tile.1d", "sm_90", [](TensorCopy& c) { c.map.box[0] = 12; }},
    {"inner_bytes", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.map.channels = 7; }},
    {"inner_bytes", "load.tile.2d", "sm_100",
     [](TensorCopy& c) { c.map.type = TensorType::kB4x16P64, c.map.dim[0] = 128; }},
    {"swizzle_span", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.map.swizzle = Swizzle::k32B; }},
    {"packed_swizzle", "load.tile.2d", "sm_100",
     [](TensorCopy& c) {
       c.map.type = TensorType::kB6x16, c.map.dim[0] = c.map.box[0] = 128, c.map.stride[1] = 96;
       c.map.swizzle = Swizzle::k128BAtom32BFlip8B;
     }},
    {"wide_swizzle", "load.im2col_w.3d", "sm_100",
     [](TensorCopy& c) { c.map.swizzle = Swizzle::kNone; }},
    {"corners", "load.im2col.4d", "sm_90", [](TensorCopy& c) { c.map.lower[0] = -129; }},
    {"corners", "load.im2col.5d", "sm_90", [](TensorCopy& c) { c.map.upper[2] = 16; }},
    {"corners", "load.im2col_w.4d", "sm_100", [](TensorCopy& c) { c.map.lower[1] = -1; }},
    {"corners_of_stores", "store.im2col_no_offs.3d", "sm_90",
     [](TensorCopy& c) { c.map.lower[0] = -1; }},
    {"bounding_box", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.map.upper[0] = -64; }},
    {"start", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.x[1] = -1; }},
    {"start", "load.im2col.3d", "sm_90", [](TensorCopy& c) { c.x[1] = 64; }},
    {"start", "load.im2col_w.4d", "sm_100", [](TensorCopy& c) { c.x[2] = -1; }},
    {"offsets", "load.im2col.4d", "sm_90", [](TensorCopy& c) { c.offset[1] = 256; }},
    {"halo", "load.im2col_w.4d", "sm_100", [](TensorCopy& c) { c.offset[0] = 512; }},
    {"halo", "load.im2col_w_128.4d", "sm_100", [](TensorCopy& c) { c.offset[0] = 32; }},
    {"halo", "load.im2col_w.4d", "sm_100", [](TensorCopy& c) { c.offset[1] = 32; }},
    {"box_start", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.x[0] = -4; }},
    {"box_start", "load.tile.2d", "sm_100",
     [](TensorCopy& c) {
       c.map.type = TensorType::kB6x16, c.map.dim[0] = c.map.box[0] = 128, c.map.stride[1] = 96;
       c.x[0] = 64;
     }},
    {"store_start", "store.im2col_no_offs.3d", "sm_90", [](TensorCopy& c) { c.x[2] = -1; }},
    {"tile_bytes", "load.tile.3d", "sm_90",
     [](TensorCopy& c) { c.map.dim[1] = c.map.box[1] = 256, c.map.box[2] = 15; }},
    {"tile_bytes", "load.tile.3d", "sm_120",
     [](TensorCopy& c) { c.map.dim[1] = c.map.box[1] = 256, c.map.box[2] = 7; }},
    {"shared", "load.tile.2d", "sm_90", [](TensorCopy& c) { c.shared = 64; }},
};

TEST(Limits, EachIsBroken) {
  std::set<std::string> broken;
  for (const Plant& plant : kPlants) {
    TensorCopy copy = Legal(plant.form);
    plant.change(copy);
    const CopyRule* rule = BrokenLimit(copy, plant.arch);
    ASSERT_NE(rule, nullptr) << plant.rule << " of " << plant.form;
    EXPECT_STREQ(rule->name, plant.rule) << plant.form;
    broken.insert(plant.rule);
  }
  for (const CopyRule& rule : CopyLimits()) {
    EXPECT_TRUE(broken.contains(rule.name)) << rule.name << " is broken by no plant";
  }
}

TEST(Limits, LegalCopiesBreakNone) {
  for (const CopyForm& form : CopyForms()) {
    const CopyRule* rule = BrokenLimit(Legal(form.name.c_str()), "sm_100");
    EXPECT_EQ(rule, nullptr) << form.name << ": " << (rule == nullptr ? "" : rule->name);
  }
  TensorCopy large = Legal("load.tile.3d");
  large.map.box[1] = 256, large.map.box[2] = 14;  // 224 KiB
  EXPECT_EQ(BrokenLimit(large, "sm_90"), nullptr);
  TensorCopy left = Legal("load.im2col_w.4d");
  left.x[1] = -3;  // im2col_w may start left of the box in W
  EXPECT_EQ(BrokenLimit(left, "sm_100"), nullptr);
}

}  // namespace
}  // namespace mmadiff
