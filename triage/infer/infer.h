// From a black box to a model.
//
// The summation tree first (masks.h), then answers to experiments in stairs (experiments.h) and to
// every class of the generator, then the search of the whole space (search.h). Models that give all
// answers are told apart by questions chosen for that, until one is left or nothing that was tried
// tells the others from it. Last, generated cases of every class are compared; a difference sends it
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/infer/asker.h"
#include "triage/infer/masks.h"
#include "triage/infer/nodes.h"
#include "triage/infer/search.h"

namespace mmadiff {

struct InferOptions {
  int64_t budget = 100000;       // dot products to find the model with
  int64_t validation = 1000000;  // generated dot products it is compared on afterwards, about
  std::function<void(const std::string&)> progress = {};  // told what it does, now and then
};

// A value of a parameter, and the experiments whose answers refute the values near it.
struct Fixed {
  Change value;
  std::vector<std::string> experiments;
};

// Another value of a parameter, or of several, that gives all answers too.
struct Undetermined {
  std::vector<Change> changes;
  std::string proof;  // why no input tells it from the model; "": none that was tried does
};

// The best algorithm of a family that is not the answer.
struct Refuted {
  Family family;
  Algorithm nearest;
  size_t missed = 0;       // of the answers
  std::string experiment;  // of the first that it does not give
};

struct Inference {
  absl::Status status;  // the device's error that ended it early; what is below holds
  std::optional<Structure> structure;  // none of given answers
  std::vector<NodeWidth> nodes;        // of the structure's tree
  std::optional<Algorithm> algorithm;  // gives every answer that repeats
  bool nan_unknown = false;            // but for the bits of NaNs, which no rule gives
  std::vector<Algorithm> also;         // of other families that give all answers too
  std::vector<Fixed> fixed;            // by answers; none where another family fits
  std::vector<Undetermined> undetermined;
  Candidate nearest = {{.family = Family::kNone},
                       0};           // when there is no algorithm, and something was answered
  std::optional<Observed> refuting;  // the smallest answer that it does not give
  std::vector<Refuted> refuted;
  std::vector<ExperimentAnswer> answers;  // every question, but those that did not repeat
  int64_t asked = 0;                      // dot products, without those of validations
  int64_t validated = 0;                  // in the validation that found no difference
  int64_t abandoned = 0;                  // in those that did, or that the device or the time ended
  size_t flaky = 0;                       // answers that came otherwise when asked again
  std::vector<DotProductCase> flaky_cases = {};
  bool spent = false;  // the budget was, before the end
};

// `op` needs formats, k and scales, not a model. Stops early when the device is to stop.
Inference Infer(Device& device, const Operation& op, const InferOptions& options);

// From given answers alone: nothing is asked. `device`: to be told when to stop.
Inference InferFrom(Device& device, const Operation& op,
                    const std::vector<ExperimentAnswer>& answers);

}  // namespace mmadiff
