// The reference of tensor copies against results that documents state: im2col modes.
#include <gtest/gtest.h>

#include <numeric>

#include "sim/reference/copy.h"
#include "sim/testing/copies.h"

namespace mmadiff::reference {
namespace {

// `count` pixels along W.
struct Segment {
  int64_t n, h, w, count;
};
std::vector<Coordinates> Pixels(const std::vector<Segment>& segments, int64_t stride = 1) {
  std::vector<Coordinates> pixels;
  for (const Segment& s : segments) {
    for (int64_t i = 0; i < s.count; ++i) pixels.push_back({0, s.w + i * stride, s.h, s.n});
  }
  return pixels;
}

const CopyForm kIm2col = LoadForm(CopyMode::kIm2col, 4);

// PTX ISA 5.5.4.1, example 1. Sizes are those of C, W, H, N; coordinates (7, 7, 4, 0) are N, H, W, C.
TEST(CopyIm2col, Example1) {
  TensorCopy copy = Im2col(kIm2col, Dense(TensorType::kF16, 16, {64, 9, 14, 64}), 8, 64);
  copy.map.lower = copy.map.upper = {-1, -1};
  copy.x = {0, 4, 7, 7};
  ExpectRows(copy, {},
             Pixels({{7, 7, 4, 4},
                     {7, 8, -1, 9},
                     {7, 9, -1, 9},
                     {7, 10, -1, 9},
                     {7, 11, -1, 9},
                     {7, 12, -1, 9},
                     {8, -1, -1, 9},
                     {8, 0, -1, 6}}),
             8);
}

// PTX ISA 5.5.4.1, example 2.
TEST(CopyIm2col, Example2) {
  TensorCopy copy = Im2col(kIm2col, Dense(TensorType::kF16, 16, {64, 9, 14, 64}), 8, 64);
  copy.map.upper = {-2, -2};
  copy.x = {0, 4, 7, 7};
  copy.offset = {2, 2};
  ExpectRows(copy, {},
             Pixels({{7, 9, 6, 3},
                     {7, 10, 2, 7},
                     {7, 11, 2, 7},
                     {7, 12, 2, 7},
                     {7, 13, 2, 7},
                     {8, 2, 2, 7},
                     {8, 3, 2, 7},
                     {8, 4, 2, 7},
                     {8, 5, 2, 7},
                     {8, 6, 2, 5}}),
             8);
}

// PTX ISA 5.5.4.2: traversal strides of 2.
TEST(CopyIm2col, Example3) {
  TensorCopy copy = Im2col(kIm2col, Dense(TensorType::kF16, 16, {64, 8, 14, 64}), 16, 32);
  copy.map.lower = copy.map.upper = {-1, -1};
  copy.map.traversal = {1, 2, 2, 1, 1};
  copy.x = {0, 5, 7, 7};
  copy.offset = {1, 1};
  ExpectRows(copy, {},
             Pixels({{7, 8, 6, 1},
                     {7, 10, 0, 4},
                     {7, 12, 0, 4},
                     {8, 0, 0, 4},
                     {8, 2, 0, 4},
                     {8, 4, 0, 4},
                     {8, 6, 0, 4},
                     {8, 8, 0, 4},
                     {8, 10, 0, 3}},
                    2),
             16);
}

// 5.5.4.3: pixels past the last image.
TEST(CopyIm2col, PastTheLastImage) {
  const CopyForm form = LoadForm(CopyMode::kIm2col, 3);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU32, 32, {8, 3, 2}), 4, 4);
  copy.x = {4, 1, 1};
  ExpectRows(copy, {}, {{4, 1, 1}, {4, 2, 1}, {4, 0, 2}, {4, 1, 2}}, 4);
  EXPECT_EQ(ReferenceTouchedRange(copy).first, copy.map.base + (3 + 1) * 32 + 16);
  EXPECT_EQ(ReferenceTouchedRange(copy).last, copy.map.base + 2 * 3 * 32);
}

// PTX demands that the filter's corner is in the box. A start to the right of it is one pixel of its own.
TEST(CopyIm2col, StartsRightOfTheBox) {
  const CopyForm form = LoadForm(CopyMode::kIm2col, 3);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU32, 32, {4, 5, 3}), 4, 5);
  copy.map.upper = {-3};
  copy.x = {0, 3, 0};
  ExpectRows(copy, {}, {{0, 3, 0}, {0, 0, 1}, {0, 1, 1}, {0, 0, 2}, {0, 1, 2}}, 4);
}

