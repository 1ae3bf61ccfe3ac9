#include "sim/parameter.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "sim/absent_addend.h"
#include "sim/equivalence.h"
#include "sim/exact_sum.h"
#include "sim/reading.h"
#include "sim/sparsity.h"
#include "sim/tree/tree.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {
namespace {

constexpr const char* kFamilies[] = {"fma_chain", "pairwise_sum",  "fused_sum",   "scaled_sum",
                                     "exact_sum", "two_stage_sum", "integer_dot", "conversion",
                                     "tree",      "no model"};
static_assert(std::size(kFamilies) == kFamilyCount + 2);
constexpr const char* kRoundings[] = {"nearest_even", "toward_zero", "down", "up", "to_odd"};
constexpr const char* kOrders[] = {"ascending", "descending"};
constexpr const char* kProductExponents[] = {"raw", "normalized", "as_f16"};
constexpr const char* kZeroTerms[] = {"ignored", "raises"};
constexpr const char* kAddendExponents[] = {"own_format", "output_format"};
constexpr const char* kSubnormals[] = {"keep", "flush", "flush_positive"};
constexpr const char* kAddendFlushes[] = {"at_entry", "every_step"};
constexpr const char* kTininess[] = {"before_rounding", "after_rounding"};
constexpr const char* kNanRules[] = {"all_ones", "quiet_positive", "propagate", "propagate_bca"};
constexpr const char* kZeroSigns[] = {"positive", "sum_positive", "ieee"};
constexpr const char* kGroupings[] = {"consecutive", "pairs_of_four", "even_odd"};
constexpr const char* kAddendJoins[] = {"first_step", "last_add", "steps_apart"};
constexpr const char* kRangeOverflows[] = {"infinity", "ieee"};
constexpr const char* kProductRoundings[] = {"rounded", "exact"};
constexpr const char* kProductOverflows[] = {"infinity", "none"};
constexpr const char* kSmallAddends[] = {"cut", "dropped"};
constexpr const char* kZeroAddends[] = {"least_exponent", "ignored"};
constexpr const char* kGroupExponents[] = {"products", "scales"};
constexpr const char* kZeroGroups[] = {"counts", "ignored"};
constexpr const char* kBitOperations[] = {"and", "xor"};
constexpr const char* kOverflows[] = {"wrap", "saturate"};
constexpr const char* kTies[] = {"even", "away"};
constexpr const char* kSaturations[] = {"none", "numbers", "all"};
constexpr const char* kRelus[] = {"none", "clamp"};
constexpr const char* kMultiplyAdds[] = {"fused", "separate"};
constexpr const char* kFarProducts[] = {"exact", "dropped", "one_ulp", "opposite_one_ulp"};
constexpr const char* kSelections[] = {"stored", "firsts_then_seconds", "in_place",
                                       "zeros_in_place"};
constexpr const char* kPairSums[] = {"exact", "wrap_16", "saturate_16"};

// Range of exponent floors in OtherValues(): the exponents of products and of f32, and some more.
constexpr int kMinFloor = -320, kMaxFloor = 128;
constexpr int kMaxTerms = 32;  // above it, OtherValues() has only powers of two

constexpr unsigned Bit(Family f) { return 1u << static_cast<int>(f); }
constexpr unsigned kChain = Bit(Family::kFmaChain);
constexpr unsigned kPairs = Bit(Family::kPairwiseSum);
constexpr unsigned kSum = Bit(Family::kFusedSum);
constexpr unsigned kScaled = Bit(Family::kScaledSum);
constexpr unsigned kExact = Bit(Family::kExactSum);
constexpr unsigned kStages = Bit(Family::kTwoStageSum);
constexpr unsigned kInteger = Bit(Family::kIntegerDot);
constexpr unsigned kConvert = Bit(Family::kConversion);
constexpr unsigned kTrees = Bit(Family::kTree);
constexpr unsigned kAligned = kSum | kScaled | kStages;
constexpr unsigned kSums = kAligned | kExact;
constexpr unsigned kFloat = kSums | kChain | kPairs;

template <auto Member>
Parameter Make(const char* name, Stage stage, unsigned families,
               std::span<const char* const> values, int min = 0, int max = 0,
               bool structural = false, unsigned unusual = 0) {
  using T = std::remove_reference_t<decltype(std::declval<Algorithm&>().*Member)>;
  return {name,
          stage,
          families,
          [](const Algorithm& a) { return static_cast<int>(a.*Member); },
          [](Algorithm& a, int value) { a.*Member = static_cast<T>(value); },
          values,
          min,
          max,
          structural,
          unusual,
          0};
}

// Every row of the tables reads its operands as they are.
template <size_t Index>
Parameter MakeReading(unsigned families) {
  constexpr const ReadingMember& kMember = kReadingMembers[Index];
  Parameter p = Make<kMember.member>(kMember.name, Stage::kProduct, families, ReadingNames(), 0, 0,
                                     false, families);
  p.operands = kMember.operands;
  return p;
}

using A = Algorithm;

// In the order of preference.
const std::vector<Parameter>& Table() {
  static const std::vector<Parameter>& table = *new std::vector<Parameter>{
      Make<&A::fraction_bits>("fraction_bits", Stage::kAlignedTerm, kAligned, {}, 1, 37),
      Make<&A::output_rounding>("output_rounding", Stage::kRounded, kFloat | kConvert, kRoundings),
      Make<&A::ties>("ties", Stage::kRounded, kConvert, kTies),
      Make<&A::saturation>("saturation", Stage::kRounded, kConvert, kSaturations),
      Make<&A::relu>("relu", Stage::kRounded, kConvert, kRelus),
      Make<&A::align_rounding>("align_rounding", Stage::kAlignedTerm, kAligned, kRoundings),
      Make<&A::sum_fraction_bits>("sum_fraction_bits", Stage::kSum, kStages, {}, 1, 37),
      Make<&A::sum_rounding>("sum_rounding", Stage::kSum, kStages, kRoundings),
      Make<&A::product_rounding>("product_rounding", Stage::kProduct, kPairs, kProductRoundings),
      Make<&A::product_exponent>("product_exponent", Stage::kAlignExponent, kAligned,
                                 kProductExponents),
      Make<&A::zero_term>("zero_term", Stage::kAlignExponent, kAligned, kZeroTerms),
      Make<&A::exponent_floor>("exponent_floor", Stage::kAlignExponent, kSum | kScaled, {},
                               kNoFloor, 300),
      Make<&A::output_fraction_bits>("output_fraction_bits", Stage::kRounded, kFloat, {}, 1, 52),
      Make<&A::overflow>("overflow", Stage::kRounded, kInteger, kOverflows),
      Make<&A::bit_operation>("bit_operation", Stage::kProduct, kInteger | kTrees, kBitOperations),
      Make<&A::terms>("terms", Stage::kProduct, kSums | kPairs | kInteger, {}, 1, 1024, true),
      Make<&A::group_terms>("group_terms", Stage::kProduct, kScaled, {}, 1, 64, true),
      Make<&A::group_exponent>("group_exponent", Stage::kAlignExponent, kScaled, kGroupExponents),
      Make<&A::zero_group>("zero_group", Stage::kAlignExponent, kScaled, kZeroGroups),
      Make<&A::order>("order", Stage::kProduct, kChain, kOrders, 0, 0, true),
      Make<&A::grouping>("grouping", Stage::kProduct, kChain | kSum | kStages, kGroupings, 0, 0,
                         true),
      Make<&A::addend_joins>("addend_joins", Stage::kSum, kChain | kSum, kAddendJoins, 0, 0, true),
      Make<&A::small_addend>("small_addend", Stage::kAlignedTerm, kStages, kSmallAddends),
      Make<&A::zero_addend>("zero_addend", Stage::kAlignExponent, kStages, kZeroAddends),
      Make<&A::product_overflow>("product_overflow", Stage::kProduct, kStages, kProductOverflows),
      Make<&A::range_overflow>("range_overflow", Stage::kRounded, kFloat, kRangeOverflows),
      Make<&A::input_subnormals>("input_subnormals", Stage::kProduct, kFloat | kConvert | kTrees,
                                 kSubnormals, 0, 0, false, kSums),
      Make<&A::addend_subnormals>("addend_subnormals", Stage::kProduct, kChain | kPairs,
                                  kSubnormals),
      Make<&A::addend_flush>("addend_flush", Stage::kProduct, kPairs, kAddendFlushes),
      Make<&A::output_subnormals>("output_subnormals", Stage::kRounded, kFloat | kConvert,
                                  kSubnormals),
      Make<&A::tininess>("tininess", Stage::kRounded, kFloat | kConvert, kTininess),
      Make<&A::addend_exponent>("addend_exponent", Stage::kAlignExponent, kSum | kScaled,
                                kAddendExponents),
      Make<&A::nan_rule>("nan_rule", Stage::kSpecial, kFloat | kConvert, kNanRules),
      Make<&A::zero_sign>("zero_sign", Stage::kRounded, kSums, kZeroSigns),
      Make<&A::multiply_add>("multiply_add", Stage::kProduct, kChain, kMultiplyAdds, 0, 0, false,
                             kChain),
      Make<&A::far_product>("far_product", Stage::kProduct, kChain, kFarProducts, 0, 0, false,
                            kChain),
      Make<&A::pair_sum>("pair_sum", Stage::kProduct, kInteger, kPairSums, 0, 0, false, kInteger),
      Make<&A::selection>("selection", Stage::kProduct, kFloat | kInteger | kTrees, kSelections, 0,
                          0, true, kFloat | kInteger | kTrees),
      MakeReading<0>(kFloat | kInteger | kTrees),
      MakeReading<1>(kFloat | kInteger | kConvert | kTrees),
      MakeReading<2>(kFloat | kInteger | kTrees),
      MakeReading<3>(kFloat | kInteger | kTrees),
      MakeReading<4>(kScaled | kTrees),
      MakeReading<5>(kScaled | kTrees),
      MakeReading<6>(kScaled | kTrees),
  };
  static_assert(std::size(kReadingMembers) == 7);
  return table;
}

// Index of the node of that name; -1 if the tree has none.
int NodeNamed(const Tree& tree, std::string_view name) {
  const auto at = std::ranges::find(tree.names, name);
  return at == tree.names.end() ? -1 : static_cast<int>(at - tree.names.begin());
}

// The parameter of a node's field. Thread-safe; never deleted.
const Parameter* NodeParameter(std::string_view node, const NodeField& field) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, Parameter>;
  const std::lock_guard lock(mutex);
  const auto [at, inserted] = known.try_emplace(std::string(node) + "." + field.name);
  if (!inserted) return &at->second;
  const auto get = [&field, name = std::string(node)](const Algorithm& a) {
    const int i = a.tree == nullptr ? -1 : NodeNamed(*a.tree, name);
    return field.get(i < 0 ? Node() : a.tree->nodes[i]);
  };
  const auto set = [&field, name = std::string(node)](Algorithm& a, int value) {
    const int i = a.tree == nullptr ? -1 : NodeNamed(*a.tree, name);
    if (i < 0) return;
    Tree tree = *a.tree;
    field.set(tree.nodes[i], value);
    a.tree = InternTree(std::move(tree));
  };
  at->second = {at->first.c_str(), field.stage, kTrees, get, set, field.values,
                field.min,         field.max,   false,  0,   0,   &field};
  return &at->second;
}

