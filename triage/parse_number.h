// Parses numbers as people write them, exactly or rounded.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/format.h"

namespace mmadiff {

// The word for a number: "1.5", "1e-3", "2^-24", "5 * 2^-30", "1 - 2^-24", a hex float "0x1.8p-3",
// "inf", "nan", "-inf", or the word itself, "0x3c00" (no p). Accepts everything that NumberText()
// writes except rounded numbers ("~0.1"). Integers of integer formats are decimal.
//
// kInvalidArgument: not a number, or not representable in the format; the message then names the
// nearest value (computed to 64 bits).
absl::StatusOr<uint64_t> ParseNumber(const Format& format, absl::string_view text);

struct RoundedNumber {
  uint64_t word = 0;
  bool exact = true;
};
// The same, but a number that the format cannot represent is rounded to nearest, ties to even.
// Errors as above; also for numbers beyond the largest one, where formats disagree, and where the
// rounding depends on more than 64 bits.
absl::StatusOr<RoundedNumber> RoundNumber(const Format& format, absl::string_view text);

}  // namespace mmadiff
