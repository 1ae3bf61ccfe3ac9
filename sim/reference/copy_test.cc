// The reference of tensor copies against results that documents state: tiles and elements.
#include "sim/reference/copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <tuple>

#include "sim/reference/copy_element.h"
#include "sim/testing/copies.h"

namespace mmadiff::reference {
namespace {

const CopyForm kTile2d = LoadForm(CopyMode::kTile, 2);

// CUTLASS, cute/atom: the 32-, 64- and 128-byte swizzles are Swizzle<1|2|3, 4, 3> (mma_traits_sm90_gmma.hpp),
// that with 32-byte atoms is Swizzle<2, 5, 2> (mma_traits_sm100.hpp). The 64-byte atoms and 96 bytes follow
// from the tables of PTX ISA 5.5.7.
struct SwizzleCase {
  Swizzle swizzle;
  int row, bits, base, shift;
};
constexpr SwizzleCase kSwizzles[] = {
    {Swizzle::kNone, 128, 0, 4, 3},        {Swizzle::k32B, 32, 1, 4, 3},
    {Swizzle::k64B, 64, 2, 4, 3},          {Swizzle::k128B, 128, 3, 4, 3},
    {Swizzle::k128BAtom32B, 128, 2, 5, 2}, {Swizzle::k128BAtom32BFlip8B, 128, 2, 5, 2},
    {Swizzle::k128BAtom64B, 128, 1, 6, 1}, {Swizzle::k96B, 96, 1, 4, 3},
};

class Swizzles : public testing::TestWithParam<SwizzleCase> {};

TEST_P(Swizzles, AddressOfEachByte) {
  const auto& [swizzle, row, bits, base, shift] = GetParam();
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kU8, 8, {static_cast<uint64_t>(row), 64});
  copy.map.box = {static_cast<uint32_t>(row), 64};
  copy.map.swizzle = swizzle;
  for (const uint32_t shared : {0u, 3 * 128u}) {
    for (const auto line : {CopyRules::Line::kAddress, CopyRules::Line::kOffset}) {
      copy.shared = shared;
      const CopyResult result = ReferenceCopy(copy, {.line = line}, kMemory);
      ASSERT_EQ(result.bytes.size(), 64 * row);
      const uint64_t origin = line == CopyRules::Line::kAddress ? shared : 0;
      for (uint64_t n = 0; n < result.bytes.size(); ++n) {
        uint64_t to = CutlassSwizzle(bits, base, shift, origin + n) - origin;
        if (swizzle == Swizzle::k128BAtom32BFlip8B && (origin + n) / 128 % 2 == 1) to ^= 8;
        ASSERT_EQ(result.bytes[to], kMemory.Global(copy.map.base + n)) << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Swizzles, testing::ValuesIn(kSwizzles), [](const auto& info) {
  return "Number" + std::to_string(static_cast<int>(info.param.swizzle));
});

// PTX ISA 5.5.7, the sixth line of the 128-byte pattern: 5 4 7 6 1 0 3 2.
TEST(CopyTile, LineOf128ByteSwizzle) {
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kU8, 8, {128, 8});
  copy.map.box = {128, 8};
  copy.map.swizzle = Swizzle::k128B;
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  const int chunks[] = {5, 4, 7, 6, 1, 0, 3, 2};
  for (int place = 0; place < 8; ++place) {
    for (int n = 0; n < 16; ++n) {
      EXPECT_EQ(result.bytes[5 * 128 + place * 16 + n],
                kMemory.Global(copy.map.base + 5 * 128 + chunks[place] * 16 + n));
    }
  }
}

// Rows of 16 bytes, padded to 64 or not. Line 1 exchanges neighboring chunks.
TEST(CopyTile, ShortSwizzledRows) {
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kU8, 8, {16, 9});
  copy.map.box = {16, 9};
  copy.map.swizzle = Swizzle::k64B;
  const CopyResult padded = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(padded.bytes.size(), 9 * 64);
  EXPECT_EQ(padded.specified[2 * 64], 0);
  EXPECT_EQ(padded.bytes[2 * 64], kMemory.Shared(2 * 64));
  EXPECT_EQ(padded.specified[2 * 64 + 16], 1);
  EXPECT_EQ(padded.bytes[2 * 64 + 16], kMemory.Global(copy.map.base + 2 * 16));
  EXPECT_EQ(std::accumulate(padded.specified.begin(), padded.specified.end(), 0), 9 * 16);

  const CopyRules tight = {.pitch = CopyRules::Pitch::kTight};
  const CopyResult dense = ReferenceCopy(copy, tight, kMemory);
  ASSERT_EQ(dense.bytes.size(), 3 * 64);
  EXPECT_EQ(ReferenceTileBytes(copy, tight), 3 * 64);
  EXPECT_EQ(dense.bytes[128], kMemory.Shared(128));
  EXPECT_EQ(dense.bytes[128 + 16], kMemory.Global(copy.map.base + 8 * 16)) << "the ninth row";
}

TEST(CopyTile, TileOrderAndBounds) {
  const CopyForm form = LoadForm(CopyMode::kTile, 5);
  TensorCopy copy;
  copy.form = &form;
  copy.map = Dense(TensorType::kU32, 32, {8, 3, 3, 3, 3});
  copy.map.box = {4, 2, 2, 2, 2};
  copy.x = {-2, 2, -1, 0, 1};
  std::vector<Coordinates> rows;
  for (int a = 1; a < 3; ++a) {
    for (int b = 0; b < 2; ++b) {
      for (int c = -1; c < 1; ++c) {
        for (int d = 2; d < 4; ++d) rows.push_back({-2, d, c, b, a});
      }
    }
  }
  ExpectRows(copy, {}, rows, 4);
}

// The driver's manual: ceil(box / stride) elements.
TEST(CopyTile, TraversalStride) {
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kU32, 32, {4, 20});
  copy.map.box = {4, 5};
  copy.map.traversal = {4, 2};  // the first is ignored
  copy.x = {0, 3};
  ExpectRows(copy, {}, {{0, 3}, {0, 5}, {0, 7}}, 4);
  ExpectRows(copy, {.steps = CopyRules::Steps::kRoundedDown}, {{0, 3}, {0, 5}}, 4);
}

// OOB-NaN (5.5.3.3): the Ventus probe of an H100 and a B200 saw the bytes f7 7f.
TEST(CopyTile, NanFill) {
  using NanFill = CopyRules::NanFill;
  const uint64_t ones = 0x0001000100010001;
  EXPECT_EQ(FillWord(TensorType::kF16, FillMode::kNan, {}), 0x7ff7);
  EXPECT_EQ(FillWord(TensorType::kTf32, FillMode::kNan, {}), 0x7ff77ff7);
  EXPECT_EQ(FillWord(TensorType::kF64, FillMode::kNan, {}), 0x7ff7 * ones);
  EXPECT_EQ(FillWord(TensorType::kF64, FillMode::kNan, {.nan_fill = NanFill::k7fff}),
            0x7fff * ones);
  EXPECT_EQ(FillWord(TensorType::kBf16, FillMode::kNan, {.nan_fill = NanFill::kFfff}), 0xffff);
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kBf16, 16, {8, 1});
  copy.map.box = {8, 2};
  copy.map.fill = FillMode::kNan;
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  EXPECT_EQ(result.bytes[16], 0xf7);
  EXPECT_EQ(result.bytes[17], 0x7f);
}

