#include "sim/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "sim/operation.h"
#include "sim/reading.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::vector<int> ValuesOf(const Parameter& p) {
  std::vector<int> values;
  if (p.values.empty()) values = {p.min, p.min + 1, p.max - 1, p.max};
  for (size_t i = 0; i < p.values.size(); ++i) values.push_back(static_cast<int>(i));
  return values;
}

std::vector<std::string> NeighbourNames(const Model& model) {
  std::vector<std::string> names;
  for (const Neighbour& n : AllNeighbours(model)) names.push_back(Name(n));
  return names;
}

TEST(Parameter, NamesAreUniqueAndHaveReaders) {
  std::set<std::string> names;
  for (const Parameter& p : Parameters()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_NE(p.families, 0u) << p.name;
    EXPECT_TRUE(p.values.empty() ? p.min < p.max : p.values.size() >= 2) << p.name;
  }
}

TEST(Parameter, SetChangesThatParameterAlone) {
  for (const Parameter& p : Parameters()) {
    for (int value : ValuesOf(p)) {
      Algorithm changed = {.family = Family::kFusedSum};
      p.set(changed, value);
      EXPECT_EQ(p.get(changed), value) << p.name;
      for (const Parameter& other : Parameters()) {
        if (&other == &p) continue;
        EXPECT_EQ(other.get(changed), other.get({.family = Family::kFusedSum}))
            << p.name << " changed " << other.name;
      }
    }
  }
}

TEST(Parameter, TextRoundTrip) {
  for (const Parameter& p : Parameters()) {
    for (int value : ValuesOf(p)) {
      int parsed = value + 1;
      EXPECT_TRUE(ParseValue(p, ValueText(p, value), &parsed)) << p.name << " " << value;
      EXPECT_EQ(parsed, value) << p.name;
    }
    std::set<std::string> texts;
    for (int value : ValuesOf(p)) EXPECT_TRUE(texts.insert(ValueText(p, value)).second);
  }
}

TEST(Parameter, RefusesWhatIsNoValue) {
  for (const Parameter& p : Parameters()) {
    int parsed = 0;
    for (const char* text : {"", " ", "toward", "25x", " 3", "0x3", "99999", "-99999", "1.0"}) {
      EXPECT_FALSE(ParseValue(p, text, &parsed)) << p.name << " '" << text << "'";
    }
    if (!p.values.empty()) {
      EXPECT_FALSE(ParseValue(p, "1", &parsed)) << p.name;
    } else {
      EXPECT_FALSE(ParseValue(p, std::to_string(p.max + 1), &parsed)) << p.name;
      EXPECT_FALSE(ParseValue(p, std::to_string(p.min - 1), &parsed)) << p.name;
    }
  }
}

TEST(Parameter, NoFloorIsCalledNone) {
  const Parameter* floor = FindParameter(Family::kFusedSum, "exponent_floor");
  ASSERT_NE(floor, nullptr);
  int value = 0;
  EXPECT_TRUE(ParseValue(*floor, "none", &value));
  EXPECT_EQ(value, kNoFloor);
  EXPECT_TRUE(ParseValue(*floor, "-133", &value));
  EXPECT_EQ(value, -133);
}

TEST(Parameter, FindAsksTheFamily) {
  EXPECT_EQ(FindParameter(Family::kFusedSum, "order"), nullptr);
  EXPECT_EQ(FindParameter(Family::kFmaChain, "fraction_bits"), nullptr);
  EXPECT_EQ(FindParameter(Family::kIntegerDot, "nan_rule"), nullptr);
  EXPECT_EQ(FindParameter(Family::kFusedSum, "no_such"), nullptr);
  ASSERT_NE(FindParameter(Family::kFmaChain, "order"), nullptr);
  EXPECT_STREQ(FindParameter(Family::kFmaChain, "order")->name, "order");
}

