// Runs that stay on a GPU: cases are made, executed, simulated, compared and counted there, and
// nothing but the counters of a unit comes back. Bits, digests and counts equal those of
// UnitRunner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/cuda.h"
#include "fuzz/gpu/resident_kernels.h"
#include "fuzz/unit_runner.h"

namespace mmadiff {

// The machine code of resident.cu for all targets; empty in a build without the CUDA Toolkit.
absl::string_view ResidentImage();

// One object serves one thread, as its device.
class ResidentRunner {
 public:
  // kFailedPrecondition: this build has no image, so that units run at the speed of the host. Else
  // the device's own errors.
  static absl::StatusOr<std::unique_ptr<ResidentRunner>> Create(
      CudaDevice& device, absl::string_view image = ResidentImage());

  // Whether the arithmetic and the strategy of the stream are among the kernels.
  static bool Supports(const CaseStream& stream);

  // As UnitRunner::Run(), for a stream that is supported. Cases with a differing word are
  // asked again one by one through a UnitRunner, which reports them; kDataLoss, with the
  // multiprocessors, if one does not give the same wrong word again, or if counts, flags and
  // digests contradict each other. The first call for a stream tests itself: the host's digests and
  // flags for the same cases, in one launch and in several, near and far, and a planted fault that
  // must be flagged; kInternal otherwise, and from then on.
  absl::Status Run(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result,
                   const UnitRunner::OnMismatch& found);

  // The device's digest of the cases alone, under the same conditions.
  absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count);

 private:
  // A buffer that grows and stays.
  struct Buffer {
    std::unique_ptr<DeviceMemory> memory;
    size_t bytes = 0;
  };
  enum Buffers {
    kA,
    kB,
    kC,
    kPackedA,
    kPackedB,
    kPackedC,
    kD,
    kWhere,
    kFlags,
    kTables,
    kCounters,
    kBuffers
  };
  // What the GPU says of a portion of cases.
  struct Counted {
    ResidentCounters counters = {};
    Digest device = 0, model = 0;
    std::vector<uint64_t> flagged;  // cases with a word that differs, ascending, all of them
  };

  ResidentRunner(CudaDevice& device, void* module, int multiprocessors)
      : device_(device), module_(module), multiprocessors_(multiprocessors) {}

  absl::StatusOr<uint64_t> Reserve(Buffers which, size_t bytes);
  absl::StatusOr<void*> Function(const std::string& name);
  absl::Status Launch(const std::string& kernel, int64_t blocks, int threads, size_t shared,
                      ResidentJob& job);
  // Fills in what does not change from launch to launch.
  absl::Status Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                       uint64_t counted, ResidentJob& job);
  absl::Status Clear(uint64_t count, const ResidentJob& job);
  // One launch of each kernel, for the cases of the job.
  absl::Status Execute(const LoadedKernel& loaded, ResidentJob& job);
  // Two cases of the launch that was made last have the operands that their names say.
  absl::Status CheckOperands(const CaseStream& stream, const ResidentJob& job);
  absl::Status Collect(const CaseStream& stream, uint64_t first, uint64_t count,
                       const ResidentJob& job, Counted& counted);
  // At most `most_at_once` cases a launch.
  absl::Status Count(const CaseStream& stream, const Model& model, uint64_t first, uint64_t count,
                     int64_t most_at_once, Counted& counted);
  // Once for a stream.
  absl::Status SelfTest(const CaseStream& stream);
  absl::Status TestAgainstHost(const CaseStream& stream);
  absl::Status TestCases(const CaseStream& stream, const Model& model, uint64_t first,
                         uint64_t count, int64_t most_at_once, bool& found);
  absl::Status RunPortion(const CaseStream& stream, uint64_t first, uint64_t count,
                          UnitResult& result, const UnitRunner::OnMismatch& found);
  absl::Status Confirm(const CaseStream& stream, const Counted& counted,
                       const UnitRunner::OnMismatch& found);
  absl::Status Unconfirmed(const CaseStream& stream, const Counted& counted, uint64_t index,
                           const FlaggedCase* flagged) const;

  CudaDevice& device_;
  void* const module_;
  const int multiprocessors_;
  Buffer buffers_[kBuffers];
  std::map<std::string, void*> functions_;
  std::map<std::string, absl::Status> tested_;  // what the self-test of a stream said
};

}  // namespace mmadiff