// PTX ISA 5.5.3.4, figure 10: one column, 1, and rows 2, 5, 0, 9. (The figure does not align boxes to 16 bytes.)
TEST(CopyTile, Gather4AndScatter4) {
  const CopyForm gather = LoadForm(CopyMode::kGather4, 2),
                 scatter = StoreForm(CopyMode::kScatter4, 2);
  TensorCopy copy;
  copy.form = &gather;
  copy.map = Dense(TensorType::kU64, 64, {8, 12});
  copy.map.box = {4, 1};
  copy.x = {1, 2, 5, 0, 9};
  ExpectRows(copy, {}, {{1, 2}, {1, 5}, {1, 0}, {1, 9}}, 4);
  copy.x[2] = -1;
  ExpectRows(copy, {}, {{1, 2}, {1, -1}, {1, 0}, {1, 9}}, 4);

  copy.form = &scatter;
  const CopyResult stored = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(stored.first, copy.map.base + 8);
  ASSERT_EQ(stored.bytes.size(), 9 * 64 + 32);
  EXPECT_EQ(stored.specified, std::vector<uint8_t>(stored.bytes.size(), 1));
  for (uint64_t n = 0; n < stored.bytes.size(); ++n) {
    const uint64_t row = n / 64, byte = n % 64;
    const int from = row == 2 ? 0 : row == 0 ? 2 : row == 9 ? 3 : -1;
    ASSERT_EQ(stored.bytes[n], from >= 0 && byte < 32 ? kMemory.Shared(from * 32 + byte)
                                                      : kMemory.Global(copy.map.base + 8 + n));
  }
}

