#include "device/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mmadiff {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Error(absl::string_view spec) {
  const DeviceOr device = OpenBasicDevice(spec);
  EXPECT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument) << spec;
  return std::string(device.status().message());
}

TEST(OpenBasicDevice, EveryKindByItsName) {
  for (const char* spec : {"host", "faulty:fraction_bits=24", "faulty:dead=2", "exec:a b:c"}) {
    const DeviceOr device = OpenBasicDevice(spec);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->name(), spec);
  }
}

TEST(OpenBasicDevice, UnknownKindsGetTheNearestAndTheList) {
  EXPECT_THAT(Error("hosst"), HasSubstr("no device 'hosst'; nearest: host; devices: "));
  for (const DeviceKind& kind : BasicDevices()) {
    EXPECT_THAT(Error("hosst"), HasSubstr(kind.usage));
  }
  EXPECT_THAT(Error("fault:dead=1"), HasSubstr("nearest: faulty"));
  EXPECT_THAT(Error("xyzzy"), HasSubstr("no device 'xyzzy'; devices: "));
  EXPECT_THAT(Error(""), HasSubstr("devices: host"));
}

TEST(OpenBasicDevice, ArgumentsWhereTheyBelong) {
  EXPECT_EQ(Error("host:1"), "device 'host:1': write host");
  EXPECT_EQ(Error("exec"), "device 'exec': write exec:COMMAND");
  EXPECT_THAT(Error("faulty:"), HasSubstr("no such fault"));
  EXPECT_THAT(Error("exec:"), HasSubstr("needs a command"));
}

}  // namespace
}  // namespace mmadiff
