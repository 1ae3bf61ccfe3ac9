#include "triage/minimize/leap_passes.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "triage/minimize/passes.h"
#include "triage/minimize/terms.h"

namespace mmadiff {
namespace {

using Class = Value::Class;

void CopyTerm(int from, int to, const DotProductCase& source, DotProductCase& dot) {
  dot.a[to] = source.a[from];
  dot.b[to] = source.b[from];
}

// A single power of two, or a single special as the addend.
void OneTerm(const Model& m, const DotProductCase&, Offer offer) {
  for (const int term : {m.k, 0}) {
    DotProductCase dot = NeutralDotProduct(m);
    for (const int e : TermExponents(m, term)) {
      if (OfferPowers(m, {{term, e}}, dot, offer)) return;
    }
  }
  for (const Class kind : {Class::kZero, Class::kInfinite}) {
    for (const bool negative : {false, true}) {
      DotProductCase dot = NeutralDotProduct(m);
      if (EncodeValue(m.c, {kind, negative, 0, 0}, &dot.c) && offer(dot)) return;
    }
  }
  for (const bool negative : {false, true}) {
    DotProductCase dot = NeutralDotProduct(m);
    if (EncodeNan(m.c, negative, &dot.c) && offer(dot)) return;
  }
}

// The exponents of 1.0 and of the terms, each once; at most `most`.
std::vector<int> ExponentsInUse(const Model& m, const DotProductCase& dot, size_t most) {
  std::vector<int> exponents = {0};
  for (const int t : ActiveTerms(m, dot)) {
    const std::optional<int> e = TermExponent(m, dot, t);
    if (e && std::ranges::find(exponents, *e) == exponents.end()) exponents.push_back(*e);
  }
  exponents.resize(std::min(exponents.size(), most));
  return exponents;
}

// Addends to combine with other products: none, the current one, and in its place 1.0, -1.0 and
// powers of two.
std::vector<uint64_t> OtherAddends(const Model& m, const DotProductCase& current) {
  std::vector<uint64_t> addends = {0};
  const std::optional<int> now = TermExponent(m, current, m.k);
  for (const bool negative : {false, true}) {
    uint64_t word;
    if (EncodePowerOfTwo(m.c, negative, 0, &word)) addends.push_back(word);
    if (now && EncodePowerOfTwo(m.c, negative, *now, &word)) addends.push_back(word);
  }
  if (current.c != 0) addends.push_back(current.c);
  return addends;
}

// Two products, powers of two with exponents that occur, at k = 0 and 1 or at the first and last k
// in use, and an addend.
void TwoPowers(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxExponents = 6;
  const std::vector<int> products = ActiveProducts(m, current);
  if (products.size() < 2) return;
  const std::vector<int> exponents = ExponentsInUse(m, current, kMaxExponents);
  for (const uint64_t c : OtherAddends(m, current)) {
    for (const auto& [x, y] : {std::pair(0, 1), std::pair(products.front(), products.back())}) {
      DotProductCase dot = WithoutTerms(m, current);
      dot.c = c;
      for (const int ex : exponents) {
        for (const int ey : exponents) {
          if (OfferPowers(m, {{x, ex}, {y, ey}}, dot, offer)) return;
        }
      }
    }
  }
}

// The exponents in use, and the smallest ones of the addend, of a product and of a_k.
std::vector<int> ExponentsWithEnds(const Model& m, const DotProductCase& dot, size_t most) {
  std::vector<int> exponents = ExponentsInUse(m, dot, most);
  const int a = LowestExponent(m.a), b = LowestExponent(m.b);
  for (const int e : {LowestExponent(m.c), a + b, a}) {
    if (std::ranges::find(exponents, e) == exponents.end()) exponents.push_back(e);
  }
  return exponents;
}

// One product at a k in use, and an addend; both are powers of two.
void OneProductHere(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxExponents = 6, kMaxProducts = 4;
  std::vector<int> products = ActiveProducts(m, current);
  if (ActiveTerms(m, current).size() < 3) return;
  if (products.size() > kMaxProducts) products = {products.front(), products.back()};
  const std::vector<int> exponents = ExponentsWithEnds(m, current, kMaxExponents);
  for (const int k : products) {
    DotProductCase dot = WithoutTerms(m, current);
    for (const int e : exponents) {
      for (const int addend : exponents) {
        if (OfferPowers(m, {{k, e}, {m.k, addend}}, dot, offer)) return;
      }
    }
  }
}

// Drops any two terms.
void DropTwo(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxTerms = 32;
  const std::vector<int> terms = ActiveTerms(m, current);
  if (terms.size() < 3 || terms.size() > kMaxTerms) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      DotProductCase dot = current;
      ClearTerm(m, terms[i], dot);
      ClearTerm(m, terms[j], dot);
      if (offer(dot)) return;
    }
  }
}

