// Block-scaled products of e2m1: mxf4 (a ue8m0 scale for 32 products) and nvf4 (ue4m3 for 16).
//
// Results worked out with the algorithm of MMA-Sim v2, arXiv 2511.10909v2, by hand.
#include <array>

#include "sim/reference/golden_parts.h"

namespace mmadiff::reference {
namespace {

constexpr uint64_t kOne = 0x2, kMinusOne = 0xa, kHalf = 0x1, kSix = 0x7;  // of e2m1
constexpr int kProducts = 64;

Model Scaled(const Format& scale, int block) {
  return {kE2m1,
          kE2m1,
          kF32,
          kF32,
          kProducts,
          {.family = Family::kScaledSum,
           .terms = kProducts,
           .group_terms = 16,
           .fraction_bits = 35,
           .exponent_floor = -139,
           .group_exponent = GroupExponent::kScales,
           .output_rounding = Rounding::kTowardZero,
           .output_fraction_bits = 23,
           .zero_sign = ZeroSign::kPositive},
          scale,
          block};
}

using Rows = std::array<std::vector<uint64_t>, 2>;  // of A and of B, without scales

Golden Make(const std::string& id, const Model& m, const Rows& rows,
            const std::vector<uint64_t>& scales_a, const std::vector<uint64_t>& scales_b,
            uint64_t c, uint64_t expected) {
  DotProductCase dot = {rows[0], rows[1], c};
  dot.a.insert(dot.a.end(), scales_a.begin(), scales_a.end());
  dot.b.insert(dot.b.end(), scales_b.begin(), scales_b.end());
  return {id, m, dot, expected};
}

Rows Elements(uint64_t everywhere) {
  const std::vector<uint64_t> row(kProducts, everywhere);
  return {row, row};
}

// -2^23 in the first block, 1/4 times the scale in the second, and 2^23 as the addend: what is kept
// of the second block tells the fraction bits.
void AddStragglers(std::vector<Golden>& all) {
  Rows rows = Elements(0);
  rows[0][0] = kOne, rows[1][0] = kMinusOne;
  rows[0][32] = rows[1][32] = kHalf;
  const auto add = [&](const char* id, int fraction_bits, uint64_t scale, uint64_t expected) {
    Model m = Scaled(kUe8m0, 32);
    m.algorithm.fraction_bits = fraction_bits;
    const std::string name = id + ("_mxf4_f" + std::to_string(fraction_bits));
    all.push_back(Make(name, m, rows, {0x96, scale}, {0x7f, 0x7f}, 0x4b000000, expected));
  };
  add("S2", 35, 0x7f, 0x3e800000);
  add("S2", 25, 0x7f, 0x3e800000);
  add("S3", 35, 0x7e, 0x3e000000);
  add("S3", 25, 0x7e, 0x00000000);
  add("S12", 35, 0x75, 0x39800000);
  add("S12", 34, 0x75, 0x00000000);
  add("S12", 25, 0x75, 0x00000000);
  add("S13", 35, 0x74, 0x00000000);
  add("S13", 36, 0x74, 0x39000000);
}

// A group that adds up to zero keeps its exponent, or does not.
void AddZeroGroups(std::vector<Golden>& all) {
  Rows rows = Elements(0);
  rows[0][0] = kOne, rows[0][1] = kMinusOne;
  rows[1][0] = rows[1][1] = kOne;
  rows[0][32] = rows[1][32] = kHalf;
  Model m = Scaled(kUe8m0, 32);
  all.push_back(Make("S5_mxf4", m, rows, {0x96, 0x74}, {0x7f, 0x7f}, 0, 0x00000000));
  m.algorithm.zero_group = ZeroGroup::kIgnored;
  all.push_back(Make("S5_mxf4_ignored", m, rows, {0x96, 0x74}, {0x7f, 0x7f}, 0, 0x39000000));
}

// The first scale of A; bit 7 of ue4m3 is not read.
void AddScales(std::vector<Golden>& all) {
  struct ScaleVector {
    const char* id;
    uint64_t scale, expected;
  };
  constexpr ScaleVector kScales[] = {
      {"one", 0x38, 0x3f800000},     {"one_b8", 0xb8, 0x3f800000},   {"zero", 0x00, 0x00000000},
      {"zero_80", 0x80, 0x00000000}, {"nan", 0x7f, 0x7fffffff},      {"nan_ff", 0xff, 0x7fffffff},
      {"least", 0x01, 0x3b000000},   {"least_81", 0x81, 0x3b000000}, {"largest", 0x7e, 0x43e00000}};
  Rows rows = Elements(0);
  rows[0][0] = rows[1][0] = kOne;
  const Model m = Scaled(kUe4m3, 16);
  const std::vector<uint64_t> ones(4, 0x38);
  for (const ScaleVector& v : kScales) {
    std::vector<uint64_t> scales = ones;
    scales[0] = v.scale;
    all.push_back(
        Make(std::string("S6_nvf4_") + v.id, m, rows, scales, ones, 0x00000000, v.expected));
  }
  all.push_back(Make("S8_nvf4", m, rows, ones, ones, 0xff800000, 0xff800000));
  all.push_back(Make("S9_nvf4", m, Elements(kSix), ones, ones, 0x00000000, 0x45100000));
}

}  // namespace

void AddScaled(std::vector<Golden>& all) {
  AddStragglers(all);
  AddZeroGroups(all);
  AddScales(all);
  // A NaN scale makes NaN even of a block of zeros.
  all.push_back(Make("S7_mxf4", Scaled(kUe8m0, 32), Elements(0), {0x7f, 0xff}, {0x7f, 0x7f},
                     0x3f800000, 0x7fffffff));
}

}  // namespace mmadiff::reference
