// kFmaChain in lanes, as sim/fma_chain.h says it.
#if defined(MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#undef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#else
#define MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#endif

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// Products that AddToOddLanes() takes.
struct ShortProducts {
  static constexpr bool kTwoColumns = false;  // too little is gained

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }
  static MMADIFF_LANES Sum Add(const Model& m, const Operand& a, const Operand& b,
                               const Operand& c) {
    const Lanes product_bits = All(m.a.fraction_bits + m.b.fraction_bits);
    return AddToOddLanes(a.sign ^ b.sign, Product(a.magnitude, b.magnitude),
                         a.exponent + b.exponent - product_bits, c.sign, c.magnitude,
                         c.exponent - All(m.d.fraction_bits));
  }
};

#if defined(MMADIFF_WIDE_LANES)
// Products of operands of 53 bits, in two limbs of 62 bits. Operands have their leading one at bit 53, and
// so products two zeros at their end: room for the sticky bit of an addend.
struct LongProducts {
  static constexpr bool kTwoColumns = true;
  static constexpr int kDigits = 54, kLimb = 62, kHalf = kLimb / 2;

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    Operand x = DecodeLanes(f, word);
    // A zero and what is not finite keep their exponents.
    const Lanes up = hn::Max(All(kDigits) - BitWidth(x.magnitude), Zero());
    const Mask finite =
        hn::And(AtLeast(x.exponent, kNarrowZero / 2), hn::Lt(x.exponent, All(kLeastNarrowSpecial)));
    x.magnitude = Pick(finite, Up(x.magnitude, up), x.magnitude);
    x.exponent = x.exponent + hn::IfThenElseZero(finite, All(kDigits - 1 - f.fraction_bits) - up);
    return x;
  }

  // high * 2^kLimb + low.
  struct Long {
    Lanes high, low;
  };

  static MMADIFF_LANES Lanes Below(int bits, Lanes x) { return x & All((1ll << bits) - 1); }
  // Brings the low limb to 0 .. 2^kLimb - 1.
  static MMADIFF_LANES Long Carried(Lanes high, Lanes low) {
    return {high + hn::ShiftRight<kLimb>(low), Below(kLimb, low)};
  }
  static MMADIFF_LANES Lanes Sticky(Mask lost) { return Ones(lost) & All(1); }

  static MMADIFF_LANES Long Multiplied(Lanes a, Lanes b) {
    const Lanes a_low = Below(kHalf, a), a_high = Down(a, kHalf);
    const Lanes b_low = Below(kHalf, b), b_high = Down(b, kHalf);
    const Lanes middle = Product(a_low, b_high) + Product(a_high, b_low);
    return Carried(Product(a_high, b_high) + Down(middle, kHalf),
                   Product(a_low, b_low) + Up(Below(kHalf, middle), kHalf));
  }

  static MMADIFF_LANES Sum Add(const Model& m, const Operand& a, const Operand& b,
                               const Operand& c) {
    // The addend begins at most kMostUp bits above the product's unit; where it is farther up, the
    // product moves down. What is lost then lies below the unit of the output, or far below the
    // leading one.
    constexpr int kMostUp = 2 * kLimb - 1 - kDigits;
    Lanes lsb = a.exponent + b.exponent - All(2 * (kDigits - 1));
    const Lanes above = c.exponent - All(m.d.fraction_bits) - lsb;
    const Lanes down = hn::Max(above - All(kMostUp), Zero());
    const Lanes up = above - down, up_down = Zero() - up;
    lsb = lsb + down;

    Long x = Multiplied(a.magnitude, b.magnitude);
    const Lanes high_up = All(kLimb) - down, high_down = Zero() - high_up;
    const Lanes low = DownAny(x.low, down), high = DownAny(x.high, high_down);
    const Mask low_lost = hn::Ne(UpAny(low, down), x.low);
    const Mask high_lost =
        hn::And(hn::Gt(high_down, Zero()), hn::Ne(UpAny(high, high_down), x.high));
    x = {DownAny(x.high, down),
         low | high | Below(kLimb, UpAny(x.high, high_up)) | Sticky(hn::Or(low_lost, high_lost))};

    const Lanes c_down = DownAny(c.magnitude, up_down);
    const Mask c_lost =
        hn::And(hn::Gt(up_down, Zero()), hn::Ne(UpAny(c_down, up_down), c.magnitude));
    const Long y = {DownAny(c.magnitude, All(kLimb) - up) | UpAny(c.magnitude, up - All(kLimb)),
                    Below(kLimb, UpAny(c.magnitude, up)) | c_down | Sticky(c_lost)};

    // With the product's sign.
    const Lanes x_sign = a.sign ^ b.sign, apart = x_sign ^ c.sign;
    Long sum = Carried(x.high + WithSign(y.high, apart), x.low + WithSign(y.low, apart));
    const Lanes turned = hn::BroadcastSignBit(sum.high);
    sum = Carried(WithSign(sum.high, turned), WithSign(sum.low, turned));
    const Mask zero = hn::Eq(sum.high | sum.low, Zero());
    // One limb to odd.
    const Lanes width = BitWidth(sum.high);
    const Lanes magnitude = UpAny(sum.high, All(kLimb) - width) | DownAny(sum.low, width);
    const Mask rest = hn::Ne(Below(kLimb, UpAny(sum.low, All(kLimb) - width)), Zero());
    return {Pick(zero, x_sign & c.sign, x_sign ^ turned), magnitude | Sticky(rest), lsb + width};
  }
};
#endif

