#include "triage/minimize/simplicity.h"

#include <bit>
#include <cstdlib>

#include "sim/word.h"

namespace mmadiff {
namespace {

void CountValue(const Value& o, Complexity& c) {
  c[8] += o.negative;
  c[4] += std::popcount(o.fraction);
  if (o.kind == Value::Class::kInfinite) c[3] += 1;
  if (o.kind == Value::Class::kNan) c[3] += 2;
  if (o.kind != Value::Class::kFinite) return;
  if (o.fraction != 0) c[5] += 64 - std::countr_zero(o.fraction);
  c[6] += o.exponent != 0;
  c[7] += std::abs(o.exponent);
}

void Count(const Format& format, uint64_t word, Complexity& c) {
  if (word != 0) CountValue(DecodeValue(format, word), c);
}

void CountScale(const Format& format, uint64_t word, Complexity& c) {
  const Value o = DecodeValue(format, word);
  const bool one = o.kind == Value::Class::kFinite && o.exponent == 0 && o.fraction == 0;
  c[1] += !one;
  c[3] += o.kind == Value::Class::kZero;
  CountValue(o, c);
}

}  // namespace

Complexity ComplexityOf(const Model& model, const DotProductCase& dot) {
  Complexity c = {};
  for (int k = 0; k < model.k; ++k) {
    if (dot.a[k] == 0 && dot.b[k] == 0) continue;
    c[0] += 1;
    c[9] += k;
    Count(model.a, dot.a[k], c);
    Count(model.b, dot.b[k], c);
  }
  for (int i = model.k; i < model.k + model.scales(); ++i) {
    CountScale(model.scale, dot.a[i], c);
    CountScale(model.scale, dot.b[i], c);
  }
  c[2] = dot.c != 0;
  Count(model.c, dot.c, c);
  return c;
}

bool Simpler(const Complexity& cx, const DotProductCase& x, const Complexity& cy,
             const DotProductCase& y) {
  return cx != cy ? cx < cy : x < y;
}

}  // namespace mmadiff
