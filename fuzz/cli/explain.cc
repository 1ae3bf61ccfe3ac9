// mmadiff explain: shows one mismatch stage by stage, beside the changes of the model that
// reproduce it, or all filed cases of a folder together.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/case_folder.h"
#include "corpus/cases/case_name.h"
#include "corpus/path_kind.h"
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/explain_model.h"
#include "fuzz/cli/typed_name.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "fuzz/replay/explainer.h"
#include "triage/case_text.h"
#include "triage/explain_text.h"
#include "triage/model_words.h"
#include "triage/stage_table.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxNamed = 12;  // refuted changes

std::string NameOf(const ExplainedBucket& b) { return b.bucket ? Name(b.bucket) : "no bucket"; }

std::string BucketLines(const ExplainedBucket& b) {
  const std::string name = b.bucket ? ShownName(b.bucket, b.reason) : NameOf(b);
  std::string text;
  if (b.answers > 0) {
    const char* by = b.bucket.changes.empty() ? "the model" : "this change";
    text = absl::StrCat(
        "  ", name, ": ", CountText(b.answers, "answer"), "; ", by,
        b.missed == 0 ? b.answers == 1 ? " reproduces it" : " reproduces them all"
        : std::cmp_equal(b.missed, b.answers)
            ? b.answers == 1 ? " does not reproduce it" : " reproduces none of them"
            : absl::StrCat(" does not reproduce ", b.missed, " of them"),
        "\n", b.reason.empty() ? "" : "  reason: ", b.reason, b.reason.empty() ? "" : "\n",
        b.shared.empty() ? "" : "  shared: ", b.shared, b.shared.empty() ? "" : "\n");
    for (const std::string& clue : ClueLines(b.clues))
      absl::StrAppend(&text, "  asked: ", clue, "\n");
  }
  if (b.failed == 0) return text;
  return absl::StrCat(text, "  ", name, ": ", CountText(b.failed, "case"), " without an answer",
                      b.failed > 1 ? "; the smallest: " : ": ", b.said, "\n");
}

constexpr const char* kShared =
    "property that the differing dot products share, as a sentence; may be empty";

constexpr const char* kReason =
    "why the answers differ, as the device says it; empty if it does not";

// The diagnosis of a device's answers.
struct DiagnosisOf {
  const Operation& op;
  const std::string& device;
  const Diagnosis& diagnosis;
};

Fields<DiagnosisOf> FieldsOf(const DiagnosisOf*) {
  using D = DiagnosisOf;
  return {
      Field<D>::Flat([](const D& d) { return ModelParameters{d.op}; }),
      {"answered_by", [](const D& d) { return d.device; },
       "specification of the device, its identity, or both, as stored in the files"},
      {"answers", [](const D& d) { return d.diagnosis.observed.size(); }},
      {"changes", [](const D& d) { return d.diagnosis.changes; },
       "changes of the model that reproduce all answers, the preferred one first"},
      {"nearest", [](const D& d) { return d.diagnosis.nearest; }},
      {"nearest_misses", [](const D& d) { return d.diagnosis.missed; }},
      {"single_changes_tried", [](const D& d) { return d.diagnosis.singles; }},
      {"pairs_tried", [](const D& d) { return d.diagnosis.pairs; }},
  };
}

}  // namespace

Fields<ExplainedBucket> FieldsOf(const ExplainedBucket*) {
  using B = ExplainedBucket;
  return {
      {"bucket", NameOf},
      {"answers", &B::answers},
      {"missed", &B::missed},
      {"failed", &B::failed, "number of cases in which the device failed"},
      {"said", &B::said, Prose("failure of the device in the smallest of these cases; else empty")},
      {"shared", &B::shared, Prose(kShared)},
      {"reason", &B::reason, Prose(kReason)},
  };
}

Fields<ExplainedGroup> FieldsOf(const ExplainedGroup*) {
  using G = ExplainedGroup;
  return {
      Field<G>::Flat([](const G& g) {
        return DiagnosisOf{*g.op, g.device, g.diagnosis};
      }),
      {"cases", &G::cases},
      {"buckets", &G::buckets},
  };
}

