#include <gmpxx.h>

// Exact integer sums, wrapped or clamped to the output at the end of every step.
#include <algorithm>

#include "sim/reference/families.h"

namespace mmadiff::reference {
namespace {

long ReadInteger(const Format& f, uint64_t word) {
  const long modulus = long{1} << f.bits;  // formats have at most 32 bits
  const long value = static_cast<long>(word) & (modulus - 1);
  return f.is_signed && 2 * value >= modulus ? value - modulus : value;
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

// The product of two bits is their "and".
mpz_class IntegerProduct(const Algorithm& algorithm, long a, long b) {
  if (algorithm.bit_operation == BitOperation::kXor) return a == b ? 0 : 1;
  return mpz_class(a) * b;
}

mpz_class PairOf(PairSum rule, const mpz_class& pair) {
  if (rule == PairSum::kExact) return pair;
  if (rule == PairSum::kSaturate16) {
    return std::min(std::max(pair, mpz_class(-32768)), mpz_class(32767));
  }
  mpz_class low;
  mpz_fdiv_r_ui(low.get_mpz_t(), pair.get_mpz_t(), 65536);
  return low > 32767 ? mpz_class(low - 65536) : low;
}

}  // namespace

uint64_t IntegerDot(const Model& model, const DotProductCase& dot) {
  uint64_t d = dot.c;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    mpz_class sum = ReadInteger(start == 0 ? model.c : model.d, d);
    const int end = std::min(model.k, start + model.algorithm.terms);
    mpz_class pair;
    for (int k = start; k < end; ++k) {
      pair += IntegerProduct(model.algorithm, ReadInteger(model.a, dot.a[k]),
                             ReadInteger(model.b, dot.b[k]));
      if (k % 2 == 0 && k + 1 < end) continue;
      sum += PairOf(model.algorithm.pair_sum, pair);
      pair = 0;
    }
    d = IntegerWord(model.d, model.algorithm.overflow, sum);
  }
  return d;
}

}  // namespace mmadiff::reference
