#include "triage/minimize/terms.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace mmadiff {
namespace {

using Class = Value::Class;

// The exponent that the split gives to a_k.
int ShareOfA(const Format& a, int exponent, ExponentSplit split) {
  switch (split) {
    case ExponentSplit::kUnitB:
      return exponent;
    case ExponentSplit::kUnitA:
      return 0;
    case ExponentSplit::kNormalA:
      return exponent >= 0 ? HighestExponent(a) : a.min_exponent;
    case ExponentSplit::kExtremeA:
      return exponent >= 0 ? HighestExponent(a) : LowestExponent(a);
  }
  return 0;
}

// The leading one and the fraction as an odd integer.
uint64_t OddSignificand(const Value& o) {
  const uint64_t significand = 1ull << 63 | o.fraction >> 1;
  return significand >> std::countr_zero(significand);
}

}  // namespace

const Format& FormatOfWord(const Model& m, int word) {
  if (word == 2 * m.k) return m.c;
  return word % 2 == 0 ? m.a : m.b;
}

uint64_t& WordAt(const Model& m, DotProductCase& dot, int word) {
  if (word == 2 * m.k) return dot.c;
  return word % 2 == 0 ? dot.a[word / 2] : dot.b[word / 2];
}

Value ValueAt(const Model& m, const DotProductCase& dot, int word) {
  return DecodeValue(FormatOfWord(m, word), WordAt(m, const_cast<DotProductCase&>(dot), word));
}

bool Put(const Model& m, int word, const Value& operand, DotProductCase& dot) {
  return EncodeValue(FormatOfWord(m, word), operand, &WordAt(m, dot, word));
}

bool PutExponent(const Model& m, int word, int exponent, DotProductCase& dot) {
  Value o = ValueAt(m, dot, word);
  o.exponent = exponent;
  return o.kind == Class::kFinite && Put(m, word, o, dot);
}

bool PutFraction(const Model& m, int word, uint64_t fraction, DotProductCase& dot) {
  Value o = ValueAt(m, dot, word);
  o.fraction = fraction;
  return o.kind == Class::kFinite && Put(m, word, o, dot);
}

bool FlipSign(const Model& m, int word, DotProductCase& dot) {
  Value o = ValueAt(m, dot, word);
  o.negative = !o.negative;
  return Put(m, word, o, dot);
}

std::vector<int> ActiveWords(const Model& m, const DotProductCase& dot) {
  std::vector<int> words;
  for (int w = 0; w <= 2 * m.k; ++w) {
    if (WordAt(m, const_cast<DotProductCase&>(dot), w) != 0) words.push_back(w);
  }
  return words;
}

std::vector<int> ActiveProducts(const Model& m, const DotProductCase& dot) {
  std::vector<int> products;
  for (int k = 0; k < m.k; ++k) {
    if (dot.a[k] != 0 || dot.b[k] != 0) products.push_back(k);
  }
  return products;
}

std::vector<int> ActiveTerms(const Model& m, const DotProductCase& dot) {
  std::vector<int> terms = ActiveProducts(m, dot);
  if (dot.c != 0) terms.push_back(m.k);
  return terms;
}

void ClearTerm(const Model& m, int term, DotProductCase& dot) {
  if (term == m.k) {
    dot.c = 0;
  } else {
    dot.a[term] = dot.b[term] = 0;
  }
}

void SwapProducts(int k, int l, DotProductCase& dot) {
  std::swap(dot.a[k], dot.a[l]);
  std::swap(dot.b[k], dot.b[l]);
}

DotProductCase WithoutTerms(const Model& m, const DotProductCase& scales) {
  DotProductCase dot = scales;
  std::fill_n(dot.a.begin(), m.k, 0);
  std::fill_n(dot.b.begin(), m.k, 0);
  dot.c = 0;
  return dot;
}

