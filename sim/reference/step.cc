#include "sim/reference/step.h"

#include <algorithm>

namespace mmadiff::reference {
namespace {

const Number* FirstNan(const Step& step, NanRule rule) {
  std::vector<const Number*> operands;
  for (const Product& p : step.products) {
    for (const Number& x : p.factors) operands.push_back(&x);
  }
  for (const Number& x : step.addends) operands.push_back(&x);
  // a, b, addend to b, addend, a.
  if (rule == NanRule::kPropagateBca) {
    std::rotate(operands.begin(), operands.begin() + 1, operands.end());
  }
  const auto nan = std::ranges::find_if(operands, [](const Number* x) { return IsNan(*x); });
  return nan != operands.end() ? *nan : nullptr;
}

}  // namespace

// The sign of a product follows from its factors, also for zeros, 6.3.
bool Product::negative() const {
  return std::ranges::count_if(factors, [](const Number& x) { return x.negative; }) % 2 != 0;
}
bool Product::infinite() const { return std::ranges::any_of(factors, IsInfinite); }
bool Product::zero() const { return std::ranges::any_of(factors, IsZero); }

Dyadic Product::value() const {
  Dyadic value = {1, 0};
  for (const Number& x : factors) {
    value.significand *= x.significand;
    value.exponent += x.ulp;
  }
  return value;
}

long Product::raw_exponent() const {
  long exponent = 0;
  for (const Number& x : factors) exponent += x.exponent;
  return exponent;
}

Product ReadProduct(const Model& model, const DotProductCase& dot, int k) {
  return {{Read(model.a, dot.a[k]), Read(model.b, dot.b[k])}};
}

std::optional<uint64_t> SpecialWord(const Model& model, const Step& step) {
  // IEEE 754-2019, 6.2: a NaN operand decides; 7.2: infinity times zero and infinities of both
  // signs make one.
  const NanRule rule = model.algorithm.nan_rule;
  if (const Number* nan = FirstNan(step, rule)) {
    const bool canonical = rule == NanRule::kAllOnes || rule == NanRule::kQuietPositive;
    return canonical ? DefaultNan(model.d, rule) : QuietedNan(model.d, *nan);
  }
  bool plus = false, minus = false, invalid = false;
  for (const Product& p : step.products) {
    invalid |= p.invalid();
    if (p.infinite()) (p.negative() ? minus : plus) = true;
  }
  for (const Number& x : step.addends) {
    if (IsInfinite(x)) (x.negative ? minus : plus) = true;
  }
  if (invalid || (plus && minus)) return DefaultNan(model.d, rule);
  if (plus || minus) return InfiniteWord(model.d, minus);
  return std::nullopt;
}

// Tests terms before they are cut: a term that alignment cuts to nothing is not a zero.
bool AllZero(const Step& step, bool negative) {
  const auto product = [&](const Product& p) { return p.zero() && p.negative() == negative; };
  const auto addend = [&](const Number& x) { return IsZero(x) && x.negative == negative; };
  return std::ranges::all_of(step.products, product) && std::ranges::all_of(step.addends, addend);
}

uint64_t IeeeWord(const Model& model, const Step& step) {
  if (const auto special = SpecialWord(model, step)) return *special;
  Dyadic sum;
  for (const Product& p : step.products) sum = sum + p.value();
  for (const Number& x : step.addends) sum = sum + x.value();
  bool zero = false;
  if (Sign(sum) != 0) return RoundedWord(model.d, model.algorithm, sum, &zero);
  // IEEE 754-2019, 6.3: zeros of one sign keep it, otherwise +0, but -0 when rounding down.
  if (AllZero(step, false)) return ZeroResult(model.d, model.algorithm, false);
  const bool down = model.algorithm.output_rounding == Rounding::kDown;
  return ZeroResult(model.d, model.algorithm, down || AllZero(step, true));
}

uint64_t SumWord(const Model& model, const Step& step, const Dyadic& sum) {
  const ZeroSign rule = model.algorithm.zero_sign;
  if (Sign(sum) == 0) {
    return ZeroResult(model.d, model.algorithm, rule == ZeroSign::kIeee && AllZero(step, true));
  }
  bool zero = false;
  const uint64_t word = RoundedWord(model.d, model.algorithm, sum, &zero);
  return zero && rule == ZeroSign::kPositive ? ZeroWord(model.d, false) : word;
}

}  // namespace mmadiff::reference
