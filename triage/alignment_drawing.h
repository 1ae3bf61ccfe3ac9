// Draws the bits that each addition keeps of its terms and of its sum, over bit positions.
#pragma once

#include <climits>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "triage/stage_table.h"
#include "triage/text_table.h"

namespace mmadiff {

// A term that is not product k.
enum Term : int { kAddendTerm = -1, kSumSoFar = -2, kSummand = -3 };

// The exact value (-1)^negative * magnitude * 2^lsb, and the part that an alignment or a rounding
// kept, kept * 2^kept_lsb.
struct AlignedTerm {
  int k = 0;  // product k, or the first k of a group of products; or a Term
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int lsb = 0;
  unsigned __int128 kept = 0;
  int kept_lsb = 0;
};

// The sum of the kept parts of the terms. Bits below 2^kept_lsb do not fit into the result, which
// rounds them away.
struct DrawnSum {
  bool of_products = false;  // the first of the two sums of a two-stage sum
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int lsb = 0, kept_lsb = 0;
  // The last bit represents all bits down to 2^sticky_lsb, whose values are unknown here; INT_MAX:
  // all bits are known.
  int sticky_lsb = INT_MAX;
};

// One addition, or the rounding of a single product: terms that are not zero, products first.
// `word` is the result.
struct AlignedStep {
  int step = 0;
  int addition = 1;  // within the step
  std::vector<AlignedTerm> terms;
  std::vector<DrawnSum> sums;
  uint64_t word = 0;
  bool cuts = false;  // something was cut or rounded away
};

// The additions of a dot product, except those that add zero and lose nothing. None for integers,
// specials, and sums of zeros.
std::vector<AlignedStep> AlignedSteps(const Model& model, const DotProductCase& dot);

// A row for each term and sum: the kept bits, then the cut bits and their number. A cut one is "x",
// a cut zero ".", an unknown bit "~". Bits that do not fit the width, and steps beyond the first
// few, are left out with a note. Empty without steps.
std::string AlignmentText(const Model& model, const DotProductCase& dot, const TextStyle& style);

// The same as SVG: a bar for each term and sum, with the bits that were cut hatched; the models one below the other, each
// under its name. Colors follow the reader's light or dark theme. All models have the operand formats and k of the case.
std::string AlignmentSvg(const NamedModels& models, const DotProductCase& dot);

}  // namespace mmadiff
