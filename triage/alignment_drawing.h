// What each addition keeps of its terms and of its sum, as a drawing: bits over bit positions.
#pragma once

#include <climits>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "triage/stage_table.h"
#include "triage/text_table.h"

namespace mmadiff {

// What a term is, if it is no product of some k.
enum Term : int { kAddendTerm = -1, kSumSoFar = -2, kSummand = -3 };

// (-1)^negative * magnitude * 2^lsb exactly, and what an alignment or a rounding kept of it, a multiple of 2^kept_lsb:
// kept * 2^kept_lsb.
struct AlignedTerm {
  int k = 0;  // of a product, the first of a group of them; or a Term
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int lsb = 0;
  unsigned __int128 kept = 0;
  int kept_lsb = 0;
};

// The sum of what was kept of the terms. Bits below 2^kept_lsb do not fit into the result, which rounds them away.
struct DrawnSum {
  bool of_products = false;  // the first of the two of a two-stage sum
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int lsb = 0, kept_lsb = 0;
  // The last bit stands for others down to 2^sticky_lsb, which are not known here; INT_MAX: all are.
  int sticky_lsb = INT_MAX;
};

// One addition, or the rounding of a product on its own: terms that are not zero, products first. `word` is the result.
struct AlignedStep {
  int step = 0;
  int addition = 1;  // of the step
  std::vector<AlignedTerm> terms;
  std::vector<DrawnSum> sums;
  uint64_t word = 0;
  bool cuts = false;  // something was cut or rounded away
};

// The additions of a dot product but those that add zero and lose nothing; none of integers, of specials, and of sums of zeros.
std::vector<AlignedStep> AlignedSteps(const Model& model, const DotProductCase& dot);

// A row for each term and sum: bits that were kept, then those that were cut, and how many they are: "x" for a one, "." for a
// zero, "~" for what is not known. What does not fit the width, and steps beyond the first few, are left out, which is said.
// Empty without steps.
std::string AlignmentText(const Model& model, const DotProductCase& dot, const TextStyle& style);

// The same as SVG: a bar for each term and sum, with the bits that were cut hatched; the models one below the other, each
// under its name. Colors follow the reader's light or dark theme. All models have the operand formats and k of the case.
std::string AlignmentSvg(const NamedModels& models, const DotProductCase& dot);

}  // namespace mmadiff
