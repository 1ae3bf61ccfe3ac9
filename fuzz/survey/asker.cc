#include "fuzz/survey/asker.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/case_folder.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/regression_case.h"
#include "corpus/vector_file.h"
#include "device/cuda/variant.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/survey/schedule.h"
#include "triage/diagnosis/investigate.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/probe.h"

namespace mmadiff {
namespace {

using enum SurveyStage;
using Clock = std::chrono::steady_clock;

constexpr double kGrace = 3;               // seconds, of a task when the time is up
constexpr size_t kAskedLines = 4096;       // said before the device is asked
constexpr uint64_t kMostMismatching = 20;  // cases, after which a unit ends
// Of a recording: what others compute again in a second for each operation.
constexpr uint64_t kDigestUnits = 4, kDigestDotProducts = 1 << 18;
constexpr uint64_t kSmallUnit = 1 << 18;  // dot products of a run's first unit
constexpr int64_t kRecordedAtOnce = 256;  // executions

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Says what the device is asked before it is asked.
class AnnouncingDevice : public Device {
 public:
  AnnouncingDevice(Device& device, const SendMessage& send) : device_(device), send_(send) {}

  std::string name() const override { return device_.name(); }
  std::string identity() const override { return device_.identity(); }
  bool IsSlow() const override { return device_.IsSlow(); }
  bool Emulates(const Operation& op) const override { return device_.Emulates(op); }
  absl::Status Supports(const Operation& op) const override { return device_.Supports(op); }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    SurveyMessage message;
    message.kind = SurveyMessage::kAsked;
    const int64_t lines = std::min<int64_t>(batch.dot_products(), kAskedLines);
    for (int64_t i = 0; i < lines; ++i) {
      message.asked.push_back(FormatLine(*op.instruction, Extract(batch, i)));
    }
    send_(message);
    return device_.Run(op, batch, d);
  }

  Device& device_;
  const SendMessage& send_;
};

// The cases of "STREAM:FIRST:COUNT".
struct NamedCases {
  CaseName first;
  uint64_t count = 0;
};
absl::StatusOr<NamedCases> ParseNamedCases(absl::string_view text) {
  NamedCases cases;
  const size_t colon = text.rfind(':');
  if (colon == text.npos || !absl::SimpleAtoi(text.substr(colon + 1), &cases.count)) {
    return absl::InvalidArgumentError(absl::StrCat("no cases: ", text));
  }
  const absl::StatusOr<CaseName> name = ParseCaseName(text.substr(0, colon), Models::kOptional);
  if (!name.ok()) return name.status();
  cases.first = *name;
  return cases;
}

class Asker {
 public:
  Asker(const SurveyJob& job, const OpenSpec& open, const SendMessage& send)
      : job_(job), open_(open), send_(send), schedule_(job.manifest) {
    for (const SurveyResult& result : job.done) schedule_.Done(result);
  }

  absl::Status Run() {
    if (!job_.identify.empty()) return Identify();
    size_t listed = 0;
    for (;;) {
      std::optional<SurveyTask> task;
      const double left = Left();
      if (job_.total > 0 && left <= 0) return absl::OkStatus();
      if (job_.tasks.empty()) {
        task = schedule_.Next(job_.total - left, job_.total);
      } else if (listed < job_.tasks.size()) {
        task = job_.tasks[listed++];
      }
      if (!task.has_value()) return absl::OkStatus();
      // A device that does not open is no fault of the task.
      const absl::StatusOr<Engine*> engine = EngineOf(task->variant);
      if (!engine.ok()) return Fail(engine.status());
      SurveyMessage message;
      message.kind = SurveyMessage::kBegun;
      message.begun = *task;
      send_(message);
      const auto begun = Clock::now();
      message.result.task = *task;
      absl::Status s = Do(*task, **engine, message.result);
      if (absl::IsCancelled(s) && IsOver()) return absl::OkStatus();
      if (!s.ok() && !IsOfOperation(s)) return Fail(s);
      message.kind = SurveyMessage::kResult;
      message.result.status = absl::Status(s.code(), PlainText(s.message()));
      message.result.seconds = Seconds(begun);
      send_(message);
      schedule_.Done(message.result);
    }
  }

 private:
  double Left() const { return job_.left - Seconds(start_); }
  // Whether a task that has begun must end.
  bool IsOver() const { return job_.total > 0 && Left() < -kGrace; }

  absl::Status Fail(const absl::Status& s) {
    SurveyMessage message;
    message.kind = SurveyMessage::kFailed;
    message.failed = PlainText(s.message());
    message.usage = absl::IsInvalidArgument(s);
    send_(message);
    return s;
  }

