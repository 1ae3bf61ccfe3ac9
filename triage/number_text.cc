#include "triage/number_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/round.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// 2^exponent; small powers as plain numbers.
std::string PowerText(int exponent) {
  return exponent >= 0 && exponent <= 10 ? absl::StrCat(1 << exponent)
                                         : absl::StrCat("2^", exponent);
}

bool IsPowerOfTwo(unsigned __int128 x) { return x != 0 && (x & (x - 1)) == 0; }

// For an odd magnitude; empty if there is no short exact form.
std::string ShortText(bool negative, unsigned __int128 odd, int exponent) {
  const char* sign = negative ? "-" : "";
  const int bits = BitWidth(odd);
  if (exponent >= -6 && exponent + bits <= 20) {
    const double value = std::ldexp(static_cast<double>(odd), exponent);  // exact: 26 bits
    return absl::StrFormat("%s%.*f", sign, std::max(1, -exponent), value);
  }
  if (odd == 1) return absl::StrCat(sign, PowerText(exponent));
  if (bits <= 5) return absl::StrCat(sign, static_cast<int>(odd), " * ", PowerText(exponent));
  if (IsPowerOfTwo(odd - 1)) {
    return absl::StrCat(sign, PowerText(exponent + bits - 1), negative ? " - " : " + ",
                        PowerText(exponent));
  }
  if (IsPowerOfTwo(odd + 1)) {
    return absl::StrCat(sign, PowerText(exponent + bits), negative ? " + " : " - ",
                        PowerText(exponent));
  }
  if (exponent >= 0 && exponent + bits <= 40) {
    return absl::StrFormat("%s%.1f", sign, std::ldexp(static_cast<double>(odd), exponent));
  }
  return "";
}

}  // namespace

std::string NumberText(bool negative, unsigned __int128 magnitude, int lsb_exponent) {
  if (magnitude == 0) return negative ? "-0" : "+0";
  for (; (magnitude & 1) == 0; magnitude >>= 1) ++lsb_exponent;
  const std::string text = ShortText(negative, magnitude, lsb_exponent);
  if (!text.empty()) return text;
  const int digits = std::min(17, 2 + BitWidth(magnitude) * 30103 / 100000);
  // Every number of the formats fits into a long double, whose exponents reach beyond 2^16000.
  const long double value = std::ldexp(static_cast<long double>(magnitude), lsb_exponent);
  return absl::StrFormat("~%s%.*g", negative ? "-" : "", digits, value);
}

std::string NumberText(const Format& format, uint64_t word) {
  if (IsInteger(format)) return HexFloat(format, word);
  const Unpacked u = Decode(format, word);
  if (u.kind == Kind::kInfinite || u.kind == Kind::kNan) return HexFloat(format, word);
  return NumberText(u.negative, u.significand, u.exponent - format.fraction_bits);
}

std::string WordText(const Format& format, uint64_t word) {
  return absl::StrFormat("0x%0*x = %s", HexDigits(format), word, NumberText(format, word));
}

long double NumberOf(const Format& format, uint64_t word) {
  if (IsInteger(format)) return static_cast<long double>(DecodeInteger(format, word));
  const Unpacked u = Decode(format, word);
  if (u.kind != Kind::kFinite) return NAN;
  const long double x =
      std::ldexp(static_cast<long double>(u.significand), u.exponent - format.fraction_bits);
  return u.negative ? -x : x;
}

}  // namespace mmadiff
