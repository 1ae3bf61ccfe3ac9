// Trees of sums. The terms of a node are exact; they are cut at the node's alignment exponent and
// added, and the sum is rounded once if the node has a format.
#include "sim/tree/tree.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "sim/reference/alignment.h"
#include "sim/reference/families.h"
#include "sim/reference/step.h"

namespace mmadiff::reference {
namespace {

// ---- Words of any format.

uint64_t Ones(int bits) { return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits); }

bool HasInfinities(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee || f.nonfinite == Nonfinite::kIeeeAllBits;
}

// sign | exponent field and fraction | ignored bits.
uint64_t Pack(const Format& f, bool negative, uint64_t magnitude) {
  const uint64_t sign = negative && f.is_signed ? uint64_t{1} << (f.bits - 1) : 0;
  return sign | magnitude << f.ignored_bits;
}

// Exponent field and fraction.
uint64_t AllOnes(const Format& f) { return Ones(f.exponent_bits + f.fraction_bits); }
uint64_t Infinity(const Format& f) { return Ones(f.exponent_bits) << f.fraction_bits; }
uint64_t Quiet(const Format& f) { return Infinity(f) | uint64_t{1} << (f.fraction_bits - 1); }
uint64_t Largest(const Format& f) {
  if (HasInfinities(f)) return Infinity(f) - 1;
  return f.nonfinite == Nonfinite::kNanAllOnes ? AllOnes(f) - 1 : AllOnes(f);
}

// The NaN of a format with a single one, apart from its sign; the largest number if it has none.
uint64_t OnlyNan(const Format& f, bool negative) {
  if (f.nonfinite == Nonfinite::kNanMinusZero) return Pack(f, true, 0);
  return Pack(f, negative, f.nonfinite == Nonfinite::kNone ? Largest(f) : AllOnes(f));
}

uint64_t NanByRule(const Format& f, NodeNan rule) {
  if (!HasInfinities(f)) return OnlyNan(f, false);
  switch (rule) {
    case NodeNan::kAllOnes:
      return Pack(f, false, AllOnes(f));
    case NodeNan::kQuietPositive:
      return Pack(f, false, Quiet(f));
    case NodeNan::kPropagate:
    case NodeNan::kPropagateBca:
      return Pack(f, true, Quiet(f));
    case NodeNan::kConstants:
      break;
  }
  std::abort();
}

uint64_t Quieted(const Format& f, const Number& nan) {
  if (!HasInfinities(f)) return OnlyNan(f, nan.negative);
  const int wider = f.fraction_bits - nan.payload_bits;
  const uint64_t payload = wider >= 0 ? nan.payload << wider : nan.payload >> -wider;
  return Pack(f, nan.negative, Quiet(f) | payload);
}

Dyadic Magnitude(const Dyadic& x) { return {abs(x.significand), x.exponent}; }
Dyadic Minus(const Dyadic& x) { return {-x.significand, x.exponent}; }

// The integer x / 2^unit.
mpz_class InUnits(const Dyadic& x, long unit) {
  // Rounding leaves an exponent of at least the unit; adding zero makes it exactly that.
  const Dyadic rounded = RoundToMultiple(x, unit, Rounding::kTowardZero) + Dyadic{0, unit};
  if (Sign(rounded + Minus(x)) != 0) std::abort();
  return rounded.significand;
}

// The exponent of field 1, or of field 0 if that is a normal number.
long LeastNormal(const Format& f) { return f.has_zero ? f.min_exponent : f.min_exponent - 1; }

// The word of x, which must be a number of the format and not zero.
uint64_t Encode(const Format& f, const Dyadic& x) {
  const long exponent = std::max(FloorLog2(x), LeastNormal(f));
  // A leading one adds one to the field; where field 0 is normal, it must not.
  mpz_class magnitude = exponent - LeastNormal(f) - (f.has_zero ? 0 : 1);
  magnitude = (magnitude << f.fraction_bits) + InUnits(Magnitude(x), exponent - f.fraction_bits);
  return Pack(f, Sign(x) < 0, magnitude.get_ui());
}

Dyadic LargestNumber(const Format& f) { return Read(f, Pack(f, false, Largest(f))).value(); }

Number ReadInteger(const Format& f, uint64_t word) {
  const long modulus = long{1} << f.bits;  // formats have at most 32 bits
  long value = static_cast<long>(word) & (modulus - 1);
  if (f.is_signed && 2 * value >= modulus) value -= modulus;
  return {value == 0 ? Class::kZero : Class::kNormal, value < 0, value, 0, 0, 0, 0};
}

Number ReadAny(const Format& f, uint64_t word) {
  return f.exponent_bits == 0 ? ReadInteger(f, word) : Read(f, word);
}

// ---- Terms.

// Infinities, NaNs and invalid operations in a sum that is no word yet.
struct Specials {
  bool factor_nan = false, word_nan = false, invalid = false, plus = false, minus = false;

