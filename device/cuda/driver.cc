#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

absl::StatusOr<const CudaDriver*> Load() {
  const char* path = std::getenv("MMADIFF_LIBCUDA");
  if (path == nullptr) path = "libcuda.so.1";
  void* library = dlopen(*path == '\0' ? nullptr : path, RTLD_NOW);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("no CUDA driver here (", dlerror(),
                                            "): install NVIDIA's driver, or use another device"));
  }
  static CudaDriver driver;
  const auto symbol = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  const bool complete =
      symbol("cuInit", driver.init) && symbol("cuDriverGetVersion", driver.driver_version) &&
      symbol("cuDeviceGetCount", driver.device_count) && symbol("cuDeviceGet", driver.device) &&
      symbol("cuDeviceGetName", driver.device_name) &&
      symbol("cuDeviceGetAttribute", driver.device_attribute) &&
      symbol("cuDevicePrimaryCtxRetain", driver.retain_context) &&
      symbol("cuCtxSetCurrent", driver.set_context) &&
      symbol("cuModuleLoadDataEx", driver.load_module) &&
      symbol("cuModuleGetFunction", driver.get_function) &&
      symbol("cuMemAlloc_v2", driver.allocate) && symbol("cuMemFree_v2", driver.free) &&
      symbol("cuMemcpyHtoD_v2", driver.to_device) && symbol("cuMemcpyDtoH_v2", driver.to_host) &&
      symbol("cuLaunchKernel", driver.launch) && symbol("cuCtxSynchronize", driver.synchronize) &&
      symbol("cuGetErrorString", driver.error_string);
  if (!complete) {
    return absl::NotFoundError(absl::StrCat(path, " lacks functions of the CUDA driver"));
  }
  if (absl::Status s = driver.Check(driver.init(0), "starting the CUDA driver"); !s.ok()) return s;
  return &driver;
}

}  // namespace

absl::Status CudaDriver::Check(int result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const char* text = nullptr;
  if (error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  const std::string message = absl::StrCat(what, ": ", text, " (CUDA error ", result, ")");
  // CUDA_ERROR_STUB_LIBRARY, NO_DEVICE, INVALID_DEVICE, SYSTEM_DRIVER_MISMATCH
  const bool absent = result == 34 || result == 100 || result == 101 || result == 803;
  return absent ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

absl::Status DeviceMemory::Allocate(size_t bytes) {
  return driver_.Check(driver_.allocate(&address_, std::max<size_t>(bytes, 4)),
                       absl::StrCat("allocating ", bytes, " bytes on the GPU"));
}

absl::Status DeviceMemory::Fill(const std::vector<uint32_t>& words) {
  if (absl::Status s = Allocate(4 * words.size()); !s.ok()) return s;
  return driver_.Check(driver_.to_device(address_, words.data(), 4 * words.size()),
                       "copying operands to the GPU");
}

absl::StatusOr<const CudaDriver*> LoadCudaDriver() {
  static const absl::StatusOr<const CudaDriver*>& loaded =
      *new absl::StatusOr<const CudaDriver*>(Load());
  return loaded;
}

}  // namespace mmadiff
