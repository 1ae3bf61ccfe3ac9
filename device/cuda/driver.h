// The functions of the CUDA driver that a run needs, from libcuda.so.1, opened at run time.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/gpu/driver.h"

namespace mmadiff {

// Types and signatures of the CUDA Driver API reference 13.0.
struct CudaDriver : GpuDriver {
  int (*driver_version)(int*);
  int (*device)(int*, int);
  int (*device_uuid)(void*, int);  // 16 bytes
  int (*retain_context)(void**, int);
  int (*set_context)(void*);
  int (*load_module)(void**, const void*, unsigned, int*, void**);
  int (*error_string)(int, const char**);

  int LoadModule(void** module, const void* image) const override {
    return load_module(module, image, 0, nullptr, nullptr);
  }
  absl::Status Check(int result, absl::string_view what) const override;
};

// The release of the driver, "580.65.06": from the file that the kernel module writes, or from the
// name of the library's file; "" if neither has it.
std::string DriverRelease(const std::string& module_version_file, const std::string& library_file);
std::string DriverRelease();  // this machine's

// "13.0" for 13000, the encoding of cuDriverGetVersion().
std::string CudaVersion(int version);
// The lowest cuDriverGetVersion() of a driver that can assemble PTX of this version, "8.7".
int DriverForPtx(absl::string_view ptx_version);

// Loaded and initialized once. MMADIFF_LIBCUDA names a different library file; empty: this program.
// kNotFound if the library does not exist (IsNoLibrary) or is incomplete; otherwise as for Check().
absl::StatusOr<const CudaDriver*> LoadCudaDriver();

}  // namespace mmadiff
