// Compiled once per vector target: foreach_target.h includes this file repeatedly.
#include "corpus/cases/fills.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "corpus/cases/operands.h"
#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corpus/cases/fills.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h: this header is included once per target.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // no vectors

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Lanes = hn::Vec<Tag<T>>;

template <class T>
MMADIFF_LANES Lanes<T> All(uint64_t x) {
  return hn::Set(Tag<T>(), static_cast<T>(x));
}

// A tag and a vector for as many draws as a vector of T has lanes.
template <class T, class Draw>
using DrawTag = hn::Rebind<Draw, Tag<T>>;
template <class T, class Draw>
using Draws = hn::Vec<DrawTag<T, Draw>>;

template <class T, class Draw>
MMADIFF_LANES Draws<T, Draw> LoadDraws(const uint8_t* from) {
  return hn::LoadU(DrawTag<T, Draw>(), reinterpret_cast<const Draw*>(from));
}
// Widens each draw to a lane of T.
template <class T, class Draw>
MMADIFF_LANES Lanes<T> Widened(Draws<T, Draw> draws) {
  if constexpr (sizeof(Draw) == sizeof(T)) {
    return draws;
  } else if constexpr (sizeof(T) == 8 && sizeof(Draw) < 4) {
    return hn::PromoteTo(Tag<T>(), hn::PromoteTo(DrawTag<T, uint32_t>(), draws));
  } else {
    return hn::PromoteTo(Tag<T>(), draws);
  }
}
// Takes the next `count` draws, at most one vector.
template <class T, class Draw>
MMADIFF_LANES Lanes<T> Next(int count, Random& r) {
  constexpr int kSize = sizeof(Draw);
  constexpr DrawTag<T, Draw> kDraws;
  const auto join = [&](int have, Draws<T, Draw> draws, const uint8_t* rest) {
    return hn::IfThenElse(hn::FirstN(kDraws, have), draws, LoadDraws<T, Draw>(rest));
  };
  if (Random::TwoRuns runs; r.TakeTwoRuns(kSize, count, runs)) {
    return Widened<T, Draw>(join(runs.first, LoadDraws<T, Draw>(runs.at), runs.rest));
  }
  Random::Run run = r.TakeRun(kSize, count);
  Draws<T, Draw> draws = LoadDraws<T, Draw>(run.at);
  for (int have = run.count; have < count; have += run.count) {
    run = r.TakeRun(kSize, count - have);
    draws = join(have, draws, run.at - have * kSize);
  }
  return Widened<T, Draw>(draws);
}

template <class T>
MMADIFF_LANES hn::Mask<Tag<T>> Has(Lanes<T> bits, uint64_t any) {
  return hn::Ne(hn::And(bits, All<T>(any)), hn::Zero(Tag<T>()));
}

// The significands of draws by style: styles 4 to 7 keep random fraction bits, 1 to 3 set some
// bits.
template <class T>
MMADIFF_LANES Lanes<T> Significand(Lanes<T> bits, int fraction_bits) {
  const Lanes<T> random = hn::ShiftRight<9>(bits);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  constexpr Tag<T> kTag;
  if constexpr (hn::MaxLanes(kTag) >=
                8) {  // the table fits in a vector; indices are taken modulo its size
    const Styles<T>& styles = kStyles<T>[fraction_bits];
    const auto style = hn::IndicesFromVec(kTag, hn::And(hn::ShiftRight<1>(bits), All<T>(7)));
    const Lanes<T> keep = hn::TableLookupLanes(hn::Load(kTag, styles.keep), style);
    return hn::Or(hn::And(random, keep), hn::TableLookupLanes(hn::Load(kTag, styles.set), style));
  }
#endif
  const uint64_t one = uint64_t{1} << fraction_bits;
  const Lanes<T> ones = All<T>(one - 1), some = All<T>((one - 1) & 0x5555555555555555);
  const auto style = hn::And(bits, All<T>(7 << 1));
  Lanes<T> keep = hn::IfThenElse(hn::Eq(style, All<T>(4 << 1)), some, ones);
  keep = hn::IfThenElseZero(Has<T>(bits, 4 << 1), keep);
  Lanes<T> set = hn::IfThenElseZero(hn::Eq(style, All<T>(1 << 1)), ones);
  set = hn::IfThenElse(hn::Eq(style, All<T>(2 << 1)), All<T>(1), set);
  set = hn::IfThenElse(hn::Eq(style, All<T>(3 << 1)), All<T>(one / 2), set);
  return hn::Or(hn::And(random, keep), hn::Or(set, All<T>(one)));
}

