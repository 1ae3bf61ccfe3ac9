#include "sim/plan/convert.h"

#include "sim/conversion.h"

namespace mmadiff {

uint64_t ToFp8(const Format& to, const Unpacked& x, int lsb) {
  Algorithm rounding = {};
  rounding.saturation = Saturation::kAll;
  if (x.kind == Kind::kNan) return 0x7f;
  if (x.kind == Kind::kInfinite) return BeyondRange(to, rounding, x.negative, true);
  if (x.significand == 0) return x.negative ? 1ull << SignBit(to) : 0;
  bool inexact = false;
  return RoundedNumber(to, rounding, x.negative, x.significand, lsb, &inexact);
}

}  // namespace mmadiff
