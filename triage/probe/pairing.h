// Which k of B meets each k of A, and which scales apply to it, found by sums of zeros and ones.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"

namespace mmadiff {

struct Pairing {
  // For each k of A the k of B, and for each k the scale of A and of B; negative: none, or unknown.
  std::vector<int> b_of_a, scale_of_a, scale_of_b;
  int block = 1;  // consecutive k that share a scale
  // For a sparse A: the first metadata that move an element, otherwise the last ones tried. An element
  // that they do not store counts as in its own place.
  std::vector<uint64_t> metadata = {};

  // The elements that are not in their own place: "k = 0 of a meets k = 2 of b, 1 meets 3";
  // for a sparse A "with metadata e0 = 09: k = ..."; or empty.
  std::string Text() const;
  bool IsOwn() const;  // whether each element is known to be in its own place
};

// Errors are the device's.
absl::StatusOr<Pairing> AskPairing(Device& device, const Operation& op);

}  // namespace mmadiff
