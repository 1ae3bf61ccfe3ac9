#include "fuzz/subject.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "fuzz/cases/case_name.h"
#include "triage/verdict.h"

namespace mmadiff {

absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device) {
  Subject s;
  s.name = argument;
  Mismatch& m = s.mismatch;
  if (LooksLikeCaseName(argument)) {
    const absl::StatusOr<CaseName> name = ParseCaseName(argument);
    if (!name.ok()) return name.status();
    m.op = name->stream.op;
    s.stream = name->stream;
    Generate(name->stream, name->index, 1, m.inputs);
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
    m.op = stored->op;
    m.inputs = stored->inputs;
    for (const Answer& answer : stored->answers) {
      if (answer.IsPrediction() || !m.device.empty()) continue;
      m.device = answer.d;
      s.device_name =
          absl::StrCat(answer.device, answer.identity.empty() ? "" : ", ", answer.identity);
    }
    if (device == nullptr && m.device.empty() && stored->no_word) {
      return absl::InvalidArgumentError(absl::StrCat(argument, ": the device gave no word (",
                                                     Name(stored->no_word->failure),
                                                     "); replay with --device asks it again"));
    }
    if (device == nullptr && m.device.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " holds no answer of a device; give --device"));
    }
  }
  absl::StatusOr<Subject> subject = device == nullptr
                                        ? MakeSubject(*m.op, m.inputs, m.device, s.device_name)
                                        : AskSubject(*m.op, m.inputs, *device);
  if (!subject.ok()) return subject.status();
  subject->name = s.name;
  subject->stream = s.stream;
  subject->why = s.why;
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

absl::StatusOr<Subject> AskSubject(const Operation& op, Batch inputs, Device& device) {
  if (absl::Status supported = device.Supports(op); !supported.ok()) return supported;
  absl::StatusOr<std::vector<uint64_t>> d = device.Run(op, inputs);
  if (!d.ok()) return d.status();
  return MakeSubject(op, std::move(inputs), *std::move(d), device.name());
}

}  // namespace mmadiff
