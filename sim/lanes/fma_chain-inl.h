// kFmaChain in lanes; the scalar version is sim/fma_chain.h.
#if defined(MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#undef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#else
#define MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#endif

#include <limits>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// Products of at most 24 bits, or 53 in wide lanes.
struct ShortProducts {
  static constexpr bool kTwoColumns = false;  // gains too little
  static constexpr bool kNormalizes = false;

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }
  // The leading ones of product and addend are among the highest bits, so a term that loses bits is
  // too small to cancel the other. Only a subnormal addend begins lower; its last bit is that of
  // the least result, with more bits below it.
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
// Products of 53-bit operands, in two limbs of 62 bits. Operands have their leading one at bit 60,
// products at bit 120 or 121.
struct LongProducts {
  static constexpr bool kTwoColumns = true;
  static constexpr bool kNormalizes = true;  // operands with any number of fraction bits
  static constexpr int kLimb = 62, kHalf = kLimb / 2, kDigits = kLimb - 1;

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    Operand x = DecodeLanes(f, word);
    // Zeros, infinities and NaNs keep their exponents.
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

  // x * 2^-shift rounded to odd, 0 <= shift <= 2 * kLimb.
  static MMADIFF_LANES Long Jammed(const Long& x, Lanes shift) {
    const Lanes up = All(kLimb) - shift;
    const Lanes lost = UpAny(x.low, hn::Max(up, Zero())) | UpAny(x.high, All(2 * kLimb) - shift);
    return {DownAny(x.high, shift), DownAny(x.low, shift) | Below(kLimb, UpAny(x.high, up)) |
                                        DownAny(x.high, Zero() - up) | Sticky(lost)};
  }

  static MMADIFF_LANES Sum Add(const Model& m, const Operand& a, const Operand& b,
                               const Operand& c) {
    // The addend is in the high limb; if it is normal, its leading one is at bit 121 of both limbs.
    // The term with the smaller unit is shifted down; the bits that it loses are far below the
    // leading one, or below the output's unit.
    const Long product = Multiplied(a.magnitude, b.magnitude);
    const Lanes addend = Up(c.magnitude, kLimb - 3 - m.d.fraction_bits);
    const Lanes lsb = a.exponent + b.exponent - All(2 * (kDigits - 1));
    const Lanes above = c.exponent - All(2 * kDigits - 1) - lsb;
    const Mask moves = AtLeast(above, 1);  // whether the product is shifted
    const Long x = {Pick(moves, addend, product.high), hn::IfThenZeroElse(moves, product.low)};
    const Long y =
        Jammed({Pick(moves, product.high, addend), hn::IfThenElseZero(moves, product.low)},
               hn::Min(hn::Max(above, Zero() - above), All(2 * kLimb)));
    // The sum relative to the sign of x.
    const Lanes product_sign = a.sign ^ b.sign, apart = product_sign ^ c.sign;
    const Lanes high = x.high + WithSign(y.high, apart), low = x.low + WithSign(y.low, apart);
    const Lanes turned = hn::BroadcastSignBit(high + hn::ShiftRight<kLimb>(low));
    const Long sum = Carried(WithSign(high, turned), WithSign(low, turned));
    const Mask zero = hn::Eq(sum.high | sum.low, Zero());
    const Lanes sign = Pick(moves, c.sign, product_sign) ^ turned;
    // Round to odd in one limb.
    const Lanes width = BitWidth(sum.high), up = All(kLimb) - width;
    return {Pick(zero, product_sign & c.sign, sign),
            UpAny(sum.high, up) | DownAny(sum.low, width) | Sticky(UpAny(sum.low, up)),
            lsb + hn::Max(above, Zero()) + width};
  }
};
#endif

// Index k of step `i` of `count` steps.
MMADIFF_LANES int ChainIndex(const Model& m, int i, int count) {
  return m.algorithm.order == Order::kAscending ? i : count - 1 - i;
}
// Runs the steps of a chain in order. step(k, sum) returns the word after adding product k; add(x,
// y) returns the word of x + y.
template <class Step, class Add>
MMADIFF_LANES Lanes ChainOf(const Model& m, Lanes c, const Step& step, const Add& add) {
  const bool joins_last = m.algorithm.addend_joins != AddendJoins::kFirstStep;
  if (!joins_last || m.algorithm.grouping != Grouping::kEvenOdd) {
    Lanes sum = joins_last ? Zero() : c;
    for (int i = 0; i < m.k; ++i) sum = step(ChainIndex(m, i, m.k), sum);
    return joins_last ? add(c, sum) : sum;
  }
  // Interleaves two chains, because each step waits for the previous one of its chain.
  const int evens = (m.k + 1) / 2, odds = m.k / 2;
  Lanes even = Zero(), odd = Zero();
  for (int i = 0; i < evens; ++i) {
    even = step(2 * ChainIndex(m, i, evens), even);
    if (i < odds) odd = step(2 * ChainIndex(m, i, odds) + 1, odd);
  }
  return add(c, add(even, odd));
}

