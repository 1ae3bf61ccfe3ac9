// The functions of the CUDA driver that a run needs, from libcuda.so.1 opened at run time: neither
// the CUDA Toolkit nor a driver is needed to build or to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// Types and signatures of the CUDA Driver API reference 13.0; CUresult 0 is success.
struct CudaDriver {
  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*device_count)(int*);
  int (*device)(int*, int);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int, int);
  int (*device_uuid)(void*, int);  // 16 bytes
  int (*device_pci)(char*, int, int);
  int (*retain_context)(void**, int);
  int (*set_context)(void*);
  int (*load_module)(void**, const void*, unsigned, int*, void**);
  int (*get_function)(void**, void*, const char*);
  int (*allocate)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*to_device)(uint64_t, const void*, size_t);
  int (*to_host)(void*, uint64_t, size_t);
  int (*fill)(uint64_t, unsigned, size_t);  // 32-bit words
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*synchronize)();
  int (*blocks_at_once)(int*, void*, int, size_t);  // of a multiprocessor: threads, shared bytes
  int (*error_string)(int, const char**);

  // OK for 0. `what` says what was asked; the code decides the kind of Status: no device or no
  // suitable driver is kNotFound, a kernel that was stopped kDeadlineExceeded, everything else
  // kUnavailable. The message says what to do about the usual ones.
  absl::Status Check(int result, absl::string_view what) const;
};

// Memory of the GPU that is current, freed with the object.
class DeviceMemory {
 public:
  explicit DeviceMemory(const CudaDriver& driver) : driver_(driver) {}
  ~DeviceMemory() {
    if (address_ != 0) driver_.free(address_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  absl::Status Allocate(size_t bytes);  // once
  absl::Status Fill(size_t words, uint32_t word);
  absl::Status Fill(const std::vector<uint32_t>& words);
  uint64_t* address() { return &address_; }

 private:
  const CudaDriver& driver_;
  uint64_t address_ = 0;
};

// True for a Status of Check() after which the driver refuses everything else in this process.
bool ContextIsDead(const absl::Status& status);

// The release of the driver, "580.65.06": of the kernel module, which writes it to a file, else of
// the name of the library's file; "" if neither says.
std::string DriverRelease(const std::string& module_version_file, const std::string& library_file);
std::string DriverRelease();  // of this machine

// "13.0" of 13000, as cuDriverGetVersion() counts.
std::string CudaVersion(int version);
// The least cuDriverGetVersion() of a driver that can assemble PTX of this version, "8.7".
int DriverForPtx(absl::string_view ptx_version);

// Loaded and initialised once. MMADIFF_LIBCUDA names another library file; empty: this program.
// kNotFound if the library is not there or is not whole; else as Check().
absl::StatusOr<const CudaDriver*> LoadCudaDriver();
// True for a Status of LoadCudaDriver() when no such library is installed, as on a machine that
// has no GPU. A library that cannot be loaded, or that finds no GPU, is another thing.
bool IsNoDriver(const absl::Status& status);

}  // namespace mmadiff
