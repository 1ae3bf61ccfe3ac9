#include "fuzz/coverage/bins.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "corpus/cases/operands.h"
#include "sim/format.h"

namespace mmadiff {
namespace {

constexpr int kPlaces = 16;
// A single dot product may reach a bin by accident.
constexpr uint64_t kMinReached = 4;

constexpr const char* kWordNames[kWordKinds] = {"+0", "-0", "subnormal", "normal", "inf", "nan"};
constexpr const char* kIntegerNames[kIntegerKinds] = {"zero", "positive", "negative", "lowest",
                                                      "highest"};
constexpr const char* kPairNames[] = {"zero", "subnormal", "normal", "inf", "nan"};
constexpr const char* kBucketNames[kBuckets] = {"0",     "1",      "2..3",   "4..7",
                                                "8..15", "16..31", "32..63", "64.."};
constexpr int kBucketLow[kBuckets + 1] = {0, 1, 2, 4, 8, 16, 32, 64, 1 << 20};
constexpr const char* kNanNames[kNanReasons] = {"a",     "b",           "addend",
                                                "scale", "inf times 0", "inf - inf"};
constexpr const char* kDroppedNames[kRoundedOffKinds] = {"nothing", "below half", "half, over even",
                                                         "half, over odd", "above half"};

// Why no input of the format has a word of the kind; empty if some has.
std::string WhyNoWord(const Format& f, int kind) {
  if (IsInteger(f)) {
    if (kind == kNegative && (!f.is_signed || f.bits == 1)) return "no negative numbers";
    if (kind == kLowest && !f.is_signed) return "the lowest number is zero";
    if (kind == kPositive && f.bits == 1) return "1 is the highest number";
    return "";
  }
  const bool none = f.nonfinite == Nonfinite::kNone;
  switch (kind) {
    case kPlusZero:
      return f.has_zero ? "" : "the format has no zero";
    case kMinusZero:
      return !f.has_zero                               ? "the format has no zero"
             : !f.is_signed                            ? "the format has no sign"
             : f.nonfinite == Nonfinite::kNanMinusZero ? "that word is the NaN"
                                                       : "";
    case kSubnormal:
      return f.has_zero && f.fraction_bits > 0 ? "" : "the format has no subnormals";
    case kInf:
      return HasInfinity(f) ? "" : "the format has no infinity";
    case kNaN:
      return none ? "the format has no NaN" : "";
    default:
      return "";
  }
}

// Status of a cell: an input is known, none exists, or neither is known.
struct Reach {
  bool certain;
  bool possible = true;
  const char* why = "";
};

// Exponents of one kind of terms at an alignment, and the bits below the leading one: certain
// values, and values that cannot be ruled out.
struct Terms {
  int gap_certain, gap_possible;    // largest gap to the alignment exponent
  int span_certain, span_possible;  // span of bits below the exponent
};

// Whether some gap of the one bucket is possible with some number of lost bits of the other: a term
// `gap` below the alignment exponent, of which `fraction` bits are kept, loses `gap - fraction` to
// `gap - fraction + span` bits, and none if it is at most `fraction` below.
bool HasCell(int gap_max, int span, int fraction, int gap_bucket, int lost_bucket) {
  for (int gap = kBucketLow[gap_bucket]; gap < kBucketLow[gap_bucket + 1] && gap <= gap_max;
       ++gap) {
    if (lost_bucket == 0) {
      if (gap <= fraction) return true;
      continue;
    }
    const int low = std::max(1, gap - fraction), high = gap - fraction + span;
    if (low < kBucketLow[lost_bucket + 1] && high >= kBucketLow[lost_bucket] && low <= high) {
      return true;
    }
  }
  return false;
}

}  // namespace

// Fills a table, one cross after the other.
class BinLister {
 public:
  BinLister(const Model& m, BinTable& table)
      : m_(m), alg_(m.algorithm), table_(table), integer_(IsInteger(m.d)) {
    steps_ = (m.k + alg_.terms - 1) / alg_.terms;
    joins_ = alg_.addend_joins == AddendJoins::kFirstStep;
    product_bits_ = m.a.fraction_bits + m.b.fraction_bits;
    product_max_ = MaxExponent(m.a) + MaxExponent(m.b);
    product_min_ = m.a.min_exponent + m.b.min_exponent;
    terms_ = std::min(alg_.terms, m.k);
    fused_ = alg_.family == Family::kFusedSum;
    tree_ = alg_.family == Family::kTree;
    top_ = product_max_;
    if (alg_.family == Family::kScaledSum) {
      terms_ /= alg_.group_terms;
      if (alg_.group_exponent == GroupExponent::kScales) top_ = 0;
      top_ += 2 * MaxExponent(m.scale);
    }
  }

