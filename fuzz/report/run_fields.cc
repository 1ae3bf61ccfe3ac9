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
    "whether mismatches is a lower bound: the number of findings, since no unit counted any";
constexpr const char* kDropped =
    "instructions that the last attempt dropped, as INSTRUCTION: REASON";

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
      "digest of the device's results in the named shards; empty while one of their instructions "
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
       Prose("how many instructions --max_mismatches stopped, and when; empty if none")},
  };
}

Fields<Finding> FieldsOf(const Finding*) {
  using F = Finding;
  return {
      {"instruction", &F::op, InstructionName()},
      {"bucket", [](const F& f) { return Name(f.bucket); },
       "stage and change that explain it, or the reason why there is no explanation"},
      {"first_case", &F::case_name, "name of the first case"},
      {"cases", &F::cases, "number of cases in this attempt; 0 if an earlier attempt filed it"},
      {"flaky", &F::flaky, "whether the device's answers did not repeat"},
      {"state", [](const F& f) { return Name(f.state); },
       FindingStates("most urgent state of its cases")},
      {"path", &F::path, "path of the minimal case; empty if it could not be filed"},
      {"beside", &F::beside, "paths of the other cases"},
      {"typical", &F::typical, "path of a case with ordinary numbers; empty if none is filed"},
      {"diagnosis", &F::diagnosis, Prose("search for an explanation and its result; may be empty")},
      {"shared", &F::shared,
       Prose("common property of the differing dot products, as a sentence; may be empty")},
      {"replaces", [](const F& f) { return NamesOf(f.replaces); },
       "buckets that this finding refutes"},
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
                "(`empty_classes`, `thin_bins`); nothing: all its units belong to other shards",
        .words = {"differs", "flaky", "dropped", "incomplete", "nothing", "agrees"}}},
      {"cases", [](const R& r) { return r.total.cases; }},
      {"planned_cases", &R::planned_cases,
       "cases planned for the named shards; 0 if the run has no end"},
      {"dot_products", [](const R& r) { return r.total.dot_products; }},
      {"mismatches", [](const R& r) { return r.total.mismatches; }},
      {"mismatches_at_least", &R::at_least, kAtLeast},
      {"mismatch_limit", &R::mismatch_limit,
       "value of --max_mismatches that stopped the instruction; 0 if it was not stopped"},
      {"stopped_at", [](const R& r) { return UtcTime(r.stopped_at); },
       UtcOrEmpty("time of that stop, RFC 3339; empty if it was not stopped")},
      {"bound", [](const R& r) { return r.bound > 0 ? std::optional(r.bound) : std::nullopt; },
       "upper bound 3/N of the rate of differences over N dot products (95% confidence, for this "
       "generator); null if there is no bound"},
      {"seconds", [](const R& r) { return r.total.seconds; },
       "duration of its units, summed over threads and machines"},
      {"verdict", [](const R& r) { return Sentence(r); }, Prose("text of the column \"evidence\"")},
      {"finished", &R::finished, "whether all units of the named shards are done"},
      {"emulated", &R::emulated, "whether the device runs it as several machine instructions"},
      {"dropped", [](const R& r) { return std::string(r.dropped.message()); },
       Prose("reason why the last attempt dropped it; empty if it did not")},
      {"evidence", &R::Grade,
       "grade of the evidence for the model; empty if this version has no model"},
      {"digest", [](const R& r) { return r.finished ? Hex(r.total.device_digest) : std::string(); },
       DigestOrEmpty("digest of the device's results; empty while `finished` is false")},
      {"empty_classes", &R::empty_classes, "classes of inputs without a case"},
      {"thin_bins", &R::thin_bins,
       "bins of the model's arithmetic that too few dot products reached; empty if answers differ"},
      {"planted_fault", &R::planted,
       Prose("planted fault that the self-test of this attempt found; may be empty")},
      {"counts",
       CountsJson,
       {.what = "counts of input classes and of arithmetic events, by name",
        .schema = MapOf({.kind = Schema::kCount})}},
  };
}

