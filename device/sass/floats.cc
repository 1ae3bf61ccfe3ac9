#include "device/sass/floats.h"

#include <bit>
#include <cmath>

#include "device/sass/opcodes.h"
#include "sim/round.h"

namespace mmadiff::sass {
namespace {

constexpr uint32_t kNan32 = 0x7fffffff, kNan16 = 0x7fff;

// The value of a word, NaN apart: every format here is contained in double.
double ValueOf(const Format& format, uint64_t word) {
  const Unpacked x = Decode(format, word);
  const double value = x.kind == Kind::kNan        ? NAN
                       : x.kind == Kind::kInfinite ? INFINITY
                                                   : std::ldexp(static_cast<double>(x.significand),
                                                                x.exponent - format.fraction_bits);
  return x.negative ? -value : value;
}

// Rounds to nearest, ties to even.
uint32_t HalfOf(double value) {
  if (std::isnan(value)) return kNan16;
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value)) return sign | 0x7c00;
  Algorithm rounding;
  rounding.output_fraction_bits = kF16.fraction_bits;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  bool inexact;
  return static_cast<uint32_t>(RoundPack<uint64_t>(kF16, rounding, sign != 0,
                                                   static_cast<uint64_t>(std::ldexp(fraction, 53)),
                                                   exponent - 53, &inexact));
}

uint32_t FloatWord(float value) {
  return std::isnan(value) ? kNan32 : std::bit_cast<uint32_t>(value);
}

// An f32 operand. Immediates are printed as decimals, which the parser does not read.
bool FloatOf(const Instruction& in, const Inputs& x, int index, float& value) {
  const Operand& o = in.sources[index];
  if (o.kind != Operand::kRegister || o.part != Operand::kWhole || o.inverted) return false;
  value = std::bit_cast<float>(static_cast<uint32_t>(x.source[index]));
  if (o.negative) value = -value;
  return true;
}

// The low (0) or high (1) half of an operand.
bool HalfOperand(const Instruction& in, const Inputs& x, int index, int half, double& value) {
  const Operand& o = in.sources[index];
  if (o.kind != Operand::kRegister || o.inverted) return false;
  if (o.part != Operand::kWhole) half = o.part == Operand::kHighHalf;
  value = ValueOf(kF16, x.source[index] >> 16 * half & 0xffff);
  if (o.negative) value = -value;
  return true;
}

bool AddHalves(const Instruction& in, const Inputs& x, Outputs& out) {
  double sum[2];
  for (int half = 0; half < 2; ++half) {
    double a, b;
    if (!HalfOperand(in, x, 0, half, a) || !HalfOperand(in, x, 1, half, b)) return false;
    sum[half] = a + b;  // exact
  }
  out.value = (in.has & kF32Result) != 0 ? FloatWord(static_cast<float>(sum[0]))
                                         : HalfOf(sum[0]) | HalfOf(sum[1]) << 16;
  return true;
}

bool PackHalves(const Instruction& in, const Inputs& x, Outputs& out) {
  if ((in.has & (kFromE4m3 | kFromE5m2)) != 0) {
    const Operand& o = in.sources[0];
    if (o.kind != Operand::kRegister || o.negative || o.inverted) return false;
    const Format& format = (in.has & kFromE4m3) != 0 ? kE4m3 : kE5m2;
    const uint64_t bytes = x.source[0] >> (o.part == Operand::kHighHalf ? 16 : 0);
    out.value = HalfOf(ValueOf(format, bytes & 0xff)) | HalfOf(ValueOf(format, bytes >> 8 & 0xff))
                                                            << 16;
    return o.part == Operand::kWhole || o.part == Operand::kHighHalf;
  }
  float high, low;
  if (!FloatOf(in, x, 0, high) || !FloatOf(in, x, 1, low)) return false;
  out.value = HalfOf(low) | HalfOf(high) << 16;
  return true;
}

// "HFMA2 R3, -RZ, RZ, 0, 0": moves two halves that the text shows as numbers.
bool HalfConstant(const Instruction& in, Outputs& out) {
  if (in.sources.size() != 4) return false;
  for (int i = 0; i < 4; ++i) {
    const Operand& o = in.sources[i];
    const bool zero = i < 2 ? o.kind == Operand::kRegister && o.index == kZeroRegister
                            : o.kind == Operand::kImmediate && o.offset == 0;
    if (!zero) return false;
  }
  out.value = 0;
  return true;
}

}  // namespace

bool ComputeFloat(const Instruction& in, const Inputs& x, Outputs& out) {
  float a, b;
  switch (Opcodes()[in.opcode].op) {
    case Op::kFloatAdd:
      if (!FloatOf(in, x, 0, a) || !FloatOf(in, x, 1, b)) return false;
      out.value = FloatWord(a + b);
      return true;
    case Op::kFloatMultiply:
      if (!FloatOf(in, x, 0, a) || !FloatOf(in, x, 1, b)) return false;
      out.value = FloatWord(a * b);
      return true;
    case Op::kHalfAdd:
      return AddHalves(in, x, out);
    case Op::kHalfConstant:
      return HalfConstant(in, out);
    case Op::kToHalf:
      if (!FloatOf(in, x, 0, a)) return false;
      out.value = HalfOf(a);
      return true;
    case Op::kPackHalves:
      return PackHalves(in, x, out);
    default:
      return false;
  }
}

}  // namespace mmadiff::sass
