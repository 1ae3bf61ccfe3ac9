// What share of the dot products of the default strategy has each kind of input and each kind of
// result: every model has at least the table's share of each that its formats and parameters can
// have. MMADIFF_SHARES=1 prints the shares.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/case_name.h"
#include "fuzz/observer.h"
#include "fuzz/operands.h"
#include "fuzz/testing_rows.h"
#include "sim/dot_product.h"

namespace mmadiff {
namespace {

constexpr int kDotProducts = 4800, kPerCase = 8;  // of each model; of one tile

// Kinds of words, as bits.
constexpr unsigned kZero = 1, kSubnormal = 2;
constexpr unsigned kLeast = 4, kLargest = 8;  // magnitudes other than zero; of integers both ends
constexpr unsigned kInfinity = 16, kNan = 32, kSpecial = kInfinity | kNan;
constexpr unsigned kUnread = 64;  // a bit that the hardware does not read is set
constexpr unsigned kNegative = 128, kPositive = 256;

// `digits`: of the fraction, that a result can have.
unsigned KindsOf(const Format& f, uint64_t word, int digits = 64) {
  const int fields = f.exponent_bits + f.fraction_bits;
  const unsigned unread = !f.is_signed && word >> fields != 0 ? kUnread : 0;
  if (IsInteger(f)) {
    const int64_t x = DecodeInteger(f, word);
    return (x == 0  ? kZero
            : x < 0 ? kNegative
                    : kPositive) |
           (word == LowBits(f.bits - f.is_signed) ? kLargest : 0) |
           (f.is_signed && word == 1ull << SignBit(f) ? kLeast : 0);
  }
  const Unpacked u = Decode(f, word);
  const unsigned sign = u.negative ? kNegative : kPositive;
  if (u.kind == Kind::kNan) return kNan | unread;
  if (u.kind == Kind::kInfinite) return kInfinity | sign | unread;
  const int dropped = std::max(0, f.fraction_bits - digits) + f.ignored_bits;
  const uint64_t largest = MaxFiniteWord(f) >> dropped << dropped;
  const uint64_t magnitude = word & LowBits(fields + f.ignored_bits);
  return (u.significand == 0                      ? kZero
          : u.significand >> f.fraction_bits == 0 ? kSubnormal
                                                  : 0) |
         (magnitude == largest ? kLargest : 0) |
         (magnitude >> f.ignored_bits == f.has_zero ? kLeast : 0) | sign | unread;
}

// KindsOf() of a format's words, looked up where there are few of them.
class KindTable {
 public:
  explicit KindTable(const Format& f) : format_(f) {
    if (f.bits > 8) return;
    for (uint64_t word = 0; word <= LowBits(f.bits); ++word) kinds_.push_back(KindsOf(f, word));
  }
  unsigned operator[](uint64_t word) const {
    return kinds_.empty() ? KindsOf(format_, word) : kinds_[word];
  }

 private:
  const Format& format_;
  std::vector<unsigned> kinds_;
};

struct KindTables {
  KindTable a, b, scale;
  explicit KindTables(const Model& m) : a(m.a), b(m.b), scale(m.scale) {}
};

// Whether some word of the format is of the kind.
bool Has(const Format& f, unsigned kind) {
  switch (kind) {
    case kSubnormal:
      return f.has_zero && f.fraction_bits > 0;
    case kInfinity:
      return HasInfinity(f);
    case kNan:
      return f.nonfinite != Nonfinite::kNone;
    case kUnread:
      return !f.is_signed && f.exponent_bits + f.fraction_bits < f.bits;
    case kZero:
      return f.has_zero;
    default:
      return true;
  }
}

bool IsFloat(const Model& m) { return !IsInteger(m.d); }
bool IsPairwise(const Model& m) { return m.algorithm.family == Family::kPairwiseSum; }

// What one dot product has.
struct Facts {
  unsigned a = 0, b = 0;  // kinds among the elements
  unsigned scale_a = 0, scale_b = 0;
  unsigned c = 0, d = 0;
  unsigned products = 0;  // kinds of the exact products: zero, infinity
  int nonzero = 0;        // products that are not zero, scales included
  bool infinity_times_zero = false, infinity_times_zero_scale = false;
  bool infinities_meet = false;     // among the products
  bool minus_zero_between = false;  // a step's result is -0, later products are -0
  uint32_t events = 0;

