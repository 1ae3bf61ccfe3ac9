// Infers the models of operations from a device or from recorded answers, and files the answers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/output/console.h"
#include "triage/infer/infer.h"

namespace mmadiff {

// An operation that is in no table (sim/unlisted.h). `formats`: the formats of a, b, c and d,
// separated by commas; "-" for an absent c, or for b and c of a conversion. `scale`: "" or "FORMAT:BLOCK". kInvalidArgument explains the error.
absl::StatusOr<const Operation*> UnlistedOperation(const std::string& formats, int k,
                                                   const std::string& scale);

// Infers from all recorded answers of the operation; the algorithm found, if any, reproduces all of
// them. Errors as ReadRecordings(); kNotFound if there are no answers.
absl::StatusOr<Inference> InferFromRecording(const std::string& path, Device& device,
                                             const Operation& op);

// Infers one operation after the other.
class InferAgenda : public Agenda {
 public:
  // Gets each inference, complete or not; an error ends the agenda.
  using Found = std::function<absl::Status(const Operation& op, const Inference& inference)>;
  // `recording`: its path; empty: query the device.
  InferAgenda(std::vector<const Operation*> ops, std::string recording, InferOptions options,
              Console& console, Found found);

  std::optional<Task> Next(absl::Duration) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;

  bool cancelled() const { return cancelled_; }  // an inference was stopped
  // The operations that were not begun.
  std::span<const Operation* const> rest() const { return std::span(ops_).subspan(next_); }

 private:
  const std::vector<const Operation*> ops_;
  const std::string recording_;
  const InferOptions options_;
  Console& console_;
  const Found found_;
  size_t next_ = 0;  // index in ops_
  bool cancelled_ = false;
};

// Writes FOLDER/ARCH.INSTRUCTION.txt in the line protocol with every question and answer, and the
// model that was found as FOLDER/ARCH.INSTRUCTION.model. If no algorithm reproduces all answers and the table has a model, also writes the smallest refuting
// case. kDataLoss: a file could not be written.
absl::Status FileInference(const std::string& folder, Device& device, const Operation& op,
                           const Inference& inference);

}  // namespace mmadiff
