#include "sim/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/stages.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

Reading Named(std::string_view name) {
  for (size_t i = 0; i < ReadingNames().size(); ++i) {
    if (name == ReadingNames()[i]) return static_cast<Reading>(i);
  }
  ADD_FAILURE() << name;
  return Reading::kAsIs;
}

TEST(Reading, NamesAreDifferent) {
  const auto names = ReadingNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(Name(Reading::kAsIs), "as_is");
}

TEST(Reading, Words) {
  struct {
    const char* name;
    const Format& format;
    uint64_t word, read;
  } const cases[] = {
      {"masked_3", kF16, 0x3c0f, 0x3c08},
      {"masked_3", kF16, 0x7c07, 0x7c00},  // the NaN becomes an infinity
      {"cut_3", kF16, 0x7c07, 0x7c07},
      {"cut_3", kF16, 0x3c0f, 0x3c08},
      {"nearest_13", kTf32, 0x3f801000, 0x3f800000},  // ties to even
      {"nearest_13", kTf32, 0x3f803000, 0x3f804000},
      {"nearest_13", kTf32, 0xbf801001, 0xbf802000},
      {"nearest_13", kTf32, 0x7f7ff000, 0x7f800000},  // to an infinity
      {"nearest_13", kTf32, 0x7f801fff, 0x7f801fff},
      {"nearest_away_13", kTf32, 0x3f801000, 0x3f802000},
      {"nearest_1", kE4m3, 0x7d, 0x7c},  // 7f would be the NaN
      {"nan_zero", kE4m3, 0xff, 0x80},
      {"nan_zero", kE4m3fnuz, 0x80, 0x00},
      {"nan_largest", kE4m3, 0xff, 0xfe},
      {"nan_infinity", kBf16, 0xff81, 0xff80},
      {"infinity_nan", kTf32, 0x7f800000, 0x7f802000},
      {"infinity_largest", kE5m2, 0xfc, 0xfb},
      {"infinity_largest", kE5m2, 0xfd, 0xfd},
      {"top_binade_largest", kE4m3, 0x78, 0x7e},
      {"top_binade_largest", kE4m3, 0x77, 0x77},
      {"top_binade_largest", kE5m2, 0x78, 0x7b},
      {"subnormals_zero", kF16, 0x83ff, 0x8000},
      {"sign_ignored", kBf16, 0xbf80, 0x3f80},
      {"sign_magnitude", kS8, 0x83, 0xfd},
      {"sign_magnitude", kS8, 0x80, 0x00},
      {"00_as_01", kUe8m0, 0x00, 0x01},
      {"zero", kF32, 0x3f800000, 0},
  };
  for (const auto& c : cases) {
    ASSERT_TRUE(Applies(Named(c.name), c.format)) << c.name << " " << c.format.name;
    EXPECT_EQ(WordRead(Named(c.name), c.format, c.word), c.read) << c.name << " " << c.format.name;
  }
}

TEST(Reading, Formats) {
  const auto value = [](const char* name, const Format& f, uint64_t word) {
    const Value v = DecodeValue(FormatRead(Named(name), f), WordRead(Named(name), f, word));
    return v.kind == Value::Class::kFinite ? v.exponent : static_cast<int>(v.kind) * 1000;
  };
  EXPECT_EQ(value("e4m3fnuz", kE4m3, 0x38), -1);
  EXPECT_EQ(value("e5m2", kE4m3, 0x3c), 0);
  EXPECT_EQ(value("finite", kE4m3, 0x7f), 8);
  EXPECT_EQ(value("finite", kE4m3fnuz, 0x80), 0);  // a zero
  EXPECT_EQ(value("ieee", kE4m3, 0x78), 2000);
  EXPECT_EQ(value("ieee", kE4m3, 0x79), 3000);
  EXPECT_EQ(value("bias_up", kF16, 0x3c00), -1);
  EXPECT_EQ(value("bias_down", kF16, 0x3c00), 1);
  EXPECT_EQ(value("00_zero", kUe8m0, 0x00), 0);
  EXPECT_EQ(DecodeInteger(FormatRead(Named("u8"), kS8), 0xff), 255);
}

