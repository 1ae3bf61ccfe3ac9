#include "fuzz/ask/task.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "device/clock.h"
#include "device/faulty.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/ask/canary.h"
#include "fuzz/ask/inferrer.h"
#include "fuzz/coverage/correlation.h"
#include "fuzz/coverage/coverage_counter.h"
#include "fuzz/output/ulp_buckets.h"
#include "fuzz/unit/unit_runner.h"
#include "sim/parameter.h"
#include "triage/clues.h"
#include "triage/diagnosis/investigate_aged.h"
#include "triage/diagnosis/investigate_failure.h"

namespace mmadiff {
namespace {

constexpr int kCorrelationSeconds = 5;
constexpr int kClueSeconds = 15;
constexpr uint64_t kPlantedCases = 4096;  // a planted fault must be found in these

// The first case that shows the fault; nothing if no case does.
absl::StatusOr<std::optional<uint64_t>> FindPlantedFault(const CaseStream& stream,
                                                         const std::string& fault) {
  DeviceOr device = OpenFaulty(fault);
  RETURN_IF_ERROR(device.status());
  UnitRunner runner(**device, stream);
  UnitResult result;
  const auto pause = [](const CaseName&, const Mismatch&) { return Next::kPause; };
  // Most faults show in the first cases.
  for (uint64_t first = 0, count = 1; first < kPlantedCases; first += count) {
    count = std::clamp<uint64_t>(first, 1, 64);
    RETURN_IF_ERROR(runner.Run(first, count, result, pause).status());
    if (result.mismatches > 0) return result.mismatching_cases.front();
  }
  return std::nullopt;
}

absl::Status AskOf(const TryTask& task, Engine& engine, TryAnswer& answer) {
  const Operation& op = *task.stream.op;
  answer.identity = IdentityFor(engine.device(), op);
  answer.emulated = engine.device().Emulates(op);
  answer.unit_cases = engine.UnitCases(task.stream, UnitOf::kRecording);
  return engine.Try(task.stream);
}

absl::Status AskOf(const WordsTask& task, Engine& engine, WordsAnswer& answer) {
  answer.identity = IdentityFor(engine.device(), *task.op);
  return engine.device().Run(*task.op, task.inputs, answer.d);
}

absl::Status AskOf(const DigestTask& task, Engine& engine, DigestAnswer& answer) {
  const auto ask = [&](uint64_t first, uint64_t cases, Digest& sum) {
    const auto digest = engine.AnswerDigest(task.stream, task.first + first, cases);
    if (digest.ok()) sum += *digest;
    return digest.status();
  };
  if (absl::Status s = ask(0, task.cases, answer.digest); !s.ok() || task.parts == 0) return s;
  Digest again = 0;
  const uint64_t most = (task.cases + task.parts - 1) / task.parts;
  for (uint64_t first = 0; first < task.cases; first += most) {
    RETURN_IF_ERROR(ask(first, std::min(most, task.cases - first), again));
  }
  if (again == answer.digest) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("answers to ", FormatCaseName({task.stream, task.first}),
                                         " and the ", task.cases - 1,
                                         " cases after it were different the second time"));
}

// Some neighbor must be found, tried in order.
absl::Status AskOf(const PlantTask& task, Engine&, PlantAnswer& answer) {
  const Operation& op = *task.stream.op;
  std::vector<Neighbour> faults = Neighbours(op.model);
  // Faults that almost every input shows would prove little.
  std::erase_if(faults, [](const Neighbour& n) {
    return n.single()->parameter->unusual == n.single()->parameter->families;
  });
  for (const Neighbour& fault : faults) {
    const auto found = FindPlantedFault(task.stream, Name(fault));
    RETURN_IF_ERROR(found.status());
    if (!found->has_value()) continue;
    answer.found = absl::StrCat(Name(fault), " found in case ", **found);
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(op.name, ": the planted fault ", Name(faults.front()), " was not found in ",
                   kPlantedCases, " cases of ", task.stream.name(),
                   ", nor was any other; so this run could not find a ", "real one either"));
}

absl::Status AskOf(const CanaryTask& task, Engine& engine, CanaryAnswer& answer) {
  Device& device = engine.device();
  const Operation& op = *task.stream.op;
  const auto add = [&](const absl::StatusOr<uint64_t>& repeated) {
    if (repeated.ok()) answer.repeated += *repeated;
    return repeated.status();
  };
  const absl::Status filed = add(AskAgain(device, op, task.filed, task.filed.size()));
  if (!filed.ok() && !absl::IsNotFound(filed)) return filed;
  if (!task.earlier.empty()) return add(AskAgain(device, op, task.earlier, task.least));
  if (task.again) {
    RETURN_IF_ERROR(add(ExecuteAgain(engine, task.stream, *task.again)));
  }
  const auto begun = MonotonicNow();
  auto canary = AskCanary(device, task.stream, task.first_case);
  if (Pace* const pace = engine.PaceOf(op); pace != nullptr && canary.ok()) {
    pace->Add(std::ssize(canary->d), MonotonicNow() - begun);
  }
  RETURN_IF_ERROR(canary.status());
  answer.canary = *std::move(canary);
  answer.difference = FirstDifference(task.stream, answer.canary);
  return absl::OkStatus();
}

Machine MachineOf(const Device& device) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  return {PlainLine(host), device.hardware()};
}

