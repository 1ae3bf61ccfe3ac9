#include "device/sass/compute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "device/sass/floats.h"
#include "device/sass/opcodes.h"

namespace mmadiff::sass {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }

// A term of a sum of 32-bit words: a carry out of the negation counts too.
uint64_t Term(const Operand& o, uint64_t value) {
  return o.negative ? static_cast<uint64_t>(Low(~value)) + 1 : Low(value);
}

void Sum(uint64_t sum, Outputs& out) {
  out.value = Low(sum);
  out.flag[0] = sum >> 32 >= 1;
  out.flag[1] = sum >> 32 >= 2;
}

void MultiplyAdd(const Instruction& in, const Inputs& x, Outputs& out) {
  const bool is_signed = (in.has & kU32) == 0;
  const auto widen = [is_signed](uint64_t v) {
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(v)))
                     : Low(v);
  };
  const auto factor = [&](int i) {
    const uint64_t v = widen(x.source[i]);
    return in.sources[i].negative ? -v : v;
  };
  const uint64_t product = factor(0) * factor(1);
  const uint64_t carry = (in.has & kX) != 0 && x.condition[0];
  const uint64_t wide = in.sources[2].negative ? -x.source[2] : x.source[2];
  if ((in.has & kWide) != 0) {
    const unsigned __int128 sum = static_cast<unsigned __int128>(product) + wide + carry;
    out.value = static_cast<uint64_t>(sum);
    out.flag[0] = static_cast<uint64_t>(sum >> 64) != 0;
    return;
  }
  if ((in.has & kHi) != 0) {
    out.value = (product + wide + carry) >> 32;
    return;
  }
  Sum(Low(product) + Term(in.sources[2], x.source[2]) + carry, out);
}

uint32_t Logic(uint32_t a, uint32_t b, uint32_t c, uint64_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  return result;
}

uint64_t Shift(const Instruction& in, const Inputs& x) {
  const uint64_t pair = static_cast<uint64_t>(Low(x.source[2])) << 32 | Low(x.source[0]);
  const bool wide = (in.has & (kU64 | kS64)) != 0;
  const bool is_signed = (in.has & (kS32 | kS64)) != 0;
  uint32_t amount = Low(x.source[1]);
  if ((in.has & kWrap) != 0) amount &= wide ? 63 : 31;
  const uint32_t most = wide ? 64 : 32;
  amount = std::min(amount, most);
  uint64_t result = 0;
  if ((in.has & kLeft) != 0) {
    result = amount == 64 ? 0 : pair << amount;
  } else if (is_signed) {
    result = static_cast<uint64_t>(static_cast<int64_t>(pair) >> std::min(amount, 63u));
  } else {
    result = amount == 64 ? 0 : pair >> amount;
  }
  return (in.has & kHi) != 0 ? result >> 32 : Low(result);
}

bool Combined(const Instruction& in, bool holds, bool with) {
  return (in.has & kOr) != 0 ? holds || with : (in.has & kXor) != 0 ? holds != with : holds && with;
}

void Compare(const Instruction& in, const Inputs& x, Outputs& out) {
  int64_t a = static_cast<int32_t>(x.source[0]), b = static_cast<int32_t>(x.source[1]);
  if ((in.has & kU32) != 0) a = Low(a), b = Low(b);
  const bool less = a < b, equal = a == b;
  const bool extends = (in.has & kEx) != 0;
  const bool low = extends && x.condition[1];  // the result for the lower words
  bool holds = false;
  if ((in.has & kEq) != 0) holds = equal && (!extends || low);
  if ((in.has & kNe) != 0) holds = !equal || low;
  if ((in.has & kLt) != 0) holds = less || (equal && low);
  if ((in.has & kGt) != 0) holds = (!less && !equal) || (equal && low);
  if ((in.has & kLe) != 0) holds = less || (equal && (!extends || low));
  if ((in.has & kGe) != 0) holds = (!less && !equal) || (equal && (!extends || low));
  out.flag[0] = Combined(in, holds, x.condition[0]);
  out.flag[1] = Combined(in, !holds, x.condition[0]);
}

