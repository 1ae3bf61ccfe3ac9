// The data passed from a unit of a run to a filed case.
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
  // All words of the device's answer and of the model; empty if unknown.
  std::vector<uint64_t> device = {}, model = {};
  // For one dot product: the device's failure, if it gave no word.
  std::optional<InputFailure> failure = {};
  uint64_t age = 0;       // like Answer::age (corpus/regression_case.h)
  uint64_t most_age = 0;  // at most this many answers came from the process before this one
};

// The device's answer to every dot product of the execution; empty if unknown.
std::vector<Observed> ObservedResults(const Mismatch& mismatch);

// "model ~35.1055, device ~35.1064, 256 ulps apart, relative difference 2.6e-05", for the element.
std::string ResultText(const Mismatch& mismatch);

// Several lines: the model's word for this result, the device's word or its failure, and the age.
std::string DescribeResult(const Mismatch& mismatch, int64_t element, const TextStyle& style);

}  // namespace mmadiff
