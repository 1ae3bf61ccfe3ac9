#include "sim/reference/random_dot.h"

#include <algorithm>
#include <cstdio>

#include "sim/parameter.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff::reference {
namespace {

using Random = std::mt19937_64;

int Between(Random& random, int low, int high) {  // inclusive
  return low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
}

bool OneIn(Random& random, int n) { return random() % n == 0; }

uint64_t Ones(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

int LargestExponent(const Format& f) { return f.min_exponent + (1 << f.exponent_bits) - 3; }

uint64_t Negate(const Format& f, uint64_t word) {
  return word ^ uint64_t { 1 } << (f.bits - 1);
}

// A finite number of about 2^exponent: subnormal or largest when that lies outside the format.
uint64_t WordOfExponent(const Format& f, int exponent, uint64_t fraction, Random& random) {
  const int subnormal_shift = std::max(0, f.min_exponent - exponent);
  exponent = std::min(exponent, LargestExponent(f));
  uint64_t magnitude = fraction & Ones(f.fraction_bits);
  if (subnormal_shift == 0) {
    magnitude |= static_cast<uint64_t>(exponent - f.min_exponent + 1) << f.fraction_bits;
  } else {
    magnitude |= uint64_t{1} << f.fraction_bits;
    magnitude = subnormal_shift > f.fraction_bits ? 1 : magnitude >> subnormal_shift;
  }
  const uint64_t word = magnitude << f.ignored_bits | (random() & Ones(f.ignored_bits));
  return OneIn(random, 2) ? word : Negate(f, word);
}

// Sparse, dense and few-bit fractions: carries, ties and stragglers need long runs of equal bits.
uint64_t Fraction(const Format& f, Random& random) {
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

uint64_t SpecialWord(const Format& f, Random& random) {
  const uint64_t top = ((uint64_t{1} << f.exponent_bits) - 1) << f.fraction_bits;
  const uint64_t quiet = uint64_t{1} << std::max(0, f.fraction_bits - 1);
  const uint64_t fraction = random() & Ones(f.fraction_bits);
  const uint64_t magnitudes[] = {
      0,       1,           Ones(f.fraction_bits), uint64_t{1} << f.fraction_bits, top - 1, top,
      top | 1, top | quiet, top | fraction,        top | Ones(f.fraction_bits),    fraction};
  const uint64_t word = magnitudes[random() % std::size(magnitudes)] << f.ignored_bits |
                        (OneIn(random, 2) ? random() & Ones(f.ignored_bits) : 0);
  return OneIn(random, 2) ? word : Negate(f, word);
}

uint64_t IntegerWord(const Format& f, Random& random) {
  const uint64_t extremes[] = {0, 1, Ones(f.bits), Ones(f.bits - 1), uint64_t{1} << (f.bits - 1)};
  return OneIn(random, 2) ? random() & Ones(f.bits) : extremes[random() % std::size(extremes)];
}

DotProductCase Integers(const Model& m, Random& random) {
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    dot.a.push_back(IntegerWord(m.a, random));
    dot.b.push_back(IntegerWord(m.b, random));
  }
  dot.c = IntegerWord(m.c, random);
  // Near the ends of the range, where wrapping and saturation differ.
  if (OneIn(random, 2)) dot.c = (dot.c + random() % 4096 - 2048) & Ones(m.c.bits);
  return dot;
}

// Exponent of the largest terms: the ends of the result's range and of the operands', and between.
int CentreExponent(const Model& m, Random& random) {
  const int smallest = m.a.min_exponent + m.b.min_exponent;
  const int largest = LargestExponent(m.a) + LargestExponent(m.b);
  switch (random() % 4) {
    case 0:
      return m.d.min_exponent - Between(random, -3, m.d.fraction_bits + 12);
    case 1:
      return LargestExponent(m.d) - Between(random, -2, 3);
    case 2:
      return Between(random, smallest, largest);
    default:
      return Between(random, -10, 10);
  }
}

// Terms whose exponents lie within `width` below one another.
DotProductCase Band(const Model& m, Random& random) {
  const int width = 1 << Between(random, 0, 6);
  const int centre = CentreExponent(m, random);
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    const int exponent = centre - Between(random, 0, width);
    const int spread = Between(random, -8, 8);
    const int half = std::clamp(exponent / 2 + spread, m.a.min_exponent - m.a.fraction_bits,
                                LargestExponent(m.a));
    dot.a.push_back(WordOfExponent(m.a, half, Fraction(m.a, random), random));
    dot.b.push_back(WordOfExponent(m.b, exponent - half, Fraction(m.b, random), random));
  }
  const int exponent = centre + 2 - Between(random, 0, width + 2);
  dot.c = OneIn(random, 4) ? SpecialWord(m.c, random) & (uint64_t{1} << (m.c.bits - 1))
                           : WordOfExponent(m.c, exponent, Fraction(m.c, random), random);
  return dot;
}

// Products in pairs that cancel exactly, some of them disturbed in one bit.
DotProductCase Cancelling(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  for (int k = 0; k + 1 < m.k; k += 2) {
    const int other = Between(random, k + 1, m.k - 1);
    dot.a[other] = dot.a[k];
    dot.b[other] = Negate(m.b, dot.b[k]);
    if (OneIn(random, 3)) dot.b[other] ^= uint64_t{1} << m.b.ignored_bits;
  }
  return dot;
}

// The addend cancels the products as far as the output shows them.
DotProductCase CancellingAddend(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  if (m.c.bits != m.d.bits) return dot;
  dot.c = 0;
  dot.c = Negate(m.d, ReferenceDotProduct(m, dot));
  if (OneIn(random, 3)) dot.c ^= uint64_t{1} << Between(random, 0, 3);
  return dot;
}

// A band with some operands replaced by specials; or nothing but zeros of random signs.
DotProductCase Specials(const Model& m, Random& random) {
  DotProductCase dot = OneIn(random, 2) ? Band(m, random) : RandomWords(m, random);
  const int rarity = 1 << Between(random, 0, 5);
  for (int k = 0; k < m.k; ++k) {
    if (OneIn(random, rarity)) dot.a[k] = SpecialWord(m.a, random);
    if (OneIn(random, rarity)) dot.b[k] = SpecialWord(m.b, random);
  }
  if (OneIn(random, 2)) dot.c = SpecialWord(m.c, random);
  return dot;
}

DotProductCase Zeros(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  const bool minus = OneIn(random, 2);
  for (int k = 0; k < m.k; ++k) {
    const bool keep = OneIn(random, 4 * m.k);
    const bool negative = minus || OneIn(random, 2);
    if (!keep)
      dot.a[k] = negative != (((dot.b[k] >> (m.b.bits - 1)) & 1) != 0) ? Negate(m.a, 0) : 0;
  }
  if (!OneIn(random, 4)) dot.c = minus || OneIn(random, 2) ? Negate(m.c, 0) : 0;
  return dot;
}

void AppendHex(const Format& f, uint64_t word, std::string& text) {
  char digits[20];
  std::snprintf(digits, sizeof(digits), "%0*llx", HexDigits(f),
                static_cast<unsigned long long>(word));
  if (!text.empty()) text += ' ';
  text += digits;
}

}  // namespace

