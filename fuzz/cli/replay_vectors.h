// Vectors in `mmadiff replay`: every answer against the model, or against a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/vector_file.h"
#include "fuzz/cli/asked_device.h"
#include "fuzz/cli/junit.h"
#include "fuzz/console.h"

namespace mmadiff {

class VectorReplay {
 public:
  // `device` is nullptr for the model; prints at most `errors` mismatches.
  VectorReplay(AskedDevice* device, uint64_t errors, bool verbose, Console& console)
      : device_(device), errors_(errors), verbose_(verbose), console_(console) {}

  // The device's errors but those that drop a row. Rows that it lacks are counted and left out.
  absl::Status Compare(const Vector& v);

  // Dot products. Where an answer is contested a device is held to the model's; the model itself
  // counts only if it gives the contested answer, which is wrong: the known difference is none.
  uint64_t compared() const { return compared_; }
  uint64_t differing() const { return differing_; }
  int unsupported() const { return unsupported_; }
  const std::vector<Verdict>& verdicts() const { return verdicts_; }  // one for each answer
  std::string Counts() const;  // a line by kind; empty when nothing was compared

 private:
  absl::Status CompareAnswer(const Vector& v, std::span<const VectorCase> cases);
  // Nothing when the device gives none, or none that it repeats, which is printed.
  absl::StatusOr<std::optional<uint64_t>> AnswerTo(const std::string& title, const VectorCase& c);
  std::string Mismatch(const std::string& title, const Vector& v, const VectorCase& c,
                       uint64_t given) const;

  AskedDevice* const device_;
  const uint64_t errors_;
  const bool verbose_;
  Console& console_;
  uint64_t compared_ = 0, differing_ = 0, printed_ = 0;
  uint64_t by_kind_[4] = {};  // by AnswerKind
  int unsupported_ = 0;
  std::vector<Verdict> verdicts_;
};

}  // namespace mmadiff
