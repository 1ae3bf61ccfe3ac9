// Boundary classes of floating-point instructions. Uniform bits almost never reach these cases:
// 64 % of uniform f16 dot products of 16 terms hold an infinity or a NaN, and hardly any cancels.
#pragma once

#include <algorithm>

#include "corpus/cases/operands.h"

namespace mmadiff::float_classes {

MMADIFF_HD_CALL inline int Precision(const TileKind& in) { return in.d->fraction_bits + 1; }

// A term other than x, under the same scales; k must be at least 2.
MMADIFF_HD_CALL inline int Partner(const Tile& t, int x, Random& r) {
  const int span = t.scales() == 0 ? t.k() : t.scale_block();
  return x / span * span + (x % span + 1 + r.Below(span - 1)) % span;
}

// Exponents of one dot product from a band of width 0 to 72 bits: everything that alignment can
// lose.
MMADIFF_HD_CALL inline void Band(const Tile& t, Random& r) {
  const int top = MiddleExponent(t.instruction, r);
  const int width = r.Below(r.Coin() ? 8 : 73);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) FillProducts(t, k, top - r.Below(width + 1), r);
  FillAddends(t, top + 1, top - width - 1, r);
}

// The addend against a power of two in term x: exactly its negative, or one unit in the last place
// away.
MMADIFF_HD_CALL inline void CancelAddend(const Tile& t, int x, int top, Random& r) {
  const TileKind& in = t.instruction;
  FillPowers(t, x, top, r);
  const Composer& compose = ComposerOf(in.c_words());
  for (int e = 0; e < t.results(); ++e) {
    const bool negative = t.a[e / in.shape.n * t.stride() + x] >> SignBit(*in.a);
    t.c[e] = compose(!negative, top, r.OneIn(4) ? 1 : 0);
  }
}

// Pairs of terms (or a term and the addend) that cancel exactly and leave a small remainder.
MMADIFF_HD_CALL inline void Cancel(const Tile& t, Random& r) {
  const int top = MiddleExponent(t.instruction, r);
  const int gap = r.Between(8, Precision(t.instruction) + 16);
  const bool sparse = r.OneIn(4);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    FillProducts(t, k, top - gap - r.Below(4), r);
    if (sparse && !r.OneIn(4)) ZeroRows(t, k, r);
  }
  FillAddends(t, top - gap + 1, top - gap - 4, r);
  if (t.k() < 2 || r.OneIn(4)) return CancelAddend(t, r.Below(t.k()), top, r);
  const int pairs = r.Between(1, std::max(1, t.k() / 4));
  for (int pair = 0; pair < pairs; ++pair) {
    const int x = r.Below(t.k());
    FillProducts(t, x, top - r.Below(2), r);
    Negate(t, x, Partner(t, x, r));
  }
}

// A sum halfway between two outputs, and a straggler below it that decides the tie or is lost.
MMADIFF_HD_CALL inline void Tie(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int top = MiddleExponent(in, r), half = top - Precision(in);
  const int low = ProductRange(in).low;
  // Error-free sums notice stragglers hundreds of bits below.
  const int straggler =
      r.OneIn(4) && low < half ? r.Between(low, half - 1) : half - r.Between(1, 18);
  Aim(t, half, r);
  for (int k = 0; k < t.k(); ++k) {
    FillPowers(t, k, low, r);
    if (!r.OneIn(4)) ZeroRows(t, k, r);
  }
  const int first = r.Below(t.k());
  const bool addend_leads = t.k() < 3 || r.Coin();
  FillPowers(t, first, half, r);
  if (t.k() >= 2) {
    const int second = (first + 1) % t.k();
    r.OneIn(4) ? ZeroRows(t, second, r) : FillPowers(t, second, straggler, r);
  }
  if (!addend_leads) FillProducts(t, (first + 2) % t.k(), top, r);
  FillAddends(t, addend_leads ? top : straggler, addend_leads ? top : straggler, r);
}

// The smallest output or half of it, a straggler of either sign below, and nothing else: where an
// exponent floor cuts.
MMADIFF_HD_CALL inline void Floor(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int least = Lowest(*in.d) - r.Below(2);
  Aim(t, least, r);
  for (int k = 0; k < t.k(); ++k) {
    FillPowers(t, k, least, r);
    ZeroRows(t, k, r);
  }
  const int first = r.Below(t.k());
  FillPowers(t, first, least + r.Below(2), r);
  // Neighbors join the same step. The last of an odd number has only the one before it.
  const int neighbor = (first ^ 1) < t.k() ? first ^ 1 : first - 1;
  if (t.k() >= 2) FillPowers(t, neighbor, least - 1, r, 35);
  FillZeros(*in.c, t.c, t.results(), 1, r);
}

