// Each reason why a change cannot be seen holds where its premise does, and nowhere else. That no
// generated case refutes one is fuzz/schedule/mutants_test.cc.
#include "sim/equivalence.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

std::string Reason(const std::string& op, std::string_view change) {
  for (const EquivalentNeighbour& e : EquivalentNeighbours(FindOperation(op)->model)) {
    if (Name(e.change) == change) return e.reason;
  }
  for (const Neighbour& n : AllNeighbours(FindOperation(op)->model)) {
    if (Name(n) == change) return "seen";
  }
  return "no such change";
}

struct Pair {
  const char* change;
  const char* op;     // where no input can distinguish
  const char* other;  // where one may
  const char* reason;
};

constexpr char kBf16[] = "gfx942/v_mfma_f32_32x32x8_bf16", kF16[] = "gfx942/v_mfma_f32_32x32x8_f16";
constexpr char kPairsF16[] = "gfx90a/v_mfma_f32_32x32x8f16";
constexpr char kPairsBf16[] = "gfx90a/v_mfma_f32_32x32x8bf16_1k";
constexpr char kMxf8[] = "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0";
constexpr char kMxf4[] = "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0";
constexpr char kNvf4[] = "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x";
constexpr char kAmxBf16[] = "x86/tdpbf16ps", kAmxF16[] = "x86/tdpfp16ps";