Fields<RunReport::Attempt> FieldsOf(const RunReport::Attempt*) {
  using A = RunReport::Attempt;
  return {
      {"seconds", &A::seconds, "duration of the attempt"},
      {"threads", &A::threads, {.least = 1}},
      {"dot_products", &A::dot_products},
      {"dot_products_per_second", &A::DotProductsPerSecond,
       "dot products per second, over the whole attempt"},
      {"units", &A::units},
      {"resumed_units", &A::resumed_units, "units done by earlier attempts"},
      {"nothing_executed", &A::NothingExecuted, "whether earlier attempts had done all units"},
      {"repeated", &A::repeated,
       "dot products of earlier attempts that were repeated, with the same answers"},
      {"hardware", [](const A& a) { return NamesOfAll(a.hardware); }, "hardware that answered"},
      {"stopped_by", [](const A& a) { return Name(a.stopped_by); }, StoppedBy()},
  };
}

Fields<RunReport> FieldsOf(const RunReport*) {
  using R = RunReport;
  return {
      {"device", [](const R& r) { return r.manifest.device; }, "device specification"},
      {"device_identity", [](const R& r) { return Name(r.manifest.device_identity); }},
      {"tool_version", [](const R& r) { return r.manifest.tool_version; }},
      {"model_version", [](const R& r) { return r.manifest.model_version; }},
      {"generator_version", [](const R& r) { return r.manifest.generator_version; }},
      {"seed", [](const R& r) { return r.manifest.seed; }},
      {"strategy", [](const R& r) { return r.manifest.strategy; }},
      {"folders", &R::folders},
      {"shards", &R::shards, {.what = "number of shards of the run", .least = 1}},
      {"seen_shards", &R::seen, "numbers of the named shards, whose folders were read"},
      {"endless", &R::endless, "whether the run has no end, which makes planned_units meaningless"},
      {"verdict", [](const R& r) { return Sentence(r); }, Prose()},
      {"units", &R::units, "units that are done"},
      {"planned_units", &R::planned_units, "units planned for the named shards"},
      Field<R>::Flat([](const R& r) { return CountsOf(r); }),
      {"seconds", [](const R& r) { return r.total.seconds; },
       "duration of all units, summed over threads and machines"},
      {"digest", &R::digest, DigestOfRun()},
      {"machines", &R::machines, "machines that executed units"},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &R::distrusted,
       Prose("instructions whose answers are in doubt, as INSTRUCTION: REASON")},
      {"damage", &R::damage, Prose("damaged or contradictory data in the folders")},
      {"attempt", &R::attempt, "this attempt of `run`; null in a report of folders"},
      {"instructions", &R::rows},
      {"findings", &R::findings},
  };
}

Fields<RunStatus> FieldsOf(const RunStatus*) {
  using S = RunStatus;
  return {
      {"path", [](const S& s) { return s.folder.path; }},
      {"shard", [](const S& s) { return s.seen.front(); }, "number of the shard"},
      {"shards", &S::shards, {.what = "number of shards of the run", .least = 1}},
      {"units", &S::units, "units that are done"},
      {"planned_units", &S::planned_units},
      {"endless", &S::endless, "whether the run has no end, which makes planned_units meaningless"},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"findings", [](const S& s) { return s.findings.size(); }, "number of findings"},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &S::distrusted,
       Prose("instructions whose answers are in doubt, as INSTRUCTION: REASON")},
      {"dot_products_per_second", &S::rate,
       "dot products per second, over the seconds in which units ran; 0 if unknown"},
      {"last_unit", [](const S& s) { return UtcTime(s.last_ended); },
       UtcOrEmpty("time when the last unit ended, RFC 3339; empty if unknown")},
      {"seconds_left", &S::seconds_left,
       "time left at this rate; 0 if all is done or nothing is known"},
      {"machines", &S::machines, "machines that executed units"},
      {"writer", &S::writer, "process that is writing to the folder; empty if none"},
      {"damage", &S::damage, Prose("damaged or contradictory data in the folder")},
  };
}

Fields<ShardsStatus> FieldsOf(const ShardsStatus*) {
  using S = ShardsStatus;
  return {
      {"shards", &S::shards, {.what = "number of shards of the run", .least = 1}},
      {"units", &S::units, "units that are done"},
      {"planned_units", &S::planned_units},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"dot_products_per_second", &S::rate,
       "dot products per second, summed over the folders that are being written"},
      {"seconds_left", &S::seconds_left, "time left for the shard that needs longest"},
      {"missing_shards", [](const S& s) { return MissingShards(s.seen, s.shards); },
       "numbers of the shards that are not named"},
  };
}

}  // namespace mmadiff