// A power of two and a small value of the other sign, in a term and in the addend. The sum falls
// just below the power of two and has one bit fewer.
MMADIFF_HD_CALL inline void Borrow(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int top = r.OneIn(4) ? in.d->min_exponent : MiddleExponent(in, r);
  const int gap = r.Between(1, Precision(in) + 12);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    FillPowers(t, k, top - gap - r.Below(6), r);
    if (!r.OneIn(4)) ZeroRows(t, k, r);
  }
  const bool addend_leads = r.Coin();
  if (!addend_leads) FillPowers(t, r.Below(t.k()), top, r);
  if (addend_leads) {
    const uint64_t power = ComposerOf(in.c_words())(false, top, 0);
    return FillSigned(power, 1ull << SignBit(*in.c), t.c, t.results(), 1, r);
  }
  const RandomWords any(ComposerOf(in.c_words()));
  for (int e = 0; e < t.results(); ++e) t.c[e] = any(top - gap - r.Below(6), r);
}

// Zeros against the largest partners: does a zero product move the alignment exponent?
MMADIFF_HD_CALL inline void ZeroTimesHuge(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int low = ProductRange(in).low;
  const int top = r.Coin() ? MiddleExponent(in, r) : r.Between(low, low + 60);
  const int huge_a = MaxExponent(*in.a), huge_b = MaxExponent(*in.b);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    if (r.OneIn(3)) {
      FillProducts(t, k, top - r.Below(24), r);
    } else if (r.Coin()) {
      ZeroRows(t, k, r);
      FillWords(in.b_words(), {huge_b, huge_b, huge_b, 0}, false, t.b + k, t.columns(), t.stride(),
                r);
    } else {
      FillWords(in.a_words(), {huge_a, huge_a, huge_a, 0}, false, t.a + k, t.rows(), t.stride(), r);
      FillZeros(*in.b, t.b + k, t.columns(), t.stride(), r);
    }
  }
  r.OneIn(3) ? FillZeros(*in.c, t.c, t.results(), 1, r) : FillAddends(t, top, top - 24, r);
}

// All products are -0, in a tile whose addends have both signs. Random draws would never make 32
// such products.
MMADIFF_HD_CALL inline void NegativeZeros(const Tile& t, Random& r) {
  const Format &a = *t.instruction.a, &b = *t.instruction.b;
  // In half of the tiles only B has the sign: A may have no -0, or a -0 that is read as +0.
  const bool signs_in_b = a.nonfinite == Nonfinite::kNanMinusZero || r.Coin();
  for (int k = 0; k < t.k(); ++k) {
    const bool negative_a = !signs_in_b && r.Coin();
    const uint64_t one = Compose(b, !negative_a, 0, 0);
    for (int i = 0; i < t.rows(); ++i) {
      t.a[i * t.stride() + k] = static_cast<uint64_t>(negative_a) << SignBit(a);
    }
    for (int j = 0; j < t.columns(); ++j) t.b[j * t.stride() + k] = one;
  }
  FillZeros(*t.instruction.c, t.c, t.results(), 1, r);
}

// Zeros of both signs everywhere, for the sign of a zero sum.
MMADIFF_HD_CALL inline void SignedZeros(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  Aim(t, 0, r);
  if (r.OneIn(8)) return NegativeZeros(t, r);
  const bool all_zero = !r.OneIn(4);
  for (int k = 0; k < t.k(); ++k) {
    const bool nonzero = !all_zero && r.OneIn(4);
    const int zero = nonzero ? 0 : r.Between(1, 3);  // 1: A, 2: B, 3: both
    zero & 1 ? ZeroRows(t, k, r)
             : FillWords(in.a_words(), {0, 0, 0, -1}, false, t.a + k, t.rows(), t.stride(), r);
    zero & 2 ? FillZeros(*in.b, t.b + k, t.columns(), t.stride(), r)
             : FillWords(in.b_words(), {0, 0, 0, -1}, false, t.b + k, t.columns(), t.stride(), r);
  }
  FillZeros(*in.c, t.c, t.results(), 1, r);
}

