// GPU-resident runs: cases are generated, executed, simulated, compared and counted on the GPU;
// only the counters of a unit are copied back. Bits, digests and counts equal those of UnitRunner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/gpu/gpu_device.h"
#include "fuzz/gpu/gpu_counter.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {

// One object serves one thread, like its device.
class ResidentRunner {
 public:
  // Errors as for GpuCounter::Create().
  static absl::StatusOr<std::unique_ptr<ResidentRunner>> Create(GpuDevice& device,
                                                                absl::string_view image);

  static bool Supports(const CaseStream& stream) { return GpuCounter::Supports(stream); }

  // Like UnitRunner::Run(), for a supported stream. Cases with a differing word are repeated one by
  // one through a UnitRunner, which reports them. kDataLoss, with the multiprocessors, if a case
  // does not give the same wrong word again, or if counts, flags and digests contradict each other.
  // kPause ends the unit with that case, since a launch may have millions of differing cases; kStop
  // ends it with the launch. The first call for a stream runs a self-test: the GPU must give the
  // host's digests and flags for the same cases, in one launch and in several, near and far, and
  // must flag a planted fault; otherwise this and all later calls return kInternal.
  absl::StatusOr<uint64_t> Run(const CaseStream& stream, uint64_t first, uint64_t count,
                               UnitResult& result, OnMismatch found);

  // Only the device's digest of the cases, under the same conditions.
  absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count);

 private:
  explicit ResidentRunner(std::unique_ptr<GpuCounter> counter) : counter_(std::move(counter)) {}

  // Runs once per stream.
  absl::Status SelfTest(const CaseStream& stream);
  absl::Status TestAgainstHost(const CaseStream& stream);
  // Compares the GPU's counts with the host's for the same cases and a model that may be wrong.
  // Returns whether the GPU found a mismatch.
  absl::StatusOr<bool> TestCases(const CaseStream& stream, const Model& model, uint64_t first,
                                 uint64_t count, int64_t most_at_once);
  // Returns the case after the last one compared.
  absl::StatusOr<uint64_t> RunPortion(const CaseStream& stream, uint64_t first, uint64_t count,
                                      UnitResult& result, OnMismatch found);
  // Returns the number of confirmed flagged cases: all, unless `found` pauses.
  absl::StatusOr<size_t> Confirm(const CaseStream& stream, const Counted& counted,
                                 OnMismatch found);
  // Counts again up to the last of the first `confirmed` flagged cases.
  absl::Status CutAfter(const CaseStream& stream, uint64_t first, size_t confirmed,
                        Counted& counted);
  absl::Status Unconfirmed(const CaseStream& stream, const Counted& counted, uint64_t index,
                           const FlaggedCase* flagged) const;

  std::unique_ptr<GpuCounter> counter_;
  uint64_t portion_ = 1 << 12;                  // number of cases that take some tenths of a second
  std::map<std::string, absl::Status> tested_;  // results of the self-tests, by stream
};

}  // namespace mmadiff
