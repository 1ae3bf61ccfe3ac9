// What the names of instructions and the literature promise of each operation, stated without the
// numerics table: an error of that table breaks a promise here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>

#include "sim/equivalence.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Texts = std::vector<std::string>;

bool Lists(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != words.npos;
}

// Taken as another: what is promised of that one.
const std::map<std::string, std::string> kRelatives = {{"sm_86", "sm_80"}, {"sm_103", "sm_100"}};

// ---- What a name says.

struct Named {
  std::string arch, kind;
  std::string operands;  // format of A as the name has it; PTX kind of block-scaled ones
  Shape shape = {0, 0, 0, 1};
  Texts formats;  // d a b c
  std::string scale;
  Rounding rounding = Rounding::kNearestEven;
  Overflow overflow = Overflow::kWrap;
  BitOperation bit_operation = BitOperation::kAnd;
  Ties ties = Ties::kEven;
  Relu relu = Relu::kNone;
  bool wave64 = false, saturates = false;
};

// Names without shape and formats, in the fields of PTX; bN: N lanes. Intel SDM and ISE; Arm ARM.
// clang-format off
const std::map<std::string, std::string> kMnemonics = {
    {"vdpbf16ps", "m1n1k2b16.f32.bf16.bf16.f32"},
    {"vfmadd231ss", "m1n1k1.f32.f32.f32.f32"}, {"vfmadd231sd", "m1n1k1.f64.f64.f64.f64"},
    {"vpdpbusd", "m1n1k4b16.s32.u8.s8.s32"}, {"vpdpbusds", "m1n1k4b16.satfinite.s32.u8.s8.s32"},
    {"vpdpwssd", "m1n1k2b16.s32.s16.s16.s32"}, {"vpdpwssds", "m1n1k2b16.satfinite.s32.s16.s16.s32"},
    {"tdpbf16ps", "m16n16k32.f32.bf16.bf16.f32"}, {"tdpfp16ps", "m16n16k32.f32.f16.f16.f32"},
    {"tmmultf32ps", "m16n16k16.f32.tf32_amx.tf32_amx.f32"},
    {"tdpbf8ps", "m16n16k64.f32.e5m2.e5m2.f32"}, {"tdphf8ps", "m16n16k64.f32.e4m3.e4m3.f32"},
    {"tdpbhf8ps", "m16n16k64.f32.e5m2.e4m3.f32"}, {"tdphbf8ps", "m16n16k64.f32.e4m3.e5m2.f32"},
    {"tdpbssd", "m16n16k64.s32.s8.s8.s32"}, {"tdpbsud", "m16n16k64.s32.s8.u8.s32"},
    {"tdpbusd", "m16n16k64.s32.u8.s8.s32"}, {"tdpbuud", "m16n16k64.s32.u8.u8.s32"},
    {"bfdot", "m1n1k2b4.f32.bf16.bf16.f32"}, {"bfmmla", "m2n2k4.f32.bf16.bf16.f32"},
    {"sdot", "m1n1k4b4.s32.s8.s8.s32"}, {"smmla", "m2n2k8.s32.s8.s8.s32"},
    {"udot", "m1n1k4b4.s32.u8.u8.s32"}, {"ummla", "m2n2k8.s32.u8.u8.s32"},
    {"usdot", "m1n1k4b4.s32.u8.s8.s32"}, {"usmmla", "m2n2k8.s32.u8.s8.s32"},
    {"vcvtps2ph.rn", "m1n1k1b8.rn.f16.f32.-.-"}, {"vcvtps2ph.rm", "m1n1k1b8.rm.f16.f32.-.-"},
    {"vcvtps2ph.rp", "m1n1k1b8.rp.f16.f32.-.-"}, {"vcvtps2ph.rz", "m1n1k1b8.rz.f16.f32.-.-"},
    {"vcvtph2ps", "m1n1k1b8.f32.f16.-.-"}, {"vcvtneps2bf16", "m1n1k1b16.bf16.f32.-.-"},
};
// clang-format on

// Formats as AMD writes them. Names of gfx908 and gfx90a leave out the blocks: as many as fill the
// 64 lanes of a wave with so many elements of A each.
struct AmdFormat {
  const char* format = "";
  int lane_elements = 0;
};
const std::map<std::string, AmdFormat> kAmdFormats = {
    {"f64", {"f64", 1}},   {"f32", {"f32", 1}},      {"xf32", {"tf32"}}, {"f16", {"f16", 4}},
    {"bf16", {"bf16", 2}}, {"bf16_1k", {"bf16", 4}}, {"fp8", {"e4m3"}},  {"bf8", {"e5m2"}},
    {"i8", {"s8", 4}},     {"i32", {"s32"}},         {"iu8", {}},        {"iu4", {}},
    {"f8f6f4", {}},
};

// CDNA3's fp8 and bf8 have no negative zero; later ones are OCP's (AMD CDNA3 and CDNA4 ISA).
std::string AmdFormatName(const AmdFormat& f, const std::string& arch) {
  const std::string name = f.format;
  return arch == "gfx942" && (name == "e4m3" || name == "e5m2") ? name + "fnuz" : name;
}

// "v_cvt_pk_fp8_f32": two results; the format of the operand is last.
void ReadAmdConversion(const std::string& instruction, Named& named) {
  static const std::regex pattern("v_cvt_(pk_)?([a-z0-9]+)_([a-z0-9]+)");
  std::smatch part;
  if (!std::regex_match(instruction, part, pattern)) return;
  named.kind = "v_cvt";
  named.shape = {1, 1, 1, part[1].matched ? 2 : 1};
  named.formats = {AmdFormatName(kAmdFormats.at(part[2]), named.arch),
                   AmdFormatName(kAmdFormats.at(part[3]), named.arch), "-", "-"};
  named.operands = named.formats[1];
}

