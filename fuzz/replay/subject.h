// One case to explain or minimize: a filed case or a case name, with a device's answer.
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

// Specification and identity of the device that gave an answer or failed to give one.
std::string WhoAnswered(const auto& answer) {
  return absl::StrCat(answer.device, answer.identity.empty() ? "" : ", ", answer.identity);
}

struct Subject {
  std::string name;                  // as given
  std::optional<CaseStream> stream;  // set for a case name
  std::string device_name;           // device that gave the answers
  std::string why;                   // for a filed case: RegressionCase::why
  bool why_of_search = false;        // a search among changes of the model wrote it
  std::string shared = {};           // RegressionCase::shared
  std::vector<Clue> clues = {};      // RegressionCase::clues
  std::string reason = {};           // RegressionCase::reason, or Device::Reason()
  // Its element is the stored position of a filed tile, if that differs; else the first that differs,
  // or 0 if none does. If the device failed on a dot product, only that dot product, with its
  // failure.
  Mismatch mismatch;
  bool placed = false;             // whether the element is the stored position
  std::vector<int64_t> differing;  // elements, ascending
};

// `device` may be null for a filed case: then the stored answer or failure of a device is used.
// kInvalidArgument: no such case, or neither a device nor a stored answer; kNotFound: the device
// lacks the operation; otherwise errors of ReadCase() or the device.
absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device);

// One execution or dot product with a given answer; `d` has a word for each result.
Subject MakeSubject(const Operation& op, Batch inputs, std::vector<uint64_t> d,
                    const std::string& device_name);
// The same with the device's answer, given by a process that has already answered the same dot
// product `age` times. Errors as LoadSubject().
absl::StatusOr<Subject> AskSubject(const Operation& op, Batch inputs, Device& device,
                                   uint64_t age = 0);

}  // namespace mmadiff
