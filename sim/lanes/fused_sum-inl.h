// kFusedSum in lanes, as sim/fused_sum.h says it with narrow rows.
#if defined(MMADIFF_SIM_LANES_FUSED_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#undef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/sum_specials-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// The least exponent of a number; without a zero, field 0 has one of its own.
inline int LeastExponent(const Format& f) { return f.min_exponent - (f.has_zero ? 0 : 1); }

// Whether floats hold any number, the product of any two, and what is moved up or down of it.
inline bool AreProductsFloats(const Model& m) {
  const auto least = [](const Format& f) { return LeastExponent(f) - f.fraction_bits; };
  return m.scale_block == 0 && std::min(least(m.a), least(m.b)) >= -100 &&
         std::max(MaxExponent(m.a), MaxExponent(m.b)) <= 100 && least(m.a) + least(m.b) >= -60 &&
         MaxExponent(m.a) + MaxExponent(m.b) + 2 <= 60;
}

// Products are those of floats, which are exact, have their sign, and are cut as they become integers.
// kValues: of the numbers; else of their significands, which are moved by exponents apart.
template <bool kValues>
class FusedSumLanes {
 public:
  static constexpr bool kHasExponents = true;

  explicit FusedSumLanes(const Model& m)
      : m_(m),
        c_(LaneFormatOf(m.c, 0, Subnormals::kKeep, m.d)),
        d_(LaneFormatOf(m.d, 0, Subnormals::kKeep, m.d)),
        product_bits_(m.a.fraction_bits + m.b.fraction_bits),
        least_product_(LeastExponent(m.a) + LeastExponent(m.b) +
                       (m.scale_block == 0 ? 0 : 2 * LeastExponent(m.scale))),
        largest_product_(MaxExponent(m.a) + MaxExponent(m.b) + 1),
        part_terms_(1 << (29 - m.algorithm.fraction_bits)),
        one_part_(std::min(m.algorithm.terms, m.k) <= part_terms_),
        last_add_(m.algorithm) {
    last_add_.output_rounding = Rounding::kNearestEven;
    last_add_.output_fraction_bits = m.d.fraction_bits;
  }

  static LaneFormat FormatOfA(const Model& m) {
    return LaneFormatOf(m.a, 0, Subnormals::kKeep, m.d);
  }
  static LaneFormat FormatOfB(const Model& m) {
    return LaneFormatOf(m.b, 0, Subnormals::kKeep, m.d);
  }