// An exponent as a word and as a shift of significands, both relative to the format.
template <class T>
struct At {
  MMADIFF_LANES At() : base(hn::Zero(Tag<T>())), shift(hn::Zero(Tag<T>())) {}
  MMADIFF_LANES At(const WordFormat& f, int exponent) {
    exponent = std::max(f.lowest, std::min(exponent, f.highest));
    const int normal = std::max(exponent, f.min_exponent);
    base = All<T>(static_cast<uint64_t>(normal - f.min_exponent) << f.fraction_bits);
    shift = All<T>(normal - exponent);
  }
  MMADIFF_LANES At(hn::Mask<Tag<T>> which, const At& yes, const At& no)
      : base(hn::IfThenElse(which, yes.base, no.base)),
        shift(hn::IfThenElse(which, yes.shift, no.shift)) {}
  Lanes<T> base, shift;
};

// Selects by code 0 to 3 of a draw.
template <class T>
class FourExponents {
 public:
  MMADIFF_LANES FourExponents(const WordFormat& f, const int (&exponents)[4])
      : alike_(exponents[0] == exponents[1] && exponents[0] == exponents[2]),
        third_(f, exponents[2]),
        fourth_(f, exponents[3]) {
    if (!alike_) first_ = At<T>(f, exponents[0]), second_ = At<T>(f, exponents[1]);
  }
  MMADIFF_LANES At<T> Of(Lanes<T> bits) const {
    constexpr uint64_t kOdd = 1 << 4, kUpper = 2 << 4;
    if (alike_) {
      const auto last = hn::Eq(hn::And(bits, All<T>(kOdd | kUpper)), All<T>(kOdd | kUpper));
      return At<T>(last, fourth_, third_);
    }
    const auto odd = Has<T>(bits, kOdd), upper = Has<T>(bits, kUpper);
    return At<T>(upper, At<T>(odd, fourth_, third_), At<T>(odd, second_, first_));
  }

 private:
  const bool alike_;  // all except the fourth
  At<T> first_, second_, third_, fourth_;
};

// Bits of a draw: sign 1, style 3, exponent 2, zero 3, fraction.
template <class T>
MMADIFF_LANES Lanes<T> Composed(const WordFormat& f, Lanes<T> bits, const At<T>& at, bool zeros) {
  const Lanes<T> significand = Significand<T>(bits, f.fraction_bits);
  Lanes<T> word = hn::Min(hn::Add(at.base, significand >> at.shift), All<T>(f.largest));
  if (zeros) word = hn::IfThenElseZero(Has<T>(bits, 7 << 6), word);
  const Lanes<T> sign = hn::And(bits, All<T>(1));
  word = hn::Or(hn::ShiftLeftSame(sign, f.sign_bit - f.ignored_bits), word);
  return f.ignored_bits == 0 ? word : hn::ShiftLeftSame(word, f.ignored_bits);
}

// Stores a vector of adjacent words.
template <class T>
MMADIFF_LANES void Store(Lanes<T> words, uint64_t* out) {
  if constexpr (sizeof(T) == 4) {
    constexpr hn::Half<Tag<T>> kHalf;
    constexpr Tag<uint64_t> kWord;
    hn::StoreU(hn::PromoteTo(kWord, hn::LowerHalf(kHalf, words)), kWord, out);
    hn::StoreU(hn::PromoteTo(kWord, hn::UpperHalf(kHalf, words)), kWord, out + hn::Lanes(kWord));
  } else {
    hn::StoreU(words, Tag<T>(), out);
  }
}