// "v_dot4_f32_fp8_bf8": one dot product.
void ReadAmdDot(const std::string& instruction, Named& named) {
  static const std::regex pattern("v_(dot(\\d))_f32_([a-z0-9]+)(?:_([a-z0-9]+))?");
  std::smatch part;
  if (!std::regex_match(instruction, part, pattern)) return;
  const AmdFormat a = kAmdFormats.at(part[3]);
  named.kind = "v_" + part[1].str();
  named.operands = part[3];
  named.shape = {1, 1, std::stoi(part[2]), 1};
  named.formats = {"f32", AmdFormatName(a, named.arch),
                   AmdFormatName(part[4].matched ? kAmdFormats.at(part[4]) : a, named.arch), "f32"};
}

// Takes the modifier from the end of the name.
bool TakeModifier(const std::string& modifier, std::string& name) {
  if (!name.ends_with(modifier)) return false;
  name.resize(name.size() - modifier.size());
  return true;
}

// Behind a dot: what modifiers choose.
void ReadAmd(std::string instruction, Named& named) {
  if (TakeModifier(".clamp", instruction)) named.overflow = Overflow::kSaturate;
  named.saturates = TakeModifier(".ovfl", instruction);
  named.wave64 = TakeModifier(".wave64", instruction);
  static const std::regex pattern(
      "(v_(?:mfma|mfma_scale|smfmac|wmma|swmmac))_([bf]?[fi]\\d\\d)_(\\d+)x(\\d+)x(\\d+)(_?)"
      "(?:(\\d+)b_)?([a-z]+\\d+(?:_1k)?|f8f6f4)(?:_(..8))?(?:\\.(\\w+)\\.(\\w+))?(?:\\.(ue8m0))?");
  std::smatch part;
  if (!std::regex_match(instruction, part, pattern)) return;
  const AmdFormat a = kAmdFormats.at(part[8]);
  const AmdFormat b = part[9].matched ? kAmdFormats.at(part[9]) : a;
  named.kind = part[1];
  named.operands = part[8];
  Shape& s = named.shape;
  s = {std::stoi(part[3]), std::stoi(part[4]), std::stoi(part[5]), 1};
  if (part[7].matched) s.blocks = std::stoi(part[7]);
  if (part[6].length() == 0) s.blocks = 64 * a.lane_elements / (s.m * s.k);
  named.scale = part[12];
  if (part[1] == "v_smfmac" || part[1] == "v_swmmac") s.groups = s.k / 4;
  if (part[12].matched) s.scales = s.k / 32;  // OCP Microscaling 1.0
  const std::string d = kAmdFormats.at(part[2]).format;
  named.formats = {d, AmdFormatName(a, named.arch), AmdFormatName(b, named.arch), d};
  if (part[10].matched) named.formats = {d, part[10], part[11], d};
}

void ReadToken(const std::string& token, Named& named) {
  static const std::map<std::string, Rounding> roundings = {{"rn", Rounding::kNearestEven},
                                                            {"rz", Rounding::kTowardZero},
                                                            {"rm", Rounding::kDown},
                                                            {"rp", Rounding::kUp}};
  // PTX ISA, block scaling: the scale vector size that a kind has where the name says none.
  static const std::map<std::string, int> kinds = {
      {"f8f6f4", 0}, {"mxf8f6f4", 1}, {"mxf4", 2}, {"mxf4nvf4", 0}};
  Shape& s = named.shape;
  if (std::sscanf(token.c_str(), "m%dn%dk%db%d", &s.m, &s.n, &s.k, &s.blocks) >= 3) {
  } else if (roundings.contains(token)) {
    named.rounding = roundings.at(token);
  } else if (kinds.contains(token)) {
    named.operands = token;
    s.scales = kinds.at(token);
  } else if (token == "2x" || token == "4x") {
    s.scales = token[0] - '0';
  } else if (token == "satfinite") {
    named.overflow = Overflow::kSaturate;
  } else if (token == "xor") {
    named.bit_operation = BitOperation::kXor;
  } else if (token.rfind("ue", 0) == 0) {
    named.scale = token;
  } else if (token != "and" && token != "popc" && token != "mma") {
    named.formats.push_back(token);
  }
}

// "cvt.rn.satfinite.e4m3x2.f32": PTX; a name without a rounding mode is exact.
void ReadCvt(const std::string& instruction, Named& named) {
  std::istringstream in(instruction);
  std::getline(in, named.kind, '.');
  named.shape = {1, 1, 1, 1};
  for (std::string token; std::getline(in, token, '.');) {
    if (token.ends_with("x2")) {
      named.shape.blocks = 2;
      token.resize(token.size() - 2);
    }
    if (token == "rna") {
      named.ties = Ties::kAway;
    } else if (token == "relu") {
      named.relu = Relu::kClamp;
    } else if (token == "ue8m0") {
      named.formats.push_back(token);
    } else {
      ReadToken(token, named);
    }
  }
  if (named.formats.size() != 2) return;
  named.operands = named.formats[1];
  named.formats.insert(named.formats.end(), {"-", "-"});
}

void ReadPtx(const std::string& instruction, Named& named) {
  std::istringstream in(instruction);
  std::getline(in, named.kind, '.');
  for (std::string token; std::getline(in, token, '.');) {
    token == "sp" ? void(named.kind += ".sp") : ReadToken(token, named);
  }
  if (named.formats.empty()) return;
  if (named.kind == "fma") {
    ReadToken("m1n1k1b32", named);
    named.formats.resize(4, named.formats[0]);
  }
  if (named.formats.size() == 3) named.formats.push_back(named.formats[0]);  // c as d
  if (named.scale.empty()) named.operands = named.formats[1];
  if (named.kind.ends_with(".sp")) {  // PTX ISA: 2 of 4, of pairs of 4 bits, 1 of 2 of 32 bits
    const std::string& a = named.formats[1];
    named.shape.groups = named.shape.k / (a == "tf32" ? 2 : a == "s4" || a == "u4" ? 8 : 4);
  }
  if (named.kind == "mma" && named.operands == "f16" && named.shape.m == 8) {
    named.kind = "mma.m8n8k4";
    named.shape.blocks = 4;  // quad pairs of a warp
  }
}

