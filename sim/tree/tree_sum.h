// Evaluates a tree (sim/tree/tree.h): one dot product, scalar, of any formats.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/exact_sum.h"
#include "sim/fused_sum.h"
#include "sim/round.h"
#include "sim/trace.h"
#include "sim/tree/tree.h"

namespace mmadiff {

inline constexpr int kMaxTreeDepth = 2 * kMaxK + 8;  // terms on the stack
using TreeLongSum = LongSumOf<160>;                  // sums of products of f64

struct TreeTerm {
  enum Class : uint8_t { kProduct, kWord, kPartial };
  enum Special : uint8_t {  // bits
    kFactorNan = 1,
    kInvalid = 2,
    kWordNan = 4,
    kPlusInfinity = 8,
    kMinusInfinity = 16,
  };
  Class kind = kWord;
  bool negative = false;
  bool offers = false;  // whether `exponent` counts, unless the magnitude is zero
  uint8_t special = 0;
  int exponent = 0;  // offered to an alignment
  int lsb = 0;       // of a NaN word: fraction bits of its format
  unsigned __int128 magnitude = 0;
  const Unpacked* a = nullptr;  // operands of a product
  const Unpacked* b = nullptr;
};

// The terms of a node.
struct TreeTerms {
  TreeTerm* first;
  int count;
  TreeTerm* begin() const { return first; }
  TreeTerm* end() const { return first + count; }
};

inline TreeTerm WordTerm(const Format& f, const Unpacked& x) {
  TreeTerm t = {.negative = x.negative, .offers = true, .exponent = x.exponent};
  t.lsb = x.exponent - f.fraction_bits;
  t.magnitude = x.significand;
  if (x.kind == Kind::kFinite) return t;
  t.offers = false;
  t.special = x.kind == Kind::kNan ? TreeTerm::kWordNan
              : x.negative         ? TreeTerm::kMinusInfinity
                                   : TreeTerm::kPlusInfinity;
  t.lsb = f.fraction_bits;
  t.magnitude = x.kind == Kind::kNan ? x.significand & LowBits(f.fraction_bits) : 0;
  return t;
}

// An integer as a number of no fraction bits.
inline Unpacked DecodeAny(const Format& f, uint64_t word) {
  if (!IsInteger(f)) return Decode(f, word);
  const int64_t x = DecodeInteger(f, word);
  return {Magnitude(x), 0, x < 0, Kind::kFinite};
}

inline TreeTerm ProductTerm(const Model& m, const Unpacked& a, const Unpacked& b) {
  TreeTerm t = {.kind = TreeTerm::kProduct, .negative = a.negative != b.negative, .a = &a, .b = &b};
  const auto zero = [](const Unpacked& x) { return x.kind == Kind::kFinite && x.significand == 0; };
  if (a.kind != Kind::kFinite || b.kind != Kind::kFinite) {
    t.special = a.kind == Kind::kNan || b.kind == Kind::kNan ? TreeTerm::kFactorNan
                : zero(a) || zero(b)                         ? TreeTerm::kInvalid
                : t.negative                                 ? TreeTerm::kMinusInfinity
                                                             : TreeTerm::kPlusInfinity;
    return t;
  }
  t.offers = true;
  t.exponent = a.exponent + b.exponent;
  t.lsb = t.exponent - m.a.fraction_bits - m.b.fraction_bits;
  t.magnitude = static_cast<unsigned __int128>(a.significand) * b.significand;
  if (m.algorithm.bit_operation == BitOperation::kXor) t.magnitude = a.significand ^ b.significand;
  return t;
}

inline bool Offers(const Node& n, const TreeTerm& t) {
  const ZeroOffers zero = t.kind == TreeTerm::kProduct ? n.zero_product
                          : t.kind == TreeTerm::kWord  ? n.zero_word
                                                       : n.zero_partial;
  return t.offers && (t.magnitude != 0 || zero == ZeroOffers::kExponent);
}

inline int OfferedExponent(const Model& m, const Node& n, const TreeTerm& t) {
  if (t.kind == TreeTerm::kWord) return t.exponent - n.word_shift;
  if (t.kind == TreeTerm::kPartial || n.product_exponent == ProductExponent::kRaw) {
    return t.exponent;
  }
  if (n.product_exponent == ProductExponent::kAsF16) {
    return ExponentAsF16(m.a, *t.a) + ExponentAsF16(m.b, *t.b);
  }
  return t.magnitude == 0 ? t.exponent : t.lsb + BitWidth(t.magnitude) - 1;
}

// (-1)^negative * magnitude * 2^lsb; a zero has the sign of a zero result.
using TreeSumValue = SignedSum<unsigned __int128>;

// The exact sum, rounded to odd if it has more than 96 bits.
inline TreeSumValue ExactSumOf(TreeTerms terms) {
  int low = INT32_MAX, high = INT32_MIN;
  for (const TreeTerm& t : terms) {
    if (t.magnitude == 0) continue;
    low = std::min(low, t.lsb);
    high = std::max(high, t.lsb + BitWidth(t.magnitude));
  }
  if (low > high) return {false, 0, 0};
  if (high - low <= 116) {  // at most 2^10 terms
    __int128 sum = 0;
    for (const TreeTerm& t : terms) {
      if (t.magnitude == 0) continue;
      const __int128 x = static_cast<__int128>(t.magnitude << (t.lsb - low));
      sum += t.negative ? -x : x;
    }
    return {sum < 0, static_cast<unsigned __int128>(sum < 0 ? -sum : sum), low};
  }
  TreeLongSum sum(low, (high - low) / 32 + 4);
  for (const TreeTerm& t : terms) {
    const uint64_t upper = static_cast<uint64_t>(t.magnitude >> 64);
    if (t.magnitude == 0) continue;
    sum.Add(t.negative, static_cast<uint64_t>(t.magnitude), t.lsb);
    if (upper != 0) sum.Add(t.negative, upper, t.lsb + 64);
  }
  return sum.ToOdd<unsigned __int128>();
}

inline int KeptBits(const Node& n, const TreeTerm& t) {
  return t.kind == TreeTerm::kPartial && n.partial_fraction_bits != kAsNode
             ? n.partial_fraction_bits
             : n.fraction_bits;
}

// Whether a word adds nothing. `exponent` is the alignment exponent.
inline bool IsDropped(const Node& n, const TreeTerm& t, int exponent) {
  if (n.small_word == SmallWord::kCut || t.kind != TreeTerm::kWord || t.magnitude == 0)
    return false;
  const int lsb = exponent - n.fraction_bits;
  if (n.small_word == SmallWord::kDropped) return t.exponent < lsb - 1;
  const int shift = lsb - t.lsb;
  return n.to != nullptr && lsb > n.to->min_exponent && shift > 0 &&
         (shift >= 128 || t.magnitude >> shift == 0);
}

// The sum of the terms, each cut below the alignment exponent.
template <class Trace>
TreeSumValue AlignedSumOf(const Node& n, TreeTerms terms, int exponent, int step, Trace& trace) {
  int bits = 0;
  for (const TreeTerm& t : terms) bits = std::max(bits, KeptBits(n, t));
  const int lsb = exponent - bits;
  bool frame = false;  // sign of the first word
  if (n.ones_complement) {
    const auto* word = std::ranges::find(terms, TreeTerm::kWord, &TreeTerm::kind);
    frame = word != terms.end() && word->negative;
    if (std::ranges::all_of(terms, [](const TreeTerm& t) { return t.magnitude == 0; })) {
      return {false, 0, lsb};
    }
  }
  __int128 sum = 0;
  for (const TreeTerm& t : terms) {
    if (IsDropped(n, t, exponent)) continue;
    const int term_lsb = exponent - KeptBits(n, t);
    const Shifted<unsigned __int128> cut = ShiftRight<unsigned __int128>(
        t.magnitude, t.magnitude == 0 ? 1 : term_lsb - t.lsb, n.align_rounding, t.negative);
    if (t.magnitude != 0) {
      trace(Event{Stage::kAlignedTerm, step, -1, t.negative, cut.magnitude, term_lsb, cut.inexact});
    }
    const __int128 x = static_cast<__int128>(cut.magnitude << (term_lsb - lsb));
    if (n.ones_complement) {
      sum += t.negative == frame ? x : ~x;
    } else {
      sum += t.negative ? -x : x;
    }
  }
  if (n.ones_complement && frame) sum = -sum;
  return {sum < 0, static_cast<unsigned __int128>(sum < 0 ? -sum : sum), lsb};
}

inline Algorithm RoundingOf(const Node& n) {
  Algorithm a = {Family::kTree};
  a.output_fraction_bits =
      n.output_fraction_bits == kAllBits ? n.to->fraction_bits : n.output_fraction_bits;
  a.output_rounding = n.output_rounding;
  a.range_overflow =
      n.overflow == NodeOverflow::kIeee ? RangeOverflow::kIeee : RangeOverflow::kInfinity;
  a.output_subnormals = n.output_subnormals;
  a.tininess = n.tininess;
  return a;
}

// The NaN of a format without infinities; the largest number if it has none.
inline uint64_t NanWord(const Node& n, bool negative) {
  const Format& f = *n.to;
  const uint64_t sign = negative && f.is_signed ? 1ull << SignBit(f) : 0;
  if (f.nonfinite == Nonfinite::kNanMinusZero) return 1ull << SignBit(f);
  if (f.nonfinite == Nonfinite::kNone) return sign | MaxFiniteWord(f);
  return sign | DefaultNan(f, NanRule::kAllOnes);
}

// Rounds x to the node's format.
inline uint64_t RoundedWord(const Node& n, const TreeSumValue& x, bool* inexact) {
  const Format& f = *n.to;
  if (IsInteger(f)) {
    const int64_t max = static_cast<int64_t>(LowBits(f.bits - 1));
    const int64_t value = static_cast<int64_t>(x.negative ? -x.magnitude : x.magnitude);
    *inexact = value > max || value < -max - 1;
    const bool saturates = n.overflow == NodeOverflow::kSaturate && *inexact;
    return static_cast<uint64_t>(!saturates ? value : value > 0 ? max : -max - 1) & LowBits(f.bits);
  }
  const uint64_t sign = x.negative && f.is_signed ? 1ull << SignBit(f) : 0;
  uint64_t word = 0;
  if (HasInfinity(f)) {
    word = RoundPack(f, RoundingOf(n), x.negative, x.magnitude, x.lsb, inexact);
    const bool infinite = (word & ~sign) == InfinityWord(f, false);
    if (infinite && n.overflow == NodeOverflow::kSaturate) word = sign | MaxFiniteWord(f);
  } else {  // with another exponent bit nothing is too large
    Format wide = f;
    wide.nonfinite = Nonfinite::kIeee;
    ++wide.exponent_bits;
    ++wide.bits;
    word = RoundPack(wide, RoundingOf(n), x.negative, x.magnitude, x.lsb, inexact);
    const uint64_t magnitude = word & LowBits(wide.bits - 1);
    if (magnitude > MaxFiniteWord(f)) {
      *inexact = true;
      return n.overflow == NodeOverflow::kSaturate ? sign | MaxFiniteWord(f)
                                                   : NanWord(n, x.negative);
    }
    word = sign | magnitude;
  }
  const bool unsigned_zeros = n.zero_sign == NodeZero::kPositive ||
                              n.output_subnormals == Subnormals::kFlushPositive ||
                              f.nonfinite == Nonfinite::kNanMinusZero;
  return unsigned_zeros && (word & ~sign) == 0 ? 0 : word;
}

struct TreeNan {
  uint64_t fraction;
  int fraction_bits;
  bool negative;
};

inline uint64_t QuietedNan(const Node& n, const TreeNan& nan) {
  const Format& f = *n.to;
  if (!HasInfinity(f)) return NanWord(n, nan.negative);
  const int wider = f.fraction_bits - nan.fraction_bits;
  const uint64_t fraction = wider >= 0 ? nan.fraction << wider : nan.fraction >> -wider;
  return InfinityWord(f, nan.negative) | (fraction | 1ull << (f.fraction_bits - 1))
                                             << f.ignored_bits;
}

// The first NaN of the terms in the order of kPropagate or kPropagateBca; false if no term is a NaN.
inline bool FirstNan(const Model& m, const Node& n, TreeTerms terms, TreeNan* nan) {
  const auto operand = [&](const Format& f, const Unpacked* x) {
    if (x == nullptr || x->kind != Kind::kNan) return false;
    *nan = {x->significand & LowBits(f.fraction_bits), f.fraction_bits, x->negative};
    return true;
  };
  const auto word = [&](const TreeTerm& t) {
    if (t.kind != TreeTerm::kWord || t.special != TreeTerm::kWordNan) return false;
    *nan = {static_cast<uint64_t>(t.magnitude), t.lsb, t.negative};
    return true;
  };
  if (n.nan_rule == NodeNan::kPropagateBca) {
    const TreeTerm* const product = std::ranges::find(terms, TreeTerm::kProduct, &TreeTerm::kind);
    if (product != terms.end() && operand(m.b, product->b)) return true;
    for (const TreeTerm* t = terms.end(); t-- != terms.begin();) {
      if (t != product && (operand(m.a, t->a) || operand(m.b, t->b) || word(*t))) return true;
    }
    return product != terms.end() && operand(m.a, product->a);
  }
  return std::ranges::any_of(
      terms, [&](const TreeTerm& t) { return operand(m.a, t.a) || operand(m.b, t.b) || word(t); });
}

// The word of a sum of which not all terms are finite. `specials` are those of all terms.
inline uint64_t SpecialWord(const Model& m, const Node& n, TreeTerms terms, unsigned specials) {
  const Format& f = *n.to;
  constexpr unsigned kBoth = TreeTerm::kPlusInfinity | TreeTerm::kMinusInfinity;
  const bool invalid = (specials & TreeTerm::kInvalid) != 0 || (specials & kBoth) == kBoth;
  const bool nan = invalid || (specials & (TreeTerm::kFactorNan | TreeTerm::kWordNan)) != 0;
  TreeNan first = {};
  switch (n.nan_rule) {
    case NodeNan::kConstants:
      if (specials & TreeTerm::kFactorNan) return n.factor_nan;
      if (invalid) return n.invalid_nan;
      if (nan) return FirstNan(m, n, terms, &first) ? QuietedNan(n, first) : n.invalid_nan;
      break;
    case NodeNan::kPropagate:
    case NodeNan::kPropagateBca:
      if (nan && FirstNan(m, n, terms, &first)) return QuietedNan(n, first);
      if (nan) return HasInfinity(f) ? DefaultNan(f, NanRule::kPropagate) : NanWord(n, false);
      break;
    case NodeNan::kAllOnes:
    case NodeNan::kQuietPositive:
      if (nan && !HasInfinity(f)) return NanWord(n, false);
      if (nan) {
        return DefaultNan(
            f, n.nan_rule == NodeNan::kAllOnes ? NanRule::kAllOnes : NanRule::kQuietPositive);
      }
      break;
  }
  const bool negative = (specials & TreeTerm::kMinusInfinity) != 0;
  if (HasInfinity(f)) return InfinityWord(f, negative);
  const uint64_t sign = negative && f.is_signed ? 1ull << SignBit(f) : 0;
  return n.overflow == NodeOverflow::kSaturate ? sign | MaxFiniteWord(f) : NanWord(n, negative);
}

// The scales of a node's first product.
struct TreeScales {
  const Unpacked *a = nullptr, *b = nullptr;
  uint64_t significand() const { return a->significand * b->significand; }
};

// Marks the specials that the scales make of products.
inline void ApplySpecialScales(TreeTerms terms, const TreeScales& s) {
  const bool infinite = s.a->kind == Kind::kInfinite || s.b->kind == Kind::kInfinite;
  const bool nan = s.a->kind == Kind::kNan || s.b->kind == Kind::kNan;
  const bool zero = s.significand() == 0;
  for (TreeTerm& t : terms) {
    constexpr unsigned kAny = TreeTerm::kPlusInfinity | TreeTerm::kMinusInfinity;
    if (nan) t.special |= TreeTerm::kFactorNan;
    if (infinite && t.special == 0) {
      t.special = t.a != nullptr && (t.a->significand == 0 || t.b->significand == 0)
                      ? TreeTerm::kInvalid
                  : t.negative ? TreeTerm::kMinusInfinity
                               : TreeTerm::kPlusInfinity;
    }
    if (zero && (t.special & kAny) != 0) t.special |= TreeTerm::kInvalid;
  }
}

// One node: its terms to a word or a partial sum.
template <class Trace>
TreeTerm NodeResult(const Model& m, const Node& n, TreeTerms terms, const TreeScales& scales,
                    int step, uint64_t* word, Trace& trace) {
  if (n.product_limit != kNoLimit) {
    for (TreeTerm& t : terms) {
      if (t.kind != TreeTerm::kProduct || t.special != 0 || t.magnitude == 0) continue;
      if (BitWidth(t.magnitude) - 1 + t.lsb < n.product_limit) continue;
      t.special = t.negative ? TreeTerm::kMinusInfinity : TreeTerm::kPlusInfinity;
    }
  }
  if (scales.a != nullptr) ApplySpecialScales(terms, scales);
  unsigned specials = 0;
  for (const TreeTerm& t : terms) specials |= t.special;
  if (specials != 0) {
    if (n.to == nullptr) {
      return {.kind = TreeTerm::kPartial, .special = static_cast<uint8_t>(specials)};
    }
    *word = SpecialWord(m, n, terms, specials);
    trace(Event{Stage::kSpecial, step, -1, false, *word, 0, false});
    return WordTerm(*n.to, Decode(*n.to, *word));
  }
  int exponent = n.exponent_floor;
  bool offered = exponent != kNoFloor;
  for (const TreeTerm& t : terms) {
    if (!Offers(n, t)) continue;
    exponent = std::max(exponent, OfferedExponent(m, n, t));
    offered = true;
  }
  const bool cuts = n.fraction_bits != kExact && offered;
  if (cuts) trace(Event{Stage::kAlignExponent, step, -1, false, 0, exponent, false});
  TreeSumValue sum = cuts ? AlignedSumOf(n, terms, exponent, step, trace) : ExactSumOf(terms);
  bool negative = true, positive = true;  // all terms
  bool zeros = true;
  for (const TreeTerm& t : terms) {
    negative &= t.negative;
    positive &= !t.negative;
    zeros &= t.magnitude == 0;
  }
  if (sum.magnitude == 0) sum.negative = negative && zeros;
  if (scales.a != nullptr) {
    const int e = scales.a->exponent + scales.b->exponent;
    if (scales.significand() == 0) {
      offered = false;
      sum.negative = negative;
    }
    sum.magnitude *= scales.significand();
    sum.lsb += e - 2 * m.scale.fraction_bits;
    exponent = n.scale == NodeScale::kAlone ? e : exponent + e;
  }
  trace(Event{Stage::kSum, step, -1, sum.negative, sum.magnitude, sum.lsb, false});
  if (n.to == nullptr) {
    return {.kind = TreeTerm::kPartial,
            .negative = sum.negative,
            .offers = offered,
            .exponent = exponent,
            .lsb = sum.lsb,
            .magnitude = sum.magnitude};
  }
  if (sum.magnitude == 0) {
    if (n.zero_sign == NodeZero::kSumPositive) sum.negative = false;
    if (n.zero_sign == NodeZero::kIeee754 && n.output_rounding == Rounding::kDown) {
      sum.negative |= !positive && !negative;
    }
  }
  bool inexact = false;
  *word = RoundedWord(n, sum, &inexact);
  trace(Event{Stage::kRounded, step, -1, false, *word, 0, inexact});
  return WordTerm(*n.to, DecodeAny(*n.to, *word));
}

// a and b hold m.k decoded operands, then the scales; c is a word of m.c. The model's tree must be
// valid for its formats (WhyInvalid).
template <class Trace>
uint64_t TreeSum(const Model& m, const Unpacked* a, const Unpacked* b, uint64_t c, Trace& trace) {
  const Tree& tree = *m.algorithm.tree;
  // Raw storage: to initialize all terms would cost more than most evaluations.
  alignas(TreeTerm) unsigned char storage[sizeof(TreeTerm) * kMaxTreeDepth];
  TreeTerm* const stack = reinterpret_cast<TreeTerm*>(storage);
  int depth = 0, step = 0;
  uint64_t word = 0;
  for (const TreeCode& code : tree.code) {
    switch (code.push) {
      case Push::kProduct:
        stack[depth] = ProductTerm(m, a[code.index], b[code.index]);
        if (kTraces<Trace> && stack[depth].special == 0) {
          const TreeTerm& t = stack[depth];
          trace(Event{Stage::kProduct, step, code.index, t.negative, t.magnitude, t.lsb, false});
        }
        ++depth;
        break;
      case Push::kAddend:
        stack[depth++] = WordTerm(m.c, DecodeAny(m.c, c));
        break;
      case Push::kZero:
        stack[depth++] = {};
        break;
      case Push::kJoin: {
        const Node& n = tree.nodes[code.node];
        depth -= code.index;
        const TreeTerms terms = {stack + depth, code.index};
        TreeScales scales;
        if (n.scale != NodeScale::kNone) {
          const int i = m.k + static_cast<int>(terms.first->a - a) / m.scale_block;
          scales = {&a[i], &b[i]};
        }
        stack[depth] = NodeResult(m, n, terms, scales, step++, &word, trace);
        ++depth;
        break;
      }
    }
  }
  return word;
}

// Words in, a word out; the scales follow the elements.
template <class Trace>
uint64_t TreeDotProduct(const Model& m, const uint64_t* a, const uint64_t* b, uint64_t c,
                        Trace& trace) {
  Unpacked ua[2 * kMaxK], ub[2 * kMaxK];
  for (int k = 0; k < m.k + m.scales(); ++k) {
    ua[k] = DecodeAny(k < m.k ? m.a : m.scale, a[k]);
    ub[k] = DecodeAny(k < m.k ? m.b : m.scale, b[k]);
  }
  return TreeSum(m, ua, ub, c, trace);
}

}  // namespace mmadiff
