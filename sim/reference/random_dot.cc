#include "sim/reference/random_dot.h"

#include <algorithm>
#include <cstdio>

#include "sim/parameter.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff::reference {
namespace {

DotProductCase Integers(const Model& m, Random& random) {
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    dot.a.push_back(RandomInteger(m.a, random));
    dot.b.push_back(RandomInteger(m.b, random));
  }
  dot.c = RandomInteger(m.c, random);
  // Near the ends of the range, where wrapping and saturation differ.
  if (OneIn(random, 2)) dot.c = (dot.c + random() % 4096 - 2048) & Ones(m.c.bits);
  return dot;
}

// Exponent of the largest terms: the ends of the result's range and of the operands', and between.
int CentreExponent(const Model& m, Random& random) {
  const int scales = m.scale_block > 0 ? 2 : 0;
  const int smallest = m.a.min_exponent + m.b.min_exponent + scales * m.scale.min_exponent;
  const int largest = MaxExponent(m.a) + MaxExponent(m.b) + scales * MaxExponent(m.scale);
  switch (random() % 4) {
    case 0:
      return m.d.min_exponent - Between(random, -3, m.d.fraction_bits + 12);
    case 1:
      return MaxExponent(m.d) - Between(random, -2, 3);
    case 2:
      return Between(random, smallest, largest);
    default:
      return Between(random, -10, 10);
  }
}

// Two words whose product is about 2^exponent, appended to the rows.
void AppendFactors(const Format& a, const Format& b, int exponent, Random& random,
                   DotProductCase& dot) {
  const int half = std::clamp(exponent / 2 + Between(random, -8, 8),
                              a.min_exponent - a.fraction_bits, MaxExponent(a));
  dot.a.push_back(WordOfExponent(a, half, random));
  dot.b.push_back(WordOfExponent(b, exponent - half, random));
}

// Scales that bring products of about 2^0 to within `width` below the centre.
void AppendScales(const Model& m, int centre, int width, Random& random, DotProductCase& dot) {
  for (int i = 0; i < m.scales(); ++i) {
    AppendFactors(m.scale, m.scale, centre - Between(random, 0, width), random, dot);
    if (!OneIn(random, 32)) continue;
    (OneIn(random, 2) ? dot.a : dot.b).back() = SpecialWord(m.scale, random);
  }
}

// Terms whose exponents lie within `width` below the centre.
DotProductCase BandAt(const Model& m, int centre, Random& random) {
  const int width = 1 << Between(random, 0, 6);
  const bool scaled = m.scale_block > 0;
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    const int exponent = scaled ? Between(random, -3, 3) : centre - Between(random, 0, width);
    AppendFactors(m.a, m.b, exponent, random, dot);
  }
  AppendScales(m, centre, width, random, dot);
  const int exponent = centre + 2 - Between(random, 0, width + 2);
  dot.c =
      OneIn(random, 4) ? ZeroOfSign(m.c, OneIn(random, 2)) : WordOfExponent(m.c, exponent, random);
  return dot;
}

DotProductCase Band(const Model& m, Random& random) {
  return BandAt(m, CentreExponent(m, random), random);
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

// Few products that are not zero, and an addend, or a further product, whose leading bit lies
// around the last place that they keep.
DotProductCase Straggler(const Model& m, Random& random) {
  const int centre = CentreExponent(m, random);
  DotProductCase dot = BandAt(m, centre, random);
  for (int k = 0; k < m.k; ++k) {
    if (!OneIn(random, 3)) dot.a[k] = ZeroOfSign(m.a, OneIn(random, 2));
  }
  const int kept[] = {m.algorithm.fraction_bits, m.algorithm.sum_fraction_bits,
                      m.algorithm.output_fraction_bits};
  const int exponent = centre - kept[random() % std::size(kept)] + Between(random, -4, 2);
  if (OneIn(random, 3)) {
    const int k = Between(random, 0, m.k - 1);
    DotProductCase one;
    AppendFactors(m.a, m.b, exponent, random, one);
    dot.a[k] = one.a[0], dot.b[k] = one.b[0];
  } else {
    dot.c = WordOfExponent(m.c, exponent, random);
  }
  return dot;
}

// A band with some operands replaced by specials.
DotProductCase Specials(const Model& m, Random& random) {
  DotProductCase dot = OneIn(random, 2) ? Band(m, random) : RandomWords(m, random);
  const int rarity = 1 << Between(random, 0, 5);
  for (int k = 0; k < m.k + m.scales(); ++k) {
    const bool scale = k >= m.k;
    if (OneIn(random, rarity)) dot.a[k] = SpecialWord(scale ? m.scale : m.a, random);
    if (OneIn(random, rarity)) dot.b[k] = SpecialWord(scale ? m.scale : m.b, random);
  }
  if (OneIn(random, 2)) dot.c = SpecialWord(m.c, random);
  return dot;
}

// All or nearly all products are zeros, of one sign or of random signs.
DotProductCase Zeros(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  const bool minus = OneIn(random, 2);
  for (int k = 0; k < m.k; ++k) {
    const bool keep = OneIn(random, 4 * m.k);
    const bool negative = minus || OneIn(random, 2);
    const bool b_negative = m.b.is_signed && (dot.b[k] >> (m.b.bits - 1) & 1) != 0;
    if (!keep) dot.a[k] = ZeroOfSign(m.a, negative != b_negative);
  }
  if (!OneIn(random, 4)) dot.c = ZeroOfSign(m.c, minus || OneIn(random, 2));
  return dot;
}

void AppendHex(const Format& f, uint64_t word, std::string& text) {
  char digits[20];
  std::snprintf(digits, sizeof(digits), "%0*llx", HexDigits(f),
                static_cast<unsigned long long>(word));
  if (!text.empty()) text += ' ';
  text += digits;
}

void AppendRow(const Model& m, const Format& f, const std::vector<uint64_t>& row,
               std::string& text) {
  for (size_t i = 0; i < row.size(); ++i) {
    AppendHex(i < static_cast<size_t>(m.k) ? f : m.scale, row[i], text);
  }
}

}  // namespace

DotProductCase RandomWords(const Model& m, Random& random) {
  DotProductCase dot;
  for (int k = 0; k < m.k + m.scales(); ++k) {
    dot.a.push_back(RandomWord(k < m.k ? m.a : m.scale, random));
    dot.b.push_back(RandomWord(k < m.k ? m.b : m.scale, random));
  }
  dot.c = RandomWord(m.c, random);
  return dot;
}

DotProductCase RandomDot(const Model& m, Random& random) {
  if (IsInteger(m.a)) return Integers(m, random);
  switch (random() % 9) {
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
    case 6:
    case 7:
      return Straggler(m, random);
    default:
      return CancellingAddend(m, random);
  }
}

std::string FamilyName(Family family) {
  constexpr const char* kNames[] = {"FmaChain", "PairwiseSum", "FusedSum",  "ScaledSum",
                                    "ExactSum", "TwoStageSum", "IntegerDot"};
  static_assert(std::size(kNames) == kFamilyCount);
  return kNames[static_cast<int>(family)];
}

std::vector<Family> AllFamilies() {
  std::vector<Family> families;
  for (int i = 0; i < kFamilyCount; ++i) families.push_back(static_cast<Family>(i));
  return families;
}

std::string Line(const Model& m, const DotProductCase& dot) {
  std::string text;
  AppendRow(m, m.a, dot.a, text);
  AppendRow(m, m.b, dot.b, text);
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
