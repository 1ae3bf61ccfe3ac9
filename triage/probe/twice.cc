#include "triage/probe/twice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"

namespace mmadiff {

absl::StatusOr<std::vector<uint64_t>> RunTwice(Device& device, const Operation& op,
                                               const Batch& batch) {
  ASSIGN_OR_RETURN(auto first, device.Run(op, batch));
  ASSIGN_OR_RETURN(const auto again, device.Run(op, batch));
  const auto [x, y] = std::ranges::mismatch(first, again);
  if (x == first.end()) return first;
  const Instruction& in = *op.instruction;
  const DotProductCase dot = Extract(batch, x - first.begin());
  return absl::AbortedError(absl::StrCat("two answers to one input: ", FormatLine(in, dot, *x),
                                         ", then ", HexWord(*in.d, *y)));
}

}  // namespace mmadiff
