#include "fuzz/ask/stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/ask/canary.h"
#include "fuzz/ask/stage_parts.h"
#include "triage/diagnosis/investigate.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

constexpr uint64_t kMaxMismatching = 20;  // a unit ends after this many mismatching cases
constexpr int64_t kTriedAtOnce = 256;     // executions
constexpr double kPairParts = 10;         // a slow device sweeps a sample of pairs for 10 parts

std::vector<const Question*> QuestionsOf(const SurveyTask& task) {
  std::vector<const Question*> questions;
  for (const Question& q : Questions()) {
    if (IsOfArithmetic(q) && (task.detail.empty() || task.detail == q.id)) questions.push_back(&q);
  }
  return questions;
}

// Adds the lines that differ from the model first, then some of the others, evenly spread.
void AddLines(const SurveyManifest& manifest, const Operation& op,
              const std::vector<Observed>& observed, SurveyAnswer& answer) {
  const uint64_t most = manifest.kept_lines;
  std::vector<const Observed*> others;
  for (const Observed& o : observed) {
    if (!IsModelled(op) || Gives(op, op.model, o.dot, o.d)) {
      others.push_back(&o);
      continue;
    }
    ++answer.differing;
    if (answer.lines.size() < most) {
      answer.lines.push_back(FormatLine(*op.instruction, o.dot, o.d));
    }
  }
  const size_t room = std::min<size_t>(most - answer.lines.size(), others.size());
  for (size_t i = 0; i < room; ++i) {
    const Observed& o = *others[i * others.size() / room];
    answer.lines.push_back(FormatLine(*op.instruction, o.dot, o.d));
  }
}

absl::Status Ask(const SurveyManifest& manifest, Device& device, const Operation& op,
                 const std::vector<const Question*>& questions, SurveyResult& result) {
  ASSIGN_OR_RETURN(const OperationAnswers answers, ProbeOperation(device, op, questions));
  for (const ProbeAnswer& a : answers.answers) {
    SurveyAnswer& added = result.answers.emplace_back();
    added.question = a.question->id;
    added.answer = PlainText(a.answer);
    added.decides = PlainText(a.decides);
    added.agreement = a.agreement;
    added.cases = a.cases;
    added.scope = a.scope;
    added.facts = a.facts;
    AddLines(manifest, op, a.observed, added);
  }
  return absl::OkStatus();
}

// Checks that the device gives the same answers as in earlier attempts.
absl::Status AskSame(Device& device, const Operation& op, const std::string& lines,
                     SurveyResult& result) {
  std::vector<Observed> earlier;
  for (const absl::string_view text : absl::StrSplit(lines, '\n')) {
    ASSIGN_OR_RETURN(ProtocolLine line, ParseLine(*op.instruction, text));
    if (!line.d.has_value()) return absl::InvalidArgumentError(absl::StrCat(text, ": no answer"));
    earlier.push_back({std::move(line.dot), *line.d});
  }
  const absl::StatusOr<uint64_t> repeated = AskAgain(device, op, earlier, kMinCanaries);
  if (repeated.ok()) result.dot_products = *repeated;
  return repeated.status();
}

absl::Status RunUnit(Engine& engine, const CaseStream& stream, const TaskPart& unit,
                     SurveyResult& result) {
  UnitResult counted;
  uint64_t mismatching = 0;
  const auto found = [&](const CaseName& name, const Mismatch&) {
    if (mismatching == 0) result.first_mismatch = FormatCaseName(name);
    return ++mismatching < kMaxMismatching ? Next::kGoOn : Next::kStop;
  };
  absl::Status s;
  while (s.ok() && counted.cases < unit.count && mismatching < kMaxMismatching) {
    s = engine.Run(stream, unit.first + counted.cases, unit.count - counted.cases, counted, found)
            .status();
  }
  result.first_case = unit.first;
  result.cases = counted.cases;
  result.dot_products = counted.dot_products;
  result.mismatches = counted.mismatches;
  return s;
}

absl::Status Pairs(const SurveyManifest& manifest, Device& device, const Operation& op,
                   double seconds, SurveyResult& result) {
  const TimeLimit limit =
      seconds > 0 ? TimeLimit::After(absl::Seconds(kPairParts * seconds)) : TimeLimit();
  ASSIGN_OR_RETURN(const OperandSweep sweep, SweepOperands(device, op, op.model, limit));
  SurveyAnswer& answer = result.answers.emplace_back();
  answer.question = "pairs";
  answer.answer = absl::StrCat(sweep.differing, " of ", sweep.done, " differ",
                               sweep.done < sweep.of ? absl::StrCat(", of ", sweep.of) : "");
  answer.agreement = sweep.differing == 0 ? Agreement::kAgrees : Agreement::kContradicts;
  answer.decides = sweep.differing == 0 ? "agrees" : "contradicts the table";
  answer.cases = sweep.done;
  AddLines(manifest, op, sweep.first, answer);
  answer.differing = sweep.differing;
  return absl::OkStatus();
}

