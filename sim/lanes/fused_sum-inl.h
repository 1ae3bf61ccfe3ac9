// kFusedSum in lanes, as sim/fused_sum.h says it with narrow rows.
#if defined(MMADIFF_SIM_LANES_FUSED_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#undef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// -1 where the addend and the products at positions first .. end - 1 are all -0.
template <class RowA, class RowB>
MMADIFF_LANES Lanes NegativeZeros(const RowA& a, const RowB& b, int first, int end,
                                  const Operand& c) {
  Lanes all = Ones(IsZero(c)) & c.sign;
  for (int p = first; p < end; ++p) {
    const Mask zero = hn::Lt(a.Exponent(p) + b.Exponent(p), All(kNarrowZero / 2));
    all = all & Ones(zero) & (a.Sign(p) ^ b.Sign(p));
  }
  return all;
}

// The words of sums with a special term, as SumSpecials() and TwoStageSpecials(); `word` of the others.
// `largest` is that of all exponents. A is decoded with NarrowUp().
template <class RowA, class RowB>
MMADIFF_LANES Lanes SumSpecialLanes(const Model& m, Lanes largest, const RowA& a, const RowB& b,
                                    int first, int end, const Operand& c, Lanes word) {
  const bool overflows = m.algorithm.product_overflow == ProductOverflow::kInfinity;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits + NarrowUp(m);
  Lanes nan = Ones(AtLeast(largest, kLeastNarrowNan));
  const Lanes infinite = Ones(IsInfinite(c));
  Lanes minus = infinite & c.sign, plus = hn::AndNot(c.sign, infinite);
  for (int p = first; p < end; ++p) {
    const Lanes exponent = a.Exponent(p) + b.Exponent(p), sign = a.Sign(p) ^ b.Sign(p);
    Lanes special = Ones(AtLeast(exponent, kLeastNarrowSpecial));
    // Infinity times zero.
    nan = nan | (special & Ones(hn::Lt(exponent, All(kNarrowInfinity + kNarrowZero / 2))));
    if (overflows) {
      const Lanes width = BitWidth(Product(a.Magnitude(p), b.Magnitude(p)));
      const Lanes leading = exponent + width - All(1 + product_bits);
      special = special | Ones(hn::Gt(leading, All(MaxExponent(m.d))));
    }
    minus = minus | (special & sign);
    plus = plus | hn::AndNot(sign, special);
  }
  nan = nan | (minus & plus);
  const Lanes infinity = All(static_cast<int64_t>(InfinityWord(m.d, false)));
  const Lanes infinities = infinity | (minus & All(1ull << SignBit(m.d)));
  const Lanes nan_word = All(static_cast<int64_t>(DefaultNan(m.d, m.algorithm.nan_rule)));
  word = Pick(hn::Eq(minus | plus, Zero()), word, infinities);
  return Pick(hn::Eq(nan, Zero()), word, nan_word);
}

class FusedSumLanes {
 public:
  static constexpr bool kHasExponents = true;

  explicit FusedSumLanes(const Model& m)
      : m_(m),
        c_(LaneFormatOf(m.c, 0, Subnormals::kKeep, m.d)),
        d_(LaneFormatOf(m.d, 0, Subnormals::kKeep, m.d)),
        product_bits_(m.a.fraction_bits + m.b.fraction_bits),
        part_terms_(1 << (29 - std::max(product_bits_, m.algorithm.fraction_bits))),
        last_add_(m.algorithm) {
    last_add_.output_rounding = Rounding::kNearestEven;
    last_add_.output_fraction_bits = m.d.fraction_bits;
  }

