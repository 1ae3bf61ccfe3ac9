#include "sim/plan/exact_product.h"

#include <algorithm>
#include <vector>

#include "sim/round.h"

namespace mmadiff {
namespace {

using Wide = unsigned __int128;

constexpr int64_t kPolled = 1 << 20;  // products between two polls

int LeastUnit(const Format& f) { return LeastExponent(f) - f.fraction_bits; }

// A sum of integers times 2^base, in digits of 32 bits that hold the carries of 2^31 terms.
class Sum {
 public:
  // For terms that are multiples of 2^base and below 2^top.
  Sum(int base, int top) : base_(base), digits_((top - base) / 32 + 5) {}

  void Clear() { std::ranges::fill(digits_, 0); }
  // +- magnitude * 2^exponent
  void Add(bool negative, Wide magnitude, int exponent) {
    AddHalf(negative, static_cast<uint64_t>(magnitude), exponent);
    const auto high = static_cast<uint64_t>(magnitude >> 64);
    if (high != 0) AddHalf(negative, high, exponent + 64);
  }
  // Subtracts the sum rounded to nearest even, and returns it as an f64 word.
  uint64_t TakeRounded() {
    const bool negative = Carry();
    int top = static_cast<int>(digits_.size()) - 1;
    while (top > 3 && digits_[top] == 0) --top;
    Wide magnitude = 0;
    for (int i = top; i > top - 4; --i) magnitude = magnitude << 32 | digits_[i];
    const bool sticky = std::any_of(digits_.begin(), digits_.begin() + (top - 3),
                                    [](int64_t digit) { return digit != 0; });
    if (negative) Negate();
    Algorithm rounding = {};
    rounding.output_fraction_bits = kF64.fraction_bits;
    bool inexact = false;
    // 128 bits, of which at least 97 count, and one for those below.
    const int lsb = base_ + 32 * (top - 3);
    if (magnitude == 0) return 0;
    const Wide with_sticky = magnitude | static_cast<Wide>(sticky);
    const uint64_t word = RoundPack<Wide>(kF64, rounding, negative, with_sticky, lsb, &inexact);
    Subtract(word);
    return word;
  }

 private:
  void AddHalf(bool negative, uint64_t magnitude, int exponent) {
    const int shift = exponent - base_, i = shift / 32;
    const Wide moved = static_cast<Wide>(magnitude) << (shift % 32);
    const int64_t sign = negative ? -1 : 1;
    digits_[i] += sign * static_cast<int64_t>(moved & 0xffffffff);
    digits_[i + 1] += sign * static_cast<int64_t>(moved >> 32 & 0xffffffff);
    digits_[i + 2] += sign * static_cast<int64_t>(moved >> 64);
  }
  void Subtract(uint64_t word) {
    const Unpacked x = Decode(kF64, word);
    if (x.kind != Kind::kFinite || x.significand == 0) return;
    const int exponent = x.exponent - kF64.fraction_bits, below = std::max(base_ - exponent, 0);
    Add(!x.negative, x.significand >> below, exponent + below);
  }
  void Negate() {
    for (int64_t& digit : digits_) digit = -digit;
  }
  // Brings digits to 0 .. 2^32 - 1; returns whether the sum was negative, and is now its magnitude.
  bool Carry() {
    const bool negative = Propagate() < 0;
    if (!negative) return false;
    Undo();
    Negate();
    Propagate();
    return true;
  }
  int64_t Propagate() {
    int64_t carry = 0;
    for (int64_t& digit : digits_) {
      const int64_t x = digit + carry;
      digit = x & 0xffffffff;
      carry = x >> 32;
    }
    return carry;
  }
  // After a carry of -1 out of the last digit.
  void Undo() { digits_.back() -= int64_t{1} << 32; }

  const int base_;
  std::vector<int64_t> digits_;
};

// The sum of products of which some are not finite.
uint64_t SpecialSum(const Unpacked* a, const Unpacked* b, int64_t k) {
  bool nan = false, infinite[2] = {};
  for (int64_t p = 0; p < k; ++p) {
    const bool zero = (a[p].kind == Kind::kFinite && a[p].significand == 0) ||
                      (b[p].kind == Kind::kFinite && b[p].significand == 0);
    nan |= a[p].kind == Kind::kNan || b[p].kind == Kind::kNan;
    if (a[p].kind != Kind::kInfinite && b[p].kind != Kind::kInfinite) continue;
    nan |= zero;
    infinite[a[p].negative != b[p].negative] = true;
  }
  if (nan || (infinite[0] && infinite[1])) return DefaultNan(kF64, NanRule::kQuietPositive);
  return InfinityWord(kF64, infinite[1]);
}

struct Rows {
  std::vector<Unpacked> elements;  // [rows][k]
  std::vector<bool> finite;        // of each row
};

Rows DecodeRows(const Words& words, const Format& f, int64_t rows, int64_t k, const Poll& poll) {
  Rows decoded = {std::vector<Unpacked>(rows * k), std::vector<bool>(rows, true)};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      if (p % kPolled == 0) poll();
      const Unpacked x = decoded.elements[i * k + p] = Decode(f, Load(words, i, p));
      if (x.kind != Kind::kFinite) decoded.finite[i] = false;
    }
  }
  return decoded;
}

}  // namespace

void ExactProduct(const Matrices& m, const MutableWords& high, const MutableWords& low,
                  const Threads& threads) {
  const Format &a_format = *m.a_format, &b_format = *m.b_format;
  const int base = LeastUnit(a_format) + LeastUnit(b_format);
  const int top = MaxExponent(a_format) + MaxExponent(b_format) + 2;
  const int fractions = a_format.fraction_bits + b_format.fraction_bits;
  const Poll decoding(threads);
  const Rows a = DecodeRows(m.a, a_format, m.m, m.k, decoding);
  const Rows b = DecodeRows(m.b.Transposed(), b_format, m.n, m.k, decoding);
  ForEachPart(m.m, threads, [&](int64_t i, const Poll& poll) {
    Sum sum(base, top);
    const Unpacked* x = a.elements.data() + i * m.k;
    for (int64_t j = 0; j < m.n; ++j) {
      poll();
      const Unpacked* y = b.elements.data() + j * m.k;
      if (!a.finite[i] || !b.finite[j]) {
        Store(high, i, j, SpecialSum(x, y, m.k));
        Store(low, i, j, 0);
        continue;
      }
      sum.Clear();
      for (int64_t p = 0; p < m.k; ++p) {
        if (p % kPolled == kPolled - 1) poll();
        sum.Add(x[p].negative != y[p].negative,
                static_cast<Wide>(x[p].significand) * y[p].significand,
                x[p].exponent + y[p].exponent - fractions);
      }
      Store(high, i, j, sum.TakeRounded());
      Store(low, i, j, sum.TakeRounded());
    }
  });
}

}  // namespace mmadiff