bool IsFloor(const Parameter& p) { return p.min == kNoFloor; }

// The value of a number that means none.
int AbsentValue(const Parameter& p) { return p.field != nullptr ? p.field->get(Node()) : kNoFloor; }
bool HasAbsent(const Parameter& p) {
  return p.field != nullptr ? *p.field->absent != '\0' : IsFloor(p);
}

bool IsPowerOfTwo(const Parameter& p) {
  return p.name == std::string_view("terms") || p.name == std::string_view("group_terms");
}

std::vector<int> ReadingValues(const Parameter& p, const Model& m, bool near) {
  std::vector<int> values = {static_cast<int>(Reading::kAsIs)};
  const auto first = static_cast<ReadOperand>(std::countr_zero(p.operands));
  for (const Reading r : ReadingsOf(FormatOf(m, first), near))
    values.push_back(static_cast<int>(r));
  return values;
}

std::vector<int> AllValues(const Parameter& p, const Model& m, int value) {
  return IsReading(p) ? ReadingValues(p, m, false) : OtherValues(p, value);
}

// Values that a neighbor may have. The caller skips the current one.
std::vector<int> NearValues(const Parameter& p, const Model& m, int value) {
  if (IsReading(p)) return ReadingValues(p, m, true);
  if (!p.values.empty()) return OtherValues(p, value);
  if (IsPowerOfTwo(p)) return {value / 2, value * 2};
  if (HasAbsent(p) && value == AbsentValue(p)) return {};
  if (HasAbsent(p)) return {value - 1, value + 1, AbsentValue(p)};
  return {value - 1, value + 1};
}