  void List() {
    ListWords(BinGroup::kA, "a", m_.a, table_.places());
    if (alg_.family == Family::kConversion) return ListConversion();
    ListWords(BinGroup::kB, "b", m_.b, table_.places());
    ListWords(BinGroup::kAddend, "addend", m_.c, 0);
    if (m_.scales() > 0) {
      ListWords(BinGroup::kScaleA, "scale_a", m_.scale, 0);
      ListWords(BinGroup::kScaleB, "scale_b", m_.scale, 0);
    }
    ListPairs();
    if (integer_) return ListIntegerResult();
    ListNanReasons();
    if (fused_) {
      ListAlignedBy();
      ListGaps(BinGroup::kProductGap, "product_gap", ProductTerms());
    }
    // The terms of a scaled sum are groups; their exponents are not traced.
    if (fused_ || alg_.family == Family::kScaledSum) {
      if (joins_) ListGaps(BinGroup::kAddendGap, "addend_gap", AddendTerms());
      ListCarry();
      ListCancellation();
    }
    ListRounding();
    ListResult();
  }

 private:
  void Begin(BinGroup cross, const char* group, int columns) {
    grid_ = &table_.grids_[static_cast<size_t>(cross)];
    grid_->columns = std::max(1, columns);
    group_ = group;
  }
  void Add(std::string row, std::string column, const std::string& unreachable) {
    grid_->bins.push_back(static_cast<int16_t>(table_.bins_.size()));
    table_.bins_.push_back({group_, std::move(row), std::move(column), kMinReached, unreachable});
  }
  void Add(const char* row, const char* column, const Reach& reach) {
    if (reach.certain) return Add(row, column, std::string());
    if (!reach.possible) return Add(row, column, std::string(reach.why));
    grid_->bins.push_back(-1);
  }

  // `places` 0: a list.
  void ListWords(BinGroup cross, const char* group, const Format& f, int places) {
    Begin(cross, group, places);
    const int kinds = IsInteger(f) ? int{kIntegerKinds} : int{kWordKinds};
    for (int kind = 0; kind < kinds; ++kind) {
      for (int place = 0; place < std::max(1, places); ++place) {
        Add(IsInteger(f) ? kIntegerNames[kind] : kWordNames[kind],
            places == 0 ? "" : absl::StrCat("k", place * m_.k / places), WhyNoWord(f, kind));
      }
    }
  }

