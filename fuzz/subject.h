// One case to explain or to minimize: a filed case or a case name, with a device's answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/regression_case.h"
#include "device/device.h"
#include "fuzz/cases/case_name.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"

namespace mmadiff {

struct Subject {
  std::string name;                  // as given
  std::optional<CaseStream> stream;  // of a case name
  std::string device_name;           // of the answers
  std::string why;                   // of a filed case: what it shows
  Mismatch mismatch;                 // at the first differing element; 0 when there is none
  std::vector<int64_t> differing;    // elements, ascending
};

// `device` may be null for a filed case: then its stored answer of a device is used.
// kInvalidArgument: no such case, or nobody to answer; kNotFound: the device lacks the operation;
// else ReadCase()'s or the device's.
absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device);

// One execution or dot product with the answer that somebody gave to it; `d` has a word for each
// result.
Subject MakeSubject(const Operation& op, Batch inputs, std::vector<uint64_t> d,
                    const std::string& device_name);
// The same with the device's answer. Errors as LoadSubject().
absl::StatusOr<Subject> AskSubject(const Operation& op, Batch inputs, Device& device);

}  // namespace mmadiff
