#include "triage/divergence.h"

#include <algorithm>

namespace mmadiff {
namespace {

// Whether two events are equal to a reader of the stages: the same value in other units is the same
// event.
bool SameEvent(const Event& x, const Event& y) {
  if (x == y) return true;
  if (x.stage == Stage::kAlignExponent && y.stage == x.stage) {
    return x.step == y.step && x.lsb_exponent == y.lsb_exponent;
  }
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

// Without products of +0, which never matter.
std::vector<const Event*> Telling(const std::vector<Event>& events) {
  std::vector<const Event*> telling;
  for (const Event& e : events) {
    if (e.stage != Stage::kProduct || e.k < 0 || e.magnitude != 0 || e.negative) {
      telling.push_back(&e);
    }
  }
  return telling;
}

}  // namespace

const Event* FirstDivergence(const std::vector<Event>& x, const std::vector<Event>& y) {
  const std::vector<const Event*> of_x = Telling(x), of_y = Telling(y);
  for (size_t i = 0; i < std::max(of_x.size(), of_y.size()); ++i) {
    if (i >= of_x.size()) return of_y[i];
    if (i >= of_y.size()) return of_x[i];
    if (SameEvent(*of_x[i], *of_y[i])) continue;
    return of_y[i]->stage < of_x[i]->stage ? of_y[i] : of_x[i];
  }
  return nullptr;
}

}  // namespace mmadiff
