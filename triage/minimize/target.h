// What must remain of a difference while a case is shrunk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "corpus/bucket.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// What a case must keep while it is made smaller: the device gives the explanation's word, and no
// rival model gives it. The operation's own model is a rival if the case is to be a mismatch.
class Target {
 public:
  // Without an explanation the device's word differs from the rivals' words, and from the model's
  // in this way if it is not kNone.
  Target(const Operation& op, std::optional<Model> explanation, std::vector<Model> rivals,
         DifferenceClass difference_class = DifferenceClass::kNone)
      : op_(&op),
        explanation_(std::move(explanation)),
        rivals_(std::move(rivals)),
        difference_class_(difference_class) {}

  bool explained() const { return explanation_.has_value(); }
  // Without the device: could it hold? Always true when nothing explains the device.
  bool Possible(const DotProductCase& dot) const;
  // With its answer.
  bool Holds(const DotProductCase& dot, uint64_t device) const;

 private:
  const Operation* op_;
  std::optional<Model> explanation_;
  mutable std::vector<Model> rivals_;  // those that refuse most come first
  DifferenceClass difference_class_;
};

}  // namespace mmadiff