// With D: from W to H to D to N, each from its lower corner.
TEST(CopyIm2col, OfFiveDimensions) {
  const CopyForm form = LoadForm(CopyMode::kIm2col, 5);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU32, 32, {4, 3, 2, 2, 2}), 4, 8);
  copy.map.lower = {1, 0, 0};
  copy.x = {0, 2, 1, 0, 0};
  ExpectRows(copy, {},
             {{0, 2, 1, 0, 0},
              {0, 1, 0, 1, 0},
              {0, 2, 0, 1, 0},
              {0, 1, 1, 1, 0},
              {0, 2, 1, 1, 0},
              {0, 1, 0, 0, 1},
              {0, 2, 0, 0, 1},
              {0, 1, 1, 0, 1}},
             4);
}

// Rows of 128 bytes whose words hold the number of a pixel, counted from 1, as in Triton's tutorial
// python/tutorials/gluon/12-tma-im2col.py at 232613e2, which asserts these results on Hopper: 16 pixels of
// f32, with a 128-byte swizzle; 0 is a filled pixel.
void ExpectTriton(uint64_t images, int corner, std::array<int32_t, 4> nhwc, uint16_t offset,
                  const std::vector<int>& numbers) {
  TensorCopy copy = Im2col(kIm2col, Dense(TensorType::kF32, 32, {32, 4, 4, images}), 32, 16);
  copy.map.swizzle = Swizzle::k128B;
  copy.map.lower = copy.map.upper = {corner, corner};
  copy.x = {nhwc[3], nhwc[2], nhwc[1], nhwc[0]};
  copy.offset = {offset, offset};
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(result.bytes.size(), 16 * 128);
  for (uint64_t row = 0; row < 16; ++row) {
    for (uint64_t byte = 0; byte < 128; ++byte) {
      const uint8_t expected =
          numbers[row] == 0 ? 0 : kMemory.Global(copy.map.base + (numbers[row] - 1) * 128 + byte);
      ASSERT_EQ(result.bytes[row * 128 + (byte ^ (row % 8 * 16))], expected) << row << " " << byte;
    }
  }
}

std::vector<int> Counted(int from) {
  std::vector<int> numbers(16);
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

TEST(CopyIm2col, Triton) {
  ExpectTriton(1, 0, {0, 0, 0, 0}, 0, Counted(1));
  ExpectTriton(1, -1, {0, -1, -1, 0}, 0, {0, 0, 0, 0, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11});
  ExpectTriton(1, -1, {0, -1, -1, 0}, 1, Counted(1));
  ExpectTriton(2, 0, {0, 1, 3, 0}, 0, Counted(8));
}

// PTX ISA 5.5.5.3: 128 pixels and two of the halo. Sizes and coordinates as above. PTX demands a swizzle, which
// does not change the pixels.
TEST(CopyIm2col, Wide) {
  const CopyForm form = LoadForm(CopyMode::kIm2colW, 4);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU8, 8, {128, 9, 7, 64}), 64, 128);
  copy.x = {0, 3, 2, 7};
  copy.offset = {2, 0};
  std::vector<Segment> segments = {{7, 2, 3, 6}};
  for (int n = 8; n <= 20; ++n) segments.push_back({n, 2, 0, 9});
  segments.push_back({21, 2, 0, 5 + 2});
  ExpectRows(copy, {}, Pixels(segments), 64);
  ExpectRows(copy, {.halo = CopyRules::Halo::kBeyond}, Pixels(segments), 64);

  // Four pixels more end an image.
  copy.map.pixels += 4;
  segments.back() = {21, 2, 0, 9};
  std::vector<Segment> inside = segments, beyond = segments;
  inside.push_back({22, 2, 0, 2});
  beyond.push_back({21, 2, 9, 2});
  ExpectRows(copy, {}, Pixels(inside), 64);
  ExpectRows(copy, {.halo = CopyRules::Halo::kBeyond}, Pixels(beyond), 64);
}

// PTX ISA 5.5.5.4, example 1: both buffers. The start of the first is the lower corner, -1.
TEST(CopyIm2col, WideOffset) {
  const CopyForm form = LoadForm(CopyMode::kIm2colW, 4);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU8, 8, {128, 9, 67, 64}), 64, 128);
  copy.map.lower = {-1};
  copy.map.traversal[1] = 2;
  copy.x = {0, -1, 2, 7};
  for (const int64_t offset : {0, 1}) {
    const int64_t halo = 1 - offset;
    copy.offset = {static_cast<uint16_t>(halo), static_cast<uint16_t>(offset)};
    std::vector<Segment> segments;
    for (int n = 7; n < 7 + 25; ++n) segments.push_back({n, 2, -1 + offset, 5});
    segments.push_back({7 + 25, 2, -1 + offset, 3 + halo});
    ExpectRows(copy, {}, Pixels(segments, 2), 64);
  }
}

// The first pixel is left of the box (5.5.5.1).
TEST(CopyIm2col, WideLeftOfTheBox) {
  const CopyForm form = LoadForm(CopyMode::kIm2colW, 3);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU8, 8, {64, 5, 8}), 64, 8);
  copy.map.lower = {2};
  copy.x = {0, -1, 1};
  std::vector<Coordinates> rows;
  for (int w = -1; w <= 4; ++w) rows.push_back({0, w, 1});
  rows.insert(rows.end(), {{0, 2, 2}, {0, 3, 2}});
  ExpectRows(copy, {}, rows, 64);
}