// Every edge of the addend's format over ordinary products.
MMADIFF_HD_CALL inline void AddendEdges(const Tile& t, Random& r) {
  Band(t, r);
  FillEdgeRows(t.instruction.c_words(), true, t.c, 1, t.results(), 0, r);
}

// Subnormal operands in A, in B or in both.
MMADIFF_HD_CALL inline void SubnormalOperands(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int which = r.Below(3);
  const int other = r.Coin() ? 0 : MaxExponent(*in.a) - 2;
  Aim(t, 0, r);
  const auto fill = [&](const Format& f, const WordFormat& words, bool subnormal, TileWords out,
                        int count) {
    int e[4] = {other, other, other, other};
    for (int i = 0; subnormal && i < 4; ++i) e[i] = r.Between(Lowest(f), f.min_exponent - 1);
    if (t.scales() == 0) return FillWords(words, e, false, out, count * t.k(), 1, r);
    for (int x = 0; x < count; ++x) FillWords(words, e, false, out + x * t.stride(), t.k(), 1, r);
  };
  fill(*in.a, in.a_words(), which != 1, t.a, t.rows());
  fill(*in.b, in.b_words(), which != 0, t.b, t.columns());
  FillAddends(t, in.c->min_exponent + 1, Lowest(*in.c), r);
}

// Results around the smallest normal and the smallest subnormal number of the output.
MMADIFF_HD_CALL inline void Underflow(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int bottom = Lowest(*in.d);
  const int top = r.Coin() ? in.d->min_exponent + r.Between(-2, 2) : bottom + r.Between(-12, 4);
  const int width = r.Below(r.Coin() ? 4 : 20);
  const bool powers = r.OneIn(3);
  // Where products cannot be this small (f16 with f32 output), half of the tiles have only an
  // addend this small, among zeros.
  const bool only_addend = top < ProductRange(in).low && r.Coin();
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    const int product = top - r.Below(width + 1);
    powers ? FillPowers(t, k, product, r) : FillProducts(t, k, product, r);
    if (only_addend) ZeroRows(t, k, r);
  }
  if (only_addend || r.Coin()) return FillAddends(t, top, top - width, r);
  FillZeros(*in.c, t.c, t.results(), 1, r);
}

// Results around the largest finite output, with products on both sides of where they leave its
// range. One time in eight, the addends come from the edges, including infinities.
MMADIFF_HD_CALL inline void OverflowEdge(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int top = MaxExponent(*in.d) + r.Between(-1, 1);
  const bool products_lead = r.Coin();
  const int ulp = MaxExponent(*in.d) - in.d->fraction_bits;
  Aim(t, products_lead ? top : ulp, r);
  for (int k = 0; k < t.k(); ++k) {
    FillProducts(t, k, products_lead && r.Coin() ? top - r.Below(4) : ulp + r.Between(-3, 2), r);
  }
  if (r.OneIn(8)) return FillEdgeRows(in.c_words(), true, t.c, 1, t.results(), 0, r);
  // If the addend is wider than the output, it uses the output's largest digits and exponent.
  const int digits = std::min(in.c->fraction_bits, in.d->fraction_bits);
  const int largest = std::min(MaxExponent(*in.c), MaxExponent(*in.d));
  const Composer& compose = ComposerOf(in.c_words());
  const RandomWords any(ComposerOf(in.c_words()));
  const int up = in.c->fraction_bits - digits;
  for (int e = 0; e < t.results(); ++e) {  // no branches on random data
    const bool fewer = !r.Coin();
    const uint64_t fraction = LowBits(digits) - r.BelowIf(fewer, 4);
    const bool is_ulp = products_lead && r.Coin();
    const uint64_t draw = r.Bits(is_ulp ? any.draw() : 1);
    t.c[e] =
        compose(draw & 1, is_ulp ? ulp : largest, is_ulp ? any.FractionOf(draw) : fraction << up);
  }
}

// Infinities and NaNs of every payload in every operand position, with zeros as partners.
MMADIFF_HD_CALL inline void Specials(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  Band(t, r);
  const int count = r.Between(1, 3);
  for (int s = 0; s < count; ++s) {
    const int k = r.Below(t.k());
    switch (r.Below(3)) {
      case 0: {
        const int row = r.Below(t.rows());
        t.a[row * t.stride() + k] = Special(*in.a, r);
        const int column = row / in.shape.m * in.shape.n + r.Below(in.shape.n);
        if (r.OneIn(4)) t.b[column * t.stride() + k] = Zero(*in.b, r);
        break;
      }
      case 1: {
        const int column = r.Below(t.columns());
        t.b[column * t.stride() + k] = Special(*in.b, r);
        const int row = column / in.shape.n * in.shape.m + r.Below(in.shape.m);
        if (r.OneIn(4)) t.a[row * t.stride() + k] = Zero(*in.a, r);
        break;
      }
      default:
        t.c[r.Below(t.rows()) * in.shape.n + r.Below(in.shape.n)] = Special(*in.c, r);
    }
  }
}

