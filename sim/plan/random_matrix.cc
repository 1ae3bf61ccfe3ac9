#include "sim/plan/random_matrix.h"

#include "sim/plan/convert.h"
#include "sim/words.h"

namespace mmadiff {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// The sum of 12 uniform numbers of 20 bits has a variance of 2^40 but for 2^-40 of it.
int64_t SumOfTwelve(uint64_t seed, uint64_t index) {
  int64_t sum = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t bits = Mix(seed + (4 * index + i) * 0x9e3779b97f4a7c15);
    sum += static_cast<int64_t>((bits & 0xfffff) + (bits >> 20 & 0xfffff) + (bits >> 40 & 0xfffff));
  }
  return sum - 6 * 0xfffff;
}

uint64_t RandomWordOf(const Format& f, uint64_t seed, uint64_t index) {
  if (IsInteger(f)) return Mix(seed + index * 0x9e3779b97f4a7c15) & LowBits(f.bits);
  const int64_t sum = SumOfTwelve(seed, index);
  uint64_t magnitude = static_cast<uint64_t>(sum < 0 ? -sum : sum);
  int exponent = -20;
  if (f.fraction_bits > 23) {
    magnitude = magnitude << 32 | Mix(Mix(seed) + index * 0x9e3779b97f4a7c15) >> 32;
    exponent -= 32;
  }
  Algorithm rounding = {};
  rounding.output_fraction_bits = f.fraction_bits;
  bool inexact = false;
  return RoundPack<uint64_t>(f, rounding, sum < 0 && f.is_signed, magnitude, exponent, &inexact);
}

}  // namespace

std::vector<unsigned char> RandomMatrix(const Format& format, int bits, uint64_t seed,
                                        int64_t count) {
  std::vector<unsigned char> bytes(count * (bits / 8));
  const MutableWords words = {bytes.data(), 1, 0, bits};
  const uint64_t start = Mix(seed);
  for (int64_t i = 0; i < count; ++i) Store(words, i, 0, RandomWordOf(format, start, i));
  return bytes;
}

}  // namespace mmadiff
