#include "triage/infer/stochastic_rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "sim/absent_addend.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/infer/experiments.h"

namespace mmadiff {
namespace {

constexpr const char* kStochasticExperiment = "rounding";
constexpr int kOfGroup = 96;        // inexact questions of one term and signs
constexpr int kHalfEvery = 6;       // one in so many is halfway between its neighbors
constexpr int kExactOfGroup = 6;    // questions with representable results
constexpr int kPositionBits = 5;    // of the small term, below the last bit of the result
constexpr int kSearched = 64;       // exponents of the large term that are tried, up and down
constexpr int64_t kMinShare = 16;   // one answer in so many must be without a rule
constexpr int64_t kMinOfEnds = 16;  // inexact questions below 1/4, and above 3/4
constexpr double kDeviations = 4;   // standard deviations that a rate may be off

using Wide = unsigned __int128;

int WidthOf(Wide x) {
  const auto high = static_cast<uint64_t>(x >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(x));
}

// +-significand * 2^exponent; the significand is not 0.
Value ValueOf(bool negative, uint64_t significand, int exponent) {
  const int width = std::bit_width(significand);
  const uint64_t fraction = width == 1 ? 0 : significand << (65 - width);
  return {Value::Class::kFinite, negative, exponent + width - 1, fraction};
}

// Fraction bits up to the last one that is set; 0 for infinities and NaNs.
int FractionBitsOf(const Format& f, uint64_t word) {
  const Value v = DecodeValue(f, word);
  const bool none = v.kind != Value::Class::kFinite || v.fraction == 0;
  return none ? 0 : 64 - std::countr_zero(v.fraction);
}

// A rule may depend on the signs and on the last bit.
struct RoundingGroup {
  bool negative, subtracts, odd;  // odd: the last bit of the neighbor nearer to zero
  auto operator<=>(const RoundingGroup&) const = default;
};

struct RoundingQuestion {
  DotProductCase dot;
  uint64_t nearer, farther;  // neighbors; equal if the exact value is representable
  double position;
  RoundingGroup group;
  bool exact() const { return nearer == farther; }
};

class OneRounding {
 public:
  OneRounding(Asker& asker, const char* of, int term)
      : asker_(asker), m_(asker.op().model), term_(term) {
    result_.of = of;
    result_.terms = {term};
  }
  virtual ~OneRounding() = default;

  // The result if the rounding is stochastic. Asks nothing if `most` is too small.
  absl::StatusOr<std::optional<StochasticRounding>> Ask(int64_t most) {
    const int64_t limit = asker_.asked() + most;
    for (int bits = m_.d.fraction_bits; bits > 0;) {
      result_.fraction_bits = bits;
      questions_.clear();
      AddQuestions(bits);
      const auto count = static_cast<int64_t>(questions_.size());
      if (asker_.asked() + 2 * count > limit || !HasSpread()) return std::nullopt;
      ASSIGN_OR_RETURN(const auto words, asker_.Ask(kStochasticExperiment, Dots()));
      if (AreNeighbors(words)) return Judge(words);
      int widest = 0;
      for (const uint64_t word : words) widest = std::max(widest, FractionBitsOf(m_.d, word));
      if (widest >= bits) break;
      bits = widest;
    }
    return std::nullopt;
  }

 protected:
  virtual void AddQuestions(int bits) = 0;

  // A question whose exact result is +-significand * 2^exponent, unless a format cannot hold a
  // neighbor.
  void Add(DotProductCase dot, Wide significand, int exponent, RoundingGroup group) {
    const Operation& op = asker_.op();
    if (!WhyNotSparse(*op.instruction, dot.a, dot.metadata).empty()) return;
    const int cut = std::max(0, WidthOf(significand) - (result_.fraction_bits + 1));
    const auto kept = static_cast<uint64_t>(significand >> cut);
    const Wide rest = significand - (static_cast<Wide>(kept) << cut);
    group.odd = kept & 1;
    RoundingQuestion q = {std::move(dot), 0, 0, std::ldexp(static_cast<double>(rest), -cut), group};
    const uint64_t next = kept + (rest == 0 ? 0 : 1);
    if (EncodeValue(m_.d, ValueOf(group.negative, kept, exponent + cut), &q.nearer) &&
        EncodeValue(m_.d, ValueOf(group.negative, next, exponent + cut), &q.farther)) {
      questions_.push_back(std::move(q));
    }
  }

  uint64_t RandomBits(int count) { return random_() & LowBits(count); }

  Asker& asker_;
  const Model& m_;
  const int term_;  // k of the product
  std::mt19937_64 random_{1};
  StochasticRounding result_;

