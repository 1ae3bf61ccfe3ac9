// Compiled once for each kind of vectors: foreach_target.h includes this file again and again.
#include "fuzz/cases/philox.h"

#include <Random123/philox.h>

#include <vector>

#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuzz/cases/philox.cc"
#include <hwy/foreach_target.h>
// Behind it: this is included once for each.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A word of a block in the low half of each 64-bit lane; the high half is anything.
using Wide = hn::CappedTag<uint64_t, kPhiloxBlocks>;
using Word = hn::Vec<Wide>;

HWY_INLINE Word Times(Word x, uint32_t factor) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(Wide(), (hn::GetLane(x) & 0xffffffffu) * factor);
#else
  constexpr hn::Repartition<uint32_t, Wide> kHalves;
  return hn::MulEven(hn::BitCast(kHalves, x), hn::Set(kHalves, factor));
#endif
}

// Of the lanes' blocks, numbered from 0.
HWY_INLINE Word BlockOf(Word number, const PhiloxCounters& counters) {
  constexpr Wide kWide;
  constexpr uint64_t kOfShort = kPhiloxBlocksOfShort - 1;
  const Word own = hn::And(number, hn::Set(kWide, counters.stride == 0 ? ~0ull : kOfShort));
  return hn::Add(own, hn::Set(kWide, counters.block));
}
HWY_INLINE Word CaseOf(Word number, const PhiloxCounters& counters) {
  constexpr Wide kWide;
  const Word of_case = Times(hn::ShiftRight<2>(number), counters.stride);
  static_assert(kPhiloxBlocksOfShort == 1 << 2);
  return hn::Add(of_case, hn::Set(kWide, counters.index));
}

// Two vectors at a time: independent work that hides the latency of the rounds.
void MakePhilox(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  constexpr Wide kWide;
  const Word low_half = hn::Set(kWide, 0xffffffffu);
  const size_t lanes = hn::Lanes(kWide);
  for (size_t first = 0; first < kPhiloxBlocks; first += 2 * lanes) {
    const Word x = hn::Iota(kWide, first), y = hn::Iota(kWide, first + lanes);
    Word x0 = BlockOf(x, counters), y0 = BlockOf(y, counters);
    Word x1 = CaseOf(x, counters), y1 = CaseOf(y, counters);
    Word x2 = hn::ShiftRight<32>(x1), y2 = hn::ShiftRight<32>(y1);
    Word x3 = hn::Set(kWide, counters.stream), y3 = x3;
    Word key0 = hn::Set(kWide, key[0]), key1 = hn::Set(kWide, key[1]);
    const Word step0 = hn::Set(kWide, PHILOX_W32_0), step1 = hn::Set(kWide, PHILOX_W32_1);
    const auto round = [&](Word& w0, Word& w1, Word& w2, Word& w3) HWY_ATTR {
      const Word product0 = Times(w0, PHILOX_M4x32_0), product1 = Times(w2, PHILOX_M4x32_1);
      w0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), w1), key0);
      w1 = product1;
      w2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), w3), key1);
      w3 = product0;
    };
    for (int i = 0; i < 10; ++i) {
      round(x0, x1, x2, x3);
      round(y0, y1, y2, y3);
      key0 = hn::Add(key0,
                     step0);  // what leaves the low half stays in the high one, which is not read
      key1 = hn::Add(key1, step1);
    }
    const auto store = [&](Word w0, Word w1, Word w2, Word w3, size_t block) HWY_ATTR {
      const Word w01 = hn::Or(hn::And(w0, low_half), hn::ShiftLeft<32>(w1));
      const Word w23 = hn::Or(hn::And(w2, low_half), hn::ShiftLeft<32>(w3));
      hn::StoreInterleaved2(w01, w23, kWide, reinterpret_cast<uint64_t*>(words) + 2 * block);
    };
    store(x0, x1, x2, x3, first);
    store(y0, y1, y2, y3, first + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {
namespace {

void MakeWithRandom123(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  r123::Philox4x32 philox;
  for (int i = 0; i < kPhiloxBlocks; ++i) {
    const bool one = counters.stride == 0;
    const uint64_t index = counters.index + i / kPhiloxBlocksOfShort * uint64_t{counters.stride};
    const uint32_t block = counters.block + (one ? i : i % kPhiloxBlocksOfShort);
    const auto made = philox({{block, static_cast<uint32_t>(index),
                               static_cast<uint32_t>(index >> 32), counters.stream}},
                             {{key[0], key[1]}});
    for (int word = 0; word < 4; ++word) *words++ = made.v[word];
  }
}

std::vector<PhiloxTarget> FindPhiloxTargets() {
  std::vector<PhiloxTarget> found;
#if MMADIFF_HAS_HIGHWAY
#define MMADIFF_ADD(target) \
  if (Has##target()) found.push_back({#target, &N_##target::MakePhilox});
  MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
#endif
  found.push_back({"Random123", &MakeWithRandom123});
  return found;
}

}  // namespace

std::span<const PhiloxTarget> PhiloxTargets() {
  static const std::vector<PhiloxTarget> targets = FindPhiloxTargets();
  return targets;
}

void MakePhiloxBlocks(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words) {
  static const auto make = PhiloxTargets()[0].make;
  make(counters, key, words);
}

}  // namespace mmadiff
#endif
