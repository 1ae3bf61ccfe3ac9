#include <gmpxx.h>

#include <algorithm>

#include "sim/reference/families.h"

namespace mmadiff::reference {
namespace {

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

// Of two bits the product is their "and".
mpz_class IntegerProduct(const Algorithm& algorithm, const mpz_class& a, const mpz_class& b) {
  if (algorithm.bit_operation == BitOperation::kXor) return a == b ? 0 : 1;
  return a * b;
}

}  // namespace

uint64_t IntegerDot(const Model& model, const DotProductCase& dot) {
  uint64_t d = dot.c;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    mpz_class sum = ReadInteger(start == 0 ? model.c : model.d, d);
    const int end = std::min(model.k, start + model.algorithm.terms);
    for (int k = start; k < end; ++k) {
      sum += IntegerProduct(model.algorithm, ReadInteger(model.a, dot.a[k]),
                            ReadInteger(model.b, dot.b[k]));
    }
    d = IntegerWord(model.d, model.algorithm.overflow, sum);
  }
  return d;
}

}  // namespace mmadiff::reference
