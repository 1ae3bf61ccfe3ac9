// Recognizes stochastic rounding: each answer is one of the two neighbors of the exact value, and no
// rule of its sign, last bit and position decides which. If repeated questions give the same neighbor,
// the device may also follow another rule. The questions round once: a large term plus a small one, or
// one product alone; all other terms are zero.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/infer/asker.h"

namespace mmadiff {

// The position of the exact value: 0 is its neighbor nearer to zero, 1 the other neighbor.
struct RoundingPosition {
  const char *name, *words;
};
inline constexpr RoundingPosition kRoundingPositions[] = {{"below_quarter", "below 1/4"},
                                                          {"below_half", "from 1/4 to below 1/2"},
                                                          {"half", "at 1/2"},
                                                          {"above_half", "above 1/2 to 3/4"},
                                                          {"above_three_quarters", "above 3/4"}};

struct RoundingRate {
  int64_t answers = 0;
  int64_t farther = 0;   // those that are the neighbor farther from zero
  double positions = 0;  // sum of the positions of the exact values
  double variance = 0;   // sum of position * (1 - position)

  void Add(const RoundingRate& other);
};
using RoundingRates = std::array<RoundingRate, std::size(kRoundingPositions)>;

struct StochasticRounding {
  std::string of;                    // the questions: "c plus one product"
  std::vector<int> terms;            // k of that product, in different questions
  int fraction_bits = 0;             // of the neighbors, after the leading one
  RoundingRates positive, negative;  // by the sign of the exact value
  int64_t exact = 0;                 // answers to exactly representable values, all of them exact
  // Answers to inexact questions that were the other neighbor when the question was repeated.
  int64_t changed = 0;
  // The least number of answers that a rule of the sign, the last bit and the position does not
  // reproduce.
  int64_t without_rule = 0;
};

// Asks at most `most` times, each question twice. A kind of question is returned if both
// answers to each question are neighbors of the exact value (or equal it if it is representable),
// and at least one answer in 16 changes or is without a rule. Answers that change are flaky.
// Errors are the device's.
absl::StatusOr<std::vector<StochasticRounding>> AskStochasticRounding(Asker& asker, int64_t most);

// Sum over all positions.
RoundingRate TotalOf(const RoundingRates& rates);

// Sentences: the neighbors, repeated questions, then the rates by position.
std::vector<std::string> StochasticLines(const StochasticRounding& rounding);

}  // namespace mmadiff