// Stores words that are not adjacent.
#if HWY_ARCH_X86
template <class Some>
MMADIFF_LANES void SpreadAll(Some some, hn::Vec<Some> words, uint64_t* out, int64_t stride) {
  if constexpr (hn::MaxLanes(some) == 2) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), words.raw);
    _mm_storeh_pd(reinterpret_cast<double*>(out + stride), _mm_castsi128_pd(words.raw));
  } else {
    constexpr hn::Half<Some> kHalf;
    SpreadAll(kHalf, hn::LowerHalf(kHalf, words), out, stride);
    out += static_cast<int64_t>(hn::MaxLanes(kHalf)) * stride;
    SpreadAll(kHalf, hn::UpperHalf(kHalf, words), out, stride);
  }
}
template <class Some>
MMADIFF_LANES void SpreadWords(Some some, hn::Vec<Some> words, uint64_t* out, int64_t stride) {
  if constexpr (sizeof(hn::TFromD<Some>) == 8) {
    SpreadAll(some, words, out, stride);
  } else if constexpr (hn::MaxLanes(some) == 4) {
    constexpr hn::Repartition<uint64_t, Some> kWord;
    const auto zero = hn::Zero(some);
    SpreadAll(kWord, hn::BitCast(kWord, hn::InterleaveLower(some, words, zero)), out, stride);
    SpreadAll(kWord, hn::BitCast(kWord, hn::InterleaveUpper(some, words, zero)), out + 2 * stride,
              stride);
  } else {
    constexpr hn::Half<Some> kHalf;
    constexpr hn::Repartition<uint64_t, Some> kWord;
    SpreadAll(kWord, hn::PromoteTo(kWord, hn::LowerHalf(kHalf, words)), out, stride);
    out += static_cast<int64_t>(hn::MaxLanes(kHalf)) * stride;
    SpreadAll(kWord, hn::PromoteTo(kWord, hn::UpperHalf(kHalf, words)), out, stride);
  }
}
constexpr bool kSpreads = true;
#else
template <class Some>
MMADIFF_LANES void SpreadWords(Some, hn::Vec<Some>, uint64_t*, int64_t) {}
constexpr bool kSpreads = false;
#endif
template <class T>
MMADIFF_LANES void Spread(Lanes<T> words, int count, uint64_t* out, int64_t stride) {
  constexpr Tag<T> kTag;
  constexpr int kLanes = hn::MaxLanes(kTag);
  if (kSpreads && count == kLanes) return SpreadWords(kTag, words, out, stride);
  if constexpr (kSpreads && kLanes >= 8) {
    constexpr hn::Half<Tag<T>> kHalf;
    if (count == kLanes / 2) return SpreadWords(kHalf, hn::LowerHalf(kHalf, words), out, stride);
  }
  alignas(64) T word[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(words, kTag, word);
  for (int i = 0; i < count; ++i, out += stride) *out = word[i];
}

template <class T>
MMADIFF_LANES void StoreApart(Lanes<T> words, int count, uint64_t* out, int64_t stride) {
  const bool whole = count == static_cast<int>(hn::Lanes(Tag<T>()));
  stride == 1 && whole ? Store<T>(words, out) : Spread<T>(words, count, out, stride);
}

// Makes words from exponents.Of(draw).
template <class T, class Draw, class Exponents>
MMADIFF_LANES void MakeOf(const WordFormat& f, const Exponents& exponents, bool zeros, int count,
                          uint64_t* out, int64_t stride, Random& r) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  for (int i = 0; i < count; i += lanes, out += lanes * stride) {
    const int some = std::min(lanes, count - i);
    const Lanes<T> bits = Next<T, Draw>(some, r);
    StoreApart<T>(Composed<T>(f, bits, exponents.Of(bits), zeros), some, out, stride);
  }
}

void Make(const WordFormat& f, const int (&exponents)[4], bool zeros, int count, uint64_t* out,
          int stride, Random& r) {
  const auto make = [&](auto word, auto draw) {
    using T = decltype(word);
    MakeOf<T, decltype(draw)>(f, FourExponents<T>(f, exponents), zeros, count, out, stride, r);
  };
  f.draw_bits == 16   ? make(uint32_t(), uint16_t())
  : f.draw_bits == 32 ? make(uint32_t(), uint32_t())
                      : make(uint64_t(), uint64_t());
}

template <class T>
struct NearExponents {
  MMADIFF_LANES At<T> Of(Lanes<T> bits) const {
    const Lanes<T> fourth = All<T>(3 << 4);
    return At<T>(hn::Eq(hn::And(bits, fourth), fourth), low, high);
  }
  At<T> high, low;
};

void MakeNear(const WordFormat& f, int exponent, int count, uint64_t* out, int stride, Random& r) {
  const auto make = [&](auto word, auto draw) {
    using T = decltype(word);
    const NearExponents<T> exponents = {At<T>(f, exponent), At<T>(f, exponent - 1)};
    MakeOf<T, decltype(draw)>(f, exponents, false, count, out, stride, r);
  };
  f.draw_bits == 16   ? make(uint32_t(), uint16_t())
  : f.draw_bits == 32 ? make(uint32_t(), uint32_t())
                      : make(uint64_t(), uint64_t());
}

template <class T>
MMADIFF_LANES void MakeSignedOf(uint64_t word, uint64_t sign, int count, uint64_t* out, int stride,
                                Random& r) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  for (int i = 0; i < count; i += lanes, out += lanes * stride) {
    const int some = std::min(lanes, count - i);
    const Lanes<T> negative = hn::And(Next<T, uint8_t>(some, r), All<T>(1));
    const Lanes<T> signs = hn::And(hn::Sub(hn::Zero(Tag<T>()), negative), All<T>(sign));
    const Lanes<T> words = hn::Or(All<T>(word), signs);
    StoreApart<T>(words, some, out, stride);
  }
}

