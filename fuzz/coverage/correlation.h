// Properties that a device's mismatches share, for mismatches that no change of the model explains.
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

// A property of some dot products: their operands, the stages of the model, their place in the
// execution, the processor core that answered, or the number of earlier queries. All differing dot
// products have it.
struct Correlation {
  std::vector<std::string> features;  // one or two; a dot product must have all of them
  uint64_t differing = 0,
           having = 0;  // this many of `having` dot products with the features differ
  uint64_t others = 0;  // none of `others` dot products without the features differs

  // "a subnormal in a: 11,621 of 19,488 differ, and 0 of the other 31,712"
  std::string Text() const;
};

// Queries the device for the cases of a stream from `first` on: at most kCorrelated dot products; a
// slow device for about `most`; a device without its own process on each core in turn. Returns the
// rarest property that all differing dot products share, or two properties if the second is much
// rarer again; nullopt if half of all dot products have it, or few differ. Errors are the device's.
inline constexpr uint64_t kCorrelated = 50000;
absl::StatusOr<std::optional<Correlation>> Correlate(Device& device, const CaseStream& stream,
                                                     uint64_t first, absl::Duration most);

}  // namespace mmadiff