// No word is read otherwise by a rule that does not apply, and one at least by each that does.
TEST(Reading, AppliesIfItChangesAWord) {
  for (const Format* f : kFormats) {
    if (f->bits > 16) continue;
    for (const Reading r : ReadingsOf(*f, false)) {
      bool changes = false;
      const Format read = FormatRead(r, *f);
      for (uint64_t word = 0; word >> f->bits == 0 && !changes; ++word) {
        const uint64_t other = WordRead(r, *f, word);
        const Value x = DecodeValue(*f, word), y = DecodeValue(read, other);
        changes = x.kind != y.kind || x.negative != y.negative || x.exponent != y.exponent ||
                  x.fraction != y.fraction;
      }
      EXPECT_TRUE(changes) << Name(r) << " " << f->name;
    }
  }
}

TEST(Reading, NoRowHasOne) {
  for (const Operation& op : Operations()) {
    Model model = op.model;  // some trees flush subnormal operands
    model.algorithm.input_subnormals = Subnormals::kKeep;
    EXPECT_FALSE(HasReadings(model)) << op.name;
  }
}

// Whole executions, single dot products and traces read alike.
TEST(Reading, IsTheSameOnEveryPath) {
  std::mt19937_64 random(1);
  for (const char* name :
       {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
        "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0", "x86/vpdpbusd", "x86/vdpbf16ps",
        "gfx90a/v_mfma_f32_16x16x16f16"}) {
    const Operation& op = *FindOperation(name);
    Batch batch = NeutralBatch(op.model, op.shape(), 8);
    const auto fill = [&](std::vector<uint64_t>& words, auto format_of) {
      for (size_t i = 0; i < words.size(); ++i) words[i] = random() & LowBits(format_of(i).bits);
    };
    const size_t row = op.shape().row_words();
    fill(batch.a, [&](size_t i) { return op.instruction->a_format(static_cast<int>(i % row)); });
    fill(batch.b, [&](size_t i) { return op.instruction->b_format(static_cast<int>(i % row)); });
    fill(batch.c, [&](size_t) { return *op.instruction->c; });
    for (const Neighbour& n : Misreadings(op.model, true)) {
      const Model model = WithAlgorithm(op, n.algorithm);
      ASSERT_TRUE(HasReadings(model));
      std::vector<uint64_t> d(batch.dot_products());
      Simulate(model, batch, d);
      for (int64_t i = 0; i < batch.dot_products(); ++i) {
        const DotProductCase dot = Extract(batch, i);
        ASSERT_EQ(d[i], Simulate(model, dot)) << name << " " << Name(n);
        ASSERT_EQ(static_cast<uint64_t>(TraceStages(model, dot).back().magnitude), d[i]);
      }
    }
  }
}

TEST(WhyUnreadable, NamesWhatIsWrong) {
  const auto why = [](const char* op, const char* changes) {
    Model m = FindOperation(op)->model;
    const auto parsed = ParseChanges(m.algorithm.family, changes);
    EXPECT_TRUE(parsed.has_value()) << changes;
    m.algorithm = WithChanges(m.algorithm, *parsed);
    return WhyInvalid(m);
  };
  constexpr char kMxf4[] = "sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0";
  constexpr char kFp8[] = "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32";
  EXPECT_EQ(why(kFp8, "a_reading=nan_zero"), "");
  EXPECT_THAT(why(kFp8, "a_reading=u8"),
              HasSubstr("a_reading=u8 says nothing about words of e4m3"));
  EXPECT_THAT(why(kFp8, "operand_reading=nan_zero a_reading=nan_zero"),
              HasSubstr("operand_reading covers what a_reading does"));
  EXPECT_THAT(why(kMxf4, "scale_reading=nan_largest b_scale_reading=nan_largest"),
              HasSubstr("scale_reading covers what b_scale_reading does"));
  EXPECT_EQ(why(kMxf4, "a_scale_reading=nan_largest b_scale_reading=00_as_01"), "");
  EXPECT_THAT(why(kMxf4, "a_scale_reading=00_zero"), HasSubstr("write scale_reading=00_zero"));
  EXPECT_THAT(why(kFp8, "operand_reading=subnormals_zero"), HasSubstr("input_subnormals=flush"));
  EXPECT_THAT(why(kFp8, "a_reading=zero"), HasSubstr("only an addend"));
}

}  // namespace
}  // namespace mmadiff
