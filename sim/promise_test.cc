// What the names of instructions and the literature promise of each row, stated without the numerics
// table: an error of that table breaks a promise here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <regex>
#include <sstream>

#include "sim/equivalence.h"
#include "sim/parameter.h"
#include "sim/row.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

bool Lists(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != words.npos;
}

// ---- What a name says.

struct Named {
  std::string arch, kind;
  std::string operands;  // format of A; of scaled products the PTX kind; "bf16_1k"
  int m = 0, n = 0, k = 0, blocks = 1, scales = 0;
  std::vector<std::string> formats;  // d a b c
  std::string scale;
  Rounding rounding = Rounding::kNearestEven;
  Overflow overflow = Overflow::kWrap;
  BitOperation bit_operation = BitOperation::kAnd;
};

// Names without shape and formats, written in the fields of PTX; bB: B blocks (lanes of 32 bits in
// a register of 512, Arm of 128). Intel SDM and ISE; Arm ARM.
const std::map<std::string, std::string> kMnemonics = {
    {"vdpbf16ps", "m1n1k2b16.f32.bf16.bf16.f32"},
    {"vfmadd231ss", "m1n1k1.f32.f32.f32.f32"},
    {"vfmadd231sd", "m1n1k1.f64.f64.f64.f64"},
    {"vpdpbusd", "m1n1k4b16.s32.u8.s8.s32"},
    {"vpdpbusds", "m1n1k4b16.satfinite.s32.u8.s8.s32"},
    {"vpdpwssd", "m1n1k2b16.s32.s16.s16.s32"},
    {"vpdpwssds", "m1n1k2b16.satfinite.s32.s16.s16.s32"},
    {"tdpbf16ps", "m16n16k32.f32.bf16.bf16.f32"},
    {"tdpfp16ps", "m16n16k32.f32.f16.f16.f32"},
    {"tmmultf32ps", "m16n16k16.f32.tf32_amx.tf32_amx.f32"},
    {"tdpbssd", "m16n16k64.s32.s8.s8.s32"},
    {"tdpbsud", "m16n16k64.s32.s8.u8.s32"},
    {"tdpbusd", "m16n16k64.s32.u8.s8.s32"},
    {"tdpbuud", "m16n16k64.s32.u8.u8.s32"},
    {"bfdot", "m1n1k2b4.f32.bf16.bf16.f32"},
    {"bfdot.ebf", "m1n1k2b4.f32.bf16.bf16.f32"},
    {"bfmmla", "m2n2k4.f32.bf16.bf16.f32"},
    {"bfmmla.ebf", "m2n2k4.f32.bf16.bf16.f32"},
    {"sdot", "m1n1k4b4.s32.s8.s8.s32"},
    {"udot", "m1n1k4b4.s32.u8.u8.s32"},
    {"usdot", "m1n1k4b4.s32.u8.s8.s32"},
    {"smmla", "m2n2k8.s32.s8.s8.s32"},
    {"ummla", "m2n2k8.s32.u8.u8.s32"},
    {"usmmla", "m2n2k8.s32.u8.s8.s32"},
};

// Formats as AMD writes them, and elements of A in a lane of gfx908 and gfx90a, whose names leave out
// the blocks: as many as 64 lanes hold (ARITHMETIC.md 6.7).
struct AmdFormat {
  const char* format;
  int lane_elements;
};
const std::map<std::string, AmdFormat> kAmdFormats = {
    {"f64", {"f64", 1}},      {"f32", {"f32", 1}},      {"xf32", {"tf32", 0}},
    {"f16", {"f16", 4}},      {"bf16", {"bf16", 2}},    {"bf16_1k", {"bf16", 4}},
    {"fp8", {"e4m3fnuz", 0}}, {"bf8", {"e5m2fnuz", 0}}, {"i8", {"s8", 4}},
    {"i32", {"s32", 0}},
};

void ReadMfma(const std::string& instruction, Named& named) {
  static const std::regex pattern(
      "v_mfma_([a-z0-9]+)_(\\d+)x(\\d+)x(\\d+)(_?)(?:(\\d+)b_)?([a-z]+\\d+(?:_1k)?)(?:_([a-z]+8))?");
  std::smatch part;
  if (!std::regex_match(instruction, part, pattern)) return;
  const std::string d = kAmdFormats.at(part[1]).format;
  const AmdFormat a = kAmdFormats.at(part[7]);
  const AmdFormat b = part[8].matched ? kAmdFormats.at(part[8]) : a;
  named.kind = "v_mfma";
  named.operands = part[7];
  named.m = std::stoi(part[2]);
  named.n = std::stoi(part[3]);
  named.k = std::stoi(part[4]);
  const bool says_blocks = part[5].length() != 0;  // gfx942 and later
  if (says_blocks && part[6].matched) named.blocks = std::stoi(part[6]);
  if (!says_blocks) named.blocks = 64 * a.lane_elements / (named.m * named.k);
  named.formats = {d, a.format, b.format, d};
}