  // The engine behind the device specification with the variant.
  absl::StatusOr<Engine*> EngineOf(const std::string& variant) {
    std::unique_ptr<Engine>& engine = engines_[variant];
    if (engine == nullptr) {
      EngineOr opened = open_(job_.manifest.device + variant);
      if (!opened.ok()) return opened.status();
      engine = *std::move(opened);
      // Whoever waits for the device asks this: so it waits, and does not hang.
      engine->device().StopWhen([this] {
        if (Seconds(alive_) > 0.5) {
          alive_ = Clock::now();
          send_({});
        }
        return IsOver();
      });
    }
    return engine.get();
  }

  absl::Status Identify() {
    const absl::StatusOr<Engine*> engine = EngineOf("");
    if (!engine.ok()) return Fail(engine.status());
    Device& device = (*engine)->device();
    SurveyMessage message;
    message.kind = SurveyMessage::kIdentity;
    message.identity.device = device.name();
    const std::string fingerprint = device.Fingerprint();
    message.identity.device_identity =
        PlainText(device.identity() + (fingerprint.empty() ? "" : ", " + fingerprint));
    std::vector<const Operation*> ops;
    for (const std::string& glob : job_.identify) {
      for (const Operation* op : MatchOperations(glob, Models::kOptional)) {
        if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
      }
    }
    for (const Operation* op : ops) {
      if (!device.Supports(*op).ok()) continue;
      const CaseStream stream = {op, &Strategies().front(), job_.manifest.seed};
      SurveyManifest::Instruction& added = message.identity.instructions.emplace_back();
      added.name = op->name;
      added.emulated = device.Emulates(*op);
      if (absl::StartsWith(device.name(), "cuda:") && !absl::StrContains(device.name(), ',')) {
        for (const Variant& v : VariantsOf(*op->instruction)) {
          if (const std::string suffix = SuffixOf(v); !suffix.empty()) {
            added.variants.push_back(suffix);
          }
        }
      }
      const uint64_t small = std::max<uint64_t>(1, kSmallUnit / op->shape().d_words());
      added.unit_cases = std::min((*engine)->UnitCases(stream, UnitOf::kRun), small);
      added.digest_cases = std::max<uint64_t>(1, kDigestDotProducts / op->shape().d_words());
    }
    send_(message);
    return absl::OkStatus();
  }

  absl::Status Do(const SurveyTask& task, Engine& engine, SurveyResult& result) {
    const Operation* op =
        FindOperation(task.op, NeedsModel(task.stage) ? Models::kRequired : Models::kOptional);
    if (op == nullptr) return absl::NotFoundError(WhyNoOperation(task.op));
    const CaseStream stream = {op, &Strategies().front(), job_.manifest.seed};
    AnnouncingDevice announcing(engine.device(), send_);
    // Alone, so that it is known on what the device died.
    Device& device = job_.tasks.empty() ? engine.device() : announcing;
    absl::Status s;
    switch (task.stage) {
      case kLayout:
        s = Ask(device, *op, {FindQuestion("layout")}, result);
        break;
      case kRepeat:
        s = Ask(device, *op, {FindQuestion("repeat")}, result);
        break;
      case kQuestions:
        s = Ask(device, *op, QuestionsOf(task), result);
        break;
      case kVectors:
        s = Vectors(device, *op, result);
        break;
      case kRun:
        s = RunUnit(engine, stream, task, result);
        break;
      case kRecording:
        s = Record(engine, device, stream, result);
        break;
      case kPairs:
        s = Pairs(device, *op, result);
        break;
      case kExplain:
        s = Explain(device, stream, task.detail, result);
        break;
      case kTrap:
        s = Trap(device, *op, task.detail);
    }
    std::string hardware = PlainText(engine.device().Hardware());
    if (hardware != hardware_) result.hardware = hardware_ = std::move(hardware);
    return s;
  }

  static std::vector<const Question*> QuestionsOf(const SurveyTask& task) {
    std::vector<const Question*> questions;
    for (const Question& q : Questions()) {
      const bool own = q.method == Method::kParameters || q.method == Method::kPayloads;
      if (own && (task.detail.empty() || task.detail == q.id)) questions.push_back(&q);
    }
    return questions;
  }

