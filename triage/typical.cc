#include "triage/typical.h"

#include <algorithm>
#include <random>

#include "sim/sparsity.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

constexpr uint64_t kOfLevel = 200;  // dot products with equal digits and range

class Numbers {
 public:
  explicit Numbers(uint64_t index) : random_(index), level_(static_cast<int>(index / kOfLevel)) {}

  uint64_t Of(const Format& f) { return IsInteger(f) ? Integer(f) : Float(f); }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  uint64_t Integer(const Format& f) {
    const uint64_t magnitude = random_() & LowBits(std::min(f.bits - f.is_signed, 3 + level_));
    return (f.is_signed && Below(2) == 1 ? -magnitude : magnitude) & LowBits(f.bits);
  }

  uint64_t Float(const Format& f) {
    const int digits = std::min(f.fraction_bits, 2 + 2 * level_), range = level_ / 2;
    Value value = {.kind = Value::Class::kFinite, .negative = f.is_signed && Below(2) == 1};
    value.exponent = std::clamp(Below(2 * range + 2) - range - 1, f.min_exponent, MaxExponent(f));
    value.fraction = digits == 0 ? 0 : random_() >> (64 - digits) << (64 - digits);
    uint64_t word = 0;
    return EncodeValue(f, value, &word) ? word : 0;
  }

  std::mt19937_64 random_;
  const int level_;
};

}  // namespace

DotProductCase TypicalDotProduct(const Model& model, uint64_t index) {
  DotProductCase dot = NeutralDotProduct(model);
  Numbers numbers(index);
  for (int k = 0; k < model.k; ++k) {
    dot.a[k] = numbers.Of(model.a);
    dot.b[k] = numbers.Of(model.b);
  }
  dot.c = numbers.Of(model.c);
  Prune({1, 1, model.k, 1, model.scales(), model.groups()}, index, dot);
  return dot;
}

std::optional<DotProductCase> FindTypical(const Model& model,
                                          absl::FunctionRef<bool(const DotProductCase&)> tells) {
  for (uint64_t i = 0; i < kTypicalDotProducts; ++i) {
    DotProductCase dot = TypicalDotProduct(model, i);
    if (tells(dot)) return dot;
  }
  return std::nullopt;
}

}  // namespace mmadiff