uint32_t Permute(uint32_t a, uint32_t selector, uint32_t c) {
  const uint64_t bytes = static_cast<uint64_t>(c) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> 4 * i & 15;
    uint32_t byte = bytes >> 8 * (pick & 7) & 0xff;
    if ((pick & 8) != 0) byte = byte >> 7 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

void Lea(const Instruction& in, const Inputs& x, Outputs& out) {
  const uint64_t carry = (in.has & kX) != 0 && x.condition[0];
  const bool high = (in.has & kHi) != 0, sx = (in.has & kSx32) != 0;
  const int amount_at = high && !sx ? 3 : 2;
  const uint32_t amount = Low(x.source[amount_at]) & 31;
  uint64_t pair = Low(x.source[0]);
  if (sx) pair = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(pair)));
  if (high && !sx) pair |= static_cast<uint64_t>(Low(x.source[2])) << 32;
  uint64_t shifted = pair << amount;
  if (high) shifted >>= 32;
  Operand negated;
  negated.negative = in.sources[0].negative;
  Sum(Term(negated, Low(shifted)) + Low(x.source[1]) + carry, out);
}

uint64_t MinMax(const Instruction& in, uint64_t a, uint64_t b, bool least) {
  if ((in.has & kU32) != 0) return least ? std::min(Low(a), Low(b)) : std::max(Low(a), Low(b));
  const int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  return Low(least ? std::min(x, y) : std::max(x, y));
}

uint64_t RoundedUpFloat(const Instruction& in, uint64_t x) {
  double exact = static_cast<double>(static_cast<int32_t>(x));
  if ((in.has & kU32) != 0) exact = static_cast<double>(Low(x));
  float f = static_cast<float>(exact);
  if ((in.has & kU64) != 0) {
    f = static_cast<float>(x);
    if (f < 0x1p64f && static_cast<uint64_t>(f) < x) f = std::nextafterf(f, 0x1p127f);
  } else if (f < exact) {
    f = std::nextafterf(f, 0x1p127f);
  }
  return std::bit_cast<uint32_t>(f);
}

uint64_t Truncated(const Instruction& in, uint32_t x) {
  const float f = std::bit_cast<float>(x);
  if (!(f > 0)) return 0;
  if ((in.has & kU64) != 0) return f >= 0x1p64f ? ~0ull : static_cast<uint64_t>(f);
  return f >= 0x1p32f ? ~0u : static_cast<uint32_t>(f);
}

}  // namespace

bool ReadsPair(const Instruction& in, int index) {
  const Op op = Opcodes()[in.opcode].op;
  if (op == Op::kAdd3) return (in.has & k64) != 0;
  if (op == Op::kMultiplyAdd) return index == 2 && (in.has & (kWide | kHi)) != 0;
  return op == Op::kToFloat && (in.has & (kU64 | kS64)) != 0;
}

bool WritesPair(const Instruction& in) {
  switch (Opcodes()[in.opcode].op) {
    case Op::kAdd3:
      return (in.has & k64) != 0;
    case Op::kMultiplyAdd:
      return (in.has & kWide) != 0;
    case Op::kToInteger:
      return (in.has & (kU64 | kS64)) != 0;
    case Op::kSpecialRegister:
      return in.name == "CS2R" && (in.has & k32) == 0;
    default:
      return false;
  }
}

// Sums of 64 bits; a carry out is not executed.
static bool AddPairs(const Instruction& in, const Inputs& x, Outputs& out) {
  for (const Operand& flag : in.flags) {
    if (flag.index != kTrue) return false;
  }
  for (size_t i = 0; i < in.sources.size(); ++i) {
    out.value += in.sources[i].negative ? -x.source[i] : x.source[i];
  }
  return true;
}

