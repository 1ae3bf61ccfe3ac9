#include "sim/parameter.h"

#include <charconv>
#include <type_traits>
#include <utility>

#include "sim/dot_product.h"

namespace mmadiff {
namespace {

constexpr const char* kFamilies[] = {"fma_chain", "fused_sum", "integer_dot"};
constexpr const char* kRoundings[] = {"nearest_even", "toward_zero", "down", "up", "to_odd"};
constexpr const char* kOrders[] = {"ascending", "descending"};
constexpr const char* kProductExponents[] = {"raw", "normalized"};
constexpr const char* kZeroTerms[] = {"ignored", "raises"};
constexpr const char* kAddendExponents[] = {"own_format", "output_format"};
constexpr const char* kSubnormals[] = {"keep", "flush"};
constexpr const char* kTininess[] = {"before_rounding", "after_rounding"};
constexpr const char* kNanRules[] = {"all_ones", "quiet_positive", "propagate"};
constexpr const char* kZeroSigns[] = {"positive", "sum_positive", "ieee"};
constexpr const char* kOverflows[] = {"wrap", "saturate"};

constexpr unsigned Bit(Family f) { return 1u << static_cast<int>(f); }
constexpr unsigned kChain = Bit(Family::kFmaChain);
constexpr unsigned kSum = Bit(Family::kFusedSum);
constexpr unsigned kInteger = Bit(Family::kIntegerDot);

template <auto Member>
constexpr Parameter Make(const char* name, unsigned families, std::span<const char* const> values,
                         int min = 0, int max = 0) {
  using T = std::remove_reference_t<decltype(std::declval<Algorithm&>().*Member)>;
  return {name,
          families,
          [](const Algorithm& a) { return static_cast<int>(a.*Member); },
          [](Algorithm& a, int value) { a.*Member = static_cast<T>(value); },
          values,
          min,
          max};
}

using A = Algorithm;
constexpr Parameter kParameters[] = {
    Make<&A::fraction_bits>("fraction_bits", kSum, {}, 1, 37),
    Make<&A::output_rounding>("output_rounding", kChain | kSum, kRoundings),
    Make<&A::align_rounding>("align_rounding", kSum, kRoundings),
    Make<&A::product_exponent>("product_exponent", kSum, kProductExponents),
    Make<&A::zero_term>("zero_term", kSum, kZeroTerms),
    Make<&A::exponent_floor>("exponent_floor", kSum, {}, kNoFloor, 300),
    Make<&A::output_fraction_bits>("output_fraction_bits", kChain | kSum, {}, 1, 52),
    Make<&A::overflow>("overflow", kInteger, kOverflows),
    Make<&A::terms>("terms", kSum | kInteger, {}, 1, 1024),
    Make<&A::order>("order", kChain, kOrders),
    Make<&A::input_subnormals>("input_subnormals", kChain, kSubnormals),
    Make<&A::output_subnormals>("output_subnormals", kChain | kSum, kSubnormals),
    Make<&A::tininess>("tininess", kChain | kSum, kTininess),
    Make<&A::addend_exponent>("addend_exponent", kSum, kAddendExponents),
    Make<&A::nan_rule>("nan_rule", kChain | kSum, kNanRules),
    Make<&A::zero_sign>("zero_sign", kSum, kZeroSigns),
};

bool IsFloor(const Parameter& p) { return p.min == kNoFloor; }

// Values that a neighbour may take; the current one is skipped by the caller.
std::vector<int> Candidates(const Parameter& p, int value) {
  if (!p.values.empty()) {
    std::vector<int> all;
    for (size_t i = 0; i < p.values.size(); ++i) all.push_back(static_cast<int>(i));
    return all;
  }
  if (std::string_view(p.name) == "terms") return {value / 2, value * 2};
  if (IsFloor(p) && value == kNoFloor) return {};
  if (IsFloor(p)) return {value - 1, value + 1, kNoFloor};
  return {value - 1, value + 1};
}

std::string InvalidIntegers(const Model& m) {
  for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) {
    if (!IsInteger(*f) || f->bits > 32) return "integer_dot needs integers of at most 32 bits";
  }
  return m.d.is_signed ? "" : "the output of integer_dot must be signed";
}

std::string InvalidFloats(const Model& m) {
  for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) {
    if (IsInteger(*f)) return "a floating-point family needs floating-point formats";
  }
  if (m.d.nonfinite != Nonfinite::kIeee) return "the output format must have an infinity";
  if (m.algorithm.output_fraction_bits > m.d.fraction_bits) {
    return "output_fraction_bits must be at most " + std::to_string(m.d.fraction_bits) + " for " +
           m.d.name;
  }
  if (m.algorithm.family == Family::kFusedSum) {
    // Products and what is kept of them fit 64-bit sums.
    if (m.a.fraction_bits + m.b.fraction_bits > 24) return "fused_sum needs narrower inputs";
    if (m.algorithm.nan_rule == NanRule::kPropagate) return "fused_sum has no NaN to propagate";
    return "";
  }
  if (std::string_view(m.c.name) != m.d.name) return "fma_chain needs one format for c and d";
  const bool wide = m.a.fraction_bits > m.d.fraction_bits || m.b.fraction_bits > m.d.fraction_bits;
  return wide ? "the inputs of fma_chain must not be wider than its output" : "";
}

