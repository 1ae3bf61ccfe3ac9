// Why a device returned kNotFound, stored as the payload of the status beside its message.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

enum class Absence : uint8_t {
  kInstruction,  // the device does not have the instruction; no payload
  kProgram,      // the program of `exec:` cannot be started
  kAnswer,       // `recorded:` has no answer
};

absl::Status NotFound(Absence absence, absl::string_view message);
Absence AbsenceOf(const absl::Status& not_found);

}  // namespace mmadiff
