#include "triage/parse_number.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/line_protocol.h"
#include "sim/round.h"
#include "sim/word.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

using Wide = unsigned __int128;

// (-1)^negative * magnitude * 2^lsb; the magnitude is odd or zero.
struct Exact {
  bool negative = false;
  Wide magnitude = 0;
  int lsb = 0;
};

constexpr int kMaxExponent = 20000;  // limit for exponents; all formats end far below

Exact Odd(Exact x) {
  if (x.magnitude == 0) x.lsb = 0;
  for (; x.magnitude != 0 && (x.magnitude & 1) == 0; x.magnitude >>= 1) ++x.lsb;
  return x;
}

// Whether x is below 2^124, so that one more digit fits.
bool HasRoom(Wide x) { return BitWidth(x) < 124; }

// A number without its point, and the number of digits after the point.
struct Digits {
  Wide number = 0;
  int behind_point = 0;
};

// Removes the leading digits, and at most one point, from `text`.
std::optional<Digits> TakeDigits(bool hexadecimal, absl::string_view& text) {
  const auto is_digit = hexadecimal ? absl::ascii_isxdigit : absl::ascii_isdigit;
  Digits taken;
  bool digits = false, point = false;
  for (; !text.empty() && (is_digit(text[0]) || text[0] == '.'); text.remove_prefix(1)) {
    if (text[0] == '.') {
      if (std::exchange(point, true)) return std::nullopt;
      continue;
    }
    if (!HasRoom(taken.number)) return std::nullopt;
    const char c = absl::ascii_tolower(text[0]);
    taken.number = taken.number * (hexadecimal ? 16 : 10) + (c <= '9' ? c - '0' : c - 'a' + 10);
    taken.behind_point += point;
    digits = true;
  }
  return digits ? std::optional(taken) : std::nullopt;
}

std::optional<int> Exponent(absl::string_view text) {
  int exponent = 0;
  if (!absl::SimpleAtoi(text, &exponent) || exponent < -kMaxExponent || exponent > kMaxExponent) {
    return std::nullopt;
  }
  return exponent;
}

// "12.5e-3": digits and a decimal exponent, as an odd number times a power of two.
std::optional<Exact> Decimal(absl::string_view text) {
  const std::optional<Digits> digits = TakeDigits(false, text);
  if (!digits) return std::nullopt;
  std::optional<int> exponent = 0;
  if (!text.empty()) {
    exponent = text[0] == 'e' || text[0] == 'E' ? Exponent(text.substr(1)) : std::nullopt;
  }
  if (!exponent) return std::nullopt;
  int tens = *exponent - digits->behind_point;
  Exact x = {false, digits->number, tens};
  if (x.magnitude == 0) return Odd(x);
  for (; tens > 0; --tens) {
    if (!HasRoom(x.magnitude)) return std::nullopt;
    x.magnitude *= 5;
  }
  for (; tens < 0; ++tens) {
    if (x.magnitude % 5 != 0) return std::nullopt;  // not a finite binary fraction
    x.magnitude /= 5;
  }
  return Odd(x);
}

// "0x1.8p-3".
std::optional<Exact> HexadecimalFloat(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "0x") && !absl::ConsumePrefix(&text, "0X")) return std::nullopt;
  const std::optional<Digits> digits = TakeDigits(true, text);
  if (!digits || text.empty() || (text[0] != 'p' && text[0] != 'P')) return std::nullopt;
  const std::optional<int> exponent = Exponent(text.substr(1));
  if (!exponent) return std::nullopt;
  return Odd({false, digits->number, *exponent - 4 * digits->behind_point});
}

// "2^-24".
std::optional<Exact> Power(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "2^")) return std::nullopt;
  const std::optional<int> exponent = Exponent(text);
  return exponent ? std::optional(Exact{false, 1, *exponent}) : std::nullopt;
}

