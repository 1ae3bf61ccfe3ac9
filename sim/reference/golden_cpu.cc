// CPUs: Intel AMX and Arm BFDOT.
//
// Results worked out from the manuals: Intel ISA extensions reference, TDPBF16PS and TMMULTF32PS;
// Arm ARM, BFDotAdd and FPDotAdd_BF16.
#include "sim/reference/golden_parts.h"

namespace mmadiff::reference {
namespace {

// Pairs of bf16 low then high, f32 results: one pair of TDPBF16PS; BFDOT without and with extended
// BFloat16 behaviour (FPCR.EBF), the latter to nearest even.
struct PairVector {
  const char *id, *a, *b, *c, *amx, *bfdot, *extended;
};
constexpr PairVector kPairs[] = {
    {"X1", "3f80 3f80", "3f80 3f80", "4b800000", "4b800001", "4b800001", "4b800001"},
    {"X2", "3f80 cb80", "3f80 3f80", "4b800000", "3f800000", "3f800000", "3f800000"},
    {"X3", "3f80 0000", "3f80 0000", "4b800000", "4b800000", "4b800001", "4b800000"},
    {"X5", "bf00 0000", "3f80 0000", "4b800000", "4b800000", "4b7fffff", "4b800000"},
    {"X7", "0d80 0000", "3080 0000", "00000000", "00000000", "00000000", "00080000"},
    {"X8", "3f80 3380", "3f80 3f80", "00000000", "3f800000", "3f800001", "3f800000"},
    {"X9", "3f80 b300", "3f80 3f80", "00000000", "3f800000", "3f7fffff", "3f800000"},
    {"X10", "8080 0000", "3f00 0000", "00800000", "00800000", "00800000", "00400000"},
    {"OV5", "7f00 ff00", "4000 4000", "00000000", "ffc00000", "7fc00000", "00000000"},
    {"OV6", "7f00 0000", "4000 0000", "ff800000", "ffc00000", "7fc00000", "7fc00000"},
    // Round to odd stays at the largest number below 2^128, and gives infinity from there on.
    {"OV1", "5900 0000", "5980 0000", "7f7fffff", "7f800000", "7f7fffff", "7f800000"},
    {"OV2", "5980 0000", "5980 0000", "7f7fffff", "7f800000", "7f800000", "7f800000"},
    {"OV3", "7f00 0000", "3f80 0000", "7f000000", "7f800000", "7f800000", "7f800000"},
    {"MinusZero", "8000 0000", "3f80 8000", "80000000", "00000000", "80000000", "80000000"},
};

// Two pairs of TDPBF16PS: a chain of the even k, one of the odd k, their sum, then the addend.
struct ChainVector {
  const char *id, *a, *b, *c, *d;
};
constexpr ChainVector kChains[] = {
    // E = 2^24, O = 1 + 1 = 2: a chain of all k would lose both ones.
    {"TwoChains", "4b80 3f80 0000 3f80", "3f80 3f80 0000 3f80", "00000000", "4b800001"},
    // The addend takes 2^24 away from the sum, not from the first product.
    {"AddendLast", "4b80 3f80 0000 3f80", "3f80 3f80 0000 3f80", "cb800000", "40000000"},
    // NaNs: the addend's comes before the sum's, the even chain's before the odd one's.
    {"NanAddend", "7fc1 0000 0000 0000", "3f80 0000 0000 0000", "7f800005", "7fc00005"},
    {"NanEven", "0000 7fc2 7fc1 0000", "0000 3f80 3f80 0000", "00000000", "7fc10000"},
};

Model Amx(int k) {
  return {kBf16,
          kBf16,
          kF32,
          kF32,
          k,
          {.family = Family::kFmaChain,
           .grouping = Grouping::kEvenOdd,
           .addend_joins = AddendJoins::kLastAdd,
           .output_fraction_bits = 23,
           .input_subnormals = Subnormals::kFlush,
           .addend_subnormals = Subnormals::kFlush,
           .output_subnormals = Subnormals::kFlush,
           .nan_rule = NanRule::kPropagate}};
}

// One chain from +0, then the addend; input subnormals count.
Model AmxTf32() {
  Model m = Amx(4);
  m.a = m.b = kTf32Amx;
  m.algorithm.grouping = Grouping::kConsecutive;
  m.algorithm.input_subnormals = Subnormals::kKeep;
  return m;
}

Model Bfdot() {
  return {kBf16,
          kBf16,
          kF32,
          kF32,
          2,
          {.family = Family::kPairwiseSum,
           .terms = 2,
           .output_rounding = Rounding::kToOdd,
           .output_fraction_bits = 23,
           .input_subnormals = Subnormals::kFlush,
           .addend_subnormals = Subnormals::kFlush,
           .output_subnormals = Subnormals::kFlush,
           .tininess = Tininess::kBeforeRounding,
           .nan_rule = NanRule::kQuietPositive}};
}

Model ExtendedBfdot() {
  return {kBf16,
          kBf16,
          kF32,
          kF32,
          2,
          {.family = Family::kPairwiseSum,
           .terms = 2,
           .product_rounding = ProductRounding::kExact,
           .output_fraction_bits = 23,
           .nan_rule = NanRule::kQuietPositive}};
}

}  // namespace

void AddCpus(std::vector<Golden>& all) {
  for (const PairVector& v : kPairs) {
    all.push_back(MakeGolden(v.id, "tdpbf16ps", Amx(2), v.a, v.b, v.c, v.amx));
    all.push_back(MakeGolden(v.id, "bfdot", Bfdot(), v.a, v.b, v.c, v.bfdot));
    all.push_back(MakeGolden(v.id, "bfdot_ebf", ExtendedBfdot(), v.a, v.b, v.c, v.extended));
  }
  for (const ChainVector& v : kChains) {
    all.push_back(MakeGolden(v.id, "tdpbf16ps", Amx(4), v.a, v.b, v.c, v.d));
  }
  // The NaN of the ignored bits is quieted before they go.
  const Model tf32 = AmxTf32();
  all.push_back(MakeGolden("T1", "amx", tf32, "7f800001", "3f800000", "0", "7fc00000"));
  all.push_back(MakeGolden("T2", "amx", tf32, "7f801fff", "3f800000", "0", "7fc00000"));
  all.push_back(MakeGolden("T6", "amx", tf32, "3f801fff", "3f800000", "0", "3f800000"));
  all.push_back(MakeGolden("T8", "amx", tf32, "00002000", "7f000000", "0", "3b000000"));
}

}  // namespace mmadiff::reference
