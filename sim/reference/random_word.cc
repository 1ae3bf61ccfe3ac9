#include "sim/reference/random_word.h"

#include <algorithm>
#include <iterator>

namespace mmadiff::reference {
namespace {

// Random ignored bits, including those above the number.
uint64_t WithIgnoredBits(const Format& f, uint64_t word, Random& random) {
  const int read = f.is_signed + f.exponent_bits + f.fraction_bits + f.ignored_bits;
  return word | (random() & (Ones(f.ignored_bits) | (Ones(f.bits) & ~Ones(read))));
}

}  // namespace

int Between(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
}

bool OneIn(Random& random, int n) { return random() % n == 0; }

uint64_t Ones(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t RandomWord(const Format& f, Random& random) { return random() & Ones(f.bits); }

uint64_t Negate(const Format& f, uint64_t word) {
  return f.is_signed ? word ^ uint64_t { 1 } << (f.bits - 1) : word;
}

uint64_t ZeroOfSign(const Format& f, bool negative) {
  return negative && f.nonfinite != Nonfinite::kNanMinusZero ? Negate(f, 0) : 0;
}

uint64_t RandomFraction(const Format& f, Random& random) {
  const uint64_t low = Ones(Between(random, 0, f.fraction_bits));
  switch (random() % 5) {
    case 0:
      return random();
    case 1:
      return random() & ~low;
    case 2:
      return random() | low;
    case 3:
      return uint64_t{1} << Between(random, 0, f.fraction_bits);
    default:
      return 0;
  }
}

uint64_t WordOfExponent(const Format& f, int exponent, uint64_t fraction, Random& random) {
  const int least = f.has_zero ? f.min_exponent : f.min_exponent - 1;
  const int subnormal_shift = std::max(0, least - exponent);
  exponent = std::clamp(exponent, least, MaxExponent(f));
  uint64_t magnitude = fraction & Ones(f.fraction_bits);
  if (subnormal_shift == 0 || !f.has_zero) {
    magnitude |= static_cast<uint64_t>(exponent - f.min_exponent + 1) << f.fraction_bits;
  } else {
    magnitude |= uint64_t{1} << f.fraction_bits;
    magnitude = subnormal_shift > f.fraction_bits ? 1 : magnitude >> subnormal_shift;
  }
  const uint64_t word = WithIgnoredBits(f, magnitude << f.ignored_bits, random);
  return OneIn(random, 2) ? word : Negate(f, word);
}

uint64_t SpecialWord(const Format& f, Random& random) {
  const uint64_t top = Ones(f.exponent_bits) << f.fraction_bits;
  const uint64_t quiet = uint64_t{1} << std::max(0, f.fraction_bits - 1);
  const uint64_t fraction = random() & Ones(f.fraction_bits);
  const uint64_t magnitudes[] = {
      0,       1,           Ones(f.fraction_bits), uint64_t{1} << f.fraction_bits, top - 1, top,
      top | 1, top | quiet, top | fraction,        top | Ones(f.fraction_bits),    fraction};
  uint64_t word = magnitudes[random() % std::size(magnitudes)] << f.ignored_bits;
  if (OneIn(random, 2)) word = WithIgnoredBits(f, word, random);
  return OneIn(random, 2) ? word : Negate(f, word);
}

uint64_t RandomInteger(const Format& f, Random& random) {
  const uint64_t extremes[] = {0, 1, Ones(f.bits), Ones(f.bits - 1), uint64_t{1} << (f.bits - 1)};
  return (OneIn(random, 2) ? random() : extremes[random() % std::size(extremes)]) & Ones(f.bits);
}

}  // namespace mmadiff::reference
