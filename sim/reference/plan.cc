#include "sim/reference/plan.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>

#include "sim/operation.h"
#include "sim/reference/reference.h"
#include "sim/reference/step.h"

namespace mmadiff {
namespace reference {
namespace {

using Ks = std::vector<int64_t>;
using Tokens = std::vector<std::string>;

Tokens TokensOf(const std::string& text) {
  std::istringstream stream(text);
  Tokens tokens;
  for (std::string token; stream >> token;) tokens.push_back(token);
  return tokens;
}

std::vector<std::string> SplitAt(char separator, std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool Has(const Tokens& tokens, std::string_view token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

// The token that follows `token`; empty if there is none.
std::string After(const Tokens& tokens, std::string_view token) {
  const auto at = std::ranges::find(tokens, token);
  return at == tokens.end() || at + 1 == tokens.end() ? "" : at[1];
}

int64_t NumberAfter(const Tokens& tokens, std::string_view token) {
  const std::string number = After(tokens, token);
  return number.empty() ? 0 : std::stoll(number);
}

const Format& FormatNamed(std::string_view name) {
  for (const Format* f : kFormats) {
    if (f->name == name) return *f;
  }
  std::abort();
}

bool SameName(const Format& f, const Format& g) { return std::string_view(f.name) == g.name; }

// A plan's text, taken apart.
struct PlanLine {
  explicit PlanLine(std::string_view text);

  const Operation* operation;
  bool from_c, unfused;
  int64_t cut = 0, residue = 0;
  std::vector<std::pair<Tokens, Tokens>> stages;  // ranges, join
  std::string result = "sum";                     // without blanks
  std::string format;
};

PlanLine::PlanLine(std::string_view text) {
  const std::vector<std::string> parts = SplitAt('|', text);
  const Tokens first = TokensOf(parts.front());
  operation = FindOperation(first.front());
  from_c = After(first, "from") == "c";
  unfused = Has(first, "unfused");
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::vector<std::string> sides = SplitAt(':', parts[i]);
    const Tokens left = TokensOf(sides.front());
    if (left.front() == "cut") {
      cut = NumberAfter(left, "cut");
    } else if (left.front() == "residue") {
      residue = NumberAfter(left, "residue");
    } else if (sides.size() < 2 && parts[i].find("sum") != std::string::npos) {
      result.clear();
      for (const std::string& token : left) result += token;
    } else {
      stages.emplace_back(left, sides.size() < 2 ? Tokens{} : TokensOf(sides.at(1)));
    }
  }
  format = TokensOf(parts.back()).front();
}

int64_t Ceiling(int64_t x, int64_t unit) { return (x + unit - 1) / unit; }

// The number of the range that takes position p of n.
int64_t EveryNumber(const Tokens& range, int64_t p, int64_t n) {
  const int64_t size = NumberAfter(range, "every"), unit = NumberAfter(range, "halved");
  if (Has(range, "fit") && n > size && n < 2 * size) return p / (n / 2);
  if (Has(range, "last")) {
    // Whole ranges as long as more than the longest last range is left.
    const int64_t last = NumberAfter(range, "last");
    const int64_t whole = n <= last ? 0 : Ceiling(n - last, size);
    return std::min(p / size, whole);
  }
  if (!Has(range, "halved")) return p / size;
  const int64_t full = std::max<int64_t>(n / size - 1, 0), left = n - full * size;
  if (p < full * size || left <= size) return p / size;
  const int64_t half = unit == 0 ? Ceiling(left, 2) : Ceiling(left / 2, unit) * unit;
  return full + (p - full * size >= half ? 1 : 0);
}

int64_t IntoNumber(const Tokens& range, int64_t p, int64_t n) {
  const int64_t count = NumberAfter(range, "into"), size = NumberAfter(range, "of");
  const int64_t block = p / size, whole = n / size, each = whole / count;
  if (range.back() == "floor") return each == 0 ? count - 1 : std::min(block / each, count - 1);
  if (range.back() != "even") return block / Ceiling(Ceiling(n, size), count);
  // The first `longer` ranges have a block more; the rest after the last block joins the last range.
  const int64_t longer = whole % count;
  if (block < longer * (each + 1)) return block / (each + 1);
  return each == 0 ? longer : std::min(longer + (block - longer * (each + 1)) / each, count - 1);
}

int64_t RangeNumber(const Tokens& range, int64_t p, int64_t n) {
  const std::string& kind = range.front();
  if (kind == "every") return EveryNumber(range, p, n);
  if (kind == "into") return IntoNumber(range, p, n);
  if (kind == "strided") {
    const int64_t unrolled = NumberAfter(range, "unrolled");
    if (unrolled != 0 && p >= n - n % unrolled) return 0;
    return p / NumberAfter(range, "of") % NumberAfter(range, "strided");
  }
  return std::count_if(range.begin() + 1, range.end(),
                       [p](const std::string& k) { return std::stoll(k) <= p; });
}

std::vector<Ks> Ranges(const Tokens& range, const Ks& ks) {
  std::map<int64_t, Ks> by_number;
  for (size_t p = 0; p < ks.size(); ++p) {
    by_number[RangeNumber(range, p, ks.size())].push_back(ks[p]);
  }
  std::vector<Ks> ranges;
  for (const auto& [number, of_range] : by_number) ranges.push_back(of_range);
  return ranges;
}

// The word of `f` with the same value, sign included.
uint64_t ExactWord(const Format& f, const Number& x) {
  for (uint64_t word = 0; word < uint64_t{1} << f.bits; ++word) {
    const Number y = Read(f, word);
    const bool equal =
        y.kind == Class::kNan || y.kind == Class::kInfinity
            ? y.kind == x.kind
            : Sign(y.value() + Dyadic{-x.significand, x.ulp}) == 0 && !IsNan(x) && !IsInfinite(x);
    if (equal && x.negative == y.negative) return word;
  }
  std::abort();
}

// The nearest word of FP8, of two the even one; the largest beyond it.
uint64_t ToFp8(const Format& to, const Number& x) {
  if (IsNan(x)) return 0x7f;
  const long magnitude = std::abs(x.significand);
  uint64_t nearest = 0;
  for (uint64_t word = 1; word < 0x80; ++word) {
    const Number above = Read(to, word), below = Read(to, word - 1);
    if (IsNan(above) || IsInfinite(above)) break;
    // Twice the distance from the middle of the two.
    const Dyadic middle = above.value() + below.value();
    const int side =
        Sign(Dyadic{magnitude, x.ulp + 1} + Dyadic{-middle.significand, middle.exponent});
    if (IsInfinite(x) || side > 0 || (side == 0 && word % 2 == 0)) nearest = word;
  }
  return (x.negative ? 0x80 : 0) | nearest;
}

// Rounds to nearest even; a NaN stays itself or becomes the rule's.
uint64_t Converted(const Format& from, const Format& to, NanRule rule, uint64_t word) {
  const Number x = Read(from, word);
  if (to.bits == 8) return ToFp8(to, x);
  const bool propagates = rule == NanRule::kPropagate || rule == NanRule::kPropagateBca;
  if (IsNan(x)) return propagates ? QuietedNan(to, x) : DefaultNan(to, rule);
  if (IsInfinite(x)) return InfiniteWord(to, x.negative);
  if (IsZero(x)) return ZeroWord(to, x.negative);
  Algorithm nearest = {};
  nearest.output_fraction_bits = to.fraction_bits;
  bool zero = false;
  return RoundedWord(to, nearest, x.value(), &zero);
}

// A word of an operand as one of the operation's.
uint64_t Widened(const Format& from, const Format& to, uint64_t word) {
  const bool to_tf32 = from.bits == 32 && to.bits == 32 && SameName(from, kF32);
  if (SameName(from, to) || to_tf32) return word;
  if (to.bits <= 8 && to.nonfinite != Nonfinite::kIeee) return ExactWord(to, Read(from, word));
  return Converted(from, SameName(to, kTf32Amx) ? kTf32 : to, NanRule::kPropagate, word);
}

// The NaN rule of joins: that of the architecture's multiply-add, or else the operation's.
NanRule NanRuleOfJoins(const Operation& op) {
  const Format& d = op.model.d;
  const std::string arch(op.arch());
  const Operation* fma =
      FindOperation(arch == "x86" ? (SameName(d, kF64) ? "x86/vfmadd231sd" : "x86/vfmadd231ss")
                                  : arch + "/fma.rn." + d.name);
  const bool fits = fma != nullptr && SameName(fma->model.d, d);
  return (fits ? fma->model : op.model).algorithm.nan_rule;
}

class PlanElement {
 public:
  PlanElement(const PlanLine& plan, const Matrices& matrices, int64_t i, int64_t j)
      : plan_(plan),
        q_(matrices),
        one_(plan.operation->model),
        d_(one_.d),
        nan_rule_(NanRuleOfJoins(*plan.operation)),
        i_(i),
        j_(j) {}

  uint64_t Word() const {
    Ks ks(plan_.cut == 0 ? q_.k : q_.k - q_.k % plan_.cut);
    std::iota(ks.begin(), ks.end(), 0);
    const uint64_t sum = Finished(Sum(plan_.stages.size(), ks));
    const Format& format = FormatNamed(plan_.format);
    return SameName(d_, format) ? sum : Converted(d_, format, nan_rule_, sum);
  }

 private:
  uint64_t Sum(size_t stages, const Ks& ks) const {
    if (stages == 0 || (ks.empty() && !AddsToC(stages))) {
      return Executions(ks, plan_.from_c ? Load(q_.c, i_, j_) : 0);
    }
    const auto& [range, join] = plan_.stages[stages - 1];
    if (range.front() == "tail") return WithTail(stages, range, ks);
    const std::vector<Ks> ranges = Ranges(range, ks);
    std::vector<uint64_t> parts;
    for (const Ks& own : ranges) parts.push_back(Rounded(join, "as", Sum(stages - 1, own)));
    if (d_.exponent_bits == 0) {
      return std::accumulate(parts.begin(), parts.end(), uint64_t{0}) & ((1ull << d_.bits) - 1);
    }
    const int64_t places = range.front() == "strided" ? NumberAfter(range, "strided") : 0;
    if (join.front() == "tree") return Tree(join, Places(parts, places));
    if (join.front() == "pairs") return Pairs(join, Places(parts, places));
    return InOrder(join, ranges, parts);
  }

  static Model Unfused(Model m) {
    m.algorithm.family = Family::kPairwiseSum;
    const NanRule rule = m.algorithm.nan_rule;
    if (rule == NanRule::kPropagate || rule == NanRule::kPropagateBca) {
      m.algorithm.nan_rule = NanRule::kQuietPositive;
    }
    return m;
  }

  uint64_t WithTail(size_t stages, const Tokens& tail, const Ks& ks) const {
    const auto first = ks.end() - ks.size() % NumberAfter(tail, "tail");
    const uint64_t sum = Sum(stages - 1, Ks(ks.begin(), first));
    return Steps(Ks(first, ks.end()), sum, plan_.unfused || Has(tail, "unfused"));
  }

  // The sums of lanes; a lane without products has none.
  using Lanes = std::vector<std::optional<uint64_t>>;
  static Lanes Places(const std::vector<uint64_t>& parts, int64_t places) {
    Lanes lanes(parts.begin(), parts.end());
    lanes.resize(std::max<size_t>(places, lanes.size()));
    return lanes;
  }
  void AddLane(const Tokens& join, const std::optional<uint64_t>& from,
               std::optional<uint64_t>& to) const {
    if (from) to = to ? Rounded(join, "held", Add(*to, *from)) : *from;
  }

  uint64_t InOrder(const Tokens& join, const std::vector<Ks>& ranges,
                   const std::vector<uint64_t>& parts) const {
    if (parts.empty()) return Rounded(join, "held", First(join));
    const bool times_alpha = join.front() == "add" && Has(join, "alpha");
    const auto operand = [&](size_t i) {
      return times_alpha ? Times(parts[i], q_.alpha) : parts[i];
    };
    const std::string from = After(join, "from");
    const bool add = join.front() == "add";
    uint64_t sum = from.empty() && add && !times_alpha ? parts[0]
                   : from == "fma" ? MultiplyAdd(Load(q_.c, i_, j_), q_.beta, operand(0))
                                   : First(join);
    const bool has_first = from == "fma" || (from.empty() && add && !times_alpha);
    sum = Rounded(join, "held", sum);
    for (size_t i = has_first ? 1 : 0; i < parts.size(); ++i) {
      sum = Rounded(join, "held", Joined(join, ranges[i].front(), operand(i), sum));
    }
    return sum;
  }

  // What a join begins with before any part.
  uint64_t First(const Tokens& join) const {
    const std::string from = After(join, "from");
    if (from == "c") return Load(q_.c, i_, j_);
    return from == "beta*c" || from == "fma" ? Times(Load(q_.c, i_, j_), q_.beta) : 0;
  }

  // Whether the stage, or one before its tails, begins with C.
  bool AddsToC(size_t stages) const {
    while (stages > 0 && plan_.stages[stages - 1].first.front() == "tail") --stages;
    if (stages == 0) return false;
    const std::string from = After(plan_.stages[stages - 1].second, "from");
    return !from.empty() && from != "zero";
  }

  uint64_t Joined(const Tokens& join, int64_t k, uint64_t part, uint64_t sum) const {
    if (join.front() == "add") return Add(part, sum);
    if (join.at(1) == "alpha") return MultiplyAdd(part, q_.alpha, sum);
    const uint64_t a = ScaleAt(q_.scale_a, i_, k), b = ScaleAt(q_.scale_b, j_, k);
    if (join.at(1) == "(a*b)") return MultiplyAdd(Times(a, b), part, sum);
    return MultiplyAdd(Times(a, part), b, sum);
  }

  uint64_t Tree(const Tokens& join, Lanes lanes) const {
    while (lanes.size() > 1) {
      const size_t half = (lanes.size() + 1) / 2;
      for (size_t i = 0; i + half < lanes.size(); ++i) AddLane(join, lanes[i + half], lanes[i]);
      lanes.resize(half);
    }
    return *lanes.front();
  }

  // Lanes at these distances, or at 1, 2, 4 and so on, become one.
  uint64_t Pairs(const Tokens& join, Lanes lanes) const {
    std::vector<size_t> distances;
    for (size_t i = 1; i < join.size() && isdigit(join[i][0]); ++i) {
      distances.push_back(std::stoul(join[i]));
    }
    if (distances.empty()) {
      for (size_t d = 1; d < lanes.size(); d *= 2) distances.push_back(d);
    }
    for (const size_t d : distances) {
      for (size_t i = 0; i + d < lanes.size(); ++i) {
        if ((i & d) != 0) continue;
        AddLane(join, lanes[i + d], lanes[i]);
        lanes[i + d].reset();
      }
    }
    return *lanes.front();
  }

  uint64_t Executions(const Ks& ks, uint64_t d) const {
    const int64_t n = std::ssize(ks), residue = plan_.residue;
    int64_t first = 0;
    if (residue != 0) first = std::min(n, n % residue == 0 ? residue : n % residue);
    d = Steps(Ks(ks.begin(), ks.begin() + first), d, plan_.unfused);
    return Steps(Ks(ks.begin() + first, ks.end()), d, plan_.unfused);
  }

  // One execution after the other.
  uint64_t Steps(const Ks& ks, uint64_t d, bool unfused) const {
    for (auto at = ks.begin(); at != ks.end();) {
      const auto end = at + std::min<int64_t>(one_.k, ks.end() - at);
      d = OneExecution(Ks(at, end), d, unfused);
      at = end;
    }
    return d;
  }

  uint64_t OneExecution(const Ks& ks, uint64_t c, bool unfused) const {
    DotProductCase dot = {std::vector<uint64_t>(one_.k), std::vector<uint64_t>(one_.k), c};
    for (size_t p = 0; p < ks.size(); ++p) {
      dot.a[p] = Widened(*q_.a_format, one_.a, Load(q_.a, i_, ks[p]));
      dot.b[p] = Widened(*q_.b_format, one_.b, Load(q_.b, ks[p], j_));
    }
    for (int s = 0; s < one_.scales(); ++s) {
      const size_t p = s * one_.scale_block;
      const uint64_t unit = ExactWord(one_.scale, Read(kF32, 0x3f800000));
      dot.a.push_back(p < ks.size() ? ScaleAt(q_.block_scale_a, i_, ks[p]) : unit);
      dot.b.push_back(p < ks.size() ? ScaleAt(q_.block_scale_b, j_, ks[p]) : unit);
    }
    return ReferenceDotProduct(unfused ? Unfused(one_) : one_, dot);
  }

  uint64_t Finished(uint64_t sum) const {
    const std::string& text = plan_.result;
    const std::string bias = "+bias";
    if (text.ends_with(bias)) {
      const uint64_t rest = Value(text.substr(0, text.size() - bias.size()), sum);
      return Add(Load(q_.bias, 0, j_), rest);
    }
    return Value(text, sum);
  }

  // Of an expression: x+y, fma(x,y,z), x*y, (x) or a name. A factor is written first, but is the second
  // operand.
  uint64_t Value(const std::string& text, uint64_t sum) const {
    const auto value = [&](const std::string& part) { return Value(part, sum); };
    if (const size_t plus = text.find('+'); plus != text.npos) {
      return Add(value(text.substr(0, plus)), value(text.substr(plus + 1)));
    }
    if (text.starts_with("fma(")) {
      const std::vector<std::string> x = SplitAt(',', text.substr(4, text.size() - 5));
      return MultiplyAdd(value(x.at(1)), value(x.at(0)), value(x.at(2)));
    }
    if (const size_t times = FactorEnd(text); times != text.npos) {
      return Times(value(text.substr(times + 1)), value(text.substr(0, times)));
    }
    if (text.starts_with('(')) return value(text.substr(1, text.size() - 2));
    if (text == "sum") return sum;
    if (text == "a") return ScaleAt(q_.scale_a, i_, 0);
    if (text == "b") return ScaleAt(q_.scale_b, j_, 0);
    if (text == "bias") return Load(q_.bias, 0, j_);
    if (text == "alpha") return q_.alpha;
    if (text == "beta") return q_.beta;
    if (text == "c") return Load(q_.c, i_, j_);
    std::abort();
  }

  // Where the first asterisk is that is not in parentheses.
  static size_t FactorEnd(const std::string& text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += (text[i] == '(') - (text[i] == ')');
      if (text[i] == '*' && depth == 0) return i;
    }
    return text.npos;
  }

  static uint64_t ScaleAt(const ScaleMatrix& s, int64_t i, int64_t k) {
    return Load(s.words, i / s.rows_each, k / s.k_each);
  }

  uint64_t Rounded(const Tokens& join, std::string_view option, uint64_t sum) const {
    if (!Has(join, option)) return sum;
    const Format& f = FormatNamed(After(join, option));
    return Converted(f, d_, nan_rule_, Converted(d_, f, nan_rule_, sum));
  }

  // IEEE 754: exact, then rounded once.
  uint64_t MultiplyAdd(uint64_t x, uint64_t y, uint64_t z) const {
    Model m = one_;
    m.algorithm = {.family = Family::kFmaChain,
                   .output_fraction_bits = d_.fraction_bits,
                   .nan_rule = nan_rule_};
    return IeeeWord(m, {{Product{{Read(d_, x), Read(d_, y)}}}, {Read(d_, z)}});
  }
  uint64_t One() const { return Converted(kF32, d_, nan_rule_, 0x3f800000); }
  uint64_t Times(uint64_t x, uint64_t y) const { return MultiplyAdd(x, y, ZeroWord(d_, true)); }
  uint64_t Add(uint64_t x, uint64_t y) const { return MultiplyAdd(x, One(), y); }

  const PlanLine& plan_;
  const Matrices& q_;
  const Model one_;
  const Format& d_;
  const NanRule nan_rule_;
  const int64_t i_, j_;
};

}  // namespace
}  // namespace reference

uint64_t ReferencePlan(std::string_view text, const Matrices& matrices, int64_t i, int64_t j) {
  return reference::PlanElement(reference::PlanLine(text), matrices, i, j).Word();
}

std::vector<uint64_t> ReferencePlan(std::string_view text, const Matrices& matrices) {
  const reference::PlanLine plan(text);
  std::vector<uint64_t> words;
  for (int64_t i = 0; i < matrices.m; ++i) {
    for (int64_t j = 0; j < matrices.n; ++j) {
      words.push_back(reference::PlanElement(plan, matrices, i, j).Word());
    }
  }
  return words;
}

}  // namespace mmadiff
