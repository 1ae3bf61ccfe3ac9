// Every kind of device/open.cc, as it opens on this machine, keeps the promises of all devices.
#include "device/testing/conformance.h"

#include <set>

namespace mmadiff {
namespace {

using testing::ValuesIn;

// Of the kinds that take an argument. Every model on a device for all architectures; of programs,
// which take their time to start, an operation of each family.
std::vector<TestedDevice> Specifications() {
  const std::string program = absl::StrCat("exec:", MMADIFF_EXEC_HELPER);
  return {{"faulty", "faulty:none=0", DistinctOperations()},
          {"faulty_parameter",
           "faulty:fraction_bits=20",
           {FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")}},
          {"exec_line", program + " line", OperationsOfEachFamily(1)},
          {"exec_bare", program + " bare", OperationsOfEachFamily(1)},
          {"exec_kept", program + " bare flush,restart=never", OperationsOfEachFamily(1)},
          {"exec_binary", program + " binary,protocol=binary", OperationsOfEachFamily(1)}};
}

// Kinds with a test of their own.
const std::set<std::string> kElsewhere = {"cuda",
                                          "hip",    // cuda_conformance_test, hip_conformance_test
                                          "fd",     // exec_test: it serves one operation
                                          "sass"};  // sass_device_test: it needs nvdisasm

bool TakesNoArgument(const DeviceKind& kind) { return std::string(kind.usage) == kind.name; }

// The above, and those without an argument with what they support on this machine.
std::vector<TestedDevice> Devices() {
  std::vector<TestedDevice> devices = Specifications();
  for (const DeviceKind& kind : BasicDevices()) {
    if (!TakesNoArgument(kind)) continue;
    TestedDevice tested = {kind.name, kind.name, {}};
    const DeviceOr device = OpenBasicDevice(kind.name);  // an error is one of DeviceConformance
    for (const Operation* op : DistinctOperations()) {
      if (device.ok() && (*device)->Supports(*op).ok()) tested.ops.push_back(op);
    }
    devices.push_back(tested);
  }
  return devices;
}

TEST(ConformanceTest, CoversEveryKindOfDevice) {
  std::set<std::string> covered = kElsewhere;
  for (const TestedDevice& d : Devices()) covered.insert(d.spec.substr(0, d.spec.find(':')));
  for (const DeviceKind& kind : BasicDevices()) {
    EXPECT_TRUE(covered.contains(kind.name))
        << "add a line for " << kind.usage << " to Specifications() in device/conformance_test.cc";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance, ValuesIn(Devices()), TestName());
INSTANTIATE_TEST_SUITE_P(Devices, Conformance, ValuesIn(OfEachOperation(Devices())), TestName());

}  // namespace
}  // namespace mmadiff
