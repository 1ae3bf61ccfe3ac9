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

// The operand of a conversion: near the ends of both formats, at ties, special, or any word.
DotProductCase Operand(const Model& m, Random& random) {
  DotProductCase dot = {{RandomWord(m.a, random)}, {0}, 0};
  const int ends[] = {m.d.min_exponent - Between(random, -1, m.d.fraction_bits + 2),
                      MaxExponent(m.d) + Between(random, -1, 1),
                      Between(random, m.a.min_exponent - m.a.fraction_bits, MaxExponent(m.a))};
  const int exponent = ends[random() % std::size(ends)];
  uint64_t fraction = RandomFraction(m.a, random);
  if (const int lost = m.a.fraction_bits - m.d.fraction_bits; lost > 0 && OneIn(random, 2)) {
    const uint64_t half = uint64_t{1} << (lost - 1);
    fraction = (random() & ~Ones(lost)) | (half + Between(random, -1, 1));
  }
  if (OneIn(random, 4)) dot.a[0] = SpecialWord(m.a, random);
  if (OneIn(random, 2)) dot.a[0] = WordOfExponent(m.a, exponent, fraction, random);
  return dot;
}

// A random exponent for the largest terms: the ends of the result's range and of the products'
// range, and between them. Exponents that no product can have are rare.
int CentreExponent(const Model& m, Random& random) {
  const int scales = m.scale_block > 0 ? 2 : 0;
  const int smallest = m.a.min_exponent + m.b.min_exponent + scales * m.scale.min_exponent;
  const int largest = MaxExponent(m.a) + MaxExponent(m.b) + scales * MaxExponent(m.scale);
  const int ends[] = {m.d.min_exponent - Between(random, -3, m.d.fraction_bits + 12),
                      MaxExponent(m.d) - Between(random, -2, 3), Between(random, -10, 10)};
  const int end = ends[random() % std::size(ends)];
  const bool possible = smallest <= end && end <= largest;
  const bool uniform = possible ? OneIn(random, 4) : !OneIn(random, 8);
  return uniform ? Between(random, smallest, largest) : end;
}

uint64_t Near(const Format& f, int exponent, Random& random) {
  return WordOfExponent(f, exponent, RandomFraction(f, random), random);
}

// Randomly splits a product's exponent into one that format f has, and the rest.
int PartOf(const Format& f, int exponent, Random& random) {
  return std::clamp(exponent / 2 + Between(random, -8, 8), f.min_exponent - f.fraction_bits,
                    MaxExponent(f));
}

// Scales that bring products of about 2^0 to at most `width` below the center.
void AppendScales(const Model& m, int centre, int width, Random& random, DotProductCase& dot) {
  for (int i = 0; i < m.scales(); ++i) {
    const int exponent = centre - Between(random, 0, width);
    const int part = PartOf(m.scale, exponent, random);
    dot.a.push_back(Near(m.scale, part, random));
    dot.b.push_back(Near(m.scale, exponent - part, random));
    if (!OneIn(random, 32)) continue;
    (OneIn(random, 2) ? dot.a : dot.b).back() = SpecialWord(m.scale, random);
  }
}

// Terms whose exponents are at most `width` below the center.
DotProductCase BandAt(const Model& m, int centre, Random& random) {
  const int width = 1 << Between(random, 0, 6);
  const bool scaled = m.scale_block > 0;
  DotProductCase dot;
  for (int k = 0; k < m.k; ++k) {
    const int exponent = scaled ? Between(random, -3, 3) : centre - Between(random, 0, width);
    const int part = PartOf(m.a, exponent, random);
    dot.a.push_back(Near(m.a, part, random));
    dot.b.push_back(Near(m.b, exponent - part, random));
  }
  AppendScales(m, centre, width, random, dot);
  const int exponent = centre + 2 - Between(random, 0, width + 2);
  dot.c = OneIn(random, 4) ? ZeroOfSign(m.c, OneIn(random, 2)) : Near(m.c, exponent, random);
  return dot;
}

DotProductCase Band(const Model& m, Random& random) {
  return BandAt(m, CentreExponent(m, random), random);
}

// Pairs of products, adjacent or not, that cancel exactly; in some of them one bit is changed.
DotProductCase Cancelling(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  const bool neighbours = OneIn(random, 2);
  for (int k = 0; k + 1 < m.k; k += 2) {
    const int other = neighbours ? k + 1 : Between(random, k + 1, m.k - 1);
    dot.a[other] = dot.a[k];
    dot.b[other] = Negate(m.b, dot.b[k]);
    if (OneIn(random, neighbours ? m.k : 3)) dot.b[other] ^= uint64_t{1} << m.b.ignored_bits;
  }
  return dot;
}