// Keeps any three products, with and without the addend.
void KeepThree(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxProducts = 16;
  const std::vector<int> products = ActiveProducts(m, current);
  if (products.size() < 4 || products.size() > kMaxProducts) return;
  for (size_t i = 0; i < products.size(); ++i) {
    for (size_t j = i + 1; j < products.size(); ++j) {
      for (size_t l = j + 1; l < products.size(); ++l) {
        for (const uint64_t c : {uint64_t{0}, current.c}) {
          DotProductCase dot = WithoutTerms(m, current);
          for (const size_t kept : {i, j, l}) {
            CopyTerm(products[kept], products[kept], current, dot);
          }
          dot.c = c;
          if (offer(dot)) return;
        }
      }
    }
  }
}

// Replaces a product by a different one or by +-1.0; with each other term dropped, and with none
// dropped.
void ReplaceProduct(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxTerms = 12;
  const std::vector<int> products = ActiveProducts(m, current);
  std::vector<int> dropped = ActiveTerms(m, current);
  if (dropped.size() > kMaxTerms) return;
  dropped.push_back(-1);
  for (const int gone : dropped) {
    for (const int k : products) {
      if (k == gone) continue;
      DotProductCase dot = current;
      if (gone >= 0) ClearTerm(m, gone, dot);
      if (OfferPowers(m, {{k, 0}}, dot, offer)) return;
      for (const int other : products) {
        CopyTerm(other, k, current, dot);
        if (other != k && offer(dot)) return;
      }
    }
  }
}

// Merges two terms into one: a power of two with the larger exponent, or the next, of either sign.
void MergeTerms(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxTerms = 32;
  const std::vector<int> terms = ActiveTerms(m, current);
  if (terms.size() < 3 || terms.size() > kMaxTerms) return;
  for (const int kept : terms) {
    for (const int gone : terms) {
      const std::optional<int> x = TermExponent(m, current, kept);
      const std::optional<int> y = TermExponent(m, current, gone);
      if (kept == gone || !x || !y) continue;
      DotProductCase dot = current;
      ClearTerm(m, gone, dot);
      for (const int e : {std::max(*x, *y), std::max(*x, *y) + 1}) {
        if (OfferPowers(m, {{kept, e}}, dot, offer)) return;
      }
    }
  }
}

// Moves any two terms together.
void ShiftPairs(const Model& m, const DotProductCase& current, Offer offer) {
  constexpr size_t kMaxTerms = 12;
  constexpr int kMaxShift = 12;
  const std::vector<int> terms = ActiveTerms(m, current);
  if (terms.size() < 3 || terms.size() > kMaxTerms) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      const std::optional<int> x = TermExponent(m, current, terms[i]);
      const std::optional<int> y = TermExponent(m, current, terms[j]);
      if (!x || !y) continue;
      for (int shift = -kMaxShift; shift <= kMaxShift; ++shift) {
        DotProductCase dot = current;
        if (shift != 0 && SetTermExponent(m, terms[i], *x + shift, dot) &&
            SetTermExponent(m, terms[j], *y + shift, dot) && offer(dot)) {
          return;
        }
      }
    }
  }
}

// Draws dot products that have fewer terms than the current one and are made of its terms. The same
// ones each time.
class Draw {
 public:
  Draw(const Model& model, const DotProductCase& current)
      : model_(model),
        current_(current),
        terms_(ActiveTerms(model, current)),
        products_(ActiveProducts(model, current)),
        exponents_(ExponentsInUse(model, current, terms_.size() + 1)) {}

