#include "sim/reference/golden_vectors.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "sim/reference/golden_parts.h"
#include "sim/row.h"

namespace mmadiff::reference {
namespace {

// Sources. Where a vector names none, its result was worked out from the algorithm by hand or by an
// independent integer model, not observed.
// [1] MMA-Sim v2, arXiv 2511.10909v2, equation 10 and tables   [2] Fasi, Higham, Mikaitis, Pranesh
// 2021 [3] Khattak & Mikaitis, arXiv 2512.07004                      [4] Hickmann & Bradford 2019
// [5] Valpey et al., arXiv 2502.15999
// [6] north-numerical-computing/MATLAB-tensor-core issue 7, recorded on H100
// [7] Intel SDM vol. 2, VDPBF16PS                               [8] PTX ISA, mma.satfinite

// Fused sums with f32 output and addend. Missing k are +0. `exact`: one rounding to nearest even of
// (nearly) the exact sum, four f16 or two bf16 products at a time, as AMD CDNA1 does; empty where
// the sum needs more than 37 bits.
struct SumVector {
  const char *id, *inputs, *a, *b, *c, *volta, *ampere, *hopper, *exact, *source;
};
constexpr SumVector kSums[] = {
    {"E10", "f16", "f000 b800 b400 b000", "6400 3c00 3c00 3c00", "4b000000", "00000000", "bf000000",
     "bf400000", "bf600000", "[1]"},
    {"HB7", "f16", "7800 f800 3c00", "7800 7800 5800", "00000000", "43000000", "43000000",
     "43000000", "43000000", "[4] V100"},
    {"HB6", "f16", "7800 f800 3c00", "7800 7800 5400", "00000000", "00000000", "42800000",
     "42800000", "42800000", "[4] V100"},
    {"HB5", "f16", "7800 f800 3c00", "7800 7800 5000", "00000000", "00000000", "00000000",
     "42000000", "42000000", ""},
    {"A1", "f16", "0001 0001 0001 0001", "3c00 3c00 3c00 3c00", "00000000", "34800000", "34800000",
     "34800000", "34800000", "[2] V100, T4, A100"},
    {"A2", "f16", "0000", "0000", "00000001", "00000001", "00000001", "00000001", "00000001",
     "[2] V100, T4, A100"},
    {"A3", "f16", "0400", "3800", "00000000", "38000000", "38000000", "38000000", "38000000",
     "[2] V100, T4, A100"},
    {"B1", "f16", "3bff 3bff 3bff 3bff", "3bff 3bff 3bff 3bff", "00000000", "407fc004", "407fc004",
     "407fc004", "407fc004", "[2] V100, T4, A100"},
    {"B2", "f16", "0001 0001 0001 0001", "3c00 3c00 3c00 3c00", "3f800000", "3f800000", "3f800002",
     "3f800002", "3f800002", "[2] V100"},
    {"B3", "f16", "0001 0001 0001 0001", "3800 3800 3800 3800", "3f800000", "3f800000", "3f800000",
     "3f800001", "3f800001", "[2] T4, A100"},
    {"B4", "f16", "0001 0001 0001 0001", "3400 3400 3400 3400", "3f800000", "3f800000", "3f800000",
     "3f800000", "3f800000", ""},
    {"C1", "f16", "4000 0002 0001", "3c00 3c00 3c00", "00000000", "40000000", "40000000",
     "40000000", "40000001", "[1]"},
    {"C1n", "f16", "c000 8002 8001", "3c00 3c00 3c00", "00000000", "c0000000", "c0000000",
     "c0000000", "c0000001", "[1]"},
    {"D1", "f16", "3c00", "3c00", "bf7fffff", "34000000", "33800000", "33800000", "33800000",
     "[1]"},
    {"D2", "f16", "0001 0001 0001 0001", "3c00 3c00 3c00 3c00", "3f7fffff", "3f800001", "3f800001",
     "3f800001", "3f800002", "[2] V100"},
    {"D3", "f16", "3c00 8001", "3c00 3c00", "bf7fffff", "34000000", "00000000", "00000000",
     "00000000", "[1]"},
    {"D5", "f16", "0001 0001 0001 0001", "3800 3800 3800 3800", "3f7fffff", "3f7fffff", "3f800000",
     "3f800000", "3f800000", ""},
    {"CY1", "f16", "3c00 3e00 3f00 3f80", "3c00 3c00 3c00 3c00", "3ff00000", "41000000", "41000000",
     "41000000", "41000000", "[1]"},
    {"CY2", "f16", "3c00 3c00 3c00 3c00", "3c00 3c00 3c00 3c00", "3f800003", "40a00000", "40a00000",
     "40a00000", "40a00001", "[1]"},
    {"R1", "f16", "3e00 1000 1000", "3e00 0c00 0c00", "00000000", "40100001", "40100001",
     "40100001", "40100001", "[5]"},
    {"R1b", "f16", "3c00 1000 1000", "4080 0c00 0c00", "00000000", "40100000", "40100001",
     "40100001", "40100001", "[5]"},
    {"N", "f16", "3e00 0002 0001 0001", "3e00 3c00 3c00 3c00", "00000000", "40100000", "40100001",
     "40100001", "40100001", "[3]"},
    {"Nb", "f16", "4080 0002 0001 0001", "3c00 3c00 3c00 3c00", "00000000", "40100000", "40100000",
     "40100001", "40100001", "[3]"},
    {"R3", "f16", "3e00 3e00 3e00 3e00", "3d00 3d00 3d00 3d00", "3f7fffff", "4107ffff", "4107ffff",
     "4107ffff", "41080000", "[5]"},
    {"Z1", "f16", "3c00 bc00", "3c00 3c00", "00000000", "00000000", "00000000", "00000000",
     "00000000", ""},
    {"bE10", "bf16", "c600 bf00 be80 be00", "4480 3f80 3f80 3f80", "4b000000", "", "bf000000",
     "bf400000", "bf600000", "[1]"},
    {"AM1", "bf16", "4500 4500", "4500 c500", "b58637bd", "", "00000000", "00000000", "", "[1]"},
    {"AM2", "bf16", "3c00 bc00 3a00 3800", "3f80 3f80 3a00 3780", "3fffffff", "", "40000000",
     "40000000", "40000001", ""},
    {"AM3", "bf16", "3300 2f80", "3f80 3f80", "bf800000", "", "bf800000", "bf7fffff", "bf7fffff",
     ""},
    {"OV1", "bf16", "5900", "5980", "7f7fffff", "", "7f7fffff", "7f7fffff", "7f800000", ""},
    {"OV2", "bf16", "5980", "5980", "7f7fffff", "", "7f800000", "7f800000", "7f800000", ""},
    {"OV3", "bf16", "7f00", "3f80", "7f000000", "", "7f800000", "7f800000", "7f800000", "[3]"},
    {"OV4", "bf16", "7f7f 7f7f", "7f7f ff7f", "3f800000", "", "00000000", "00000000", "", ""},
    {"ZH", "bf16", "0000 2e80", "7f00 3f80", "00000000", "", "2e800000", "2e800000", "2e800000",
     ""},
    {"FL0", "bf16", "1980 1980 1980 1980", "1a00 1a00 1a00 1a00", "00000000", "", "00000001",
     "00000001", "00000000", ""},
    {"FLa", "bf16", "1a00 9880", "1a80 1880", "00000000", "", "00000000", "00000000", "00000001",
     ""},
    {"FLb", "bf16", "1a00 9800", "1a80 1880", "00000000", "", "00000001", "00000000", "00000001",
     ""},
    {"FLc", "bf16", "1a00 9800", "1a80 1800", "00000000", "", "00000001", "00000000", "00000001",
     ""},
    {"FLd", "bf16", "1a00 9780", "1a80 1800", "00000000", "", "00000001", "00000001", "00000001",
     ""},
    {"FL8", "bf16", "1980 1980 1980 1980 1980 1980 1980 1980",
     "1980 1980 1980 1980 1980 1980 1980 1980", "00000000", "", "00000001", "00000001", "", ""},
    {"ZH2", "bf16", "0000", "7f00", "2e800000", "", "2e800000", "2e800000", "2e800000", ""},
    {"ZC", "f16", "0000", "7800", "00000001", "00000001", "00000001", "00000001", "00000001", ""},
    {"OV5", "bf16", "7f00 ff00", "4000 4000", "00000000", "", "00000000", "00000000", "00000000",
     ""},
    {"OV6", "bf16", "7f00", "4000", "ff800000", "", "ff800000", "ff800000", "ff800000", ""},
    {"Z3p", "f16", "8000", "3c00", "00000000", "00000000", "00000000", "00000000", "", ""},
    {"Z3n", "f16", "8000", "3c00", "80000000", "00000000", "00000000", "00000000", "", ""},
    {"NaN1", "f16", "7e01", "3c00", "00000000", "7fffffff", "7fffffff", "7fffffff", "7fffffff",
     "[1]"},
    {"NaN2", "f16", "fe00", "3c00", "00000000", "7fffffff", "7fffffff", "7fffffff", "7fffffff",
     "[1]"},
    {"NaN3", "f16", "7c01", "3c00", "00000000", "7fffffff", "7fffffff", "7fffffff", "7fffffff",
     "[1]"},
    {"NaN4", "bf16", "7f80", "0000", "00000000", "", "7fffffff", "7fffffff", "7fffffff", "[1]"},
    {"NaN5", "bf16", "7f80", "3f80", "ff800000", "", "7fffffff", "7fffffff", "7fffffff", "[1]"},
    {"NaN6", "f16", "0000", "0000", "ffc12345", "7fffffff", "7fffffff", "7fffffff", "7fffffff",
     "[1]"},
    {"Inf", "f16", "7c00", "fc00", "00000000", "ff800000", "ff800000", "ff800000", "ff800000",
     "[3]"},
    // Two steps of eight on Ampere, each rounded toward zero; one step of sixteen on Hopper.
    {"Chain32", "f16", "3c00 0001 0000 0000 0000 0000 0000 0000 bc00",
     "3c00 3800 0000 0000 0000 0000 0000 0000 3c00", "00000000", "", "00000000", "33000000", "",
     ""},
};

// f16 in, f16 accumulator.
struct HalfVector {
  const char *id, *a, *b, *c, *volta, *ampere, *hopper;
};
constexpr HalfVector kHalves[] = {
    // One rounding to nearest even of the sum. 2^-24 below 1 is lost with 23 fraction bits.
    {"Tie", "3c00 1000", "3c00 3c00", "0000", "3c00", "3c00", "3c00"},
    {"TieStraggler", "3c00 1000 0001", "3c00 3c00 3c00", "0000", "", "3c01", "3c01"},
    {"TieUp", "3c00 1600", "3c00 3c00", "0000", "3c02", "3c02", "3c02"},
    {"Below65520", "7bff 4bff", "3c00 3c00", "0000", "7bff", "7bff", "7bff"},
    {"At65520", "7bff 4c00", "3c00 3c00", "0000", "7c00", "7c00", "7c00"},
    {"AddendBelow65520", "7bff", "3c00", "4bff", "7bff", "7bff", "7bff"},
    {"AddendAt65520", "7bff", "3c00", "4c00", "7c00", "7c00", "7c00"},
    {"AtMinus65520", "fbff", "3c00", "cc00", "fc00", "fc00", "fc00"},
    {"SubnormalSum", "0001 0001", "3800 3400", "0000", "0001", "0001", "0001"},
    {"Subnormal", "0400", "3800", "0000", "0200", "0200", "0200"},
    {"Z2", "8000 8000 8000 8000", "0000 0000 0000 0000", "8000", "0000", "0000", "0000"},
    {"NaN", "7e01", "3c00", "0000", "7fff", "7fff", "7fff"},
    {"Chain16", "3c00 1000 0000 0000 0000 0000 0000 0000 1000",
     "3c00 3c00 0000 0000 0000 0000 0000 0000 3c00", "0000", "", "3c00", "3c01"},
    {"Chain16b", "3c00 0000 0000 0000 0000 0000 0000 0000 1000 1000",
     "3c00 0000 0000 0000 0000 0000 0000 0000 3c00 3c00", "0000", "", "3c01", "3c01"},
    // 2^-25 + 2^-m: the largest m that still gives 0001 tells the exponent floor [3].
    {"FH42", "1000 0001", "0400 0040", "0000", "0001", "0001", "0001"},
    {"FH43", "1000 0001", "0400 0020", "0000", "0000", "0001", "0001"},
    {"FH44", "1000 0001", "0400 0010", "0000", "0000", "0001", "0001"},
    {"FH45", "1000 0001", "0400 0008", "0000", "0000", "0000", "0001"},
    {"FH46", "1000 0001", "0400 0004", "0000", "0000", "0000", "0001"},
    {"FH47", "1000 0001", "0400 0002", "0000", "0000", "0000", "0000"},
    {"FH48", "1000 0001", "0400 0001", "0000", "0000", "0000", "0000"},
};

struct RowVector {
  const char *id, *row, *a, *b, *c, *d;
};
constexpr RowVector kRowVectors[] = {
    // tf32: the low 13 bits are dropped first, so that a NaN may become infinity [1].
    {"T1", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "7f800001", "3f800000", "00000000", "7f800000"},
    {"T2", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "7f801fff", "3f800000", "00000000", "7f800000"},
    {"T3", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "7f802000", "3f800000", "00000000", "7fffffff"},
    {"T4", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "ffc00000", "3f800000", "00000000", "7fffffff"},
    {"T5", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "7f800001", "00000000", "00000000", "7fffffff"},
    {"T6", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "3f801fff", "3f800000", "00000000", "3f800000"},
    {"T7", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "00001fff", "7f000000", "00000000", "00000000"},
    {"T8", "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", "00002000", "7f000000", "00000000", "3b000000"},
    // Recorded on H100 [6]: only a floor of -133 gives the last b.
    {"H100", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
     "9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a",
     "9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735", "00000000",
     "0000000b"},
    {"H100b", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
     "9b23 17c3 1b6a 999d 9a2c 9b05 1aab 9af3 9a4d 1a7c 9a42 19dc 99d3 1ac5 9b36 1ab9",
     "1884 1923 1af9 9b09 9b52 9a4a 1afe 9a82 9ac9 9b75 9abc 18ed 9acf 9a50 9b4a 1b0f", "00000000",
     "00000034"},
    // An f16 addend aligned with its own exponent -14; widened to f32 first it would give b2fffe00.
    {"M1", "sm_70/mma.m8n8k4.f32.f16.f16.f16", "1000 0001", "0400 0100", "8001", "b3000000"},
};

// VDPBF16PS, pairs low then high [7].
struct PairVector {
  const char *id, *a, *b, *c, *d;
};
constexpr PairVector kPairs[] = {
    {"X1", "3f80 3f80", "3f80 3f80", "4b800000", "4b800000"},
    {"X2", "3f80 cb80", "3f80 3f80", "4b800000", "3f800000"},
    {"X3", "3f80 0000", "3f80 0000", "4b800000", "4b800000"},
    {"X5", "bf00 0000", "3f80 0000", "4b800000", "4b800000"},
    {"X7", "0d80 0000", "3080 0000", "00000000", "00000000"},
    {"X8", "3f80 3380", "3f80 3f80", "00000000", "3f800000"},
    {"X9", "3f80 b300", "3f80 3f80", "00000000", "3f800000"},
    {"X10", "8080 0000", "3f00 0000", "00800000", "00000000"},
    {"OV5", "7f00 ff00", "4000 4000", "00000000", "ff800000"},
    // The first NaN of low a, low b, high a, high b, addend; quieted, payload in the high bits.
    {"LowA", "ff81 7fc2", "7fc3 7fc4", "7fc00005", "ffc10000"},
    {"LowB", "3f80 7fc2", "7fc3 7fc4", "7fc00005", "7fc30000"},
    {"HighA", "3f80 7f82", "3f80 7fc4", "7fc00005", "7fc20000"},
    {"HighB", "3f80 3f80", "3f80 ffc4", "7fc00005", "ffc40000"},
    {"Addend", "3f80 3f80", "3f80 3f80", "7f800005", "7fc00005"},
    {"InfTimesZero", "3f80 7f80", "3f80 0000", "00000000", "ffc00000"},
    {"InfTimesZeroPlusNan", "3f80 7f80", "3f80 0000", "7f800005", "7fc00005"},
    {"InfTimesSubnormal", "3f80 7f80", "3f80 0001", "3f800000", "ffc00000"},
};

std::vector<uint64_t> Words(const char* hex, int k) {
  std::vector<uint64_t> words;
  std::istringstream in(hex);
  for (uint64_t word; in >> std::hex >> word;) words.push_back(word);
  if (words.empty() || words.size() > static_cast<size_t>(k)) std::abort();
  words.resize(k);
  return words;
}

const Model& RowModel(const char* name) {
  const Row* row = FindRow(name);
  if (row == nullptr) std::abort();
  return row->model;
}

// The fused sum with as many fraction bits as there are, rounded to nearest even.
Model Exact(Model m, int terms) {
  m.algorithm.terms = terms;
  m.algorithm.fraction_bits = 37;
  m.algorithm.exponent_floor = kNoFloor;
  m.algorithm.output_rounding = Rounding::kNearestEven;
  return m;
}

void AddSums(std::vector<Golden>& all) {
  const Model volta = RowModel("sm_70/mma.m8n8k4.f32.f16.f16.f32");
  const Model ampere[] = {RowModel("sm_80/mma.m16n8k16.f32.f16.f16.f32"),
                          RowModel("sm_80/mma.m16n8k16.f32.bf16.bf16.f32")};
  const Model hopper[] = {RowModel("sm_90/mma.m16n8k16.f32.f16.f16.f32"),
                          RowModel("sm_90/mma.m16n8k16.f32.bf16.bf16.f32")};
  for (const SumVector& v : kSums) {
    const bool bf16 = v.inputs == std::string("bf16");
    if (*v.volta) all.push_back(MakeGolden(v.id, "sm_70", volta, v.a, v.b, v.c, v.volta));
    all.push_back(MakeGolden(v.id, "sm_80", ampere[bf16], v.a, v.b, v.c, v.ampere));
    all.push_back(MakeGolden(v.id, "sm_90", hopper[bf16], v.a, v.b, v.c, v.hopper));
    const Model exact = Exact(hopper[bf16], bf16 ? 2 : 4);
    if (*v.exact) all.push_back(MakeGolden(v.id, "exact", exact, v.a, v.b, v.c, v.exact));
  }
}

void AddHalves(std::vector<Golden>& all) {
  const Model volta = RowModel("sm_70/mma.m8n8k4.f16.f16.f16.f16");
  const Model ampere = RowModel("sm_80/mma.m16n8k16.f16.f16.f16.f16");
  const Model hopper = RowModel("sm_90/mma.m16n8k16.f16.f16.f16.f16");
  for (const HalfVector& v : kHalves) {
    if (*v.volta) all.push_back(MakeGolden(v.id, "f16_sm_70", volta, v.a, v.b, v.c, v.volta));
    all.push_back(MakeGolden(v.id, "f16_sm_80", ampere, v.a, v.b, v.c, v.ampere));
    all.push_back(MakeGolden(v.id, "f16_sm_90", hopper, v.a, v.b, v.c, v.hopper));
  }
}

// Products 2^53, 1, -2^53, 1; then four ones on 2^53 (a chain of m8n8k4.f64).
void AddDoubles(std::vector<Golden>& all) {
  Model m = RowModel("x86/vfmadd231sd");
  m.k = 4;
  const char* one = "3ff0000000000000";
  const std::string ones = std::string(one) + " " + one + " " + one + " " + one;
  const std::string a = std::string("4340000000000000 ") + one + " c340000000000000 " + one;
  all.push_back(MakeGolden("D1", "ascending", m, a.c_str(), ones.c_str(), "0", one));
  all.push_back(MakeGolden("D2", "f64", m, ones.c_str(), ones.c_str(), "4340000000000000",
                           "4340000000000000"));
  m.algorithm.order = Order::kDescending;
  all.push_back(
      MakeGolden("D1", "descending", m, a.c_str(), ones.c_str(), "0", "4000000000000000"));
}

// s8 dot products of 32, saturating once at the end or every 16 [8].
void AddIntegers(std::vector<Golden>& all) {
  auto add = [&](const char* name, int terms, Overflow overflow, uint64_t low_a, uint64_t high_a,
                 uint64_t b, uint64_t c, uint64_t d) {
    const Model m = {kS8,  kS8,
                     kS32, kS32,
                     32,   {.family = Family::kIntegerDot, .terms = terms, .overflow = overflow}};
    DotProductCase dot = {std::vector<uint64_t>(16, low_a), std::vector<uint64_t>(32, b), c};
    dot.a.resize(32, high_a);
    all.push_back({name, m, dot, d});
  };
  constexpr Overflow kWrap = Overflow::kWrap, kSaturate = Overflow::kSaturate;
  add("I1_wrap", 32, kWrap, 0x80, 0x80, 0x80, 0x7fffffff, 0x8007ffff);
  add("I1_saturate", 32, kSaturate, 0x80, 0x80, 0x80, 0x7fffffff, 0x7fffffff);
  add("I2_wrap", 32, kWrap, 0x80, 0x80, 0x7f, 0x80000000, 0x7ff81000);
  add("I2_saturate", 32, kSaturate, 0x80, 0x80, 0x7f, 0x80000000, 0x80000000);
  add("I3_once", 32, kSaturate, 0x01, 0xff, 0x01, 0x7fffffff, 0x7fffffff);
  add("I3_every_16", 16, kSaturate, 0x01, 0xff, 0x01, 0x7fffffff, 0x7fffffef);
  add("I3_swapped_once", 32, kSaturate, 0xff, 0x01, 0x01, 0x7fffffff, 0x7fffffff);
  add("I3_swapped_every_16", 16, kSaturate, 0xff, 0x01, 0x01, 0x7fffffff, 0x7fffffff);
  // Bits: one pair of ones, two pairs that differ.
  for (BitOperation operation : {BitOperation::kAnd, BitOperation::kXor}) {
    const Model m = {kB1,  kB1,
                     kS32, kS32,
                     4,    {.family = Family::kIntegerDot, .terms = 4, .bit_operation = operation}};
    const bool is_xor = operation == BitOperation::kXor;
    const DotProductCase dot = {{1, 1, 1, 0}, {1, 0, 0, 0}, 0xffffffff};
    all.push_back({is_xor ? "Bits_xor" : "Bits_and", m, dot, is_xor ? 1u : 0u});
  }
}

}  // namespace

Operands SumOperands(const std::string& id) {
  const SumVector* v = std::ranges::find(kSums, id, &SumVector::id);
  if (v == std::end(kSums)) std::abort();
  return {v->inputs, v->a, v->b, v->c};
}

Golden MakeGolden(const std::string& id, const std::string& suffix, const Model& m, const char* a,
                  const char* b, const char* c, const char* d) {
  return {id + "_" + suffix, m, {Words(a, m.k), Words(b, m.k), Words(c, 1)[0]}, Words(d, 1)[0]};
}

std::vector<Golden> GoldenVectors() {
  std::vector<Golden> all;
  AddSums(all);
  AddHalves(all);
  for (const RowVector& v : kRowVectors) {
    all.push_back(MakeGolden(v.id, "row", RowModel(v.row), v.a, v.b, v.c, v.d));
  }
  for (const PairVector& v : kPairs) {
    all.push_back(MakeGolden(v.id, "vdpbf16ps", RowModel("x86/vdpbf16ps"), v.a, v.b, v.c, v.d));
  }
  Model widened = RowModel("sm_70/mma.m8n8k4.f32.f16.f16.f16");
  widened.algorithm.addend_exponent = AddendExponent::kOutputFormat;
  all.push_back(MakeGolden("M1", "widened", widened, "1000 0001", "0400 0100", "8001", "b2fffe00"));
  AddDoubles(all);
  AddIntegers(all);
  AddAmd(all);
  AddScaled(all);
  AddCpus(all);
  return all;
}

}  // namespace mmadiff::reference
