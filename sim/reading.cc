#include "sim/reading.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "sim/fma_chain.h"

namespace mmadiff {
namespace {

enum class Rule : uint8_t {
  kAsIs,
  kFormat,            // as a word of `format`
  kFinite,            // patterns of infinities and NaNs are numbers
  kIeee,              // the largest exponent field has an infinity and NaNs
  kBiasUp,            // the exponent is one smaller
  kBiasDown,          // the exponent is one larger
  kZeroField,         // word 0 of a format without a zero is zero
  kZeroFieldAsNext,   // word 0 of a format without a zero is word 1
  kNanZero,           // zero of the NaN's sign
  kNanLargest,        // the largest number of the NaN's sign
  kNanInfinity,       // infinity of the NaN's sign
  kInfinityNan,       // the NaN with the least payload
  kInfinityLargest,   // the largest number of that sign
  kTopBinadeLargest,  // numbers with the largest exponent are the largest number
  kSubnormalsZero,    // zero of that sign
  kZero,              // +0, whatever the word; only for an addend
  kSignIgnored,       // the sign bit is 0
  kSignMagnitude,     // an integer has a sign bit and a magnitude
  kMasked,            // the low bits of every word are 0
  kCut,               // the low bits of numbers are 0
  kNearest,           // numbers are rounded to the bits above; ties to even
  kNearestAway,       // the same; ties away from zero
};

struct Named {
  const char* name;
  Rule rule;
  const char* text;  // the value that words have
  const Format* format = nullptr;
};
constexpr Named kNamed[] = {
    {"as_is", Rule::kAsIs, ""},
    {"f16", Rule::kFormat, "words of f16", &kF16},
    {"bf16", Rule::kFormat, "words of bf16", &kBf16},
    {"e4m3", Rule::kFormat, "words of e4m3", &kE4m3},
    {"e5m2", Rule::kFormat, "words of e5m2", &kE5m2},
    {"e4m3fnuz", Rule::kFormat, "words of e4m3fnuz", &kE4m3fnuz},
    {"e5m2fnuz", Rule::kFormat, "words of e5m2fnuz", &kE5m2fnuz},
    {"e2m3", Rule::kFormat, "words of e2m3", &kE2m3},
    {"e3m2", Rule::kFormat, "words of e3m2", &kE3m2},
    {"ue8m0", Rule::kFormat, "words of ue8m0", &kUe8m0},
    {"ue4m3", Rule::kFormat, "words of ue4m3", &kUe4m3},
    {"s8", Rule::kFormat, "words of s8", &kS8},
    {"u8", Rule::kFormat, "words of u8", &kU8},
    {"s4", Rule::kFormat, "words of s4", &kS4},
    {"u4", Rule::kFormat, "words of u4", &kU4},
    {"finite", Rule::kFinite, "patterns of infinities and NaNs as numbers"},
    {"ieee", Rule::kIeee, "the largest exponent field as an infinity and NaNs"},
    {"bias_up", Rule::kBiasUp, "numbers half as large"},
    {"bias_down", Rule::kBiasDown, "numbers twice as large"},
    {"00_zero", Rule::kZeroField, "00 as zero"},
    {"00_as_01", Rule::kZeroFieldAsNext, "00 as 01"},
    {"nan_zero", Rule::kNanZero, "NaNs as zeros"},
    {"nan_largest", Rule::kNanLargest, "NaNs as the largest number"},
    {"nan_infinity", Rule::kNanInfinity, "NaNs as infinities"},
    {"infinity_nan", Rule::kInfinityNan, "infinities as NaNs"},
    {"infinity_largest", Rule::kInfinityLargest, "infinities as the largest number"},
    {"top_binade_largest", Rule::kTopBinadeLargest,
     "numbers of the largest exponent as the largest number"},
    {"subnormals_zero", Rule::kSubnormalsZero, "subnormals as zeros"},
    {"zero", Rule::kZero, "zero"},
    {"sign_ignored", Rule::kSignIgnored, "the sign bit as 0"},
    {"sign_magnitude", Rule::kSignMagnitude, "a sign bit and a magnitude"},
};
constexpr int kNamedCount = std::size(kNamed);

// Whether words are taken as those of another format, FormatRead().
bool ChangesFormat(Rule rule) {
  return rule == Rule::kFormat || rule == Rule::kFinite || rule == Rule::kIeee ||
         rule == Rule::kBiasUp || rule == Rule::kBiasDown || rule == Rule::kZeroField;
}

// Rules with a number of low bits, 1 to that of the widest fraction.
struct Numbered {
  const char* name;
  Rule rule;
  const char* text;  // follows "the low N bits "
};
constexpr Numbered kNumbered[] = {
    {"masked_", Rule::kMasked, "as 0"},
    {"cut_", Rule::kCut, "as 0, except in NaNs"},
    {"nearest_", Rule::kNearest, "rounded to nearest, ties to even"},
    {"nearest_away_", Rule::kNearestAway, "rounded to nearest, ties away from zero"}};
constexpr int kMaxBits = kF64.fraction_bits;
constexpr int kMaxIntegerBits = 8;  // of an integer, fewer low bits than these are masked
constexpr int kReadingCount = kNamedCount + kMaxBits * std::size(kNumbered);
static_assert(kReadingCount <= 256);

struct Meaning {
  Rule rule;
  const Format* format;
  int bits;
};

Meaning MeaningOf(Reading reading) {
  const int value = static_cast<int>(reading);
  if (value < kNamedCount) return {kNamed[value].rule, kNamed[value].format, 0};
  const int n = value - kNamedCount;
  return {kNumbered[n / kMaxBits].rule, nullptr, n % kMaxBits + 1};
}

bool HasNan(const Format& f) {
  return f.nonfinite != Nonfinite::kNone && f.nonfinite != Nonfinite::kNanMinusZero;
}

int MagnitudeBits(const Format& f) { return f.exponent_bits + f.fraction_bits + f.ignored_bits; }

uint64_t SignOf(const Format& f, uint64_t word) { return word & ~LowBits(MagnitudeBits(f)); }

// A zero of the word's sign, if the format has both.
uint64_t ZeroOf(const Format& f, uint64_t word) {
  return f.nonfinite == Nonfinite::kNanMinusZero ? 0 : SignOf(f, word);
}

bool IsOtherFormat(const Format& f, const Format& other) {
  return std::string_view(f.name) != other.name && f.bits == other.bits &&
         IsInteger(f) == IsInteger(other) && (IsInteger(f) || f.is_signed == other.is_signed);
}

// `bits` low bits of the word, of which the format does not read the first ignored_bits.
bool AppliesTo(const Format& f, Rule rule, int bits) {
  if (IsInteger(f)) return rule == Rule::kMasked && bits < std::min(f.bits, kMaxIntegerBits);
  const bool nearest = rule == Rule::kNearest || rule == Rule::kNearestAway;
  const bool all_bits = f.nonfinite == Nonfinite::kIeeeAllBits && rule == Rule::kMasked;
  const int least = nearest ? f.ignored_bits : all_bits ? 1 : f.ignored_bits + 1;
  const bool keeps_nan = rule != Rule::kCut || HasNan(f);
  return keeps_nan && bits >= least && bits <= f.ignored_bits + f.fraction_bits;
}

uint64_t Masked(uint64_t word, int bits) { return word & ~LowBits(bits); }

// A number; beyond the largest one it is cut in formats without infinities.
uint64_t RoundedToNearest(const Format& f, uint64_t word, int bits, bool away) {
  const uint64_t sign = SignOf(f, word), magnitude = word ^ sign, half = 1ull << (bits - 1);
  const uint64_t up = away ? half : half - 1 + (magnitude >> bits & 1);
  const uint64_t rounded = Masked(magnitude + up, bits);
  if (rounded == 0) return ZeroOf(f, word);
  const bool fits = HasInfinity(f) || rounded <= MaxFiniteWord(f);
  return sign | (fits ? rounded : Masked(magnitude, bits));
}

uint64_t LargestOf(const Format& f, uint64_t word) { return SignOf(f, word) | MaxFiniteWord(f); }

// For sums, whose arithmetic does not read input_subnormals.
uint64_t FlushedWord(const Format& f, Subnormals rule, uint64_t word) {
  if (rule == Subnormals::kKeep) return word;
  const Unpacked x = Decode(f, word);
  if (x.kind != Kind::kFinite || x.significand >> f.fraction_bits != 0) return word;
  return rule == Subnormals::kFlushPositive ? 0 : ZeroOf(f, word);
}

Subnormals FlushBefore(const Model& m) {
  return FlushesBefore(m.algorithm.family) ? m.algorithm.input_subnormals : Subnormals::kKeep;
}

// At most one member covers an operand (WhyUnreadable).
Reading ReadingOf(const Algorithm& alg, ReadOperand operand) {
  if (alg.family == Family::kConversion) {
    return operand == ReadOperand::kA ? alg.a_reading : Reading::kAsIs;
  }
  for (const ReadingMember& m : kReadingMembers) {
    if ((m.operands & Bit(operand)) && alg.*m.member != Reading::kAsIs) return alg.*m.member;
  }
  return Reading::kAsIs;
}

Format FormatRead(const Model& m, ReadOperand operand) {
  return FormatRead(ReadingOf(m.algorithm, operand), FormatOf(m, operand));
}

// Rows of k elements of an operand and their scales.
void ReadRows(const Model& m, ReadOperand operand, ReadOperand scales, std::span<uint64_t> words) {
  const Format &f = FormatOf(m, operand), read = FormatRead(m, operand);
  const Reading reading = ReadingOf(m.algorithm, operand),
                of_scales = ReadingOf(m.algorithm, scales);
  const Subnormals flush = FlushBefore(m);
  if (reading == Reading::kAsIs && flush == Subnormals::kKeep && m.scales() == 0) return;
  const size_t k = m.k, row = k + m.scales();
  for (size_t i = 0; i < words.size(); ++i) {
    const bool scale = i % row >= k;
    if (scale && of_scales != Reading::kAsIs) words[i] = WordRead(of_scales, m.scale, words[i]);
    if (!scale) words[i] = FlushedWord(read, flush, WordRead(reading, f, words[i]));
  }
}

}  // namespace

std::span<const char* const> ReadingNames() {
  static const std::vector<const char*>& names = *[] {
    auto* all = new std::vector<const char*>;
    for (const Named& n : kNamed) all->push_back(n.name);
    for (const Numbered& n : kNumbered) {
      for (int bits = 1; bits <= kMaxBits; ++bits) {
        all->push_back((new std::string(n.name + std::to_string(bits)))->c_str());
      }
    }
    return all;
  }();
  return names;
}

std::string_view Name(Reading reading) { return ReadingNames()[static_cast<size_t>(reading)]; }

std::string TextOf(Reading reading) {
  const int value = static_cast<int>(reading);
  if (value < kNamedCount) return kNamed[value].text;
  const int bits = MeaningOf(reading).bits;
  return (bits == 1 ? std::string("the low bit ") : "the low " + std::to_string(bits) + " bits ") +
         kNumbered[(value - kNamedCount) / kMaxBits].text;
}

bool FlushesSubnormals(Reading reading) { return MeaningOf(reading).rule == Rule::kSubnormalsZero; }

int BitsCut(Reading reading) {
  const Meaning meaning = MeaningOf(reading);
  return meaning.rule == Rule::kCut ? meaning.bits : 0;
}

const char* Name(ReadOperand operand) {
  constexpr const char* kNames[] = {"a", "b", "c", "the scales of a", "the scales of b"};
  return kNames[static_cast<int>(operand)];
}

const Format& FormatOf(const Model& m, ReadOperand operand) {
  switch (operand) {
    case ReadOperand::kA:
      return m.a;
    case ReadOperand::kB:
      return m.b;
    case ReadOperand::kAddend:
      return m.c;
    default:
      return m.scale;
  }
}

bool Applies(Reading reading, const Format& f) {
  if (IsAbsent(f)) return false;
  const auto [rule, format, bits] = MeaningOf(reading);
  const bool number = !IsInteger(f), fraction = f.fraction_bits > 0;
  switch (rule) {
    case Rule::kAsIs:
      return false;
    case Rule::kFormat:
      return IsOtherFormat(f, *format);
    case Rule::kBiasUp:  // sums do not take products of wider formats
    case Rule::kBiasDown:
      return number && f.exponent_bits <= kF16.exponent_bits;
    case Rule::kFinite:
      return f.nonfinite != Nonfinite::kNone && f.exponent_bits <= kF16.exponent_bits;
    case Rule::kIeee:
      return f.nonfinite == Nonfinite::kNanAllOnes;
    case Rule::kZeroField:
    case Rule::kZeroFieldAsNext:
      return !f.has_zero;
    case Rule::kNanZero:
      return number && f.nonfinite != Nonfinite::kNone && f.has_zero;
    case Rule::kNanLargest:
      return number && f.nonfinite != Nonfinite::kNone;
    case Rule::kNanInfinity:
    case Rule::kInfinityNan:
      return HasInfinity(f) && fraction;
    case Rule::kInfinityLargest:
      return HasInfinity(f);
    case Rule::kTopBinadeLargest:
      return number && fraction;
    case Rule::kSubnormalsZero:
      return number && fraction && f.has_zero;
    case Rule::kZero:
      return f.has_zero;
    case Rule::kSignIgnored:
      return number && f.is_signed;
    case Rule::kSignMagnitude:
      return !number && f.is_signed;
    default:
      return AppliesTo(f, rule, bits);
  }
}

std::vector<Reading> ReadingsOf(const Format& f, bool near) {
  std::vector<Reading> readings;
  Rule numbered = Rule::kAsIs;
  for (int value = 1; value < kReadingCount; ++value) {
    const Reading reading = static_cast<Reading>(value);
    const Meaning meaning = MeaningOf(reading);
    if (!Applies(reading, f) || (near && meaning.bits > 0 && meaning.rule == numbered)) continue;
    if (meaning.bits > 0) numbered = meaning.rule;
    readings.push_back(reading);
  }
  return readings;
}

Format FormatRead(Reading reading, const Format& f) {
  const Meaning meaning = MeaningOf(reading);
  if (meaning.rule == Rule::kFormat) return *meaning.format;
  Format read = f;
  if (meaning.rule == Rule::kFinite) read.nonfinite = Nonfinite::kNone;
  if (meaning.rule == Rule::kIeee) read.nonfinite = Nonfinite::kIeee;
  if (meaning.rule == Rule::kZeroField) read.has_zero = true;
  if (meaning.rule == Rule::kBiasUp) --read.min_exponent;
  if (meaning.rule == Rule::kBiasDown) ++read.min_exponent;
  return read;
}

uint64_t WordRead(Reading reading, const Format& f, uint64_t word) {
  const auto [rule, format, bits] = MeaningOf(reading);
  if (ChangesFormat(rule)) return word;
  switch (rule) {
    case Rule::kAsIs:
      return word;
    case Rule::kZeroFieldAsNext:
      return word == 0 ? 1 : word;
    case Rule::kSubnormalsZero:
      return FlushedWord(f, Subnormals::kFlush, word);
    case Rule::kZero:
      return 0;
    case Rule::kSignIgnored:
      return word ^ SignOf(f, word);
    case Rule::kSignMagnitude: {
      const uint64_t sign = 1ull << SignBit(f);
      return word & sign ? (sign - (word ^ sign) + sign) & LowBits(f.bits) : word;
    }
    case Rule::kMasked:
      return Masked(word, bits);
    default:
      break;
  }
  const Unpacked x = Decode(f, word);
  switch (x.kind) {
    case Kind::kNan:
      if (rule == Rule::kNanZero) return ZeroOf(f, word);
      if (rule == Rule::kNanLargest) return LargestOf(f, word);
      return rule == Rule::kNanInfinity ? InfinityWord(f, x.negative) : word;
    case Kind::kInfinite:
      if (rule == Rule::kInfinityLargest) return LargestOf(f, word);
      return rule == Rule::kInfinityNan ? word | 1ull << f.ignored_bits : word;
    case Kind::kFinite:
      break;
  }
  if (rule == Rule::kCut) return Masked(word, bits);
  if (rule == Rule::kNearest) return RoundedToNearest(f, word, bits, false);
  if (rule == Rule::kNearestAway) return RoundedToNearest(f, word, bits, true);
  if (rule == Rule::kTopBinadeLargest && x.exponent == MaxExponent(f)) return LargestOf(f, word);
  return word;
}

std::string WhyUnreadable(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const ReadingMember* covering[std::size(kReadOperands)] = {};
  for (const ReadingMember& of : kReadingMembers) {
    const Reading reading = alg.*of.member;
    if (reading == Reading::kAsIs) continue;
    for (const ReadOperand operand : kReadOperands) {
      if (!(of.operands & Bit(operand))) continue;
      const Format& f = FormatOf(m, operand);
      if (!Applies(reading, f)) {
        return std::string(of.name) + "=" + std::string(Name(reading)) +
               " says nothing about words of " + f.name;
      }
      if (MeaningOf(reading).rule == Rule::kZero && operand != ReadOperand::kAddend) {
        return "only an addend can be read as zero";
      }
      const ReadingMember*& other = covering[static_cast<int>(operand)];
      if (other != nullptr) {
        return std::string(other->name) + " covers what " + of.name + " does: write one of them";
      }
      other = &of;
    }
  }
  for (const Reading one : {alg.a_scale_reading, alg.b_scale_reading}) {
    if (ChangesFormat(MeaningOf(one).rule)) {
      return "the scales of a and b have one format: write scale_reading=" + std::string(Name(one));
    }
  }
  const bool flushes_all =
      FlushesSubnormals(alg.family == Family::kConversion ? alg.a_reading : alg.operand_reading);
  if (flushes_all) return "write input_subnormals=flush";
  if (FlushesSubnormals(alg.addend_reading) && !FlushesBefore(m.algorithm.family))
    return "write addend_subnormals=flush";
  return MeaningOf(alg.addend_reading).format != nullptr ? "the addend is read in its own format"
                                                         : "";
}

void CopyReadings(const Algorithm& from, Algorithm& to) {
  for (const ReadingMember& m : kReadingMembers) to.*m.member = from.*m.member;
}

bool SameReadings(const Model& x, const Model& y) {
  return FlushBefore(x) == FlushBefore(y) &&
         std::ranges::all_of(kReadingMembers, [&](const ReadingMember& m) {
           return x.algorithm.*m.member == y.algorithm.*m.member;
         });
}

Model WithoutReadings(const Model& m) {
  Model plain = m;
  Algorithm& alg = plain.algorithm;
  plain.a = FormatRead(m, ReadOperand::kA);
  plain.b = FormatRead(m, ReadOperand::kB);
  plain.c = FormatRead(m, ReadOperand::kAddend);
  plain.scale =
      FormatRead(alg.scale_reading, m.scale);  // of one side's scales no reading changes it
  CopyReadings({.family = alg.family}, alg);
  if (FlushesBefore(m.algorithm.family)) alg.input_subnormals = Subnormals::kKeep;
  return plain;
}

DotProductCase WordsRead(const Model& m, const DotProductCase& dot) {
  DotProductCase read = dot;
  ReadRows(m, ReadOperand::kA, ReadOperand::kScaleOfA, read.a);
  ReadRows(m, ReadOperand::kB, ReadOperand::kScaleOfB, read.b);
  read.c = WordRead(ReadingOf(m.algorithm, ReadOperand::kAddend), m.c, dot.c);
  return read;
}

Batch WordsRead(const Model& m, const Batch& batch) {
  Batch read = batch;
  ReadRows(m, ReadOperand::kA, ReadOperand::kScaleOfA, read.a);
  ReadRows(m, ReadOperand::kB, ReadOperand::kScaleOfB, read.b);
  const Reading of_c = ReadingOf(m.algorithm, ReadOperand::kAddend);
  for (uint64_t& word : read.c) word = WordRead(of_c, m.c, word);
  return read;
}

}  // namespace mmadiff
