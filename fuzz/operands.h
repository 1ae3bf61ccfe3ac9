// Words of given exponents, and the operands of a tile made of them: what the boundary classes are
// built from.
//
// Exponents are drawn per k for a whole tile, split between the row of A, the column of B and their
// scales, so that every dot product of a tile has the structure of its class.
#pragma once

#include <cstdint>

#include "fuzz/strategy.h"
#include "sim/format.h"

namespace mmadiff {

// Exponent of the least positive number: a subnormal, or where zero is missing the field 0.
constexpr int Lowest(const Format& f) {
  return f.has_zero ? f.min_exponent - f.fraction_bits : f.min_exponent - 1;
}

// Neither infinity nor NaN. `exponent` is clamped to the format, and a pattern beyond the largest
// number (all ones of e4m3) becomes the largest; below min_exponent the number is subnormal.
uint64_t Compose(const Format& f, bool negative, int exponent, uint64_t fraction);

// `count` words, `stride` apart, each of one of four exponents, one in eight zero if `zeros`. The
// format must have a sign and a fraction.
void FillWords(const Format& f, const int (&exponents)[4], bool zeros, uint64_t* out, int count,
               int stride, Random& r);
uint64_t RandomWord(const Format& f, int exponent, Random& r);

// Zero of either sign, as far as the format has them.
uint64_t Zero(const Format& f, Random& r);
void FillZeros(const Format& f, uint64_t* out, int count, int stride, Random& r);

// Infinity, or a NaN of any payload (quiet or signalling, in ignored bits too); any number if the
// format has neither.
uint64_t Special(const Format& f, Random& r);

// `count` words from the edges of a format, of either sign; infinities and NaNs only if `specials`.
void FillEdges(const Format& f, bool specials, uint64_t* out, int count, Random& r);

// Exponents that products of elements have, their scales included.
struct Range {
  int low, high;
};
Range ProductRange(const Instruction& in);

// An exponent that products and output both reach, mostly far from the edges.
int MiddleExponent(const Instruction& in, Random& r);

// Sets the scales of one block, or of all, so that products of elements reach 2^exponent, or come
// near. Without scales there is nothing to do.
void AimBlock(const Tile& t, int block, int exponent, Random& r);
void Aim(const Tile& t, int exponent, Random& r);
// Exponent that the scales over term k add to that of its products.
int ScaleExponent(const Tile& t, int k);
// Scales of one block: their product is near 2^exponent; `spread`: near that or as many powers of
// two less, per row of A.
void FillScales(const Tile& t, int block, int exponent, Random& r, int spread = 0);

// Products of term k near 2^product, or as near as its scales allow.
void FillProducts(const Tile& t, int k, int product, Random& r);
// Products of term k exactly +-2^product, or as many as `spread` powers of two less; sign and
// exponent per row of A.
void FillPowers(const Tile& t, int k, int product, Random& r, int spread = 0);
// Zeros of term k in all rows of A.
void ZeroRows(const Tile& t, int k, Random& r);
// Term y becomes the negative of term x.
void Negate(const Tile& t, int x, int y);

// Addends of exponents `low` to `high`.
void FillAddends(const Tile& t, int high, int low, Random& r);

}  // namespace mmadiff
