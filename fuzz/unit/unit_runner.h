// Compares one range of cases: generate, execute, simulate, compare, digest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "triage/mismatch.h"
#include "triage/verdict.h"

namespace mmadiff {

// How a unit continues after a mismatching case. Answers of the device are never discarded.
enum class Next : uint8_t {
  kGoOn,
  kPause,  // it ends with the current batch, whose other mismatching cases are still delivered
  kStop,   // it ends with the current batch, whose other mismatching cases are only counted
};
// Called for every mismatching case, in order, with its first differing element and all words; if
// the device failed on an element, with that dot product only and without words.
using OnMismatch = absl::FunctionRef<Next(const CaseName&, const Mismatch&)>;

// Number of dot products per query of a slow device: as many as it answers in ten seconds, judged
// by its earlier answers.
class Pace {
 public:
  static constexpr absl::Duration kPart = absl::Seconds(10);

  int64_t most() const { return most_; }
  // Reports the number of answers in `time`.
  void Add(int64_t dot_products, absl::Duration time);
  // Reports the number of answers from one process (Answers::of_one_process).
  void AddProcess(uint64_t dot_products) {
    of_one_process_ = std::max(of_one_process_, dot_products);
  }
  uint64_t of_one_process() const { return of_one_process_; }

 private:
  int64_t most_ = 8;
  uint64_t of_one_process_ = 0;
};

class UnitRunner {
 public:
  // With a pace, Run() ends after Pace::kPart; the unit must then be continued.
  UnitRunner(Device& device, const CaseStream& stream, Pace* pace = nullptr)
      : device_(device), stream_(stream), pace_(pace) {}

  // Adds cases first .. first+count-1 to `result`: counts, digests, classes, events. If `result`
  // ends within a case, that case is `first`, and it is not queried again from its start. Returns
  // the case after the last compared one: less than first+count after a pause. On an error,
  // `result` has everything compared before it, including the answers, down to the dot product, of
  // a batch during which the device was stopped or exited.
  absl::StatusOr<uint64_t> Run(uint64_t first, uint64_t count, UnitResult& result,
                               OnMismatch found);
  // Maximum number of executions per Device::Run().
  static uint64_t BatchCases(const Operation& op);

 private:
  // At most `count` cases; the first may already be partly done.
  absl::Status RunBatch(uint64_t first, int64_t count, UnitResult& result, OnMismatch found);
  // Queries the device for batch_ from dot product `offset` on. A dot product on which it fails
  // gets the complement of the model's word, and so counts as a mismatch.
  absl::Status Ask(int64_t offset);
  // The first of the dot products on which the device failed.
  std::optional<Mismatch> FailureIn(int64_t begin, int64_t end) const;
  // Adds the words compared last.
  absl::Status AddWords(uint64_t first_word, std::span<const uint64_t> device, UnitResult& result);
  void AddCases(uint64_t first, int64_t count, UnitResult& result);
  // Counts the first cases of batch_, all of which are answered.
  absl::Status Count(uint64_t first, int64_t count, UnitResult& result, OnMismatch found);
  // Counts batch_ from dot product `begin` on: a case that was begun before or is unfinished.
  absl::Status CountSome(uint64_t first, int64_t begin, UnitResult& result, OnMismatch found);

  Device& device_;
  CaseStream stream_;
  Pace* const pace_;
  Batch batch_;                               // reused: a run's memory does not grow with its cases
  std::vector<uint64_t> device_words_;        // the answers to batch_ so far
  std::map<int64_t, InputFailure> failures_;  // by element of batch_
  uint64_t age_ = 0;  // age of the process at the first dot product of batch_
  Comparison compared_;
};

// Sum of HashOfResult() over the compared words of a batch of whole executions.
Digest DigestOf(const Operation& op, const Batch& batch, std::span<const uint64_t> d);

// Adds the cases of each class among first .. first+count-1.
void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result);

// Calls Device::Ask() until all dot products were queried; a failure counts as a mismatch
// (CountFailures()).
absl::Status AskAll(Device& device, const Operation& op, const Batch& batch, Answers& answers);

// The digest of a device's answers (or of the model's, without a device) to cases first ..
// first+count-1 of a stream. It is comparable across devices: for an operation with unknown NaN
// payloads, all NaNs count as the same word. An input on which the device fails counts as in a
// unit; without a model it is an error.
absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device);

}  // namespace mmadiff
