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
    "`mismatches` is only a lower bound: it includes findings whose mismatches no unit counts";
constexpr const char* kDropped =
    "INSTRUCTION: reason, for each instruction that the last attempt dropped";
constexpr const char* kPlannedUnits = "units planned for the named shards";
constexpr const char* kEndless = "the run has no end (--forever): ignore `planned_units`";
constexpr const char* kShards = "number of shards of the whole run";
constexpr const char* kDistrusted =
    "INSTRUCTION: reason, for each instruction whose earlier answers are distrusted";
constexpr const char* kDamage = "damaged or contradictory data, a line each";
constexpr const char* kMachines = "machines that ran units";

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
      "digest of the device's results in the named shards; empty while any of their instructions "
      "is unfinished");
}

UnitCounts CountsOf(const RunReport& report) {
  const UnitResult& total = report.total;
  return {total.cases, total.dot_products, total.mismatches, report.at_least, StoppedText(report)};
}

Fields<UnitCounts> FieldsOf(const UnitCounts*) {
  using C = UnitCounts;
  return {
      {"cases", &C::cases, "compared cases"},
      {"dot_products", &C::dot_products, "compared dot products"},
      {"mismatches", &C::mismatches, "dot products that differ"},
      {"mismatches_at_least", &C::at_least, kAtLeast},
      {"stopped", &C::stopped,
       Prose("number of instructions that --max_mismatches stopped, time of the last stop; or "
             "empty")},
  };
}

Fields<Finding> FieldsOf(const Finding*) {
  using F = Finding;
  return {
      {"instruction", &F::op, InstructionName()},
      {"bucket", [](const F& f) { return Name(f.bucket); },
       "stage and change, or the reason why no change is named"},
      {"first_case", &F::case_name, "name of the first case"},
      {"cases", &F::cases, "cases in this attempt; 0: the finding is from an earlier attempt"},
      {"flaky", &F::flaky, "the device's answers do not repeat"},
      {"state", [](const F& f) { return Name(f.state); },
       FindingStates("most urgent state of its cases")},
      {"path", &F::path, "path of the minimal case; empty if it could not be filed"},
      {"beside", &F::beside, "paths of the other cases that were kept"},
      {"typical", &F::typical, "path of the case with ordinary numbers; empty if none is filed"},
      {"diagnosis", &F::diagnosis, Prose("summary of the search for a cause; may be empty")},
      {"why", &F::why,
       Prose("shortest note of the cases that `replay --why` explained; empty without one")},
      {"shared", &F::shared,
       Prose("sentence on the common properties of the differing dot products; may be empty")},
      {"reason", &F::reason,
       Prose("why the answers differ, as the device says it; empty if it does not")},
      {"clues", &F::clues,
       "the device's replies to further questions, for an operation's first finding without an "
       "explanation"},
      {"replaces", [](const F& f) { return NamesOf(f.replaces); },
       "refuted buckets that this finding replaces"},
      {"parameters", [](const F& f) { return ParametersJson(f.bucket.changes); },
       ParameterValues("parameters that the change sets, with their values")},
  };
}

Fields<Clue> FieldsOf(const Clue*) {
  return {
      {"question", &Clue::question, "a question of `probe`, or infer"},
      {"kind",
       [](const Clue& c) { return Name(c.kind); },
       {.words = {"found", "nothing", "not_asked"}}},
      {"text", &Clue::text, Prose("the finding, or why the question was left out")},
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
      {"cases", [](const R& r) { return r.total.cases; }, "compared cases"},
      {"planned_cases", &R::planned_cases,
       "cases planned for the named shards; 0 for a run without an end"},
      {"dot_products", [](const R& r) { return r.total.dot_products; }, "compared dot products"},
      {"mismatches", [](const R& r) { return r.total.mismatches; }, "dot products that differ"},
      {"mismatches_at_least", &R::at_least, kAtLeast},
      {"mismatch_limit", &R::mismatch_limit,
       "value of --max_mismatches that stopped the instruction; 0 if none did"},
      {"stopped_at", [](const R& r) { return UtcTime(r.stopped_at); },
       UtcOrEmpty("time of the stop, RFC 3339; empty if nothing stopped it")},
      {"bound", [](const R& r) { return r.bound > 0 ? std::optional(r.bound) : std::nullopt; },
       "3/N for N compared dot products, an upper bound for the rate of differences (95 %, for "
       "this generator); null if it does not apply"},
      {"seconds", [](const R& r) { return r.total.seconds; },
       "duration of its units, summed over threads and machines"},
      {"verdict", [](const R& r) { return Sentence(r); },
       Prose("sentence in the \"evidence\" column of the text output")},
      {"finished", &R::finished, "all units of the named shards are done"},
      {"emulated", &R::emulated, "the device emulates it with several machine instructions"},
      {"dropped", [](const R& r) { return std::string(r.dropped.message()); },
       Prose("reason why the last attempt dropped it; empty if it did not")},
      {"evidence", &R::Grade, "grade of the model's evidence; empty if this version has no model"},
      {"digest", [](const R& r) { return r.finished ? Hex(r.total.device_digest) : std::string(); },
       DigestOrEmpty("digest of the device's results; empty while `finished` is false")},
      {"empty_classes", &R::empty_classes, "input classes without a case"},
      {"thin_bins", &R::thin_bins,
       "bins of the model's arithmetic that too few dot products reached; empty if answers differ"},
      {"planted_fault", &R::planted,
       Prose("planted fault that this attempt's self-test found; empty if none")},
      {"counts",
       CountsJson,
       {.what = "dot products per input class and per event of the arithmetic",
        .schema = MapOf({.kind = Schema::kCount})}},
  };
}

