// Compiled once per vector target: foreach_target.h includes this file repeatedly.
#include "corpus/cases/philox.h"

#include <Random123/philox.h>

#include <bit>
#include <vector>

#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corpus/cases/philox.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h: this header is included once per target.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // no vectors

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A word of a block in the low half of each 64-bit lane. The high half is arbitrary.
using Wide = hn::CappedTag<uint64_t, kPhiloxBlocks>;
using Word = hn::Vec<Wide>;

HWY_INLINE Word Times(Word x, uint32_t factor) {
  constexpr hn::Repartition<uint32_t, Wide> kHalves;
  return hn::MulEven(hn::BitCast(kHalves, x), hn::Set(kHalves, factor));
}

HWY_INLINE Word HighHalf(Word x) {
  constexpr hn::Repartition<uint32_t, Wide> kHalves;
  return hn::BitCast(Wide(), hn::Shuffle2301(hn::BitCast(kHalves, x)));
}

// Combines the low halves of both.
HWY_INLINE Word Both(Word low, Word high) {
  constexpr hn::Repartition<uint32_t, Wide> kHalves;
  const auto doubled = hn::DupEven(hn::BitCast(kHalves, high));
  return hn::BitCast(Wide(), hn::OddEven(doubled, hn::BitCast(kHalves, low)));
}

// The blocks of the lanes, numbered from 0.
HWY_INLINE Word BlockOf(Word number, const PhiloxCounters& counters) {
  constexpr Wide kWide;
  return hn::Add(hn::And(number, hn::Set(kWide, counters.of_case - 1)),
                 hn::Set(kWide, counters.block));
}
HWY_INLINE Word CaseOf(Word number, const PhiloxCounters& counters) {
  const Word of_case = hn::ShiftRightSame(number, std::countr_zero(counters.of_case));
  return hn::Add(Times(of_case, counters.stride), hn::Set(Wide(), counters.index));
}

// A vector of blocks.
struct Blocks {
  HWY_INLINE Blocks(const PhiloxCounters& counters, size_t first) {
    const Word number = hn::Iota(Wide(), first);
    w0 = BlockOf(number, counters);
    w1 = CaseOf(number, counters);
    w2 = hn::ShiftRight<32>(w1);
    w3 = hn::Set(Wide(), counters.stream);
  }
  HWY_INLINE void Round(Word key0, Word key1) {
    const Word product0 = Times(w0, PHILOX_M4x32_0), product1 = Times(w2, PHILOX_M4x32_1);
    w0 = hn::Xor3(HighHalf(product1), w1, key0);
    w1 = product1;
    w2 = hn::Xor3(HighHalf(product0), w3, key1);
    w3 = product0;
  }
  HWY_INLINE void Store(uint32_t* words) const {
    const Word w01 = Both(w0, w1), w23 = Both(w2, w3);
    auto* const pairs = reinterpret_cast<uint64_t*>(words);
#if HWY_TARGET == HWY_AVX3  // two permutations suffice
    const auto store = [&](int block, uint64_t* to) {
      const __m512i even = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
      const __m512i which = _mm512_add_epi64(even, _mm512_set1_epi64(block));
      _mm512_storeu_si512(to, _mm512_permutex2var_epi64(w01.raw, which, w23.raw));
    };
    store(0, pairs), store(4, pairs + 8);
#else
    hn::StoreInterleaved2(w01, w23, Wide(), pairs);
#endif
  }
  Word w0, w1, w2, w3;
};

// Up to four vectors at a time: independent work hides the latency of the rounds.
template <int kVectors>
HWY_INLINE void MakeSome(const PhiloxCounters& counters, const uint32_t key[2], size_t first,
                         uint32_t* words) {
  constexpr Wide kWide;
  const size_t lanes = hn::Lanes(kWide);
  Blocks x(counters, first), y(counters, first + lanes);
  Blocks z(counters, first + 2 * lanes), u(counters, first + 3 * lanes);
  Word key0 = hn::Set(kWide, key[0]), key1 = hn::Set(kWide, key[1]);
  for (int i = 0; i < 10; ++i) {
    x.Round(key0, key1);
    if (kVectors > 1) y.Round(key0, key1);
    if (kVectors > 2) z.Round(key0, key1);
    if (kVectors > 3) u.Round(key0, key1);
    // Overflow from the low half stays in the high half, which is not read.
    key0 = hn::Add(key0, hn::Set(kWide, PHILOX_W32_0));
    key1 = hn::Add(key1, hn::Set(kWide, PHILOX_W32_1));
  }
  uint32_t* const to = words + 4 * first;
  x.Store(to);
  if (kVectors > 1) y.Store(to + 4 * lanes);
  if (kVectors > 2) z.Store(to + 8 * lanes);
  if (kVectors > 3) u.Store(to + 12 * lanes);
}

void MakePhilox(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64;
  constexpr int kMax = kManyRegisters ? 4 : 3;  // the words stay in registers
  const size_t lanes = hn::Lanes(Wide()), vectors = kPhiloxBlocks / lanes;
  size_t first = 0;
  for (; first + kMax <= vectors; first += kMax) {
    MakeSome<kMax>(counters, key, first * lanes, words);
  }
  if (first + 2 == vectors) return MakeSome<2>(counters, key, first * lanes, words);
  for (; first < vectors; ++first) MakeSome<1>(counters, key, first * lanes, words);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {
namespace {

void MakeWithRandom123(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  r123::Philox4x32 philox;
  for (uint32_t i = 0; i < kPhiloxBlocks; ++i) {
    const uint64_t index = counters.index + i / counters.of_case * uint64_t{counters.stride};
    const uint32_t block = counters.block + i % counters.of_case;
    const auto made = philox({{block, static_cast<uint32_t>(index),
                               static_cast<uint32_t>(index >> 32), counters.stream}},
                             {{key[0], key[1]}});
    for (int word = 0; word < 4; ++word) *words++ = made.v[word];
  }
}

}  // namespace

std::span<const PhiloxTarget> PhiloxTargets() {
  static const std::vector<PhiloxTarget> targets = [] {
    std::vector<PhiloxTarget> found;
#define MMADIFF_ADD(target) \
  if (Has##target()) found.push_back({#target, &N_##target::MakePhilox});
    MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
    found.push_back({"Random123", &MakeWithRandom123});
    return found;
  }();
  return targets;
}

void MakePhiloxBlocks(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  static const auto make = PhiloxTargets()[0].make;
  make(counters, key, words);
}

}  // namespace mmadiff
#endif