 private:
  std::vector<DotProductCase> Dots() const {
    std::vector<DotProductCase> dots;
    for (const RoundingQuestion& q : questions_) dots.push_back(q.dot);
    return dots;
  }

  bool HasSpread() const {
    const auto count = [&](double low, double high) {
      return std::ranges::count_if(questions_, [&](const RoundingQuestion& q) {
        return !q.exact() && low < q.position && q.position < high;
      });
    };
    return count(0, 0.25) >= kMinOfEnds && count(0.75, 1) >= kMinOfEnds;
  }

  bool AreNeighbors(const std::vector<uint64_t>& words) const {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] != questions_[i].nearer && words[i] != questions_[i].farther) return false;
    }
    return true;
  }

  // Asks again in the reverse order, so that a choice by the place in a batch changes.
  absl::StatusOr<std::optional<StochasticRounding>> Judge(const std::vector<uint64_t>& words) {
    std::vector<DotProductCase> dots = Dots();
    std::ranges::reverse(dots);
    ASSIGN_OR_RETURN(auto again, asker_.Repeat(dots));
    std::ranges::reverse(again);
    if (!AreNeighbors(again)) return std::nullopt;
    std::vector<DotProductCase> changed;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] != again[i]) changed.push_back(questions_[i].dot);
      Count(questions_[i], words[i]);
    }
    result_.changed = static_cast<int64_t>(changed.size());
    result_.without_rule = WithoutRule(words);
    const int64_t inexact = TotalOf(result_.positive).answers + TotalOf(result_.negative).answers;
    if (std::max(result_.changed, result_.without_rule) * kMinShare < inexact) {
      return std::nullopt;
    }
    asker_.AddFlaky(changed);
    return result_;
  }

  void Count(const RoundingQuestion& q, uint64_t word) {
    if (q.exact()) {
      ++result_.exact;
      return;
    }
    const int at = q.position < 0.25    ? 0
                   : q.position < 0.5   ? 1
                   : q.position == 0.5  ? 2
                   : q.position <= 0.75 ? 3
                                        : 4;
    (q.group.negative ? result_.negative : result_.positive)[at].Add(
        {1, word == q.farther ? 1 : 0, q.position, q.position * (1 - q.position)});
  }

  // A rule is the position in each group from which on the farther neighbor is the answer.
  int64_t WithoutRule(const std::vector<uint64_t>& words) const {
    struct Answers {
      int64_t nearer = 0, farther = 0;
    };
    std::map<RoundingGroup, std::map<double, Answers>> groups;
    for (size_t i = 0; i < words.size(); ++i) {
      const RoundingQuestion& q = questions_[i];
      if (q.exact()) continue;
      Answers& answers = groups[q.group][q.position];
      ++(words[i] == q.farther ? answers.farther : answers.nearer);
    }
    int64_t sum = 0;
    for (const auto& [group, positions] : groups) {
      int64_t wrong = 0;  // if all answers were the farther neighbor
      for (const auto& [position, answers] : positions) wrong += answers.nearer;
      int64_t least = wrong;
      for (const auto& [position, answers] : positions) {
        wrong += answers.farther - answers.nearer;
        least = std::min(least, wrong);
      }
      sum += least;
    }
    return sum;
  }

  std::vector<RoundingQuestion> questions_;
};

// A large term whose last bit is at most that of the result, and a small one below that bit.
class Sums : public OneRounding {
 public:
  Sums(Asker& asker, int term)
      : OneRounding(
            asker,
            HasNoAddend(asker.op().model) ? "product k0 plus one product" : "c plus one product",
            term),
        large_(HasNoAddend(m_) ? 0 : m_.k),
        large_bits_(HasNoAddend(m_) ? m_.a.fraction_bits : m_.c.fraction_bits),
        position_bits_(std::min(kPositionBits, m_.a.fraction_bits + 1)) {}

 protected:
  void AddQuestions(int bits) override {
    if (IsAbsent(m_.b) || term_ == large_) return;  // a conversion, or the large term
    const std::optional<int> exponent = LargeExponent(bits);
    for (int signs = 0; exponent && signs < 4; ++signs) {
      AddGroup({(signs & 1) != 0, (signs & 2) != 0, false}, *exponent, bits);
    }
  }

 private:
  // Nearest to 0 such that the formats hold every small term.
  std::optional<int> LargeExponent(int bits) const {
    for (int distance = 0; distance <= kSearched; ++distance) {
      for (const int exponent : {distance, -distance}) {
        const int last = exponent - bits - position_bits_;
        DotProductCase dot = NeutralDotProduct(m_);
        const bool fits = PutTerm(m_, term_, ValueOf(false, 1, last), dot) &&
                          PutTerm(m_, term_, ValueOf(false, 3, exponent - bits), dot) &&
                          PutTerm(m_, large_, ValueOf(false, 3, exponent), dot);
        if (fits) return exponent;
      }
    }
    return std::nullopt;
  }

