#include "fuzz/replay/subject.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/cases/case_name.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/diagnosis/investigate_aged.h"
#include "triage/verdict.h"

namespace mmadiff {

namespace {

Subject FailedSubject(const Operation& op, Batch dot, InputFailure failure,
                      const std::string& device_name) {
  Subject s;
  s.device_name = device_name;
  const uint64_t age = failure.age, model = Simulate(op.model, Extract(dot, 0));
  s.mismatch = {&op, std::move(dot), 0, {}, {model}, std::move(failure), age, age};
  s.differing = {0};
  return s;
}

}  // namespace

absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device) {
  Subject s;
  s.name = argument;
  Mismatch& m = s.mismatch;
  if (LooksLikeCaseName(argument)) {
    ASSIGN_OR_RETURN(const CaseName name, ParseCaseName(argument));
    m.op = name.stream.op;
    s.stream = name.stream;
    Generate(name.stream, name.index, 1, m.inputs);
    if (device == nullptr) return absl::InvalidArgumentError("a case name needs --device");
  } else {
    absl::StatusOr<RegressionCase> stored = ReadCase(argument, true);
    if (FindOperation(argument) != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(argument,
                                                     " is an instruction; its first case is ",
                                                     argument, "@g", kGeneratorVersion, ":1:0"));
    }
    if (absl::IsNotFound(stored.status())) {
      return absl::InvalidArgumentError(
          absl::StrCat(stored.status().message(), "; a case name has the form ARCH/INSTRUCTION@g",
                       kGeneratorVersion, ":SEED:INDEX"));
    }
    if (!stored.ok()) return stored.status();
    s.why = stored->why;
    s.shared = stored->shared;
    m.op = stored->op;
    m.inputs = stored->inputs;
    m.age = stored->age();
    if (const auto& n = stored->no_word) {
      m.failure = n->failure;
      s.device_name = WhoAnswered(*n);
    }
    for (const Answer& answer : stored->answers) {
      if (answer.IsPrediction() || !s.device_name.empty()) continue;
      m.device = answer.d;
      s.device_name = WhoAnswered(answer);
    }
    if (device == nullptr && s.device_name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " holds no answer of a device; give --device"));
    }
  }
  ASSIGN_OR_RETURN(Subject subject, device != nullptr ? AskSubject(*m.op, m.inputs, *device, m.age)
                                    : m.failure
                                        ? FailedSubject(*m.op, m.inputs, *m.failure, s.device_name)
                                        : MakeSubject(*m.op, m.inputs, m.device, s.device_name));
  if (!subject.mismatch.failure) subject.mismatch.age = subject.mismatch.most_age = m.age;
  subject.name = s.name;
  subject.stream = s.stream;
  subject.why = s.why;
  subject.shared = s.shared;
  return subject;
}

Subject MakeSubject(const Operation& op, Batch inputs, std::vector<uint64_t> d,
                    const std::string& device_name) {
  Subject s;
  s.device_name = device_name;
  Comparison comparison = Compare(op, inputs, d);
  s.mismatch = {&op, std::move(inputs), 0, std::move(d), std::move(comparison.model)};
  s.differing = std::move(comparison.differing);
  if (!s.differing.empty()) s.mismatch.element = s.differing.front();
  return s;
}

absl::StatusOr<Subject> AskSubject(const Operation& op, Batch inputs, Device& device,
                                   uint64_t age) {
  RETURN_IF_ERROR(device.Supports(op));
  absl::StatusOr<Answers> answers = Answers();
  if (age > 0) {
    answers = AskAtAge(device, op, Extract(inputs, 0), age);
  } else if (absl::Status s = device.Ask(op, inputs, *answers); !s.ok()) {
    return s;
  }
  if (!answers.ok()) return answers.status();
  if (!answers->failures.empty()) {
    const auto& [index, failure] = *answers->failures.begin();
    return FailedSubject(op, MakeDotProductBatch(op.shape(), {Extract(inputs, index)}), failure,
                         device.name());
  }
  return MakeSubject(op, std::move(inputs), std::move(answers->d), device.name());
}

}  // namespace mmadiff