absl::Status AskOf(const UnitTask& task, Engine& engine, UnitAnswer& answer) {
  UnitResult& counted = answer.counted = task.counted;
  const auto keep = [&](const CaseName& name, const Mismatch& mismatch) {
    if (task.most_differing == 0) return Next::kGoOn;
    if (!mismatch.failure) CountUlps(mismatch, counted.counts);
    answer.differing.emplace_back(name, mismatch);
    return answer.differing.size() < task.most_differing ? Next::kPause : Next::kStop;
  };
  const auto begun = MonotonicNow();
  const uint64_t next = counted.first_case + counted.cases;
  const absl::Status status =
      engine.Run(task.stream, next, task.end - next, counted, keep).status();
  counted.seconds += absl::ToDoubleSeconds(MonotonicNow() - begun);
  const bool all = counted.first_case + counted.cases == task.end;
  counted.part = !all || !status.ok() || !answer.differing.empty();
  if (!counted.part) SampleCoverage(task.stream, counted.first_case, counted.cases, counted);
  counted.ended = static_cast<uint64_t>(absl::ToUnixSeconds(absl::Now()));
  counted.machine = MachineOf(engine.device());
  return status;
}

absl::Status AskOf(const InvestigateTask& task, Engine& engine, InvestigateAnswer& answer) {
  const Operation& op = *task.mismatch.op;
  Device& device = engine.device();
  answer.device = device.name();
  answer.known = task.known;
  if (task.mismatch.failure) {
    absl::StatusOr<Investigation> found = InvestigateFailure(device, task.mismatch);
    if (found.ok()) answer.found = *std::move(found);
    return found.status();
  }
  for (const Observed& o : task.earlier) {
    const auto d = device.Run(op, MakeDotProductBatch(op.shape(), {o.dot}));
    if (absl::IsNotFound(d.status()) || FailureOf(d.status())) continue;  // a recording
    RETURN_IF_ERROR(d.status());
    if (d->front() == o.d) answer.known.push_back(o);
  }
  ASSIGN_OR_RETURN(answer.found,
                   InvestigateInProcess(device, task.mismatch, task.name.stream, answer.known));
  if (answer.found->bucket != Bucket::Unexplained(answer.found->bucket.difference)) {
    return absl::OkStatus();
  }
  // Errors here do not affect the investigation.
  const Mismatch& filed =
      answer.found->cases.empty() ? task.mismatch : answer.found->cases[0].mismatch;
  answer.reason = device.Reason(op, filed.inputs, filed.element).value_or("");
  const auto shared =
      Correlate(device, task.name.stream, task.name.index, absl::Seconds(kCorrelationSeconds));
  if (shared.ok() && shared->has_value()) answer.shared = (*shared)->Text();
  const std::vector<Observed>& observed = answer.found->diagnosis.observed;
  if (task.clues && answer.reason.empty() && !observed.empty()) {
    answer.clues = AskForClues(device, op, observed, absl::Seconds(kClueSeconds));
  }
  return absl::OkStatus();
}

