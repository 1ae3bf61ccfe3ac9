// Formats numbers for people.
#pragma once

#include <cstdint>
#include <string>

#include "sim/format.h"

namespace mmadiff {

// (-1)^negative * magnitude * 2^lsb_exponent: "1.0", "0.375", "-2^-25", "1 - 2^-24", "5 * 2^-30". A
// value without such a form is rounded: "~0.100000001". Zero is "+0" or "-0".
std::string NumberText(bool negative, unsigned __int128 magnitude, int lsb_exponent);

// The same for a word of `format`; integers in decimal, "inf", "-inf", "nan(0x...)".
std::string NumberText(const Format& format, uint64_t word);

std::string WordText(const Format& format, uint64_t word);  // "0x3f800000 = 1.0"

// The exact value of a word; NaN for an infinity or a NaN.
long double NumberOf(const Format& format, uint64_t word);

}  // namespace mmadiff