// Any of the forms above, or "5 * 2^-30"; with an optional sign.
std::optional<Exact> Term(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!negative) absl::ConsumePrefix(&text, "+");
  std::optional<Exact> x;
  if (const size_t times = text.find('*'); times != absl::string_view::npos) {
    x = Decimal(absl::StripAsciiWhitespace(text.substr(0, times)));
    const std::optional<Exact> power = Power(absl::StripAsciiWhitespace(text.substr(times + 1)));
    if (!x || !power) return std::nullopt;
    x->lsb += x->magnitude == 0 ? 0 : power->lsb;
  } else {
    x = Power(text);
    if (!x) x = HexadecimalFloat(text);
    if (!x) x = Decimal(text);
  }
  if (x) x->negative = negative;
  return x;
}

std::optional<Exact> Sum(const Exact& x, const Exact& y) {
  if (x.magnitude == 0) return y;
  if (y.magnitude == 0) return x;
  const int lsb = std::min(x.lsb, y.lsb);
  if (BitWidth(x.magnitude) + x.lsb - lsb > 126 || BitWidth(y.magnitude) + y.lsb - lsb > 126) {
    return std::nullopt;
  }
  const auto signed_of = [&](const Exact& e) {
    const auto magnitude = static_cast<__int128>(e.magnitude << (e.lsb - lsb));
    return e.negative ? -magnitude : magnitude;
  };
  const __int128 sum = signed_of(x) + signed_of(y);
  return Odd({sum < 0, static_cast<Wide>(sum < 0 ? -sum : sum), lsb});
}

// Terms joined by " + " and " - "; the spaces set them apart from the signs of exponents.
std::optional<Exact> Expression(absl::string_view text) {
  std::optional<Exact> sum;
  size_t begin = 0;
  bool negative = false;
  while (true) {
    const size_t plus = text.find(" + ", begin), minus = text.find(" - ", begin);
    const size_t end = std::min(plus, minus);
    std::optional<Exact> term = Term(text.substr(begin, end - begin));
    if (!term) return std::nullopt;
    term->negative ^= negative;
    sum = sum ? Sum(*sum, *term) : term;
    if (!sum || end == absl::string_view::npos) return sum;
    negative = end == minus;
    begin = end + 3;
  }
}

bool Encode(const Format& f, const Exact& x, uint64_t* word) {
  if (IsInteger(f)) {
    const int bits = BitWidth(x.magnitude) + x.lsb;
    if (x.lsb < 0 || bits > 33) return x.magnitude == 0 && (*word = 0, true);
    const int64_t magnitude = static_cast<int64_t>(x.magnitude << x.lsb);
    *word = static_cast<uint64_t>(x.negative ? -magnitude : magnitude) & LowBits(f.bits);
    return DecodeInteger(f, *word) == (x.negative ? -magnitude : magnitude);
  }
  if (x.magnitude == 0) return EncodeValue(f, {Value::Class::kZero, x.negative, 0, 0}, word);
  const int bits = BitWidth(x.magnitude);
  if (bits > 65) return false;
  const Wide fraction = bits == 1 ? 0 : (x.magnitude << (129 - bits)) >> 64;
  return EncodeValue(
      f, {Value::Class::kFinite, x.negative, x.lsb + bits - 1, static_cast<uint64_t>(fraction)},
      word);
}

// The word nearest to a number that the format cannot represent.
struct Around {
  uint64_t nearest = 0;
  bool beyond = false;   // the number rounds beyond the largest finite value
  bool halfway = false;  // two words are equally near; `nearest` is the even one
};

// `value` must have a sign that the format supports.
Around FindAround(const Format& f, long double value) {
  const uint64_t sign = std::signbit(value) ? 1ull << SignBit(f) : 0;
  const uint64_t unit = 1ull << f.ignored_bits;
  uint64_t low = 0, high = MaxFiniteWord(f) / unit;  // magnitudes ascend with their words
  const long double magnitude = std::fabs(value);
  const auto distance = [&](uint64_t word) {
    return std::fabs(std::fabs(NumberOf(f, word * unit)) - magnitude);
  };
  if (const long double top = std::fabs(NumberOf(f, high * unit)); top < magnitude) {
    const long double half = (top - std::fabs(NumberOf(f, (high - 1) * unit))) / 2;
    const bool halfway = magnitude - top == half;
    const bool beyond = magnitude - top > half || (halfway && high % 2 == 1);
    return {sign | high * unit, beyond, halfway && !beyond};
  }
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (std::fabs(NumberOf(f, middle * unit)) <= magnitude ? low : high) = middle;
  }
  const bool halfway = distance(low) == distance(high);
  const bool takes_low = halfway ? low % 2 == 0 : distance(low) < distance(high);
  return {sign | (takes_low ? low : high) * unit, false, halfway};
}

