#include "sim/reference/reading.h"

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "sim/instruction.h"
#include "sim/reading.h"
#include "sim/reference/number.h"

namespace mmadiff::reference {
namespace {

// The names are the only thing that is shared with the simulator.
std::string NameOf(Reading reading) { return ReadingNames()[static_cast<size_t>(reading)]; }

uint64_t Sign(const Format& f, bool negative) { return negative ? uint64_t{1} << (f.bits - 1) : 0; }
// The bits above the magnitude.
uint64_t SignOf(const Format& f, uint64_t word) {
  const int magnitude = f.exponent_bits + f.fraction_bits + f.ignored_bits;
  return word >> magnitude << magnitude;
}

uint64_t Zero(const Format& f, uint64_t sign) {
  return Read(f, sign).kind == Class::kNan ? 0 : sign;
}

// The words of non-negative numbers ascend with their values, so the largest is found by bisection.
uint64_t Largest(const Format& f) {
  uint64_t number = 0, beyond = uint64_t{1} << (f.exponent_bits + f.fraction_bits);
  while (beyond - number > 1) {
    const uint64_t middle = number + (beyond - number) / 2;
    const Class kind = Read(f, middle << f.ignored_bits).kind;
    (kind == Class::kInfinity || kind == Class::kNan ? beyond : number) = middle;
  }
  return number << f.ignored_bits;
}

uint64_t Infinity(const Format& f) { return Largest(f) + (uint64_t{1} << f.ignored_bits); }

// The multiple of 2^bits nearest to the word's magnitude; between two, the larger or that with an even
// quotient.
uint64_t Nearest(uint64_t magnitude, int bits, bool away) {
  const uint64_t unit = uint64_t{1} << bits, below = magnitude / unit, rest = magnitude % unit;
  const bool up = 2 * rest > unit || (2 * rest == unit && (away || below % 2 == 1));
  return (below + up) * unit;
}

uint64_t OfNumber(const Format& f, const std::string& name, const Number& x, uint64_t word) {
  const bool small = x.kind == Class::kZero || x.kind == Class::kSubnormal;
  const uint64_t sign = SignOf(f, word);
  if (name == "subnormals_zero") return small ? Zero(f, sign) : word;
  if (name == "top_binade_largest") {
    return x.exponent == Read(f, Largest(f)).exponent ? sign | Largest(f) : word;
  }
  if (name.starts_with("cut_")) {
    const int bits = std::stoi(name.substr(4));
    return word >> bits << bits;
  }
  if (!name.starts_with("nearest_")) return word;
  const bool away = name.starts_with("nearest_away_");
  const int bits = std::stoi(name.substr(away ? 13 : 8));
  const uint64_t rounded = Nearest(word - sign, bits, away);
  if (rounded == 0) return Zero(f, sign);
  const bool infinite = f.nonfinite == Nonfinite::kIeee || f.nonfinite == Nonfinite::kIeeeAllBits;
  return sign + (rounded > Largest(f) && !infinite ? (word - sign) >> bits << bits : rounded);
}

uint64_t ReadWord(const Format& f, const std::string& name, uint64_t word) {
  const uint64_t low = (uint64_t{1} << (f.bits - 1)) - 1;
  if (name.starts_with("masked_")) {
    const int bits = std::stoi(name.substr(7));
    return word >> bits << bits;
  }
  if (name == "zero") return 0;
  if (name == "sign_ignored") return word & low;
  if (name == "sign_magnitude")
    return word > low ? (low - (word & low) + 1 + low + 1) % (2 * low + 2) : word;
  if (name == "00_as_01") return word == 0 ? 1 : word;
  if (f.exponent_bits == 0) return word;
  const Number x = Read(f, word);
  const uint64_t sign = SignOf(f, word);
  if (x.kind == Class::kNan) {
    if (name == "nan_zero") return Zero(f, sign);
    if (name == "nan_largest") return sign | Largest(f);
    return name == "nan_infinity" ? sign | Infinity(f) : word;
  }
  if (x.kind == Class::kInfinity) {
    if (name == "infinity_largest") return sign | Largest(f);
    return name == "infinity_nan" ? word + (uint64_t{1} << f.ignored_bits) : word;
  }
  return OfNumber(f, name, x, word);
}

Format ReadFormat(const Format& f, const std::string& name) {
  if (const Format* other = FindFormat(name)) return *other;
  Format read = f;
  if (name == "finite") read.nonfinite = Nonfinite::kNone;
  if (name == "ieee") read.nonfinite = Nonfinite::kIeee;
  if (name == "bias_up") read.min_exponent = f.min_exponent - 1;
  if (name == "bias_down") read.min_exponent = f.min_exponent + 1;
  if (name == "00_zero") read.has_zero = true;
  return read;
}

uint64_t Flush(const Format& f, Subnormals rule, uint64_t word) {
  const Number x = Read(f, word);
  if (x.kind != Class::kZero && x.kind != Class::kSubnormal) return word;
  const Number flushed = Flushed(rule, x);
  return flushed.kind == Class::kZero ? Zero(f, Sign(f, flushed.negative)) : word;
}

}  // namespace

void Read(Model& model, DotProductCase& dot) {
  Algorithm& alg = model.algorithm;
  const auto one = [&](Reading own) {
    const bool both = own == Reading::kAsIs && alg.family != Family::kConversion;
    return NameOf(both ? alg.operand_reading : own);
  };
  const bool sums = alg.family != Family::kFmaChain && alg.family != Family::kPairwiseSum &&
                    alg.family != Family::kIntegerDot && alg.family != Family::kConversion;
  const std::string scale = NameOf(alg.scale_reading);
  const auto rows = [&](std::vector<uint64_t>& words, Format& f, const std::string& name,
                        Reading own_scale) {
    const Format read = ReadFormat(f, name);
    for (int i = 0; i < static_cast<int>(words.size()); ++i) {
      if (i >= model.k) {
        words[i] = ReadWord(model.scale, scale, words[i]);
        words[i] = ReadWord(model.scale, NameOf(own_scale), words[i]);
        continue;
      }
      words[i] = ReadWord(f, name, words[i]);
      if (sums && !IsInteger(read)) words[i] = Flush(read, alg.input_subnormals, words[i]);
    }
    f = read;
  };
  rows(dot.a, model.a, one(alg.a_reading), alg.a_scale_reading);
  if (alg.family != Family::kConversion) {
    rows(dot.b, model.b, one(alg.b_reading), alg.b_scale_reading);
    const std::string addend = NameOf(alg.addend_reading);
    dot.c = ReadWord(model.c, addend, dot.c);
    model.c = ReadFormat(model.c, addend);
    model.scale = ReadFormat(model.scale, scale);
  }
  alg.operand_reading = alg.a_reading = alg.b_reading = Reading::kAsIs;
  alg.addend_reading = alg.scale_reading = Reading::kAsIs;
  alg.a_scale_reading = alg.b_scale_reading = Reading::kAsIs;
  if (sums) alg.input_subnormals = Subnormals::kKeep;
}

}  // namespace mmadiff::reference
