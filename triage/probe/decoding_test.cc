#include "triage/probe/decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "sim/reading.h"
#include "sim/word.h"
#include "triage/probe/decoding_text.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const Operation& Op(const char* name) { return *FindOperation(name); }

Decoding DecodingOf(const Operation& op, std::function<void(DotProductCase&)> change) {
  ChangedOperands device(op, std::move(change));
  absl::StatusOr<Decoding> decoding = AskDecoding(device, op, op);
  EXPECT_TRUE(decoding.ok()) << decoding.status();
  return *std::move(decoding);
}

// The rows whose operands have the formats of eight bits, and which of their operands those are.
struct NarrowOperand {
  const char* op;
  ReadOperand operand;
};
constexpr NarrowOperand kNarrow[] = {
    {"sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32", ReadOperand::kA},
    {"sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32", ReadOperand::kB},
    {"gfx942/v_mfma_f32_16x16x32_fp8_bf8", ReadOperand::kA},
    {"gfx942/v_mfma_f32_16x16x32_fp8_bf8", ReadOperand::kB},
    {"ocp/cvt.f32.e4m3", ReadOperand::kA},
    {"sm_89/cvt.rn.f16x2.e5m2x2", ReadOperand::kA},
    {"x86/vpdpbusd", ReadOperand::kA},
    {"x86/vpdpbusd", ReadOperand::kB},
    {"sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", ReadOperand::kScaleOfA},
    {"sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x", ReadOperand::kScaleOfB},
};

// A word of metadata that is read as another one: B is not read wrongly.
TEST(Decoding, SelectionOfADifferentElement) {
  const Operation& op = Op("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  const auto text_of = [&](int k) {
    return DecodingText(DecodingOf(op, [&](DotProductCase& dot) {
      if (dot.metadata[k / 4] == 0 || dot.metadata[k / 4] == 4) dot.b[k] = dot.b[k + 2];
    }));
  };
  EXPECT_EQ(text_of(5),
            "b: every word is ignored for k = 5: the metadata seem to select a different k");
  EXPECT_EQ(text_of(0),
            "b: every word is ignored for k = 0: the metadata seem to select a different k");
}

// Each word, read as the word after it if that has another value; some words at a time.
TEST(Decoding, FindsEveryWordOfEveryNarrowFormat) {
  constexpr uint64_t kApart = 16;
  for (const auto& [name, operand] : kNarrow) {
    const Operation& op = Op(name);
    const bool of_a = operand == ReadOperand::kA || operand == ReadOperand::kScaleOfA;
    const bool scales = operand == ReadOperand::kScaleOfA || operand == ReadOperand::kScaleOfB;
    const Format& f = scales ? op.model.scale : of_a ? op.model.a : op.model.b;
    size_t found = 0;
    for (uint64_t first = 0; first < kApart; ++first) {
      const auto changed = [&](uint64_t word) {  // zeros and ones are in every dot product
        return word % kApart == first && word != 0 && word != IntegerWord(f, 1);
      };
      const Decoding decoding = DecodingOf(op, [&](DotProductCase& dot) {
        std::vector<uint64_t>& words = of_a ? dot.a : dot.b;
        for (size_t i = scales ? op.model.k : 0; i < (scales ? words.size() : size_t(op.model.k));
             ++i) {
          if (changed(words[i])) words[i] = (words[i] + 1) % 256;
        }
      });
      for (const OperandDecoding& o : decoding.operands) {
        for (const Misread& m : o.misread) {
          EXPECT_TRUE(o.operand == operand && changed(m.word))
              << name << ": " << DecodingText(decoding);
        }
        found += o.misread.size();
      }
    }
    // Two NaNs may follow one another.
    EXPECT_GE(found, 240) << name;
  }
}

TEST(Decoding, NamesTheRule) {
  struct {
    const char *op, *change, *text;
  } const cases[] = {
      {"sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "operand_reading=top_binade_largest",
       "a and b: numbers of the largest exponent as the largest number: 78..7d as 7e = 448.0, "
       "f8..fd as fe = -448.0 (12 of 256 words); operand_reading=top_binade_largest"},
      {"x86/vpdpbusd", "a_reading=s8", "a: words of s8: 80 as "},
      {"sm_80/mma.m16n8k16.f32.bf16.bf16.f32", "b_reading=masked_1", "b: the low bit as 0: "},
      {"sm_80/mma.m16n8k8.f32.tf32.tf32.f32", "operand_reading=nearest_away_13",
       "operand_reading=nearest_away_13"},
      {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "addend_reading=zero", "c: zero: "},
      {"sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "scale_reading=00_zero",
       "the scales of a and the scales of b: 00 as zero: 00 as no word of ue8m0, the result is "
       "00000000 = +0 (1 of 256 words); scale_reading=00_zero"},
      {"sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "input_subnormals=flush",
       "a and b: subnormals as zeros: "},
  };
  for (const auto& c : cases) {
    const Operation& op = Op(c.op);
    const auto changes = ParseChanges(op.model.algorithm.family, c.change);
    ASSERT_TRUE(changes.has_value()) << c.change;
    ModelDevice device(WithAlgorithm(op, WithChanges(op.model.algorithm, *changes)));
    const auto decoding = AskDecoding(device, op, op);
    ASSERT_TRUE(decoding.ok());
    EXPECT_THAT(DecodingText(*decoding), HasSubstr(c.text)) << c.change;
    EXPECT_THAT(decoding->changes, testing::Contains(changes->front())) << c.change;
  }
}

