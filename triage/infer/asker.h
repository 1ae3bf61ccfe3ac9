// Asks a device about dot products and remembers every answer.
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

// An answer and its experiment.
struct ExperimentAnswer {
  Observed observed;
  std::string experiment;
};

class Asker {
 public:
  // Asks the device about `op`, which may or may not have a model. Asks at most `budget` dot
  // products.
  Asker(Device& device, const Operation& op, int64_t budget)
      : device_(device), op_(op), budget_(budget) {}

  // The words of the dot products; asks each distinct dot product only once. kResourceExhausted if
  // the budget is too small; other errors are the device's. An answer is stored under the
  // experiment that first asked for it.
  absl::StatusOr<std::vector<uint64_t>> Ask(const std::string& experiment,
                                            std::span<const DotProductCase> dots);

  // Asks again about answers that no model reproduces. Answers that have changed are removed from
  // answers() and added to flaky(). Returns how many changed.
  absl::StatusOr<size_t> AskAgain(std::span<const DotProductCase> dots);

  // The words that the device gives now; they are not stored.
  absl::StatusOr<std::vector<uint64_t>> Repeat(std::span<const DotProductCase> dots) {
    return Run({dots.begin(), dots.end()});
  }

  // As AskAgain() for dot products whose answers differ when asked alone and among others.
  void AddFlaky(std::span<const DotProductCase> dots);

  // Adds a given answer, from a recording.
  void Add(const std::string& experiment, const DotProductCase& dot, uint64_t d);

  const Operation& op() const { return op_; }
  Device& device() { return device_; }
  const std::vector<ExperimentAnswer>& answers() const { return answers_; }
  int64_t asked() const { return asked_; }
  int64_t left() const { return budget_ - asked_; }
  size_t flaky() const { return flaky_.size(); }
  // Whether AskAgain() repeated the dot product and its answer has never changed.
  bool Repeats(const DotProductCase& dot) const { return repeated_.contains(dot); }
  // The dot products whose answers changed.
  const std::vector<DotProductCase>& flaky_cases() const { return flaky_; }

 private:
  absl::StatusOr<std::vector<uint64_t>> Run(const std::vector<DotProductCase>& dots);

  Device& device_;
  const Operation& op_;
  int64_t budget_, asked_ = 0;
  std::vector<ExperimentAnswer> answers_;
  std::map<DotProductCase, size_t> known_;  // index of answers_
  std::vector<DotProductCase> flaky_;
  std::set<DotProductCase> repeated_;
};

}  // namespace mmadiff