absl::Status AskOf(const QuestionsTask& task, Engine& engine, OperationAnswers& answers) {
  if (task.tries && engine.resident()) {
    RETURN_IF_ERROR(engine.Try({task.op, &Strategies().front(), 1}));
  }
  auto asked = ProbeOperation(engine.device(), *task.op, task.questions);
  if (asked.ok()) answers = *std::move(asked);
  return asked.status();
}

absl::Status AskOf(const PairsTask& task, Engine& engine, std::monostate&) {
  return task.sweep->Work(engine.device());
}

// A partial inference is valid, whatever ended it.
absl::Status AskOf(const InferTask& task, Engine& engine, Inference& inference) {
  if (task.recording.empty()) {
    inference = Infer(engine.device(), *task.op, task.options);
    return inference.status;
  }
  ASSIGN_OR_RETURN(inference, InferFromRecording(task.recording, engine.device(), *task.op));
  return inference.status;
}

// A child process runs these: fuzz/ask/child_worker.h.
absl::Status AskOf(const StageTask&, Engine&, SurveyResult&) {
  return absl::UnimplementedError("this process cannot run stages of a survey");
}

const Operation& OpOf(const WordsTask& task) { return *task.op; }
const Operation& OpOf(const InvestigateTask& task) { return *task.mismatch.op; }
const Operation& OpOf(const StageTask& task) {
  return *FindOperation(task.name.op, Models::kOptional);
}
const Operation& OpOf(const QuestionsTask& task) { return *task.op; }
const Operation& OpOf(const PairsTask& task) { return *task.op; }
const Operation& OpOf(const InferTask& task) { return *task.op; }
const Operation& OpOf(const auto& task) { return *task.stream.op; }

TryAnswer AnswerTo(const TryTask&) { return {}; }
WordsAnswer AnswerTo(const WordsTask&) { return {}; }
DigestAnswer AnswerTo(const DigestTask&) { return {}; }
PlantAnswer AnswerTo(const PlantTask&) { return {}; }
CanaryAnswer AnswerTo(const CanaryTask&) { return {}; }
UnitAnswer AnswerTo(const UnitTask&) { return {}; }
InvestigateAnswer AnswerTo(const InvestigateTask&) { return {}; }
OperationAnswers AnswerTo(const QuestionsTask&) { return {}; }
std::monostate AnswerTo(const PairsTask&) { return {}; }
Inference AnswerTo(const InferTask&) { return {}; }
SurveyResult AnswerTo(const StageTask&) { return {}; }

}  // namespace

const Operation& Task::op() const {
  return std::visit([](const auto& task) -> const Operation& { return OpOf(task); }, what);
}

std::string Task::Text() const {
  const auto* stage = std::get_if<StageTask>(&what);
  return stage != nullptr ? stage->name.Text() : op().name;
}

TaskResult Ask(Task task, Engine& engine) {
  TaskResult result;
  result.task = std::move(task);
  const auto ask = [&](const auto& of_kind) {
    auto answer = AnswerTo(of_kind);
    result.status = AskOf(of_kind, engine, answer);
    result.answer = std::move(answer);
  };
  std::visit(ask, result.task.what);
  if (auto* asked = std::get_if<InvestigateAnswer>(&result.answer)) {
    asked->identity = IdentityFor(engine.device(), result.task.op());
  }
  return result;
}

}  // namespace mmadiff
