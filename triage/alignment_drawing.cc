#include "triage/alignment_drawing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "sim/round.h"
#include "sim/stages.h"
#include "triage/number_text.h"
#include "triage/stage_table.h"

namespace mmadiff {
namespace {

using Wide = unsigned __int128;

constexpr size_t kPlainWidth = 100;  // without a terminal
constexpr size_t kLabel = 7;

int Top(Wide magnitude, int lsb) { return lsb + BitWidth(magnitude) - 1; }

bool BitAt(Wide magnitude, int lsb, int position) {
  const int shift = position - lsb;
  return shift >= 0 && shift < 128 && (magnitude >> shift & 1) != 0;
}

// The lowest bit that is one.
int Bottom(Wide magnitude, int lsb) {
  for (; magnitude != 0 && (magnitude & 1) == 0; magnitude >>= 1) ++lsb;
  return lsb;
}

// Rounding up may make the kept part longer than the term.
int TopOf(const AlignedTerm& t) {
  const int top = Top(t.magnitude, t.lsb);
  return t.kept == 0 ? top : std::max(top, Top(t.kept, t.kept_lsb));
}

std::string Label(const Model& m, int k) {
  return k >= 0 ? TermText(m, k) : k == kAddendTerm ? "c" : k == kSumSoFar ? "so far" : "summand";
}

AlignedTerm WordTerm(int k, const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  const int lsb = u.exponent - f.fraction_bits;
  return {k, u.negative, u.significand, lsb, u.significand, lsb};
}

struct Span {
  int high, low;  // positions
};

int LowOf(const DrawnSum& sum) { return std::min(Bottom(sum.magnitude, sum.lsb), sum.sticky_lsb); }

Span SpanOf(const AlignedStep& step) {
  const AlignedTerm& first = step.terms.front();
  Span span = {TopOf(first), Bottom(first.magnitude, first.lsb)};
  for (const AlignedTerm& t : step.terms) {
    span.high = std::max(span.high, TopOf(t));
    span.low = std::min(span.low, Bottom(t.magnitude, t.lsb));
    if (t.kept_lsb > t.lsb) span.low = std::min(span.low, t.kept_lsb);
  }
  for (const DrawnSum& sum : step.sums) {
    if (sum.magnitude == 0) continue;  // zero has no exponent
    span.high = std::max(span.high, Top(sum.magnitude, sum.lsb));
    span.low = std::min(span.low, LowOf(sum));
  }
  return span;
}

// Positions below the kept part that the number reaches.
int CutBits(const AlignedTerm& t) {
  const int low = Bottom(t.magnitude, t.lsb);
  return std::max(0, std::min(TopOf(t), t.kept_lsb - 1) - low + 1);
}
int CutBits(const DrawnSum& sum) {
  if (sum.magnitude == 0) return 0;
  return std::max(0, std::min(Top(sum.magnitude, sum.lsb), sum.kept_lsb - 1) - LowOf(sum) + 1);
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

constexpr size_t kMaxSteps = 8;  // in a text drawing
constexpr size_t kNote = 15;     // "  1234 bits cut"

std::string Row(const std::string& label, bool negative, const std::string& bits, int cut) {
  const std::string note =
      cut == 0 ? "" : absl::StrCat("  ", cut, cut == 1 ? " bit cut" : " bits cut");
  return absl::StrFormat("  %-*s%c %s%s\n", static_cast<int>(kLabel) - 2, label,
                         negative ? '-' : ' ', absl::StripTrailingAsciiWhitespace(bits), note);
}

// Positions from `high` to `low`; bits below `kept_lsb` were cut.
std::string Bits(Wide magnitude, int lsb, Wide kept, int kept_lsb, const Span& shown) {
  if (magnitude == 0) return "0";
  const int top =
      kept == 0 ? Top(magnitude, lsb) : std::max(Top(magnitude, lsb), Top(kept, kept_lsb));
  const int exact = Bottom(magnitude, lsb),
            bottom = kept == 0 ? exact : std::min(exact, Bottom(kept, kept_lsb));
  std::string bits;
  for (int p = shown.high; p >= shown.low; --p) {
    const bool is_cut = p < kept_lsb,
               one = is_cut ? BitAt(magnitude, lsb, p) : BitAt(kept, kept_lsb, p);
    bits += p > top || p < bottom ? ' ' : is_cut ? (one ? 'x' : '.') : (one ? '1' : '0');
  }
  return bits;
}

// "step 0"; for its second addition "step 0 #2".
std::string StepName(const AlignedStep& step) {
  const std::string name = absl::StrCat("step ", step.step);
  return step.addition == 1 ? name : absl::StrCat(name, " #", step.addition);
}

std::string StepText(const Model& m, const AlignedStep& step, size_t width) {
  const Span span = SpanOf(step);
  const int room = static_cast<int>(std::max<size_t>(width, 40) - kLabel - kNote - 2);
  const Span shown = {span.high, std::max(span.low, span.high - room + 1)};
  std::string text = absl::StrCat(StepName(step), ": bits from 2^", shown.high, " to 2^", shown.low,
                                  step.cuts ? "; cut: x is 1, . is 0\n" : "\n");
  if (shown.low > span.low) {
    absl::StrAppend(&text, "  ", shown.low - span.low, " more positions, down to 2^", span.low,
                    ", do not fit\n");
  }
  for (const AlignedTerm& t : step.terms) {
    const std::string bits = Bits(t.magnitude, t.lsb, t.kept, t.kept_lsb, shown);
    absl::StrAppend(&text, Row(Label(m, t.k), t.negative, bits, CutBits(t)));
  }
  for (const DrawnSum& sum : step.sums) {
    const Wide kept = sum.kept_lsb > sum.lsb && sum.kept_lsb - sum.lsb < 128
                          ? sum.magnitude >> (sum.kept_lsb - sum.lsb)
                          : sum.magnitude;
    std::string bits = Bits(sum.magnitude, sum.lsb, kept, std::max(sum.lsb, sum.kept_lsb), shown);
    for (int p = std::min(sum.lsb, shown.high); p >= std::max(sum.sticky_lsb, shown.low); --p) {
      bits[shown.high - p] = '~';
    }
    absl::StrAppend(&text, Row(sum.of_products ? "a*b" : "sum", sum.negative, bits, CutBits(sum)));
  }
  return absl::StrCat(text, "  result ", WordText(m.d, step.word), "\n");
}

constexpr int kRow = 22, kLeft = 60, kHead = 34, kMaxPixels = 960;

// Positions from `top` down: `kept` of them, then `cut`. A note after the bar gives both numbers.
struct Bar {
  std::string label;
  const char* kind;  // "kept" or "sum"
  double x, unit;
  int kept, cut;
};

void AppendBar(const Bar& bar, int y, std::string& svg) {
  const double kept = bar.kept * bar.unit, cut = bar.cut * bar.unit;
  absl::StrAppendFormat(&svg, "<text x=\"%d\" y=\"%d\">%s</text>\n", kLeft - 8, y + 12, bar.label);
  absl::StrAppendFormat(
      &svg,
      "<g class=\"bar\"><rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\"/>"
      "<rect class=\"cut\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\"/></g>\n",
      bar.kind, bar.x, y, kept, bar.x + kept, y, cut);
  std::string note = absl::StrCat(bar.kept, bar.kept == 1 ? " bit" : " bits");
  if (bar.cut > 0) absl::StrAppend(&note, ", ", bar.cut, " cut");
  absl::StrAppendFormat(&svg, "<text class=\"head\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                        bar.x + kept + cut + 6, y + 12, note);
}

std::string Signed(bool negative, const std::string& label) {
  return absl::StrCat(negative ? "&#8722;" : "", label);
}

// Pixels for each bit position of a step.
double UnitOf(const Span& span) {
  return std::min(9.0, static_cast<double>(kMaxPixels) / (span.high - span.low + 1));
}

// Draws one step below `y`; returns the y after it.
int AppendStep(const Model& m, const AlignedStep& step, int y, std::string& svg) {
  const Span span = SpanOf(step);
  const double unit = UnitOf(span);
  const auto x_of = [&](int position) { return kLeft + (span.high - position) * unit; };
  absl::StrAppendFormat(&svg, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", kLeft, y + 12,
                        StepName(step));
  y += kRow;
  const int bottom = y + kRow * static_cast<int>(step.terms.size() + step.sums.size());
  constexpr int kTick = 40;  // pixels that a label needs
  int every = 8;
  while (every * unit < kTick) every *= 2;
  for (int p = span.high; p >= span.low; --p) {
    if (p % every != 0) continue;
    absl::StrAppendFormat(
        &svg, "<path d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\">2^%d</text>\n",
        x_of(p), y, bottom, x_of(p), bottom + 12, p);
  }
  for (const AlignedTerm& t : step.terms) {
    const int top = TopOf(t), low = Bottom(t.magnitude, t.lsb), cut = CutBits(t);
    AppendBar(
        {Signed(t.negative, Label(m, t.k)), "kept", x_of(top), unit, top - low + 1 - cut, cut}, y,
        svg);
    y += kRow;
  }
  for (const DrawnSum& sum : step.sums) {
    const std::string label = Signed(sum.negative, sum.of_products ? "a&#183;b" : "sum");
    const int top = sum.magnitude == 0 ? span.high : Top(sum.magnitude, sum.lsb),
              cut = CutBits(sum);
    const int kept = sum.magnitude == 0 ? 0 : top - LowOf(sum) + 1 - cut;
    AppendBar({label, "sum", x_of(top), unit, kept, cut}, y, svg);
    y += kRow;
  }
  y += 20;
  absl::StrAppendFormat(&svg, "<text class=\"head\" x=\"%d\" y=\"%d\">result %s</text>\n", kLeft,
                        y + 8, Escaped(WordText(m.d, step.word)));
  return y + kRow;
}

// Turns the events of a dot product into additions.
class StepReader {
 public:
  StepReader(const Model& m, uint64_t c) : m_(m), words_{WordTerm(kAddendTerm, m.c, c)} {
    if (m.algorithm.addend_joins != AddendJoins::kFirstStep)
      words_.push_back(WordTerm(kSumSoFar, m.d, 0));
  }

  void Read(const Event& e) {
    switch (e.stage) {
      case Stage::kProduct:
        (e.k >= 0 ? products_ : summands_)
            .push_back({e.k >= 0 ? e.k : kSummand, e.negative, e.magnitude, e.lsb_exponent,
                        e.magnitude, e.lsb_exponent});
        break;
      case Stage::kAlignedTerm:
        AddAligned(e);
        break;
      case Stage::kSum:
        step_.sums.push_back({false, e.negative, e.magnitude, e.lsb_exponent, e.lsb_exponent});
        break;
      case Stage::kRounded:
        Finish(e);
        break;
      case Stage::kSpecial:
        Reset(static_cast<uint64_t>(e.magnitude));
        break;
      case Stage::kAlignExponent:
        align_exponent_ = e.lsb_exponent;
        break;
    }
  }

  // Additions that add zero and lose nothing are left out, unless there are no others.
  std::vector<AlignedStep> Take() {
    if (steps_.empty() && idle_) steps_.push_back(*idle_);
    return std::move(steps_);
  }

 private:
  void AddAligned(const Event& e) {
    const auto exact = std::ranges::find(products_, e.k, &AlignedTerm::k);
    AlignedTerm t = e.k >= 0 && exact != products_.end() ? *exact : words_.back();
    t.kept = e.magnitude;
    t.kept_lsb = e.lsb_exponent;
    if (t.magnitude != 0) step_.terms.push_back(t);
    aligned_ = true;
  }

  // For an addition without alignment: its products or first summand, and the other operand, which
  // is the rest of the exact sum.
  void AddExact() {
    for (AlignedTerm& t : summands_) {
      if (IsSum({t}, SumOf(words_.front()))) t.k = kAddendTerm;
    }
    for (const std::vector<AlignedTerm>* some : {&products_, &summands_}) {
      for (const AlignedTerm& t : *some) {
        if (t.magnitude != 0) step_.terms.push_back(t);
      }
    }
    if (step_.sums.empty()) return;
    if (IsSum(step_.terms, step_.sums.back())) return;  // the other operand is zero or was flushed
    const bool exact_sum = m_.algorithm.family == Family::kExactSum;
    std::optional<AlignedTerm> rest = exact_sum ? words_.back() : Rest();
    if (!rest && summands_.empty()) rest = words_.back();
    if (!rest)
      return step_.terms.clear();  // a tree's term that is too small to identify from the sum
    if (!summands_.empty() && rest->k == kSumSoFar) rest->k = kSummand;  // in a tree
    if (rest->magnitude != 0) step_.terms.push_back(*rest);
  }

  // The known word that the sum contains in addition to its terms. If the sum's last bit is sticky:
  // the last result, or c if it fits.
  std::optional<AlignedTerm> Rest() const {
    for (const bool sticky : {false, true}) {
      for (auto word = words_.rbegin(); word != words_.rend(); ++word) {
        if (sticky && word != words_.rbegin() && word != words_.rend() - 1) continue;
        std::vector<AlignedTerm> terms = step_.terms;
        if (word->magnitude != 0) terms.push_back(*word);
        if (IsSum(terms, step_.sums.back(), sticky)) return *word;
      }
    }
    return std::nullopt;
  }

  static DrawnSum SumOf(const AlignedTerm& t) {
    return {false, t.negative, t.magnitude, t.lsb, t.lsb};
  }

  // `sticky`: the last bit of the sum may represent the bits below it.
  static bool IsSum(const std::vector<AlignedTerm>& terms, const DrawnSum& sum,
                    bool sticky = false) {
    int low = sum.magnitude == 0 ? 1 << 20 : Bottom(sum.magnitude, sum.lsb), high = -(1 << 20);
    if (sum.magnitude != 0) high = Top(sum.magnitude, sum.lsb);
    for (const AlignedTerm& t : terms) {
      low = std::min(low, Bottom(t.magnitude, t.lsb));
      high = std::max(high, Top(t.magnitude, t.lsb));
    }
    if (high - low > 120) {
      if (!sticky) return false;
      low = high - 120;
    }
    const auto at = [low](bool negative, Wide magnitude, int lsb) {
      if (magnitude == 0 || low - lsb > 127) return __int128{0};
      const auto value =
          static_cast<__int128>(lsb >= low ? magnitude << (lsb - low) : magnitude >> (low - lsb));
      return negative ? -value : value;
    };
    __int128 rest = at(sum.negative, sum.magnitude, sum.lsb);
    for (const AlignedTerm& t : terms) rest -= at(t.negative, t.magnitude, t.lsb);
    if (rest == 0 || !sticky) return rest == 0;
    return (sum.magnitude & 1) == 1 && sum.lsb >= low &&
           (rest < 0 ? -rest : rest) < __int128{1} << (sum.lsb - low);
  }

  // The sum of the products is cut before c is added.
  void AlignProducts() {
    DrawnSum& products = step_.sums.front();
    products.of_products = true;
    products.kept_lsb =
        std::max(products.lsb, align_exponent_ - m_.algorithm.sum_fraction_bits - 1);
  }

  // Marks the bits that do not fit into the output.
  void CutSum(DrawnSum& sum) const {
    if (sum.magnitude == 0) return;
    if (!aligned_ && !IsSum(step_.terms, sum)) {
      for (const AlignedTerm& t : step_.terms) {
        if (Bottom(t.magnitude, t.lsb) < sum.lsb)
          sum.sticky_lsb = std::min(sum.sticky_lsb, Bottom(t.magnitude, t.lsb));
      }
    }
    const int least = m_.d.min_exponent - m_.d.fraction_bits;
    const int digits = std::min(m_.d.fraction_bits, m_.algorithm.output_fraction_bits);
    sum.kept_lsb = std::max(Top(sum.magnitude, sum.lsb) - digits, least);
  }

  void Finish(const Event& e) {
    step_.step = e.step;
    step_.word = static_cast<uint64_t>(e.magnitude);
    if (!aligned_) AddExact();
    if (step_.sums.empty() && step_.terms.size() == 1) {  // a single product that is rounded
      const bool finite = Decode(m_.d, step_.word).kind == Kind::kFinite;
      const AlignedTerm word = finite ? WordTerm(0, m_.d, step_.word) : step_.terms[0];
      step_.terms[0].kept = word.kept;
      step_.terms[0].kept_lsb = word.kept_lsb;
    }
    if (!step_.sums.empty()) CutSum(step_.sums.back());
    if (step_.sums.size() == 2) AlignProducts();
    if (!step_.sums.empty()) step_.addition = ++additions_[e.step];
    std::ranges::stable_sort(step_.terms, {},
                             [](const AlignedTerm& t) { return t.k < 0 ? kMaxK - t.k : t.k; });
    const auto is_cut = [](const auto& t) { return CutBits(t) > 0; };
    step_.cuts = e.inexact || std::ranges::any_of(step_.terms, is_cut) ||
                 std::ranges::any_of(step_.sums, is_cut);
    if (step_.terms.size() > 1 || (step_.cuts && !step_.terms.empty())) steps_.push_back(step_);
    if (step_.terms.size() == 1 && !idle_) idle_ = step_;
    Reset(step_.word);
  }

  void Reset(uint64_t word) {
    words_.push_back(WordTerm(kSumSoFar, m_.d, word));
    step_ = {};
    products_.clear();
    summands_.clear();
    aligned_ = false;
  }

  const Model& m_;
  std::vector<AlignedTerm> words_;  // c, then every result
  std::vector<AlignedTerm> products_, summands_;
  bool aligned_ = false;
  int align_exponent_ = 0;        // for the addition
  std::map<int, int> additions_;  // by step
  AlignedStep step_;
  std::vector<AlignedStep> steps_;
  std::optional<AlignedStep> idle_;
};

}  // namespace

std::vector<AlignedStep> AlignedSteps(const Model& m, const DotProductCase& dot) {
  const Family family = m.algorithm.family;
  const bool drawn =
      family != Family::kIntegerDot && family != Family::kConversion && family != Family::kTree;
  if (!drawn) return {};
  StepReader reader(m, dot.c);
  for (const Event& e : TraceStages(m, dot)) reader.Read(e);
  return reader.Take();
}

std::string AlignmentText(const Model& m, const DotProductCase& dot, const TextStyle& style) {
  std::vector<AlignedStep> steps = AlignedSteps(m, dot);
  const size_t all = steps.size();
  if (all > kMaxSteps) std::erase_if(steps, [](const AlignedStep& s) { return !s.cuts; });
  if (steps.size() > kMaxSteps) steps.resize(kMaxSteps);
  std::string text;
  const size_t width = style.width == kAnyWidth ? kPlainWidth : style.width;
  for (const AlignedStep& step : steps) absl::StrAppend(&text, StepText(m, step, width));
  if (steps.size() == all) return text;
  return absl::StrCat(text, "steps not shown: ", all - steps.size(), "; --svg draws all steps\n");
}

std::string AlignmentSvg(const NamedModels& models, const DotProductCase& dot) {
  std::string body, title;
  int y = 0;
  double pixels = 0;  // of the widest step or name
  for (const auto& [name, model] : models) {
    absl::StrAppend(&title, title.empty() ? "" : " and ", name);
    absl::StrAppendFormat(&body, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", kLeft,
                          y + 20, Escaped(name));
    y += kHead;
    pixels = std::max(pixels, 7.0 * static_cast<double>(name.size()) - 140);
    for (const AlignedStep& step : AlignedSteps(model, dot)) {
      const Span span = SpanOf(step);
      pixels = std::max(pixels, UnitOf(span) * (span.high - span.low + 1));
      y = AppendStep(model, step, y, body);
    }
  }
  const int wide = kLeft + static_cast<int>(pixels) + 140;
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
      "role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">%s</title>\n<style>"
      "text{font:12px sans-serif;text-anchor:end;fill:#222}.head{text-anchor:start}"
      ".tick{font-size:9px;text-anchor:middle;fill:#777}path{stroke:#ccd}.kept{fill:#1668b8}"
      ".cut{fill:#c33;fill-opacity:.35;stroke:#c33;stroke-dasharray:2 2}.sum{fill:#387a38}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}.tick{fill:#99a}path{stroke:#445}"
      ".kept{fill:#6cb2f2}.cut{fill:#f77;stroke:#f77}.sum{fill:#7c7}}</style>\n"
      "%s</svg>\n",
      wide, y, wide, y, Escaped(title), body);
}

}  // namespace mmadiff
