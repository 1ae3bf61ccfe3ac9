#include "fuzz/survey/compare.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/stored_files.h"
#include "corpus/survey_log.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/output/progress.h"
#include "fuzz/survey/verify.h"
#include "triage/case_text.h"
#include "triage/probe/questions.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

AnswersByRow Everything(const StoredSurvey& stored) {
  AnswersByRow all;
  const std::string stream =
      absl::StrCat("g", stored.manifest.generator_version, ":", stored.manifest.seed);
  for (const SurveyResult& result : stored.results) {
    StoredAnswers& said = all[{result.task.op, result.task.variant}];
    const auto add = [&said](const std::string& line) {
      const size_t space = line.rfind(' ');
      if (space != line.npos) said.words.emplace(line.substr(0, space), line.substr(space + 1));
    };
    if (result.task.stage == SurveyStage::kTrap || result.task.IsCanary()) continue;
    if (!result.unfinished || HasParts(result.task.stage)) {
      const StageEnd end = result.trapped       ? StageEnd::kTraps
                           : result.status.ok() ? StageEnd::kAnswered
                                                : StageEnd::kFails;
      StageEnd& stage = said.stages[result.task.stage];
      if (end != StageEnd::kAnswered) stage = end;
    }
    if (result.task.stage == SurveyStage::kRun && !result.unfinished) {
      said.units[{stream, result.first_case, result.cases}] = {
          result.mismatches, result.mismatches > 0 ? result.first_mismatch : ""};
    }
    for (const SurveyDigests& d : result.digests) {
      for (size_t u = 0; u < d.digests.size(); ++u) {
        said.digests[{d.stream, d.unit_cases, u}] = d.digests[u];
      }
    }
    for (const SurveyAnswer& a : result.answers) {
      said.answers[a.question] = a;
      for (const std::string& line : a.lines) add(line);
    }
    for (const SurveyLine& line : result.lines) add(line.line);
    for (const SurveyFinding& f : result.findings) {
      for (const SurveyFinding::Case& c : f.cases) add(c.line);
    }
    for (const SurveyOutputs& o : result.outputs) {
      SurveyOutputs& outputs = said.outputs[o.stream];
      if (o.first != outputs.count) continue;
      outputs.count += o.count;
      outputs.d += o.d;
    }
  }
  return all;
}

// The number of nonzero operands, which measures the size of a dot product.
size_t Terms(const std::string& line) {
  size_t terms = 0;
  for (const absl::string_view word : absl::StrSplit(line, ' ')) {
    terms += word.find_first_not_of('0') != word.npos;
  }
  return terms;
}

// A slow device answers fewer pairs; the two agree if the pairs that both answered can agree.
bool SameSaid(const SurveyAnswer& x, const SurveyAnswer& y) {
  const Method method = MethodOf(x.question);
  if (method == Method::kLayout || method == Method::kRepeat) return x.agreement == y.agreement;
  if (method != Method::kPairs) return x.facts == y.facts;
  if (x.cases == y.cases) return x.differing == y.differing;
  const auto& [sample, more] = x.cases < y.cases ? std::tie(x, y) : std::tie(y, x);
  return sample.differing <= more.differing;
}

const char* Name(StageEnd end) {
  constexpr const char* kNames[] = {"answered", "fails", "traps"};
  return kNames[static_cast<int>(end)];
}

std::string MismatchesText(const StoredAnswers::Mismatches& m) {
  return absl::StrCat(m.count, m.count > 0 ? ", first " + m.first : "");
}

class Comparer {
 public:
  Comparer(const AnswersByRow::key_type& row, SurveyDifference& difference)
      : difference_(difference) {
    row_.op = row.first;
    row_.variant = row.second;
  }

