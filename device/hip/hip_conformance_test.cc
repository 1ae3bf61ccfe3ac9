// hip:N on the stand-in for HIP (fake_driver.cc) keeps the promises of all devices.
#include <cstdlib>

#include "device/hip/testing/hip_fixture.h"
#include "device/testing/conformance.h"

namespace mmadiff {
namespace {

using testing::ValuesIn;

struct Gpu {
  const char* target;
  std::vector<std::string> ops;  // of each layout, with and without a model
};

const Gpu kGpus[] = {
    {"gfx908", {"gfx908/v_mfma_f32_32x32x4f16", "gfx908/v_mfma_i32_16x16x16i8"}},
    {"gfx90a", {"gfx90a/v_mfma_f64_4x4x4f64", "gfx90a/v_mfma_f32_4x4x4bf16_1k"}},
    {"gfx942",
     {"gfx942/v_mfma_f32_16x16x32_fp8_bf8", "gfx942/v_mfma_f32_32x32x4_xf32",
      "gfx942/v_smfmac_i32_16x16x64_i8"}},
    {"gfx950", {"gfx950/v_mfma_f32_16x16x32_bf16"}},
    {"gfx1100", {"gfx1100/v_wmma_f32_16x16x16_bf16", "gfx1100/v_wmma_i32_16x16x16_iu4.s4.u4"}},
    {"gfx1201", {"gfx1200/v_wmma_f16_16x16x16_f16"}},
};

std::vector<TestedDevice> Devices() {
  std::vector<TestedDevice> devices;
  for (const Gpu& gpu : kGpus) {
    std::vector<const Operation*> ops;
    for (const std::string& name : gpu.ops) ops.push_back(FindOperation(name, Models::kOptional));
    const auto open = [&gpu](absl::string_view spec) -> DeviceOr {
      setenv("MMADIFF_LIBHIP", "", 1);  // this program
      setenv("FAKE_HIP_TARGET", gpu.target, 1);
      return OpenHipWith(spec.substr(spec.find(':') + 1), FakeImageOf);
    };
    devices.push_back({gpu.target, "hip:0", ops, open});
    devices.push_back({std::string(gpu.target) + "_flushing", "hip:0,denorm=flush", ops, open});
  }
  return devices;
}

INSTANTIATE_TEST_SUITE_P(Hip, DeviceConformance, ValuesIn(Devices()), TestName());
INSTANTIATE_TEST_SUITE_P(Hip, Conformance, ValuesIn(OfEachOperation(Devices())), TestName());

}  // namespace
}  // namespace mmadiff
