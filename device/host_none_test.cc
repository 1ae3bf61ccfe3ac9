// Device `host` where no instruction is known: linked with host_none.cc on every machine.
#include <gtest/gtest.h>

#include "device/host.h"

namespace mmadiff {
namespace {

TEST(HostNone, SupportsNothing) {
  const DeviceOr device = OpenHost();
  ASSERT_TRUE(device.ok());
  EXPECT_FALSE((*device)->identity().empty());
  for (const Operation& op : Operations()) {
    EXPECT_EQ((*device)->Supports(op).code(), absl::StatusCode::kNotFound) << op.name;
  }
}

}  // namespace
}  // namespace mmadiff
