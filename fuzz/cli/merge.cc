// mmadiff merge: combines the folders of one run into one.
#include "fuzz/folder/merge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "corpus/hex.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/progress.h"
#include "fuzz/report/run_fields.h"

namespace mmadiff {
namespace {

struct MergeFlags {
  std::string out;
  std::vector<std::string> in;
};

struct MergeResult {
  const MergeFlags& flags;
  const Merged& merged;
  const RunStatus& whole;
};

Fields<MergeResult> FieldsOf(const MergeResult*) {
  using R = MergeResult;
  return {
      {"out", [](const R& r) { return r.flags.out; }},
      {"folders", [](const R& r) { return r.merged.folders; },
       "number of folders that were read, including OUT if it existed"},
      {"units", [](const R& r) { return r.merged.units; }},
      {"planned_units", [](const R& r) { return r.merged.planned_units; }},
      Field<R>::Flat([](const R& r) { return CountsOf(r.whole); }),
      {"digest", [](const R& r) { return r.whole.digest; }, DigestOfRun()},
      {"findings", [](const R& r) { return r.merged.findings; }},
      {"dropped", [](const R& r) { return r.merged.dropped; },
       Prose("\"INSTRUCTION: reason\" for each instruction that the last attempt dropped")},
      {"distrusted", [](const R& r) { return r.merged.distrusted; }},
      {"damage", [](const R& r) { return r.merged.damage; },
       Prose("damaged data that was skipped")},
  };
}

void RunMerge(const MergeFlags& flags, Call& call) {
  bool not_durable;
  const absl::StatusOr<Merged> merged =
      MergeRuns(flags.out, flags.in, not_durable, call.globals.shared);
  if (!merged.ok()) {
    return call.Say(merged.status(), not_durable ? Verdict::kNotWritten : Verdict::kHarmed);
  }
  for (const std::string& warning : merged->warnings) call.console.Warn(warning);
  for (const std::string& what : merged->damage) call.Say(Verdict::kHarmed, what);
  for (const std::string& line : merged->dropped) call.console.Warn("dropped " + line);
  const absl::StatusOr<RunStatus> whole = ReadRunStatus(flags.out);
  if (!whole.ok()) return call.Say(whole.status());
  const UnitResult& all = whole->total;
  call.Print(MergeResult{flags, *merged, *whole}, [&] {
    const bool endless = std::ranges::any_of(merged->manifest.instructions,
                                             [](const auto& i) { return i.Endless(); });
    const std::string stopped = StoppedText(*whole);
    const uint64_t missing = endless ? 0 : merged->planned_units - merged->units;
    return Wrap(absl::StrCat(
                    flags.out, ": ", merged->units,
                    endless ? "" : absl::StrCat(" of ", merged->planned_units), " units from ",
                    CountText(merged->folders, "folder"), ", ", CountText(all.cases, "case"), ", ",
                    CountText(all.dot_products, "dot product"), ", ",
                    MismatchesText(all.mismatches, whole->at_least), ", ",
                    CountText(merged->findings, "finding"), ", ", merged->distrusted,
                    " distrusted\n", stopped.empty() ? "" : stopped + "\n",
                    missing == 0
                        ? ""
                        : absl::StrCat(
                              CountText(missing, "unit"), missing == 1 ? " is" : " are",
                              " missing; to run ", missing == 1 ? "it" : "them",
                              ", repeat the run's command line without --shard and with --workdir=",
                              flags.out, "\n")),
                call.console.style().width, 2);
  });
}

}  // namespace

Action AddMerge(CLI::App& command) {
  const auto flags = std::make_shared<MergeFlags>();
  AddOption(command, "out", flags->out, "folder of the whole run; if it exists, it is merged too")
      .Required();
  AddOption(command, "in", flags->in, "folders of the run to merge: shards, attempts, copies")
      .Required();
  return {RunMerge, flags, {SchemaOf<MergeResult>}};
}

}  // namespace mmadiff
