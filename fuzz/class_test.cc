// Every boundary class really has the property that it is named after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "fuzz/cases/case_name.h"
#include "fuzz/cases/generate.h"
#include "fuzz/cases/operands.h"
#include "fuzz/events.h"
#include "sim/round.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kTiles = 256, kPerTile = 12;  // dot products measured of a class: 3072

// Calls `visit` for kPerTile dot products of kTiles cases of the class.
void ForDotProducts(const Instruction& instruction, const InputClass& input_class,
                    const std::function<void(const DotProductCase&)>& visit) {
  Batch batch;
  batch.Resize(instruction.shape, 1);
  const Tile tile = {instruction, batch.a.data(), batch.b.data(), batch.c.data()};
  for (int i = 0; i < kTiles; ++i) {
    Random random(1, 7, i);
    input_class.fill(tile, random);
    for (int j = 0; j < kPerTile; ++j) {
      visit(Extract(batch, (i * 5 + j * 11) % batch.dot_products()));
    }
  }
}

const InputClass& ClassNamed(const Instruction& instruction, std::string_view name) {
  for (const InputClass& c : BoundaryClasses(instruction)) {
    if (name == c.name) return c;
  }
  std::abort();
}

uint64_t CountEvent(const Operation& op, const char* class_name, StageEvent event) {
  EventCounter counter;
  ForDotProducts(*op.instruction, ClassNamed(*op.instruction, class_name),
                 [&](const DotProductCase& dot) { counter.Count(op.model, dot); });
  std::map<std::string, uint64_t> counts;
  counter.AddTo(op.model, counts);
  EXPECT_EQ(counts["event.sampled"], uint64_t{kTiles * kPerTile});
  return counts[std::string("event.") + Name(event)];
}

class ClassOf : public testing::TestWithParam<const Operation*> {
 protected:
  const Operation& op() const { return *GetParam(); }
  const Instruction& in() const { return *op().instruction; }
  const Algorithm& algorithm() const { return op().model.algorithm; }
  int CountDots(const char* class_name, const std::function<bool(const DotProductCase&)>& has) {
    int count = 0;
    ForDotProducts(in(), ClassNamed(in(), class_name),
                   [&](const DotProductCase& dot) { count += has(dot); });
    return count;
  }
  // Dot products of the class that tell the operation's model from another algorithm.
  int Tell(const char* class_name, const Algorithm& other) {
    const Model changed = WithAlgorithm(op(), other);
    return CountDots(class_name, [&](const DotProductCase& dot) {
      return Simulate(changed, dot) != Simulate(op().model, dot);
    });
  }
};

class FloatClass : public ClassOf {};  // operands of more than 8 bits
class AnyFloatClass : public ClassOf {};
class ScaledClass : public ClassOf {};
class IntegerClass : public ClassOf {};

bool IsZero(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand == 0;
}
bool IsHuge(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.exponent == MaxExponent(f);
}
bool IsSubnormal(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return u.kind == Kind::kFinite && u.significand != 0 && u.significand >> f.fraction_bits == 0;
}

// The exponent of the highest bit of a nonzero event.
int Leading(const Event& e) { return BitWidth(e.magnitude) - 1 + e.lsb_exponent; }

// Some step's sum is zero or at least six bits shorter than its widest term.
bool Cancels(const Model& model, const DotProductCase& dot) {
  const bool aligned = model.algorithm.family == Family::kFusedSum;
  const Stage term = aligned ? Stage::kAlignedTerm : Stage::kProduct;
  int widest = -100000, step = 0;
  for (const Event& e : TraceStages(model, dot)) {
    if (e.step != step) widest = -100000;
    step = e.step;
    if (e.stage == term && e.magnitude != 0) widest = std::max(widest, Leading(e));
    if (e.stage != Stage::kSum || widest == -100000) continue;
    if (e.magnitude == 0 || widest - Leading(e) >= 6) return true;
  }
  return false;
}

TEST_P(FloatClass, CancelCancels) {
  EXPECT_GE(CountDots("cancel", [&](const auto& dot) { return Cancels(op().model, dot); }), 2000);
  EXPECT_GE(CountEvent(op(), "cancel", StageEvent::kFullCancellation), 50u);
}

