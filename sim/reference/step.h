// One operation: products and addends in, one word out.
#pragma once

#include <optional>
#include <vector>

#include "sim/batch.h"
#include "sim/reference/number.h"

namespace mmadiff::reference {

inline bool IsNan(const Number& x) { return x.kind == Class::kNan; }
inline bool IsInfinite(const Number& x) { return x.kind == Class::kInfinity; }
inline bool IsZero(const Number& x) { return x.kind == Class::kZero; }

// a times b, times the scales of both if there are any.
struct Product {
  std::vector<Number> factors;

  bool negative() const;
  bool infinite() const;
  bool zero() const;                                     // some factor is
  bool invalid() const { return infinite() && zero(); }  // infinity times zero
  Dyadic value() const;
  long raw_exponent() const;  // sum of the factors' exponents
};

// Any number of either.
struct Step {
  std::vector<Product> products;  // in the order in which NaNs are looked for
  std::vector<Number> addends;
};

// Product k of a dot product, without scales.
Product ReadProduct(const Model& model, const DotProductCase& dot, int k);

// The word of a step that a NaN or an infinity decides. NaN operands, those of the products before
// the addends (kPropagateBca: then the first of all), come before invalid operations, so infinity
// times zero plus a NaN is that NaN.
std::optional<uint64_t> SpecialWord(const Model& model, const Step& step);

// Every product and every addend is a zero of the given sign.
bool AllZero(const Step& step, bool negative);

// The sum of the step as an IEEE 754 operation: exact, then rounded once as the algorithm says, in
// format d.
uint64_t IeeeWord(const Model& model, const Step& step);

// `sum`, which stands for that of the step, rounded once in format d; zeros signed by zero_sign.
uint64_t SumWord(const Model& model, const Step& step, const Dyadic& sum);

}  // namespace mmadiff::reference
