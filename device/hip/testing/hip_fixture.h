// `hip:N` on the stand-in for the HIP library (fake_driver.cc), for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "device/hip/hip.h"
#include "device/hip/kernel_images.h"
#include "device/testing/operations.h"

namespace mmadiff {

// The machine code of the build; if there is none, bytes that the stand-in accepts as correct code.
inline HipImage FakeImageOf(const HipTarget& target) {
  const HipImage image = HipImageOf(target);
  return {image.code_object.empty() ? "\177ELF" : image.code_object, "clang 0"};
}

class HipTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MMADIFF_LIBHIP", "", 1);  // fake_driver.cc
    for (const char* variable : {"TARGET", "GPUS", "FAILS", "RESULT", "AFTER", "SWAPS", "FAULT",
                                 "OF", "PLANTS", "READS_MODE"}) {
      Fake(variable, nullptr);
    }
  }
  // Sets the environment variable FAKE_HIP_<name> of fake_driver.cc; nullptr: unset.
  static void Fake(const std::string& name, const char* value) {
    const std::string variable = "FAKE_HIP_" + name;
    value == nullptr ? unsetenv(variable.c_str()) : setenv(variable.c_str(), value, 1);
  }
  static HipImage None(const HipTarget&) { return {}; }

  static std::unique_ptr<GpuDevice> Open(const std::string& target,
                                         absl::string_view argument = "0") {
    Fake("TARGET", target.c_str());
    auto device = OpenHipWith(argument, FakeImageOf);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
  static absl::Status Error(absl::string_view argument = "0", HipImages images = FakeImageOf) {
    return OpenHipWith(argument, images).status();
  }
};

}  // namespace mmadiff
