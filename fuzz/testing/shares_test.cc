// What share of the dot products of the default strategy has each kind of input and each kind of
// result: every model has at least the table's share of each that its formats and parameters can
// have. MMADIFF_SHARES=1 prints the shares.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "corpus/cases/boundary_scaled.h"
#include "corpus/cases/case_name.h"
#include "corpus/cases/operands.h"
#include "fuzz/testing/operations.h"
#include "fuzz/unit/stage_watcher.h"
#include "sim/dot_product.h"
#include "sim/tree/tree_sum.h"

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

// Exponents of products other than zero, scales included.
int LeastProduct(const Model& m) {
  const bool flushes = m.algorithm.input_subnormals != Subnormals::kKeep;
  const int elements = flushes ? m.a.min_exponent + m.b.min_exponent : Lowest(m.a) + Lowest(m.b);
  return elements + (m.scales() != 0 ? 2 * Lowest(m.scale) : 0);
}
int LargestProduct(const Model& m) {
  return MaxExponent(m.a) + MaxExponent(m.b) + (m.scales() != 0 ? 2 * MaxExponent(m.scale) : 0);
}

// What one dot product has.
struct Facts {
  unsigned a = 0, b = 0;  // kinds among the elements
  unsigned scale_a = 0, scale_b = 0;
  unsigned c = 0, d = 0;
  int special_elements = 0;
  unsigned products = 0;  // kinds of the exact products: zero, infinity
  int nonzero = 0;        // products that are not zero, scales included
  bool infinity_times_zero = false, infinity_times_zero_scale = false;
  bool infinities_meet = false;     // among the products
  bool minus_zero_between = false;  // a step's result is -0, later products are -0
  // Of finite operands, each as its function below says:
  bool huge_zero = false;    // a zero beside a largest exponent offers more than any other term
  bool below_power = false;  // of normal outputs
  bool beside_half = false;  // of wide products
  bool least_pair = false;
  bool near_largest = false;  // d within 16 ulps of the largest number, by products of an ulp
  // Of scaled instructions:
  bool last_bits = false, small_sum = false, groups_cancel = false, zero_group = false;
  bool scales_of_one = false;  // every scale is 1 or the next code below: edges of the format
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

// The watcher, and which steps have the result -0.
struct StepWatcher {
  StageWatcher watcher;
  uint64_t minus_zero;
  uint64_t steps = 0;  // bit by step, of the first 64

