#include "fuzz/cli/subject.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/case_folder.h"
#include "fuzz/cases/case_name.h"
#include "triage/verdict.h"

namespace mmadiff {

std::vector<Observed> Subject::observed() const {
  std::vector<Observed> all;
  for (int64_t i = 0; i < inputs.dot_products(); ++i)
    all.push_back({Extract(inputs, i), device[i]});
  return all;
}

absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device) {
  Subject s;
  s.name = argument;
  if (LooksLikeCaseName(argument)) {
    const absl::StatusOr<CaseName> name = ParseCaseName(argument);
    if (!name.ok()) return name.status();
    s.op = name->stream.op;
    s.stream = name->stream;
    Generate(name->stream, name->index, 1, s.inputs);
    if (device == nullptr) return absl::InvalidArgumentError("a case name needs --device");
  } else {
    absl::StatusOr<RegressionCase> stored = ReadCase(argument);
    if (absl::IsNotFound(stored.status())) {
      return absl::InvalidArgumentError(
          absl::StrCat(stored.status().message(), "; a case name has the form ARCH/INSTRUCTION@g",
                       kGeneratorVersion, ":SEED:INDEX"));
    }
    if (!stored.ok()) return stored.status();
    s.op = stored->op;
    s.inputs = stored->inputs;
    for (const Answer& answer : stored->answers) {
      if (absl::StartsWith(answer.device, "model") || !s.device.empty()) continue;
      s.device = answer.d;
      s.device_name =
          absl::StrCat(answer.device, answer.identity.empty() ? "" : ", ", answer.identity);
    }
    if (device == nullptr && s.device.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " holds no answer of a device; give --device"));
    }
  }
  if (device != nullptr) {
    if (absl::Status supported = device->Supports(*s.op); !supported.ok()) return supported;
    absl::StatusOr<std::vector<uint64_t>> d = device->Run(*s.op, s.inputs);
    if (!d.ok()) return d.status();
    s.device = *std::move(d);
    s.device_name = device->name();
  }
  Comparison comparison = Compare(*s.op, s.inputs, s.device);
  s.model = std::move(comparison.model);
  s.differing = std::move(comparison.differing);
  return s;
}

}  // namespace mmadiff
