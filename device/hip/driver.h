// The functions of AMD's HIP run time that a run needs, from libamdhip64.so, opened at run time.
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
  // hipDeviceProp_t has two layouts. For the library's layout: the size of the struct and the
  // offset of the architecture's name, in bytes.
  int (*device_properties)(void*, int);
  size_t properties_size, architecture_offset;

  int LoadModule(void** module, const void* image) const override {
    return load_module(module, image);
  }
  absl::Status Check(int result, absl::string_view what) const override;
  // "gfx942:sramecc+:xnack-".
  absl::StatusOr<std::string> ArchitectureOf(int device) const;
};

// Loaded and initialized once. MMADIFF_LIBHIP names a different library file; empty: this program.
// kNotFound if the library does not exist (IsNoLibrary) or is incomplete; otherwise as for Check().
absl::StatusOr<const HipDriver*> LoadHipDriver();

// Why HIP finds no GPU, as far as this machine shows, and the remedy: no kernel driver, no
// permission to open `kfd`, or variables that hide GPUs. "" if nothing is wrong.
std::string WhyNoGpu(const std::string& kfd = "/dev/kfd");
std::string WhyHidden();  // the variable that hides GPUs; "" if none does

// "6.3.42134" for 60342134, the encoding of hipRuntimeGetVersion().
std::string HipVersion(int version);

}  // namespace mmadiff