// Every operand from the edges of its format, mostly the finite ones: with one special in eight
// words, specials would decide nearly every dot product of 16 terms.
MMADIFF_HD_CALL inline void Edges(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const bool specials = r.OneIn(4);
  Aim(t, MiddleExponent(in, r), r);
  FillEdgeRows(in.a_words(), specials, t.a, t.rows(), t.k(), t.stride(), r);
  FillEdgeRows(in.b_words(), specials, t.b, t.columns(), t.k(), t.stride(), r);
  FillEdgeRows(in.c_words(), specials, t.c, 1, t.results(), 0, r);
}

// One nonzero product, alone or with an addend: the effect of a single term.
MMADIFF_HD_CALL inline void OneProduct(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const Range reach = ProductRange(in);
  const int kind = r.Below(4);
  const int top = kind < 2    ? MiddleExponent(in, r)
                  : kind == 2 ? Lowest(*in.d) + r.Below(Precision(in) + 2)
                              : r.Between(reach.low, reach.high);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    FillProducts(t, k, top, r);
    r.Coin() ? ZeroRows(t, k, r) : FillZeros(*in.b, t.b + k, t.columns(), t.stride(), r);
  }
  FillProducts(t, r.Below(t.k()), top, r);
  r.OneIn(3) ? FillAddends(t, top + 1, top - Precision(in) - 3, r)
             : FillZeros(*in.c, t.c, t.results(), 1, r);
}

// The addend almost cancels a power of two, so the remainder is below the normal range. Where
// products cannot be this small, the addend comes from that range instead. The other products are
// zeros of one sign, which shows the effect on the sign.
MMADIFF_HD_CALL inline void Vanish(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int low = ProductRange(in).low;
  const int top = in.d->min_exponent + r.Below(in.d->fraction_bits);
  Aim(t, top, r);
  // A is +0, so the sign of the product, also with a flushed operand, comes from B.
  const uint64_t one = ComposerOf(in.b_words())(!r.OneIn(4), 0, 0);
  for (int k = 0; k < t.k(); ++k) {
    for (int i = 0; i < t.rows(); ++i) t.a[i * t.stride() + k] = 0;
    for (int j = 0; j < t.columns(); ++j) t.b[j * t.stride() + k] = one;
  }
  if (top < low && r.Coin()) return FillAddends(t, in.d->min_exponent, Lowest(*in.d), r);
  const int x = r.Below(t.k()), product = std::max(low, top);
  FillPowers(t, x, product, r);
  const Composer& compose = ComposerOf(in.c_words());
  for (int e = 0; e < t.results(); ++e) {
    const bool negative = t.a[e / in.shape.n * t.stride() + x] >> SignBit(*in.a);
    const uint64_t left = 1ull << r.Below(in.c->fraction_bits);
    t.c[e] = compose(!negative, product, r.OneIn(4) ? 0 : left);
  }
}

// yes ? x : y for random data, which no branch predictor predicts.
MMADIFF_HD constexpr uint64_t Chosen(bool yes, uint64_t x, uint64_t y) {
  return y ^ ((x ^ y) & (0 - static_cast<uint64_t>(yes)));
}

