#include "sim/copy/element.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sim/algorithms.h"
#include "sim/fma_chain.h"
#include "sim/trace.h"

namespace mmadiff {
namespace {

constexpr uint32_t kF32Infinity = 0x7f800000, kTf32Bits = 0xffffe000;

bool IsF32Type(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF32Ftz || type == TensorType::kTf32 ||
         type == TensorType::kTf32Ftz;
}

bool IsSubnormal(const Format& f, uint64_t word) {
  const Unpacked x = Decode(f, word);
  return x.kind == Kind::kFinite && x.significand != 0 && x.significand >> f.fraction_bits == 0;
}

uint32_t RoundedToTf32(uint32_t word, const CopyRules& rules) {
  const uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > kF32Infinity) {
    return rules.tf32_nan == CopyRules::Nan::kCanonical ? 0x7fffe000 : word & kTf32Bits;
  }
  const uint32_t odd = word >> 13 & 1;
  const uint32_t half = rules.tf32_ties == CopyRules::Ties::kEven ? 0xfff + odd : 0x1000;
  return (word + half) &
         kTf32Bits;  // a carry into the exponent is right, an infinity has no fraction
}

Reduced ReduceFloat(const Format& f, bool flushes, Reduction reduction, uint64_t global,
                    uint64_t shared) {
  const Model m = {.a = f, .b = f, .c = f, .d = f, .k = 1, .algorithm = Fma(f)};
  const auto is_nan = [&](uint64_t word) { return Decode(f, word).kind == Kind::kNan; };
  const auto open = [&](uint64_t word) {
    return is_nan(word) || (flushes && IsSubnormal(f, word));
  };
  uint64_t word = global;
  if (reduction == Reduction::kAdd) {
    NullTrace trace;
    word = Add<uint64_t>(m, Subnormals::kKeep, global, shared, 0, trace);
  } else {
    // Ordered as signed magnitudes: -0 is below +0.
    const uint64_t sign = uint64_t{1} << (f.bits - 1);
    const auto key = [&](uint64_t x) {
      const auto magnitude = static_cast<int64_t>(x & (sign - 1));
      return (x & sign) != 0 ? -magnitude - 1 : magnitude;
    };
    const bool less = key(shared) < key(global);
    word = less == (reduction == Reduction::kMin) ? shared : global;
  }
  return {word, !open(global) && !open(shared) && !open(word)};
}

template <class Unsigned, class Signed>
uint64_t ReduceInteger(bool is_signed, Reduction reduction, uint64_t global, uint64_t shared) {
  const auto g = static_cast<Unsigned>(global), s = static_cast<Unsigned>(shared);
  const auto less = [&] {
    return is_signed ? static_cast<Signed>(s) < static_cast<Signed>(g) : s < g;
  };
  switch (reduction) {
    case Reduction::kAdd:
      return static_cast<Unsigned>(g + s);
    case Reduction::kMin:
      return less() ? s : g;
    case Reduction::kMax:
      return less() ? g : s;
    case Reduction::kInc:
      return g >= s ? 0 : g + 1;
    case Reduction::kDec:
      return g == 0 || g > s ? s : g - 1;
    case Reduction::kAnd:
      return g & s;
    case Reduction::kOr:
      return g | s;
    case Reduction::kXor:
      return g ^ s;
  }
  std::abort();
}

constexpr unsigned Bits(std::initializer_list<Reduction> list) {
  unsigned bits = 0;
  for (const Reduction r : list) bits |= 1U << static_cast<int>(r);
  return bits;
}

// The bits of the reductions that a type has.
unsigned ReductionsOf(TensorType type) {
  using enum Reduction;
  switch (type) {
    case TensorType::kU32:
      return Bits({kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor});
    case TensorType::kS32:
    case TensorType::kU64:
      return Bits({kAdd, kMin, kMax, kAnd, kOr, kXor});
    case TensorType::kS64:
      return Bits({kMin, kMax, kAnd, kOr, kXor});
    case TensorType::kF16:
    case TensorType::kBf16:
      return Bits({kAdd, kMin, kMax});
    case TensorType::kF32:
    case TensorType::kF32Ftz:
      return Bits({kAdd});
    default:
      return 0;
  }
}

}  // namespace

bool Converts(TensorType type, const CopyRules& rules) {
  if (type == TensorType::kF32Ftz) return rules.f32_ftz == CopyRules::Ftz::kFlushed;
  return type == TensorType::kTf32 || type == TensorType::kTf32Ftz;
}

uint32_t Loaded(TensorType type, uint32_t word, const CopyRules& rules) {
  if (!IsF32Type(type)) {
    std::fprintf(stderr, "%s is loaded without a conversion\n", Info(type).name);
    std::abort();
  }
  const bool ftz = type == TensorType::kF32Ftz || type == TensorType::kTf32Ftz;
  if (ftz && rules.f32_ftz == CopyRules::Ftz::kFlushed && IsSubnormal(kF32, word))
    word &= 0x80000000;
  return type == TensorType::kTf32 || type == TensorType::kTf32Ftz ? RoundedToTf32(word, rules)
                                                                   : word;
}

uint16_t NanFillWord(const CopyRules& rules) {
  constexpr uint16_t kWords[] = {0x7ff7, 0x7fff, 0xffff};
  return kWords[static_cast<int>(rules.nan_fill)];
}

bool HasReduction(TensorType type, Reduction reduction) {
  return (ReductionsOf(type) >> static_cast<int>(reduction) & 1) != 0;
}

bool OrderMatters(TensorType type, Reduction reduction) {
  return reduction == Reduction::kInc || reduction == Reduction::kDec ||
         (reduction == Reduction::kAdd && Info(type).is_float);
}

Reduced Reduce(TensorType type, Reduction reduction, uint64_t global, uint64_t shared) {
  if (!HasReduction(type, reduction)) {
    std::fprintf(stderr, "%s has no such reduction\n", Info(type).name);
    std::abort();
  }
  switch (type) {
    case TensorType::kF16:
      return ReduceFloat(kF16, false, reduction, global, shared);
    case TensorType::kBf16:
      return ReduceFloat(kBf16, false, reduction, global, shared);
    case TensorType::kF32:
    case TensorType::kF32Ftz:
      return ReduceFloat(kF32, type == TensorType::kF32Ftz, reduction, global, shared);
    case TensorType::kU64:
    case TensorType::kS64:
      return {ReduceInteger<uint64_t, int64_t>(type == TensorType::kS64, reduction, global, shared),
              true};
    default:
      return {ReduceInteger<uint32_t, int32_t>(type == TensorType::kS32, reduction, global, shared),
              true};
  }
}

void PackSixBits(const uint8_t* from, uint8_t* to) {
  for (int i = 0; i < 4; ++i) {
    uint32_t word = 0;
    for (int j = 0; j < 4; ++j) word |= static_cast<uint32_t>(from[4 * i + j] & 0x3f) << (6 * j);
    for (int j = 0; j < 3; ++j) to[3 * i + j] = static_cast<uint8_t>(word >> (8 * j));
  }
}

}  // namespace mmadiff
