// Asks a device about dot products, and remembers every answer.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/explain.h"

namespace mmadiff {

// An answer, and which experiment it belongs to.
struct ExperimentAnswer {
  Observed observed;
  std::string experiment;
};

class Asker {
 public:
  // `op` is what the device is asked about; whether it has a model does not matter. At most `budget`
  // dot products are asked.
  Asker(Device& device, const Operation& op, int64_t budget)
      : device_(device), op_(op), budget_(budget) {}

  // The words of the dot products, each asked once in all. kResourceExhausted when the budget does
  // not reach; else the device's errors. An answer is remembered under the first experiment.
  absl::StatusOr<std::vector<uint64_t>> Ask(const std::string& experiment,
                                            std::span<const DotProductCase> dots);

  // Asks again about answers that no model gives. Those that come otherwise are taken out of
  // answers() and are counted in flaky(). How many these were.
  absl::StatusOr<size_t> AskAgain(std::span<const DotProductCase> dots);

  // Of dot products whose answers, alone and among others, are not the same: as above.
  void AddFlaky(std::span<const DotProductCase> dots);

  // Given answers: of a recording.
  void Add(const std::string& experiment, const DotProductCase& dot, uint64_t d);

  const Operation& op() const { return op_; }
  Device& device() { return device_; }
  const std::vector<ExperimentAnswer>& answers() const { return answers_; }
  int64_t asked() const { return asked_; }
  int64_t left() const { return budget_ - asked_; }
  size_t flaky() const { return flaky_.size(); }
  // The first that came otherwise.
  const std::vector<DotProductCase>& flaky_cases() const { return flaky_; }

 private:
  absl::StatusOr<std::vector<uint64_t>> Run(const std::vector<DotProductCase>& dots);

  Device& device_;
  const Operation& op_;
  int64_t budget_, asked_ = 0;
  std::vector<ExperimentAnswer> answers_;
  std::map<DotProductCase, size_t> known_;  // index of answers_
  std::vector<DotProductCase> flaky_;
};

}  // namespace mmadiff
