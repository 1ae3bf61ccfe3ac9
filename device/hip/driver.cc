#include "device/hip/driver.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr char kResume[] =
    "nothing is lost: run the same command again; if it happens again, check dmesg (amdgpu) and "
    "rocm-smi";

constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr int kNoDevice = 100, kInvalidDevice = 101;
// By hipError_t (hip_runtime_api.h).
constexpr GpuFailure kFailures[] = {
    {2, kUnavailable, false,
     "the GPU's memory is full: check rocm-smi for other processes that use it"},
    {35, kNotFound, false, "the kernel driver is older than this HIP: install a newer amdgpu"},
    {kNoDevice, kNotFound, false, ""},
    {kInvalidDevice, kNotFound, false, ""},
    {200, kNotFound, false, "this HIP does not accept the machine code"},
    {209, kNotFound, false, "there is no machine code for this GPU"},
    {214, kUnavailable, true, kResume},  // uncorrectable memory error
    {700, kUnavailable, true, kResume},  // illegal address
    {702, absl::StatusCode::kDeadlineExceeded, true, kResume},
    {710, kUnavailable, true, kResume},  // assert of a kernel
    {719, kUnavailable, true, kResume},  // launch failed
    {999, kUnavailable, true, kResume},  // unknown
};

absl::StatusOr<void*> OpenHipLibrary() {
  constexpr char kAdvice[] =
      "install ROCm or Debian's libamdhip64-5, or set LD_LIBRARY_PATH to its folder; or use a "
      "different device";
  if (const char* path = std::getenv("MMADIFF_LIBHIP")) {
    return OpenLibrary(path, "HIP run time", kAdvice);
  }
  absl::StatusOr<void*> library;
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    library = OpenLibrary(name, "HIP run time", kAdvice);
    if (library.ok() || !IsNoLibrary(library.status())) break;
  }
  return library;
}

absl::StatusOr<const HipDriver*> Load() {
  ASSIGN_OR_RETURN(void* library, OpenHipLibrary());
  static HipDriver driver;
  const auto symbol = [&library](const char* name, auto& function) {
    return FindSymbol(library, name, function);
  };
  // Since HIP 6 the old name refers to the old layout.
  const bool new_properties = symbol("hipGetDevicePropertiesR0600", driver.device_properties);
  driver.properties_size = new_properties ? 1472 : 792;
  driver.architecture_offset = new_properties ? 1160 : 396;
  const bool complete =
      (new_properties || symbol("hipGetDeviceProperties", driver.device_properties)) &&
      symbol("hipInit", driver.init) && symbol("hipRuntimeGetVersion", driver.runtime_version) &&
      symbol("hipGetDeviceCount", driver.device_count) &&
      symbol("hipSetDevice", driver.set_device) && symbol("hipDeviceGetName", driver.device_name) &&
      symbol("hipDeviceGetAttribute", driver.device_attribute) &&
      symbol("hipDeviceGetUuid", driver.device_uuid) &&
      symbol("hipDeviceGetPCIBusId", driver.device_pci) &&
      symbol("hipModuleLoadData", driver.load_module) &&
      symbol("hipModuleGetFunction", driver.get_function) &&
      symbol("hipMemGetInfo", driver.memory) && symbol("hipMalloc", driver.allocate) &&
      symbol("hipFree", driver.free) && symbol("hipMemcpyHtoD", driver.to_device) &&
      symbol("hipMemcpyDtoH", driver.to_host) && symbol("hipMemsetD32", driver.fill) &&
      symbol("hipModuleLaunchKernel", driver.launch) &&
      symbol("hipDeviceSynchronize", driver.synchronize) &&
      symbol("hipStreamQuery", driver.query) &&
      symbol("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", driver.blocks_at_once) &&
      symbol("hipGetErrorString", driver.error_string);
  if (!complete) return absl::NotFoundError("libamdhip64 lacks functions of HIP 5.2 and newer");
  RETURN_IF_ERROR(driver.ReadTimeout());
  RETURN_IF_ERROR(driver.Check(driver.init(0), "starting HIP"));
  return &driver;
}

}  // namespace

absl::Status HipDriver::Check(int result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const char* text = error_string(result);
  const std::string message = absl::StrCat(what, ": ", text == nullptr ? "unknown error" : text,
                                           " (HIP error ", result, ")");
  const std::string why = result == kNoDevice || result == kInvalidDevice ? WhyNoGpu() : "";
  return StatusOf(kFailures, result, why.empty() ? message : absl::StrCat(message, "; ", why));
}

absl::StatusOr<std::string> HipDriver::ArchitectureOf(int device) const {
  std::vector<char> properties(properties_size + 1);
  RETURN_IF_ERROR(Check(device_properties(properties.data(), device), "querying the GPU"));
  return std::string(properties.data() + architecture_offset);
}

absl::StatusOr<const HipDriver*> LoadHipDriver() {
  static const absl::StatusOr<const HipDriver*>& loaded =
      *new absl::StatusOr<const HipDriver*>(Load());
  return loaded;
}

std::string WhyNoGpu(const std::string& kfd) {
  if (access(kfd.c_str(), F_OK) != 0) {
    return absl::StrCat(
        kfd, " does not exist: there is no AMD GPU, its kernel driver amdgpu is not ",
        "loaded, or a container was started without --device=/dev/kfd ", "--device=/dev/dri");
  }
  if (access(kfd.c_str(), R_OK | W_OK) != 0) {
    return absl::StrCat("this user may not open ", kfd,
                        ": add the user to the groups render and video");
  }
  return WhyHidden();
}

std::string WhyHidden() {
  for (const char* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* set = std::getenv(name)) {
      return absl::StrCat(name, "='", set, "' hides the other GPUs");
    }
  }
  return "";
}

std::string HipVersion(int version) {
  return absl::StrCat(version / 10000000, ".", version / 100000 % 100, ".", version % 100000);
}

}  // namespace mmadiff
