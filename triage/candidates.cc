// Candidates and named cases of a question: from its text to models and operands.
#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/line_protocol.h"
#include "device/one_hot.h"
#include "sim/equivalence.h"
#include "sim/parameter.h"
#include "triage/probe.h"

namespace mmadiff {
namespace {

std::string_view StdView(absl::string_view s) { return {s.data(), s.size()}; }

// The values of a parameter, `list` as in Question::parameters.
std::vector<int> ValuesOf(const Parameter& p, int value, absl::string_view list) {
  std::vector<int> values;
  if (list.empty()) {
    for (size_t i = 0; i < p.values.size(); ++i) values.push_back(static_cast<int>(i));
  }
  for (absl::string_view item : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> range = absl::StrSplit(item, "..");
    int low, high, number;
    if (absl::SimpleAtoi(range.first, &low) && absl::SimpleAtoi(range.second, &high)) {
      if (value == kNoFloor) continue;  // nothing to be relative to
      for (int offset = low; offset <= high; ++offset) values.push_back(value + offset);
    } else if (ParseValue(p, StdView(item), &number)) {
      values.push_back(number);
    }
  }
  if (p.values.empty()) std::erase_if(values, [&](int v) { return v < p.min || v > p.max; });
  return values;
}

// Words of a row of A or a column of B, or of its scales.
bool ReadWords(absl::string_view text, std::span<uint64_t> words) {
  size_t at = 0;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    uint64_t value;
    if (word.front() == '@') {
      if (!absl::SimpleAtoi(word.substr(1), &at)) return false;
      continue;
    }
    const bool repeats = word.back() == '*';
    if (repeats) word.remove_suffix(1);
    if (at >= words.size() || !absl::SimpleHexAtoi(word, &value)) return false;
    do {
      words[at++] = value;
    } while (repeats && at < words.size());
  }
  return true;
}

}  // namespace

std::vector<Neighbour> Candidates(const Question& question, const Model& model) {
  if (absl::string_view(question.parameters) == "*") return Neighbours(model);
  std::vector<Neighbour> candidates;
  for (absl::string_view item : absl::StrSplit(question.parameters, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    const Parameter* p = FindParameter(model.algorithm.family, StdView(parts.first));
    if (p == nullptr) continue;
    const int value = p->get(model.algorithm);
    for (const int candidate : ValuesOf(*p, value, parts.second)) {
      Model changed = model;
      p->set(changed.algorithm, candidate);
      if (candidate == value || !Invalid(changed).empty() ||
          !WhyEquivalent(model, changed.algorithm).empty()) {
        continue;
      }
      candidates.push_back(
          {absl::StrCat(p->name, "=", ValueText(*p, candidate)), changed.algorithm});
    }
  }
  return candidates;
}

std::optional<DotProductCase> CaseFor(const NamedCase& named, const Row& row) {
  const Instruction& in = *row.instruction;
  const std::vector<absl::string_view> formats = absl::StrSplit(named.formats, ' ');
  const absl::string_view ab = formats.front(), d = formats.back();
  const absl::string_view c = formats.size() == 3 ? formats[1] : d;
  if (ab != in.a->name || ab != in.b->name || c != in.c->name || d != in.d->name) return {};
  const std::vector<absl::string_view> parts = absl::StrSplit(named.words, '|');
  if ((parts.size() > 3) != (in.shape.scales > 0)) return {};
  DotProductCase dot;
  dot.a.assign(in.shape.row_words(), 0);
  dot.b = dot.a;
  const std::span<uint64_t> a(dot.a), b(dot.b);
  const size_t k = in.shape.k;
  if (!ReadWords(parts[0], a.first(k)) || !ReadWords(parts[1], b.first(k)) ||
      !ReadWords(parts[2], {&dot.c, 1})) {
    return {};
  }
  if (in.shape.scales == 0) return dot;
  for (const auto& scales : {a.subspan(k), b.subspan(k)}) {
    std::fill(scales.begin(), scales.end(), IntegerWord(*in.scale, 1));
  }
  // Scale words are those of ue8m0.
  const bool read = absl::string_view(in.scale->name) == "ue8m0" &&
                    ReadWords(parts[3], a.subspan(k)) && ReadWords(parts[4], b.subspan(k));
  return read ? std::optional(dot) : std::nullopt;
}

}  // namespace mmadiff
