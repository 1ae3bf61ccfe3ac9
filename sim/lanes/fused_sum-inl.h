// kFusedSum in lanes; the scalar version is sim/fused_sum.h with narrow rows.
#if defined(MMADIFF_SIM_LANES_FUSED_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#undef MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_FUSED_SUM_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/lanes.h"
#include "sim/lanes/sum_specials-inl.h"

#undef MMADIFF_HAS_HALVES
#define MMADIFF_HAS_HALVES (HWY_TARGET == HWY_AVX3)

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// The least exponent that a nonzero number of the format contributes to alignment.
inline int LeastOffer(const Model& m, const Format& f) {
  const bool normalizes = NormalizesSubnormals(m.algorithm.product_exponent, f);
  return LeastExponent(f) - (normalizes ? f.fraction_bits : 0);
}

inline bool IsFloat(const Format& f) {
  return f.fraction_bits == kFloatFraction && f.min_exponent == 1 - kBias &&
         MaxExponent(f) == kBias && f.nonfinite == Nonfinite::kIeee && f.ignored_bits == 0;
}

// How words are converted to floats that hold their value or their significand.
struct FloatFormat {
  // Shifts: `down` leaves the exponent field; `up` aligns the digits with those of a float.
  // `half_up` turns a magnitude into a half-precision one; the value is 2^half_less times that
  // half. -1: the format has too many digits, or half precision lacks its numbers.
  int down, up, sign_up, half_up, half_less;
  bool is_half;    // f16, or fewer digits with infinities and NaNs encoded alike
  Lane magnitude;  // bits of a word
  Lane digits;     // the bits that `up` shifts
  Lane base;       // is added to them; as a float, the excess of a subnormal number, or half of it
  Lane zero, least_normal;  // magnitudes
  Lane least_field, exponent;
  Lane sign;           // sign bit of a float, or 0
  Lane least_special;  // magnitude
  Lane special;        // turns an infinity or a NaN into that of a float
  bool nan_minus_zero;
  bool normalizes;  // exponents are those of the values (ProductExponent::kAsF16)
};

inline FloatFormat FloatFormatOf(const Format& f, bool value, ProductExponent rule) {
  const LaneFormat lane = LaneFormatOf(f, f);
  const auto in_word = [&](Lane x) { return x == kMaxLane ? kMaxLane : x << f.ignored_bits; };
  FloatFormat of;
  of.down = f.fraction_bits + f.ignored_bits;
  of.up = kFloatFraction - of.down;
  of.sign_up = kBits - 1 - SignBit(f);
  of.half_less = f.min_exponent - kF16.min_exponent;
  of.is_half = f.is_signed && f.exponent_bits == kF16.exponent_bits && of.half_less == 0 &&
               f.nonfinite == Nonfinite::kIeee;
  const bool half = value && f.has_zero && f.fraction_bits <= kF16.fraction_bits &&
                    f.ignored_bits == 0 && (of.is_half || f.exponent_bits < kF16.exponent_bits);
  of.half_up = half && MMADIFF_HAS_HALVES ? kF16.fraction_bits - f.fraction_bits : -1;
  of.magnitude = in_word(lane.magnitude);
  of.digits = in_word(value ? lane.magnitude : lane.fraction);
  of.base = (value ? f.min_exponent - 1 + kBias : kBias) << kFloatFraction;
  of.zero = f.has_zero ? 0 : -1;
  of.least_normal = in_word(lane.least_normal);
  of.least_field = lane.least_field;
  of.exponent = f.min_exponent - 1;
  of.sign = f.is_signed ? std::numeric_limits<Lane>::min() : 0;
  of.least_special = in_word(lane.least_special);
  of.special = HasInfinity(f) ? (2 * kBias + 1) << kFloatFraction : kMaxLane;
  of.nan_minus_zero = lane.nan_minus_zero;
  of.normalizes = NormalizesSubnormals(rule, f);
  return of;
}

// The contents of floats: significands, apart from exponents; or numbers. The exponents of their
// products may fit bytes (HasSmallExponents()).
enum class FusedFloats { kSignificands, kNumbers, kSmallNumbers };

// Exponents of operands in bytes: a product with a zero is below any other, one with an infinity or
// a NaN above.
constexpr int kByteZero = -64, kByteSpecial = 127;

