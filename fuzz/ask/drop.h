// Why nothing more is asked of a row, decided in one place for all verbs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "sim/operation.h"

namespace mmadiff {

enum class DropCause : uint8_t {
  kLacks,     // kNotFound: the device has no such instruction, or no answer
  kLayout,    // kFailedPrecondition: elements are elsewhere
  kGarbled,   // kDataLoss: an answer that cannot be read or trusted
  kFails,     // any other error of the device
  kSelfTest,  // the planted fault was not found
};

struct Drop {
  const Operation* op = nullptr;
  DropCause cause = DropCause::kFails;
  absl::Status status;  // the device's, for people
};
std::string Text(const Drop& drop);  // "dropped sm_90/...: it has no such instruction"

}  // namespace mmadiff
