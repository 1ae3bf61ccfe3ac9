// Tries models against answers; the answer that refuted the last one comes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {

class Judge {
 public:
  // Answers that the operation's own model does not give come first, if it has one.
  Judge(const Operation& op, std::span<const Observed> observed) : op_(op) {
    for (const Observed& o : observed) order_.push_back(&o);
    if (!IsModelled(op)) return;
    std::stable_partition(order_.begin(), order_.end(),
                          [&](const Observed* o) { return !Gives(op, op.model, o->dot, o->d); });
  }

  bool GivesAll(const Model& model) { return Missed(model, 0) == 0; }

  // Answers that it does not give; stops counting above `most`.
  size_t Missed(const Model& model, size_t most) {
    size_t missed = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (Fits(op_, model, *order_[i])) continue;
      if (missed == 0) std::swap(order_[i / 2], order_[i]);
      if (++missed > most) break;
    }
    return missed;
  }

 private:
  const Operation& op_;
  std::vector<const Observed*> order_;
};

}  // namespace mmadiff