template <class Products>
class FmaChainLanes : public FlushedElements {
 public:
  explicit FmaChainLanes(const Model& m)
      : m_(m), addend_(LaneFormatOf(m.d, m.d, m.algorithm.addend_subnormals)) {}

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return Products::Decode(f, word);
  }

  // row.At(k) is the operand at index k.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    return ChainOf(
        m_, c, [&](int k, Lanes sum) HWY_ATTR { return StepOf(a.At(k), b.At(k), sum); },
        [&](Lanes x, Lanes y) HWY_ATTR { return Added(x, y); });
  }

  // The same for two columns. Each step of a chain waits for the previous one; the other chain
  // fills the gaps.
  template <class RowA, class RowB>
  requires(Products::kTwoColumns) MMADIFF_LANES
      void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0, Lanes& c1) const {
    if (m_.algorithm.addend_joins != AddendJoins::kFirstStep) {
      c0 = Result(a, b0, c0);
      c1 = Result(a, b1, c1);
      return;
    }
    for (int i = 0; i < m_.k; ++i) {
      const int k = ChainIndex(m_, i, m_.k);
      const Operand x = a.At(k), y0 = b0.At(k), y1 = b1.At(k);
      const Operand z0 = DecodeLanes(addend_, c0), z1 = DecodeLanes(addend_, c1);
      const Sum sum0 = Products::Add(m_, x, y0, z0), sum1 = Products::Add(m_, x, y1, z1);
      c0 = Rounded(x, y0, z0, sum0);
      c1 = Rounded(x, y1, z1, sum1);
    }
  }

  // The words of x * y + c and of x + y.
  MMADIFF_LANES Lanes StepOf(const Operand& x, const Operand& y, Lanes c) const {
    const Operand z = DecodeLanes(addend_, c);
    return Rounded(x, y, z, Products::Add(m_, x, y, z));
  }
  MMADIFF_LANES Lanes Added(Lanes x, Lanes y) const {
    return AddLanes(m_.d, m_.algorithm, addend_, x, y);
  }

 private:
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

// Whether the processor's multiply-add of lane-sized floats gives the results.
inline bool HasFloatChain(const Model& m) {
  return HWY_NATIVE_FMA && FitsFloats(m) && m.d.bits == kBits &&
         m.d.fraction_bits == kFloatFraction && HasSubnormalFloats<Float>();
}

// Computes results with the processor's floats. Operands are words of the output format. The model
// determines which NaN results and which values are flushed.
class FloatWordLanes {
 public:
  static constexpr bool kHasExponents = false;

  struct InputFormat {
    LaneFormat from;
    Lane infinity;
  };

  explicit FloatWordLanes(const Model& m)
      : m_(m),
        infinity_(static_cast<Lane>(InfinityWord(m.d, false))),
        quiet_(Lane{1} << (kFloatFraction - 1)),
        nan_(static_cast<Lane>(DefaultNan(m.d, m.algorithm.nan_rule))) {}

  static InputFormat FormatOf(const Model& m, const Format& f) {
    return {FlushedElements::FormatOf(m, f), static_cast<Lane>(InfinityWord(m.d, false))};
  }

  // Returns the word as the magnitude.
  static MMADIFF_LANES Operand Decode(const InputFormat& f, Lanes word) {
    Operand x = DecodeLanes(f.from, word);
    const Mask special = AtLeast(x.exponent, kLeastNarrowSpecial), nan = IsNan(x);
    // In two steps, because the power of a subnormal's last bit may not be a normal float.
    const Floats value = hn::ConvertTo(kFloat, x.magnitude) *
                         PowerOfTwo(Zero(), -f.from.fraction_bits) * PowerOfTwo(x.exponent, 0);
    const Lanes magnitude = Pick(special, All(f.infinity), Magnitude(hn::BitCast(kLane, value)));
    x.magnitude = Pick(nan, x.magnitude, magnitude | (x.sign & All(1ull << (kBits - 1))));
    return x;
  }

 protected:
  static constexpr Lane kLeastNormal = Lane{1} << kFloatFraction;

  // The word of the NaN from a * b + c.
  MMADIFF_LANES Lanes NanOf(Lanes a, Lanes b, Lanes c) const {
    Lanes word = All(nan_);
    if (!Propagates(m_.algorithm.nan_rule)) return word;
    if (m_.algorithm.nan_rule == NanRule::kPropagateBca) {
      const Lanes of_a = a;
      a = b, b = c, c = of_a;
    }
    word = Pick(IsNanWord(c), c, word);
    word = Pick(IsNanWord(b), b, word);
    return Pick(IsNanWord(a), a, word) | All(quiet_);
  }