Named Read(const std::string& name) {
  Named named;
  const size_t slash = name.find('/');
  named.arch = name.substr(0, slash);
  if (const auto like = kRelatives.find(named.arch); like != kRelatives.end()) {
    named.arch = like->second;
  }
  const std::string instruction = name.substr(slash + 1);
  const auto mnemonic = kMnemonics.find(instruction.substr(0, instruction.find(".ebf")));
  if (mnemonic != kMnemonics.end()) {
    ReadPtx("." + mnemonic->second, named);
    named.kind = instruction;
  } else if (instruction.starts_with("cvt.")) {
    ReadCvt(instruction, named);
  } else if (instruction.starts_with("v_cvt_")) {
    ReadAmdConversion(instruction, named);
  } else if (instruction.starts_with("v_dot")) {
    ReadAmdDot(instruction, named);
  } else if (instruction.rfind("v_", 0) == 0) {
    ReadAmd(instruction, named);
  } else {
    ReadPtx(instruction, named);
  }
  return named;
}

// ---- What the literature says.
//
// Algorithms have the names of MMA-Sim 2 (arXiv 2511.10909v2; code: release 2.1.1), where steps,
// bits and floors are from; Khattak and Mikaitis (arXiv 2512.07004) recorded most NVIDIA ones. x86:
// Intel SDM vol. 2 and ISE; Arm: Arm ARM, BFDotAdd.

using enum Family;
using enum Order;
using enum Grouping;
using enum AddendJoins;
using enum Subnormals;
using enum SmallAddend;

// T-FDPA: at most `terms` products a step; an addend has the exponent of its own format. `floor`
// and `digits` (fraction bits of the result) are those of f32 results; f16 floors are 112 higher.
constexpr Algorithm T(int terms, int fraction_bits, int floor, int digits = 23) {
  return {.family = kFusedSum,
          .terms = terms,
          .fraction_bits = fraction_bits,
          .exponent_floor = floor,
          .output_fraction_bits = digits,
          .zero_sign = ZeroSign::kPositive};
}

// FP8 that ptxas makes of two f16 instructions, each of half the k, and an addition; recorded on H100,
// H200 and B200, what the factors are widened to on an H200 by this project.
constexpr Algorithm Emulated() {
  Algorithm a = T(16, 25, -133);
  a.product_exponent = ProductExponent::kAsF16;
  a.grouping = kPairsOfFour;
  a.addend_joins = kLastAdd;
  return a;
}

// ST-FDPA: groups of one product; GST-FDPA: of 16, aligned by their scales alone.
constexpr Algorithm Scaled(int terms, int group, int fraction_bits, int floor) {
  Algorithm a = T(terms, fraction_bits, floor);
  a.family = kScaledSum;
  a.group_terms = group;
  a.group_exponent = group == 1 ? GroupExponent::kProducts : GroupExponent::kScales;
  return a;
}

// Fused multiply-adds, k ascending, subnormals kept.
constexpr Algorithm Fma(NanRule nan = NanRule::kAllOnes) {
  return {.family = kFmaChain, .range_overflow = RangeOverflow::kIeee, .nan_rule = nan};
}

// What ptxas makes of Volta's instruction elsewhere, with FFMA: the products from +0, then the addend
// (measured on an H200 by this project).
constexpr Algorithm FfmaOfVolta() {
  Algorithm a = Fma();
  a.addend_joins = kLastAdd;
  return a;
}

// Results are flushed, those that are tiny after rounding.
constexpr Algorithm X86(Order order, Grouping grouping, AddendJoins joins, Subnormals ab,
                        Subnormals c) {
  Algorithm a = Fma(NanRule::kPropagate);
  a.order = order;
  a.grouping = grouping;
  a.addend_joins = joins;
  a.input_subnormals = ab;
  a.addend_subnormals = c;
  a.output_subnormals = kFlush;
  return a;
}

// E-FDPA.
constexpr Algorithm Exact(int terms) { return {.family = kExactSum, .terms = terms}; }

// FTZ-AddMul, and the base of Arm's.
constexpr Algorithm Pairs(int terms, Subnormals inputs, Subnormals results) {
  return {.family = kPairwiseSum,
          .terms = terms,
          .input_subnormals = inputs,
          .addend_subnormals = inputs,
          .output_subnormals = results,
          .nan_rule = NanRule::kQuietPositive};
}

// TR-FDPA; GTR-FDPA: even and odd k apart, small addends dropped.
constexpr Algorithm TwoStages(int terms, Grouping grouping, SmallAddend small) {
  return {.family = kTwoStageSum,
          .terms = terms,
          .grouping = grouping,
          .fraction_bits = 24,
          .sum_fraction_bits = 31,
          .small_addend = small,
          .product_overflow = ProductOverflow::kInfinity};
}

// FPCR.EBF = 0: rounded to odd, flushed if tiny before rounding.
constexpr Algorithm Odd() {
  Algorithm a = Pairs(2, kFlush, kFlush);
  a.output_rounding = Rounding::kToOdd;
  a.tininess = Tininess::kBeforeRounding;
  return a;
}

// FPCR.EBF = 1: one rounding for a pair.
constexpr Algorithm Ebf() {
  Algorithm a = Pairs(2, kKeep, kKeep);
  a.product_rounding = ProductRounding::kExact;
  return a;
}

// One rounding; the name says which, and whether it saturates. PTX ISA, cvt; OCP OFP8 1.0, table 3,
// and MX 1.0; AMD's manuals with MODE at its defaults.
constexpr Algorithm Convert(NanRule nan) { return {.family = kConversion, .nan_rule = nan}; }

