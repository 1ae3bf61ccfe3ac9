#include "triage/infer/shared_exponent.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

constexpr const char* kExponentExperiment = "shared exponents";
constexpr int kMaxGap = 40;     // between the large and the small element, in bits
constexpr int kMinGap = 4;      // formats with less range show nothing
constexpr int kRaised = 1;      // the other operand's second size, in bits above the first
constexpr int kAboveZeros = 4;  // bits from the exponent of a zero product to the small product

// The large element is at `large`, the small one at `small`, `gap` bits below it. If `last` is not 0, the small
// element has a second one so many bits below the first.
struct LargeAndSmall {
  int large, small, gap, last = 0;
};

class OperandExponents {
 public:
  OperandExponents(Asker& asker, bool of_b)
      : asker_(asker),
        m_(asker.op().model),
        of_b_(of_b),
        own_(of_b ? m_.b : m_.a),
        other_(of_b ? m_.a : m_.b) {
    small_ = std::max(own_.min_exponent, std::min(0, MaxExponent(own_)) - kMaxGap / 2);
    max_gap_ = std::min(kMaxGap, MaxExponent(own_) - small_);
    const int zero = other_.min_exponent + kAboveZeros;  // exponent of the zero, at most
    factor_ = std::max(other_.min_exponent, std::min(-small_, MaxExponent(other_) - kRaised));
    max_gap_ = std::min(max_gap_, factor_ - zero);
  }

  absl::StatusOr<std::optional<SharedExponent>> Ask(int64_t most) {
    if (m_.k < 2 || max_gap_ < kMinGap || Questions() > most) return std::nullopt;
    ASSIGN_OR_RETURN(const std::vector<bool> beside, AreChanged(Neighbors()));
    const auto first = std::ranges::find(beside, true);
    if (first == beside.end()) return std::nullopt;
    const int large = static_cast<int>(first - beside.begin());
    ASSIGN_OR_RETURN(const std::optional<int> kept, KeptBits(large));
    const std::optional<int> group = GroupOf(beside);
    if (!kept || !group) return std::nullopt;
    ASSIGN_OR_RETURN(const bool holds, Holds(*group, *kept));
    if (!holds) return std::nullopt;
    return SharedExponent{of_b_, *group, *kept};
  }

 private:
  // Each pair takes four.
  int64_t Questions() const { return 4ll * (m_.k + max_gap_ + 8 * m_.k); }

  std::vector<LargeAndSmall> Neighbors() const {
    std::vector<LargeAndSmall> pairs;
    for (int k = 0; k + 1 < m_.k; ++k) pairs.push_back({k, k + 1, max_gap_});
    return pairs;
  }

  // The number of consecutive elements between those whose neighbors do not change each other.
  std::optional<int> GroupOf(const std::vector<bool>& beside) const {
    const auto end = std::ranges::find(beside, false);
    const int group = static_cast<int>(end - beside.begin()) + 1;
    for (int k = 0; k + 1 < m_.k; ++k) {
      if (beside[k] != ((k + 1) % group != 0)) return std::nullopt;
    }
    return group;
  }

  absl::StatusOr<std::optional<int>> KeptBits(int large) {
    std::vector<LargeAndSmall> pairs;
    for (int gap = 0; gap <= max_gap_; ++gap) pairs.push_back({large, large + 1, gap});
    ASSIGN_OR_RETURN(const std::vector<bool> changed, AreChanged(pairs));
    const auto first = std::ranges::find(changed, true);
    const bool all = std::all_of(first, changed.end(), [](bool c) { return c; });
    if (!all || first == changed.begin() || first == changed.end()) return std::nullopt;
    return static_cast<int>(first - changed.begin()) - 1;
  }

