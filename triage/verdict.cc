#include "triage/verdict.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "device/plain_text.h"
#include "sim/simulate.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

// The bits of each field of a word, from high to low.
std::vector<int> FieldsOf(const Format& f) {
  if (IsInteger(f)) return {f.bits};
  // The sign, or a bit that is not read, or no bit at all.
  const int top = f.bits - f.exponent_bits - f.fraction_bits - f.ignored_bits;
  std::vector<int> fields = {top, f.exponent_bits, f.fraction_bits, f.ignored_bits};
  std::erase(fields, 0);
  return fields;
}

// One character for each bit of the word, fields separated by `separator`.
template <class BitText>
std::string Lay(const Format& f, const char* separator, BitText text) {
  std::string line;
  int bit = f.bits;
  for (const int bits : FieldsOf(f)) {
    if (bit != f.bits) line += separator;
    for (int i = 0; i < bits; ++i) line += text(--bit);
  }
  return line;
}

std::string BitsLine(const Format& f, uint64_t word, uint64_t marked, bool color) {
  return Lay(f, "|", [&](int bit) {
    const std::string digit = word >> bit & 1 ? "1" : "0";
    return color && (marked >> bit & 1) ? absl::StrCat(kMarkBegin, digit, kMarkEnd) : digit;
  });
}

std::string CaretLine(const Format& f, uint64_t marked) {
  std::string line =
      Lay(f, " ", [&](int bit) { return std::string(marked >> bit & 1 ? "^" : " "); });
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// Position on the line of values: sign and magnitude bits read as one signed integer, both zeros at
// 0.
__int128 PlaceOf(const Format& f, uint64_t word) {
  if (IsInteger(f)) return DecodeInteger(f, word);
  const int magnitude_bits = f.exponent_bits + f.fraction_bits;
  word >>= f.ignored_bits;
  const __int128 magnitude = word & LowBits(magnitude_bits);
  return f.is_signed && (word >> magnitude_bits & 1) ? -magnitude : magnitude;
}

std::string DistanceText(const Format& f, uint64_t model, uint64_t device) {
  if (IsInteger(f)) {
    const int64_t difference = DecodeInteger(f, device) - DecodeInteger(f, model);
    return absl::StrCat("difference: ", difference, " (device - model)");
  }
  const int64_t ulps = UlpDistance(f, model, device);
  if (ulps < 0) {
    const bool both = IsNan(f, model) && IsNan(f, device);
    return absl::StrCat("distance: none, ", both ? "both are NaNs" : "one is a NaN");
  }
  if (ulps == 0) return "distance: 0 ulps, equal numbers";
  const bool least = ulps == std::numeric_limits<int64_t>::max();  // see UlpDistance()
  return absl::StrCat("distance: ", least ? "at least " : "", ulps, ulps == 1 ? " ulp" : " ulps");
}

// Hex, hex float, number; for integers the last two are the same.
std::string ValueText(const Format& f, uint64_t word) {
  const std::string exact = HexFloat(f, word), number = NumberText(f, word);
  return absl::StrFormat("0x%0*x  %s%s", HexDigits(f), word, exact,
                         number == exact ? "" : "  " + number);
}

}  // namespace

bool SameResult(const Operation& op, uint64_t model, uint64_t device) {
  if (model == device) return true;
  return op.numerics->nan_verdict == NanVerdict::kAnyNan && IsNan(op.model.d, model) &&
         IsNan(op.model.d, device);
}

bool Gives(const Operation& op, const Model& model, const DotProductCase& dot, uint64_t device) {
  return SameResult(op, Simulate(model, dot), device);
}

