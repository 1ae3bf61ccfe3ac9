#include "fuzz/replay/subject.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "corpus/cases/case_name.h"
#include "device/status_macros.h"
#include "fuzz/folder/finding_life.h"
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

// Takes the element from a filed tile. The position of a dot product is that in the tile it is from.
void SetPlace(const RegressionCase& c, Subject& s) {
  const Shape& shape = c.inputs.shape;
  if (RoleOf(c) == CaseRole::kUnknown || s.mismatch.failure || !(shape == c.op->shape())) return;
  const int64_t element = IndexOf(shape, c.position);
  s.placed = std::ranges::binary_search(s.differing, element);
  if (s.placed) s.mismatch.element = element;
}

bool IsOfSearch(const RegressionCase& c) {
  const CaseRole role = RoleOf(c);
  return StateOf(c) != FindingState::kExplained && role != CaseRole::kUnknown &&
         role != CaseRole::kAsFound && role != CaseRole::kSeenOnce;
}

}  // namespace

absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device) {
  if (LooksLikeCaseName(argument)) {
    ASSIGN_OR_RETURN(const CaseName name, ParseCaseName(argument));
    if (device == nullptr) return absl::InvalidArgumentError("a case name needs --device");
    Batch inputs;
    Generate(name.stream, name.index, 1, inputs);
    ASSIGN_OR_RETURN(Subject subject, AskSubject(*name.stream.op, std::move(inputs), *device));
    subject.name = argument;
    subject.stream = name.stream;
    return subject;
  }
  if (argument.empty()) return absl::InvalidArgumentError("no case was named");
  const absl::StatusOr<RegressionCase> c = ReadCase(argument, true);
  if (FindOperation(argument) != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(argument,
                                                   " is an instruction; its first case is ",
                                                   argument, "@g", kGeneratorVersion, ":1:0"));
  }
  if (absl::IsNotFound(c.status())) {
    return absl::InvalidArgumentError(absl::StrCat(c.status().message(),
                                                   "; a case name has the form ARCH/INSTRUCTION@g",
                                                   kGeneratorVersion, ":SEED:INDEX"));
  }
  RETURN_IF_ERROR(c.status());
  const auto& no_word = c->no_word;
  const auto answer =
      std::ranges::find_if(c->answers, [](const Answer& a) { return !a.IsPrediction(); });
  if (device == nullptr && !no_word && answer == c->answers.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(argument, " has no answer of a device; add --device"));
  }
  ASSIGN_OR_RETURN(Subject subject,
                   device != nullptr ? AskSubject(*c->op, c->inputs, *device, c->age())
                   : no_word
                       ? FailedSubject(*c->op, c->inputs, no_word->failure, WhoAnswered(*no_word))
                       : MakeSubject(*c->op, c->inputs, answer->d, WhoAnswered(*answer)));
  if (!subject.mismatch.failure) subject.mismatch.age = subject.mismatch.most_age = c->age();
  SetPlace(*c, subject);
  subject.name = argument;
  subject.why = c->why;
  subject.why_of_search = IsOfSearch(*c);
  subject.shared = c->shared;
  subject.clues = c->clues;
  if (device == nullptr) subject.reason = c->reason;
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
  RETURN_IF_ERROR(answers.status());
  if (!answers->failures.empty()) {
    const auto& [index, failure] = *answers->failures.begin();
    return FailedSubject(op, MakeDotProductBatch(op.shape(), {Extract(inputs, index)}), failure,
                         device.name());
  }
  Subject s = MakeSubject(op, std::move(inputs), std::move(answers->d), device.name());
  if (!s.differing.empty()) {
    s.reason = device.Reason(op, s.mismatch.inputs, s.mismatch.element).value_or("");
  }
  return s;
}

}  // namespace mmadiff
