#include "fuzz/survey/fields.h"

#include "fuzz/output/shared_fields.h"
#include "fuzz/survey/row_text.h"

namespace mmadiff {

Fields<SurveyFinding::Case> FieldsOf(const SurveyFinding::Case*) {
  using C = SurveyFinding::Case;
  return {{"line", &C::line, "operands and the device's answer, in the line protocol"},
          {"model", &C::model, "the model's answer"},
          {"why", &C::why, Prose("reason for keeping the case")}};
}

Fields<SurveyFinding> FieldsOf(const SurveyFinding*) {
  using F = SurveyFinding;
  return {
      {"bucket", [](const F& f) { return Name(f.bucket); }},
      {"text", &F::text, Prose("explanation of the finding")},
      {"cases", &F::cases, "supporting cases, the minimal one first"},
  };
}

Fields<SurveyAnswer> FieldsOf(const SurveyAnswer*) {
  using A = SurveyAnswer;
  return {
      {"question", &A::question, "name of the question"},
      {"answer", &A::answer, Prose()},
      {"agreement",
       [](const A& a) { return Name(a.agreement); },
       {.what = "agreement of the answer with the tables",
        .words = NamesOf<Agreement>(kAgreements)}},
      {"decides", &A::decides, Prose("conclusion from the answer")},
      {"cases", &A::cases, "dot products behind the answer"},
      {"differing", &A::differing, "dot products that differ from the model of the tables"},
  };
}

Fields<SurveyRow> FieldsOf(const SurveyRow*) {
  using R = SurveyRow;
  return {
      {"instruction", &R::op, InstructionName()},
      {"variant", &R::variant,
       "suffix of the device specification that selects an operand source; empty if none"},
      {"emulated", &R::emulated, "whether the device runs it as several machine instructions"},
      {"modelled", &R::modelled, "whether the tables have a model of it"},
      {"layout", &R::layout, Prose("result of the layout question, in short")},
      {"sizes", &R::sizes, "other sizes whose layout agrees, such as m64n16k16"},
      {"repeat", &R::repeat, Prose("result of the repetition question, in short")},
      {"answers", &R::answers, "answers to the questions about the arithmetic"},
      {"not_asked", &R::not_asked, Prose("questions not asked because the row is slow")},
      {"vectors", &R::lines,
       "compared dot products of vectors, regression cases and unfinished tasks"},
      {"vectors_differing", &R::lines_differing, "`vectors` that differ from the model"},
      {"vectors_left", &R::lines_left, "dot products of vectors that were not reached"},
      {"cases", &R::cases, "executions in the run"},
      {"dot_products", &R::dot_products, "dot products in the run"},
      {"mismatches", &R::mismatches, "mismatches in the run"},
      {"seconds", &R::seconds, "duration of the run"},
      {"recorded",
       &R::recorded,
       {.what = "whether its answers were recorded", .words = {"no", "part", "yes"}}},
      {"troubles",
       [](const R& r) {
         std::vector<std::string> troubles;
         for (const SurveyTrouble& trouble : r.troubles) troubles.push_back(trouble.Text());
         return troubles;
       },
       Prose("problems of the row, whatever the tables predict")},
  };
}

Fields<SurveyContradiction> FieldsOf(const SurveyContradiction*) {
  using C = SurveyContradiction;
  return {
      {"kind",
       [](const C& c) { return c.trouble ? "trouble" : "difference"; },
       {.what = "difference: from the model; trouble: a problem of the row itself",
        .words = {"difference", "trouble"}}},
      {"instruction", &C::op},
      {"variant", &C::variant, "as in `rows`"},
      {"what", &C::what, Prose()},
      {"also", &C::others, "other variants with the same contradiction"},
      {"finding",
       [](const C& c) { return c.finding == nullptr ? std::nullopt : std::optional(*c.finding); },
       Absent({.what = "change of the model that explains it"})},
  };
}

namespace {

std::vector<std::string> Missing(const SurveySummary& summary) {
  std::vector<std::string> missing;
  for (const SurveyTask& task : NotReached(*summary.outcome)) missing.push_back(task.Text());
  return missing;
}

const SurveyManifest& ManifestOf(const SurveySummary& summary) { return summary.outcome->manifest; }

}  // namespace

Fields<SurveySummary> FieldsOf(const SurveySummary*) {
  using S = SurveySummary;
  return {
      {"device", [](const S& s) { return ManifestOf(s).device; }, "device specification"},
      {"device_identity", [](const S& s) { return Name(ManifestOf(s).device_identity); }},
      {"hardware", &S::hardware},
      {"tool_version", [](const S& s) { return ManifestOf(s).tool_version; }},
      {"model_version", [](const S& s) { return ManifestOf(s).model_version; }},
      {"generator_version", [](const S& s) { return ManifestOf(s).generator_version; }},
      {"seed", [](const S& s) { return ManifestOf(s).seed; }},
      {"contradictions", &S::contradictions},
      {"changed", &S::changed, "number of contradictions that are differences from the model"},
      {"troubled", &S::troubled, "number of rows with `troubles`"},
      {"rows", &S::rows},
      {"missing", Missing, Prose("tasks that were not reached")},
      {"left_out", [](const S& s) { return ManifestOf(s).left_out; }},
      {"stopped_by", [](const S& s) { return Name(s.outcome->stopped_by); }, StoppedBy()},
      {"device_gone", [](const S& s) { return std::string(s.outcome->device.message()); },
       Prose("error that ended the use of the device; empty if none")},
      {"seconds", &S::seconds, "duration of all tasks together"},
      // Written by fuzz/survey/stamp.cc.
      {"stamp",
       [](const S&) { return std::optional<std::string>(); },
       {.what = "checksums of the page, only in survey.json (docs/formats.md)",
        .pattern = "^[0-9]+:[0-9a-f]{32}:[0-9a-f]{32}$",
        .absent = true}},
  };
}

Fields<SurveyDifference::Row> FieldsOf(const SurveyDifference::Row*) {
  using R = SurveyDifference::Row;
  return {
      {"instruction", &R::op, InstructionName()},
      {"variant", &R::variant},
      {"what", &R::what, Prose("differences other than single answers")},
      {"differing", &R::differing, "number of common dot products with different answers"},
      {"line", &R::line, "operands of the smallest of these, in the line protocol; may be empty"},
      {"first", &R::first, "first answer to `line`"},
      {"second", &R::second, "second answer to `line`"},
  };
}

Fields<SurveyDifference> FieldsOf(const SurveyDifference*) {
  using D = SurveyDifference;
  return {
      {"first", &D::first, "identity of the first device"},
      {"second", &D::second, "identity of the second device"},
      {"compared", &D::compared,
       "number of dot products, questions, digests and units of runs in both surveys"},
      {"differences", &D::rows, "rows that differ"},
      {"only_first", &D::only_first, "number of rows in the first survey only"},
      {"only_second", &D::only_second, "number of rows in the second survey only"},
      {"only_first_stages", &D::only_first_stages,
       "number of stages of common rows that only the first survey reached"},
      {"only_second_stages", &D::only_second_stages,
       "number of stages of common rows that only the second survey reached"},
      {"torn_first", &D::torn_first, "whether the end of the first log is lost"},
      {"torn_second", &D::torn_second, "whether the end of the second log is lost"},
  };
}

}  // namespace mmadiff
