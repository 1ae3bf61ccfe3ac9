// What passes from a unit of a run to a filed case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/answers.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/explain.h"
#include "triage/text_table.h"

namespace mmadiff {

// One execution (or one dot product: count 1 of either shape) and the element that differs.
struct Mismatch {
  const Operation* op = nullptr;
  Batch inputs;         // count 1
  int64_t element = 0;  // index of the differing word in the results
  // What the device answered and the model says, all words; empty where that is not known.
  std::vector<uint64_t> device = {}, model = {};
  // Of one dot product: what the device gave in place of a word.
  std::optional<InputFailure> failure = {};
  uint64_t age = 0;       // as Answer::age (corpus/regression_case.h)
  uint64_t most_age = 0;  // answers that the process had given before, at most, when this was seen
};

// What the device answered to every dot product of the execution; nothing if that is not known.
std::vector<Observed> ObservedResults(const Mismatch& mismatch);

// "model ~35.1055, device ~35.1064, 256 ulps": of the element.
std::string ResultText(const Mismatch& mismatch);

// Lines: the model's word of this result, and the device's or what came in place of it, with its age.
std::string DescribeResult(const Mismatch& mismatch, int64_t element, const TextStyle& style);

}  // namespace mmadiff
