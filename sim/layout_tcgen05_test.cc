// Shared and tensor memory of tcgen05.mma: every element has a place of its own, and spot values
// worked out by hand from the rules of the PTX ISA.
#include <gtest/gtest.h>

#include <string>

#include "sim/layout.h"
#include "sim/layout_shared.h"

namespace mmadiff {
namespace {

constexpr Operand kOperands[] = {Operand::kA,      Operand::kB,       Operand::kC,
                                 Operand::kD,      Operand::kScaleA,  Operand::kScaleB,
                                 Operand::kALanes, Operand::kMetadata};

int BitsOf(const Instruction& i, Operand operand) {
  const Format* formats[] = {i.a, i.b, i.c, i.d, i.scale, i.scale, i.a};
  if (operand == Operand::kMetadata) return i.sparse() ? 4 : 0;
  const Format* format = formats[static_cast<int>(operand)];
  return format == nullptr ? 0 : format->bits;
}

// What is wrong with the places of an operand, empty if nothing is.
std::string Wrong(const Instruction& i, Operand operand) {
  const Extent extent = ExtentOf(i, operand);
  std::vector<bool> used(extent.lanes * extent.registers * 32);
  for (const Element& e : Elements(i, operand)) {
    const Place p = PlaceOf(i, operand, e);
    if (p.lane < 0 || p.lane >= extent.lanes || p.reg < 0 || p.bit < 0 || p.bit > 31) {
      return "outside of the lanes";
    }
    for (int bit = 0; bit < BitsOf(i, operand); ++bit) {
      const int in_lane = p.reg * 32 + p.bit + bit;
      if (in_lane >= extent.registers * 32) return "outside of the registers";
      const int at = p.lane * extent.registers * 32 + in_lane;
      if (used[at]) return "two elements in one place";
      used[at] = true;
    }
  }
  return "";
}

TEST(LayoutTcgen05, EveryElementHasAPlaceOfItsOwn) {
  int seen = 0;
  for (const Instruction& i : Instructions()) {
    if (i.layout != Layout::kNvidiaTcgen05) continue;
    ++seen;
    const int n = i.shape.n;
    for (const Instruction& sized : {i, WithSize(i, i.shape.m, 64), WithSize(i, 128, n + 128)}) {
      for (const Operand operand : kOperands) {
        if (BitsOf(i, operand) == 0) continue;  // no scales, no metadata
        EXPECT_EQ(Wrong(sized, operand), "") << sized.name << " " << Name(operand);
      }
    }
  }
  EXPECT_EQ(seen, 93 + 11);
}

TEST(LayoutTcgen05, CoreMatrices) {
  EXPECT_EQ(CoreMatrixPlace(0, 0, 32), (Place{0, 0, 0}));
  EXPECT_EQ(CoreMatrixPlace(1, 0, 32), (Place{0, 4, 0}));    // 16 bytes a row
  EXPECT_EQ(CoreMatrixPlace(0, 16, 32), (Place{0, 32, 0}));  // 128 bytes on
  EXPECT_EQ(CoreMatrixPlace(8, 0, 32), (Place{0, 64, 0}));   // 256 bytes on
  EXPECT_EQ(CoreMatrixPlace(8, 0, 64), (Place{0, 128, 0}));
  EXPECT_EQ(CoreMatrixPlace(10, 23, 32), (Place{0, 64 + 32 + 8 + 1, 24}));
}

struct Spot {
  const char* instruction;
  int m, n;
  Operand operand;
  Element element;
  Place place;
};

constexpr char kF16ToF32[] = "tcgen05.mma.m64n8k16.f32.f16.f16";
constexpr char kF16ToF16[] = "tcgen05.mma.m64n8k16.f16.f16.f16";
constexpr char kMixed[] = "tcgen05.mma.m64n8k32.f32.e3m2.e2m1";
constexpr char kFp4Fp8[] = "tcgen05.mma.m64n8k32.f32.e2m1.e4m3";
constexpr char kMxf8[] = "tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0";
constexpr char kNvf4[] = "tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue4m3.4x";

constexpr char kSparseF16[] = "tcgen05.mma.sp.m64n8k32.f32.f16.f16";
constexpr char kSparseFp8[] = "tcgen05.mma.sp.m64n8k64.f32.e4m3.e5m2";

constexpr Spot kSpots[] = {
    // f16 in shared memory: 8 elements of k in 16 bytes; columns of B are rows.
    {kF16ToF32, 64, 8, Operand::kA, {0, 0, 1}, {0, 0, 16}},
    {kF16ToF32, 64, 8, Operand::kA, {0, 2, 9}, {0, 32 + 8, 16}},
    {kF16ToF32, 64, 8, Operand::kA, {0, 63, 15}, {0, 511, 16}},
    {kF16ToF32, 64, 16, Operand::kB, {0, 9, 10}, {0, 64 + 32 + 8, 16}},
    // The same in tensor memory. M = 64: 16 rows in each 32 lanes.
    {kF16ToF32, 64, 8, Operand::kALanes, {0, 17, 3}, {33, 1, 16}},
    {kF16ToF32, 128, 16, Operand::kALanes, {0, 17, 3}, {17, 1, 16}},
    {kF16ToF32, 64, 8, Operand::kD, {0, 15, 7}, {15, 7, 0}},
    {kF16ToF32, 64, 8, Operand::kD, {0, 16, 0}, {32, 0, 0}},
    {kF16ToF32, 64, 8, Operand::kC, {0, 63, 5}, {111, 5, 0}},
    {kF16ToF32, 128, 256, Operand::kD, {0, 127, 255}, {127, 255, 0}},
    {kF16ToF16, 64, 8, Operand::kD, {0, 1, 3}, {1, 3, 0}},  // not packed
    // f8f6f4: 16 elements in 16 bytes, 6 bits each and 4 bytes of padding, 4 bits and 8 bytes.
    {kMixed, 64, 8, Operand::kA, {0, 0, 5}, {0, 0, 30}},
    {kMixed, 64, 8, Operand::kA, {0, 0, 15}, {0, 2, 26}},
    {kMixed, 64, 8, Operand::kA, {0, 1, 16}, {0, 36, 0}},
    {kMixed, 64, 8, Operand::kB, {0, 15, 0}, {0, 1, 28}},
    {kMixed, 64, 8, Operand::kB, {0, 17, 3}, {0, 32 + 12, 4}},
    // In tensor memory they lie in bytes: 6 bits in 5:0, 4 bits in 5:2.
    {kMixed, 64, 8, Operand::kALanes, {0, 0, 5}, {0, 1, 8}},
    {kFp4Fp8, 64, 8, Operand::kALanes, {0, 48, 31}, {96, 7, 26}},
    {kFp4Fp8, 64, 8, Operand::kB, {0, 31, 7}, {0, 32 + 28 + 3, 24}},
    // mxf4nvf4: 32 elements in 16 bytes, no padding; also in tensor memory.
    {kNvf4, 128, 8, Operand::kA, {0, 0, 31}, {0, 3, 28}},
    {kNvf4, 128, 8, Operand::kA, {0, 9, 33}, {0, 64 + 32 + 4, 4}},
    {kNvf4, 128, 8, Operand::kALanes, {0, 77, 63}, {77, 7, 28}},
    // Sparse: 32 bytes of a row of A are stored, 64 of a column of B; metadata by rows of 16.
    {kSparseF16, 64, 8, Operand::kA, {0, 2, 9}, {0, 32 + 8, 16}},
    {kSparseF16, 64, 16, Operand::kB, {0, 26, 9}, {0, 128 + 96 + 5, 0}},
    {kSparseF16, 128, 16, Operand::kMetadata, {0, 27, 6}, {27, 0, 24}},
    {kSparseF16, 64, 8, Operand::kMetadata, {0, 17, 3}, {33, 0, 12}},
    {kSparseFp8, 64, 8, Operand::kMetadata, {0, 17, 9}, {33, 1, 4}},
    // Scales: byte = index in K, lane = row % 32, column = row / 32.
    {kMxf8, 128, 8, Operand::kScaleA, {0, 127, 0}, {31, 3, 0}},
    {kNvf4, 128, 8, Operand::kScaleA, {0, 33, 2}, {1, 1, 16}},
    {kNvf4, 128, 256, Operand::kScaleB, {0, 3, 200}, {8, 6, 24}},
};

std::string Text(const Place& p) {
  return "lane " + std::to_string(p.lane) + " register " + std::to_string(p.reg) + " bit " +
         std::to_string(p.bit);
}

TEST(LayoutTcgen05, SpotValues) {
  for (const Spot& s : kSpots) {
    const Instruction i = WithSize(*FindInstruction(s.instruction), s.m, s.n);
    EXPECT_EQ(Text(PlaceOf(i, s.operand, s.element)), Text(s.place))
        << i.name << " " << Name(s.operand) << " row " << s.element.row << " column "
        << s.element.column;
  }
}

}  // namespace
}  // namespace mmadiff
