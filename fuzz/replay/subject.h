// One case to explain or to minimize: a filed case or a case name, with a device's answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/regression_case.h"
#include "device/device.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"

namespace mmadiff {

// Its specification and identity: of an answer, or of what came in place of one.
std::string WhoAnswered(const auto& answer) {
  return absl::StrCat(answer.device, answer.identity.empty() ? "" : ", ", answer.identity);
}

struct Subject {
  std::string name;                  // as given
  std::optional<CaseStream> stream;  // of a case name
  std::string device_name;           // of the answers
  std::string why;                   // of a filed case: what it shows
  std::string shared = {};           // RegressionCase::shared
  // At the first differing element, 0 when there is none; where the device failed on a dot product,
  // this one alone, with its failure.
  Mismatch mismatch;
  std::vector<int64_t> differing;  // elements, ascending
};

// `device` may be null for a filed case: then the stored answer or failure of a device is used.
// kInvalidArgument: no such case, or nobody to answer; kNotFound: the device lacks the operation;
// else ReadCase()'s or the device's.
absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device);

// One execution or dot product with the answer that somebody gave to it; `d` has a word for each
// result.
Subject MakeSubject(const Operation& op, Batch inputs, std::vector<uint64_t> d,
                    const std::string& device_name);
// The same with the device's answer, of a process that has given `age` to the same dot product. Errors as
// LoadSubject().
absl::StatusOr<Subject> AskSubject(const Operation& op, Batch inputs, Device& device,
                                   uint64_t age = 0);

}  // namespace mmadiff
