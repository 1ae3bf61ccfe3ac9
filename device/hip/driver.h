// The functions of AMD's HIP run time that a run needs, from libamdhip64.so opened at run time.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/gpu/driver.h"

namespace mmadiff {

// Types and signatures of hip_runtime_api.h, the same in HIP 5.2 and 6.3.
struct HipDriver : GpuDriver {
  int (*runtime_version)(int*);
  int (*set_device)(int);
  int (*device_uuid)(void*, int);  // 16 bytes
  int (*load_module)(void**, const void*);
  const char* (*error_string)(int);
  // hipDeviceProp_t has two layouts. Of that which the library has: its size and where it names the
  // architecture, bytes.
  int (*device_properties)(void*, int);
  size_t properties_size, architecture_offset;

  int LoadModule(void** module, const void* image) const override {
    return load_module(module, image);
  }
  absl::Status Check(int result, absl::string_view what) const override;
  // "gfx942:sramecc+:xnack-".
  absl::StatusOr<std::string> ArchitectureOf(int device) const;
};

// Loaded and initialised once. MMADIFF_LIBHIP names another library file; empty: this program.
// kNotFound if the library is not there (IsNoLibrary) or is not whole; else as Check().
absl::StatusOr<const HipDriver*> LoadHipDriver();

// Why HIP sees no GPU, as far as this machine tells, and what to do: no kernel driver, no right to
// open `kfd`, or variables that hide GPUs. "" if nothing is wrong.
std::string WhyNoGpu(const std::string& kfd = "/dev/kfd");
std::string WhyHidden();  // which variable hides GPUs; "" if none does

// "6.3.42134" of 60342134, as hipRuntimeGetVersion() counts.
std::string HipVersion(int version);

}  // namespace mmadiff
