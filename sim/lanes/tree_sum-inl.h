// kTree in lanes; the scalar version is sim/tree/tree_sum.h.
#if defined(MMADIFF_SIM_LANES_TREE_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_TREE_SUM_INL_H_
#undef MMADIFF_SIM_LANES_TREE_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_TREE_SUM_INL_H_
#endif

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/limbs-inl.h"
#include "sim/lanes/tree_lanes.h"
#include "sim/tree/tree_sum.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// A format whose zeros may keep the exponent of its least numbers.
struct TreeFormat : LaneFormat {
  bool zero_offers = false;
};

inline TreeFormat TreeFormatOf(const Format& f, bool zero_offers) {
  return {LaneFormatOf(f, f), zero_offers};
}

class TreeSumLanes {
 public:
  static constexpr bool kHasExponents = true;

  explicit TreeSumLanes(const Model& m) : m_(m), plan_(MakeTreeLanePlan(m)) {
    for (const TreeLaneStep& step : plan_->steps) {
      formats_.push_back(step.format == nullptr ? TreeFormat()
                                                : TreeFormatOf(*step.format, step.zero_offers));
    }
  }

  static TreeFormat FormatOf(const Model& m, const Format& f) {
    return TreeFormatOf(f, MakeTreeLanePlan(m)->zero_products_offer);
  }
  // A NaN's magnitude is its word.
  static MMADIFF_LANES Operand Decode(const TreeFormat& f, Lanes word) {
    Operand x = DecodeLanes(f, word);
    if (f.zero_offers) x.exponent = Pick(IsZero(x), All(f.min_exponent), x.exponent);
    return x;
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    Column<RowB> column(b, c);
    Evaluate(a, column);
    return column.word;
  }
  // The same for two columns: each node of a chain waits for the previous one.
  template <class RowA, class RowB>
  MMADIFF_LANES void ResultOfTwo(const RowA& a, const RowB& b0, const RowB& b1, Lanes& c0,
                                 Lanes& c1) const {
    Column<RowB> column0(b0, c0), column1(b1, c1);
    Evaluate(a, column0, column1);
    c0 = column0.word;
    c1 = column1.word;
  }

 private:
  // (-1)^sign * magnitude * 2^lsb. The exponent is the one offered to an alignment; the special exponents of
  // NarrowOperand mark infinities, NaNs, and zeros that offer none.
  struct Term {
    MMADIFF_LANES void Set(Lanes s, Lanes m, Lanes l, Lanes e) {
      sign = s, magnitude = m, lsb = l, exponent = e;
    }
    TreeTerm::Class kind;
    int k;              // of a product
    int fraction_bits;  // of a word
    Lanes sign, magnitude, lsb, exponent;
    Lanes special;  // of a partial sum that is not finite: bits of TreeTerm::Special
  };
  template <class RowB>
  struct Column {
    MMADIFF_LANES Column(const RowB& row, Lanes addend) : b(row), c(addend), top(stack) {}
    const RowB b;
    const Lanes c;
    Lanes word;
    Term* top;
    Term stack[kMaxLaneTerms];
  };
  struct Terms {
    const Term* first;
    int count;
    const Term* begin() const { return first; }
    const Term* end() const { return first + count; }
  };

