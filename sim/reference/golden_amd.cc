// Matrix cores of AMD's CDNA 1, 2 and 3.
//
// Sources: MMA-Sim v2, arXiv 2511.10909v2; Khattak & Mikaitis, arXiv 2512.07004. Results that they
// do not state were worked out with their algorithms by an independent integer model; those of the
// G rows were recorded on an MI300X (the probe notebook of MMA-Sim).
#include "sim/reference/golden_parts.h"

namespace mmadiff::reference {
namespace {

// f32 results of the sums of golden_vectors.cc; empty where nothing is known. CDNA 2 adds bf16
// products in fours (bf16_1k) or, with its older instructions, in twos.
struct SumVector {
  const char *id, *cdna1, *cdna2, *cdna2_twos, *cdna3;
};
constexpr SumVector kSums[] = {
    {"E10", "bf600000", "00000000", "", "bf000000"},
    {"HB7", "43000000", "43000000", "", "43000000"},
    {"HB6", "42800000", "42800000", "", "42800000"},
    {"HB5", "42000000", "42000000", "", "00000000"},
    {"A1", "34800000", "00000000", "", "34800000"},
    {"A2", "00000001", "00000000", "", "00000001"},
    {"A3", "38000000", "38000000", "", "38000000"},
    {"B1", "407fc004", "407fc004", "", "407fc004"},
    {"B2", "3f800002", "3f800000", "", "3f800002"},
    {"B3", "3f800001", "3f800000", "", "3f800001"},
    {"B4", "3f800000", "3f800000", "", "3f800000"},
    {"C1", "40000001", "40000000", "", "40000000"},
    {"C1n", "c0000001", "c0000000", "", "c0000000"},
    {"D1", "33800000", "33800000", "", "33800000"},
    {"D2", "3f800002", "3f7fffff", "", "3f800002"},
    {"D3", "00000000", "33800000", "", "00000000"},
    {"D5", "3f800000", "3f7fffff", "", "3f800000"},
    {"CY1", "41000000", "41000000", "", "41000000"},
    {"CY2", "40a00001", "40a00001", "", "40a00001"},
    {"R1", "40100001", "40100000", "", "40100001"},
    {"R1b", "40100001", "40100000", "", "40100001"},
    {"N", "40100001", "40100000", "", "40100001"},
    {"Nb", "40100001", "40100000", "", "40100000"},
    {"R3", "41080000", "41080000", "", "41080000"},
    {"Z1", "00000000", "00000000", "", "00000000"},
    {"bE10", "bf600000", "00000000", "bec00000", "bf000000"},
    {"AM1", "b58637bd", "b58637bd", "b58637bd", "be800000"},
    {"AM2", "40000001", "40000001", "40000001", "40000000"},
    {"OV1", "7f800000", "7f800000", "7f800000", "7f800000"},
    {"OV2", "7f800000", "7f800000", "7f800000", "7f800000"},
    {"OV3", "7f800000", "7f800000", "7f800000", "7f800000"},
    {"OV4", "3f800000", "7fc00000", "7fc00000", "7fc00000"},
    {"ZH", "2e800000", "2e800000", "2e800000", "2e800000"},
    {"FL0", "00000000", "00000000", "00000000", "00000001"},
    {"FLa", "00000001", "00000000", "00000000", "00000001"},
    {"FLb", "00000001", "00000000", "00000000", "00000001"},
    {"FLc", "00000001", "00000000", "00000000", "00000001"},
    {"FLd", "00000001", "00000000", "00000000", "00000001"},
    // 2^-32 survives the first cut, and the second since the sum lost its leading digit.
    {"AM3", "bf7fffff", "bf7fffff", "bf7fffff", "bf7fffff"},
    {"OV5", "00000000", "7fc00000", "7fc00000", "7fc00000"},
    {"OV6", "", "7fc00000", "7fc00000", "7fc00000"},
    {"ZH2", "2e800000", "2e800000", "2e800000", "2e800000"},
    {"ZC", "00000001", "", "", "00000001"},
};

// 8-bit products with bias 8 (e4m3) and 16 (e5m2), an f32 addend.
struct ByteVector {
  const char *id, *inputs, *a, *b, *c, *d;
};
constexpr ByteVector kBytes[] = {
    {"G1", "e4m3", "78 00 78 00 14", "78 00 f8 00 18", "00000000", "00000000"},
    {"G2", "e4m3", "78 00 78 00 94", "78 00 f8 00 18", "00000000", "00000000"},
    {"G3", "e4m3", "78 00 78 00 1c", "78 00 f8 00 18", "00000000", "3a800000"},
    {"G4", "e4m3", "78 00 78 00 9c", "78 00 f8 00 18", "00000000", "ba800000"},
    {"G5", "e4m3", "78 14 78", "78 18 f8", "00000000", "00000000"},
    {"G6", "e4m3", "78 88 78", "78 18 f8", "00000000", "ba800000"},
    {"G7", "e4m3", "78 94 78", "78 18 f8", "00000000", "ba800000"},
    {"G8", "e4m3", "78 9c 78", "78 18 f8", "00000000", "bb000000"},
    {"G9", "e4m3", "78 00 78", "78 00 f8", "3a400000", "00000000"},
    {"G10", "e4m3", "78 00 78", "78 00 f8", "b9800000", "00000000"},
    {"G11", "e4m3", "78 00 78", "78 00 f8", "ba000000", "ba800000"},
    {"G12", "e4m3", "78 00 78", "78 00 f8", "ba400000", "ba800000"},
    {"G13", "e4m3", "78 00 78", "78 00 f8", "bac00000", "bb000000"},
    {"G14", "e4m3", "78", "78", "ba800000", "467fffff"},
    {"G15", "e4m3", "78", "78", "ba000000", "467fffff"},
    {"G16", "e4m3", "78", "78", "b9800000", "46800000"},
    {"G17", "e4m3", "70 70", "78 78", "ba800000", "467fffff"},
    {"G18", "e4m3", "70 70", "78 78", "ba000000", "46800000"},
    {"G19", "e4m3", "68 00 68 00 68 00 68", "78 00 78 00 78 00 78", "3a000000", "46800000"},
    {"G20", "e4m3", "68 00 68 00 68 00 68", "78 00 78 00 78 00 78", "3a800000", "46800000"},
    {"G21", "e4m3", "68 00 68 00 68 00 68", "78 00 78 00 78 00 78", "3ac00000", "46800001"},
    {"G22", "e4m3", "68 00 68 00 68 00 68", "78 00 78 00 78 00 78", "3b400000", "46800002"},
    {"G23", "e4m3", "40 00 20", "40 00 28", "4b800000", "4b800001"},
    {"G24", "e4m3", "40 00 20", "40 00 20", "4b800000", "4b800000"},
    {"G25", "e4m3", "40 08", "40 40", "4b800004", "4b800005"},
    {"G26", "e4m3", "40 04", "40 40", "4b800004", "4b800004"},
    {"G27", "e4m3", "5a 10", "40 40", "4bfffffc", "4c000001"},
    {"G28", "e4m3", "5a 08", "40 40", "4bfffffc", "4c000000"},
    {"G29", "e4m3", "7c 00 7c 00 18", "7c 00 fc 00 18", "00000000", "3a800000"},
    {"G30", "e4m3", "7c 00 7c 00 10", "7c 00 fc 00 18", "00000000", "00000000"},
    {"F1", "e5m2", "f4 bc b8 b4", "68 40 40 40", "4b000000", "bf800000"},
    {"F2", "e4m3", "00", "00", "40403017", "40403017"},
    {"F3", "e4m3", "40 08", "40 10", "00000000", "3f800400"},
    {"F4", "e4m3", "40 08", "40 08", "00000000", "3f800200"},
    {"F5", "e4m3", "40 08 08", "40 08 08", "00000000", "3f800400"},
    {"GX1", "e5m2", "7f", "7f", "7f800000", "7f800000"},
    {"GX1n", "e5m2", "7f", "7f", "7fc00000", "7fc00000"},
    {"MinusZeroIsNan", "e4m3", "40 80", "40 00", "00000000", "7fc00000"},
};

Model Cdna1(const Format& inputs, int terms) {
  return {inputs,
          inputs,
          kF32,
          kF32,
          16,
          {.family = Family::kExactSum,
           .terms = terms,
           .output_fraction_bits = 23,
           .nan_rule = NanRule::kQuietPositive}};
}

Model Cdna2(const Format& inputs, int terms) {
  return {inputs,
          inputs,
          kF32,
          kF32,
          16,
          {.family = Family::kPairwiseSum,
           .terms = terms,
           .output_fraction_bits = 23,
           .input_subnormals = Subnormals::kFlushPositive,
           .addend_subnormals = Subnormals::kFlushPositive,
           .output_subnormals = Subnormals::kFlush,
           .nan_rule = NanRule::kQuietPositive}};
}

Model Cdna3(const Format& inputs) {
  return {inputs,
          inputs,
          kF32,
          kF32,
          16,
          {.family = Family::kTwoStageSum,
           .terms = 8,
           .fraction_bits = 24,
           .sum_fraction_bits = 31,
           .product_overflow = ProductOverflow::kInfinity,
           .output_fraction_bits = 23,
           .nan_rule = NanRule::kQuietPositive}};
}

Model Cdna3Bytes(const Format& inputs) {
  Model m = Cdna3(inputs);
  m.k = 32;
  m.algorithm.terms = 16;
  m.algorithm.grouping = Grouping::kEvenOdd;
  m.algorithm.small_addend = SmallAddend::kDropped;
  return m;
}

}  // namespace

void AddAmd(std::vector<Golden>& all) {
  for (const SumVector& v : kSums) {
    const Operands o = SumOperands(v.id);
    const bool bf16 = o.inputs == std::string("bf16");
    const Format& f = bf16 ? kBf16 : kF16;
    const auto add = [&](const char* suffix, const Model& m, const char* d) {
      if (*d) all.push_back(MakeGolden(v.id, suffix, m, o.a, o.b, o.c, d));
    };
    add("cdna1", Cdna1(f, bf16 ? 2 : 4), v.cdna1);
    add("cdna2", Cdna2(f, 4), v.cdna2);
    add("cdna2_twos", Cdna2(f, 2), v.cdna2_twos);
    add("cdna3", Cdna3(f), v.cdna3);
  }
  // The first group leaves -0, the second adds -0 to it.
  Model steps = Cdna2(kBf16, 2);
  steps.k = 4;
  for (bool every : {false, true}) {
    steps.algorithm.addend_flush = every ? AddendFlush::kEveryStep : AddendFlush::kAtEntry;
    all.push_back(MakeGolden("FlushedSum", every ? "every_step" : "at_entry", steps, "0080",
                             "3f80 3f80 bf80 bf80", "80800001", every ? "00000000" : "80000000"));
  }
  for (const ByteVector& v : kBytes) {
    const Format& f = v.inputs == std::string("e5m2") ? kE5m2fnuz : kE4m3fnuz;
    all.push_back(MakeGolden(v.id, "cdna3_fnuz", Cdna3Bytes(f), v.a, v.b, v.c, v.d));
  }
}

}  // namespace mmadiff::reference
