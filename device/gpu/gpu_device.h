// The part of a GPU device that all vendors share: operands packed into the words of kernels,
// launches, results checked and unpacked.
#pragma once

#include <bitset>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "device/gpu/driver.h"
#include "device/gpu/fragments.h"
#include "device/gpu/kernel.h"

namespace mmadiff {

struct LoadedKernel {
  Kernel kernel;
  void* function = nullptr;  // the driver's
};

// The processors of a GPU, by the numbers that its kernels write (Kernel::text).
using Processors = std::bitset<4096>;

// The value that results are filled with before a launch, different for each launch: a word that a
// kernel does not write is detected because it changes from launch to launch. kNowhere is the fill
// value for processor numbers, and is not a valid number.
uint32_t FillPattern();
inline constexpr uint32_t kNowhere = ~0u;

// The unit, "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", and pci. `uuid_of` is the driver's function
// for the 16 bytes of a GPU.
absl::StatusOr<Hardware> HardwareOf(const GpuDriver& driver, int (*uuid_of)(void*, int),
                                    int device);

// A driver's facts about a GPU that was opened.
struct GpuFacts {
  std::string name;  // "cuda:0"
  Identity identity;
  Hardware hardware;
  int processors = 0;  // multiprocessors or compute units
};

class GpuDevice : public Device {
 public:
  std::string name() const override { return facts_.name; }
  Identity identity() const override { return facts_.identity; }
  Hardware hardware() const override;
  // Supports the instructions of the GPU, except those whose layout was found wrong.
  absl::Status Supports(const Operation& op) const final;
  // Probes an instruction's layout before its first use (device/one_hot.h). After a sticky failure
  // (device/gpu/driver.h) every answer is kUnavailable.
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) final;

  // For code that runs its own kernels (fuzz/gpu/resident.h): the target of machine code ("sm_90a",
  // "gfx942"); the number of multiprocessors or compute units, and those that have answered, which
  // the caller may add to; the call needed before other driver calls in a thread; the loaded kernel
  // of a supported operation; the address of the last kernel argument, after the addresses of
  // Kernel::text, nullptr: none.
  const GpuDriver& driver() const { return driver_; }
  virtual absl::string_view target() const = 0;
  int processors() const { return facts_.processors; }
  Processors& answered() { return answered_; }
  virtual absl::Status MakeCurrent() = 0;
  absl::StatusOr<const LoadedKernel*> Load(const Operation& op);
  virtual void* LastArgument() { return nullptr; }

 protected:
  GpuDevice(const GpuDriver& driver, GpuFacts facts) : driver_(driver), facts_(std::move(facts)) {}

  // kNotFound with the reason why the GPU does not have the instruction of the operation.
  virtual absl::Status HasOperation(const Operation& op) const = 0;
  virtual Kernel KernelFor(const Instruction& instruction) const = 0;
  // The driver's module that contains the kernel.
  virtual absl::StatusOr<void*> ModuleFor(const Instruction& instruction, const Kernel& kernel) = 0;

 private:
  absl::Status RunAlive(const Operation& op, const Batch& batch, std::vector<uint64_t>& d);
  absl::Status ConfirmLayout(const Operation& op);
  absl::Status RunPortion(const LoadedKernel& loaded, const Fragments& fragments,
                          const Batch& batch, int64_t first, int64_t count, uint64_t* results);
  // D after a launch, and where its executions ran.
  struct Left {
    std::vector<uint32_t> out, where;
    uint32_t pattern;
  };
  absl::Status Launch(const LoadedKernel& loaded, const PackedOperands& in, int64_t count,
                      Left& left);
  absl::Status CheckWhere(const Kernel& kernel, const Left& left);

  const GpuDriver& driver_;
  const GpuFacts facts_;  // its hardware without the processors that have answered
  Processors answered_;
  std::map<std::string, LoadedKernel> kernels_;  // by instruction
  std::map<std::string, absl::Status> layouts_;  // result of the probe of each instruction
  absl::Status dead_;                            // once not OK, stays so
};

}  // namespace mmadiff
