// The property of a difference that must survive while a case is shrunk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "corpus/bucket.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// The condition that a case must meet while it shrinks: the device gives the explanation's word,
// and no rival model does. The operation's own model is a rival if the case is to be a mismatch.
class Target {
 public:
  // Without an explanation, the device's word must differ from the rivals' words, and must also
  // differ from the model's in the way `difference_class` unless that is kNone.
  Target(const Operation& op, std::optional<Model> explanation, std::vector<Model> rivals,
         DifferenceClass difference_class = DifferenceClass::kNone)
      : op_(&op),
        explanation_(std::move(explanation)),
        rivals_(std::move(rivals)),
        difference_class_(difference_class) {}

  bool explained() const { return explanation_.has_value(); }
  // Whether the case could hold, without asking the device. Always true if nothing explains the
  // device.
  bool Possible(const DotProductCase& dot) const;
  // Whether the case holds with the device's answer.
  bool Holds(const DotProductCase& dot, uint64_t device) const;

 private:
  const Operation* op_;
  std::optional<Model> explanation_;
  mutable std::vector<Model> rivals_;  // those that refuse most come first
  DifferenceClass difference_class_;
};

}  // namespace mmadiff
