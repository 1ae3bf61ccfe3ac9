// Random bit patterns of one format.
#pragma once

#include <cstdint>
#include <random>

#include "sim/format.h"

namespace mmadiff::reference {

using Random = std::mt19937_64;

int Between(Random& random, int low, int high);  // inclusive
bool OneIn(Random& random, int n);
uint64_t Ones(int bits);

// Uniform over all patterns of a float or an integer format.
uint64_t RandomWord(const Format& format, Random& random);

// Flips the sign bit; unsigned formats have none.
uint64_t Negate(const Format& format, uint64_t word);

// A zero; +0 where the format has no other.
uint64_t ZeroOfSign(const Format& format, bool negative);

// Sparse, dense and few-bit fractions: carries, ties and stragglers need long runs of equal bits.
uint64_t RandomFraction(const Format& format, Random& random);

// 2^exponent with the given fraction and a random sign. An exponent outside the format gives a
// subnormal or the largest exponent. May be a NaN in the top binade of formats whose largest
// patterns are NaNs.
uint64_t WordOfExponent(const Format& format, int exponent, uint64_t fraction, Random& random);

// Zeros, the ends of the subnormal and normal ranges, infinities, NaNs with several payloads.
uint64_t SpecialWord(const Format& format, Random& random);

// The ends of the range, and any number.
uint64_t RandomInteger(const Format& format, Random& random);

}  // namespace mmadiff::reference
