// Questions to a device whose answers no change of the model explains, as far as they are cheap.
#pragma once

#include <span>
#include <vector>

#include "absl/time/time.h"
#include "corpus/clue.h"
#include "device/device.h"
#include "triage/explain.h"

namespace mmadiff {

// How the words of operands are read, which k meet, scales, bits that formats lack; if these find
// nothing, the order of the sum and its algorithm. `observed`: answers of the device, not explained.
// Questions that would take longer than `most`, or to which the device fails, are Clue::kNotAsked.
std::vector<Clue> AskForClues(Device& device, const Operation& op,
                              std::span<const Observed> observed, absl::Duration most);

}  // namespace mmadiff
