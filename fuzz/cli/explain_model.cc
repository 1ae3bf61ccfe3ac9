#include "fuzz/cli/explain_model.h"

#include <cmath>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/durable_file.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/parameter.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/alignment_drawing.h"
#include "triage/case_text.h"
#include "triage/explain_text.h"
#include "triage/model_words.h"
#include "triage/number_text.h"
#include "triage/parse_number.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Converts numbers to words; rounded numbers are printed once per flag.
class Filler {
 public:
  explicit Filler(Console& console) : console_(console) {}

  absl::Status Fill(const char* flag, const Format& format, const std::vector<std::string>& numbers,
                    size_t count, uint64_t* words) {
    if (numbers.size() > count) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, " has ", numbers.size(), " numbers; the instruction takes ", count));
    }
    std::vector<std::string> rounded;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const absl::StatusOr<RoundedNumber> number = RoundNumber(format, numbers[i]);
      if (!number.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(flag, ": ", number.status().message()));
      }
      words[i] = number->word;
      if (number->exact) continue;
      rounded.push_back(absl::StrCat(numbers[i], " is 0x", HexWord(format, words[i]), " = ",
                                     NumberText(format, words[i])));
    }
    if (!rounded.empty()) {
      console_.Warn(
          absl::StrCat(flag, ": rounded to ", format.name, ": ", absl::StrJoin(rounded, ", ")));
    }
    return absl::OkStatus();
  }
  absl::Status Fill(const char* flag, const Format& format,
                    const std::optional<std::string>& number, uint64_t* word) {
    return number ? Fill(flag, format, std::vector{*number}, 1, word) : absl::OkStatus();
  }

 private:
  Console& console_;
};

// "0x3f7fffff = 1 - 2^-24 = 0x1.fffffep-1 = ~0.999999940".
std::string ResultText(const Format& d, uint64_t word) {
  std::string text = absl::StrCat("result 0x", HexWord(d, word), " = ", NumberText(d, word));
  if (IsInteger(d)) return text;
  absl::StrAppend(&text, " = ", HexFloat(d, word));
  const Unpacked u = Decode(d, word);
  if (u.kind != Kind::kFinite) return text;
  const double value = std::ldexp(static_cast<double>(u.significand), u.exponent - d.fraction_bits);
  const std::string decimal =
      absl::StrFormat("%s%.*g", u.negative ? "-" : "", d.bits == 64 ? 17 : 9, value);
  const absl::StatusOr<uint64_t> exact = ParseNumber(d, decimal);
  const std::string shown = absl::StrCat(exact.ok() && *exact == word ? "" : "~", decimal);
  const std::string number = NumberText(d, word);
  return shown == number || shown + ".0" == number ? text : absl::StrCat(text, " = ", shown);
}

// The second row and its result.
struct OtherModel {
  const std::string& name;
  const Format& format;
  uint64_t d;
};

Fields<OtherModel> FieldsOf(const OtherModel*) {
  using O = OtherModel;
  return {
      {"name", [](const O& o) { return o.name; },
       "row of --against; \"2 x ...\" is a chain of two"},
      {"d", [](const O& o) { return HexWord(o.format, o.d); }, HexDigits()},
  };
}

std::optional<OtherModel> OtherOf(const ExplainedModel& e) {
  if (e.against == nullptr) return std::nullopt;
  return OtherModel{e.against->name, *e.op.instruction->d, e.stages.results[1]};
}

}  // namespace

Fields<StageTable::Row> FieldsOf(const StageTable::Row*) {
  using R = StageTable::Row;
  return {
      {"stage", &R::name},
      {"values", &R::values, {.what = "one value per column; \"-\" for none", .least_items = 1}},
      {"differs_first", &R::parts, "whether the model and the first change diverge at this stage"},
  };
}

Fields<StageTable> FieldsOf(const StageTable*) {
  using T = StageTable;
  return {
      {"columns", &T::columns, {.what = "\"model\", then one column per change", .least_items = 1}},
      {"rows", &T::rows},
  };
}

Fields<ModelParameters> FieldsOf(const ModelParameters*) {
  using P = ModelParameters;
  return {
      {"instruction", [](const P& p) { return p.op.name; }, InstructionName()},
      {"parameters",
       [](const P& p) { return ParametersJson(AlgorithmFields(p.op.model.algorithm)); },
       ParameterValues()},
  };
}

Fields<StagesOf> FieldsOf(const StagesOf*) {
  using S = StagesOf;
  return {
      {"model", [](const S& s) { return HexWord(*s.op.instruction->d, s.stages.results.front()); },
       HexDigits()},
      {"stages", [](const S& s) { return s.stages; }},
  };
}

Fields<ExplainedModel> FieldsOf(const ExplainedModel*) {
  using E = ExplainedModel;
  return {
      Field<E>::Flat([](const E& e) { return ModelParameters{e.op}; }),
      {"dot_product",
       [](const E& e) {
         return DotProductWords{*e.op.instruction, e.dot};
       }},
      Field<E>::Flat([](const E& e) {
        return StagesOf{e.op, e.stages};
      }),
      {"against", OtherOf, Absent({.what = "second model; only with --against"})},
  };
}

