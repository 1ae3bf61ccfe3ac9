// Whether words in memory are words of a format.
#pragma once

#include <cstdint>
#include <string>

#include "sim/format.h"
#include "sim/words.h"

namespace mmadiff {

// Why words of `name` cannot hold the format: they are missing, or have too few bits. Empty if they can.
std::string WhyNotBits(const std::string& name, const Format& format, bool are_there, int bits);

// The same; also if a word has bits beyond those of the format.
std::string WhyNotWords(const std::string& name, const Format& format, const Words& words,
                        int64_t rows, int64_t columns);

}  // namespace mmadiff
