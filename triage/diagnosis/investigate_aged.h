// Mismatches that a device shows only after it has answered for a while.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/diagnosis/investigate.h"

namespace mmadiff {

// Investigate(); but if a fresh process of the device (Device::Restart()) gives the model's word, and
// gives another after at most mismatch.most_age answers to the same dot product: the bucket is kAged,
// and each case has the age from which on it differs.
absl::StatusOr<Investigation> InvestigateInProcess(Device& device, const Mismatch& mismatch,
                                                   const CaseStream& cases,
                                                   std::span<const Observed> known = {});

// What a fresh process says to the last of age + 1 equal dot products, or to the first on which it
// fails; as it is of a device that has no fresh process. Errors are the device's.
absl::StatusOr<Answers> AskAtAge(Device& device, const Operation& op, const DotProductCase& dot,
                                 uint64_t age);

}  // namespace mmadiff
