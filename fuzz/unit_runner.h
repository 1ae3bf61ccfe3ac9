// Compares one range of cases: generate, execute, simulate, compare, digest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "fuzz/cases/case_name.h"
#include "triage/mismatch.h"
#include "triage/verdict.h"

namespace mmadiff {

// What becomes of a unit after a mismatching case. What the device has answered is never thrown away.
enum class Next : uint8_t {
  kGoOn,
  kPause,  // it ends with the batch at hand, whose other mismatching cases still come
  kStop,   // it ends with the batch at hand, whose other mismatching cases are only counted
};
// Called for every mismatching case, in order, with its first differing element and all words.
using OnMismatch = absl::FunctionRef<Next(const CaseName&, const Mismatch&)>;

class UnitRunner {
 public:
  UnitRunner(Device& device, const CaseStream& stream) : device_(device), stream_(stream) {}

  // Adds cases first .. first+count-1 to `result`: counts, digests, classes, events. Returns the
  // case after the last compared one: less than first+count after a pause. On an error, `result`
  // holds what was compared before it: also the answers of a batch that a device gave before it was
  // stopped or died, to the dot product.
  absl::StatusOr<uint64_t> Run(uint64_t first, uint64_t count, UnitResult& result,
                               OnMismatch found);
  // Executions of one Device::Run(), at most.
  static uint64_t BatchCases(const Operation& op);

 private:
  absl::Status RunBatch(uint64_t first, int64_t count, UnitResult& result, OnMismatch found);
  // The executions of batch_, whose answers device_words_ begins with.
  absl::Status Count(uint64_t first, UnitResult& result, OnMismatch found);
  // Dot products of one execution that was cut short, and the answers to them.
  void CountRest(uint64_t index, const std::vector<DotProductCase>& dots,
                 std::span<const uint64_t> device, UnitResult& result, OnMismatch found);

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