// `subject`: a case name, or a line with the device's answer.
absl::Status Explain(Device& device, const CaseStream& stream, const std::string& subject,
                     SurveyResult& result) {
  const Operation& op = *stream.op;
  Mismatch mismatch = {&op, {}, 0};
  if (const absl::StatusOr<CaseName> name = ParseCaseName(subject); name.ok()) {
    Generate(name->stream, name->index, 1, mismatch.inputs);
  } else {
    ASSIGN_OR_RETURN(const ProtocolLine line, ParseLine(*op.instruction, subject));
    mismatch.inputs = MakeDotProductBatch(op.shape(), {line.dot});
  }
  RETURN_IF_ERROR(device.Run(op, mismatch.inputs, mismatch.device));
  Comparison compared = Compare(op, mismatch.inputs, mismatch.device);
  SurveyFinding& finding = result.findings.emplace_back();
  if (compared.differing.empty()) {
    finding = {{Repetition::kFlaky}, "the difference did not repeat", {}};
    return absl::OkStatus();
  }
  mismatch.element = compared.differing.front();
  mismatch.model = std::move(compared.model);
  ASSIGN_OR_RETURN(const Investigation found, Investigate(device, mismatch, stream));
  finding.bucket = found.bucket.Repeats() ? found.bucket : Bucket{Repetition::kFlaky};
  finding.text = found.Text();
  for (const KeptCase& kept : found.cases) {
    const Mismatch& m = kept.mismatch;
    finding.cases.push_back(
        {FormatLine(*op.instruction, Extract(m.inputs, m.element), m.device[m.element]),
         HexWord(*op.instruction->d, m.model[m.element]), kept.why});
  }
  return absl::OkStatus();
}

// Checks that the device survives the input.
absl::Status Trap(Device& device, const Operation& op, const KillingInput& input) {
  Batch batch;
  std::vector<uint64_t> d;
  if (input.kind == KillingInput::kZeros) {
    batch.Resize(op.shape(), 1);
    return device.Run(op, batch, d);
  }
  if (input.kind == KillingInput::kCases) {
    ASSIGN_OR_RETURN(const CaseName first, ParseCaseName(input.first, Models::kOptional));
    for (uint64_t done = 0; done < input.count; done += batch.count) {
      Generate(first.stream, first.index + done,
               std::min<int64_t>(kTriedAtOnce, input.count - done), batch);
      RETURN_IF_ERROR(device.Run(op, batch, d));
    }
    return absl::OkStatus();
  }
  std::vector<DotProductCase> dots;
  for (const std::string& text : input.lines) {
    ASSIGN_OR_RETURN(const ProtocolLine line, ParseLine(*op.instruction, text));
    dots.push_back(line.dot);
  }
  return device.Run(op, MakeDotProductBatch(op.shape(), dots), d);
}

}  // namespace

bool NeedsModel(SurveyStage stage) {
  return stage == kVectors || stage == kRun || stage == kPairs || stage == kExplain;
}

absl::Status AskStage(const SurveyManifest& manifest, const AskRequest& request, Engine& engine,
                      Device& device, SurveyResult& result) {
  const SurveyTask& task = request.task;
  const TaskPart& part = request.part;
  const Operation* op =
      FindOperation(task.op, NeedsModel(task.stage) ? Models::kRequired : Models::kOptional);
  if (op == nullptr) return absl::NotFoundError(WhyNoOperation(task.op));
  const CaseStream stream = {op, &Strategies().front(), manifest.seed};
  switch (task.stage) {
    case kLayout:
      return Ask(manifest, device, *op, {FindQuestion("layout")}, result);
    case kRepeat:
      if (task.IsCanary()) return AskSame(device, *op, task.detail, result);
      return Ask(manifest, device, *op, {FindQuestion("repeat")}, result);
    case kQuestions:
      return Ask(manifest, device, *op, QuestionsOf(task), result);
    case kVectors:
      return AskVectors(manifest, part, device, *op, result);
    case kRun:
      return RunUnit(engine, stream, part, result);
    case kRecording:
      return AskRecording(manifest, part, engine, device, stream, result);
    case kPairs:
      return Pairs(manifest, device, *op, part.seconds, result);
    case kExplain:
      return Explain(device, stream, task.detail, result);
    case kTrap:
      return Trap(device, *op, request.input);
  }
  return absl::InternalError("not a stage of a survey");
}

}  // namespace mmadiff
