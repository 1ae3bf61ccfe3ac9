// Why a device gave kNotFound, beside its message: as the payload of the status.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

enum class Absence : uint8_t {
  kInstruction,  // the device has none: without a payload
  kProgram,      // of `exec:`: it cannot be started
  kAnswer,       // of `recorded:`
};

absl::Status NotFound(Absence absence, absl::string_view message);
Absence AbsenceOf(const absl::Status& not_found);

}  // namespace mmadiff