std::vector<int64_t> Differences(const Operation& op, std::span<const uint64_t> model,
                                 std::span<const uint64_t> device) {
  std::vector<int64_t> indices;
  if (std::ranges::equal(model, device)) return indices;
  for (size_t i = 0; i < model.size(); ++i) {
    if (!SameResult(op, model[i], device[i])) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

void Compare(const Operation& op, const Model& model, const Batch& batch,
             std::span<const uint64_t> device, Comparison& result) {
  if (static_cast<int64_t>(device.size()) != batch.dot_products()) std::abort();  // caller bug
  result.model.resize(device.size());
  Simulate(model, batch, result.model);
  result.differing = Differences(op, result.model, device);
}

Comparison Compare(const Operation& op, const Batch& batch, std::span<const uint64_t> device) {
  Comparison result;
  Compare(op, op.model, batch, device, result);
  return result;
}

void CountFailures(const Operation& op, const Batch& batch, Answers& answers) {
  for (const auto& [index, failure] : answers.failures) {
    answers.d[index] = Simulate(op.model, Extract(batch, index)) ^ LowBits(op.model.d.bits);
  }
}

std::string DescribeDifference(const Format& f, uint64_t model, uint64_t device,
                               const TextStyle& style) {
  const uint64_t marked = model ^ device;
  const std::string bits[] = {"model   " + BitsLine(f, model, marked, style.color),
                              "device  " + BitsLine(f, device, marked, style.color)};
  const std::string values[] = {ValueText(f, model), ValueText(f, device)};
  const size_t value = std::max(values[0].size(), values[1].size());
  const std::string rest = absl::StrCat("        ", CaretLine(f, marked), "\n");
  const std::string distance = DistanceText(f, model, device) + "\n";
  if (Columns(bits[0]) + 2 + value <= style.width) {
    return absl::StrCat(bits[0], "  ", values[0], "\n", bits[1], "  ", values[1], "\n", rest,
                        distance);
  }
  return absl::StrCat(bits[0], "\n", bits[1], "\n", rest, "model   ", values[0], "\ndevice  ",
                      values[1], "\n", distance);
}

std::string DescribeFailure(const Format& f, uint64_t model, const InputFailure& failure,
                            const TextStyle& style) {
  return absl::StrCat(Labelled("model   ", ValueText(f, model), style.width),
                      Labelled("device  ", Describe(failure), style.width));
}

int64_t UlpDistance(const Format& f, uint64_t x, uint64_t y) {
  if (IsNan(f, x) || IsNan(f, y)) return -1;
  const __int128 distance = PlaceOf(f, x) - PlaceOf(f, y);
  const __int128 magnitude = distance < 0 ? -distance : distance;
  // Only f64 values of opposite signs can be farther apart than an int64_t can count.
  constexpr __int128 kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(magnitude, kMax));
}

std::string HowFar(const Format& f, uint64_t x, uint64_t y) {
  const auto number = [&](uint64_t word) { return static_cast<double>(NumberOf(f, word)); };
  if (IsInteger(f) || std::isnan(number(x)) || std::isnan(number(y))) return "";
  const int64_t ulps = UlpDistance(f, x, y);
  const std::string text = absl::StrCat(", ", ulps, ulps == 1 ? " ulp" : " ulps", " apart");
  const double of = std::fabs(number(x)), relative = std::fabs(number(y) - number(x)) / of;
  return of == 0 ? text
                 : absl::StrCat(text, absl::StrFormat(", relative difference %.1e", relative));
}

std::string HexFloat(const Format& f, uint64_t word) {
  if (IsInteger(f)) return absl::StrCat(DecodeInteger(f, word));
  const Unpacked u = Decode(f, word);
  const char* sign = u.negative ? "-" : "";
  if (u.kind == Kind::kInfinite) return absl::StrCat(sign, "inf");
  if (u.kind == Kind::kNan) {
    return absl::StrFormat("%snan(0x%x)", sign, u.significand & LowBits(f.fraction_bits));
  }
  if (u.significand == 0) return absl::StrCat(sign, "0x0p+0");
  // Subnormals are also shown with a leading one: the value is the same, with its own exponent.
  const int leading = std::bit_width(u.significand) - 1;
  const int exponent = u.exponent - f.fraction_bits + leading;
  const int digits = (leading + 3) / 4;
  const uint64_t fraction = (u.significand & LowBits(leading)) << (4 * digits - leading);
  std::string text = digits == 0 ? "" : absl::StrFormat(".%0*x", digits, fraction);
  while (!text.empty() && (text.back() == '0' || text.back() == '.')) text.pop_back();
  return absl::StrFormat("%s0x1%sp%+d", sign, text, exponent);
}

}  // namespace mmadiff
