// Device `host` where no instruction is known: linked with host_none.cc on every machine.
#include <gtest/gtest.h>

#include "device/host.h"

namespace mmadiff {
namespace {

TEST(HostNone, SupportsNothing) {
  const DeviceOr device = OpenHost();
  ASSERT_TRUE(device.ok());
  EXPECT_FALSE((*device)->identity().empty());
  for (const Row& row : Rows()) {
    EXPECT_EQ((*device)->Supports(row).code(), absl::StatusCode::kNotFound) << row.name;
  }
}

}  // namespace
}  // namespace mmadiff