  // Whether every element changes the first and the last of its group, also where only their last bit is
  // too small, no element of the groups beside it, and none within `kept` bits.
  absl::StatusOr<bool> Holds(int group, int kept) {
    std::vector<LargeAndSmall> pairs;
    std::vector<bool> wanted;
    const auto add = [&](int large, int small, int gap, bool changes, int last = 0) {
      if (small < 0 || small >= m_.k || small == large) return;
      pairs.push_back({large, small, gap, last});
      wanted.push_back(changes);
    };
    const int bits = std::min(own_.fraction_bits, kept);  // that an element alone keeps
    for (int large = 0; large < m_.k; ++large) {
      const int first = large - large % group, last = std::min(first + group, m_.k) - 1;
      for (const int small : {first, last}) {
        add(large, small, kept, false);
        add(large, small, kept + 1, true);
        if (bits > 0) add(large, small, kept + 1 - bits, true, bits);
      }
      add(large, first - 1, max_gap_, false);
      add(large, last + 1, max_gap_, false);
    }
    ASSIGN_OR_RETURN(const std::vector<bool> changed, AreChanged(pairs));
    return changed == wanted;
  }

  // Whether the large element changes the product of the small one. Without it the product must be exact,
  // and the other operand's two sizes must agree.
  absl::StatusOr<std::vector<bool>> AreChanged(const std::vector<LargeAndSmall>& pairs) {
    std::vector<DotProductCase> dots;
    for (const LargeAndSmall& p : pairs) {
      for (const int factor : {factor_, factor_ + kRaised}) {
        dots.push_back(Put(p, factor, false));
        dots.push_back(Put(p, factor, true));
      }
    }
    ASSIGN_OR_RETURN(const auto words, asker_.Ask(kExponentExperiment, dots));
    std::vector<bool> changed;
    for (size_t i = 0; i < words.size(); i += 4) {
      const LargeAndSmall& p = pairs[i / 4];
      const bool exact =
          words[i] == Product(p, factor_) && words[i + 2] == Product(p, factor_ + kRaised);
      changed.push_back(exact && words[i + 1] != words[i] && words[i + 3] != words[i + 2]);
    }
    return changed;
  }

  // The small element's value, times 2^factor.
  static Value SmallValue(const LargeAndSmall& p, int exponent) {
    return {Value::Class::kFinite, false, exponent, p.last == 0 ? 0 : 1ull << (64 - p.last)};
  }
  uint64_t Product(const LargeAndSmall& p, int factor) const {
    uint64_t word = 0;
    (void)EncodeValue(m_.d, SmallValue(p, small_ + factor), &word);
    return word;
  }

  DotProductCase Put(const LargeAndSmall& p, int factor, bool with_large) const {
    DotProductCase dot = NeutralDotProduct(m_);
    auto& own = of_b_ ? dot.b : dot.a;
    auto& other = of_b_ ? dot.a : dot.b;
    (void)EncodeValue(own_, SmallValue(p, small_), &own[p.small]);
    (void)EncodePowerOfTwo(other_, false, factor, &other[p.small]);
    if (with_large) (void)EncodePowerOfTwo(own_, false, small_ + p.gap, &own[p.large]);
    return dot;
  }

  Asker& asker_;
  const Model& m_;
  const bool of_b_;
  const Format &own_, &other_;
  int small_, max_gap_, factor_;  // exponents of the small element and of its factor
};

}  // namespace

absl::StatusOr<std::vector<SharedExponent>> AskSharedExponents(Asker& asker, int64_t most) {
  std::vector<SharedExponent> found;
  const Model& m = asker.op().model;
  if (IsInteger(m.a) || IsInteger(m.b) || IsInteger(m.d)) return found;
  if (asker.op().instruction->sparse()) return found;
  for (const bool of_b : {false, true}) {
    ASSIGN_OR_RETURN(const auto shared, OperandExponents(asker, of_b).Ask(most / 2));
    if (shared) found.push_back(*shared);
  }
  return found;
}

std::string SharedExponentText(const SharedExponent& s) {
  return absl::StrCat(s.of_b ? "b" : "a", ": each ", s.group,
                      " consecutive elements share an exponent, about ", s.kept_bits + 1,
                      " bits and a sign each: an element more than ", s.kept_bits,
                      " bits below the largest one of its group loses bits, even if the product of "
                      "the largest is zero");
}

}  // namespace mmadiff
