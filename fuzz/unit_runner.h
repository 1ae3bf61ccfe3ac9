// Compares one range of cases: generate, execute, simulate, compare, digest.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "fuzz/cases/case_name.h"
#include "triage/mismatch.h"
#include "triage/verdict.h"

namespace mmadiff {

class UnitRunner {
 public:
  // Called for every mismatching case, in order, with its first differing element and all words; an
  // error ends the unit with that error.
  using OnMismatch = std::function<absl::Status(const CaseName&, const Mismatch&)>;

  UnitRunner(Device& device, const CaseStream& stream) : device_(device), stream_(stream) {}

  // Adds cases first .. first+count-1 to `result`: counts, digests, classes, events. On an error,
  // `result` holds what was compared before it: also the answers of a batch that a device gave
  // before it was stopped or died, to the dot product.
  absl::Status Run(uint64_t first, uint64_t count, UnitResult& result, const OnMismatch& found);
  // Executions of one Device::Run(), at most.
  static uint64_t BatchCases(const Operation& op);

 private:
  absl::Status RunBatch(uint64_t first, int64_t count, UnitResult& result, const OnMismatch& found);
  // The executions of batch_, whose answers device_words_ begins with.
  absl::Status Count(uint64_t first, UnitResult& result, const OnMismatch& found);
  // Dot products of one execution that was cut short, and the answers to them.
  absl::Status CountRest(uint64_t index, const std::vector<DotProductCase>& dots,
                         std::span<const uint64_t> device, UnitResult& result,
                         const OnMismatch& found);

  Device& device_;
  CaseStream stream_;
  Batch batch_;  // reused: a run's memory does not grow with its cases
  std::vector<uint64_t> device_words_;
  Comparison compared_;
};

// Sum of HashOfResult() over the compared words of a batch of whole executions.
Digest DigestOf(const Operation& op, const Batch& batch, std::span<const uint64_t> d);

// Adds the cases of each class among first .. first+count-1.
void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result);

// What a device answers to cases first .. first+count-1 of a stream, or the model when there is
// none, as a digest that everyone can compare: of an operation whose NaN payloads are not known,
// every NaN counts as one and the same.
absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device);

}  // namespace mmadiff