  void AddGroup(const RoundingGroup& group, int exponent, int bits) {
    const int positions = (1 << position_bits_) - 1;
    for (int i = 0; i < kOfGroup; ++i) {
      const bool half = i % kHalfEvery == kHalfEvery - 1;
      AddSum(group, exponent, bits, half ? (positions + 1) / 2 : 1 + i % positions);
    }
    for (int i = 0; i < kExactOfGroup; ++i) {
      AddSum(group, exponent, bits, (1 + i % 3) << position_bits_);
    }
  }

  void AddSum(const RoundingGroup& group, int exponent, int bits, uint64_t small) {
    const int width = std::min(large_bits_, bits);
    const uint64_t large = (1ull << width | RandomBits(width) | 1ull << (width / 2))
                           << (bits - width + position_bits_);
    const int last = exponent - bits - position_bits_;
    DotProductCase dot = NeutralDotProduct(m_);
    const bool subtracts = group.subtracts;
    if (PutTerm(m_, large_, ValueOf(group.negative, large, last), dot) &&
        PutTerm(m_, term_, ValueOf(group.negative != subtracts, small, last), dot)) {
      Add(std::move(dot), subtracts ? large - small : large + small, last, group);
    }
  }

  const int large_, large_bits_, position_bits_;
};

// A product that has more bits than the result, or a converted operand.
class Products : public OneRounding {
 public:
  Products(Asker& asker, int term)
      : OneRounding(asker, IsAbsent(asker.op().model.b) ? "a conversion" : "one product alone",
                    term) {}

 protected:
  void AddQuestions(int bits) override {
    const int of_b = IsAbsent(m_.b) ? 0 : m_.b.fraction_bits;
    for (const bool negative : {false, true}) {
      for (int i = 0; i < 2 * kOfGroup; ++i) AddProduct(negative, m_.a.fraction_bits, of_b);
      for (int i = 0; i < kExactOfGroup; ++i) {
        AddProduct(negative, std::min(m_.a.fraction_bits, bits / 2), std::min(of_b, bits / 2 - 1));
      }
    }
  }

 private:
  // +-1.x * 1.y with random x of `of_a` bits and y of `of_b` bits.
  void AddProduct(bool negative, int of_a, int of_b) {
    if (of_b < 0) return;
    const uint64_t a = 1ull << of_a | RandomBits(of_a), b = 1ull << of_b | RandomBits(of_b);
    DotProductCase dot = NeutralDotProduct(m_);
    if (!EncodeValue(m_.a, ValueOf(negative, a, -of_a), &dot.a[term_])) return;
    if (!IsAbsent(m_.b) && !EncodeValue(m_.b, ValueOf(false, b, -of_b), &dot.b[term_])) return;
    Add(std::move(dot), static_cast<Wide>(a) * b, -of_a - of_b, {negative, false, false});
  }
};

// k of the products that are queried, each alone: all of few, some of many.
std::vector<int> AskedTerms(int k) {
  if (k <= 4) {
    std::vector<int> all(k);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  return {0, 1, k / 2, k - 1};
}

void Merge(const StochasticRounding& other, StochasticRounding& into) {
  into.terms.insert(into.terms.end(), other.terms.begin(), other.terms.end());
  for (size_t i = 0; i < into.positive.size(); ++i) {
    into.positive[i].Add(other.positive[i]);
    into.negative[i].Add(other.negative[i]);
  }
  into.exact += other.exact;
  into.changed += other.changed;
  into.without_rule += other.without_rule;
}

template <class Questions>
absl::Status AskOfEachTerm(Asker& asker, int64_t most, std::vector<StochasticRounding>& found) {
  const int64_t limit = asker.asked() + most;
  std::vector<StochasticRounding> of_terms;
  const std::vector<int> terms = AskedTerms(asker.op().model.k);
  for (const int term : terms) {
    Questions questions(asker, term);
    ASSIGN_OR_RETURN(auto rounding, questions.Ask(limit - asker.asked()));
    if (rounding) of_terms.push_back(*std::move(rounding));
  }
  // Terms that round alike are one result.
  for (StochasticRounding& of_term : of_terms) {
    const auto alike = std::ranges::find_if(found, [&](const StochasticRounding& r) {
      return r.of == of_term.of && r.fraction_bits == of_term.fraction_bits;
    });
    if (alike == found.end()) {
      found.push_back(std::move(of_term));
    } else {
      Merge(of_term, *alike);
    }
  }
  return absl::OkStatus();
}

std::string PercentText(int64_t part, int64_t of) {
  return absl::StrCat((100 * part + of / 2) / std::max<int64_t>(1, of), "%");
}

std::string RatesText(const RoundingRates& rates) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].answers == 0) continue;
    parts.push_back(absl::StrCat(kRoundingPositions[i].words, " ",
                                 PercentText(rates[i].farther, rates[i].answers), " of ",
                                 rates[i].answers));
  }
  return absl::StrJoin(parts, ", ");
}

