// One mismatch named on the command line: a filed case or a case name.
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
  Batch inputs;                      // count 1
  std::optional<CaseStream> stream;  // of a case name
  const Operation* op = nullptr;
  std::string device_name;       // of the answers
  std::vector<uint64_t> device;  // the device's answers, one per result
  std::vector<uint64_t> model;
  std::vector<int64_t> differing;  // elements, ascending

  std::vector<Observed> observed() const;  // what the device answered to each dot product
};

// `device` may be null for a filed case: then its stored answer of a device is used.
absl::StatusOr<Subject> LoadSubject(const std::string& argument, Device* device);

}  // namespace mmadiff
