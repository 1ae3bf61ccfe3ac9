#include "fuzz/survey/fields.h"

#include "fuzz/output/shared_fields.h"
#include "fuzz/survey/row_text.h"

namespace mmadiff {

Fields<SurveyFinding::Case> FieldsOf(const SurveyFinding::Case*) {
  using C = SurveyFinding::Case;
  return {{"line", &C::line}, {"model", &C::model}, {"why", &C::why, Prose()}};
}

Fields<SurveyFinding> FieldsOf(const SurveyFinding*) {
  using F = SurveyFinding;
  return {
      {"bucket", [](const F& f) { return Name(f.bucket); }},
      {"text", &F::text, Prose()},
      {"cases", &F::cases},
  };
}

Fields<SurveyAnswer> FieldsOf(const SurveyAnswer*) {
  using A = SurveyAnswer;
  return {
      {"question", &A::question},
      {"answer", &A::answer, Prose()},
      {"agreement",
       [](const A& a) { return Name(a.agreement); },
       {.words = NamesOf<Agreement>(kAgreements)}},
      {"decides", &A::decides, Prose()},
      {"cases", &A::cases},
      {"differing", &A::differing},
  };
}

Fields<SurveyRow> FieldsOf(const SurveyRow*) {
  using R = SurveyRow;
  return {
      {"instruction", &R::op, InstructionName()},
      {"variant", &R::variant},
      {"emulated", &R::emulated},
      {"modelled", &R::modelled},
      {"layout", &R::layout, Prose("what its `answers` say of it, in short")},
      {"sizes", &R::sizes},
      {"repeat", &R::repeat, Prose("the same")},
      {"answers", &R::answers},
      {"not_asked", &R::not_asked, Prose()},
      {"vectors", &R::lines},
      {"vectors_differing", &R::lines_differing},
      {"vectors_left", &R::lines_left},
      {"cases", &R::cases},
      {"dot_products", &R::dot_products},
      {"mismatches", &R::mismatches},
      {"seconds", &R::seconds},
      {"recorded", &R::recorded, {.words = {"no", "part", "yes"}}},
      {"troubles",
       [](const R& r) {
         std::vector<std::string> troubles;
         for (const SurveyTrouble& trouble : r.troubles) troubles.push_back(trouble.Text());
         return troubles;
       },
       Prose()},
  };
}

Fields<SurveyContradiction> FieldsOf(const SurveyContradiction*) {
  using C = SurveyContradiction;
  return {
      {"kind",
       [](const C& c) { return c.trouble ? "trouble" : "difference"; },
       {.words = {"difference", "trouble"}}},
      {"instruction", &C::op},
      {"variant", &C::variant},
      {"what", &C::what, Prose()},
      {"also", &C::others, "variants of which the same is true"},
      {"finding",
       [](const C& c) { return c.finding == nullptr ? std::nullopt : std::optional(*c.finding); },
       Absent()},
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
      {"device", [](const S& s) { return ManifestOf(s).device; }, "specification"},
      {"device_identity", [](const S& s) { return Name(ManifestOf(s).device_identity); }},
      {"hardware", &S::hardware},
      {"tool_version", [](const S& s) { return ManifestOf(s).tool_version; }},
      {"model_version", [](const S& s) { return ManifestOf(s).model_version; }},
      {"generator_version", [](const S& s) { return ManifestOf(s).generator_version; }},
      {"seed", [](const S& s) { return ManifestOf(s).seed; }},
      {"contradictions", &S::contradictions},
      {"changed", &S::changed},
      {"troubled", &S::troubled},
      {"rows", &S::rows},
      {"missing", Missing, Prose("tasks that were not reached")},
      {"left_out", [](const S& s) { return ManifestOf(s).left_out; }},
      {"stopped_by", [](const S& s) { return Name(s.outcome->stopped_by); }, StoppedBy()},
      {"device_gone", [](const S& s) { return std::string(s.outcome->device.message()); }, Prose()},
      {"seconds", &S::seconds, "of all tasks"},
      // Written by fuzz/survey/stamp.cc.
      {"stamp",
       [](const S&) { return std::optional<std::string>(); },
       {.what = "in survey.json alone: docs/formats.md",
        .pattern = "^[0-9]+:[0-9a-f]{32}:[0-9a-f]{32}$",
        .absent = true}},
  };
}

Fields<SurveyDifference::Row> FieldsOf(const SurveyDifference::Row*) {
  using R = SurveyDifference::Row;
  return {
      {"instruction", &R::op, InstructionName()},
      {"variant", &R::variant},
      {"what", &R::what, Prose()},
      {"differing", &R::differing, "common answers"},
      {"line", &R::line, "operands of the smallest of them, as in the line protocol"},
      {"first", &R::first},
      {"second", &R::second},
  };
}

Fields<SurveyDifference> FieldsOf(const SurveyDifference*) {
  using D = SurveyDifference;
  return {
      {"first", &D::first, "identity of who answered"},
      {"second", &D::second},
      {"compared", &D::compared},
      {"differences", &D::rows},
      {"only_first", &D::only_first},
      {"only_second", &D::only_second},
      {"only_first_stages", &D::only_first_stages},
      {"only_second_stages", &D::only_second_stages},
      {"torn_first", &D::torn_first, "the end of its log is lost"},
      {"torn_second", &D::torn_second},
  };
}

}  // namespace mmadiff
