// Every boundary class really has the property that it is named after: a table of how many of its
// dot products have it. class_operands_test has the properties that are no such count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fuzz/testing/class_conditions.h"
#include "fuzz/testing/class_properties.h"
#include "fuzz/testing/class_terms.h"

namespace mmadiff {
namespace {

// ---- Changed models

void ZerosRaise(Model& m) { m.algorithm.zero_term = ZeroTerm::kRaises; }
void ZeroGroupsIgnored(Model& m) { m.algorithm.zero_group = ZeroGroup::kIgnored; }
void OneBitLess(Model& m) { --m.algorithm.fraction_bits; }
void OneBitMore(Model& m) { ++m.algorithm.fraction_bits; }
void SaturateAfter(Model& m, int terms) {
  m.algorithm.terms = terms;
  m.algorithm.overflow = Overflow::kSaturate;
}
void SaturateOnce(Model& m) { SaturateAfter(m, m.k); }
void SaturateAfterHalf(Model& m) { SaturateAfter(m, m.k / 2); }
void SaturateAfterEach(Model& m) { SaturateAfter(m, 1); }

// ---- The table

struct Bounds {
  uint64_t least, most = UINT64_MAX;
};

// Of kDotProducts dot products of the class this many have the property.
struct Requirement {
  const char* input_class;
  Property property;
  Bounds count;
  Condition when = Always;
};

struct Section {
  Condition of;  // the operations of its rows; a row takes those for which `when` holds too
  std::vector<Requirement> rows;
};

constexpr Bounds kNone = {0, 0}, kAll = {kDotProducts, kDotProducts};

// clang-format off
std::vector<Requirement> WideRows() {
  return {
      {"cancel", {"cancels", Cancels}, {2000}, Not(IsTree)},
      {"cancel", {"cancels", Cancels}, {1600}, IsTree},
      {"cancel", Seen(StageEvent::kFullCancellation), {50}, Not(IsTree)},
      {"tie", Seen(StageEvent::kTie), {200}, [](const Operation& op) { return KeepsHalfAnUlp(op) && !IsTree(op); }},
      {"tie", Seen(StageEvent::kTie), {150}, Not(KeepsHalfAnUlp)},
      {"tie", Seen(StageEvent::kTie), {100}, IsTree},
      {"band", Seen(StageEvent::kBitsLost), {1000}, IsFused},
      {"band", Seen(StageEvent::kInexact), {1000}, Not(IsFused)},
      {"borrow", {"falls below a power of two", FallsBelowAPowerOfTwo}, {300}},
      {"underflow", Seen(StageEvent::kResultSubnormal), kNone, Not(ReachesSubnormals)},
      {"underflow", Seen(StageEvent::kResultSubnormal), {300}, KeepsSubnormals},
      {"underflow", Seen(StageEvent::kResultZero), {600}, FlushesSubnormals},
      {"overflow", {"overflows", Overflows}, {400, 2500}, CanOverflow},
      {"overflow", {"overflows", Overflows}, kNone, Not(CanOverflow)},
      // The rule for such zeros shows only when the other terms reach less far.
      {"zero_times_huge", Distinguishes("zeros that raise", ZerosRaise), {200}, IsFused},
      {"vanish", {"vanishes", Vanishes}, {300}, DifferencesAreSubnormal},
  };
}

std::vector<Requirement> NarrowRows() {
  return {
      {"band", {"terms 20 bits apart", IsSpread}, {300}},
      // Few of the numbers with two digits cancel to six bits less, or tie.
      {"cancel", {"cancels", Cancels}, {15}},
      {"tie", Seen(StageEvent::kTie), {5}},
      {"borrow", {"falls below a power of two", FallsBelowAPowerOfTwo}, {300}},
      {"underflow", Seen(StageEvent::kResultSubnormal), {400}},
      {"overflow", Result("huge", IsHuge), {900}},
  };
}

std::vector<Requirement> FloatRows() {
  return {
      {"floor", {"one or two products at the least output", IsAtTheFloor}, kAll},
      {"vanish", {"zeros in A alone", HasZerosInAAlone}, kAll, HasTwoProducts},
      {"zero_times_huge", {"zero faces huge", ZeroFacesHuge}, {1400}},
      {"signed_zeros", Result("zero", IsZero), {1500}},
      {"signed_zeros", {"all terms negative zeros", AllMinusZeros}, {30}},
      {"subnormals", {"subnormal in A", FirstOfAIsSubnormal}, {1500}},
      {"subnormals", {"subnormal in B", FirstOfBIsSubnormal}, {1500}},
      {"subnormals", Addend("subnormal", IsSubnormal), {1500}},
      {"addend_edges", Addend("NaN", IsNan), {10}},
      {"addend_edges", Addend('+', "infinity", IsInfinite), {10}},
      {"addend_edges", Addend('-', "infinity", IsInfinite), {10}},
      {"addend_edges", Addend('+', "zero", IsZero), {10}},
      {"addend_edges", Addend('-', "zero", IsZero), {10}},
      {"addend_edges", Addend('+', "subnormal", IsSubnormal), {10}},
      {"addend_edges", Addend('-', "subnormal", IsSubnormal), {10}},
      {"addend_edges", Addend('+', "huge", IsHuge), {10}},
      {"addend_edges", Addend('-', "huge", IsHuge), {10}},
      {"addend_edges", Addend('+', "largest", IsLargest), {10}},
      {"addend_edges", Addend('-', "largest", IsLargest), {10}},
      {"one_product", {"one product", HasOneProduct}, kAll},
      {"one_product", Addend("zero", IsZero), {1700}},
      {"one_product", {"zeros in A and B", HasZerosOnBothSides}, {1000}, HasThreeProducts},
      {"infinities", ResultOfNumbers("NaN", Kind::kNan), {300}, HasInfiniteElements},
      {"infinities", ResultOfNumbers("infinity", Kind::kInfinite), {700}},
      {"specials", Seen(StageEvent::kResultSpecial), {30}, HasSpecialElements},
      {"specials", Seen(StageEvent::kResultSpecial), {8}, Not(HasSpecialElements)},
      {"edges", Seen(StageEvent::kResultSpecial), {40}},
      {"edges", Result("finite", IsFinite), {250}},
  };
}

std::vector<Requirement> ScaledRows() {
  return {
      {"scales", {"terms 20 bits apart", IsSpread}, {500}},
      {"scales", Addend("zero", IsZero), {0, 700}},
      {"small_sums", {"many products near the least output", IsManyNearTheLeast}, kAll},
      {"zero_groups", {"a group adds up to zero", HasZeroGroup}, kAll},
      {"unread_bits", {"bits without a meaning", HasUnreadBits}, {2500}, HasScaleBitsUnread},
      {"zero_groups", {"largest scales", ZeroGroupHasTheLargestScales}, {1000}, HasSeveralScales},
      {"zero_groups", Distinguishes("ignored groups", ZeroGroupsIgnored), {50}, AddsGroups},
      {"zero_groups", Distinguishes("zeros that raise", ZerosRaise), {50}, AddsGroups},
      {"groups_cancel", {"groups cancel", GroupsCancel}, {2500}},
      {"last_bits", Distinguishes("one bit less", OneBitLess), {5}},
      {"last_bits", Distinguishes("one bit more", OneBitMore), {5}},
      {"scale_edges", ScaleCode("0", [](const Format&) { return uint64_t{0}; }), {100}},
      {"scale_edges", ScaleCode("1", [](const Format&) { return uint64_t{1}; }), {100}},
      {"scale_edges", ScaleCode("one", [](const Format& f) { return Compose(f, false, 0, 0); }), {100}},
      {"scale_edges", ScaleCode("largest", MaxFiniteWord), {100}},
      {"scale_edges", Result("NaN", IsNan), {100, 1500}},
      {"scale_specials", NanScales("A alone", true, false), {400}},
      {"scale_specials", NanScales("B alone", false, true), {200}},
      {"scale_specials", NanScales("A and B", true, true), {50}},
      {"scale_specials", NanScales("neither", false, false), {1000}},
  };
}

std::vector<Requirement> IntegerRows() {
  using Word = uint64_t (*)(const Format&);
  const Word zero = [](const Format&) { return uint64_t{0}; };
  const Word one = [](const Format&) { return uint64_t{1}; };
  const Word ones = [](const Format& f) { return LowBits(f.bits); };
  const Word half = [](const Format& f) { return LowBits(f.bits - 1); };
  const Word top = [](const Format& f) { return uint64_t{1} << (f.bits - 1); };
  std::vector<Requirement> rows = {
      // On both sides of the limit.
      {"limit", Seen(StageEvent::kIntegerOverflow), {600, 2300}, IsSigned},
      {"limit", Seen(StageEvent::kIntegerOverflow), {300, 2300}, Not(IsSigned)},
      {"limit", ResultWord("largest", 0x7fffffff), {200}, Saturates},
      {"limit", ResultWord("smallest", 0x80000000), {200}, SaturatesBelow},
      {"cancel", Distinguishes("saturation of each product", SaturateAfterEach, SaturateOnce), {100}, IsSigned},
      {"cancel", Distinguishes("saturation of each half", SaturateAfterHalf, SaturateOnce), {100}, IsSigned},
      {"cancel", {"repeats with A negated", RepeatsNegated}, kAll, IsUnsigned},
      {"small", Seen(StageEvent::kIntegerOverflow), kNone},
      {"small", Seen(StageEvent::kResultZero), {300}},
      {"edges", MostOfA("all ones", ones), {40}},
      {"edges", MostOfA("zero", zero), {40}},
      {"one_product", Seen(StageEvent::kFullCancellation), {50}, IsXor},
      {"one_product", Seen(StageEvent::kFullCancellation), {500}, Not(IsXor)},
  };
  for (const char operand : {'A', 'B', 'C'}) {
    rows.push_back({"edges", Holds(operand, "zero", zero), {1}});
    rows.push_back({"edges", Holds(operand, "one", one), {1}});
    rows.push_back({"edges", Holds(operand, "all ones", ones), {1}});
    rows.push_back({"edges", Holds(operand, "all ones below the top bit", half), {1}});
    rows.push_back({"edges", Holds(operand, "the top bit alone", top), {1}});
  }
  return rows;
}

std::vector<Requirement> ConversionRows() {
  std::vector<Requirement> rows = {
      {"edges", Operand("special", IsSpecialWord), {20}, HasSpecialElements},
      {"edges", Operand("huge", IsHuge), {20}, HasFraction},
      {"tie", Seen(StageEvent::kTie), {150}, LosesDigits},
      {"tie", Seen(StageEvent::kStickyOnly), {150}, LosesDigits},
      {"underflow", Result("subnormal or zero", IsBelowNormal), {500}, ConvertsSmallNumbers},
      {"overflow", Result("huge or special", IsHugeOrSpecial), {500}, ConvertsLargeNumbers},
      {"specials", Operand("special", IsSpecialWord), {800}, HasSpecialElements},
      {"subnormals", Operand("subnormal or zero", IsBelowNormal), kAll, HasZero},
  };
  for (const char* name : {"edges", "tie", "underflow", "overflow", "specials", "subnormals"}) {
    rows.push_back({name, {"words of absent operands are 0", HasNoOtherOperands}, kAll});
  }
  return rows;
}
// clang-format on

const std::vector<Section>& Table() {
  static const std::vector<Section> table = {
      {IsWide, WideRows()},     {IsNarrow, NarrowRows()},    {IsFloat, FloatRows()},
      {IsScaled, ScaledRows()}, {IsIntegral, IntegerRows()}, {IsConversion, ConversionRows()}};
  return table;
}

// Rows of the operation, by class.
std::map<std::string, std::vector<const Requirement*>> RowsOf(const Operation& op) {
  std::map<std::string, std::vector<const Requirement*>> rows;
  for (const Section& section : Table()) {
    if (!section.of(op)) continue;
    for (const Requirement& row : section.rows) {
      if (row.when(op)) rows[row.input_class].push_back(&row);
    }
  }
  return rows;
}

// How many dot products of the class have the property of each row.
std::vector<uint64_t> Count(const Operation& op, const InputClass& input_class,
                            const std::vector<const Requirement*>& rows) {
  std::vector<uint64_t> found(rows.size());
  EventCounter counter;
  ForDotProducts(*op.instruction, input_class, [&](const DotProductCase& dot) {
    counter.Count(op.model, dot);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (const auto& count = rows[i]->property.count) found[i] += count(op, dot);
    }
  });
  std::map<std::string, uint64_t> events;
  counter.AddTo(op.model, events);
  EXPECT_EQ(events["event.sampled"], uint64_t{kDotProducts});
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]->property.count) found[i] = events[rows[i]->property.name];
  }
  return found;
}