// False when no input of the model can tell the changed parameter from the original.
bool CanShow(const Model& m, const Algorithm& changed) {
  if (changed.terms > m.k || changed.terms < 1) return false;
  if (!Invalid({m.a, m.b, m.c, m.d, m.k, changed}).empty()) return false;
  // Only a flushing output asks when a result is tiny.
  if (changed.tininess != m.algorithm.tininess) {
    return changed.output_subnormals == Subnormals::kFlush;
  }
  return changed.order == m.algorithm.order || m.k > 1;
}

}  // namespace

std::span<const Parameter> Parameters() { return kParameters; }

const Parameter* FindParameter(Family family, std::string_view name) {
  for (const Parameter& p : kParameters) {
    if (name == p.name && (p.families & Bit(family))) return &p;
  }
  return nullptr;
}

std::string ValueText(const Parameter& p, int value) {
  if (!p.values.empty()) return p.values[value];
  return IsFloor(p) && value == kNoFloor ? "none" : std::to_string(value);
}

bool ParseValue(const Parameter& p, std::string_view text, int* value) {
  for (size_t i = 0; i < p.values.size(); ++i) {
    if (text == p.values[i]) {
      *value = static_cast<int>(i);
      return true;
    }
  }
  if (!p.values.empty()) return false;
  if (IsFloor(p) && text == "none") {
    *value = kNoFloor;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= p.min &&
         *value <= p.max;
}

std::string Invalid(const Model& m) {
  if (m.k < 1 || m.k > kMaxK) return "k must be 1.." + std::to_string(kMaxK);
  for (const Parameter& p : kParameters) {
    if (!p.values.empty() || !(p.families & Bit(m.algorithm.family))) continue;
    const int value = p.get(m.algorithm);
    if (value < p.min || value > p.max) {
      return std::string(p.name) + " must be " + std::to_string(p.min) + ".." +
             std::to_string(p.max);
    }
  }
  return m.algorithm.family == Family::kIntegerDot ? InvalidIntegers(m) : InvalidFloats(m);
}

std::vector<Neighbour> Neighbours(const Model& m) {
  std::vector<Neighbour> neighbours;
  for (const Parameter& p : kParameters) {
    if (!(p.families & Bit(m.algorithm.family))) continue;
    const int value = p.get(m.algorithm);
    for (int candidate : Candidates(p, value)) {
      if (candidate == value) continue;
      if (p.values.empty() && (candidate < p.min || candidate > p.max)) continue;
      Algorithm changed = m.algorithm;
      p.set(changed, candidate);
      if (!CanShow(m, changed)) continue;
      neighbours.push_back({std::string(p.name) + "=" + ValueText(p, candidate), changed});
    }
  }
  return neighbours;
}

std::string Describe(const Algorithm& a) {
  std::string text = kFamilies[static_cast<int>(a.family)];
  char separator = '(';
  for (const Parameter& p : kParameters) {
    if (!(p.families & Bit(a.family))) continue;
    text += separator + std::string(separator == '(' ? "" : " ") + p.name + "=" +
            ValueText(p, p.get(a));
    separator = ',';
  }
  return text + ")";
}

}  // namespace mmadiff
