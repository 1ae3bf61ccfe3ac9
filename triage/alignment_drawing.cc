#include "triage/alignment_drawing.h"

#include <algorithm>
#include <bit>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "sim/stages.h"
#include "triage/number_text.h"
#include "triage/stage_table.h"

namespace mmadiff {
namespace {

using Wide = unsigned __int128;

constexpr size_t kPlainWidth = 100;  // where there is no terminal
constexpr size_t kLabel = 7;

int Bits(Wide x) {
  const uint64_t high = static_cast<uint64_t>(x >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(x));
}

int Top(Wide magnitude, int lsb) { return lsb + Bits(magnitude) - 1; }

bool BitAt(Wide magnitude, int lsb, int position) {
  const int shift = position - lsb;
  return shift >= 0 && shift < 128 && (magnitude >> shift & 1) != 0;
}

// Lowest bit that is one.
int Bottom(Wide magnitude, int lsb) {
  for (; magnitude != 0 && (magnitude & 1) == 0; magnitude >>= 1) ++lsb;
  return lsb;
}

// Rounding up may make what is kept longer than the term.
int TopOf(const AlignedTerm& t) {
  const int top = Top(t.magnitude, t.lsb);
  return t.kept == 0 ? top : std::max(top, Top(t.kept, t.kept_lsb));
}

std::string Label(int k) { return k < 0 ? "c" : absl::StrCat("k=", k); }

// The addend of a step: c, or what the step before it gave.
AlignedTerm Addend(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return {-1, u.negative, u.significand, u.exponent - f.fraction_bits, 0, 0};
}

struct Span {
  int high, low;  // positions
};

Span SpanOf(const AlignedStep& step) {
  const AlignedTerm& first = step.terms.front();
  Span span = {TopOf(first), first.kept_lsb};
  for (const AlignedTerm& t : step.terms) {
    span.high = std::max(span.high, TopOf(t));
    span.low = std::min({span.low, Bottom(t.magnitude, t.lsb), t.kept_lsb});
  }
  if (step.sum == 0) return span;  // of nothing there is no exponent
  return {std::max(span.high, Top(step.sum, step.sum_lsb)), std::min(span.low, step.sum_lsb)};
}

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string Row(const std::string& label, bool negative, const std::string& bits) {
  return absl::StrFormat("  %-*s%c %s\n", static_cast<int>(kLabel) - 2, label, negative ? '-' : ' ',
                         absl::StripTrailingAsciiWhitespace(bits));
}

std::string StepText(const Model& m, const AlignedStep& step, size_t width) {
  const Span span = SpanOf(step);
  const int room = static_cast<int>(std::max<size_t>(width, 40) - kLabel - 4);
  const int low = std::max(span.low, span.high - room + 1);
  std::string text = absl::StrCat("aligned, step ", step.step, ": bits from 2^", span.high,
                                  " to 2^", low, "; x, .: cut 1, 0\n");
  if (low > span.low) {
    absl::StrAppend(&text, "  ", low - span.low, " positions down to 2^", span.low,
                    " do not fit here\n");
  }
  for (const AlignedTerm& t : step.terms) {
    std::string bits;
    const int top = TopOf(t);
    const int exact = Bottom(t.magnitude, t.lsb);
    const int bottom = t.kept == 0 ? exact : std::min(exact, Bottom(t.kept, t.kept_lsb));
    for (int p = span.high; p >= low; --p) {
      if (p >= t.kept_lsb) {
        bits += p > top || p < bottom ? ' ' : BitAt(t.kept, t.kept_lsb, p) ? '1' : '0';
      } else {
        bits += p > top || p < bottom ? ' ' : BitAt(t.magnitude, t.lsb, p) ? 'x' : '.';
      }
    }
    absl::StrAppend(&text, Row(Label(t.k), t.negative, bits));
  }
  std::string bits;
  if (step.sum == 0) bits = "0";
  for (int p = span.high; step.sum != 0 && p >= std::max(low, step.sum_lsb); --p) {
    bits += p > Top(step.sum, step.sum_lsb) ? ' ' : BitAt(step.sum, step.sum_lsb, p) ? '1' : '0';
  }
  absl::StrAppend(&text, Row("sum", step.sum_negative, bits), "  result ", WordText(m.d, step.word),
                  "\n");
  return text;
}

constexpr int kRow = 22, kLeft = 60, kHead = 34, kMostPixels = 960;

void AppendBar(int k, bool negative, double x, double kept, double cut, int y, std::string& svg) {
  absl::StrAppendFormat(&svg, "<text x=\"%d\" y=\"%d\">%s%s</text>\n", kLeft - 8, y + 12,
                        negative ? "&#8722;" : "", Label(k));
  absl::StrAppendFormat(
      &svg,
      "<g class=\"bar\"><rect class=\"kept\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\"/>"
      "<rect class=\"cut\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\"/></g>\n",
      x, y, kept, x + kept, y, cut);
}

// One step below `y`; the y after it.
int AppendStep(const Model& m, const AlignedStep& step, int y, std::string& svg) {
  const Span span = SpanOf(step);
  const double unit = std::min(9.0, static_cast<double>(kMostPixels) / (span.high - span.low + 1));
  const auto x_of = [&](int position) { return kLeft + (span.high - position) * unit; };
  absl::StrAppendFormat(&svg, "<text class=\"head\" x=\"%d\" y=\"%d\">step %d</text>\n", kLeft,
                        y + 12, step.step);
  y += kRow;
  const int bottom = y + kRow * static_cast<int>(step.terms.size() + 1);
  for (int p = span.high; p >= span.low; --p) {
    if (p % 8 != 0) continue;
    absl::StrAppendFormat(
        &svg, "<path d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\">2^%d</text>\n",
        x_of(p), y, bottom, x_of(p), bottom + 12, p);
  }
  for (const AlignedTerm& t : step.terms) {
    const int top = TopOf(t);
    const int low = Bottom(t.magnitude, t.lsb);
    const double kept = std::max(0, top - std::max(t.kept_lsb, low) + 1) * unit;
    const double cut = std::max(0, std::min(top, t.kept_lsb - 1) - low + 1) * unit;
    AppendBar(t.k, t.negative, x_of(top), kept, cut, y, svg);
    y += kRow;
  }
  absl::StrAppendFormat(&svg, "<text x=\"%d\" y=\"%d\">sum</text>\n", kLeft - 8, y + 12);
  if (step.sum != 0) {
    const int top = Top(step.sum, step.sum_lsb);
    absl::StrAppendFormat(
        &svg, "<rect class=\"sum\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\"/>\n", x_of(top),
        y, (top - step.sum_lsb + 1) * unit);
  }
  y += kRow + 20;
  absl::StrAppendFormat(&svg, "<text class=\"head\" x=\"%d\" y=\"%d\">result %s</text>\n", kLeft,
                        y + 8, Escaped(WordText(m.d, step.word)));
  return y + kRow;
}

}  // namespace

std::vector<AlignedStep> AlignedSteps(const Model& m, const DotProductCase& dot) {
  std::vector<AlignedStep> steps;
  std::vector<Event> products;
  AlignedStep step;
  bool first = m.algorithm.addend_joins == AddendJoins::kFirstStep;
  AlignedTerm addend = Addend(first ? m.c : m.d, first ? dot.c : 0);
  bool summed = false;
  for (const Event& e : TraceStages(m, dot)) {
    if (e.stage == Stage::kProduct) products.push_back(e);
    if (e.stage == Stage::kAlignedTerm && e.magnitude == 0 && e.k < 0 && addend.magnitude == 0)
      continue;
    if (e.stage == Stage::kAlignedTerm) {
      const auto exact = std::ranges::find(products, e.k, &Event::k);
      AlignedTerm t = addend;
      if (e.k >= 0 && exact != products.end()) {
        t = {e.k, exact->negative, exact->magnitude, exact->lsb_exponent, 0, 0};
      }
      t.kept = e.magnitude;
      t.kept_lsb = e.lsb_exponent;
      if (t.magnitude != 0) step.terms.push_back(t);
    }
    if (e.stage == Stage::kSum && !summed) {
      step.sum_negative = e.negative;
      step.sum = e.magnitude;
      step.sum_lsb = e.lsb_exponent;
      summed = true;
    }
    if (e.stage != Stage::kRounded && e.stage != Stage::kSpecial) continue;
    step.step = e.step;
    step.word = static_cast<uint64_t>(e.magnitude);
    std::ranges::stable_sort(step.terms, {},
                             [](const AlignedTerm& t) { return t.k < 0 ? kMaxK : t.k; });
    if (e.stage == Stage::kRounded && !step.terms.empty()) steps.push_back(step);
    addend = Addend(m.d, step.word);
    step = {};
    products.clear();
    summed = false;
  }
  return steps;
}

std::string AlignmentText(const Model& m, const DotProductCase& dot, const TextStyle& style) {
  std::string text;
  const size_t width = style.width == kAnyWidth ? kPlainWidth : style.width;
  for (const AlignedStep& step : AlignedSteps(m, dot))
    absl::StrAppend(&text, StepText(m, step, width));
  return text;
}

std::string AlignmentSvg(const Model& m, const DotProductCase& dot, const std::string& title) {
  std::string body;
  int y = kHead;
  for (const AlignedStep& step : AlignedSteps(m, dot)) y = AppendStep(m, step, y, body);
  const int wide = kLeft + kMostPixels + 20;
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
      "role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">%s</title>\n<style>"
      "text{font:12px sans-serif;text-anchor:end;fill:#222}.head{text-anchor:start}"
      ".tick{font-size:9px;text-anchor:middle;fill:#777}path{stroke:#ccd}.kept{fill:#1668b8}"
      ".cut{fill:#c33;fill-opacity:.35;stroke:#c33;stroke-dasharray:2 2}.sum{fill:#387a38}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}.tick{fill:#99a}path{stroke:#445}"
      ".kept{fill:#6cb2f2}.cut{fill:#f77;stroke:#f77}.sum{fill:#7c7}}</style>\n"
      "<text class=\"head\" x=\"%d\" y=\"20\">%s</text>\n%s</svg>\n",
      wide, y, wide, y, Escaped(title), kLeft, Escaped(title), body);
}

}  // namespace mmadiff
