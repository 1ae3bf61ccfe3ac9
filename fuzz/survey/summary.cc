#include "fuzz/survey/summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/bucket.h"
#include "fuzz/ask/stage.h"
#include "fuzz/survey/agenda.h"
#include "sim/operation.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

std::string Agrees(const SurveyAnswer& a) {
  return a.scope == Scope::kDotProducts ? "agrees, dot products only" : "agrees";
}

// "m64n64k16"; the name itself if the operation is unknown.
std::string SizeOf(const std::string& op) {
  const Operation* sized = FindOperation(op);
  if (sized == nullptr) return op;
  const Shape& s = sized->shape();
  return absl::StrCat("m", s.m, "n", s.n, "k", s.k);
}

class Summarizer {
 public:
  explicit Summarizer(const SurveyOutcome& outcome) {
    summary_.outcome = &outcome;
    for (const SurveyManifest::Instruction& i : outcome.manifest.instructions) {
      AddRow(i, "");
      for (const std::string& variant : i.variants) AddRow(i, variant);
    }
  }

  SurveySummary Run() {
    std::map<std::pair<std::string, std::string>, const SurveyTask*> canaries;  // the last of a row
    for (const SurveyResult& result : summary_.outcome->results) {
      const SurveyTask& task = result.task;
      if (task.IsCanary()) canaries[{task.op, task.variant}] = &task;
    }
    for (const SurveyResult& result : summary_.outcome->results) {
      const SurveyTask& task = result.task;
      const bool before = task.IsCanary() && canaries.at({task.op, task.variant}) != &task;
      if (!before) Add(result);
    }
    for (const auto& [row, cause] : died_in_questions_) DiedInQuestions(*row, cause);
    for (SurveyRow& row : summary_.rows) NotAsked(row);
    const auto unrepeated = UnrepeatedRows(summary_.outcome->results);
    for (SurveyRow& row : summary_.rows) {
      if (!unrepeated.contains({row.op, row.variant})) continue;
      row.recorded = "no";
      if (repeats_.contains(&row)) row.repeat = "no, later";
    }
    for (const auto& [row, counts] : parts_) {
      const auto& [op, variant, stage] = row;
      if (counts.differing > 0) AddDiffering(op, variant, stage, counts);
    }
    // A row that shows the same difference in several places is one contradiction.
    std::ranges::stable_sort(
        differences_, [](const auto& x, const auto& y) { return IsExplained(x) > IsExplained(y); });
    std::map<std::pair<std::string, std::string>, size_t> said;  // by operation and bucket
    for (SurveyContradiction& c : differences_) {
      if (c.finding != nullptr) {
        const auto [at, added] =
            said.try_emplace({c.op, Name(c.finding->bucket)}, summary_.contradictions.size());
        if (!added) {
          std::vector<std::string>& others = summary_.contradictions[at->second].others;
          const bool new_variant = summary_.contradictions[at->second].variant != c.variant &&
                                   std::ranges::find(others, c.variant) == others.end();
          if (new_variant) others.push_back(c.variant);
          continue;
        }
      }
      const bool known = c.finding == nullptr && (HasFinding(c) || IsFlaky(c));
      if (known) continue;
      summary_.contradictions.push_back(std::move(c));
    }
    summary_.changed = static_cast<int>(summary_.contradictions.size());
    for (const SurveyRow& row : summary_.rows) {
      for (const SurveyTrouble& trouble : row.troubles) {
        summary_.contradictions.push_back(
            {.op = row.op, .variant = row.variant, .what = trouble.Text(), .trouble = true});
      }
      summary_.troubled += !row.troubles.empty();
    }
    return std::move(summary_);
  }

 private:
  static bool IsExplained(const SurveyContradiction& c) {
    return c.finding != nullptr && c.finding->bucket.kind == Bucket::kExplained;
  }
  // Answers that do not repeat prove nothing about the tables.
  bool IsFlaky(const SurveyContradiction& c) const {
    const std::vector<SurveyTrouble>& all = summary_.rows[at_.at({c.op, c.variant})].troubles;
    return std::ranges::count(all, SurveyTrouble::kDoesNotRepeat, &SurveyTrouble::kind) > 0;
  }
  bool HasFinding(const SurveyContradiction& c) const {
    return std::ranges::any_of(differences_, [&](const auto& other) {
      return other.finding != nullptr && other.op == c.op && other.variant == c.variant;
    });
  }

  void AddRow(const SurveyManifest::Instruction& i, const std::string& variant) {
    at_[{i.name, variant}] = summary_.rows.size();
    SurveyRow& row = summary_.rows.emplace_back();
    row.op = i.name;
    row.variant = variant;
    row.emulated = i.emulated;
    row.modelled = FindUnmodelled(i.name) == nullptr;
  }

