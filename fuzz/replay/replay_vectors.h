// Vectors in a replay (fuzz/replay/replay.h): every answer against the model, or against a device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/vector_file.h"
#include "fuzz/ask/asked_device.h"
#include "fuzz/output/junit.h"
#include "fuzz/replay/replay.h"

namespace mmadiff {

class VectorReplay {
 public:
  // `device` is nullptr for the model. `mismatches` gets what differs or is flaky, differing bits
  // marked if `color`; `report` the contested answers and, if `verbose`, every other. What is not
  // `wanted` is left out.
  VectorReplay(std::function<bool(const Operation&)> wanted, AskedDevice* device, bool verbose,
               const TextStyle& style, const OnReport& report, FirstReports& mismatches)
      : wanted_(std::move(wanted)),
        device_(device),
        verbose_(verbose),
        style_(style),
        report_(report),
        mismatches_(mismatches) {}

  // The device's errors but those that drop an operation. Operations that it lacks are counted and
  // left out.
  absl::Status Compare(const Vector& v);

  // Dot products. Where an answer is contested a device is held to the model's; the model itself
  // counts only if it gives the contested answer, which is wrong: the known difference is none.
  uint64_t compared() const { return compared_; }
  uint64_t differing() const { return differing_; }
  uint64_t flaky() const { return flaky_; }
  int unsupported() const { return unsupported_; }
  const std::vector<TestResult>& test_results() const {
    return test_results_;
  }                                                                  // one for each answer
  std::span<const uint64_t, 4> by_kind() const { return by_kind_; }  // dot products, by AnswerKind

 private:
  absl::Status CompareAnswer(const Vector& v, std::span<const VectorCase> cases);
  // Nothing when the device gives none, or none that it repeats, which is reported.
  absl::StatusOr<std::optional<Answers>> AnswerTo(const std::string& title, const Vector& v,
                                                  const VectorCase& c);
  ReplayReport Mismatch(const std::string& title, const Vector& v, const VectorCase& c,
                        uint64_t given, const std::optional<InputFailure>& failure) const;

  const std::function<bool(const Operation&)> wanted_;
  AskedDevice* const device_;
  const bool verbose_;
  const TextStyle style_;
  const OnReport& report_;
  FirstReports& mismatches_;
  uint64_t compared_ = 0, differing_ = 0, flaky_ = 0;
  uint64_t by_kind_[4] = {};
  int unsupported_ = 0;
  std::vector<TestResult> test_results_;
};

}  // namespace mmadiff
