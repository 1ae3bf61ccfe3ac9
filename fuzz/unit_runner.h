// Compares one range of cases: generate, execute, simulate, compare, digest.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "fuzz/case_name.h"
#include "triage/explain.h"
#include "triage/minimize.h"

namespace mmadiff {

// A case on which the device and the model differ.
struct MismatchingCase {
  CaseName name;
  Mismatch mismatch;            // the inputs and the first differing element
  std::vector<uint64_t> model;  // results of the whole execution
  std::vector<uint64_t> device;
  uint64_t differing = 0;  // words that differ
};

// What the device answered to every dot product of the case.
std::vector<Observed> ObservedResults(const MismatchingCase& found);

class UnitRunner {
 public:
  // Called for every mismatching case, in order; an error ends the unit with that error.
  using OnMismatch = std::function<absl::Status(const MismatchingCase&)>;

  UnitRunner(Device& device, const CaseStream& stream) : device_(device), stream_(stream) {}

  // Adds cases first .. first+count-1 to `result`: counts, digests, classes, events. On an error,
  // `result` holds what was compared before it.
  absl::Status Run(uint64_t first, uint64_t count, UnitResult& result, const OnMismatch& found);

 private:
  absl::Status RunBatch(uint64_t first, int64_t count, UnitResult& result, const OnMismatch& found);

  Device& device_;
  CaseStream stream_;
  Batch batch_;  // reused: a run's memory does not grow with its cases
  std::vector<uint64_t> model_;
};

// Sum of HashOfResult() over the compared words of a batch of whole executions.
Digest DigestOf(const Row& row, const Batch& batch, const std::vector<uint64_t>& d);

// What a device answers to cases first .. first+count-1 of a stream, or the model when there is
// none, as a digest that everyone can compare: of a row whose NaN payloads are not known, every NaN
// counts as one and the same.
absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device);

}  // namespace mmadiff