std::string InvalidIntegers(const Model& m) {
  for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) {
    if (!IsInteger(*f) || f->bits > 32) return "integer_dot needs integers of at most 32 bits";
  }
  if (m.algorithm.bit_operation == BitOperation::kXor && (m.a.bits != 1 || m.b.bits != 1)) {
    return "bit_operation=xor needs operands of one bit";
  }
  if (m.algorithm.pair_sum != PairSum::kExact && (m.a.bits != 8 || m.b.bits != 8 || m.k % 2 != 0)) {
    return "pair_sum of 16 bits needs pairs of products of 8-bit operands";
  }
  return m.d.is_signed ? "" : "the output of integer_dot must be signed";
}

// A reading changes members, not the name.
bool SameFormat(const Format& x, const Format& y) {
  return std::string_view(x.name) == y.name && x.min_exponent == y.min_exponent &&
         x.nonfinite == y.nonfinite && x.has_zero == y.has_zero;
}

std::string InvalidChain(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (!SameFormat(m.c, m.d)) return "fma_chain needs one format for c and d";
  if (m.a.fraction_bits > m.d.fraction_bits || m.b.fraction_bits > m.d.fraction_bits) {
    return "the inputs of fma_chain must not be wider than its output";
  }
  if (alg.grouping == Grouping::kPairsOfFour) return "fma_chain has no grouping=pairs_of_four";
  if (alg.addend_joins == AddendJoins::kStepsApart) {
    return "fma_chain has no addend_joins=steps_apart";
  }
  if (alg.grouping == Grouping::kEvenOdd && alg.addend_joins != AddendJoins::kLastAdd) {
    return "grouping=even_odd of fma_chain needs addend_joins=last_add";
  }
  return "";
}