namespace {

std::string OfStored(const Diagnosis& d) {
  return absl::StrCat(
      d.refuted ? "" : "judged by the stored answers (`run` and `minimize` query more): ",
      d.Text());
}

std::string GroupText(const ExplainedGroup& group) {
  const size_t answers = group.diagnosis.observed.size();
  std::string text = absl::StrCat(group.op->name, "\ndevice: ", group.device, "; ",
                                  CountText(group.cases, "case"), "\n");
  const bool any = std::ranges::any_of(group.buckets, [](const auto& b) { return b.answers > 0; });
  if (answers == 0 && any) {
    absl::StrAppend(&text, "no answers repeat\n");
  } else if (group.agrees) {
    absl::StrAppend(&text, "the model reproduces all ", answers, " answers\n");
  } else if (any && std::ranges::none_of(group.buckets, [](const ExplainedBucket& b) {
               return OnlyReasonExplains(b.bucket, b.reason);
             })) {
    absl::StrAppend(&text, OfStored(group.diagnosis), "\n");
  }
  for (const ExplainedBucket& bucket : group.buckets) absl::StrAppend(&text, BucketLines(bucket));
  return text;
}

void RunFolder(const std::string& folder, Call& call) {
  const absl::StatusOr<ExplainedFolder> explained = ExplainFolder(folder, call.console);
  if (!explained.ok()) return call.Say(explained.status());
  call.ledger() = explained->ledger;
  call.Print(explained->groups, [&] {
    std::string text;
    for (const ExplainedGroup& group : explained->groups) text += GroupText(group);
    return Wrap(text, call.console.style().width, 2);
  });
  if (explained->damaged) call.Say(Verdict::kHarmed);
  if (std::ranges::any_of(explained->groups, &ExplainedGroup::differs)) {
    call.Say(Verdict::kDiffers);
  }
  if (explained->damaged || !explained->groups.empty()) return;
  if (explained->recordings) {
    return call.Say(Verdict::kUsage,
                    absl::StrCat(folder, ": recorded answers but no filed cases; `", Program(),
                                 " replay ", ShellWord(folder), "` compares them with the model"));
  }
  const bool run = ReadManifest(folder).ok();
  if (run) call.ledger() = {};  // of files that have no findings
  call.Say(Verdict::kNothing,
           run ? absl::StrCat(folder, ": a run without findings; `", Program(), " report ",
                              ShellWord(folder), "` shows what was compared")
               : absl::StrCat(folder, ": no case has an answer from a device"));
}

std::string RefutedText(const std::vector<std::string>& refuted) {
  std::string text;
  for (size_t i = 0; i < std::min(kMaxNamed, refuted.size()); ++i) {
    absl::StrAppend(&text,
                    i == 0 ? "Changes that also reproduce this answer, but are ruled out by other "
                             "answers of this finding: "
                           : ", ",
                    refuted[i]);
  }
  if (refuted.size() > kMaxNamed) {
    absl::StrAppend(&text, " and ", refuted.size() - kMaxNamed, " more");
  }
  return text.empty() ? text : text + ".\n";
}

std::string ExplainedText(const ExplainedCase& e, const TextStyle& style) {
  const Mismatch& m = e.subject.mismatch;
  const Operation& op = *m.op;
  const std::string &why = e.subject.why, &shared = e.subject.shared, &reason = e.subject.reason;
  const bool by_reason = OnlyReasonExplains(e.bucket, reason);
  const auto line = [](const char* label, absl::string_view words) {
    return words.empty() ? "" : absl::StrCat(label, ": ", words, "\n");
  };
  // For a failure, `why` is the device's message.
  const bool has_why = !m.failure && !(by_reason && e.subject.why_of_search);
  const Position shown = PositionOf(m.inputs.shape, e.element);
  const std::string results =
      m.failure
          ? "no answer"
          : absl::StrCat(e.subject.differing.size(), " of ", CountText(e.observed.size(), "result"),
                         " differ", e.observed.size() == 1 ? "s" : "",
                         e.observed.size() == 1
                             ? ""
                             : absl::StrCat("; shown: block ", shown.block, ", row ", shown.i,
                                            ", column ", shown.j));
  std::string text = absl::StrCat(
      Wrap(absl::StrCat(op.name, "  ", DescribeModel(op.model), "\ndevice: ", e.subject.device_name,
                        "; ", results, "\n", line("reason", reason),
                        has_why ? line("about this case", why) : "", line("shared", shared)),
           style.width, 2),
      CaseText(op, e.dot(), 2, style.width));
  if (m.inputs.shape != DotProductShape(op.shape()) && (e.stored || !reason.empty())) {
    const std::string others = OtherOperandsText(op, m.inputs, e.element);
    text += Wrap(line("other operands of the tile", others.empty() ? "all are +0" : others),
                 style.width, 2);
  }
  if (!e.subject.differing.empty()) text += DescribeResult(m, e.element, style);
  if (m.failure) {
    return absl::StrCat(text, line("bucket", Name(e.bucket)), ModelText(op, e.dot(), style));
  }
  const Observed& observed = e.observed[e.element];
  if (by_reason) {
    return absl::StrCat(text, line("bucket", ShownName(e.bucket, reason)),
                        ModelStagesText(op, observed, style));
  }
  if (!e.agrees) {
    text += Wrap(absl::StrCat(line("bucket", Name(e.bucket)),
                              e.stored ? OfStored(e.diagnosis) : e.diagnosis.Text(), "\n"),
                 style.width, 2);
  }
  for (const std::string& clue : ClueLines(e.subject.clues)) {
    text += Wrap(line("asked", clue), style.width, 2);
  }
  return absl::StrCat(text, ExplainText(op, observed, e.of_answer, style),
                      Wrap(RefutedText(e.refuted), style.width, 2));
}

// A case with the stages of one of its dot products.
struct CaseResult {
  const ExplainedCase& e;
  const DotProductCase& dot;
  const StageTable& stages;