// Instructions on one or two integers.
static bool ComputeInteger(const Instruction& in, const Inputs& x, Outputs& out) {
  switch (Opcodes()[in.opcode].op) {
    case Op::kMinMax:
    case Op::kMinMax3:
      out.value = MinMax(in, Term(in.sources[0], x.source[0]), Term(in.sources[1], x.source[1]),
                         x.condition[0]);
      if (Opcodes()[in.opcode].op == Op::kMinMax) return true;
      out.value = MinMax(in, out.value, Term(in.sources[2], x.source[2]), x.condition[0]);
      return true;
    case Op::kAddMinMax:
      out.value = MinMax(in, Term(in.sources[0], x.source[0]) + Term(in.sources[1], x.source[1]),
                         Term(in.sources[2], x.source[2]), x.condition[0]);
      return true;
    case Op::kAbsolute:
      out.value = Low(static_cast<int32_t>(x.source[0]) < 0 ? -x.source[0] : x.source[0]);
      return true;
    case Op::kSignExtend: {
      const int unused = 32 - static_cast<int>(std::min<uint64_t>(x.source[1], 32));
      if (unused == 32) return true;
      const uint32_t up = Low(x.source[0]) << unused;
      out.value = (in.has & kU32) != 0 ? up >> unused : Low(static_cast<int32_t>(up) >> unused);
      return true;
    }
    case Op::kLeadingOne: {
      const uint32_t v = Low(x.source[0]);
      const int zeros = std::countl_zero(v);
      out.value = v == 0 ? ~0u : (in.has & kShiftAmount) != 0 ? zeros : 31 - zeros;
      out.flag[0] = v != 0;
      return true;
    }
    case Op::kPopulation:
      out.value = std::popcount(Low(x.source[0]));
      return true;
    default:
      return false;
  }
}

bool Compute(const Instruction& in, const Inputs& x, Outputs& out) {
  out = {};
  switch (Opcodes()[in.opcode].op) {
    case Op::kAdd3: {
      if ((in.has & k64) != 0) return AddPairs(in, x, out);
      if ((in.has & kSaturate) != 0) {
        const int64_t sum = int64_t{static_cast<int32_t>(Term(in.sources[0], x.source[0]))} +
                            static_cast<int32_t>(Term(in.sources[1], x.source[1]));
        out.value = Low(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
        return true;
      }
      uint64_t sum = 0;
      for (size_t i = 0; i < in.sources.size(); ++i) sum += Term(in.sources[i], x.source[i]);
      if ((in.has & kX) != 0) {
        for (size_t i = 0; i < in.conditions.size() && i < 2; ++i) sum += x.condition[i];
      }
      Sum(sum, out);
      return true;
    }
    case Op::kMultiplyAdd:
      MultiplyAdd(in, x, out);
      return true;
    case Op::kLogic:
      out.value = Logic(Low(x.source[0]), Low(x.source[1]), Low(x.source[2]), x.source[3]);
      out.flag[0] = out.value != 0 || (!in.conditions.empty() && x.condition[0]);
      return true;
    case Op::kPredicateLogic: {
      const int index = x.condition[0] * 4 + x.condition[1] * 2 + x.condition[2];
      out.flag[0] = x.source[0] >> index & 1;
      out.flag[1] = x.source[1] >> index & 1;
      return true;
    }
    case Op::kShift:
      out.value = Low(Shift(in, x));
      return true;
    case Op::kCompare:
      Compare(in, x, out);
      return true;
    case Op::kSelect:
      out.value = Term(in.sources[x.condition[0] ? 0 : 1], x.source[x.condition[0] ? 0 : 1]);
      return true;
    case Op::kPermute:
      out.value = Permute(Low(x.source[0]), Low(x.source[1]), Low(x.source[2]));
      return true;
    case Op::kLea:
      Lea(in, x, out);
      return true;
    case Op::kMove:
      out.value = Low(x.source[0]);
      return true;
    case Op::kToFloat:
      out.value = RoundedUpFloat(in, x.source[0]);
      return true;
    case Op::kToInteger:
      out.value = Truncated(in, Low(x.source[0]));
      return true;
    case Op::kReciprocal:
      out.value = std::bit_cast<uint32_t>(1.0f / std::bit_cast<float>(Low(x.source[0])));
      return true;
    default:
      return ComputeInteger(in, x, out) || ComputeFloat(in, x, out);
  }
}

}  // namespace mmadiff::sass
