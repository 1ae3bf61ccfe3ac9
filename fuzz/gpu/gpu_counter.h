// Has a GPU generate, execute, simulate, compare and count cases by itself (resident.cu), copies
// the results back and checks their consistency.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "device/gpu/gpu_device.h"
#include "fuzz/gpu/resident_compare.h"

namespace mmadiff {

// The GPU's results for a portion of cases.
struct Counted {
  ResidentCounters counters = {};
  Digest device = 0, model = 0;
  std::vector<uint64_t> flagged;  // all cases with a differing word, ascending
};

// The kernel that compares; it must be available (GpuCounter::Supports()).
Path PathOf(const Model& model);

// The kernels of resident.cu for a launch, in order; the instruction's own kernel runs after the
// first.
std::vector<const char*> ResidentKernels(const Model& model);

// How a kernel is launched for a job.
struct LaunchShape {
  int64_t blocks;
  int threads;
  size_t shared_bytes;
};

// For "generate", "trace" or the compare kernel. `blocks_at_once`: number of blocks that the GPU
// holds at once; the compare kernel uses one round of them.
LaunchShape LaunchShapeOf(absl::string_view kernel, const ResidentJob& job, int64_t blocks_at_once);

// One object serves one thread, like its device.
class GpuCounter {
 public:
  static constexpr int64_t kMaxCases = kMaxPlaces;  // maximum for one launch

  // kFailedPrecondition: this build has no image, so units run at the speed of the host. Otherwise
  // the device's errors.
  static absl::StatusOr<std::unique_ptr<GpuCounter>> Create(GpuDevice& device,
                                                            absl::string_view image);
  // Whether kernels exist for the arithmetic and the generator of the stream.
  static bool Supports(const CaseStream& stream);

  GpuDevice& device() const { return device_; }
  // From now on, kernels run one after the other, and their seconds are summed here by name: the
  // instruction's own kernel as "instruction", clearing its results as "fill".
  void set_seconds(std::map<std::string, double>* seconds) { seconds_ = seconds; }
  // Compares cases first .. first+count-1 with `model`, at most `most_at_once` per launch.
  // kDataLoss if counts, flags and digests contradict each other, if not everything was generated
  // or compared, or if operands differ from those of their names.
  absl::Status Count(const CaseStream& stream, const Model& model, uint64_t first, uint64_t count,
                     int64_t most_at_once, Counted& counted);

 private:
  // Consecutive in `memory_`.
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
  GpuCounter(GpuDevice& device, void* module)
      : device_(device), driver_(device.driver()), module_(module) {}

  // The address of the memory, which grows but never shrinks.
  absl::StatusOr<uint64_t> Reserve(size_t bytes);
  absl::StatusOr<size_t> ScratchBytes();
  absl::StatusOr<void*> Function(const std::string& name);
  absl::Status Launch(const std::string& kernel, ResidentJob& job);
  // If kernels are timed, attributes everything launched since the last call to `kernel`.
  absl::Status Timed(const std::string& kernel);
  // Fills in everything that does not change between launches.
  absl::Status Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                       uint64_t counted, ResidentJob& job);
  absl::Status Wait();
  absl::Status Clear(uint64_t count, const ResidentJob& job);
  // One launch of each kernel, for the cases of the job.
  absl::Status Execute(const LoadedKernel& loaded, ResidentJob& job);
  // Checks that two cases of the last launch have the operands of their names.
  absl::Status CheckOperands(const CaseStream& stream, const ResidentJob& job);
  absl::Status Collect(const CaseStream& stream, uint64_t first, uint64_t count,
                       const ResidentJob& job, Counted& counted);

  GpuDevice& device_;
  const GpuDriver& driver_;
  void* const module_;
  size_t scratch_ = 0;  // bytes; 0: not yet known
  std::unique_ptr<DeviceMemory> memory_;
  size_t reserved_ = 0;  // bytes
  std::map<std::string, void*> functions_;
  std::map<std::string, double>* seconds_ = nullptr;
  absl::Duration timed_;  // time of the last call of Timed()
};

}  // namespace mmadiff