  // The row of a task. A task for a different size belongs to the row with the table's size.
  // nullptr if the survey has none.
  SurveyRow* RowOf(const SurveyTask& task) {
    const auto at = at_.find({task.op, task.variant});
    if (at != at_.end()) return &summary_.rows[at->second];
    const Operation* sized = FindOperation(task.op);
    for (SurveyRow& row : summary_.rows) {
      const Operation* op = FindOperation(row.op);
      if (sized != nullptr && op != nullptr && row.variant == task.variant &&
          op->numerics == sized->numerics &&
          WithSize(*op->instruction, sized->shape().m, sized->shape().n).name ==
              sized->instruction->name) {
        return &row;
      }
    }
    return nullptr;
  }

  void Add(const SurveyResult& result) {
    const SurveyTask& task = result.task;
    SurveyRow* const found = RowOf(task);
    if (found == nullptr) return;
    SurveyRow& row = *found;
    const std::string size = row.op == task.op ? "" : absl::StrCat(" of ", SizeOf(task.op));
    const std::string where = Name(task.stage) + size;
    if (!result.hardware.empty()) summary_.hardware = result.hardware;
    summary_.seconds += result.seconds;
    AddTrouble(result, where, row);
    if (result.unfinished && !HasParts(task.stage)) {
      AddLines(result, row);
      return;
    }
    switch (task.stage) {
      case kLayout:
        if (!result.answers.empty()) Layout(result, where, row);
        break;
      case kRepeat:
        if (!result.answers.empty()) Repeat(result.answers.front(), where, row);
        break;
      case kQuestions:
      case kPairs:
        for (const SurveyAnswer& a : result.answers) Answer(a, row);
        break;
      case kVectors:
        vectors_[&row] += result.dot_products;
        row.lines_left = result.unfinished ? result.of - std::min(result.of, vectors_[&row]) : 0;
        AddLines(result, row);
        break;
      case kRun:
        row.cases += result.cases;
        row.dot_products += result.dot_products;
        row.mismatches += result.mismatches;
        row.seconds += result.seconds;
        Differs(result, row);
        break;
      case kRecording:
        if (result.status.ok()) row.recorded = result.unfinished ? "part" : "yes";
        Differs(result, row);
        break;
      case kExplain:
        for (const SurveyFinding& f : result.findings) {
          if (!f.bucket.Repeats()) {
            row.troubles.push_back({SurveyTrouble::kDoesNotRepeat, where, f.text});
          } else {
            differences_.push_back({row.op, row.variant, f.text, &f});
          }
        }
        break;
      case kTrap:  // the device was lost; the first time is not the row's fault
        if (++gone_[{row.op, row.variant}] == 2) {
          row.troubles.push_back({SurveyTrouble::kGone});
        }
        break;
    }
  }

  // Records that the device failed, trapped, hung or crashed.
  void AddTrouble(const SurveyResult& result, const std::string& where, SurveyRow& row) {
    const SurveyStage stage = result.task.stage;
    const std::string message(result.status.message());
    if (result.trapped) {
      const bool hangs = absl::IsDeadlineExceeded(result.status);
      row.troubles.push_back({hangs ? SurveyTrouble::kHangs : SurveyTrouble::kTraps, where,
                              absl::StrCat(message, "; on ", Name(result.killing))});
    } else if (!result.status.ok() && stage != kTrap) {
      const bool aborted = absl::IsAborted(result.status);
      row.troubles.push_back(
          {aborted ? SurveyTrouble::kDoesNotRepeat : SurveyTrouble::kFails, where, message});
    } else if (!result.died_of.empty() && stage == kQuestions) {
      died_in_questions_.emplace(&row, result.died_of);
    } else if (!result.died_of.empty()) {
      row.troubles.push_back({SurveyTrouble::kDiedOnce, where, result.died_of});
    }
  }

  // The questions are retried one by one. Only if none of them traps, the crash was a single one.
  static void DiedInQuestions(SurveyRow& row, const std::string& cause) {
    const std::string where = Name(kQuestions);
    if (std::ranges::count(row.troubles, where, &SurveyTrouble::where) > 0) return;
    row.troubles.push_back({SurveyTrouble::kDiedOnce, where, cause});
  }