std::string InvalidPairs(const Model& m) {
  const int terms = m.algorithm.terms;
  if (!SameFormat(m.c, m.d)) return "pairwise_sum needs one format for c and d";
  const bool exact = m.algorithm.product_rounding == ProductRounding::kExact;
  if (exact && m.a.fraction_bits + m.b.fraction_bits > 46) {
    return "pairwise_sum of exact products needs narrower inputs";
  }
  if (terms > 8 || (terms & (terms - 1)) != 0) return "terms of pairwise_sum must be 1, 2, 4 or 8";
  if (m.k % terms != 0) return "k must be a multiple of terms";
  return exact && terms < 2 ? "product_rounding=exact needs pairs of products" : "";
}

// Ensures that products and their kept bits fit 64-bit sums. Products of f32 have 48 bits.
std::string InvalidAligned(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const bool stages = alg.family == Family::kTwoStageSum;
  if (m.a.fraction_bits + m.b.fraction_bits > (stages ? 24 : 46)) {
    return "aligned sums need narrower inputs";
  }
  if (alg.grouping == Grouping::kPairsOfFour && (stages || m.k % 4 != 0 || m.k > kMaxGroupedK)) {
    return "grouping=pairs_of_four needs fused_sum and a k that is a multiple of 4";
  }
  if (alg.grouping == Grouping::kEvenOdd && !stages) return "fused_sum has no grouping=even_odd";
  if (stages && !SameFormat(m.c, m.d)) return "two_stage_sum needs one format for c and d";
  if (alg.addend_joins != AddendJoins::kFirstStep && !SameFormat(m.c, m.d)) {
    return "addend_joins=last_add and steps_apart need one format for c and d";
  }
  if (alg.addend_joins == AddendJoins::kStepsApart && (stages || alg.terms >= m.k)) {
    return "addend_joins=steps_apart needs fused_sum and several steps";
  }
  return "";
}