  // The roundings and the results of a conversion.
  void ListConversion() {
    const Format &a = m_.a, &d = m_.d;
    const bool keeps = alg_.input_subnormals == Subnormals::kKeep;
    const int smallest = keeps ? Lowest(a) : LeastExponent(a);
    const int lost = std::max(a.fraction_bits - d.fraction_bits, Lowest(d) - smallest);
    Begin(BinGroup::kRounding, "rounding", 2);
    for (int dropped = 0; dropped < kRoundedOffKinds; ++dropped) {
      const int needed = BitsNeeded(dropped);
      const bool certain = lost >= needed + 1 || dropped == kNothing;
      for (const char* sign : {"+", "-"}) {
        const bool exists = *sign == '+' || a.is_signed;
        Add(kDroppedNames[dropped], sign,
            Reach{certain && exists && d.fraction_bits > 0, lost >= needed && exists,
                  exists ? "no operand has bits below an ulp" : "a has no sign"});
      }
    }
    Begin(BinGroup::kResult, "result", 0);
    Add("+0", "", Reach{a.has_zero && d.has_zero, d.has_zero, "the format has no zero"});
    Add("-0", "", ConvertedMinusZero());
    const bool subnormals = d.has_zero && d.fraction_bits > 0 &&
                            alg_.output_subnormals == Subnormals::kKeep &&
                            smallest < d.min_exponent;
    Add("subnormal", "", Reach{subnormals, subnormals, "none, or no operand is so small"});
    Add("normal", "", Reach{true});
    ListBeyondRange();
  }
  Reach ConvertedMinusZero() const {
    if (!WhyNoWord(m_.d, kMinusZero).empty() || alg_.relu == Relu::kClamp || !m_.a.is_signed ||
        alg_.output_subnormals == Subnormals::kFlushPositive) {
      return {false, false, "no zero keeps a sign"};
    }
    return {WhyNoWord(m_.a, kMinusZero).empty() &&
            alg_.input_subnormals != Subnormals::kFlushPositive};
  }
  void ListBeyondRange() {
    const Format &a = m_.a, &d = m_.d;
    const bool keeps = alg_.saturation != Saturation::kAll, nan = d.nonfinite != Nonfinite::kNone;
    Add("inf", "",
        Reach{HasInfinity(a) && HasInfinity(d) && keeps, HasInfinity(a) && HasInfinity(d) && keeps,
              "no infinity is an operand and a result"});
    const bool of_nan = a.nonfinite != Nonfinite::kNone;
    const bool made = !HasInfinity(d) && keeps;  // in place of an infinity
    Add("nan", "", Reach{nan && of_nan, nan && (of_nan || made), "no NaN is operand or result"});
    const bool infinite = HasInfinity(d) && alg_.saturation == Saturation::kNone;
    const bool beyond = MaxExponent(a) > MaxExponent(d);
    Add("overflow", "",
        Reach{infinite && beyond && alg_.output_rounding == Rounding::kNearestEven,
              infinite && MaxExponent(a) >= MaxExponent(d), "no number becomes infinite"});
  }

  void ListPairs() {
    constexpr int kKinds = 5;
    Begin(BinGroup::kPairs, "pairs", kKinds);
    const auto why = [&](const Format& f, int kind) {
      return integer_    ? WhyNoWord(f, kind)
             : kind == 0 ? WhyNoWord(f, kPlusZero)
                         : WhyNoWord(f, kind + 1);
    };
    const auto& names = integer_ ? kIntegerNames : kPairNames;
    for (int a = 0; a < kKinds; ++a) {
      for (int b = 0; b < kKinds; ++b) {
        const std::string of_a = why(m_.a, a), of_b = why(m_.b, b);
        Add(names[a], names[b], of_a.empty() ? of_b : of_a);
      }
    }
  }

  void ListNanReasons() {
    const bool inf_a = HasInfinity(m_.a), inf_b = HasInfinity(m_.b), inf_c = HasInfinity(m_.c);
    const auto nan = [](const Format& f) {
      return Reach{f.nonfinite != Nonfinite::kNone, false, "the format has no NaN"};
    };
    const bool scaled = m_.scales() > 0;
    const Reach reach[kNanReasons] = {
        nan(m_.a),
        nan(m_.b),
        nan(m_.c),
        scaled ? nan(m_.scale) : Reach{false, false, "no scales"},
        {(inf_a && m_.b.has_zero) || (inf_b && m_.a.has_zero), false, "no infinity in a or b"},
        {(inf_a || inf_b) && (inf_c || m_.k > 1), false, "no two infinite terms"}};
    Begin(BinGroup::kNanFrom, "nan_from", 0);
    for (int r = 0; r < kNanReasons; ++r) Add(kNanNames[r], "", reach[r]);
  }

