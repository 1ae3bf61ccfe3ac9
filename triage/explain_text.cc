#include "triage/explain_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/simulate.h"
#include "triage/number_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxNamed = 20;  // named below the table

using Row = StageTable::Row;

// Whether the table has changes next to the model, and all have the model's value.
bool AllEqual(const Row& row) {
  return row.values.size() > 1 &&
         std::ranges::all_of(row.values, [&](const auto& v) { return v == row.values.front(); });
}

// The end of the rows that are folded into one with `first`: equal products of zero, or at least
// three rows of one stage that do not show the difference.
std::vector<Row>::const_iterator EndOfFold(std::vector<Row>::const_iterator first,
                                           std::vector<Row>::const_iterator end) {
  const auto while_rows = [&](auto alike) {
    return std::find_if_not(first, end, [&](const Row& row) {
      return !row.parts && row.step == first->step && row.stage == first->stage && alike(row);
    });
  };
  if (first->zero) {
    const auto alike = [&](const Row& row) { return row.zero && row.values == first->values; };
    return std::max(while_rows(alike), first + 1);
  }
  const auto last = while_rows([](const Row& row) { return !row.zero && AllEqual(row); });
  return last - first < 3 ? first + 1 : last;
}

// "product k=1" to "k=15": "product k=1..15"; for groups "product k=0..15 ... k=48..63"; if rows in
// between belong to others, "product k=4 ... k=13 (6)".
std::string NameOfFold(std::vector<Row>::const_iterator first,
                       std::vector<Row>::const_iterator last) {
  int from = 0, to = 0;
  const auto rows = last - first + 1;
  const bool numbers =
      absl::SimpleAtoi(first->term.substr(2), &from) && absl::SimpleAtoi(last->term.substr(2), &to);
  if (numbers && to - from + 1 == rows) return absl::StrCat(first->name, "..", to);
  return absl::StrCat(first->name, " ... ", last->term,
                      numbers ? absl::StrCat(" (", rows, ")") : "");
}

// The results that differ from the device's answer, then that answer. Some of the `changes` have no
// column.
std::string Results(const Format& d, const StageTable& stages, size_t changes, uint64_t answer) {
  std::string text, same;
  for (size_t i = 0; i < stages.columns.size(); ++i) {
    if (stages.results[i] == answer) {
      absl::StrAppend(&same, same.empty() ? ", same as " : ", ", stages.columns[i]);
    } else {
      absl::StrAppend(&text, "result of ", stages.columns[i], ": ", WordText(d, stages.results[i]),
                      "\n");
    }
  }
  const size_t more = changes - std::min(changes, stages.columns.size() - 1);
  if (!same.empty() && more > 0) absl::StrAppend(&same, " and ", more, " more");
  return absl::StrCat(text, "device's answer: ", WordText(d, answer), same, "\n");
}

// The first differing stage in words, and which column has it if it is not the same step in both.
std::string PartingWords(const StageTable& stages) {
  const auto row = std::ranges::find(stages.rows, true, &Row::parts);
  if (row == stages.rows.end() || row->values.size() < 2) return stages.parting;
  const bool model = row->values[0] != "-", change = row->values[1] != "-";
  if (model == change) return stages.parting;
  return absl::StrCat(stages.parting, ", in step ", row->step, " only ", model ? "in " : "with ",
                      model ? "the model" : stages.columns[1]);
}

std::string Conclusion(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                       const std::string& parting) {
  const std::vector<Neighbour>& neighbours = diagnosis.changes;
  if (Gives(op, op.model, observed.dot, observed.d)) {
    const bool nans = observed.d != Simulate(op.model, observed.dot);
    return absl::StrCat("The device agrees with the model",
                        nans ? ": the table does not promise NaN bits" : "", ".\n");
  }
  if (neighbours.empty() && diagnosis.refuted) {
    return "Other answers rule out every change that reproduces this one; the stages shown are "
           "the model's.\n";
  }
  if (neighbours.empty()) {
    return absl::StrCat(
        "No change of one parameter (", diagnosis.singles, " tried) or two (", diagnosis.pairs,
        " tried) reproduces the device's bits; the stages shown are the model's.\n");
  }
  std::string text = absl::StrCat(NameAndMeaning(neighbours[0]), " reproduces the device's bits",
                                  parting.empty() ? "" : "; first differing stage: ", parting);
  absl::StrAppend(&text, ".\n");
  const size_t named = std::min(neighbours.size(), kMaxNamed);
  for (size_t i = 1; i < named; ++i) {
    absl::StrAppend(&text, i == 1 ? "So do " : ", ", Name(neighbours[i]));
  }
  if (named < neighbours.size()) {
    absl::StrAppend(&text, " and ", neighbours.size() - named, " more");
  }
  if (named > 1) absl::StrAppend(&text, ".\n");
  return text;
}

}  // namespace

std::string ModelStagesText(const Operation& op, const Observed& observed, const TextStyle& style) {
  const StageTable stages = MakeStageTable(op, {}, observed.dot);
  return StagesText(stages, style) +
         Wrap(Results(op.model.d, stages, 0, observed.d), style.width, 2);
}

std::string StagesText(const StageTable& stages, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"stage"}};
  for (size_t i = 0; i < stages.columns.size(); ++i) {
    columns.push_back({.title = stages.columns[i], .drop = i < 2 ? 0 : static_cast<int>(i)});
  }
  columns.push_back({""});  // for the mark
  TextTable table(std::move(columns));
  for (StageLine& line : FoldStages(stages)) {
    line.cells.push_back(line.parts ? "<--" : "");
    table.Add(std::move(line.cells), line.parts);
  }
  return table.Text(style);
}

std::vector<StageLine> FoldStages(const StageTable& stages) {
  std::vector<StageLine> lines;
  for (auto row = stages.rows.begin(), end = row; row != stages.rows.end(); row = end) {
    end = EndOfFold(row, stages.rows.end());
    std::vector<std::string> cells = {end - row > 1 ? NameOfFold(row, end - 1) : row->name};
    cells.push_back(end - row > 1 && !row->zero ? "(not shown)" : row->values.front());
    for (size_t i = 1; i < row->values.size(); ++i) {
      const bool same = row->values[i] == row->values.front() && row->values[i] != "-";
      cells.push_back(same ? "=" : row->values[i]);
    }
    lines.push_back({std::move(cells), row->parts});
  }
  return lines;
}

std::string ExplainText(const Operation& op, const Observed& observed, const TextStyle& style) {
  return ExplainText(op, observed, DiagnosisOfAnswer(op, observed), style);
}

Diagnosis DiagnosisOfAnswer(const Operation& op, const Observed& observed) {
  Diagnosis d = FindChange(op, {observed});
  std::vector<Neighbour> near =
      d.changes.empty() ? d.changes : ExplainingNeighbours(op, {&observed, 1});
  if (!near.empty()) d.changes = std::move(near);
  return d;
}

std::string ExplainText(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                        const TextStyle& style) {
  const StageTable stages = MakeStageTable(op, diagnosis.changes, observed.dot);
  const std::string below =
      absl::StrCat(Results(op.model.d, stages, diagnosis.changes.size(), observed.d),
                   Conclusion(op, observed, diagnosis, PartingWords(stages)));
  return StagesText(stages, style) + Wrap(below, style.width, 2);
}

}  // namespace mmadiff