  const Subject& subject() const { return e.subject; }
  const Mismatch& mismatch() const { return e.subject.mismatch; }
  DotProductWords words() const {
    std::optional<uint64_t> d;
    if (!mismatch().failure) d = e.observed[e.element].d;
    return {*mismatch().op->instruction, dot, d};
  }
};

Fields<CaseResult> FieldsOf(const CaseResult*) {
  using C = CaseResult;
  return {
      Field<C>::Flat([](const C& c) {
        return DiagnosisOf{*c.mismatch().op, c.subject().device_name, c.e.diagnosis};
      }),
      {"why", [](const C& c) { return c.subject().why; }, Prose()},
      {"shared", [](const C& c) { return c.subject().shared; }, Prose(kShared)},
      {"reason", [](const C& c) { return c.subject().reason; }, Prose(kReason)},
      {"agrees", [](const C& c) { return c.e.agrees; }},
      {"bucket", [](const C& c) { return Name(c.e.bucket); }},
      {"results", [](const C& c) { return c.mismatch().inputs.dot_products(); },
       "number of results of the case"},
      {"differing", [](const C& c) { return c.subject().differing; },
       "indices of the differing results"},
      {"element", [](const C& c) { return c.e.element; }, "index of the explained result"},
      {"dot_product", &C::words},
      Field<C>::Flat([](const C& c) {
        const Mismatch& m = c.mismatch();
        return FailureOfCase{m.failure, m.failure ? m.failure->age : m.age};
      }),
      Field<C>::Flat([](const C& c) {
        return StagesOf{*c.mismatch().op, c.stages};
      }),
      {"refuted", [](const C& c) { return c.e.refuted; },
       "changes that other answers of the finding rule out"},
  };
}

struct ExplainFlags {
  std::string subject, device, against;
  OwnNumbers numbers;
  StageOutput output;
};

// Explains the first dot product of a case with the model only.
void ModelOrAgainst(const Operation& op, const DotProductCase& dot, const ExplainFlags& flags,
                    Call& call) {
  if (flags.against.empty()) return ExplainModel(op, dot, flags.output, call);
  const absl::StatusOr<Racer> against = TypedRacer(flags.against, op);
  if (!against.ok()) return call.Say(against.status());
  ExplainAgainst(op, dot, *against, flags.output, call);
}

void RunModel(const ExplainFlags& flags, Call& call) {
  const std::string& argument = flags.subject;
  if (LooksLikeCaseName(argument)) {
    const absl::StatusOr<CaseName> name = ParseCaseName(argument);
    if (!name.ok()) return call.Say(name.status());
    Batch batch;
    Generate(name->stream, name->index, 1, batch);
    return ModelOrAgainst(*name->stream.op, Extract(batch, 0), flags, call);
  }
  const absl::StatusOr<RegressionCase> stored = ReadCase(argument, true);
  if (!stored.ok()) {
    const absl::StatusOr<Subject> why = LoadSubject(argument, nullptr);
    return call.Say(why.ok() ? stored.status() : why.status());
  }
  return ModelOrAgainst(*stored->op, Extract(stored->inputs, 0), flags, call);
}

// Whether it is a case whose inputs were never sent to a device.
bool IsQuestion(const std::string& path) {
  const absl::StatusOr<RegressionCase> c = ReadCase(path, true);
  return c.ok() && !c->no_word && std::ranges::all_of(c->answers, &Answer::IsPrediction);
}

void PrintExplained(const ExplainedCase& e, const StageOutput& output, Call& call) {
  const DotProductCase dot = e.dot();
  const Operation& op = *e.subject.mismatch.op;
  NamedModels models = ModelAndChanges(op, e.of_answer.changes);
  const StageTable stages = MakeStageTable(models, dot);
  models.front().first = op.name;
  if (!WriteDrawing(models, dot, output, call)) return;
  call.Print(CaseResult{e, dot, stages}, [&] {
    return output.csv ? StagesCsv(stages) : ExplainedText(e, call.console.style());
  });
  if (e.damaged) call.Say(Verdict::kHarmed);
  if (!e.subject.differing.empty()) call.Say(Verdict::kDiffers);
}

// For numbers from the command line: the model's stages, and beside them the answer of the line or
// of a device, if any.
void RunNumbers(const ExplainFlags& flags, Call& call) {
  const absl::StatusOr<const Operation*> op = OneOperation(flags.subject);
  if (!op.ok()) return call.Say(op.status());
  const absl::StatusOr<ProtocolLine> line = DotProductOf(**op, flags.numbers, call.console);
  if (!line.ok()) return call.Say(line.status());
  const bool asks = !flags.device.empty() && flags.device != "model";
  if (!asks && (!line->d || !flags.against.empty() || flags.device == "model")) {
    return ModelOrAgainst(**op, line->dot, flags, call);
  }
  const Batch batch = MakeDotProductBatch((*op)->shape(), {line->dot});
  if (!asks) {
    return PrintExplained(
        ExplainSubject(MakeSubject(**op, batch, {*line->d}, "as given on the command line")),
        flags.output, call);
  }
  const DeviceOr device = OpenDeviceAndWarn(flags.device, call.console);
  if (!device.ok()) return call.Say(device.status());
  absl::StatusOr<Subject> subject = AskSubject(**op, batch, **device);
  if (!subject.ok()) return call.Say(subject.status());
  return PrintExplained(ExplainSubject(*std::move(subject)), flags.output, call);
}

void RunExplain(const ExplainFlags& flags, Call& call) {
  const std::string& argument = flags.subject;
  if (flags.output.csv && call.globals.json) {
    return call.Say(Verdict::kUsage, "use either --csv or --json");
  }
  const bool alone = flags.device == "model" || !flags.against.empty();
  if (!flags.against.empty() && !flags.device.empty() && flags.device != "model") {
    return call.Say(Verdict::kUsage, "use either --against or --device");
  }
  if (flags.numbers.any()) return RunNumbers(flags, call);
  if (IsFolder(KindOf(argument))) {
    if (!flags.device.empty()) {
      return call.Say(
          Verdict::kUsage,
          absl::StrCat(argument,
                       ": a folder is explained from its stored answers; --device takes one case"));
    }
    if (flags.output.csv || !flags.output.svg.empty()) {
      return call.Say(Verdict::kUsage, "--csv and --svg take one case");
    }
    return RunFolder(argument, call);
  }
  if (alone) return RunModel(flags, call);
  std::unique_ptr<Device> device;
  if (!flags.device.empty() || LooksLikeCaseName(argument)) {
    DeviceOr opened = OpenDeviceAndWarn(flags.device.empty() ? "auto" : flags.device, call.console);
    if (!opened.ok()) return call.Say(opened.status());
    device = *std::move(opened);
  }
  if (device != nullptr && flags.device.empty()) {
    const absl::StatusOr<CaseName> name = ParseCaseName(argument);
    if (name.ok() && !device->Supports(*name->stream.op).ok()) {
      call.console.Warn(
          "no device of this machine has the instruction; showing the model's stages");
      return RunModel(flags, call);
    }
  }
  if (device == nullptr && IsQuestion(argument)) {
    call.console.Warn(
        absl::StrCat(argument, ": no answer from a device; showing the model's stages"));
    return RunModel(flags, call);
  }
  const absl::StatusOr<ExplainedCase> e = ExplainCase(argument, device.get(), call.console);
  if (!e.ok()) return call.Say(e.status());
  return PrintExplained(*e, flags.output, call);
}

// The position of a number selects its k, so an empty number is kept here and refused later.
Flag AddNumbers(CLI::App& command, const char* flag, std::vector<std::string>& numbers,
                const char* what) {
  const auto add = [&numbers](const std::string& text) {
    for (const absl::string_view one : absl::StrSplit(text, ',')) numbers.emplace_back(one);
  };
  return AddRepeated(command, flag, add, what).TypeName("NUMBERS");
}

}  // namespace

