// The summation tree of a black box, by masking (FPRev, Xie et al., arXiv 2411.00442): +X in one term
// and -X in another, so large that whatever is added to one of them before they meet is lost. Small
// terms, the ones, then say which of those join after the two have met. Nodes of any number of
// operands are found, and nodes that lose nothing; how they round is not looked at.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "triage/infer/asker.h"
#include "triage/infer/summation_tree.h"

namespace mmadiff {

struct Structure {
  std::optional<SummationTree> tree;
  std::string why_not;    // there is no tree
  int one = 0, mask = 0;  // exponents of the small and the large terms
  bool sampled =
      false;  // subtrees of terms whose distances are no powers of two were not looked for
};

// Asks the device. Errors are its own.
absl::StatusOr<Structure> FindStructure(Asker& asker);

// Whether two words, of answers to the questions of FindStructure(), let as many ones through; a word
// that is no such number lets none.
bool SameOnes(const Model& model, const Structure& structure, uint64_t x, uint64_t y);

}  // namespace mmadiff
