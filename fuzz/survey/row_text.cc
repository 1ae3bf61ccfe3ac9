#include "fuzz/survey/row_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "fuzz/output/next_command.h"
#include "triage/probe/probe.h"

namespace mmadiff {

std::string LayoutText(const SurveyRow& row) {
  return row.layout +
         (row.sizes.empty() ? "" : absl::StrCat(", also ", absl::StrJoin(row.sizes, " ")));
}

std::string VolumeText(const SurveyRow& row) {
  if (row.dot_products == 0) return "-";
  if (row.mismatches > 0)
    return absl::StrFormat("%d of %d differ", row.mismatches, row.dot_products);
  return absl::StrFormat("0 of %.3g, rate < %.1e", static_cast<double>(row.dot_products),
                         3. / static_cast<double>(row.dot_products));
}

std::string RateText(const SurveyRow& row) {
  if (row.seconds <= 0 || row.dot_products == 0) return "-";
  return absl::StrFormat("%.3g", static_cast<double>(row.dot_products) / row.seconds);
}

std::vector<const SurveyAnswer*> OpenAnswers(const SurveyRow& row) {
  std::vector<const SurveyAnswer*> open;
  for (const SurveyAnswer& a : row.answers) {
    if (!row.modelled && a.cases > 0) open.push_back(&a);
  }
  return open;
}

std::string AnswersText(const SurveyRow& row) {
  if (!row.modelled) {
    const size_t open = OpenAnswers(row).size();
    return open == 0 ? "no model" : absl::StrCat("no model; ", open, " open answers below");
  }
  if (row.answers.empty()) return "-";
  std::vector<std::string> others, open;
  for (const SurveyAnswer& a : row.answers) {
    if (a.agreement == Agreement::kAgrees) continue;
    (a.agreement == Agreement::kOpen ? open : others)
        .push_back(absl::StrCat(a.question, ": ", a.answer));
  }
  const size_t all = row.answers.size() - open.size(), agree = all - others.size();
  if (all > 0)
    others.insert(others.begin(), agree == all ? absl::StrCat("all ", all, " agree")
                                               : absl::StrCat(agree, " of ", all, " agree"));
  for (const SurveyAnswer& a : row.answers) {
    const bool sample = row.slow && MethodOf(a.question) == Method::kPairs;
    if (sample && a.agreement == Agreement::kAgrees) {
      others.push_back("pairs: " + a.answer);
    }
  }
  if (!open.empty()) others.push_back("not predicted: " + absl::StrJoin(open, "; "));
  if (!row.not_asked.empty()) others.push_back("not asked: " + absl::StrJoin(row.not_asked, ", "));
  return absl::StrJoin(others, "; ");
}

std::string VectorsText(const SurveyRow& row) {
  if (row.lines == 0) return "-";
  const bool part = row.lines_left > 0;
  const std::string asked =
      part ? absl::StrCat(row.lines, " of ", row.lines + row.lines_left, " asked, ") : "";
  if (row.lines_differing > 0) {
    return absl::StrCat(asked, row.lines_differing, " of ", row.lines, " differ");
  }
  return part ? asked + "all equal" : absl::StrCat("all ", row.lines, " equal");
}

std::vector<SurveyTask> NotReached(const SurveyOutcome& outcome) {
  std::vector<SurveyTask> tasks = outcome.missing;
  tasks.insert(tasks.end(), outcome.given_up.begin(), outcome.given_up.end());
  return tasks;
}

std::string CheckCommand(const SurveyContradiction& c) {
  return absl::StrCat("echo '", c.finding->cases.front().line, "' | ./mmadiff", ProgramFlags(),
                      " check --expect=1 ", c.op);
}

}  // namespace mmadiff
