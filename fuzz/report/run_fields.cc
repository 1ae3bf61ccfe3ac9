#include "fuzz/report/run_fields.h"

#include <map>

#include "corpus/hex.h"
#include "corpus/utc_time.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/output/numeric_order.h"
#include "fuzz/output/shared_fields.h"

namespace mmadiff {
namespace {

constexpr const char* kAtLeast =
    "mismatches are those of findings, which no unit counts: there are more";
constexpr const char* kDropped = "INSTRUCTION: why, of those that the last attempt dropped";

Detail DigestOrEmpty(const char* what) { return {.what = what, .pattern = "^([0-9a-f]{32})?$"}; }

Json CountsJson(const RunReportRow& row) {
  Json counts = Json::object();
  for (const auto& [name, count] : InNumericOrder(row.total.counts)) counts[name] = count;
  return counts;
}

std::vector<std::string> NamesOfAll(const std::vector<Hardware>& hardware) {
  std::vector<std::string> names;
  for (const Hardware& one : hardware) names.push_back(Name(one));
  return names;
}

}  // namespace

Detail FindingStates(const char* what) {
  return {.what = what, .words = {std::begin(kFindingStates), std::end(kFindingStates)}};
}

Detail DigestOfRun() {
  return DigestOrEmpty(
      "of the device's results, of the shards that are named; empty while one of their "
      "instructions "
      "is unfinished");
}

UnitCounts CountsOf(const RunReport& report) {
  const UnitResult& total = report.total;
  return {total.cases, total.dot_products, total.mismatches, report.at_least, StoppedText(report)};
}

Fields<UnitCounts> FieldsOf(const UnitCounts*) {
  using C = UnitCounts;
  return {
      {"cases", &C::cases},
      {"dot_products", &C::dot_products},
      {"mismatches", &C::mismatches},
      {"mismatches_at_least", &C::at_least, kAtLeast},
      {"stopped", &C::stopped,
       Prose("which instructions --max_mismatches stopped, and when; empty if none")},
  };
}

Fields<Finding> FieldsOf(const Finding*) {
  using F = Finding;
  return {
      {"instruction", &F::op, InstructionName()},
      {"bucket", [](const F& f) { return Name(f.bucket); },
       "stage and change, or why there is none"},
      {"first_case", &F::case_name},
      {"cases", &F::cases, "of this attempt; 0: of an earlier one"},
      {"flaky", &F::flaky},
      {"state", [](const F& f) { return Name(f.state); },
       FindingStates("the most urgent of its cases")},
      {"path", &F::path, "of the minimal case"},
      {"beside", &F::beside, "paths of the other cases"},
      {"typical", &F::typical, "path of the case of ordinary numbers; empty if none is filed"},
      {"diagnosis", &F::diagnosis, Prose()},
      {"shared", &F::shared, Prose("by the dot products that differ, a sentence; may be empty")},
      {"replaces", [](const F& f) { return NamesOf(f.replaces); }, "buckets"},
      {"parameters", [](const F& f) { return ParametersJson(f.bucket.changes); },
       ParameterValues()},
  };
}

Fields<RunReportRow> FieldsOf(const RunReportRow*) {
  using R = RunReportRow;
  return {
      {"instruction", &R::instruction, InstructionName()},
      {"kind",
       [](const R& r) { return Name(r.state); },
       {.what = "incomplete: units are missing (`finished` is false) or the inputs left gaps "
                "(`empty_classes`, `thin_bins`); nothing: all its units are of other shards",
        .words = {"differs", "flaky", "dropped", "incomplete", "nothing", "agrees"}}},
      {"cases", [](const R& r) { return r.total.cases; }},
      {"planned_cases", &R::planned_cases,
       "of the shards that are named; 0 of a run without an end"},
      {"dot_products", [](const R& r) { return r.total.dot_products; }},
      {"mismatches", [](const R& r) { return r.total.mismatches; }},
      {"mismatches_at_least", &R::at_least, kAtLeast},
      {"mismatch_limit", &R::mismatch_limit,
       "the --max_mismatches that stopped the instruction; 0: none did"},
      {"stopped_at", [](const R& r) { return UtcTime(r.stopped_at); },
       UtcOrEmpty("when, RFC 3339; empty if nothing stopped it")},
      {"bound", [](const R& r) { return r.bound > 0 ? std::optional(r.bound) : std::nullopt; },
       "3/N: the rate of differences is below it (95 %, of this generator); null where it says "
       "nothing"},
      {"seconds", [](const R& r) { return r.total.seconds; },
       "that its units took, summed over threads and machines"},
      {"verdict", [](const R& r) { return Sentence(r); },
       Prose("the column \"evidence\" of the text")},
      {"finished", &R::finished, "all units of the shards that are named are done"},
      {"emulated", &R::emulated},
      {"dropped", [](const R& r) { return std::string(r.dropped.message()); },
       Prose("why the last attempt dropped it; empty if it did not")},
      {"evidence", &R::Grade, "grade of the model; empty if this version has none"},
      {"digest", [](const R& r) { return r.finished ? Hex(r.total.device_digest) : std::string(); },
       DigestOrEmpty("of the device's results; empty while `finished` is false")},
      {"empty_classes", &R::empty_classes},
      {"thin_bins", &R::thin_bins,
       "bins of the model's arithmetic that fewer dot products reached than should; none where "
       "answers differ"},
      {"planted_fault", &R::planted, Prose("that the self-test of this attempt found; else empty")},
      {"counts",
       CountsJson,
       {.what = "of classes of inputs and events of the arithmetic",
        .schema = MapOf({.kind = Schema::kCount})}},
  };
}

Fields<RunReport::Attempt> FieldsOf(const RunReport::Attempt*) {
  using A = RunReport::Attempt;
  return {
      {"seconds", &A::seconds, "that it took"},
      {"threads", &A::threads, {.least = 1}},
      {"dot_products", &A::dot_products},
      {"dot_products_per_second", &A::DotProductsPerSecond},
      {"units", &A::units},
      {"resumed_units", &A::resumed_units, "of earlier attempts"},
      {"nothing_executed", &A::NothingExecuted, "all that there was to do had been done before"},
      {"repeated", &A::repeated,
       "dot products of earlier attempts that were asked for again, the same"},
      {"hardware", [](const A& a) { return NamesOfAll(a.hardware); }},
      {"stopped_by", [](const A& a) { return Name(a.stopped_by); }, StoppedBy()},
  };
}

Fields<RunReport> FieldsOf(const RunReport*) {
  using R = RunReport;
  return {
      {"device", [](const R& r) { return r.manifest.device; }, "specification"},
      {"device_identity", [](const R& r) { return Name(r.manifest.device_identity); }},
      {"tool_version", [](const R& r) { return r.manifest.tool_version; }},
      {"model_version", [](const R& r) { return r.manifest.model_version; }},
      {"generator_version", [](const R& r) { return r.manifest.generator_version; }},
      {"seed", [](const R& r) { return r.manifest.seed; }},
      {"strategy", [](const R& r) { return r.manifest.strategy; }},
      {"folders", &R::folders},
      {"shards", &R::shards, {.least = 1}},
      {"seen_shards", &R::seen,
       "the shards that are named: numbers of those whose folders were read"},
      {"endless", &R::endless, "a run without an end: planned_units says nothing"},
      {"verdict", [](const R& r) { return Sentence(r); }, Prose()},
      {"units", &R::units},
      {"planned_units", &R::planned_units, "of the shards that are named"},
      Field<R>::Flat([](const R& r) { return CountsOf(r); }),
      {"seconds", [](const R& r) { return r.total.seconds; },
       "that all units took, summed over threads and machines"},
      {"digest", &R::digest, DigestOfRun()},
      {"machines", &R::machines},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &R::distrusted, Prose()},
      {"damage", &R::damage, Prose()},
      {"attempt", &R::attempt, "what `run` did now; null in a report of folders"},
      {"instructions", &R::rows},
      {"findings", &R::findings},
  };
}

