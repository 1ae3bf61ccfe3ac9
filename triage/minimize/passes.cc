#include "triage/minimize/passes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/simulate.h"
#include "triage/minimize/terms.h"

namespace mmadiff {
namespace {

using Class = Value::Class;

// Drops all products, then runs of half as many, down to single ones.
void DropTerms(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> active = ActiveProducts(m, current);
  for (size_t run = active.size(); run >= 1; run /= 2) {
    for (size_t start = 0; start < active.size(); start += run) {
      DotProductCase dot = current;
      const size_t end = std::min(start + run, active.size());
      for (size_t i = start; i < end; ++i) ClearTerm(m, active[i], dot);
      if (offer(dot)) return;
    }
  }
}

void DropAddend(const Model&, const DotProductCase& current, Offer offer) {
  DotProductCase dot = current;
  dot.c = 0;
  offer(dot);
}

// The model's result as the addend without products, for a device whose error depends on the
// result's bits.
void ResultInAddend(const Model& m, const DotProductCase& current, Offer offer) {
  DotProductCase dot = NeutralDotProduct(m);
  if (EncodeValue(m.c, DecodeValue(m.d, Simulate(m, current)), &dot.c)) offer(dot);
}

// Keeps one or two products, with and without the addend. Finds cases that dropping runs misses,
// where the other products matter only together.
void KeepFew(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> active = ActiveProducts(m, current);
  for (size_t i = 0; i < active.size(); ++i) {
    for (size_t j = i; j < active.size(); ++j) {
      for (const uint64_t c : {uint64_t{0}, current.c}) {
        DotProductCase dot = WithoutTerms(m, current);
        dot.c = c;
        for (const int k : {active[i], active[j]}) {
          dot.a[k] = current.a[k];
          dot.b[k] = current.b[k];
        }
        if (offer(dot)) return;
      }
    }
  }
}

// One operand of a product becomes +0, then 1.0 or -1.0; the other stays.
void SimplestOperand(const Model& m, const DotProductCase& current, Offer offer) {
  for (const int w : ActiveWords(m, current)) {
    if (w == 2 * m.k) continue;
    DotProductCase dot = current;
    WordAt(m, dot, w) = 0;
    if (offer(dot)) return;
    for (const bool negative : {false, true}) {
      if (Put(m, w, {Class::kFinite, negative, 0, 0}, dot) && offer(dot)) return;
    }
  }
}

// The scales of product k as an exponent; none unless both are powers of two; 0 without scales.
std::optional<int> ScaleExponent(const Model& m, const DotProductCase& dot, int k) {
  if (m.scale_block == 0) return 0;
  const int place = m.k + k / m.scale_block;
  const Value x = DecodeValue(m.scale, dot.a[place]), y = DecodeValue(m.scale, dot.b[place]);
  const bool powers =
      x.kind == Class::kFinite && y.kind == Class::kFinite && x.fraction == 0 && y.fraction == 0;
  return powers ? std::optional<int>(x.exponent + y.exponent) : std::nullopt;
}

// Rewrites a_k * b_k as x * 1.0; moves a product to the addend; exchanges the addend with a
// product.
void Fold(const Model& m, const DotProductCase& current, Offer offer) {
  const Value one = {Class::kFinite, false, 0, 0};
  for (const int k : ActiveProducts(m, current)) {
    std::optional<Value> value = ProductValue(m, current, k);
    if (!value) continue;
    DotProductCase dot = current;
    if (Put(m, 2 * k, *value, dot) && Put(m, 2 * k + 1, one, dot) && offer(dot)) return;
    const std::optional<int> scale = ScaleExponent(m, current, k);
    if (!scale) continue;
    dot = current;
    value->exponent += *scale;
    if (!Put(m, 2 * m.k, *value, dot)) continue;
    Value addend = ValueAt(m, current, 2 * m.k);
    addend.exponent -= *scale;
    if (current.c == 0) {
      ClearTerm(m, k, dot);
    } else if (!Put(m, 2 * k, addend, dot) || !Put(m, 2 * k + 1, one, dot)) {
      continue;
    }
    if (offer(dot)) return;
  }
}

// Moves all products lower together; swaps each product with the one at every lower k; exchanges
// its operands.
void LowerK(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> active = ActiveProducts(m, current);
  for (int shift = active.empty() ? 0 : active.front(); shift > 0; --shift) {
    DotProductCase dot = current;
    for (const int k : active) SwapProducts(k - shift, k, dot);
    if (offer(dot)) return;
  }
  for (const int k : active) {
    DotProductCase exchanged = current;
    std::swap(exchanged.a[k], exchanged.b[k]);
    if (std::string_view(m.a.name) == m.b.name && offer(exchanged)) return;
    for (int low = 0; low < k; ++low) {
      DotProductCase dot = current;
      SwapProducts(low, k, dot);
      if (offer(dot)) return;
    }
  }
}

// Replacements for an infinity or a NaN: zero, one, infinity, the simplest NaN, each with the given
// sign.
std::vector<uint64_t> SimpleWords(const Format& f, bool negative) {
  std::vector<uint64_t> words;
  uint64_t word;
  for (const Class kind : {Class::kZero, Class::kFinite, Class::kInfinite}) {
    if (EncodeValue(f, {kind, negative, 0, 0}, &word)) words.push_back(word);
  }
  if (EncodeNan(f, negative, &word)) words.push_back(word);
  return words;
}

// Replaces infinities and NaNs with something simpler; removes payload bits of NaNs.
void Specials(const Model& m, const DotProductCase& current, Offer offer) {
  for (const int w : ActiveWords(m, current)) {
    const Value o = ValueAt(m, current, w);
    if (o.kind != Class::kInfinite && o.kind != Class::kNan) continue;
    const Format& format = FormatOfWord(m, w);
    for (const bool negative : {false, true}) {
      for (const uint64_t simple : SimpleWords(format, negative)) {
        DotProductCase dot = current;
        WordAt(m, dot, w) = simple;
        if (offer(dot)) return;
      }
    }
    for (int bit = format.fraction_bits - 1; o.kind == Class::kNan && bit >= 0; --bit) {
      Value shorter = o;
      shorter.fraction &= ~(1ull << bit);
      DotProductCase dot = current;
      if (Put(m, w, shorter, dot) && offer(dot)) return;
    }
  }
}

// Sets all exponents to that of 1.0, then only one word's. Exponents() then moves one term, and one
// word, nearer to it.
void UnitExponents(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> words = ActiveWords(m, current);
  const auto unit = [&](int w, DotProductCase& dot) {
    Value o = ValueAt(m, dot, w);
    o.exponent = 0;
    Put(m, w, o, dot);
  };
  DotProductCase all = current;
  for (const int w : words) unit(w, all);
  if (offer(all)) return;
  for (const int w : words) {
    DotProductCase dot = current;
    unit(w, dot);
    if (offer(dot)) return;
  }
}

void Exponents(const Model& m, const DotProductCase& current, Offer offer) {
  for (const int t : ActiveTerms(m, current)) {
    const std::optional<int> now = TermExponent(m, current, t);
    if (!now) continue;
    for (const int e : TermExponents(m, t)) {
      if (std::abs(e) > std::abs(*now)) break;
      for (const ExponentSplit split : kExponentSplits) {
        DotProductCase dot = current;
        if (SetTermExponent(m, t, e, split, dot) && offer(dot)) return;
        if (t == m.k) break;
      }
    }
  }
  for (const int w : ActiveWords(m, current)) {
    const int now = ValueAt(m, current, w).exponent;
    for (int distance = 0; distance < std::abs(now); ++distance) {
      DotProductCase dot = current;
      if (PutExponent(m, w, now < 0 ? -distance : distance, dot) && offer(dot)) return;
    }
  }
}

// The same product exponent, split differently between a_k and b_k.
void Refactor(const Model& m, const DotProductCase& current, Offer offer) {
  for (const int k : ActiveProducts(m, current)) {
    const int sum = ValueAt(m, current, 2 * k).exponent + ValueAt(m, current, 2 * k + 1).exponent;
    for (int e = LowestExponent(m.a); e <= HighestExponent(m.a); ++e) {
      DotProductCase dot = current;
      if (PutExponent(m, 2 * k, e, dot) && PutExponent(m, 2 * k + 1, sum - e, dot) && offer(dot))
        return;
    }
  }
}

// The word of a product that a shift moves; kTerm splits the new exponent again.
enum class Carrier { kTerm, kA, kB };

// Moves the terms of `group` by `shift`; false if one of them cannot be moved.
bool Shift(const Model& m, const std::vector<int>& group, int shift, Carrier carrier,
           DotProductCase& dot) {
  for (const int t : group) {
    const std::optional<int> now = TermExponent(m, dot, t);
    if (!now) return false;
    if (t == m.k || carrier == Carrier::kTerm) {
      if (!SetTermExponent(m, t, *now + shift, dot)) return false;
      continue;
    }
    const int word = 2 * t + (carrier == Carrier::kB);
    if (!PutExponent(m, word, ValueAt(m, dot, word).exponent + shift, dot)) return false;
  }
  return true;
}

// Shifts all terms together; then the upper ones down and the lower ones up, to close a gap.
void ShiftTerms(const Model& m, const DotProductCase& current, Offer offer) {
  std::vector<std::pair<int, int>> ordered;  // exponent, term
  for (const int t : ActiveTerms(m, current)) {
    if (const auto e = TermExponent(m, current, t)) ordered.emplace_back(*e, t);
  }
  std::ranges::sort(ordered);
  int farthest = 0;  // a larger shift brings nothing nearer to 1.0
  for (const int w : ActiveWords(m, current)) {
    farthest = std::max(farthest, std::abs(ValueAt(m, current, w).exponent));
  }
  const auto offer_shift = [&](size_t begin, size_t end, int shift) {
    std::vector<int> group;
    for (size_t i = begin; i < end; ++i) group.push_back(ordered[i].second);
    for (const Carrier carrier : {Carrier::kTerm, Carrier::kA, Carrier::kB}) {
      DotProductCase dot = current;
      if (Shift(m, group, shift, carrier, dot) && offer(dot)) return true;
    }
    return false;
  };
  for (int shift = farthest; shift > 0; --shift) {
    if (offer_shift(0, ordered.size(), shift) || offer_shift(0, ordered.size(), -shift)) return;
  }
  for (size_t i = 1; i < ordered.size(); ++i) {
    for (int shift = ordered[i].first - ordered[i - 1].first; shift > 0; --shift) {
      if (offer_shift(i, ordered.size(), -shift) || offer_shift(0, i, shift)) return;
    }
  }
}

// Words become powers of two, all at once and one by one; then one word gets fewer bits, fewer
// places, one bit.
void Significands(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> words = ActiveWords(m, current);
  DotProductCase all = current;
  for (const int w : words) PutFraction(m, w, 0, all);
  if (offer(all)) return;
  for (const int w : words) {
    DotProductCase dot = current;
    if (PutFraction(m, w, 0, dot) && offer(dot)) return;
  }
  for (const int w : words) {
    const uint64_t now = ValueAt(m, current, w).fraction;
    for (int top = 1; top < 53; ++top) {
      DotProductCase dot = current;
      if (PutFraction(m, w, now & ~(~0ull >> top), dot) && offer(dot)) return;
    }
    for (int bit = 11; bit < 64; ++bit) {
      DotProductCase dot = current;
      if ((now >> bit & 1) && PutFraction(m, w, now & ~(1ull << bit), dot) && offer(dot)) return;
    }
    for (int bit = 63; now != 0 && bit >= 11; --bit) {
      DotProductCase dot = current;
      if (PutFraction(m, w, 1ull << bit, dot) && offer(dot)) return;
    }
  }
}

// For at most three products, every order with every choice of signs. For more, flips single signs,
// those of a product's two operands, and all.
void SignsAndOrder(const Model& m, const DotProductCase& current, Offer offer) {
  const std::vector<int> words = ActiveWords(m, current), products = ActiveProducts(m, current);
  if (products.size() <= 3) {
    std::vector<int> order = products;
    do {
      DotProductCase permuted = current;
      for (size_t i = 0; i < order.size(); ++i) {
        permuted.a[products[i]] = current.a[order[i]];
        permuted.b[products[i]] = current.b[order[i]];
      }
      const std::vector<int> active = ActiveWords(m, permuted);
      for (unsigned signs = 0; signs < 1u << active.size(); ++signs) {
        DotProductCase dot = permuted;
        bool valid = true;
        for (size_t i = 0; i < active.size(); ++i) {
          if (ValueAt(m, dot, active[i]).negative != (signs >> i & 1)) {
            valid &= FlipSign(m, active[i], dot);
          }
        }
        if (valid && offer(dot)) return;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    return;
  }
  DotProductCase all = current;
  for (const int w : words) {
    if (w % 2 == 0) FlipSign(m, w, all);
    DotProductCase dot = current;
    if (FlipSign(m, w, dot) && offer(dot)) return;
    if (w % 2 == 0 && w < 2 * m.k && FlipSign(m, w + 1, dot) && offer(dot)) return;
  }
  offer(all);
}

// The scale of a row of A (`b` false) or of a column of B, as a value.
Value ScaleAt(const Model& m, const DotProductCase& dot, bool b, int scale) {
  return DecodeValue(m.scale, (b ? dot.b : dot.a)[m.k + scale]);
}

bool PutScale(const Model& m, bool b, int scale, const Value& o, DotProductCase& dot) {
  return EncodeValue(m.scale, o, &(b ? dot.b : dot.a)[m.k + scale]);
}

bool PutScaleExponent(const Model& m, bool b, int scale, int exponent, DotProductCase& dot) {
  return PutScale(m, b, scale, {Class::kFinite, false, exponent, 0}, dot);
}

// Sets one scale to 1.0: alone, with the other scale of the block taking over its exponent, or with
// the addend moved along. Returns true if the pass must stop.
bool PlainScale(const Model& m, const DotProductCase& current, bool b, int s, Offer offer) {
  const int exponent = ScaleAt(m, current, b, s).exponent;
  DotProductCase dot = current;
  if (!PutScaleExponent(m, b, s, 0, dot)) return false;
  if (offer(dot)) return true;
  DotProductCase other = dot;
  const int sum = exponent + ScaleAt(m, current, !b, s).exponent;
  if (PutScaleExponent(m, !b, s, sum, other) && offer(other)) return true;
  const std::optional<int> addend = TermExponent(m, current, m.k);
  return addend && SetTermExponent(m, m.k, *addend - exponent, dot) && offer(dot);
}

// All scales become 1.0; then each one; then each moves nearer to 1.0, first without its fraction.
void Scales(const Model& m, const DotProductCase& current, Offer offer) {
  if (m.scales() == 0) return;
  DotProductCase all = current;
  for (int i = m.k; i < m.k + m.scales(); ++i) all.a[i] = all.b[i] = NeutralWord(m, i);
  if (offer(all)) return;
  for (int s = 0; s < m.scales(); ++s) {
    if (PlainScale(m, current, false, s, offer) || PlainScale(m, current, true, s, offer)) return;
  }
  for (int i = 0; i < 2 * m.scales(); ++i) {
    Value o = ScaleAt(m, current, i % 2 != 0, i / 2);
    const Value now = o;
    for (int distance = 0; distance <= std::abs(now.exponent); ++distance) {
      o.exponent = now.exponent < 0 ? -distance : distance;
      for (const uint64_t fraction : {uint64_t{0}, now.fraction}) {
        o.fraction = fraction;
        DotProductCase dot = current;
        if (PutScale(m, i % 2 != 0, i / 2, o, dot) && offer(dot)) return;
      }
    }
  }
}

// Tries every exponent of one word of a product, with a scale of its block compensating; the other
// scale stays or becomes 1.0.
void ScaleForWord(const Model& m, const DotProductCase& current, Offer offer) {
  if (m.scales() == 0) return;
  for (const int w : ActiveWords(m, current)) {
    if (w == 2 * m.k) continue;
    const int s = w / 2 / m.scale_block, now = ValueAt(m, current, w).exponent;
    for (const int e : TermExponents(m, w / 2)) {
      DotProductCase moved = current;
      if (!PutExponent(m, w, e, moved)) continue;
      for (const bool b : {true, false}) {
        const int scale = ScaleAt(m, current, b, s).exponent + now - e;
        const int other = ScaleAt(m, current, !b, s).exponent;
        DotProductCase dot = moved;
        if (PutScaleExponent(m, b, s, scale, dot) && offer(dot)) return;
        if (PutScaleExponent(m, !b, s, 0, dot) && PutScaleExponent(m, b, s, scale + other, dot) &&
            offer(dot)) {
          return;
        }
      }
    }
  }
}

// The least metadata with which all elements of a other than +0 are stored, in all groups and in one.
void Metadata(const Model&, const DotProductCase& current, Offer offer) {
  DotProductCase dot = current;
  std::ranges::fill(dot.metadata, 0);
  if (current.metadata.empty() || offer(dot)) return;
  for (size_t g = 0; g < current.metadata.size(); ++g) {
    dot = current;
    dot.metadata[g] = 0;
    if (offer(dot)) return;
  }
}

constexpr Pass kPasses[] = {
    {"drop_terms", DropTerms},
    {"drop_addend", DropAddend},
    {"result_in_addend", ResultInAddend},
    {"keep_few", KeepFew},
    {"simplest_operand", SimplestOperand},
    {"scales", Scales},
    {"scale_for_word", ScaleForWord},
    {"fold", Fold},
    {"lower_k", LowerK},
    {"specials", Specials},
    {"unit_exponents", UnitExponents},
    {"exponents", Exponents},
    {"refactor", Refactor},
    {"shift_terms", ShiftTerms},
    {"significands", Significands},
    {"signs_and_order", SignsAndOrder},
    {"metadata", Metadata},
};

}  // namespace

std::span<const Pass> Passes() { return kPasses; }

}  // namespace mmadiff
