// Matrices as names: their words are a pure function of a format, a seed and an index, so that a
// recording needs only these.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/format.h"

namespace mmadiff {

// `count` words of the format, each in `bits` bits (8, 16, 32 or 64), in this machine's byte order.
// Floating-point numbers are nearly normal with a standard deviation of 1, rounded to nearest even,
// of 52 random bits in f64, where sums of products of shorter numbers would be exact in any order;
// unsigned formats have their magnitudes, integers any word. Any change of a word needs a new name
// here and in recordings.
std::vector<unsigned char> RandomMatrix(const Format& format, int bits, uint64_t seed,
                                        int64_t count);

}  // namespace mmadiff