void ReadToken(const std::string& token, Named& named) {
  static const std::map<std::string, Rounding> roundings = {{"rn", Rounding::kNearestEven},
                                                            {"rz", Rounding::kTowardZero},
                                                            {"rm", Rounding::kDown},
                                                            {"rp", Rounding::kUp}};
  // PTX ISA, block scaling: scale vector size that .kind has where the name says none.
  static const std::map<std::string, int> kinds = {
      {"f8f6f4", 0}, {"mxf8f6f4", 1}, {"mxf4", 2}, {"mxf4nvf4", 0}};
  if (std::sscanf(token.c_str(), "m%dn%dk%db%d", &named.m, &named.n, &named.k, &named.blocks) >= 3) {
  } else if (roundings.contains(token)) {
    named.rounding = roundings.at(token);
  } else if (kinds.contains(token)) {
    named.operands = token;
    named.scales = kinds.at(token);
  } else if (token == "2x" || token == "4x") {
    named.scales = token[0] - '0';
  } else if (token == "satfinite") {
    named.overflow = Overflow::kSaturate;
  } else if (token == "xor") {
    named.bit_operation = BitOperation::kXor;
  } else if (token.rfind("ue", 0) == 0) {
    named.scale = token;
  } else if (token != "and" && token != "popc") {
    named.formats.push_back(token);
  }
}

void ReadPtx(const std::string& instruction, Named& named) {
  for (const std::string& token : Split(instruction, '.')) {
    if (named.kind.empty()) {
      named.kind = token;
    } else if (token != "mma") {  // tcgen05.mma
      ReadToken(token, named);
    }
  }
  if (named.formats.empty()) return;
  if (named.kind == "fma") {
    named.m = named.n = named.k = 1;
    named.blocks = 32;
    named.formats.resize(4, named.formats[0]);
  }
  if (named.formats.size() == 3) named.formats.push_back(named.formats[0]);  // c as d
  if (named.scale.empty()) named.operands = named.formats[1];
  if (named.kind == "mma" && named.operands == "f16" && named.m == 8) {
    named.kind = "mma.m8n8k4";  // one for each quad pair
    named.blocks = 4;
  }
}

Named Read(const std::string& name) {
  Named named;
  const size_t slash = name.find('/');
  named.arch = name.substr(0, slash);
  const std::string instruction = name.substr(slash + 1);
  if (const auto it = kMnemonics.find(instruction); it != kMnemonics.end()) {
    named.kind = instruction;
    for (const std::string& token : Split(it->second, '.')) ReadToken(token, named);
    named.operands = named.formats[1];
  } else if (instruction.rfind("v_", 0) == 0) {
    ReadMfma(instruction, named);
  } else {
    ReadPtx(instruction, named);
  }
  return named;
}

// ---- What the literature says. Numbers of sections are those of ARITHMETIC.md, our fact sheet.

using enum Family;

// T-FDPA (3.2): at most `terms` products a step, F fraction bits. Floors are those of f32 results
// (2.4); Complete() moves them to f16.
constexpr Algorithm T(int terms, int fraction_bits, int floor) {
  return {.family = kFusedSum,
          .terms = terms,
          .fraction_bits = fraction_bits,
          .exponent_floor = floor,
          .zero_sign = ZeroSign::kPositive};
}

// FP8 of Ada and of Hopper's wgmma (3.4): 13 fraction bits in the sum and in f32 results.
constexpr Algorithm E8M13(int terms, int floor) {
  Algorithm a = T(terms, 13, floor);
  a.output_fraction_bits = 13;
  return a;
}

// FP8 that ptxas makes of two f16 instructions and an addition (3.5).
constexpr Algorithm Emulated() {
  Algorithm a = T(16, 25, -133);
  a.grouping = Grouping::kPairsOfFour;
  a.addend_joins = AddendJoins::kLastAdd;
  return a;
}