TEST(Parameter, DescribeNamesWhatTheFamilyReads) {
  for (const Operation& op : Operations()) {
    const Algorithm& algorithm = op.model.algorithm;
    if (algorithm.family == Family::kTree) continue;  // its text is sim/tree/tree_text.h's
    const std::string text = Describe(algorithm);
    for (const Parameter& p : Parameters()) {
      const std::string item = std::string(p.name) + "=" + ValueText(p, p.get(algorithm));
      const bool omitted =
          p.get(algorithm) == 0 && (p.unusual >> static_cast<int>(algorithm.family) & 1);
      const bool read = FindParameter(algorithm.family, p.name) != nullptr && !omitted;
      // Each name stands after "(" or ", ": exponent_floor is no part of another name.
      const bool named = text.find("(" + item) != text.npos || text.find(" " + item) != text.npos;
      EXPECT_EQ(named, read) << item << " in " << text;
    }
  }
  EXPECT_THAT(
      Describe({.family = Family::kIntegerDot, .terms = 4, .overflow = Overflow::kSaturate}),
      testing::ContainsRegex(
          "^integer_dot\\(overflow=saturate, .*bit_operation=and, .*terms=4.*\\)$"));
}

TEST(Change, NamesParse) {
  for (int family = 0; family < kFamilyCount; ++family) {
    const Algorithm algorithm = {.family = static_cast<Family>(family),
                                 .fraction_bits = 25,
                                 .sum_fraction_bits = 25,
                                 .output_fraction_bits = 23};
    const std::vector<Change> fields = AlgorithmFields(algorithm);
    EXPECT_EQ(ParseChanges(algorithm.family, Name(fields)), fields);
    EXPECT_EQ(WithChanges(algorithm, fields), algorithm);
    for (const Change& c : fields) {
      for (const int value : OtherValues(*c.parameter, c.value)) {
        const std::vector<Change> change = {{c.parameter, value}};
        EXPECT_EQ(ParseChanges(algorithm.family, Name(change)), change);
        EXPECT_EQ(ChangesBetween(algorithm, WithChanges(algorithm, change)), change);
      }
    }
  }
  EXPECT_EQ(ParseChanges(Family::kFusedSum, ""), std::vector<Change>());
}

TEST(Change, ParseRefusesOtherText) {
  for (const char* text :
       {"terms", "terms=", "=8", "terms=8 ", " terms=8", "terms=8  zero_sign=ieee", "terms=08",
        "terms=+8", "terms=8,zero_sign=ieee", "terms=0", "order=descending", "no_such=1",
        "aligned_term:terms=8"}) {
    EXPECT_EQ(ParseChanges(Family::kFusedSum, text), std::nullopt) << text;
  }
}

TEST(Change, BetweenNamesAllThatDiffer) {
  const Algorithm from = {.family = Family::kFusedSum, .terms = 16, .fraction_bits = 25};
  const Algorithm to = {.family = Family::kFusedSum, .terms = 8, .fraction_bits = 24};
  const std::vector<Change> changes = *ChangesBetween(from, to);
  EXPECT_EQ(Name(changes), "fraction_bits=24 terms=8");  // in table order
  EXPECT_EQ(WithChanges(from, changes), to);
  EXPECT_EQ(Name(*ChangesBetween(to, to)), "");
}

TEST(Change, NoneBetweenTreesOfOtherShapeOrFormats) {
  const auto algorithm = [](const char* name) { return FindOperation(name)->model.algorithm; };
  const Algorithm wave32 = algorithm("gfx1200/v_wmma_f32_16x16x16_f16");
  EXPECT_EQ(ChangesBetween(wave32, wave32), std::vector<Change>());
  for (const char* other : {"gfx1200/v_wmma_f32_16x16x16_f16.wave64",  // order
                            "gfx1200/v_wmma_f16_16x16x16_f16",         // formats of nodes
                            "sm_90/mma.m16n8k16.f32.f16.f16.f32"}) {   // family
    EXPECT_EQ(ChangesBetween(wave32, algorithm(other)), std::nullopt) << other;
  }
}