  DotProductCase Next(size_t count) {
    DotProductCase dot = Chance(4) ? NeutralDotProduct(model_) : WithoutTerms(model_, current_);
    Shuffle();
    const bool powers = Chance(2), changed = !Chance(8);
    for (size_t i = 0; i < count; ++i) {
      const int from = terms_[i];
      int to = from;
      if (from != model_.k && Chance(4)) to = Random(model_.k);
      if (from == model_.k) dot.c = current_.c;
      if (from != model_.k) CopyTerm(from, to, current_, dot);
      if (powers) ClearFractions(to, dot);
      if (changed) Change(to, dot);
    }
    if (Chance(16)) PutAnyPower(model_.k, dot);
    return dot;
  }

 private:
  int Random(size_t count) { return static_cast<int>(random_() % count); }
  bool Chance(size_t one_in) { return Random(one_in) == 0; }
  // An exponent in use, one near it, or one far below or above.
  int Exponent() {
    const int e = exponents_[Random(exponents_.size())];
    if (Chance(2)) return e;
    return e + (Chance(2) ? Random(9) - 4 : Random(65) - 32);
  }

  // Not two draws in the arguments of one call: the compiler would choose their order.
  void PutAnyPower(int term, DotProductCase& dot) {
    const int exponent = Exponent();
    PutPower(model_, term, Chance(2), exponent, dot);
  }

  // One bit, or leading ones.
  uint64_t Fraction() {
    const int place = 63 - Random(24);
    return Chance(2) ? 1ull << place : ~0ull << place;
  }

  void Shuffle() {
    for (size_t i = terms_.size(); i > 1; --i) std::swap(terms_[i - 1], terms_[Random(i)]);
  }

  void ClearFractions(int term, DotProductCase& dot) {
    for (int w = 2 * term; w <= std::min(2 * term + 1, 2 * model_.k); ++w) {
      Value o = ValueAt(model_, dot, w);
      if (o.kind == Class::kFinite) o.fraction = 0;
      Put(model_, w, o, dot);
    }
  }

  // Changes a term in one of several ways, or leaves it as it is.
  void Change(int term, DotProductCase& dot) {
    const std::optional<int> e = TermExponent(model_, dot, term);
    const int word = 2 * term + (term == model_.k ? 0 : Random(2));
    Value o = ValueAt(model_, dot, word);
    const int what = Random(10);
    switch (what) {
      case 0:
        PutPower(model_, term, Chance(2), 0, dot);
        break;
      case 1:
        PutAnyPower(term, dot);
        break;
      case 2:
        if (e) PutPower(model_, term, Chance(2), *e, dot);
        break;
      case 3:
      case 4: {
        if (what == 3 && !e) break;
        const auto split = kExponentSplits[Random(4)];
        SetTermExponent(model_, term, what == 3 ? *e + Random(9) - 4 : Exponent(), split, dot);
        break;
      }
      case 5:
      case 6:
        FlipSign(model_, word, dot);
        break;
      case 7:
        if (o.kind == Class::kFinite) o.fraction = Fraction();
        Put(model_, word, o, dot);
        break;
      default:
        break;
    }
  }

  const Model& model_;
  const DotProductCase& current_;
  std::vector<int> terms_, products_;
  std::vector<int> exponents_;
  std::mt19937_64 random_{1};
};

// Random draws, for cases that no rule leads to; each number of terms in turn.
template <int kDraws>
void DrawFewer(const Model& m, const DotProductCase& current, Offer offer) {
  const size_t terms = ActiveTerms(m, current).size();
  if (terms < 3) return;
  Draw draw(m, current);
  for (int i = 0; i < kDraws; ++i) {
    if (offer(draw.Next(1 + i % (terms - 1)))) return;
  }
}

constexpr Pass kLeapPasses[] = {
    {"one_term", OneTerm, true},         {"one_product_here", OneProductHere},
    {"two_powers", TwoPowers},           {"drop_two", DropTwo},
    {"keep_three", KeepThree},           {"merge_terms", MergeTerms},
    {"replace_product", ReplaceProduct}, {"shift_pairs", ShiftPairs},
    {"draw_fewer", DrawFewer<3000>},
};

constexpr Pass kDrawPasses[] = {
    {"draw_many_fewer", DrawFewer<30000>},
};

}  // namespace

std::span<const Pass> LeapPasses() { return kLeapPasses; }

std::span<const Pass> DrawPasses() { return kDrawPasses; }

}  // namespace mmadiff