absl::StatusOr<ProtocolLine> DotProductOf(const Operation& op, const OwnNumbers& numbers,
                                          Console& console) {
  const Model& m = op.model;
  if (numbers.line) {
    if (OwnNumbers others = numbers; others.line.reset(), others.any()) {
      return absl::InvalidArgumentError("write --line or numbers, not both");
    }
    return ParseLine(*op.instruction, *numbers.line);
  }
  ProtocolLine line = {NeutralDotProduct(m), std::nullopt};
  DotProductCase& dot = line.dot;
  const size_t k = m.k, scales = m.scales(), groups = m.groups();
  Filler filler(console);
  uint64_t d = 0;
  for (const absl::Status& s :
       {filler.Fill("--a", m.a, numbers.a, k, dot.a.data()),
        filler.Fill("--b", m.b, numbers.b, k, dot.b.data()),
        filler.Fill("--scale_a", m.scale, numbers.scale_a, scales, dot.a.data() + k),
        filler.Fill("--scale_b", m.scale, numbers.scale_b, scales, dot.b.data() + k),
        filler.Fill("--metadata", kU4, numbers.metadata, groups, dot.metadata.data()),
        filler.Fill("--c", m.c, numbers.c, &dot.c), filler.Fill("--d", m.d, numbers.d, &d)}) {
    RETURN_IF_ERROR(s);
  }
  if (numbers.d) line.d = d;
  const std::span<const uint64_t> given(dot.metadata.data(), numbers.metadata.size());
  std::string why = WhyUndefined(*op.instruction, given);
  if (why.empty()) why = WhyNotSparse(*op.instruction, dot.a, dot.metadata);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  return line;
}

std::string StagesCsv(const StageTable& table) {
  const auto line = [](const std::string& name, std::vector<std::string> cells) {
    cells.insert(cells.begin(), name);
    return CsvLine(cells);
  };
  std::string text = line("stage", table.columns);
  for (const StageTable::Row& row : table.rows) text += line(row.name, row.values);
  return text;
}

bool WriteDrawing(const NamedModels& models, const DotProductCase& dot, const StageOutput& output,
                  Ending& ending) {
  if (output.svg.empty()) return true;
  for (const auto& [name, model] : models) {
    if (!AlignedSteps(model, dot).empty()) continue;
    ending.Say(
        Verdict::kUsage,
        absl::StrCat("--svg: ", name,
                     " has nothing to draw: it adds integers or only zeros, or a number is not "
                     "finite"));
    return false;
  }
  const absl::Status s = WriteFileDurably(output.svg, AlignmentSvg(models, dot));
  if (!s.ok()) ending.Say(Verdict::kNotWritten, std::string(s.message()));
  return s.ok();
}

std::string ModelText(const Operation& op, const DotProductCase& dot, const TextStyle& style) {
  const StageTable stages = MakeStageTable(op, {}, dot);
  return absl::StrCat(
      StagesText(stages, style), ResultText(*op.instruction->d, stages.results.front()), "\n",
      AlignedSteps(op.model, dot).empty() ? "" : "\n", AlignmentText(op.model, dot, style));
}

void ExplainAgainst(const Operation& op, const DotProductCase& dot, const Racer& against,
                    const StageOutput& output, Call& call) {
  const Racer other = ChainedRacer(against, op.model.k);
  if (const std::string why = WhyNotComparable(op.model, other.model); !why.empty()) {
    return call.Say(Verdict::kUsage,
                    absl::StrCat("--against: ", op.name, " and ", other.name, ": ", why));
  }
  const NamedModels models = {{op.name, op.model}, {other.name, other.model}};
  if (!WriteDrawing(models, dot, output, call)) return;
  const StageTable stages = MakeStageTable(models, dot);
  const Format& d = *op.instruction->d;
  call.Print(ExplainedModel{op, dot, stages, &other}, [&] {
    if (output.csv) return StagesCsv(stages);
    const TextStyle style = call.console.style();
    StageTable titled = stages;
    titled.columns = {"x", "y"};
    return absl::StrCat(Wrap(absl::StrCat("x  ", op.name, "  ", DescribeModel(op.model), "\ny  ",
                                          other.name, "  ", DescribeModel(other.model), "\n"),
                             style.width, 3),
                        CaseText(op, dot, 2, style.width), StagesText(titled, style), "x ",
                        ResultText(d, stages.results[0]), "\ny ", ResultText(d, stages.results[1]),
                        "\n");
  });
  if (!SameResult(op, stages.results[0], stages.results[1])) call.Say(Verdict::kDiffers);
}

void ExplainModel(const Operation& op, const DotProductCase& dot, const StageOutput& output,
                  Call& call) {
  const StageTable stages = MakeStageTable(op, {}, dot);
  if (!WriteDrawing({{op.name, op.model}}, dot, output, call)) return;
  call.Print(ExplainedModel{op, dot, stages}, [&] {
    if (output.csv) return StagesCsv(stages);
    const TextStyle style = call.console.style();
    return absl::StrCat(
        Wrap(absl::StrCat(op.name, "  ", DescribeModel(op.model), "\n"), style.width, 2),
        CaseText(op, dot, 2, style.width), ModelText(op, dot, style));
  });
}

}  // namespace mmadiff