TEST(WhyInvalid, NamesWhatIsWrong) {
  const Model good = FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model;
  EXPECT_EQ(WhyInvalid(good), "");
  struct {
    void (*spoil)(Model&);
    const char* says;
  } const cases[] = {
      {[](Model& m) { m.k = 0; }, "k must be 1.."},
      {[](Model& m) { m.k = 100'000; }, "k must be 1.."},
      {[](Model& m) { m.algorithm.fraction_bits = 0; }, "fraction_bits must be 1..37"},
      {[](Model& m) { m.algorithm.fraction_bits = 38; }, "fraction_bits must be 1..37"},
      {[](Model& m) { m.algorithm.terms = 0; }, "terms must be 1..1024"},
      {[](Model& m) { m.algorithm.exponent_floor = 301; }, "exponent_floor must be"},
      {[](Model& m) { m.algorithm.output_fraction_bits = 0; }, "output_fraction_bits must be 1.."},
      {[](Model& m) { m.algorithm.output_fraction_bits = 24; }, "at most 23 for f32"},
  };
  for (const auto& c : cases) {
    Model bad = good;
    c.spoil(bad);
    EXPECT_THAT(WhyInvalid(bad), HasSubstr(c.says));
  }
}

TEST(Neighbours, DifferInOneParameterAndAreValid) {
  for (const Operation& op : Operations()) {
    std::set<std::string> names;
    for (const Neighbour& n : AllNeighbours(op.model)) {
      SCOPED_TRACE(op.name + " " + Name(n));
      EXPECT_TRUE(names.insert(Name(n)).second);
      EXPECT_EQ(WhyInvalid(WithAlgorithm(op, n.algorithm)), "");
      const auto differs = [&](const Parameter* p) {
        return p->get(n.algorithm) != p->get(op.model.algorithm);
      };
      EXPECT_EQ(std::ranges::count_if(ParametersOf(op.model.algorithm), differs), 1);
      EXPECT_EQ(n.algorithm.family, op.model.algorithm.family);
    }
    EXPECT_FALSE(names.empty()) << op.name;
  }
}

// faulty:NAME=VALUE must lead to the neighbour of that name.
TEST(Neighbours, NamesParse) {
  for (const Operation& op : Operations()) {
    for (const Neighbour& n : AllNeighbours(op.model)) {
      const auto changes = ParseChanges(op.model.algorithm.family, Name(n));
      ASSERT_EQ(changes, n.changes) << Name(n);
      EXPECT_EQ(WithChanges(op.model.algorithm, *changes), n.algorithm) << Name(n);
    }
  }
}

TEST(Neighbours, OfAFusedSum) {
  // bf16 products reach below the floor; f16 ones do not.
  const Model model = FindOperation("sm_90/mma.m16n8k16.f32.bf16.bf16.f32")->model;
  const std::vector<std::string> names = NeighbourNames(model);
  EXPECT_THAT(
      names,
      IsSupersetOf({"fraction_bits=24", "fraction_bits=26", "output_rounding=nearest_even",
                    "output_rounding=to_odd", "align_rounding=down", "product_exponent=normalized",
                    "zero_term=raises", "exponent_floor=-134", "exponent_floor=-132",
                    "exponent_floor=none", "output_fraction_bits=22", "terms=8",
                    "output_subnormals=flush", "nan_rule=quiet_positive", "zero_sign=ieee"}));
  // The operation itself, more digits than f32 has, more terms than k, another family's parameter.
  for (const char* absent : {"fraction_bits=25", "output_fraction_bits=24", "terms=32",
                             "order=descending", "tininess=before_rounding"}) {
    EXPECT_THAT(names, Not(Contains(absent)));
  }
}

TEST(Neighbours, OfIntegersAndChains) {
  EXPECT_THAT(NeighbourNames(FindOperation("x86/vpdpbusd")->model),
              testing::AllOf(Contains("overflow=saturate"), Not(Contains(HasSubstr("terms="))),
                             Not(Contains(HasSubstr("bit_operation=")))));
  EXPECT_THAT(NeighbourNames(FindOperation("x86/vpdpbusds")->model),
              testing::AllOf(IsSupersetOf({"terms=2", "overflow=wrap"}), Not(Contains("terms=8")),
                             Not(Contains(HasSubstr("bit_operation=")))));
  // One product has no order; tininess matters only if the output is flushed.
  EXPECT_THAT(
      NeighbourNames(FindOperation("x86/vfmadd231ss")->model),
      testing::AllOf(Not(Contains(HasSubstr("order="))), Not(Contains(HasSubstr("tininess=")))));
  EXPECT_THAT(
      NeighbourNames(FindOperation("x86/vdpbf16ps")->model),
      IsSupersetOf({"order=ascending", "tininess=before_rounding", "input_subnormals=keep"}));
}

std::string ReasonFor(const char* op, std::string_view change) {
  for (const EquivalentNeighbour& e : EquivalentNeighbours(FindOperation(op)->model)) {
    if (Name(e.change) == change) return e.reason;
  }
  return "";
}

TEST(EquivalentNeighbours, HaveReasons) {
  constexpr char kHalf[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
  for (const char* change : {"exponent_floor=-134", "exponent_floor=-132", "exponent_floor=none"}) {
    EXPECT_EQ(ReasonFor(kHalf, change), "every nonzero term is above the floor");
    EXPECT_EQ(ReasonFor("sm_90/mma.m16n8k16.f32.bf16.bf16.f32", change), "");
  }
  EXPECT_EQ(ReasonFor(kHalf, "zero_sign=sum_positive"), "no nonzero sum rounds to zero");
  EXPECT_EQ(ReasonFor(kHalf, "zero_sign=ieee"), "");
  EXPECT_EQ(ReasonFor(kHalf, "addend_exponent=output_format"),
            "the addend's and the output's format have the same least exponent");
  EXPECT_EQ(ReasonFor("sm_70/mma.m8n8k4.f32.f16.f16.f16", "addend_exponent=output_format"), "");
  EXPECT_EQ(ReasonFor("sm_70/mma.m8n8k4.f32.f16.f16.f16", "output_subnormals=flush"),
            "no result is subnormal");
  EXPECT_EQ(ReasonFor(kHalf, "output_subnormals=flush"), "");
  EXPECT_EQ(ReasonFor("x86/vpdpbusd", "terms=2"),
            "an integer sum that wraps is the same in any number of steps");
  EXPECT_EQ(ReasonFor("x86/vfmadd231ss", "order=descending"), "a single product has no order");
  EXPECT_EQ(ReasonFor(kHalf, "terms=32"), "one step takes all the products");
}

// What is printed is explained: a row for each name, with each value that has one.
TEST(Parameter, IsInTheGlossary) {
  std::ifstream glossary("docs/glossary.md");
  std::map<std::string, std::string> rows;
  std::string all;
  for (std::string line; std::getline(glossary, line); all += line)
    rows[line.substr(0, line.find("` |"))] = line;
  for (std::string reading : ReadingNames()) {
    const size_t bits = reading.find_last_not_of("0123456789") + 1;
    if (bits > 0 && reading[bits - 1] == '_' && reading[0] != '0') {
      reading = reading.substr(0, bits) + "N";
    }
    EXPECT_THAT(all, HasSubstr("`" + reading + "`"));
  }
  for (const Parameter& p : Parameters()) {
    const std::string row = rows[std::string("| `") + p.name];
    EXPECT_THAT(row, Not(testing::IsEmpty())) << p.name;
    if (IsReading(p)) continue;
    for (const char* value : p.values) {
      EXPECT_THAT(row, HasSubstr(std::string("`") + value + "`")) << p.name;
    }
  }
}

}  // namespace
}  // namespace mmadiff
