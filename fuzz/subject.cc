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
    absl::StatusOr<RegressionCase> stored = ReadCase(argument);
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
    m.op = stored->op;
    m.inputs = stored->inputs;
    for (const Answer& answer : stored->answers) {
      if (answer.IsPrediction() || !m.device.empty()) continue;
      m.device = answer.d;
      s.device_name =
          absl::StrCat(answer.device, answer.identity.empty() ? "" : ", ", answer.identity);
    }
    if (device == nullptr && m.device.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " holds no answer of a device; give --device"));
    }
  }
  if (device != nullptr) {
    if (absl::Status supported = device->Supports(*m.op); !supported.ok()) return supported;
    absl::StatusOr<std::vector<uint64_t>> d = device->Run(*m.op, m.inputs);
    if (!d.ok()) return d.status();
    m.device = *std::move(d);
    s.device_name = device->name();
  }
  Comparison comparison = Compare(*m.op, m.inputs, m.device);
  m.model = std::move(comparison.model);
  s.differing = std::move(comparison.differing);
  if (!s.differing.empty()) m.element = s.differing.front();
  return s;
}

}  // namespace mmadiff