Fields<RunReport::Attempt> FieldsOf(const RunReport::Attempt*) {
  using A = RunReport::Attempt;
  return {
      {"seconds", &A::seconds, "duration of the attempt"},
      {"threads", &A::threads, {.least = 1}},
      {"dot_products", &A::dot_products, "dot products compared in this attempt"},
      {"dot_products_per_second", &A::DotProductsPerSecond},
      {"units", &A::units, "units finished in this attempt"},
      {"resumed_units", &A::resumed_units, "units finished in earlier attempts"},
      {"nothing_executed", &A::NothingExecuted, "earlier attempts had already done all the work"},
      {"repeated", &A::repeated,
       "dot products of earlier attempts that were queried again and gave the same answers"},
      {"hardware", [](const A& a) { return NamesOfAll(a.hardware); }, "hardware that answered"},
      {"stopped_by", [](const A& a) { return Name(a.stopped_by); }, StoppedBy()},
  };
}

Fields<RunReport> FieldsOf(const RunReport*) {
  using R = RunReport;
  return {
      {"device", [](const R& r) { return r.manifest.device; }, "specification of the device"},
      {"device_identity", [](const R& r) { return Name(r.manifest.device_identity); }},
      {"tool_version", [](const R& r) { return r.manifest.tool_version; }},
      {"model_version", [](const R& r) { return r.manifest.model_version; }},
      {"generator_version", [](const R& r) { return r.manifest.generator_version; }},
      {"seed", [](const R& r) { return r.manifest.seed; }},
      {"strategy", [](const R& r) { return r.manifest.strategy; }},
      {"folders", &R::folders, "folders of the run"},
      {"shards", &R::shards, {.what = kShards, .least = 1}},
      {"seen_shards", &R::seen, "numbers of the shards whose folders were named and read"},
      {"endless", &R::endless, kEndless},
      {"verdict", [](const R& r) { return Sentence(r); }, Prose()},
      {"units", &R::units, "finished units"},
      {"planned_units", &R::planned_units, kPlannedUnits},
      Field<R>::Flat([](const R& r) { return CountsOf(r); }),
      {"seconds", [](const R& r) { return r.total.seconds; },
       "duration of all units, summed over threads and machines"},
      {"digest", &R::digest, DigestOfRun()},
      {"machines", &R::machines, kMachines},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &R::distrusted, Prose(kDistrusted)},
      {"damage", &R::damage, Prose(kDamage)},
      {"attempt", &R::attempt, "this invocation of `run`; null in a report of folders"},
      {"instructions", &R::rows},
      {"findings", &R::findings},
  };
}

Fields<RunStatus> FieldsOf(const RunStatus*) {
  using S = RunStatus;
  return {
      {"path", [](const S& s) { return s.folder.path; }, "path of the folder"},
      {"shard", [](const S& s) { return s.seen.front(); }, "number of the shard, from 0"},
      {"shards", &S::shards, {.what = kShards, .least = 1}},
      {"units", &S::units, "finished units"},
      {"planned_units", &S::planned_units, "units planned for the shard"},
      {"endless", &S::endless, kEndless},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"findings", [](const S& s) { return s.findings.size(); }, "number of findings"},
      {"dropped", DroppedLines, Prose(kDropped)},
      {"distrusted", &S::distrusted, Prose(kDistrusted)},
      {"dot_products_per_second", &S::rate,
       "rate over the seconds in which a unit was running; 0 if not known"},
      {"last_unit", [](const S& s) { return UtcTime(s.last_ended); },
       UtcOrEmpty("time at which the last unit ended, RFC 3339; empty if not known")},
      {"seconds_left", &S::seconds_left,
       "estimate at this rate; 0 if everything is done or stopped, or no estimate is possible"},
      {"machines", &S::machines, kMachines},
      {"writer", &S::writer, "process that writes to the folder now; empty if none"},
      {"damage", &S::damage, Prose(kDamage)},
  };
}

Fields<ShardsStatus> FieldsOf(const ShardsStatus*) {
  using S = ShardsStatus;
  return {
      {"shards", &S::shards, {.what = kShards, .least = 1}},
      {"units", &S::units, "finished units of the named folders"},
      {"planned_units", &S::planned_units, "units planned for all shards of the run"},
      Field<S>::Flat([](const S& s) { return CountsOf(s); }),
      {"dot_products_per_second", &S::rate, "total rate of the folders that are being written"},
      {"seconds_left", &S::seconds_left, "estimate for the slowest of the named shards"},
      {"missing_shards", [](const S& s) { return MissingShards(s.seen, s.shards); },
       "numbers of the shards whose folders were not named, at most the first 10,000"},
  };
}

}  // namespace mmadiff