// Ensures that the limbs of a LongSum cover all terms, and that its 33 bits suffice for the output.
std::string InvalidExact(const Model& m) {
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  if (product_bits > 46) return "exact_sum needs narrower inputs";
  int low = m.a.min_exponent + m.b.min_exponent - product_bits;
  int high = MaxExponent(m.a) + MaxExponent(m.b) - product_bits;
  for (const Format* f : {&m.c, &m.d}) {
    low = std::min(low, f->min_exponent - f->fraction_bits);
    high = std::max(high, MaxExponent(*f) - f->fraction_bits);
  }
  const bool covered = (high - low) / 32 + 4 <= LongSum::kLimbs;
  return covered && m.d.fraction_bits <= 30 ? "" : "exact_sum needs a narrower addend and output";
}

std::string InvalidScaled(const Model& m) {
  const int group = m.algorithm.group_terms;
  if (m.a.fraction_bits + m.b.fraction_bits + 2 * m.scale.fraction_bits > 14) {
    return "scaled_sum needs narrower inputs";
  }
  if (m.k % m.scale_block != 0 || m.scale_block % group != 0 || m.algorithm.terms % group != 0) {
    return "group_terms must divide terms and the " + std::to_string(m.scale_block) +
           " products that share a scale";
  }
  // A group's exact sum, and its bits above the exponent of the scales, must fit 64 bits.
  const bool wide = MaxExponent(m.a) + MaxExponent(m.b) > 8;
  if (wide && (group > 1 || m.algorithm.group_exponent == GroupExponent::kScales)) {
    return "groups of products need inputs of a narrower range";
  }
  return "";
}

std::string InvalidConversion(const Model& m) {
  if (!IsAbsent(m.b) || !IsAbsent(m.c)) return "a conversion has no operands b and c";
  if (IsInteger(m.a) || IsInteger(m.d)) return "conversion needs floating-point formats";
  if (m.k != 1) return "a conversion has k = 1";
  return m.algorithm.nan_rule == NanRule::kPropagateBca
             ? "a conversion has a single operand, so nan_rule=propagate_bca is propagate"
             : "";
}

std::string InvalidTree(const Model& m) {
  if (m.algorithm.bit_operation == BitOperation::kXor && (m.a.bits != 1 || m.b.bits != 1)) {
    return "bit_operation=xor needs operands of one bit";
  }
  if (IsAbsent(m.a) || IsAbsent(m.b) || IsAbsent(m.d)) return "only c can be absent";
  if (m.scale_block > 0 && m.k % m.scale_block != 0) {
    return "k must be a multiple of the " + std::to_string(m.scale_block) +
           " products that share a scale";
  }
  const bool integers = IsInteger(m.d);
  for (const Format* f : {&m.a, &m.b, &m.c}) {
    if (!IsAbsent(*f) && IsInteger(*f) != integers) {
      return "integers and floating-point numbers are not added";
    }
  }
  return WhyInvalidTree(m, *m.algorithm.tree);
}

std::string InvalidFloats(const Model& m) {
  const Algorithm& alg = m.algorithm;
  for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) {
    if (IsInteger(*f)) return "a floating-point family needs floating-point formats";
  }
  if (m.d.nonfinite != Nonfinite::kIeee) return "the output format must have an infinity";
  if (alg.output_fraction_bits > m.d.fraction_bits) {
    return "output_fraction_bits must be at most " + std::to_string(m.d.fraction_bits) + " for " +
           m.d.name;
  }
  if (Propagates(alg.nan_rule) && alg.family != Family::kFmaChain) {
    return "only fma_chain can propagate a NaN";
  }
  switch (alg.family) {
    case Family::kFmaChain:
      return InvalidChain(m);
    case Family::kPairwiseSum:
      return InvalidPairs(m);
    case Family::kScaledSum:
      return InvalidScaled(m);
    case Family::kExactSum:
      return InvalidExact(m);
    default:
      return InvalidAligned(m);
  }
}