// PTX ISA 5.5.1.1.1, figures 5 to 7: 16 elements in each 16 bytes of shared memory.
TEST(CopyTile, PackedLoads) {
  const CopyForm form = LoadForm(CopyMode::kTile, 1);
  for (const auto& [type, bits, pitch] : {std::tuple(TensorType::kB4x16, 4, 8),
                                          {TensorType::kB4x16P64, 4, 16},
                                          {TensorType::kB6x16, 6, 16}}) {
    TensorCopy copy;
    copy.form = &form;
    copy.map = Dense(type, bits, {256});
    copy.map.box = {128};
    for (const int x : {128, 256}) {
      copy.x = {x};
      const CopyResult result = ReferenceCopy(copy, {}, kMemory);
      ASSERT_EQ(result.bytes.size(), 8 * pitch);
      for (int n = 0; n < 8 * pitch; ++n) {
        const int cell = n / pitch, byte = n % pitch;
        const bool written = byte < 2 * bits;
        const uint64_t from = copy.map.base + x * bits / 8 + cell * 2 * bits + byte;
        ASSERT_EQ(result.specified[n], written);
        ASSERT_EQ(result.bytes[n], !written   ? kMemory.Shared(n)
                                   : x == 256 ? 0
                                              : kMemory.Global(from));
      }
    }
  }
}

TEST(CopyTile, StoreOfB6p2x16) {
  const CopyForm form = StoreForm(CopyMode::kTile, 1);
  TensorCopy copy;
  copy.form = &form;
  copy.map = Dense(TensorType::kB6x16, 6, {128});
  copy.map.box = {128};
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(result.bytes.size(), 96);
  // Four elements fill three bytes.
  for (int n = 0; n < 96; n += 3) {
    unsigned packed = 0;
    for (int e = 0; e < 4; ++e) packed |= (kMemory.Shared(n / 3 * 4 + e) & 63u) << 6 * e;
    for (int b = 0; b < 3; ++b) ASSERT_EQ(result.bytes[n + b], packed >> 8 * b & 255) << n;
  }
}

TEST(CopyTile, LoadConverts) {
  TensorCopy copy;
  copy.form = &kTile2d;
  copy.map = Dense(TensorType::kTf32, 32, {4, 64});
  copy.map.box = {4, 64};
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  for (uint64_t n = 0; n < result.bytes.size(); n += 4) {
    uint64_t word = 0, loaded = 0;
    for (int b = 3; b >= 0; --b) {
      word = word << 8 | kMemory.Global(copy.map.base + n + b);
      loaded = loaded << 8 | result.bytes[n + b];
    }
    ASSERT_EQ(loaded, LoadedWord(TensorType::kTf32, word, {}));
    ASSERT_EQ(loaded % 8192, 0);
  }
}

// Triton's tests of f32 rounded to tf32: nearest, ties to even at 10 fraction bits, infinities unchanged.
TEST(CopyTile, LoadedWords) {
  const auto tf32 = [](uint64_t word, const CopyRules& rules = {}) {
    return LoadedWord(TensorType::kTf32, word, rules);
  };
  const CopyRules away = {.tf32_ties = CopyRules::Ties::kAway};
  const CopyRules kept = {.tf32_nan = CopyRules::Nan::kKept};
  EXPECT_EQ(tf32(0x3f800fff), 0x3f800000);
  EXPECT_EQ(tf32(0x3f801000), 0x3f800000);
  EXPECT_EQ(tf32(0x3f801000, away), 0x3f802000);
  EXPECT_EQ(tf32(0xbf801000, away), 0xbf802000);
  EXPECT_EQ(tf32(0x3f801001), 0x3f802000);
  EXPECT_EQ(tf32(0x3f803000), 0x3f804000);
  EXPECT_EQ(tf32(0x7f7fffff), 0x7f800000);
  EXPECT_EQ(tf32(0xff800000), 0xff800000);
  EXPECT_EQ(tf32(0x80000000), 0x80000000);
  EXPECT_EQ(tf32(0x00001001), 0x00002000);
  EXPECT_EQ(tf32(0xffc12345), 0x7fffe000);
  EXPECT_EQ(tf32(0xffc12345, kept), 0xffc12000 & 0xffffe000);
  const CopyRules flushed = {.f32_ftz = CopyRules::Ftz::kFlushed};
  for (const TensorType type : {TensorType::kF32Ftz, TensorType::kTf32Ftz}) {
    EXPECT_EQ(LoadedWord(type, 0x807fe000, {}), 0x807fe000);
    EXPECT_EQ(LoadedWord(type, 0x807fe000, flushed), 0x80000000);
    EXPECT_EQ(LoadedWord(type, 0x00800000, flushed), 0x00800000);
  }
  EXPECT_EQ(LoadedWord(TensorType::kF32, 0x007fffff, flushed), 0x007fffff);
  EXPECT_EQ(LoadedWord(TensorType::kF32Ftz, 0xffc12345, flushed), 0xffc12345);
}

