// Compiled once for each kind of vectors: foreach_target.h includes this file again and again.
#include "fuzz/cases/fills.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/cases/operands.h"
#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuzz/cases/fills.cc"
#include <hwy/foreach_target.h>
// Behind it: this is included once for each.
#include <hwy/highway.h>

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

// Draws side by side, each in a lane of T.
template <class T, class Draw>
MMADIFF_LANES Lanes<T> Load(const uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR
  Draw draw;
  std::memcpy(&draw, from, sizeof draw);
  return All<T>(draw);
#else
  constexpr hn::Rebind<Draw, Tag<T>> kDraws;
  const auto draws = hn::LoadU(kDraws, reinterpret_cast<const Draw*>(from));
  if constexpr (sizeof(Draw) == sizeof(T)) {
    return draws;
  } else {
    return hn::PromoteTo(Tag<T>(), draws);
  }
#endif
}
// The next `count` draws, at most a vector of them.
template <class T, class Draw>
MMADIFF_LANES Lanes<T> Next(int count, Random& r) {
  constexpr int kSize = sizeof(Draw);
  if (Random::TwoRuns runs; r.TakeTwoRuns(kSize, count, runs)) {
    return hn::IfThenElse(hn::FirstN(Tag<T>(), runs.first), Load<T, Draw>(runs.at),
                          Load<T, Draw>(runs.rest));
  }
  Random::Run run = r.TakeRun(kSize, count);
  Lanes<T> draws = Load<T, Draw>(run.at);
  for (int have = run.count; have < count; have += run.count) {
    run = r.TakeRun(kSize, count - have);
    draws = hn::IfThenElse(hn::FirstN(Tag<T>(), have), draws, Load<T, Draw>(run.at - have * kSize));
  }
  return draws;
}

template <class T>
MMADIFF_LANES hn::Mask<Tag<T>> Has(Lanes<T> bits, uint64_t any) {
  return hn::Ne(hn::And(bits, All<T>(any)), hn::Zero(Tag<T>()));
}

// The significands of draws, by their styles: 4 to 7 keep random bits of the fraction, 1 to 3 set some.
template <class T>
MMADIFF_LANES Lanes<T> Significand(Lanes<T> bits, int fraction_bits) {
  const Lanes<T> random = hn::ShiftRight<9>(bits);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  constexpr Tag<T> kTag;
  if constexpr (hn::MaxLanes(kTag) >=
                8) {  // the table in a vector, whose indices are taken modulo its size
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

// Exponents by code 0 to 3 of a draw, each as a word and as a shift.
template <class T>
class FourExponents {
 public:
  MMADIFF_LANES explicit FourExponents(const WordRule& rule)
      : alike_(rule.exponents[0] == rule.exponents[1] && rule.exponents[0] == rule.exponents[2]),
        third_(rule, 2),
        fourth_(rule, 3) {
    if (!alike_) first_ = One(rule, 0), second_ = One(rule, 1);
  }
  // The significand at the draw's exponent.
  MMADIFF_LANES Lanes<T> Place(Lanes<T> bits, Lanes<T> significand) const {
    constexpr uint64_t kOdd = 1 << 4, kUpper = 2 << 4;
    if (alike_) {
      const auto last = hn::Eq(hn::And(bits, All<T>(kOdd | kUpper)), All<T>(kOdd | kUpper));
      return One(last, fourth_, third_).Place(significand);
    }
    const auto odd = Has<T>(bits, kOdd), upper = Has<T>(bits, kUpper);
    const One of_upper(odd, fourth_, third_), of_lower(odd, second_, first_);
    return One(upper, of_upper, of_lower).Place(significand);
  }

 private:
  struct One {
    MMADIFF_LANES One() : base(hn::Zero(Tag<T>())), shift(hn::Zero(Tag<T>())) {}
    MMADIFF_LANES One(const WordRule& rule, int code) {
      const Exponent<T> e = ExponentOf<T>(rule.format, rule.exponents[code]);
      base = All<T>(e.base), shift = All<T>(e.shift);
    }
    MMADIFF_LANES One(hn::Mask<Tag<T>> which, const One& yes, const One& no)
        : base(hn::IfThenElse(which, yes.base, no.base)),
          shift(hn::IfThenElse(which, yes.shift, no.shift)) {}
    MMADIFF_LANES Lanes<T> Place(Lanes<T> significand) const {
      return hn::Add(base, significand >> shift);
    }
    Lanes<T> base, shift;
  };
  const bool alike_;  // but the fourth
  One first_, second_, third_, fourth_;
};

// A vector of words side by side.
template <class T>
MMADIFF_LANES void Store(Lanes<T> words, uint64_t* out) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    constexpr hn::Half<Tag<T>> kHalf;
    constexpr Tag<uint64_t> kWord;
    hn::StoreU(hn::PromoteTo(kWord, hn::LowerHalf(kHalf, words)), kWord, out);
    hn::StoreU(hn::PromoteTo(kWord, hn::UpperHalf(kHalf, words)), kWord, out + hn::Lanes(kWord));
  } else {
    hn::StoreU(words, Tag<T>(), out);
  }
#else
  *out = hn::GetLane(words);
#endif
}

