// mmadiff status: shows the progress of runs from their folders.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "corpus/utc_time.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/run_verdicts.h"
#include "fuzz/output/progress.h"
#include "fuzz/report/run_fields.h"

namespace mmadiff {

namespace {

struct StatusResult {
  std::vector<RunStatus> folders = {};
  std::optional<ShardsStatus> total = {};
  std::vector<std::string> not_read = {};
};

Fields<StatusResult> FieldsOf(const StatusResult*) {
  using R = StatusResult;
  return {
      {"folders", &R::folders, {.least_items = 1}},
      {"total", &R::total, "sum of several folders"},
      {"not_read", &R::not_read,
       Prose("named folders that are not folders of a run, with the reason")},
  };
}

std::string LeftText(double seconds) {
  const auto whole = static_cast<int64_t>(std::min(seconds + 0.5, 1e12));
  return absl::StrFormat("%d:%02d:%02d h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string UnitsText(uint64_t units, uint64_t planned, bool endless) {
  if (endless) return absl::StrCat(units, " units, endless");
  return absl::StrCat(units, " of ", CountText(planned, "unit"),
                      planned == 0 ? "" : absl::StrFormat(" (%d%%)", 100 * units / planned));
}

std::string CountsText(const UnitResult& total, bool at_least) {
  return absl::StrCat(CountText(total.cases, "case"), ", ",
                      CountText(total.dot_products, "dot product"), ", ",
                      MismatchesText(total.mismatches, at_least));
}

std::string Text(const RunStatus& s, size_t width) {
  std::string text = absl::StrCat(s.folder.path, "\n");
  const auto add = [&](absl::string_view label, const std::string& value) {
    text += Labelled(absl::StrFormat("  %-11s", label), value, width);
  };
  if (s.shards > 1) add("shard", absl::StrCat(s.seen.front(), " of ", s.shards));
  add("done", absl::StrCat(UnitsText(s.units, s.planned_units, s.endless), ", ",
                           CountsText(s.total, s.at_least)));
  if (const std::string stopped = StoppedText(s); !stopped.empty()) {
    const bool all = std::ranges::all_of(
        s.rows, [](const RunReportRow& row) { return row.stopped() || row.finished; });
    add("stopped", absl::StrCat(stopped, all ? "; no work is left" : ""));
  }
  if (!s.findings.empty()) {
    size_t filed = 0;
    for (const Finding& f : s.findings) filed += f.beside.size() + 1;
    add("findings", absl::StrCat(s.findings.size(), " (", CountText(filed, "case"), " filed)"));
  }
  for (const std::string& line : DroppedLines(s)) add("dropped", line);
  for (const std::string& line : s.distrusted) add("distrusted", line);
  // Times of units are in whole seconds.
  const bool rough = static_cast<double>(s.total.dot_products) < 10 * s.rate;
  const std::string least = rough ? "at least " : "";
  if (s.rate > 0) {
    add("rate", absl::StrCat(least, HumanCount(s.rate), " dot products/s",
                             rough ? " (times are stored in whole seconds)" : ""));
  }
  if (s.last_ended > 0) add("last unit", UtcTime(s.last_ended));
  if (!s.machines.empty()) {
    const size_t shown = std::min<size_t>(s.machines.size(), 5);
    const std::string more = shown == s.machines.size()
                                 ? ""
                                 : absl::StrCat("; and ", s.machines.size() - shown, " more");
    add("machines",
        absl::StrJoin(s.machines.begin(), s.machines.begin() + static_cast<long>(shown), "; ") +
            more);
  }
  if (s.seconds_left > 0) add("left", LeftText(s.seconds_left));
  add("writer", s.writer.empty() ? "none (no process is writing to this folder)" : s.writer);
  for (const std::string& what : s.damage) add("damaged", what);
  return text;
}

std::string Text(const ShardsStatus& s, size_t width) {
  std::vector<std::string> parts = {UnitsText(s.units, s.planned_units, false),
                                    CountsText(s.total, s.at_least)};
  if (s.rate > 0) parts.push_back(HumanCount(s.rate) + " dot products/s");
  if (s.seconds_left > 0) parts.push_back(LeftText(s.seconds_left) + " left");
  if (std::string text = StoppedText(s); !text.empty()) parts.push_back(std::move(text));
  if (s.seen.size() < s.shards) parts.push_back(MissingShardsText(s.seen, s.shards));
  return Labelled("total  ", absl::StrJoin(parts, ", "), width);
}

void PrintStatus(const std::vector<std::string>& paths, Call& call) {
  const size_t width = call.console.style().width;
  std::vector<RunStatus> folders;
  const absl::StatusOr<NamedRuns> named = ReadManifests(paths);
  if (!named.ok()) return call.Say(named.status());
  for (const std::string& line : named->not_begun) call.console.Warn(line);
  for (const std::string& line : named->damage) call.Say(Verdict::kHarmed, line);
  for (const auto& [path, manifest] : named->runs) {
    absl::StatusOr<RunStatus> status = ReadRunStatus(path);
    if (!status.ok()) return call.Say(status.status());
    if (!status->damage.empty()) call.Say(Verdict::kHarmed);
    SayDoubts(*status, call);
    folders.push_back(*std::move(status));
  }
  StatusResult result = {.not_read = NotRead(*named)};
  std::string text;
  for (const RunStatus& s : folders) text += Text(s, width);
  if (paths.size() > 1) {
    const absl::StatusOr<ShardsStatus> sum = SumShards(folders);
    if (!sum.ok()) return call.Say(sum.status());
    text += Text(*sum, width);
    result.total = *sum;
  }
  result.folders = std::move(folders);
  call.Print(result, [&] { return text; });
}

}  // namespace

Action AddStatus(CLI::App& command) {
  const auto folders = std::make_shared<std::vector<std::string>>();
  AddOption(command, "folder", *folders, "folders of runs; several are the shards of one run")
      .Required();
  return {PrintStatus, folders, {SchemaOf<StatusResult>}};
}

}  // namespace mmadiff