TEST(CopyTile, ReducedWords) {
  using enum TensorType;
  const auto add = [](TensorType type, uint64_t x, uint64_t y) {
    return ReducedWord(Reduction::kAdd, type, x, y);
  };
  EXPECT_EQ(add(kU32, 0xffffffff, 3), 2);
  EXPECT_EQ(add(kU64, ~0ull, 3), 2);
  EXPECT_EQ(add(kF16, 0x3c00, 0x1000), 0x3c00) << "1 + 2^-11, a tie";
  EXPECT_EQ(add(kF16, 0x3c01, 0x1000), 0x3c02);
  EXPECT_EQ(add(kF16, 0x7bff, 0x4c00), 0x7c00);
  EXPECT_EQ(add(kF16, 0x0001, 0x0001), 0x0002);
  EXPECT_EQ(add(kF16, 0x7c00, 0xfc00), 0x7fff);
  EXPECT_EQ(add(kBf16, 0x3f80, 0x3b80), 0x3f80) << "1 + 2^-8, a tie";
  EXPECT_EQ(add(kBf16, 0x3f80, 0x3b81), 0x3f81);
  EXPECT_EQ(add(kF32, 0x00000001, 0x00000001), 0x00000002);
  EXPECT_EQ(add(kF32Ftz, 0x80000001, 0x80000001), 0x80000000);
  EXPECT_EQ(add(kF32Ftz, 0x00800001, 0x80800000), 0x00000000) << "a subnormal sum";
  EXPECT_EQ(add(kF32Ftz, 0x00800000, 0x00000001), 0x00800000) << "a subnormal operand";
  EXPECT_EQ(add(kF32, 0xffc12345, 0), 0x7fffffff);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kS32, 0x80000000, 1), 0x80000000);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kU32, 0x80000000, 1), 1);
  EXPECT_EQ(ReducedWord(Reduction::kMax, kS64, ~0ull, 1), 1);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kF16, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(ReducedWord(Reduction::kMax, kF16, 0x8000, 0x0000), 0x0000);
  EXPECT_EQ(ReducedWord(Reduction::kMax, kBf16, 0x7f80, 0x7f7f), 0x7f80);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kBf16, 0xff80, 0xff7f), 0xff80);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kF16, 0x7e01, 0x3c00), 0x3c00);
  EXPECT_EQ(ReducedWord(Reduction::kMin, kF16, 0x7e01, 0xfe01), 0x7fff);
  EXPECT_EQ(ReducedWord(Reduction::kInc, kU32, 5, 5), 0);
  EXPECT_EQ(ReducedWord(Reduction::kInc, kU32, 4, 5), 5);
  EXPECT_EQ(ReducedWord(Reduction::kDec, kU32, 0, 5), 5);
  EXPECT_EQ(ReducedWord(Reduction::kDec, kU32, 6, 5), 5);
  EXPECT_EQ(ReducedWord(Reduction::kDec, kU32, 5, 5), 4);
  EXPECT_EQ(ReducedWord(Reduction::kAnd, kU64, 12, 10), 8);
  EXPECT_EQ(ReducedWord(Reduction::kOr, kS32, 12, 10), 14);
  EXPECT_EQ(ReducedWord(Reduction::kXor, kU32, 12, 10), 6);
}

