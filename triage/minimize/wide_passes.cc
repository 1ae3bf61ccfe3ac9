#include "triage/minimize/wide_passes.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "triage/minimize/passes.h"
#include "triage/minimize/terms.h"

namespace mmadiff {
namespace {

using Class = Value::Class;

// Fractions for one word: none, or a single bit from the highest place down.
std::vector<uint64_t> SimplerFractions(const Format& f) {
  std::vector<uint64_t> fractions = {0};
  const int places = IsInteger(f) ? f.bits : f.fraction_bits;
  for (int place = 1; place <= places; ++place) {
    fractions.push_back(1ull << (64 - place));
  }
  return fractions;
}

// Drops one term and changes the exponent of a second one; with fractions kept, and with fractions
// cleared.
void DropAndShift(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> terms = ActiveTerms(m, current);
  if (terms.size() > 5) return;
  for (const int dropped : terms) {
    for (const bool powers : {true, false}) {
      DotProductCase base = current;
      ClearTerm(m, dropped, base);
      for (const int w : ActiveWords(m, base)) {
        Value o = ValueAt(m, base, w);
        if (powers && o.kind == Class::kFinite) o.fraction = 0;
        Put(m, w, o, base);
      }
      for (const int t : ActiveTerms(m, base)) {
        for (const int e : TermExponents(m, t)) {
          DotProductCase dot = base;
          if (SetTermExponent(m, t, e, dot) && offer(dot)) return;
        }
      }
    }
  }
}

// A simpler fraction of one word together with a new exponent of one term, not far beyond the
// current one.
void SignificandAndExponent(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr int kMaxDistance = 300;  // keeps the many places of wide formats affordable
  const std::vector<int> terms = ActiveTerms(m, current);
  if (terms.size() > 5) return;
  for (const int w : ActiveWords(m, current)) {
    const Value o = ValueAt(m, current, w);
    if (o.kind != Class::kFinite || o.fraction == 0) continue;
    for (const uint64_t fraction : SimplerFractions(FormatOfWord(m, w))) {
      DotProductCase base = current;
      if (!PutFraction(m, w, fraction, base)) continue;
      for (const int t : terms) {
        const int now = std::abs(TermExponent(m, current, t).value_or(0));
        for (const int e : TermExponents(m, t)) {
          if (std::abs(e) > std::max(now, kMaxDistance)) break;
          DotProductCase dot = base;
          if (SetTermExponent(m, t, e, dot) && offer(dot)) return;
        }
      }
    }
  }
}

// The target of a new exponent: a term, or one word of a product in which neither word is near 1.0.
struct MovableExponent {
  int term;
  std::optional<int> word;
  int exponent;