std::vector<const Operation*> TestedOperations() {
  return OperationsWhere(
      [](const Operation& op) { return IsFloat(op) || IsIntegral(op) || IsConversion(op); });
}

class ClassTest : public testing::TestWithParam<const Operation*> {};

// A class without a row could write anything.
TEST_P(ClassTest, HasRows) {
  const auto rows = RowsOf(*GetParam());
  for (const InputClass& c : BoundaryClasses(*GetParam()->instruction)) {
    EXPECT_EQ(rows.count(c.name), 1u) << "class " << c.name << " of " << GetParam()->name;
  }
}

TEST_P(ClassTest, HasItsProperties) {
  const Operation& op = *GetParam();
  for (const auto& [name, rows] : RowsOf(op)) {
    const std::vector<uint64_t> found = Count(op, ClassNamed(*op.instruction, name), rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto [least, most] = rows[i]->count;
      EXPECT_TRUE(least <= found[i] && found[i] <= most)
          << "class " << name << " of " << op.name << ": '" << rows[i]->property.name << "' "
          << found[i] << " times in " << kDotProducts << " dot products; must be at least " << least
          << (most == UINT64_MAX ? "" : ", at most " + std::to_string(most));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ClassTest, testing::ValuesIn(TestedOperations()),
                         ParameterName);

// A condition that never holds would hide its row.
TEST(ClassTable, EveryRowIsOfSomeOperation) {
  std::map<const Requirement*, int> uses;
  for (const Operation* op : TestedOperations()) {
    for (const auto& [name, rows] : RowsOf(*op)) {
      for (const Requirement* row : rows) ++uses[row];
    }
  }
  for (const Section& section : Table()) {
    for (const Requirement& row : section.rows) {
      EXPECT_GT(uses[&row], 0) << row.input_class << ": " << row.property.name;
    }
  }
}

}  // namespace
}  // namespace mmadiff