// A map that no rule gives is printed, and no change is called its cause.
TEST(Decoding, AMapIsNoCause) {
  const Operation& op = Op("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  const Decoding decoding = DecodingOf(op, [](DotProductCase& dot) {
    for (uint64_t& word : dot.a) word = word == 0x31 ? 0x35 : word == 0x9a ? 0x12 : word;
  });
  EXPECT_THAT(decoding.changes, IsEmpty());
  for (const OperandDecoding& o : decoding.operands) EXPECT_THAT(o.rules, IsEmpty());
  EXPECT_EQ(DecodingText(decoding),
            "a: 31 as 35 = 0.8125, 9a as 12 = 5 * 2^-7 (2 of 256 words, by no known rule)");
}

TEST(Decoding, TheScalesOfOneOperand) {
  const Operation& op = Op("sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0");
  const Decoding decoding = DecodingOf(op, [&](DotProductCase& dot) {
    for (size_t i = op.model.k; i < dot.a.size(); ++i) dot.a[i] = std::min<uint64_t>(dot.a[i], 254);
  });
  EXPECT_THAT(DecodingText(decoding),
              AllOf(HasSubstr("the scales of a: NaNs as the largest number: ff as fe = "),
                    EndsWith("; a_scale_reading=nan_largest")));
}

// No rule has the exponents of one operand's scales off by one.
TEST(Decoding, PrintsTheWholeTable) {
  const Operation& op = Op("sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0");
  const Decoding decoding = DecodingOf(op, [&](DotProductCase& dot) {
    for (size_t i = op.model.k; i < dot.a.size(); ++i)
      dot.a[i] = std::min<uint64_t>(dot.a[i] + 1, 255);
  });
  EXPECT_THAT(DecodingText(decoding),
              AllOf(HasSubstr("the scales of a: 00 as 01 = 2^-126, "),
                    HasSubstr(", ... (255 of 256 words, by no known rule); for k = 32 too, ")));
  EXPECT_THAT(decoding.changes, IsEmpty());
  const std::vector<std::string> table = DecodingTable(decoding);
  EXPECT_EQ(table[254], "the scales of a: fe as ff = nan(0x0)");
  EXPECT_EQ(table.back(), "the scales of a, k = 32: fe as ff = nan(0x0)");
}

// The table of b has products with the one of a.
TEST(Decoding, AMisreadOneIsOfItsOperand) {
  const Operation& op = Op("sm_80/mma.m16n8k32.s32.s8.s8.s32");
  const auto swapped = [](uint64_t word) { return word >> 4 | (word & 15) << 4; };
  for (const bool of_a : {true, false}) {
    const Decoding decoding = DecodingOf(op, [&](DotProductCase& dot) {
      for (uint64_t& word : of_a ? dot.a : dot.b) word = swapped(word);
    });
    for (const OperandDecoding& o : decoding.operands) {
      const bool swaps = o.operand == (of_a ? ReadOperand::kA : ReadOperand::kB);
      EXPECT_EQ(o.misread.size(), swaps ? 240 : 0) << DecodingText(decoding);
      for (const Misread& m : o.misread) EXPECT_EQ(m.as, swapped(m.word));
    }
  }
  const Decoding both = DecodingOf(op, [&](DotProductCase& dot) {
    for (std::vector<uint64_t>* row : {&dot.a, &dot.b}) {
      for (uint64_t& word : *row) word = swapped(word);
    }
  });
  EXPECT_FALSE(both.operands[0].AsTheModel());
  EXPECT_FALSE(both.operands[1].AsTheModel());
}

TEST(Decoding, AsksEveryK) {
  const Operation& signs = Op("sm_80/mma.m8n8k32.s32.s4.s4.s32");
  EXPECT_EQ(DecodingText(DecodingOf(signs,
                                    [](DotProductCase& dot) {
                                      for (size_t k = 1; k < dot.a.size(); k += 2) dot.a[k] &= 7;
                                    })),
            "a: for k = 1, 3, 5, 7, 9, 11, ... alone, 08 as 00 = 0");
  const Operation& bits = Op("sm_80/mma.m16n8k16.f32.f16.f16.f32");
  for (const int k : {1, 15}) {
    for (int bit = 0; bit < 16; ++bit) {
      for (const bool set : {false, true}) {
        const Decoding decoding = DecodingOf(bits, [=](DotProductCase& dot) {
          dot.b[k] = set ? dot.b[k] | 1ull << bit : dot.b[k] & ~(1ull << bit);
        });
        EXPECT_FALSE(decoding.AsTheModel()) << k << " " << bit << " " << set;
      }
    }
  }
}

