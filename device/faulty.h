// Device `faulty:NAME=VALUE[,NAME=VALUE...]`: the simulator with something wrong, to test the harness
// itself.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "device/device.h"
#include "sim/parameter.h"

namespace mmadiff {

// Either parameters of the arithmetic (sim/parameter.h), several separated by commas, or one
// transport fault:
//   wrong_lane=I   results I and I+1 of every execution are swapped; single dot products are not
//   lost_batch=N   every N-th Run() returns what the last one computed, zeros beyond its end
//   flaky_bit=N    about one result in N has its lowest bit flipped, each time in another place
//   dead=N         kUnavailable from the N-th Run() on
//   none=0         no fault: exactly the simulator
// kInvalidArgument lists the names or the values allowed. Supports() is kNotFound for an operation
// whose family does not have the parameter or whose model cannot take the value, or that has no
// lane I+1, and kFailedPrecondition for an operation where VALUE is what it has anyway. Run()
// expects Supports().
DeviceOr OpenFaulty(absl::string_view name_values);

// The changes of parameters that a device specification `faulty:...` asks for; none of others.
std::vector<Change> FaultOf(absl::string_view specification);

// A name that OpenFaulty() takes, and its values in words: "toward_zero, down, up", "a number 1..37".
struct FaultUsage {
  std::string name, values;
};
std::vector<FaultUsage> FaultUsages();

}  // namespace mmadiff