// PTX ISA 5.5.5.3: the example of im2col_w_128, two pixels after every 32; the map's count of pixels is ignored.
TEST(CopyIm2col, Wide128) {
  const CopyForm form = LoadForm(CopyMode::kIm2colW128, 4);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU8, 8, {128, 9, 7, 64}), 64, 5);
  copy.x = {0, 3, 2, 7};
  copy.offset = {2, 0};
  std::vector<Segment> segments = {{7, 2, 3, 6}};
  for (int n = 8; n <= 22; ++n) segments.push_back({n, 2, 0, 9});
  const std::vector<Coordinates> walk = Pixels(segments);
  std::vector<Coordinates> each, all(walk.begin(), walk.begin() + 128);
  for (int group = 0; group < 4; ++group) {
    const auto begin = walk.begin() + group * 32;
    each.insert(each.end(), begin, begin + 32 + 2);
    all.insert(all.end(), begin + 32, begin + 32 + 2);
  }
  ExpectRows(copy, {}, each, 64);
  ExpectRows(copy, {.halos = CopyRules::Halos::kAfterAll}, all, 64);

  // Now the first group ends with image 10: 5 + 3 * 9 pixels.
  copy.x[1] = 4;
  const CopyResult beyond = ReferenceCopy(copy, {.halo = CopyRules::Halo::kBeyond}, kMemory);
  const CopyResult inside = ReferenceCopy(copy, {}, kMemory);
  EXPECT_EQ(inside.bytes[32 * 64], kMemory.Global(AddressOf(copy.map, {0, 0, 2, 11})));
  EXPECT_EQ(std::vector<uint8_t>(beyond.bytes.begin() + 32 * 64, beyond.bytes.begin() + 34 * 64),
            std::vector<uint8_t>(2 * 64));
}

// Slices come after all pixels; half of the last slice is outside the tile.
TEST(CopyIm2col, Interleaved) {
  const CopyForm form = LoadForm(CopyMode::kIm2col, 3);
  TensorCopy copy = Im2col(form, Dense(TensorType::kU32, 32, {16, 4, 2}), 12, 3);
  copy.map.interleave = Interleave::k32B;
  copy.map.swizzle = Swizzle::k32B;
  copy.map.stride = {4, 32, 2 * 4 * 32};
  copy.x = {0, 3, 0};
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(result.bytes.size(), 2 * 3 * 32);
  const uint64_t pixels[] = {3, 2 * 4 + 0, 2 * 4 + 1};  // in 32 bytes, of the first slice
  for (uint64_t row = 0; row < 6; ++row) {
    for (uint64_t byte = 0; byte < 32; ++byte) {
      const bool exists = row < 3 || byte < 16;
      const uint64_t to = CutlassSwizzle(1, 4, 3, row * 32 + byte);
      ASSERT_EQ(result.specified[to], exists);
      const uint64_t from = copy.map.base + (pixels[row % 3] + row / 3 * 4) * 32 + byte;
      ASSERT_EQ(result.bytes[to], exists ? kMemory.Global(from) : kMemory.Shared(to));
    }
  }
}

// 9.7.9.27: im2col_no_offs is im2col with offsets of 0. What it stores is what a load would read.
TEST(CopyIm2col, Store) {
  const CopyForm store = StoreForm(CopyMode::kIm2colNoOffs, 4);
  TensorCopy copy = Im2col(store, Dense(TensorType::kU32, 32, {4, 5, 4, 3}), 4, 9);
  copy.map.lower = {1, 0};
  copy.map.upper = {-1, -1};
  copy.x = {0, 2, 1, 0};
  copy.offset = {9, 9};  // no operand
  const std::vector<Coordinates> pixels =
      Pixels({{0, 1, 2, 2}, {0, 2, 1, 3}, {1, 0, 1, 3}, {1, 1, 1, 1}});
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  std::vector<uint8_t> expected;
  const uint64_t last = AddressOf(copy.map, pixels.back()) + 16;
  ASSERT_EQ(result.first, AddressOf(copy.map, pixels[0]));
  for (uint64_t address = result.first; address < last; ++address)
    expected.push_back(kMemory.Global(address));
  for (size_t row = 0; row < pixels.size(); ++row) {
    for (int byte = 0; byte < 16; ++byte) {
      expected[AddressOf(copy.map, pixels[row]) + byte - result.first] =
          kMemory.Shared(row * 16 + byte);
    }
  }
  EXPECT_EQ(result.bytes, expected);
  EXPECT_EQ(result.specified, std::vector<uint8_t>(expected.size(), 1));
}

}  // namespace
}  // namespace mmadiff::reference