void MakeSigned(uint64_t word, uint64_t sign, bool wide, int count, uint64_t* out, int stride,
                Random& r) {
  wide ? MakeSignedOf<uint64_t>(word, sign, count, out, stride, r)
       : MakeSignedOf<uint32_t>(word, sign, count, out, stride, r);
}

// Makes the same words as RandomWords.
template <class Draw>
MMADIFF_LANES bool MakeAnyOf(const WordFormat& f, int count, uint64_t* out, Random& r) {
#if HWY_TARGET == HWY_AVX3  // can permute pairs of bytes freely
  using T = uint32_t;
  constexpr Tag<T> kTag;
  constexpr Tag<uint8_t> kByte;
  constexpr int kPair = 2 + sizeof(Draw);
  Random::Pairs pairs;
  if (!r.TakePairs(kPair, count, pairs)) return false;
  const auto bytes = hn::IfThenElse(hn::FirstN(kByte, pairs.first), hn::LoadU(kByte, pairs.at),
                                    hn::LoadU(kByte, pairs.rest));
  const Lanes<T> first = hn::Mul(hn::Iota(kTag, 0), All<T>(kPair / 2 * 0x10001));
  const auto halves = [&](uint32_t from) {  // the bytes after the first of each pair, in its lane
    const Lanes<T> which = hn::Add(first, All<T>(from));
    return Lanes<T>{_mm512_permutexvar_epi16(which.raw, bytes.raw)};
  };
  const Lanes<T> draw = hn::And(halves(0), All<T>(0xffff)),
                 least = All<T>(f.min_exponent - f.lowest);
  // Exponents relative to the lowest.
  const Lanes<T> exponent = hn::ShiftRight<16>(hn::Mul(draw, All<T>(f.highest - f.lowest + 1)));
  const Lanes<T> normal = hn::Max(exponent, least);
  At<T> at;
  at.base = hn::ShiftLeftSame(hn::Sub(normal, least), f.fraction_bits);
  at.shift = hn::Sub(normal, exponent);
  const Lanes<T> bits = hn::And(halves(0x20001), All<T>(static_cast<Draw>(~uint64_t{0})));
  Store<T>(Composed<T>(f, bits, at, false), out);
  return true;
#else
  (void)f, (void)count, (void)out, (void)r;
  return false;
#endif
}

bool MakeAny(const WordFormat& f, int count, uint64_t* out, Random& r) {
  switch (f.draw_bits) {
    case 16:
      return MakeAnyOf<uint16_t>(f, count, out, r);
    case 32:
      return MakeAnyOf<uint32_t>(f, count, out, r);
  }
  return false;
}

template <class Draw>
MMADIFF_LANES void MakeBitsOf(int bits, int count, uint64_t* out, Random& r) {
  constexpr int kSome = 64, kDraw = sizeof(Draw);
  Draw draws[kSome + Random::kBytes / kDraw];
  const int lanes = static_cast<int>(hn::Lanes(Tag<uint64_t>()));
  const auto keep = All<uint64_t>(LowBits(bits));
  for (; count > 0; count -= kSome) {
    const int some = std::min(count, kSome);
    r.Draw(draws, some);
    int i = 0;
    for (; i + lanes <= some; i += lanes, out += lanes) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(draws + i);
      const auto words = Widened<uint64_t, Draw>(LoadDraws<uint64_t, Draw>(bytes));
      hn::StoreU(hn::And(words, keep), Tag<uint64_t>(), out);
    }
    for (; i < some; ++i) *out++ = draws[i] & LowBits(bits);
  }
}

void MakeBits(int bits, int count, uint64_t* out, Random& r) {
  switch ((bits + 7) / 8) {
    case 1:
      return MakeBitsOf<uint8_t>(bits, count, out, r);
    case 2:
      return MakeBitsOf<uint16_t>(bits, count, out, r);
    case 4:
      return MakeBitsOf<uint32_t>(bits, count, out, r);
    case 8:
      return MakeBitsOf<uint64_t>(bits, count, out, r);
  }
  for (; count > 0; --count) *out++ = r.Bits(bits);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {

std::span<const FillTarget> FillTargets() {
  static const std::vector<FillTarget> targets = [] {
    std::vector<FillTarget> found;
#define MMADIFF_ADD(target)                                                                      \
  if (Has##target())                                                                             \
    found.push_back({#target, &N_##target::Make, &N_##target::MakeNear, &N_##target::MakeSigned, \
                     &N_##target::MakeAny, &N_##target::MakeBits});
    MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
    return found;
  }();
  return targets;
}

const FillTarget* BestFill() {
  static const FillTarget* const best = FillTargets().empty() ? nullptr : &FillTargets()[0];
  return best;
}

}  // namespace mmadiff
#endif