  template <class RowA, class... Columns>
  MMADIFF_LANES void Evaluate(const RowA& a, Columns&... columns) const {
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      const TreeLaneStep& step = plan_->steps[i];
      switch (step.push) {
        case Push::kProduct:
          (PushProduct(a, columns, step.index), ...);
          break;
        case Push::kAddend:
          (PushWord(columns, i, columns.c), ...);
          break;
        case Push::kZero:
          (Pushed(columns, TreeTerm::kWord).Set(Zero(), Zero(), Zero(), All(kNarrowZero)), ...);
          break;
        case Push::kJoin:
          (Join(step, i, a, columns), ...);
          break;
      }
    }
  }

  // Terms are set in place: a copy would load as a vector what was just stored as bytes.
  template <class Column>
  static MMADIFF_LANES Term& Pushed(Column& column, TreeTerm::Class kind) {
    Term& t = *column.top++;
    t.kind = kind;
    return t;
  }
  template <class RowA, class Column>
  MMADIFF_LANES void PushProduct(const RowA& a, Column& column, int k) const {
    Term& t = Pushed(column, TreeTerm::kProduct);
    t.k = k;
    const Lanes exponent = a.Exponent(k) + column.b.Exponent(k);
    t.Set(a.Sign(k) ^ column.b.Sign(k), Product(a.Magnitude(k), column.b.Magnitude(k)),
          exponent - All(m_.a.fraction_bits + m_.b.fraction_bits), exponent);
  }
  // The word has the format of step `i`.
  template <class Column>
  MMADIFF_LANES void PushWord(Column& column, size_t i, Lanes word) const {
    const Operand x = Decode(formats_[i], word);
    Term& t = Pushed(column, TreeTerm::kWord);
    t.fraction_bits = formats_[i].fraction_bits;
    t.Set(x.sign, x.magnitude, x.exponent - All(t.fraction_bits), x.exponent);
  }

  static MMADIFF_LANES Lanes OfferedExponent(const Node& n, const Term& t) {
    switch (t.kind) {
      case TreeTerm::kWord:
        return t.exponent - All(n.word_shift);
      case TreeTerm::kPartial:
        if (n.zero_partial == ZeroOffers::kExponent) return t.exponent;
        return Pick(hn::Eq(t.magnitude, Zero()), All(kNarrowZero), t.exponent);
      case TreeTerm::kProduct:
        break;
    }
    if (n.product_exponent != ProductExponent::kNormalized) return t.exponent;
    const Lanes leading = t.lsb + BitWidth(t.magnitude) - All(1);
    return Pick(hn::Eq(t.magnitude, Zero()), t.exponent, leading);
  }

  // -1 where a word adds nothing.
  static MMADIFF_LANES Lanes Dropped(const Node& n, const Term& t, Lanes lsb) {
    if (n.small_word == SmallWord::kDropped) return Ones(hn::Lt(t.exponent, lsb - All(1)));
    if (n.to == nullptr) return Zero();
    const Lanes shift = lsb - t.lsb;
    const Mask none = hn::Eq(Down(t.magnitude, AtMostAll(shift)), Zero());
    return Ones(hn::And(hn::And(none, AtLeast(shift, 1)), hn::Gt(lsb, All(n.to->min_exponent))));
  }

  static MMADIFF_LANES Sum AlignedSum(const TreeLaneStep& step, Terms terms, Lanes exponent) {
    const Node& n = *step.node;
    Lanes frame = Zero(), sum = Zero(), any = Zero();
    if (n.ones_complement) {
      const Term* const word = std::ranges::find(terms, TreeTerm::kWord, &Term::kind);
      if (word != terms.end()) frame = word->sign;
    }
    for (const Term& t : terms) {
      const bool own = t.kind == TreeTerm::kPartial && n.partial_fraction_bits != kAsNode;
      const int kept = own ? n.partial_fraction_bits : n.fraction_bits;
      const Lanes lsb = exponent - All(kept);
      Lanes x =
          Up(RoundedShift(n.align_rounding, t.magnitude, lsb - t.lsb, t.sign), step.bits - kept);
      if (n.ones_complement) {
        x = x ^ t.sign ^ frame;
        any = any | t.magnitude;
      } else {
        x = WithSign(x, t.sign);
      }
      if (n.small_word != SmallWord::kCut && t.kind == TreeTerm::kWord) {
        const Lanes dropped = Dropped(n, t, lsb) & Ones(hn::Ne(t.magnitude, Zero()));
        x = hn::AndNot(dropped, x);
      }
      sum = sum + x;
    }
    if (n.ones_complement) {
      sum = hn::IfThenZeroElse(hn::Eq(any, Zero()), WithSign(sum, frame));
    }
    const Lanes sign = hn::BroadcastSignBit(sum);
    return {sign, WithSign(sum, sign), exponent - All(step.bits)};
  }

  static HWY_NOINLINE Sum SumInLimbs(Terms terms, Mask special) {
    LimbTerms limbs;
    for (const Term& t : terms) {
      const Mask zero = hn::Eq(t.magnitude, Zero());
      limbs.Add(t.sign, t.magnitude, Pick(zero, All(2 * kNarrowZero), t.lsb));
    }
    return SumOfLimbs(limbs, special);
  }

  template <class RowA, class RowB>
  HWY_NOINLINE void Join(const TreeLaneStep& step, size_t i, const RowA& a,
                         Column<RowB>& column) const {
    const Node& n = *step.node;
    const RowB& b = column.b;
    column.top -= step.index;
    const Terms terms = {column.top, step.index};
    Lanes largest = All(2 * kNarrowZero), exponent = All(n.exponent_floor);
    for (const Term& t : terms) {
      largest = hn::Max(largest, t.exponent);
      exponent = hn::Max(exponent, OfferedExponent(n, t));
    }
    Mask special = AtLeast(largest, kLeastNarrowSpecial);
    if (n.product_limit != kNoLimit) special = hn::Or(special, BeyondLimit(n, terms));
    Sum sum;
    switch (step.sum) {
      case LaneSum::kAligned:
        sum = AlignedSum(step, terms, exponent);
        break;
      case LaneSum::kOne:
        sum = {terms.first->sign, terms.first->magnitude, terms.first->lsb};
        break;
      case LaneSum::kTwo: {
        const Term &x = terms.first[0], &y = terms.first[1];
        sum = AddToOddLanes(x.sign, x.magnitude, x.lsb, y.sign, y.magnitude, y.lsb);
        break;
      }
      case LaneSum::kLimbs:
        sum = SumInLimbs(terms, special);
        break;
    }
    const Mask zero = hn::Eq(sum.magnitude, Zero());
    if (!None(zero)) sum.sign = Pick(zero, SignOfZero(n, terms), sum.sign);
    if (n.to == nullptr) {
      Lanes bits = Zero();
      if (!None(special)) {
        bits = Specials(n, terms, a, b).Bits();
        exponent = Pick(special, All(kNarrowInfinity), exponent);
      }
      Term& t = Pushed(column, TreeTerm::kPartial);
      t.Set(sum.sign, sum.magnitude, sum.lsb, exponent);
      t.special = bits;
      return;
    }
    Lanes word = Rounded(step, sum);
    if (!None(special)) {
      word = Pick(special, SpecialWord(n, terms, a, b, Specials(n, terms, a, b)), word);
    }
    column.word = word;
    if (i + 1 != plan_->steps.size()) PushWord(column, i, word);
  }

  static MMADIFF_LANES Lanes SignOfZero(const Node& n, Terms terms) {
    Lanes all = All(-1), any = Zero(), magnitudes = Zero();
    for (const Term& t : terms) {
      all = all & t.sign;
      any = any | t.sign;
      magnitudes = magnitudes | t.magnitude;
    }
    const Lanes zeros = Ones(hn::Eq(magnitudes, Zero()));
    if (n.to != nullptr && n.zero_sign == NodeZero::kSumPositive) return Zero();
    if (n.to != nullptr && n.zero_sign == NodeZero::kIeee754 &&
        n.output_rounding == Rounding::kDown) {
      return (all & zeros) | hn::AndNot(all, any);
    }
    return all & zeros;
  }

  static MMADIFF_LANES Lanes Rounded(const TreeLaneStep& step, const Sum& sum) {
    const Node& n = *step.node;
    const Format& f = *n.to;
    Format rounded = f;
    if (!HasInfinity(f)) {  // with another exponent bit nothing is too large
      rounded.nonfinite = Nonfinite::kIeee;
      ++rounded.exponent_bits;
      ++rounded.bits;
    }
    const Lanes magnitude =
        RoundPackLanes(rounded, step.rounding, sum.sign, sum.magnitude, sum.lsb) &
        All(LowBits(rounded.bits - 1));
    Lanes sign = sum.sign & All(1ull << SignBit(f));
    if (n.zero_sign == NodeZero::kPositive || n.output_subnormals == Subnormals::kFlushPositive ||
        f.nonfinite == Nonfinite::kNanMinusZero) {
      sign = hn::IfThenZeroElse(hn::Eq(magnitude, Zero()), sign);
    }
    const bool stays = HasInfinity(f) && n.overflow != NodeOverflow::kSaturate;
    if (stays) return magnitude | sign;
    const Mask over = hn::Gt(magnitude, All(MaxFiniteWord(f)));
    return Pick(over, TooLarge(n, sum.sign), magnitude | sign);
  }

  // In a format without infinities, or saturated.
  static MMADIFF_LANES Lanes TooLarge(const Node& n, Lanes sign) {
    const Format& f = *n.to;
    if (n.overflow == NodeOverflow::kSaturate) {
      return (sign & All(1ull << SignBit(f))) | All(MaxFiniteWord(f));
    }
    return NanWords(n, sign);
  }
  static MMADIFF_LANES Lanes NanWords(const Node& n, Lanes sign) {
    return Pick(hn::Ne(sign, Zero()), All(NanWord(n, true)), All(NanWord(n, false)));
  }

  // Which terms are not finite: each 0 or -1.
  struct SpecialTerms {
    MMADIFF_LANES SpecialTerms()
        : factor_nan(Zero()), invalid(Zero()), word_nan(Zero()), plus(Zero()), minus(Zero()) {}
    MMADIFF_LANES Lanes Bits() const {
      return (factor_nan & All(TreeTerm::kFactorNan)) | (invalid & All(TreeTerm::kInvalid)) |
             (word_nan & All(TreeTerm::kWordNan)) | (plus & All(TreeTerm::kPlusInfinity)) |
             (minus & All(TreeTerm::kMinusInfinity));
    }
    Lanes factor_nan, invalid, word_nan, plus, minus;
  };

  static MMADIFF_LANES Mask IsBeyondLimit(const Node& n, const Term& t) {
    const Lanes leading = t.lsb + BitWidth(t.magnitude) - All(1);
    return hn::And(hn::Ne(t.magnitude, Zero()), AtLeast(leading, n.product_limit));
  }
  static MMADIFF_LANES Mask BeyondLimit(const Node& n, Terms terms) {
    Lanes beyond = Zero();
    for (const Term& t : terms) {
      if (t.kind == TreeTerm::kProduct) beyond = beyond | Ones(IsBeyondLimit(n, t));
    }
    return hn::Ne(beyond, Zero());
  }

  template <class RowA, class RowB>
  static MMADIFF_LANES SpecialTerms Specials(const Node& n, Terms terms, const RowA& a,
                                             const RowB& b) {
    SpecialTerms all;
    for (const Term& t : terms) {
      Lanes infinite = Ones(IsInfinite({t.magnitude, t.exponent, t.sign}));
      switch (t.kind) {
        case TreeTerm::kWord:
          all.word_nan = all.word_nan | Ones(IsNan({t.magnitude, t.exponent, t.sign}));
          break;
        case TreeTerm::kPartial: {
          const auto has = [&](int bit) {
            return infinite & Ones(hn::Ne(t.special & All(bit), Zero()));
          };
          all.factor_nan = all.factor_nan | has(TreeTerm::kFactorNan);
          all.invalid = all.invalid | has(TreeTerm::kInvalid);
          all.word_nan = all.word_nan | has(TreeTerm::kWordNan);
          all.plus = all.plus | has(TreeTerm::kPlusInfinity);
          all.minus = all.minus | has(TreeTerm::kMinusInfinity);
          infinite = Zero();
          break;
        }
        case TreeTerm::kProduct: {
          const Operand x = a.At(t.k), y = b.At(t.k);
          const Lanes nan = Ones(hn::Or(IsNan(x), IsNan(y)));
          const Mask none = hn::Or(hn::Eq(x.magnitude, Zero()), hn::Eq(y.magnitude, Zero()));
          infinite = hn::AndNot(nan, Ones(hn::Or(IsInfinite(x), IsInfinite(y))));
          all.factor_nan = all.factor_nan | nan;
          all.invalid = all.invalid | (infinite & Ones(none));
          infinite = hn::AndNot(Ones(none), infinite);
          if (n.product_limit != kNoLimit) {
            infinite = infinite | hn::AndNot(nan, Ones(IsBeyondLimit(n, t)));
          }
          break;
        }
      }
      all.minus = all.minus | (infinite & t.sign);
      all.plus = all.plus | hn::AndNot(t.sign, infinite);
    }
    return all;
  }

  static MMADIFF_LANES Lanes Quieted(const Node& n, Lanes fraction, int fraction_bits, Lanes sign) {
    const Format& f = *n.to;
    if (!HasInfinity(f)) return NanWords(n, sign);
    const int wider = f.fraction_bits - fraction_bits;
    const Lanes payload = fraction & All(LowBits(fraction_bits));
    return Infinities(f, sign) | All(1ull << (f.fraction_bits - 1)) |
           (wider >= 0 ? Up(payload, wider) : Down(payload, -wider));
  }

  // `word` where no term is a NaN, else the first in the order of the node's rule, quieted.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes FirstNan(const Node& n, Terms terms, const RowA& a, const RowB& b,
                               Lanes word) const {
    // The last that is taken is the first.
    const auto take = [&](const Operand& x, int fraction_bits) {
      word = Pick(IsNan(x), Quieted(n, x.magnitude, fraction_bits, x.sign), word);
    };
    const auto take_a = [&](const Term& t) { take(a.At(t.k), m_.a.fraction_bits); };
    const auto take_b = [&](const Term& t) { take(b.At(t.k), m_.b.fraction_bits); };
    const auto take_word = [&](const Term& t) {
      if (t.kind == TreeTerm::kWord) take({t.magnitude, t.exponent, t.sign}, t.fraction_bits);
    };
    const auto is_product = [](const Term& t) { return t.kind == TreeTerm::kProduct; };
    if (n.nan_rule != NodeNan::kPropagateBca) {
      for (const Term* t = terms.end(); t-- != terms.begin();) {
        take_word(*t);
        if (is_product(*t)) take_b(*t), take_a(*t);
      }
      return word;
    }
    const Term* const product = std::ranges::find_if(terms, is_product);
    if (product != terms.end()) take_a(*product);
    for (const Term& t : terms) {
      take_word(t);
      if (&t != product && is_product(t)) take_b(t), take_a(t);
    }
    if (product != terms.end()) take_b(*product);
    return word;
  }

  // Where at least one term is not finite.
  template <class RowA, class RowB>
  HWY_NOINLINE Lanes SpecialWord(const Node& n, Terms terms, const RowA& a, const RowB& b,
                                 const SpecialTerms& s) const {
    const Format& f = *n.to;
    const Lanes invalid = s.invalid | (s.plus & s.minus);
    const Lanes nan = s.factor_nan | s.word_nan | invalid;
    Lanes nans = All(NanWord(n, false));
    switch (n.nan_rule) {
      case NodeNan::kConstants:
        nans = FirstNan(n, terms, a, b, All(n.invalid_nan));
        nans = Pick(hn::Ne(invalid, Zero()), All(n.invalid_nan), nans);
        nans = Pick(hn::Ne(s.factor_nan, Zero()), All(n.factor_nan), nans);
        break;
      case NodeNan::kPropagate:
      case NodeNan::kPropagateBca:
        if (HasInfinity(f)) nans = DefaultNans(f, NanRule::kPropagate);
        nans = FirstNan(n, terms, a, b, nans);
        break;
      case NodeNan::kAllOnes:
        if (HasInfinity(f)) nans = DefaultNans(f, NanRule::kAllOnes);
        break;
      case NodeNan::kQuietPositive:
        if (HasInfinity(f)) nans = DefaultNans(f, NanRule::kQuietPositive);
        break;
    }
    const Lanes infinities = HasInfinity(f) ? Infinities(f, s.minus) : TooLarge(n, s.minus);
    return Pick(hn::Ne(nan, Zero()), nans, infinities);
  }

  const Model m_;
  const std::shared_ptr<const TreeLanePlan> plan_;
  std::vector<TreeFormat> formats_;  // by step
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
