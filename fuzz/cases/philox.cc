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

void MakePhilox(const uint32_t counter[4], const uint32_t key[2], uint32_t* words) {
  constexpr Wide kWide;
  const Word low_half = hn::Set(kWide, 0xffffffffu);
  for (size_t first = 0; first < kPhiloxBlocks; first += hn::Lanes(kWide)) {
    Word x0 = hn::Add(hn::Iota(kWide, first), hn::Set(kWide, counter[0]));
    Word x1 = hn::Set(kWide, counter[1]), x2 = hn::Set(kWide, counter[2]),
         x3 = hn::Set(kWide, counter[3]);
    uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const Word product0 = Times(x0, PHILOX_M4x32_0), product1 = Times(x2, PHILOX_M4x32_1);
      x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), x1), hn::Set(kWide, key0));
      x1 = product1;
      x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), x3), hn::Set(kWide, key1));
      x3 = product0;
      key0 += PHILOX_W32_0;
      key1 += PHILOX_W32_1;
    }
    const Word x01 = hn::Or(hn::And(x0, low_half), hn::ShiftLeft<32>(x1));
    const Word x23 = hn::Or(hn::And(x2, low_half), hn::ShiftLeft<32>(x3));
    hn::StoreInterleaved2(x01, x23, kWide, reinterpret_cast<uint64_t*>(words) + 2 * first);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {
namespace {

void MakeWithRandom123(const uint32_t counter[4], const uint32_t key[2], uint32_t* words) {
  r123::Philox4x32 philox;
  r123::Philox4x32::ctr_type x = {{counter[0], counter[1], counter[2], counter[3]}};
  for (int i = 0; i < kPhiloxBlocks; ++i, ++x[0]) {
    const auto block = philox(x, {{key[0], key[1]}});
    for (int word = 0; word < 4; ++word) *words++ = block.v[word];
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

void MakePhiloxBlocks(const uint32_t counter[4], const uint32_t key[2], uint32_t* words) {
  static const auto make = PhiloxTargets()[0].make;
  make(counter, key, words);
}

}  // namespace mmadiff
#endif