// Text about the nearest number that the format can represent.
std::string Near(const Format& f, long double value) {
  if (std::signbit(value) && !f.is_signed) return "the format has no sign";
  const Around around = FindAround(f, value);
  return absl::StrCat(around.beyond ? "the largest is " : "the nearest is ",
                      WordText(f, around.nearest));
}

// A number without a finite binary fraction, or with too many digits, rounded; none for other
// texts.
std::optional<long double> Rounded(const std::string& text) {
  if (text.find_first_not_of("+-.0123456789eE") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const long double value = std::strtold(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

// Rounded to 64 bits.
std::optional<long double> ValueOf(absl::string_view text, const std::optional<Exact>& exact) {
  if (!exact) return Rounded(std::string(text));
  const long double value = std::ldexp(static_cast<long double>(exact->magnitude), exact->lsb);
  return exact->negative ? -value : value;
}

}  // namespace

absl::StatusOr<uint64_t> ParseNumber(const Format& f, absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const std::string lower = absl::AsciiStrToLower(text);
  absl::string_view rest = lower;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  uint64_t word = 0;
  const bool hexadecimal =
      absl::StartsWithIgnoreCase(rest, "0x") && rest.find_first_of("pP") == absl::string_view::npos;
  if (hexadecimal) {
    if (negative) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", text, "': 0x without p is a raw word, which already includes the sign"));
    }
    return ParseHexWord(f, rest.substr(2));
  }
  if (rest == "inf" || rest == "infinity") {
    if (!IsInteger(f) && EncodeValue(f, {Value::Class::kInfinite, negative, 0, 0}, &word))
      return word;
    return absl::InvalidArgumentError(absl::StrCat(f.name, " has no infinity"));
  }
  if (absl::ConsumePrefix(&rest, "nan")) {
    uint64_t payload = 0;
    const bool given = absl::ConsumePrefix(&rest, "(0x");
    if ((!given && !rest.empty()) ||
        (given && (!absl::ConsumeSuffix(&rest, ")") || !absl::SimpleHexAtoi(rest, &payload)))) {
      return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number"));
    }
    const bool made =
        !IsInteger(f) && (given ? EncodeValue(f, {Value::Class::kNan, negative, 0, payload}, &word)
                                : EncodeNan(f, negative, &word));
    if (made) return word;
    return absl::InvalidArgumentError(absl::StrCat(f.name, " has no such NaN"));
  }
  const std::optional<Exact> exact = Expression(text);
  if (exact && Encode(f, *exact, &word)) return word;
  const std::optional<long double> value = ValueOf(text, exact);
  if (!value) {
    const bool is_word = text.size() * 4 == static_cast<size_t>(f.bits) &&
                         std::ranges::all_of(text, absl::ascii_isxdigit);
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a number: write ",
                     is_word ? absl::StrCat("the raw word as 0x", text)
                             : "1.5, 2^-24, 0x1.8p-3, inf, nan, or a raw word with 0x"));
  }
  if (IsInteger(f)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' cannot be represented in ", f.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' cannot be represented in ", f.name, ": ", Near(f, *value)));
}

absl::StatusOr<RoundedNumber> RoundNumber(const Format& f, absl::string_view text) {
  const absl::StatusOr<uint64_t> word = ParseNumber(f, text);
  if (word.ok()) return RoundedNumber{*word, true};
  const std::optional<Exact> exact = Expression(absl::StripAsciiWhitespace(text));
  const std::optional<long double> value = ValueOf(absl::StripAsciiWhitespace(text), exact);
  if (!value || IsInteger(f) || (std::signbit(*value) && !f.is_signed)) return word.status();
  const Around around = FindAround(f, *value);
  // A long double has 64 bits: it cannot show on which side of the midpoint a longer number is.
  const bool sure = !around.halfway || (exact && BitWidth(exact->magnitude) <= 64);
  if (around.beyond || !sure) return word.status();
  return RoundedNumber{around.nearest, false};
}

}  // namespace mmadiff
