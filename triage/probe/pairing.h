// Which k of B meets each k of A, and which scales apply to it, found by sums of zeros and ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"

namespace mmadiff {

struct Pairing {
  // For each k of A the k of B, and for each k the scale of A and of B; negative: none, or unknown.
  // A sparse A has one `b_of_a` for each of `metadata`; elements that are not stored have their own k.
  std::vector<std::vector<int>> b_of_a;
  std::vector<int> scale_of_a, scale_of_b;
  int block = 1;                                     // consecutive k that share a scale
  std::vector<std::vector<uint64_t>> metadata = {};  // every group once has each word

  // The elements that are not in their own place: "k = 0 of a meets k = 2 of b, 1 meets 3";
  // "with metadata 08 09: k = ..." names the words that move these k unless all that store them do; or empty.
  std::string Text() const;
  bool IsOwn() const;   // whether each element is known to be in its own place
  bool IsLost() const;  // whether some element of A meets none, or an unknown one
};

// Asks for every legal word of metadata in every group; on a slow device for one in each if all would take
// longer than kMaxSlowSeconds. Errors are the device's.
absl::StatusOr<Pairing> AskPairing(Device& device, const Operation& op);

}  // namespace mmadiff