// VCVTNEPS2BF16 takes subnormals as zeros.
constexpr Algorithm FlushedBf16() {
  Algorithm a = Convert(NanRule::kPropagate);
  a.input_subnormals = a.output_subnormals = kFlush;
  return a;
}

// One step of all k.
constexpr Algorithm Integers() { return {.family = kIntegerDot, .terms = kMaxK}; }

struct Promise {
  const char *archs, *kinds, *operands;
  Algorithm algorithm;
  const char* open = "";  // parameter of which nothing is published
};

#define FROM_HOPPER "sm_90 sm_100 sm_120"
#define FROM_AMPERE "sm_80 sm_89 " FROM_HOPPER
#define NARROW "e4m3 e5m2 e3m2 e2m3 e2m1"

// clang-format off
const Promise kPromises[] = {
    // Turing's m8n8k4 has Volta's numbers.
    {"sm_70 sm_75", "mma.m8n8k4", "f16", T(4, 23, -131)},
    {"sm_70", "wmma", "f16", T(4, 23, -131)},
    {"sm_75", "mma wmma", "f16", T(8, 24, -132)},
    {"sm_80 sm_89", "mma wmma", "f16 bf16", T(8, 24, -132)},
    {"sm_80 sm_89", "mma wmma", "tf32", T(4, 24, -132)},
    {FROM_HOPPER, "mma wmma wgmma tcgen05", "f16 bf16", T(16, 25, -133)},
    {FROM_HOPPER, "mma wgmma tcgen05", "tf32", T(8, 25, -133)},
    {FROM_HOPPER, "wmma", "tf32", T(4, 25, -133)},  // ptxas 13.0: two HMMA.1684
    {"sm_89", "mma", "e4m3 e5m2", T(16, 13, -132, 13)},
    {"sm_90", "wgmma", "e4m3 e5m2", T(32, 13, -133, 13)},
    {"sm_90 sm_100", "mma", "e4m3 e5m2", Emulated()},
    {"sm_100", "tcgen05", NARROW, T(32, 25, -133)},
    {"sm_120", "mma", NARROW, T(32, 25, -133)},
    {"sm_100 sm_120", "mma tcgen05", "mxf8f6f4", Scaled(32, 1, 25, -133)},
    {"sm_100 sm_120", "mma tcgen05", "mxf4 mxf4nvf4", Scaled(64, 16, 35, -139)},
    // Sparse: the dense sums of the selected products.
    {"sm_80 sm_89", "mma.sp", "f16 bf16", T(8, 24, -132)},
    {"sm_80 sm_89", "mma.sp", "tf32", T(4, 24, -132)},
    {FROM_HOPPER, "mma.sp wgmma.sp tcgen05.sp", "f16 bf16", T(16, 25, -133)},
    {FROM_HOPPER, "mma.sp wgmma.sp tcgen05.sp", "tf32", T(8, 25, -133)},
    {"sm_89", "mma.sp", "e4m3 e5m2", T(16, 13, -132, 13)},
    {"sm_90", "wgmma.sp", "e4m3 e5m2", T(32, 13, -133, 13)},
    {"sm_90 sm_100", "mma.sp", "e4m3 e5m2", Emulated()},
    {"sm_100", "tcgen05.sp", "e4m3 e5m2", T(32, 25, -133)},
    {"sm_120", "mma.sp", "e4m3 e5m2", T(32, 25, -133)},
    {FROM_AMPERE, "mma.sp wgmma.sp", "s4 u4 s8 u8", Integers()},
    {"sm_70 sm_75 " FROM_AMPERE, "fma", "f32", Fma()},
    {"sm_70 sm_75 " FROM_AMPERE, "fma", "f64", Fma(NanRule::kPropagateBca)},
    {FROM_AMPERE, "mma wmma", "f64", Fma(NanRule::kPropagateBca)},
    {FROM_AMPERE, "mma.m8n8k4", "f16", FfmaOfVolta()},
    {"sm_75 " FROM_AMPERE, "mma wmma wgmma tcgen05", "s4 u4 s8 u8 b1", Integers()},

    {"gfx908 gfx90a gfx942", "v_mfma", "f32 f64", Fma()},
    {"gfx908", "v_mfma", "f16", Exact(4), "zero_sign"},
    {"gfx908", "v_mfma", "bf16", Exact(2), "zero_sign"},
    {"gfx90a", "v_mfma", "f16 bf16_1k", Pairs(4, kFlushPositive, kFlush)},
    {"gfx90a", "v_mfma", "bf16", Pairs(2, kFlushPositive, kFlush)},
    {"gfx942", "v_mfma", "f16 bf16", TwoStages(8, kConsecutive, kCut), "zero_sign"},
    {"gfx942", "v_mfma", "xf32", TwoStages(4, kConsecutive, kCut), "zero_sign"},
    {"gfx942", "v_mfma", "fp8 bf8", TwoStages(16, kEvenOdd, kDropped), "zero_sign"},
    {"gfx942 gfx950", "v_smfmac", "f16 bf16", TwoStages(8, kConsecutive, kCut), "zero_sign"},
    {"gfx942 gfx950", "v_smfmac", "fp8 bf8", TwoStages(16, kEvenOdd, kDropped), "zero_sign"},
    {"gfx942 gfx950", "v_smfmac", "i8", Integers()},
    {"gfx908 gfx90a gfx942 gfx950", "v_mfma", "i8", Integers()},
    {"gfx1100 gfx1151 gfx1200", "v_wmma v_swmmac", "iu8 iu4", Integers()},

    {"x86", "vdpbf16ps", "bf16", X86(kDescending, kConsecutive, kFirstStep, kFlush, kFlush)},
    {"x86", "tdpbf16ps", "bf16", X86(kAscending, kEvenOdd, kLastAdd, kFlush, kFlush)},
    {"x86", "tdpfp16ps", "f16", X86(kAscending, kEvenOdd, kLastAdd, kKeep, kFlush)},
    {"x86", "tmmultf32ps", "tf32_amx", X86(kAscending, kConsecutive, kLastAdd, kKeep, kKeep)},
    {"x86", "vfmadd231ss vfmadd231sd", "f32 f64", Fma(NanRule::kPropagate)},
    {"x86", "vpdpbusd vpdpbusds vpdpwssd vpdpwssds", "u8 s16", Integers()},
    {"x86", "tdpbssd tdpbsud tdpbusd tdpbuud", "s8 u8", Integers()},
    {"arm", "bfdot bfmmla", "bf16", Odd()},
    {"arm", "bfdot.ebf bfmmla.ebf", "bf16", Ebf()},
    {"arm", "sdot udot usdot smmla ummla usmmla", "s8 u8", Integers()},

    {"sm_70 sm_75 " FROM_AMPERE, "cvt", "f32 f16 bf16 ue8m0 " NARROW, Convert(NanRule::kAllOnes)},
    {"gfx908 gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1200", "v_cvt", "f32 f16 e4m3fnuz e5m2fnuz e4m3 e5m2", Convert(NanRule::kQuietPositive)},
    {"x86", "vcvtps2ph.rn vcvtps2ph.rm vcvtps2ph.rp vcvtps2ph.rz vcvtph2ps", "f32 f16", Convert(NanRule::kPropagate)},
    {"x86", "vcvtneps2bf16", "f32", FlushedBf16()},
    {"ocp", "cvt", "f32 ue8m0 " NARROW, Convert(NanRule::kQuietPositive)},
};
// clang-format on