template <class T, class Draw>
MMADIFF_LANES void MakeOf(const WordRule& rule, int count, uint64_t* out, int stride, Random& r) {
  constexpr Tag<T> kTag;
  const int lanes = static_cast<int>(hn::Lanes(kTag));
  const FourExponents<T> exponents(rule);
  const Lanes<T> largest = All<T>(rule.largest);
  alignas(64) T words[HWY_MAX_BYTES / sizeof(T)];
  for (int i = 0; i < count; i += lanes) {
    // Sign 1, style 3, exponent 2, zero 3, fraction.
    const Lanes<T> bits = Next<T, Draw>(std::min(lanes, count - i), r);
    const Lanes<T> significand = Significand<T>(bits, rule.fraction_bits);
    Lanes<T> word = hn::Min(exponents.Place(bits, significand), largest);
    if (rule.zeros) word = hn::IfThenElseZero(Has<T>(bits, 7 << 6), word);
    word = hn::Or(hn::ShiftLeftSame(hn::And(bits, All<T>(1)), rule.sign_shift), word);
    if (rule.ignored_bits != 0) word = hn::ShiftLeftSame(word, rule.ignored_bits);
    if (stride == 1 && count - i >= lanes) {
      Store<T>(word, out);
      out += lanes;
      continue;
    }
    hn::Store(word, kTag, words);
    const int end = std::min(lanes, count - i);
    for (int lane = 0; lane < end; ++lane, out += stride) *out = words[lane];
  }
}

void Make(const WordRule& rule, int bytes, int count, uint64_t* out, int stride, Random& r) {
  switch (bytes) {
    case 2:
      return MakeOf<uint32_t, uint16_t>(rule, count, out, stride, r);
    case 4:
      return MakeOf<uint32_t, uint32_t>(rule, count, out, stride, r);
    default:
      return MakeOf<uint64_t, uint64_t>(rule, count, out, stride, r);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif  // MMADIFF_HAS_HIGHWAY

#if !MMADIFF_HAS_HIGHWAY || HWY_ONCE
namespace mmadiff {
namespace {

std::vector<FillTarget> FindFillTargets() {
  std::vector<FillTarget> found;
#if MMADIFF_HAS_HIGHWAY
#define MMADIFF_ADD(target) \
  if (Has##target()) found.push_back({#target, &N_##target::Make});
  MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
#endif
  return found;
}

}  // namespace

std::span<const FillTarget> FillTargets() {
  static const std::vector<FillTarget> targets = FindFillTargets();
  return targets;
}

MakeWords* BestFill() {
  static MakeWords* const best = FillTargets().empty() ? nullptr : FillTargets()[0].make;
  return best;
}

}  // namespace mmadiff
#endif
