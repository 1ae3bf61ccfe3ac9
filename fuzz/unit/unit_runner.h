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

// What becomes of a unit after a mismatching case. What the device has answered is never thrown away.
enum class Next : uint8_t {
  kGoOn,
  kPause,  // it ends with the batch at hand, whose other mismatching cases still come
  kStop,   // it ends with the batch at hand, whose other mismatching cases are only counted
};
// Called for every mismatching case, in order, with its first differing element and all words; where
// the device failed on an element, with that dot product alone and without its words.
using OnMismatch = absl::FunctionRef<Next(const CaseName&, const Mismatch&)>;

// How many dot products a slow device is asked at once: what it answers in ten seconds, by what it did
// before.
class Pace {
 public:
  static constexpr absl::Duration kPart = absl::Seconds(10);

  int64_t most() const { return most_; }
  // It answered so many in this time.
  void Add(int64_t dot_products, absl::Duration time);
  // So many one of its processes gave (Answers::of_one_process).
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
  // With a pace Run() ends after Pace::kPart: the unit is to be continued.
  UnitRunner(Device& device, const CaseStream& stream, Pace* pace = nullptr)
      : device_(device), stream_(stream), pace_(pace) {}

  // Adds cases first .. first+count-1 to `result`: counts, digests, classes, events. Where `result` ends
  // within a case, that is `first`, which is not asked again from its start. Returns the
  // case after the last compared one: less than first+count after a pause. On an error, `result`
  // holds what was compared before it: also the answers of a batch that a device gave before it was
  // stopped or died, to the dot product.
  absl::StatusOr<uint64_t> Run(uint64_t first, uint64_t count, UnitResult& result,
                               OnMismatch found);
  // Executions of one Device::Run(), at most.
  static uint64_t BatchCases(const Operation& op);

 private:
  // At most so many cases; the first may have been begun.
  absl::Status RunBatch(uint64_t first, int64_t count, UnitResult& result, OnMismatch found);
  // Has the device answer batch_ from a dot product on. What it fails on becomes the complement of the
  // model's word, and so a difference.
  absl::Status Ask(int64_t offset);
  // The first of the dot products on which the device failed.
  std::optional<Mismatch> FailureIn(int64_t begin, int64_t end) const;
  // What was compared last.
  absl::Status AddWords(uint64_t first_word, std::span<const uint64_t> device, UnitResult& result);
  void AddCases(uint64_t first, int64_t count, UnitResult& result);
  // The first cases of batch_, all of which are answered.
  absl::Status Count(uint64_t first, int64_t count, UnitResult& result, OnMismatch found);
  // From dot product `begin` of batch_ on: of a case that was begun before, or is not at its end.
  absl::Status CountSome(uint64_t first, int64_t begin, UnitResult& result, OnMismatch found);

  Device& device_;
  CaseStream stream_;
  Pace* const pace_;
  Batch batch_;                               // reused: a run's memory does not grow with its cases
  std::vector<uint64_t> device_words_;        // answers to batch_, as far as there are
  std::map<int64_t, InputFailure> failures_;  // by element of batch_
  uint64_t age_ = 0;                          // of the process at the first of batch_
  Comparison compared_;
};

// Sum of HashOfResult() over the compared words of a batch of whole executions.
Digest DigestOf(const Operation& op, const Batch& batch, std::span<const uint64_t> d);

// Adds the cases of each class among first .. first+count-1.
void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result);

// Device::Ask() until all is asked; what it fails on counts as a difference (CountFailures()).
absl::Status AskAll(Device& device, const Operation& op, const Batch& batch, Answers& answers);

// What a device answers to cases first .. first+count-1 of a stream, or the model when there is
// none, as a digest that everyone can compare: of an operation whose NaN payloads are not known,
// every NaN counts as one and the same. An input on which it fails counts as in a unit; without a model
// it is an error.
absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device);

}  // namespace mmadiff