  static LaneFormat FormatOfA(const Model& m) {
    return LaneFormatOf(m.a, NarrowUp(m), Subnormals::kKeep, m.d);
  }
  static LaneFormat FormatOfB(const Model& m) {
    return LaneFormatOf(m.b, 0, Subnormals::kKeep, m.d);
  }

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }

  // Rows give the operand at a position in the order of the steps by row.At(position).
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const bool last = m_.algorithm.addend_joins == AddendJoins::kLastAdd;
    const int terms = std::min(m_.algorithm.terms, m_.k);
    Lanes sum = last ? Zero() : c;
    for (int first = 0; first < m_.k; first += terms) {
      const bool own = first == 0 && !last;
      const int end = std::min(first + terms, m_.k);
      sum = Step(a, b, first, end, own ? m_.c : m_.d, DecodeLanes(own ? c_ : d_, sum));
    }
    return last ? AddLanes(m_.d, last_add_, d_, c, sum) : sum;
  }

 private:
  // The exact sum of what is cut, 32 * high + low with 0 <= low < 32, below 2^36: 32 bits hold
  // either.
  class Total {
   public:
    MMADIFF_LANES Total() : high_(Zero()), low_(Zero()) {}
    MMADIFF_LANES void Add(Lanes part) {
      high_ = high_ + hn::ShiftRight<5>(part);
      low_ = low_ + (part & All(31));
    }
    MMADIFF_LANES void Carry() {
      high_ = high_ + hn::ShiftRight<5>(low_);
      low_ = low_ & All(31);
    }
    MMADIFF_LANES Mask IsZero() const { return hn::Eq(high_ | low_, Zero()); }
    MMADIFF_LANES Lanes sign() const { return hn::BroadcastSignBit(high_); }
    // The magnitude in units of 2^lsb. Where it has more than 30 bits, in units 32 times as large, and
    // the last of its 26 or more bits says whether there is something left.
    MMADIFF_LANES Lanes Magnitude(Lanes& lsb) const {
      const Mask more = hn::Ne(low_, Zero());
      const Lanes all = WithSign(Up(high_, 5) | low_, sign());
      // -(32 * high + low) is 32 * (-high - 1) + (32 - low).
      const Lanes down = high_ ^ sign();
      const Lanes jammed = Pick(more, down | All(1), WithSign(high_, sign()));
      const Mask fits = hn::Lt(down, All(1 << 25));
      lsb = lsb + hn::IfThenZeroElse(fits, All(5));
      return Pick(fits, all, jammed);
    }

   private:
    Lanes high_, low_;
  };

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Step(const RowA& a, const RowB& b, int first, int end, const Format& c_format,
                           const Operand& c) const {
    const Algorithm& alg = m_.algorithm;
    Lanes align = hn::Max(All(alg.exponent_floor), AddendExponentLanes(m_, c_format, c));
    for (int p = first; p < end; ++p) {
      align = hn::Max(align, a.Exponent(p) + b.Exponent(p));
    }
    Total total;
    const Lanes product_align = align + All(std::max(product_bits_ - alg.fraction_bits, 0));
    for (int p = first; p < end;) {
      Lanes part = Zero();
      for (const int stop = std::min(p + part_terms_, end); p < stop; ++p) {
        const Lanes down = AtMostAll(product_align - (a.Exponent(p) + b.Exponent(p)));
        const Lanes term = Down(a.Magnitude(p) * b.Magnitude(p), down);
        part = part + WithSign(term, a.Sign(p) ^ b.Sign(p));
      }
      total.Add(part);
    }
    // The addend: no bit above those of the alignment, so that 31 bits hold it.
    const Lanes addend_down = align - All(alg.fraction_bits - c_format.fraction_bits) - c.exponent;
    const Lanes addend =
        Down(Up(c.magnitude, Between0AndAll(Zero() - addend_down)), Between0AndAll(addend_down));
    total.Add(WithSign(hn::IfThenZeroElse(IsZero(c), addend), c.sign));
    total.Carry();
    Lanes lsb = align - All(alg.fraction_bits);
    Lanes sign = total.sign();
    const Mask zero = total.IsZero();
    if (alg.zero_sign == ZeroSign::kIeee && !None(zero)) {
      sign = Pick(zero, NegativeZeros(a, b, first, end, c), sign);
    }
    const Lanes magnitude = total.Magnitude(lsb);
    const Lanes word = RoundSumLanes(m_, sign, magnitude, lsb);
    if (None(AtLeast(align, kLeastNarrowSpecial))) return word;
    return SumSpecialLanes(m_, align, a, b, first, end, c, word);
  }

  const Model m_;
  const LaneFormat c_, d_;
  const int product_bits_;
  const int part_terms_;  // products whose sum 32 bits hold
  Algorithm last_add_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