// An addend that is a power of two meets its negative among the products, in every block.
TEST_P(FloatClass, CancelMeetsTheAddend) {
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

TEST_P(FloatClass, TieTies) {
  // With 23 fraction bits half an ulp of f32 lies below what alignment keeps: only a carry shows
  // it.
  const bool kept = algorithm().family != Family::kFusedSum ||
                    algorithm().fraction_bits > algorithm().output_fraction_bits;
  EXPECT_GE(CountEvent(op(), "tie", StageEvent::kTie), kept ? 200u : 150u);
}

TEST_P(FloatClass, BandLosesBits) {
  const bool aligned = algorithm().family == Family::kFusedSum;
  EXPECT_GE(CountEvent(op(), "band", aligned ? StageEvent::kBitsLost : StageEvent::kInexact),
            1000u);
}

// A power of two and less than itself of the other sign: the sum has one bit less.
TEST_P(FloatClass, BorrowFallsBelowAPowerOfTwo) {
  const auto below = [&](const DotProductCase& dot) {
    int widest = -100000;
    for (const Event& e : TraceStages(op().model, dot)) {
      if (e.stage == Stage::kProduct && e.magnitude != 0) widest = std::max(widest, Leading(e));
    }
    const Unpacked c = Decode(*in().c, dot.c), d = Decode(*in().d, Simulate(op().model, dot));
    if (c.significand != 0) widest = std::max(widest, c.exponent);
    return d.kind == Kind::kFinite && d.exponent == widest - 1;
  };
  EXPECT_GE(CountDots("borrow", below), 300);
}

TEST_P(FloatClass, UnderflowGivesSubnormals) {
  const Format &c = *in().c, &d = *in().d;
  const int lowest = std::min(Lowest(*in().a) + Lowest(*in().b), Lowest(c));
  if (lowest >= d.min_exponent) {  // f16 operands and addend, f32 result: nothing is so small
    EXPECT_EQ(CountEvent(op(), "underflow", StageEvent::kResultSubnormal), 0u);
  } else if (algorithm().output_subnormals != Subnormals::kKeep) {
    EXPECT_GE(CountEvent(op(), "underflow", StageEvent::kResultZero), 600u);
  } else {
    EXPECT_GE(CountEvent(op(), "underflow", StageEvent::kResultSubnormal), 300u);
  }
}

TEST_P(FloatClass, OverflowGivesInfinity) {
  // An f32 addend of the largest size plus products of f16 never carries into the exponent; what
  // is infinite then comes from an infinite addend.
  const int largest = MaxExponent(*in().a) + MaxExponent(*in().b);
  const bool reachable = largest >= MaxExponent(*in().d) - in().d->fraction_bits;
  const int infinite = CountDots("overflow", [&](const DotProductCase& dot) {
    const bool finite = Decode(*in().c, dot.c).kind == Kind::kFinite;
    return finite && Decode(*in().d, Simulate(op().model, dot)).kind == Kind::kInfinite;
  });
  EXPECT_GE(infinite, reachable ? 400 : 0);
  EXPECT_LE(infinite, reachable ? 2500 : 0);
}

TEST_P(AnyFloatClass, ZerosFaceHugePartners) {
  const Format &a = *in().a, &b = *in().b;
  const auto faces = [&](const DotProductCase& dot) {
    for (int k = 0; k < in().shape.k; ++k) {
      if (IsZero(a, dot.a[k]) && IsHuge(b, dot.b[k])) return true;
      if (IsHuge(a, dot.a[k]) && IsZero(b, dot.b[k])) return true;
    }
    return false;
  };
  EXPECT_GE(CountDots("zero_times_huge", faces), 1400);
}

// The rule for such zeros shows only when the other terms reach less far.
TEST_P(FloatClass, ZerosShowWhatTheyRaise) {
  if (algorithm().family != Family::kFusedSum) GTEST_SKIP() << "no rule for zeros";
  Algorithm raises = algorithm();
  raises.zero_term = ZeroTerm::kRaises;
  EXPECT_GE(Tell("zero_times_huge", raises), 200);
}

TEST_P(AnyFloatClass, SignedZerosGiveZerosOfBothSigns) {
  std::map<uint64_t, int> zeros;
  ForDotProducts(in(), ClassNamed(in(), "signed_zeros"), [&](const DotProductCase& dot) {
    const uint64_t d = Simulate(op().model, dot);
    if (IsZero(*in().d, d)) ++zeros[d >> SignBit(*in().d)];
  });
  EXPECT_GE(zeros[0] + zeros[1], 1500);
  // All terms negative zeros: the one case in which IEEE 754 asks for a negative sum.
  const auto all_negative = [&](const DotProductCase& dot) {
    bool all = dot.c >> SignBit(*in().c) & 1;
    for (int k = 0; k < in().shape.k; ++k) {
      all &= ((dot.a[k] >> SignBit(*in().a)) ^ (dot.b[k] >> SignBit(*in().b))) & 1;
      all &= IsZero(*in().a, dot.a[k]) || IsZero(*in().b, dot.b[k]);
    }
    return all;
  };
  EXPECT_GE(CountDots("signed_zeros", all_negative), 30);
}

TEST_P(AnyFloatClass, SubnormalOperandsInBothFactors) {
  int a = 0, b = 0, c = 0;
  ForDotProducts(in(), ClassNamed(in(), "subnormals"), [&](const DotProductCase& dot) {
    a += IsSubnormal(*in().a, dot.a[0]);
    b += IsSubnormal(*in().b, dot.b[0]);
    c += IsSubnormal(*in().c, dot.c);
  });
  EXPECT_GE(a, 1500);
  EXPECT_GE(b, 1500);
  EXPECT_GE(c, 1500);
}

TEST_P(AnyFloatClass, AddendEdgesAreReached) {
  std::map<std::string, int> seen;
  const Format& f = *in().c;
  ForDotProducts(in(), ClassNamed(in(), "addend_edges"), [&](const DotProductCase& dot) {
    const Unpacked u = Decode(f, dot.c);
    const std::string sign = u.negative ? "-" : "+";
    if (u.kind == Kind::kNan) ++seen["NaN"];
    if (u.kind == Kind::kInfinite) ++seen[sign + "infinity"];
    if (IsZero(f, dot.c)) ++seen[sign + "zero"];
    if (IsSubnormal(f, dot.c)) ++seen[sign + "subnormal"];
    if (IsHuge(f, dot.c)) ++seen[sign + "huge"];
    if (IsHuge(f, dot.c) && u.significand == LowBits(f.fraction_bits + 1)) ++seen[sign + "largest"];
  });
  for (const char* edge : {"NaN", "+infinity", "-infinity", "+zero", "-zero", "+subnormal",
                           "-subnormal", "+huge", "-huge", "+largest", "-largest"}) {
    EXPECT_GE(seen[edge], 10) << edge;
  }
}

TEST_P(AnyFloatClass, OneProductIsOne) {
  int one = 0, zero_addend = 0, both_sides = 0;  // zeros in A against numbers in B, and in B
  ForDotProducts(in(), ClassNamed(in(), "one_product"), [&](const DotProductCase& dot) {
    int products = 0, a = 0, b = 0;
    for (int k = 0; k < in().shape.k; ++k) {
      const bool zero_a = IsZero(*in().a, dot.a[k]), zero_b = IsZero(*in().b, dot.b[k]);
      products += !zero_a && !zero_b;
      a += zero_a;
      b += zero_b;
    }
    one += products == 1;
    zero_addend += IsZero(*in().c, dot.c);
    both_sides += a != 0 && b != 0;
  });
  EXPECT_EQ(one, kTiles * kPerTile);
  EXPECT_GE(zero_addend, 1700);
  EXPECT_GE(both_sides, in().shape.k > 2 ? 1000 : 0);
}

// The sum of one product and an addend lies below the normal range.
TEST_P(FloatClass, VanishVanishes) {
  const int low = Lowest(*in().a) + Lowest(*in().b);
  if (low - in().c->fraction_bits >= in().d->min_exponent) {
    GTEST_SKIP() << "no difference is so small";
  }
  Algorithm keeps = algorithm();
  keeps.input_subnormals = keeps.addend_subnormals = keeps.output_subnormals = Subnormals::kKeep;
  const Model model = WithAlgorithm(op(), keeps);
  const auto tiny = [&](const DotProductCase& dot) {
    return !IsSubnormal(*in().c, dot.c) && IsSubnormal(*in().d, Simulate(model, dot));
  };
  EXPECT_GE(CountDots("vanish", tiny), 300);
}

TEST_P(AnyFloatClass, InfinitiesMeetZerosAndEachOther) {
  int nans = 0, infinities = 0;  // results without a NaN operand
  ForDotProducts(in(), ClassNamed(in(), "infinities"), [&](const DotProductCase& dot) {
    bool nan = IsNan(*in().c, dot.c);
    for (int k = 0; k < in().shape.k; ++k) {
      nan |= IsNan(*in().a, dot.a[k]) || IsNan(*in().b, dot.b[k]);
    }
    const Kind kind = Decode(*in().d, Simulate(op().model, dot)).kind;
    nans += !nan && kind == Kind::kNan;
    infinities += !nan && kind == Kind::kInfinite;
  });
  EXPECT_GE(nans, HasInfinity(*in().a) || HasInfinity(*in().b) ? 300 : 0);
  EXPECT_GE(infinities, 700);
}

// Finite operands of every class but those that are for specials: the largest pattern of a format
// is not always a number, nor is the pattern of -0.
TEST_P(AnyFloatClass, NumbersAreNumbers) {
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
TEST_P(AnyFloatClass, SpecialsInEveryPosition) {
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
  const bool elements = in().a->nonfinite != Nonfinite::kNone;
  EXPECT_GE(CountEvent(op(), "specials", StageEvent::kResultSpecial), elements ? 30u : 8u);
}

TEST_P(AnyFloatClass, EdgesMixKinds) {
  EXPECT_GE(CountEvent(op(), "edges", StageEvent::kResultSpecial), 40u);
  const auto finite = [&](const DotProductCase& dot) {
    return Decode(*in().d, Simulate(op().model, dot)).kind == Kind::kFinite;
  };
  EXPECT_GE(CountDots("edges", finite), 250);
}

// ---- Block scales

// Exact sums of the groups of 16 products, without their scales, in units of the least product.
std::vector<int64_t> GroupSums(const Instruction& in, const DotProductCase& dot) {
  std::vector<int64_t> sums(in.shape.k / 16);
  const int least = in.a->min_exponent + in.b->min_exponent;
  for (int k = 0; k < in.shape.k; ++k) {
    const Unpacked a = Decode(*in.a, dot.a[k]), b = Decode(*in.b, dot.b[k]);
    const int64_t product = static_cast<int64_t>(a.significand * b.significand)
                            << (a.exponent + b.exponent - least);
    sums[k / 16] += a.negative != b.negative ? -product : product;
  }
  return sums;
}

int ScaleSum(const Instruction& in, const DotProductCase& dot, int k) {
  const int at = in.shape.k + k / (in.shape.k / in.shape.scales);
  return Decode(*in.scale, dot.a[at]).exponent + Decode(*in.scale, dot.b[at]).exponent;
}

TEST_P(ScaledClass, ZeroGroupsHaveTheLargestScales) {
  if (in().shape.scales < 2) GTEST_SKIP() << "one scale for all products";
  const auto has = [&](const DotProductCase& dot) {
    const std::vector<int64_t> sums = GroupSums(in(), dot);
    int zero = -100000, other = -100000;
    for (size_t g = 0; g < sums.size(); ++g) {
      int& side = sums[g] == 0 ? zero : other;
      side = std::max(side, ScaleSum(in(), dot, static_cast<int>(g) * 16));
    }
    return other > -100000 && zero >= other + 8;
  };
  EXPECT_GE(CountDots("zero_groups", has), 1000);
  if (algorithm().group_terms == 1) return;
  Algorithm ignored = algorithm(), raises = algorithm();
  ignored.zero_group = ZeroGroup::kIgnored;
  raises.zero_term = ZeroTerm::kRaises;
  EXPECT_GE(Tell("zero_groups", ignored), 50);
  EXPECT_GE(Tell("zero_groups", raises), 50);
}

TEST_P(ScaledClass, GroupsCancel) {
  const auto has = [&](const DotProductCase& dot) {
    const std::vector<int64_t> sums = GroupSums(in(), dot);
    for (size_t g = 0; g < sums.size(); ++g) {
      for (size_t h = 0; h < g; ++h) {
        const int x = static_cast<int>(g) * 16, y = static_cast<int>(h) * 16;
        if (sums[g] == -sums[h] && ScaleSum(in(), dot, x) == ScaleSum(in(), dot, y)) return true;
      }
    }
    return false;
  };
  EXPECT_GE(CountDots("groups_cancel", has), 2500);
}

TEST_P(ScaledClass, LastBitsTellTheWidth) {
  for (const int change : {-1, 1}) {
    Algorithm other = algorithm();
    other.fraction_bits += change;
    EXPECT_GE(Tell("last_bits", other), 5) << change;
  }
}

TEST_P(ScaledClass, ScaleCodesFromTheEdges) {
  const Format& f = *in().scale;
  std::map<uint64_t, int> seen;
  int nan = 0;
  ForDotProducts(in(), ClassNamed(in(), "scale_edges"), [&](const DotProductCase& dot) {
    for (size_t i = in().shape.k; i < dot.a.size(); ++i) ++seen[dot.a[i]], ++seen[dot.b[i]];
    nan += IsNan(*in().d, Simulate(op().model, dot));
  });
  const uint64_t one = Compose(f, false, 0, 0);
  for (const uint64_t code : {uint64_t{0}, uint64_t{1}, one, MaxFiniteWord(f)}) {
    EXPECT_GE(seen[code], 100) << code;
  }
  EXPECT_GE(nan, 100);
  EXPECT_LE(nan, 1500);
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
  std::set<std::string_view> with;
  const auto look = [&](const InputClass& c) {
    ForDotProducts(in(), c, [&](const DotProductCase& dot) {
      if (unread(dot)) with.insert(c.name);
    });
  };
  look(UniformBits());
  for (const InputClass& c : BoundaryClasses(in())) look(c);
  if (fields == in().scale->bits) {
    EXPECT_THAT(with, testing::IsEmpty());
  } else {
    EXPECT_THAT(with, testing::ElementsAre("unread_bits"));
    EXPECT_GE(CountDots("unread_bits", unread), 2500);
  }
}

TEST_P(ScaledClass, SpecialScalesOnEitherSide) {
  const auto count = [&](bool in_a, bool in_b) {
    return CountDots("scale_specials", [&](const DotProductCase& dot) {
      bool a = false, b = false;
      for (size_t i = in().shape.k; i < dot.a.size(); ++i) {
        a |= IsNan(*in().scale, dot.a[i]);
        b |= IsNan(*in().scale, dot.b[i]);
      }
      return a == in_a && b == in_b;
    });
  };
  EXPECT_GE(count(true, false), 400);
  EXPECT_GE(count(false, true), 200);
  EXPECT_GE(count(true, true), 50);
  EXPECT_GE(count(false, false), 1000);
}

// ---- Integers

TEST_P(IntegerClass, LimitLeavesTheRange) {
  const uint64_t outside = CountEvent(op(), "limit", StageEvent::kIntegerOverflow);
  // On both sides of the limit; sums of unsigned products never pass the lower one.
  const bool both = in().a->is_signed || in().b->is_signed;
  EXPECT_GE(outside, both ? 600u : 300u);
  EXPECT_LE(outside, 2300u);
  std::map<uint64_t, int> results;
  ForDotProducts(in(), ClassNamed(in(), "limit"),
                 [&](const DotProductCase& dot) { ++results[Simulate(op().model, dot)]; });
  if (algorithm().overflow != Overflow::kSaturate) return;
  EXPECT_GE(results[0x7fffffff], 200);
  EXPECT_GE(results[0x80000000], both ? 200 : 0);
}

// Saturation after half of the products would give another result than once at the end.
TEST_P(IntegerClass, CancelTellsWhereSaturationHappens) {
  if (!in().a->is_signed && !in().b->is_signed) GTEST_SKIP() << "sums only grow";
  for (const int terms : {1, in().shape.k / 2}) {
    Algorithm some = algorithm();
    some.terms = terms;
    some.overflow = Overflow::kSaturate;
    Algorithm all = some;
    all.terms = in().shape.k;
    const Model stepwise = WithAlgorithm(op(), some), once = WithAlgorithm(op(), all);
    EXPECT_GE(CountDots("cancel",
                        [&](const DotProductCase& dot) {
                          return Simulate(stepwise, dot) != Simulate(once, dot);
                        }),
              100)
        << terms;
  }
}

TEST_P(IntegerClass, SmallNumbersNeverOverflowAndOftenVanish) {
  EXPECT_EQ(CountEvent(op(), "small", StageEvent::kIntegerOverflow), 0u);
  EXPECT_GE(CountEvent(op(), "small", StageEvent::kResultZero), 300u);
}

TEST_P(IntegerClass, EdgesReachTheEndsOfEveryFormat) {
  std::map<std::string, std::set<uint64_t>> seen;
  int ones = 0, zeros = 0;  // operands that are all ones or all zeros but one word
  ForDotProducts(in(), ClassNamed(in(), "edges"), [&](const DotProductCase& dot) {
    seen["a"].insert(dot.a.begin(), dot.a.end());
    seen["b"].insert(dot.b.begin(), dot.b.end());
    seen["c"].insert(dot.c);
    const auto same = std::count(dot.a.begin(), dot.a.end(), LowBits(in().a->bits));
    ones += same + 1 >= in().shape.k;
    zeros += std::count(dot.a.begin(), dot.a.end(), uint64_t{0}) + 1 >= in().shape.k;
  });
  for (const auto& [name, format] : {std::pair("a", in().a), {"b", in().b}, {"c", in().c}}) {
    for (const uint64_t word : {uint64_t{0}, uint64_t{1}, LowBits(format->bits),
                                LowBits(format->bits - 1), uint64_t{1} << (format->bits - 1)}) {
      EXPECT_EQ(seen[name].count(word), 1u) << name << " " << word;
    }
  }
  EXPECT_GE(ones, 40);
  EXPECT_GE(zeros, 40);
}

TEST_P(IntegerClass, OneProductMeetsItsNegative) {
  const bool is_xor = algorithm().bit_operation == BitOperation::kXor;
  EXPECT_GE(CountEvent(op(), "one_product", StageEvent::kFullCancellation), is_xor ? 50u : 500u);
}

// ---- One operation for each set of formats of a family, the one with the fewest dot products

std::vector<const Operation*> OperationsWhere(const std::function<bool(const Operation&)>& wanted) {
  std::map<std::string, const Operation*> ops;
  for (const Operation& op : Operations()) {
    if (!wanted(op)) continue;
    const Instruction& in = *op.instruction;
    std::string key = std::to_string(static_cast<int>(op.model.algorithm.family));
    for (const Format* f : {in.a, in.b, in.c, in.d}) key += std::string(" ") + f->name;
    if (in.scale != nullptr) key += std::to_string(in.shape.scales) + in.scale->name;
    if (IsInteger(*in.d)) key += std::to_string(static_cast<int>(op.model.algorithm.overflow));
    const Operation*& kept = ops[key];
    if (kept == nullptr || op.shape().d_words() < kept->shape().d_words()) kept = &op;
  }
  std::vector<const Operation*> all;
  for (const auto& [key, op] : ops) all.push_back(op);
  return all;
}

bool IsFloat(const Operation& op) { return !IsInteger(*op.instruction->d); }
bool IsWide(const Operation& op) { return IsFloat(op) && op.instruction->a->bits > 8; }
// Of the many pairs of narrow formats those of a format with itself, and any with scales for e2m1.
bool IsSampled(const Operation& op) {
  const Instruction& in = *op.instruction;
  return IsFloat(op) && (IsWide(op) || in.a == in.b);
}
bool IsScaled(const Operation& op) { return op.instruction->scale != nullptr && IsSampled(op); }

std::string ParameterName(const testing::TestParamInfo<const Operation*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, FloatClass, testing::ValuesIn(OperationsWhere(IsWide)),
                         ParameterName);
INSTANTIATE_TEST_SUITE_P(Operations, AnyFloatClass, testing::ValuesIn(OperationsWhere(IsSampled)),
                         ParameterName);
INSTANTIATE_TEST_SUITE_P(Operations, ScaledClass, testing::ValuesIn(OperationsWhere(IsScaled)),
                         ParameterName);
INSTANTIATE_TEST_SUITE_P(Operations, IntegerClass,
                         testing::ValuesIn(OperationsWhere([](const Operation& r) {
                           return !IsFloat(r);
                         })),
                         ParameterName);

}  // namespace
}  // namespace mmadiff