// The addend cancels the products to the output's precision.
DotProductCase CancellingAddend(const Model& m, Random& random) {
  DotProductCase dot = Band(m, random);
  if (m.c.bits != m.d.bits) return dot;
  dot.c = 0;
  dot.c = Negate(m.d, ReferenceDotProduct(m, dot));
  if (OneIn(random, 3)) dot.c ^= uint64_t{1} << Between(random, 0, 3);
  return dot;
}

// Sets product k to a power of two, together with the scales of its block if there are any.
void PlaceProduct(const Model& m, int k, int exponent, Random& random, DotProductCase& dot) {
  const bool scaled = m.scale_block > 0;
  const Format &a = scaled ? m.scale : m.a, &b = scaled ? m.scale : m.b;
  if (scaled) {
    dot.a[k] = WordOfExponent(m.a, 0, 0, random);
    dot.b[k] = WordOfExponent(m.b, 0, 0, random);
    k = m.k + k / m.scale_block;
  }
  const int part = PartOf(a, exponent, random);
  dot.a[k] = WordOfExponent(a, part, 0, random);
  dot.b[k] = WordOfExponent(b, exponent - part, 0, random);
}

// With or without an addend: a product at the last place of the result or just below it, and a
// product that is only just cut away or only just kept. These give ties and near-ties.
DotProductCase Straggler(const Model& m, Random& random) {
  const Algorithm& alg = m.algorithm;
  const int top =
      OneIn(random, 3) ? m.d.min_exponent + Between(random, -1, 1) : CentreExponent(m, random);
  const int last = std::max(top, m.d.min_exponent) - alg.output_fraction_bits;
  DotProductCase dot = BandAt(m, top, random);
  if (!OneIn(random, 3)) {
    for (int k = 0; k < m.k; ++k) {
      dot.a[k] = ZeroOfSign(m.a, OneIn(random, 2));
      if (OneIn(random, 4 * m.k)) dot.b[k] = Near(m.b, MaxExponent(m.b), random);
    }
  }
  const uint64_t fractions[] = {0, Ones(m.c.fraction_bits), RandomFraction(m.c, random)};
  dot.c = OneIn(random, 3)
              ? ZeroOfSign(m.c, OneIn(random, 2))
              : WordOfExponent(m.c, top, fractions[random() % std::size(fractions)], random);
  const int k = Between(random, 0, m.k - 1);
  PlaceProduct(m, k, last - Between(random, 0, 2), random, dot);
  std::vector<int> lows = {last, top - alg.fraction_bits};
  if (alg.sum_fraction_bits > 0) lows.push_back(top - alg.sum_fraction_bits);
  if (alg.exponent_floor != kNoFloor) lows.push_back(alg.exponent_floor - alg.fraction_bits);
  const int low = lows[random() % lows.size()] + Between(random, -2, 1);
  if (OneIn(random, 3)) {
    dot.c = Near(m.c, low, random);
  } else if (m.k > 1) {
    PlaceProduct(m, (k + Between(random, 1, m.k - 1)) % m.k, low, random, dot);
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

// All or nearly all products are zeros, with one sign or random signs.
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

namespace {

// Metadata at random, and +0 for the elements of a that they do not store.
void MakeSparse(const Model& m, Random& random, DotProductCase& dot) {
  const int group = m.sparse_group;
  for (int first = 0; first < m.k; first += group) {
    const uint64_t low = random() % 3, high = low + 1 + random() % (3 - low);
    const uint64_t half = random() % 2 * 2;
    const uint64_t metadata = group == 2 ? half + 4 * (half + 1) : low + 4 * high;
    dot.metadata.push_back(metadata);
    for (int p = 0; p < group; ++p) {
      const uint64_t quarter = p * 4 / group;
      if (quarter != metadata % 4 && quarter != metadata / 4) dot.a[first + p] = 0;
    }
  }
}

DotProductCase RandomOperands(const Model& m, Random& random);

}  // namespace

DotProductCase RandomDot(const Model& m, Random& random) {
  DotProductCase dot = RandomOperands(m, random);
  if (m.sparse_group != 0) MakeSparse(m, random, dot);
  return dot;
}

namespace {

DotProductCase RandomOperands(const Model& m, Random& random) {
  if (m.algorithm.family == Family::kConversion) return Operand(m, random);
  if (IsInteger(m.a)) return Integers(m, random);
  switch (random() % 10) {
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
    case 8:
      return Straggler(m, random);
    default:
      return CancellingAddend(m, random);
  }
}

}  // namespace

std::string FamilyName(Family family) {
  constexpr const char* kNames[] = {"FmaChain", "PairwiseSum", "FusedSum",   "ScaledSum",
                                    "ExactSum", "TwoStageSum", "IntegerDot", "Conversion"};
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