  static void NotAsked(SurveyRow& row) {
    const Operation* op = FindOperation(row.op);
    if (op == nullptr || !row.slow || !row.variant.empty()) return;
    for (const SurveyTask& single : SingleQuestions({kQuestions, row.op, ""})) {
      const Question& question = *FindQuestion(single.detail);
      const auto asked = std::ranges::count(row.answers, single.detail, &SurveyAnswer::question);
      const bool of_gpus = question.method == Method::kModes;  // programs have no modes
      if (asked > 0 || of_gpus || !Applies(question, *op)) continue;
      const bool never = question.method == Method::kPayloads;
      row.not_asked.push_back(never ? single.detail + ": slow" : single.detail);
    }
  }

  void AddLines(const SurveyResult& result, SurveyRow& row) {
    row.lines += result.dot_products;
    row.lines_differing += result.mismatches;
    Differs(result, row);
  }

  static void Layout(const SurveyResult& result, const std::string& where, SurveyRow& row) {
    const SurveyAnswer& a = result.answers.front();
    const bool own = row.op == result.task.op;
    if (a.agreement == Agreement::kAgrees) {
      if (own) {
        row.layout = Agrees(a);
        row.slow = result.pace > kSlowPace;
      } else {
        row.sizes.push_back(SizeOf(result.task.op));
      }
      return;
    }
    if (own) row.layout = "different";
    row.troubles.push_back({SurveyTrouble::kElsewhere, where, a.decides});
  }

  void Repeat(const SurveyAnswer& a, const std::string& where, SurveyRow& row) {
    if (a.agreement == Agreement::kAgrees) {
      row.repeat = Agrees(a);
      repeats_.insert(&row);
    } else {
      row.repeat = a.answer;
      row.troubles.push_back(
          {SurveyTrouble::kDoesNotRepeat, where, absl::StrCat(a.answer, ": ", a.decides)});
    }
  }

  void Answer(const SurveyAnswer& a, SurveyRow& row) {
    SurveyAnswer kept = a;
    kept.lines.clear();
    row.answers.push_back(std::move(kept));
    if (a.agreement == Agreement::kContradicts) {
      differences_.push_back(
          {row.op, row.variant, absl::StrCat(a.question, ": ", a.answer, ": ", a.decides)});
    }
  }

  void Differs(const SurveyResult& result, const SurveyRow& row) {
    if (result.differing_units > 0) {
      differences_.push_back(
          {row.op, row.variant, absl::StrCat(result.differing_units, " recorded digests differ")});
    }
    const SurveyStage stage = result.task.stage;
    const Counts counts = {result.mismatches, result.dot_products};
    if (HasParts(stage) || result.unfinished) {
      Counts& all = parts_[{row.op, row.variant, stage}];
      all.differing += counts.differing;
      all.dot_products += counts.dot_products;
    } else if (counts.differing > 0) {
      AddDiffering(row.op, row.variant, stage, counts);
    }
  }

  struct Counts {
    uint64_t differing = 0, dot_products = 0;
  };
  void AddDiffering(const std::string& op, const std::string& variant, SurveyStage stage,
                    const Counts& counts) {
    differences_.push_back({op, variant,
                            absl::StrCat(Name(stage), ": ", counts.differing, " of ",
                                         counts.dot_products, " dot products differ")});
  }

  SurveySummary summary_;
  std::vector<SurveyContradiction> differences_;
  std::map<std::tuple<std::string, std::string, SurveyStage>, Counts> parts_;  // sums over parts
  std::map<std::pair<std::string, std::string>, int> gone_;
  std::map<SurveyRow*, std::string> died_in_questions_;
  std::map<SurveyRow*, uint64_t> vectors_;  // their dot products
  std::set<const SurveyRow*> repeats_;      // rows that passed the stage kRepeat
  std::map<std::pair<std::string, std::string>, size_t> at_;
};

}  // namespace

std::string SurveyTrouble::Text() const {
  switch (kind) {
    case kTraps:
      return absl::StrCat("traps in ", where, ": ", what);
    case kHangs:
      return absl::StrCat("hangs in ", where, ": ", what);
    case kFails:
      return absl::StrCat("fails in ", where, ": ", what);
    case kDiedOnce:
      return absl::StrCat("failed once in ", where, " (", what, "), then answered when retried");
    case kDoesNotRepeat:
      return absl::StrCat("does not repeat: ", what);
    case kElsewhere:
      return absl::StrCat("different ", where, ": ", what);
    case kGone:
      return "the device was lost twice after this row was queried";
  }
  return "";
}

std::string SurveyContradiction::Text() const {
  return absl::StrCat(op, variant.empty() ? "" : " with " + variant.substr(1), ": ",
                      finding == nullptr ? "" : Name(finding->bucket) + ": ", what);
}

SurveySummary Summarize(const SurveyOutcome& outcome) { return Summarizer(outcome).Run(); }

}  // namespace mmadiff
