// Has a GPU make, execute, simulate, compare and count cases by itself (resident.cu), and brings
// home what it says, checked against itself.
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

// What the GPU says of a portion of cases.
struct Counted {
  ResidentCounters counters = {};
  Digest device = 0, model = 0;
  std::vector<uint64_t> flagged;  // cases with a word that differs, ascending, all of them
};

// Which kernel compares; it must be among the kernels (GpuCounter::Supports()).
Path PathOf(const Model& model);

// The kernels of resident.cu that a launch needs, in their order; the instruction's own comes
// behind the first.
std::vector<const char*> ResidentKernels(const Model& model);

// How a kernel is launched for a job.
struct LaunchShape {
  int64_t blocks;
  int threads;
  size_t shared_bytes;
};

// Of "generate", "trace" or the kernel that compares.
// `blocks_at_once`: so many blocks the GPU holds at once; what compares takes one round of them.
LaunchShape LaunchShapeOf(absl::string_view kernel, const ResidentJob& job, int64_t blocks_at_once);

// One object serves one thread, as its device.
class GpuCounter {
 public:
  static constexpr int64_t kMaxCases = kMaxPlaces;  // of one launch

  // kFailedPrecondition: this build has no image, so that units run at the speed of the host. Else
  // the device's own errors.
  static absl::StatusOr<std::unique_ptr<GpuCounter>> Create(GpuDevice& device,
                                                            absl::string_view image);
  // Whether the arithmetic and the generator of the stream are among the kernels.
  static bool Supports(const CaseStream& stream);

  GpuDevice& device() const { return device_; }
  // From now on kernels run one after the other, and their seconds are added up here by name; those
  // of the instruction's own as "instruction", and of what clears its results as "fill".
  void set_seconds(std::map<std::string, double>* seconds) { seconds_ = seconds; }
  // Cases first .. first+count-1 against `model`, at most `most_at_once` in a launch. kDataLoss if
  // counts, flags and digests contradict each other, not all was made or compared, or operands are
  // others than their names say.
  absl::Status Count(const CaseStream& stream, const Model& model, uint64_t first, uint64_t count,
                     int64_t most_at_once, Counted& counted);

 private:
  // One after the other in `memory_`.
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

  // The address of memory that grows and stays.
  absl::StatusOr<uint64_t> Reserve(size_t bytes);
  absl::StatusOr<size_t> ScratchBytes();
  absl::StatusOr<void*> Function(const std::string& name);
  absl::Status Launch(const std::string& kernel, ResidentJob& job);
  // If kernels are timed, what was launched since the last call is `kernel`.
  absl::Status Timed(const std::string& kernel);
  // Fills in what does not change from launch to launch.
  absl::Status Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                       uint64_t counted, ResidentJob& job);
  absl::Status Wait();
  absl::Status Clear(uint64_t count, const ResidentJob& job);
  // One launch of each kernel, for the cases of the job.
  absl::Status Execute(const LoadedKernel& loaded, ResidentJob& job);
  // Two cases of the launch that was made last have the operands that their names say.
  absl::Status CheckOperands(const CaseStream& stream, const ResidentJob& job);
  absl::Status Collect(const CaseStream& stream, uint64_t first, uint64_t count,
                       const ResidentJob& job, Counted& counted);

  GpuDevice& device_;
  const GpuDriver& driver_;
  void* const module_;
  size_t scratch_ = 0;  // bytes; 0: not known yet
  std::unique_ptr<DeviceMemory> memory_;
  size_t reserved_ = 0;  // bytes
  std::map<std::string, void*> functions_;
  std::map<std::string, double>* seconds_ = nullptr;
  absl::Duration timed_;  // the last call of Timed()
};

}  // namespace mmadiff