  void ListAlignedBy() {
    Begin(BinGroup::kAlignedBy, "aligned_by", 0);
    for (int p = 0; p < table_.places(); ++p) {
      const bool above = product_max_ >= alg_.exponent_floor;
      Add(absl::StrCat("k", p * m_.k / table_.places()), "",
          std::string(above ? "" : "the floor is above all products"));
    }
    // If c is added last, the sum of an earlier step takes its place.
    Add("addend", "", Reach{joins_ || steps_ > 1, false, "the addend is not aligned"});
    // All terms zero.
    Add("floor", "", Reach{alg_.exponent_floor != kNoFloor, false, "there is no floor"});
  }

  // Products may be normalized; subnormal operands have the smallest exponent either way.
  Terms ProductTerms() const {
    const bool raw = alg_.product_exponent == ProductExponent::kRaw;
    int top = alg_.exponent_floor == kNoFloor ? -1 << 20 : alg_.exponent_floor;
    if (joins_) top = std::max(top, MaxExponent(m_.c));
    if (terms_ > 1) top = std::max(top, product_max_);
    const int highest = steps_ > 1 ? std::max(top, MaxExponent(m_.d)) : top;
    const int lowest = raw ? product_min_ : Lowest(m_.a) + Lowest(m_.b);
    // With two one-bit fractions, 1.5 * 1.5 = 2.25 leaves a span out.
    const bool all_spans = raw || product_bits_ > 2;
    return {std::max(0, top - product_min_), std::max(0, highest + !raw - lowest),
            all_spans ? product_bits_ : product_bits_ / 2, product_bits_ + !raw};
  }
  // For c and for the sums that one step passes to the next; the slack covers the further
  // possibilities of an alignment by a zero product.
  Terms AddendTerms() const {
    const bool own = alg_.addend_exponent == AddendExponent::kOwnFormat;
    const bool raw = alg_.product_exponent == ProductExponent::kRaw;
    const int least = own ? m_.c.min_exponent : Lowest(m_.c);
    const int later = steps_ > 1 ? m_.d.min_exponent : least;
    const int top = std::max(top_ + !raw, alg_.exponent_floor);
    const int bits =
        steps_ > 1 ? std::max(m_.c.fraction_bits, m_.d.fraction_bits) : m_.c.fraction_bits;
    return {std::max(0, top_ - m_.c.min_exponent), std::max(0, top + 1 - std::min(least, later)),
            m_.c.fraction_bits, bits};
  }

  void ListGaps(BinGroup cross, const char* group, const Terms& terms) {
    Begin(cross, group, kBuckets);
    const int fraction = alg_.fraction_bits;
    for (int gap = 0; gap < kBuckets; ++gap) {
      for (int lost = 0; lost < kBuckets; ++lost) {
        Add(kBucketNames[gap], kBucketNames[lost],
            Reach{HasCell(terms.gap_certain, terms.span_certain, fraction, gap, lost),
                  HasCell(terms.gap_possible, terms.span_possible, fraction, gap, lost),
                  kBucketLow[gap] > terms.gap_possible
                      ? "no two terms are so far apart"
                      : "so many bits cannot be lost at that gap"});
      }
    }
  }

  // A sum of n terms of one width is at most ceil(log2 n) bits wider; 2^g - 1 + 2 terms can make it
  // g bits wider.
  void ListCarry() {
    Begin(BinGroup::kCarry, "carry", 0);
    const int most = std::bit_width(static_cast<unsigned>(terms_));  // for terms_ + 1 terms
    for (int bits = 0; bits <= 9; ++bits) {
      // 5 * 1.5 is two bits wider than 1.5, and single products of two bits are not wider than
      // that.
      const bool wide = bits < 3 || product_bits_ > 2 || alg_.group_terms > 1;
      const bool certain = bits == 0 || (terms_ > 1 << (bits - 1) && wide);
      Add(absl::StrCat(bits).c_str(), "",
          Reach{certain, bits <= most, "too few terms for so large a sum"});
    }
  }

