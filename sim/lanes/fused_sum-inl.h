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
// `largest` is that of all exponents. Products are moved up by NarrowUp(), in A or in B.
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
    return LaneFormatOf(m.a, NarrowUp(m) - UpOfB(m), Subnormals::kKeep, m.d);
  }
  static LaneFormat FormatOfB(const Model& m) {
    return LaneFormatOf(m.b, UpOfB(m), Subnormals::kKeep, m.d);
  }

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }

  // Rows give the operand at a position in the order of the steps by row.At(position).
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Column<RowB> column(b, c);
    Sum(a, column);
    return Last(column.sum, c);
  }

  // Of two columns, which share what is loaded of A.
  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0,
                                 Lanes& c1) const {
    Column<RowB> column0(b0, c0), column1(b1, c1);
    Sum(a, column0, column1);
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

  // A column of B and its sum so far.
  template <class RowB>
  struct Column {
    MMADIFF_LANES Column(const RowB& row, Lanes of)
        : b(row),
          sum(of),
          c{Zero(), Zero(), Zero()},
          align(Zero()),
          product_align(Zero()),
          part(Zero()) {}
    const RowB b;
    Lanes sum;
    // Of a step.
    Operand c;
    Lanes align, product_align, part;
    Total total;
  };

  // Fractions have at most 14 bits and products that are moved up at most 27: both factors are below 2^15.
  static int UpOfB(const Model& m) { return std::max(NarrowUp(m) - (14 - m.a.fraction_bits), 0); }

  bool JoinsLast() const { return m_.algorithm.addend_joins == AddendJoins::kLastAdd; }
  MMADIFF_LANES Lanes Last(Lanes sum, Lanes c) const {
    return JoinsLast() ? AddLanes(m_.d, last_add_, d_, c, sum) : sum;
  }

  template <class RowA, class... Columns>
  MMADIFF_LANES void Sum(const RowA& a, Columns&... columns) const {
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
        (columns.total.Add(columns.part), ...);
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
  template <class Column>
  MMADIFF_LANES void Align(Column& column) const {
    column.product_align =
        column.align + All(std::max(product_bits_ - m_.algorithm.fraction_bits, 0));
  }
  template <class Column>
  MMADIFF_LANES void AddProduct(const Operand& x, int p, Column& column) const {
    const Operand y = column.b.At(p);
    const Lanes down = AtMostAll(column.product_align - (x.exponent + y.exponent));
    const Lanes product = ShortProduct(x.magnitude, y.magnitude);
    // WithSign() of the term and the product's sign.
    column.part = column.part + (Xor3(Down(product, down), x.sign, y.sign) - (x.sign ^ y.sign));
  }
  template <class RowA, class Column>
  MMADIFF_LANES void End(const RowA& a, int first, int end, bool own, Column& column) const {
    const Algorithm& alg = m_.algorithm;
    const Operand& c = column.c;
    Total& total = column.total;
    // The addend: no bit above those of the alignment, so that 31 bits hold it.
    const int c_bits = own ? m_.c.fraction_bits : m_.d.fraction_bits;
    const Lanes addend_down = column.align - All(alg.fraction_bits - c_bits) - c.exponent;
    const Lanes addend = DownOrUp(c.magnitude, addend_down);
    total.Add(WithSign(hn::IfThenZeroElse(IsZero(c), addend), c.sign));
    total.Carry();
    Lanes lsb = column.align - All(alg.fraction_bits);
    Lanes sign = total.sign();
    const Mask zero = total.IsZero();
    if (alg.zero_sign == ZeroSign::kIeee && !None(zero)) {
      sign = Pick(zero, NegativeZeros(a, column.b, first, end, c), sign);
    }
    const Lanes magnitude = total.Magnitude(lsb);
    column.sum = RoundSumLanes(m_, sign, magnitude, lsb);
    if (None(AtLeast(column.align, kLeastNarrowSpecial))) return;
    column.sum = SumSpecialLanes(m_, column.align, a, column.b, first, end, c, column.sum);
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