bool Covers(const Promise& p, const Named& named) {
  return Lists(p.archs, named.arch) && Lists(p.kinds, named.kind) &&
         Lists(p.operands, named.operands);
}

int Products(const Named& named) {
  return named.shape.groups > 0 ? named.shape.k / 2 : named.shape.k;
}

// The algorithm of a line with what the name says and what follows from the result's format.
Algorithm Promised(const Promise& promise, const Named& named) {
  Algorithm a = promise.algorithm;
  a.overflow = named.overflow;
  a.bit_operation = named.bit_operation;
  // RDNA4 clamps after the products of each half of the lanes.
  if (named.arch == "gfx1200" && named.overflow == Overflow::kSaturate)
    a.terms = Products(named) / 2;
  if (a.family == kFmaChain || a.family == kConversion) a.output_rounding = named.rounding;
  if (a.family == kConversion) {
    if (named.overflow == Overflow::kSaturate) a.saturation = Saturation::kAll;
    a.ties = named.ties;
    a.relu = named.relu;
    return a;
  }
  const std::string& d = named.formats[0];
  // ptxas 13.0 converts an f16 addend to f32 (HADD2.F32); only Volta's steps take it as it is.
  const bool converts = named.kind == "wmma" && named.arch != "sm_70" && named.formats[3] != d;
  if (converts) a.addend_exponent = AddendExponent::kOutputFormat;
  const bool truncates = a.family == kFusedSum || a.family == kScaledSum;
  if (truncates && d == "f32") a.output_rounding = Rounding::kTowardZero;
  if (truncates && d == "f16") a.exponent_floor += 126 - 14;
  if (a.grouping == kPairsOfFour) a.terms = Products(named) / 2;
  if (!truncates || d == "f16") a.output_fraction_bits = d == "f64" ? 52 : d == "f32" ? 23 : 10;
  return a;
}

// Nobody has published the NaN bits of NVIDIA's f64 and of MFMA: MMA-Sim compares none there. Those of
// an H200 this project has seen.
bool AnyNan(const Named& named, Family family) {
  // Those of conversions to formats with several NaNs only Intel has published.
  if (family == kConversion) {
    return named.arch != "x86" &&
           !Lists("e3m2 e2m3 e2m1 ue8m0 e4m3fnuz e5m2fnuz", named.formats[0]);
  }
  const bool seen = named.arch == "x86" || named.arch == "sm_90";
  const bool amd = named.kind == "v_mfma" || named.kind == "v_smfmac";
  const bool open = amd || (!seen && named.operands == "f64");
  return open && family != kIntegerDot;
}

// ---- The comparison.

// Compares what an operation has with what is promised.
struct Comparison {
  std::string op;
  Texts broken;

  void operator()(const std::string& what, const std::string& is, const std::string& promised) {
    if (is == promised) return;
    broken.push_back(op + ": " + what + " " + is + " instead of " + promised);
  }
};

std::string Text(const Shape& s, const Texts& dabc, const std::string& scale) {
  std::ostringstream out;
  out << 'm' << s.m << 'n' << s.n << 'k' << s.k << 'b' << s.blocks;
  for (const std::string& format : dabc) out << '.' << format;
  out << '.' << scale << '.' << s.scales << 'x';
  if (s.groups > 0) out << '.' << s.groups << "groups";
  return out.str();
}

void CompareFormats(const Operation& op, const Named& named, Comparison& compare) {
  const Instruction& i = *op.instruction;
  const Model& m = op.model;
  const std::string promised = Text(named.shape, named.formats, named.scale);
  compare("instruction",
          Text(i.shape, {i.d->name, i.a->name, i.b->name, i.c->name},
               i.scale == nullptr ? "" : i.scale->name),
          promised);
  compare("model",
          Text({i.shape.m, i.shape.n, m.k, i.shape.blocks, m.scales(), m.groups()},
               {m.d.name, m.a.name, m.b.name, m.c.name}, m.scale_block == 0 ? "" : m.scale.name),
          promised);
}

