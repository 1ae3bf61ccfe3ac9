// Infers the models of operations from a device or from recorded answers, and files what was asked.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fuzz/output/console.h"
#include "triage/infer/infer.h"

namespace mmadiff {

// The operation that no table has (sim/unlisted.h). `formats`: names of those of a, b, c and d,
// separated by commas. `scale`: "" or "FORMAT:BLOCK". kInvalidArgument says what is wrong.
absl::StatusOr<const Operation*> UnlistedOperation(const std::string& formats, int k,
                                                   const std::string& scale);

// From everything that a recording has of the operation: what was found gives all of it. Errors as
// ReadRecordings(); kNotFound if it has nothing.
absl::StatusOr<Inference> InferFromRecording(const std::string& path, Device& device,
                                             const Operation& op);

// A file FOLDER/ARCH.INSTRUCTION.txt in the line protocol with every question and answer, and, where
// nothing gives them all and the table has a model, the smallest refuting case. kDataLoss: they
// could not be written.
absl::Status FileInference(const std::string& folder, Device& device, const Operation& op,
                           const Inference& inference);

}  // namespace mmadiff
