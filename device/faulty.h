// Device `faulty:NAME=VALUE[,NAME=VALUE...]`: the simulator with a fault, to test the harness
// itself.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/device.h"
#include "sim/parameter.h"

namespace mmadiff {

// Either parameters of the arithmetic (sim/parameter.h), separated by commas, or one transport
// fault:
//   wrong_lane=I   results I and I+1 of every execution are swapped; single dot products are not
//   lost_batch=N   every N-th Run() returns the results of the previous one, zeros beyond its end
//   flaky_bit=N    about one result in N has its lowest bit flipped, in a different place each time
//   dead=N         kUnavailable from the N-th Run() on
//   none=0         no fault: exactly the simulator
// kInvalidArgument lists the names or the values allowed. Supports() is kNotFound for an operation
// whose family does not have the parameter or whose model cannot take the value, or that has no
// lane I+1, and kFailedPrecondition for an operation where VALUE is the value it already has. Run()
// expects Supports().
DeviceOr OpenFaulty(absl::string_view name_values);

// The parameter changes in a device specification `faulty:...`; none for other devices.
std::vector<Change> FaultOf(absl::string_view specification);

// A name that OpenFaulty() accepts, and its values in words: "toward_zero, down, up", "a number
// 1..37".
struct FaultUsage {
  std::string name, values;
};
std::vector<FaultUsage> FaultUsages();

}  // namespace mmadiff
