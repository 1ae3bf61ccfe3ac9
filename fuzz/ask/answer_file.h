// A device's answers to questions about one operation, in a file that is also a recording.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/device.h"
#include "sim/operation.h"
#include "triage/diagnosis/diagnosis.h"

namespace mmadiff {

// Line protocol: for each question its answer, if any, and the device's answers to its inputs.
class AnswerFile {
 public:
  // `device` must outlive the object.
  AnswerFile(const Operation& op, const Device& device, std::string date);

  void Add(absl::string_view question, absl::string_view answer,
           std::span<const Observed> observed);
  // Adds a comment with an input whose answers were not always the same.
  void AddNotRepeated(const DotProductCase& dot);

  // Writes FOLDER/ARCH.INSTRUCTION.txt. kDataLoss: it could not be written.
  absl::Status Write(const std::string& folder) const;
  // Writes FOLDER/ARCH.INSTRUCTION.model (sim/tree/model_text.h). Errors as Write().
  absl::Status WriteModel(const std::string& folder, const Model& model) const;
  // Writes a regression case that refutes the model below the folder; nothing if the operation has
  // no model. Errors as Write().
  absl::Status WriteRefuting(const std::string& folder, const Observed& refuting, std::string slug,
                             std::string why, std::string source) const;

 private:
  // FOLDER/ARCH.INSTRUCTION, then the extension.
  std::string PathOf(const std::string& folder, absl::string_view extension) const;

  const Operation& op_;
  const Device& device_;
  const std::string date_;
  std::string text_;
};

}  // namespace mmadiff
