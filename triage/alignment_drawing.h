// What a step of an aligned sum keeps of each term, as a drawing: bits over bit positions.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "triage/text_table.h"

namespace mmadiff {

// (-1)^negative * magnitude * 2^lsb exactly, and what the alignment kept of it, rounded to a multiple
// of 2^kept_lsb: kept * 2^kept_lsb.
struct AlignedTerm {
  int k = 0;  // of a product, the first of a group of them; -1: the addend
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int lsb = 0;
  unsigned __int128 kept = 0;
  int kept_lsb = 0;
};

// One step: its terms that are not zero, products first, and the sum of what was kept of them:
// (-1)^sum_negative * sum * 2^sum_lsb, of a two-stage sum that of the products. `word` is the result.
struct AlignedStep {
  int step = 0;
  std::vector<AlignedTerm> terms;
  bool sum_negative = false;
  unsigned __int128 sum = 0;
  int sum_lsb = 0;
  uint64_t word = 0;
};

// The steps that align something; none of families that do not, of specials, and of sums of zeros.
std::vector<AlignedStep> AlignedSteps(const Model& model, const DotProductCase& dot);

// A row for each term: bits that were kept, then those that were cut, "x" for a one and "." for a
// zero. What does not fit the width is left out on the right, which is said. Empty without steps.
std::string AlignmentText(const Model& model, const DotProductCase& dot, const TextStyle& style);

// The same as SVG: bars, what was cut hatched. Colours follow the reader's light or dark scheme.
std::string AlignmentSvg(const Model& model, const DotProductCase& dot, const std::string& title);

}  // namespace mmadiff