// What is promised of sums that no family describes: lines of AMD's emulator rocjitsu and of ptxas's
// machine code, told as trees. Words in braces are replaced by what the name says.
struct TreePromise {
  const char* archs;
  const char* kinds;
  const char* operands;
  const char* d;
  const char* text;
};
// clang-format off
#define FFMA "node fma to=f32 overflow=ieee zero_sign=ieee754\n"
#define STEPS(bits, floor, terms) "node s to=f32 fraction_bits=" bits " exponent_floor=" floor " output_rounding=toward_zero zero_sign=positive\n" \
                           "node h to=f16\ntree h(fold s(_ @) over k0.. /" terms " from c)"
#define RDNA3 "node s fraction_bits=24 word_shift=2 ones_complement=yes zero_sign=positive "
#define RDNA4 "node p fraction_bits=24 align_rounding=down\n" \
              "node s fraction_bits=24 align_rounding=down word_shift=2 small_word=dropped_above_floor zero_sign=positive "
#define CUT "node cut to=bf16 output_rounding=toward_zero overflow=ieee nan_rule=propagate\n"
#define READ "node read to=f32 output_subnormals=flush nan_rule=propagate\n"
constexpr TreePromise kTreePromises[] = {
    {FROM_AMPERE, "mma.m8n8k4", "f16", "f32", FFMA "tree fma(c fma(k3 fma(k2 fma(k1 fma(k0 0)))))"},
    {FROM_AMPERE, "mma.m8n8k4", "f16", "f16", FFMA "node h to=f16\ntree h(fma(fma(fma(k1 fma(k0)) c) fma(k3 fma(k2))))"},
    {"sm_70", "wmma", "f16", "f16", STEPS("23", "-131", "4")},
    {"sm_75 sm_80 sm_89", "wmma", "f16", "f16", STEPS("24", "-132", "8")},
    {FROM_HOPPER, "wmma", "f16", "f16", STEPS("25", "-133", "16")},
    {"x86", "tdpbf8ps tdpbhf8ps tdphbf8ps tdphf8ps", "e4m3 e5m2", "f32", "node s to=f32 zero_sign=positive nan_rule=ffc00000,ffc00000\nnode a to=f32 overflow=ieee output_subnormals=flush zero_sign=ieee754 nan_rule=ffc00000,ffc00000\ntree a(c s(k0..63))"},
    {"gfx1100 gfx1151", "v_dot2 v_wmma", "f16 bf16", "f32", READ RDNA3 "to=f32 output_subnormals=flush_positive nan_rule=ffc00a3d,ffc00000\ntree fold s(read(_) @) over k0.. /2 from c"},
    {"gfx1100 gfx1151", "v_wmma", "f16", "f16", RDNA3 "to=f16 exponent_floor=-16 nan_rule=fe3d,fe00{saturates}\ntree fold s(_ @) over k0.. /2 from c"},
    {"gfx1100 gfx1151", "v_wmma", "bf16", "bf16", READ RDNA3 "to=f32 output_subnormals=flush_positive nan_rule=fffd0000,ffc00000\n" CUT "tree fold cut(s(read(_) @)) over k0.. /2 from c"},
    {"gfx1200", "v_dot2", "f16 bf16", "f32", RDNA4 "to=f32 exponent_floor=-128 nan_rule=ffc00a3d,ffc00000\ntree s(c p(k0 k1))"},
    {"gfx1200", "v_dot4", "fp8 bf8", "f32", RDNA4 "to=f32 exponent_floor=-128 nan_rule=ffc00a3d,ffc00a3d\ntree s(c p(k0..3))"},
    {"gfx1200", "v_wmma v_swmmac", "f16 bf16", "f32", RDNA4 "to=f32 exponent_floor=-128 nan_rule=ffc00a3d,ffc00000\ntree fold s(_ @) over p({order} /2) /2 from c"},
    {"gfx1200", "v_wmma v_swmmac", "f16", "f16", RDNA4 "to=f16 exponent_floor=-16 nan_rule=fe3d,fe00{saturates}\ntree fold s(_ @) over p({order} /2) /2 from c"},
    {"gfx1200", "v_wmma v_swmmac", "bf16", "bf16", RDNA4 "to=f32 exponent_floor=-128 nan_rule=fffd0000,ffc00000\n" CUT "tree fold cut(s(_ @)) over p({order} /2) /2 from c"},
    {"gfx1200", "v_swmmac", "fp8 bf8", "f32", RDNA4 "to=f32 exponent_floor=-128 nan_rule=ffc00a3d,ffc00a3d\ntree fold s(_ @) over p({order} /4) /1 from c"},
};
#undef FFMA
#undef STEPS
#undef RDNA3
#undef RDNA4
#undef CUT
#undef READ
// clang-format on

void Replace(const std::string& word, const std::string& by, std::string& text) {
  if (const size_t at = text.find(word); at != text.npos) text.replace(at, word.size(), by);
}

// The tree that is promised; "" if the operation's family says it.
std::string PromisedTree(const Named& named) {
  const bool mixed = named.formats[3] != named.formats[0];
  for (const TreePromise& p : kTreePromises) {
    // NVIDIA's forms with one format for c and d are steps, except m8n8k4 with f16 results.
    const bool steps = !mixed && (named.kind == "wmma" ||
                                  (named.kind == "mma.m8n8k4" && named.formats[0] == "f32"));
    if (steps || !Lists(p.archs, named.arch) || !Lists(p.kinds, named.kind) ||
        !Lists(p.operands, named.operands) || p.d != named.formats[0]) {
      continue;
    }
    std::string text = p.text;
    Replace("{saturates}", named.saturates ? " overflow=saturate" : "", text);
    Replace("{order}", named.wave64 ? "k0..15" : "k0..3 k8..11 k4..7 k12..15", text);
    return text;
  }
  return "";
}

