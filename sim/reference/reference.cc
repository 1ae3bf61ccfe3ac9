#include "sim/reference/reference.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "sim/reference/number.h"

namespace mmadiff {
namespace {

using reference::Class;
using reference::Dyadic;
using reference::Number;

bool IsNan(const Number& x) { return x.kind == Class::kNan; }
bool IsInfinite(const Number& x) { return x.kind == Class::kInfinity; }
bool IsZero(const Number& x) { return x.kind == Class::kZero; }

struct Factors {
  Number a, b;

  bool negative() const { return a.negative != b.negative; }
  bool infinite() const { return IsInfinite(a) || IsInfinite(b); }
  bool invalid() const { return infinite() && (IsZero(a) || IsZero(b)); }  // infinity times zero
  bool zero() const { return IsZero(a) || IsZero(b); }
  Dyadic value() const { return a.value * b.value; }
};

// One addition: products and an addend in, one word of format d out.
struct Step {
  std::vector<Factors> products;  // k ascending
  Number addend;
};

// In the order a, b for each k, then the addend; nullptr when there is none.
const Number* FirstNan(const Step& step) {
  for (const Factors& p : step.products) {
    if (IsNan(p.a)) return &p.a;
    if (IsNan(p.b)) return &p.b;
  }
  return IsNan(step.addend) ? &step.addend : nullptr;
}

// The word of a step that a NaN or an infinity decides. NaN operands come before invalid
// operations, so infinity times zero plus a NaN is that NaN.
std::optional<uint64_t> SpecialResult(const Model& model, const Step& step) {
  const NanRule rule = model.algorithm.nan_rule;
  if (const Number* nan = FirstNan(step)) {
    return rule == NanRule::kPropagate ? reference::QuietedNan(model.d, *nan)
                                       : reference::DefaultNan(model.d, rule);
  }
  bool plus = false, minus = false, invalid = false;
  for (const Factors& p : step.products) {
    invalid |= p.invalid();
    if (p.infinite()) (p.negative() ? minus : plus) = true;
  }
  if (IsInfinite(step.addend)) (step.addend.negative ? minus : plus) = true;
  if (invalid || (plus && minus)) return reference::DefaultNan(model.d, rule);
  if (plus || minus) return reference::InfiniteWord(model.d, minus);
  return std::nullopt;
}

Number Flushed(const Algorithm& algorithm, Number x) {
  if (algorithm.input_subnormals == Subnormals::kFlush && x.kind == Class::kSubnormal) {
    x.kind = Class::kZero;
    x.value = {};
  }
  return x;
}

// a * b + addend, one rounding, as IEEE 754 but for the flushing and NaN rules of the algorithm.
uint64_t Fma(const Model& model, const Number& a, const Number& b, const Number& addend) {
  const Algorithm& algorithm = model.algorithm;
  const Step step = {{{Flushed(algorithm, a), Flushed(algorithm, b)}}, Flushed(algorithm, addend)};
  if (const auto special = SpecialResult(model, step)) return *special;
  const Factors& product = step.products[0];
  const Dyadic sum = product.value() + step.addend.value;
  if (Sign(sum) == 0) {
    // IEEE 754-2019, 6.3: two zeros of one sign keep it, otherwise +0, but -0 when rounding down.
    const bool same = product.zero() && product.negative() == step.addend.negative;
    const bool negative =
        same ? step.addend.negative : algorithm.output_rounding == Rounding::kDown;
    return reference::ZeroWord(model.d, negative);
  }
  bool zero = false;
  return reference::RoundedWord(model.d, algorithm, sum, &zero);
}

uint64_t FmaChain(const Model& model, const DotProductCase& dot) {
  uint64_t d = dot.c;
  for (int i = 0; i < model.k; ++i) {
    const int k = model.algorithm.order == Order::kAscending ? i : model.k - 1 - i;
    d = Fma(model, reference::Read(model.a, dot.a[k]), reference::Read(model.b, dot.b[k]),
            reference::Read(i == 0 ? model.c : model.d, d));
  }
  return d;
}

// Exponent with which a product takes part in the search for the largest; none when it does not.
std::optional<long> ProductExponentOf(const Algorithm& algorithm, const Factors& p) {
  if (p.zero() && algorithm.zero_term == ZeroTerm::kIgnored) return std::nullopt;
  const bool normalized = algorithm.product_exponent == ProductExponent::kNormalized;
  // A zero has no leading bit to normalise: it can raise the maximum only by its exponent fields.
  if (normalized && !p.zero()) return FloorLog2(p.value());
  return p.a.exponent + p.b.exponent;
}

std::optional<long> AddendExponentOf(const Model& model, const Number& addend) {
  if (IsZero(addend)) return std::nullopt;
  if (model.algorithm.addend_exponent == AddendExponent::kOwnFormat) return addend.exponent;
  return std::max<long>(FloorLog2(addend.value), model.d.min_exponent);
}

// None when no term and no floor gives one.
std::optional<long> AlignmentExponent(const Model& model, const Step& step) {
  std::optional<long> largest = AddendExponentOf(model, step.addend);
  for (const Factors& p : step.products) {
    const std::optional<long> exponent = ProductExponentOf(model.algorithm, p);
    if (exponent && (!largest || *exponent > *largest)) largest = exponent;
  }
  const long floor = model.algorithm.exponent_floor;
  if (floor != kNoFloor && (!largest || floor > *largest)) largest = floor;
  return largest;
}

uint64_t FusedStep(const Model& model, const Step& step) {
  const Algorithm& algorithm = model.algorithm;
  if (const auto special = SpecialResult(model, step)) return *special;

  std::vector<Dyadic> terms;
  terms.reserve(step.products.size() + 1);
  terms.push_back(step.addend.value);
  bool all_minus_zero = IsZero(step.addend) && step.addend.negative;
  for (const Factors& p : step.products) {
    terms.push_back(p.value());
    all_minus_zero = all_minus_zero && p.zero() && p.negative();
  }
  const std::optional<long> exponent = AlignmentExponent(model, step);
  Dyadic sum;
  for (const Dyadic& term : terms) {
    if (Sign(term) == 0) continue;
    const long unit = *exponent - algorithm.fraction_bits;
    sum = sum + RoundToMultiple(term, unit, algorithm.align_rounding);
  }
  if (Sign(sum) == 0) {
    const bool negative = algorithm.zero_sign == ZeroSign::kIeee && all_minus_zero;
    return reference::ZeroWord(model.d, negative);
  }
  bool zero = false;
  const uint64_t word = reference::RoundedWord(model.d, algorithm, sum, &zero);
  if (zero && algorithm.zero_sign == ZeroSign::kPositive)
    return reference::ZeroWord(model.d, false);
  return word;
}

// The k of a dot product in the order in which the steps take them.
std::vector<int> OrderOfK(const Model& model) {
  std::vector<int> first, second;
  for (int k = 0; k < model.k; ++k) {
    const bool late = model.algorithm.grouping == Grouping::kPairsOfFour && k % 4 >= 2;
    (late ? second : first).push_back(k);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// x + y, to nearest even in format d.
uint64_t LastAdd(const Model& model, uint64_t x, uint64_t y) {
  Model add = model;
  add.a = add.b = add.c = add.d;
  add.algorithm.output_rounding = Rounding::kNearestEven;
  add.algorithm.output_fraction_bits = add.d.fraction_bits;
  const uint64_t one = static_cast<uint64_t>(-add.d.min_exponent + 1)
                       << add.d.fraction_bits << add.d.ignored_bits;
  return Fma(add, reference::Read(add.d, x), reference::Read(add.d, one),
             reference::Read(add.d, y));
}

uint64_t FusedSum(const Model& model, const DotProductCase& dot) {
  const bool last_add = model.algorithm.addend_joins == AddendJoins::kLastAdd;
  const std::vector<int> order = OrderOfK(model);
  uint64_t d = last_add ? 0 : dot.c;
  bool d_is_result = last_add;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    Step step = {{}, reference::Read(d_is_result ? model.d : model.c, d)};
    const int end = std::min(model.k, start + model.algorithm.terms);
    for (int i = start; i < end; ++i) {
      step.products.push_back(
          {reference::Read(model.a, dot.a[order[i]]), reference::Read(model.b, dot.b[order[i]])});
    }
    d = FusedStep(model, step);
    d_is_result = true;
  }
  return last_add ? LastAdd(model, d, dot.c) : d;
}

mpz_class ReadInteger(const Format& f, uint64_t word) {
  const mpz_class modulus = mpz_class(1) << f.bits;
  mpz_class value = mpz_class(static_cast<unsigned long>(word)) % modulus;
  if (f.is_signed && value * 2 >= modulus) value -= modulus;
  return value;
}

uint64_t IntegerWord(const Format& f, Overflow overflow, const mpz_class& x) {
  const mpz_class modulus = mpz_class(1) << f.bits;
  mpz_class value = x;
  if (overflow == Overflow::kSaturate) {
    const mpz_class least = f.is_signed ? mpz_class(-modulus / 2) : mpz_class(0);
    const mpz_class greatest = least + modulus - 1;
    value = std::min(std::max(value, least), greatest);
  }
  mpz_class word;
  mpz_fdiv_r(word.get_mpz_t(), value.get_mpz_t(), modulus.get_mpz_t());
  return word.get_ui();
}

uint64_t IntegerSum(const Model& model, const DotProductCase& dot) {
  uint64_t d = dot.c;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    mpz_class sum = ReadInteger(start == 0 ? model.c : model.d, d);
    const int end = std::min(model.k, start + model.algorithm.terms);
    for (int k = start; k < end; ++k) {
      sum += ReadInteger(model.a, dot.a[k]) * ReadInteger(model.b, dot.b[k]);
    }
    d = IntegerWord(model.d, model.algorithm.overflow, sum);
  }
  return d;
}

}  // namespace

uint64_t ReferenceDotProduct(const Model& model, const DotProductCase& dot) {
  switch (model.algorithm.family) {
    case Family::kFmaChain:
      return FmaChain(model, dot);
    case Family::kFusedSum:
      return FusedSum(model, dot);
    case Family::kIntegerDot:
      return IntegerSum(model, dot);
  }
  std::abort();
}

}  // namespace mmadiff