  void operator()(const Event& e) {
    watcher(e);
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
    f.special_elements += bool(x & kSpecial) + bool(y & kSpecial);
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

// (-1)^negative * significand * 2^exponent; of a zero, `exponent` is what its fields offer.
struct Term {
  int group = -1;  // of products
  bool negative = false, power_of_two = true;
  int exponent = 0;        // of the leading bit, or one less
  double significand = 1;  // doubles do: a group and its negative are rounded alike

  void Multiply(const Format& f, uint64_t word) {
    const Unpacked u = Decode(f, word);
    const int shift = u.significand == 0 ? 0 : f.fraction_bits + 1 - std::bit_width(u.significand);
    negative ^= u.negative;
    power_of_two &= std::has_single_bit(u.significand);
    exponent += u.exponent - shift;
    significand *= static_cast<double>(u.significand << shift) / (1ull << f.fraction_bits);
  }
};

// The terms of one dot product that are not zero, the addend last.
struct Terms {
  std::vector<Term> all;
  bool addend = false;
  int leads = 0;             // index of the largest
  int huge_zero = kNoFloor;  // largest exponent of the zeros beside a largest exponent

  int products() const { return static_cast<int>(all.size()) - addend; }
};

bool LargestExponent(const Format& f, uint64_t word) {
  return Decode(f, word).exponent == MaxExponent(f);
}

Terms TermsOf(const Model& m, const DotProductCase& dot) {
  Terms terms;
  terms.all.reserve(m.k + 1);
  for (int k = 0; k < m.k; ++k) {
    Term t = {k / scaled_classes::kGroup};
    t.Multiply(m.a, dot.a[k]);
    t.Multiply(m.b, dot.b[k]);
    if (m.scales() != 0) {
      const int at = m.k + k / m.scale_block;
      t.Multiply(m.scale, dot.a[at]);
      t.Multiply(m.scale, dot.b[at]);
    }
    if (t.significand != 0) {
      terms.all.push_back(t);
    } else if (LargestExponent(m.a, dot.a[k]) || LargestExponent(m.b, dot.b[k])) {
      terms.huge_zero = std::max(terms.huge_zero, t.exponent);
    }
  }
  Term c;
  c.Multiply(m.c, dot.c);
  terms.addend = c.significand != 0;
  if (terms.addend) terms.all.push_back(c);
  for (size_t i = 1; i < terms.all.size(); ++i) {
    if (terms.all[i].exponent > terms.all[terms.leads].exponent) terms.leads = i;
  }
  return terms;
}

// The largest term is a power of two, and the others add up to less than half of it, of the other
// sign: the sum has one bit less.
bool BelowPower(const Terms& terms) {
  const Term& leads = terms.all[terms.leads];
  if (!leads.power_of_two) return false;
  double rest = -1;
  for (const Term& t : terms.all) {
    const double size = std::ldexp(t.significand, t.exponent - leads.exponent);
    rest += t.negative == leads.negative ? size : -size;
  }
  return -0.5 < rest && rest < 0;
}

// Half an ulp of the largest term, and below it a little that decides.
bool BesideHalf(const Terms& terms, const Format& d) {
  const int half = terms.all[terms.leads].exponent - d.fraction_bits - 1;
  int halves = 0, below = 0, others = 0;
  for (const Term& t : terms.all) {
    const bool is_half = t.exponent == half && t.power_of_two;
    ++(t.exponent < half ? below : is_half ? halves : others);
  }
  return halves == 1 && below != 0 && others == 1;
}

// A power of two around the least output, one product below it, and nothing else.
bool LeastPair(const Terms& terms, int least) {
  if (terms.addend || terms.products() != 2) return false;
  const Term &leads = terms.all[terms.leads], &other = terms.all[1 - terms.leads];
  return leads.power_of_two && std::abs(leads.exponent - least) <= 1 &&
         other.exponent < leads.exponent;
}

// Half of the products at least, all of one sign, the least of them around the least output.
bool SmallSum(const Model& m, const Terms& terms) {
  if (terms.addend || 2 * terms.products() < m.k) return false;
  int low = terms.all[0].exponent, negative = 0;
  for (const Term& t : terms.all) {
    low = std::min(low, t.exponent);
    negative += t.negative;
  }
  return negative % terms.products() == 0 && std::abs(low - Lowest(m.d)) <= 12;
}

// Products of two groups lie further apart than alignment keeps and LastBits() allows.
bool FarGroups(const Model& m) {
  const auto span = [](const Format& f) { return MaxExponent(f) - Lowest(f); };
  const int scales = m.scales() > 1 ? 2 * span(m.scale) : 0;
  return m.scales() != 0 && span(m.a) + span(m.b) + scales > m.algorithm.fraction_bits + 8;
}

// A power of two, and few products beside it, one of them in another group and within eight bits of
// the last one that alignment keeps.
bool LastBits(const Model& m, const Terms& terms) {
  const Term& leads = terms.all[terms.leads];
  const bool few = terms.products() <= m.k / scaled_classes::kGroup + 1;
  if (leads.group < 0 || !leads.power_of_two || !few) return false;
  const int last = leads.exponent - m.algorithm.fraction_bits;
  return std::any_of(terms.all.begin(), terms.all.begin() + terms.products(), [&](const Term& t) {
    return t.group != leads.group && std::abs(t.exponent - last) <= 8;
  });
}

struct Group {
  int exponent = kNoFloor;  // of its largest product
  double sum = 0;           // in units of 2^exponent of the first product
  int unit = 0;
};

std::vector<Group> GroupsOf(const Model& m, const Terms& terms) {
  std::vector<Group> groups(m.k / scaled_classes::kGroup);
  for (int i = 0; i < terms.products(); ++i) {
    const Term& t = terms.all[i];
    Group& g = groups[t.group];
    if (g.exponent == kNoFloor) g.unit = t.exponent;
    g.exponent = std::max(g.exponent, t.exponent);
    const double size = std::ldexp(t.significand, t.exponent - g.unit);
    g.sum += t.negative ? -size : size;
  }
  return groups;
}

// One group is the negative of another; the addend or a third group is not zero.
bool GroupsCancel(const Terms& terms, const std::vector<Group>& groups) {
  int nonzero = terms.addend, pairs = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    nonzero += groups[i].sum != 0;
    for (size_t j = 0; j < i; ++j) {
      const Group &x = groups[i], &y = groups[j];
      pairs += x.sum != 0 && x.unit == y.unit && x.sum == -y.sum;
    }
  }
  return pairs == 1 && nonzero > 2;
}

// A group that adds up to zero has the largest product; some other sum is not zero.
bool ZeroGroupLeads(const Terms& terms, const std::vector<Group>& groups) {
  const Term& leads = terms.all[terms.leads];
  if (leads.group < 0 || groups[leads.group].sum != 0) return false;
  const auto nonzero = [](const Group& g) { return g.sum != 0; };
  return terms.addend || std::ranges::any_of(groups, nonzero);
}

bool ScalesOfOne(const Model& m, const DotProductCase& dot) {
  const uint64_t one = Compose(m.scale, false, 0, 0);
  const auto is = [one](uint64_t word) { return word == one || word == one - 1; };
  return std::all_of(dot.a.begin() + m.k, dot.a.begin() + m.k + m.scales(), is) &&
         std::all_of(dot.b.begin() + m.k, dot.b.begin() + m.k + m.scales(), is);
}

// Products reach from the largest term to well below half its ulp.
bool WideProducts(const Model& m) {
  return m.k > 1 && LargestProduct(m) - LeastProduct(m) > 2 * m.d.fraction_bits;
}

// Exponent of the last bit of the largest results.
int LastUlp(const Model& m) { return MaxExponent(m.d) - m.algorithm.output_fraction_bits; }

bool NearLargest(const Model& m, const Terms& terms, uint64_t d) {
  const uint64_t ulp = 1ull << (m.d.fraction_bits - m.algorithm.output_fraction_bits);
  const uint64_t magnitude = d & LowBits(SignBit(m.d)), largest = MaxFiniteWord(m.d);
  if (magnitude > largest || largest - magnitude > 16 * ulp) return false;
  const auto reaches = [&m](const Term& t) { return t.exponent >= LastUlp(m) - 2; };
  return std::any_of(terms.all.begin(), terms.all.begin() + terms.products(), reaches);
}

void AddTerms(const Model& m, const DotProductCase& dot, uint64_t d, Facts& f) {
  const Terms terms = TermsOf(m, dot);
  if (terms.all.empty()) return;
  const int leads = terms.all[terms.leads].exponent;
  f.huge_zero = terms.huge_zero > leads;
  f.below_power = leads >= m.d.min_exponent && BelowPower(terms);
  f.beside_half = WideProducts(m) && BesideHalf(terms, m.d);
  f.least_pair = LeastPair(terms, Lowest(m.d));
  f.near_largest = NearLargest(m, terms, d);
  if (m.scales() == 0) return;
  const std::vector<Group> groups = GroupsOf(m, terms);
  f.last_bits = FarGroups(m) && LastBits(m, terms);
  f.small_sum = SmallSum(m, terms);
  f.groups_cancel = GroupsCancel(terms, groups);
  f.zero_group = ZeroGroupLeads(terms, groups);
  f.scales_of_one = ScalesOfOne(m, dot);
}

Facts FactsOf(const Model& m, const KindTables& kinds, const DotProductCase& dot) {
  Facts f;
  f.c = KindsOf(m.c, dot.c);
  AddProducts(m, kinds, dot, f);
  StepWatcher steps = {StageWatcher(m, dot.c), 1ull << SignBit(m.d)};
  const uint64_t d = DotProduct(m, dot.a.data(), dot.b.data(), dot.c, steps);
  f.d = KindsOf(m.d, d, m.algorithm.output_fraction_bits);
  f.events = steps.watcher.seen();
  if (IsFloat(m) && !((f.elements() | f.scales() | f.c) & kSpecial)) AddTerms(m, dot, d, f);
  // Families of several alignments have no such events.
  if (!HasOneAlignment(m.algorithm.family)) f.events &= ~kAlignmentEvents;
  const int terms = m.algorithm.terms;
  for (int step = 0; (step + 1) * terms < m.k && IsPairwise(m); ++step) {
    const bool minus_zero = steps.steps >> step & 1;
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

bool WideFloat(const Model& m) { return IsFloat(m) && WideProducts(m); }

// A product below the least output, beside another one.
bool BelowLeast(const Model& m) { return IsFloat(m) && m.k > 1 && LeastProduct(m) < Lowest(m.d); }

// Products of the size of the last bit of the largest results.
bool LastUlps(const Model& m) {
  return IsFloat(m) && LeastProduct(m) <= LastUlp(m) && LastUlp(m) <= LargestProduct(m) + 2;
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
    // Terms.
    {"zero product of the largest exponent", 0.5, IsFloat, [](const F& f) { return f.huge_zero; }},
    {"just below a power of two", 1.2, IsFloat, [](const F& f) { return f.below_power; }},
    {"half an ulp and a little", 0.4, WideFloat, [](const F& f) { return f.beside_half; }},
    {"the least output and a straggler", 1.1, BelowLeast, [](const F& f) { return f.least_pair; }},
    {"many products around the least output", 0.9,
     [](const M& m) { return Scaled(m) && BelowLeast(m); }, [](const F& f) { return f.small_sum; }},
    {"last kept bits of another group", 0.44, FarGroups, [](const F& f) { return f.last_bits; }},
    {"groups cancel", 1.1, Scaled, [](const F& f) { return f.groups_cancel; }},
    {"a group of sum zero leads", 0.36, Scaled, [](const F& f) { return f.zero_group; }},
    {"every scale one or just below", 0.35, Scaled, [](const F& f) { return f.scales_of_one; }},
    {"one special element, no zero", 0.2,
     [](const M& m) { return IsFloat(m) && (Has(m.a, kNan) || Has(m.b, kNan)); },
     [](const F& f) {
       return f.special_elements == 1 && !((f.scales() | f.c) & kSpecial) &&
              !((f.elements() | f.c) & kZero);
     }},
    // Kinds of operands.
    {"c = +0", 2, Any, [](const F& f) { return f.c & kZero && !(f.c & kNegative); }},
    {"c = -0", 2, IsFloat, [](const F& f) { return Zero(f.c, kNegative); }},
    {"c subnormal", 1, IsFloat, [](const F& f) { return bool(f.c & kSubnormal); }},
    {"c largest", 1.2, Any, [](const F& f) { return bool(f.c & kLargest); }},
    {"c infinite", 0.3, IsFloat, [](const F& f) { return bool(f.c & kInfinity); }},
    {"c NaN", 0.3, IsFloat, [](const F& f) { return bool(f.c & kNan); }},
    {"c alone infinite", 0.3, IsFloat, [](const F& f) { return f.c & kInfinity && !f.specials(); }},
    {"c alone NaN", 0.1, IsFloat, [](const F& f) { return f.c & kNan && !f.specials(); }},
    {"a subnormal", 2.5, IsFloat, [](const F& f) { return bool(f.a & kSubnormal); }},
    {"b subnormal", 2.5, IsFloat, [](const F& f) { return bool(f.b & kSubnormal); }},
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
    {"scale 0", 2, [](const M& m) { return Scaled(m) && Has(m.scale, kZero); },
     [](const F& f) { return bool(f.scales() & kZero); }},
    {"scale 0, element infinite", 0.1,
     [](const M& m) { return Scaled(m) && Infinite(m) && Has(m.scale, kZero); },
     [](const F& f) { return f.infinity_times_zero_scale; }},
    {"scale subnormal", 0.5, [](const M& m) { return Scaled(m) && Has(m.scale, kSubnormal); },
     [](const F& f) { return bool(f.scales() & kSubnormal); }},
    {"scale least", 0.6, Scaled, [](const F& f) { return bool(f.scales() & kLeast); }},
    {"scale largest", 0.5, Scaled, [](const F& f) { return bool(f.scales() & kLargest); }},
    {"scale with an unread bit", 0.5, [](const M& m) { return Scaled(m) && Has(m.scale, kUnread); },
     [](const F& f) { return bool(f.scales() & kUnread); }, 5},
    // Results.
    {"d = +0", 0.1, Any, [](const F& f) { return f.d & kZero && !(f.d & kNegative); }},
    {"d = -0", 0.1, MinusZero, [](const F& f) { return Zero(f.d, kNegative); }},
    {"d = 0 of nonzero products", 0.3, Any,
     [](const F& f) { return f.d & kZero && f.nonzero != 0; }},
    {"d subnormal", 0.5, Subnormal, [](const F& f) { return bool(f.d & kSubnormal); }},
    {"d subnormal, c = 0", 2.2, SubnormalProducts,
     [](const F& f) { return f.d & kSubnormal && f.c & kZero; }},
    {"d subnormal, c normal", 0.07, SubnormalDifference,
     [](const F& f) { return f.d & kSubnormal && !(f.c & (kZero | kSubnormal | kSpecial)); }},
    {"d negative", 10, Any, [](const F& f) { return Nonzero(f.d, kNegative); }},
    {"d positive", 10, Any, [](const F& f) { return Nonzero(f.d, kPositive); }},
    {"d largest", 0.08, Largest, [](const F& f) { return bool(f.d & kLargest); }},
    {"d around the largest by an ulp", 0.16, LastUlps, [](const F& f) { return f.near_largest; }},
    {"d infinite of finite operands", 0.7, Overflows,
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
    {"aligned by the floor", 1.6, Aligned, [](const F& f) { return f.has(E::kAlignedByFloor); }},
    {"aligned by the floor, d nonzero", 0.19, BelowFloor,
     [](const F& f) { return f.has(E::kAlignedByFloor) && !(f.d & kZero); }},
    {"bits lost", 1, Aligned, [](const F& f) { return f.has(E::kBitsLost); }},
    {"carry", 1, Aligned, [](const F& f) { return f.has(E::kCarryOut); }},
    {"full cancellation", 0.23, Any, [](const F& f) { return f.has(E::kFullCancellation); }},
    {"tie", 0.95, IsFloat, [](const F& f) { return f.has(E::kTie); }},
    {"sticky only", 0.11, IsFloat, [](const F& f) { return f.has(E::kStickyOnly); }},
    {"inexact", 1, IsFloat, [](const F& f) { return f.has(E::kInexact); }},
    {"exact", 1, Any, [](const F& f) { return !f.has(E::kInexact); }},
    {"integer overflow", 1, [](const M& m) { return !IsFloat(m); },
     [](const F& f) { return f.has(E::kIntegerOverflow); }},
};

struct Shares {
  int counts[std::size(kConditions)] = {};
  int dots = 0;
};

Shares Measure(const Operation& op) {
  const KindTables kinds(op.model);
  Shares shares;
  Batch batch;
  const int elements = op.shape().d_words(), per_case = std::min(kPerCase, elements);
  for (int i = 0; i < kDotProducts / per_case; ++i) {
    Generate({&op, &Strategies().front()}, i, 1, batch);
    for (int j = 0; j < per_case; ++j) {
      const int element = (i * 5 + j * 11) % elements;
      const Facts facts = FactsOf(op.model, kinds, Extract(batch, element));
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
  for (const Operation* op : SmallestOperations()) {
    if (op->instruction->is_conversion()) continue;             // class_test counts theirs
    if (op->model.algorithm.family == Family::kTree) continue;  // conditions are of one sum
    if (op->instruction->sparse()) continue;  // half of what a class fills is not stored
    const Shares shares = Measure(*op);
    for (size_t i = 0; i < std::size(kConditions); ++i) {
      const Condition& c = kConditions[i];
      const bool can = c.can(op->model);
      const double percent = 100.0 * shares.counts[i] / shares.dots;
      if (prints && can) std::printf("%7.3f %% %s\t%s\n", percent, op->name.c_str(), c.name);
      EXPECT_GE(percent, can ? c.least : 0) << op->name << " " << c.name;
      EXPECT_LE(percent, can ? c.most : 0) << op->name << " " << c.name;
    }
  }
}

}  // namespace
}  // namespace mmadiff