  void Compare(const StoredAnswers& x, const StoredAnswers& y) {
    const Operation* op = FindOperation(row_.op, Models::kOptional);
    for (const auto& [question, answer] : x.answers) {
      const auto other = y.answers.find(question);
      if (other == y.answers.end()) continue;
      ++difference_.compared;
      ++difference_.questions;
      if (SameSaid(answer, other->second)) continue;
      row_.what.push_back(absl::StrCat(question, ": ", answer.answer, " | ", other->second.answer));
    }
    for (const auto& [stage, outcome] : x.stages) {
      const auto other = y.stages.find(stage);
      difference_.only_first_stages += other == y.stages.end();
      if (other == y.stages.end() || outcome == other->second) continue;
      row_.what.push_back(
          absl::StrCat(Name(stage), ": ", Name(outcome), " | ", Name(other->second)));
    }
    for (const auto& [stage, outcome] : y.stages) {
      difference_.only_second_stages += !x.stages.contains(stage);
    }
    for (const auto& [cases, mismatches] : x.units) {
      const auto other = y.units.find(cases);
      if (other == y.units.end()) continue;
      ++difference_.compared;
      ++difference_.runs;
      if (mismatches == other->second) continue;
      row_.what.push_back(absl::StrCat("run, ", std::get<2>(cases), " cases from ",
                                       std::get<1>(cases),
                                       ": differ from the model: ", MismatchesText(mismatches),
                                       " | ", MismatchesText(other->second)));
    }
    uint64_t digests = 0;
    for (const auto& [unit, digest] : x.digests) {
      const auto other = y.digests.find(unit);
      if (other == y.digests.end()) continue;
      ++difference_.compared;
      ++difference_.digests;
      digests += digest != other->second;
    }
    if (digests > 0)
      row_.what.push_back(absl::StrCat(CountText(digests, "digest"), " for the same cases ",
                                       digests == 1 ? "differs" : "differ"));
    if (op != nullptr) {
      Words(*op, x, y);
      for (const auto& [stream, outputs] : x.outputs) {
        const auto other = y.outputs.find(stream);
        if (other != y.outputs.end()) Outputs(*op, stream, outputs.d, other->second.d);
      }
    }
    if (row_.differing > 0 || !row_.what.empty()) difference_.rows.push_back(std::move(row_));
  }

 private:
  void Words(const Operation& op, const StoredAnswers& x, const StoredAnswers& y) {
    for (const auto& [line, word] : x.words) {
      const auto other = y.words.find(line);
      if (other == y.words.end()) continue;
      ++difference_.compared;
      const auto d = ParseHexWord(*op.instruction->d, word);
      const auto e = ParseHexWord(*op.instruction->d, other->second);
      if (d.ok() && e.ok() && SameAnswer(op, *d, *e)) continue;
      Differs(line, word, other->second);
    }
  }

  void Outputs(const Operation& op, const std::string& stream, const std::string& x,
               const std::string& y) {
    const Format& f = *op.instruction->d;
    const auto words = static_cast<int64_t>(std::min(x.size(), y.size()) / WordBytes(f));
    difference_.compared += words;
    const absl::StatusOr<CaseStream> cases = ParseStreamName(stream, Models::kOptional);
    for (int64_t i = 0; i < words; ++i) {
      const uint64_t d = UnpackWord(f, x, i), e = UnpackWord(f, y, i);
      if (SameAnswer(op, d, e)) continue;
      if (!cases.ok()) {
        ++row_.differing;
        continue;
      }
      Batch batch;
      const int64_t each = op.shape().d_words();
      Generate(*cases, i / each, 1, batch);
      Differs(FormatLine(*op.instruction, Extract(batch, i % each)), HexWord(f, d), HexWord(f, e));
    }
  }

  void Differs(const std::string& line, const std::string& x, const std::string& y) {
    ++row_.differing;
    const auto size = [](const std::string& l) { return std::pair(Terms(l), l); };
    if (!row_.line.empty() && size(row_.line) <= size(line)) return;
    row_.line = line;
    row_.first = x;
    row_.second = y;
  }

  SurveyDifference& difference_;
  SurveyDifference::Row row_;
};