std::optional<int> TermExponent(const Model& m, const DotProductCase& dot, int term) {
  std::optional<int> sum;
  for (int w = 2 * term; w <= std::min(2 * term + 1, 2 * m.k); ++w) {
    const Value o = ValueAt(m, dot, w);
    if (o.kind == Class::kInfinite || o.kind == Class::kNan) return std::nullopt;
    if (o.kind == Class::kFinite) sum = sum.value_or(0) + o.exponent;
  }
  return sum;
}

bool SetTermExponent(const Model& m, int term, int exponent, ExponentSplit split,
                     DotProductCase& dot) {
  if (term == m.k) return PutExponent(m, 2 * m.k, exponent, dot);
  const bool a = ValueAt(m, dot, 2 * term).kind == Class::kFinite;
  const bool b = ValueAt(m, dot, 2 * term + 1).kind == Class::kFinite;
  if (a != b) return PutExponent(m, 2 * term + (a ? 0 : 1), exponent, dot);
  const int share = ShareOfA(m.a, exponent, split);
  const uint64_t before = dot.a[term];
  if (!PutExponent(m, 2 * term, share, dot)) return false;
  if (PutExponent(m, 2 * term + 1, exponent - share, dot)) return true;
  dot.a[term] = before;
  return false;
}

bool SetTermExponent(const Model& m, int term, int exponent, DotProductCase& dot) {
  for (ExponentSplit split : kExponentSplits) {
    if (SetTermExponent(m, term, exponent, split, dot)) return true;
  }
  return false;
}

bool PutPower(const Model& m, int term, bool negative, int exponent, DotProductCase& dot) {
  if (term == m.k) return EncodePowerOfTwo(m.c, negative, exponent, &dot.c);
  const bool sign_in_b = negative && !m.a.is_signed;
  return EncodePowerOfTwo(m.a, negative && !sign_in_b, 0, &dot.a[term]) &&
         EncodePowerOfTwo(m.b, sign_in_b, 0, &dot.b[term]) &&
         SetTermExponent(m, term, exponent, dot);
}

bool OfferPowers(const Model& m, std::initializer_list<Power> powers, DotProductCase& dot,
                 Offer offer) {
  for (unsigned signs = 0; signs < 1u << powers.size(); ++signs) {
    unsigned left = signs;
    const auto put = [&](const Power& p) {
      const bool negative = left & 1;
      left >>= 1;
      return PutPower(m, p.term, negative, p.exponent, dot);
    };
    if (std::ranges::all_of(powers, put) && offer(dot)) return true;
  }
  return false;
}

std::vector<int> TermExponents(const Model& m, int term) {
  const bool addend = term == m.k;
  const int low = addend ? LowestExponent(m.c) : LowestExponent(m.a) + LowestExponent(m.b);
  const int high = addend ? HighestExponent(m.c) : HighestExponent(m.a) + HighestExponent(m.b);
  std::vector<int> exponents = {0};
  for (int distance = 1; distance <= std::max(-low, high); ++distance) {
    if (-distance >= low) exponents.push_back(-distance);
    if (distance <= high) exponents.push_back(distance);
  }
  return exponents;
}

std::optional<Value> ProductValue(const Model& m, const DotProductCase& dot, int k) {
  const Value a = ValueAt(m, dot, 2 * k), b = ValueAt(m, dot, 2 * k + 1);
  if (a.kind != Class::kFinite || b.kind != Class::kFinite) return std::nullopt;
  const unsigned __int128 product =
      static_cast<unsigned __int128>(OddSignificand(a)) * OddSignificand(b);
  if (product >> 64 != 0) return std::nullopt;
  const uint64_t low = static_cast<uint64_t>(product);
  const int leading = std::bit_width(low) - 1;
  const int odd_bits = std::bit_width(OddSignificand(a)) + std::bit_width(OddSignificand(b)) - 2;
  const uint64_t fraction = leading == 0 ? 0 : low << (64 - leading);
  return Value{Class::kFinite, a.negative != b.negative,
               a.exponent + b.exponent + leading - odd_bits, fraction};
}

}  // namespace mmadiff
