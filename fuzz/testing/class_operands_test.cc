// What the boundary classes write into operands: the properties that are no line of class_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "corpus/cases/operands.h"
#include "fuzz/testing/class_checks.h"
#include "sim/round.h"

namespace mmadiff {
namespace {

class ClassOf : public testing::TestWithParam<const Operation*> {
 protected:
  const Instruction& in() const { return *GetParam()->instruction; }
};
class WideClass : public ClassOf {};
class FloatClass : public ClassOf {};
class ScaledClass : public ClassOf {};

// An addend that is a power of two meets its negative among the products, in every block.
TEST_P(WideClass, CancelMeetsTheAddend) {
  int opposite = 0, same = 0;
  ForDotProducts(in(), ClassNamed(in(), "cancel"), [&](const DotProductCase& dot) {
    const Unpacked c = Decode(*in().c, dot.c);
    if (c.significand != 1ull << in().c->fraction_bits) return;
    for (int k = 0; k < in().shape.k; ++k) {
      const Unpacked a = Decode(*in().a, dot.a[k]), b = Decode(*in().b, dot.b[k]);
      const auto product = static_cast<unsigned __int128>(a.significand) * b.significand;
      const int lsb = a.exponent + b.exponent - in().a->fraction_bits - in().b->fraction_bits;
      const bool power = product != 0 && (product & (product - 1)) == 0;
      if (!power || BitWidth(product) - 1 + lsb != c.exponent) continue;
      ++((a.negative != b.negative) == c.negative ? same : opposite);
    }
  });
  EXPECT_GE(opposite, 250);
  EXPECT_LE(same, opposite / 4);
}

// Finite operands of every class but those that are for specials: the largest pattern of a format
// is not always a number, nor is the pattern of -0.
TEST_P(FloatClass, NumbersAreNumbers) {
  for (const InputClass& c : BoundaryClasses(in())) {
    const std::string_view name = c.name;
    if (name == "specials" || name == "edges" || name == "infinities" || name == "scale_edges" ||
        name == "scale_specials") {
      continue;
    }
    const bool any_addend = name == "addend_edges" || name == "overflow";
    int specials = 0;
    ForDotProducts(in(), c, [&](const DotProductCase& dot) {
      for (size_t i = 0; i < dot.a.size(); ++i) {
        specials += IsNan(in().a_format(i), dot.a[i]) || IsNan(in().b_format(i), dot.b[i]);
      }
      specials += !any_addend && Decode(*in().c, dot.c).kind != Kind::kFinite;
    });
    EXPECT_EQ(specials, 0) << name;
  }
}

// The kinds of non-numbers that a format has.
std::set<std::string> KindsOf(const Format& f) {
  if (f.nonfinite == Nonfinite::kNone) return {};
  if (!HasInfinity(f)) return {"NaN"};
  return f.fraction_bits + f.ignored_bits > 1
             ? std::set<std::string>{"infinity", "quiet", "signalling"}
             : std::set<std::string>{"infinity", "quiet"};
}

// Every k of A and B and some C get each kind of special that the format has.
TEST_P(FloatClass, SpecialsInEveryPosition) {
  const Shape& s = in().shape;
  std::map<std::string, std::set<std::string>> kinds;  // by operand and k
  std::map<std::string, const Format*> formats;
  Batch batch;
  batch.Resize(s, 1);
  const Tile tile = {in(), batch.a.data(), batch.b.data(), batch.c.data()};
  const auto look = [&](char operand, const Format& f, const std::vector<uint64_t>& all, int row,
                        int k) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (static_cast<int>(i) % row >= k) continue;
      const std::string where = operand + std::to_string(i % row);
      formats[where] = &f;
      const Unpacked u = Decode(f, all[i]);
      if (u.kind == Kind::kFinite) continue;
      const bool quiet = u.significand >> (f.fraction_bits - 1) & 1;
      kinds[where].insert(!HasInfinity(f)             ? "NaN"
                          : u.kind == Kind::kInfinite ? "infinity"
                          : quiet                     ? "quiet"
                                                      : "signalling");
    }
  };
  for (int i = 0; i < 40 * s.k + 600; ++i) {
    Random random(1, 7, i);
    ClassNamed(in(), "specials").fill(tile, random);
    look('a', *in().a, batch.a, s.row_words(), s.k);
    look('b', *in().b, batch.b, s.row_words(), s.k);
    look('c', *in().c, batch.c, 1, 1);
  }
  EXPECT_EQ(formats.size(), static_cast<size_t>(2 * s.k + 1));
  for (const auto& [where, format] : formats) EXPECT_EQ(kinds[where], KindsOf(*format)) << where;
}

// One class alone sets bits of scales that have no meaning.
TEST_P(ScaledClass, ScalesAreLegal) {
  const int fields = FieldBits(*in().scale);
  const auto unread = [&](const DotProductCase& dot) {
    for (size_t i = in().shape.k; i < dot.a.size(); ++i) {
      if ((dot.a[i] | dot.b[i]) >> fields != 0) return true;
    }
    return false;
  };
  std::map<std::string_view, int> with;
  const auto look = [&](const InputClass& c) {
    ForDotProducts(in(), c, [&](const DotProductCase& dot) {
      if (unread(dot)) ++with[c.name];
    });
  };
  look(UniformBits());
  for (const InputClass& c : BoundaryClasses(in())) look(c);
  if (fields == in().scale->bits) {
    EXPECT_THAT(with, testing::IsEmpty());
  } else {
    EXPECT_THAT(with, testing::ElementsAre(testing::Pair("unread_bits", testing::Ge(2500))));
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, WideClass, testing::ValuesIn(OperationsWhere(IsWide)),
                         ParameterName);
INSTANTIATE_TEST_SUITE_P(Operations, FloatClass, testing::ValuesIn(OperationsWhere(IsFloat)),
                         ParameterName);
INSTANTIATE_TEST_SUITE_P(Operations, ScaledClass, testing::ValuesIn(OperationsWhere(IsScaled)),
                         ParameterName);

}  // namespace
}  // namespace mmadiff
