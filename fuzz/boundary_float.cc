// Boundary classes of floating-point instructions. Uniform bits almost never reach these: 64 % of
// uniform f16 dot products of 16 terms hold an infinity or a NaN, and next to none cancels.
//
// Exponents are drawn per k for a whole tile, split between the row of A and the column of B, so
// that every dot product of a tile has the structure of its class.
#include <algorithm>

#include "fuzz/boundary.h"
#include "sim/format.h"

namespace mmadiff {
namespace {

int Lowest(const Format& f) { return f.min_exponent - f.fraction_bits; }  // least subnormal

// A number of an exponent, without sign and fraction. The exponent is clamped to the format; below
// min_exponent the number is subnormal.
struct Scale {
  uint64_t base;  // word of the exponent field less one: adding a significand gives the word
  int shift;      // of the significand
};

Scale ScaleOf(const Format& f, int exponent) {
  exponent = std::max(Lowest(f), std::min(exponent, MaxExponent(f)));
  const int normal = std::max(exponent, f.min_exponent);
  return {static_cast<uint64_t>(normal - f.min_exponent) << f.fraction_bits, normal - exponent};
}

uint64_t Compose(const Format& f, bool negative, int exponent, uint64_t fraction) {
  const Scale scale = ScaleOf(f, exponent);
  const uint64_t sign = static_cast<uint64_t>(negative) << (f.fraction_bits + f.exponent_bits);
  const uint64_t significand = (fraction | 1ull << f.fraction_bits) >> scale.shift;
  return (sign | (scale.base + significand)) << f.ignored_bits;
}

// Fractions are often all zeros, all ones, or the lowest or the highest bit alone: by style 0..7,
// the random bits that are kept and the bits that are set.
struct Styles {
  uint64_t keep[8], set[8];

