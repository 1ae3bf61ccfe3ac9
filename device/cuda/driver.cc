#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

absl::StatusOr<const CudaDriver*> Load() {
  const char* path = std::getenv("MMADIFF_LIBCUDA");
  if (path == nullptr) path = "libcuda.so.1";
  ASSIGN_OR_RETURN(
      void* library,
      OpenLibrary(path, "CUDA driver", "install NVIDIA's driver, or use a different device"));
  static CudaDriver driver;
  const auto symbol = [&library](const char* name, auto& function) {
    return FindSymbol(library, name, function);
  };
  const bool complete =
      symbol("cuInit", driver.init) && symbol("cuDriverGetVersion", driver.driver_version) &&
      symbol("cuDeviceGetCount", driver.device_count) && symbol("cuDeviceGet", driver.device) &&
      symbol("cuDeviceGetName", driver.device_name) &&
      symbol("cuDeviceGetAttribute", driver.device_attribute) &&
      symbol("cuDeviceGetUuid_v2", driver.device_uuid) &&
      symbol("cuDeviceGetPCIBusId", driver.device_pci) &&
      symbol("cuDevicePrimaryCtxRetain", driver.retain_context) &&
      symbol("cuCtxSetCurrent", driver.set_context) &&
      symbol("cuModuleLoadDataEx", driver.load_module) &&
      symbol("cuModuleGetFunction", driver.get_function) &&
      symbol("cuMemGetInfo_v2", driver.memory) && symbol("cuMemAlloc_v2", driver.allocate) &&
      symbol("cuMemFree_v2", driver.free) && symbol("cuMemcpyHtoD_v2", driver.to_device) &&
      symbol("cuMemcpyDtoH_v2", driver.to_host) && symbol("cuMemsetD32_v2", driver.fill) &&
      symbol("cuLaunchKernel", driver.launch) && symbol("cuCtxSynchronize", driver.synchronize) &&
      symbol("cuStreamQuery", driver.query) &&
      symbol("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.blocks_at_once) &&
      symbol("cuGetErrorString", driver.error_string);
  if (!complete) {
    return absl::NotFoundError(absl::StrCat(path, " lacks functions of the CUDA driver"));
  }
  RETURN_IF_ERROR(driver.ReadTimeout());
  RETURN_IF_ERROR(driver.Check(driver.init(0), "starting the CUDA driver"));
  return &driver;
}

constexpr char kResume[] =
    "nothing is lost: run the same command again; if it happens again, check dmesg for Xid, and "
    "nvidia-smi";

// By CUresult (CUDA Driver API 13.0, "Data types").
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr GpuFailure kFailures[] = {
    {34, kNotFound, false, "this libcuda is the toolkit's stub: put the driver's own before it"},
    {100, kNotFound, false,
     "no GPU is visible: check CUDA_VISIBLE_DEVICES and nvidia-smi; in MIG mode, create an "
     "instance first"},
    {101, kNotFound, false, ""},
    {209, kNotFound, false, "this driver cannot make machine code for this GPU"},
    {214, kUnavailable, true, kResume},  // uncorrectable memory error
    {220, kUnavailable, true, kResume},  // uncorrectable NVLink error
    {221, kNotFound, false, "install the complete driver, which includes libnvidia-ptxjitcompiler"},
    {222, kNotFound, false,
     "this driver is too old for the PTX of the kernels: install a newer one"},
    {223, kNotFound, false, "unset CUDA_DISABLE_PTX_JIT: this kernel is PTX"},
    {226, kUnavailable, true, kResume},  // uncorrectable ECC error that was contained
    {700, kUnavailable, true, kResume},  // illegal address
    {702, absl::StatusCode::kDeadlineExceeded, true,
     "the system stops long kernels, as on a GPU that drives a display; run the same command "
     "again"},
    {710, kUnavailable, true, kResume},  // device-side assert
    {714, kUnavailable, true, kResume},  // hardware stack error
    {715, kUnavailable, true, kResume},  // illegal instruction
    {716, kUnavailable, true, kResume},  // misaligned address
    {717, kUnavailable, true, kResume},  // invalid address space
    {718, kUnavailable, true, kResume},  // invalid program counter
    {719, kUnavailable, true, kResume},  // launch failed
    {721, kUnavailable, true, kResume},  // a block exited with tensor memory still allocated
    {803, kNotFound, false, "libcuda and the kernel module differ in version: restart the machine"},
    {804, kNotFound, false,
     "this GPU does not support forward compatibility: use the driver's libcuda"},
    {999, kUnavailable, true, kResume},  // unknown
};

}  // namespace

std::string DriverRelease(const std::string& module_version_file, const std::string& library_file) {
  std::string release;
  if (std::ifstream(module_version_file) >> release) return release;
  std::error_code error;
  const std::string name = std::filesystem::canonical(library_file, error).filename().string();
  absl::string_view rest = name;
  return !error && absl::ConsumePrefix(&rest, "libcuda.so.") && absl::StrContains(rest, '.')
             ? std::string(rest)
             : "";
}

std::string DriverRelease() {
  Dl_info library = {};
  const absl::StatusOr<const CudaDriver*> driver = LoadCudaDriver();
  if (driver.ok()) dladdr(reinterpret_cast<void*>((*driver)->init), &library);
  return DriverRelease("/sys/module/nvidia/version",
                       library.dli_fname == nullptr ? "" : library.dli_fname);
}

std::string CudaVersion(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

int DriverForPtx(absl::string_view ptx_version) {
  // PTX ISA 9.0, "PTX Release History".
  constexpr std::pair<const char*, int> kReleases[] = {
      {"6.4", 10010}, {"6.5", 10020}, {"7.0", 11000}, {"7.1", 11010}, {"7.2", 11020},
      {"7.3", 11030}, {"7.4", 11040}, {"7.5", 11050}, {"7.6", 11060}, {"7.7", 11070},
      {"7.8", 11080}, {"8.0", 12000}, {"8.1", 12010}, {"8.2", 12020}, {"8.3", 12030},
      {"8.4", 12040}, {"8.5", 12050}, {"8.6", 12070}, {"8.7", 12080}, {"8.8", 12090},
      {"9.0", 13000}};
  const auto found = std::find_if(std::begin(kReleases), std::end(kReleases),
                                  [&](const auto& r) { return r.first == ptx_version; });
  if (found == std::end(kReleases)) std::abort();  // a target is not listed: programmer error
  return found->second;
}

absl::Status CudaDriver::Check(int result, absl::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const char* text = nullptr;
  if (error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  const std::string message = absl::StrCat(what, ": ", text, " (CUDA error ", result, ")");
  return StatusOf(kFailures, result, message);
}

absl::StatusOr<const CudaDriver*> LoadCudaDriver() {
  static const absl::StatusOr<const CudaDriver*>& loaded =
      *new absl::StatusOr<const CudaDriver*>(Load());
  return loaded;
}

}  // namespace mmadiff