bool IsProportional(const RoundingRates& rates) {
  return std::ranges::all_of(rates, [](const RoundingRate& r) {
    const double off = static_cast<double>(r.farther) - r.positions;
    return std::abs(off) <= kDeviations * std::sqrt(r.variance);
  });
}

bool IsConstant(const RoundingRates& rates) {
  const RoundingRate all = TotalOf(rates);
  const double rate =
      static_cast<double>(all.farther) / static_cast<double>(std::max<int64_t>(1, all.answers));
  return std::ranges::all_of(rates, [&](const RoundingRate& r) {
    const auto count = static_cast<double>(r.answers);
    const double off = static_cast<double>(r.farther) - rate * count;
    return std::abs(off) <= kDeviations * std::sqrt(rate * (1 - rate) * count);
  });
}

std::string ProbabilityText(const RoundingRates& rates) {
  const bool proportional = IsProportional(rates), constant = IsConstant(rates);
  if (proportional == constant) return "";
  return proportional ? ": consistent with a probability equal to the position"
                      : ": consistent with the same probability at every position";
}

RoundingRates BothOf(const StochasticRounding& r) {
  RoundingRates both = r.positive;
  for (size_t i = 0; i < both.size(); ++i) both[i].Add(r.negative[i]);
  return both;
}

// Whether the rates of both signs are alike.
bool IsSymmetric(const StochasticRounding& r) {
  if (!IsConstant({TotalOf(r.positive), TotalOf(r.negative)})) return false;
  for (size_t i = 0; i < r.positive.size(); ++i) {
    if (!IsConstant({r.positive[i], r.negative[i]})) return false;
  }
  return true;
}

}  // namespace

void RoundingRate::Add(const RoundingRate& other) {
  answers += other.answers;
  farther += other.farther;
  positions += other.positions;
  variance += other.variance;
}

RoundingRate TotalOf(const RoundingRates& rates) {
  RoundingRate total;
  for (const RoundingRate& r : rates) total.Add(r);
  return total;
}

absl::StatusOr<std::vector<StochasticRounding>> AskStochasticRounding(Asker& asker, int64_t most) {
  std::vector<StochasticRounding> found;
  const Model& m = asker.op().model;
  if (IsInteger(m.d) || IsInteger(m.a)) return found;
  const int64_t limit = asker.asked() + most;
  RETURN_IF_ERROR(AskOfEachTerm<Sums>(asker, most, found));
  RETURN_IF_ERROR(AskOfEachTerm<Products>(asker, limit - asker.asked(), found));
  return found;
}

std::vector<std::string> StochasticLines(const StochasticRounding& r) {
  const RoundingRates both = BothOf(r);
  const RoundingRate all = TotalOf(both);
  std::vector<std::string> lines = {absl::StrCat(
      r.changed == 0 ? "stochastic, or by an unknown rule: " : "stochastic: ", r.of, " (",
      absl::StrJoin(r.terms, ", ", [](std::string* out, int k) { absl::StrAppend(out, "k", k); }),
      ") is rounded to ", r.fraction_bits, " fraction bits; each of ", all.answers,
      " inexact results is one of the two neighbors of the exact value, and ", all.farther,
      " are the neighbor farther from zero; ",
      r.exact == 0 ? "no exactly representable result was queried"
                   : absl::StrCat("all ", r.exact, " exactly representable results are exact"))};
  lines.push_back(
      r.changed == 0
          ? absl::StrCat("repeated questions give the same neighbor: a hash or a generator "
                         "chooses it, or other bits of the operands; any rule of the exact value's "
                         "sign, last bit and position misses at least ",
                         r.without_rule, " of them")
          : absl::StrCat("when asked again, ", r.changed, " of ", all.answers,
                         " questions gave the other neighbor"));
  const auto add = [&](const char* sign, const RoundingRates& rates) {
    lines.push_back(absl::StrCat("rate of the neighbor farther from zero", sign,
                                 " (by position: 0 is the nearer neighbor, 1 the farther): ",
                                 RatesText(rates), ProbabilityText(rates)));
  };
  if (IsSymmetric(r)) {
    add("", both);
  } else {
    add(" for positive results", r.positive);
    add(" for negative results", r.negative);
  }
  return lines;
}

}  // namespace mmadiff