Fields<RunStatus> FieldsOf(const RunStatus*) {
  using S = RunStatus;
  return {
      {"path", [](const S& s) { return s.folder.path; }},
      {"shard", [](const S& s) { return s.seen.front(); }},
      {"shards", &S::shards, {.least = 1}},
      {"units", &S::units},
      {"planned_units", &S::planned_units},
      {"endless", &S::endless, "a run without an end: planned_units says nothing"},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"findings", [](const S& s) { return s.findings.size(); }},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &S::distrusted, Prose()},
      {"dot_products_per_second", &S::rate,
       "over the seconds in which units were at work; 0 if not known"},
      {"last_unit", [](const S& s) { return UtcTime(s.last_ended); },
       UtcOrEmpty("when it ended, RFC 3339; empty if not known")},
      {"seconds_left", &S::seconds_left, "0 if all is done or nothing is known"},
      {"machines", &S::machines},
      {"writer", &S::writer, "empty if nobody writes"},
      {"damage", &S::damage, Prose()},
  };
}

Fields<ShardsStatus> FieldsOf(const ShardsStatus*) {
  using S = ShardsStatus;
  return {
      {"shards", &S::shards, {.least = 1}},
      {"units", &S::units},
      {"planned_units", &S::planned_units},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"dot_products_per_second", &S::rate, "of the folders that are written now"},
      {"seconds_left", &S::seconds_left},
      {"missing_shards", [](const S& s) { return MissingShards(s.seen, s.shards); }},
  };
}

}  // namespace mmadiff