template <class Products>
class FmaChainLanes {
 public:
  static constexpr bool kHasExponents = true;

  explicit FmaChainLanes(const Model& m)
      : m_(m), addend_(LaneFormatOf(m.d, 0, m.algorithm.addend_subnormals, m.d)) {}

  static LaneFormat FormatOfA(const Model& m) {
    return LaneFormatOf(m.a, 0, m.algorithm.input_subnormals, m.d);
  }
  static LaneFormat FormatOfB(const Model& m) {
    return LaneFormatOf(m.b, 0, m.algorithm.input_subnormals, m.d);
  }

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return Products::Decode(f, word);
  }

  // Rows give the operand of index k by row.At(k).
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const Algorithm& alg = m_.algorithm;
    if (alg.addend_joins == AddendJoins::kFirstStep) return Chain(a, b, c);
    Lanes sum = alg.grouping == Grouping::kEvenOdd ? EvenAndOdd(a, b) : Chain(a, b, Zero());
    return AddLanes(m_.d, alg, addend_, c, sum);
  }

  // Of two columns: each step of a chain waits for the one before, and the other chain fills the time.
  template <class RowA, class RowB>
  requires(Products::kTwoColumns) MMADIFF_LANES
      void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0, Lanes& c1) const {
    if (m_.algorithm.addend_joins != AddendJoins::kFirstStep) {
      c0 = Result(a, b0, c0);
      c1 = Result(a, b1, c1);
      return;
    }
    for (int i = 0; i < m_.k; ++i) {
      const int k = At(i, m_.k, 0, 1);
      c0 = Step(a, b0, k, c0);
      c1 = Step(a, b1, k, c1);
    }
  }

 private:
  // Index k of step `i` of `count` over every `stride`-th k from `first` on.
  MMADIFF_LANES int At(int i, int count, int first, int stride) const {
    return first + stride * (m_.algorithm.order == Order::kAscending ? i : count - 1 - i);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Chain(const RowA& a, const RowB& b, Lanes c) const {
    for (int i = 0; i < m_.k; ++i) c = Step(a, b, At(i, m_.k, 0, 1), c);
    return c;
  }

  // Two chains at a time: each step waits for the one before.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes EvenAndOdd(const RowA& a, const RowB& b) const {
    const int evens = (m_.k + 1) / 2, odds = m_.k / 2;
    Lanes even = Zero(), odd = Zero();
    for (int i = 0; i < evens; ++i) {
      even = Step(a, b, At(i, evens, 0, 2), even);
      if (i < odds) odd = Step(a, b, At(i, odds, 1, 2), odd);
    }
    return AddLanes(m_.d, m_.algorithm, addend_, even, odd);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Step(const RowA& a, const RowB& b, int k, Lanes c) const {
    return Step(a.At(k), b.At(k), DecodeLanes(addend_, c));
  }

  MMADIFF_LANES Lanes Step(const Operand& a, const Operand& b, const Operand& c) const {
    const Sum exact = Products::Add(m_, a, b, c);
    const Lanes sum = RoundSumOfTwo(m_.d, m_.algorithm, exact, a.sign ^ b.sign, c.sign);
    const Lanes largest = hn::Max(a.exponent + b.exponent, c.exponent);
    const Mask special = AtLeast(largest, kLeastNarrowSpecial);
    if (None(special)) return sum;
    return Pick(special, FmaSpecialLanes(m_.d, m_.algorithm.nan_rule, a, b, c), sum);
  }

  const Model m_;
  const LaneFormat addend_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
