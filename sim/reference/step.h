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

// a times b, and times the scales of both if there are any.
struct Product {
  std::vector<Number> factors;

  bool negative() const;
  bool infinite() const;
  bool zero() const;                                     // a factor is zero
  bool invalid() const { return infinite() && zero(); }  // infinity times zero
  Dyadic value() const;
  long raw_exponent() const;  // sum of the factors' exponents
};

// Any number of products and of addends.
struct Step {
  std::vector<Product> products;  // in the order in which NaNs are searched for
  std::vector<Number> addends;
};

// Product k of a dot product, without scales.
Product ReadProduct(const Model& model, const DotProductCase& dot, int k);

// The word of a step that a NaN or an infinity decides. NaN operands of the products come before
// those of the addends (kPropagateBca: then the first of all), and both before invalid operations:
// infinity times zero plus a NaN is that NaN.
std::optional<uint64_t> SpecialWord(const Model& model, const Step& step);

// Whether every product and every addend is a zero with the given sign.
bool AllZero(const Step& step, bool negative);

// The sum of the step as an IEEE 754 operation: exact, then rounded once by the algorithm's rules
// in format d.
uint64_t IeeeWord(const Model& model, const Step& step);

// `sum`, taken as the sum of the step, rounded once in format d; zero_sign gives the sign of zeros.
uint64_t SumWord(const Model& model, const Step& step, const Dyadic& sum);

}  // namespace mmadiff::reference