bool IsValue(const Parameter& p, int value) {
  return !p.values.empty() || (value >= p.min && value <= p.max) ||
         (HasAbsent(p) && value == AbsentValue(p));
}

// Calls `visit` for every valid one-parameter change to one of the values from `values_of`, with
// the change and the changed algorithm.
template <class ValuesOf, class Visit>
void ForEachChange(const Model& m, ValuesOf values_of, Visit visit) {
  for (const Parameter* p : ParametersOf(m.algorithm)) {
    const int value = p->get(m.algorithm);
    for (int candidate : values_of(*p, m, value)) {
      if (candidate == value || !IsValue(*p, candidate)) continue;
      Model changed = m;
      p->set(changed.algorithm, candidate);
      if (WhyInvalid(changed).empty()) visit(Change{p, candidate}, changed.algorithm);
    }
  }
}

template <class ValuesOf>
std::vector<Neighbour> DistinctChanges(const Model& m, ValuesOf values_of) {
  std::vector<Neighbour> changes;
  ForEachChange(m, values_of, [&](const Change& change, const Algorithm& changed) {
    if (WhyEquivalent(m, changed).empty()) changes.push_back({{change}, changed});
  });
  return changes;
}

}  // namespace

std::span<const Parameter> Parameters() { return Table(); }

std::vector<const Parameter*> ParametersOf(const Algorithm& a) {
  std::vector<const Parameter*> parameters;
  if (a.family == Family::kTree) {
    for (const NodeField& field : NodeFields()) {
      for (size_t i = 0; i < a.tree->nodes.size(); ++i) {
        if (Acts(*a.tree, static_cast<int>(i), field)) {
          parameters.push_back(NodeParameter(a.tree->names[i], field));
        }
      }
    }
  }
  for (const Parameter& p : Table()) {
    if (p.families & Bit(a.family)) parameters.push_back(&p);
  }
  return parameters;
}

const Parameter* FindParameter(Family family, std::string_view name) {
  const size_t dot = name.find('.');
  if (family == Family::kTree && dot != name.npos) {
    const NodeField* const field = FindNodeField(name.substr(dot + 1));
    return field == nullptr ? nullptr : NodeParameter(name.substr(0, dot), *field);
  }
  for (const Parameter& p : Table()) {
    if (name == p.name && (p.families & Bit(family))) return &p;
  }
  return nullptr;
}

bool Reads(const Algorithm& a, const Parameter& p) {
  if (p.field == nullptr) return true;
  const std::string_view name = p.name;
  return a.tree != nullptr && NodeNamed(*a.tree, name.substr(0, name.find('.'))) >= 0;
}

std::string ValueText(const Parameter& p, int value) {
  if (p.field != nullptr) return ValueText(*p.field, value);
  if (!p.values.empty()) return p.values[value];
  return IsFloor(p) && value == kNoFloor ? "none" : std::to_string(value);
}

bool ParseValue(const Parameter& p, std::string_view text, int* value) {
  if (p.field != nullptr) return ParseField(*p.field, text, value);
  for (size_t i = 0; i < p.values.size(); ++i) {
    if (text == p.values[i]) {
      *value = static_cast<int>(i);
      return true;
    }
  }
  if (!p.values.empty()) return false;
  if (IsFloor(p) && text == "none") {
    *value = kNoFloor;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= p.min &&
         *value <= p.max;
}

std::string Name(const Change& c) {
  return std::string(c.parameter->name) + "=" + ValueText(*c.parameter, c.value);
}

std::string Name(std::span<const Change> changes) {
  std::string name;
  for (const Change& c : changes) name += (name.empty() ? "" : " ") + Name(c);
  return name;
}

std::string Name(const Neighbour& n) { return Name(n.changes); }

std::optional<std::vector<Change>> ParseChanges(Family family, std::string_view text) {
  std::vector<Change> changes;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.find('=');
    Change c = {FindParameter(family, one.substr(0, equals))};
    if (c.parameter == nullptr || equals == one.npos ||
        !ParseValue(*c.parameter, one.substr(equals + 1), &c.value)) {
      return std::nullopt;
    }
    changes.push_back(c);
  }
  if (Name(changes) != text) return std::nullopt;
  return changes;
}