  absl::Status Ask(Device& device, const Operation& op,
                   const std::vector<const Question*>& questions, SurveyResult& result) const {
    const absl::StatusOr<OperationAnswers> answers = ProbeOperation(device, op, questions);
    if (!answers.ok()) return answers.status();
    for (const ProbeAnswer& a : answers->answers) {
      SurveyAnswer& added = result.answers.emplace_back();
      added.question = a.question->id;
      added.answer = PlainText(a.answer);
      added.decides = PlainText(a.decides);
      added.agreement = static_cast<uint32_t>(a.agreement);
      added.cases = a.cases;
      AddLines(op, a.observed, added);
    }
    return absl::OkStatus();
  }

  // What differs from the model first, then some of the others, spread over all.
  void AddLines(const Operation& op, const std::vector<Observed>& observed,
                SurveyAnswer& answer) const {
    const uint64_t most = job_.manifest.kept_lines;
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

  // Adds what the device answers to the inputs, a line for each dot product.
  static absl::Status AddAnswers(Device& device, const Operation& op, const Batch& inputs,
                                 const std::string& name, SurveyResult& result) {
    std::vector<uint64_t> d;
    if (absl::Status s = device.Run(op, inputs, d); !s.ok()) return s;
    const std::vector<int64_t> differing = Compare(op, inputs, d).differing;
    for (int64_t i = 0; i < inputs.dot_products(); ++i) {
      result.lines.push_back({name, FormatLine(*op.instruction, Extract(inputs, i), d[i]),
                              std::binary_search(differing.begin(), differing.end(), i)});
    }
    result.dot_products += d.size();
    result.mismatches += differing.size();
    return absl::OkStatus();
  }

  absl::Status Vectors(Device& device, const Operation& op, SurveyResult& result) const {
    std::vector<DotProductCase> asked;  // two sources may have the same
    for (const VectorFile& file : EmbeddedVectors()) {
      for (const Vector& v : file.vectors) {
        for (const VectorCase& c : CasesOf(v)) {
          if (c.op != &op || std::find(asked.begin(), asked.end(), c.dot) != asked.end()) continue;
          asked.push_back(c.dot);
          const Batch inputs = MakeDotProductBatch(op.shape(), {c.dot});
          if (absl::Status s = AddAnswers(device, op, inputs, v.name, result); !s.ok()) return s;
        }
      }
    }
    const std::filesystem::path folder =
        std::filesystem::path(job_.manifest.regressions) / op.arch();
    std::error_code ignored;
    if (job_.manifest.regressions.empty() || !std::filesystem::exists(folder, ignored)) {
      return absl::OkStatus();
    }
    const auto files = ListCases(folder.string());
    if (!files.ok()) return files.status();
    for (const std::string& file : *files) {
      const absl::StatusOr<RegressionCase> c = ReadCase(file);
      if (!c.ok() || c->op != &op) continue;
      const std::string name = std::filesystem::path(file).filename().string();
      if (absl::Status s = AddAnswers(device, op, c->inputs, name, result); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status RunUnit(Engine& engine, const CaseStream& stream, const SurveyTask& task,
                       SurveyResult& result) const {
    const SurveyUnit unit = schedule_.UnitOf(task);
    UnitResult counted;
    uint64_t mismatching = 0;
    const auto found = [&](const CaseName& name, const Mismatch&) {
      if (mismatching == 0) result.first_mismatch = FormatCaseName(name);
      return ++mismatching < kMostMismatching ? absl::OkStatus()
                                              : absl::ResourceExhaustedError("enough");
    };
    const absl::Status s = engine.Run(stream, unit.first, unit.count, counted, found);
    result.first_case = unit.first;
    result.cases = counted.cases;
    result.dot_products = counted.dot_products;
    result.mismatches = counted.mismatches;
    return absl::IsResourceExhausted(s) && mismatching == kMostMismatching ? absl::OkStatus() : s;
  }

  absl::Status Record(Engine& engine, Device& device, const CaseStream& stream,
                      SurveyResult& result) const {
    const Operation& op = *stream.op;
    const auto& all = job_.manifest.instructions;
    const auto i = std::find_if(all.begin(), all.end(),
                                [&](const auto& each) { return each.name == op.name; });
    if (i == all.end()) return absl::NotFoundError("not of this survey");
    Batch batch;
    for (const Strategy& strategy : Strategies()) {
      const CaseStream of = {&op, &strategy, stream.seed};
      SurveyOutputs outputs = {of.name(), i->raw_cases, ""};
      for (uint64_t first = 0; first < i->raw_cases; first += batch.count) {
        Generate(of, first, std::min<int64_t>(kRecordedAtOnce, i->raw_cases - first), batch);
        std::vector<uint64_t> d;
        if (absl::Status s = device.Run(op, batch, d); !s.ok()) return s;
        outputs.d += PackWords(*op.instruction->d, d);
      }
      result.outputs.push_back(std::move(outputs));
    }
    SurveyDigests digests = {stream.name(), i->digest_cases, {}};
    for (uint64_t u = 0; u < kDigestUnits; ++u) {
      const auto digest = engine.AnswerDigest(stream, u * i->digest_cases, i->digest_cases);
      if (!digest.ok()) return digest.status();
      digests.digests.push_back(*digest);
    }
    result.digests.push_back(std::move(digests));
    return absl::OkStatus();
  }

  absl::Status Pairs(Device& device, const Operation& op, SurveyResult& result) const {
    const absl::StatusOr<OperandSweep> sweep = SweepOperands(device, op, op.model, TimeLimit());
    if (!sweep.ok()) return sweep.status();
    SurveyAnswer& answer = result.answers.emplace_back();
    answer.question = "pairs";
    answer.answer = absl::StrCat(sweep->differing, " of ", sweep->done, " differ");
    answer.agreement =
        static_cast<uint32_t>(sweep->differing == 0 ? Agreement::kAgrees : Agreement::kContradicts);
    answer.decides = sweep->differing == 0 ? "agrees" : "contradicts the table";
    answer.cases = sweep->done;
    AddLines(op, sweep->first, answer);
    answer.differing = sweep->differing;
    return absl::OkStatus();
  }

  // A case name, or a line with what the device answered.
  absl::Status Explain(Device& device, const CaseStream& stream, const std::string& subject,
                       SurveyResult& result) const {
    const Operation& op = *stream.op;
    Mismatch mismatch = {&op, {}, 0};
    if (const absl::StatusOr<CaseName> name = ParseCaseName(subject); name.ok()) {
      Generate(name->stream, name->index, 1, mismatch.inputs);
    } else {
      const absl::StatusOr<ProtocolLine> line = ParseLine(*op.instruction, subject);
      if (!line.ok()) return line.status();
      mismatch.inputs = MakeDotProductBatch(op.shape(), {line->dot});
    }
    if (absl::Status s = device.Run(op, mismatch.inputs, mismatch.device); !s.ok()) return s;
    Comparison compared = Compare(op, mismatch.inputs, mismatch.device);
    SurveyFinding& finding = result.findings.emplace_back();
    if (compared.differing.empty()) {
      finding = {"flaky", "it did not differ when it was asked again", {}};
      return absl::OkStatus();
    }
    mismatch.element = compared.differing.front();
    mismatch.model = std::move(compared.model);
    const absl::StatusOr<Investigation> found = Investigate(device, mismatch, stream);
    if (!found.ok()) return found.status();
    finding.bucket = found->repeatability == Repeatability::kReproduced ? found->bucket : "flaky";
    finding.text = found->Text();
    for (const KeptCase& kept : found->cases) {
      const Mismatch& m = kept.mismatch;
      finding.cases.push_back(
          {FormatLine(*op.instruction, Extract(m.inputs, m.element), m.device[m.element]),
           HexWord(*op.instruction->d, m.model[m.element]), kept.why});
    }
    return absl::OkStatus();
  }

  // Whether the device survives the inputs: "zeros", "STREAM:FIRST:COUNT", or lines.
  static absl::Status Trap(Device& device, const Operation& op, const std::string& detail) {
    Batch batch;
    std::vector<uint64_t> d;
    if (detail == "zeros") {
      batch.Resize(op.shape(), 1);
      return device.Run(op, batch, d);
    }
    if (const absl::StatusOr<NamedCases> cases = ParseNamedCases(detail); cases.ok()) {
      for (uint64_t done = 0; done < cases->count; done += batch.count) {
        Generate(cases->first.stream, cases->first.index + done,
                 std::min<int64_t>(kRecordedAtOnce, cases->count - done), batch);
        if (absl::Status s = device.Run(op, batch, d); !s.ok()) return s;
      }
      return absl::OkStatus();
    }
    std::vector<DotProductCase> dots;
    for (const absl::string_view text : absl::StrSplit(detail, '\n')) {
      const absl::StatusOr<ProtocolLine> line = ParseLine(*op.instruction, text);
      if (!line.ok()) return line.status();
      dots.push_back(line->dot);
    }
    return device.Run(op, MakeDotProductBatch(op.shape(), dots), d);
  }

  const SurveyJob& job_;
  const OpenSpec& open_;
  const SendMessage& send_;
  SurveySchedule schedule_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // by variant
  std::string hardware_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point alive_ = start_;
};

}  // namespace

absl::Status AskSurvey(const SurveyJob& job, const OpenSpec& open, const SendMessage& send) {
  return Asker(job, open, send).Run();
}

}  // namespace mmadiff