std::string OperandsText(const SurveyDifference::Row& row) {
  const Operation* op = FindOperation(row.op, Models::kOptional);
  const auto line = op == nullptr ? absl::NotFoundError("") : ParseLine(*op->instruction, row.line);
  return line.ok() ? CaseText(*op, line->dot, 2) : absl::StrCat("  operands  ", row.line, "\n");
}

absl::StatusOr<StoredSurvey> Whole(const std::string& folder, std::vector<std::string>& warnings) {
  absl::StatusOr<StoredSurvey> stored = ReadSurvey(folder);
  if (absl::IsNotFound(stored.status())) {
    return absl::InvalidArgumentError(absl::StrCat(folder, " is not a survey folder"));
  }
  RETURN_IF_ERROR(stored.status());
  SurveyCheck check = CheckSurvey(folder, *stored);
  if (!check.wrong.empty()) return absl::AbortedError(check.wrong.front());
  ASSIGN_OR_RETURN(const auto others, OtherAnswersBelow(folder));
  if (!others.empty()) {
    return absl::AbortedError(others.front() + ": not part of the survey; move it elsewhere");
  }
  std::ranges::move(check.stale, std::back_inserter(warnings));
  return stored;
}

}  // namespace

bool SameAnswer(const Operation& op, uint64_t x, uint64_t y) {
  return IsModelled(op) ? SameResult(op, x, y) : x == y;
}

void CompareAnswers(const AnswersByRow& x, const AnswersByRow& y, SurveyDifference& difference) {
  for (const auto& [row, said] : x) {
    const auto other = y.find(row);
    if (other == y.end()) {
      ++difference.only_first;
    } else {
      Comparer(row, difference).Compare(said, other->second);
    }
  }
  for (const auto& [row, said] : y) difference.only_second += !x.contains(row);
}

absl::StatusOr<SurveyDifference> CompareSurveys(const std::string& first,
                                                const std::string& second) {
  SurveyDifference difference;
  ASSIGN_OR_RETURN(const StoredSurvey x, Whole(first, difference.warnings));
  ASSIGN_OR_RETURN(const StoredSurvey y, Whole(second, difference.warnings));
  difference.first = Name(x.manifest.device_identity);
  difference.second = Name(y.manifest.device_identity);
  difference.torn_first = !x.stats.damage.empty();
  difference.torn_second = !y.stats.damage.empty();
  CompareAnswers(Everything(x), Everything(y), difference);
  return difference;
}

std::string SurveyDifference::Text(size_t width) const {
  std::string text = absl::StrCat("first   ", first, "\nsecond  ", second, "\n", RowsText());
  // As in `report --compare`, "common answers" counts dot products only.
  absl::StrAppend(&text, compared - questions - digests - runs, " common answers, ",
                  CountText(questions, "question"), ", ", CountText(digests, "digest"), ", ",
                  CountText(runs, "unit"), " in runs; rows that differ: ", rows.size(),
                  ", only in the first: ", only_first, ", only in the second: ", only_second,
                  "; stages of common rows that only the first reached: ", only_first_stages,
                  ", only the second: ", only_second_stages, "\n");
  if (torn_first) absl::StrAppend(&text, "the log of the first survey is cut off\n");
  if (torn_second) absl::StrAppend(&text, "the log of the second survey is cut off\n");
  return Wrap(text, width, 2);
}

std::string SurveyDifference::RowsText() const {
  std::string text;
  for (const Row& row : rows) {
    absl::StrAppend(
        &text, row.op, row.variant.empty() ? "" : " with " + row.variant.substr(1),
        row.differing == 0 ? "" : absl::StrCat(": ", row.differing, " common answers differ"),
        "\n");
    for (const std::string& what : row.what) absl::StrAppend(&text, "  ", what, "\n");
    if (row.line.empty()) continue;
    absl::StrAppend(&text, OperandsText(row), "  first     ", row.first, "\n  second    ",
                    row.second, "\n");
  }
  return text;
}

}  // namespace mmadiff
