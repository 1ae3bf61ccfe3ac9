// Compiled once for each kind of vectors: foreach_target.h includes this file again and again.
#include "fuzz/cases/fills.h"

#include <algorithm>
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

// The next draws, each in a lane of T.
template <class T, class Draw>
MMADIFF_LANES Lanes<T> Load(const Draw* from) {
  if constexpr (sizeof(Draw) == sizeof(T)) {
    return hn::LoadU(Tag<T>(), from);
  } else {
    return hn::PromoteTo(Tag<T>(), hn::LoadU(hn::Rebind<Draw, Tag<T>>(), from));
  }
}

template <class T>
MMADIFF_LANES hn::Mask<Tag<T>> Has(Lanes<T> bits, uint64_t any) {
  return hn::Ne(hn::And(bits, All<T>(any)), hn::Zero(Tag<T>()));
}

// The fractions of draws, by their styles: 4 to 7 keep random bits, 1 to 3 set some.
template <class T>
MMADIFF_LANES Lanes<T> Fraction(Lanes<T> bits, int fraction_bits) {
  const Lanes<T> random = hn::ShiftRight<9>(bits);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  constexpr Tag<T> kTag;
  if constexpr (hn::MaxLanes(kTag) >= 8) {  // the table in a vector
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
  return hn::Or(hn::And(random, keep), set);
}

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
MMADIFF_LANES void MakeOf(const WordRule& rule, const void* draws, int count, uint64_t* out,
                          int stride) {
  constexpr Tag<T> kTag;
  constexpr hn::RebindToSigned<Tag<T>> kSigned;
  const int lanes = static_cast<int>(hn::Lanes(kTag));
  const auto lowest = hn::Set(kSigned, rule.lowest), highest = hn::Set(kSigned, rule.highest),
             least_normal = hn::Set(kSigned, rule.min_exponent);
  const auto e0 = hn::Set(kSigned, rule.exponents[0]), e1 = hn::Set(kSigned, rule.exponents[1]),
             e2 = hn::Set(kSigned, rule.exponents[2]), e3 = hn::Set(kSigned, rule.exponents[3]);
  const Lanes<T> hidden = All<T>(uint64_t{1} << rule.fraction_bits),
                 zero_code = All<T>(rule.zeros ? 0 : ~0u), largest = All<T>(rule.largest);
  alignas(64) T words[HWY_MAX_BYTES / sizeof(T)];
  for (int i = 0; i < count; i += lanes) {
    // Sign 1, style 3, exponent 2, zero 3, fraction.
    const Lanes<T> bits = Load<T>(static_cast<const Draw*>(draws) + i);
    const auto odd = hn::RebindMask(kSigned, Has<T>(bits, 1 << 4)),
               upper = hn::RebindMask(kSigned, Has<T>(bits, 2 << 4));
    auto exponent = hn::IfThenElse(upper, hn::IfThenElse(odd, e3, e2), hn::IfThenElse(odd, e1, e0));
    exponent = hn::Min(hn::Max(exponent, lowest), highest);
    const auto normal = hn::Max(exponent, least_normal);
    const Lanes<T> base =
        hn::ShiftLeftSame(hn::BitCast(kTag, hn::Sub(normal, least_normal)), rule.fraction_bits);
    const Lanes<T> shift = hn::BitCast(kTag, hn::Sub(normal, exponent));
    const Lanes<T> significand = hn::Or(Fraction<T>(bits, rule.fraction_bits), hidden) >> shift;
    const Lanes<T> magnitude = hn::Min(hn::Add(base, significand), largest);
    const auto zero = hn::Eq(hn::And(bits, All<T>(7 << 6)), zero_code);
    const Lanes<T> sign = hn::ShiftLeftSame(hn::And(bits, All<T>(1)), rule.sign_shift);
    const Lanes<T> word = hn::Or(sign, hn::IfThenZeroElse(zero, magnitude));
    const Lanes<T> placed = hn::ShiftLeftSame(word, rule.ignored_bits);
    if (stride == 1 && count - i >= lanes) {
      Store<T>(placed, out);
      out += lanes;
      continue;
    }
    hn::Store(placed, kTag, words);
    const int end = std::min(lanes, count - i);
    for (int lane = 0; lane < end; ++lane, out += stride) *out = words[lane];
  }
}

void Make(const WordRule& rule, const void* draws, int bytes, int count, uint64_t* out,
          int stride) {
  switch (bytes) {
    case 2:
      return MakeOf<uint32_t, uint16_t>(rule, draws, count, out, stride);
    case 4:
      return MakeOf<uint32_t, uint32_t>(rule, draws, count, out, stride);
    default:
      return MakeOf<uint64_t, uint64_t>(rule, draws, count, out, stride);
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