  // A nonzero sum narrower than its widest term by this many bits: x - x + the rest. At most the
  // kept bits.
  void ListCancellation() {
    Begin(BinGroup::kCancellation, "cancellation", 0);
    const int kept = alg_.fraction_bits, apart = product_max_ - product_min_;
    const int third = joins_ ? std::max(apart, top_ - m_.c.min_exponent) : apart;
    // Groups are wider than their exponent suggests.
    const int above = fused_ ? 2
                             : 6 + MaxExponent(m_.a) + MaxExponent(m_.b) +
                                   std::bit_width(static_cast<unsigned>(alg_.group_terms));
    const bool three = joins_ ? terms_ >= 2 : terms_ >= 3;
    for (int b = 0; b < kBuckets; ++b) {
      const int low = kBucketLow[b];
      Add(kBucketNames[b], "",
          Reach{low == 0 || (three && low <= kept && low <= third), low <= kept + above,
                "so many bits are not kept"});
    }
    Add("all", "", Reach{true});
  }

  // Bits below an ulp that can be dropped so.
  static int BitsNeeded(int dropped) {
    return dropped == kNothing ? 0 : dropped == kHalfOverEven || dropped == kHalfOverOdd ? 1 : 2;
  }

  void ListRounding() {
    Begin(BinGroup::kRounding, "rounding", 2);
    // Bits of a sum below the last bit of the output: certain, and maximum.
    int certain = 2, possible = 2;
    if (tree_) {
      certain = 0;
    } else if (fused_) {
      const int below = alg_.fraction_bits - alg_.output_fraction_bits;
      const int carry = std::bit_width(static_cast<unsigned>(terms_));
      // A carry, if terms have enough bits to leave some below it.
      certain = below + (product_bits_ > 2 && (terms_ > 1 || joins_));
      possible = below + 2 + carry;
      if (alg_.addend_joins != AddendJoins::kFirstStep) possible = 2;
    } else if (alg_.family != Family::kFmaChain && alg_.family != Family::kExactSum) {
      certain = alg_.fraction_bits - alg_.output_fraction_bits;
    }
    for (int dropped = 0; dropped < kRoundedOffKinds; ++dropped) {
      const int needed = BitsNeeded(dropped);
      for (const char* sign : {"+", "-"}) {
        Add(kDroppedNames[dropped], sign,
            Reach{certain >= needed, possible >= needed, "no sum has bits below an ulp"});
      }
    }
  }

  Reach MinusZero() const {
    if (tree_) return {false};
    if (alg_.zero_sign == ZeroSign::kPositive) return {false, false, "every zero result is +0"};
    if (alg_.output_subnormals == Subnormals::kFlushPositive) {
      return {false, false, "they become +0"};
    }
    return {alg_.zero_sign == ZeroSign::kIeee && joins_ &&
            alg_.addend_subnormals != Subnormals::kFlushPositive};
  }
  Reach Subnormal() const {
    if (alg_.output_subnormals != Subnormals::kKeep) return {false, false, "they become zero"};
    const int product = Lowest(m_.a) + Lowest(m_.b), addend = Lowest(m_.c);
    if (std::min(product, addend) >= m_.d.min_exponent) {
      return {false, false, "no sum is so small"};
    }
    const bool kept =
        alg_.input_subnormals == Subnormals::kKeep && alg_.addend_subnormals == Subnormals::kKeep;
    const bool aligned = !fused_ || alg_.exponent_floor - alg_.fraction_bits < m_.d.min_exponent;
    const bool simple =
        fused_ || alg_.family == Family::kFmaChain || alg_.family == Family::kExactSum;
    return {kept && aligned && simple && !tree_};
  }
  Reach Overflow() const {
    const int largest = product_max_ + 2 + std::bit_width(static_cast<unsigned>(m_.k));
    const int top = MaxExponent(m_.d);
    const bool scaled = m_.scales() > 0;
    if (!scaled && largest < top - m_.d.fraction_bits - 1) {
      return {false, false, "products are less than an ulp of the largest number"};
    }
    const bool nearest = alg_.output_rounding == Rounding::kNearestEven;
    return {!tree_ && product_max_ > top &&
            (alg_.range_overflow == RangeOverflow::kInfinity || nearest) &&
            alg_.family != Family::kTwoStageSum};
  }

