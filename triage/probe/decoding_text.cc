#include "triage/probe/decoding_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "sim/reading.h"
#include "sim/word.h"
#include "triage/number_text.h"
#include "triage/probe/decoding_words.h"
#include "triage/probe/runs.h"

namespace mmadiff {
namespace {

constexpr size_t kNamedRuns = 6;  // runs of misread words, or of k, that are listed

// The result if no word of the operand gives it.
std::string ImageText(const Format& f, const Format& d, const Misread& m) {
  return m.as ? absl::StrCat(HexWord(f, *m.as), " = ", NumberText(f, *m.as))
              : absl::StrCat("no word of ", f.name, ", the result is ", HexWord(d, m.observed.d),
                             " = ", NumberText(d, m.observed.d));
}

// "78..7d as 7e = 448.0": a text for each run of words with one image.
std::vector<std::string> MapOf(const OperandDecoding& o, const Format& d) {
  const std::vector<Misread>& misread = o.misread;
  const auto image = [](const Misread& m) { return std::pair(m.as, m.as ? 0 : m.observed.d); };
  std::vector<std::string> map;
  for (const auto& [first, last] : RunsOf(misread.size(), [&](size_t i) {
         return misread[i].word == misread[i - 1].word + 1 &&
                image(misread[i]) == image(misread[i - 1]);
       })) {
    map.push_back(absl::StrCat(
        RunText(HexWord(*o.format, misread[first].word), HexWord(*o.format, misread[last].word)),
        " as ", ImageText(*o.format, d, misread[first])));
  }
  return map;
}

std::string MapText(const OperandDecoding& o, const Format& d) {
  if (o.all_of.empty()) return JoinSome(MapOf(o, d), kNamedRuns);
  return absl::StrCat(o.all_of, " as ", ImageText(*o.format, d, o.misread[0]));
}

// "for k = 0..1, 5"
std::string KText(const std::vector<Misread>& all) {
  std::vector<std::string> ks;
  for (const auto& [first, last] :
       RunsOf(all.size(), [&](size_t i) { return all[i].k <= all[i - 1].k + 1; })) {
    ks.push_back(RunText(all[first].k, all[last].k));
  }
  return absl::StrCat("for k = ", JoinSome(ks, kNamedRuns));
}

std::string IgnoredText(const OperandDecoding& o) {
  std::vector<Misread> all = o.misread;
  all.insert(all.end(), o.elsewhere.begin(), o.elsewhere.end());
  return absl::StrCat("every word is ignored ", KText(all),
                      ": the metadata seem to select a different k");
}

// "for k = 1, 3, 5 too, ffff as ...": the k whose words are misread, and the first of them.
std::string ElsewhereText(const OperandDecoding& o, const Format& d) {
  const std::vector<Misread>& all = o.elsewhere;
  return absl::StrCat(KText(all), o.misread.empty() ? " alone, " : " too, ",
                      HexWord(*o.format, all[0].word), " as ", ImageText(*o.format, d, all[0]));
}

// Changes that nothing distinguishes.
std::string RulesText(const std::vector<Change>& rules) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, rules.size()); ++i) names.push_back(Name(rules[i]));
  return absl::StrCat(absl::StrJoin(names, " or "), rules.size() > kNamed ? " or others" : "");
}

// `change`: explains all operands; may be nullptr.
std::string OperandText(const OperandDecoding& o, const Format& d, const Change* change) {
  if (o.ignored) return IgnoredText(o);
  if (o.misread.empty()) return ElsewhereText(o, d);
  if (!o.rules.empty()) change = &o.rules[0];
  const bool reads = change != nullptr && (change->parameter->operands & Bit(o.operand));
  return absl::StrCat(
      reads ? TextOf(static_cast<Reading>(change->value)) + ": " : "", MapText(o, d), " (",
      o.misread.size(), " of ", o.words,
      change == nullptr ? " words, by no known rule)" : " words)",
      change == nullptr && !o.elsewhere.empty() ? absl::StrCat("; ", ElsewhereText(o, d)) : "");
}

}  // namespace

std::vector<std::string> DecodingTable(const Decoding& decoding) {
  std::vector<std::string> table;
  for (const OperandDecoding& o : decoding.operands) {
    for (const std::string& run : MapOf(o, *decoding.d)) {
      table.push_back(absl::StrCat(Name(o.operand), ": ", run));
    }
    for (const Misread& m : o.elsewhere) {
      table.push_back(absl::StrCat(Name(o.operand), ", k = ", m.k, ": ", HexWord(*o.format, m.word),
                                   " as ", ImageText(*o.format, *decoding.d, m)));
    }
  }
  return table;
}

std::string DecodingText(const Decoding& decoding) {
  const std::vector<Change>& changes = decoding.changes;
  const bool some = std::ranges::any_of(decoding.operands,
                                        [](const OperandDecoding& o) { return o.words < o.of; });
  if (decoding.AsTheModel()) {
    return absl::StrCat("as the model reads it",
                        some ? absl::StrCat(" (at most ", kSlowWords,
                                            " words of each operand for k = 0, fewer for others)")
                             : "");
  }
  if (!decoding.result.empty()) return absl::StrCat("the result is ", decoding.result);
  // Operands with the same words come together.
  std::vector<std::pair<std::string, std::vector<const OperandDecoding*>>> texts;
  for (const OperandDecoding& o : decoding.operands) {
    if (o.AsTheModel()) continue;
    const std::string text = OperandText(o, *decoding.d, changes.empty() ? nullptr : &changes[0]);
    const auto same = std::ranges::find(texts, text, [](const auto& t) { return t.first; });
    if (same == texts.end()) {
      texts.push_back({text, {&o}});
    } else {
      same->second.push_back(&o);
    }
  }
  std::vector<std::string> lines, rules;
  for (const auto& [text, of] : texts) {
    lines.push_back(absl::StrCat(absl::StrJoin(of, " and ",
                                               [](std::string* out, const OperandDecoding* o) {
                                                 out->append(Name(o->operand));
                                               }),
                                 ": ", text));
    for (const OperandDecoding* o : of) {
      if (!o->rules.empty()) rules.push_back(RulesText(o->rules));
    }
  }
  if (!changes.empty()) rules = {RulesText(changes)};
  if (!rules.empty()) lines.push_back(absl::StrJoin(rules, ", "));
  if (decoding.refuted)
    lines.push_back("other products refute every rule for this: it may be a fault of the sum");
  if (decoding.relative)
    lines.push_back("1 seems to be misread too, and the other words are multiplied by it");
  return absl::StrJoin(lines, "; ");
}

}  // namespace mmadiff
