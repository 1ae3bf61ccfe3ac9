// `cuda:N`: the matrix instructions of an NVIDIA GPU, through the driver alone.
#pragma once

#include <bitset>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/driver.h"
#include "device/cuda/kernel.h"
#include "device/cuda/kernel_images.h"
#include "device/device.h"

namespace mmadiff {

struct LoadedKernel {
  Kernel kernel;
  void* function = nullptr;  // of the driver
};

// Of a GPU, by the numbers that its kernels see (%smid).
using Multiprocessors = std::bitset<1024>;

// What results are filled with before a launch, another each time: what a kernel does not write is
// seen, and does not repeat. And for the numbers of multiprocessors, none.
uint32_t FillPattern();
inline constexpr uint32_t kNowhere = ~0u;

// What else a GPU can do for whoever writes kernels of its own (fuzz/gpu/resident.h).
class CudaDevice : public Device {
 public:
  virtual const CudaDriver& driver() const = 0;
  virtual int multiprocessors() const = 0;
  // Those that have answered, for whoever runs kernels of its own to add to.
  virtual Multiprocessors& answered() = 0;
  // For the calling thread, before other calls of the driver.
  virtual absl::Status MakeCurrent() = 0;
  // The kernel of a supported operation, loaded.
  virtual absl::StatusOr<const LoadedKernel*> Load(const Operation& op) = 0;
};

// "N": GPU number N, in decimal. "N" + SuffixOf(variant): the instructions that have the choice get
// their operands otherwise (device/cuda/variant.h), as in "0,a=registers" or "0,layout=col.row,c=col".
// kNotFound without a driver or without that GPU.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCuda(absl::string_view argument);

// The same with other machine code than this build's. It is used if the driver is not older than
// the toolkit that made it, for the instructions that it has (IsBuiltEntry()); for all others the
// driver assembles PTX text.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCudaWith(absl::string_view argument,
                                                         KernelImages images);

}  // namespace mmadiff