  void ListResult() {
    Begin(BinGroup::kResult, "result", 0);
    Add("+0", "", Reach{true});
    Add("-0", "", MinusZero());
    Add("subnormal", "", Subnormal());
    Add("normal", "", Reach{true});
    const bool inf = HasInfinity(m_.a) || HasInfinity(m_.b) || HasInfinity(m_.c);
    const bool nan = m_.a.nonfinite != Nonfinite::kNone || m_.c.nonfinite != Nonfinite::kNone;
    Add("inf", "", Reach{inf && HasInfinity(m_.d), HasInfinity(m_.d), "d has no infinity"});
    Add("nan", "", Reach{nan});
    Add("overflow", "", Overflow());
  }

  void ListIntegerResult() {
    Begin(BinGroup::kResult, "result", 0);
    const bool sign = m_.a.is_signed || m_.b.is_signed;
    for (int kind = 0; kind < kIntegerKinds; ++kind) {
      // With unsigned products, only c decides; limits that do not saturate are reached only by
      // chance.
      const bool limit = kind == kLowest || kind == kHighest;
      Add(kIntegerNames[kind], "", Reach{!limit});
    }
    const bool wide = m_.c.bits == m_.d.bits && m_.c.is_signed;
    Add("above the range", "", Reach{wide});
    Add("below the range", "", Reach{wide && sign, sign, "no product is negative"});
  }

  const Model& m_;
  const Algorithm& alg_;
  BinTable& table_;
  BinTable::Grid* grid_ = nullptr;
  const char* group_ = "";
  bool integer_, joins_, fused_;
  bool tree_;  // nothing is certain from its parameters
  int steps_, terms_, product_bits_, product_max_, product_min_;
  int top_;  // largest exponent of a product or a group
};

std::string Bin::name() const {
  return absl::StrCat(group, "/", row, column.empty() ? "" : "/", column);
}

int KindOf(const Format& f, uint64_t word) {
  if (IsInteger(f)) {
    const int64_t x = DecodeInteger(f, word);
    const int64_t low = f.is_signed ? -(int64_t{1} << (f.bits - 1)) : 0;
    const int64_t high = low + static_cast<int64_t>(LowBits(f.bits));
    if (x == 0) return kZero;
    return x == low ? kLowest : x == high ? kHighest : x < 0 ? kNegative : kPositive;
  }
  const Unpacked u = Decode(f, word);
  if (u.kind != Kind::kFinite) return u.kind == Kind::kNan ? kNaN : kInf;
  if (u.significand == 0) return u.negative ? kMinusZero : kPlusZero;
  return u.significand >> f.fraction_bits == 0 ? kSubnormal : kNormal;
}

int BucketOf(int n) {
  return n <= 1
             ? std::max(n, 0)
             : std::min(kBuckets - 1, static_cast<int>(std::bit_width(static_cast<unsigned>(n))));
}

BinTable::BinTable(const Model& model) : k_(model.k), places_(std::min(model.k, kPlaces)) {
  BinLister(model, *this).List();
}

int BinTable::At(BinGroup cross, int row, int column) const {
  const Grid& grid = grids_[static_cast<size_t>(cross)];
  const size_t cell = static_cast<size_t>(row) * grid.columns + column;
  return cell < grid.bins.size() ? grid.bins[cell] : -1;
}

std::vector<Bin> BinsOf(const Model& model) { return BinTable(model).bins(); }

}  // namespace mmadiff