inline bool HasSmallExponents(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const int terms = std::min(alg.terms, m.k);
  const int least = LeastOffer(m, m.a) + LeastOffer(m, m.b);
  const int largest = std::max(MaxExponent(m.a), MaxExponent(m.b));
  return AreProductsFloats(m) && terms % 4 == 0 && m.k % terms == 0 && IsFloat(m.c) &&
         IsFloat(m.d) && HasSubnormalFloats<Float>() && kByteZero + largest < least &&
         MaxExponent(m.a) + MaxExponent(m.b) < kByteZero + kByteSpecial &&
         alg.exponent_floor <= kBias && alg.zero_sign != ZeroSign::kIeee;
}

template <FusedFloats>
struct ExponentsOf {};
template <>
struct ExponentsOf<FusedFloats::kSmallNumbers> {
  static constexpr bool kFourExponents = true;  // in a lane
};

// Multiplies floats: products are exact and signed, and are cut when they are converted to
// integers. Infinities and NaNs are floats too, and have the exponent of an infinity.
template <FusedFloats kFloats>
class FusedSumLanes : public ExponentsOf<kFloats> {
  static constexpr bool kValues = kFloats != FusedFloats::kSignificands;
  static constexpr bool kSmall = kFloats == FusedFloats::kSmallNumbers;

 public:
  static constexpr bool kHasExponents = true, kSignedMagnitudes = true;

  explicit FusedSumLanes(const Model& m)
      : m_(m),
        c_(LaneFormatOf(m.c, m.d)),
        d_(LaneFormatOf(m.d, m.d)),
        least_product_(LeastOffer(m, m.a) + LeastOffer(m, m.b) +
                       (m.scale_block == 0 ? 0 : 2 * LeastExponent(m.scale))),
        largest_product_(MaxExponent(m.a) + MaxExponent(m.b) + 1),
        part_terms_(1 << (29 - m.algorithm.fraction_bits)),
        one_part_(std::min(m.algorithm.terms, m.k) <= part_terms_),
        addends_are_floats_(IsFloat(m.c) && IsFloat(m.d) && HasSubnormalFloats<Float>() &&
                            (!kValues || m.algorithm.exponent_floor <= kBias)),
        rounds_as_floats_(one_part_ && IsFloat(m.d) && HasFloatRounding(m.algorithm)),
        adds_as_floats_(IsFloat(m.d) && HasSubnormalFloats<Float>() &&
                        !Propagates(m.algorithm.nan_rule) &&
                        m.algorithm.output_subnormals == Subnormals::kKeep),
        kept_(static_cast<Lane>(
            ~LowBits(std::max(kFloatFraction - m.algorithm.output_fraction_bits, 0)))),
        unit_(std::ldexp(Float{1}, -m.algorithm.fraction_bits)),
        last_add_(m.algorithm) {
    last_add_.output_rounding = Rounding::kNearestEven;
    last_add_.output_fraction_bits = m.d.fraction_bits;
  }

  static FloatFormat FormatOf(const Model& m, const Format& f) {
    return FloatFormatOf(f, kValues, m.algorithm.product_exponent);
  }

  // The magnitude becomes a signed float.
  static MMADIFF_LANES Operand Decode(const FloatFormat& f, Lanes word) {
    const Lanes magnitude = word & All(f.magnitude), sign = Up(word, f.sign_up) & All(f.sign);
    const Mask zero = hn::Eq(magnitude, All(f.zero));
    Mask special = AtLeast(magnitude, f.least_special);
    if (f.nan_minus_zero) special = hn::And(hn::Eq(magnitude, Zero()), hn::Ne(sign, Zero()));
    const Lanes field = hn::Max(Down(magnitude, f.down), All(f.least_field));
    Lanes exponent = field + All(f.exponent);
    Lanes value;
    if (f.half_up >= 0 && f.is_half) {
      value = FloatOfHalf(Up(word, f.half_up));
    } else {
      value = f.half_up >= 0 ? FloatOfLess(f, magnitude) : FloatOf(f, magnitude);
      if (f.normalizes) exponent = Down(value, kFloatFraction) - All(kBias);
      value = value | hn::IfThenElseZero(special, All(f.special)) | sign;
    }
    Operand x = {value, Pick(zero, All(kSmall ? kByteZero : kNarrowZero), exponent), sign};
    x.exponent = Pick(special, All(kSmall ? kByteSpecial : kNarrowInfinity), x.exponent);
    return x;
  }