std::optional<std::vector<Change>> ChangesBetween(const Algorithm& from, const Algorithm& to) {
  if (from.family != to.family) return std::nullopt;
  if (from.family == Family::kTree && !DifferInFieldsOnly(*from.tree, *to.tree)) {
    return std::nullopt;
  }
  std::vector<Change> changes;
  for (const Parameter* p : ParametersOf(to)) {
    const int value = p->get(to);
    if (p->get(from) != value) changes.push_back({p, value});
  }
  return changes;
}

Neighbour NeighbourOf(const Algorithm& from, const Algorithm& to) {
  return {ChangesBetween(from, to).value(), to};
}

Algorithm WithChanges(Algorithm algorithm, std::span<const Change> changes) {
  for (const Change& c : changes) c.parameter->set(algorithm, c.value);
  return algorithm;
}

const char* Name(Family family) { return kFamilies[static_cast<int>(family)]; }

std::optional<Family> FindFamily(std::string_view name) {
  for (int family = 0; family < kFamilyCount; ++family) {
    if (name == Name(static_cast<Family>(family))) return static_cast<Family>(family);
  }
  return std::nullopt;
}

bool HasUnusual(const Algorithm& a) {
  return a.family == Family::kTree || std::ranges::any_of(Table(), [&](const Parameter& p) {
           return (p.unusual & Bit(a.family)) && p.get(a) != 0;
         });
}

std::vector<Change> AlgorithmFields(const Algorithm& a) {
  std::vector<Change> fields;
  for (const Parameter* p : ParametersOf(a)) {
    const int value = p->get(a);
    const bool omitted = value == 0 && ((p->unusual & Bit(a.family)) || IsReading(*p));
    if (!omitted) fields.push_back({p, value});
  }
  return fields;
}

std::vector<Change> SearchedFields(const Algorithm& a) {
  std::vector<Change> fields;
  for (const Parameter* p : ParametersOf(a)) {
    const int value = p->get(a);
    if (value != 0 || !IsReading(*p)) fields.push_back({p, value});
  }
  return fields;
}

namespace {

std::string WhyInvalidSparse(const Model& m) {
  if (m.sparse_group != 2 && m.sparse_group != 4 && m.sparse_group != 8) {
    return "2, 4 or 8 elements of a share a metadata word";
  }
  if (m.k % m.sparse_group != 0) return "k must be a multiple of the group of a metadata word";
  const Selection selection = m.algorithm.selection;
  const bool in_place = selection == Selection::kInPlace || selection == Selection::kZerosInPlace;
  if (in_place && m.algorithm.family == Family::kTree) {
    return "a tree adds the stored products, half of k";
  }
  if (in_place && m.algorithm.terms > 512) return "terms in place must be at most 512";
  return WhyInvalid(SelectedModel(m));
}

}  // namespace

