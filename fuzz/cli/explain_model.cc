#include "fuzz/cli/explain_model.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "corpus/durable_file.h"
#include "device/line_protocol.h"
#include "fuzz/case_json.h"
#include "fuzz/json_text.h"
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

absl::Status Fill(const char* flag, const Format& format, const std::vector<std::string>& numbers,
                  size_t first, size_t count, std::vector<uint64_t>& words) {
  if (numbers.size() > count) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " has ", numbers.size(), " numbers; the instruction takes ", count));
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const absl::StatusOr<uint64_t> word = ParseNumber(format, numbers[i]);
    if (!word.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": ", word.status().message()));
    }
    words[first + i] = *word;
  }
  return absl::OkStatus();
}

std::string CsvCell(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

// "0x3f7fffff  1 - 2^-24  0x1.fffffep-1  ~0.999999940".
std::string ResultText(const Format& d, uint64_t word) {
  std::string text = absl::StrCat("result 0x", HexWord(d, word), "  ", NumberText(d, word));
  if (IsInteger(d)) return text;
  absl::StrAppend(&text, "  ", HexFloat(d, word));
  const Unpacked u = Decode(d, word);
  if (u.kind != Kind::kFinite) return text;
  const double value = std::ldexp(static_cast<double>(u.significand), u.exponent - d.fraction_bits);
  const std::string decimal =
      absl::StrFormat("%s%.*g", u.negative ? "-" : "", d.bits == 64 ? 17 : 9, value);
  const absl::StatusOr<uint64_t> exact = ParseNumber(d, decimal);
  const std::string shown = absl::StrCat(exact.ok() && *exact == word ? "" : "~", decimal);
  return shown == NumberText(d, word) ? text : absl::StrCat(text, "  ", shown);
}

}  // namespace

absl::StatusOr<ProtocolLine> DotProductOf(const Operation& op, const OwnNumbers& numbers) {
  const Model& m = op.model;
  if (numbers.line) {
    if (OwnNumbers others = numbers; others.line.reset(), others.any()) {
      return absl::InvalidArgumentError("write --line or numbers, not both");
    }
    return ParseLine(*op.instruction, *numbers.line);
  }
  DotProductCase dot = NeutralDotProduct(m);
  const size_t k = m.k, scales = m.scales();
  for (const absl::Status& s :
       {Fill("--a", m.a, numbers.a, 0, k, dot.a), Fill("--b", m.b, numbers.b, 0, k, dot.b),
        Fill("--scale_a", m.scale, numbers.scale_a, k, scales, dot.a),
        Fill("--scale_b", m.scale, numbers.scale_b, k, scales, dot.b)}) {
    if (!s.ok()) return s;
  }
  if (numbers.c) {
    const absl::StatusOr<uint64_t> c = ParseNumber(m.c, *numbers.c);
    if (!c.ok()) return absl::InvalidArgumentError(absl::StrCat("--c: ", c.status().message()));
    dot.c = *c;
  }
  const std::string dense = WhyNotSparse(*op.instruction, std::span(dot.a).first(k));
  if (!dense.empty()) return absl::InvalidArgumentError(dense);
  return ProtocolLine{std::move(dot), std::nullopt};
}

std::string StagesCsv(const StageTable& table) {
  std::string text = "stage";
  for (const std::string& column : table.columns) absl::StrAppend(&text, ",", CsvCell(column));
  for (const StageTable::Row& row : table.rows) {
    absl::StrAppend(&text, "\n", CsvCell(row.name));
    for (const std::string& value : row.values) absl::StrAppend(&text, ",", CsvCell(value));
  }
  return text + "\n";
}

nlohmann::ordered_json StagesJson(const StageTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StageTable::Row& row : table.rows) {
    rows.push_back({{"stage", row.name}, {"values", row.values}, {"differs_first", row.parts}});
  }
  return {{"columns", table.columns}, {"rows", rows}};
}

bool WriteDrawing(const Operation& op, const DotProductCase& dot, const StageOutput& output,
                  Ending& ending) {
  if (output.svg.empty()) return true;
  if (AlignedSteps(op.model, dot).empty()) {
    ending.Say(Verdict::kUsage,
               absl::StrCat(
                   "--svg: ", op.name,
                   " aligns nothing here: its family does not, or all products are zero, or one is "
                   "not finite"));
    return false;
  }
  const absl::Status s = WriteFileDurably(output.svg, AlignmentSvg(op.model, dot, op.name));
  if (!s.ok()) ending.Say(Verdict::kNotWritten, std::string(s.message()));
  return s.ok();
}

std::string ModelText(const Operation& op, const DotProductCase& dot, const TextStyle& style) {
  const StageTable stages = MakeStageTable(op, {}, dot);
  return absl::StrCat(
      StagesText(stages, style), ResultText(*op.instruction->d, stages.results.front()), "\n",
      AlignedSteps(op.model, dot).empty() ? "" : "\n", AlignmentText(op.model, dot, style));
}

void ExplainModel(const Operation& op, const DotProductCase& dot, const StageOutput& output,
                  const Globals& globals, Ending& ending) {
  Console console = globals.MakeConsole();
  const StageTable stages = MakeStageTable(op, {}, dot);
  if (!WriteDrawing(op, dot, output, ending)) return;
  if (globals.json) {
    console.Print(JsonText({{"instruction", op.name},
                            {"parameters", ParametersJson(AlgorithmFields(op.model.algorithm))},
                            {"dot_product", DotProductJson(*op.instruction, dot, std::nullopt)},
                            {"model", HexWord(*op.instruction->d, stages.results.front())},
                            {"stages", StagesJson(stages)}},
                           1) +
                  "\n");
    return;
  }
  if (output.csv) {
    console.Print(StagesCsv(stages));
    return;
  }
  const TextStyle style = console.style();
  console.Print(
      absl::StrCat(Wrap(absl::StrCat(op.name, "  ", DescribeModel(op.model), "\n"), style.width, 2),
                   CaseText(op, dot, 2, style.width), ModelText(op, dot, style)));
}

}  // namespace mmadiff
