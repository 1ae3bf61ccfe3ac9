#include "triage/probe/decoding_words.h"

#include <algorithm>
#include <bit>
#include <random>
#include <tuple>

#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

std::vector<ReadOperand> OperandsOf(const Operation& op) {
  std::vector<ReadOperand> operands = {ReadOperand::kA};
  if (!IsAbsent(op.model.b)) operands.push_back(ReadOperand::kB);
  if (!IsAbsent(op.model.c)) operands.push_back(ReadOperand::kAddend);
  if (op.model.scale_block > 0) {
    operands.push_back(ReadOperand::kScaleOfA);
    operands.push_back(ReadOperand::kScaleOfB);
  }
  return operands;
}

// Patterns in `bits` bits around each bit: alone, with the one above it, all bits below it, and as a
// little more than half of the one above it.
std::vector<uint64_t> BitPatterns(int bits) {
  std::vector<uint64_t> patterns = {0, LowBits(bits)};
  for (int i = 0; i < bits; ++i) {
    const uint64_t bit = 1ull << i;
    for (const uint64_t p : {bit, bit | bit << 1, bit - 1, bit | 1, bit | bit << 1 | 1}) {
      patterns.push_back(p & LowBits(bits));
    }
  }
  return patterns;
}

std::vector<uint64_t> WordsOf(const Format& f) {
  std::vector<uint64_t> words;
  if (f.bits <= 8) {
    for (uint64_t word = 0; word >> f.bits == 0; ++word) words.push_back(word);
    return words;
  }
  const int low = f.fraction_bits + f.ignored_bits;
  std::vector<uint64_t> fields = {0};
  const auto top = static_cast<uint64_t>(MaxExponentField(f)), middle = top / 2;
  for (uint64_t e = 1; !IsInteger(f) && e <= top; ++e) {
    const bool near = e <= 3 || e + 3 >= top || (e + 12 >= middle && e <= middle + 12);
    if (near || f.exponent_bits <= 5 || e % 32 == 0) fields.push_back(e);
  }
  const uint64_t sign = 1ull << SignBit(f);
  for (const uint64_t field : fields) {
    for (const uint64_t pattern : BitPatterns(IsInteger(f) ? f.bits - 1 : low)) {
      words.push_back(field << low | pattern);
      words.push_back(sign | field << low | pattern);
    }
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// A slow device gets those of one binade, which show every bit, zeros, infinities and some NaNs, then a
// random part of the others.
std::vector<uint64_t> SomeOf(const Format& f, std::vector<uint64_t> words) {
  const auto must = [&](uint64_t word) {
    if (IsInteger(f)) return false;
    const Unpacked x = Decode(f, word);
    const uint64_t fraction = word & LowBits(f.fraction_bits + f.ignored_bits);
    if (x.kind == Kind::kNan)
      return std::has_single_bit(fraction) || std::has_single_bit(fraction + 1);
    const bool zero = x.significand == 0, positive = (word >> SignBit(f) & 1) == 0;
    return x.kind == Kind::kInfinite || zero || (x.exponent == 0 && positive);
  };
  const auto rest = std::stable_partition(words.begin(), words.end(), must);
  std::mt19937_64 random(1);
  std::shuffle(rest, words.end(), random);
  words.resize(std::min(words.size(), kSlowWords));
  std::ranges::sort(words);
  return words;
}

constexpr size_t kSlowKs = 100;  // for more k, a slow device gets no words of special classes

// Whether a neighboring word has a different class. Classes: zeros, subnormals, the largest binade,
// infinities, NaNs, signs.
bool BeginsOrEndsAClass(const Format& f, uint64_t word) {
  const auto class_of = [&](uint64_t w) {
    w &= LowBits(f.bits);
    const bool negative = (w >> SignBit(f) & 1) != 0;
    if (IsInteger(f)) return std::tuple(Kind::kFinite, negative, w == 0, false, false);
    const Unpacked x = Decode(f, w);
    return std::tuple(x.kind, negative, x.significand == 0, x.significand >> f.fraction_bits != 0,
                      x.exponent == MaxExponent(f));
  };
  const uint64_t next = 1ull << f.ignored_bits;
  return class_of(word) != class_of(word + next) || class_of(word) != class_of(word - next);
}

// One, those where classes begin and end, and each bit set in one, clear in another.
std::vector<uint64_t> WordsForEachK(const Format& f, const std::vector<uint64_t>& words) {
  const uint64_t sign = f.is_signed ? 1ull << SignBit(f) : 0;
  const uint64_t largest = IsInteger(f) ? LowBits(f.bits) & ~sign : MaxFiniteWord(f);
  std::vector<uint64_t> each = {IntegerWord(f, 1)};
  for (const uint64_t word : {uint64_t{1} << f.ignored_bits, largest}) {
    each.insert(each.end(), {word, sign | word});
  }
  for (const uint64_t word : words) {
    if (BeginsOrEndsAClass(f, word)) each.push_back(word);
  }
  std::ranges::sort(each);
  each.erase(std::unique(each.begin(), each.end()), each.end());
  return each;
}

// Whether an element of a sparse a is stored if all are in their groups as the first ones can be.
bool CanBeRead(const Model& m, int k) {
  return !IsSparse(m) || IsStored(m.sparse_group, 0x4, k % m.sparse_group);
}

// The word in place of one element of the operand, for k among zeros, or of all scales. The partner has a
// one for every k, so that the answer does not depend on which k meet; or a power of two if the
// product would be near the least or the largest result.
DotProductCase DotOf(const Operation& op, ReadOperand operand, int k, uint64_t word) {
  const Model& m = op.model;
  DotProductCase dot = NeutralDotProduct(m);
  if (operand == ReadOperand::kAddend) {
    dot.c = word;
    return dot;
  }
  const Format& f = FormatOf(op.model, operand);
  const bool of_b = operand == ReadOperand::kB;
  int power = 0;
  if (!IsInteger(f) && !IsAbsent(m.b)) {
    const Value value = DecodeValue(f, word);
    const int up = m.d.min_exponent + 2 - value.exponent,
              down = value.exponent - MaxExponent(m.d) + 2;
    if (value.kind == Value::Class::kFinite) power = std::max(0, up) - std::max(0, down);
  }
  const Format& partner = of_b ? m.a : m.b;
  uint64_t one = IntegerWord(partner, 1);
  if (power != 0) {
    power = std::clamp(power, LowestExponent(partner), HighestExponent(partner));
    EncodePowerOfTwo(partner, false, power, &one);
  }
  std::vector<uint64_t>& own = of_b ? dot.b : dot.a;
  std::vector<uint64_t>& other = of_b ? dot.a : dot.b;
  own[k] = IntegerWord(of_b ? m.b : m.a, 1);
  for (int i = 0; i < m.k && !IsAbsent(m.b); ++i) {
    if (!of_b || CanBeRead(m, i)) other[i] = one;
  }
  Replace(m, operand, k, word, dot);
  return dot;
}

// The first k of each block of scales. b of the pruned elements of a sparse a is not read.
std::vector<int> OtherKs(const Operation& op, ReadOperand operand) {
  std::vector<int> ks;
  if (operand == ReadOperand::kAddend) return ks;
  const bool scales = operand == ReadOperand::kScaleOfA || operand == ReadOperand::kScaleOfB;
  for (int k = 1; k < op.model.k; ++k) {
    const bool read = scales ? k % op.model.scale_block == 0 : CanBeRead(op.model, k);
    if (read) ks.push_back(k);
  }
  return ks;
}

}  // namespace

void Replace(const Model& m, ReadOperand operand, int k, uint64_t word, DotProductCase& dot) {
  const bool of_a = operand == ReadOperand::kA || operand == ReadOperand::kScaleOfA;
  std::vector<uint64_t>& row = of_a ? dot.a : dot.b;
  if (operand == ReadOperand::kAddend) {
    dot.c = word;
  } else if (operand == ReadOperand::kA || operand == ReadOperand::kB) {
    row[k] = word;
  } else if (k == 0) {
    std::fill(row.begin() + m.k, row.end(), word);
  } else {
    row[m.k + k / m.scale_block] = word;
  }
}

std::vector<DecodingWords> WordsToAsk(const Operation& op, bool slow) {
  std::vector<DecodingWords> all;
  for (const ReadOperand operand : OperandsOf(op)) {
    const Format& f = FormatOf(op.model, operand);
    std::vector<uint64_t> words = WordsOf(f);
    const size_t of = words.size();
    if (slow) words = SomeOf(f, std::move(words));
    std::vector<int> ks = OtherKs(op, operand);
    const bool few = slow && ks.size() > kSlowKs;
    std::vector<uint64_t> each = WordsForEachK(f, few ? std::vector<uint64_t>() : words);
    all.push_back({operand, std::move(words), std::move(each), std::move(ks), of});
  }
  return all;
}

std::vector<DotProductCase> DecodingCases(const Operation& op,
                                          const std::vector<DecodingWords>& all) {
  std::vector<DotProductCase> dots;
  for (const DecodingWords& words : all) {
    for (size_t i = 0; i < words.count(); ++i) {
      const auto [k, word] = words.At(i);
      dots.push_back(DotOf(op, words.operand, k, word));
    }
  }
  return dots;
}

std::vector<DotProductCase> ProductsOfWords(const Operation& op,
                                            const std::vector<DecodingWords>& all, size_t count) {
  const Model& m = op.model;
  std::mt19937_64 random(1);
  std::vector<DotProductCase> dots;
  for (size_t i = 0; i < count; ++i) {
    DotProductCase& dot = dots.emplace_back(NeutralDotProduct(m));
    const bool add = i % 2 == 1 && !IsAbsent(m.c) && !IsInteger(m.c);
    if (add) dot.c = IntegerWord(m.c, 1);
    for (const DecodingWords& of : all) {
      const Format& f = FormatOf(m, of.operand);
      const bool element = of.operand == ReadOperand::kA || of.operand == ReadOperand::kB;
      const uint64_t word = of.words[random() % of.words.size()];
      if (of.operand == ReadOperand::kAddend) continue;
      if (!element && random() % 2 == 0) continue;
      const bool sums = add && element && Decode(f, word).kind == Kind::kFinite;
      Replace(m, of.operand, 0, sums ? IntegerWord(f, 1) : word, dot);
    }
  }
  return dots;
}

std::vector<DotProductCase> ShuffledDecodingCases(const Operation& op) {
  std::vector<DotProductCase> dots, others;
  for (const DecodingWords& words : WordsToAsk(op, false)) {
    const Format& f = FormatOf(op.model, words.operand);
    for (size_t i = 0; i < words.count(); ++i) {
      const auto [k, word] = words.At(i);
      (k == 0 && BeginsOrEndsAClass(f, word) ? dots : others)
          .push_back(DotOf(op, words.operand, k, word));
    }
  }
  std::mt19937_64 random(1);
  std::shuffle(others.begin(), others.end(), random);
  dots.insert(dots.end(), others.begin(), others.end());
  return dots;
}

}  // namespace mmadiff
