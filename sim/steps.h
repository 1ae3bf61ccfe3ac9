// The steps of a dot product: the result of one is the addend of the next.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"

namespace mmadiff {

// Consecutive products that are added at once: the model's `terms`, or fewer at the end of m.k.
struct Step {
  int number;        // from 0
  int first, terms;  // products first, ..., first + terms - 1
};

// `result`(Step, addend word) returns a word of m.d. The addend of the first step is c.
template <class Result>
MMADIFF_HD constexpr uint64_t ChainSteps(const Model& m, uint64_t c, Result result) {
  const int terms = m.algorithm.terms < m.k ? m.algorithm.terms : m.k;
  for (int first = 0, number = 0; first < m.k; first += terms, ++number) {
    c = result(Step{number, first, first + terms > m.k ? m.k - first : terms}, c);
  }
  return c;
}

}  // namespace mmadiff