  bool Set(const Model& m, int e, DotProductCase& dot) const {
    return word ? PutExponent(m, *word, e, dot) : SetTermExponent(m, term, e, dot);
  }
};

std::vector<MovableExponent> MovableExponents(const Model& m, const DotProductCase& dot) {
  std::vector<MovableExponent> movable;
  for (const int t : ActiveTerms(m, dot)) {
    const std::optional<int> e = TermExponent(m, dot, t);
    if (!e) continue;
    const int x = t == m.k ? 0 : ValueAt(m, dot, 2 * t).exponent;
    const int y = t == m.k ? 0 : ValueAt(m, dot, 2 * t + 1).exponent;
    if (x != 0 && y != 0) {
      movable.push_back({t, 2 * t, x});
      movable.push_back({t, 2 * t + 1, y});
    } else {
      movable.push_back({t, std::nullopt, *e});
    }
  }
  return movable;
}

// Gives two movable exponents any pair of exponents, the smallest total distance from 1.0 first.
// The distance is at most the current one unless one of the two becomes 1.0.
void PairExponents(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr int kMaxDistance = 300;  // keeps the pairs of wide formats affordable
  const std::vector<MovableExponent> movable = MovableExponents(m, current);
  if (movable.size() > 5) return;
  DotProductCase dot = current;
  for (size_t i = 0; i < movable.size(); ++i) {
    for (size_t j = i + 1; j < movable.size(); ++j) {
      const MovableExponent &x = movable[i], &y = movable[j];
      const auto try_pair = [&](int ex, int ey) {
        dot = current;
        return x.Set(m, ex, dot) && y.Set(m, ey, dot) && offer(dot);
      };
      for (const int e : TermExponents(m, x.term)) {
        if (try_pair(e, 0)) return;
      }
      for (const int e : TermExponents(m, y.term)) {
        if (try_pair(0, e)) return;
      }
      const int most = std::min(std::abs(x.exponent) + std::abs(y.exponent), kMaxDistance);
      for (int total = 2; total <= most; ++total) {
        for (int dx = 1; dx < total; ++dx) {
          const int dy = total - dx;
          if (try_pair(-dx, -dy) || try_pair(-dx, dy) || try_pair(dx, -dy) || try_pair(dx, dy)) {
            return;
          }
        }
      }
    }
  }
}

// Changes one movable exponent together with the sign of one word.
void ExponentAndSign(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<MovableExponent> movable = MovableExponents(m, current);
  if (movable.size() > 5) return;
  for (const int w : ActiveWords(m, current)) {
    DotProductCase base = current;
    if (!FlipSign(m, w, base)) continue;
    for (const MovableExponent& one : movable) {
      for (const int e : TermExponents(m, one.term)) {
        DotProductCase dot = base;
        if (one.Set(m, e, dot) && offer(dot)) return;
      }
    }
  }
}

// Powers of two of both signs, nearest to 1.0 first; for a wide format only those near 1.0 and near
// the ends.
std::vector<uint64_t> PowersOfTwo(const Format& f) {
  constexpr int kNear = 80;
  std::vector<uint64_t> words;
  const int low = LowestExponent(f), high = HighestExponent(f);
  for (int distance = 0; distance <= std::max(-low, high); ++distance) {
    for (const int e : {-distance, distance}) {
      if (e < low || e > high || (e > 0 && distance == 0)) continue;
      const bool near_end = e - f.min_exponent <= 30 || high - e <= 4;
      if (distance > kNear && !near_end) continue;
      for (const bool negative : {false, true}) {
        uint64_t word;
        if (EncodePowerOfTwo(f, negative, e, &word)) words.push_back(word);
      }
    }
  }
  return words;
}

// Zeros, infinities and NaNs of both signs.
std::vector<uint64_t> SpecialWords(const Format& f) {
  std::vector<uint64_t> words = {0};
  if (IsInteger(f)) return words;
  uint64_t word;
  for (const Class kind : {Class::kZero, Class::kInfinite}) {
    for (const bool negative : {false, true}) {
      if (EncodeValue(f, {kind, negative, 0, 0}, &word)) words.push_back(word);
    }
  }
  for (const bool negative : {false, true}) {
    if (EncodeNan(f, negative, &word)) words.push_back(word);
  }
  return words;
}

// The simplest possible cases: no product, or one product at k = 0, and an addend; all are powers
// of two or specials.
void OneProduct(const Model& m, const DotProductCase&, Offer offer) {
  std::vector<uint64_t> addends = SpecialWords(m.c), powers = PowersOfTwo(m.c);
  addends.insert(addends.end(), powers.begin(), powers.end());
  std::vector<uint64_t> factors = SpecialWords(m.a);
  powers = PowersOfTwo(m.a);
  factors.insert(factors.end(), powers.begin(), powers.end());
  std::vector<uint64_t> units = {0, 0};
  if (!IsAbsent(m.b) && !EncodePowerOfTwo(m.b, false, 0, &units[0])) return;
  if (!m.a.is_signed && EncodePowerOfTwo(m.b, true, 0, &units[1])) units.push_back(0);
  DotProductCase dot = NeutralDotProduct(m);
  for (const uint64_t c : addends) {
    dot.c = c;
    if (offer(dot)) return;
  }
  for (const uint64_t c : addends) {
    dot.c = c;
    for (const uint64_t b : units) {
      dot.b[0] = b;
      for (const uint64_t a : factors) {
        dot.a[0] = a;
        if (offer(dot)) return;
      }
    }
  }
}

// A single product of any exponent, with every split, and at most one bit beyond the leading ones.
void ProductAlone(const Model& m, const DotProductCase&, Offer offer) {
  const auto fractions = [](const Format& f) {
    return std::vector<uint64_t>{0, 1ull << 63, 1ull << (64 - std::max(f.fraction_bits, 1))};
  };
  for (const uint64_t fa : fractions(m.a)) {
    for (const uint64_t fb : fractions(m.b)) {
      if (fa != 0 && fb != 0) continue;
      for (const bool negative : {false, true}) {
        for (const int e : TermExponents(m, 0)) {
          for (const ExponentSplit split : kExponentSplits) {
            DotProductCase dot = NeutralDotProduct(m);
            if (Put(m, 0, {Class::kFinite, false, 0, fa}, dot) &&
                Put(m, 1, {Class::kFinite, negative, 0, fb}, dot) &&
                SetTermExponent(m, 0, e, split, dot) && offer(dot)) {
              return;
            }
          }
        }
      }
    }
  }
}

// 1.0 or -1.0 at k = 0 and an addend with one bit beyond the leading one, or the other way around.
void OneProductOneBit(const Model& m, const DotProductCase&, Offer offer) {
  DotProductCase dot = NeutralDotProduct(m);
  if (!EncodePowerOfTwo(m.b, false, 0, &dot.b[0])) return;
  for (const bool addend : {true, false}) {
    const int varied = addend ? 2 * m.k : 0, fixed = addend ? 0 : 2 * m.k;
    for (const int e : TermExponents(m, m.k)) {
      for (const uint64_t fraction : SimplerFractions(FormatOfWord(m, varied))) {
        for (const bool x : {false, true}) {
          for (const bool y : {false, true}) {
            if (Put(m, fixed, {Class::kFinite, x, 0, 0}, dot) &&
                Put(m, varied, {Class::kFinite, y, e, fraction}, dot) && offer(dot)) {
              return;
            }
          }
        }
      }
    }
  }
}

// 1.0 at k = 0, minus (1.0 - 2^-bits) at k = 1, and an addend that is a power of two. A unit lost
// or gained at the alignment is many units of the remaining difference.
void NearlyCancelling(const Model& m, const DotProductCase&, Offer offer) {
  constexpr int kMaxDistance = 45;
  if (IsInteger(m.a) || m.k < 2) return;
  DotProductCase dot = NeutralDotProduct(m);
  for (int bits = 1; bits <= m.a.fraction_bits + 1; ++bits) {
    const uint64_t ones = bits == 1 ? 0 : ~0ull << (65 - bits);
    for (const int e : TermExponents(m, m.k)) {
      if (std::abs(e) > kMaxDistance) break;
      for (unsigned signs = 0; signs < 4; ++signs) {
        const bool negative = signs & 1;
        if (PutPower(m, 0, negative, 0, dot) && PutPower(m, 1, !negative, 0, dot) &&
            Put(m, 2, {Class::kFinite, !negative, -1, ones}, dot) &&
            EncodePowerOfTwo(m.c, signs & 2, e, &dot.c) && offer(dot)) {
          return;
        }
      }
    }
  }
}

// The first and the last k in use; false unless two to four are in use.
bool TwoPlaces(const Model& m, const DotProductCase& dot, int* first, int* last) {
  const std::vector<int> products = ActiveProducts(m, dot);
  if (products.size() < 2 || products.size() > 4) return false;
  *first = products.front();
  *last = products.back();
  return true;
}

// Powers of two at the first and the last k in use, without an addend. The nearest to 1.0 come
// first, and none is far from it, because this pass runs again whenever a term was dropped.
void TwoProductsAlone(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr int kMaxDistance = 100;
  int first, last;
  if (current.c == 0 || !TwoPlaces(m, current, &first, &last)) return;
  const std::vector<int> exponents = TermExponents(m, 0);
  const int farthest = std::min(2 * std::abs(exponents.back()), kMaxDistance);
  DotProductCase dot = WithoutTerms(m, current);
  for (int total = 0; total <= farthest; ++total) {
    for (int d = 0; d <= total; ++d) {
      for (const int y : {total - d, d - total}) {
        for (const int x : {d, -d}) {
          if (OfferPowers(m, {{first, x}, {last, y}}, dot, offer)) return;
        }
      }
    }
  }
}

// Powers of two at k = 0 and 1, near enough to each other that one sum contains both, the larger
// one near the current largest term. A difference around the exponent floor or the smallest output
// needs no more.
void TwoProductsHere(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr int kMaxGap = 64;
  if (ActiveProducts(m, current).size() < 3 || IsInteger(m.a)) return;
  std::optional<int> largest;
  for (const int t : ActiveTerms(m, current)) {
    const std::optional<int> e = TermExponent(m, current, t);
    if (e && (!largest || *e > *largest)) largest = e;
  }
  if (!largest) return;
  std::vector<int> exponents = TermExponents(m, 0);
  const int lowest = *std::ranges::min_element(exponents);
  std::ranges::stable_sort(
      exponents, [&](int x, int y) { return std::abs(x - *largest) < std::abs(y - *largest); });
  DotProductCase dot = WithoutTerms(m, current);
  for (const int e : exponents) {
    for (int gap = 0; gap <= kMaxGap && e - gap >= lowest; ++gap) {
      if (OfferPowers(m, {{0, e}, {1, e - gap}}, dot, offer)) return;
    }
  }
}

// Powers of two at the first and the last k in use, one of them 1.0 or -1.0, and an addend; none
// farther from 1.0 than twice the significand of an f32.
void TwoProducts(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr int kMaxDistance = 48;
  int first, last;
  if (!TwoPlaces(m, current, &first, &last)) return;
  DotProductCase dot = WithoutTerms(m, current);
  const auto try_signs = [&](int fixed, int varied, int e, int addend_exponent) {
    for (unsigned signs = 0; signs < 8; ++signs) {
      if (PutPower(m, m.k, signs & 1, addend_exponent, dot) &&
          PutPower(m, fixed, signs & 2, 0, dot) && PutPower(m, varied, signs & 4, 0, dot) &&
          SetTermExponent(m, varied, e, ExponentSplit::kUnitB, dot) && offer(dot)) {
        return true;
      }
    }
    return false;
  };
  for (const int f : TermExponents(m, m.k)) {
    if (std::abs(f) > kMaxDistance && !IsInteger(m.c)) break;
    for (const int e : TermExponents(m, 0)) {
      if (std::abs(e) > kMaxDistance) break;
      if (try_signs(first, last, e, f) || try_signs(last, first, e, f)) return;
    }
  }
}

// 1.0 or -1.0 at the first and the last k in use, and an addend with one bit beyond the leading
// one.
void TwoProductsOneBit(const Model& m, const DotProductCase& current, Offer offer) {
  int first, last;
  if (!TwoPlaces(m, current, &first, &last)) return;
  DotProductCase dot = WithoutTerms(m, current);
  for (const int e : TermExponents(m, m.k)) {
    for (const uint64_t fraction : SimplerFractions(m.c)) {
      for (const bool negative : {false, true}) {
        if (EncodeValue(m.c, {Class::kFinite, negative, e, fraction}, &dot.c) &&
            OfferPowers(m, {{first, 0}, {last, 0}}, dot, offer)) {
          return;
        }
      }
    }
  }
}

constexpr Pass kWidePasses[] = {
    {"one_product", OneProduct, true},
    {"product_alone", ProductAlone, true},
    {"one_product_one_bit", OneProductOneBit, true},
    {"nearly_cancelling", NearlyCancelling, true},
    {"two_products_here", TwoProductsHere},
    {"two_products_alone", TwoProductsAlone},
    {"two_products", TwoProducts},
    {"two_products_one_bit", TwoProductsOneBit},
    {"drop_and_shift", DropAndShift},
    {"significand_and_exponent", SignificandAndExponent},
    {"exponent_and_sign", ExponentAndSign},
    {"pair_exponents", PairExponents},
};

}  // namespace

std::span<const Pass> WidePasses() { return kWidePasses; }

}  // namespace mmadiff
