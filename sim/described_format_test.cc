#include "sim/described_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/unlisted.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

using ::testing::HasSubstr;

std::string NameOf(std::string_view text) {
  const Format* const f = DescribedFormat(text);
  return f == nullptr ? "" : f->name;
}

// Each format of at most 32 bits of the tables, by its own letters.
TEST(DescribedFormatTest, TheTables) {
  EXPECT_EQ(DescribedFormat("e8m23"), &kF32);
  EXPECT_EQ(DescribedFormat("e8m10i13"), &kTf32);
  EXPECT_EQ(DescribedFormat("e8m10i13ieeeall"), &kTf32Amx);
  EXPECT_EQ(DescribedFormat("e5m10"), &kF16);
  EXPECT_EQ(DescribedFormat("e8m7b127ieee"), &kBf16);
  EXPECT_EQ(DescribedFormat("e4m3fn"), &kE4m3);
  EXPECT_EQ(DescribedFormat("e5m2"), &kE5m2);
  EXPECT_EQ(DescribedFormat("e4m3fnuz"), &kE4m3fnuz);
  EXPECT_EQ(DescribedFormat("e5m2b16fnuz"), &kE5m2fnuz);
  EXPECT_EQ(DescribedFormat("e2m3finite"), &kE2m3);
  EXPECT_EQ(DescribedFormat("e3m2finite"), &kE3m2);
  EXPECT_EQ(DescribedFormat("e2m1finite"), &kE2m1);
  EXPECT_EQ(DescribedFormat("Float8_E4M3FNUZ"), &kE4m3fnuz);
}

// The shortest description is the name, whatever the text; a name finds its format.
TEST(DescribedFormatTest, Names) {
  EXPECT_EQ(NameOf("float8_e4m3b11fnuz"), "e4m3b11fnuz");
  EXPECT_EQ(NameOf("E3M4b3ieee"), "e3m4");
  EXPECT_EQ(NameOf("e4m3b7ieee"), "e4m3ieee");
  EXPECT_EQ(NameOf("e4m3b8fn"), "e4m3b8fn");
  EXPECT_EQ(NameOf("ue5m3b15fn"), "ue5m3fn");
  EXPECT_EQ(NameOf("e6m5i4"), "e6m5i4");
  EXPECT_EQ(NameOf("f12_e5m6"), "e5m6");
  EXPECT_EQ(NameOf("e3m0finite"), "e3m0finite");
  EXPECT_EQ(FindFormat("e6m5i4"), DescribedFormat("e6m5b31i4ieee"));
  EXPECT_EQ(FindFormat("e6m5b31"), nullptr);  // f is not its name
  const Format& f = *DescribedFormat("e4m3b11fnuz");
  EXPECT_EQ(f.bits, 8);
  EXPECT_EQ(f.min_exponent, -10);
  EXPECT_TRUE(IsNan(f, 0x80));
  EXPECT_FALSE(IsNan(f, 0x7f));
  EXPECT_EQ(DescribedFormat("ue5m3fn")->bits, 8);
}

TEST(DescribedFormatTest, ErrorsNameTheColumn) {
  const struct {
    const char *text, *what;
    int column;
  } kErrors[] = {{"", "'e' is missing", 1},
                 {"m3e4", "'e' is missing", 1},
                 {"e", "a number is missing", 2},
                 {"e4", "'m' is missing", 3},
                 {"e9m3", "exponent bits must be 2 to 8", 2},
                 {"e4m24", "fraction bits must be 0 to 23", 4},
                 {"e4m3", "the kind is missing", 5},
                 {"e4m3b8", "the kind is missing", 7},
                 {"ue5m3", "the kind is missing", 6},
                 {"e5m10inf", "a number is missing", 7},
                 {"e5m10nan", "'nan' is not a kind", 6},
                 {"e5m10b999", "the bias must be 0 to 382", 7},
                 {"e5m10b200", "exponents, -199 to -170, exceed those of f32", 6},
                 {"e5m10b31", "1 is not among its numbers", 6},
                 {"e5m10b0", "1 is not among its numbers", 6},
                 {"e8m7fnuz", "exceed those of f32", 5},
                 {"e3m0", "no NaN", 5},
                 {"e3m4ieeeall", "ignored bits", 5},
                 {"ue3m4fnuz", "without a sign", 6},
                 {"float8_e5m4", "the format has 10 bits", 8},
                 {"e8m23i1", "33 bits", 1}};
  for (const auto& [text, what, column] : kErrors) {
    FormatError error;
    EXPECT_EQ(DescribedFormat(text, &error), nullptr) << text;
    EXPECT_THAT(error.what, HasSubstr(what)) << text;
    EXPECT_EQ(error.column, column) << text;
  }
}

// Model and oracle agree on dot products of described formats, in every family that has them.
TEST(DescribedFormatTest, ModelsAgreeWithTheOracle) {
  reference::Random random(1);
  for (const char* name :
       {"unlisted/k4.f32.e4m3b11fnuz.e3m4.f32", "unlisted/k3.e6m9.e6m5i4.e6m5i4.e6m9",
        "unlisted/k5.f32.e3m0finite.e5m1fn.f32", "unlisted/k4.f16.e4m3ieee.e4m3b2fn.f16",
        "unlisted/k8.f32.e4m3.e2m2finite.f32.ue5m3fn.4"}) {
    const Operation* const op = FindUnlisted(name);
    ASSERT_NE(op, nullptr) << name;
    int families = 0;
    for (int family = 0; family < kFamilyCount; ++family) {
      Model m = op->model;
      m.algorithm = {.family = static_cast<Family>(family)};
      m.algorithm.fraction_bits = 12;
      m.algorithm.sum_fraction_bits = 12;
      m.algorithm.terms = m.algorithm.group_terms = 1;
      m.algorithm.output_fraction_bits = m.d.fraction_bits;
      if (!WhyInvalid(m).empty()) continue;
      ++families;
      for (int i = 0; i < 2000; ++i) {
        const DotProductCase dot = reference::RandomDot(m, random);
        ASSERT_EQ(reference::Disagreement(m, dot), "") << name;
      }
    }
    EXPECT_GT(families, 0) << name;
  }
}

}  // namespace
}  // namespace mmadiff