constexpr Pair kPairs[] = {
    {"product_exponent=as_f16", "sm_90/mma.m16n8k16.f32.f16.f16.f32",
     "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", "no subnormal operand would be normal in f16"},
    {"product_exponent=raw", "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
     "sm_90/mma.m16n8k32.f32.e4m3.e5m2.f32",
     "no product of a subnormal has an exponent high enough to cut a bit of another term"},
    {"product_overflow=none", kF16, kBf16, "no product is that large"},
    {"product_rounding=exact", kPairsF16, kPairsBf16,
     "the output format represents every product exactly"},
    {"multiply_add=separate", "sm_80/mma.m8n8k4.f32.f16.f16.f32", "x86/vfmadd231ss",
     "the output format represents every product exactly"},
    {"output_subnormals=keep", kPairsF16, kPairsBf16, "no result is subnormal"},
    {"output_subnormals=flush_positive", kPairsF16, kPairsBf16, "no result is subnormal or -0"},
    {"output_subnormals=flush_positive", kAmxF16, kAmxBf16, "no result is subnormal or -0"},
    {"addend_subnormals=flush_positive", kAmxF16, kAmxBf16,
     "the sum that joins the addend is never -0"},
    {"tininess=before_rounding", kAmxF16, kAmxBf16, "no result is subnormal"},
    {"tininess=before_rounding", kPairsBf16, "x86/vdpbf16ps",
     "a product has no more digits than the output, and a tiny sum of two outputs is exact"},
    {"tininess=after_rounding", "arm/bfdot", "",
     "this rounding never carries into the normal range"},
    {"input_subnormals=flush", "gfx90a/v_mfma_f32_32x32x4bf16_1k", kPairsBf16,
     "the addend is never -0, so the sign of a zero product does not show"},
    {"addend_flush=every_step", "arm/bfmmla", kPairsBf16,
     "each step has already flushed its result"},
    {"addend_flush=every_step", "arm/bfmmla.ebf", kPairsBf16, "no addend is flushed"},
    {"addend_flush=every_step", kPairsF16, kPairsBf16,
     "the sum that one step hands to the next is never subnormal or -0"},
    {"zero_addend=ignored", kBf16, "",
     "with a zero addend the sum is only rounded to ever coarser units, always in the same "
     "direction"},
    {"zero_sign=positive", kF16, kBf16, "no nonzero sum rounds to zero"},
    {"zero_sign=sum_positive", kNvf4, kMxf4, "no nonzero sum rounds to zero"},
    {"zero_group=ignored", kMxf8, kMxf4,
     "a group of one product adds up to zero only if the product is zero"},
    {"product_exponent=normalized", kMxf4, kMxf8, "groups are aligned by their scales alone"},
    {"exponent_floor=-140", kNvf4, kMxf4, "every nonzero term is above the floor"},
    {"addend_exponent=output_format", kMxf4, "sm_70/mma.m8n8k4.f32.f16.f16.f16",
     "the addend's and the output's format have the same least exponent"},
    {"exponent_floor=-19", "sm_89/mma.m16n8k16.f16.e4m3.e5m2.f16",
     "sm_75/mma.m16n8k8.f16.f16.f16.f16", "no term has bits below those that the floor keeps"},
    {"zero_term=raises", "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
     "sm_90/mma.m16n8k16.f32.f16.f16.f32",
     "no zero product has an exponent high enough to cut a bit of another term"},
    {"range_overflow=ieee", "sm_90/mma.m16n8k16.f16.f16.f16.f16",
     "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
     "under both rules, rounding to nearest overflows to infinity"},
    {"range_overflow=ieee", kNvf4, kMxf4,
     "products are too small to carry the largest addend out of range"},
    {"range_overflow=infinity", "sm_90/mma.m8n8k4.f64.f64.f64.f64",
     "sm_90/mma.m8n8k4.rz.f64.f64.f64.f64",
     "under both rules, rounding to nearest overflows to infinity"},
    {"terms=32", "sm_75/mma.m8n8k32.satfinite.s32.u4.u4.s32", "", "no such change"},
    {"terms=16", "sm_75/mma.m8n8k32.satfinite.s32.u4.u4.s32",
     "sm_75/mma.m8n8k32.satfinite.s32.s4.u4.s32",
     "a sum that only grows never comes back into range"},
    {"terms=4", "gfx942/v_mfma_f32_4x4x4_16b_f16", kF16, "one step takes all the products"},
    {"ties=away", "sm_90/cvt.rz.f16.f32", "sm_90/cvt.rn.f16.f32",
     "every operand gives the same result"},
    {"addend_reading=cut_1", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
     "sm_80/mma.m16n8k16.f32.f16.f16.f32", "alignment cuts these bits of the addend anyway"},
    {"a_reading=subnormals_zero", "x86/vdpbf16ps", "x86/vfmadd231ss",
     "subnormals are flushed anyway"},
    {"step.zero_word=raises", "gfx1100/v_wmma_f16_16x16x16_f16", "",
     "no words of these formats make it act"},
    {"selection=zeros_in_place", "sm_80/mma.sp.m16n8k32.f32.f16.f16.f32",
     "gfx942/v_smfmac_f32_16x16x64_fp8_fp8",
     "neither the order of a step's products nor zeros among them change its sum"},
    {"selection=firsts_then_seconds", "sm_90/mma.sp.m16n8k32.f32.f16.f16.f32",
     "sm_80/mma.sp.m16n8k32.f32.f16.f16.f32",
     "neither the order of a step's products nor zeros among them change its sum"},
    {"selection=firsts_then_seconds", "gfx1200/v_swmmac_i32_16x16x32_iu8.u8.u8.clamp",
     "gfx1200/v_swmmac_i32_16x16x32_iu8.s8.s8.clamp",
     "neither the order of a step's products nor zeros among them change its sum"},
    {"selection=in_place", "gfx1200/v_swmmac_i32_16x16x32_iu8.s8.s8.clamp",
     "sm_90/mma.sp.m16n8k32.f32.f16.f16.f32",
     "neither the order of a step's products nor zeros among them change its sum"},
    {"exponent_floor=none", "sm_70/wmma.m16n16k16.f32.f16.f16.f32",
     "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", "every nonzero term is above the floor"},
};

TEST(WhyEquivalent, WhereItsPremiseHoldsAndNowhereElse) {
  for (const Pair& p : kPairs) {
    EXPECT_EQ(Reason(p.op, p.change), p.reason) << p.op << " " << p.change;
    if (*p.other == '\0') continue;
    EXPECT_EQ(Reason(p.other, p.change), "seen") << p.other << " " << p.change;
  }
}

// Every reason that the tables make use of stands above or in parameter_test.cc.
TEST(WhyEquivalent, EveryReasonIsTested) {
  std::map<std::string, std::string> reasons;
  for (const Operation* op : DistinctOperations()) {
    for (const EquivalentNeighbour& e : EquivalentNeighbours(op->model)) {
      reasons.emplace(e.reason, op->name + " " + Name(e.change));
    }
  }
  for (const Pair& p : kPairs) reasons.erase(p.reason);
  for (const char* other :
       {"tininess matters only if the output is flushed", "a single product has no order",
        "an integer sum that wraps is the same in any number of steps"}) {
    reasons.erase(other);
  }
  for (const auto& [reason, where] : reasons) ADD_FAILURE() << reason << ": " << where;
}

}  // namespace
}  // namespace mmadiff