  static MMADIFF_LANES Lanes One() { return All(static_cast<int64_t>(kBias) << kFloatFraction); }
  static MMADIFF_LANES Lanes Magnitude(Lanes word) { return word & All(kMaxLane); }
  MMADIFF_LANES Mask IsNanWord(Lanes word) const { return hn::Gt(Magnitude(word), All(infinity_)); }
  static MMADIFF_LANES Lanes Flushed(Subnormals rule, Lanes word) {
    if (rule == Subnormals::kKeep) return word;
    const Mask small = hn::Lt(Magnitude(word), All(kLeastNormal));
    return Pick(small, rule == Subnormals::kFlush ? hn::AndNot(All(kMaxLane), word) : Zero(), word);
  }

  const Model m_;
  const Lane infinity_, quiet_, nan_;
};

// Chains by the processor's multiply-add, for models with HasFloatChain().
template <class Products>
class FloatChainLanes : public FloatWordLanes {
 public:
  explicit FloatChainLanes(const Model& m)
      : FloatWordLanes(m),
        integers_(m),
        words_(LaneFormatOf(m.d, m.d)),
        is_plain_(m.algorithm.addend_joins == AddendJoins::kFirstStep &&
                  m.algorithm.addend_subnormals == Subnormals::kKeep &&
                  m.algorithm.output_subnormals == Subnormals::kKeep) {}

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Lanes sum = c, same = c;
    return is_plain_ && AddAll(a, b, b, sum, same) ? sum : ResultOfSteps(a, b, c);
  }
  // The same for two columns: each step of a chain waits for the previous one.
  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0,
                                 Lanes& c1) const {
    Lanes sum0 = c0, sum1 = c1;
    const bool done = is_plain_ && AddAll(a, b0, b1, sum0, sum1);
    c0 = done ? sum0 : ResultOfSteps(a, b0, c0);
    c1 = done ? sum1 : ResultOfSteps(a, b1, c1);
  }

 private:
  // Adds all products. False if a result may be a NaN: once there is one, the sum stays one.
  template <class RowA, class RowB>
  MMADIFF_LANES bool AddAll(const RowA& a, const RowB& b0, const RowB& b1, Lanes& sum0,
                            Lanes& sum1) const {
    Floats s0 = AsFloats(sum0), s1 = AsFloats(sum1);
    for (int i = 0; i < m_.k; ++i) {
      const int k = ChainIndex(m_, i, m_.k);
      const Floats x = AsFloats(a.Magnitude(k));
      s0 = hn::MulAdd(x, AsFloats(b0.Magnitude(k)), s0);
      s1 = hn::MulAdd(x, AsFloats(b1.Magnitude(k)), s1);
    }
    sum0 = hn::BitCast(kLane, s0), sum1 = hn::BitCast(kLane, s1);
    return None(hn::Or(IsNanWord(sum0), IsNanWord(sum1)));
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes ResultOfSteps(const RowA& a, const RowB& b, Lanes c) const {
    return ChainOf(
        m_, c, [&](int k, Lanes sum) HWY_ATTR { return Step(a.Magnitude(k), b.Magnitude(k), sum); },
        [&](Lanes x, Lanes y) HWY_ATTR { return Added(x, y); });
  }

  MMADIFF_LANES Lanes Step(Lanes a, Lanes b, Lanes c) const {
    const Lanes addend = Flushed(m_.algorithm.addend_subnormals, c);
    return Rounded(a, b, addend, [&]() HWY_ATTR {
      return integers_.StepOf(OperandOf(m_.a, a), OperandOf(m_.b, b), c);
    });
  }
  // x + y, both flushed like addends.
  MMADIFF_LANES Lanes Added(Lanes x, Lanes y) const {
    const Subnormals rule = m_.algorithm.addend_subnormals;
    return Rounded(Flushed(rule, x), One(), Flushed(rule, y),
                   [&]() HWY_ATTR { return integers_.Added(x, y); });
  }

  // a * b + c. If subnormal outputs are flushed, a result that rounds to the least normal number
  // may have been tiny; `integers` then decides.
  template <class Integers>
  MMADIFF_LANES Lanes Rounded(Lanes a, Lanes b, Lanes c, const Integers& integers) const {
    Lanes sum = hn::BitCast(kLane, hn::MulAdd(AsFloats(a), AsFloats(b), AsFloats(c)));
    const Subnormals rule = m_.algorithm.output_subnormals;
    if (rule != Subnormals::kKeep) {
      if (!None(hn::Eq(Magnitude(sum), All(kLeastNormal)))) return integers();
      sum = Flushed(rule, sum);
    }
    const Mask nan = IsNanWord(sum);
    return None(nan) ? sum : Pick(nan, NanOf(a, b, c), sum);
  }

  // The operand of a word that was converted from format `f`, with the fraction bits of `f`.
  MMADIFF_LANES Operand OperandOf(const Format& f, Lanes word) const {
    Operand x = Products::Decode(words_, word);
    if (Products::kNormalizes) return x;
    const Mask special = AtLeast(x.exponent, kLeastNarrowSpecial);
    x.magnitude = Pick(special, x.magnitude, Down(x.magnitude, kFloatFraction - f.fraction_bits));
    return x;
  }

  const FmaChainLanes<Products> integers_;
  const LaneFormat words_;
  const bool is_plain_;  // one chain, nothing flushed in it
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