void CompareTrees(const Operation& op, const std::string& text, const Named& named,
                  Comparison& compare) {
  Model model = op.model;
  Algorithm promised = {.family = Family::kTree};
  const bool flushes = named.arch == "gfx1100" || named.arch == "gfx1151";
  if (flushes && named.operands == "bf16") promised.input_subnormals = Subnormals::kFlush;
  promised.tree = InternTree(TreeFromText(text, Products(named)));
  if (op.model.algorithm.family != Family::kTree) {
    return compare("family", Describe(op.model.algorithm), Describe(promised));
  }
  model.algorithm = promised;
  if (WhyEquivalent(model, op.model.algorithm).empty()) {
    compare("tree", Describe(op.model.algorithm), Describe(promised));
  }
}

// A change that no input can distinguish (sim/equivalence.h) breaks no promise.
void CompareAlgorithms(const Model& actual, const Algorithm& promised, const std::string& open,
                       Comparison& compare) {
  if (actual.algorithm.family != promised.family) {
    return compare("family", Describe(actual.algorithm), Describe(promised));
  }
  Model model = actual;
  model.algorithm = promised;
  for (const Parameter& p : Parameters()) {
    const bool is_read = p.families >> static_cast<int>(promised.family) & 1;
    const int value = p.get(actual.algorithm);
    if (!is_read || value == p.get(promised) || Lists(open, p.name)) continue;
    Algorithm changed = promised;
    p.set(changed, value);
    if (!WhyEquivalent(model, changed).empty()) continue;
    compare(p.name, ValueText(p, value), ValueText(p, p.get(promised)));
  }
}

// What the operation has that the promises exclude.
Texts BrokenPromises(const Operation& op) {
  const Named named = Read(op.name);
  if (named.formats.size() != 4) return {op.name + ": cannot be read"};
  if (const std::string tree = PromisedTree(named); !tree.empty()) {
    Comparison compare = {op.name, {}};
    CompareFormats(op, named, compare);
    compare("nan_verdict", op.numerics->nan_verdict == NanVerdict::kAnyNan ? "any" : "bits",
            "bits");
    CompareTrees(op, tree, named, compare);
    return compare.broken;
  }
  std::vector<const Promise*> lines;
  for (const Promise& p : kPromises) {
    if (Covers(p, named)) lines.push_back(&p);
  }
  Comparison compare = {op.name, {}};
  compare("has", std::to_string(lines.size()) + " lines", "1 lines");
  if (lines.size() != 1) return compare.broken;
  CompareFormats(op, named, compare);
  const Algorithm promised = Promised(*lines[0], named);
  const bool any_nan = AnyNan(named, promised.family);
  compare("nan_verdict", op.numerics->nan_verdict == NanVerdict::kAnyNan ? "any" : "bits",
          any_nan ? "any" : "bits");
  const std::string open = any_nan ? " nan_rule" : "";
  CompareAlgorithms(op.model, promised, lines[0]->open + open, compare);
  return compare.broken;
}

TEST(Promises, EveryOperationKeepsThem) {
  EXPECT_GE(Operations().size(), 1371u);
  for (const Operation& op : Operations()) EXPECT_THAT(BrokenPromises(op), IsEmpty());
}

// Of what has no model the name still promises shape and formats.
TEST(Promises, UnmodelledOnesHaveTheFormatsOfTheirNames) {
  for (const Operation& op : UnmodelledOperations()) {
    const Named named = Read(op.name);
    ASSERT_EQ(named.formats.size(), 4) << op.name;
    Comparison compare = {op.name, {}};
    CompareFormats(op, named, compare);
    EXPECT_THAT(compare.broken, IsEmpty());
  }
}

TEST(Promises, EveryLineCoversAOperation) {
  for (const Promise& p : kPromises) {
    const auto covers = [&](const Operation& op) { return Covers(p, Read(op.name)); };
    EXPECT_TRUE(std::ranges::any_of(Operations(), covers)) << p.archs << " " << p.kinds;
  }
}

// ---- Errors that a table could have.

struct Planted {
  const char* op;
  const char* error;   // another operation whose algorithm it gets, or NAME=VALUE
  const char* broken;  // how the report begins
};