std::string WhyInvalid(const Model& m) {
  if (m.algorithm.family == Family::kNone) return "there is no model";
  if (m.k < 1 || m.k > kMaxK) return "k must be 1.." + std::to_string(kMaxK);
  if (m.executions != 1) return WhyInvalid(OneExecution(m));
  for (const Parameter& p : Table()) {
    if (!p.values.empty() || !(p.families & Bit(m.algorithm.family))) continue;
    const int value = p.get(m.algorithm);
    if (value < p.min || value > p.max) {
      return std::string(p.name) + " must be " + std::to_string(p.min) + ".." +
             std::to_string(p.max);
    }
  }
  if (IsSparse(m)) return WhyInvalidSparse(m);
  if (m.algorithm.selection != Selection::kStored)
    return "only a sparse instruction has a selection";
  if (std::string why = WhyUnreadable(m); !why.empty()) return why;
  if (HasReadings(m)) return WhyInvalid(WithoutReadings(m));
  if (m.algorithm.family == Family::kConversion) return InvalidConversion(m);
  if (m.algorithm.family == Family::kTree) return InvalidTree(m);
  if (HasNoAddend(m)) return WhyInvalid(WithNeutralAddend(m));
  for (const Format* f : {&m.a, &m.b, &m.c, &m.d}) {
    if (IsAbsent(*f)) return "only c can be absent, or both b and c of a conversion";
  }
  if ((m.algorithm.family == Family::kScaledSum) != (m.scale_block > 0)) {
    return "scales and scaled_sum need each other";
  }
  return m.algorithm.family == Family::kIntegerDot ? InvalidIntegers(m) : InvalidFloats(m);
}

std::vector<int> OtherValues(const Parameter& p, int value) {
  std::vector<int> values;
  if (!p.values.empty()) {
    for (int v = 0; v < static_cast<int>(p.values.size()); ++v) values.push_back(v);
  } else if (IsPowerOfTwo(p)) {
    for (int v = 1; v <= p.max; v += v < kMaxTerms ? 1 : v) values.push_back(v);
  } else {
    const bool exponent = IsFloor(p) || p.max - p.min > 1000;
    const int low = exponent ? kMinFloor : p.min, high = exponent ? kMaxFloor : p.max;
    for (int v = low; v <= high; ++v) values.push_back(v);
    if (HasAbsent(p)) values.push_back(AbsentValue(p));
  }
  std::erase(values, value);
  if (!p.values.empty()) return values;
  std::ranges::stable_sort(values, {}, [&](int v) { return std::abs(v - value); });
  return values;
}

namespace {

// Its text in one line.
std::string DescribeTree(const Algorithm& a) {
  std::string text = "tree(";
  for (const Parameter& p : Table()) {
    const int value = p.get(a);
    if ((p.families & kTrees) && value != 0) text += Name(Change{&p, value}) + "; ";
  }
  for (const std::string& line : TreeLines(*a.tree)) text += line + "; ";
  text.resize(text.size() - 2);
  return text + ")";
}

}  // namespace

std::vector<Neighbour> Neighbours(const Model& m) {
  return DistinctChanges(m, [](const Parameter& p, const Model& model, int value) {
    return IsReading(p) ? std::vector<int>() : NearValues(p, model, value);
  });
}

std::vector<Neighbour> Misreadings(const Model& m, bool near) {
  return DistinctChanges(m, [near](const Parameter& p, const Model& model, int) {
    return IsReading(p) ? ReadingValues(p, model, near) : std::vector<int>();
  });
}

std::vector<Neighbour> AllNeighbours(const Model& m) { return DistinctChanges(m, NearValues); }

std::vector<Neighbour> SingleChanges(const Model& m) {
  std::vector<Neighbour> changes = AllNeighbours(m);
  const size_t near = changes.size();
  ForEachChange(m, AllValues, [&](const Change& change, const Algorithm& changed) {
    const auto known = [&](const Neighbour& n) { return n.algorithm == changed; };
    if (std::any_of(changes.begin(), changes.begin() + near, known)) return;
    if (WhyEquivalent(m, changed).empty()) changes.push_back({{change}, changed});
  });
  return changes;
}

std::vector<EquivalentNeighbour> EquivalentNeighbours(const Model& m) {
  std::vector<EquivalentNeighbour> equivalent;
  ForEachChange(m, NearValues, [&](const Change& change, const Algorithm& changed) {
    const std::string reason = WhyEquivalent(m, changed);
    if (!reason.empty()) equivalent.push_back({change, reason});
  });
  return equivalent;
}

std::string Describe(const Algorithm& a) {
  if (a.family == Family::kTree) return DescribeTree(a);
  std::string text;
  for (const Change& c : AlgorithmFields(a)) text += (text.empty() ? "(" : ", ") + Name(c);
  return Name(a.family) + text + (text.empty() ? "" : ")");
}

}  // namespace mmadiff
