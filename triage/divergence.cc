#include "triage/divergence.h"

#include <algorithm>

namespace mmadiff {
namespace {

// Equal as far as a reader of the stages is concerned: the same value in other units is no
// difference.
bool SameEvent(const Event& x, const Event& y) {
  if (x == y) return true;
  const bool value = x.stage == Stage::kAlignedTerm || x.stage == Stage::kSum;
  if (!value || x.stage != y.stage || x.step != y.step || x.k != y.k || x.inexact != y.inexact ||
      x.negative != y.negative || (x.magnitude == 0) != (y.magnitude == 0)) {
    return false;
  }
  if (x.magnitude == 0) return true;
  const auto odd = [](Event e) {
    for (; (e.magnitude & 1) == 0; e.magnitude >>= 1) ++e.lsb_exponent;
    return e;
  };
  return odd(x) == odd(y);
}

}  // namespace

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kProduct:
      return "product";
    case Stage::kSpecial:
      return "special";
    case Stage::kAlignExponent:
      return "align_exponent";
    case Stage::kAlignedTerm:
      return "aligned_term";
    case Stage::kSum:
      return "sum";
    case Stage::kRounded:
      return "rounded";
  }
  return "?";
}

const Event* FirstDivergence(const std::vector<Event>& x, const std::vector<Event>& y) {
  for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    if (i >= x.size()) return &y[i];
    if (i >= y.size()) return &x[i];
    if (SameEvent(x[i], y[i])) continue;
    return y[i].stage < x[i].stage ? &y[i] : &x[i];
  }
  return nullptr;
}

}  // namespace mmadiff
