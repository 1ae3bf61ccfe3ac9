// Runs that stay on a GPU: cases are made, executed, simulated, compared and counted there, and
// nothing but the counters of a unit comes back. Bits, digests and counts equal those of
// UnitRunner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/cuda.h"
#include "fuzz/resident_kernels.h"
#include "fuzz/unit_runner.h"

namespace mmadiff {

// The machine code of resident.cu for all targets; empty in a build without the CUDA Toolkit.
absl::string_view ResidentImage();

// One object serves one thread, as its device.
class ResidentRunner {
 public:
  // kNotFound: the device is no GPU, or the build has no image. Else the device's own errors.
  static absl::StatusOr<std::unique_ptr<ResidentRunner>> Create(
      Device& device, absl::string_view image = ResidentImage());

  // Whether the arithmetic and the strategy of the stream are among the kernels.
  static bool Supports(const CaseStream& stream);

  // As UnitRunner::Run(), for a stream that is supported. Cases with a differing word are run again
  // one by one by a UnitRunner, which reports them; kDataLoss if one does not differ again. The
  // first call for a row tests itself: the host's digests for the same cases, and a planted fault
  // that must be flagged; kInternal otherwise.
  absl::Status Run(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result,
                   const UnitRunner::OnMismatch& found);

  // The device's digest of the cases alone.
  absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count);

 private:
  // A buffer that grows and stays.
  struct Buffer {
    std::unique_ptr<DeviceMemory> memory;
    size_t bytes = 0;
  };
  enum Buffers { kA, kB, kC, kPackedA, kPackedB, kPackedC, kD, kTables, kCounters, kBuffers };

  ResidentRunner(CudaDevice& device, void* module, int multiprocessors)
      : device_(device), module_(module), multiprocessors_(multiprocessors) {}

  absl::StatusOr<uint64_t> Reserve(Buffers which, size_t bytes);
  absl::StatusOr<void*> Function(const std::string& name);
  absl::Status Launch(const std::string& kernel, int64_t blocks, int threads, size_t shared,
                      ResidentJob& job);
  // Fills in what does not change from launch to launch.
  absl::Status Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                       ResidentJob& job);
  absl::Status Count(const CaseStream& stream, const Model& model, uint64_t first, uint64_t count,
                     ResidentCounters& counters);
  // Once for a stream.
  absl::Status SelfTest(const CaseStream& stream);
  absl::Status Report(const CaseStream& stream, uint64_t first, uint64_t count,
                      const ResidentCounters& counters, UnitResult& result,
                      const UnitRunner::OnMismatch& found);

  CudaDevice& device_;
  void* const module_;
  const int multiprocessors_;
  Buffer buffers_[kBuffers];
  std::map<std::string, void*> functions_;
  std::set<std::string> tested_;  // streams
};

}  // namespace mmadiff
