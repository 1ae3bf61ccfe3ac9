// From a black box to a model.
//
// First the summation tree (masks.h). Then answers to graded experiments (experiments.h) and to
// every class of the generator, and a search of the whole space (search.h). Chosen questions then
// distinguish the models that reproduce all answers, until one is left or nothing tried
// distinguishes the others from it. Last, generated cases of every class are compared; a difference
// sends it back to the search.
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
#include "triage/infer/shared_exponent.h"
#include "triage/infer/stochastic_rounding.h"

namespace mmadiff {

struct InferOptions {
  int64_t budget = 100000;       // dot products for finding the model
  int64_t validation = 1000000;  // about this many generated dot products to compare it on
  std::function<void(const std::string&)> progress = {};  // called now and then
};

// A value of a parameter, and the experiments whose answers refute its neighboring values.
struct Fixed {
  Change value;
  std::vector<std::string> experiments;
};

// A different value of a parameter, or of several, that also reproduces all answers.
struct Undetermined {
  std::vector<Change> changes;
  std::string proof;  // why no input distinguishes it from the model; "": no case tried does
};

// The best algorithm of a family that is not the answer.
struct Refuted {
  Family family;
  Algorithm nearest;
  size_t missed = 0;       // number of answers
  std::string experiment;  // with the first answer that it does not reproduce
};

struct Inference {
  absl::Status status;  // the device's error that ended it early; the members below hold
  std::optional<Structure> structure;  // none for given answers
  std::vector<NodeWidth> nodes;        // the nodes in the structure's tree
  std::optional<Algorithm> algorithm;  // reproduces every answer that repeats
  bool nan_unknown = false;            // except for NaN bits, which no rule reproduces
  std::vector<Algorithm> also;         // other families that also reproduce all answers
  std::vector<Fixed> fixed;            // by answers; empty if another family fits
  std::vector<Undetermined> undetermined;
  Candidate nearest = {{.family = Family::kNone},
                       0};           // if there is no algorithm, but there are answers
  bool missed_repeat = false;        // the answers that `nearest` misses: asked again, unchanged
  std::optional<Observed> refuting;  // the smallest answer that `nearest` does not reproduce
  // Asked if no algorithm was found: how the operands are paired or read differently; empty if they are
  // not.
  std::string operands = {};
  // Asked if no algorithm was found. If there are some, there is no nearest algorithm, and nodes have
  // no rounding (stochastic) or are not known (shared exponents, which may also have shaped the tree).
  std::vector<StochasticRounding> stochastic = {};
  std::vector<SharedExponent> shared_exponents = {};
  std::vector<Refuted> refuted;           // empty if only the operands may be to blame: `operands`
  std::vector<ExperimentAnswer> answers;  // to every question, except answers that did not repeat
  int64_t asked = 0;                      // dot products, without those of validations
  int64_t validated = 0;                  // in the validation that found no difference
  int64_t abandoned = 0;                  // in those that found one or were cut short
  size_t flaky = 0;                       // answers that changed when asked again
  std::vector<DotProductCase> flaky_cases = {};
  bool spent = false;  // the budget ran out before the end
};

// `op` needs formats, k and scales, not a model. Stops early when the device is to stop.
Inference Infer(Device& device, const Operation& op, const InferOptions& options);

// From given answers alone; the device is not asked. `device` only reports when to stop.
Inference InferFrom(Device& device, const Operation& op,
                    const std::vector<ExperimentAnswer>& answers);

}  // namespace mmadiff
