// A model with a name: a row of the table, or one with parameters changed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/operation.h"

namespace mmadiff {

struct Racer {
  std::string name;     // as it was written, architectures without aliases
  const Operation* op;  // the row
  Model model;          // the row's, or with changes
};

// "ARCH/INSTRUCTION", or "ARCH/INSTRUCTION:NAME=VALUE,NAME=VALUE" with the names and values of
// `faulty:`. kInvalidArgument: no such row, one without a model, no such parameter or value, a
// model that cannot be simulated.
absl::StatusOr<Racer> ParseRacer(absl::string_view text);

Racer RacerOf(const Operation& op);

// The racer in a chain of `k` products, as one execution where that is the same; itself if it has no such chain.
Racer ChainedRacer(const Racer& racer, int k);

// Why no input has both models: other formats, k or scales; "" if they can be compared.
std::string WhyNotComparable(const Model& x, const Model& y);

// Whether words of two models tell them apart: not by two NaNs of which a row promises no bits.
bool Tell(const Racer& x, uint64_t of_x, const Racer& y, uint64_t of_y);
// kBits if both rows promise them.
NanVerdict CommonNanVerdict(const Racer& x, const Racer& y);

}  // namespace mmadiff
