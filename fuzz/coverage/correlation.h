// What the mismatches of a device have in common, where no change of the model explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "device/device.h"

namespace mmadiff {

// A property of some dot products: of their operands, of what the model did with them, of their place
// in the execution, of the processor core that answered, of how many were asked before. All that differ have
// it.
struct Correlation {
  std::vector<std::string> features;   // one or two, all of which a dot product must have
  uint64_t differing = 0, having = 0;  // of `having` dot products with it so many differ,
  uint64_t others = 0;                 // of `others` without it none

  // "a subnormal in a: 11,621 of 19,488 differ, else 0 of 31,712"
  std::string Text() const;
};

// Asks the device for the cases of a stream from `first` on: at most kCorrelated dot products, a slow device for
// about `most`, a device without a process of its own on each core in turn. Returns the rarest property that all have which differ, or two of them if the second is again
// much rarer; nothing if half of all have it, or few differ. Errors are the device's.
inline constexpr uint64_t kCorrelated = 50000;
absl::StatusOr<std::optional<Correlation>> Correlate(Device& device, const CaseStream& stream,
                                                     uint64_t first, absl::Duration most);

}  // namespace mmadiff