// Infinities against zeros and against each other in two terms and in the addend, or in the addend
// alone. One tile in four also has NaNs.
MMADIFF_HD_CALL inline void Infinities(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int top = MiddleExponent(in, r), kind = r.Below(4);
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) FillProducts(t, k, top - r.Below(8), r);
  FillAddends(t, top, top - 8, r);
  // Puts `word`, with or without the sign, in one of `one_in` places.
  const auto sprinkle = [&](uint64_t word, uint64_t sign, TileWords out, int count, int stride,
                            int one_in) {
    const auto put = [&](int i, bool negative, bool here) {
      const uint64_t put = negative ? word | sign : word;
      out[i * stride] = Chosen(here, put, out[i * stride]);
    };
    const auto use = [&](int i, uint64_t eight) {
      put(i, (eight & 1) != 0, Random::BelowOf(eight >> 8 & 0xffff, one_in) == 0);
      return 3;
    };
    r.EachByBytes(count, 1, use, [&](int i) {
      const bool negative = r.Coin();
      put(i, negative, r.OneIn(one_in));
    });
  };
  const auto plant = [&](const Format& f, TileWords out, int count, int stride, int one_in) {
    if (kind != 0) {
      if (!HasInfinity(f)) return;
      return sprinkle(InfinityWord(f, false), 1ull << SignBit(f), out, count, stride, one_in);
    }
    for (int i = 0; i < count; ++i, out += stride) {
      const uint64_t word = Special(f, r);
      *out = Chosen(r.OneIn(one_in), word, *out);
    }
  };
  const auto zeros = [&](const Format& f, TileWords out, int count) {
    const uint64_t sign = HasMinusZero(f) ? 1ull << SignBit(f) : 0;
    sprinkle(0, sign, out, count, t.stride(), 3);
  };
  plant(*in.c, t.c, t.results(), 1, 2);
  if (kind == 1) return;
  const int x = r.Below(t.k()), y = (x + 1 + r.Below(std::max(1, t.k() - 1))) % t.k();
  zeros(*in.a, t.a + y, t.rows());
  zeros(*in.b, t.b + x, t.columns());
  plant(*in.a, t.a + x, t.rows(), t.stride(), 2);
  plant(*in.b, t.b + y, t.columns(), t.stride(), 2);
  const int second = HasInfinity(*in.a) && HasInfinity(*in.b) ? 4 : 2;
  plant(*in.a, t.a + y, t.rows(), t.stride(), second);
  plant(*in.b, t.b + x, t.columns(), t.stride(), second);
}

inline constexpr InputClass kClasses[] = {
    {"band", "exponents from a band of 0 to 72 bits", Band},
    {"cancel", "terms that cancel exactly, with a small remainder", Cancel},
    {"tie", "half an ulp and a tiny term below it", Tie},
    {"floor", "the smallest output and a tiny term below it", Floor},
    {"borrow", "sums just below or above a power of two", Borrow},
    {"zero_times_huge", "zeros against the largest partners", ZeroTimesHuge},
    {"signed_zeros", "zeros of both signs", SignedZeros},
    {"addend_edges", "c in {0, subnormal, max, Inf, NaN}", AddendEdges},
    {"subnormals", "subnormal operands", SubnormalOperands},
    {"underflow", "results around the smallest output", Underflow},
    {"overflow", "results around the largest output", OverflowEdge},
    {"specials", "infinities and NaN payloads in every position", Specials},
    {"edges", "every operand from the edges of its format", Edges},
    {"one_product", "a single nonzero product", OneProduct},
    {"vanish", "an addend that almost cancels one product", Vanish},
    {"infinities", "infinities against zeros and each other", Infinities},
};

// One row or column element of the given exponent, with many ones in its significand.
MMADIFF_HD_CALL inline void FillLarge(const Format& f, bool negative, int exponent, TileWords out,
                                      int count, int stride, Random& r) {
  const uint64_t ones = LowBits(f.fraction_bits);
  const Composer compose(f);
  for (int i = 0; i < count; ++i, out += stride) {
    const uint64_t fewer = r.Coin() ? r.Bits(f.fraction_bits) >> r.Below(f.fraction_bits + 1) : 0;
    *out = compose(negative, exponent, ones ^ (fewer & ones));
  }
}

// Products of one sign, near the largest of one exponent: sums carry as far as possible.
MMADIFF_HD_CALL inline void Carry(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int top = MiddleExponent(in, r);
  const bool negative = r.Coin();
  Aim(t, top, r);
  for (int k = 0; k < t.k(); ++k) {
    const ExponentPair e = SplitExponent(*in.a, *in.b, top - ScaleExponent(t, k), r);
    FillLarge(*in.a, negative, e.a, t.a + k, t.rows(), t.stride(), r);
    FillLarge(*in.b, false, e.b, t.b + k, t.columns(), t.stride(), r);
  }
  r.Coin() ? FillLarge(*in.c, negative, top, t.c, t.results(), 1, r)
           : FillAddends(t, top, top - 24, r);
}

// Classes added after cases of `mixed` and `boundary` had names. They have strategies of their own
// and are part of schedules. They join the others in the next generator version.
inline constexpr InputClass kLateClasses[] = {
    {"carry", "products of one sign and one exponent, as large as possible", Carry},
};

}  // namespace mmadiff::float_classes