  // The magnitude becomes a float with the sign.
  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    Operand x = DecodeLanes(f, word);
    Floats value = hn::ConvertTo(kFloat, WithSign(x.magnitude, x.sign));
    if (kValues) value = value * PowerOfTwo(x.exponent, -f.fraction_bits);
    x.magnitude = hn::BitCast(kLane, value);
    return x;
  }

  // Rows give the operand at a position in the order of the steps by row.At(position).
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Column<RowB> column(b, c);
    AddSteps(a, column);
    return Last(column.sum, c);
  }

  // Of two columns, which share what is loaded of A.
  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0,
                                 Lanes& c1) const {
    Column<RowB> column0(b0, c0), column1(b1, c1);
    AddSteps(a, column0, column1);
    c0 = Last(column0.sum, c0);
    c1 = Last(column1.sum, c1);
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
      high_ = high_ + hn::ShiftRight<5>(low_);
      low_ = low_ & All(31);
    }
    // In units of 2^lsb; where it has more than 30 bits, in units 32 times as large, and the last of its 26 or
    // more bits says whether there is something left.
    MMADIFF_LANES Sum Rounded(Lanes lsb) const {
      const Lanes sign = hn::BroadcastSignBit(high_);
      const Mask more = hn::Ne(low_, Zero());
      const Lanes all = WithSign(Up(high_, 5) | low_, sign);
      // -(32 * high + low) is 32 * (-high - 1) + (32 - low).
      const Lanes down = high_ ^ sign;
      const Lanes jammed = Pick(more, down | All(1), WithSign(high_, sign));
      const Mask fits = hn::Lt(down, All(1 << 25));
      return {sign, Pick(fits, all, jammed), lsb + hn::IfThenZeroElse(fits, All(5))};
    }

   private:
    Lanes high_, low_;
  };

  // A column of B and its sum so far.
  template <class RowB>
  struct Column {
    MMADIFF_LANES Column(const RowB& row, Lanes of)
        : b(row), sum(of), c{Zero(), Zero(), Zero()}, align(Zero()), unit(Zero()), part(Zero()) {}
    const RowB b;
    Lanes sum;
    // Of a step.
    Operand c;
    Lanes align, unit, part;
    Total total;
  };

  bool JoinsLast() const { return m_.algorithm.addend_joins == AddendJoins::kLastAdd; }
  MMADIFF_LANES Lanes Last(Lanes sum, Lanes c) const {
    return JoinsLast() ? AddLanes(m_.d, last_add_, d_, c, sum) : sum;
  }

  template <class RowA, class... Columns>
  MMADIFF_LANES void AddSteps(const RowA& a, Columns&... columns) const {
    const int terms = std::min(m_.algorithm.terms, m_.k);
    if (JoinsLast()) ((columns.sum = Zero()), ...);
    for (int first = 0; first < m_.k; first += terms) {
      const bool own = first == 0 && !JoinsLast();
      const int end = std::min(first + terms, m_.k);
      (Begin(own, columns), ...);
      for (int p = first; p < end; ++p) {
        const Lanes exponent = a.Exponent(p);
        ((columns.align = hn::Max(columns.align, exponent + columns.b.Exponent(p))), ...);
      }
      (Align(columns), ...);
      for (int p = first; p < end;) {
        ((columns.part = Zero()), ...);
        const int stop = std::min(p + part_terms_, end);
        for (; p < stop; ++p) {
          const Operand x = a.At(p);
          (AddProduct(x, p, columns), ...);
        }
        if (!one_part_) (columns.total.Add(columns.part), ...);
      }
      (End(a, first, end, own, columns), ...);
    }
  }

  template <class Column>
  MMADIFF_LANES void Begin(bool own, Column& column) const {
    column.c = DecodeLanes(own ? c_ : d_, column.sum);
    column.align = hn::Max(All(m_.algorithm.exponent_floor),
                           AddendExponentLanes(m_, own ? m_.c : m_.d, column.c));
    column.total = Total();
  }
  // What products are multiplied by, or its exponent without those of the factors. Where the alignment is
  // outside of these bounds, all products are zeros, or cut to zeros.
  template <class Column>
  MMADIFF_LANES void Align(Column& column) const {
    const int bits = m_.algorithm.fraction_bits;
    const Lanes align = hn::Max(column.align, All(least_product_));
    if (kValues) {
      const Lanes bounded = hn::Min(align, All(largest_product_ + bits + 1));
      column.unit = hn::BitCast(kLane, PowerOfTwo(Zero() - bounded, bits));
    } else {
      column.unit = All(bits - product_bits_ + kBias) - align;
    }
  }
  template <class Column>
  MMADIFF_LANES void AddProduct(const Operand& x, int p, Column& column) const {
    const Operand y = column.b.At(p);
    Lanes unit = column.unit;
    if (!kValues) unit = Up(hn::Max(unit + (x.exponent + y.exponent), Zero()), kFloatFraction);
    const Floats product = AsFloats(x.magnitude) * AsFloats(y.magnitude) * AsFloats(unit);
    column.part = column.part + Truncated(product);
  }
  template <class RowA, class Column>
  MMADIFF_LANES void End(const RowA& a, int first, int end, bool own, Column& column) const {
    const Algorithm& alg = m_.algorithm;
    const Operand& c = column.c;
    // The addend: no bit above those of the alignment, so that 31 bits hold it.
    const int c_bits = own ? m_.c.fraction_bits : m_.d.fraction_bits;
    const Lanes addend_down = column.align - All(alg.fraction_bits - c_bits) - c.exponent;
    const Lanes magnitude = DownOrUp(c.magnitude, addend_down);
    const Lanes addend = WithSign(hn::IfThenZeroElse(IsZero(c), magnitude), c.sign);
    const Lanes lsb = column.align - All(alg.fraction_bits);
    if (!one_part_) column.total.Add(addend);
    Sum sum = one_part_ ? SumOf(column.part, addend, lsb) : column.total.Rounded(lsb);
    const Mask zero = hn::Eq(sum.magnitude, Zero());
    if (alg.zero_sign == ZeroSign::kIeee && !None(zero)) {
      sum.sign = Pick(zero, NegativeZeros(a, column.b, first, end, c), sum.sign);
    }
    column.sum = RoundSumLanes(m_, sum.sign, sum.magnitude, sum.lsb);
    if (None(AtLeast(column.align, kLeastNarrowSpecial))) return;
    column.sum = SumSpecialLanes(m_, column.align, a, column.b, first, end, c, column.sum);
  }

  // x + y, below 2^32; of 32 bits the last one says whether there is something left.
  static MMADIFF_LANES Sum SumOf(Lanes x, Lanes y, Lanes lsb) {
    const Lanes sum = x + y;
    // Of 32 bits where both have another sign than what is left of it: theirs.
    const Lanes sign = hn::BroadcastSignBit(sum ^ ((x ^ sum) & (y ^ sum)));
    const Lanes magnitude = WithSign(sum, sign), top = hn::BroadcastSignBit(magnitude);
    if (None(hn::Lt(magnitude, Zero()))) return {sign, magnitude, lsb};
    const Lanes half = Down(magnitude, 1) | (magnitude & All(1));
    return {sign, Pick(hn::Lt(magnitude, Zero()), half, magnitude), lsb - top};
  }

  const Model m_;
  const LaneFormat c_, d_;
  const int product_bits_;
  const int least_product_, largest_product_;  // their exponents
  const int part_terms_;                       // products whose sum 31 bits and a sign hold
  const bool one_part_;                        // a step has no more
  Algorithm last_add_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
