// cuda:N on the stand-in for the driver (fake_driver.cc) keeps the promises of all devices.
#include <cstdlib>

#include "device/testing/conformance.h"

namespace mmadiff {
namespace {

using testing::ValuesIn;

struct Gpu {
  const char *label, *capability;
  std::vector<std::string> ops;  // of each kind of kernel; two without a model
  std::string suffix;            // of the specification in the other form
};

const Gpu kGpus[] = {
    {"sm_70", "7.0", {"sm_70/mma.m8n8k4.f32.f16.f16.f32"}, ",a=registers"},
    {"sm_80",
     "8.0",
     {"sm_80/wmma.m16n16k16.f32.f16.f16.f32", "sm_80/wmma.m8n32k16.f16.f16.f16.f16",
      "sm_80/wmma.m8n8k4.f64.f64.f64.f64", "sm_80/wmma.m8n8k128.s32.b1.b1.s32.xor.popc",
      "sm_80/fma.rn.f32", "sm_80/fma.rz.f64"},
     ",layout=col.row,c=col"},
    {"sm_90",
     "9.0",
     {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m8n8k4.f64.f64.f64.f64",
      "sm_90/wgmma.m64n8k16.f16.f16.f16", "sm_90/wgmma.m64n8k32.s32.s8.s8",
      "sm_90/mma.m8n8k4.f32.f16.f16.f16", "sm_90/wmma.m8n32k16.f16.f16.f16.f32"},
     ",a=registers"},
    {"sm_100", "10.0", {"sm_100/tcgen05.mma.m64n8k16.f32.f16.f16"}, ",a=registers"},
    {"sm_120",
     "12.0",
     {"sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"},
     ",a=registers,layout=row.row"},
};

// Each GPU in both forms.
std::vector<TestedDevice> Devices() {
  std::vector<TestedDevice> devices;
  for (const Gpu& gpu : kGpus) {
    std::vector<const Operation*> ops;
    for (const std::string& name : gpu.ops) ops.push_back(FindOperation(name, Models::kOptional));
    const auto open = [&gpu](absl::string_view spec) {
      setenv("MMADIFF_LIBCUDA", "", 1);  // this program
      setenv("FAKE_CUDA_CAPABILITY", gpu.capability, 1);
      return OpenBasicDevice(spec);
    };
    const std::string label = gpu.label;
    devices.push_back({label, "cuda:0", ops, open});
    devices.push_back({label + "_in_the_other_form", "cuda:0" + gpu.suffix, ops, open});
  }
  return devices;
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceConformance, ValuesIn(Devices()), TestName());
INSTANTIATE_TEST_SUITE_P(Cuda, Conformance, ValuesIn(OfEachOperation(Devices())), TestName());

}  // namespace
}  // namespace mmadiff