// clang-format off
constexpr Planted kPlanted[] = {
    {"sm_80/mma.m8n8k4.rz.f64.f64.f64.f64", "sm_80/mma.m8n8k4.f64.f64.f64.f64", "output_rounding nearest_even instead of toward_zero"},
    {"sm_70/fma.rm.f32", "sm_70/fma.rp.f32", "output_rounding up instead of down"},
    {"sm_75/mma.m8n8k16.satfinite.s32.s8.u8.s32", "sm_75/mma.m8n8k16.s32.s8.u8.s32", "overflow wrap"},
    {"x86/vpdpbusds", "x86/vpdpbusd", "overflow wrap"},
    {"sm_80/mma.m8n8k128.s32.b1.b1.s32.xor.popc", "sm_80/mma.m8n8k128.s32.b1.b1.s32.and.popc", "bit_operation and"},
    {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "sm_90/mma.m16n8k8.f32.f16.f16.f32", "fraction_bits 25 instead of 24"},
    {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "terms=16", "terms 16 instead of 8"},
    {"sm_90/wmma.m16n16k8.f32.tf32.tf32.f32", "terms=8", "terms 8 instead of 4"},
    {"sm_80/wmma.m16n16k16.f32.f16.f16.f16", "addend_exponent=own_format", "addend_exponent own_format"},
    {"sm_90/wgmma.m64n8k16.f16.f16.f16", "exponent_floor=-133", "exponent_floor -133 instead of -21"},
    {"sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "nan_verdict=any", "nan_verdict"},
    {"sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "b=f16", "model m16n8k16b1.f32.bf16.f16.f32"},
    {"sm_70/mma.m8n8k4.f32.f16.f16.f16", "c=f32", "model m8n8k4b4.f32.f16.f16.f32"},
    {"sm_90/mma.sp.m16n8k32.f32.f16.f16.f32", "selection=in_place", "selection in_place"},
    {"sm_89/mma.sp.m16n8k64.f32.e4m3.e4m3.f32", "terms=32", "terms 32 instead of 16"},
    {"sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32", "output_fraction_bits=23", "output_fraction_bits 23 instead of 13"},
    {"sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "terms 16 instead of 32"},
    {"sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32", "addend_joins first_step"},
    {"sm_103/mma.m16n8k32.f16.e4m3.e4m3.f16", "grouping=consecutive", "grouping consecutive"},
    {"sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "group_exponent=products", "group_exponent products"},
    {"sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", "scale=ue8m0", "model m16n8k64b1.f32.e2m1.e2m1.f32.ue8m0"},
    {"gfx908/v_mfma_f32_32x32x4bf16", "gfx908/v_mfma_f32_32x32x4f16", "terms 4 instead of 2"},
    {"gfx90a/v_mfma_f32_32x32x4bf16", "gfx90a/v_mfma_f32_32x32x4bf16_1k", "terms 4 instead of 2"},
    {"gfx90a/v_mfma_f32_16x16x16f16", "gfx908/v_mfma_f32_16x16x16f16", "family exact_sum"},
    {"gfx942/v_mfma_f32_16x16x32_fp8_bf8", "grouping=consecutive", "grouping consecutive"},
    {"gfx942/v_mfma_f32_16x16x16_f16", "nan_verdict=bits", "nan_verdict"},
    {"arm/bfdot", "output_rounding=nearest_even", "output_rounding nearest_even instead of to_odd"},
    {"arm/bfmmla", "arm/bfmmla.ebf", "product_rounding exact"},
    {"x86/vdpbf16ps", "order=ascending", "order ascending"},
    {"x86/tdpbf16ps", "x86/tmmultf32ps", "grouping consecutive"},
    {"sm_90/cvt.rn.satfinite.e4m3x2.f32", "ocp/cvt.rn.e4m3.f32", "saturation none instead of all"},
    {"sm_90/cvt.rz.f16.f32", "sm_90/cvt.rn.f16.f32", "output_rounding nearest_even"},
    {"sm_80/cvt.rna.tf32.f32", "ties=even", "ties even instead of away"},
    {"sm_80/cvt.rn.relu.f16.f32", "relu=none", "relu none instead of clamp"},
    {"gfx942/v_cvt_pk_fp8_f32", "saturation=all", "saturation all instead of none"},
    {"x86/vcvtneps2bf16", "input_subnormals=keep", "input_subnormals keep instead of flush"},
    {"x86/vcvtph2ps", "nan_rule=quiet_positive", "nan_rule quiet_positive"},
};
// clang-format on

void Plant(const std::string& error, Operation& op, Numerics& numerics) {
  static const std::map<std::string, Format Model::*> formats = {
      {"b", &Model::b}, {"c", &Model::c}, {"scale", &Model::scale}};
  const std::string name = error.substr(0, error.find('='));
  const std::string text = error.substr(std::min(error.size(), name.size() + 1));
  if (text.empty()) {
    op.model.algorithm = MatchOperations(name).at(0)->model.algorithm;
  } else if (name == "nan_verdict") {
    numerics.nan_verdict = text == "any" ? NanVerdict::kAnyNan : NanVerdict::kBits;
  } else if (formats.contains(name)) {
    const auto is_named = [&](const Format* f) { return f->name == text; };
    op.model.*formats.at(name) = **std::ranges::find_if(kFormats, is_named);
  } else {
    const Parameter& p = *FindParameter(op.model.algorithm.family, name);
    int value = 0;
    ASSERT_TRUE(ParseValue(p, text, &value));
    p.set(op.model.algorithm, value);
  }
}

TEST(Promises, PlantedErrorsBreakThem) {
  for (const Planted& planted : kPlanted) {
    SCOPED_TRACE(std::string(planted.op) + " " + planted.error);
    Operation op = *MatchOperations(planted.op).at(0);
    EXPECT_THAT(BrokenPromises(op), IsEmpty());
    Numerics numerics = *op.numerics;
    op.numerics = &numerics;
    Plant(planted.error, op, numerics);
    EXPECT_THAT(BrokenPromises(op),
                Contains(StartsWith(planted.op + std::string(": ") + planted.broken)));
  }
}

// A table with any one parameter of an operation changed, unless nothing is published about it.
TEST(Promises, NeighboursBreakThem) {
  for (const Operation* op : DistinctOperations()) {
    for (const Neighbour& neighbour : Neighbours(op->model)) {
      Operation changed = *op;
      changed.model.algorithm = neighbour.algorithm;
      if (!BrokenPromises(changed).empty()) continue;
      EXPECT_THAT(Name(neighbour), AnyOf(StartsWith("zero_sign="), StartsWith("nan_rule=")));
      EXPECT_EQ(op->numerics->nan_verdict, NanVerdict::kAnyNan) << op->name << Name(neighbour);
    }
  }
}

TEST(Promises, WrongNamesBreakThem) {
  Operation op = *MatchOperations("sm_90/mma.m16n8k16.f32.f16.f16.f32").at(0);
  op.name = "sm_90/mma.m16n8k16.f32.f16.f16.f32.rna";
  EXPECT_THAT(BrokenPromises(op), ElementsAre(HasSubstr("cannot be read")));
  op.name = "sm_99/mma.m16n8k16.f32.f16.f16.f32";
  EXPECT_THAT(BrokenPromises(op), ElementsAre(HasSubstr("0 lines")));
  op.name = "sm_90/mma.m16n8k8.f32.bf16.bf16.f32";
  EXPECT_THAT(BrokenPromises(op),
              ElementsAre(HasSubstr("instruction m16n8k16"), HasSubstr("model m16n8k16")));
}

}  // namespace
}  // namespace mmadiff
