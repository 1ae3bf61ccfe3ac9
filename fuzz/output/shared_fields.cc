#include "fuzz/output/shared_fields.h"

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

std::vector<std::string> HexWords(const Format& format, const std::vector<uint64_t>& words,
                                  int from, int to) {
  std::vector<std::string> text;
  for (int i = from; i < to; ++i) text.push_back(HexWord(format, words[i]));
  return text;
}

std::vector<std::string> Factors(const DotProductWords& w, bool b) {
  const Instruction& i = w.instruction;
  return HexWords(b ? *i.b : *i.a, b ? w.dot.b : w.dot.a, 0, i.shape.k);
}

std::optional<std::vector<std::string>> FactorsOfB(const DotProductWords& w) {
  if (w.instruction.is_conversion()) return std::nullopt;
  return Factors(w, true);
}
std::optional<std::string> Addend(const DotProductWords& w) {
  if (w.instruction.is_conversion()) return std::nullopt;
  return HexWord(*w.instruction.c, w.dot.c);
}

// nullopt for an instruction without scales.
std::optional<std::vector<std::string>> Scales(const DotProductWords& w, bool b) {
  const Instruction& i = w.instruction;
  if (i.scale == nullptr) return std::nullopt;
  return HexWords(*i.scale, b ? w.dot.b : w.dot.a, i.shape.k, i.shape.row_words());
}

std::optional<std::vector<std::string>> Metadata(const DotProductWords& w) {
  const Instruction& i = w.instruction;
  if (!i.sparse()) return std::nullopt;
  return HexWords(kMetadataFormat, StoredMetadata(i.shape, w.dot), 0, i.shape.groups);
}

}  // namespace

Json ParametersJson(std::span<const Change> changes) {
  Json json = Json::object();
  for (const auto& [parameter, value] : changes) {
    const std::string text = ValueText(*parameter, value);
    json[parameter->name] = text == absl::StrCat(value) ? Json(value) : Json(text);
  }
  return json;
}

Detail ParameterValues(const char* what) {
  return {.what = what, .schema = MapOf({.kind = Schema::kTextOrInteger})};
}

Fields<Neighbour> FieldsOf(const Neighbour*) {
  return {
      {"name", [](const Neighbour& n) { return Name(n); }},
      {"parameters", [](const Neighbour& n) { return ParametersJson(n.changes); },
       ParameterValues()},
  };
}

Fields<DotProductWords> FieldsOf(const DotProductWords*) {
  using W = DotProductWords;
  return {
      {"a", [](const W& w) { return Factors(w, false); }, HexDigits()},
      {"b", FactorsOfB, Absent(HexDigits())},
      {"c", Addend, Absent(HexDigits())},
      {"scale_a", [](const W& w) { return Scales(w, false); }, Absent(HexDigits())},
      {"scale_b", [](const W& w) { return Scales(w, true); }, Absent(HexDigits())},
      {"metadata", Metadata, Absent(HexDigits())},
      {"d",
       [](const W& w) {
         return w.d ? std::optional(HexWord(*w.instruction.d, *w.d)) : std::nullopt;
       },
       Absent(HexDigits())},
  };
}

Fields<IndistinctPair> FieldsOf(const IndistinctPair*) {
  using I = IndistinctPair;
  return {{"x", &I::x}, {"y", &I::y}, {"why", &I::why, Prose()}};
}

std::vector<std::string> Messages(std::span<const Drop> drops) {
  std::vector<std::string> messages;
  for (const Drop& drop : drops) messages.emplace_back(drop.status.message());
  return messages;
}

std::optional<std::string> FailureName(const std::optional<InputFailure>& failure) {
  return failure ? std::optional(Name(*failure)) : std::nullopt;
}
std::optional<std::string> FailureText(const std::optional<InputFailure>& failure) {
  return failure ? std::optional(failure->text) : std::nullopt;
}
Detail FailureName() {
  return {.what =
              "failure in place of d: unknown_bits, width, text, early_end, crash_exit_N, "
              "crash_signal_N or hang",
          .pattern = "^[a-z_0-9]+$"};
}

Fields<FailureOfCase> FieldsOf(const FailureOfCase*) {
  using F = FailureOfCase;
  return {
      {"failure",
       [](const F& f) { return FailureName(f.failure).value_or(""); },
       {.what = "failure in place of an answer, as in `no_word` of a case; empty if there is an "
                "answer",
        .pattern = "^[a-z_0-9]*$"}},
      {"said", [](const F& f) { return FailureText(f.failure).value_or(""); },
       Prose("message of the program when it failed; may be empty")},
      {"age", &F::age,
       "if a fresh process gives the model's answer: number of answers that this process gave "
       "before; else 0"},
  };
}

Detail StoppedBy() {
  return {.what = "reason for an early end; empty if there was none",
          .pattern =
              "^(|signal [0-9]+|time limit|folder full|budget|mismatch limit|device lost|"
              "not durable)$"};
}

Fields<AnswerOfVector> FieldsOf(const AnswerOfVector*) {
  using A = AnswerOfVector;
  return {
      {"kind",
       [](const A& a) { return Name(a.answer.kind); },
       {.words = {"observed", "published", "expected", "contested"}}},
      {"d", [](const A& a) { return WordText(a.vector, a.answer); }, "word of the result, or NAN"},
      {"instructions", [](const A& a) { return a.answer.patterns; }, "patterns"},
      {"who", [](const A& a) { return a.answer.who; }, Prose()},
  };
}

Fields<LeftOutLine> FieldsOf(const LeftOutLine*) {
  using L = LeftOutLine;
  return {
      {"thing", [](const L& l) { return Name(l.thing); }, {.words = NamesOf<Thing>(kThings)}},
      {"reason", [](const L& l) { return Name(l.reason); }, {.words = NamesOf<Reason>(kReasons)}},
      {"named", &L::exact, "whether the command line names it without a wildcard"},
      {"count", &L::count, {.least = 1}},
      {"of", &L::asked, {.what = "number of requested things", .least = 1}},
      {"names", &L::names, "names of the first of these things"},
      {"detail", &L::detail, Prose("explanation for the first of these things")},
  };
}

}  // namespace mmadiff