uint64_t RandomWord(const Format& format, Random& random) { return random() & Ones(format.bits); }

DotProductCase RandomWords(const Model& m, Random& random) {
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    dot.a.push_back(RandomWord(m.a, random));
    dot.b.push_back(RandomWord(m.b, random));
  }
  dot.c = RandomWord(m.c, random);
  return dot;
}

DotProductCase RandomDot(const Model& m, Random& random) {
  if (IsInteger(m.a)) return Integers(m, random);
  switch (random() % 8) {
    case 0:
      return RandomWords(m, random);
    case 1:
    case 2:
      return Band(m, random);
    case 3:
      return Cancelling(m, random);
    case 4:
      return Zeros(m, random);
    case 5:
      return Specials(m, random);
    default:
      return CancellingAddend(m, random);
  }
}

std::string FamilyName(Family family) {
  constexpr const char* kNames[] = {"FmaChain", "FusedSum", "IntegerDot"};
  return kNames[static_cast<int>(family)];
}

std::string Line(const Model& m, const DotProductCase& dot) {
  std::string text;
  for (uint64_t word : dot.a) AppendHex(m.a, word, text);
  for (uint64_t word : dot.b) AppendHex(m.b, word, text);
  AppendHex(m.c, dot.c, text);
  return text;
}

std::string Disagreement(const Model& m, const DotProductCase& dot) {
  const uint64_t fast = Simulate(m, dot);
  const uint64_t exact = ReferenceDotProduct(m, dot);
  if (fast == exact) return "";
  std::string words;
  AppendHex(m.d, fast, words);
  AppendHex(m.d, exact, words);
  return Line(m, dot) + ": simulator, reference " + words + ", " + Describe(m.algorithm);
}

}  // namespace mmadiff::reference
