// What a device answered to questions about one operation, as a file that is a recording too.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/device.h"
#include "sim/operation.h"
#include "triage/diagnosis/diagnosis.h"

namespace mmadiff {

// Line protocol: for each question its answer, if it has one, and what was answered to its inputs.
class AnswerFile {
 public:
  // `device` outlives it.
  AnswerFile(const Operation& op, const Device& device, std::string date);

  void Add(absl::string_view question, absl::string_view answer,
           std::span<const Observed> observed);
  // An input that was not answered alike every time, as a comment.
  void AddNotRepeated(const DotProductCase& dot);

  // As FOLDER/ARCH.INSTRUCTION.txt. kDataLoss: it could not be written.
  absl::Status Write(const std::string& folder) const;
  // A regression case below the folder that refutes the model, unless there is none. Errors as
  // Write().
  absl::Status WriteRefuting(const std::string& folder, const Observed& refuting, std::string slug,
                             std::string why, std::string source) const;

 private:
  const Operation& op_;
  const Device& device_;
  const std::string date_;
  std::string text_;
};

}  // namespace mmadiff
