// Finds the summation tree of a black box by masking (FPRev, Xie et al., arXiv 2411.00442). +X is
// put in one term and -X in another; X is so large that anything added to either before they meet
// is lost. Small terms (the ones) then show which terms join after the two have met. This finds
// nodes with any number of operands, and nodes that lose nothing; it does not look at rounding.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "triage/infer/asker.h"
#include "triage/infer/summation_tree.h"

namespace mmadiff {

struct Structure {
  std::optional<SummationTree> tree;
  std::string why_not;    // why there is no tree
  int one = 0, mask = 0;  // exponents of the small and the large terms
  bool sampled =
      false;  // subtrees of terms at distances other than powers of two were not searched
};

// Asks the device. Errors are the device's.
absl::StatusOr<Structure> FindStructure(Asker& asker);

// Whether two words, answers to questions of FindStructure(), let the same number of ones through.
// A word that is not a valid count lets none through.
bool SameOnes(const Model& model, const Structure& structure, uint64_t x, uint64_t y);

}  // namespace mmadiff
