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

// Products of at most 24 bits, or 53 in wide lanes.
struct ShortProducts {
  static constexpr bool kTwoColumns = false;  // too little is gained

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }
  // The product and the addend begin at one of the highest bits, so that a term which loses bits is
  // too small to cancel the other. Only an addend that is subnormal begins lower; its last bit is that
  // of the least result, and there are more below.
  static MMADIFF_LANES Sum Add(const Model& m, const Operand& a, const Operand& b,
                               const Operand& c) {
    const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
    Lanes product = Product(a.magnitude, b.magnitude);
    Lanes lsb = a.exponent + b.exponent;
    if (m.algorithm.input_subnormals == Subnormals::kKeep) {
      const Lanes up = All(kBits - 2) - BitWidth(product);
      product = Up(product, up);
      lsb = lsb - All(product_bits) - up;
    } else {
      const int up = kBits - 4 - product_bits;
      product = Up(product, up);
      lsb = lsb - All(product_bits + up);
    }
    const int up = kBits - 3 - m.d.fraction_bits;
    return AlignAndAdd(a.sign ^ b.sign, product, lsb, c.sign, Up(c.magnitude, up),
                       c.exponent - All(m.d.fraction_bits + up));
  }
};

#if defined(MMADIFF_WIDE_LANES)
// Products of operands of 53 bits, in two limbs of 62. Operands have their leading one at bit 60, so that
// products have theirs at bit 120 or 121.
struct LongProducts {
  static constexpr bool kTwoColumns = true;
  static constexpr int kLimb = 62, kHalf = kLimb / 2, kDigits = kLimb - 1;

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
  static MMADIFF_LANES Lanes Sticky(Lanes lost) {
    return Ones(hn::Ne(Below(kLimb, lost), Zero())) & All(1);
  }

  static MMADIFF_LANES Long Multiplied(Lanes a, Lanes b) {
    const Lanes a_low = Below(kHalf, a), a_high = Down(a, kHalf);
    const Lanes b_low = Below(kHalf, b), b_high = Down(b, kHalf);
    const Lanes middle = Product(a_low, b_high) + Product(a_high, b_low);
    return Carried(Product(a_high, b_high) + Down(middle, kHalf),
                   Product(a_low, b_low) + Up(Below(kHalf, middle), kHalf));
  }

  // x * 2^-shift to odd, 0 <= shift <= 2 * kLimb.
  static MMADIFF_LANES Long Jammed(const Long& x, Lanes shift) {
    const Lanes up = All(kLimb) - shift;
    const Lanes lost = UpAny(x.low, hn::Max(up, Zero())) | UpAny(x.high, All(2 * kLimb) - shift);
    return {DownAny(x.high, shift), DownAny(x.low, shift) | Below(kLimb, UpAny(x.high, up)) |
                                        DownAny(x.high, Zero() - up) | Sticky(lost)};
  }

  static MMADIFF_LANES Sum Add(const Model& m, const Operand& a, const Operand& b,
                               const Operand& c) {
    // The addend in the high limb, its leading one at bit 121 of both if it is normal. The term with the
    // smaller unit moves down: what it loses lies far below the leading one, or below the output's unit.
    const Long product = Multiplied(a.magnitude, b.magnitude);
    const Lanes addend = Up(c.magnitude, kLimb - 3 - m.d.fraction_bits);
    const Lanes lsb = a.exponent + b.exponent - All(2 * (kDigits - 1));
    const Lanes above = c.exponent - All(2 * kDigits - 1) - lsb;
    const Mask moves = AtLeast(above, 1);  // the product
    const Long x = {Pick(moves, addend, product.high), hn::IfThenZeroElse(moves, product.low)};
    const Long y =
        Jammed({Pick(moves, product.high, addend), hn::IfThenElseZero(moves, product.low)},
               hn::Min(hn::Max(above, Zero() - above), All(2 * kLimb)));
    // With the sign of x.
    const Lanes product_sign = a.sign ^ b.sign, apart = product_sign ^ c.sign;
    const Lanes high = x.high + WithSign(y.high, apart), low = x.low + WithSign(y.low, apart);
    const Lanes turned = hn::BroadcastSignBit(high + hn::ShiftRight<kLimb>(low));
    const Long sum = Carried(WithSign(high, turned), WithSign(low, turned));
    const Mask zero = hn::Eq(sum.high | sum.low, Zero());
    const Lanes sign = Pick(moves, c.sign, product_sign) ^ turned;
    // One limb to odd.
    const Lanes width = BitWidth(sum.high), up = All(kLimb) - width;
    return {Pick(zero, product_sign & c.sign, sign),
            UpAny(sum.high, up) | DownAny(sum.low, width) | Sticky(UpAny(sum.low, up)),
            lsb + hn::Max(above, Zero()) + width};
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
      const Operand x = a.At(k), y0 = b0.At(k), y1 = b1.At(k);
      const Operand z0 = DecodeLanes(addend_, c0), z1 = DecodeLanes(addend_, c1);
      const Sum sum0 = Products::Add(m_, x, y0, z0), sum1 = Products::Add(m_, x, y1, z1);
      c0 = Rounded(x, y0, z0, sum0);
      c1 = Rounded(x, y1, z1, sum1);
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
    const Operand x = a.At(k), y = b.At(k), z = DecodeLanes(addend_, c);
    return Rounded(x, y, z, Products::Add(m_, x, y, z));
  }

  // The word of a * b + c.
  MMADIFF_LANES Lanes Rounded(const Operand& a, const Operand& b, const Operand& c,
                              const Sum& exact) const {
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
