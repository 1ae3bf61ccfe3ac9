// mmadiff replay: compares the model with stored answers, or with a device on the stored inputs.
#include "fuzz/replay/replay.h"

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/durable_file.h"
#include "device/plain_text.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/output/progress.h"

namespace mmadiff {
namespace {

struct ReplayFlags {
  ReplayOptions options;
  std::string device, junit;
  int threads = 0;
};

std::string Counted(const char* what, uint64_t count) {
  return count == 0 ? "" : absl::StrCat(what, count);
}

// One line with counts by kind; empty if no vector was compared.
std::string VectorCounts(const ReplayOutcome& outcome) {
  if (std::ranges::all_of(outcome.vectors, [](uint64_t n) { return n == 0; })) return "";
  const auto count = [&outcome](AnswerKind kind) {
    return absl::StrCat(Name(kind), " ", outcome.vectors[static_cast<int>(kind)]);
  };
  return absl::StrCat("vectors: ", count(AnswerKind::kObserved), ", ",
                      count(AnswerKind::kPublished), ", ", count(AnswerKind::kExpected), "; ",
                      count(AnswerKind::kContested), "\n");
}

// An identity may name many programs; only JSON shows all of it. Identities of one device differ at
// the end.
std::string Short(const std::string& identity) {
  constexpr size_t kMax = 120, kEnd = 50;  // bytes
  if (identity.empty()) return "unnamed device";
  if (identity.size() <= kMax) return identity;
  return absl::StrCat(PlainLine(identity.substr(0, kMax - kEnd)), " ... ",
                      PlainLine(identity.substr(identity.size() - kEnd)));
}

std::string CountsText(const ReplayOutcome& outcome) {
  std::string text;
  for (const auto& [device, tally] : outcome.tallies) {
    if (!outcome.recordings) break;
    absl::StrAppend(&text, Short(device), ": ", tally.compared - tally.differing, " of ",
                    tally.compared, " dot products of ", CountText(tally.ops.size(), "instruction"),
                    " equal the model's\n");
  }
  const std::string of_all = absl::StrCat(
      outcome.damaged ? " (damaged data skipped)" : "", Counted(", flaky: ", outcome.flaky),
      Counted(", instructions dropped: ", outcome.dropped.size()));
  const uint64_t units = outcome.units + outcome.flaky_units;
  const bool only_units = outcome.compared + outcome.flaky == 0 && units > 0;
  if (!only_units) {
    absl::StrAppend(&text, outcome.compared - outcome.differing, " of ", outcome.compared,
                    " dot products equal the model's", of_all, "\n");
  }
  if (units + outcome.unsupported_units > 0) {
    absl::StrAppend(&text, outcome.units - outcome.differing_units, " of ",
                    CountText(outcome.units, "unit"), " of digests equal the model's",
                    only_units ? of_all : "",
                    Counted(", recorded with all NaNs as one word: ", outcome.units_of_nans),
                    Counted(", flaky: ", outcome.flaky_units),
                    Counted(", left out: ", outcome.unsupported_units), "\n");
  }
  if (outcome.digests_answered > 0) {
    absl::StrAppend(
        &text, outcome.digests_as_recorded, " of ", outcome.digests_answered,
        " recorded digests equal this device's",
        Counted(", left out because the device lacks the instruction: ", outcome.unsupported_units),
        "\n");
  }
  if (outcome.recorded > 0) {
    absl::StrAppend(&text,
                    outcome.recorded_twice == 0 ? "none" : absl::StrCat(outcome.recorded_twice),
                    " of the ", outcome.recorded, " recorded answers ",
                    outcome.recorded_twice <= 1 ? "was" : "were", " queried twice when recorded",
                    outcome.recorded_twice == 0 ? "" : ", with equal answers", "\n");
  }
  if (!outcome.unmodelled_ops.empty()) {
    absl::StrAppend(&text, "not compared with a model, because ",
                    CountText(outcome.unmodelled_ops.size(), "instruction"),
                    outcome.unmodelled_ops.size() == 1 ? " has" : " have",
                    " none: ", outcome.unmodelled, " answers",
                    Counted(", units of digests: ", outcome.unmodelled_units), "\n");
  }
  if (outcome.repeated + outcome.repeated_units > 0) {
    absl::StrAppend(
        &text, outcome.repeated - outcome.changed, " of ", outcome.repeated,
        " of these answers were repeated by the device",
        outcome.repeated_units == 0
            ? ""
            : absl::StrCat(", units of digests: ", outcome.repeated_units - outcome.changed_units,
                           " of ", outcome.repeated_units),
        "\n");
  }
  if (outcome.contradictions + outcome.troubled > 0) {
    absl::StrAppend(&text, "surveys report: contradictions with the tables ",
                    outcome.contradictions, ", rows with problems ", outcome.troubled, "\n");
  }
  return text + VectorCounts(outcome);
}

// The state changes of findings, done or pending; "" if there are no changes.
std::string MovesText(const ReplayOutcome& outcome, bool update) {
  if (outcome.moves.empty()) return "";
  std::string text;
  for (const FindingMove& move : outcome.moves) {
    if (!update) break;
    absl::StrAppend(&text, PlainLine(move.path), ": ", Name(move.from), " -> ", Name(move.to),
                    "\n");
  }
  return absl::StrCat(text, "filed cases whose state ", update ? "changed" : "would change", ": ",
                      MovesText(outcome.moves), update ? "" : " (--update stores the new state)",
                      "\n");
}

Detail FindingStates() { return {.words = {std::begin(kFindingStates), std::end(kFindingStates)}}; }

// The counts for one device.
struct DeviceTally {
  std::string device;
  const ReplayTally& tally;
};

Fields<DeviceTally> FieldsOf(const DeviceTally*) {
  using D = DeviceTally;
  return {
      {"answered_by", &D::device,
       "specification or identity of the device, as stored in the files"},
      {"compared", [](const D& d) { return d.tally.compared; }},
      {"differing", [](const D& d) { return d.tally.differing; }},
      {"instructions", [](const D& d) { return d.tally.ops; }, InstructionName()},
  };
}

std::vector<DeviceTally> TalliesOf(const ReplayOutcome& outcome) {
  std::vector<DeviceTally> tallies;
  for (const auto& [device, tally] : outcome.tallies) tallies.push_back({device, tally});
  return tallies;
}

struct VectorCountsOf {
  const ReplayOutcome& outcome;
};

Field<VectorCountsOf> CountOf(AnswerKind kind) {
  return {Name(kind),
          [kind](const VectorCountsOf& v) { return v.outcome.vectors[static_cast<int>(kind)]; }};
}

Fields<VectorCountsOf> FieldsOf(const VectorCountsOf*) {
  return {CountOf(AnswerKind::kObserved), CountOf(AnswerKind::kPublished),
          CountOf(AnswerKind::kExpected), CountOf(AnswerKind::kContested)};
}

}  // namespace

Fields<FindingMove> FieldsOf(const FindingMove*) {
  using M = FindingMove;
  return {
      {"path", &M::path},
      {"instruction", &M::op, InstructionName()},
      {"bucket", &M::bucket},
      {"before", [](const M& m) { return Name(m.from); }, FindingStates()},
      {"now", [](const M& m) { return Name(m.to); }, FindingStates()},
  };
}

Fields<ReplayOutcome> FieldsOf(const ReplayOutcome*) {
  using O = ReplayOutcome;
  return {
      {"compared", &O::compared, "number of compared dot products, without flaky ones"},
      {"differing", &O::differing},
      {"units", &O::units, "number of compared digest units"},
      {"differing_units", &O::differing_units},
      {"units_of_nans", &O::units_of_nans},
      {"answered", &O::answered,
       "number of compared dot products and units; with --device, those that it answered"},
      {"recorded", &O::recorded, "number of raw dot products of recording folders"},
      {"recorded_twice", &O::recorded_twice,
       "those of `recorded` that were queried twice when they were recorded, with equal answers"},
      {"flaky", &O::flaky,
       "dot products that were not compared because the repeated execution gave a different "
       "answer"},
      {"flaky_units", &O::flaky_units, "the same for digest units"},
      {"unsupported", &O::unsupported, "number of cases whose instruction the device lacks"},
      {"unsupported_units", &O::unsupported_units},
      {"unmodelled", &O::unmodelled, "number of answers of instructions without a model"},
      {"unmodelled_units", &O::unmodelled_units},
      {"unmodelled_instructions", &O::unmodelled_ops, InstructionName()},
      {"repeated", &O::repeated, "those of `unmodelled` that were queried again on the device"},
      {"repeated_units", &O::repeated_units},
      {"changed", &O::changed, "those of `repeated` with a different answer"},
      {"changed_units", &O::changed_units},
      {"digests_answered", &O::digests_answered,
       "number of recorded digests whose cases the device answered"},
      {"digests_as_recorded", &O::digests_as_recorded,
       "those of `digests_answered` that equal the device's"},
      {"contradictions", &O::contradictions, "contradictions with the tables that surveys report"},
      {"troubled", &O::troubled, "rows with problems that surveys report"},
      {"moves", &O::moves, "findings whose state changes, or would change with --update"},
      {"damaged", &O::damaged},
      {"dropped", [](const O& o) { return Messages(o.dropped); },
       Prose("why instructions were dropped")},
      {"devices", TalliesOf, "results by device, without vectors"},
      {"vectors", [](const O& o) { return VectorCountsOf{o}; },
       "number of dot products of vectors, by kind of answer"},
  };
}

namespace {

struct ReplayResult {
  std::vector<Json> reports;  // JSON of ReplayRow
  const ReplayOutcome& outcome;
};

Fields<ReplayResult> FieldsOf(const ReplayResult*) {
  using R = ReplayResult;
  return {
      {"reports",
       &R::reports,
       {.what = "reports in the order of the text output; at most --max_reports that differ or are "
                "flaky",
        .schema = ListOf(SchemaOf<ReplayRow>())}},
      Field<R>::Flat([](const R& r) -> const ReplayOutcome& { return r.outcome; }),
  };
}

// Adds a last test case that fails if anything but a comparison failed.
void WriteJUnit(const std::string& path, std::vector<TestResult> test_results, Ending& ending) {
  if (path.empty()) return;
  TestResult whole = {.name = "whole replay", .failure = {}};
  ending.Close();
  std::ranges::move(TestResultsOf(ending.ledger().lines(), "replay"),
                    std::back_inserter(test_results));
  for (const auto& [verdict, why] : ending.all()) {
    if (verdict == Verdict::kDiffers || verdict == Verdict::kUnrepeated) continue;
    const VerdictMeaning& meaning = MeaningOf(verdict);
    if (whole.failure.empty()) whole.kind = meaning.word;
    absl::StrAppend(&whole.failure, why.empty() ? meaning.what : why, "\n");
  }
  if (!whole.failure.empty()) test_results.push_back(std::move(whole));
  ending.Say(WriteFileDurably(path, JUnit("replay", test_results)), Verdict::kNotWritten);
}

void Finish(const ReplayFlags& flags, const ReplayOutcome& outcome, Call& call) {
  call.Say(outcome.durable, Verdict::kNotWritten);
  if (!flags.options.why.empty() && outcome.moves.empty()) {
    call.console.Warn("--why has no effect: no finding differs");
  }
  if (outcome.flaky + outcome.flaky_units > 0) {
    call.Say(Verdict::kUnrepeated, "the device's answers do not repeat, so they decide nothing");
  }
  if (outcome.filed_flaky > 0) {
    call.console.Warn(absl::StrCat(outcome.filed_flaky,
                                   " of these cases were filed because the device did not repeat "
                                   "its answers; neither a match nor a mismatch proves anything"));
  }
  const bool nothing = outcome.answered() + outcome.repeated + outcome.repeated_units == 0;
  SayDropped(outcome.dropped, !nothing, call);
  if (outcome.troubled > 0) {  // the same verdict as the survey
    call.Say(Verdict::kRowFailed,
             "rows of a survey fail, do not repeat or have a different layout");
  }
  if (outcome.differing + outcome.differing_units + outcome.changed + outcome.contradictions > 0 ||
      outcome.digests_as_recorded < outcome.digests_answered) {
    call.Say(Verdict::kDiffers);
  }
  if (outcome.damaged) call.Say(Verdict::kHarmed);
  if (!nothing || !call.all().empty()) return;
  if (outcome.unsupported + outcome.unsupported_units > 0) {
    return call.Say(Verdict::kNotHere, "the device has none of these instructions");
  }
  call.Say(Verdict::kNothing, "nothing was compared; this is not a pass");
}

void Replay(const ReplayFlags& flags, std::vector<TestResult>& test_results, Call& call) {
  if (!flags.options.why.empty() && !flags.options.update) {
    return call.Say(Verdict::kUsage, "--why is written into findings, so it needs --update");
  }
  std::string spec = flags.device;
  for (const std::string& subject : flags.options.subjects) {
    if (spec.empty() && LooksLikeCaseName(subject)) spec = "auto";
  }
  std::unique_ptr<Engine> engine;
  if (!spec.empty()) {
    EngineOr opened = OpenEngineAndWarn(spec, call.console);
    if (!opened.ok()) return call.Say(opened.status());
    engine = *std::move(opened);
  }
  ReplayOptions options = flags.options;
  if (!options.instr.empty()) {
    absl::StatusOr<std::string> typed = TypedGlob(options.instr);
    if (!typed.ok()) return call.Say(typed.status());
    options.instr = *std::move(typed);
  }
  options.test_results = !flags.junit.empty();
  options.threads = ThreadsOf(flags.threads);
  if (engine != nullptr) options.open = OpenerOf(spec);
  std::vector<Json> reports;
  const auto report = [&](const ReplayReport& r) {
    if (call.globals.json) {
      reports.push_back(JsonOf(r.row));
    } else {
      call.console.Print(r.text);
    }
  };
  const auto outcome = ReplaySubjects(options, engine.get(), report, call.console);
  if (outcome.ok()) call.ledger() = outcome->ledger;
  if (absl::IsNotFound(outcome.status()) && flags.device.empty() && !spec.empty()) {
    return call.Say(Verdict::kNotHere, absl::StrCat(outcome.status().message(),
                                                    "; choose the device with --device=DEVICE"));
  }
  if (!outcome.ok()) return call.Say(outcome.status());
  test_results = outcome->test_results;
  Finish(flags, *outcome, call);
  call.PrintWithLeftOut(ReplayResult{std::move(reports), *outcome}, [&] {
    return Wrap(CountsText(*outcome) + MovesText(*outcome, options.update),
                call.console.style().width, 2);
  });
}

void RunReplay(const ReplayFlags& flags, Call& call) {
  std::vector<TestResult> test_results;
  Replay(flags, test_results, call);
  WriteJUnit(flags.junit, std::move(test_results), call);
}

}  // namespace

Action AddReplay(CLI::App& command) {
  const auto flags = std::make_shared<ReplayFlags>();
  AddOption(command, "subject", flags->options.subjects,
            "filed cases (*.txtpb), vector files (as in corpus/vectors), recordings (a folder or a "
            ".log of `record`, or lines of operands and result, plain or gzip), folders of "
            "surveys, folders of all these, or case names")
      .Required();
  AddDevice(command, flags->device,
            "device to compare with, instead of the stored answers [auto for a case name]");
  AddOption(command, "--instr", flags->options.instr,
            "replay only these instructions; a full name also applies to a line-protocol file "
            "that names no instruction")
      .TypeName("GLOB");
  AddFlag(command, "--verbose", flags->options.verbose, "print a line for each answer of a vector");
  AddOption(command, "--max_reports", flags->options.max_reports, "number of mismatches to print")
      .Count();
  AddOption(command, "--every", flags->options.every,
            "check only every N-th digest (hash of the answers to a range of cases) of a recording "
            "folder")
      .Count()
      .Positive()
      .TypeName("N");
  AddFlag(command, "--update", flags->options.update,
          "store the new states in the files of findings: open, explained, fixed, flaky or "
          "regressed");
  AddOption(command, "--why", flags->options.why,
            "with --update: explanation for the findings that differ; their state becomes "
            "`explained`")
      .TypeName("TEXT");
  AddThreads(command, flags->threads);
  AddOption(command, "--junit", flags->junit, "file for a JUnit report").TypeName("FILE");
  return {RunReplay, flags, {SchemaOf<WithLeftOut<ReplayResult>>}};
}

}  // namespace mmadiff