TEST(CopyTile, StoreLeavesTheRest) {
  const CopyForm form = StoreForm(CopyMode::kTile, 2);
  TensorCopy copy;
  copy.form = &form;
  copy.map = Dense(TensorType::kU32, 32, {6, 4});
  copy.map.stride[1] = 32;
  copy.map.box = {8, 2};
  copy.map.swizzle = Swizzle::k32B;
  copy.shared = 128;
  copy.x = {4, 1};
  const GlobalRange range = ReferenceTouchedRange(copy);
  EXPECT_EQ(range.first, copy.map.base + 32 + 16);
  EXPECT_EQ(range.last, copy.map.base + 64 + 24);
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(result.bytes.size(), 40);
  for (int n = 0; n < 40; ++n) {
    const int row = n / 32, byte = n % 32;
    // At address 128 the swizzle exchanges the 16 bytes of each pair.
    const uint8_t expected = byte < 8 ? kMemory.Shared(128 + row * 32 + 16 + byte)
                                      : kMemory.Global(copy.map.base + 48 + n);
    ASSERT_EQ(result.bytes[n], expected) << n;
  }
  copy.x = {6, 0};
  EXPECT_EQ(ReferenceCopy(copy, {}, kMemory).bytes.size(), 0);
}

// Rows that overlap by half: stride 16, row 32.
TEST(CopyTile, OverlappingRows) {
  const CopyForm store = StoreForm(CopyMode::kTile, 2),
                 reduce = Form(CopyDirection::kReduce, CopyMode::kTile, 2);
  TensorCopy copy;
  copy.form = &store;
  copy.map = Dense(TensorType::kU32, 32, {8, 2});
  copy.map.stride[1] = 16;
  copy.map.box = {8, 2};
  const auto global = [&](int n) { return kMemory.Global(copy.map.base + n); };
  const CopyResult stored = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(stored.bytes.size(), 48);
  copy.form = &reduce;
  copy.reduction = Reduction::kXor;
  const CopyResult reduced = ReferenceCopy(copy, {}, kMemory);
  copy.reduction = Reduction::kInc;
  const CopyResult counted = ReferenceCopy(copy, {}, kMemory);
  for (int n = 0; n < 48; ++n) {
    const bool twice = n >= 16 && n < 32;
    const uint8_t first = kMemory.Shared(n), second = kMemory.Shared(n + 16);
    EXPECT_EQ(stored.specified[n], !twice);
    EXPECT_EQ(counted.specified[n], !twice);
    EXPECT_EQ(stored.bytes[n], twice ? global(n) : n < 16 ? first : second);
    EXPECT_EQ(reduced.specified[n], 1);
    EXPECT_EQ(reduced.bytes[n], global(n) ^ (n < 32 ? first : 0) ^ (n >= 16 ? second : 0));
  }
}

// 5.5.6, NC/8DHWC8 with 2 bytes a channel: rows of 16 bytes in the order W, H, D, slice, N.
TEST(CopyTile, InterleavedTile) {
  const CopyForm form = LoadForm(CopyMode::kTile, 5);
  TensorCopy copy;
  copy.form = &form;
  copy.map = Dense(TensorType::kU16, 16, {20, 4, 3, 2, 2});
  copy.map.interleave = Interleave::k16B;
  // Three slices of 2 x 3 x 4 pixels.
  copy.map.stride = {2, 16, 4 * 16, 3 * 4 * 16, 3 * 2 * 3 * 4 * 16};
  copy.map.box = {16, 2, 1, 2, 2};
  copy.x = {8, 1, 2, 0, 0};
  copy.map.swizzle = Swizzle::k128B;  // does not pad the rows
  const CopyResult result = ReferenceCopy(copy, {}, kMemory);
  ASSERT_EQ(result.bytes.size(), 2 * 2 * 2 * 2 * 16);
  uint64_t row = 0;
  for (uint64_t n = 0; n < 2; ++n) {
    for (uint64_t slice = 1; slice < 3; ++slice) {
      for (uint64_t d = 0; d < 2; ++d) {
        for (uint64_t w = 1; w < 3; ++w, ++row) {
          const uint64_t pixel = (((n * 3 + slice) * 2 + d) * 3 + 2) * 4 + w;
          for (uint64_t byte = 0; byte < 16; ++byte) {
            const bool channel = slice * 8 + byte / 2 < 20;  // the last slice is padded with zeros
            const uint8_t expected =
                channel ? kMemory.Global(copy.map.base + pixel * 16 + byte) : 0;
            ASSERT_EQ(result.bytes[CutlassSwizzle(3, 4, 3, row * 16 + byte)], expected)
                << row << " " << byte;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff::reference
