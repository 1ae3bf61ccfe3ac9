// A named model: a row of the table, or a row with changed parameters.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/operation.h"

namespace mmadiff {

struct Racer {
  std::string name;     // as written, architectures without aliases
  const Operation* op;  // the row
  Model model;          // the row's, or with changes
};

// "ARCH/INSTRUCTION", or "ARCH/INSTRUCTION:NAME=VALUE,NAME=VALUE" with the names and values of
// `faulty:`. kInvalidArgument: no such row, no such parameter or value, or a model that cannot be
// simulated; kNotFound: a row without a model.
absl::StatusOr<Racer> ParseRacer(absl::string_view text);

Racer RacerOf(const Operation& op);

// The racer in a chain of `k` products, as one execution where that is equivalent; the racer itself
// if it has no such chain.
Racer ChainedRacer(const Racer& racer, int k);

// Why no input fits both models: different formats, k or scales; "" if they can be compared.
std::string WhyNotComparable(const Model& x, const Model& y);

// Whether the words of two models distinguish them. Two NaNs do not if a row does not promise their
// bits.
bool Tell(const Racer& x, uint64_t of_x, const Racer& y, uint64_t of_y);
// kBits if both rows promise them.
NanVerdict CommonNanVerdict(const Racer& x, const Racer& y);

}  // namespace mmadiff
