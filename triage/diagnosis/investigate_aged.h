// Mismatches that a device shows only after it has given other answers for a while.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/diagnosis/investigate.h"

namespace mmadiff {

// Like Investigate(), with one exception. If a fresh process of the device (Device::Restart())
// gives the model's word, but a different word after at most mismatch.most_age answers to the same
// dot product, then the bucket is kAged, and each case has the age from which on it differs.
absl::StatusOr<Investigation> InvestigateInProcess(Device& device, const Mismatch& mismatch,
                                                   const CaseStream& cases,
                                                   std::span<const Observed> known = {});

// A fresh process's answer to the last of age + 1 equal dot products, or to the first one on which
// it fails. A device that cannot be restarted answers as it is. Errors are the device's.
absl::StatusOr<Answers> AskAtAge(Device& device, const Operation& op, const DotProductCase& dot,
                                 uint64_t age);

}  // namespace mmadiff