TEST(Decoding, ZerosThatAreNone) {
  const Operation& op = Op("sm_80/mma.m16n8k32.s32.s8.s8.s32");
  EXPECT_EQ(DecodingText(DecodingOf(op, [](DotProductCase& dot) { dot.a[3] |= 1; })),
            "the result is 00000001 = 1 for zeros in a and ones in b");
}

// The result is cut: a reading of c alone would explain the words of c.
TEST(Decoding, AFaultOfTheResultIsNoReading) {
  const Operation& op = Op("sm_80/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm cut = op.model.algorithm;
  cut.output_fraction_bits = 7;
  ModelDevice device(WithAlgorithm(op, cut));
  const auto decoding = AskDecoding(device, op, op);
  ASSERT_TRUE(decoding.ok());
  EXPECT_FALSE(decoding->AsTheModel());
  for (const OperandDecoding& o : decoding->operands) EXPECT_THAT(o.rules, IsEmpty());
  EXPECT_THAT(DecodingText(*decoding), testing::Not(HasSubstr("_reading=")));
}

// Small products are lost: single words are those of flushed subnormals.
TEST(Decoding, AFaultOfProductsIsNoReading) {
  const Operation& op = Op("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  const Decoding decoding = DecodingOf(op, [](DotProductCase& dot) {
    for (size_t k = 0; k < dot.a.size(); ++k) {
      const uint64_t exponents = (dot.a[k] >> 3 & 15) + (dot.b[k] >> 3 & 15);
      if (exponents < 8) dot.a[k] = dot.b[k] = 0;
    }
  });
  EXPECT_THAT(decoding.changes, IsEmpty());
  for (const OperandDecoding& o : decoding.operands) EXPECT_THAT(o.rules, IsEmpty());
  EXPECT_THAT(DecodingText(decoding), AllOf(HasSubstr("a and b: every subnormal as 00"),
                                            HasSubstr("other products refute every rule")));
}

TEST(Decoding, AsksSpecialWordsOfEveryKAndBlock) {
  const Operation& op = Op("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  EXPECT_EQ(DecodingText(DecodingOf(op,
                                    [](DotProductCase& dot) {
                                      for (size_t k = 1; k < dot.a.size(); ++k) {
                                        if (dot.a[k] == 0x7f) dot.a[k] = 0x7e;
                                      }
                                    })),
            "a: for k = 1..31 alone, 7f as 7e = 448.0");
  EXPECT_EQ(DecodingText(DecodingOf(op,
                                    [](DotProductCase& dot) {
                                      if (dot.a[0] == 0x38) dot.a[0] = 0x40;
                                    })),
            "a: 38 as 40 = 2.0 (1 of 256 words, by no known rule)");
  const Operation& scaled = Op("sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0");
  EXPECT_EQ(DecodingText(DecodingOf(scaled,
                                    [](DotProductCase& dot) {
                                      if (dot.a[65] == 0xff) dot.a[65] = 0xfe;
                                    })),
            "the scales of a: for k = 32 alone, ff as fe = 2^127");
}

// Every bit of the format is asked, and ties are.
TEST(Decoding, OfASlowDevice) {
  class Slow : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    bool IsSlow() const override { return true; }
  };
  const Operation& op = Op("sm_80/mma.m16n8k16.f32.f16.f16.f32");
  for (const Neighbour& n : Misreadings(op.model, false)) {
    Slow device(WithAlgorithm(op, n.algorithm));
    const auto decoding = AskDecoding(device, op, op);
    ASSERT_TRUE(decoding.ok());
    EXPECT_THAT(decoding->changes, testing::Contains(n.changes[0])) << Name(n);
    if (!Name(n).starts_with("a_reading=nearest_")) continue;
    EXPECT_THAT(decoding->changes, ElementsAre(n.changes[0]));
    EXPECT_THAT(DecodingText(*decoding), testing::Not(HasSubstr("no word of")));
  }
}

TEST(Decoding, AsTheModelOfEveryRow) {
  for (const Operation* op : DistinctOperations()) {
    ModelDevice device(op->model);
    const auto decoding = AskDecoding(device, *op, *op);
    ASSERT_TRUE(decoding.ok()) << op->name;
    EXPECT_TRUE(decoding->AsTheModel()) << op->name << ": " << DecodingText(*decoding);
  }
}

TEST(Decoding, SeesTheFormOfTheResult) {
  class LowHalf : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = ModelDevice::Execute(op, batch, d);
      for (uint64_t& word : d) {
        uint64_t wide = 0;
        EncodeValue(kF32, DecodeValue(kF16, word), &wide);
        word = wide & 0xffff;
      }
      return s;
    }
  };
  const Operation& op = Op("sm_80/mma.m16n8k8.f16.f16.f16.f16");
  LowHalf device(op.model);
  const auto decoding = AskDecoding(device, op, op);
  ASSERT_TRUE(decoding.ok());
  EXPECT_EQ(DecodingText(*decoding), "the result is the low half of an f32");
}

}  // namespace
}  // namespace mmadiff
