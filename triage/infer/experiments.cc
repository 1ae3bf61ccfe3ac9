#include "triage/infer/experiments.h"

#include <algorithm>

#include "corpus/cases/case_name.h"
#include "sim/absent_addend.h"
#include "triage/infer/stored_products.h"

namespace mmadiff {
namespace {

constexpr int kWidest = 46;  // bits that an alignment may keep, and some more
constexpr int kOfTile = 16;  // dot products of one tile

// A term of an experiment: +-2^exponent, with the fraction of `kind`.
struct Term {
  int term;  // negative: counted from the addend, which is -1
  bool negative;
  int exponent;
  enum Fraction { kOne, kOnes, kHalf, kLow } fraction = kOne;
};

uint64_t FractionOf(const Format& f, Term::Fraction kind) {
  const uint64_t ones = f.fraction_bits == 0 ? 0 : ~0ull << (64 - f.fraction_bits);
  switch (kind) {
    case Term::kOnes:
      return ones;
    case Term::kHalf:
      return f.fraction_bits == 0 ? 0 : 1ull << 63;
    case Term::kLow:
      return ones & -ones;
    default:
      return 0;
  }
}

// Appends the dot product of the terms if the formats can represent them all.
void Add(const Operation& op, std::initializer_list<Term> terms,
         std::vector<DotProductCase>& dots) {
  const Model& m = op.model;
  DotProductCase dot = NeutralDotProduct(m);
  for (const Term& t : terms) {
    const int term = t.term < 0 ? m.k : t.term;
    if (term > m.k) return;
    const Format& f = term == m.k ? m.c : m.a;
    const Value v = {Value::Class::kFinite, t.negative, t.exponent, FractionOf(f, t.fraction)};
    if (!PutTerm(m, term, v, dot)) return;
  }
  dots.push_back(std::move(dot));
}

// Exponents at which experiments are placed: the middle and the top of the range of products and
// results, and the bottom of the results.
struct Places {
  int low, middle, top;
};

Places PlacesOf(const Model& m) {
  const int low = std::max({LowestExponent(m.a) + LowestExponent(m.b), LowestExponent(m.d)});
  const int top = std::min({HighestExponent(m.a) + HighestExponent(m.b),
                            HighestExponent(HasNoAddend(m) ? m.d : m.c), HighestExponent(m.d)});
  return {low, std::clamp(0, low, top), top};
}

// Pairs of terms that may belong to one step or to several.
std::vector<std::pair<int, int>> Pairs(int k) {
  std::vector<std::pair<int, int>> pairs = {{0, -1}, {-1, 0}, {k - 1, -1}, {-1, k - 1}};
  for (int step = 1; step < k; step *= 2) {
    pairs.push_back({0, step});
    pairs.push_back({step, 0});
  }
  return pairs;
}

struct Three {
  int x, y, z;  // terms
};

void Digits(const Operation& op, std::vector<DotProductCase>& dots) {
  const Model& m = op.model;
  const Places places = PlacesOf(m);
  for (const int term : {0, m.k - 1, -1}) {
    const Format& f = term < 0 ? m.c : m.a;
    for (int bits = 0; bits <= std::min(f.fraction_bits, 52); ++bits) {
      for (const bool negative : {false, true}) {
        for (const bool ones : {false, true}) {
          DotProductCase dot = NeutralDotProduct(m);
          const uint64_t fraction = bits == 0 ? 0
                                    : ones    ? ~0ull << (64 - bits)
                                              : 1ull << (64 - bits);
          if (PutTerm(m, term < 0 ? m.k : term,
                      {Value::Class::kFinite, negative, places.middle, fraction}, dot)) {
            if (term >= 0 && ones) {  // a product with all digits in both operands
              dot.b[term] |= LowBits(std::min(bits, m.b.fraction_bits)) << m.b.ignored_bits;
            }
            dots.push_back(std::move(dot));
          }
        }
      }
    }
  }
}

void Gaps(const Operation& op, std::vector<DotProductCase>& dots) {
  const Places places = PlacesOf(op.model);
  for (const auto& [x, y] : Pairs(op.model.k)) {
    for (const int base : {places.middle, places.top - 1}) {
      if (base != places.middle && base - places.middle < 3) continue;
      for (int gap = 0; gap <= kWidest; ++gap) {
        for (const bool negative : {false, true}) {
          Add(op, {{x, negative, base}, {y, false, base - gap, Term::kOnes}}, dots);
          Add(op, {{x, negative, base, Term::kLow}, {y, true, base - gap}}, dots);
        }
      }
    }
  }
}

void Cancellations(const Operation& op, std::vector<DotProductCase>& dots) {
  const int k = op.model.k;
  const Places places = PlacesOf(op.model);
  std::vector<Three> threes = {{0, 1, 2}, {0, 1, -1}, {0, -1, 1}, {-1, k - 1, 0}, {-1, 0, k - 1}};
  for (int step = 2; step < k; step *= 2) {
    threes.push_back({0, 1, step});
    threes.push_back({step, step + 1, 0});
    threes.push_back({0, step, 1});
  }
  for (const Three& t : threes) {
    for (const int base : {places.middle, places.top - 1}) {
      if (base != places.middle && base - places.middle < 3) continue;
      for (int gap = 1; gap <= kWidest; ++gap) {
        Add(op, {{t.x, false, base}, {t.y, true, base}, {t.z, false, base - gap, Term::kOnes}},
            dots);
        Add(op,
            {{t.x, true, base, Term::kHalf},
             {t.y, false, base, Term::kHalf},
             {t.z, true, base - gap, Term::kHalf}},
            dots);
      }
    }
  }
}

void TiesOfSums(const Operation& op, std::vector<DotProductCase>& dots) {
  const Model& m = op.model;
  const Places places = PlacesOf(m);
  for (const Three& t :
       {Three{-1, 0, 1}, Three{0, 1, -1}, Three{0, 1, 2}, Three{0, m.k / 2, m.k - 1}}) {
    for (int half = 1; half <= std::min(kWidest, m.d.fraction_bits + 2); ++half) {
      for (const bool negative : {false, true}) {
        for (const Term::Fraction fraction : {Term::kOne, Term::kLow}) {
          Add(op, {{t.x, negative, places.middle, fraction}, {t.y, negative, places.middle - half}},
              dots);
          for (const int below : {1, 2, 3, 6, 12}) {
            for (const bool down : {false, true}) {
              Add(op,
                  {{t.x, negative, places.middle, fraction},
                   {t.y, negative, places.middle - half},
                   {t.z, down, places.middle - half - below}},
                  dots);
            }
          }
        }
      }
    }
  }
}

void Bottoms(const Operation& op, std::vector<DotProductCase>& dots) {
  const Model& m = op.model;
  const Places places = PlacesOf(m);
  for (int base = places.low - 2; base < places.low + m.d.fraction_bits + 12; ++base) {
    for (const bool negative : {false, true}) {
      for (const int x : {0, -1}) {
        Add(op, {{x, negative, base}}, dots);
        Add(op, {{x, negative, base, Term::kOnes}}, dots);
        for (const int gap : {1, 2, 5, 9, 14, 20, 24, 30}) {
          Add(op, {{x, negative, base}, {1, false, base - gap}}, dots);
          Add(op, {{x, negative, base}, {1, true, base - gap}}, dots);
          Add(op, {{x, negative, base}, {1, true, base}, {m.k - 1, true, base - gap}}, dots);
        }
      }
    }
  }
}

// Terms with the most uneven operands. They reveal the exponent that a product gets if it has no
// leading one of its own, which products of the same size with even operands do not show.
void SubnormalOperands(const Operation& op, std::vector<DotProductCase>& dots) {
  const Model& m = op.model;
  for (int bits = 0; bits < m.a.fraction_bits; ++bits) {
    for (const bool of_b : {false, true}) {
      const Format &small = of_b ? m.b : m.a, &large = of_b ? m.a : m.b;
      if (bits >= small.fraction_bits || !small.has_zero) continue;
      for (const int up : {MaxExponent(large), (MaxExponent(large) + large.min_exponent) / 2}) {
        for (const int gap : {-2, 0, 3, 8, 12, 16, 20, 24, 30}) {
          DotProductCase dot = NeutralDotProduct(m);
          uint64_t power = 0;
          if (!EncodePowerOfTwo(large, gap & 1, up, &power)) continue;
          const uint64_t word = 1ull << bits << small.ignored_bits;
          dot.a[0] = of_b ? power : word;
          dot.b[0] = of_b ? word : power;
          const int exponent = up + small.min_exponent - small.fraction_bits + bits - gap;
          const Value v = {Value::Class::kFinite, false, exponent, FractionOf(m.c, Term::kOnes)};
          for (const int term : {1, m.k}) {
            DotProductCase with = dot;
            if (term <= m.k && term != 0 && PutTerm(m, term, v, with)) dots.push_back(with);
          }
          dots.push_back(std::move(dot));
        }
      }
    }
  }
}

constexpr Experiment kExperiments[] = {
    {"digits", "how many digits of a single term reach the result", Digits},
    {"gaps", "the distance below another term at which a term still counts", Gaps},
    {"cancellations", "how much of a small term is cut before two large ones cancel",
     Cancellations},
    {"ties", "how the sum is rounded and how ties are decided", TiesOfSums},
    {"bottoms", "the smallest results, and where alignment stops", Bottoms},
    {"subnormals", "subnormal operands, and the exponents of their products", SubnormalOperands},
};

}  // namespace

std::span<const Experiment> Experiments() { return kExperiments; }

std::vector<DotProductCase> ExperimentCases(const Experiment& experiment, const Operation& op) {
  std::vector<DotProductCase> dots;
  if (IsInteger(op.model.d)) return dots;
  experiment.cases(StoredProducts(op), dots);
  dots = AsSparse(op, std::move(dots));
  std::ranges::sort(dots);
  dots.erase(std::unique(dots.begin(), dots.end()), dots.end());
  return dots;
}

std::vector<const char*> ClassNames(const Operation& op) {
  std::vector<const char*> names = {"bits"};
  for (const Strategy& strategy : ClassStrategies()) {
    if (HasClasses(strategy, *op.instruction)) names.push_back(strategy.name);
  }
  return names;
}

std::vector<DotProductCase> ClassCases(const Operation& op, const char* name, uint64_t first,
                                       size_t count) {
  std::vector<DotProductCase> dots;
  Batch tile;
  for (uint64_t index = first; dots.size() < count; ++index) {
    Generate({&op, FindStrategy(name)}, index, 1, tile);
    const int64_t all = tile.dot_products(), some = std::min<int64_t>(all, kOfTile);
    for (int64_t i = 0; i < some && dots.size() < count; ++i) {
      dots.push_back(Extract(tile, (i * (all / some) + i) % all));
    }
  }
  return dots;
}

bool PutTerm(const Model& m, int term, const Value& value, DotProductCase& dot) {
  if (term == m.k) return EncodeValue(m.c, value, &dot.c);
  if (IsAbsent(m.b)) return EncodeValue(m.a, value, &dot.a[term]);
  const int low = m.a.min_exponent, high = MaxExponent(m.a), e = value.exponent;
  for (const int a : {std::clamp((e + m.a.min_exponent - m.b.min_exponent) / 2, low, high),
                      std::clamp(e - m.b.min_exponent, low, high),
                      std::clamp(e - MaxExponent(m.b), low, high), LowestExponent(m.a)}) {
    Value of_a = value;
    of_a.exponent = a;
    if (EncodeValue(m.a, of_a, &dot.a[term]) && EncodePowerOfTwo(m.b, false, e - a, &dot.b[term])) {
      return true;
    }
  }
  return false;
}

}  // namespace mmadiff
