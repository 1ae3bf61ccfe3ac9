// Line protocol on stdin and stdout, shared by gen, eval and check.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "device/line_protocol.h"

namespace mmadiff {

// A portion of parsed lines, with the line number of each.
struct Portion {
  Batch batch;              // of DotProductShape()
  std::vector<uint64_t> d;  // results, if the lines have them
  std::vector<uint64_t> line;
};

// Reads stdin to its end and delivers the dot products in portions. `with_results`: every line must
// hold d; otherwise d is optional and ignored. A malformed line is kInvalidArgument with its
// number.
absl::Status ReadStdin(const Row& row, bool with_results,
                       const std::function<absl::Status(const Portion&)>& deliver);

}  // namespace mmadiff