// ST-FDPA (3.6): groups of one product; GST-FDPA (3.7): groups of 16, aligned by their scales alone.
constexpr Algorithm Scaled(int terms, int group, int fraction_bits, int floor) {
  Algorithm a = T(terms, fraction_bits, floor);
  a.family = kScaledSum;
  a.group_terms = group;
  if (group > 1) a.group_exponent = GroupExponent::kScales;
  return a;
}

// A chain of fused multiply-adds (3.1, 4.1); rounding of the name.
constexpr Algorithm Fma(NanRule nan = NanRule::kAllOnes) {
  return {.family = kFmaChain, .range_overflow = RangeOverflow::kIeee, .nan_rule = nan};
}

// x86 (5.1 to 5.4): results flushed, signs kept. "Tiny" is decided after rounding (Intel SDM vol. 1).
constexpr Algorithm X86(Order order, Grouping grouping, AddendJoins joins, Subnormals ab,
                        Subnormals c) {
  Algorithm a = Fma(NanRule::kPropagate);
  a.order = order;
  a.grouping = grouping;
  a.addend_joins = joins;
  a.input_subnormals = ab;
  a.addend_subnormals = c;
  a.output_subnormals = Subnormals::kFlush;
  return a;
}

// E-FDPA (4.2).
constexpr Algorithm Exact(int terms) { return {.family = kExactSum, .terms = terms}; }

// FTZ-AddMul (4.3): flushed to +0 at the entry, with the sign kept afterwards.
constexpr Algorithm FlushedPairs(int terms) {
  return {.family = kPairwiseSum,
          .terms = terms,
          .input_subnormals = Subnormals::kFlushPositive,
          .addend_subnormals = Subnormals::kFlushPositive,
          .output_subnormals = Subnormals::kFlush};
}

// TR-FDPA (4.4); GTR-FDPA (4.5): even and odd k apart, small addends dropped.
constexpr Algorithm TwoStages(int terms, Grouping grouping, SmallAddend small) {
  return {.family = kTwoStageSum,
          .terms = terms,
          .grouping = grouping,
          .fraction_bits = 24,
          .sum_fraction_bits = 31,
          .small_addend = small,
          .product_overflow = ProductOverflow::kInfinity};
}

// BFDOT (5.6): everything flushed and rounded to odd, "tiny" before rounding.
constexpr Algorithm Odd() {
  return {.family = kPairwiseSum,
          .terms = 2,
          .output_rounding = Rounding::kToOdd,
          .input_subnormals = Subnormals::kFlush,
          .addend_subnormals = Subnormals::kFlush,
          .output_subnormals = Subnormals::kFlush,
          .tininess = Tininess::kBeforeRounding,
          .nan_rule = NanRule::kQuietPositive};
}

// With FPCR.EBF = 1 (5.6): exact products, one rounding a pair, no flushing.
constexpr Algorithm Ebf() {
  return {.family = kPairwiseSum,
          .terms = 2,
          .product_rounding = ProductRounding::kExact,
          .nan_rule = NanRule::kQuietPositive};
}

// 5b: one exact sum of all k; overflow of the name.
constexpr Algorithm Integers() { return {.family = kIntegerDot}; }

struct Promise {
  const char *archs, *kinds, *operands;
  Algorithm algorithm;
  const char* open = "";  // parameters of which nothing is published
};

#define ALL_SM "sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120"
#define INTS "s4 u4 s8 u8 b1"
#define NARROW "e4m3 e5m2 e3m2 e2m3 e2m1"
constexpr auto kAscending = Order::kAscending;
constexpr auto kConsecutive = Grouping::kConsecutive;
constexpr auto kEvenOdd = Grouping::kEvenOdd;
constexpr auto kLast = AddendJoins::kLastAdd;
constexpr auto kKeep = Subnormals::kKeep;
constexpr auto kFlush = Subnormals::kFlush;