Action AddExplain(CLI::App& command) {
  const auto flags = std::make_shared<ExplainFlags>();
  AddOption(command, "case", flags->subject,
            "one of: a filed case (*.txtpb; the other cases of its finding are read too), a folder "
            "of filed cases, a case name, or an instruction (then give numbers with --a, --b, --c "
            "or --line)")
      .Required();
  AddDevice(command, flags->device,
            "device to query instead of using the answer in the file; `model`: no device, show "
            "only the model's stages [auto for a case name]");
  AddNumbers(command, "--a", flags->numbers.a,
             "row of A: numbers, rounded to nearest (1.5,2^-24,0x1.8p-3,inf,nan), or words "
             "(0x3c00); missing ones are +0");
  AddNumbers(command, "--b", flags->numbers.b, "column of B, in the same notation");
  AddOption(command, "--c", flags->numbers.c, "addend [+0]").TypeName("NUMBER");
  AddOption(command, "--d", flags->numbers.d, "result of a device, to be explained")
      .TypeName("NUMBER");
  AddOption(command, "--against", flags->against,
            "also show the stages of a second row, ARCH/INSTRUCTION[:NAME=VALUE,...], or of an "
            "architecture")
      .TypeName("ROW");
  AddNumbers(command, "--scale_a", flags->numbers.scale_a, "scales of A [1.0]");
  AddNumbers(command, "--scale_b", flags->numbers.scale_b, "scales of B [1.0]");
  AddNumbers(command, "--metadata", flags->numbers.metadata,
             "metadata of a sparse A, as words (0x0e) [those that the zeros of A give]");
  AddOption(
      command, "--line", flags->numbers.line,
      "operands, instead of numbers, as one line that `mmadiff gen` prints: hexadecimal words "
      "of a, b and c")
      .TypeName("LINE");
  AddFlag(command, "--csv", flags->output.csv, "print the stages as CSV");
  AddOption(command, "--svg", flags->output.svg,
            "file for a drawing of how the terms are aligned in the model, and either in the "
            "changed models that reproduce the answer or in the row of --against")
      .TypeName("FILE");
  return {RunExplain,
          flags,
          {SchemaOf<CaseResult>,
           {SchemaOf<std::vector<ExplainedGroup>>, "FOLDER"},
           {SchemaOf<ExplainedModel>, "INSTRUCTION"}}};
}

}  // namespace mmadiff