  // row.At(position) is the operand at a position in step order.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Column<RowB> column(b, c);
    AddSteps(a, column);
    return Last(column.sum, c);
  }

  // The same for two columns, which share the loads of A.
  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0,
                                 Lanes& c1) const {
    Column<RowB> column0(b0, c0), column1(b1, c1);
    AddSteps(a, column0, column1);
    c0 = Last(column0.sum, c0);
    c1 = Last(column1.sum, c1);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfFour(const RowA& a, const RowB& b0, const RowB& b1, const RowB& b2,
                                  const RowB& b3, Lanes& c0, Lanes& c1, Lanes& c2,
                                  Lanes& c3) const {
    Column<RowB> column0(b0, c0), column1(b1, c1), column2(b2, c2), column3(b3, c3);
    AddSteps(a, column0, column1, column2, column3);
    c0 = Last(column0.sum, c0);
    c1 = Last(column1.sum, c1);
    c2 = Last(column2.sum, c2);
    c3 = Last(column3.sum, c3);
  }

 private:
  using Bytes = hn::Repartition<int8_t, Signed>;
  static constexpr Bytes kByte{};
  // The least alignment of a sum with an infinity or a NaN.
  static constexpr Lane kLeastSpecial = kSmall ? kBias + 1 : kLeastNarrowSpecial;

  // The exact sum of cut terms, below 2^36: 32 * high + low with 0 <= low < 32. Each part fits 32
  // bits.
  class Total {
   public:
    MMADIFF_LANES Total() : high_(Zero()), low_(Zero()) {}
    MMADIFF_LANES void Add(Lanes part) {
      high_ = high_ + hn::ShiftRight<5>(part);
      low_ = low_ + (part & All(31));
      high_ = high_ + hn::ShiftRight<5>(low_);
      low_ = low_ & All(31);
    }
    // The sum in units of 2^lsb. If it has more than 30 bits, the unit is 2^(lsb + 5) and the last
    // of its at least 26 bits is sticky.
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
    // State of the current step.
    Operand c;
    Lanes align, unit, part;
    hn::VFromD<Bytes> largest;
    Total total;
  };

  // The float of a finite magnitude.
  static MMADIFF_LANES Lanes FloatOf(const FloatFormat& f, Lanes magnitude) {
    const Floats normal = AsFloats(Up(magnitude & All(f.digits), f.up) + All(f.base));
    // A subnormal number has no hidden bit, and its exponent is one more than its field.
    const Floats one = AsFloats(All(f.base + (kValues ? 1 << kFloatFraction : 0)));
    const Floats less = hn::MulSub(normal, hn::Set(kFloat, Float{kValues ? 2 : 1}), one);
    const auto subnormal = hn::RebindMask(kFloat, hn::Lt(magnitude, All(f.least_normal)));
    const Lanes value = hn::BitCast(kLane, hn::IfThenElse(subnormal, less, normal));
    return value & All(kMaxLane);  // the subtraction may give -0
  }
  // The float of a magnitude with fewer digits than half precision.
  static MMADIFF_LANES Lanes FloatOfLess(const FloatFormat& f, Lanes magnitude) {
    const Floats half = AsFloats(FloatOfHalf(Up(magnitude, f.half_up)));
    return hn::BitCast(kLane, half * PowerOfTwo(Zero(), f.half_less));
  }
  static MMADIFF_LANES Lanes FloatOfHalf(Lanes word) {
#if MMADIFF_HAS_HALVES
    return hn::BitCast(kLane, Floats{_mm512_cvtph_ps(_mm512_cvtepi32_epi16(word.raw))});
#else
    return word;
#endif
  }
  static MMADIFF_LANES Lanes Infinity() {
    return hn::BitCast(kLane, hn::Set(kFloat, std::numeric_limits<Float>::infinity()));
  }
  static MMADIFF_LANES Lanes SignBitOfFloat() { return All(std::numeric_limits<Lane>::min()); }

  // Whether float rounding can be used. Fewer digits than a float's are then cut from the float.
  static bool HasFloatRounding(const Algorithm& alg) {
    return alg.output_rounding == Rounding::kTowardZero ||
           (alg.output_rounding != Rounding::kToOdd && alg.output_fraction_bits == kFloatFraction);
  }
  bool JoinsLast() const { return m_.algorithm.addend_joins == AddendJoins::kLastAdd; }
  MMADIFF_LANES Lanes Last(Lanes sum, Lanes c) const {
    if (!JoinsLast()) return sum;
#if HWY_TARGET == HWY_AVX3  // it can add to nearest in any rounding mode
    if (adds_as_floats_) {
      constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
      const Floats both = {_mm512_add_round_ps(AsFloats(c).raw, AsFloats(sum).raw, kNearest)};
      const Lanes word = hn::BitCast(kLane, both);
      const Mask nan = hn::Gt(word & All(kMaxLane), Infinity());
      return Pick(nan, DefaultNans(m_.d, last_add_.nan_rule), word);
    }
#endif
    return AddLanes(m_.d, last_add_, d_, c, sum);
  }

  template <class RowA, class... Columns>
  MMADIFF_LANES void AddSteps(const RowA& a, Columns&... columns) const {
    const int terms = std::min(m_.algorithm.terms, m_.k);
    if (JoinsLast()) ((columns.sum = Zero()), ...);
    for (int first = 0; first < m_.k; first += terms) {
      const bool own = first == 0 && !JoinsLast();
      const int end = std::min(first + terms, m_.k);
      (Begin(own, columns), ...);
      AddExponents(a, first, end, columns...);
      (Align(columns), ...);
      for (int p = first; p < end;) {
        ((columns.part = Zero()), ...);
        const int stop = std::min(p + part_terms_, end);
        for (; p < stop; ++p) {
          const Operand x = OperandAt(a, p);
          (AddProduct(x, p, columns), ...);
        }
        if (!one_part_) (columns.total.Add(columns.part), ...);
      }
      (End(a, first, end, own, columns), ...);
    }
  }

  // Raises alignments to the largest exponent of a product.
  template <class RowA, class... Columns>
  MMADIFF_LANES void AddExponents(const RowA& a, int first, int end, Columns&... columns) const {
    if constexpr (kSmall) {
      ((columns.largest = hn::BitCast(kByte, All(0x80808080))), ...);
      for (int p = first; p < end; p += 4) {
        const auto four = hn::BitCast(kByte, a.FourExponents(p));
        ((columns.largest =
              hn::Max(columns.largest,
                      hn::SaturatedAdd(four, hn::BitCast(kByte, columns.b.FourExponents(p))))),
         ...);
      }
      (RaiseToBytes(columns), ...);
    } else {
      for (int p = first; p < end; ++p) {
        const Lanes exponent = a.Exponent(p);
        ((columns.align = hn::Max(columns.align, exponent + columns.b.Exponent(p))), ...);
      }
    }
  }
  // The largest of four bytes; special if it is above the exponents of all finite products.
  template <class Column>
  MMADIFF_LANES void RaiseToBytes(Column& column) const {
    const auto fold = [](auto bytes, int bits) HWY_ATTR {
      return hn::Max(bytes, hn::BitCast(kByte, Down(hn::BitCast(kLane, bytes), bits)));
    };
    const Lanes largest = Up(hn::BitCast(kLane, fold(fold(column.largest, 16), 8)), 24);
    const Lanes exponent = hn::ShiftRight<24>(largest);
    const Mask zero = hn::Lt(exponent, All(least_product_));
    const Mask special = AtLeast(exponent, largest_product_);
    column.align = hn::Max(column.align, hn::IfThenElse(zero, column.align, exponent));
    column.align = Pick(special, All(kLeastSpecial), column.align);
  }

  template <class Column>
  MMADIFF_LANES void Begin(bool own, Column& column) const {
    Lanes exponent;
    if (addends_are_floats_) {
      column.c = AddendOf(column.sum);
      exponent = column.c.exponent;
    } else {
      column.c = DecodeLanes(own ? c_ : d_, column.sum);
      exponent = AddendExponentLanes(m_, own ? m_.c : m_.d, column.c);
    }
    column.align = hn::Max(All(m_.algorithm.exponent_floor), exponent);
    column.total = Total();
  }
  // A float as an operand: its magnitude is the word; a NaN has the exponent of an infinity.
  static MMADIFF_LANES Operand AddendOf(Lanes word) {
    const Lanes magnitude = word & All(kMaxLane);
    const Lanes exponent = hn::Max(Down(magnitude, kFloatFraction), All(1)) - All(kBias);
    // Exponents of all products are larger than that of the least normal number, so a zero may have
    // it too: if it sets the alignment, nothing is added.
    if (kSmall) return {word, exponent, word};
    const Mask zero = hn::Eq(magnitude, Zero());
    Operand c = {word, Pick(zero, All(kNarrowZero), exponent), hn::BroadcastSignBit(word)};
    const Mask special = hn::Gt(magnitude, Infinity() - All(1));
    c.exponent = Pick(special, All(kNarrowInfinity), c.exponent);
    return c;
  }
  // The addend in units of the sum. Its exponent is at most the alignment exponent, so 31 bits hold
  // it.
  template <class Column>
  MMADIFF_LANES Lanes AlignedAddend(const Column& column, bool own) const {
    const Operand& c = column.c;
    const int bits = m_.algorithm.fraction_bits;
    if (addends_are_floats_) {
      Floats units;
      if (kValues) {  // the alignment exponent is in the range of floats
        units = AsFloats(c.magnitude) * PowerOfTwo(Zero() - column.align, 1) *
                hn::Set(kFloat, Float{0.5} / unit_);
      } else {  // in two steps; beyond this bound of the alignment nothing is left
        const Lanes up = All(bits) - hn::Min(column.align, All(2 * kBias - 4));
        const Lanes half = hn::ShiftRight<1>(up);
        units = AsFloats(c.magnitude) * PowerOfTwo(half, 0) * PowerOfTwo(up - half, 0);
      }
      return kSmall ? Truncated(units) : hn::IfThenZeroElse(IsZero(c), Truncated(units));
    }
    const int c_bits = own ? m_.c.fraction_bits : m_.d.fraction_bits;
    const Lanes down = column.align - All(bits - c_bits) - c.exponent;
    const Lanes magnitude = DownOrUp(c.magnitude, down);
    return WithSign(hn::IfThenZeroElse(IsZero(c), magnitude), c.sign);
  }
  // The factor that scales products to units of the sum, or its biased exponent without those of
  // the operands. If the alignment is outside these bounds, all products are zeros or are cut to
  // zeros.
  template <class Column>
  MMADIFF_LANES void Align(Column& column) const {
    const int bits = m_.algorithm.fraction_bits;
    const Lanes align = hn::Max(column.align, All(least_product_));
    if (kValues) {
      const Lanes bounded = hn::Min(align, All(largest_product_ + bits + 1));
      column.unit = hn::BitCast(kLane, PowerOfTwo(Zero() - bounded, bits));
    } else {
      column.unit = All(bits + kBias) - align;
    }
  }
  // The operand of a product; floats that hold numbers need no exponent.
  template <class Row>
  static MMADIFF_LANES Operand OperandAt(const Row& row, int p) {
    if constexpr (kValues) return {row.Magnitude(p), Zero(), Zero()};
    return row.At(p);
  }
  template <class Column>
  MMADIFF_LANES void AddProduct(const Operand& x, int p, Column& column) const {
    const Operand y = OperandAt(column.b, p);
    Lanes unit = column.unit;
    if (!kValues) unit = Up(hn::Max(unit + (x.exponent + y.exponent), Zero()), kFloatFraction);
    const Floats product = AsFloats(x.magnitude) * AsFloats(y.magnitude) * AsFloats(unit);
    column.part = column.part + Truncated(product);
  }
  template <class RowA, class Column>
  MMADIFF_LANES void End(const RowA& a, int first, int end, bool own, Column& column) const {
    const Algorithm& alg = m_.algorithm;
    const Operand& c = column.c;
    const Lanes addend = AlignedAddend(column, own);
    const Mask special = AtLeast(column.align, kLeastSpecial);
    if (!rounds_as_floats_ || !RoundAsFloats(column, addend, special)) {
      const Lanes lsb = column.align - All(alg.fraction_bits);
      if (!one_part_) column.total.Add(addend);
      Sum sum = one_part_ ? SumOf(column.part, addend, lsb) : column.total.Rounded(lsb);
      const Mask zero = hn::Eq(sum.magnitude, Zero());
      if (alg.zero_sign == ZeroSign::kIeee && !None(zero)) {
        sum.sign = Pick(zero, NegativeZeros(a, column.b, first, end, c), sum.sign);
      }
      column.sum = RoundSumLanes(m_, sum.sign, sum.magnitude, sum.lsb);
    }
    if (None(special)) return;
    column.sum = Specials(column.align, a, column.b, first, end, c, column.sum);
  }

  // Rounds the sum by conversion to a float, in the current rounding mode. Special lanes get
  // arbitrary results. False if some result may overflow or be below four times the least normal
  // number, or if some sum has more than 31 bits.
  template <class Column>
  MMADIFF_LANES bool RoundAsFloats(Column& column, Lanes addend, Mask special) const {
    const Lanes sum = column.part + addend;
    const Floats of_one = hn::ConvertTo(kFloat, sum) * hn::Set(kFloat, unit_);
    const Lanes quarter = hn::BitCast(kLane, of_one * PowerOfTwo(column.align, -2));
    const auto is_in = [](Lanes x, int64_t least, int64_t below) {
      return hn::RebindMask(kLane, hn::Lt(hn::BitCast(kUnsignedLane, x - All(least)),
                                          hn::BitCast(kUnsignedLane, All(below - least))));
    };
    const Mask normal = is_in(quarter & All(kMaxLane), 1 << kFloatFraction,
                              int64_t{2 * kBias - 1} << kFloatFraction);
    const Mask wraps = hn::Lt((column.part ^ sum) & (addend ^ sum), Zero());
    Mask exact = hn::Not(wraps);
    if (!kValues || !addends_are_floats_)
      exact = hn::And(exact, is_in(column.align, 3 - kBias, kBias + 1));
    const Mask zero = hn::Eq(sum, Zero());
    Mask done = hn::Or(special, hn::And(normal, exact));
    if (m_.algorithm.zero_sign != ZeroSign::kIeee) done = hn::Or(done, zero);
    column.sum = hn::IfThenZeroElse(zero, (quarter & All(kept_)) + All(2 << kFloatFraction));
    return hn::AllTrue(kLane, done);
  }

  // SumSpecialLanes() with floats: products do not overflow.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Specials(Lanes largest, const RowA& a, const RowB& b, int first, int end,
                               const Operand& c, Lanes word) const {
    const Lanes sign_bit = SignBitOfFloat();
    const Lanes addend = addends_are_floats_ ? c.magnitude : Infinity() | (c.sign & sign_bit);
    const Mask infinite = kSmall ? AtLeast(c.exponent, kLeastSpecial) : IsInfinite(c);
    Floats even = AsFloats(hn::IfThenElseZero(infinite, addend)), odd = hn::Zero(kFloat);
    for (int p = first; p < end; p += 2) {
      even = hn::MulAdd(AsFloats(a.Magnitude(p)), AsFloats(b.Magnitude(p)), even);
      if (p + 1 == end) break;
      odd = hn::MulAdd(AsFloats(a.Magnitude(p + 1)), AsFloats(b.Magnitude(p + 1)), odd);
    }
    const Lanes bits = hn::BitCast(kLane, even + odd), magnitude = hn::AndNot(sign_bit, bits);
    const Lanes infinities = Infinities(m_.d, hn::BroadcastSignBit(bits));
    word = Pick(hn::Eq(magnitude, Infinity()), infinities, word);
    Mask nan = hn::Gt(magnitude, Infinity());
    if (!kSmall) nan = hn::Or(nan, AtLeast(largest, kLeastNarrowNan));
    return Pick(nan, DefaultNans(m_.d, m_.algorithm.nan_rule), word);
  }

  // x + y, below 2^32. If it has 32 bits, the unit doubles and the last bit is sticky.
  static MMADIFF_LANES Sum SumOf(Lanes x, Lanes y, Lanes lsb) {
    const Lanes sum = x + y;
    // If the sum wraps, both terms have the opposite sign of the wrapped sum: the sign is theirs.
    const Lanes sign = hn::BroadcastSignBit(sum ^ ((x ^ sum) & (y ^ sum)));
    const Lanes magnitude = WithSign(sum, sign), top = hn::BroadcastSignBit(magnitude);
    if (None(hn::Lt(magnitude, Zero()))) return {sign, magnitude, lsb};
    const Lanes half = Down(magnitude, 1) | (magnitude & All(1));
    return {sign, Pick(hn::Lt(magnitude, Zero()), half, magnitude), lsb - top};
  }

  const Model m_;
  const LaneFormat c_, d_;
  const int least_product_, largest_product_;  // exponents
  const int part_terms_;           // number of products whose sum fits 31 bits and a sign
  const bool one_part_;            // a step has at most part_terms_ products
  const bool addends_are_floats_;  // and alignments are in the range of floats
  const bool rounds_as_floats_;    // by the processor
  const bool adds_as_floats_;
  const Lane kept_;   // bits of a float that the output keeps
  const Float unit_;  // unit of a sum at alignment 0
  Algorithm last_add_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