  void Add(const Specials& other) {
    factor_nan |= other.factor_nan;
    word_nan |= other.word_nan;
    invalid |= other.invalid;
    plus |= other.plus;
    minus |= other.minus;
  }
  bool infinite() const { return plus || minus; }
  bool is_invalid() const { return invalid || (plus && minus); }
  bool is_nan() const { return factor_nan || word_nan || is_invalid(); }
  bool any() const { return is_nan() || infinite(); }
};

enum class TermKind { kProduct, kWord, kPartial };

struct Term {
  TermKind kind = TermKind::kPartial;
  std::vector<Number> operands = {};  // a and b, or the word
  bool negative = false;              // also of a zero
  Dyadic value = {};                  // 0 if there are specials
  Offer exponent = {};                // of a word its own, of a partial sum what it offers
  Specials specials = {};
  int k = 0;          // of a product
  uint64_t word = 0;  // of a word

  bool zero() const { return !specials.any() && Sign(value) == 0; }
};

Specials InfinityOf(bool negative) { return {.plus = !negative, .minus = negative}; }

Term ProductTerm(const Product& product, int k) {
  Term term = {TermKind::kProduct, product.factors, product.negative()};
  term.k = k;
  if (std::ranges::any_of(product.factors, IsNan)) {
    term.specials.factor_nan = true;
  } else if (product.invalid()) {
    term.specials.invalid = true;
  } else if (product.infinite()) {
    term.specials = InfinityOf(product.negative());
  } else {
    term.value = product.value();
  }
  return term;
}

Term WordTerm(const Format& f, uint64_t word) {
  const Number x = ReadAny(f, word);
  Term term = {TermKind::kWord, {x}, x.negative};
  term.word = word;
  if (IsNan(x)) {
    term.specials.word_nan = true;
  } else if (IsInfinite(x)) {
    term.specials = InfinityOf(x.negative);
  } else {
    term.value = x.value();
    term.exponent = x.exponent;
  }
  return term;
}

Product TreeProduct(const Model& m, const DotProductCase& dot, int k) {
  const Number a = ReadAny(m.a, dot.a[k]), b = ReadAny(m.b, dot.b[k]);
  if (m.algorithm.bit_operation != BitOperation::kXor) return {{a, b}};
  const long bits = std::abs(a.significand) ^ std::abs(b.significand);
  return {{{bits == 0 ? Class::kZero : Class::kNormal, false, bits, 0, 0, 0, 0}}};
}

Term Leaf(const Model& m, const DotProductCase& dot, const TreeCode& code) {
  switch (code.push) {
    case Push::kProduct:
      return ProductTerm(TreeProduct(m, dot, code.index), code.index);
    case Push::kAddend:
      return WordTerm(m.c, dot.c);
    case Push::kZero:
      return {TermKind::kWord, {}};
    case Push::kJoin:
      break;
  }
  std::abort();
}

// ---- Scales.

// Those of the first product; without scales, a product of nothing, which is 1.
Product ScalesOf(const Model& m, const DotProductCase& dot, const Node& node,
                 const std::vector<Term>& terms) {
  if (node.scale == NodeScale::kNone) return {};
  const auto first = std::ranges::find(terms, TermKind::kProduct, &Term::kind);
  if (first == terms.end()) std::abort();
  const int i = m.k + first->k / m.scale_block;  // scales follow the elements of a row
  return {{Read(m.scale, dot.a[i]), Read(m.scale, dot.b[i])}};
}

// The specials of a term times the scales.
Specials ScaledSpecials(const Term& term, const Product& scales) {
  Specials specials = term.specials;
  if (std::ranges::any_of(scales.factors, IsNan)) {
    specials.factor_nan = true;
  } else if (scales.infinite()) {
    if (scales.zero() || term.zero()) specials.invalid = true;
    if (!specials.any()) specials = InfinityOf(term.negative);
  } else if (scales.zero() && specials.infinite()) {
    specials.invalid = true;
  }
  if (scales.negative()) std::swap(specials.plus, specials.minus);
  return specials;
}

// ---- Alignment.

Offer OfferOf(const Node& node, const Term& term) {
  switch (term.kind) {
    case TermKind::kProduct: {
      Algorithm algorithm = {.family = Family::kTree};
      algorithm.product_exponent = node.product_exponent;
      algorithm.zero_term =
          node.zero_product == ZeroOffers::kExponent ? ZeroTerm::kRaises : ZeroTerm::kIgnored;
      return OfferOf(algorithm, Product{term.operands});
    }
    case TermKind::kWord: {
      const bool silent = term.zero() && node.zero_word == ZeroOffers::kNothing;
      if (silent || !term.exponent) return std::nullopt;
      return *term.exponent - node.word_shift;
    }
    case TermKind::kPartial: {
      const bool silent = term.zero() && node.zero_partial == ZeroOffers::kNothing;
      return silent ? std::nullopt : term.exponent;
    }
  }
  std::abort();
}

Offer AlignmentExponent(const Node& node, const std::vector<Term>& terms) {
  Offer exponent;
  if (node.exponent_floor != kNoFloor) exponent = node.exponent_floor;
  for (const Term& term : terms) exponent = Larger(exponent, OfferOf(node, term));
  return exponent;
}

// The exponent of the last bit of the term that is kept.
long UnitOf(const Node& node, const Term& term, long alignment) {
  const bool own = term.kind == TermKind::kPartial && node.partial_fraction_bits != kAsNode;
  return alignment - (own ? node.partial_fraction_bits : node.fraction_bits);
}

bool IsDropped(const Node& node, const Term& term, long unit) {
  if (term.kind != TermKind::kWord || term.zero()) return false;
  switch (node.small_word) {
    case SmallWord::kCut:
      return false;
    case SmallWord::kDropped:
      return *term.exponent < unit - 1;
    case SmallWord::kDroppedAboveFloor:
      return node.to != nullptr && unit > node.to->min_exponent && FloorLog2(term.value) < unit;
  }
  std::abort();
}

// In the sign frame of the first word, a term with the other sign adds one unit less than its
// value.
Dyadic ComplementSum(const Node& node, const std::vector<Term>& terms, long alignment) {
  if (std::ranges::all_of(terms, &Term::zero)) return {};
  const auto word = std::ranges::find(terms, TermKind::kWord, &Term::kind);
  const bool frame = word != terms.end() && word->negative;
  Dyadic sum;
  for (const Term& term : terms) {
    const long unit = UnitOf(node, term, alignment);
    if (IsDropped(node, term, unit)) continue;
    sum = sum + RoundToMultiple(term.value, unit, node.align_rounding);
    if (term.negative != frame) sum = sum + Dyadic{frame ? 1 : -1, unit};
  }
  return sum;
}

Dyadic SumOf(const Node& node, const std::vector<Term>& terms, const Offer& alignment) {
  const bool exact = node.fraction_bits == kExact || !alignment;
  if (!exact && node.ones_complement) return ComplementSum(node, terms, *alignment);
  Dyadic sum;
  for (const Term& term : terms) {
    if (exact) {
      sum = sum + term.value;
      continue;
    }
    const long unit = UnitOf(node, term, *alignment);
    if (IsDropped(node, term, unit)) continue;
    sum = sum + RoundToMultiple(term.value, unit, node.align_rounding);
  }
  return sum;
}

// ---- Results.

// a before b; kPropagateBca: b of the first product, the other terms from the last, a.
std::vector<Number> NanOrder(NodeNan rule, const std::vector<Term>& terms) {
  const auto first = rule == NodeNan::kPropagateBca
                         ? std::ranges::find(terms, TermKind::kProduct, &Term::kind)
                         : terms.end();
  std::vector<Number> order;
  for (auto term = terms.begin(); term != terms.end(); ++term) {
    const size_t at = rule == NodeNan::kPropagateBca ? 0 : order.size();
    if (term != first)
      order.insert(order.begin() + at, term->operands.begin(), term->operands.end());
  }
  if (first != terms.end()) {
    order.insert(order.begin(), first->operands.back());
    order.push_back(first->operands.front());
  }
  return order;
}

uint64_t NanWord(const Node& node, const std::vector<Term>& terms, const Specials& specials) {
  const Format& f = *node.to;
  const bool constants = node.nan_rule == NodeNan::kConstants;
  if (constants && specials.factor_nan) return node.factor_nan;
  if (constants && specials.is_invalid()) return node.invalid_nan;
  if (node.nan_rule != NodeNan::kAllOnes && node.nan_rule != NodeNan::kQuietPositive) {
    const std::vector<Number> order = NanOrder(node.nan_rule, terms);
    const auto nan = std::ranges::find_if(order, IsNan);
    if (nan != order.end()) return Quieted(f, *nan);
  }
  return constants ? node.invalid_nan : NanByRule(f, node.nan_rule);
}

// An infinity, or a number beyond the largest, in a format without infinities.
uint64_t WithoutInfinity(const Node& node, bool negative) {
  if (node.overflow == NodeOverflow::kSaturate) return Pack(*node.to, negative, Largest(*node.to));
  return OnlyNan(*node.to, negative);
}

uint64_t SpecialWord(const Node& node, const std::vector<Term>& terms, const Specials& specials) {
  const Format& f = *node.to;
  if (f.exponent_bits == 0) std::abort();  // integers have no specials
  if (specials.is_nan()) return NanWord(node, terms, specials);
  return HasInfinities(f) ? Pack(f, specials.minus, Infinity(f))
                          : WithoutInfinity(node, specials.minus);
}

int Digits(const Node& node) {
  return node.output_fraction_bits == kAllBits ? node.to->fraction_bits : node.output_fraction_bits;
}

// IEEE 754-2019, 7.4.
bool OverflowsToInfinity(Rounding rounding, bool negative) {
  return rounding == Rounding::kNearestEven || rounding == Rounding::kNearestAway ||
         rounding == (negative ? Rounding::kDown : Rounding::kUp);
}

uint64_t OverflowWord(const Node& node, bool negative) {
  const Format& f = *node.to;
  if (!HasInfinities(f)) return WithoutInfinity(node, negative);
  if (node.overflow == NodeOverflow::kSaturate) return Pack(f, negative, Largest(f));
  if (node.overflow == NodeOverflow::kInfinity ||
      OverflowsToInfinity(node.output_rounding, negative)) {
    return Pack(f, negative, Infinity(f));
  }
  const Dyadic largest = LargestNumber(f);
  const Dyadic rounded =
      RoundToMultiple(largest, FloorLog2(largest) - Digits(node), Rounding::kTowardZero);
  return Encode(f, negative ? Minus(rounded) : rounded);
}

uint64_t ZeroOf(const Node& node, bool negative) {
  const bool positive = node.output_subnormals == Subnormals::kFlushPositive ||
                        node.zero_sign == NodeZero::kPositive ||
                        node.to->nonfinite == Nonfinite::kNanMinusZero;
  return Pack(*node.to, negative && !positive, 0);
}

// Whether x is flushed, by IEEE 754-2019, 7.5: the exact value, or the value that is rounded
// without a least exponent, is below the smallest normal number.
bool IsFlushed(const Node& node, const Dyadic& x) {
  if (node.output_subnormals == Subnormals::kKeep || !node.to->has_zero) return false;
  const long exponent = FloorLog2(x);
  if (node.tininess == Tininess::kBeforeRounding) return exponent < node.to->min_exponent;
  const Dyadic rounded = RoundToMultiple(x, exponent - Digits(node), node.output_rounding);
  return FloorLog2(rounded) < node.to->min_exponent;
}

// The word of x, which is not zero.
uint64_t NumberWord(const Node& node, const Dyadic& x) {
  const Format& f = *node.to;
  const bool negative = Sign(x) < 0;
  if (!f.has_zero && FloorLog2(x) < LeastNormal(f)) return Pack(f, negative, 0);
  const long exponent = std::max(FloorLog2(x), LeastNormal(f));
  const Dyadic rounded = RoundToMultiple(x, exponent - Digits(node), node.output_rounding);
  if (Sign(rounded) == 0 || IsFlushed(node, x)) return ZeroOf(node, negative);
  if (Sign(Magnitude(rounded) + Minus(LargestNumber(f))) > 0) return OverflowWord(node, negative);
  return Encode(f, rounded);
}

uint64_t IntegerWord(const Node& node, const Dyadic& x) {
  const Format& f = *node.to;
  const mpz_class modulus = mpz_class(1) << f.bits;
  mpz_class value = InUnits(x, 0);
  if (node.overflow == NodeOverflow::kSaturate) {
    const mpz_class least = f.is_signed ? mpz_class(-modulus / 2) : mpz_class(0);
    const mpz_class greatest = least + modulus - 1;
    value = std::min(std::max(value, least), greatest);
  }
  mpz_class word;
  mpz_fdiv_r(word.get_mpz_t(), value.get_mpz_t(), modulus.get_mpz_t());
  return word.get_ui();
}

// The word of the zero sum of the terms; `negative` if all of them are -0.
uint64_t ZeroSumWord(const Node& node, const std::vector<Term>& terms, bool negative) {
  const bool one_sign = std::ranges::all_of(
      terms, [&](const Term& term) { return term.negative == terms[0].negative; });
  switch (node.zero_sign) {
    case NodeZero::kIeee:
      return ZeroOf(node, negative);
    case NodeZero::kIeee754:
      return ZeroOf(node, negative || (!one_sign && node.output_rounding == Rounding::kDown));
    case NodeZero::kSumPositive:
    case NodeZero::kPositive:
      return ZeroOf(node, false);
  }
  std::abort();
}

// ---- Nodes.

// Products of at least 2^product_limit are infinite.
void Limit(const Node& node, Term& term) {
  if (term.kind != TermKind::kProduct || node.product_limit == kNoLimit) return;
  if (Sign(term.value) == 0 || FloorLog2(term.value) < node.product_limit) return;
  term.value = {};
  term.specials = InfinityOf(term.negative);
}

// What a partial sum offers.
Offer PartialOffer(const Node& node, const Product& scales, const Offer& alignment) {
  if (!alignment || scales.zero()) return std::nullopt;
  if (node.scale == NodeScale::kAlone) return scales.raw_exponent();
  return *alignment + scales.raw_exponent();
}

// Whether a zero sum is negative: all terms, times the scales, are -0.
bool AllNegativeZeros(const std::vector<Term>& terms, const Product& scales) {
  return std::ranges::all_of(terms, [&](const Term& term) {
    return term.negative != scales.negative() && (term.zero() || scales.zero());
  });
}

Term Join(const Model& m, const DotProductCase& dot, const Node& node, std::vector<Term> terms) {
  for (Term& term : terms) Limit(node, term);
  const Product scales = ScalesOf(m, dot, node, terms);
  Term result;
  for (const Term& term : terms) result.specials.Add(ScaledSpecials(term, scales));
  if (result.specials.any()) {
    if (node.to == nullptr) return result;
    return WordTerm(*node.to, SpecialWord(node, terms, result.specials));
  }
  const Offer alignment = AlignmentExponent(node, terms);
  result.value = SumOf(node, terms, alignment) * scales.value();
  const int sign = Sign(result.value);
  result.negative = sign < 0 || (sign == 0 && AllNegativeZeros(terms, scales));
  if (node.to == nullptr) {
    result.exponent = PartialOffer(node, scales, alignment);
    return result;
  }
  if (node.to->exponent_bits == 0) return WordTerm(*node.to, IntegerWord(node, result.value));
  if (sign == 0) return WordTerm(*node.to, ZeroSumWord(node, terms, result.negative));
  return WordTerm(*node.to, NumberWord(node, result.value));
}

}  // namespace

uint64_t SumOfTree(const Model& m, const DotProductCase& dot) {
  const mmadiff::Tree& tree = *m.algorithm.tree;
  std::vector<Term> stack;
  for (const TreeCode& code : tree.code) {
    if (code.push != Push::kJoin) {
      stack.push_back(Leaf(m, dot, code));
      continue;
    }
    const auto first = stack.end() - code.index;
    const std::vector<Term> terms(first, stack.end());
    stack.erase(first, stack.end());
    stack.push_back(Join(m, dot, tree.nodes[code.node], terms));
  }
  return stack.back().word;
}

}  // namespace mmadiff::reference