  unsigned elements() const { return a | b; }
  unsigned scales() const { return scale_a | scale_b; }
  unsigned specials() const { return (elements() | scales()) & kSpecial; }
  bool nans() const { return (elements() | scales() | c) & kNan; }
  // Infinite products of one sign, none of them of a zero.
  bool infinities() const {
    return products & kInfinity && !infinities_meet && !infinity_times_zero;
  }
  bool has(StageEvent e) const { return events >> static_cast<int>(e) & 1; }
};

constexpr uint32_t kAlignmentEvents = (2u << static_cast<int>(StageEvent::kCarryOut)) - 1;

// The observer, and which steps have the result -0.
struct StepObserver {
  Observer observer;
  uint64_t minus_zero;
  uint64_t steps = 0;  // bit by step, of the first 64

  void operator()(const Event& e) {
    observer(e);
    if (e.stage != Stage::kRounded || e.step > 63) return;
    // The last rounding of a step is its result.
    const uint64_t bit = 1ull << e.step;
    steps = e.magnitude == minus_zero ? steps | bit : steps & ~bit;
  }
};

void AddProducts(const Model& m, const KindTables& kinds, const DotProductCase& dot, Facts& f) {
  const bool is_xor = m.algorithm.bit_operation == BitOperation::kXor;
  bool infinite[2] = {false, false};
  for (int k = 0; k < m.k; ++k) {
    const unsigned x = kinds.a[dot.a[k]], y = kinds.b[dot.b[k]];
    f.a |= x;
    f.b |= y;
    unsigned scales = 0;
    if (m.scales() != 0) {
      const int at = m.k + k / m.scale_block;
      const unsigned sx = kinds.scale[dot.a[at]], sy = kinds.scale[dot.b[at]];
      f.scale_a |= sx;
      f.scale_b |= sy;
      scales = sx | sy;
    }
    const bool infinity = (x | y) & kInfinity;
    const bool zero = is_xor ? dot.a[k] == dot.b[k] : bool((x | y) & kZero);
    f.infinity_times_zero |= infinity && zero;
    f.infinity_times_zero_scale |= infinity && scales & kZero;
    if (infinity && !zero) infinite[(x & kNegative) != (y & kNegative)] = true;
    f.nonzero += !zero && !(scales & kZero);
  }
  if (infinite[0]) f.products |= kInfinity | kPositive;
  if (infinite[1]) f.products |= kInfinity | kNegative;
  f.infinities_meet = infinite[0] && infinite[1];
}

// Products from k on are all -0.
bool MinusZerosFrom(const Model& m, const DotProductCase& dot, int k) {
  const auto sign = [](const Format& f, uint64_t word) { return word >> SignBit(f) & 1; };
  for (; k < m.k; ++k) {
    // A flushing input drops the sign of a zero.
    const bool drops = m.algorithm.input_subnormals == Subnormals::kFlushPositive;
    const unsigned x = KindsOf(m.a, dot.a[k]), y = KindsOf(m.b, dot.b[k]);
    if (!((x | y) & kZero)) return false;
    const bool sx = sign(m.a, dot.a[k]) && !(drops && x & kZero);
    const bool sy = sign(m.b, dot.b[k]) && !(drops && y & kZero);
    if (sx == sy) return false;
  }
  return true;
}

Facts FactsOf(const Model& m, const KindTables& kinds, const DotProductCase& dot) {
  Facts f;
  f.c = KindsOf(m.c, dot.c);
  AddProducts(m, kinds, dot, f);
  StepObserver observer = {Observer(m, dot.c), 1ull << SignBit(m.d)};
  const uint64_t d = DotProduct(m, dot.a.data(), dot.b.data(), dot.c, observer);
  f.d = KindsOf(m.d, d, m.algorithm.output_fraction_bits);
  f.events = observer.observer.seen();
  // Families of several alignments have no such events.
  if (!HasOneAlignment(m.algorithm.family)) f.events &= ~kAlignmentEvents;
  const int terms = m.algorithm.terms;
  for (int step = 0; (step + 1) * terms < m.k && IsPairwise(m); ++step) {
    const bool minus_zero = observer.steps >> step & 1;
    f.minus_zero_between |= minus_zero && MinusZerosFrom(m, dot, (step + 1) * terms);
  }
  return f;
}

// ---- What a model can have, by its formats and parameters

bool Any(const Model&) { return true; }
bool Scaled(const Model& m) { return m.scales() != 0; }
bool Aligned(const Model& m) { return HasOneAlignment(m.algorithm.family); }
bool Infinite(const Model& m) { return Has(m.a, kInfinity) || Has(m.b, kInfinity); }
bool Flushes(Subnormals s) { return s != Subnormals::kKeep; }

// Exponents of products other than zero, scales included.
int LeastProduct(const Model& m) {
  const bool flushes = Flushes(m.algorithm.input_subnormals);
  const int elements = flushes ? m.a.min_exponent + m.b.min_exponent : Lowest(m.a) + Lowest(m.b);
  return elements + (Scaled(m) ? 2 * Lowest(m.scale) : 0);
}
int LargestProduct(const Model& m) {
  return MaxExponent(m.a) + MaxExponent(m.b) + (Scaled(m) ? 2 * MaxExponent(m.scale) : 0);
}

// A sum of products alone, or one with an addend, below the normal range; f32 sums of f16 products
// need a subnormal addend.
bool SmallProducts(const Model& m) { return LeastProduct(m) < m.d.min_exponent; }
bool SubnormalProducts(const Model& m) {
  return IsFloat(m) && !Flushes(m.algorithm.output_subnormals) && SmallProducts(m);
}
bool SubnormalDifference(const Model& m) {  // of a product and a normal addend
  return IsFloat(m) && !Flushes(m.algorithm.output_subnormals) &&
         LeastProduct(m) - m.c.fraction_bits < m.d.min_exponent;
}
bool Subnormal(const Model& m) {
  const bool addend = Lowest(m.c) < m.d.min_exponent && !Flushes(m.algorithm.addend_subnormals);
  return SubnormalProducts(m) || (IsFloat(m) && !Flushes(m.algorithm.output_subnormals) && addend);
}

// Zero as the sum of negative zeros, or what a negative sum is rounded or flushed to.
bool MinusZero(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (!IsFloat(m) || alg.zero_sign == ZeroSign::kPositive) return false;
  const bool flushed = Flushes(alg.output_subnormals) && SmallProducts(m);
  const bool zeros = alg.zero_sign == ZeroSign::kIeee &&
                     alg.addend_joins == AddendJoins::kFirstStep &&
                     alg.addend_subnormals != Subnormals::kFlushPositive;
  return flushed || zeros || LeastProduct(m) < Lowest(m.d) - 1;
}

// The largest finite result is in reach of the addend or of a product.
bool Largest(const Model& m) {
  if (!IsFloat(m)) return true;
  return std::max(MaxExponent(m.c), LargestProduct(m)) >= MaxExponent(m.d);
}

// Finite operands have an infinite result: products reach the last digit of the largest addend, or
// rounding goes away from zero.
bool Overflows(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (!IsFloat(m)) return false;
  if (alg.output_rounding == Rounding::kUp || alg.output_rounding == Rounding::kDown) return true;
  if (alg.range_overflow == RangeOverflow::kIeee && alg.output_rounding == Rounding::kTowardZero) {
    return false;
  }
  const int sum = LargestProduct(m) + std::bit_width(static_cast<unsigned>(m.k)) + 1;
  return MaxExponent(m.c) > MaxExponent(m.d) || sum >= MaxExponent(m.d) - alg.output_fraction_bits;
}

// A sum of nonzero terms below the floor, or a step of zeros beside others.
bool BelowFloor(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const int least = m.a.min_exponent + m.b.min_exponent + (Scaled(m) ? 2 * Lowest(m.scale) : 0);
  const bool steps = alg.terms < m.k || alg.addend_joins == AddendJoins::kLastAdd;
  return Aligned(m) && (least <= alg.exponent_floor || steps);
}

struct Condition {
  const char* name;
  double least;  // percent of the dot products of each model that can have it
  bool (*can)(const Model&);
  bool (*has)(const Facts&);
  double most = 100;
};

using M = Model;
using F = Facts;
using E = StageEvent;

bool Zero(unsigned kinds, unsigned sign) { return kinds & kZero && kinds & sign; }
bool Nonzero(unsigned kinds, unsigned sign) { return !(kinds & kZero) && kinds & sign; }

constexpr Condition kConditions[] = {
    // Products.
    {"one nonzero product", 2, Any, [](const F& f) { return f.nonzero == 1; }},
    {"one nonzero product, c = 0", 0.1, Any,
     [](const F& f) { return f.nonzero == 1 && f.c & kZero; }},
    {"no nonzero product", 1, Any, [](const F& f) { return f.nonzero == 0; }},
    // Kinds of operands.
    {"c = +0", 2, Any, [](const F& f) { return f.c & kZero && !(f.c & kNegative); }},
    {"c = -0", 2, IsFloat, [](const F& f) { return Zero(f.c, kNegative); }},
    {"c subnormal", 1, IsFloat, [](const F& f) { return bool(f.c & kSubnormal); }},
    {"c largest", 0.3, Any, [](const F& f) { return bool(f.c & kLargest); }},
    {"c infinite", 0.3, IsFloat, [](const F& f) { return bool(f.c & kInfinity); }},
    {"c NaN", 0.3, IsFloat, [](const F& f) { return bool(f.c & kNan); }},
    {"c alone infinite", 0.3, IsFloat, [](const F& f) { return f.c & kInfinity && !f.specials(); }},
    {"c alone NaN", 0.1, IsFloat, [](const F& f) { return f.c & kNan && !f.specials(); }},
    {"a subnormal", 1, IsFloat, [](const F& f) { return bool(f.a & kSubnormal); }},
    {"b subnormal", 1, IsFloat, [](const F& f) { return bool(f.b & kSubnormal); }},
    {"a largest", 0.1, Any, [](const F& f) { return bool(f.a & kLargest); }},
    {"b largest", 0.1, Any, [](const F& f) { return bool(f.b & kLargest); }},
    {"a NaN", 0.3, [](const M& m) { return Has(m.a, kNan); },
     [](const F& f) { return bool(f.a & kNan); }},
    {"b NaN", 0.3, [](const M& m) { return Has(m.b, kNan); },
     [](const F& f) { return bool(f.b & kNan); }},
    {"a infinite", 0.5, [](const M& m) { return Has(m.a, kInfinity); },
     [](const F& f) { return bool(f.a & kInfinity); }},
    {"b infinite", 0.5, [](const M& m) { return Has(m.b, kInfinity); },
     [](const F& f) { return bool(f.b & kInfinity); }},
    // Infinities that meet something; no NaN.
    {"Inf x 0", 0.1, Infinite, [](const F& f) { return f.infinity_times_zero && !f.nans(); }},
    {"Inf - Inf, products", 0.05, [](const M& m) { return Infinite(m) && m.k > 1; },
     [](const F& f) { return f.infinities_meet && !f.infinity_times_zero && !f.nans(); }},
    {"Inf - Inf, product and c", 0.05, Infinite,
     [](const F& f) {
       return f.infinities() == 1 && f.c & kInfinity &&
              !(f.c & f.products & (kNegative | kPositive)) && !f.nans();
     }},
    {"Inf + Inf, product and c", 0.05, Infinite,
     [](const F& f) { return f.products & kInfinity && f.c & kInfinity && f.d & kInfinity; }},
    // Scales.
    {"scale a alone NaN", 0.1, Scaled,
     [](const F& f) { return f.scale_a & kNan && !((f.scale_b | f.elements() | f.c) & kSpecial); }},
    {"scale b alone NaN", 0.1, Scaled,
     [](const F& f) { return f.scale_b & kNan && !((f.scale_a | f.elements() | f.c) & kSpecial); }},
    {"scale NaN, c infinite", 0.1, Scaled,
     [](const F& f) { return f.scales() & kNan && f.c & kInfinity && !(f.elements() & kSpecial); }},
    {"scale NaN, no nonzero product", 0.1, Scaled,
     [](const F& f) { return f.scales() & kNan && f.nonzero == 0 && !(f.elements() & kSpecial); }},
    {"scale NaN, element infinite", 0.1, [](const M& m) { return Scaled(m) && Infinite(m); },
     [](const F& f) {
       return f.scales() & kNan && f.elements() & kInfinity && !((f.elements() | f.c) & kNan);
     }},
    {"scale 0", 0.5, [](const M& m) { return Scaled(m) && Has(m.scale, kZero); },
     [](const F& f) { return bool(f.scales() & kZero); }},
    {"scale 0, element infinite", 0.1,
     [](const M& m) { return Scaled(m) && Infinite(m) && Has(m.scale, kZero); },
     [](const F& f) { return f.infinity_times_zero_scale; }},
    {"scale subnormal", 0.5, [](const M& m) { return Scaled(m) && Has(m.scale, kSubnormal); },
     [](const F& f) { return bool(f.scales() & kSubnormal); }},
    {"scale least", 0.5, Scaled, [](const F& f) { return bool(f.scales() & kLeast); }},
    {"scale largest", 0.5, Scaled, [](const F& f) { return bool(f.scales() & kLargest); }},
    {"scale with an unread bit", 0.5, [](const M& m) { return Scaled(m) && Has(m.scale, kUnread); },
     [](const F& f) { return bool(f.scales() & kUnread); }, 5},
    // Results.
    {"d = +0", 0.1, Any, [](const F& f) { return f.d & kZero && !(f.d & kNegative); }},
    {"d = -0", 0.1, MinusZero, [](const F& f) { return Zero(f.d, kNegative); }},
    {"d = 0 of nonzero products", 0.3, Any,
     [](const F& f) { return f.d & kZero && f.nonzero != 0; }},
    {"d subnormal", 0.3, Subnormal, [](const F& f) { return bool(f.d & kSubnormal); }},
    {"d subnormal, c = 0", 0.1, SubnormalProducts,
     [](const F& f) { return f.d & kSubnormal && f.c & kZero; }},
    {"d subnormal, c normal", 0.05, SubnormalDifference,
     [](const F& f) { return f.d & kSubnormal && !(f.c & (kZero | kSubnormal | kSpecial)); }},
    {"d negative", 10, Any, [](const F& f) { return Nonzero(f.d, kNegative); }},
    {"d positive", 10, Any, [](const F& f) { return Nonzero(f.d, kPositive); }},
    {"d largest", 0.01, Largest, [](const F& f) { return bool(f.d & kLargest); }},
    {"d infinite of finite operands", 0.3, Overflows,
     [](const F& f) { return f.d & kInfinity && !((f.specials() | f.c) & kSpecial); }},
    {"d infinite of an infinity", 0.3, IsFloat,
     [](const F& f) { return f.d & kInfinity && (f.specials() | f.c) & kInfinity; }},
    {"d NaN of no NaN", 0.3, Infinite, [](const F& f) { return f.d & kNan && !f.nans(); }},
    {"-0 between steps", 0.1,
     [](const M& m) { return IsPairwise(m) && MinusZero(m) && m.algorithm.terms < m.k; },
     [](const F& f) { return f.minus_zero_between; }},
    // Stage events.
    {"aligned by a product", 10, Aligned, [](const F& f) { return f.has(E::kAlignedByProduct); }},
    {"aligned by the addend", 1, Aligned, [](const F& f) { return f.has(E::kAlignedByAddend); }},
    {"aligned by the floor", 1, Aligned, [](const F& f) { return f.has(E::kAlignedByFloor); }},
    {"aligned by the floor, d nonzero", 0.1, BelowFloor,
     [](const F& f) { return f.has(E::kAlignedByFloor) && !(f.d & kZero); }},
    {"bits lost", 1, Aligned, [](const F& f) { return f.has(E::kBitsLost); }},
    {"carry", 1, Aligned, [](const F& f) { return f.has(E::kCarryOut); }},
    {"full cancellation", 0.2, Any, [](const F& f) { return f.has(E::kFullCancellation); }},
    {"tie", 0.5, IsFloat, [](const F& f) { return f.has(E::kTie); }},
    {"sticky only", 0.1, IsFloat, [](const F& f) { return f.has(E::kStickyOnly); }},
    {"inexact", 1, IsFloat, [](const F& f) { return f.has(E::kInexact); }},
    {"exact", 1, Any, [](const F& f) { return !f.has(E::kInexact); }},
    {"integer overflow", 1, [](const M& m) { return !IsFloat(m); },
     [](const F& f) { return f.has(E::kIntegerOverflow); }},
};

struct Shares {
  int counts[std::size(kConditions)] = {};
  int dots = 0;
};

Shares Measure(const Row& row) {
  const KindTables kinds(row.model);
  Shares shares;
  Batch batch;
  const int elements = row.shape().d_words(), per_case = std::min(kPerCase, elements);
  for (int i = 0; i < kDotProducts / per_case; ++i) {
    Generate({&row, &Strategies().front()}, i, 1, batch);
    for (int j = 0; j < per_case; ++j) {
      const int element = (i * 5 + j * 11) % elements;
      const Facts facts = FactsOf(row.model, kinds, Extract(batch, element));
      for (size_t c = 0; c < std::size(kConditions); ++c) {
        shares.counts[c] += kConditions[c].has(facts);
      }
      ++shares.dots;
    }
  }
  return shares;
}

TEST(Shares, OfEveryModel) {
  const bool prints = std::getenv("MMADIFF_SHARES") != nullptr;
  for (const Row* row : SmallestRows()) {
    const Shares shares = Measure(*row);
    for (size_t i = 0; i < std::size(kConditions); ++i) {
      const Condition& c = kConditions[i];
      const bool can = c.can(row->model);
      const double percent = 100.0 * shares.counts[i] / shares.dots;
      if (prints && can) std::printf("%7.3f %% %s\t%s\n", percent, row->name.c_str(), c.name);
      EXPECT_GE(percent, can ? c.least : 0) << row->name << " " << c.name;
      EXPECT_LE(percent, can ? c.most : 0) << row->name << " " << c.name;
    }
  }
}

}  // namespace
}  // namespace mmadiff