// clang-format off
const Promise kPromises[] = {
    // 6.1 to 6.4, mma of the first steps also for wmma. m8n8k4 of Turing has Volta's numbers; sm_86
    // is taken as sm_80, sm_103 as sm_100.
    {"sm_70 sm_75", "mma.m8n8k4", "f16", T(4, 23, -131)},
    {"sm_70", "wmma", "f16", T(4, 23, -131)},
    {"sm_75", "mma wmma", "f16", T(8, 24, -132)},
    {"sm_80 sm_86 sm_89", "mma wmma", "f16 bf16", T(8, 24, -132)},
    {"sm_80 sm_86 sm_89", "mma wmma", "tf32", T(4, 24, -132)},
    {"sm_90 sm_100 sm_103 sm_120", "mma wmma wgmma tcgen05", "f16 bf16", T(16, 25, -133)},
    {"sm_90 sm_100 sm_103 sm_120", "mma wmma wgmma tcgen05", "tf32", T(8, 25, -133)},
    {"sm_89", "mma", "e4m3 e5m2", E8M13(16, -132)},
    {"sm_90", "wgmma", "e4m3 e5m2", E8M13(32, -133)},
    {"sm_90 sm_100 sm_103", "mma", "e4m3 e5m2", Emulated()},
    {"sm_100 sm_103", "tcgen05", NARROW, T(32, 25, -133)},
    {"sm_120", "mma", NARROW, T(32, 25, -133)},
    {"sm_100 sm_103 sm_120", "mma tcgen05", "mxf8f6f4", Scaled(32, 1, 25, -133)},
    {"sm_100 sm_103 sm_120", "mma tcgen05", "mxf4 mxf4nvf4", Scaled(64, 16, 35, -139)},
    {ALL_SM, "mma wmma", "f64", Fma()},
    {ALL_SM, "fma", "f32 f64", Fma()},
    {ALL_SM, "mma wmma wgmma tcgen05", INTS, Integers()},
    // 6.7. Signs of zeros: 10.2, never published.
    {"gfx908 gfx90a gfx942", "v_mfma", "f32 f64", Fma()},
    {"gfx908", "v_mfma", "f16", Exact(4), "zero_sign"},
    {"gfx908", "v_mfma", "bf16", Exact(2), "zero_sign"},
    {"gfx90a", "v_mfma", "f16 bf16_1k", FlushedPairs(4)},
    {"gfx90a", "v_mfma", "bf16", FlushedPairs(2)},
    {"gfx942", "v_mfma", "f16 bf16", TwoStages(8, kConsecutive, SmallAddend::kCut), "zero_sign"},
    {"gfx942", "v_mfma", "xf32", TwoStages(4, kConsecutive, SmallAddend::kCut), "zero_sign"},
    {"gfx942", "v_mfma", "fp8 bf8", TwoStages(16, kEvenOdd, SmallAddend::kDropped), "zero_sign"},
    {"gfx908 gfx90a gfx942 gfx950", "v_mfma", "i8", Integers()},
    // 5.
    {"x86", "vdpbf16ps", "bf16", X86(Order::kDescending, kConsecutive, AddendJoins::kFirstStep, kFlush, kFlush)},
    {"x86", "tdpbf16ps", "bf16", X86(kAscending, kEvenOdd, kLast, kFlush, kFlush)},
    {"x86", "tdpfp16ps", "f16", X86(kAscending, kEvenOdd, kLast, kKeep, kFlush)},
    {"x86", "tmmultf32ps", "tf32_amx", X86(kAscending, kConsecutive, kLast, kKeep, kKeep)},
    {"x86", "vfmadd231ss vfmadd231sd", "f32 f64", Fma(NanRule::kPropagate)},
    {"x86", "vpdpbusd vpdpbusds vpdpwssd vpdpwssds", "u8 s16", Integers()},
    {"x86", "tdpbssd tdpbsud tdpbusd tdpbuud", "s8 u8", Integers()},
    {"arm", "bfdot bfmmla", "bf16", Odd()},
    {"arm", "bfdot.ebf bfmmla.ebf", "bf16", Ebf()},
    {"arm", "sdot udot usdot smmla ummla usmmla", "s8 u8", Integers()},
};
// clang-format on

// The algorithm of a line with what the name says and what follows from the result's format (2.2).
Algorithm Complete(Algorithm a, const Named& named) {
  static const std::map<std::string, int> digits = {{"f64", 52}, {"f32", 23}, {"f16", 10}};
  const bool f16 = named.formats[0] == "f16";
  if (a.output_fraction_bits == 0 || f16) a.output_fraction_bits = digits.at(named.formats[0]);
  if (a.family == kFmaChain) a.output_rounding = named.rounding;
  if (a.family == kFusedSum || a.family == kScaledSum) {
    a.output_rounding = f16 ? Rounding::kNearestEven : Rounding::kTowardZero;
    if (f16) a.exponent_floor += 126 - 14;
  }
  return a;
}

