// Finds a tree for a device's answers, of which the summation tree is known: asks about each node
// and leaf, searches (tree_search.h), and asks more where the tree that was found is wrong. A
// question that it misses is made smaller until the few terms left show which node is to blame.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "triage/infer/asker.h"
#include "triage/infer/masks.h"
#include "triage/infer/stored_products.h"
#include "triage/infer/tree_search.h"

namespace mmadiff {

class TreeFinder {
 public:
  // `structure` has a tree. `op`, the asker and the structure must outlive the finder.
  TreeFinder(Asker& asker, const Operation& op, const Structure& structure)
      : asker_(asker),
        op_(op),
        stored_(StoredProducts(op)),
        structure_(structure),
        search_(stored_, *structure.tree) {}

  // Whether it found a tree that reproduces all answers, except for bits of NaNs. Later calls continue from
  // the tree of the call before. Errors are the device's.
  absl::StatusOr<bool> Find(absl::FunctionRef<bool()> stop);

  Algorithm algorithm() const { return search_.algorithm(); }

 private:
  // A question that the tree misses, and how it could be smaller.
  struct Shrinking {
    DotProductCase dot;
    int chunk;  // terms to leave out at once; 0: only bits are left to clear
    bool done = false;
  };

  absl::Status AskFirst();
  // The number of questions that the tree missed before it asked smaller ones.
  absl::StatusOr<size_t> AskMissed();
  std::vector<DotProductCase> Missed(const Model& model) const;
  // Asks smaller questions that the model misses.
  absl::Status Shrink(const Model& model, std::vector<DotProductCase> missed);
  std::vector<DotProductCase> Smaller(const Shrinking& from) const;
  std::vector<Observed> Answers() const;

  Asker& asker_;
  const Operation& op_;
  const Operation stored_;
  const Structure& structure_;
  TreeSearch search_;
  bool asked_ = false;
  uint64_t seed_ = 1;
};

}  // namespace mmadiff
