// Compiled once per vector instruction set: foreach_target.h includes this file repeatedly.
#include "fuzz/unit/digest_sum.h"

#include <vector>

#include "fuzz/unit/digest.h"
#include "sim/lanes/vectors.h"

#ifndef MMADIFF_SUM_ONE_BY_ONE
#define MMADIFF_SUM_ONE_BY_ONE
namespace mmadiff {

static unsigned __int128 SumOneByOne(std::span<const uint64_t> words, uint64_t first,
                                     const NanTest& nan) {
  unsigned __int128 sum = 0;
  for (const uint64_t word : words) sum += HashOfResult(nan(word) ? ~uint64_t{0} : word, first++);
  return sum;
}

}  // namespace mmadiff
#endif

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuzz/unit/digest_sum.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: this is included once per instruction set.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // none

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<uint64_t>;
using Bytes = hn::Repartition<uint8_t, Wide>;
using Word = hn::Vec<Wide>;
constexpr Wide kWide;
constexpr Bytes kBytes;

HWY_INLINE Word All(uint64_t x) { return hn::Set(kWide, x); }
HWY_INLINE Word LowHalf(Word x) { return hn::And(x, All(0xffffffff)); }
HWY_INLINE Word HighHalf(Word x) { return hn::ShiftRight<32>(x); }
// Product of the low halves.
HWY_INLINE Word Times(Word x, uint64_t y) {
  constexpr hn::Repartition<uint32_t, Wide> kHalves;
  return hn::MulEven(hn::BitCast(kHalves, x), hn::BitCast(kHalves, All(y)));
}
// Modulo 2^64.
HWY_INLINE Word TimesModulo(Word x, uint64_t y) {
#if HWY_TARGET == HWY_AVX3
  return x * All(y);
#else
  const Word middle = hn::Add(Times(HighHalf(x), y), Times(x, y >> 32));
  return hn::Add(Times(x, y), hn::ShiftLeft<32>(middle));
#endif
}

// HashOfResult() of a vector of words and the numbers of their dot products.
HWY_INLINE void Hash(Word word, Word number, Word swap, Word& lo, Word& hi) {
  const Word swapped = hn::BitCast(
      kWide, hn::TableLookupBytesOr0(hn::BitCast(kBytes, number), hn::BitCast(kBytes, swap)));
  const Word keyed = hn::Xor(word, hn::Add(All(kDigestSecret), hn::Xor(number, swapped)));
  const Word low = Times(keyed, kDigestPrime), high = HighHalf(keyed);
  const Word middle = hn::Add(Times(high, kDigestPrime), HighHalf(low));
  const Word middle2 = hn::Add(Times(keyed, kDigestPrime >> 32), LowHalf(middle));
  hi = hn::Add(hn::Add(Times(high, kDigestPrime >> 32), HighHalf(middle)), HighHalf(middle2));
  lo = hn::Or(hn::ShiftLeft<32>(middle2), LowHalf(low));
  hi = hn::Add(hi, hn::Add(lo, lo));
  lo = hn::Xor(lo, hn::ShiftRight<3>(hi));
  lo = TimesModulo(hn::Xor(lo, hn::ShiftRight<35>(lo)), kDigestMix1);
  lo = hn::Xor(lo, hn::ShiftRight<28>(lo));
  hi = TimesModulo(hn::Xor(hi, hn::ShiftRight<37>(hi)), kDigestMix2);
  hi = hn::Xor(hi, HighHalf(hi));
}

// Like NanTest.
HWY_INLINE Word Compared(Word word, const NanTest& nan) {
  constexpr hn::Repartition<int64_t, Wide> kSigned;
  const Word tested = hn::Xor(hn::And(word, All(nan.mask)), All(nan.flip));
  const auto is_nan = hn::Gt(hn::BitCast(kSigned, tested), hn::BitCast(kSigned, All(nan.above)));
  return hn::Or(word, hn::BitCast(kWide, hn::VecFromMask(kSigned, is_nan)));
}

// The halves of hashes are summed separately, and `lo` again in halves, so that no carry is lost
// before 2^32 vectors.
template <bool kAnyNan>
unsigned __int128 SumInVectors(std::span<const uint64_t> words, uint64_t first,
                               const NanTest& nan) {
  const size_t lanes = hn::Lanes(kWide), whole = words.size() / lanes * lanes;
  // The low four bytes of a lane, reversed, become its high ones.
  HWY_ALIGN static constexpr uint64_t kSwap[2] = {0x0001020380808080, 0x08090a0b80808080};
  const Word swap = hn::LoadDup128(kWide, kSwap);
  Word low = hn::Zero(kWide), middle = low, high = low;
  Word number = hn::Add(All(first), hn::Iota(kWide, 0));
  for (size_t i = 0; i < whole; i += lanes) {
    Word lo, hi;
    Word word = hn::LoadU(kWide, &words[i]);
    if (kAnyNan) word = Compared(word, nan);
    Hash(word, number, swap, lo, hi);
    low = hn::Add(low, LowHalf(lo));
    middle = hn::Add(middle, HighHalf(lo));
    high = hn::Add(high, hi);
    number = hn::Add(number, All(lanes));
  }
  HWY_ALIGN uint64_t lows[HWY_MAX_BYTES / 8], middles[HWY_MAX_BYTES / 8], highs[HWY_MAX_BYTES / 8];
  hn::Store(low, kWide, lows);
  hn::Store(middle, kWide, middles);
  hn::Store(high, kWide, highs);
  unsigned __int128 sum = 0;
  for (size_t i = 0; i < lanes; ++i) {
    sum += (static_cast<unsigned __int128>(highs[i]) << 64) +
           (static_cast<unsigned __int128>(middles[i]) << 32) + lows[i];
  }
  return sum + SumOneByOne(words.subspan(whole), first + whole, nan);
}
unsigned __int128 SumOfHashes(std::span<const uint64_t> words, uint64_t first, const NanTest& nan) {
  return nan.mask == 0 ? SumInVectors<false>(words, first, nan)
                       : SumInVectors<true>(words, first, nan);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {

std::span<const HashTarget> HashTargets() {
  static const std::vector<HashTarget> targets = [] {
    std::vector<HashTarget> found;
#define MMADIFF_ADD(target) \
  if (Has##target()) found.push_back({#target, &N_##target::SumOfHashes});
    MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
    found.push_back({"one by one", &SumOneByOne});
    return found;
  }();
  return targets;
}

unsigned __int128 SumOfHashes(std::span<const uint64_t> words, uint64_t first, const NanTest& nan) {
  static const auto sum = HashTargets()[0].sum;
  return sum(words, first, nan);
}

// Above the largest magnitude that is not a NaN. For formats whose only NaN is -0, words are
// flipped so that -0 becomes all ones.
NanTest::NanTest(const Format& f) {
  if (IsInteger(f) || f.nonfinite == Nonfinite::kNone) return;
  const uint64_t one = 1ull << f.ignored_bits;
  mask = LowBits(f.exponent_bits + f.fraction_bits) << f.ignored_bits;
  if (f.nonfinite == Nonfinite::kIeeeAllBits) mask |= one - 1;
  above = HasInfinity(f) ? InfinityWord(f, false) : mask - one;
  if (f.nonfinite != Nonfinite::kNanMinusZero) return;
  flip = mask;
  mask |= 1ull << SignBit(f);
  above = mask - one;
}

}  // namespace mmadiff
#endif