Algorithm Promised(const Promise& promise, const Named& named) {
  Algorithm a = promise.algorithm;
  if (a.family != kIntegerDot) return Complete(a, named);
  a.terms = named.k;
  a.overflow = named.overflow;
  a.bit_operation = named.bit_operation;
  return a;
}

bool Covers(const Promise& p, const Named& named) {
  return Lists(p.archs, named.arch) && Lists(p.kinds, named.kind) &&
         Lists(p.operands, named.operands);
}

// NaN bits that nobody has published (2, item 8 of 0): NVIDIA's f64 and MFMA.
NanVerdict PromisedVerdict(const Named& named, Family family) {
  const bool open = named.kind == "v_mfma" || (named.arch != "x86" && named.operands == "f64");
  return open && family != kIntegerDot ? NanVerdict::kAnyNan : NanVerdict::kBits;
}

// ---- The comparison.

std::string ShapeText(const Shape& s) {
  std::ostringstream out;
  out << 'm' << s.m << 'n' << s.n << 'k' << s.k << 'b' << s.blocks << " scales " << s.scales;
  return out.str();
}

std::string FormatsText(const std::vector<std::string>& dabc, const std::string& scale) {
  std::string text;
  for (const std::string& f : dabc) text += f + ".";
  return text + scale;
}

// Promises of the arithmetic that a row breaks, as "parameter=value instead of value". A change that
// no input can tell (sim/equivalence.h) breaks none.
void CompareAlgorithm(const Row& row, const Promise& line, const Algorithm& promised,
                      std::vector<std::string>& broken) {
  const Algorithm& actual = row.model.algorithm;
  if (actual.family != promised.family) {
    broken.push_back("family: " + Describe(actual) + " instead of " + Describe(promised));
    return;
  }
  Model model = row.model;
  model.algorithm = promised;
  const bool any_nan = row.numerics->nan_verdict == NanVerdict::kAnyNan;
  for (const Parameter& p : Parameters()) {
    if (!(p.families >> static_cast<int>(promised.family) & 1)) continue;
    if (p.get(actual) == p.get(promised) || Lists(line.open, p.name)) continue;
    if (any_nan && std::string_view(p.name) == "nan_rule") continue;
    Algorithm changed = promised;
    p.set(changed, p.get(actual));
    if (!WhyEquivalent(model, changed).empty()) continue;
    broken.push_back(std::string(p.name) + "=" + ValueText(p, p.get(actual)) + " instead of " +
                     ValueText(p, p.get(promised)));
  }
}

// Everything that the row, if it is right, cannot have; empty if nothing.
std::vector<std::string> BrokenPromises(const Row& row) {
  std::vector<std::string> broken;
  const auto expect = [&](const char* what, const std::string& is, const std::string& promised) {
    if (is != promised) broken.push_back(std::string(what) + ": " + is + " instead of " + promised);
  };
  const Named named = Read(row.name);
  if (named.formats.size() != 4) return {"its name cannot be read"};
  const Instruction& i = *row.instruction;
  const Model& m = row.model;
  const std::string shape = ShapeText({named.m, named.n, named.k, named.blocks, named.scales});
  expect("shape", ShapeText(i.shape), shape);
  expect("shape of the model", ShapeText({named.m, named.n, m.k, named.blocks, m.scales()}), shape);
  const std::string formats = FormatsText(named.formats, named.scale);
  expect("formats", FormatsText({i.d->name, i.a->name, i.b->name, i.c->name},
                                i.scale == nullptr ? "" : i.scale->name), formats);
  expect("formats of the model",
         FormatsText({m.d.name, m.a.name, m.b.name, m.c.name},
                     m.scale_block == 0 ? "" : m.scale.name), formats);
  const Promise* line = nullptr;
  int lines = 0;
  for (const Promise& p : kPromises) {
    if (Covers(p, named)) line = &p, ++lines;
  }
  expect("promises", std::to_string(lines), "1");
  if (lines != 1) return broken;
  const Algorithm promised = Promised(*line, named);
  CompareAlgorithm(row, *line, promised, broken);
  if (row.numerics->nan_verdict != PromisedVerdict(named, promised.family)) {
    broken.push_back("nan_verdict");
  }
  return broken;
}

TEST(Promises, EveryRowKeepsThem) {
  for (const Row& row : Rows()) EXPECT_THAT(BrokenPromises(row), IsEmpty()) << row.name;
  EXPECT_GE(Rows().size(), 1398u);
}
}  // namespace
}  // namespace mmadiff