  explicit Styles(const Format& f)
      : keep{0, 0, 0, 0, LowBits(f.fraction_bits) & 0x5555555555555555},
        set{0, LowBits(f.fraction_bits), 1, 1ull << (f.fraction_bits - 1)} {
    for (int style = 5; style < 8; ++style) keep[style] = LowBits(f.fraction_bits);
  }
};

// `count` words, `stride` apart, each of one of four exponents, one in eight zero if `zeros`.
// Without branches on random data, which no processor predicts: this makes most of the bits of a
// run.
void FillWords(const Format& f, const int (&exponents)[4], bool zeros, uint64_t* out, int count,
               int stride, Random& r) {
  const Styles styles(f);
  const Scale scales[4] = {ScaleOf(f, exponents[0]), ScaleOf(f, exponents[1]),
                           ScaleOf(f, exponents[2]), ScaleOf(f, exponents[3])};
  const int fb = f.fraction_bits, sign_shift = fb + f.exponent_bits, ignored = f.ignored_bits;
  const int draw = fb + 9 <= 16 ? 16 : fb + 9 <= 32 ? 32 : 64;
  const uint64_t zero_code = zeros ? 0 : 8;  // 8 is no value of three bits
  for (int i = 0; i < count; ++i, out += stride) {
    const uint64_t bits = r.Bits(draw);  // sign 1, style 3, scale 2, zero 3, fraction
    const int style = (bits >> 1) & 7;
    const Scale& scale = scales[(bits >> 4) & 3];
    const uint64_t fraction = (bits >> 9 & styles.keep[style]) | styles.set[style];
    const uint64_t magnitude = scale.base + ((fraction | 1ull << fb) >> scale.shift);
    const uint64_t nonzero = -static_cast<uint64_t>(((bits >> 6) & 7) != zero_code);
    *out = ((bits & 1) << sign_shift | (magnitude & nonzero)) << ignored;
  }
}

uint64_t Word(const Format& f, int exponent, Random& r) {
  uint64_t word;
  FillWords(f, {exponent, exponent, exponent, exponent}, false, &word, 1, 1, r);
  return word;
}

uint64_t Zero(const Format& f, Random& r) { return static_cast<uint64_t>(r.Coin()) << SignBit(f); }

// Infinity, or a NaN of any payload (quiet or signalling, in ignored bits too).
uint64_t Special(const Format& f, Random& r) {
  const uint64_t bits = r.Bits(f.bits > 32 ? 64 : 32) & LowBits(f.bits);
  const uint64_t sign = static_cast<uint64_t>(r.Coin()) << SignBit(f);
  if (f.nonfinite == Nonfinite::kNanAllOnes) return LowBits(f.bits - 1) | sign;
  switch (r.Below(4)) {
    case 0:
      return InfinityWord(f, false) | sign;
    case 1:  // one payload bit
      return InfinityWord(f, false) | sign | 1ull << r.Below(f.fraction_bits + f.ignored_bits);
    default:
      return InfinityWord(f, false) | sign | (bits & LowBits(f.fraction_bits + f.ignored_bits));
  }
}

void FillZeros(const Format& f, uint64_t* out, int count, int stride, Random& r) {
  for (int i = 0; i < count; ++i, out += stride) *out = Zero(f, r);
}

// `count` words from the edges of a format, of either sign; infinities and NaNs only if `specials`.
void FillEdges(const Format& f, bool specials, uint64_t* out, int count, Random& r) {
  const uint64_t ones = LowBits(f.fraction_bits);
  const auto positive = [&f](int exponent, uint64_t fraction) {
    return Compose(f, false, exponent, fraction);
  };
  const auto any = [&f, &r] { return Word(f, r.Between(Lowest(f), MaxExponent(f)), r); };
  const uint64_t edges[16] = {
      0,
      positive(Lowest(f), 0),              // smallest subnormal
      positive(f.min_exponent - 1, ones),  // largest subnormal
      positive(f.min_exponent, 0),         // smallest normal
      positive(f.min_exponent, 1),
      positive(0, 0),  // 1, and its neighbours
      positive(0, 1),
      positive(-1, ones),
      positive(MaxExponent(f), 0),
      positive(MaxExponent(f), ones - 1),  // largest finite but one (e4m3: the largest)
      f.nonfinite == Nonfinite::kIeee ? positive(MaxExponent(f), ones) : positive(0, ones),
      specials ? Special(f, r) : any(),
      specials ? Special(f, r) : any(),
      any(),
      any(),
      any(),
  };
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = r.Bits(8);
    out[i] = edges[bits & 15] ^ (bits >> 4 & 1) << SignBit(f);
  }
}

// Exponents of one k: the product is near 2^(a + b).
struct Split {
  int a, b;
};

Split SplitExponent(const Instruction& in, int product, Random& r) {
  const int low = std::max(Lowest(*in.a), product - MaxExponent(*in.b));
  const int high = std::min(MaxExponent(*in.a), product - Lowest(*in.b));
  if (low > high) {  // out of reach: the nearest that is in reach
    return product > 0 ? Split{MaxExponent(*in.a), MaxExponent(*in.b)}
                       : Split{Lowest(*in.a), Lowest(*in.b)};
  }
  const int a = std::clamp(product / 2 + r.Between(-3, 3), low, high);
  return {a, product - a};
}

// The fourth exponent of a term is one lower, so that rows differ.
void FillProducts(const Tile& t, int k, int product, Random& r) {
  const auto [a, b] = SplitExponent(t.instruction, product, r);
  FillWords(*t.instruction.a, {a, a, a, a - 1}, false, t.a + k, t.rows(), t.k(), r);
  FillWords(*t.instruction.b, {b, b, b, b - 1}, false, t.b + k, t.columns(), t.k(), r);
}

// Products of term k are exactly +-2^product; `negative` per row of A.
void FillPowers(const Tile& t, int k, int product, Random& r) {
  const Split split = SplitExponent(t.instruction, product, r);
  for (int i = 0; i < t.rows(); ++i) {
    t.a[i * t.k() + k] = Compose(*t.instruction.a, r.Coin(), split.a, 0);
  }
  for (int j = 0; j < t.columns(); ++j) {
    t.b[j * t.k() + k] = Compose(*t.instruction.b, false, split.b, 0);
  }
}

void FillAddends(const Tile& t, int high, int low, Random& r) {
  FillWords(*t.instruction.c,
            {high, r.Between(low, high), r.Between(low, high), r.Between(low, high)}, true, t.c,
            t.results(), 1, r);
}

// An exponent that products and output both reach, mostly far from the edges.
int MiddleExponent(const Instruction& in, Random& r) {
  const int low = std::max(2 * Lowest(*in.a) + 8, in.d->min_exponent);
  const int high = std::min(2 * MaxExponent(*in.a), MaxExponent(*in.d)) - 6;
  if (r.Coin()) return r.Between(std::max(low, -12), std::min(high, 12));
  return r.Between(low, high);
}

int Precision(const Instruction& in) { return in.d->fraction_bits + 1; }

// Exponents of one dot product from a band of width 0 to 72 bits: everything that alignment can
// lose.
void Band(const Tile& t, Random& r) {
  const int top = MiddleExponent(t.instruction, r);
  const int width = r.Below(r.Coin() ? 8 : 73);
  for (int k = 0; k < t.k(); ++k) FillProducts(t, k, top - r.Below(width + 1), r);
  FillAddends(t, top + 1, top - width - 1, r);
}

// Pairs of terms (or a term and the addend) that cancel exactly; what is left is small.
void Cancel(const Tile& t, Random& r) {
  const int top = MiddleExponent(t.instruction, r);
  const int gap = r.Between(8, Precision(t.instruction) + 16);
  for (int k = 0; k < t.k(); ++k) FillProducts(t, k, top - gap - r.Below(4), r);
  FillAddends(t, top - gap + 1, top - gap - 4, r);
  if (t.k() >= 2 && !r.OneIn(4)) {
    const int pairs = r.Between(1, std::max(1, t.k() / 4));
    for (int pair = 0; pair < pairs; ++pair) {
      const int x = r.Below(t.k());
      const int y = (x + 1 + r.Below(t.k() - 1)) % t.k();
      FillProducts(t, x, top - r.Below(2), r);
      for (int i = 0; i < t.rows(); ++i) t.a[i * t.k() + y] = t.a[i * t.k() + x];
      for (int j = 0; j < t.columns(); ++j) {
        t.b[j * t.k() + y] = t.b[j * t.k() + x] ^ 1ull << SignBit(*t.instruction.b);
      }
    }
    return;
  }
  const int x = r.Below(t.k());  // against the addend
  FillPowers(t, x, top, r);
  const Format& a = *t.instruction.a;
  for (int e = 0; e < t.results(); ++e) {
    const bool negative = t.a[e / t.columns() * t.k() + x] >> SignBit(a);
    t.c[e] = Compose(*t.instruction.c, !negative, top, r.OneIn(4) ? 1 : 0);
  }
}

// A sum half way between two outputs, and a straggler far below that decides it, or is lost. One
// time in four the outputs are zero and the least subnormal, where an exponent floor shows.
void Tie(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const bool least = r.OneIn(4);
  const int top = MiddleExponent(in, r);
  const int half = least ? Lowest(*in.d) - 1 : top - Precision(in);
  const int straggler = half - r.Between(1, least ? 26 : 18);
  for (int k = 0; k < t.k(); ++k) {
    FillPowers(t, k, Lowest(*in.a) + Lowest(*in.b), r);
    if (least || !r.OneIn(4)) FillZeros(*in.a, t.a + k, t.rows(), t.k(), r);
  }
  const int first = r.Below(t.k());
  const bool addend_leads = t.k() < 3 || r.Coin();
  FillPowers(t, first, half, r);
  if (t.k() >= 2) FillPowers(t, (first + 1) % t.k(), straggler, r);
  if (least) return FillZeros(*in.c, t.c, t.results(), 1, r);
  if (!addend_leads) FillProducts(t, (first + 2) % t.k(), top, r);
  FillAddends(t, addend_leads ? top : straggler, addend_leads ? top : straggler, r);
}

// Zeros against the largest partners: does a zero product move the alignment exponent?
void ZeroTimesHuge(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const int low = Lowest(*in.a) + Lowest(*in.b);
  const int top = r.Coin() ? MiddleExponent(in, r) : r.Between(low, low + 60);
  for (int k = 0; k < t.k(); ++k) {
    if (r.OneIn(3)) {
      FillProducts(t, k, top - r.Below(24), r);
      continue;
    }
    const int huge_a = MaxExponent(*in.a), huge_b = MaxExponent(*in.b);
    if (r.Coin()) {
      FillZeros(*in.a, t.a + k, t.rows(), t.k(), r);
      FillWords(*in.b, {huge_b, huge_b, huge_b, 0}, false, t.b + k, t.columns(), t.k(), r);
    } else {
      FillWords(*in.a, {huge_a, huge_a, huge_a, 0}, false, t.a + k, t.rows(), t.k(), r);
      FillZeros(*in.b, t.b + k, t.columns(), t.k(), r);
    }
  }
  r.OneIn(3) ? FillZeros(*in.c, t.c, t.results(), 1, r) : FillAddends(t, top, top - 24, r);
}

// Every product -0, in a tile whose addends have both signs: chance would make 32 of them never.
void NegativeZeros(const Tile& t, Random& r) {
  const Format &a = *t.instruction.a, &b = *t.instruction.b;
  for (int k = 0; k < t.k(); ++k) {
    const uint64_t sign = r.Coin();
    for (int i = 0; i < t.rows(); ++i) t.a[i * t.k() + k] = sign << SignBit(a);
    for (int j = 0; j < t.columns(); ++j) t.b[j * t.k() + k] = (sign ^ 1) << SignBit(b);
  }
  FillZeros(*t.instruction.c, t.c, t.results(), 1, r);
}

// Zeros of both signs everywhere: the sign of a zero sum.
void SignedZeros(const Tile& t, Random& r) {
  if (r.OneIn(8)) return NegativeZeros(t, r);
  const Instruction& in = t.instruction;
  const bool all_zero = !r.OneIn(4);
  for (int k = 0; k < t.k(); ++k) {
    const bool nonzero = !all_zero && r.OneIn(4);
    const int zero = nonzero ? 0 : r.Between(1, 3);  // 1: A, 2: B, 3: both
    zero & 1 ? FillZeros(*in.a, t.a + k, t.rows(), t.k(), r)
             : FillWords(*in.a, {0, 0, 0, -1}, false, t.a + k, t.rows(), t.k(), r);
    zero & 2 ? FillZeros(*in.b, t.b + k, t.columns(), t.k(), r)
             : FillWords(*in.b, {0, 0, 0, -1}, false, t.b + k, t.columns(), t.k(), r);
  }
  FillZeros(*in.c, t.c, t.results(), 1, r);
}

// Every edge of the addend's format over ordinary products.
void AddendEdges(const Tile& t, Random& r) {
  Band(t, r);
  FillEdges(*t.instruction.c, true, t.c, t.results(), r);
}

// Subnormal operands in A, in B or in both.
void Subnormals(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const int which = r.Below(3);
  const int other = r.Coin() ? 0 : MaxExponent(*in.a) - 2;
  const auto fill = [&r, other](const Format& f, bool subnormal, uint64_t* out, int count) {
    int e[4] = {other, other, other, other};
    for (int i = 0; subnormal && i < 4; ++i) e[i] = r.Between(Lowest(f), f.min_exponent - 1);
    FillWords(f, e, false, out, count, 1, r);
  };
  fill(*in.a, which != 1, t.a, t.rows() * t.k());
  fill(*in.b, which != 0, t.b, t.columns() * t.k());
  FillAddends(t, in.c->min_exponent + 1, Lowest(*in.c), r);
}

// Results around the smallest normal and the smallest subnormal number of the output.
void Underflow(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const int bottom = Lowest(*in.d);
  const int top = r.Coin() ? in.d->min_exponent + r.Between(-2, 2) : bottom + r.Between(-12, 4);
  const int width = r.Below(r.Coin() ? 4 : 20);
  const bool powers = r.OneIn(3);
  // Where no product is so small (f16 with f32 output) only an addend among zeros is, half the
  // time.
  const bool only_addend = top < Lowest(*in.a) + Lowest(*in.b) && r.Coin();
  for (int k = 0; k < t.k(); ++k) {
    const int product = top - r.Below(width + 1);
    powers ? FillPowers(t, k, product, r) : FillProducts(t, k, product, r);
    if (only_addend) FillZeros(*in.a, t.a + k, t.rows(), t.k(), r);
  }
  if (only_addend || r.Coin()) return FillAddends(t, top, top - width, r);
  FillZeros(*in.c, t.c, t.results(), 1, r);
}

// Results around the largest finite output.
void OverflowEdge(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const int top = MaxExponent(*in.d) + r.Between(-1, 1);
  const bool products_lead = r.Coin();
  const int ulp = MaxExponent(*in.d) - in.d->fraction_bits;
  for (int k = 0; k < t.k(); ++k) {
    FillProducts(t, k, products_lead && r.Coin() ? top - r.Below(4) : ulp + r.Between(-3, 2), r);
  }
  for (int e = 0; e < t.results(); ++e) {
    t.c[e] = products_lead && r.Coin()
                 ? Word(*in.c, ulp, r)
                 : Compose(*in.c, r.Coin(), MaxExponent(*in.c),
                           LowBits(in.c->fraction_bits) - (r.Coin() ? 0 : r.Below(4)));
  }
}

// Infinities and NaNs of every payload in every operand position, zeros as their partners.
void Specials(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  Band(t, r);
  const int count = r.Between(1, 3);
  for (int s = 0; s < count; ++s) {
    switch (r.Below(3)) {
      case 0: {
        const int x = r.Below(t.rows() * t.k());
        t.a[x] = Special(*in.a, r);
        const int column = x / t.k() / in.shape.m * in.shape.n + r.Below(in.shape.n);
        if (r.OneIn(4)) t.b[column * t.k() + x % t.k()] = Zero(*in.b, r);
        break;
      }
      case 1: {
        const int x = r.Below(t.columns() * t.k());
        t.b[x] = Special(*in.b, r);
        const int row = x / t.k() / in.shape.n * in.shape.m + r.Below(in.shape.m);
        if (r.OneIn(4)) t.a[row * t.k() + x % t.k()] = Zero(*in.a, r);
        break;
      }
      default:
        t.c[r.Below(t.results())] = Special(*in.c, r);
    }
  }
}

// Every operand from the edges of its format. Mostly the finite ones: one special in eight words
// would decide nearly every dot product of 16 terms.
void Edges(const Tile& t, Random& r) {
  const Instruction& in = t.instruction;
  const bool specials = r.OneIn(4);
  FillEdges(*in.a, specials, t.a, t.rows() * t.k(), r);
  FillEdges(*in.b, specials, t.b, t.columns() * t.k(), r);
  FillEdges(*in.c, specials, t.c, t.results(), r);
}

constexpr InputClass kClasses[] = {
    {"band", "exponents from a band of 0 to 72 bits", Band},
    {"cancel", "terms that cancel exactly, small remainder", Cancel},
    {"tie", "half an ulp and a straggler below it", Tie},
    {"zero_times_huge", "zeros against the largest partners", ZeroTimesHuge},
    {"signed_zeros", "zeros of both signs", SignedZeros},
    {"addend_edges", "c in {0, subnormal, max, Inf, NaN}", AddendEdges},
    {"subnormals", "subnormal operands", Subnormals},
    {"underflow", "results around the smallest output", Underflow},
    {"overflow", "results around the largest output", OverflowEdge},
    {"specials", "infinities and NaN payloads in every position", Specials},
    {"edges", "every operand from the edges of its format", Edges},
};

}  // namespace

std::span<const InputClass> FloatClasses() { return kClasses; }

}  // namespace mmadiff
