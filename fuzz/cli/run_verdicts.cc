#include "fuzz/cli/run_verdicts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/stop.h"
#include "fuzz/cli/cli.h"
#include "fuzz/verdict/error_meaning.h"

namespace mmadiff {
namespace {

bool IsDone(const RunReportRow& row) { return row.finished || row.stopped() || !row.dropped.ok(); }

// False if the device answered nothing.
bool SayDevice(const RunReport& report, Ending& ending) {
  const absl::Status& device = report.attempt->device;
  const std::string why(device.message());
  if (report.total.dot_products == 0 && StopSignal() == 0) {
    ending.Say(absl::IsNotFound(device) ? Verdict::kNotHere : Verdict::kRowFailed, why);
    return false;
  }
  ending.Say(Verdict::kEarly, why);
  ending.Say(Verdict::kEarly,
             "the device failed; finished units are kept; the "
             "same command line resumes the run");
  return true;
}

void SayStopped(const RunReport& report, Ending& ending) {
  const RunReport::Attempt& attempt = *report.attempt;
  if (!attempt.stopped_by) return ending.Say(Verdict::kEarly);
  const bool only_begun = attempt.dot_products > 0 && attempt.units == 0;
  const bool end_of_forever = report.endless && !only_begun && attempt.not_asked_again == 0 &&
                              attempt.stopped_by.kind == StopCause::kTimeLimit;
  ending.Say(
      end_of_forever ? Verdict::kGood : Verdict::kEarly,
      absl::StrCat("stopped early (", Name(attempt.stopped_by), "); ",
                   attempt.not_asked_again > 0 ? "the device was not checked for changes; " : "",
                   only_begun ? "no unit was finished; the same command line continues the run"
                              : "nothing is lost; the same command line resumes the run"));
}

// Mismatches of a dropped row count only if one was confirmed: its answers may be the reason for
// the drop. If the device has changed since an earlier attempt, it did not give them.
bool Differs(const RunReport& report, const RunReportRow& row) {
  return row.total.mismatches > 0 && !absl::IsAborted(row.dropped) &&
         (row.dropped.ok() || std::ranges::any_of(report.findings, [&row](const Finding& f) {
            return f.op == row.instruction && !f.flaky();
          }));
}

void SayMismatches(const RunReport& report, Ending& ending) {
  bool differs = false, flaky = false, gone = false;
  for (const RunReportRow& row : report.rows) {
    const bool unrepeated = row.state == RunReportRow::kUnrepeated;
    const bool mismatches = Differs(report, row);
    (unrepeated ? mismatches ? flaky : gone : differs) |= unrepeated || mismatches;
    differs |= row.state == RunReportRow::kDiffers;  // also in a unit that is not finished
  }
  if (differs) ending.Say(Verdict::kDiffers);
  if (flaky && !differs) {
    ending.Say(Verdict::kUnrepeated,
               "the device's answers do not repeat, so they decide nothing about the model");
  }
  if (gone) {
    ending.Say(Verdict::kUnrepeated,
               absl::StrCat("mismatches that earlier attempts filed in ", report.folders.front(),
                            "/findings no longer occur: the device has changed; remove them after "
                            "finding the cause"));
  }
}

void SayNothing(const RunReport& report, Ending& ending) {
  if (report.IsEmptyShard()) {
    ending.Say(Verdict::kNothing,
               absl::StrCat("shard ", report.seen.front(), "/", report.shards,
                            " has no unit of these cases; use fewer shards or more --cases"));
  } else {
    ending.Say(Verdict::kNothing, "nothing was compared; this is not a pass");
  }
}

}  // namespace

void EnterRows(const RunReport& report, Ledger& ledger) {
  for (const RunReportRow& row : report.rows) {
    if (row.total.dot_products > 0) {
      ledger.Compare(Thing::kOperation, row.instruction);
    } else if (report.IsOfOtherShards(row)) {
      ledger.Leave({Thing::kOperation, Reason::kOtherShard, row.instruction});
    } else if (row.dropped.ok() && !row.finished) {
      ledger.Leave({Thing::kOperation, Reason::kNotReached, row.instruction});
    }
  }
}

void SayDoubts(const RunReport& report, Ending& ending) {
  for (const RunReportRow& row : report.rows) {
    if (!IsDoubted(row)) continue;
    ending.Say(Verdict::kHarmed, absl::StrCat(absl::StrJoin(report.folders, ", "), ": dropped ",
                                              row.instruction, ": ", row.dropped.message()));
  }
}

void SayVerdicts(const RunReport& report, bool require_coverage, Ending& ending) {
  const RunReport::Attempt& attempt = *report.attempt;
  if (!attempt.durable.ok()) {
    return ending.Say(attempt.durable,
                      attempt.damaged_findings ? Verdict::kHarmed : Verdict::kNotWritten);
  }
  if (!attempt.device.ok()) {
    if (!SayDevice(report, ending)) return;
  } else if (attempt.not_asked_again > 0 || !std::ranges::all_of(report.rows, IsDone)) {
    SayStopped(report, ending);
  }
  std::vector<Drop> dropped;
  for (const RunReportRow& row : report.rows) {
    if (row.dropped.ok()) continue;
    dropped.push_back({row.op, MeaningOf(row.dropped.code()).cause, row.dropped});
  }
  SayDropped(dropped, report.total.dot_products > 0, ending);
  SayMismatches(report, ending);
  if (attempt.damaged_findings) ending.Say(Verdict::kHarmed);
  for (const std::string& what : report.damage) ending.Say(Verdict::kHarmed, what);
  if (!report.distrusted.empty()) {
    ending.Say(
        Verdict::kHarmed,
        absl::StrCat(
            "answers of an earlier attempt could not be trusted; after finding the cause, remove ",
            report.folders.front(), "/distrusted.txt"));
  }
  if (ending.verdict() != Verdict::kGood) return;
  if (report.total.dot_products == 0) return SayNothing(report, ending);
  const size_t thin = require_coverage ? ThinRows(report).size() : 0;
  if (thin == 0) return;
  ending.Say(
      Verdict::kThin,
      absl::StrCat(
          "--require_coverage: ", thin, " of ", report.rows.size(),
          " instructions are incomplete; use --extend with more --cases, or --strategy=scheduled"));
}

}  // namespace mmadiff
